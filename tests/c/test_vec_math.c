/*
 * Tests the functions of kernels/vec_math.h against the C library in double: errors must be within the documented bounds.
 *
 * Compiled once per instruction set: test_vec_math_<isa> [step [function]]. Arguments are every step-th float, from a random
 * start, and sixteen times as many where the function is interesting; step 1 tests all floats and takes a minute per
 * function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/numeric.h"
#include "kernels/vec_erf.h"
#include "kernels/vec_math.h"
#include "emulated.h"
#include "machine_has_isa.h"
#include "ulps.h"

#define ISA SN_STRING(SN_ISA)

static int failed;

static v32f pow_075_32f(v32f x) { return v_pow_32f(x, v_set_32f(-0.75f)); }
static v32f pow_1_32f(v32f x) { return v_pow_32f(x, v_set_32f(1)); }
static v32f pow_10_32f(v32f x) { return v_pow_32f(x, v_set_32f(10)); }

static double pow_075(double x) { return x < 0 ? NAN : pow(fabs(x), -0.75); }
static double pow_1(double x) { return x < 0 ? NAN : fabs(x); }
static double pow_10(double x) { return x < 0 ? NAN : pow(x, 10); }

static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double softplus(double x) { return isnan(x) ? x : fmax(x, 0) + log1p(exp(-fabs(x))); }

/* An alpha that maximises the effect of the rounding of expm1. */
static v32f elu_32f(v32f x) { return v_elu_32f(x, v_set_32f(1.9999999f)); }
static double elu(double x) { return x < 0 ? (double)1.9999999f * expm1(x) : x; }

/* Products of x and a function: of -Inf they are NaN, as the formulas are. */
static v32f swish_32f(v32f x) { return v_swish_32f(x, v_set_32f(1)); }
static double swish(double x) { return x * sigmoid(x); }

/* Of huge x and a tiny negative slope: the sigmoid is denormal, or 0, where its product with x is a normal float. */
#define HUGE_FACTOR 0x1p120f
static v32f huge_swish_32f(v32f x) { return v_swish_32f(v_mul_32f(x, v_set_32f(HUGE_FACTOR)), v_set_32f(-1 / HUGE_FACTOR)); }
static double huge_swish(double x)
{
    return isnan(x) || x >= 256 ? NAN : x <= -256 ? -INFINITY : x * (double)HUGE_FACTOR * sigmoid(-x);
}

static v32f mish_32f(v32f x) { return v_mish_32f(x, v_set_32f(FLT_MAX)); }
static double mish(double x) { return x * tanh(softplus(x)); }

static double gelu(double x) { return x * erfc(x * -0.70710678118654752) / 2; }

/* A function is interesting where |x| is between from and to: it is neither constant nor the identity there. */
static const struct function
{
    const char * name;
    v32f (*of)(v32f x);
    double (*exact)(double x);
    float from, to;
    double bound;
} functions[] = {
    {"exp", v_exp_32f, exp, 0x1p-26f, 110, 2},
    {"log", v_log_32f, log, 0x1p-149f, INFINITY, 2},
    {"expm1", v_expm1_32f, expm1, 0x1p-27f, 110, 2},
    {"elu", elu_32f, elu, 0x1p-27f, 30, 2},
    {"tanh", v_tanh_32f, tanh, 0x1p-14f, 10, 2},
    {"sigmoid", v_sigmoid_32f, sigmoid, 0x1p-26f, 110, 2},
    {"softplus", v_softplus_32f, softplus, 0x1p-26f, 110, 1.5},
    {"swish", swish_32f, swish, 0x1p-26f, 110, 3},
    {"swish of huge x", huge_swish_32f, huge_swish, 0x1p-26f, 200, 3},
    {"mish", mish_32f, mish, 0x1p-26f, 110, 5},
    {"gelu", v_gelu_32f, gelu, 0x1p-26f, 15, 4},
    {"erf", v_erf_32f, erf, 0x1p-26f, 4.5f, 2},
    {"sin", v_sin_32f, sin, 0x1p-13f, INFINITY, 2},
    {"cos", v_cos_32f, cos, 0x1p-13f, INFINITY, 2},
    {"pow(x, -0.75)", pow_075_32f, pow_075, 0x1p-149f, INFINITY, 3},
    {"pow(x, 1)", pow_1_32f, pow_1, 0x1p-149f, INFINITY, 3},
    {"pow(x, 10)", pow_10_32f, pow_10, 0x1p-15f, 0x1p13f, 12},
};

struct worst
{
    double error;
    float at;
};

static void measure(const struct function * f, const float * x, struct worst * worst)
{
    float y[V32F_N];
    v_store_32f(y, f->of(v_load_32f(x)));
    for (size_t i = 0; i < V32F_N; ++i) {
        const double error = ulps(y[i], f->exact((double)x[i]));
        if (error > worst->error) {
            worst->error = error;
            worst->at = x[i];
        }
    }
}

/* Every step-th float whose bits are in first .. last. */
static void measure_range(const struct function * f, uint32_t first, uint32_t last, uint32_t step, struct worst * worst)
{
    for (uint64_t bits = first; bits <= last; bits += (uint64_t)step * V32F_N) {
        float x[V32F_N];
        for (size_t i = 0; i < V32F_N; ++i) {
            const uint64_t next = bits + i * step;
            x[i] = sn_from_bits_32f((uint32_t)(next < last ? next : last));
        }
        measure(f, x, worst);
    }
}

/* Zeros must have the sign that the C library gives them. */
static void measure_special(const struct function * f, struct worst * worst)
{
    static const float special[] = {
        0, 0x1p-149f, 0x1.FFFFFCp-127f, 0x1p-126f, 1, 2, 88.7228394f, 0x1p64f, FLT_MAX, INFINITY, NAN,
        0x1.F9CBE2p+7f, 0x1.F9CBE2p+11f, /* next to zeros of cos and sin: the reduction cancels most */
    };
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); ++i)
        for (int sign = 0; sign < 2; ++sign) {
            const float at = sign ? -special[i] : special[i];
            float x[V32F_N], y[V32F_N];
            for (size_t lane = 0; lane < V32F_N; ++lane)
                x[lane] = at;
            measure(f, x, worst);
            v_store_32f(y, f->of(v_load_32f(x)));
            if (y[0] == 0 && f->exact((double)at) == 0 && !signbit(y[0]) != !signbit(f->exact((double)at))) {
                printf("FAIL %s(%g) on %s: the sign of %g\n", f->name, (double)at, ISA, (double)y[0]);
                ++failed;
            }
        }
}

static void check(const struct function * f, uint32_t step)
{
    struct worst worst = {0, 0};
    const uint32_t first = (uint32_t)time(NULL) % step, sign = 0x80000000, dense = step / 16 + 1;
    measure_special(f, &worst);
    measure_range(f, first, 0xFFFFFFFF, step, &worst);
    if (step > 1) {
        const uint32_t from = sn_bits_32f(f->from) + first % dense, to = sn_bits_32f(f->to);
        measure_range(f, from, to, dense, &worst);
        measure_range(f, sign | from, sign | to, dense, &worst);
    }
    const bool good = worst.error <= f->bound;
    printf("%s%s on %s: %.3f units at %a\n", good ? "" : "FAIL ", f->name, ISA, worst.error, (double)worst.at);
    failed += !good;
}

int main(int argc, char ** argv)
{
    if (!machine_has_isa()) {
        printf("skipped: this machine lacks %s\n", ISA);
        return 0;
    }
    const uint32_t usual = emulated() ? 49999 : 4999; /* an emulator would take half a minute */
    const uint32_t step = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : usual;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
        if (argc <= 2 || strcmp(argv[2], functions[i].name) == 0)
            check(&functions[i], step ? step : 1);
    return failed != 0;
}
