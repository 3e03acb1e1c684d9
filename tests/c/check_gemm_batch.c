/*
 * SimdnetGemm: batches of products at strides. Bound: as in check_gemm.c. The elements between rows and between matrices are
 * NaN, and those of C must remain unchanged.
 */
#include <stdlib.h>

#include "check.h"

#define GEMM "SimdnetGemm"

struct job {
    SimdnetGemmParameters p;
    size_t floats[3]; /* of the arrays A, B, C */
    const char * missing;
};

enum { A, B, C, ARRAYS };

static size_t rows_of(const SimdnetGemmParameters * p, int array)
{
    return array == A ? (p->transA ? p->K : p->M) : array == B ? (p->transB ? p->N : p->K) : p->M;
}

static size_t columns_of(const SimdnetGemmParameters * p, int array)
{
    return array == A ? (p->transA ? p->M : p->K) : array == B ? (p->transB ? p->K : p->N) : p->N;
}

static size_t step_of(const SimdnetGemmParameters * p, int array)
{
    const size_t step = array == A ? p->lda : array == B ? p->ldb : p->ldc;
    return step ? step : columns_of(p, array);
}

static const size_t * stride_of(const SimdnetGemmParameters * p, int array)
{
    return array == A ? p->strideA : array == B ? p->strideB : p->strideC;
}

static size_t batch_of(const SimdnetGemmParameters * p, int i) { return p->batch[i] ? p->batch[i] : 1; }

/* The index of an element of the matrix of product (x, y). */
static size_t index_of(const SimdnetGemmParameters * p, int array, size_t x, size_t y, size_t row, size_t column)
{
    const size_t * stride = stride_of(p, array);
    return x * stride[0] + y * stride[1] + row * step_of(p, array) + column;
}

/* The floats from the first element to the last. */
static size_t size_of(const SimdnetGemmParameters * p, int array)
{
    if (rows_of(p, array) == 0 || columns_of(p, array) == 0)
        return 0;
    return 1 + index_of(p, array, batch_of(p, 0) - 1, batch_of(p, 1) - 1, rows_of(p, array) - 1, columns_of(p, array) - 1);
}

static void call(const void * argument, void * context, void * const * a)
{
    const struct job * j = argument;
    const char * missing = j->missing ? j->missing : "";
    SimdnetGemmParameters p = j->p;
    (void)context;
    p.size = p.size ? p.size : sizeof(p);
    p.A = *missing == 'A' ? NULL : *missing == 'a' ? a[C] : a[A];
    p.B = *missing == 'B' ? NULL : *missing == 'b' ? a[C] : a[B];
    p.C = *missing == 'C' ? NULL : a[C];
    SimdnetGemm(&p);
}

/* Calls visit() for each element of the matrices of an array. */
static void each(const SimdnetGemmParameters * p, int array,
                 void (*visit)(const SimdnetGemmParameters * p, size_t x, size_t y, size_t row, size_t column, void * data),
                 void * data)
{
    for (size_t x = 0; x < batch_of(p, 0); ++x)
        for (size_t y = 0; y < batch_of(p, 1); ++y)
            for (size_t row = 0; row < rows_of(p, array); ++row)
                for (size_t column = 0; column < columns_of(p, array); ++column)
                    visit(p, x, y, row, column, data);
}

/* An array and the part of it that no matrix uses. */
struct gaps {
    int array;
    bool * used; /* of each element */
};

static void mark(const SimdnetGemmParameters * p, size_t x, size_t y, size_t row, size_t column, void * data)
{
    struct gaps * g = data;
    g->used[index_of(p, g->array, x, y, row, column)] = true;
}

static void fill_gaps(const SimdnetGemmParameters * p, int array, float * floats)
{
    struct gaps g = {array, calloc(size_of(p, array) + 1, sizeof(bool))};
    if (!g.used)
        return;
    each(p, array, mark, &g);
    for (size_t i = 0; i < size_of(p, array); ++i)
        floats[i] = g.used[i] ? floats[i] : NAN;
    free(g.used);
}

struct bounds {
    const float * a, * b, * c;
    double * error;
};

static void bound(const SimdnetGemmParameters * p, size_t x, size_t y, size_t row, size_t column, void * data)
{
    const struct bounds * s = data;
    const size_t at = index_of(p, C, x, y, row, column);
    double sum = 0;
    for (size_t k = 0; k < p->K; ++k)
        sum += fabs((double)s->a[p->transA ? index_of(p, A, x, y, k, row) : index_of(p, A, x, y, row, k)] *
                    s->b[p->transB ? index_of(p, B, x, y, column, k) : index_of(p, B, x, y, k, column)]);
    sum = (p->alpha != 0 ? fabs(p->alpha) * sum : 0) + (p->beta != 0 ? fabs((double)p->beta * s->c[at]) : 0);
    s->error[at] = isfinite(sum) && sum > FLT_MAX ? NAN
                                                  : (double)(p->K + 4) * FLT_EPSILON * sum + (double)(p->K + 2) * 0x1p-149;
}

static void declare(const struct job * j, enum check_fill fill, const char * text)
{
    const SimdnetGemmParameters * p = &j->p;
    if (!check_case(GEMM, "M=%zu N=%zu K=%zu transA=%d transB=%d lda=%zu ldb=%zu ldc=%zu alpha=%g beta=%g batch %zu %zu A "
                    "%zu %zu B %zu %zu C %zu %zu %s%s", p->M, p->N, p->K, p->transA, p->transB, p->lda, p->ldb, p->ldc,
                    (double)p->alpha, (double)p->beta, p->batch[0], p->batch[1], p->strideA[0], p->strideA[1], p->strideB[0],
                    p->strideB[1], p->strideC[0], p->strideC[1], check_fill_name(fill), text))
        return;
    float * a = check_in("A", CHECK_32F, size_of(p, A), fill), * b = check_in("B", CHECK_32F, size_of(p, B), fill);
    float * c = check_inout("C", CHECK_32F, size_of(p, C), p->beta == 0 ? CHECK_NAN : fill);
    fill_gaps(p, A, a);
    fill_gaps(p, B, b);
    struct bounds s = {a, b, c, check_bound()};
    memset(s.error, 0, size_of(p, C) * sizeof(double));
    each(p, C, bound, &s);
}

static void run(SimdnetGemmParameters p, enum check_fill fill)
{
    const struct job j = {.p = p};
    declare(&j, fill, "");
    check_run(call, &j);
}

/* The strides of two dimensions, with gaps; the inner one lies inside the rows (heads) if `heads`. */
static void place(const SimdnetGemmParameters * p, int array, bool heads, size_t * step, size_t * stride)
{
    const size_t rows = rows_of(p, array), columns = columns_of(p, array), gap = check_random(0, 3);
    if (heads) {
        stride[1] = columns + gap;
        *step = batch_of(p, 1) * stride[1];
        stride[0] = rows * *step;
    } else {
        *step = columns + gap;
        stride[1] = rows * *step + gap * 2;
        stride[0] = batch_of(p, 1) * stride[1] + check_random(0, 2);
    }
}

static SimdnetGemmParameters random_batch(size_t n, size_t most)
{
    static const float factors[] = {1, 0, -0.5f, 1, 3};
    SimdnetGemmParameters p = {.M = check_random(1, most), .N = check_random(1, most),
        .K = check_random(n % 8 ? 1 : 0, most), .transA = n & 1, .transB = n >> 1 & 1,
        .alpha = factors[check_random(0, 4)], .beta = factors[check_random(0, 4)],
        .batch = {check_random(1, 3), check_random(1, 4)}};
    if (n % 3 == 0)
        p.M = check_random(1, 5);
    place(&p, A, n >> 2 & 1, &p.lda, p.strideA);
    place(&p, B, n >> 3 & 1, &p.ldb, p.strideB);
    place(&p, C, n >> 4 & 1, &p.ldc, p.strideC);
    if (n % 7 == 0)
        p.strideB[1] = 0;
    if (n % 5 == 0)
        p.strideA[0] = 0;
    return p;
}

/* One B for all: rows of several products are rows of one. */
static SimdnetGemmParameters joined(size_t n)
{
    SimdnetGemmParameters p = {.M = 1 + n % 7, .N = 20 + n, .K = 3 + n, .transB = n & 1, .alpha = 1, .beta = n % 4 == 0,
        .batch = {1 + n % 3, 1 + n / 3 % 4}};
    p.strideA[1] = p.M * p.K, p.strideC[1] = p.M * p.N;
    p.strideA[0] = p.batch[1] * p.strideA[1] + n / 8 % 2, p.strideC[0] = p.batch[1] * p.strideC[1];
    return p;
}

static void refuse(SimdnetGemmParameters p, const char * missing, const char * argument)
{
    const SimdnetGemmParameters good = {.M = 3, .N = 4, .K = 5, .alpha = 1, .beta = 1, .batch = {2, 2}, .strideA = {30, 15},
        .strideB = {40, 20}, .strideC = {24, 12}};
    const struct job valid = {.p = good}, bad = {.p = p.M ? p : good, .missing = missing};
    declare(&valid, CHECK_RANDOM, argument);
    check_refused(CHECK_VALUE, argument, call, &bad);
}

static void refusals(void)
{
    const SimdnetGemmParameters good = {.M = 3, .N = 4, .K = 5, .alpha = 1, .beta = 1, .batch = {2, 2}, .strideA = {30, 15},
        .strideB = {40, 20}, .strideC = {24, 12}};
    SimdnetGemmParameters bad;
#define REFUSED(field, value, text) bad = good, bad.field = value, refuse(bad, NULL, text)
    REFUSED(size, 8, "size");
    REFUSED(transA, (SimdBool)2, "transA");
    REFUSED(transB, (SimdBool)-1, "transB");
    REFUSED(lda, 4, "lda is 4");
    REFUSED(ldb, 3, "ldb is 3");
    REFUSED(ldc, 3, "ldc is 3");
    REFUSED(M, SIZE_MAX / 8, "A has");
    REFUSED(batch[1], SIZE_MAX / 8, "batch[1] is");
    REFUSED(strideA[0], SIZE_MAX / 4, "strideA[0] is");
    bad = good, bad.strideA[0] = bad.strideA[1] = PTRDIFF_MAX / 8, bad.lda = PTRDIFF_MAX / 24;
    refuse(bad, NULL, "strideA[1] is"); /* each of three terms could be an array, their sum could not */
    REFUSED(strideC[1], 11, "strideC[1] is 11, expected at least 12");
    REFUSED(strideC[0], 12, "is 12, expected at least 24");
    REFUSED(strideC[0], 0, "strideC[0] is 0");
#undef REFUSED
    bad.M = 0;
    refuse(bad, "A", "A is NULL");
    refuse(bad, "B", "B is NULL");
    refuse(bad, "C", "C is NULL");
    refuse(bad, "a", "C overlaps A");
    refuse(bad, "b", "C overlaps B");
    struct job none = {.p = good, .missing = "C"};
    none.p.M = 0;
    check_empty(call, &none);
}

static void bench(void)
{
    static const size_t shapes[][3] = {{197, 197, 64}, {197, 64, 197}, {50, 50, 64}, {1, 197, 64}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int transB = 0; transB < 2; ++transB) {
            struct job j = {.p = {.M = shapes[i][0], .N = shapes[i][1], .K = shapes[i][2], .transB = (SimdBool)transB,
                .alpha = 1, .batch = {1, 12}}};
            j.p.strideA[1] = j.p.M * j.p.K, j.p.strideB[1] = j.p.N * j.p.K, j.p.strideC[1] = j.p.M * j.p.N;
            if (!check_case(GEMM, "12 of M=%zu N=%zu K=%zu transB=%d", j.p.M, j.p.N, j.p.K, transB))
                continue;
            for (int array = A; array < C; ++array)
                check_in(array ? "B" : "A", CHECK_32F, size_of(&j.p, array), CHECK_RANDOM);
            check_out("C", CHECK_32F, size_of(&j.p, C));
            check_bench(call, &j, 24.0 * (double)j.p.M * (double)j.p.N * (double)j.p.K, 0);
        }
}

CHECK_FAMILY(gemm_batch)
{
    for (size_t n = 0, count = check_count(300); n < count; ++n)
        run(random_batch(n, n % 9 ? 20 : 70), n % 4 ? CHECK_RANDOM : CHECK_TIES);
    for (size_t n = 0; n < 40; ++n)
        run(joined(n), CHECK_RANDOM);
    SimdnetGemmParameters p = {.M = 30, .N = 140, .K = 1500, .transA = SimdTrue, .alpha = 1}; /* steps of K */
    run(p, CHECK_RANDOM);
    p.transB = SimdTrue, p.M = 130, p.K = 64;
    run(p, CHECK_RANDOM);
    refusals();
    if (check_timed())
        bench();
}
