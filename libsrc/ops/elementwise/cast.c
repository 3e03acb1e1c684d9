/*
 * Conversions of element types. Every pair of types passes through integers of 32 bits, or of 64 if one of both has these, in
 * blocks that stay in the L1 cache: this takes a loop for each type in place of one for each pair. A type that is the one in
 * between is not copied. Floats remain floats if the result is one.
 */
#include "ops/elementwise/cast.h"

#include <string.h>

#include "ops/bytes/quantize_linear.h"
#include "ops/units.h"
#include "runtime/threads.h"

enum { BLOCK = 512 };

/* ---- floats to integers: towards zero; a number that does not fit, or NaN, is the lowest one, as the x86 instructions have it */

SN_INLINE int32_t to_32i(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN; }
SN_INLINE int64_t to_64i(float x) { return x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN; }
SN_INLINE int64_t to_64u(float x) { return x >= 0x1p63f && x < 0x1p64f ? (int64_t)(uint64_t)x : to_64i(x); }

static void from_floats(enum sn_data to, const sn_32f * src, size_t n, sn_64i * restrict wide)
{
    if (to == SN_DATA_64I)
        SN_FOR_EACH(n, wide[i] = to_64i(src[i]));
    else
        SN_FOR_EACH(n, wide[i] = to_64u(src[i]));
}

static void from_floats_32i(enum sn_data to, const sn_32f * src, size_t n, sn_32i * restrict wide)
{
    if (to == SN_DATA_BOOL)
        SN_FOR_EACH(n, wide[i] = src[i] != 0);
    else
        SN_FOR_EACH(n, wide[i] = to_32i(src[i]));
}

/* ---- integers */

void sn_widen(enum sn_data from, const uint8_t * src, size_t n, sn_64i * restrict wide)
{
    switch (from) {
    case SN_DATA_8I: SN_FOR_EACH(n, wide[i] = (int8_t)src[i]); break;
    case SN_DATA_8U: SN_FOR_EACH(n, wide[i] = src[i]); break;
    case SN_DATA_BOOL: SN_FOR_EACH(n, wide[i] = src[i] != 0); break;
    case SN_DATA_32I: SN_FOR_EACH(n, wide[i] = ((const sn_32i *)src)[i]); break;
    default: memcpy(wide, src, n * sizeof(*wide));
    }
}

static void widen_to_32i(enum sn_data from, const uint8_t * src, size_t n, sn_32i * restrict wide)
{
    switch (from) {
    case SN_DATA_8I: SN_FOR_EACH(n, wide[i] = (int8_t)src[i]); break;
    case SN_DATA_8U: SN_FOR_EACH(n, wide[i] = src[i]); break;
    default: SN_FOR_EACH(n, wide[i] = src[i] != 0);
    }
}

/* The low bits, or whether there is one. */
void sn_narrow_integers(enum sn_data to, const sn_64i * wide, size_t n, uint8_t * restrict dst)
{
    switch (to) {
    case SN_DATA_8I:
    case SN_DATA_8U: SN_FOR_EACH(n, dst[i] = (uint8_t)wide[i]); break;
    case SN_DATA_BOOL: SN_FOR_EACH(n, dst[i] = sn_is_not_0((uint64_t)wide[i])); break;
    case SN_DATA_32I: SN_FOR_EACH(n, ((sn_32i *)dst)[i] = (int32_t)wide[i]); break;
    default: memcpy(dst, wide, n * sizeof(*wide));
    }
}

static void narrow_32i(enum sn_data to, const sn_32i * wide, size_t n, uint8_t * restrict dst)
{
    if (to == SN_DATA_BOOL)
        SN_FOR_EACH(n, dst[i] = wide[i] != 0);
    else
        SN_FOR_EACH(n, dst[i] = (uint8_t)wide[i]);
}

static void floats_of_32i(const sn_32i * wide, size_t n, sn_32f * restrict dst) { SN_FOR_EACH(n, dst[i] = (float)wide[i]); }

static void to_floats(bool is_signed, const sn_64i * wide, size_t n, sn_32f * restrict dst)
{
    if (is_signed)
        SN_FOR_EACH(n, dst[i] = (float)wide[i]);
    else
        SN_FOR_EACH(n, dst[i] = (float)(uint64_t)wide[i]);
}

/* ---- the driver */

static bool has_64_bits(enum sn_data type) { return type == SN_DATA_64I || type == SN_DATA_64U; }

static void by_64i(enum sn_data from, enum sn_data to, const uint8_t * src, size_t n, uint8_t * dst)
{
    sn_64i block[BLOCK], *wide = has_64_bits(to) ? (sn_64i *)dst : block;
    const sn_64i * taken = wide;
    if (has_64_bits(from))
        taken = (const sn_64i *)src;
    else if (from == SN_DATA_32F)
        from_floats(to, (const sn_32f *)src, n, wide);
    else
        sn_widen(from, src, n, wide);
    if (to == SN_DATA_32F)
        to_floats(from != SN_DATA_64U, taken, n, (sn_32f *)dst);
    else if (!has_64_bits(to) || taken != wide)
        sn_narrow_integers(to, taken, n, dst);
}

static void by_32i(enum sn_data from, enum sn_data to, const uint8_t * src, size_t n, uint8_t * dst)
{
    sn_32i block[BLOCK], *wide = to == SN_DATA_32I ? (sn_32i *)dst : block;
    const sn_32i * taken = wide;
    if (from == SN_DATA_32I)
        taken = (const sn_32i *)src;
    else if (from == SN_DATA_32F)
        from_floats_32i(to, (const sn_32f *)src, n, wide);
    else
        widen_to_32i(from, src, n, wide);
    if (to == SN_DATA_32F)
        floats_of_32i(taken, n, (sn_32f *)dst);
    else if (to != SN_DATA_32I)
        narrow_32i(to, taken, n, dst);
}

static void blocks(const void * argument, void * work, size_t begin, size_t end)
{
    (void)work;
    const struct sn_cast * c = argument;
    end = sn_min(end * SN_UNIT_ELEMENTS, c->count);
    for (size_t at = begin * SN_UNIT_ELEMENTS, n; at < end; at += n) {
        const uint8_t * src = c->src + at * c->srcBytes;
        uint8_t * dst = c->dst + at * c->dstBytes;
        n = sn_min(end - at, BLOCK);
        if (c->srcType == c->dstType && c->srcType != SN_DATA_BOOL)
            memcpy(dst, src, n * c->srcBytes);
        else
            (has_64_bits(c->srcType) || has_64_bits(c->dstType) ? by_64i : by_32i)(c->srcType, c->dstType, src, n, dst);
    }
}

/* Bytes are floats of scale 1 and zero 0, whose kernels take less than a third of the time. */
static void dequantize(const struct sn_cast * c)
{
    const float one = 1;
    sn_dequantize_linear(&(struct sn_quantize_linear){.size = c->count, .channels = 1, .inner = c->count, .scale = &one,
        .negative = c->srcType == SN_DATA_8I, .src = c->src, .dst = c->dst});
}

void sn_cast(const struct sn_cast * c)
{
    if (c->dstType == SN_DATA_32F && (c->srcType == SN_DATA_8U || c->srcType == SN_DATA_8I)) {
        dequantize(c);
        return;
    }
    sn_parallel_for(&(struct sn_parallel){.run = blocks, .job = c, .units = sn_ceil_div(c->count, SN_UNIT_ELEMENTS),
        .cost = sn_cost_of_bytes((double)c->count * (double)(c->srcBytes + c->dstBytes + 2 * sizeof(int64_t)))});
}
