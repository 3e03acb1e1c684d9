/*
 * The elements are one list, of which every range is cut into runs: of one channel, if a channel has many elements one after
 * another, otherwise of up to TABLE elements whose coefficients are listed. If the list holds whole periods of channels, it
 * serves all runs of a range.
 */
#include "ops/elementwise/affine.h"

#include "ops/units.h"
#include "runtime/threads.h"

enum {
    LONG = 256, /* elements of a channel, one after another, from which on a run is one channel */
    TABLE = 1024
};

struct job {
    const struct sn_affine_layer * p;
    sn_affine_fn kernel;
    size_t from, to; /* bytes of an element */
};

static void run(const struct job * job, const struct sn_affine * a, size_t at, size_t size)
{
    job->kernel(a, (const uint8_t *)job->p->src + at * job->from, size, (uint8_t *)job->p->dst + at * job->to);
}

static float k_of(const struct sn_affine_layer * p, size_t channel) { return p->k ? p->k[channel] : p->kAll; }
static float h_of(const struct sn_affine_layer * p, size_t channel) { return p->h ? p->h[channel] : p->hAll; }

/* Elements at .. end - 1, in runs of one channel. */
static void channels(const struct job * job, size_t at, size_t end)
{
    const struct sn_affine_layer * p = job->p;
    const size_t inner = p->channels == 1 ? p->size : p->inner;
    float k[SN_AFFINE_REPEATED], h[SN_AFFINE_REPEATED];
    struct sn_affine a = p->bytes;
    a.k = k, a.h = h;
    for (size_t size; at < end; at += size) {
        const size_t channel = at / inner % p->channels;
        for (size_t i = 0; i < SN_AFFINE_REPEATED; ++i)
            k[i] = k_of(p, channel), h[i] = h_of(p, channel);
        size = sn_min(inner - at % inner, end - at);
        run(job, &a, at, size);
    }
}

/* The coefficients of `size` elements from `at` on. */
static void fill_table(const struct sn_affine_layer * p, size_t at, size_t size, sn_32f * k, sn_32f * h)
{
    size_t channel = at / p->inner % p->channels, place = at % p->inner;
    for (size_t i = 0; i < size; ++i) {
        k[i] = k_of(p, channel);
        h[i] = h_of(p, channel);
        if (++place == p->inner) {
            place = 0;
            channel = channel + 1 == p->channels ? 0 : channel + 1;
        }
    }
}

/* The same in runs whose elements have coefficients of their own. */
static void elements(const struct job * job, size_t at, size_t end)
{
    const struct sn_affine_layer * p = job->p;
    float k[TABLE], h[TABLE];
    struct sn_affine a = p->bytes;
    a.k = k, a.h = h, a.each = true;
    const size_t period = p->channels * p->inner, most = period < TABLE ? TABLE / period * period : TABLE;
    for (size_t first = at, size; at < end; at += size) {
        size = sn_min(most, end - at);
        if (at == first || most % period)
            fill_table(p, at, size, k, h);
        run(job, &a, at, size);
    }
}

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct job * job = argument;
    const struct sn_affine_layer * p = job->p;
    const size_t first = begin * SN_UNIT_ELEMENTS, last = sn_min(end * SN_UNIT_ELEMENTS, p->size);
    if (p->channels == 1 || p->inner >= LONG)
        channels(job, first, last);
    else
        elements(job, first, last);
}

/* Bytes of the elements of a kernel. */
#define BYTES_32F 4
#define BYTES_16B 2
#define BYTES_8U 1
#define BYTES(formula, from, to) {BYTES_##from, BYTES_##to},

void sn_affine(const struct sn_table * table, const struct sn_affine_layer * p)
{
    static const struct {
        size_t from, to;
    } bytes[SN_AFFINE_KINDS] = {SN_AFFINE_LIST(BYTES)};
    const struct job job = {p, table->affine.run[p->kind], bytes[p->kind].from, bytes[p->kind].to};
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = sn_ceil_div(p->size, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)(job.from + job.to) * (double)p->size)});
}

/* ---- rows of bytes: the value is that of the layer with k 1 */

struct rows {
    struct sn_requantize all;
    size_t number; /* of a unit */
    sn_affine_fn kernel;
};

static void rows_range(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct rows * job = argument;
    const struct sn_requantize * p = &job->all;
    const size_t last = sn_min(end * job->number, p->rows);
    float k[SN_AFFINE_REPEATED], h[SN_AFFINE_REPEATED] = {0};
    struct sn_affine a = p->bytes;
    for (size_t i = 0; i < SN_AFFINE_REPEATED; ++i)
        k[i] = 1;
    a.k = k, a.h = h;
    for (size_t row = begin * job->number; row < last; ++row)
        job->kernel(&a, p->src + row * p->size, p->size, p->dst + row * p->step);
}

void sn_requantize(const struct sn_table * table, const struct sn_requantize * p)
{
    const size_t size = p->rows * p->size;
    if (p->rows == 1 || p->size == p->step) {
        sn_affine(table, &(struct sn_affine_layer){.kind = SN_AFFINE_PRELU_8U_8U, .size = size, .channels = 1, .inner = size,
            .kAll = 1, .bytes = p->bytes, .src = p->src, .dst = p->dst});
        return;
    }
    const struct rows job = {*p, sn_items_per_unit(p->size), table->affine.run[SN_AFFINE_PRELU_8U_8U]};
    sn_parallel_for(&(struct sn_parallel){.run = rows_range, .job = &job, .units = sn_ceil_div(p->rows, job.number),
        .cost = sn_cost_of_bytes(2.0 * (double)size)});
}

/* ---- the coefficients of Scale8i */

void sn_combine(const struct sn_combination * p)
{
    for (size_t i = 0; i < p->channels; ++i) {
        float k = 1, h = 0;
        if (p->step)
            k = p->step[i], h = -p->srcZero * p->step[i];
        k = k * p->scale[i], h = h * p->scale[i];
        if (p->bias)
            h = h + p->bias[i];
        if (p->inverse)
            k = k * p->inverse[i], h = h * p->inverse[i] + p->dstZero;
        p->k[i] = k, p->h[i] = h;
    }
}

void sn_reciprocals(size_t count, sn_32f * values)
{
    for (size_t i = 0; i < count; ++i)
        values[i] = 1 / values[i];
}
