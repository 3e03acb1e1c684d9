/*
 * Holds the functions of kernels/vec_math.h to the errors they promise, against the C library in double.
 *
 * Compiled once per instruction set: test_vec_math_<isa> [step]. Arguments are every step-th float of the range where the
 * function is neither constant nor the identity, from a random start; step 1 is all of them and takes minutes.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/numeric.h"
#include "kernels/vec_math.h"

#define ISA SN_STRING(SN_ISA)

static int failed;

/* Units in the last place of a float of the size of x, whose exact value is a double. */
static double ulps(float got, double exact)
{
    int exponent;
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (fabs(exact) >= 0x1.FFFFFFp127) /* rounds to infinity */
        return (double)got == copysign(INFINITY, exact) ? 0 : fabs(exact) < 0x1.000002p128 && got == FLT_MAX ? 1 : INFINITY;
    frexp(fmax(fabs(exact), 0x1p-126), &exponent);
    return isinf(got) ? (fabs(exact) >= 0x1.FFFFFCp127 ? 1 : INFINITY) : fabs((double)got - exact) / ldexp(1, exponent - 24);
}

static void check_exp(float from, float to, uint32_t step)
{
    double worst = 0;
    float at = 0;
    const uint32_t first = sn_bits_32f(from), last = sn_bits_32f(to);
    for (uint32_t bits = first; bits <= last && bits >= first; bits += step * V32F_N) {
        float x[V32F_N], y[V32F_N];
        for (uint32_t i = 0; i < V32F_N; ++i)
            x[i] = sn_from_bits_32f(bits + i * step);
        v_store_32f(y, v_exp_32f(v_load_32f(x)));
        for (size_t i = 0; i < V32F_N; ++i) {
            const double error = ulps(y[i], exp((double)x[i]));
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
    }
    printf("exp on %s, %g to %g: %.3f units at %a\n", ISA, (double)from, (double)to, worst, (double)at);
    failed += !(worst <= 2);
}

static void check_exp_of(float x, float want)
{
    float y[V32F_N];
    v_store_32f(y, v_exp_32f(v_set_32f(x)));
    for (size_t i = 0; i < V32F_N; ++i)
        if (!(y[i] == want || (isnan(y[i]) && isnan(want)))) {
            printf("FAIL exp(%g) on %s is %g\n", (double)x, ISA, (double)y[i]);
            ++failed;
        }
}

static bool machine_has_isa(void)
{
#if defined(SN_ISA_avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#elif defined(SN_ISA_avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(SN_ISA_sse41)
    return __builtin_cpu_supports("sse4.1");
#else
    return true;
#endif
}

int main(int argc, char ** argv)
{
    if (!machine_has_isa()) {
        printf("skipped: this machine lacks %s\n", ISA);
        return 0;
    }
    const uint32_t step = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 997;
    const float start = 1 + (float)(time(NULL) % 1000) * 0x1p-20f;
    check_exp(0x1p-26f * start, 90, step);
    check_exp(-0x1p-26f * start, -110, step);
    check_exp(-80, -110, step / 8 + 1); /* denormal results among them */
    check_exp(80, 90, step / 8 + 1);
    check_exp_of(0.0f, 1);
    check_exp_of(-0.0f, 1);
    check_exp_of(0x1p-149f, 1);
    check_exp_of(INFINITY, INFINITY);
    check_exp_of(FLT_MAX, INFINITY);
    check_exp_of(-INFINITY, 0);
    check_exp_of(-FLT_MAX, 0);
    check_exp_of(NAN, NAN);
    check_exp_of(-NAN, NAN);
    return failed != 0;
}
