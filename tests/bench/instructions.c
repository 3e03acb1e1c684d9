/*
 * Calls a function of bytes or of floats some times, to count the instructions of a call on a processor that is emulated, whose
 * time says nothing:
 *
 *     make CC=aarch64-linux-gnu-gcc
 *     BUILD=build/aarch64-aarch64-linux-gnu-gcc
 *     aarch64-linux-gnu-gcc -O2 -static -Iinclude tests/bench/instructions.c $BUILD/libsimdnet.a -lm -lpthread -o count
 *     export SIMDNET_MAX_ISA=neon
 *     for n in 1 2; do qemu-aarch64 -singlestep -d nochain,exec -D /dev/stdout ./count table8 $n | grep -c ^Trace; done
 *
 * The difference of both numbers is a call. Without arguments, it lists the functions.
 */
#include "simdnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 16384, ROWS = 64, CHANNELS = 64, SIDE = 14, ODD = 3 };

static float * floats, * results, ones[1 << 16], stats[4][CHANNELS];
static uint8_t * bytes, * small, table[256];

static void table8(void)
{
    SimdnetTable8Parameters p = {.size = sizeof(p), .table = table, .src = bytes, .dst = small, .channels = BYTES, .pixels = 1};
    SimdnetTable8(&p);
}

static SimdnetQuantizeLinearParameters linear(const void * src, void * dst)
{
    static const float scale = 0.5f;
    return (SimdnetQuantizeLinearParameters){.size = sizeof(SimdnetQuantizeLinearParameters), .dataType = SimdTensorData8u,
        .outer = 1, .channels = 1, .inner = BYTES, .scale = &scale, .src = src, .dst = dst};
}

static void quantize(void)
{
    SimdnetQuantizeLinearParameters p = linear(floats, small);
    SimdnetQuantizeLinear(&p);
}

static void dequantize(void)
{
    SimdnetQuantizeLinearParameters p = linear(bytes, results);
    SimdnetDequantizeLinear(&p);
}

static void dynamic(void)
{
    float scale;
    uint8_t zero;
    SimdnetDynamicQuantizeParameters p = {
        .size = sizeof(p), .elements = BYTES, .src = floats, .dst = small, .scale = &scale, .zero = &zero};
    SimdnetDynamicQuantize(&p);
}

static void binary(SimdnetBinaryOperation operation)
{
    SimdnetQuantizedBinaryParameters p = {.size = sizeof(p), .operation = operation, .dataType = SimdTensorData8u, .count = 1,
        .shape = {BYTES}, .aShape = {BYTES}, .bShape = {BYTES}, .aScale = 0.5f, .bScale = 0.3f, .dstScale = 0.7f, .aZero = 3,
        .bZero = 9, .dstZero = 100, .a = bytes, .b = bytes + 1, .dst = small};
    SimdnetQuantizedBinary(&p);
}

static void add(void)
{
    binary(SimdnetBinaryAdd);
}

static void multiply(void)
{
    binary(SimdnetBinaryMultiply);
}

static void nbits(SimdBool quantised)
{
    SimdnetGemmNBitsParameters p = {.size = sizeof(p), .M = 1, .N = ROWS, .K = 512, .bits = 4, .block = 32, .src = floats,
        .weight = bytes, .scale = ones, .dst = results, .quantised = quantised};
    SimdnetGemmNBits(&p);
}

static void gemm_nbits(void)
{
    nbits(SimdFalse);
}

static void gemm_nbits_quantised(void)
{
    nbits(SimdTrue);
}

static SimdConvolutionParameters convolution(size_t kernel, size_t group, SimdTensorDataType type)
{
    const size_t pad = kernel / 2;
    return (SimdConvolutionParameters){.srcC = CHANNELS, .srcH = SIDE, .srcW = SIDE, .srcT = type,
        .srcF = SimdTensorFormatNhwc, .dstC = CHANNELS, .dstH = SIDE, .dstW = SIDE, .dstT = type,
        .dstF = SimdTensorFormatNhwc, .kernelY = kernel, .kernelX = kernel, .dilationY = 1, .dilationX = 1, .strideY = 1,
        .strideX = 1, .padY = pad, .padX = pad, .padH = pad, .padW = pad, .group = group};
}

static void * context;

static void prepare_32f(size_t kernel, size_t group)
{
    SimdConvolutionParameters p = convolution(kernel, group, SimdTensorData32f);
    context = SimdSynetConvolution32fInit(1, &p, NULL);
    SimdSynetConvolution32fSetParams(context, ones, NULL, NULL, NULL);
}

static void prepare_8i(size_t kernel, size_t group)
{
    SimdConvolutionParameters p = convolution(kernel, group, SimdTensorData8u);
    const float * limits[] = {stats[0], stats[1], stats[2], stats[3]};
    context = SimdSynetConvolution8iInit(1, &p);
    SimdSynetConvolution8iSetParams(context, ones, NULL, NULL, limits);
}

static void forward_32f(void)
{
    SimdSynetConvolution32fForward(context, floats, NULL, results);
}

static void forward_8i(void)
{
    SimdSynetConvolution8iForward(context, bytes, NULL, small);
}

static const struct {
    const char * name;
    void (*call)(void);
    void (*prepare)(size_t kernel, size_t group);
    size_t kernel, group;
} cases[] = {{"table8", table8, NULL, 0, 0}, {"quantize_linear", quantize, NULL, 0, 0},
             {"dequantize_linear", dequantize, NULL, 0, 0}, {"dynamic_quantize", dynamic, NULL, 0, 0}, {"add", add, NULL, 0, 0},
             {"multiply", multiply, NULL, 0, 0}, {"gemm_nbits", gemm_nbits, NULL, 0, 0},
             {"gemm_nbits_quantised", gemm_nbits_quantised, NULL, 0, 0}, {"1x1_floats", forward_32f, prepare_32f, 1, 1},
             {"1x1_bytes", forward_8i, prepare_8i, 1, 1}, {"3x3_floats", forward_32f, prepare_32f, 3, 1},
             {"3x3_bytes", forward_8i, prepare_8i, 3, 1}, {"depthwise_floats", forward_32f, prepare_32f, 3, CHANNELS},
             {"depthwise_bytes", forward_8i, prepare_8i, 3, CHANNELS}};

int main(int argc, char ** argv)
{
    floats = calloc(BYTES + ODD, sizeof(float));
    results = calloc(BYTES + ODD, sizeof(float));
    bytes = calloc(BYTES + ODD, 1);
    small = calloc(BYTES + ODD, 1);
    if (!floats || !results || !bytes || !small)
        return 1;
    for (size_t i = 0; i < BYTES + ODD; ++i)
        bytes[i] = (uint8_t)(i * 7), floats[i] = (float)(i % 256) - 100;
    for (size_t i = 0; i < sizeof(ones) / sizeof(*ones); ++i)
        ones[i] = 1 + (float)(i % 5);
    for (size_t i = 0; i < CHANNELS; ++i)
        stats[1][i] = 255, stats[3][i] = 99999;
    for (size_t i = 0; i < 256; ++i)
        table[i] = (uint8_t)(255 - i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        if (argc < 3)
            puts(cases[i].name);
        if (argc < 3 || strcmp(argv[1], cases[i].name))
            continue;
        if (cases[i].prepare)
            cases[i].prepare(cases[i].kernel, cases[i].group);
        for (int n = atoi(argv[2]); n; --n)
            cases[i].call();
    }
    return 0;
}
