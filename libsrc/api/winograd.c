/* Winograd: the same three functions for seven pairs of kernel and block. */
#include "ops/winograd.h"

#include "api/call.h"
#include "api/overlap.h"

static bool check_trans(const char * function, SimdBool trans)
{
    SN_CHECK_FOR(function, trans == SimdFalse || trans == SimdTrue, false, "trans is %d, expected SimdFalse or SimdTrue",
                 (int)trans);
    return true;
}

/* Planes of `used` floats, `stride` floats apart. */
static bool check_stride(const char * function, const char * name, size_t stride, size_t used, size_t planes)
{
    size_t all;
    SN_CHECK_FOR(function, stride >= used, false, "%s is %zu, expected at least %zu", name, stride, used);
    SN_CHECK_FOR(function, sn_product(&all, stride, planes), false, "%s is %zu, too large for %zu planes", name, stride,
                 planes);
    return true;
}

static void set_filter(const char * function, enum sn_winograd kind, const sn_32f * src, size_t size, sn_32f * dst,
                       SimdBool trans)
{
    const struct sn_winograd_size s = sn_winograd_size(kind);
    size_t all;
    if (!check_trans(function, trans))
        return;
    SN_CHECK_FOR(function, sn_product(&all, size, sn_winograd_planes(s)), SN_VOID,
                 "size is %zu, too large for an array", size);
    if (size == 0)
        return;
    SN_CHECK_FOR(function, src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart(function, SN_ARRAY(dst, all), SN_ARRAY(src, size * s.kernelY * s.kernelX)))
        sn_winograd_filter_32f(kind, src, size, dst, trans == SimdTrue);
}

/* The number of blocks of outputs along an axis. No term may exceed the size of an array, so these sums do not overflow. */
static bool blocks(const char * function, const char * axis, size_t src, size_t before, size_t after, size_t kernel,
                   size_t block, size_t * number)
{
    const char * extent = *axis == 'Y' ? "Height" : "Width", * end = *axis == 'Y' ? "H" : "W";
    const size_t limit = PTRDIFF_MAX / 8;
    SN_CHECK_FOR(function, src <= limit, false, "src%s is %zu, too large", extent, src);
    SN_CHECK_FOR(function, before <= limit, false, "pad%s is %zu, too large", axis, before);
    SN_CHECK_FOR(function, after <= limit, false, "pad%s is %zu, too large", end, after);
    const size_t padded = src + before + after;
    SN_CHECK_FOR(function, padded + 1 >= kernel, false, "src%s is %zu with padding of %zu, expected at least %zu together",
                 extent, src, before + after, kernel - 1);
    *number = sn_ceil_div(padded + 1 - kernel, block);
    return true;
}

static void set_input(const char * function, struct sn_winograd_input_32f job, size_t padH, size_t padW, SimdBool trans)
{
    const struct sn_winograd_size s = sn_winograd_size(job.kind);
    size_t image, used;
    if (!check_trans(function, trans) ||
        !blocks(function, "Y", job.height, job.padY, padH, s.kernelY, s.blockY, &job.tilesY) ||
        !blocks(function, "X", job.width, job.padX, padW, s.kernelX, s.blockX, &job.tilesX))
        return;
    SN_CHECK_FOR(function, sn_product(&image, job.channels, job.height, job.width), SN_VOID,
                 "srcChannels * srcHeight * srcWidth is %zu * %zu * %zu, too large for an array", job.channels, job.height,
                 job.width);
    SN_CHECK_FOR(function, sn_product(&used, job.channels, job.tilesY, job.tilesX), SN_VOID,
                 "srcChannels is %zu with %zu * %zu tiles, too large for an array", job.channels, job.tilesY, job.tilesX);
    if (!check_stride(function, "dstStride", job.plane, used, sn_winograd_planes(s)) || used == 0)
        return;
    SN_CHECK_FOR(function, job.src || image == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, job.dst, SN_VOID, "dst is NULL, expected an array");
    const sn_32f * src = job.src, * dst = job.dst;
    if (!sn_rows_apart(function, SN_ROWS(dst, sn_winograd_planes(s), used, job.plane), SN_ROWS(src, 1, image, image)))
        return;
    job.trans = trans == SimdTrue;
    job.pixel = job.tile = job.channels;
    sn_winograd_input_32f(job);
}

static void set_output(const char * function, struct sn_winograd_output_32f job, SimdBool trans)
{
    const struct sn_winograd_size s = sn_winograd_size(job.kind);
    size_t image, used;
    if (!check_trans(function, trans))
        return;
    job.tilesY = sn_ceil_div(job.height, s.blockY);
    job.tilesX = sn_ceil_div(job.width, s.blockX);
    SN_CHECK_FOR(function, sn_product(&image, job.channels, job.height, job.width), SN_VOID,
                 "dstChannels * dstHeight * dstWidth is %zu * %zu * %zu, too large for an array", job.channels, job.height,
                 job.width);
    sn_product(&used, job.channels, job.tilesY, job.tilesX); /* no larger than the image */
    if (!check_stride(function, "srcStride", job.plane, used, sn_winograd_planes(s)) || used == 0)
        return;
    SN_CHECK_FOR(function, job.src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, job.dst, SN_VOID, "dst is NULL, expected an array");
    const sn_32f * src = job.src, * dst = job.dst;
    if (!sn_rows_apart(function, SN_ROWS(dst, 1, image, image), SN_ROWS(src, sn_winograd_planes(s), used, job.plane)))
        return;
    job.trans = trans == SimdTrue;
    job.pixel = job.tile = job.channels;
    sn_winograd_output_32f(job);
}

#define FUNCTIONS(name, of_kind)                                                                                            \
    void SimdWinograd##name##SetFilter(const sn_32f * src, size_t size, sn_32f * dst, SimdBool trans)                       \
    {                                                                                                                       \
        SN_CALL(size, trans);                                                                                               \
        set_filter(__func__, of_kind, src, size, dst, trans);                                                               \
    }                                                                                                                       \
    void SimdWinograd##name##SetInput(const sn_32f * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,            \
                                      size_t padY, size_t padX, size_t padH, size_t padW, sn_32f * dst, size_t dstStride,   \
                                      SimdBool trans)                                                                       \
    {                                                                                                                       \
        SN_CALL(srcChannels, srcHeight, srcWidth, padY, padX, padH, padW, trans);                                           \
        set_input(__func__, (struct sn_winograd_input_32f){.kind = of_kind, .src = src, .channels = srcChannels,            \
                  .height = srcHeight, .width = srcWidth, .padY = padY, .padX = padX, .dilationY = 1, .dilationX = 1,       \
                  .dst = dst, .plane = dstStride}, padH, padW, trans);                                                      \
    }                                                                                                                       \
    void SimdWinograd##name##SetOutput(const sn_32f * src, size_t srcStride, sn_32f * dst, size_t dstChannels,              \
                                       size_t dstHeight, size_t dstWidth, SimdBool trans)                                   \
    {                                                                                                                       \
        SN_CALL(dstChannels, dstHeight, dstWidth, trans);                                                                   \
        set_output(__func__, (struct sn_winograd_output_32f){.kind = of_kind, .src = src, .plane = srcStride, .dst = dst,   \
                   .channels = dstChannels, .height = dstHeight, .width = dstWidth, .dilationY = 1, .dilationX = 1},        \
                   trans);                                                                                                  \
    }

FUNCTIONS(Kernel1x3Block1x4, SN_WINOGRAD_4X_3X)
FUNCTIONS(Kernel1x5Block1x4, SN_WINOGRAD_4X_5X)
FUNCTIONS(Kernel2x2Block2x2, SN_WINOGRAD_2_2)
FUNCTIONS(Kernel2x2Block4x4, SN_WINOGRAD_4_2)
FUNCTIONS(Kernel3x3Block2x2, SN_WINOGRAD_2_3)
FUNCTIONS(Kernel3x3Block3x3, SN_WINOGRAD_3_3)
FUNCTIONS(Kernel3x3Block4x4, SN_WINOGRAD_4_3)
