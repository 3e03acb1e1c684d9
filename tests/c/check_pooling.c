/*
 * Pooling. Maxima are exact except for the sign of a zero, and any result is accepted where the window has a NaN. Averages
 * have an error of at most (log2(n) + 8) * 2^-24 * sum|x| / divisor (plus the smallest denormal), n being the number of
 * cells of the window: any order of summation is allowed. Those of bfloat16 numbers are rounded then: near the middle
 * between two numbers, that may give another one than base's. Averages of small integers are exact, since no sum is rounded.
 */
#include "check.h"

__extension__ typedef __int128 wide;

enum kind { MAX_32F, MAX_16B, MAX_8U, AVERAGE, AVERAGE_16B, FORWARD_MAX, FORWARD_AVERAGE, KINDS };

static const char * const names[KINDS] = {
    "SimdSynetPoolingMax32f",  "SimdSynetPoolingMax16b",     "SimdSynetPoolingMax8u",
    "SimdSynetPoolingAverage", "SimdnetPooling",             "SimdSynetPoolingForwardMax",
    "SimdSynetPoolingForwardAverage"};

enum axis { C, Y, X };

struct pool {
    enum kind kind;
    size_t src[3], kernel[3], stride[3], pad[3], dst[3];
    SimdBool exclude;
    SimdTensorFormatType format;
};

static void average_16b(const struct pool * p, void * const * a)
{
    const size_t * s = p->src, * k = p->kernel, * t = p->stride, * m = p->pad, * d = p->dst;
    SimdnetPooling(&(SimdnetPoolingParameters){
        .size = sizeof(SimdnetPoolingParameters), .type = SimdnetPoolingAverage, .dataType = SimdTensorData16b,
        .format = p->format, .src = a[0], .dst = a[1], .batch = 1, .channels = s[C], .srcH = s[Y], .srcW = s[X],
        .dstH = d[Y], .dstW = d[X], .kernelY = k[Y], .kernelX = k[X], .strideY = t[Y], .strideX = t[X], .padY = m[Y],
        .padX = m[X], .excludePad = p->exclude});
}

static void call(const void * job, void * context, void * const * a)
{
    const struct pool * p = job;
    const size_t * s = p->src, * k = p->kernel, * t = p->stride, * m = p->pad, * d = p->dst;
    (void)context;
    switch (p->kind) {
    case MAX_32F:
        SimdSynetPoolingMax32f(a[0], s[C], s[Y], s[X], k[C], k[Y], k[X], t[C], t[Y], t[X], m[C], m[Y], m[X], a[1], d[C],
                               d[Y], d[X], p->format);
        break;
    case MAX_16B:
        SimdSynetPoolingMax16b(a[0], s[C], s[Y], s[X], k[Y], k[X], t[Y], t[X], m[Y], m[X], a[1], d[Y], d[X], p->format);
        break;
    case MAX_8U:
        SimdSynetPoolingMax8u(a[0], s[C], s[Y], s[X], k[Y], k[X], t[Y], t[X], m[Y], m[X], a[1], d[Y], d[X], p->format);
        break;
    case AVERAGE:
        SimdSynetPoolingAverage(a[0], s[C], s[Y], s[X], k[Y], k[X], t[Y], t[X], m[Y], m[X], a[1], d[Y], d[X], p->exclude,
                                p->format);
        break;
    case AVERAGE_16B: average_16b(p, a); break;
    case FORWARD_MAX:
        SimdSynetPoolingForwardMax(a[0], s[C], s[Y], s[X], k[Y], k[X], t[Y], t[X], m[Y], m[X], a[1], d[Y], d[X],
                                   (SimdBool)p->format);
        break;
    default:
        SimdSynetPoolingForwardAverage(a[0], s[C], s[Y], s[X], k[Y], k[X], t[Y], t[X], m[Y], m[X], a[1], d[Y], d[X],
                                       p->exclude, p->format);
    }
}

static bool is_average(enum kind kind) { return kind == AVERAGE || kind == AVERAGE_16B || kind == FORWARD_AVERAGE; }

static enum check_type type_of(enum kind kind)
{
    return kind == MAX_8U ? CHECK_8U : kind == MAX_16B || kind == AVERAGE_16B ? CHECK_16B : CHECK_32F;
}

/* Number i of src. */
static double number(const struct pool * p, const void * src, size_t i)
{
    if (type_of(p->kind) == CHECK_16B)
        return (double)sn_16b_to_32f(((const sn_16b *)src)[i]);
    return (double)((const float *)src)[i];
}

static void set_number(const struct pool * p, void * src, size_t i, float x)
{
    if (type_of(p->kind) == CHECK_16B)
        ((sn_16b *)src)[i] = sn_32f_to_16b(x);
    else
        ((float *)src)[i] = x;
}

static size_t size_of(const size_t * n) { return n[C] * n[Y] * n[X]; }

static size_t offset(const struct pool * p, const size_t * size, const size_t * i)
{
    return p->format == SimdTensorFormatNhwc ? (i[Y] * size[X] + i[X]) * size[C] + i[C]
                                             : (i[C] * size[Y] + i[Y]) * size[X] + i[X];
}

struct window {
    size_t begin[3], end[3];
};

static struct window window_of(const struct pool * p, const size_t * o)
{
    struct window w;
    for (int a = C; a <= X; ++a) {
        const wide begin = (wide)o[a] * p->stride[a] - p->pad[a], end = begin + p->kernel[a], size = (wide)p->src[a];
        w.begin[a] = (size_t)(begin < 0 ? 0 : begin > size ? size : begin);
        w.end[a] = (size_t)(end < 0 ? 0 : end > size ? size : end);
    }
    return w;
}

/* The error bound of one output, from the sum of absolute values in its window; NaN if one of them is NaN. */
static double allowed(const struct pool * p, const size_t * o, const void * src)
{
    const struct window w = window_of(p, o);
    double sum = 0, cells = 1, divisor = 1;
    size_t i[3];
    for (i[C] = w.begin[C]; i[C] < w.end[C]; ++i[C])
        for (i[Y] = w.begin[Y]; i[Y] < w.end[Y]; ++i[Y])
            for (i[X] = w.begin[X]; i[X] < w.end[X]; ++i[X])
                sum += fabs(number(p, src, offset(p, p->src, i)));
    for (int a = C; a <= X; ++a) {
        cells *= (double)(w.end[a] - w.begin[a]);
        divisor *= p->exclude ? (double)(w.end[a] - w.begin[a]) : (double)p->kernel[a];
    }
    if (is_average(p->kind) && divisor > 1e30) /* kernels larger than any image; as a float it may be infinite */
        return 2 * sum / divisor;
    if (is_average(p->kind))
        return cells > 0 ? (log2(cells) + 8) * 0x1p-24 * sum / divisor + 0x1p-149 : 0;
    return isnan(sum) ? NAN : 0;
}

static void allow(const struct pool * p, const void * src, double * bound)
{
    size_t o[3];
    for (o[C] = 0; o[C] < p->dst[C]; ++o[C])
        for (o[Y] = 0; o[Y] < p->dst[Y]; ++o[Y])
            for (o[X] = 0; o[X] < p->dst[X]; ++o[X])
                bound[offset(p, p->dst, o)] = allowed(p, o, src);
}

/* Returns the content of src, NULL if the case is left out. The comparison is exact but for the freedoms. */
static void * declare_exact(const struct pool * p, enum check_fill fill, int freedoms)
{
    if (!check_case(names[p->kind],
                    "%s C=%zu H=%zu W=%zu kernel=%zu,%zu,%zu stride=%zu,%zu,%zu pad=%zu,%zu,%zu dst=%zu,%zu,%zu "
                    "exclude=%d %s",
                    check_format_name(p->format), p->src[C], p->src[Y], p->src[X], p->kernel[C], p->kernel[Y], p->kernel[X],
                    p->stride[C], p->stride[Y], p->stride[X], p->pad[C], p->pad[Y], p->pad[X], p->dst[C], p->dst[Y],
                    p->dst[X], (int)p->exclude, check_fill_name(fill)))
        return NULL;
    void * src = check_in("src", type_of(p->kind), size_of(p->src), fill);
    check_out("dst", type_of(p->kind), size_of(p->dst));
    check_exact(freedoms);
    if ((float)p->kernel[C] * (float)p->kernel[Y] * (float)p->kernel[X] > FLT_MAX) /* cells, counted as a float */
        check_raises();
    if (p->exclude) /* the average of nothing */
        check_raises_like_base();
    return src;
}

/* The same, with the bounds of the kind and of NaNs. */
static void * declare(const struct pool * p, enum check_fill fill)
{
    void * src = declare_exact(p, fill, CHECK_ZERO_FREE);
    if (!src)
        return NULL;
    if (p->kind == MAX_16B && fill == CHECK_NAN)
        check_anything();
    else if (is_average(p->kind) || (p->kind != MAX_8U && fill == CHECK_NAN))
        allow(p, src, check_bound());
    return src;
}

static void run(const struct pool * p, enum check_fill fill)
{
    declare(p, fill);
    check_run(call, p);
}

/* The usual 2-D geometry: square kernel, output size rounded down. */
static struct pool square(enum kind kind, SimdTensorFormatType format, size_t c, size_t h, size_t w, size_t kernel,
                          size_t stride, size_t pad)
{
    struct pool p = {.kind = kind, .src = {c, h, w}, .kernel = {1, kernel, kernel}, .stride = {1, stride, stride},
                     .pad = {0, pad, pad}, .format = format};
    p.dst[C] = c;
    for (int a = Y; a <= X; ++a)
        p.dst[a] = p.src[a] + 2 * pad < kernel ? 1 : (p.src[a] + 2 * pad - kernel) / stride + 1;
    return p;
}

static enum check_fill any_fill(void) { return (enum check_fill)check_random(0, CHECK_FILLS - 1); }

/* Every width around the vector widths of all levels, with usual and unusual kernels. */
static void widths(enum kind kind, SimdTensorFormatType format)
{
    static const size_t kernels[][3] = {{1, 1, 0}, {1, 2, 0}, {2, 2, 0}, {2, 1, 1}, {3, 1, 1}, {3, 2, 1}, {3, 2, 0},
                                        {3, 3, 1}, {2, 3, 0}, {5, 1, 2}, {5, 2, 1}, {4, 4, 0}, {7, 3, 3}, {3, 5, 1}};
    const size_t last = check_quick() ? 40 : kind == MAX_8U ? 140 : type_of(kind) == CHECK_16B ? 80 : 45;
    for (size_t w = 1; w <= last; ++w)
        for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); ++k) {
            if (check_quick() && (w + k) % 3)
                continue;
            const bool nhwc = format == SimdTensorFormatNhwc;
            struct pool p = square(kind, format, nhwc ? w : 2, 4 + w % 2, nhwc ? 6 + k % 3 : w, kernels[k][0], kernels[k][1],
                                   kernels[k][2]);
            p.exclude = (SimdBool)(w & 1);
            run(&p, k == 0 ? CHECK_NAN : k == 1 ? CHECK_INF : (enum check_fill)((w + k) % CHECK_FILLS));
        }
}

/* Windows of any kind: clipped, empty, wider than the image, with gaps between them, and any number of outputs. */
static struct pool random_pool(enum kind kind, size_t size)
{
    struct pool p = {
        .kind = kind, .format = (SimdTensorFormatType)check_random(0, 1), .exclude = (SimdBool)check_random(0, 1)};
    const bool channels = kind == MAX_32F && check_random(0, 2) == 0;
    p.src[C] = check_random(1, check_random(0, 3) ? 5 : size);
    for (int a = C; a <= X; ++a) {
        if (a != C)
            p.src[a] = check_random(check_random(0, 20) ? 1 : 0, check_random(0, 3) ? 12 : size);
        p.kernel[a] = check_random(1, check_random(0, 3) ? 4 : p.src[a] + 3);
        p.stride[a] = check_random(1, check_random(0, 3) ? 3 : 9);
        p.pad[a] = check_random(0, check_random(0, 3) ? p.kernel[a] - 1 : p.kernel[a] + 3);
        p.dst[a] = check_random(1, (p.src[a] + 2 * p.pad[a]) / p.stride[a] + 2);
    }
    if (!channels) {
        p.kernel[C] = p.stride[C] = 1;
        p.pad[C] = 0;
        p.dst[C] = p.src[C];
    }
    return p;
}

/* Sizes whose products overflow: the windows follow the formula, computed without overflow. */
static void huge(enum kind kind, SimdTensorFormatType format)
{
    static const size_t sizes[] = {1, 2, 7, 1000, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX - 3, SIZE_MAX};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    for (size_t i = 0, n = check_count(150); i < n; ++i) {
        struct pool p = square(kind, format, 3, 5, 19, 3, 1, 1);
        p.exclude = (SimdBool)(i & 1);
        for (int a = kind == MAX_32F ? C : Y; a <= X; ++a) {
            p.kernel[a] = sizes[check_random(0, SIZES - 1)];
            p.stride[a] = sizes[check_random(0, SIZES - 1)];
            p.pad[a] = sizes[check_random(0, SIZES - 1)] - check_random(0, 1);
            p.dst[a] = check_random(1, 5);
        }
        run(&p, CHECK_RANDOM);
    }
}

/* Rows longer than any buffer, wide kernels, whole planes. */
static void large(enum kind kind, SimdTensorFormatType format)
{
    static const size_t shapes[][6] = {/* C H W kernel stride pad */
                                       {1, 3, 9001, 3, 2, 1},   {3, 3, 7003, 3, 1, 1},  {5, 2, 4099, 2, 3, 0},
                                       {700, 3, 9, 3, 2, 1},    {9, 40, 41, 13, 1, 6},  {3, 64, 67, 21, 4, 10},
                                       {130, 7, 7, 7, 1, 0},    {3, 90, 5001, 90, 7, 0}, {2, 70, 9001, 69, 300, 30},
                                       {40, 25, 26, 17, 3, 8},  {3, 5000, 5, 5, 5, 0},  {70, 20, 31, 9, 1, 4}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        if (check_quick() && i > 4)
            return;
        const size_t * s = shapes[i];
        struct pool p = square(kind, format, s[0], s[1], s[2], s[3], s[4], s[5]);
        p.exclude = (SimdBool)(i & 1);
        run(&p, CHECK_RANDOM);
        p.kernel[X] = p.src[X] + 3; /* every window spans the row */
        p.kernel[Y] = p.src[Y];
        p.dst[X] = 1 + i % 2;
        p.dst[Y] = 1;
        run(&p, CHECK_RANDOM);
    }
}

/* Small planes in NCHW, of which blocks are transposed: around whole vectors of all levels. */
static void small_planes(enum kind kind)
{
    for (size_t i = 0, n = check_count(300); i < n; ++i) {
        const size_t kernel = check_random(1, check_random(0, 3) ? 5 : 12), pad = check_random(0, kernel - 1);
        struct pool p = square(kind, SimdTensorFormatNchw, check_random(1, check_random(0, 1) ? 40 : 290),
                               check_random(1, check_random(0, 3) ? 10 : 45), check_random(1, check_random(0, 3) ? 14 : 42), kernel,
                               check_random(1, 5), pad);
        p.exclude = (SimdBool)(i & 1);
        if (i % 4 == 0) { /* one output of a row */
            p.kernel[X] = check_random(1, p.src[X]);
            p.pad[X] = 0;
            p.dst[X] = 1;
        }
        run(&p, any_fill());
    }
}

/* Many channels in NHWC: lines that are pooled run by run of channels, some of them part by part of the columns. */
static void parts(enum kind kind)
{
    static const size_t windows[][3] = {{2, 1, 0}, {3, 1, 1}, {3, 2, 1}, {5, 1, 2}}; /* of which two rows share columns */
    const size_t size = type_of(kind) == CHECK_32F ? 4 : type_of(kind) == CHECK_16B ? 2 : 1;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); ++i) {
        const struct pool shared = square(kind, SimdTensorFormatNhwc, (8192 + 20 * i) / size + 3, 5, 5 + i, windows[i][0],
                                          windows[i][1], windows[i][2]);
        run(&shared, CHECK_RANDOM);
    }
    struct pool p = square(kind, SimdTensorFormatNhwc, 2060 / size, 6, check_quick() ? 45 : 70, 7, 1, 3);
    run(&p, CHECK_RANDOM);
    p = square(kind, SimdTensorFormatNhwc, 2060 / size, 5, 83, 8, 2, 3);
    p.exclude = SimdTrue;
    run(&p, CHECK_RANDOM);
}

/*
 * Windows for which a chain of float additions is not accurate enough. With `wasted`, each addition after the first value
 * loses nearly all of the value added, the worst case.
 */
static void average_of_many(enum kind kind, SimdTensorFormatType format, const size_t * s, bool wasted)
{
    struct pool p = square(kind, format, s[0], s[1], s[2], s[3], s[4], s[5]);
    p.exclude = SimdTrue;
    void * src = declare(&p, CHECK_RANDOM);
    if (!src)
        return;
    for (size_t i = 0; i < size_of(p.src); ++i) {
        const float x = !wasted ? fabsf((float)number(&p, src, i)) : i / s[0] % (s[2] * 7) ? 0x1.FFp-25f : 1;
        set_number(&p, src, i, x);
    }
    allow(&p, src, check_bound());
    check_run(call, &p);
}

static void averages_of_many(enum kind kind, SimdTensorFormatType format)
{
    static const size_t shapes[][6] = {/* C H W kernel stride pad */
                                       {17, 640, 640, 640, 1, 0}, {1, 640, 640, 640, 640, 0}, {3, 640, 64, 64, 64, 0},
                                       {20, 7, 7, 7, 1, 0}, {70, 21, 40, 8, 1, 4},
                                       {18, 41, 40, 17, 3, 0}, {130, 40, 90, 31, 7, 15}, {2, 300, 301, 200, 40, 20},
                                       {3, 90, 5001, 90, 60, 0}, {1, 40, 3000, 33, 9, 16}, {17, 1, 9000, 4000, 110, 0},
                                       {2, 9000, 3, 5000, 700, 0}, {500, 17, 19, 14, 7, 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int wasted = 0; wasted < 2 && !(check_quick() && i < 3); ++wasted)
            average_of_many(kind, format, shapes[i], wasted);
}

/* Sums of integers are exact in any order: only the quotient is rounded, often from the middle between two numbers. */
static void averages_of_integers(enum kind kind)
{
    for (size_t i = 0, n = check_count(500); i < n; ++i) {
        const struct pool p = random_pool(kind, i % 10 ? 24 : 90);
        void * src = declare_exact(&p, CHECK_RANDOM, CHECK_ZERO_FREE | CHECK_NAN_FREE); /* NaN: of nothing */
        if (!src)
            continue;
        for (size_t j = 0; j < size_of(p.src); ++j)
            set_number(&p, src, j, (float)check_random(0, 200) - 100);
        check_run(call, &p);
    }
}

static void refusals(enum kind kind)
{
    static const char * const kernel[] = {"kernelC", "kernelY", "kernelX"};
    static const char * const stride[] = {"strideC", "strideY", "strideX"};
    const struct pool good = square(kind, SimdTensorFormatNchw, 2, 5, 6, 3, 2, 1);
    declare(&good, CHECK_RANDOM);
    check_refused_null(call, &good);
    check_refused_overlap(false, call, &good);
    for (int a = kind == MAX_32F ? C : Y; a <= X; ++a) {
        struct pool p = good;
        p.kernel[a] = 0;
        check_refused(CHECK_VALUE, kernel[a], call, &p);
        p = good;
        p.stride[a] = 0;
        check_refused(CHECK_VALUE, stride[a], call, &p);
        p = good;
        p.src[a] = SIZE_MAX / 4;
        check_refused(CHECK_VALUE, "srcH", call, &p);
        p = good;
        p.dst[a] = SIZE_MAX / 4;
        check_refused(CHECK_VALUE, "dstH", call, &p);
        p.dst[Y] = a == Y ? SIZE_MAX : 0;
        p.dst[X] = a == X ? SIZE_MAX : 0;
        check_empty(call, &p);
    }
    struct pool p = good;
    p.format = SimdTensorFormatNchw8c;
    check_refused(CHECK_VALUE, kind == FORWARD_MAX ? "trans" : "format", call, &p);
    p = good;
    p.exclude = (SimdBool)3;
    if (is_average(kind))
        check_refused(CHECK_VALUE, "excludePad", call, &p);
}

/* ---- --bench: rows that have an aim, in microseconds on AVX-512, then difficult shapes */

static void time_of(enum kind kind, SimdTensorFormatType format, const size_t * s)
{
    const struct pool p = square(kind, format, s[0], s[1], s[2], s[3], s[4], s[5]);
    const size_t bytes = kind == MAX_8U ? 1 : type_of(kind) == CHECK_16B ? 2 : 4;
    declare(&p, CHECK_RANDOM);
    check_bench(call, &p, 0, (double)(bytes * (size_of(p.src) + size_of(p.dst))));
}

static void bench(void)
{
    static const size_t shapes[][6] = {/* C H W kernel stride pad */
                                       {64, 112, 112, 3, 2, 1}, /* max aims: NHWC 55, NCHW 75, u8 NCHW 25 */
                                       {256, 20, 20, 5, 1, 2},  /* max NCHW 30 */
                                       {192, 35, 35, 3, 1, 1},  /* average NCHW 45 */
                                       {1280, 7, 7, 7, 1, 0},   /* average NCHW 6 */
                                       {64, 112, 112, 2, 2, 0}, {64, 56, 56, 3, 1, 1},  {512, 13, 13, 13, 1, 6},
                                       {512, 7, 7, 3, 1, 1},    {512, 13, 13, 3, 2, 0}, {64, 57, 57, 3, 3, 0},
                                       {64, 112, 112, 1, 2, 0}, {32, 112, 112, 7, 4, 3}, {64, 112, 112, 2, 5, 0},
                                       {1, 448, 448, 3, 2, 1},  {3, 224, 224, 3, 2, 1}, {3, 224, 224, 3, 1, 1},
                                       {5, 224, 224, 2, 3, 0},  {8, 224, 224, 2, 2, 0}, {16, 160, 160, 3, 2, 1},
                                       {17, 160, 160, 3, 2, 1}, {3, 600, 800, 600, 600, 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int kind = MAX_32F; kind <= AVERAGE_16B; ++kind)
            for (int format = 0; format <= 1; ++format)
                time_of((enum kind)kind, (SimdTensorFormatType)format, shapes[i]);
}

CHECK_FAMILY(pooling)
{
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int format = 0; format <= 1; ++format) {
            if (kind < FORWARD_MAX) {
                widths((enum kind)kind, (SimdTensorFormatType)format);
                large((enum kind)kind, (SimdTensorFormatType)format);
            }
            huge((enum kind)kind, (SimdTensorFormatType)format);
            if (is_average((enum kind)kind))
                averages_of_many((enum kind)kind, (SimdTensorFormatType)format);
        }
        if (kind < FORWARD_MAX)
            parts((enum kind)kind);
        small_planes((enum kind)kind);
        refusals((enum kind)kind);
        if (is_average((enum kind)kind))
            averages_of_integers((enum kind)kind);
        for (size_t i = 0, n = check_count(1000); i < n; ++i) {
            const struct pool p = random_pool((enum kind)kind, i % 10 ? 24 : 90);
            run(&p, any_fill());
        }
    }
    if (check_timed())
        bench();
}
