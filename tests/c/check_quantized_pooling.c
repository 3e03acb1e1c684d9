/* Pooling of quantised bytes, bit for bit as base: windows, padding, layouts, both types, extremes and ties. */
#include "check.h"

#define NAME "SimdnetQuantizedPooling"

typedef SimdnetQuantizedPoolingParameters parameters;

static void pooling(const void * job, void * context, void * const * a)
{
    (void)context;
    parameters p = *(const parameters *)job;
    p.src = a[0], p.dst = a[1];
    SimdnetQuantizedPooling(&p);
}

static bool declare(const parameters * p, enum check_fill fill)
{
    static const char * const types[] = {"max", "average", "global"};
    if (!check_case(NAME, "%s %zux%zux%zux%zu -> %zux%zu window %zux%zu/%zux%zu pad %zu,%zu,%zu,%zu type %d format %d "
                    "exclude %d %g,%d -> %g,%d %s", types[p->type], p->batch, p->channels, p->srcH, p->srcW, p->dstH, p->dstW,
                    p->kernelY, p->kernelX, p->strideY, p->strideX, p->padY, p->padX, p->padH, p->padW, (int)p->dataType,
                    (int)p->format, (int)p->excludePad, (double)p->scaleSrc, (int)p->zeroSrc, (double)p->scaleDst,
                    (int)p->zeroDst, check_fill_name(fill)))
        return false;
    const bool global = p->type == SimdnetQuantizedPoolingGlobalAverage;
    const size_t images = p->batch * p->channels;
    check_in("src", CHECK_8U, images * p->srcH * p->srcW, fill);
    check_out("dst", CHECK_8U, global ? images : images * p->dstH * p->dstW);
    return true;
}

static void run(const parameters * p, enum check_fill fill)
{
    if (declare(p, fill))
        check_run(pooling, p);
}

static parameters drawn(size_t i)
{
    const bool with_sign = i & 1;
    const int least = with_sign ? -128 : 0;
    parameters p = {.size = sizeof(p), .type = (SimdnetQuantizedPoolingType)(i % 3),
        .dataType = with_sign ? SimdTensorData8i : SimdTensorData8u,
        .format = i & 2 ? SimdTensorFormatNchw : SimdTensorFormatNhwc, .batch = check_random(1, 3),
        .channels = check_random_size(i % 4 ? 140 : 9), .srcH = check_random_size(12), .srcW = check_random_size(12),
        .kernelY = check_random(1, 4), .kernelX = check_random(1, 4), .strideY = check_random(1, 3),
        .strideX = check_random(1, 3), .padY = check_random(0, 4), .padX = check_random(0, 2), .padH = check_random(0, 3),
        .padW = check_random(0, 2), .excludePad = (SimdBool)check_random(0, 1), .scaleSrc = i % 4 ? 0.5f : 0.3f,
        .scaleDst = i % 5 ? 0.25f : check_random_32f(0.1f, 3)};
    p.zeroSrc = (int32_t)check_random(0, 255) + least;
    p.zeroDst = (int32_t)check_random(0, 255) + least;
    p.dstH = check_random(1, 8), p.dstW = check_random(1, 8); /* windows behind the image, too */
    return p;
}


#define REFUSE(text, change)                                                                                                \
    do {                                                                                                                    \
        parameters p = good;                                                                                                \
        change;                                                                                                             \
        declare(&good, CHECK_RANDOM);                                                                                       \
        check_refused(CHECK_VALUE, text, pooling, &p);                                                                      \
    } while (0)

static void refusals(void)
{
    const parameters good = {.size = sizeof(good), .type = SimdnetQuantizedPoolingAverage, .dataType = SimdTensorData8u,
        .format = SimdTensorFormatNhwc, .batch = 1, .channels = 4, .srcH = 4, .srcW = 4, .dstH = 2, .dstW = 2, .kernelY = 2,
        .kernelX = 2, .strideY = 2, .strideX = 2, .scaleSrc = 1, .scaleDst = 1};
    declare(&good, CHECK_RANDOM);
    check_refused_overlap(false, pooling, &good);
    check_refused_null(pooling, &good);
    REFUSE("type is 3", p.type = (SimdnetQuantizedPoolingType)3);
    REFUSE("dataType is", p.dataType = SimdTensorData32f);
    REFUSE("format is", p.format = SimdTensorFormatNchw4c);
    REFUSE("kernelY is 0", p.kernelY = 0);
    REFUSE("strideX is 0", p.strideX = 0);
    REFUSE("axis H is", p.padY = (size_t)1 << 31);
    REFUSE("excludePad is 2", p.excludePad = (SimdBool)2);
    REFUSE("scaleSrc is 0", p.scaleSrc = 0);
    REFUSE("scaleDst is nan", p.scaleDst = NAN);
    REFUSE("zeroSrc is 256", p.zeroSrc = 256);
    REFUSE("zeroDst is -1", p.zeroDst = -1);
    REFUSE("zeroDst is 128", (p.dataType = SimdTensorData8i, p.zeroDst = 128));
    REFUSE("batch * channels", p.channels = SIZE_MAX / 8);
    parameters empty = good;
    empty.channels = 0;
    declare(&empty, CHECK_RANDOM);
    check_empty(pooling, &empty);
    SimdnetQuantizedPooling(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, NAME, "NULL: %s", SimdnetLastError());
}

static void bench(void)
{
    for (int type = 0; type < 3; ++type)
        for (int nchw = 0; nchw < 2; ++nchw) {
            const parameters p = {.size = sizeof(p), .type = (SimdnetQuantizedPoolingType)type, .dataType = SimdTensorData8u,
                .format = nchw ? SimdTensorFormatNchw : SimdTensorFormatNhwc, .batch = 1, .channels = 64, .srcH = 56,
                .srcW = 56, .dstH = 28, .dstW = 28, .kernelY = 3, .kernelX = 3, .strideY = 2, .strideX = 2, .padY = 1,
                .padX = 1, .padH = 1, .padW = 1, .scaleSrc = 0.5f, .scaleDst = 0.5f};
            if (declare(&p, CHECK_RANDOM))
                check_bench(pooling, &p, 0, 64.0 * 56 * 56);
        }
}

CHECK_FAMILY(quantized_pooling)
{
    if (!check_selected(NAME))
        return;
    for (size_t i = 0, n = check_count(240); i < n; ++i) {
        const parameters p = drawn(i);
        run(&p, i % 7 ? CHECK_RANDOM : CHECK_LARGE);
    }
    const parameters large = {.size = sizeof(large), .type = SimdnetQuantizedPoolingGlobalAverage,
        .dataType = SimdTensorData8u, .format = SimdTensorFormatNchw, .batch = 2, .channels = 130, .srcH = 70, .srcW = 33,
        .scaleSrc = 0.5f, .scaleDst = 0.5f, .zeroDst = 3};
    run(&large, CHECK_RANDOM);
    refusals();
    if (check_timed())
        bench();
}
