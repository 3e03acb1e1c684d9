/* SimdnetPixelwise(): functions of the families activation, unary, channelwise and eltwise, on pixels with gaps. */
#include "ops/elementwise/pixelwise.h"

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define FUNCTION(Name, KIND, OP) [SimdnetPixelwise##Name] = {SN_PIXELWISE_##KIND, OP, #Name},
#define POINTWISE(NAME, Name, ...) FUNCTION(Name, POINTWISE, SN_##NAME)
static const struct function {
    enum sn_pixelwise_kind kind;
    int op;
    const char * name;
} functions[] = {
    FUNCTION(Copy, COPY, 0)
    SN_ACTIVATIONS(POINTWISE)
    SN_UNARY_OPERATIONS(POINTWISE)
    SN_ANGLES(POINTWISE)
    FUNCTION(AddBias, CHANNELWISE, SN_ADD_BIAS)
    FUNCTION(Scale, CHANNELWISE, SN_SCALE)
    FUNCTION(Prelu, CHANNELWISE, SN_PRELU)
    FUNCTION(Product, ELTWISE, SN_ELTWISE_PRODUCT)
    FUNCTION(Sum, ELTWISE, SN_ELTWISE_SUM)
    FUNCTION(Max, ELTWISE, SN_ELTWISE_MAX)
    FUNCTION(Min, ELTWISE, SN_ELTWISE_MIN)
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* Checks the arrays that the function has, and sets those of *p. */
static bool take_arrays(const char * function, const SimdnetPixelwiseParameters * q, struct sn_pixelwise * p)
{
    const bool bias = q->function == SimdnetPixelwiseAddBias, channelwise = p->kind == SN_PIXELWISE_CHANNELWISE;
    CHECK(q->src, "src is NULL, expected an array");
    CHECK(q->src1 || p->kind != SN_PIXELWISE_ELTWISE, "src1 is NULL, expected an array");
    CHECK(q->dst, "dst is NULL, expected an array");
    CHECK(q->scale || !channelwise || bias, "scale is NULL, expected an array");
    CHECK(q->bias || !bias, "bias is NULL, expected an array");
    p->src[0] = q->src;
    p->src[1] = p->kind == SN_PIXELWISE_ELTWISE ? q->src1 : NULL;
    p->dst = q->dst;
    p->each[0] = bias ? q->bias : q->scale;
    if (q->function == SimdnetPixelwiseScale && q->bias) {
        p->op = SN_SCALE_BIAS;
        p->each[1] = q->bias;
    }
    return true;
}

/* Checks the distances, and replaces 0 by the number of channels. */
static bool take_pixels(const char * function, struct sn_pixelwise * p)
{
    struct sn_pixel_array array = {"srcPixel", SN_NHWC, 1, p->pixels, p->channels, sizeof(float)};
    size_t image;
    if (!sn_take_pixel(function, array, &p->srcPixel[0], &image))
        return false;
    array.name = "src1Pixel";
    if (p->src[1] && !sn_take_pixel(function, array, &p->srcPixel[1], &image))
        return false;
    array.name = "dstPixel";
    return sn_take_pixel(function, array, &p->dstPixel, &image);
}

/* dst may be a source with the same distance. */
static bool is_apart(const char * function, const struct sn_pixelwise * p)
{
    static const char * const names[] = {"src", "src1"};
    const char * const coefficients[] = {p->op == SN_ADD_BIAS ? "bias" : "scale", "bias"};
    struct sn_rows dst = SN_ROWS(p->dst, p->pixels, p->channels, p->dstPixel);
    dst.name = "dst";
    for (int i = 0; i < 2; ++i) {
        struct sn_rows src = SN_ROWS(p->src[i], p->pixels, p->channels, p->srcPixel[i]);
        src.name = names[i];
        if (p->src[i] && (p->src[i] != p->dst || p->srcPixel[i] != p->dstPixel) && !sn_rows_apart(function, dst, src))
            return false;
        struct sn_rows each = {coefficients[i], p->each[i], 1, p->channels * sizeof(float), p->channels * sizeof(float)};
        if (p->each[i] && !sn_rows_apart(function, dst, each))
            return false;
    }
    return true;
}

void SimdnetPixelwise(const SimdnetPixelwiseParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetPixelwiseParameters * q = parameters;
    SN_CALL(q->function, q->channels, q->pixels, q->srcPixel, q->src1Pixel, q->dstPixel);
    SN_CHECK((size_t)q->function < FUNCTIONS, SN_VOID, "function is %d, expected a SimdnetPixelwiseFunction, Copy to %s",
             (int)q->function, functions[FUNCTIONS - 1].name);
    if (q->pixels == 0 || q->channels == 0)
        return;
    struct sn_pixelwise p = {.kind = functions[q->function].kind, .op = functions[q->function].op,
        .srcPixel = {q->srcPixel, q->src1Pixel}, .dstPixel = q->dstPixel, .channels = q->channels, .pixels = q->pixels,
        .params = {q->params[0], q->params[1]}};
    if (take_arrays(__func__, q, &p) && take_pixels(__func__, &p) && is_apart(__func__, &p))
        sn_pixelwise(&p);
}
