#include "ops/roi_align.h"

#include <inttypes.h>
#include <math.h>

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"

enum { MOST_SAMPLES = 1 << 16, MOST_ELEMENTS = 1 << 24 /* floats count so far */ };

/* The sizes of arrays in elements. */
struct sizes {
    size_t src, regions, dst;
};

static bool take_sizes(const char * function, const SimdnetRoiAlignParameters * q, struct sizes * s)
{
    SN_CHECK_FOR(function, q->spatialScale > 0 && isfinite(q->spatialScale), false,
                 "spatialScale is %g, expected a finite number above 0", (double)q->spatialScale);
    SN_CHECK_FOR(function, q->samplingRatio <= MOST_SAMPLES, false, "samplingRatio is %zu, expected at most %d",
                 q->samplingRatio, MOST_SAMPLES);
    SN_CHECK_FOR(function, q->srcH - 1 < MOST_ELEMENTS, false, "srcH is %zu, expected 1 .. %d", q->srcH, MOST_ELEMENTS);
    SN_CHECK_FOR(function, q->srcW - 1 < MOST_ELEMENTS, false, "srcW is %zu, expected 1 .. %d", q->srcW, MOST_ELEMENTS);
    SN_CHECK_FOR(function, sn_product(&s->src, q->batch, q->channels, q->srcH, q->srcW), false,
                 "batch is %zu, channels is %zu, srcH is %zu and srcW is %zu, too large for an array", q->batch, q->channels,
                 q->srcH, q->srcW);
    SN_CHECK_FOR(function, sn_product(&s->regions, q->count, 4) &&
                 sn_product(&s->dst, q->count, q->channels, q->dstH, q->dstW), false,
                 "count is %zu, channels is %zu, dstH is %zu and dstW is %zu, too large for an array", q->count, q->channels,
                 q->dstH, q->dstW);
    return true;
}

static bool are_inside(const char * function, const SimdnetRoiAlignParameters * q)
{
    const sn_64i * images = q->images;
    for (size_t i = 0; i < q->count; ++i)
        SN_CHECK_FOR(function, (uint64_t)images[i] < q->batch, false,
                     "images[%zu] is %" PRId64 ", expected one of %zu images", i, images[i], q->batch);
    return true;
}

void SimdnetRoiAlign(const SimdnetRoiAlignParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetRoiAlignParameters * q = parameters;
    SN_CALL(q->batch, q->channels, q->srcH, q->srcW, q->count, q->dstH, q->dstW, q->samplingRatio);
    struct sizes s;
    if (!take_sizes(__func__, q, &s) || s.dst == 0)
        return;
    SN_CHECK(q->src || s.src == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->regions, SN_VOID, "regions is NULL, expected an array");
    SN_CHECK(q->images, SN_VOID, "images is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    const struct sn_array dst = {"dst", q->dst, s.dst * sizeof(float)};
    if (!sn_apart(__func__, dst, (struct sn_array){"src", q->src, s.src * sizeof(float)}) ||
        !sn_apart(__func__, dst, (struct sn_array){"regions", q->regions, s.regions * sizeof(float)}) ||
        !sn_apart(__func__, dst, (struct sn_array){"images", q->images, q->count * sizeof(int64_t)}) ||
        !are_inside(__func__, q))
        return;
    const struct sn_roi_align job = {q->src, q->regions, q->images, q->channels, q->srcH, q->srcW, q->count, q->dstH,
        q->dstW, q->samplingRatio, q->spatialScale, q->max != SimdFalse, q->halfPixel != SimdFalse, q->dst};
    if (!sn_roi_align(&job))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu columns", q->srcW);
}
