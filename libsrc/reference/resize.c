#include <math.h>
#include <string.h>

#include "contract/resize.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static void widen(enum sn_resize_type type, const void * src, size_t size, sn_32f * dst)
{
    const uint8_t * bytes = src;
    const sn_16b * shorts = src;
    const sn_32f * floats = src;
    for (size_t i = 0; i < size; ++i)
        dst[i] = type == SN_RESIZE_32F   ? floats[i]
                 : type == SN_RESIZE_16B ? sn_16b_to_32f(shorts[i])
                 : type == SN_RESIZE_16U ? (float)shorts[i]
                                         : (float)bytes[i];
}

static void row(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    for (size_t i = 0; i < x->dst; ++i)
        for (size_t c = 0; c < channels; ++c) {
            const sn_32f * p = src + x->begin[i] * channels + c;
            double sum = 0;
            for (size_t t = 0; t < x->taps; ++t)
                sum += (double)x->weight[i * x->taps + t] * (double)p[t * channels];
            if (x->copies)
                memcpy(dst + i * channels + c, p, sizeof(*p));
            else
                dst[i * channels + c] = (float)sum;
        }
}

static void rows(const struct sn_resize_axis * x, const struct sn_resize_rows * rows)
{
    for (size_t i = 0; i < rows->n; ++i) {
        widen(rows->type, rows->src[i], x->src * rows->channels, rows->work);
        row(x, rows->channels, rows->work, rows->dst[i]);
    }
}

static uint8_t saturated(double sum) { return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum); }

static uint8_t byte_of(const struct sn_resize_column * c, size_t i)
{
    double sum = 0;
    if (c->type == SN_RESIZE_8U)
        for (size_t t = 0; t < c->taps; ++t)
            sum += (double)c->weight[t] * (double)c->row[t][i];
    if (c->type == SN_RESIZE_8U)
        return saturated(nearbyint(sum * (double)c->scale + (double)c->bias));
    int64_t whole = 0;
    for (size_t t = 0; t < c->taps; ++t)
        whole += c->type == SN_RESIZE_8U_AREA ? (int64_t)c->row[t][i] * (int64_t)c->weight[t]
                                              : ((int64_t)(c->row[t][i] / 128) * (int64_t)c->weight[t]) >> 16;
    return saturated((double)(c->type == SN_RESIZE_8U_AREA ? (whole + (1 << 21)) >> 22 : (whole + 16) >> 5));
}

static float float_of(const struct sn_resize_column * c, size_t i)
{
    double sum = 0;
    for (size_t t = 0; t < c->taps; ++t)
        sum += (double)c->weight[t] * (double)c->row[t][i];
    return (float)sum;
}

static void column(const struct sn_resize_column * c, size_t begin, size_t size, void * dst)
{
    for (size_t i = 0; i < size; ++i)
        switch (c->type) {
        case SN_RESIZE_32F: ((sn_32f *)dst)[i] = float_of(c, begin + i); break;
        case SN_RESIZE_16B: ((sn_16b *)dst)[i] = sn_32f_to_16b(float_of(c, begin + i)); break;
        case SN_RESIZE_16U: ((sn_16b *)dst)[i] = (uint16_t)nearbyintf(float_of(c, begin + i)); break;
        default: ((uint8_t *)dst)[i] = byte_of(c, begin + i);
        }
}

static float between(const sn_32f * weight, float first, float second)
{
    return (float)((double)weight[0] * (double)first + (double)weight[1] * (double)second);
}

/* The bits of rows, then columns. */
static void image(const struct sn_resize_image * m, size_t begin, size_t end)
{
    const size_t channels = m->channels;
    for (size_t i = begin; i < end; ++i)
        for (size_t e = 0; e < m->x->dst * channels; ++e) {
            const sn_32f * a = m->src + m->y->begin[i] * m->srcRow + m->x->begin[e / channels] * channels + e % channels;
            sn_32f * dst = m->dst + i * m->dstRow + e;
            if (m->x->copies) {
                memcpy(dst, a, sizeof(*a));
                continue;
            }
            const sn_32f * x = m->x->weight + 2 * (e / channels), * b = a + m->srcRow;
            *dst = between(m->y->weight + 2 * i, between(x, a[0], a[channels]), between(x, b[0], b[channels]));
        }
}

SN_INSTALL(resize, resize)
{
    slots->widen = widen;
    slots->row = row;
    slots->rows = rows;
    slots->column = column;
    slots->image = image;
}
