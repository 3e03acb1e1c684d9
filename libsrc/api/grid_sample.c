#include "ops/grid_sample.h"

#include <stdio.h>

#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"

struct grid_sample {
    struct sn_context head;
    struct sn_grid_sample plan; /* without arrays */
    size_t srcElements, grdElements, dstElements;
};

static const struct sn_context_kind kind = {.name = "GridSample2d"};

static bool check_enumerators(const char * function, SimdTensorDataType type, SimdGridSampleInterpType interp,
                              SimdGridSamplePaddingType padding)
{
    SN_CHECK_FOR(function, type == SimdTensorData32f, false, "type is %s, expected SimdTensorData32f",
                 SN_NAME(sn_data_types, type));
    SN_CHECK_FOR(function, (size_t)interp <= SimdGridSampleInterpBicubic, false,
                 "interp is %d, expected SimdGridSampleInterpBilinear, Nearest or Bicubic", (int)interp);
    SN_CHECK_FOR(function, (size_t)padding <= SimdGridSamplePaddingReflect, false,
                 "padding is %d, expected SimdGridSamplePaddingZeros, Border or Reflect", (int)padding);
    return true;
}

void * SimdSynetGridSample2dInit(size_t batch, size_t channels, size_t srcH, size_t srcW, size_t dstH, size_t dstW,
                                 SimdTensorDataType type, SimdGridSampleInterpType interp,
                                 SimdGridSamplePaddingType padding, SimdBool align)
{
    SN_BEGIN();
    static const char * const interps[] = {"bilinear", "nearest", "bicubic"};
    static const char * const paddings[] = {"zeros", "border", "reflect"};
    size_t src, grd, dst;
    if (!check_enumerators(__func__, type, interp, padding))
        return NULL;
    SN_CHECK(srcH > 0, NULL, "srcH is 0, expected at least 1");
    SN_CHECK(srcW > 0, NULL, "srcW is 0, expected at least 1");
    SN_CHECK(sn_product(&src, batch, channels, srcH, srcW) && sn_product(&dst, batch, channels, dstH, dstW) &&
                 sn_product(&grd, batch, dstH, dstW, 2), NULL,
             "batch is %zu, channels is %zu, srcH is %zu, srcW is %zu, dstH is %zu and dstW is %zu, too large for an array",
             batch, channels, srcH, srcW, dstH, dstW);
    SN_CHECK(srcH <= INT32_MAX / srcW, NULL, "srcH is %zu and srcW is %zu, expected images of less than 2^31 elements", srcH,
             srcW);
    struct grid_sample * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->plan = (struct sn_grid_sample){.table = c->head.table, .batch = batch, .channels = channels, .srcH = srcH,
        .srcW = srcW, .dstH = dstH, .dstW = dstW, .interpolation = (enum sn_grid_interpolation)interp,
        .padding = (enum sn_grid_padding)padding, .align = align != SimdFalse};
    c->srcElements = src;
    c->grdElements = grd;
    c->dstElements = dst;
    sn_context_describe(&c->head, "%s, %s%s", interps[interp], paddings[padding], c->plan.align ? ", aligned corners" : "");
    snprintf(c->head.shape, sizeof(c->head.shape), "batch:%zu,channels:%zu,srcH:%zu,srcW:%zu,dstH:%zu,dstW:%zu", batch,
             channels, srcH, srcW, dstH, dstW);
    return c;
}

size_t SimdSynetGridSample2dInternalBufferSize(const void * context)
{
    SN_BEGIN();
    (void)sn_context_check(context, &kind, __func__);
    return 0;
}

void SimdSynetGridSample2dForward(void * context, const uint8_t * src, const uint8_t * grd, uint8_t * dst)
{
    SN_CALL_OF(context);
    const struct grid_sample * c = context;
    if (!sn_context_check(c, &kind, __func__) || c->dstElements == 0)
        return;
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(grd, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array result = {"dst", dst, c->dstElements * sizeof(float)};
    if (!sn_apart(__func__, result, (struct sn_array){"src", src, c->srcElements * sizeof(float)}) ||
        !sn_apart(__func__, result, (struct sn_array){"grd", grd, c->grdElements * sizeof(float)}))
        return;
    struct sn_grid_sample plan = c->plan;
    plan.src = (const sn_32f *)src;
    plan.grid = (const sn_32f *)grd;
    plan.dst = (sn_32f *)dst;
    sn_grid_sample_32f(&plan);
}
