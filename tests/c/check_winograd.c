/*
 * Winograd. Bound of a transform: it is a short sum whose coefficients are the products of two rows of a matrix, so
 * ROUNDINGS * eps * (sum |row|) * (sum |row|) * (largest value of the tile), plus some of the smallest denormals. For a tile
 * with an infinity or a NaN any result is accepted. Gaps between planes must remain unchanged.
 */
#include "check.h"

enum { ROUNDINGS = 12, SIDE = 8 };

typedef void (*filter_fn)(const float *, size_t, float *, SimdBool);
typedef void (*input_fn)(const float *, size_t, size_t, size_t, size_t, size_t, size_t, size_t, float *, size_t, SimdBool);
typedef void (*output_fn)(const float *, size_t, float *, size_t, size_t, size_t, SimdBool);

/* Kernel and block, the functions, and the sums of the absolute values of the rows of G, B' and A'. */
struct kind {
    size_t kernelY, kernelX, blockY, blockX;
    const char * filter_name, * input_name, * output_name;
    filter_fn filter;
    input_fn input;
    output_fn output;
    double g[SIDE], bt[SIDE], at[SIDE];
};

#define F_4_3 {0.25, 0.5, 0.5, 7. / 24, 7. / 24, 1}, {10, 10, 10, 6, 6, 10}, {5, 6, 10, 19}
#define F_4_5 {1. / 36, 5. / 48, 5. / 48, 31. / 120, 31. / 120, 121. / 720, 121. / 720, 1}, \
              {100, 100, 100, 60, 60, 40, 40, 100}, {7, 12, 28, 73}
#define F_2_2 {1, 2, 1}, {2, 1, 2}, {2, 2}
#define F_4_2 {0.5, 1, 1. / 3, 0.5, 1}, {6, 4, 6, 2, 6}, {4, 4, 6, 11}
#define F_2_3 {1, 1.5, 1.5, 1}, {2, 2, 2, 2}, {3, 3}
#define F_3_3 {0.5, 1.5, 0.5, 7. / 6, 1}, {6, 4, 6, 2, 6}, {4, 4, 7}

static const struct kind kinds[] = {
    {1, 3, 1, 4, "SimdWinogradKernel1x3Block1x4SetFilter", "SimdWinogradKernel1x3Block1x4SetInput",
     "SimdWinogradKernel1x3Block1x4SetOutput", SimdWinogradKernel1x3Block1x4SetFilter, SimdWinogradKernel1x3Block1x4SetInput,
     SimdWinogradKernel1x3Block1x4SetOutput, F_4_3},
    {1, 5, 1, 4, "SimdWinogradKernel1x5Block1x4SetFilter", "SimdWinogradKernel1x5Block1x4SetInput",
     "SimdWinogradKernel1x5Block1x4SetOutput", SimdWinogradKernel1x5Block1x4SetFilter, SimdWinogradKernel1x5Block1x4SetInput,
     SimdWinogradKernel1x5Block1x4SetOutput, F_4_5},
    {2, 2, 2, 2, "SimdWinogradKernel2x2Block2x2SetFilter", "SimdWinogradKernel2x2Block2x2SetInput",
     "SimdWinogradKernel2x2Block2x2SetOutput", SimdWinogradKernel2x2Block2x2SetFilter, SimdWinogradKernel2x2Block2x2SetInput,
     SimdWinogradKernel2x2Block2x2SetOutput, F_2_2},
    {2, 2, 4, 4, "SimdWinogradKernel2x2Block4x4SetFilter", "SimdWinogradKernel2x2Block4x4SetInput",
     "SimdWinogradKernel2x2Block4x4SetOutput", SimdWinogradKernel2x2Block4x4SetFilter, SimdWinogradKernel2x2Block4x4SetInput,
     SimdWinogradKernel2x2Block4x4SetOutput, F_4_2},
    {3, 3, 2, 2, "SimdWinogradKernel3x3Block2x2SetFilter", "SimdWinogradKernel3x3Block2x2SetInput",
     "SimdWinogradKernel3x3Block2x2SetOutput", SimdWinogradKernel3x3Block2x2SetFilter, SimdWinogradKernel3x3Block2x2SetInput,
     SimdWinogradKernel3x3Block2x2SetOutput, F_2_3},
    {3, 3, 3, 3, "SimdWinogradKernel3x3Block3x3SetFilter", "SimdWinogradKernel3x3Block3x3SetInput",
     "SimdWinogradKernel3x3Block3x3SetOutput", SimdWinogradKernel3x3Block3x3SetFilter, SimdWinogradKernel3x3Block3x3SetInput,
     SimdWinogradKernel3x3Block3x3SetOutput, F_3_3},
    {3, 3, 4, 4, "SimdWinogradKernel3x3Block4x4SetFilter", "SimdWinogradKernel3x3Block4x4SetInput",
     "SimdWinogradKernel3x3Block4x4SetOutput", SimdWinogradKernel3x3Block4x4SetFilter, SimdWinogradKernel3x3Block4x4SetInput,
     SimdWinogradKernel3x3Block4x4SetOutput, F_4_3}};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct job {
    const struct kind * kind;
    size_t channels, height, width; /* of the image that is the source or the result; `channels` filters */
    size_t pad[4];                  /* top, left, bottom, right */
    size_t stride;
    SimdBool trans;
};

static size_t rows_of(const struct kind * k) { return k->blockY + k->kernelY - 1; }
static size_t columns_of(const struct kind * k) { return k->blockX + k->kernelX - 1; }
static size_t planes_of(const struct kind * k) { return rows_of(k) * columns_of(k); }
static size_t dst_height(const struct job * j) { return j->height + j->pad[0] + j->pad[2] + 1 - j->kind->kernelY; }
static size_t dst_width(const struct job * j) { return j->width + j->pad[1] + j->pad[3] + 1 - j->kind->kernelX; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

static void filter(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    (void)context;
    j->kind->filter(a[0], j->channels, a[1], j->trans);
}

static void input(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    (void)context;
    j->kind->input(a[0], j->channels, j->height, j->width, j->pad[0], j->pad[1], j->pad[2], j->pad[3], a[1], j->stride,
                   j->trans);
}

static void output(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    (void)context;
    j->kind->output(a[0], j->stride, a[1], j->channels, j->height, j->width, j->trans);
}

/* Error bound of a sum of terms up to `largest` times the row sums of two matrices, or of one if the block has one row. */
static double error(double largest, const double * sums, size_t rows, size_t y, size_t x)
{
    if (!isfinite(largest))
        return NAN;
    return ROUNDINGS * 0x1p-24 * largest * (rows == 1 ? 1 : sums[y]) * sums[x] + 100 * 0x1p-149;
}

static double worst(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmax(a, fabs(b)); }

/* ---- filters */

static void filter_case(const struct kind * k, size_t size, SimdBool trans, enum check_fill fill)
{
    const struct job job = {.kind = k, .channels = size, .trans = trans};
    const size_t taps = k->kernelY * k->kernelX;
    if (!check_case(k->filter_name, "size=%zu trans=%d %s", size, (int)trans, check_fill_name(fill)))
        return;
    const float * src = check_in("src", CHECK_32F, taps * size, fill);
    check_out("dst", CHECK_32F, planes_of(k) * size);
    double * bound = check_bound();
    for (size_t i = 0; i < size; ++i) {
        double largest = 0;
        for (size_t t = 0; t < taps; ++t)
            largest = worst(largest, (double)src[trans ? t * size + i : i * taps + t]);
        for (size_t t = 0; t < planes_of(k); ++t)
            bound[t * size + i] = error(largest, k->g, k->kernelY, t / columns_of(k), t % columns_of(k));
    }
    check_run(filter, &job);
}

/* ---- inputs */

static size_t image_at(const struct job * j, size_t c, size_t y, size_t x)
{
    return j->trans ? (y * j->width + x) * j->channels + c : (c * j->height + y) * j->width + x;
}

static double largest_input(const struct job * j, const float * src, size_t c, size_t ty, size_t tx)
{
    double largest = 0;
    for (size_t i = 0; i < rows_of(j->kind); ++i)
        for (size_t k = 0; k < columns_of(j->kind); ++k) {
            const size_t y = ty * j->kind->blockY + i - j->pad[0], x = tx * j->kind->blockX + k - j->pad[1];
            if (y < j->height && x < j->width)
                largest = worst(largest, (double)src[image_at(j, c, y, x)]);
        }
    return largest;
}

static size_t tiles_y(const struct job * j) { return ceil_div(dst_height(j), j->kind->blockY); }
static size_t tiles_x(const struct job * j) { return ceil_div(dst_width(j), j->kind->blockX); }

static void input_case(struct job j, size_t gap, enum check_fill fill)
{
    const struct kind * k = j.kind;
    const size_t tiles = tiles_y(&j) * tiles_x(&j), used = j.channels * tiles;
    j.stride = used + gap;
    if (!check_case(k->input_name, "%s c=%zu %zux%zu pad=%zu,%zu,%zu,%zu gap=%zu %s", j.trans ? "nhwc" : "nchw", j.channels,
                    j.height, j.width, j.pad[0], j.pad[1], j.pad[2], j.pad[3], gap, check_fill_name(fill)))
        return;
    const float * src = check_in("src", CHECK_32F, j.channels * j.height * j.width, fill);
    const size_t size = used ? (planes_of(k) - 1) * j.stride + used : 0;
    if (gap)
        check_inout("dst", CHECK_32F, size, CHECK_RANDOM);
    else
        check_out("dst", CHECK_32F, size);
    double * bound = check_bound();
    for (size_t c = 0; c < j.channels; ++c)
        for (size_t p = 0; p < tiles; ++p) {
            const double largest = largest_input(&j, src, c, p / tiles_x(&j), p % tiles_x(&j));
            for (size_t t = 0; t < planes_of(k); ++t)
                bound[t * j.stride + (j.trans ? p * j.channels + c : c * tiles + p)] =
                    error(largest, k->bt, rows_of(k), t / columns_of(k), t % columns_of(k));
        }
    check_run(input, &j);
}

/* ---- outputs: job.height and width are those of the output */

static void output_bounds(const struct job * j, const float * src, double * bound)
{
    const struct kind * k = j->kind;
    const size_t tilesX = ceil_div(j->width, k->blockX), tiles = ceil_div(j->height, k->blockY) * tilesX;
    for (size_t c = 0; c < j->channels; ++c)
        for (size_t y = 0; y < j->height; ++y)
            for (size_t x = 0; x < j->width; ++x) {
                const size_t p = y / k->blockY * tilesX + x / k->blockX;
                double largest = 0;
                for (size_t t = 0; t < planes_of(k); ++t)
                    largest = worst(largest, (double)src[t * j->stride + (j->trans ? p * j->channels + c : c * tiles + p)]);
                bound[image_at(j, c, y, x)] = error(largest, k->at, rows_of(k), y % k->blockY, x % k->blockX);
            }
}

static void output_case(struct job j, size_t gap, enum check_fill fill)
{
    const struct kind * k = j.kind;
    const size_t used = j.channels * ceil_div(j.height, k->blockY) * ceil_div(j.width, k->blockX);
    j.stride = used + gap;
    if (!check_case(k->output_name, "%s c=%zu %zux%zu gap=%zu %s", j.trans ? "nhwc" : "nchw", j.channels, j.height, j.width,
                    gap, check_fill_name(fill)))
        return;
    const float * src = check_in("src", CHECK_32F, used ? (planes_of(k) - 1) * j.stride + used : 0, fill);
    check_out("dst", CHECK_32F, j.channels * j.height * j.width);
    output_bounds(&j, src, check_bound());
    check_run(output, &j);
}

/* ---- geometries */

static bool possible(const struct job * j)
{
    return j->height + j->pad[0] + j->pad[2] >= j->kind->kernelY && j->width + j->pad[1] + j->pad[3] >= j->kind->kernelX;
}

static enum check_fill fill_of(size_t n) { return n % 3 ? CHECK_RANDOM : (enum check_fill)(n / 3 % CHECK_FILLS); }

/* Both image transforms on one geometry. */
static void images(const struct kind * k, size_t channels, size_t height, size_t width, size_t pads, SimdBool trans,
                   size_t n)
{
    struct job j = {.kind = k, .channels = channels, .height = height, .width = width, .trans = trans};
    for (size_t i = 0; i < 4; ++i)
        j.pad[i] = pads >> i & 1 ? (k->kernelX == 5 ? 2 : 1) : 0;
    if (k->kernelY == 1)
        j.pad[0] = j.pad[2] = n % 17 == 0 ? 2 : 0;
    const size_t gap = n % 5 == 0 ? n % 7 + 1 : 0;
    if (possible(&j))
        input_case(j, gap, fill_of(n));
    output_case(j, gap, fill_of(n));
}

static void geometries(void)
{
    const bool quick = check_quick();
    for (size_t i = 0; i < KINDS; ++i)
        for (size_t n = 1; n <= 67; n += quick ? 5 : 1) {
            const SimdBool trans = (SimdBool)(n & 1);
            filter_case(&kinds[i], n, SimdFalse, fill_of(n + i));
            filter_case(&kinds[i], n, SimdTrue, fill_of(n + i + 1));
            images(&kinds[i], n, 1 + n % 9, 1 + n % 10, n + i, trans, n);
            images(&kinds[i], n, 1 + n % 5, 1 + n % 7, n / 3 + i, (SimdBool)!trans, n + 3);
            images(&kinds[i], 1 + n % 3, 1 + n % 11, n, n + i, SimdFalse, n + 1);
            images(&kinds[i], 1 + n % 3, n, 1 + n % 6, n / 2 + i, (SimdBool)(n / 2 & 1), n + 2);
            images(&kinds[i], 1 + n % 5, 1 + n % 3, n, n + i, SimdTrue, n + 4);
        }
    for (size_t n = 0, count = check_count(900); n < count; ++n) {
        const struct kind * k = &kinds[check_random(0, KINDS - 1)];
        const size_t channels = check_random(1, check_random(1, 70)), height = check_random(1, check_random(1, 20));
        struct job j = {.kind = k, .channels = channels, .height = height,
                        .width = check_random(1, check_random(1, channels < 9 ? 300 : 20)),
                        .trans = (SimdBool)check_random(0, 1)};
        for (size_t i = 0; i < 4; ++i)
            j.pad[i] = check_random(0, check_random(0, 9));
        const size_t gap = check_random(0, 3) ? 0 : check_random(1, 40);
        if (possible(&j))
            input_case(j, gap, fill_of(n));
        output_case(j, gap, fill_of(n));
        filter_case(k, check_random(1, 400), (SimdBool)check_random(0, 1), fill_of(n));
    }
    /* More than one unit of work. */
    images(&kinds[6], 70, 40, 50, 15, SimdTrue, 1);
    images(&kinds[6], 70, 40, 50, 15, SimdFalse, 1);
    filter_case(&kinds[6], 5000, SimdFalse, CHECK_RANDOM);
    filter_case(&kinds[0], 20000, SimdTrue, CHECK_RANDOM);
}

/* ---- bad arguments */

static void refuse_input(const struct kind * k, struct job j, const char * argument)
{
    check_case(k->input_name, "bad %s", argument);
    check_in("src", CHECK_32F, 2 * 5 * 6, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 8 * 8 * 2 * 30);
    check_refused(CHECK_VALUE, argument, input, &j);
}

static void refuse_output(const struct kind * k, struct job j, const char * argument)
{
    check_case(k->output_name, "bad %s", argument);
    check_in("src", CHECK_32F, 8 * 8 * 2 * 30, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 2 * 5 * 6);
    check_refused(CHECK_VALUE, argument, output, &j);
}

#define REFUSE(function, argument, change)                                                                                  \
    do {                                                                                                                    \
        struct job j = good;                                                                                                \
        change;                                                                                                             \
        function(k, j, argument);                                                                                           \
    } while (0)

static void refusals(const struct kind * k)
{
    struct job good = {.kind = k, .channels = 2, .height = 5, .width = 6, .trans = SimdTrue};
    struct job filters = {.kind = k, .channels = 7, .trans = SimdFalse};
    check_case(k->filter_name, "refusals");
    check_in("src", CHECK_32F, k->kernelY * k->kernelX * 7, CHECK_RANDOM);
    check_out("dst", CHECK_32F, planes_of(k) * 7);
    check_refused_null(filter, &filters);
    check_refused_overlap(false, filter, &filters);
    filters.trans = (SimdBool)2;
    check_refused(CHECK_VALUE, "trans", filter, &filters);
    filters = (struct job){.kind = k, .channels = SIZE_MAX / 8};
    check_refused(CHECK_VALUE, "size", filter, &filters);
    filters.channels = 0;
    check_empty(filter, &filters);

    good.stride = good.channels * tiles_y(&good) * tiles_x(&good);
    check_case(k->input_name, "refusals");
    check_in("src", CHECK_32F, 2 * 5 * 6, CHECK_RANDOM);
    check_out("dst", CHECK_32F, planes_of(k) * good.stride);
    check_refused_null(input, &good);
    check_refused_overlap(false, input, &good);
    REFUSE(refuse_input, "dstStride", j.stride -= 1);
    REFUSE(refuse_input, "dstStride", j.stride = SIZE_MAX / 4);
    REFUSE(refuse_input, "trans", j.trans = (SimdBool)-1);
    REFUSE(refuse_input, "padY", j.pad[0] = SIZE_MAX);
    REFUSE(refuse_input, "padX", j.pad[1] = SIZE_MAX - 2);
    REFUSE(refuse_input, "padH", j.pad[2] = SIZE_MAX / 2);
    REFUSE(refuse_input, "padW", j.pad[3] = SIZE_MAX / 2);
    REFUSE(refuse_input, "srcHeight", j.height = SIZE_MAX / 2);
    REFUSE(refuse_input, "srcWidth", j.width = SIZE_MAX / 2);
    if (k->kernelY > 2)
        REFUSE(refuse_input, "srcHeight", j.height = k->kernelY - 2);
    if (k->kernelX > 2)
        REFUSE(refuse_input, "srcWidth", j.width = k->kernelX - 2);
    REFUSE(refuse_input, "srcChannels", j.channels = SIZE_MAX / 8);

    good.stride = good.channels * ceil_div(good.height, k->blockY) * ceil_div(good.width, k->blockX);
    check_case(k->output_name, "refusals");
    check_in("src", CHECK_32F, planes_of(k) * good.stride, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 2 * 5 * 6);
    check_refused_null(output, &good);
    check_refused_overlap(false, output, &good);
    REFUSE(refuse_output, "srcStride", j.stride -= 1);
    REFUSE(refuse_output, "trans", j.trans = (SimdBool)2);
    REFUSE(refuse_output, "dstChannels", j.channels = SIZE_MAX / 8);
    REFUSE(refuse_output, "dstHeight", j.height = SIZE_MAX / 8);
}

/* Nothing to do; and an image without pixels, which consists of padding only. */
static void empties(const struct kind * k, SimdBool trans)
{
    struct job j = {.kind = k, .channels = 0, .height = 5, .width = 6, .trans = trans};
    check_case(k->input_name, "empty %d", (int)trans);
    check_empty(input, &j);
    for (size_t side = 0; side < 4; ++side) { /* the largest that is not refused */
        j = (struct job){.kind = k, .channels = 0, .height = 5, .width = 6, .trans = trans};
        j.pad[side] = PTRDIFF_MAX / 8;
        check_empty(input, &j);
    }
    j = (struct job){.kind = k, .channels = 3, .height = 5, .width = k->kernelX - 1, .trans = trans};
    check_empty(input, &j);
    check_case(k->output_name, "empty %d", (int)trans);
    j = (struct job){.kind = k, .channels = 3, .height = 5, .width = 0, .trans = trans};
    check_empty(output, &j);
    input_case((struct job){.kind = k, .channels = 3, .pad = {3, 5, 4, 5}, .trans = trans}, 0, CHECK_RANDOM);
}

/* ---- benchmarks */

static void bench_image(const struct kind * k, size_t channels, size_t size, SimdBool trans)
{
    struct job j = {.kind = k, .channels = channels, .height = size, .width = size, .trans = trans};
    j.pad[1] = j.pad[3] = k->kernelX / 2 * (k->kernelX > 2);
    j.pad[0] = j.pad[2] = k->kernelY / 2 * (k->kernelY > 2);
    const size_t used = channels * tiles_y(&j) * tiles_x(&j), pixels = channels * size * size;
    j.stride = used;
    check_case(k->input_name, "%s %zux%zux%zu", trans ? "nhwc" : "nchw", channels, size, size);
    check_in("src", CHECK_32F, pixels, CHECK_RANDOM);
    check_out("dst", CHECK_32F, planes_of(k) * used);
    check_bench(input, &j, 0, 4.0 * (double)(pixels + planes_of(k) * used));
    j.stride = channels * ceil_div(size, k->blockY) * ceil_div(size, k->blockX);
    check_case(k->output_name, "%s %zux%zux%zu", trans ? "nhwc" : "nchw", channels, size, size);
    check_in("src", CHECK_32F, planes_of(k) * j.stride, CHECK_RANDOM);
    check_out("dst", CHECK_32F, pixels);
    check_bench(output, &j, 0, 4.0 * (double)(pixels + planes_of(k) * j.stride));
}

static void bench(void)
{
    static const size_t shapes[][2] = {{64, 14}, {64, 56}, {512, 7}, {4, 56}, {3, 224}, {1, 112}};
    for (size_t i = 0; i < KINDS; ++i)
        for (int trans = 0; trans < 2; ++trans) {
            for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s)
                bench_image(&kinds[i], shapes[s][0], shapes[s][1], (SimdBool)trans);
            const size_t size = 64 * 64, taps = kinds[i].kernelY * kinds[i].kernelX;
            const struct job job = {.kind = &kinds[i], .channels = size, .trans = (SimdBool)trans};
            check_case(kinds[i].filter_name, "size=%zu trans=%d", size, trans);
            check_in("src", CHECK_32F, taps * size, CHECK_RANDOM);
            check_out("dst", CHECK_32F, planes_of(&kinds[i]) * size);
            check_bench(filter, &job, 0, 4.0 * (double)((taps + planes_of(&kinds[i])) * size));
        }
}

CHECK_FAMILY(winograd)
{
    geometries();
    for (size_t i = 0; i < KINDS; ++i) {
        refusals(&kinds[i]);
        empties(&kinds[i], SimdFalse);
        empties(&kinds[i], SimdTrue);
    }
    if (check_timed())
        bench();
}
