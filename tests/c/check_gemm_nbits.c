/* Products of floats and a matrix of 4 or 8 bits, within the rounding errors of the sums. */
#include "check.h"

#include <stddef.h>

struct nbits {
    size_t M, N, K, bits, block;
    bool zero, bias;
    SimdBool quantised;
};

static size_t blocks_of(const struct nbits * t) { return sn_ceil_div(t->K, t->block); }

/* Arrays in this order: src, weight, scale, dst, then those that are there. */
static void gemm_nbits(const void * job, void * context, void * const * a)
{
    (void)context;
    const struct nbits * t = job;
    SimdnetGemmNBits(&(SimdnetGemmNBitsParameters){.size = sizeof(SimdnetGemmNBitsParameters), .M = t->M, .N = t->N, .K = t->K,
        .bits = t->bits, .block = t->block, .src = a[0], .weight = a[1], .scale = a[2], .dst = a[3],
        .zero = t->zero ? a[4] : NULL, .bias = t->bias ? a[4 + t->zero] : NULL, .quantised = t->quantised});
}

static double number(const struct nbits * t, const uint8_t * row, size_t k)
{
    return t->bits == 8 ? row[k] : row[k / 2] >> k % 2 * 4 & 15;
}

/* Twice the error of a chain of float sums, of values that were rounded twice. */
static void set_bound(const struct nbits * t, double * bound, const sn_32f * src, const uint8_t * weight, const sn_32f * scale,
                      const uint8_t * zero, const sn_32f * bias)
{
    const size_t blocks = blocks_of(t), bytes = blocks * t->block * t->bits / 8, zeros = sn_ceil_div(blocks * t->bits, 8);
    for (size_t i = 0; i < t->M; ++i)
        for (size_t j = 0; j < t->N; ++j) {
            double size = bias ? fabs((double)bias[j]) : 0;
            for (size_t k = 0; k < t->K; ++k) {
                const size_t b = k / t->block;
                const double middle = zero ? number(t, zero + j * zeros, b) : (double)(1 << (t->bits - 1));
                size += fabs((double)src[i * t->K + k] * (number(t, weight + j * bytes, k) - middle) *
                             (double)scale[j * blocks + b]);
            }
            bound[i * t->N + j] = (double)(t->K + 4) * (size * FLT_EPSILON + FLT_MIN * FLT_EPSILON);
        }
}

/* Declares the arrays of a case; false if it is left out. */
static bool nbits_case(const struct nbits * t, enum check_fill fill, bool bounded)
{
    if (!check_case("SimdnetGemmNBits", "%zux%zux%zu %zu bits by %zu%s%s%s %s", t->M, t->N, t->K, t->bits, t->block,
                    t->zero ? " zero" : "", t->bias ? " bias" : "", t->quantised ? " quantised" : "", check_fill_name(fill)))
        return false;
    const size_t blocks = blocks_of(t), zeros = sn_ceil_div(blocks * t->bits, 8);
    const sn_32f * src = check_in("src", CHECK_32F, t->M * t->K, fill);
    const uint8_t * weight = check_in("weight", CHECK_8U, t->N * blocks * t->block * t->bits / 8, CHECK_RANDOM);
    const sn_32f * scale = check_in("scale", CHECK_32F, t->N * blocks, CHECK_RANDOM);
    check_out("dst", CHECK_32F, t->M * t->N);
    double * bound = bounded ? check_bound() : NULL;
    const uint8_t * zero = t->zero ? check_in("zero", CHECK_8U, t->N * zeros, CHECK_RANDOM) : NULL;
    const sn_32f * bias = t->bias ? check_in("bias", CHECK_32F, t->N, fill) : NULL;
    if (bounded)
        set_bound(t, bound, src, weight, scale, zero, bias);
    return true;
}

/* With floats, and with sources that are quantised. */
static void run(struct nbits t, enum check_fill fill)
{
    for (int i = 0; i < 2; ++i) {
        t.quantised = (SimdBool)i;
        if (nbits_case(&t, fill, true))
            check_run(gemm_nbits, &t);
    }
}

static void refusals(void)
{
    const struct nbits job = {3, 5, 40, 4, 16, true, true, SimdFalse}, empty = {0, 5, 40, 4, 16, false, false, SimdFalse};
    const struct nbits none = {5, 0, 40, 8, 32, false, false, SimdFalse};
    const struct nbits bits = {3, 5, 40, 5, 16, true, true, SimdFalse}, block = {3, 5, 40, 4, 24, true, true, SimdFalse};
    const struct nbits flag = {3, 5, 40, 4, 16, true, true, (SimdBool)2};
    const struct nbits small = {3, 5, 40, 4, 8, true, true, SimdFalse}, large = {3, SIZE_MAX / 8, 40, 4, 16, true, true, SimdFalse};
    const struct nbits wide = {SIZE_MAX / 64, 64, 1, 4, 16, true, true, SimdFalse};
    nbits_case(&job, CHECK_RANDOM, false);
    check_refused_overlap(false, gemm_nbits, &job);
    check_refused(CHECK_VALUE, "bits is 5", gemm_nbits, &bits);
    check_refused(CHECK_VALUE, "block is 24", gemm_nbits, &block);
    check_refused(CHECK_VALUE, "quantised is 2", gemm_nbits, &flag);
    check_refused(CHECK_VALUE, "block is 8", gemm_nbits, &small);
    check_refused(CHECK_VALUE, "N is", gemm_nbits, &large);
    check_refused(CHECK_VALUE, "and N is 64, too large", gemm_nbits, &wide);
    check_empty(gemm_nbits, &empty);
    check_empty(gemm_nbits, &none);
    const struct nbits least = {1, 2, 16, 8, 16, false, false, SimdFalse};
    nbits_case(&least, CHECK_RANDOM, false);
    check_refused_null(gemm_nbits, &least);
    SimdnetGemmNBits(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetGemmNBits", "NULL: %s", SimdnetLastError());
}

/* Programs that know no `quantised`: what lies behind the struct is not read. */
static void earlier_struct(void)
{
    static const uint8_t weight[8] = {0x98, 0x7A};
    static const float one = 1, src[16] = {0.3f, 2, -1, 0.7f};
    float usual = 0, earlier = 1;
    SimdnetGemmNBitsParameters p = {.size = sizeof(p), .M = 1, .N = 1, .K = 16, .bits = 4, .block = 16, .src = src,
        .weight = weight, .scale = &one, .dst = &usual};
    SimdnetGemmNBits(&p);
    p.size = offsetof(SimdnetGemmNBitsParameters, quantised);
    p.quantised = SimdTrue;
    p.dst = &earlier;
    SimdnetGemmNBits(&p);
    check_that(check_same(CHECK_32F, &usual, &earlier, 1), "SimdnetGemmNBits", "reads behind an earlier struct");
}

static void bench(void)
{
    static const struct nbits jobs[] = {{1, 4096, 4096, 4, 32, false, false, SimdFalse},
        {1, 4096, 4096, 4, 32, true, false, SimdFalse}, {1, 4096, 4096, 4, 128, false, false, SimdFalse},
        {1, 2048, 2048, 8, 32, false, false, SimdFalse}, {4, 4096, 4096, 4, 32, false, false, SimdFalse},
        {128, 2048, 2048, 4, 32, false, false, SimdFalse}, {1, 4096, 4096, 4, 32, false, false, SimdTrue},
        {1, 4096, 4096, 4, 128, true, false, SimdTrue}, {1, 2048, 2048, 8, 32, false, false, SimdTrue},
        {128, 2048, 2048, 4, 32, false, false, SimdTrue}, {128, 4096, 4096, 4, 32, false, false, SimdTrue},
        {128, 4096, 4096, 4, 32, false, false, SimdFalse}};
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i) {
        const struct nbits * t = &jobs[i];
        const double numbers = (double)t->N * (double)t->K;
        if (nbits_case(t, CHECK_RANDOM, false))
            check_bench(gemm_nbits, t, 2 * (double)t->M * numbers,
                        numbers * (double)t->bits / 8 + 4 * numbers / (double)t->block);
    }
}

CHECK_FAMILY(gemm_nbits)
{
    if (!check_selected("SimdnetGemmNBits"))
        return;
    for (size_t K = 0; K <= 300; K += K < 40 ? 1 : 7) /* all tails of words */
        run((struct nbits){1 + K % 2, 3, K, K % 3 ? 4 : 8, (size_t)16 << K % 6, K % 4 < 2, K % 5 == 0, SimdFalse}, CHECK_RANDOM);
    for (size_t i = 0, n = check_count(80); i < n; ++i) {
        const struct nbits t = {check_random_size(i % 4 ? 5 : 40), check_random_size(150), check_random_size(1200),
            i % 2 ? 4 : 8, (size_t)16 << check_random(0, 6), i % 3 == 0, i % 5 < 2, SimdFalse};
        run(t, (enum check_fill)(i % CHECK_INF));
        if (i % 8 == 0)
            run(t, i % 16 ? CHECK_INF : CHECK_NAN);
    }
    run((struct nbits){1, 300, 2048, 4, 32, true, true, SimdFalse}, CHECK_RANDOM); /* long enough for several threads */
    run((struct nbits){9, 129, 1024, 4, 1024, true, true, SimdFalse}, CHECK_RANDOM);
    run((struct nbits){1030, 20, 64, 4, 16, true, false, SimdFalse}, CHECK_RANDOM); /* more than are multiplied by a panel */
    run((struct nbits){70, 200, 1030, 8, 2048, false, true, SimdFalse}, CHECK_RANDOM);
    for (size_t i = 0; i < 12; ++i) /* rows and columns that fill panels, and some beside them */
        run((struct nbits){6 + 7 * i, 32 + 11 * i, 100 + 37 * i, i % 2 ? 4 : 8, (size_t)16 << i % 4, i % 3 > 0, i % 5 < 2,
            SimdFalse},
            CHECK_RANDOM);
    refusals();
    earlier_struct();
    if (check_timed())
        bench();
}
