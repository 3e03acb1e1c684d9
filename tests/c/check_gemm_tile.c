/*
 * The GEMM tile alone (contract/gemm.h): every height and width of its instances, compared with plain loops. Bound: the
 * rounding of a chain of K multiply-adds, (K + 3) * eps * sum |a * b|, which activations increase by their slope at most.
 */
#include <stdlib.h>

#include "check_convolution.h"
#include "dispatch/dispatch.h"
#include "reference/libm.h"
#include "runtime/memory.h"

#define TILE "gemm_tile"

enum { SEGMENTS = 4 };

struct job {
    size_t height, width, n; /* rows are (y, x); n columns, in any number of panels */
    size_t segments, length;
    size_t segment[SEGMENTS];
    size_t aStepY, aStepX;
    bool byRow, no_bias, resume, fetch, onward;
    SimdConvolutionActivationType activation;
    float param[2];
    bool bench;
};

static size_t depth(const struct job * j) { return j->segments * j->length; }

/* As the driver of a tile does, packs B into consecutive panels, the last one narrower. */
static void pack(const struct sn_gemm_32f_tile * tile, const sn_32f * b, size_t k, size_t n, sn_32f * panel)
{
    for (size_t first = 0; first < n; first += tile->columns) {
        const size_t columns = sn_min(tile->columns, n - first), width = sn_gemm_width(tile, columns);
        for (size_t i = 0; i < k; ++i)
            for (size_t j = 0; j < width; ++j)
                panel[i * width + j] = j < columns ? b[i * n + first + j] : 0;
        panel += k * width;
    }
}

/* Benchmarks pack only when the level or the case changes. */
static const sn_32f * packed(const struct job * j, const sn_32f * b)
{
    static float kept[64 * 4096] __attribute__((aligned(SN_ALIGN)));
    static const struct sn_table * kept_table;
    static size_t kept_depth, kept_n;
    const struct sn_gemm_32f_tile * tile = &sn_table()->gemm.tile_32f;
    if (!j->bench) {
        sn_32f * panels = check_buffer(depth(j) * sn_gemm_width(tile, j->n) * sizeof(float));
        pack(tile, b, depth(j), j->n, panels);
        return panels;
    }
    if (kept_table != sn_table() || kept_depth != depth(j) || kept_n != j->n)
        pack(tile, b, depth(j), j->n, kept);
    kept_table = sn_table();
    kept_depth = depth(j);
    kept_n = j->n;
    return kept;
}

/* An array with one value per column, padded with zeros for the last panel. */
static const sn_32f * per_column(const struct job * j, const sn_32f * values, size_t first, sn_32f * room)
{
    for (size_t i = 0; i < sn_table()->gemm.tile_32f.columns; ++i)
        room[i] = first + i < j->n ? values[first + i] : 0;
    return room;
}

static void run_tile(const struct job * j, void * const * a)
{
    float bias[64], slope[64];
    const struct sn_gemm_32f_tile * tile = &sn_table()->gemm.tile_32f;
    const sn_32f * panel = packed(j, a[1]);
    for (size_t first = 0; first < j->n; first += tile->columns) {
        struct sn_gemm_32f gemm = {.a = a[0], .height = j->height, .width = j->width, .aStepY = j->aStepY,
            .aStepX = j->aStepX, .segment = j->segment, .segments = j->segments, .length = j->length,
            .b = panel, .columns = sn_min(tile->columns, j->n - first), .c = (sn_32f *)a[4] + first,
            .cStepY = j->width * j->n, .cStepX = j->n, .from = j->resume ? (sn_32f *)a[4] + first : NULL, .byRow = j->byRow,
            .activation = (enum sn_activation)j->activation, .param = {j->param[0], j->param[1]}};
        gemm.bias = j->no_bias ? NULL : j->byRow ? a[2] : per_column(j, a[2], first, bias);
        if (j->fetch)
            gemm.prefetch = panel, gemm.prefetchStep = depth(j), gemm.onward = j->onward;
        if (j->activation == SimdConvolutionActivationPrelu)
            gemm.slope = j->byRow ? a[3] : per_column(j, a[3], first, slope);
        tile->run(&gemm);
        panel += depth(j) * sn_gemm_width(tile, gemm.columns);
    }
}

static double activate(const struct job * j, double v, double slope)
{
    switch (j->activation) {
    case SimdConvolutionActivationRelu: return v > 0 ? v : 0;
    case SimdConvolutionActivationPrelu: return v > 0 ? v : slope * v;
    case SimdConvolutionActivationRestrictRange: return fmin(fmax(j->param[0], v), j->param[1]);
    case SimdConvolutionActivationElu: return v < 0 ? j->param[0] * sn_expm1(v) : v;
    case SimdConvolutionActivationHswish: return fmax(fmin(v, j->param[0]) + j->param[0], 0) * j->param[1] * v;
    case SimdConvolutionActivationMish: return v > j->param[0] ? v : v * sn_tanh(sn_log1p(sn_exp(v)));
    case SimdConvolutionActivationHardSigmoid: return fmax(0, fmin(1, v * j->param[0] + j->param[1]));
    case SimdConvolutionActivationSwish: return v / (1 + sn_exp(-j->param[0] * v));
    case SimdConvolutionActivationGelu: return v * sn_erfc(-sqrt(0.5) * v) / 2;
    case SimdnetConvolutionActivationSigmoid: return 1 / (1 + sn_exp(-v));
    default: return v;
    }
}

/* The plain loops; magnitude receives the sum of |a * b| and |start|. */
static double element(const struct job * j, const sn_32f * a, const sn_32f * b, double start, double * magnitude)
{
    double sum = start;
    *magnitude = fabs(start);
    for (size_t s = 0; s < j->segments; ++s)
        for (size_t k = 0; k < j->length; ++k) {
            const double product = (double)a[j->segment[s] + k] * b[(s * j->length + k) * j->n];
            sum += product;
            *magnitude += fabs(product);
        }
    return sum;
}

/* Computes C, or with `bounds` the error bounds of C. */
static void plain(const struct job * j, const sn_32f * a, const sn_32f * b, const sn_32f * bias, const sn_32f * slope,
                  sn_32f * c, double * bounds)
{
    for (size_t y = 0; y < j->height; ++y)
        for (size_t x = 0; x < j->width; ++x)
            for (size_t n = 0; n < j->n; ++n) {
                const size_t at = (y * j->width + x) * j->n + n, way = j->byRow ? x : n;
                double magnitude;
                const double start = (j->no_bias ? 0 : (double)bias[way]) + (j->resume ? c[at] : 0);
                const double v = element(j, a + y * j->aStepY + x * j->aStepX, b + n, start, &magnitude);
                const double error = (double)(depth(j) + 3) * FLT_EPSILON * magnitude;
                const double own = j->activation > SimdConvolutionActivationHswish; /* the terms are at most 1 */
                if (bounds && j->activation == SimdConvolutionActivationElu) /* the terms are exp(v) and 1 */
                    bounds[at] = error + 8 * FLT_EPSILON * (fabs(v) + fabs(j->param[0]));
                else if (bounds)
                    bounds[at] = error * fmax(1.2, 4 * fabs(slope[way])) +
                                 8 * FLT_EPSILON * (fabs(activate(j, v, slope[way])) + own);
                else
                    c[at] = (float)activate(j, v, slope[way]);
            }
}

static void call(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    (void)context;
    SimdVersion(); /* clears the error text, as a public function does */
    if (sn_table()->gemm.tile_32f.run)
        run_tile(j, a);
    else
        plain(j, a[0], a[1], a[2], a[3], a[4], NULL);
}

static void declare(const struct job * j)
{
    if (!check_case(TILE, "rows=%zux%zu n=%zu k=%zux%zu steps=%zu,%zu activation %d%s%s%s%s", j->height, j->width, j->n,
                    j->segments, j->length, j->aStepY, j->aStepX, (int)j->activation, j->byRow ? " by row" : "",
                    j->no_bias ? " no bias" : "", j->resume ? " resumed" : "", j->fetch ? " fetching" : ""))
        return;
    const size_t ways = j->byRow ? j->width : j->n;
    size_t reach = 0;
    for (size_t s = 0; s < j->segments; ++s)
        reach = sn_max(reach, j->segment[s] + j->length);
    const size_t rows = (j->height - 1) * j->aStepY + (j->width - 1) * j->aStepX;
    const sn_32f * a = check_in("a", CHECK_32F, rows + reach, CHECK_RANDOM);
    const sn_32f * b = check_in("b", CHECK_32F, depth(j) * j->n, CHECK_RANDOM);
    const sn_32f * bias = check_in("bias", CHECK_32F, ways, CHECK_RANDOM);
    const sn_32f * slope = check_in("slope", CHECK_32F, ways, CHECK_RANDOM);
    sn_32f * c = check_inout("c", CHECK_32F, j->height * j->width * j->n, CHECK_RANDOM);
    if (!j->bench)
        plain(j, a, b, bias, slope, c, check_bound());
}

static void random_case(size_t width, size_t n)
{
    struct job j = {.height = check_random(1, 2), .width = width, .n = n, .segments = check_random(1, SEGMENTS),
                    .length = check_random(0, 40), .byRow = check_random(0, 3) == 0, .no_bias = check_random(0, 7) == 0,
                    .fetch = check_random(0, 1),
                    .resume = check_random(0, 3) == 0, .param = {-0.5f, 0.75f}};
    j.aStepX = check_random(0, 60);
    j.aStepY = check_random(0, 900);
    for (size_t s = 0; s < j.segments; ++s)
        j.segment[s] = check_random(0, 50);
    j.activation = check_any_activation();
    if (j.activation == SimdConvolutionActivationLeakyRelu)
        j.activation = SimdConvolutionActivationIdentity;
    if (j.activation == SimdConvolutionActivationHswish)
        j.param[0] = 3, j.param[1] = 1.0f / 6;
    if (j.activation == SimdConvolutionActivationMish)
        j.param[0] = 20;
    declare(&j);
    check_run(call, &j);
}

/* A sum that is computed in two calls, with some of its segments each, has the same bits as in one call. */
static void interrupted(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    const size_t bytes = j->height * j->width * j->n * sizeof(float);
    float * whole = malloc(bytes);
    memcpy(whole, a[4], bytes);
    void * arrays[] = {a[0], a[1], a[2], a[3], whole};
    call(job, context, arrays);
    struct job first = *j, rest = *j;
    first.segments = 1;
    first.activation = SimdConvolutionActivationIdentity;
    rest.segments = j->segments - 1;
    memmove(rest.segment, rest.segment + 1, rest.segments * sizeof(size_t));
    rest.resume = rest.no_bias = true;
    call(&first, context, a);
    arrays[0] = a[0], arrays[1] = (sn_32f *)a[1] + j->length * j->n, arrays[4] = a[4];
    call(&rest, context, arrays);
    if (sn_table()->gemm.tile_32f.run && !check_same(CHECK_32F, whole, a[4], j->height * j->width * j->n))
        check_that(false, TILE, "an interrupted sum has other bits: rows=%zu n=%zu", j->width, j->n);
    free(whole);
}

static void interrupted_case(size_t width, size_t n)
{
    struct job j = {.height = 1, .width = width, .n = n, .segments = 3, .length = 11, .segment = {0, 11, 22}, .aStepX = 33,
                    .activation = SimdConvolutionActivationRelu};
    declare(&j);
    check_run(interrupted, &j);
}

/* Panels that the L1 cache does not keep: many rows by one part after the other; segments are whole in a part, or divided. */
static void deep_case(size_t segments, size_t length, size_t n)
{
    struct job j = {.height = check_random(1, 3), .width = check_random(47, 60), .n = n, .segments = segments,
        .length = length, .aStepX = check_random(length, length + 9), .byRow = check_random(0, 3) == 0, .no_bias = check_random(0, 3) == 0,
        .resume = check_random(0, 1), .fetch = check_random(0, 1), .onward = check_random(0, 1),
        .activation = SimdConvolutionActivationRestrictRange, .param = {-0.5f, 0.75f}};
    j.aStepY = j.width * j.aStepX;
    for (size_t s = 0; s < segments; ++s)
        j.segment[s] = s * check_random(0, length);
    declare(&j);
    check_run(call, &j);
}

static void bench(void)
{
    const size_t depths[] = {64, 256, 576, 1024, 2048};
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); ++i)
        for (size_t n = 32; n > 0; n -= 8) {
            const size_t k = depths[i];
            const struct job j = {.height = 1, .width = 42, .n = n, .segments = 1, .length = k, .aStepX = k + 16,
                                  .no_bias = true, .bench = true};
            declare(&j);
            check_bench(call, &j, 2.0 * (double)(j.width * n * k), 0);
        }
}

CHECK_FAMILY(gemm_tile)
{
    for (size_t width = 1; width <= 31; ++width)
        for (size_t n = 1; n <= 34; ++n)
            random_case(width, n);
    for (size_t i = 0; i < check_count(300); ++i)
        random_case(check_random(1, 60), check_random(1, 100));
    for (size_t n = 1; n <= 33; n += 4)
        interrupted_case(17, n);
    const size_t lengths[] = {151, 400, 517, 1200, 2100};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i)
        for (size_t n = 5; n <= 40; n += 7)
            deep_case(check_random(1, SEGMENTS), lengths[i], n);
    if (check_timed())
        bench();
}
