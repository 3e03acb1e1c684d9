#include <math.h>
#include <string.h>

#include "contract/add.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static void add_8i(const struct sn_add_8i * p, size_t channels, size_t spatial, enum sn_format format)
{
    for (size_t c = 0; c < channels; ++c)
        for (size_t s = 0; s < spatial; ++s) {
            const size_t i = format == SN_NCHW ? c * spatial + s : s * channels + c;
            const float a = (float)p->a[i] * p->aScale[c] + p->aShift[c];
            const float b = (float)p->b[i] * p->bScale[c] + p->bShift[c];
            p->c[i] = sn_32f_to_8u((a + b) * p->cScale[c] + p->cShift[c], p->upper);
        }
}

static float load(const uint8_t * p, size_t i, bool is_16b)
{
    uint16_t narrow;
    float wide;
    if (is_16b) {
        memcpy(&narrow, p + 2 * i, 2);
        return sn_16b_to_32f(narrow);
    }
    memcpy(&wide, p + 4 * i, 4);
    return wide;
}

static void store(uint8_t * p, size_t i, bool is_16b, float x)
{
    if (is_16b) {
        const uint16_t narrow = sn_32f_to_16b(x);
        memcpy(p + 2 * i, &narrow, 2);
    } else {
        memcpy(p + 4 * i, &x, 4);
    }
}

static void add_16b(const uint8_t * a, bool a_16b, const uint8_t * b, bool b_16b, uint8_t * dst, bool dst_16b, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        store(dst, i, dst_16b, load(a, i, a_16b) + load(b, i, b_16b));
}

#define ADD_16B(a_16b, b_16b, dst_16b)                                                                                      \
    static void add_16b_##a_16b##b_16b##dst_16b(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)           \
    {                                                                                                                       \
        add_16b(a, a_16b, b, b_16b, dst, dst_16b, size);                                                                    \
    }

ADD_16B(0, 0, 0)
ADD_16B(0, 0, 1)
ADD_16B(0, 1, 0)
ADD_16B(0, 1, 1)
ADD_16B(1, 0, 0)
ADD_16B(1, 0, 1)
ADD_16B(1, 1, 0)
ADD_16B(1, 1, 1)

/* ---- bytes with scales and zeros */

static float value(const uint8_t * p, size_t i, bool byte, float zero, float scale)
{
    return byte ? ((float)p[i] - zero) * scale : ((const sn_32f *)p)[i];
}

static uint8_t nearest(float t, int32_t zero, uint8_t least)
{
    const double sum = rint((double)t) + zero;
    return (uint8_t)(sum > least ? fmin(sum, 255) : least);
}

static void add_quantized(const struct sn_add_quantized * p, const uint8_t * a, bool aByte, const uint8_t * b, bool bByte,
                          uint8_t * dst, bool dstByte, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (aByte && bByte && dstByte) {
            dst[i] = nearest(fmaf(a[i], p->aScale, fmaf(b[i], p->bScale, p->shift)), 0, p->least);
            continue;
        }
        float v = value(a, i, aByte, p->aZero, p->aScale) + value(b, i, bByte, p->bZero, p->bScale);
        if (p->relu)
            v = 0 > v ? 0 : v;
        if (dstByte)
            dst[i] = nearest(v * p->dstScale, p->dstZero, 0);
        else
            ((sn_32f *)dst)[i] = v;
    }
}

#define ADD_QUANTIZED(a8, b8, d8)                                                                                           \
    static void add_quantized_##a8##b8##d8(const struct sn_add_quantized * p, const uint8_t * a, const uint8_t * b,         \
                                           uint8_t * dst, size_t size)                                                      \
    {                                                                                                                       \
        add_quantized(p, a, a8, b, b8, dst, d8, size);                                                                      \
    }

SN_ADD_QUANTIZED_LIST(ADD_QUANTIZED)

#define SLOT(a8, b8, d8) slots->run_quantized[a8][b8][d8] = add_quantized_##a8##b8##d8;

SN_INSTALL(add, add)
{
    SN_ADD_QUANTIZED_LIST(SLOT)
    const sn_add_16b_fn add[2][2][2] = {{{add_16b_000, add_16b_001}, {add_16b_010, add_16b_011}},
                                        {{add_16b_100, add_16b_101}, {add_16b_110, add_16b_111}}};
    slots->run_8i = add_8i;
    memcpy(slots->run_16b, add, sizeof(add));
}
