/*
 * Measures exp, log and similar functions on every instruction set of this machine, over all floats: the largest error in
 * units in the last place, against the C library in double at the same argument, and where it occurs. Prints the table of
 * docs/accuracy.md.
 *
 *     accuracy [step]      every step-th float; 1, all of them, is the default and takes some minutes
 *
 * The blocks of floats are divided among as many processes as there are cores: the choice of an instruction set applies to a
 * whole process. The exact values of a block are computed once for all instruction sets.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "ops/elementwise/pointwise.h"
#include "runtime/numeric.h"
#include "simdnet.h"
#include "ulps.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 1 << 14, LEVELS = 16, PROCESSES = 256 };

static const float alpha = 0.3f, six = 1.0f / 6;

static double rsqrt(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double softplus(double x) { return isnan(x) ? x : fmax(x, 0) + log1p(exp(-fabs(x))); }
static double elu(double x) { return x < 0 ? expm1(x) : x; }
static double elu_of_any(double x) { return x < 0 ? (double)alpha * expm1(x) : x; }
static double hswish(double x) { return isnan(x) ? x : x <= -3 ? 0 * x : (fmin(x, 3) + 3) * (double)six * x; }

static double swish(double x) { return x * sigmoid(x); }
static double mish(double x) { return x * tanh(softplus(x)); }
static double gelu(double x) { return x * erfc(x * -0.70710678118654752) / 2; }

static const struct function
{
    const char * name;
    enum sn_pointwise function;
    float params[2];
    double (*exact)(double x);
} functions[] = {
    {"`UnaryOperation32fLayerForward`, Exp", SN_EXP, {0}, exp},
    {"`UnaryOperation32fLayerForward`, Log", SN_LOG, {0}, log},
    {"`UnaryOperation32fLayerForward`, Sqrt", SN_SQRT, {0}, sqrt},
    {"`UnaryOperation32fLayerForward`, Rsqrt", SN_RSQRT, {0}, rsqrt},
    {"`UnaryOperation32fLayerForward`, Tanh; `Tanh32f`, slope 1", SN_TANH, {1}, tanh},
    {"`Sigmoid32f`, slope 1", SN_SIGMOID, {1}, sigmoid},
    {"`Softplus32f`, beta 1", SN_SOFTPLUS, {1, FLT_MAX}, softplus},
    {"`Elu32f`, alpha 1", SN_ELU, {1}, elu},
    {"`Elu32f`, alpha 0.3", SN_ELU, {0.3f}, elu_of_any},
    {"`Hswish32f`, shift 3, scale 1/6", SN_HSWISH, {3, 1.0f / 6}, hswish},
    {"`UnaryOperation32fLayerForward`, Erf", SN_ERF, {0}, erf},
    {"`UnaryOperation32fLayerForward`, Sin", SN_SIN, {0}, sin},
    {"`UnaryOperation32fLayerForward`, Cos", SN_COS, {0}, cos},
    {"`Swish32f`, slope 1", SN_SWISH, {1}, swish},
    {"`Mish32f`", SN_MISH, {FLT_MAX}, mish},
    {"`Pixelwise`, Acos", SN_ACOS, {0}, acos},
    {"`Pixelwise`, Acosh", SN_ACOSH, {0}, acosh},
    {"`Pixelwise`, Asin", SN_ASIN, {0}, asin},
    {"`Pixelwise`, Asinh", SN_ASINH, {0}, asinh},
    {"`Pixelwise`, Atan", SN_ATAN, {0}, atan},
    {"`Pixelwise`, Atanh", SN_ATANH, {0}, atanh},
    {"`Pixelwise`, Cosh", SN_COSH, {0}, cosh},
    {"`Pixelwise`, Sinh", SN_SINH, {0}, sinh},
    {"`Pixelwise`, Tan", SN_TAN, {0}, tan},
    {"`Gelu32f`", SN_GELU, {0}, gelu},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* The results of a process: [level], and whether a level's bits differed from those of the previous level. */
struct found
{
    struct
    {
        double error;
        float at;
    } worst[FUNCTIONS][LEVELS];
    bool differs[LEVELS];
};

static const char * level[LEVELS];
static size_t levels;

/* The reciprocal of a unit in the last place of a float of this size; ilogb and ldexp would dominate the time. */
static double per_unit(double exact)
{
    uint64_t bits;
    memcpy(&bits, &exact, sizeof(bits));
    const uint64_t exponent = bits >> 52 & 0x7FF, smallest = 1023 - 126, largest = 1023 + 127;
    bits = (2 * 1023 + 23 - (exponent < smallest ? smallest : exponent > largest ? largest : exponent)) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof(scale));
    return scale;
}

static void measure(const struct function * f, size_t index, const float * src, struct found * found)
{
    static float got[2][BLOCK];
    static double exact[BLOCK], scale[BLOCK];
    for (size_t i = 0; i < BLOCK; ++i) {
        exact[i] = f->exact((double)src[i]);
        scale[i] = per_unit(exact[i]);
    }
    for (size_t k = 0; k < levels; ++k) {
        SimdnetSetMaxIsa(level[k]);
        sn_pointwise_32f(f->function, src, BLOCK, f->params, got[k % 2]);
        for (size_t i = 0; i < BLOCK; ++i) {
            const float y = got[k % 2][i];
            if (fabs((double)y - exact[i]) * scale[i] <= found->worst[index][k].error) /* false for infinities and NaN */
                continue;
            const double error = ulps(y, exact[i]);
            if (error > found->worst[index][k].error) {
                found->worst[index][k].error = error;
                found->worst[index][k].at = src[i];
            }
        }
        for (size_t i = 0; k > 0 && i < BLOCK && !found->differs[k]; ++i)
            found->differs[k] = got[0][i] != got[1][i] && !(isnan(got[0][i]) && isnan(got[1][i]));
    }
}

/* Every process-th block of those that cover all floats in steps. */
static void measure_blocks(size_t process, size_t processes, uint64_t step, struct found * found)
{
    static float src[BLOCK];
    for (uint64_t first = process * BLOCK * step; first <= 0xFFFFFFFF; first += processes * BLOCK * step) {
        for (size_t i = 0; i < BLOCK; ++i) {
            const uint64_t bits = first + i * step;
            src[i] = sn_from_bits_32f((uint32_t)(bits < 0xFFFFFFFF ? bits : 0xFFFFFFFF));
        }
        for (size_t i = 0; i < FUNCTIONS; ++i)
            measure(&functions[i], i, src, found);
    }
}

static void merge(struct found * sum, const struct found * found)
{
    for (size_t i = 0; i < FUNCTIONS; ++i)
        for (size_t k = 0; k < levels; ++k)
            if (found->worst[i][k].error > sum->worst[i][k].error)
                sum->worst[i][k] = found->worst[i][k];
    for (size_t k = 0; k < levels; ++k)
        sum->differs[k] |= found->differs[k];
}

static void print_processor(void)
{
    char line[512], name[256] = "";
    FILE * file = fopen("/proc/cpuinfo", "r");
    while (file && !name[0] && fgets(line, sizeof(line), file))
        sscanf(line, "model name : %255[^\n]", name);
    if (file)
        fclose(file);
    printf("%s", name[0] ? name : "a processor that does not tell its name");
}

/* Levels with the same bits share a column. */
static void print(const struct found * sum, uint64_t step)
{
    printf("# Accuracy\n\n"
           "The largest error in units in the last place, and an argument where it is, against the exact value (the C\n"
           "library's in double) at the same argument: ");
    printf(step == 1 ? "over all floats" : "over every %llu-th float", (unsigned long long)step);
    printf(", denormals, infinities and NaN included.\nMeasured on ");
    print_processor();
    printf(" by `make accuracy`, which writes this file.\n"
           "Instruction sets that share a column give the same bits.\n\n| Function |");
    for (size_t k = 0; k < levels; ++k)
        printf(k == 0 ? " %s" : sum->differs[k] ? " | %s" : ", %s", level[k]);
    printf(" |\n|---|");
    for (size_t k = 0; k < levels; ++k)
        printf("%s", k == 0 || sum->differs[k] ? "---|" : "");
    for (size_t i = 0; i < FUNCTIONS; ++i) {
        printf("\n| %s |", functions[i].name);
        for (size_t k = 0; k < levels; ++k)
            if (k == 0 || sum->differs[k])
                printf(" %.3f at %a |", sum->worst[i][k].error, (double)sum->worst[i][k].at);
    }
    printf("\n");
}

int main(int argc, char ** argv)
{
    const uint64_t step = argc > 1 && atoi(argv[1]) > 1 ? (uint64_t)atoi(argv[1]) : 1;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t processes = cores < 1 ? 1 : cores > PROCESSES ? PROCESSES : (size_t)cores;
    while (levels < LEVELS && SimdnetIsaLevel(levels)) {
        level[levels] = SimdnetIsaLevel(levels);
        ++levels;
    }
    struct found * found = mmap(NULL, processes * sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < processes; ++i)
        if (fork() == 0) {
            measure_blocks(i, processes, step, &found[i]);
            _exit(0);
        }
    int status = 0, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    for (size_t i = 1; i < processes; ++i)
        merge(&found[0], &found[i]);
    if (!failed)
        print(&found[0], step);
    return failed != 0;
}
