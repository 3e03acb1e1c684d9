/*
 * SimdGemm32fNN and SimdGemm32fNT. Bound: the roundings of a chain of K multiply-adds with one rounded factor, and of beta *
 * C: (K + 4) * eps * (|alpha| * sum |a * b| + |beta * c|). Leading dimensions may be larger than the rows; the gaps contain
 * NaN, and those of C must remain unchanged.
 */
#include "check.h"

struct job {
    bool transposed;
    size_t M, N, K, lda, ldb, ldc;
    float alpha, beta;
};

static const char * function_of(const struct job * j) { return j->transposed ? "SimdGemm32fNT" : "SimdGemm32fNN"; }

static void call(const void * argument, void * context, void * const * a)
{
    const struct job * j = argument;
    (void)context;
    (j->transposed ? SimdGemm32fNT : SimdGemm32fNN)(j->M, j->N, j->K, a[0], a[1], j->lda, a[2], j->ldb, a[3], a[4], j->ldc);
}

/* The number of elements of a matrix, up to the last element of the last row. */
static size_t size_of(size_t rows, size_t columns, size_t step) { return rows && columns ? (rows - 1) * step + columns : 0; }

/* Writes NaN between the rows, which must not be read. */
static void fill_gaps(float * x, size_t rows, size_t columns, size_t step)
{
    for (size_t r = 0; r + 1 < rows; ++r)
        for (size_t i = columns; i < step; ++i)
            x[r * step + i] = NAN;
}

static void bound(const struct job * j, const float * a, const float * b, const float * c, double * error)
{
    for (size_t i = 0; i < size_of(j->M, j->N, j->ldc); ++i)
        error[i] = 0; /* between the rows */
    for (size_t row = 0; row < j->M; ++row)
        for (size_t column = 0; column < j->N; ++column) {
            double sum = 0, largest;
            for (size_t k = 0; k < j->K; ++k)
                sum += fabs((double)a[row * j->lda + k] * b[j->transposed ? column * j->ldb + k : k * j->ldb + column]);
            largest = j->alpha != 0 ? sum : 0;
            sum = (j->alpha != 0 ? fabs(j->alpha) * sum : 0) + fabs((double)j->beta * c[row * j->ldc + column]);
            largest = fmax(largest, sum);
            /* Where partial sums may overflow, the result depends on their order. */
            error[row * j->ldc + column] = isfinite(largest) && largest > FLT_MAX
                                               ? NAN
                                               : (double)(j->K + 4) * FLT_EPSILON * sum + (double)(j->K + 2) * 0x1p-149;
        }
}

static void declare(const struct job * j, enum check_fill fill, bool benchmark)
{
    const size_t rowsB = j->transposed ? j->N : j->K, columnsB = j->transposed ? j->K : j->N;
    if (!check_case(function_of(j), "M=%zu N=%zu K=%zu lda=%zu ldb=%zu ldc=%zu alpha=%g beta=%g %s", j->M, j->N, j->K,
                    j->lda, j->ldb, j->ldc, (double)j->alpha, (double)j->beta, check_fill_name(fill)))
        return;
    *(float *)check_in("alpha", CHECK_32F, 1, CHECK_ZERO) = j->alpha;
    float * a = check_in("A", CHECK_32F, size_of(j->M, j->K, j->lda), fill);
    float * b = check_in("B", CHECK_32F, size_of(rowsB, columnsB, j->ldb), fill);
    *(float *)check_in("beta", CHECK_32F, 1, CHECK_ZERO) = j->beta;
    float * c = check_inout("C", CHECK_32F, size_of(j->M, j->N, j->ldc), j->beta == 0 ? CHECK_NAN : fill);
    if (benchmark)
        return;
    fill_gaps(a, j->M, j->K, j->lda);
    fill_gaps(b, rowsB, columnsB, j->ldb);
    bound(j, a, b, c, check_bound());
}

static void check_at(bool transposed, size_t M, size_t N, size_t K, bool gaps, enum check_fill fill)
{
    static const float factors[] = {1, 0, -0.5f, 1, 3};
    struct job j = {.transposed = transposed, .M = M, .N = N, .K = K, .lda = K, .ldb = transposed ? K : N, .ldc = N};
    if (gaps) {
        j.lda += check_random(0, 9);
        j.ldb += check_random(0, 9);
        j.ldc += check_random(0, 9);
    }
    j.alpha = factors[check_random(0, 4)];
    j.beta = factors[check_random(0, 4)];
    if (j.beta == 0 && fill >= CHECK_INF)
        j.beta = 1; /* 0 overwrites */
    declare(&j, fill, false);
    check_run(call, &j);
}

static void refusals(bool transposed)
{
    struct job good = {.transposed = transposed, .M = 3, .N = 4, .K = 5, .lda = 5, .ldb = 5, .ldc = 4}, bad = good;
    good.alpha = good.beta = 1;
    declare(&good, CHECK_RANDOM, false);
    check_refused_null(call, &good);
    check_refused_overlap(false, call, &good);
#define REFUSED(field, value)                                                                                               \
    declare(&good, CHECK_RANDOM, false);                                                                                    \
    bad = good;                                                                                                             \
    bad.field = value;                                                                                                      \
    check_refused(CHECK_VALUE, strncmp(#field, "ld", 2) == 0 ? #field : "", call, &bad)
    REFUSED(lda, 4);
    REFUSED(ldb, 3);
    REFUSED(ldc, 3);
    REFUSED(M, SIZE_MAX / 8);
    REFUSED(ldb, SIZE_MAX / 8);
    REFUSED(ldc, SIZE_MAX / 8);
#undef REFUSED
    bad = good;
    bad.M = 0;
    check_empty(call, &bad);
    bad = good;
    bad.N = 0;
    check_empty(call, &bad);
}

static void bench(void)
{
    static const size_t shapes[][3] = {{1024, 1024, 1024}, {49, 512, 4608}, {64, 64, 64}, {16, 16, 16}, {8, 8, 8},
                                       {1, 1000, 1280}, {4, 1000, 1280}, {32, 1000, 1280}, {512, 512, 512}, {3136, 64, 64},
                                       {384, 384, 384}, {100, 100, 100}, {196, 256, 2304}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int transposed = 0; transposed < 2; ++transposed) {
            struct job j = {.transposed = transposed, .M = shapes[i][0], .N = shapes[i][1], .K = shapes[i][2], .alpha = 1};
            j.lda = j.K;
            j.ldb = transposed ? j.K : j.N;
            j.ldc = j.N;
            declare(&j, CHECK_RANDOM, true);
            check_bench(call, &j, 2.0 * (double)j.M * (double)j.N * (double)j.K, 0);
        }
}

CHECK_FAMILY(gemm)
{
    for (int transposed = 0; transposed < 2; ++transposed) {
        for (size_t M = 1; M <= 18; ++M)
            for (size_t N = 1; N <= 67; ++N)
                check_at(transposed, M, N, check_random(0, 40), M % 2, (enum check_fill)check_random(0, CHECK_FILLS - 1));
        for (size_t K = 0; K <= 67; ++K)
            check_at(transposed, check_random(1, 30), check_random(1, 70), K, true, CHECK_RANDOM);
        for (size_t i = 0, n = check_count(200); i < n; ++i)
            check_at(transposed, check_random(1, 90), check_random(1, 150), check_random(1, 120), i % 2, CHECK_RANDOM);
        check_at(transposed, 30, 1100, 40, true, CHECK_RANDOM); /* stripes */
        check_at(transposed, 15, 40, 1500, false, CHECK_RANDOM); /* steps of K */
        check_at(transposed, 700, 140, 512, false, CHECK_RANDOM); /* blocks, and a copy of A */
        refusals(transposed);
    }
    if (check_timed())
        bench();
}
