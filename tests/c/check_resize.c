/*
 * Resizing: SimdnetResize*, also with distances between pixels, and SimdResizer*. Copies and bytes of the documented methods
 * are exact; sums of floats have a bound, other bytes differ by 1 at most. tests/test_resize.py has the formulas.
 */
#include "check.h"

#define FORWARD "SimdnetResizeForward"
#define RESIZER "SimdResizerRun"

/* ---- Resize */

struct resize {
    SimdnetResizeParameters p;
    size_t srcPixel, dstPixel;
};

static void * open(const void * job, void * const * a)
{
    (void)a;
    return SimdnetResizeInit(&((const struct resize *)job)->p);
}

static void forward(const void * job, void * context, void * const * a)
{
    const struct resize * r = job;
    const SimdnetForwardParameters f = {.size = sizeof(f), .src = a[0], .dst = a[1], .srcPixel = r->srcPixel,
        .dstPixel = r->dstPixel};
    if (r->srcPixel || r->dstPixel)
        SimdnetForward(context, &f);
    else
        SimdnetResizeForward(context, a[0], a[1]);
}

/* Elements of an array of pixels with a distance. */
static size_t extent(size_t pixels, size_t channels, size_t pixel)
{
    return pixels ? (pixels - 1) * (pixel ? pixel : channels) + channels : 0;
}

/* Gaps are elements of dst that must keep their values: they are declared as in and out. */
static void resize_case(const struct resize * r, enum check_fill fill)
{
    const SimdnetResizeParameters * p = &r->p;
    const bool bytes = p->dataType == SimdTensorData8u;
    const enum check_type type = bytes ? CHECK_8U : CHECK_32F;
    if (!check_case(FORWARD, "%s %s b=%zu c=%zu %zux%zu->%zux%zu method=%d coordinates=%d rounding=%d antialias=%d "
                    "exclude=%d scale=%g,%g pixels=%zu,%zu %s", bytes ? "8u" : "32f", check_format_name(p->format), p->batch,
                    p->channels, p->srcH, p->srcW, p->dstH, p->dstW, (int)p->method, (int)p->coordinates, (int)p->rounding,
                    (int)p->antialias, (int)p->excludeOutside, (double)p->scaleY, (double)p->scaleX, r->srcPixel,
                    r->dstPixel, check_fill_name(fill)))
        return;
    const bool nhwc = p->format == SimdTensorFormatNhwc;
    const size_t planes = p->batch * (nhwc ? 1 : p->channels), channels = nhwc ? p->channels : 1;
    const size_t size = extent(planes * p->dstH * p->dstW, channels, r->dstPixel);
    check_open(open);
    check_in("src", type, extent(planes * p->srcH * p->srcW, channels, r->srcPixel), fill);
    if (r->dstPixel)
        check_inout("dst", type, size, CHECK_EQUAL);
    else
        check_out("dst", type, size);
    if (p->method != SimdnetResizeNearest && bytes) {
        check_bytes_within(1);
    } else if (p->method != SimdnetResizeNearest) {
        double * bound = check_bound();
        for (size_t i = 0; i < size; ++i)
            bound[i] = fill == CHECK_LARGE ? 1e25 : 1e-5;
    }
    check_run(forward, r);
}

static struct resize usual(SimdTensorFormatType format, size_t channels, size_t srcH, size_t srcW, size_t dstH, size_t dstW)
{
    return (struct resize){.p = {.size = sizeof(SimdnetResizeParameters), .format = format, .batch = 2, .channels = channels,
                                 .srcH = srcH, .srcW = srcW, .dstH = dstH, .dstW = dstW}};
}

/* All methods, types and layouts of a size. */
static void resize_methods(size_t channels, size_t srcH, size_t srcW, size_t dstH, size_t dstW, size_t number)
{
    for (int k = 0; k < 16; ++k) {
        struct resize r = usual((SimdTensorFormatType)(k & 1), channels, srcH, srcW, dstH, dstW);
        r.p.dataType = k & 2 ? SimdTensorData8u : SimdTensorData32f;
        r.p.method = (SimdnetResizeMethod)(k >> 2);
        r.p.coordinates = (SimdnetResizeCoordinates)((number + (size_t)k) % 5);
        r.p.rounding = (SimdnetResizeRounding)((number + (size_t)k) % 4);
        r.p.antialias = (SimdBool)(number & 1);
        r.p.excludeOutside = (SimdBool)(number >> 1 & 1);
        if (number % 3 == 0 && (k & 1)) {
            r.srcPixel = channels + 3;
            r.dstPixel = channels + number % 5;
        }
        resize_case(&r, (enum check_fill)(number % CHECK_FILLS));
    }
}

static void resize_cases(void)
{
    static const size_t channels[] = {1, 2, 3, 4, 7, 8, 16, 19, 33};
    size_t number = 0;
    for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); ++i) {
        resize_methods(channels[i], 5, 9, 10, 18, number++);
        resize_methods(channels[i], 9, 40, 18, 80, number++);
        resize_methods(channels[i], 8, 13, 5, 6, number++);
        resize_methods(channels[i], 1, 1, 3, 35, number++);
        resize_methods(channels[i], 70, 67, 1, 2, number++);
    }
    for (size_t n = check_count(40); n > 0; --n)
        resize_methods(check_random(1, 40), check_random(1, 20), check_random(1, 70), check_random(1, 40),
                       check_random(1, 150), number++);
}

static void resize_scales(void)
{
    struct resize r = usual(SimdTensorFormatNchw, 3, 7, 11, 4, 24);
    r.p.scaleY = 0.65f;
    r.p.scaleX = 2.25f;
    for (int k = 0; k < 40; ++k) { /* 4.55 x 24.75, rounded down and to nearest */
        r.p.dstH = k % 2 ? 5 : 4;
        r.p.dstW = k % 2 ? 25 : 24;
        r.p.method = (SimdnetResizeMethod)(k / 10);
        r.p.coordinates = (SimdnetResizeCoordinates)(k / 2 % 5);
        resize_case(&r, CHECK_RANDOM);
    }
}

#define BAD(member, value, argument)                                                                                        \
    bad = good, bad.p.member = value;                                                                                       \
    check_case("SimdnetResizeInit", "bad " #member);                                                                        \
    check_open(open);                                                                                                       \
    check_refused(CHECK_VALUE, argument, NULL, &bad)

static void resize_refusals(void)
{
    const struct resize good = usual(SimdTensorFormatNchw, 3, 5, 6, 7, 8);
    struct resize bad;
    BAD(size, 8, "size");
    BAD(dataType, SimdTensorData16b, "dataType");
    BAD(format, SimdTensorFormatNchw4c, "format");
    BAD(method, (SimdnetResizeMethod)4, "method");
    BAD(coordinates, (SimdnetResizeCoordinates)5, "coordinates");
    BAD(rounding, (SimdnetResizeRounding)-1, "rounding");
    BAD(srcH, 0, "srcH");
    BAD(srcW, SIZE_MAX / 4, "srcW");
    BAD(dstW, SIZE_MAX / 4, "dstW");
    BAD(dstH, (size_t)1 << 31, "dstH");
    BAD(scaleY, 3, "scaleY");
    BAD(scaleY, 1, "scaleY");
    BAD(scaleX, -1, "scaleX");
    BAD(scaleX, NAN, "scaleX");
    bad = good, bad.p.dstW = 0, bad.p.scaleX = -0.01f;
    check_case("SimdnetResizeInit", "bad scaleX of no columns");
    check_open(open);
    check_refused(CHECK_VALUE, "scaleX", NULL, &bad);
    BAD(cubic, INFINITY, "cubic");
    BAD(antialias, (SimdBool)2, "antialias");
    BAD(excludeOutside, (SimdBool)-1, "excludeOutside");
    check_case(FORWARD, "refusals");
    check_open(open);
    check_in("src", CHECK_32F, 2 * 3 * 5 * 6, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 2 * 3 * 7 * 8);
    check_refused_null(forward, &good);
    check_refused_overlap(false, forward, &good);
    bad = good, bad.p.dstH = 0;
    check_empty(forward, &bad);
    check_case("SimdnetForward", "resize in NCHW with a distance");
    check_open(open);
    check_in("src", CHECK_32F, 2 * 3 * 5 * 6, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 2 * 3 * 7 * 8);
    bad = good, bad.dstPixel = 5;
    check_refused(CHECK_VALUE, "dstPixel", forward, &bad);
}

/* ---- Resizer */

struct resizer {
    size_t srcX, srcY, dstX, dstY, channels;
    SimdResizeChannelType type;
    SimdResizeMethodType method;
    size_t srcGap, dstGap; /* bytes after each row */
};

static size_t element_of(const struct resizer * r)
{
    return r->type == SimdResizeChannelByte ? 1 : r->type == SimdResizeChannelFloat ? 4 : 2;
}

static size_t src_stride(const struct resizer * r) { return r->srcX * r->channels * element_of(r) + r->srcGap; }
static size_t dst_stride(const struct resizer * r) { return r->dstX * r->channels * element_of(r) + r->dstGap; }

static void * open_resizer(const void * job, void * const * a)
{
    const struct resizer * r = job;
    (void)a;
    return SimdResizerInit(r->srcX, r->srcY, r->dstX, r->dstY, r->channels, r->type, r->method);
}

static void run_resizer(const void * job, void * context, void * const * a)
{
    const struct resizer * r = job;
    SimdResizerRun(context, a[0], src_stride(r), a[1], dst_stride(r));
}

static bool supported(const struct resizer * r)
{
    void * context = open_resizer(r, NULL);
    SimdRelease(context);
    return context != NULL;
}

static void resizer_case(const struct resizer * r, enum check_fill fill)
{
    static const enum check_type types[] = {CHECK_8U, CHECK_16B, CHECK_32F, CHECK_16B};
    if (!supported(r) || !check_case(RESIZER, "type=%d method=%d c=%zu %zux%zu->%zux%zu gaps=%zu,%zu %s", (int)r->type,
                                     (int)r->method, r->channels, r->srcY, r->srcX, r->dstY, r->dstX, r->srcGap, r->dstGap,
                                     check_fill_name(fill)))
        return;
    const size_t element = element_of(r), size = ((r->dstY - 1) * dst_stride(r) + r->dstX * r->channels * element) / element;
    check_open(open_resizer);
    check_in("src", types[r->type], ((r->srcY - 1) * src_stride(r) + r->srcX * r->channels * element) / element, fill);
    if (r->dstGap)
        check_inout("dst", types[r->type], size, CHECK_EQUAL);
    else
        check_out("dst", types[r->type], size);
    const bool exact = r->method <= SimdResizeMethodNearestPytorch || r->type == SimdResizeChannelByte;
    if (!exact && r->type != SimdResizeChannelShort) {
        double * bound = check_bound();
        for (size_t i = 0; i < size; ++i) /* of values up to 1; half a unit in the last place of a bfloat16 number */
            bound[i] = r->type == SimdResizeChannelFloat ? 1e-5 : 0x1p-8 + 1e-5;
    } else if (!exact) {
        check_bytes_within(1);
    }
    check_run(run_resizer, r);
}

static void resizer_cases(void)
{
    for (size_t n = check_count(60); n > 0; --n) {
        const size_t srcX = check_random(1, 70), srcY = check_random(1, 30);
        const bool halved = n % 5 == 0; /* AreaFast averages areas of an image that was halved */
        const size_t dstX = check_random(1, halved ? (srcX + 1) / 2 : 70), dstY = check_random(1, halved ? (srcY + 1) / 2 : 30);
        const size_t channels = check_random(1, n % 4 == 0 ? 20 : 4);
        for (int k = 0; k < 36; ++k) {
            struct resizer r = {srcX, srcY, dstX, dstY, channels, (SimdResizeChannelType)(k / 9),
                                (SimdResizeMethodType)(k % 9), n % 2 ? 8 : 0, n % 3 ? 4 : 0};
            resizer_case(&r, CHECK_RANDOM);
        }
    }
}

static void resizer_refusals(void)
{
    static const struct {
        struct resizer r;
        const char * argument;
    } bad[] = {
        {{0, 5, 5, 5, 1, SimdResizeChannelByte, SimdResizeMethodBilinear, 0, 0}, "srcX"},
        {{5, 5, 5, 0, 1, SimdResizeChannelByte, SimdResizeMethodBilinear, 0, 0}, "dstY"},
        {{5, 5, 5, 5, 0, SimdResizeChannelByte, SimdResizeMethodBilinear, 0, 0}, "channels"},
        {{5, 5, 5, 5, 5, SimdResizeChannelByte, SimdResizeMethodArea, 0, 0}, "channels"},
        {{5, 5, 5, 5, 5, SimdResizeChannelShort, SimdResizeMethodBilinear, 0, 0}, "channels"},
        {{5, 5, 5, 5, 1, (SimdResizeChannelType)4, SimdResizeMethodBilinear, 0, 0}, "type"},
        {{5, 5, 5, 5, 1, SimdResizeChannelByte, (SimdResizeMethodType)9, 0, 0}, "method"},
        {{5, 5, 5, 5, 1, SimdResizeChannelByte, SimdResizeMethodBilinearCaffe, 0, 0}, "method"},
        {{5, 5, 5, 5, 1, SimdResizeChannelFloat, SimdResizeMethodArea, 0, 0}, "method"},
        {{(size_t)1 << 31, 5, 5, 5, 1, SimdResizeChannelByte, SimdResizeMethodArea, 0, 0}, "srcX"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        check_case("SimdResizerInit", "bad %s %zu", bad[i].argument, i);
        check_open(open_resizer);
        check_refused(CHECK_VALUE, bad[i].argument, NULL, &bad[i].r);
    }
    struct resizer r = {5, 6, 7, 8, 3, SimdResizeChannelFloat, SimdResizeMethodBilinear, 0, 0};
    check_case(RESIZER, "refusals");
    check_open(open_resizer);
    check_in("src", CHECK_32F, 5 * 6 * 3, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 7 * 8 * 3);
    check_refused_null(run_resizer, &r);
    check_refused_overlap(false, run_resizer, &r);
    r.srcGap = 2;
    check_refused(CHECK_VALUE, "srcStride", run_resizer, &r);
    r.srcGap = 0, r.dstGap = (size_t)-4;
    check_refused(CHECK_VALUE, "dstStride", run_resizer, &r);
}

CHECK_FAMILY(resize)
{
    resize_cases();
    resize_scales();
    resize_refusals();
    resizer_cases();
    resizer_refusals();
}
