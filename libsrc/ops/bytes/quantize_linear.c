/*
 * The elements are one list, of which every range is cut into runs: of one channel, if a channel has many elements one after
 * another, otherwise of up to TABLE elements whose scales and zeros are listed. If the list holds whole periods of channels,
 * it serves all runs of a range.
 */
#include "ops/bytes/quantize_linear.h"

#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum {
    LONG = 128, /* elements of a channel, one after another, from which on a run is one channel */
    TABLE = 1024
};

struct job {
    const struct sn_quantize_linear * p;
    const struct sn_table * table;
    bool stream;
    void (*run)(const struct job * job, const struct sn_quantization * q, size_t at, size_t size);
};

static void quantize(const struct job * job, const struct sn_quantization * q, size_t at, size_t size)
{
    job->table->quantize_linear.quantize(q, (const sn_32f *)job->p->src + at, size, (uint8_t *)job->p->dst + at);
}

static void dequantize(const struct job * job, const struct sn_quantization * q, size_t at, size_t size)
{
    const uint8_t * src = (const uint8_t *)job->p->src + at;
    job->table->quantize_linear.dequantize(q, src, size, (sn_32f *)job->p->dst + at, job->stream);
}

static int32_t zero_of(const struct sn_quantize_linear * p, size_t channel)
{
    if (!p->zero)
        return p->offset;
    return p->negative ? (int8_t)p->zero[channel] : p->zero[channel];
}

/* Elements at .. end - 1, in runs of one channel. */
static void channels(const struct job * job, size_t at, size_t end)
{
    const struct sn_quantize_linear * p = job->p;
    for (size_t size; at < end; at += size) {
        const size_t inner = p->channels == 1 ? p->size : p->inner, channel = at / inner % p->channels;
        const int32_t zero = zero_of(p, channel);
        const struct sn_quantization q = {p->scale + channel, &zero, false, p->divides, p->negative};
        size = sn_min(inner - at % inner, end - at);
        job->run(job, &q, at, size);
    }
}

/* The scales and zeros of `size` elements from `at` on. */
static void fill_table(const struct sn_quantize_linear * p, size_t at, size_t size, sn_32f * scale, int32_t * zero)
{
    size_t channel = at / p->inner % p->channels, place = at % p->inner;
    for (size_t i = 0; i < size; ++i) {
        scale[i] = p->scale[channel];
        zero[i] = zero_of(p, channel);
        if (++place == p->inner) {
            place = 0;
            channel = channel + 1 == p->channels ? 0 : channel + 1;
        }
    }
}

/* The same in runs whose elements have scales of their own. */
static void elements(const struct job * job, size_t at, size_t end)
{
    const struct sn_quantize_linear * p = job->p;
    sn_32f scale[TABLE];
    int32_t zero[TABLE];
    const struct sn_quantization q = {scale, zero, true, true, p->negative};
    const size_t period = p->channels * p->inner, most = period < TABLE ? TABLE / period * period : TABLE;
    for (size_t first = at, size; at < end; at += size) {
        size = sn_min(most, end - at);
        if (at == first || most % period)
            fill_table(p, at, size, scale, zero);
        job->run(job, &q, at, size);
    }
}

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_quantize_linear * p = job->p;
    const size_t first = begin * SN_UNIT_ELEMENTS, last = sn_min(end * SN_UNIT_ELEMENTS, p->size);
    if (p->channels == 1 || p->inner >= LONG)
        channels(job, first, last);
    else
        elements(job, first, last);
}

static void run(const struct job * job)
{
    const size_t size = job->p->size;
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = job, .units = sn_ceil_div(size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes(5.0 * (double)size)});
}

void sn_quantize_linear(const struct sn_quantize_linear * p) { run(&(struct job){p, sn_table(), false, quantize}); }

void sn_dequantize_linear(const struct sn_quantize_linear * p)
{
    run(&(struct job){p, sn_table(), sn_beyond_cache(5 * p->size), dequantize});
}

/* ---- with the range of the source */

enum { MOST_PARTS = 256 };

/* Units of elements belong to parts, whose ranges are joined at the end: the least and the largest do not depend on it. */
struct ranges {
    const struct sn_dynamic_quantize * p;
    const struct sn_table * table;
    size_t step; /* elements of a part */
    float (*part)[2];
};

static void ranges_of(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct ranges * job = argument;
    for (; begin < end; ++begin) {
        const size_t at = begin * job->step;
        job->table->quantize_linear.range(job->p->src + at, sn_min(job->step, job->p->size - at), job->part[begin]);
    }
}

static void range_of(const struct sn_dynamic_quantize * p, float range[2])
{
    float part[MOST_PARTS][2] = {{0}};
    const size_t step = sn_max(SN_UNIT_ELEMENTS, sn_ceil_div(p->size, MOST_PARTS)), parts = sn_ceil_div(p->size, step);
    const struct ranges job = {p, sn_table(), step, part};
    sn_parallel_for(&(struct sn_parallel){.run = ranges_of, .job = &job, .units = parts,
        .cost = sn_cost_of_bytes(4.0 * (double)p->size)});
    range[0] = range[1] = 0;
    for (size_t i = 0; i < parts; ++i) {
        range[0] = part[i][0] < range[0] ? part[i][0] : range[0];
        range[1] = part[i][1] > range[1] ? part[i][1] : range[1];
    }
}

/* The zero is a number of 0 .. 255. An infinite scale has 0. */
static uint8_t zero_of_range(float least, float scale)
{
    const float place = isfinite(scale) ? 0 - least / scale : 0;
    return (uint8_t)rintf(place < 255 ? place : 255);
}

void sn_dynamic_quantize(const struct sn_dynamic_quantize * p)
{
    float range[2];
    range_of(p, range);
    const float width = range[1] - range[0], scale = width / 255 == 0 ? 1 : width / 255;
    const uint8_t zero = zero_of_range(range[0], scale);
    *p->scale = scale;
    *p->zero = zero;
    if (p->size && isfinite(scale))
        sn_quantize_linear(&(struct sn_quantize_linear){.size = p->size, .channels = 1, .inner = p->size, .scale = &scale,
            .offset = zero, .divides = true, .src = p->src, .dst = p->dst});
    else if (p->size)
        memset(p->dst, 0, p->size);
}
