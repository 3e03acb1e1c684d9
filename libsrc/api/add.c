#include "ops/elementwise/add.h"

#include <stdio.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/forward.h"
#include "api/overlap.h"

void SimdSynetAdd8i(const uint8_t * aData, const sn_32f * aScale, const sn_32f * aShift, const uint8_t * bData,
                    const sn_32f * bScale, const sn_32f * bShift, uint8_t * cData, const sn_32f * cScale,
                    const sn_32f * cShift, size_t batch, size_t channels, size_t spatial, SimdTensorFormatType format,
                    SimdSynetCompatibilityType compatibility)
{
    SN_CALL_FORMATS(1, batch, channels, spatial, format);
    size_t elements;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(sn_product(&elements, batch, channels, spatial), SN_VOID,
             "batch is %zu, channels is %zu and spatial is %zu, too large for an array", batch, channels, spatial);
    if (elements == 0)
        return;
    SN_CHECK_POINTER(aData, SN_VOID);
    SN_CHECK_POINTER(aScale, SN_VOID);
    SN_CHECK_POINTER(aShift, SN_VOID);
    SN_CHECK_POINTER(bData, SN_VOID);
    SN_CHECK_POINTER(bScale, SN_VOID);
    SN_CHECK_POINTER(bShift, SN_VOID);
    SN_CHECK_POINTER(cData, SN_VOID);
    SN_CHECK_POINTER(cScale, SN_VOID);
    SN_CHECK_POINTER(cShift, SN_VOID);
    const struct sn_array sum = SN_ARRAY(cData, elements);
    if (!sn_apart(__func__, sum, SN_ARRAY(aData, elements)) || !sn_apart(__func__, sum, SN_ARRAY(bData, elements)) ||
        !sn_apart(__func__, sum, SN_ARRAY(aScale, channels)) || !sn_apart(__func__, sum, SN_ARRAY(aShift, channels)) ||
        !sn_apart(__func__, sum, SN_ARRAY(bScale, channels)) || !sn_apart(__func__, sum, SN_ARRAY(bShift, channels)) ||
        !sn_apart(__func__, sum, SN_ARRAY(cScale, channels)) || !sn_apart(__func__, sum, SN_ARRAY(cShift, channels)))
        return;
    const int mode = (int)compatibility & SimdSynetCompatibility8iMask;
    const uint8_t upper = mode == SimdSynetCompatibility8iNarrowed ? 180 : 255;
    const struct sn_add_8i add = {aData, aScale, aShift, bData, bScale, bShift, cData, cScale, cShift, upper};
    sn_add_8i(&add, batch, channels, spatial, (enum sn_format)format);
}

/* ---- Add16b */

struct add_16b {
    struct sn_context head;
    size_t size;
    size_t channels; /* of a pixel, in NHWC; otherwise all elements are one pixel */
    enum sn_format format;
    bool a, b, dst;  /* bfloat16, else float */
};

/* The sum may be a source of its own type and with its pixels. */
static bool is_apart(const char * function, const struct add_16b * c, struct sn_rows dst, struct sn_rows src, bool type)
{
    if (type == c->dst && dst.step == src.step && dst.at == src.at)
        return true;
    dst.bytes *= c->dst ? 2 : 4, dst.step *= c->dst ? 2 : 4;
    src.bytes *= type ? 2 : 4, src.step *= type ? 2 : 4;
    return sn_rows_apart(function, dst, src);
}

/* SimdnetForward() with src, add and dst; the order has no effect. */
static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct add_16b * c = context;
    struct sn_add_pixels p = {f->src, f->add, f->dst, f->srcPixel, f->addPixel, f->dstPixel, 0, c->channels};
    struct sn_pixel_array array = {"srcPixel", c->format, 1, 0, c->channels, sizeof(float)};
    size_t image;
    if (c->size == 0)
        return;
    SN_CHECK_FOR(function, f->src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, f->add, SN_VOID, "add is NULL, expected an array");
    SN_CHECK_FOR(function, f->dst, SN_VOID, "dst is NULL, expected an array");
    array.pixels = p.pixels = c->size / c->channels;
    if (!sn_take_pixel(function, array, &p.aPixel, &image))
        return;
    array.name = "addPixel";
    if (!sn_take_pixel(function, array, &p.bPixel, &image))
        return;
    array.name = "dstPixel";
    if (!sn_take_pixel(function, array, &p.dstPixel, &image))
        return;
    const struct sn_rows dst = {"dst", p.dst, p.pixels, p.channels, p.dstPixel};
    if (!is_apart(function, c, dst, (struct sn_rows){"src", p.a, p.pixels, p.channels, p.aPixel}, c->a) ||
        !is_apart(function, c, dst, (struct sn_rows){"add", p.b, p.pixels, p.channels, p.bPixel}, c->b))
        return;
    if (p.aPixel == p.channels && p.bPixel == p.channels && p.dstPixel == p.channels)
        sn_add_16b(c->head.table, c->a, c->b, c->dst, p.a, p.b, p.dst, c->size);
    else
        sn_add_16b_pixels(c->head.table, c->a, c->b, c->dst, &p);
}

static const struct sn_context_kind kind = {.name = "Add16b", .forward = forward};

static bool check_type(const char * function, const char * name, SimdTensorDataType type)
{
    SN_CHECK_FOR(function, type == SimdTensorData32f || type == SimdTensorData16b, false,
                 "%s is %s, expected SimdTensorData32f or SimdTensorData16b", name, SN_NAME(sn_data_types, type));
    return true;
}

void * SimdSynetAdd16bInit(const size_t * aShape, size_t aCount, SimdTensorDataType aType, const size_t * bShape,
                           size_t bCount, SimdTensorDataType bType, SimdTensorDataType dstType,
                           SimdTensorFormatType format)
{
    SN_BEGIN();
    size_t size;
    if (!sn_check_shapes(__func__, aShape, aCount, bShape, bCount, &size) || !check_type(__func__, "aType", aType) ||
        !check_type(__func__, "bType", bType) || !check_type(__func__, "dstType", dstType))
        return NULL;
    SN_CHECK(format == SimdTensorFormatUnknown || format == SimdTensorFormatNchw || format == SimdTensorFormatNhwc, NULL,
             "format is %s, expected SimdTensorFormatUnknown, Nchw or Nhwc", SN_NAME(sn_formats, format));
    struct add_16b * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->size = size;
    c->channels = format == SimdTensorFormatNhwc && aCount ? aShape[aCount - 1] : size;
    c->format = (enum sn_format)format;
    c->a = aType == SimdTensorData16b;
    c->b = bType == SimdTensorData16b;
    c->dst = dstType == SimdTensorData16b;
    sn_context_describe(&c->head, "%s + %s -> %s", c->a ? "16b" : "32f", c->b ? "16b" : "32f", c->dst ? "16b" : "32f");
    snprintf(c->head.shape, sizeof(c->head.shape), "size:%zu", size);
    return c;
}

void SimdSynetAdd16bForward(void * context, const uint8_t * a, const uint8_t * b, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct add_16b * c = context;
    if (c->size == 0)
        return;
    SN_CHECK_POINTER(a, SN_VOID);
    SN_CHECK_POINTER(b, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_rows sum = {"dst", dst, 1, c->size, c->size};
    if (is_apart(__func__, c, sum, (struct sn_rows){"a", a, 1, c->size, c->size}, c->a) &&
        is_apart(__func__, c, sum, (struct sn_rows){"b", b, 1, c->size, c->size}, c->b))
        sn_add_16b(c->head.table, c->a, c->b, c->dst, a, b, dst, c->size);
}
