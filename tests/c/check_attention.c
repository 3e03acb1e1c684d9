/*
 * SimdnetAttention: heads at strides. Bound: with d the error of a row's scores, (K + 8) * 2^-24 of the sum of absolute terms
 * and of the scores, each share has the relative error 2 * d + that of softmax, and the result (N + 4) * 2^-24 more of the
 * sum of absolute values with these shares. With products of bfloat16 numbers, every factor has an error of 2^-9 more. The
 * elements between rows and between heads are NaN, and those of dst must remain unchanged.
 */
#include <stddef.h>
#include <stdlib.h>

#include "check.h"

#define ATTENTION "SimdnetAttention"

enum { Q, K, V, B, D, ARRAYS };

struct job {
    SimdnetAttentionParameters p;
    char missing; /* the first letter of an array that is NULL; capital: dst is that array */
};

static size_t rows_of(const SimdnetAttentionParameters * p, int array)
{
    const size_t rows[ARRAYS] = {p->M, p->transK ? p->K : p->N, p->transV ? p->width : p->N, p->M, p->M};
    return rows[array];
}

static size_t columns_of(const SimdnetAttentionParameters * p, int array)
{
    const size_t columns[ARRAYS] = {p->K, p->transK ? p->N : p->K, p->transV ? p->N : p->width, p->N, p->width};
    return columns[array];
}

static size_t step_of(const SimdnetAttentionParameters * p, int array)
{
    const size_t steps[ARRAYS] = {p->ldq, p->ldk, p->ldv, p->ldb, p->ldd};
    return steps[array] || array == B ? steps[array] : columns_of(p, array);
}

static const size_t * stride_of(const SimdnetAttentionParameters * p, int array)
{
    const size_t * strides[ARRAYS] = {p->strideQ, p->strideK, p->strideV, p->strideB, p->strideD};
    return strides[array];
}

/* The relative error of two factors of a product. */
static double rounding_of(const SimdnetAttentionParameters * p) { return p->prefer == SimdnetPreferBfloat16 ? 0x1.1p-8 : 0; }

static size_t batch_of(const SimdnetAttentionParameters * p, int i) { return p->batch[i] ? p->batch[i] : 1; }

static size_t index_of(const SimdnetAttentionParameters * p, int array, size_t x, size_t y, size_t row, size_t column)
{
    return x * stride_of(p, array)[0] + y * stride_of(p, array)[1] + row * step_of(p, array) + column;
}

/* The floats from the first element to the last. */
static size_t size_of(const SimdnetAttentionParameters * p, int array)
{
    if (rows_of(p, array) == 0 || columns_of(p, array) == 0)
        return 0;
    return 1 + index_of(p, array, batch_of(p, 0) - 1, batch_of(p, 1) - 1, rows_of(p, array) - 1, columns_of(p, array) - 1);
}

static void call(const void * argument, void * context, void * const * a)
{
    const struct job * j = argument;
    SimdnetAttentionParameters p = j->p;
    const bool biased = p.bias != NULL;
    (void)context;
    p.size = p.size ? p.size : sizeof(p);
    p.queries = j->missing == 'q' ? NULL : a[Q];
    p.keys = j->missing == 'k' ? NULL : a[K];
    p.values = j->missing == 'v' ? NULL : a[V];
    p.bias = biased ? a[B] : NULL;
    float * const over[] = {['Q' - 'A'] = a[Q], ['K' - 'A'] = a[K], ['V' - 'A'] = a[V], ['B' - 'A'] = a[B]};
    p.dst = j->missing == 'd' ? NULL : j->missing >= 'A' && j->missing <= 'V' ? over[j->missing - 'A'] : a[D];
    SimdnetAttention(&p);
}

/* Makes the elements between rows NaN. */
static void fill_gaps(const SimdnetAttentionParameters * p, int array, float * floats)
{
    bool * used = calloc(size_of(p, array) + 1, sizeof(bool));
    if (!used)
        return;
    for (size_t x = 0; x < batch_of(p, 0); ++x)
        for (size_t y = 0; y < batch_of(p, 1); ++y)
            for (size_t row = 0; row < rows_of(p, array); ++row)
                for (size_t column = 0; column < columns_of(p, array); ++column)
                    used[index_of(p, array, x, y, row, column)] = true;
    for (size_t i = 0; i < size_of(p, array); ++i)
        floats[i] = used[i] ? floats[i] : NAN;
    free(used);
}

/* The scores of a row, and the largest error of them that matters. */
static double score_row(const SimdnetAttentionParameters * p, float * const * a, size_t x, size_t y, size_t i, double * score)
{
    double error = 0, most = -INFINITY;
    for (size_t j = 0; j < p->N; ++j) {
        double sum = 0, size = 0;
        for (size_t k = 0; k < p->K; ++k) {
            const double key = a[K][p->transK ? index_of(p, K, x, y, k, j) : index_of(p, K, x, y, j, k)];
            sum += a[Q][index_of(p, Q, x, y, i, k)] * key;
            size += fabs(a[Q][index_of(p, Q, x, y, i, k)] * key);
        }
        const double bias = p->bias ? a[B][index_of(p, B, x, y, i, j)] : 0;
        score[j] = p->scale * sum + bias;
        most = fmax(most, score[j]);
        if (isfinite(score[j]))
            error = fmax(error,
                         ((double)(p->K + 8) * 0x1p-24 + rounding_of(p)) * fabs(p->scale) * size + 4 * 0x1p-24 * fabs(score[j]));
    }
    for (size_t j = 0; j < p->N; ++j)
        score[j] -= most;
    return error;
}

static void bound(const SimdnetAttentionParameters * p, float * const * a, double * error)
{
    double score[4096];
    for (size_t x = 0; x < batch_of(p, 0); ++x)
        for (size_t y = 0; y < batch_of(p, 1); ++y)
            for (size_t i = 0; i < p->M; ++i) {
                const double d = p->N ? score_row(p, a, x, y, i, score) : 0;
                double sum = 0;
                for (size_t j = 0; j < p->N; ++j)
                    sum += exp(score[j]);
                for (size_t n = 0; n < p->width; ++n) {
                    double size = 0;
                    for (size_t j = 0; j < p->N; ++j) {
                        const double v = a[V][p->transV ? index_of(p, V, x, y, n, j) : index_of(p, V, x, y, j, n)];
                        size += fabs(exp(score[j]) / sum * v) * (1 + fmin(fabs(score[j]), 110));
                    }
                    error[index_of(p, D, x, y, i, n)] = size * (4 * d + (double)(p->N + 40) * 0x1p-24 + rounding_of(p)) +
                                                        (double)(p->N + 2) * 0x1p-124;
                }
            }
}

static bool declare(const struct job * j, const char * text)
{
    const SimdnetAttentionParameters * p = &j->p;
    if (!check_case(ATTENTION, "M=%zu N=%zu K=%zu width=%zu transK=%d transV=%d scale=%g bias=%d ld %zu %zu %zu %zu %zu batch "
                    "%zu %zu%s", p->M, p->N, p->K, p->width, p->transK, p->transV, (double)p->scale, p->bias != NULL, p->ldq,
                    p->ldk, p->ldv, p->ldb, p->ldd, p->batch[0], p->batch[1], text))
        return false;
    static const char * const names[] = {"queries", "keys", "values", "bias"};
    float * a[ARRAYS];
    for (int i = 0; i < D; ++i) {
        a[i] = check_in(names[i], CHECK_32F, size_of(p, i), CHECK_RANDOM);
        fill_gaps(p, i, a[i]);
    }
    for (size_t i = 0; p->bias && i < size_of(p, B); ++i) /* masked, but for the first column */
        a[B][i] = a[B][i] < -0.8f && i % step_of(p, D) ? (a[B][i] < -0.9f ? -INFINITY : -3e38f) : a[B][i];
    a[D] = check_inout("dst", CHECK_32F, size_of(p, D), CHECK_NAN);
    double * error = check_bound();
    memset(error, 0, size_of(p, D) * sizeof(double));
    bound(p, a, error);
    return true;
}

static void run(SimdnetAttentionParameters p)
{
    const struct job j = {.p = p};
    if (declare(&j, ""))
        check_run(call, &j);
}

/* Dense heads, or heads that lie inside rows, with gaps. */
static void place(const SimdnetAttentionParameters * p, int array, bool inside, size_t * step, size_t * stride)
{
    const size_t rows = rows_of(p, array), columns = columns_of(p, array), gap = check_random(0, 3);
    *step = inside ? batch_of(p, 1) * (columns + gap) : columns + gap;
    stride[1] = inside ? columns + gap : rows * *step + gap;
    stride[0] = inside ? rows * *step : batch_of(p, 1) * stride[1] + check_random(0, 2);
}

static SimdnetAttentionParameters random_heads(size_t n, size_t most)
{
    static const float any, * const biases[] = {NULL, &any};
    SimdnetAttentionParameters p = {.M = check_random(1, most), .N = check_random(n % 30 ? 1 : 0, most),
        .K = check_random(n % 16 ? 1 : 0, 40), .width = check_random(1, 40), .transK = n & 1, .transV = n >> 1 & 1,
        .scale = n % 5 ? 0.5f : -2, .bias = biases[n % 3 != 0], .batch = {check_random(1, 2), check_random(1, 3)}};
    if (n % 6 == 0)
        p.M = check_random(1, 3);
    if (n % 11 == 3) {
        p.prefer = SimdnetPreferBfloat16;
        p.M = check_random(60, 150), p.N = check_random(60, 150);
    }
    if (n % 9 == 4 && !p.prefer)
        p.size = offsetof(SimdnetAttentionParameters, prefer); /* of a program built before that was a member */
    place(&p, Q, n >> 2 & 1, &p.ldq, p.strideQ);
    place(&p, K, n >> 3 & 1, &p.ldk, p.strideK);
    place(&p, V, n >> 4 & 1, &p.ldv, p.strideV);
    place(&p, B, false, &p.ldb, p.strideB);
    place(&p, D, n >> 5 & 1, &p.ldd, p.strideD);
    if (n % 7 == 0)
        p.strideK[1] = p.strideV[1] = 0;
    if (n % 4 == 0)
        p.ldb = p.strideB[0] = 0;
    return p;
}

static void refuse(SimdnetAttentionParameters p, char missing, const char * argument)
{
    static const float any;
    const SimdnetAttentionParameters good = {.M = 3, .N = 4, .K = 5, .width = 6, .scale = 1, .bias = &any, .ldb = 4,
        .batch = {2, 2}, .strideQ = {30, 15}, .strideK = {40, 20}, .strideV = {48, 24}, .strideB = {24, 12},
        .strideD = {36, 18}};
    const struct job valid = {.p = good}, bad = {.p = p.M ? p : good, .missing = missing};
    if (declare(&valid, argument))
        check_refused(CHECK_VALUE, argument, call, &bad);
}

static void refusals(void)
{
    static const float any;
    const SimdnetAttentionParameters good = {.M = 3, .N = 4, .K = 5, .width = 6, .scale = 1, .bias = &any, .ldb = 4,
        .batch = {2, 2}, .strideQ = {30, 15}, .strideK = {40, 20}, .strideV = {48, 24}, .strideB = {24, 12},
        .strideD = {36, 18}}, none = {0};
    SimdnetAttentionParameters bad;
#define REFUSED(field, value, text) bad = good, bad.field = value, refuse(bad, 0, text)
    REFUSED(size, 8, "size");
    REFUSED(transK, (SimdBool)2, "transK");
    REFUSED(transV, (SimdBool)-1, "transV");
    REFUSED(prefer, (SimdnetPreferenceType)4, "prefer is 4");
    REFUSED(ldq, 4, "ldq is 4, expected 0 or at least 5");
    REFUSED(ldk, 4, "ldk is 4");
    REFUSED(ldv, 5, "ldv is 5");
    REFUSED(ldb, 3, "ldb is 3");
    REFUSED(ldd, 5, "ldd is 5");
    REFUSED(M, SIZE_MAX / 8, "queries has");
    REFUSED(batch[1], SIZE_MAX / 8, "batch[1] is");
    REFUSED(strideK[0], SIZE_MAX / 4, "strideK[0] is");
    REFUSED(strideB[0], SIZE_MAX / 4, "strideB[0] is");
    REFUSED(strideD[1], 17, "strideD[1] is 17, expected at least 18");
    REFUSED(strideD[0], 18, "is 18, expected at least 36");
    REFUSED(strideD[0], 0, "strideD[0] is 0");
#undef REFUSED
    bad = good, bad.M = SIZE_MAX / 64, bad.N = SIZE_MAX / 64, bad.K = 0, bad.width = 0, bad.bias = NULL;
    refuse(bad, 0, "M is");
    static const char missing[] = "qkvd", * const texts[] = {"queries is NULL", "keys is NULL", "values is NULL",
        "dst is NULL"}, over[] = "QKVB", * const overlaps[] = {"dst overlaps queries", "dst overlaps keys",
        "dst overlaps values", "dst overlaps bias"};
    for (int i = 0; i < 4; ++i)
        refuse(none, missing[i], texts[i]), refuse(none, over[i], overlaps[i]);
    struct job empty = {.p = good, .missing = 'd'};
    empty.p.M = 0;
    check_empty(call, &empty);
}

static void bench(void)
{
    static const size_t shapes[][3] = {{384, 384, 32}, {197, 197, 64}, {128, 128, 64}, {1500, 1500, 64}, {49, 49, 32}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const size_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        struct job j = {.p = {.M = m, .N = n, .K = k, .width = k, .scale = 0.2f, .batch = {1, 12}, .strideQ = {0, m * k},
            .strideK = {0, n * k}, .strideV = {0, n * k}, .strideD = {0, m * k}}};
        if (!check_case(ATTENTION, "12 of M=%zu N=%zu K=%zu", m, n, k))
            continue;
        check_in("queries", CHECK_32F, size_of(&j.p, Q), CHECK_RANDOM);
        check_in("keys", CHECK_32F, size_of(&j.p, K), CHECK_RANDOM);
        check_in("values", CHECK_32F, size_of(&j.p, V), CHECK_RANDOM);
        check_in("bias", CHECK_32F, 0, CHECK_RANDOM);
        check_out("dst", CHECK_32F, size_of(&j.p, D));
        check_bench(call, &j, 48.0 * (double)m * (double)n * (double)k, 0);
    }
}

CHECK_FAMILY(attention)
{
    for (size_t n = 0, count = check_count(200); n < count; ++n)
        run(random_heads(n, n % 9 ? 20 : 70));
    SimdnetAttentionParameters p = {.M = 40, .N = 300, .K = 16, .width = 40, .scale = 0.25f}; /* rows that are apart */
    run(p);
    p.M = 90, p.N = 1025, p.ldq = 1024; /* several blocks, copied queries */
    run(p);
    p.prefer = SimdnetPreferBfloat16, p.K = 17, p.transV = SimdTrue;
    run(p);
    refusals();
    if (check_timed())
        bench();
}
