/*
 * simdnet: functions for neural-network inference on CPUs.
 *
 * C and C++ programs include this header, the Python package reads the declarations from it, and a test compares it with the
 * symbols that the library exports. (simdnet_simd.h includes it, for programs that were written for the Simd Library.)
 * Functions named Simd* have the names, arguments and meaning that the documentation of the Simd Library gives them (Synet
 * functions); functions named Simdnet*, at the end, are extensions.
 *
 * Unless the comment of a function states otherwise, the following holds for all of them:
 *
 *   Memory       Only the documented elements are read and only the documented elements are written. Arrays are dense and
 *                row-major and need no padding. Arrays of data, single numbers and buffers may start at any byte address;
 *                arrays of pointers, arrays of sizes, and structs must have the alignment of their type. The library keeps
 *                none of the caller's pointers after a function returns.
 *   Overlap      An array that is written must not overlap another array of the call, or the call is refused: neither in
 *                part nor, unless the function works "in place" or "dst may be src", as a whole. Adjacent arrays do not
 *                overlap, nor does an array between the rows or planes of another one. Arrays that are only read may
 *                overlap each other. Single numbers may be anywhere: they are read before anything is written.
 *   Errors       An invalid argument (NULL, an unknown format, an impossible size, a stride of 0 ...) is refused before any
 *                element is written: Init functions return NULL, functions that return a number return 0, and the others
 *                leave dst unchanged. SimdnetLastError() then names the argument, its value and what was expected. No
 *                function aborts the process, and none prints anything unless SIMDNET_VERBOSE is set.
 *                A released context or a dangling pointer cannot be detected.
 *   Empty        An output of zero elements is valid: the function does nothing, and pointers may be NULL.
 *   Threads      All functions are thread-safe. Forward functions may run on the same context in many threads at once.
 *   Stack        A call needs less than 64 KB of stack (80 KB if the library was compiled by clang).
 *   Numbers      The same library, instruction set and arguments give bit-identical results on each run, for any number of
 *                threads, position in the batch and alignment. NaN propagates unless stated otherwise. The caller's
 *                floating-point environment is not changed; it must be set to round to nearest.
 *   Batches      Functions without a batch argument process one image: call them once per image. In NHWC, functions that
 *                process every pixel in the same way (AddBias ...) accept batch * height * width as their spatial size.
 *
 * Layouts of a tensor of C channels and S = H * W spatial positions; (c, s) is at
 *
 *   NCHW   c * S + s             NHWC   s * C + c             NCHWxc, x = 4, 8 or 16   ((c / x) * S + s) * x + c % x
 *
 * NCHWxc rounds the number of channels up to a multiple of x. In a filter of O outputs, I inputs and K = kernelY * kernelX
 * taps, (o, i, k) is at
 *
 *   Oiyx   (o * I + i) * K + k   Yxio   (k * I + i) * O + o
 *   Oyxixo, x = 4, 8 or 16   (((o / x) * K + k) * I + i) * x + o % x
 *
 * Oyxixo rounds the number of outputs up to a multiple of x.
 *
 * Instruction sets, oldest first: base, sse41, avx2, avxvnni, avx512, avx512vnni, avx512bf16, amx on x86-64; base, neon,
 * neondotprod on aarch64. The default is the last one in this order that the machine supports, except avx512bf16 on
 * processors that compute slower with it (those of Intel that were measured; the others but Cooper Lake are taken to be
 * alike). Linux gives AMX to processes that ask for it: the first call of the library does, on a processor that has it,
 * and amx is missing if Linux refuses. After it, stacks for signals (sigaltstack) must have AT_MINSIGSTKSZ bytes, about
 * 11 KB. If the environment variable SIMDNET_MAX_ISA=<name>, read once, or SimdnetSetMaxIsa() names another, the last
 * one up to <name> that the machine supports is used. An unknown name in the variable is ignored, with one line on
 * stderr. A library that was built for some instruction sets only does not know the names of the others.
 */
#ifndef SIMDNET_H
#define SIMDNET_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; SimdVersion() and SimdnetVersionNumber() return that of the library. */
#define SIMDNET_VERSION "0.2.0"
#define SIMDNET_VERSION_MAJOR 0
#define SIMDNET_VERSION_MINOR 2
#define SIMDNET_VERSION_PATCH 0
/* For comparisons, also in #if: 20304 is version 2.3.4. */
#define SIMDNET_VERSION_NUMBER (SIMDNET_VERSION_MAJOR * 10000 + SIMDNET_VERSION_MINOR * 100 + SIMDNET_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ------------------------------------------------------------------------------------------------------ types */

typedef enum {
    SimdFalse = 0,
    SimdTrue = 1
} SimdBool;

/* Arguments of SimdCpuInfo(): counts, cache sizes in bytes, and instruction sets (1 if usable). */
typedef enum {
    SimdCpuInfoSockets = 0,
    SimdCpuInfoCores = 1,
    SimdCpuInfoThreads = 2,
    SimdCpuInfoCacheL1 = 3,
    SimdCpuInfoCacheL2 = 4,
    SimdCpuInfoCacheL3 = 5,
    SimdCpuInfoSse = 6,
    SimdCpuInfoSse2 = 7,
    SimdCpuInfoSse3 = 8,
    SimdCpuInfoSsse3 = 9,
    SimdCpuInfoSse41 = 10,
    SimdCpuInfoSse42 = 11,
    SimdCpuInfoAvx = 12,
    SimdCpuInfoAvx2 = 13,
    SimdCpuInfoAvx512f = 14,
    SimdCpuInfoAvx512bw = 15,
    SimdCpuInfoVmx = 16,
    SimdCpuInfoVsx = 17,
    SimdCpuInfoNeon = 18,
    SimdCpuInfoMsa = 19
} SimdCpuInfoType;

/* Layouts of images (Nchw ... NchwXc) and of filters (Oiyx ... OyxiXo). */
typedef enum {
    SimdTensorFormatUnknown = -1,
    SimdTensorFormatNchw = 0,
    SimdTensorFormatNhwc = 1,
    SimdTensorFormatNchw4c = 2,
    SimdTensorFormatNchw8c = 3,
    SimdTensorFormatNchw16c = 4,
    SimdTensorFormatNchwXc = 5,
    SimdTensorFormatOiyx = 6,
    SimdTensorFormatYxio = 7,
    SimdTensorFormatOyxi4o = 8,
    SimdTensorFormatOyxi8o = 9,
    SimdTensorFormatOyxi16o = 10,
    SimdTensorFormatOyxiXo = 11
} SimdTensorFormatType;

/* Element types. 16b is bfloat16 (the upper half of a float), 16f is IEEE half. */
typedef enum {
    SimdTensorDataUnknown = -1,
    SimdTensorData32f = 0,
    SimdTensorData32i = 1,
    SimdTensorData8i = 2,
    SimdTensorData8u = 3,
    SimdTensorData64i = 4,
    SimdTensorData64u = 5,
    SimdTensorDataBool = 6,
    SimdTensorData16b = 7,
    SimdTensorData16f = 8
} SimdTensorDataType;

/*
 * Applied to v = sum + bias by a convolution; p are the `params` of SetParams, n the number of them, c the output channel.
 *
 *   Identity       n = 0       v
 *   Relu           n = 0       max(0, v)
 *   LeakyRelu      n = 1       max(0, v) + p[0] * min(0, v)
 *   RestrictRange  n = 2       min(max(p[0], v), p[1])
 *   Prelu          n = dstC    max(0, v) + p[c] * min(0, v)
 *   Elu            n = 1       v >= 0 ? v : p[0] * (exp(v) - 1)
 *   Hswish         n = 2       max(min(v, p[0]) + p[0], 0) * p[1] * v        (arXiv:1905.02244: p = 3, 1/6)
 *   Mish           n = 1       v > p[0] ? v : v * tanh(log(1 + exp(v)))      (usually p = 20)
 *   HardSigmoid    n = 2       max(0, min(v * p[0] + p[1], 1))               (usually p = 1/6, 1/2)
 *   Swish          n = 1       v / (1 + exp(-p[0] * v))                      (SiLU: p = 1)
 *   Gelu           n = 0       v * (1 + erf(v / sqrt(2))) / 2
 *   Sigmoid        n = 0       1 / (1 + exp(-v))                             (an extension)
 */
typedef enum {
    SimdConvolutionActivationIdentity = 0,
    SimdConvolutionActivationRelu = 1,
    SimdConvolutionActivationLeakyRelu = 2,
    SimdConvolutionActivationRestrictRange = 3,
    SimdConvolutionActivationPrelu = 4,
    SimdConvolutionActivationElu = 5,
    SimdConvolutionActivationHswish = 6,
    SimdConvolutionActivationMish = 7,
    SimdConvolutionActivationHardSigmoid = 8,
    SimdConvolutionActivationSwish = 9,
    SimdConvolutionActivationGelu = 10,
    SimdnetConvolutionActivationSigmoid = 100
} SimdConvolutionActivationType;

/* Operations of SimdSynetEltwiseLayerForward(). */
typedef enum {
    SimdSynetEltwiseOperationProduct = 0,
    SimdSynetEltwiseOperationSum = 1,
    SimdSynetEltwiseOperationMax = 2,
    SimdSynetEltwiseOperationMin = 3
} SimdSynetEltwiseOperationType;

/* Pixel formats. SimdSynetSetInput() accepts Gray8, Bgr24, Bgra32 and Rgb24: bytes, in the order of the name. */
typedef enum {
    SimdPixelFormatNone = 0,
    SimdPixelFormatGray8 = 1,
    SimdPixelFormatUv16 = 2,
    SimdPixelFormatBgr24 = 3,
    SimdPixelFormatBgra32 = 4,
    SimdPixelFormatInt16 = 5,
    SimdPixelFormatInt32 = 6,
    SimdPixelFormatInt64 = 7,
    SimdPixelFormatFloat = 8,
    SimdPixelFormatDouble = 9,
    SimdPixelFormatBayerGrbg = 10,
    SimdPixelFormatBayerGbrg = 11,
    SimdPixelFormatBayerRggb = 12,
    SimdPixelFormatBayerBggr = 13,
    SimdPixelFormatHsv24 = 14,
    SimdPixelFormatHsl24 = 15,
    SimdPixelFormatRgb24 = 16
} SimdPixelFormatType;

/* Flags of the quantised functions. Only the 8i flags have an effect: 8iNarrowed limits bytes to 0..180, the others to
 * 0..255. */
typedef enum {
    SimdSynetCompatibilityDefault = 0,
    SimdSynetCompatibilityFmaUse = 0,
    SimdSynetCompatibilityFmaNoTail = 1,
    SimdSynetCompatibilityFmaAvoid = 2,
    SimdSynetCompatibilityFmaMask = 3,
    SimdSynetCompatibility8iPrecise = 0,
    SimdSynetCompatibility8iOverflow = 4,
    SimdSynetCompatibility8iNarrowed = 8,
    SimdSynetCompatibility8iMask = 12,
    SimdSynetCompatibility16bfAvoid = 0,
    SimdSynetCompatibility16bfHard = 16,
    SimdSynetCompatibility16bfSoft = 32,
    SimdSynetCompatibility16bfMask = 48,
    SimdSynetCompatibility16fpAvoid = 0,
    SimdSynetCompatibility16fpHard = 64,
    SimdSynetCompatibility16fpSoft = 128,
    SimdSynetCompatibility16fpMask = 192
} SimdSynetCompatibilityType;

/* Shape of one convolution. Padding is the number of zeros at the top (padY), left (padX), bottom (padH), right (padW). */
typedef struct SimdConvolutionParameters {
    size_t srcC, srcH, srcW;                  /* input channels, height, width                                   */
    SimdTensorDataType srcT;                  /* input element type                                              */
    SimdTensorFormatType srcF;                /* input layout                                                    */
    size_t dstC, dstH, dstW;                  /* output channels, height, width                                  */
    SimdTensorDataType dstT;                  /* output element type                                             */
    SimdTensorFormatType dstF;                /* output layout                                                   */
    size_t kernelY, kernelX;                  /* kernel height, width                                            */
    size_t dilationY, dilationX;              /* distance of neighbouring taps; 1 is a dense kernel              */
    size_t strideY, strideX;
    size_t padY, padX, padH, padW;            /* top, left, bottom, right                                        */
    size_t group;                             /* divides srcC and dstC; srcC == dstC == group is depthwise       */
    SimdConvolutionActivationType activation; /* applied after the bias                                          */
} SimdConvolutionParameters;

/*
 * A matrix multiplication that a program may pass to the convolutions: C(M,N) = alpha * A(M,K) * B(K,N) + beta * C(M,N),
 * row-major; alpha and beta point to one float each. This library ignores it and uses its own.
 */
typedef void (*SimdGemm32fNNPtr)(size_t M, size_t N, size_t K, const float * alpha, const float * A, size_t lda,
                                 const float * B, size_t ldb, const float * beta, float * C, size_t ldc);

/* --------------------------------------------------------------------------------------------- infrastructure */

/* The version of this library, such as "1.2.3"; a static string. */
const char * SimdVersion(void);

/* A property of this machine (see SimdCpuInfoType); 0 for an unknown type. An instruction set is usable if the processor and
 * the operating system support it and the library has kernels for it or for a newer one that contains it. */
size_t SimdCpuInfo(SimdCpuInfoType type);

/*
 * A table of the time spent in each function, collected since SimdnetSetVerbose() enabled it; "" if it is disabled, never
 * NULL. The first line has the names of the columns, then there is a line for each combination of function, shape,
 * algorithm and instruction set: the number of calls, their time in microseconds (total, mean, min, max), and the four
 * names; the largest total is first. The text belongs to the calling thread and is valid until its next call of a function
 * of this library.
 */
const char * SimdPerformanceStatistic(void);

/* Allocates at least `size` bytes (rounded up to a multiple of `align`) at an address that is a multiple of `align`, a power
 * of two. Returns NULL if memory is exhausted or `align` is not a power of two. Free the block with SimdFree(). */
void * SimdAllocate(size_t size, size_t align);

/* Frees a block of SimdAllocate(); NULL is allowed. */
void SimdFree(void * ptr);

/* `size` rounded up to a multiple of `align`, which is a power of two. Returns 0 if align is 0 and, with an error, if it is
 * not a power of two or the result does not fit in size_t. */
size_t SimdAlign(size_t size, size_t align);

/* The vector width of the instruction set in use, in bytes: 64, 32 or 16. SimdnetSetMaxIsa() changes it. */
size_t SimdAlignment(void);

/* Destroys a context returned by any Init function; NULL is allowed. A pointer to something else is refused. */
void SimdRelease(void * context);

/*
 * The number of threads that one call may use, including the calling thread; 1 unless set by SimdSetThreadNumber() or by the
 * environment variable SIMDNET_NUM_THREADS (a number of at least 1; anything else is ignored, with a line on stderr).
 *
 * Large layers are divided among a pool of threads, which the first call that can use it creates and which exists until the
 * process ends; with 1 there is no pool. A call whose work is small, or that finds the pool busy for another thread, runs on
 * the calling thread alone. The threads of the pool block all signals and use the caller's rounding and fast mode; a forked
 * child creates a pool of its own.
 */
size_t SimdGetThreadNumber(void);

/*
 * Sets that number for the whole process, limited to the range from 1 to the number of processors that the affinity of the
 * calling thread and the quotas of its control groups allow. Results are bit-identical for any number of threads. The
 * threads inherit the affinity of the thread that calls this function.
 */
void SimdSetThreadNumber(size_t threadNumber);

/*
 * Fast mode of the calling thread: denormal results and arguments of floating-point operations become 0 (on x86-64 bits 15
 * and 6 of MXCSR, on aarch64 bit 24 of FPCR). It is the thread's own: other threads keep theirs, except that the threads of
 * the pool use the caller's mode during a call, so results are bit-identical for any number of threads in either mode. In
 * fast mode the accuracy that is stated for results holds only where they and all intermediate values are not denormal.
 * SimdGetFastMode() is SimdTrue if either bit is set; SimdSetFastMode() sets or clears both.
 */
SimdBool SimdGetFastMode(void);
void SimdSetFastMode(SimdBool value);

/* ---------------------------------------------------------------------------------------------------- vectors */

/* dst[i] = value[0] for i < size; with value NULL, 0. */
void SimdFill32f(float * dst, size_t size, const float * value);

/* dst[i] = dst[i] + src[i] * value[0] for i < size; the product may be rounded before the addition. dst may be src. */
void SimdNeuralAddVectorMultipliedByValue(const float * src, size_t size, const float * value, float * dst);

/* dst[i] = src[i] to the power exponent[0] for i < size, as powf() of C, with an error of at most 2 units in the last place.
 * dst may be src. */
void SimdNeuralPow(const float * src, size_t size, const float * exponent, float * dst);

/* dst[i] = dst[i] + value[0] for i < size. Mind the order of the arguments. */
void SimdNeuralAddValue(const float * value, float * dst, size_t size);

/* sum[0] = sum over i of a[i] * b[i] for i < size; 0 with size 0. */
void SimdNeuralProductSum(const float * a, const float * b, size_t size, float * sum);

/*
 * Converts `size` floats to bfloat16 or to half precision (binary16 of IEEE 754), or back:
 *
 *   src, dst   `size` elements each, which must not overlap
 *
 * To 16 bits, numbers are rounded to nearest, ties to even; subnormal numbers are kept, and numbers beyond the largest one
 * become infinity: from 65520 on in half precision. A NaN becomes a quiet NaN with its sign and the upper bits of its
 * payload. To float, conversion is exact, and a NaN keeps its payload. All instruction sets give bit-identical results.
 */
void SimdFloat32ToBFloat16(const float * src, size_t size, uint16_t * dst);
void SimdBFloat16ToFloat32(const uint16_t * src, size_t size, float * dst);
void SimdFloat32ToFloat16(const float * src, size_t size, uint16_t * dst);
void SimdFloat16ToFloat32(const uint16_t * src, size_t size, float * dst);

/* ---------------------------------------------------------------------------------------------------- layouts */

/* Replaces the X of NchwXc and OyxiXo by SimdAlignment() / 4, the vector width of the instruction set in use in floats.
 * Returns SimdTensorFormatUnknown for any other format. */
SimdTensorFormatType SimdSynetSpecifyTensorFormat(SimdTensorFormatType format);

/* The multiple to which a layout rounds channels (or filter outputs): 1, 4, 8 or 16; 0 for Unknown, NchwXc and OyxiXo. */
size_t SimdSynetTensorAlignment(SimdTensorFormatType format);

/*
 * Converts images between NCHW, NHWC, NCHW4c, NCHW8c and NCHW16c; all pairs are supported except two different NCHWxc.
 *
 *   batch, channels, spatial   images, C, H * W
 *   src, dst                   batch * SimdAlign(C, SimdSynetTensorAlignment(format)) * spatial floats, by format
 *
 * Values are copied unchanged. When converting to NCHWxc, channels beyond C are set to 0; when converting from it, they are
 * ignored. If both formats are the same, the whole array is copied, including those channels.
 */
void SimdSynetConvertImage(size_t batch, size_t channels, size_t spatial, const float * src,
                           SimdTensorFormatType srcFormat, float * dst, SimdTensorFormatType dstFormat);

/*
 * Converts filters between Oiyx, Yxio, Oyxi4o, Oyxi8o and Oyxi16o; all pairs are supported except two different Oyxixo.
 *
 *   output, input, kernel   O, I, kernelY * kernelX; of a grouped convolution I is the inputs of one group
 *   src, dst                SimdAlign(O, SimdSynetTensorAlignment(format)) * I * kernel floats, by format
 *
 * Values are copied unchanged. When converting to Oyxixo, outputs beyond O are set to 0; when converting from it, they are
 * ignored. If both formats are the same, the whole array is copied, including those outputs.
 */
void SimdSynetConvertFilter(size_t output, size_t input, size_t kernel, const float * src, SimdTensorFormatType srcFormat,
                            float * dst, SimdTensorFormatType dstFormat);

/*
 * Converts a picture to the input tensor of a network: byte v of colour c becomes
 *
 *   dst(c, y, x) = v * ((upper[c] - lower[c]) / 255) + lower[c]
 *
 * with each operation rounded separately, so that all instruction sets give bit-identical results. With 3 channels, c is
 * blue, green, red, in this order for every pixel format, and the three channels of a gray picture are equal. With 1
 * channel, colours are converted to the gray byte (1868 * blue + 9617 * green + 4899 * red + 8192) / 16384, rounded down.
 * Alpha is ignored.
 *
 *   src            height rows of width pixels. Rows start `stride` bytes apart, at least width * (bytes per pixel); the
 *                  bytes between two rows are not read
 *   srcFormat      Gray8, Bgr24, Bgra32 or Rgb24
 *   lower, upper   `channels` floats each: the values that bytes 0 and 255 are converted to
 *   channels       1 or 3
 *   dst            channels * height * width floats, NCHW or NHWC
 */
void SimdSynetSetInput(const uint8_t * src, size_t width, size_t height, size_t stride, SimdPixelFormatType srcFormat,
                       const float * lower, const float * upper, float * dst, size_t channels,
                       SimdTensorFormatType dstFormat);

/*
 * Separates the channels of two tensors, concatenated, into the even and the odd ones:
 *
 *   dst0 = channels 0, 2, 4 ... of src0, then of src1        dst1 = channels 1, 3, 5 ... of src0, then of src1
 *
 *   src0, src1   srcC0 * spatial and srcC1 * spatial floats, srcC0 and srcC1 even
 *   dst0, dst1   dstC * spatial floats each, dstC = (srcC0 + srcC1) / 2
 *   format       NCHW or NHWC
 */
void SimdSynetShuffleLayerForward(const float * src0, size_t srcC0, const float * src1, size_t srcC1, size_t spatial,
                                  float * dst0, float * dst1, size_t dstC, SimdTensorFormatType format);

/*
 * Creates a context that permutes the dimensions of an array, as numpy.transpose() and Transpose of ONNX do:
 *
 *   dst[j(0), j(1) ...] = src[k(0), k(1) ...] with k(order[i]) = j(i), so that dst has the extents shape[order[i]]
 *
 *   shape, order   count numbers each: the extents of src, at least 1, and the permutation of 0 .. count - 1
 *   count          2 .. 5
 *   type           of the elements, which are copied unchanged; any type except Unknown
 *
 * A permutation that moves fewer than two dimensions whose extent is not 1 keeps the order of all elements: it is refused.
 * Copy the array instead, or use SimdnetCopy(), which accepts every permutation. Returns NULL on error. Release the context
 * with SimdRelease().
 */
void * SimdSynetPermuteInit(const size_t * shape, const size_t * order, size_t count, SimdTensorDataType type);

/* The number of bytes that the context holds beside itself: 0. */
size_t SimdSynetPermuteInternalBufferSize(const void * context);

/* Permutes. src and dst point to elements of the type given to Init. */
void SimdSynetPermuteForward(void * context, const uint8_t * src, uint8_t * dst);

/* ---------------------------------------------------------------------------------------------------- pooling */
/*
 * The window of output (y, x) is rows max(0, y * strideY - padY) .. min(srcH, y * strideY - padY + kernelY) - 1, and columns
 * likewise: padding contributes nothing. dstH and dstW may follow the floor or the ceil convention, or be any other size; a
 * window that lies entirely outside the image is empty.
 *
 *   src   srcC * srcH * srcW elements        dst   srcC * dstH * dstW elements        format   NCHW or NHWC
 *
 * kernel and stride are at least 1. Whether the maximum of a window that contains NaN is NaN is unspecified.
 */

/* Maximum. The initial value is -FLT_MAX, so an empty window, and a window that contains only -Inf, gives -FLT_MAX.
 * With kernelC 1, strideC 1, padC 0 and srcC == dstC, each channel is pooled separately; else the window also spans channels
 * max(0, c * strideC - padC) .. min(srcC, c * strideC - padC + kernelC) - 1 for c in 0 .. dstC - 1, and dst has dstC
 * channels. */
void SimdSynetPoolingMax32f(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelC, size_t kernelY,
                            size_t kernelX, size_t strideC, size_t strideY, size_t strideX, size_t padC, size_t padY,
                            size_t padX, float * dst, size_t dstC, size_t dstH, size_t dstW, SimdTensorFormatType format);

/* Maximum of bfloat16 values, compared as floats. The initial value is -FLT_MAX, which rounds to -Inf (0xFF80). */
void SimdSynetPoolingMax16b(const uint16_t * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                            size_t strideY, size_t strideX, size_t padY, size_t padX, uint16_t * dst, size_t dstH,
                            size_t dstW, SimdTensorFormatType format);

/* Maximum of unsigned bytes; 0 for an empty window. */
void SimdSynetPoolingMax8u(const uint8_t * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                           size_t strideY, size_t strideX, size_t padY, size_t padX, uint8_t * dst, size_t dstH,
                           size_t dstW, SimdTensorFormatType format);

/* Mean. The divisor is the number of elements inside the image if excludePad is SimdTrue, else kernelY * kernelX, also for
 * windows that extend beyond the image. An empty window gives 0, or NaN (0 / 0) with excludePad. The error is at most
 * (log2(n) + 8) * 2^-24 * (sum of |src|) / divisor for n elements. */
void SimdSynetPoolingAverage(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                             size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst, size_t dstH,
                             size_t dstW, SimdBool excludePad, SimdTensorFormatType format);

/* The older form of SimdSynetPoolingMax32f(): trans is SimdFalse for NCHW, SimdTrue for NHWC. */
void SimdSynetPoolingForwardMax(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                                size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst, size_t dstH,
                                size_t dstW, SimdBool trans);

/* The older name of SimdSynetPoolingAverage(). */
void SimdSynetPoolingForwardAverage(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY,
                                    size_t kernelX, size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst,
                                    size_t dstH, size_t dstW, SimdBool excludePad, SimdTensorFormatType format);

/* --------------------------------------------------------------------------------------------------- addition */

/*
 * Adds two byte tensors with a scale and a shift per channel, in float32 with each operation rounded separately:
 *
 *   t = (a * aScale[c] + aShift[c] + b * bScale[c] + bShift[c]) * cScale[c] + cShift[c]
 *   c = min(max(nearest integer of t, ties to even, 0), upper)
 *
 * upper is 180 if (compatibility & SimdSynetCompatibility8iMask) is SimdSynetCompatibility8iNarrowed, else 255; NaN gives 0.
 * All instruction sets give the same bytes.
 *
 *   aData, bData, cData      batch * channels * spatial bytes each
 *   aScale, aShift ...       channels floats each
 *   format                   NCHW or NHWC
 */
void SimdSynetAdd8i(const uint8_t * aData, const float * aScale, const float * aShift, const uint8_t * bData,
                    const float * bScale, const float * bShift, uint8_t * cData, const float * cScale, const float * cShift,
                    size_t batch, size_t channels, size_t spatial, SimdTensorFormatType format,
                    SimdSynetCompatibilityType compatibility);

/*
 * Creates a context that adds two tensors of the same shape, each float or bfloat16:
 *
 *   dst[i] = convert(float(a[i]) + float(b[i]))
 *
 *   aShape, bShape         aCount and bCount dimensions; both shapes must be equal. A count of 0 means one element, a
 *                          dimension of 0 means none
 *   aType, bType, dstType  SimdTensorData32f or SimdTensorData16b. Results in bfloat16 are rounded to nearest even;
 *                          subnormals and NaN are kept
 *   format                 Unknown, NCHW or NHWC; it does not affect the result
 *
 * Returns NULL on error. Release the context with SimdRelease().
 */
void * SimdSynetAdd16bInit(const size_t * aShape, size_t aCount, SimdTensorDataType aType, const size_t * bShape,
                           size_t bCount, SimdTensorDataType bType, SimdTensorDataType dstType,
                           SimdTensorFormatType format);

/* Adds. a, b and dst point to floats or bfloat16 values, of the types given to Init. dst may be a or b if the types are
 * equal. */
void SimdSynetAdd16bForward(void * context, const uint8_t * a, const uint8_t * b, uint8_t * dst);

/*
 * Combines `count` arrays element by element, with x(i) = src[i][j]:
 *
 *   Product   dst[j] = x(0) * x(1) * x(2) ..., from left to right, each product rounded separately
 *   Sum       dst[j] = weight[0] * x(0) + weight[1] * x(1) ...
 *   Max       d = x(0), then d = d > x(i) ? d : x(i) for i = 1, 2 ...; so only a NaN in the last array is kept
 *   Min       likewise with d < x(i)
 *
 * count is at least 1. With a count of 1, Max and Min start from -FLT_MAX and FLT_MAX, so an infinity of that sign becomes
 * finite.
 *
 *   src      count pointers to `size` floats each
 *   weight   count floats for Sum; ignored, and may be NULL, for the other operations
 *   dst      size floats; it may be one of the source arrays
 */
void SimdSynetEltwiseLayerForward(float const * const * src, const float * weight, size_t count, size_t size,
                                  SimdSynetEltwiseOperationType type, float * dst);

/* ---------------------------------------------------------------------------------------- channel-wise layers */
/*
 * Layers that transform every element x = src(c, s) of an image with coefficients of its channel c.
 *
 *   format        NCHW, NHWC, NCHW4c, NCHW8c or NCHW16c, of src and dst alike
 *   src, dst      A * spatial floats, with A = SimdAlign(channels, SimdSynetTensorAlignment(format))
 *   coefficients  A floats in each array that is indexed by c. In NCHWxc, channels beyond `channels` are computed like the
 *                 others, from the values that src and the coefficients have there
 *
 * dst may be src in functions marked "in place". NaN propagates: max(0, NaN) and min(0, NaN) are NaN.
 */

/* dst(c, s) += bias[c], in place. */
void SimdSynetAddBias(const float * bias, size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* dst(c, s) = x * scale[c] + bias[c]; bias may be NULL for zeros. Also in place. */
void SimdSynetScaleLayerForward(const float * src, const float * scale, const float * bias, size_t channels, size_t spatial,
                                float * dst, SimdTensorFormatType format);

/*
 * Creates a context that scales an image of floats or bfloat16 numbers:
 *
 *   norm and bias   dst(c, s) = convert(x * norm[c] + bias[c]), the product and the sum each rounded to float
 *   one of them     x * norm[c] or x + bias[c]; SimdFalse for both is refused
 *
 *   srcType, dstType   SimdTensorData32f or SimdTensorData16b; results in bfloat16 are rounded to nearest even
 *   format             NCHW or NHWC
 *
 * All instruction sets give bit-identical results. Returns NULL on error. Release the context with SimdRelease().
 */
void * SimdSynetScale16bInit(size_t channels, size_t spatial, SimdTensorDataType srcType, SimdTensorDataType dstType,
                             SimdTensorFormatType format, SimdBool norm, SimdBool bias);

/* Scales an image. norm and bias are `channels` floats each; one that Init was not told of is ignored, and may be NULL. dst
 * may be src if the types are equal. */
void SimdSynetScale16bForward(void * context, const uint8_t * src, const float * norm, const float * bias, uint8_t * dst);

/* dst(c, s) = max(0, x) + slope[c] * min(0, x). Also in place. */
void SimdSynetPreluLayerForward(const float * src, const float * slope, size_t channels, size_t spatial, float * dst,
                                SimdTensorFormatType format);

/* v = x + bias[c]; dst(c, s) = (v - |v|) * scale[c] + max(0, v), which for v < 0 is 2 * v * scale[c]. Also in place. */
void SimdSynetFusedLayerForward0(const float * src, const float * bias, const float * scale, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/* v = x + bias0[c]; dst(c, s) = max(0, -v) * scale1[c] + bias1[c] + max(0, v). Also in place. */
void SimdSynetFusedLayerForward1(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* v = x * scale[c] + bias[c]; dst(c, s) = max(0, v) + min(0, v) * slope[0]: one slope for all channels. Also in place. */
void SimdSynetFusedLayerForward2(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, const float * slope, float * dst, SimdTensorFormatType format);

/*
 * v = x + bias[c]; dst(c, s) = max(0, v) + min(0, v) * scale[c]. Also in place.
 *
 * scale is the second argument and bias the third, as in the documentation of the Simd Library. The Simd Library itself
 * expects them in the opposite order: a program written for it must swap them.
 */
void SimdSynetFusedLayerForward3(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/*
 * v = x + bias0[c]; dst(c, s) = max(0, v) and dst(channels + c, s) = max(0, v * scale1[0] + bias1[0]). dst has 2 * channels
 * channels; scale1 and bias1 are one float each. In NCHWxc, channels must be a multiple of x.
 */
void SimdSynetFusedLayerForward4(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* dst(c, s) = src0(c, s) + src1(c, s) * src2[c]: src2 holds coefficients. dst may be src0 or src1. */
void SimdSynetFusedLayerForward8(const float * src0, const float * src1, const float * src2, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/*
 * With x(c, s) the concatenation of src0 (channels0 channels) and src1 (channels1 channels):
 * dst0(c, s) = max(0, x * scale[c] + bias[c]), and dst1(c, s) = x unless dst1 is NULL. Both have channels0 + channels1
 * channels. In NCHWxc, channels0 must be a multiple of x.
 */
void SimdSynetFusedLayerForward9(const float * src0, const float * src1, const float * scale, const float * bias,
                                 size_t channels0, size_t channels1, size_t spatial, float * dst0, float * dst1,
                                 SimdTensorFormatType format);

/*
 * dst(c, y, x) = (src(c, y, x) * ver(c, x)) * hor(c, y), each product rounded. ver varies along x, hor along y. dst may be
 * src.
 *
 *   src, dst   channels * height * width floats        format   NCHW or NHWC
 *   ver        channels * width floats                 NCHW: (c, x) at c * width + x        NHWC: at x * channels + c
 *   hor        channels * height floats                NCHW: (c, y) at c * height + y       NHWC: at y * channels + c
 */
void SimdSynetTiledScale2D32f(const float * src, size_t channels, size_t height, size_t width, SimdTensorFormatType format,
                              const float * ver, const float * hor, float * dst);

/*
 * sum[c] = sum over s of src(c, s), of bfloat16 numbers and in float32; 0 if spatial is 0. The error is at most
 * (spatial + 1) * 2^-24 * sum over s of |src(c, s)|.
 *
 *   src   channels * spatial bfloat16 numbers          sum   channels floats          format   NCHW or NHWC
 */
void SimdSynetChannelSum16b(const uint16_t * src, size_t channels, size_t spatial, SimdTensorFormatType format, float * sum);

/* ------------------------------------------------------------------------------------------------ activations */
/*
 * Element-wise functions: src and dst are `size` floats, dst may be src, and each parameter points to one float. The error
 * of exp and tanh is at most 2 units in the last place, at the argument computed in float32 (slope * x, beta * x), also for
 * subnormal results.
 */

/* dst[i] = max(0, src[i]) + slope[0] * min(0, src[i]). Slope 0 is the plain ReLU, except that -Inf gives NaN. */
void SimdSynetRelu32f(const float * src, size_t size, const float * slope, float * dst);

/* The same of bfloat16 numbers: computed in float, and rounded to nearest even. Bit-identical on all instruction sets. */
void SimdSynetRelu16b(const uint16_t * src, size_t size, const float * slope, uint16_t * dst);

/* dst[i] = src[i] >= 0 ? src[i] : alpha[0] * (exp(src[i]) - 1), without cancellation near 0. */
void SimdSynetElu32f(const float * src, size_t size, const float * alpha, float * dst);

/* dst[i] = max(min(src[i], shift[0]) + shift[0], 0) * scale[0] * src[i]; arXiv:1905.02244 has shift 3 and scale 1/6. */
void SimdSynetHswish32f(const float * src, size_t size, const float * shift, const float * scale, float * dst);

/* dst[i] = min(max(lower[0], src[i]), upper[0]), which is upper[0] if lower[0] > upper[0]. */
void SimdSynetRestrictRange32f(const float * src, size_t size, const float * lower, const float * upper, float * dst);

/* dst[i] = 1 / (1 + exp(-slope[0] * src[i])). */
void SimdSynetSigmoid32f(const float * src, size_t size, const float * slope, float * dst);

/* dst[i] = src[i] > threshold[0] ? src[i] : log(1 + exp(beta[0] * src[i])) / beta[0],
 * without cancellation for negative arguments. */
void SimdSynetSoftplus32f(const float * src, size_t size, const float * beta, const float * threshold, float * dst);

/* dst[i] = tanh(slope[0] * src[i]). */
void SimdSynetTanh32f(const float * src, size_t size, const float * slope, float * dst);

/*
 * dst[i] = src[i] / (1 + exp(-slope[0] * src[i])), also known as SiLU with slope 1; arXiv:1710.05941. The error is at most 3
 * units in the last place at slope * x computed in float32. NaN for -Inf, as the formula gives.
 */
void SimdSynetSwish32f(const float * src, size_t size, const float * slope, float * dst);

/*
 * dst[i] = src[i] > threshold[0] ? src[i] : src[i] * tanh(log(1 + exp(src[i]))); arXiv:1908.08681. The threshold, usually
 * 20, is one from which on the result is src[i] anyway. The error is at most 5 units. NaN for -Inf, as the formula gives.
 */
void SimdSynetMish32f(const float * src, size_t size, const float * threshold, float * dst);

/* dst[i] = max(0, min(src[i] * scale[0] + shift[0], 1)), usually with scale 1/6 and shift 1/2; product and sum are each
 * rounded. */
void SimdSynetHardSigmoid32f(const float * src, size_t size, const float * scale, const float * shift, float * dst);

/*
 * dst[i] = src[i] * (1 + erf(src[i] / sqrt(2))) / 2; arXiv:1606.08415. The error is at most 4 units, also where erf is close
 * to -1. NaN for -Inf, as the formula gives.
 */
void SimdSynetGelu32f(const float * src, size_t size, float * dst);

/* ------------------------------------------------------------------------------------------- unary operations */

/*
 * Abs |x|, Exp e^x, Log the natural logarithm, Neg -x, Rsqrt 1 / sqrt(x), Sqrt, Tanh, Zero 0, Ceil, Cos, Erf, Floor, Not the
 * complement of the 32 bits, Rcp 1 / x, Round to the nearest integer, ties to even, Sign -1, 1, or x if it is 0 or NaN, Sin.
 * Later versions of the Simd Library number them otherwise: SimdSynetUnaryOperation32f() takes those numbers.
 */
typedef enum {
    SimdSynetUnaryOperation32fAbs = 0,
    SimdSynetUnaryOperation32fExp = 1,
    SimdSynetUnaryOperation32fLog = 2,
    SimdSynetUnaryOperation32fNeg = 3,
    SimdSynetUnaryOperation32fRsqrt = 4,
    SimdSynetUnaryOperation32fSqrt = 5,
    SimdSynetUnaryOperation32fTanh = 6,
    SimdSynetUnaryOperation32fZero = 7,
    SimdSynetUnaryOperation32fCeil = 8,
    SimdSynetUnaryOperation32fCos = 9,
    SimdSynetUnaryOperation32fErf = 10,
    SimdSynetUnaryOperation32fFloor = 11,
    SimdSynetUnaryOperation32fNot = 12,
    SimdSynetUnaryOperation32fRcp = 13,
    SimdSynetUnaryOperation32fRound = 14,
    SimdSynetUnaryOperation32fSign = 15,
    SimdSynetUnaryOperation32fSin = 16
} SimdSynetUnaryOperation32fType;

/*
 * dst[i] = operation(src[i]) for i < size; dst may be src. The error of Exp, Log, Rsqrt, Tanh, Cos, Erf and Sin is at most
 * 2 units in the last place, for angles of any size; the others are correctly rounded. With avx512, the last bit of Rsqrt
 * may differ between processors of different vendors. Special values are those of the C library: Log(0) is -Inf and Log(x)
 * is NaN for x < 0; Rsqrt(0) is Inf and Rsqrt(-0) is -Inf; Sqrt(x) is NaN for x < 0; Sin and Cos of infinities are NaN.
 */
void SimdSynetUnaryOperation32fLayerForward(const float * src, size_t size, SimdSynetUnaryOperation32fType type,
                                            float * dst);

/* The same operations with the numbers of the Simd Library of 2026; simdnet_simd.h gives them its names. */
typedef enum {
    SimdnetSimdUnaryAbs = 0,
    SimdnetSimdUnaryCeil = 1,
    SimdnetSimdUnaryCos = 2,
    SimdnetSimdUnaryErf = 3,
    SimdnetSimdUnaryExp = 4,
    SimdnetSimdUnaryFloor = 5,
    SimdnetSimdUnaryLog = 6,
    SimdnetSimdUnaryNeg = 7,
    SimdnetSimdUnaryNot = 8,
    SimdnetSimdUnaryRcp = 9,
    SimdnetSimdUnaryRound = 10,
    SimdnetSimdUnaryRsqrt = 11,
    SimdnetSimdUnarySign = 12,
    SimdnetSimdUnarySin = 13,
    SimdnetSimdUnarySqrt = 14,
    SimdnetSimdUnaryTanh = 15,
    SimdnetSimdUnaryZero = 16
} SimdnetSimdUnaryType;

/* SimdSynetUnaryOperation32fLayerForward() with these numbers. */
void SimdSynetUnaryOperation32f(const float * src, size_t size, SimdnetSimdUnaryType type, float * dst);

/* ----------------------------------------------------------------------------------------------------- resizing */

/* Elements of the images of SimdResizerRun(). */
typedef enum {
    SimdResizeChannelByte = 0,
    SimdResizeChannelShort = 1, /* unsigned, 16 bits */
    SimdResizeChannelFloat = 2,
    SimdResizeChannelBf16 = 3
} SimdResizeChannelType;

/* What SimdResizerRun() computes. */
typedef enum {
    SimdResizeMethodNearest = 0,
    SimdResizeMethodNearestPytorch = 1,
    SimdResizeMethodBilinear = 2,
    SimdResizeMethodBilinearCaffe = 3,
    SimdResizeMethodBilinearPytorch = 4,
    SimdResizeMethodBilinearOpenCv = 5,
    SimdResizeMethodBicubic = 6,
    SimdResizeMethodArea = 7,
    SimdResizeMethodAreaFast = 8
} SimdResizeMethodType;

/*
 * Creates a context that resizes pictures of srcY rows of srcX pixels to dstY rows of dstX pixels; a pixel is `channels`
 * elements. SimdRelease() frees it. For output i of an axis of n pixels, which becomes m, and k = (float)n / m:
 *
 *   Nearest           pixel floor((i + 0.5) * k)                       all types
 *   NearestPytorch    pixel i * n / m, in integers                     all types
 *   Bilinear          between the two pixels at (i + 0.5) * k - 0.5    all types; Short of 1 to 4 channels
 *   BilinearCaffe     at i * (n - 1) / (m - 1), or 0 if m is 1         Float, Bf16
 *   BilinearPytorch   at i * k                                         Float, Bf16
 *   BilinearOpenCv    at (i + 0.5) * k - 0.5                           Byte
 *   Bicubic           the four pixels around it, Lagrange's weights    Byte of 1 to 4 channels
 *   Area              the mean of the pixels from i * k to (i + 1) * k, weighted by overlap    Byte, 1 to 4 channels
 *   AreaFast          the same of sums of 2 x 2 pixels if (srcX + 1) / 2 >= dstX and (srcY + 1) / 2 >= dstY    likewise
 *
 * Pixels outside the picture are equal to the nearest one inside. Float and Bf16 are computed in float, x before y, and
 * rounded once; Short likewise, to the nearest integer. Bytes are computed in integers, with weights whose sum along an axis
 * is exactly the unit: Bilinear 16, BilinearOpenCv 16384, Bicubic 128, Area 2048; where rounded weights have another sum,
 * the difference is added to the largest one. The mean of equal bytes is that byte. Returns NULL for sizes of 0 and unlisted
 * combinations.
 */
void * SimdResizerInit(size_t srcX, size_t srcY, size_t dstX, size_t dstY, size_t channels, SimdResizeChannelType type,
                       SimdResizeMethodType method);

/*
 * Resizes a picture.
 *
 *   src, dst               the first pixels, elements of the type of Init
 *   srcStride, dstStride   bytes from row to row, multiples of the size of an element; the bytes between rows are
 *                          neither read nor written
 */
void SimdResizerRun(const void * resizer, const uint8_t * src, size_t srcStride, uint8_t * dst, size_t dstStride);

/* --------------------------------------------------------------------------------------------------- softmax */

/*
 * For each (o, i): dst(o, c, i) = e(c) / (sum of all e), e(c) = exp(src(o, c, i) - max over c), with (o, c, i) at
 * (o * count + c) * inner + i of outer * count * inner floats. Large inputs do not overflow. dst may be src. The relative
 * error of the sum is at most (log2(count) + 8) * 2^-24, in addition to those of the exponentials. An e(c) below 2^-125 may
 * be 0.
 */
void SimdSynetSoftmaxLayerForward(const float * src, size_t outer, size_t count, size_t inner, float * dst);

/* The same by its later name. */
void SimdSynetSoftmax32f(const float * src, size_t outer, size_t count, size_t inner, float * dst);

/* The same of bfloat16 numbers: computed in float, and each result is rounded to nearest even, so that the sum of a line may
 * differ from 1. */
void SimdSynetSoftmax16b(const uint16_t * src, size_t outer, size_t count, size_t inner, uint16_t * dst);

/* --------------------------------------------------------------------------------- local response normalization */

/*
 * dst(c, s) = src(c, s) * (k[0] + k[1] * sum) ^ k[2], where sum is the sum of squares of src(i, s) over channels i from
 * max(0, c - half) to min(channels - 1, c + half). `half` may be any number.
 *
 *   src, dst   channels * spatial floats        k   3 floats        format   NCHW or NHWC
 *
 * The relative error is at most 1e-6 for -1 <= k[2] <= 1. The result is unspecified if the sum of finite values overflows
 * or k[0] + k[1] * sum is below FLT_MIN. Exponents k[2] that are multiples of 1/4 are fast. The last bits may differ between
 * processors of different vendors.
 */
void SimdSynetLrnLayerCrossChannels(const float * src, size_t half, size_t channels, size_t spatial, const float * k,
                                    float * dst, SimdTensorFormatType format);

/* --------------------------------------------------------------------------------------------- normalization */

/*
 * Functions of x(c, s), the value of channel c at position s, separately for each of `batch` images.
 *
 *   src, dst   batch * channels * spatial floats; dst may be src     scale, shift   channels floats
 *   eps        1 float                                               format         NCHW or NHWC
 *   buf        not used, may be NULL
 *
 * The variance is the mean of the squared differences from the mean, which is computed first, so the result is as accurate
 * for values that are far from 0: with M the greatest |x| and f the factor 1 / sqrt(...) of a value, the error is that of a
 * few operations on M * f * scale. The result is unspecified if the sum of the squares of finite values overflows, and if it
 * underflows with eps 0.
 */

/*
 * dst(c, s) = x(c, s) * scale[c] / sqrt(eps + sum of x^2), over all channels of the position or, if acrossSpatial is
 * SimdTrue, over the whole image.
 */
void SimdSynetNormalizeLayerForward(const float * src, size_t batch, size_t channels, size_t spatial, const float * scale,
                                    const float * eps, SimdBool acrossSpatial, SimdTensorFormatType format, float * buf,
                                    float * dst);

/*
 * Layer normalization (arXiv:1607.06450): dst(c, s) = (x(c, s) - mean) / sqrt(variance + eps) * scale[c] + shift[c], with
 * the mean and the variance of all channels of the position.
 */
void SimdSynetNormalizeLayerForwardV2(const float * src, size_t batch, size_t channels, size_t spatial, const float * scale,
                                      const float * shift, const float * eps, SimdTensorFormatType format, float * buf,
                                      float * dst);

/* The same of bfloat16 numbers, with scale, shift and eps in float: computed in float, and rounded to nearest even once. */
void SimdSynetNormalizeLayerForward16bV2(const uint16_t * src, size_t batch, size_t channels, size_t spatial,
                                         const float * scale, const float * shift, const float * eps,
                                         SimdTensorFormatType format, float * buf, uint16_t * dst);

/*
 * Instance normalization (arXiv:1607.08022): as layer normalization, with the mean and the variance of all positions of the
 * channel. With one position the result is shift.
 */
void SimdSynetNormalizeLayerForwardV3(const float * src, size_t batch, size_t channels, size_t spatial, const float * scale,
                                      const float * shift, const float * eps, SimdTensorFormatType format, float * buf,
                                      float * dst);

/*
 * Global response normalization (arXiv:2301.00808): dst(c, s) = x(c, s) * (1 + scale[c] * g[c] / (mean of g + eps)) +
 * shift[c], where g[c] is the root of the sum of x^2 over all positions of channel c.
 */
void SimdSynetNormalizeLayerForwardV4(const float * src, size_t batch, size_t channels, size_t spatial, const float * scale,
                                      const float * shift, const float * eps, SimdTensorFormatType format, float * buf,
                                      float * dst);

/* ------------------------------------------------------------------------------------------------ gathering */

typedef enum {
    SimdGridSampleInterpBilinear = 0,
    SimdGridSampleInterpNearest = 1,
    SimdGridSampleInterpBicubic = 2
} SimdGridSampleInterpType;

typedef enum {
    SimdGridSamplePaddingZeros = 0,
    SimdGridSamplePaddingBorder = 1,
    SimdGridSamplePaddingReflect = 2
} SimdGridSamplePaddingType;

/*
 * A context that samples images at the positions of a grid: GridSample of ONNX for two dimensions.
 *
 *   src   [batch][channels][srcH][srcW] floats        dst   [batch][channels][dstH][dstW] floats
 *   grd   [batch][dstH][dstW][2] floats, pairs (x, y): -1 is the first and 1 the last element of an axis if `align` is
 *         SimdTrue, else their outer edges
 *
 * For a coordinate g of an axis of length L:
 *
 *   1. v = (g + 1) / 2 * (L - 1) if align, else ((g + 1) * L - 1) / 2, each operation rounded to float.
 *   2. Nearest: v is rounded to an integer, ties to even.
 *   3. If x or y is outside of [0, L - 1] if align, else [-0.5, L - 0.5]: Border limits both to [0, L - 1], except with
 *      Bicubic, and Reflect mirrors both at the bounds until they are inside. Zeros changes nothing.
 *   4. The elements around (x, y) are combined: Nearest the one at floor(v); Bilinear those at floor(v) and floor(v) + 1
 *      with the weights 1 - t and t, t = v - floor(v); Bicubic those at floor(v) - 1 ... floor(v) + 2 with Keys' weights for
 *      a = -0.75; each along x first, in float. An element outside of the image is 0 (Zeros), the nearest one of the image
 *      (Border), or its mirror image (Reflect).
 *
 * With Bicubic and Border, the elements of the border are repeated, as in ONNX Runtime and PyTorch. Any coordinate is
 * allowed: NaN gives NaN, an infinity gives 0 (Zeros), the border (Border) or NaN (Reflect).
 *
 * `type` is SimdTensorData32f, srcH and srcW are at least 1, srcH * srcW is less than 2^31. Returns NULL on error. Then
 * Forward() any number of times, then SimdRelease().
 */
void * SimdSynetGridSample2dInit(size_t batch, size_t channels, size_t srcH, size_t srcW, size_t dstH, size_t dstW,
                                 SimdTensorDataType type, SimdGridSampleInterpType interp,
                                 SimdGridSamplePaddingType padding, SimdBool align);

/* The number of bytes that the context holds: 0. */
size_t SimdSynetGridSample2dInternalBufferSize(const void * context);

/* Reads `batch` images at the positions of their grids. The arrays are floats, at any byte address. */
void SimdSynetGridSample2dForward(void * context, const uint8_t * src, const uint8_t * grd, uint8_t * dst);

/*
 * A context for dst(o, c, i) = src(o, t, i) with t = idx(o, c, i), or t + srcCount if t is negative: GatherElements of ONNX.
 *
 *   outer     outerSize sizes, at most 16, whose product is the number of o; may be NULL if outerSize is 0, for one o
 *   src       [o][srcCount][inner] elements of dataType: SimdTensorData32f, SimdTensorData16b or SimdTensorData8u
 *   idx       [o][idxCount][inner] integers of indexType: SimdTensorData32i or SimdTensorData64i
 *   dst       [o][idxCount][inner] elements of dataType
 *
 * indexConst allows SetIndex(); indexUsers is ignored. Returns NULL on error. Then SetIndex() if indices do not change, then
 * Forward() any number of times, then SimdRelease().
 */
void * SimdSynetGatherElementsInit(SimdTensorDataType dataType, SimdTensorDataType indexType, SimdBool indexConst,
                                   size_t indexUsers, const size_t * outer, size_t outerSize, size_t srcCount, size_t inner,
                                   size_t idxCount);

/*
 * Sets the indices that Forward() uses if its `idx` is NULL; they are copied. Does nothing unless the context was created
 * with indexConst. It may be called again, but not while Forward() runs. An index that is not one of -srcCount ..
 * srcCount - 1 is refused, and the context is unchanged.
 */
void SimdSynetGatherElementsSetIndex(const void * context, const uint8_t * idx);

/* The number of bytes that the context holds: the indices of SetIndex(). */
size_t SimdSynetGatherElementsInternalBufferSize(const void * context);

/* Gathers. idx may be NULL after SetIndex(), whose indices are then used. An index that is not one of -srcCount ..
 * srcCount - 1 is refused: the message names the first one and its place in idx. */
void SimdSynetGatherElementsForward(void * context, const uint8_t * src, const uint8_t * idx, uint8_t * dst);

/* ---------------------------------------------------------------------------------------------- inner product */

/*
 * dst[i] = sum over j of src[j] * weight[i * size + j] + bias[i], for i in 0 .. count - 1.
 *
 *   src   size floats        weight   count * size floats        bias   count floats, or NULL for none
 */
void SimdSynetInnerProductLayerForward(const float * src, const float * weight, const float * bias, size_t count,
                                       size_t size, float * dst);

/*
 * A context for a fully connected layer: inner products of M rows, bias and activation (see SimdConvolutionActivationType):
 *
 *   C[i * N + j] = activation(bias[j] + sum over k of A[i * K + k] * B(k, j)), i < M, j < N, k < K,
 *
 * where B(k, j) is B[j * K + k] if transB is SimdTrue, as PyTorch and Caffe store weights, and otherwise B[k * N + j].
 * If constB is SimdTrue, B is the `weight` of SetParams(), which packs it once; otherwise it is an argument of each
 * Forward(). If `bias` is SimdFalse, the bias of SetParams() is ignored.
 *
 * With constB it is a convolution of M pixels with K channels to N: SimdnetForward() computes it with rows at distances
 * (srcPixel, dstPixel) and with an addition of M x N floats; without constB it refuses the context. Contexts that differ in
 * M only may share their parameters through SimdnetShareParams().
 *
 * The error of a sum is that of a chain of K multiply-adds. Its order does not depend on M, with constB.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetInnerProduct32fInit(size_t M, size_t N, size_t K, SimdBool transB, SimdBool constB, SimdBool bias,
                                    SimdConvolutionActivationType activation);

/* The number of floats that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetInnerProduct32fInternalBufferSize(const void * context);

/* The size in floats of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetInnerProduct32fExternalBufferSize(const void * context);

/*
 * Sets the parameters. It may be called again with others, but not while Forward() runs.
 *
 *   weight     N * K floats in the order of B; ignored, and may be NULL, if constB is SimdFalse
 *   internal   NULL, or receives SimdTrue: the context copies all arrays, and the caller may free them
 *   bias       N floats, or NULL for zeros
 *   params     the parameters of the activation (see SimdConvolutionActivationType), N floats for Prelu; NULL if it has none
 */
void SimdSynetInnerProduct32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                       const float * params);

/*
 * Computes M rows.
 *
 *   A     M * K floats        C   M * N floats
 *   B     N * K floats; ignored, and may be NULL, if constB is SimdTrue
 *   buf   ExternalBufferSize() floats, used by one thread at a time; or NULL, then the library uses scratch memory of the
 *         calling thread
 */
void SimdSynetInnerProduct32fForward(void * context, const float * A, const float * B, float * buf, float * C);

/* --------------------------------------------------------------------------------------- matrix multiplication */

/*
 * C = alpha * A * B + beta * C of row-major matrices: C[i * ldc + j] = alpha[0] * (sum over k of A[i * lda + k] * B(k, j))
 * + beta[0] * C[i * ldc + j] for i < M and j < N, where B(k, j) is B[k * ldb + j] in NN, and B[j * ldb + k] in NT (B
 * transposed).
 *
 *   A   M rows of K floats, lda >= K apart           C   M rows of N floats, ldc >= N apart
 *   B   NN: K rows of N floats, ldb >= N apart       NT: N rows of K floats, ldb >= K apart
 *
 * As in BLAS, C is not read if beta is 0, and A and B are not read if alpha is 0; with K 0 they may be NULL. Elements
 * between rows are neither read nor written, and may belong to another of the matrices. If C and A, or C and B, both have
 * such elements, and rows at different distances, not every overlap is detected. Where it is faster, B is multiplied by
 * alpha before the sum is computed, so the product alpha * B may overflow.
 */
void SimdGemm32fNN(size_t M, size_t N, size_t K, const float * alpha, const float * A, size_t lda, const float * B,
                   size_t ldb, const float * beta, float * C, size_t ldc);
void SimdGemm32fNT(size_t M, size_t N, size_t K, const float * alpha, const float * A, size_t lda, const float * B,
                   size_t ldb, const float * beta, float * C, size_t ldc);

/* ------------------------------------------------------------------------------------------------ convolution */

/*
 * A context for
 *
 *   dst(o, y, x) = activation(bias[o] + sum over i, ky, kx of
 *                  src(g * srcC / group + i, y * strideY + ky * dilationY - padY, x * strideX + kx * dilationX - padX)
 *                  * weight(o, i, ky, kx)),        g = o / (dstC / group), and src outside the image is 0.
 * Whether the product of a non-finite weight and such a zero becomes part of the sum depends on the algorithm.
 *
 * Both tensors are float, both NCHW or both NHWC, and the output size must be
 * dstH = (srcH + padY + padH - (dilationY * (kernelY - 1) + 1)) / strideY + 1, at least 1, and dstW likewise. batch,
 * strides, dilations, kernel and group are at least 1; group divides srcC and dstC. `gemm` is ignored and may be NULL.
 *
 * SimdnetContextInfo() returns the name of the algorithm, which depends on the shape and the instruction set only. With
 * "Winograd F(m,r)", for a kernel of r x r, and "Winograd F(m,3) of stride 2", m x m outputs are computed together from a
 * tile of inputs; with "of rows" or "of columns", for kernels of 1 x r or r x 1, m outputs of a row or column; an image of
 * one column is computed as one of one row. With a dilation d these outputs are d apart, and so are the inputs of the tile.
 * An infinity or a NaN in the tile may make all these outputs NaN. If a sum has many channels and terms of both signs, its error is at most k * 2^-24 * sum over i of
 * (largest |src| in the tile) * (sum of |weight(o, i)|), where k is 4, 12 and 32 for F(2,3), F(3,3) and F(4,3), 16 for
 * F(2,5) and for rows and columns, and, for stride 2, 2 and 12 for m of 2 and 4. If a few weights dominate the sum, k is up
 * to 12 times as large. If all terms have the same sign, k is larger by up to n / 64, n = srcC / group, and by up to 8 * n
 * if all rounding errors have the same sign, as with equal values next to the zeros of the padding.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm);

/* The size in floats of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetConvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetConvolution32fInternalBufferSize(const void * context);

/*
 * Sets the weights. It may be called again with other weights, but not while Forward() runs.
 *
 *   weight     NCHW: Oiyx, i inside the group: ((o * (srcC / group) + i) * kernelY + ky) * kernelX + kx
 *              NHWC: Yxio: ((ky * kernelX + kx) * (srcC / group) + i) * dstC + o
 *   internal   NULL, or receives SimdTrue: the context copies all arrays, and the caller may free them
 *   bias       dstC floats, or NULL for zeros
 *   params     the parameters of the activation (see SimdConvolutionActivationType); NULL if it has none
 */
void SimdSynetConvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                      const float * params);

/*
 * Computes `batch` images. Image b is at src + b * srcC * srcH * srcW and dst + b * dstC * dstH * dstW.
 *
 *   buf   ExternalBufferSize() floats, used by one thread at a time; or NULL, then the library uses scratch memory of the
 *         calling thread, which it allocates in the first call of that thread
 */
void SimdSynetConvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* ---------------------------------------------------------------------------------------------- deconvolution */

/*
 * A context for the transposed convolution: each input is multiplied by the kernel, and the products are added to the output
 * at positions that are strideY rows and strideX columns apart for neighbouring inputs,
 *
 *   dst(o, sy * strideY + ky * dilationY - padY, sx * strideX + kx * dilationX - padX) +=
 *       src(i, sy, sx) * weight(i, o, ky, kx)       for all i of the group of o; positions outside dst are skipped,
 *
 * then bias[o] is added and the activation applied. The output is cropped by the padding, and its size must be
 * dstH = strideY * (srcH - 1) + dilationY * (kernelY - 1) + 1 - padY - padH, at least 1, and dstW likewise. Types, formats
 * and the other parameters are those of SimdSynetConvolution32fInit().
 *
 * SimdnetContextInfo() returns the name of the algorithm, which depends on the shape and the instruction set only. With
 * stride 1 it is a convolution: see SimdSynetConvolution32fInit() for the error of Winograd's algorithm.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetDeconvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm);

/* The size in floats of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetDeconvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetDeconvolution32fInternalBufferSize(const void * context);

/*
 * Sets the weights. It may be called again with other weights, but not while Forward() runs. In both layouts the input
 * channel is outermost:
 *
 *   weight     NCHW: ((i * (dstC / group) + o) * kernelY + ky) * kernelX + kx, i of all srcC, o inside the group
 *              NHWC: ((i * kernelY + ky) * kernelX + kx) * (dstC / group) + o, likewise
 *   internal   NULL, or receives SimdTrue: the context copies all arrays, and the caller may free them
 *   bias       dstC floats, or NULL for zeros
 *   params     the parameters of the activation (see SimdConvolutionActivationType); NULL if it has none
 */
void SimdSynetDeconvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                        const float * params);

/*
 * Computes `batch` images. Image b is at src + b * srcC * srcH * srcW and dst + b * dstC * dstH * dstW.
 *
 *   buf   ExternalBufferSize() floats, used by one thread at a time; or NULL, then the library uses scratch memory of the
 *         calling thread, which it allocates in the first call of that thread
 */
void SimdSynetDeconvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* ----------------------------------------------------------------------------------------- merged convolution */

/*
 * A context for two or three consecutive convolutions. Intermediate results stay in the caches and are never stored as whole
 * images.
 *
 *   conv[0]   an expansion: group 1, kernel 1x1 or 3x3, stride 1 .. 3
 *   conv[1]   depthwise: group = srcC = dstC, kernel 3x3, 5x5 or 7x7, stride 1 .. 3
 *   conv[2]   a projection: group 1, kernel 1x1, stride 1
 *
 * A count of 3 means all of them; a count of 2, an extension, means the first two or the last two. Each is a convolution as
 * in SimdSynetConvolution32fInit(), with a bias and an activation. The source of each is the result of the one before: srcC,
 * srcH and srcW of conv[i + 1] are dstC, dstH and dstW of conv[i]. All tensors are float and NHWC; kernels are square,
 * dilations are 1, and with a count of 3 strideY and strideX are equal. Each convolution may have any padding, different on
 * each side if need be; the elements in it are 0.
 *
 * If add is SimdTrue, the source image is added to the result of conv[2] before its activation:
 * dst = activation(src + sum + bias). The output of conv[2] must then have the size of the input of conv[0]. add is ignored
 * if count is 2.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetMergedConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add);

/* The size in floats of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetMergedConvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds: packed weights, biases and parameters; 0 before SetParams(). */
size_t SimdSynetMergedConvolution32fInternalBufferSize(const void * context);

/*
 * Sets the weights. It may be called again with other weights, but not while Forward() runs. Arrays of `count` elements:
 *
 *   weight     weight[i]: Yxio, ((ky * kernelX + kx) * (srcC / group) + i) * dstC + o; depthwise:
 *              (ky * kernelX + kx) * srcC + c
 *   internal   NULL, or receives SimdTrue in each element: the context copies all arrays, and the caller may free them
 *   bias       bias[i]: dstC floats, or NULL for zeros; the array itself may be NULL
 *   params     params[i]: the parameters of the activation (see SimdConvolutionActivationType), or NULL if it has none; the
 *              array itself may be NULL if no activation has any
 */
void SimdSynetMergedConvolution32fSetParams(void * context, const float * const * weight, SimdBool * internal,
                                            const float * const * bias, const float * const * params);

/*
 * Computes `batch` images. Image b is at src + b * srcC * srcH * srcW, with the sizes of conv[0], and at
 * dst + b * dstC * dstH * dstW, with those of the last convolution. dst must not overlap src, not even with add.
 *
 *   buf   ExternalBufferSize() floats, used by one thread at a time; or NULL, then the library uses scratch memory of the
 *         calling thread, which it allocates in the first call of that thread
 */
void SimdSynetMergedConvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* ------------------------------------------------------------------------------------------------ quantization */

/*
 * Quantises floats to unsigned bytes: the product is rounded to float and then to the nearest integer, ties to even,
 *
 *   dst[i] = min(max(nearest(src[i] * norm) + zero, 0), 255)
 *
 * and is not limited before zero is added; NaN gives 0. norm is 1 / scale: as it is rounded, results may differ by 1 from
 * those of a division by the scale, SimdnetQuantizeLinear().
 *
 *   src    size floats            dst   size bytes
 *   norm   one float              zero  -2^23 .. 2^23
 */
void SimdSynetQuantizeLinear(const float * src, size_t size, const float * norm, int32_t zero, uint8_t * dst);

/*
 * Converts unsigned bytes to floats, rounded once: dst[i] = (src[i] + bias) * norm. norm is the scale, and bias is -zero.
 *
 *   src    size bytes             dst   size floats
 *   norm   one float              bias  -2^23 .. 2^23
 */
void SimdSynetDequantizeLinear(const uint8_t * src, size_t size, int32_t bias, const float * norm, float * dst);

/*
 * Converts floats to bytes with a scale and a shift for each channel, in float32 with each operation rounded separately:
 *
 *   dst(c, y, x) = min(max(nearest(src(c, y, x) * scale[c] + shift[c]), 0), upper)
 *
 * nearest() rounds to an integer, ties to even; NaN gives 0. upper is 180 if (compatibility & SimdSynetCompatibility8iMask)
 * is SimdSynetCompatibility8iNarrowed, else 255. All instruction sets give the same bytes.
 *
 *   src            batch * channels * height * width floats        dst      as many bytes
 *   scale, shift   channels floats each                            format   NCHW or NHWC
 */
void SimdSynetConvert32fTo8u(const float * src, size_t batch, size_t channels, size_t height, size_t width,
                             SimdTensorFormatType format, const float * scale, const float * shift, uint8_t * dst,
                             SimdSynetCompatibilityType compatibility);

/*
 * Converts bytes to floats: dst(c, y, x) = src(c, y, x) * scale[c] + shift[c], the product and the sum each rounded to float.
 * For a zero point, shift[c] is -zero * scale[c]. Other arguments are those of SimdSynetConvert32fTo8u(); compatibility has
 * no effect.
 */
void SimdSynetConvert8uTo32f(const uint8_t * src, size_t batch, size_t channels, size_t height, size_t width,
                             SimdTensorFormatType format, const float * scale, const float * shift, float * dst,
                             SimdSynetCompatibilityType compatibility);

/*
 * Creates a context that scales the channels of a tensor, x * scale[c] + bias[c], of floats or of bytes that represent
 * values according to statistics, as in SimdSynetConvolution8iInit(). Conversions and layer are one product and one sum,
 * each rounded to float, with coefficients k and h that are computed in float32, each operation rounded separately:
 *
 *   k = 1, h = 0                                            for floats, or
 *   k = inv of src, h = -zero of src * inv of src           for bytes
 *   k = k * scale[c], h = h * scale[c] + bias[c]            without bias, no sum
 *   k = k * scale of dst, h = h * scale of dst + zero       if dst has bytes
 *   dst(c, s) = x * k + h                                   bytes: to nearest even, clamped to 0 .. 255; 0 for NaN
 *
 *   srcType, dstType   SimdTensorData32f or SimdTensorData8u, all four combinations
 *   format             NCHW or NHWC
 *   compatibility      has no effect: bytes are 0 .. 255 always
 *
 * All instruction sets give bit-identical results. Returns NULL on error. Release the context with SimdRelease().
 */
void * SimdSynetScale8iInit(size_t batch, size_t channels, size_t spatial, SimdTensorDataType srcType,
                            SimdTensorDataType dstType, SimdTensorFormatType format, SimdSynetCompatibilityType compatibility);

/* The number of bytes that the context holds; 0 before SetParams(). */
size_t SimdSynetScale8iInternalBufferSize(const void * context);

/*
 * Sets the parameters, which are copied. It may be called again, but not while Forward() runs.
 *
 *   scale, bias   channels finite floats each; bias may be NULL for none
 *   stats         four arrays of `channels` finite floats: minima and maxima of src, minima and maxima of dst; no minimum
 *                 may exceed its maximum. All four are required, also for float tensors. NULL in a later call: the same as
 *                 before
 *
 * On error the context is unchanged.
 */
void SimdSynetScale8iSetParams(void * context, const float * scale, const float * bias, const float * const * stats);

/* Computes `batch` images: batch * channels * spatial elements. dst may be src if the types are equal. */
void SimdSynetScale8iForward(void * context, const uint8_t * src, uint8_t * dst);

/* --------------------------------------------------------------------------------------- layers of quantised bytes */

/*
 * Layers of tensors of bytes, each of which has one scale and one zero: a byte q has the value (q - zero) * scale, computed
 * in float and rounded once. Results become bytes as
 *
 *   byte(y) = min(max(nearest(y / scale) + zero, 0), 255)
 *
 * with nearest() to the nearest integer, ties to even, and with y * f(1 / scale), rounded, for y / scale; NaN gives 0. Every
 * operation of a formula is rounded to float by itself, except fma(a, b, c) = a * b + c, which is rounded once. All
 * instruction sets give the same bytes. Scales point to one float each, finite and above 0; zeros are 0 .. 255.
 */

/*
 * dst(c, s) = byte(max(0, v) + slope[c] * min(0, v)) with v = (src(c, s) - srcZero) * srcScale.
 *
 *   src, dst   channels * spatial bytes; dst may be src        slope   channels floats        format   NCHW or NHWC
 */
void SimdSynetQuantizedPreluLayerForward(const uint8_t * src, const float * srcScale, int srcZero, size_t channels,
                                         size_t spatial, const float * slope, uint8_t * dst, const float * dstScale,
                                         int dstZero, SimdTensorFormatType format);

/* The same with byte(fma(v, scale[c], bias[c])); bias may be NULL for zeros. */
void SimdSynetQuantizedScaleLayerForward(const uint8_t * src, const float * srcScale, int srcZero, size_t channels,
                                         size_t spatial, const float * scale, const float * bias, uint8_t * dst,
                                         const float * dstScale, int dstZero, SimdTensorFormatType format);

/*
 * Concatenates `count` tensors, each of `num` rows of size[i] bytes, row by row: a row of dst has the sum of size. Each byte
 * becomes min(max(nearest((q + bias[i]) * norm[i] * scale[0]) + zero, 0), 255), the products from left to right.
 *
 *   src           count pointers            bias   of each source, minus its zero: -255 .. 0
 *   size          count sizes               norm   of each source, its scale
 *   scale, zero   of dst: 1 / its scale, and its zero
 */
void SimdSynetQuantizedConcatLayerForward(size_t count, const uint8_t ** src, size_t num, const size_t * size,
                                          const int32_t * bias, const float * norm, const float * scale, int32_t zero,
                                          uint8_t * dst);

/*
 * Shuffles channels, and requantises each byte as SimdSynetQuantizedConcatLayerForward() with bias and norm of its source.
 *
 *   type 0   of the channels of src0 followed by those of src1, the even ones become dst0, the odd ones dst1. src0 has srcC0
 *            channels, src1 has srcC1, and dst0 and dst1 have (srcC0 + srcC1) / 2 each
 *   type 1   the inverse: src0 and src1 have (srcC0 + srcC1) / 2 channels, dst0 has srcC0 and dst1 has srcC1
 *
 * srcC0 and srcC1 are even. format is NCHW or NHWC.
 */
void SimdSynetQuantizedShuffleLayerForward(const uint8_t * src0, int bias0, const float * norm0, size_t srcC0,
                                           const uint8_t * src1, int bias1, const float * norm1, size_t srcC1, size_t spatial,
                                           uint8_t * dst0, uint8_t * dst1, const float * scale, int zero,
                                           SimdTensorFormatType format, int type);

/*
 * Creates a context that adds two tensors of the same shape, each of floats or quantised bytes (SimdTensorData32f or
 * SimdTensorData8u). With f() for a rounding to float, if all three are bytes,
 *
 *   as = f(aScale / dstScale), bs = f(bScale / dstScale), t = f(dstZero - f(f(as * aZero) + f(bs * bZero)))
 *   dst[i] = min(max(nearest(fma(a[i], as, fma(b[i], bs, t))), 0), 255)
 *
 * which is QLinearAdd of ONNX; otherwise v = f(value of a[i] + value of b[i]), where the value of a float is the float, and
 * dst[i] is v, or byte(v).
 *
 *   aShape, bShape   aCount and bCount dimensions; both shapes must be equal
 *   aScale ...       NULL is 1. Scales and zeros of floats are ignored
 *   actType          Identity, or Relu: max(0, v), or of bytes at least dstZero. actParams is not used, and may be NULL
 *
 * Returns NULL on error. Release the context with SimdRelease().
 */
void * SimdSynetQuantizedAddInit(const size_t * aShape, size_t aCount, SimdTensorDataType aType, const float * aScale,
                                 int32_t aZero, const size_t * bShape, size_t bCount, SimdTensorDataType bType,
                                 const float * bScale, int32_t bZero, SimdConvolutionActivationType actType,
                                 const float * actParams, SimdTensorDataType dstType, const float * dstScale, int32_t dstZero);

/* Adds. dst may be a or b if the types are equal. */
void SimdSynetQuantizedAddForward(void * context, const uint8_t * a, const uint8_t * b, uint8_t * dst);

/* --------------------------------------------------------------------------------------- quantised convolution */

/*
 * Convolution as in SimdSynetConvolution32fInit() with 8-bit integers: unsigned inputs, signed weights, exact sums. Source
 * and destination are each float or uint8 (srcT and dstT: SimdTensorData32f or SimdTensorData8u, all four combinations).
 *
 * A tensor is quantised by the minimum and maximum of each of its channels, which are arguments of SetParams(). neg is true
 * if the minimum of any channel is below 0:
 *
 *   inv[c] = max(|min[c]|, |max[c]|) / (neg ? 127 : 255), or 1 if that is below 1e-7        scale[c] = 1 / inv[c]
 *   zero = neg ? 128 : 0                             byte of x: x * scale[c] + zero, to nearest even, clamped to 0 .. 255;
 *                                                    0 for NaN
 *
 * The value of a byte is (byte - zero) * inv[c]. Weights of output channel o, with n = weight / scale of its input channel:
 *
 *   ws = 127 / (largest |n|)        w8 = n * ws to nearest even, clamped to -128 .. 127        norm[o] = 1 / ws
 *   b[o] = bias[o] - zero of src * (sum of w8) / ws                     if all n are 0: w8, norm and 1 / ws are 0
 *
 * Forward() quantises a float source, pads with the byte `zero`, and computes
 *
 *   dst(o, y, x) = activation((sum of byte * w8) * norm[o] + b[o])
 *
 * as a float, or converted to a byte as above, in float32 with each operation rounded separately in the order written; the
 * sum is an integer. All instruction sets give bit-identical results, except with Elu: bytes differ by at most 1, floats by
 * at most 4 units in the last place. Sums are 32 bits wide and wrap around; this requires at least 66,312 products.
 *
 * The other parameters are as in SimdSynetConvolution32fInit(). src and dst point to elements of the declared types, at any
 * byte address.
 */
void * SimdSynetConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetConvolution8iExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights and all else given to SetParams(); 0 before SetParams(). */
size_t SimdSynetConvolution8iInternalBufferSize(const void * context);

/*
 * Sets the weights and statistics, which are copied. It may be called again, but not while Forward() runs.
 *
 *   weight, bias, params   floats as in SimdSynetConvolution32fSetParams(); they, norm and b must be finite
 *   stats                  four arrays of finite floats: minima and maxima of the source (srcC each), minima and maxima of
 *                          the destination (dstC each); no minimum may exceed its maximum. All four are required, also for
 *                          float tensors
 *
 * On error the context is unchanged.
 */
void SimdSynetConvolution8iSetParams(void * context, const float * weight, const float * bias, const float * params,
                                     const float * const * stats);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes, see SimdSynetConvolution32fForward(). */
void SimdSynetConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/*
 * Convolution as in SimdSynetConvolution32fInit() of quantised bytes: srcT and dstT are SimdTensorData8u. A tensor has one
 * scale and one zero point, a byte q of it the value (q - zero) * scale; weights are signed bytes, with a scale for each
 * output channel. With f() for a rounding to float, and nearest to even,
 *
 *   sum(o, y, x) = bias[o] + sum of (src - ioZero[0]) * weight                                     an exact integer
 *   norm[o]      = f(f(ioScale[0] * weightScale[o]) / d)       d = ioScale[2] with Identity, else ioScale[1]
 *   dst          = min(max(nearest(f(f(sum) * norm[o])) + ioZero[2], 0), 255)                      with Identity
 *
 * which is QLinearConv of ONNX. Other activations are computed from bytes of an intermediate tensor:
 *
 *   i   = min(max(nearest(f(f(sum) * norm[o])), -ioZero[1]), 255 - ioZero[1])
 *   dst = min(max(nearest(f(activation(f(i * ioScale[1])) * f(1 / ioScale[2]))) + ioZero[2], 0), 255)       0 for NaN
 *
 * Padding is the byte ioZero[0]. All instruction sets give the same bytes. Sums are 32 bits wide and wrap around. The other
 * parameters are as in SimdSynetConvolution32fInit().
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetQuantizedConvolutionInit(size_t batch, const SimdConvolutionParameters * conv);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetQuantizedConvolutionExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights and all else given to SetParams(); 0 before SetParams(). */
size_t SimdSynetQuantizedConvolutionInternalBufferSize(const void * context);

/*
 * Sets the weights, scales and zero points, which are copied. It may be called again, but not while Forward() runs.
 *
 *   ioScale, ioZero   three each: of the source, between sum and activation, of dst. Scales are finite and above 0; those in
 *                     the middle are not used with Identity
 *   weight            int8 numbers in the layout of SimdSynetConvolution32fSetParams()
 *   weightScale       dstC floats, finite and above 0; all norm are finite
 *   bias              dstC integers in units of ioScale[0] * weightScale[o], or NULL for zeros
 *   params            as of SimdSynetConvolution32fSetParams()
 *
 * On error the context is unchanged.
 */
void SimdSynetQuantizedConvolutionSetParams(void * context, const float * ioScale, const uint8_t * ioZero,
                                            const int8_t * weight, const float * weightScale, const int32_t * bias,
                                            const float * params);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes, see SimdSynetConvolution32fForward(). */
void SimdSynetQuantizedConvolutionForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/*
 * Two or three convolutions of quantised bytes in sequence, as in SimdSynetMergedConvolution32fInit(): an expansion, a depthwise
 * convolution and a projection, or the first or the last two of these. Each computes what SimdSynetQuantizedConvolutionInit()
 * states with Identity, with ioScale[i] and ioZero[i] of its source, ioScale[i + 1] and ioZero[i + 1] of its result.
 *
 * With add and three convolutions the source is added to the result. With a the result and b the source if add is 1, the
 * source and the result if it is 2, scales sa, sb and zero points za, zb of these, f() for a rounding to float and fma() for a
 * product and a sum that are rounded once,
 *
 *   na  = f(sa / ioScale[4])         nb = f(sb / ioScale[4])         t = f(ioZero[4] - fma(na, za, f(nb * zb)))
 *   dst = min(max(nearest(fma(a, na, fma(b, nb, t))), 0), 255)
 *
 *   conv    `count` shapes, NHWC, all types SimdTensorData8u, all activations Identity: other limits, as of Relu, are those of
 *           the bytes. Strides may differ; the projection has no padding
 *   add     0, 1 or 2; 0 for two convolutions. Otherwise source and result have the same shape
 *
 * All instruction sets give the same bytes. Returns NULL on error. Then SetParams(), then Forward() any number of times, then
 * SimdRelease().
 */
void * SimdSynetQuantizedMergedConvolutionInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, int add);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetQuantizedMergedConvolutionExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights and all else given to SetParams(); 0 before SetParams(). */
size_t SimdSynetQuantizedMergedConvolutionInternalBufferSize(const void * context);

/*
 * Sets the weights, scales and zero points, which are copied. It may be called again, but not while Forward() runs.
 *
 *   ioScale, ioZero       of the source and of the result of each convolution, count + 1 numbers, and with add of the sum, at
 *                         index 4; scales are finite and above 0
 *   weight, weightScale   `count` arrays each, as in SimdSynetQuantizedConvolutionSetParams()
 *   bias                  likewise; an element, or bias itself, may be NULL for zeros
 *
 * On error the context is unchanged.
 */
void SimdSynetQuantizedMergedConvolutionSetParams(void * context, const float * ioScale, const uint8_t * ioZero,
                                                  const int8_t * const * weight, const float * const * weightScale,
                                                  const int32_t * const * bias);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes; dst must not overlap src, not even with add. */
void SimdSynetQuantizedMergedConvolutionForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* --------------------------------------------------------------------------------------------- bfloat16 convolution */

/*
 * Convolution as in SimdSynetConvolution32fInit() with bfloat16 numbers, half the size of floats: source and destination are
 * each float or bfloat16 (srcT and dstT: SimdTensorData32f or SimdTensorData16b, all four combinations). It computes
 *
 *   dst(o, y, x) = convert(activation(bias[o] + sum of round(src) * round(weight)))
 *
 * where round is to the nearest bfloat16, ties to even, with subnormals kept; sums and activation are computed in float32;
 * and convert rounds in the same way if the destination is bfloat16. In NHWC a depthwise convolution of several channels
 * (group = srcC = dstC) rounds neither a float source nor the weights. Products of bfloat16 numbers are exact in float32.
 * The error of the sum of n products and the bias is at most (n + 3) * 2^-23 * (sum of |product| + |bias|).
 *
 * The instructions of avx512bf16 and amx treat subnormal numbers as zeros: there, bfloat16 numbers, sums and results below 2^-126
 * may be replaced by 0, which adds the sum of |src * weight| over the subnormal numbers, and (n + 3) * 2^-126, to the bound.
 *
 * compatibility has no effect. The other parameters are as in SimdSynetConvolution32fInit(). src and dst point to elements
 * of the declared types, at any byte address.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv,
                                   SimdSynetCompatibilityType compatibility);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetConvolution16bExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetConvolution16bInternalBufferSize(const void * context);

/* Sets the weights: floats as in SimdSynetConvolution32fSetParams(), which are copied; the weights are rounded as above.
 * It may be called again, but not while Forward() runs. On error the context is unchanged. */
void SimdSynetConvolution16bSetParams(void * context, const float * weight, const float * bias, const float * params);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes, see SimdSynetConvolution32fForward(). */
void SimdSynetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* ------------------------------------------------------------------------------------------- bfloat16 deconvolution */

/*
 * Deconvolution as in SimdSynetDeconvolution32fInit() with bfloat16 numbers: source and destination are each float or
 * bfloat16 (srcT and dstT), the source and the weights are rounded, depthwise as well, and products are summed with the bias
 * in float32 before the activation, as in SimdSynetConvolution16bInit(), whose error it has. compatibility has no effect.
 *
 * With stride 1 it is a convolution of bfloat16 numbers. With any other stride it is computed by floats, and takes longer
 * than SimdSynetDeconvolution32fForward(), by the conversion of the images: its workspace has the image as floats.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetDeconvolution16bInit(size_t batch, const SimdConvolutionParameters * conv,
                                     SimdSynetCompatibilityType compatibility);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetDeconvolution16bExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetDeconvolution16bInternalBufferSize(const void * context);

/* Sets the weights: floats as in SimdSynetDeconvolution32fSetParams(), which are copied; the weights are rounded. It may be
 * called again, but not while Forward() runs. On error the context is unchanged. */
void SimdSynetDeconvolution16bSetParams(void * context, const float * weight, const float * bias, const float * params);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes, see SimdSynetDeconvolution32fForward(). */
void SimdSynetDeconvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* ------------------------------------------------------------------------------------- bfloat16 merged convolution */

/*
 * Two or three convolutions as in SimdSynetMergedConvolution32fInit() with bfloat16 numbers. The source and the result are
 * each float or bfloat16: srcT of the first and dstT of the last convolution; the other types must be one of the two, and
 * have no effect. With round and convert of SimdSynetConvolution16bInit(), sums and activations in float32,
 *
 *   expansion    multiplies round(src) by round(weight); its result is float
 *   depthwise    multiplies its source by its weight, neither of which is rounded; before a projection its result is rounded
 *   projection   multiplies these numbers by round(weight)
 *
 * and the result of the last is convert(activation(sum + bias)). With add and three convolutions the source, not rounded, is
 * added to that sum before the activation. Strides may differ; the projection has no padding.
 *
 * A number between depthwise and projection that is near the middle of two bfloat16 numbers may be rounded to either, which
 * changes results by up to 2^-8 * |number * weight|.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetMergedConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetMergedConvolution16bExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights, biases and parameters; 0 before SetParams(). */
size_t SimdSynetMergedConvolution16bInternalBufferSize(const void * context);

/* Sets the weights: arrays of `count` elements as in SimdSynetMergedConvolution32fSetParams(), whose floats are copied. It
 * may be called again, but not while Forward() runs. On error the context is unchanged. */
void SimdSynetMergedConvolution16bSetParams(void * context, const float * const * weight, const float * const * bias,
                                            const float * const * params);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes; dst must not overlap src, not even with add. */
void SimdSynetMergedConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* ---------------------------------------------------------------------------------------- 8-bit merged convolution */

/*
 * Two or three convolutions as in SimdSynetMergedConvolution32fInit() whose products are of bytes. The source and the result are
 * each float or uint8_t: srcT of the first and dstT of the last convolution; the other types must be one of the two, and have no
 * effect. With the statistics, bytes and weights of SimdSynetConvolution8iInit(), sums and activations in float32,
 *
 *   expansion    quantises a float source by the first statistics, and multiplies bytes by bytes of its weight; its result is
 *                float
 *   depthwise    multiplies floats by its weight, as in SimdSynetConvolution32fInit(): results of the expansion, a float source,
 *                or, of a source of bytes, f(f(byte * inv) + f(-zero * inv)) by the first statistics, f rounding to float
 *   projection   quantises the result of the depthwise convolution by the second statistics, and multiplies as the expansion does
 *
 * and a result of bytes is quantised by the third statistics. Between expansion and depthwise nothing is rounded to bytes. Both
 * strides of a convolution are equal; the projection has no padding. `compatibility` has no effect: sums are exact, and wrap
 * around at 32 bits.
 *
 * A number between depthwise and projection that is near the middle of two bytes may become either, which changes results by up to
 * inv of the second statistics * |weight|; results of a depthwise convolution as bytes may differ by 1 likewise.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetMergedConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv, size_t count,
                                        SimdSynetCompatibilityType compatibility);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetMergedConvolution8iExternalBufferSize(const void * context);

/* The number of bytes that the context holds: packed weights and all else given to SetParams(); 0 before SetParams(). */
size_t SimdSynetMergedConvolution8iInternalBufferSize(const void * context);

/*
 * Sets the weights and statistics, which are copied. It may be called again, but not while Forward() runs.
 *
 *   weight, bias, params   arrays of `count` elements as in SimdSynetMergedConvolution32fSetParams()
 *   internal               NULL, or `count` elements that become SimdTrue: the floats are copied
 *   stats                  six arrays: minima and maxima of the source (its srcC each), of the source of the last convolution
 *                          (its srcC each), and of the result (dstC each), as in SimdSynetConvolution8iSetParams(). A pair that
 *                          has no effect may be NULL: the first for a depthwise convolution of floats, the second without a
 *                          projection, the third for a result of floats
 *
 * On error the context is unchanged.
 */
void SimdSynetMergedConvolution8iSetParams(void * context, const float * const * weight, SimdBool * internal,
                                           const float * const * bias, const float * const * params,
                                           const float * const * stats);

/* Computes `batch` images. buf is NULL or ExternalBufferSize() bytes; dst must not overlap src. */
void SimdSynetMergedConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* ------------------------------------------------------------------------------------------- bfloat16 inner product */

/*
 * Inner products as in SimdSynetInnerProduct32fInit() with bfloat16 numbers:
 *
 *   C[i * N + j] = convert(activation(bias[j] + sum over k of round(A[i * K + k]) * round(B(k, j))))
 *
 * with round and convert, sums in float32 and the error of SimdSynetConvolution16bInit(). With K 0 it is the activation of
 * the bias.
 *
 *   typeA, typeB, typeC   the types of A, B and C: SimdTensorData32f or SimdTensorData16b. With constB, B is the `weight` of
 *                         SetParams(), which has floats, and typeB has no effect
 *
 * The other arguments are those of SimdSynetInnerProduct32fInit(). Without constB each call packs B into its buffer, which
 * takes longer than the product of a few rows.
 *
 * Returns NULL on error. Then SetParams(), also without constB, then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetInnerProduct16bInit(size_t M, size_t N, size_t K, SimdTensorDataType typeA, SimdTensorDataType typeB,
                                    SimdTensorDataType typeC, SimdBool transB, SimdBool constB, SimdBool bias,
                                    SimdConvolutionActivationType activation);

/* The number of bytes that the context holds: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetInnerProduct16bInternalBufferSize(const void * context);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetInnerProduct16bExternalBufferSize(const void * context);

/* Sets the parameters: floats as in SimdSynetInnerProduct32fSetParams(), which are copied; the weights are rounded. It may
 * be called again, but not while Forward() runs. On error the context is unchanged. */
void SimdSynetInnerProduct16bSetParams(void * context, const float * weight, const float * bias, const float * params);

/* Computes M rows. B is ignored, and may be NULL, if constB is SimdTrue; buf is NULL or ExternalBufferSize() bytes, see
 * SimdSynetInnerProduct32fForward(). */
void SimdSynetInnerProduct16bForward(void * context, const uint8_t * A, const uint8_t * B, uint8_t * buf, uint8_t * C);

/* ------------------------------------------------------------------------------------------ inner products of bytes */

/*
 * Inner products of M rows of quantised bytes, as QLinearMatMul of ONNX: C of M x N bytes is the product of A, M x K bytes, and
 * B, K x N signed bytes with a scale for each column. With f() for a rounding to float, and nearest to even,
 *
 *   sum(i, j) = bias[j] + sum over k of (A[i * K + k] - aZero) * B(k, j)                          an exact integer
 *   norm[j]   = f(f(aScale * bScale[j]) / cScale)
 *   C         = min(max(nearest(f(f(sum) * norm[j])) + cZero, 0), 255)
 *
 * All instruction sets give the same bytes. Sums are 32 bits wide and wrap around. With K 0 a sum is the bias.
 *
 *   typeA, typeB, typeC   SimdTensorData8u, SimdTensorData8i, SimdTensorData8u
 *   transB                B(k, j) is b[k * N + j], or b[j * K + k] if it is SimdTrue
 *   constB                SimdTrue: B is an argument of SetParams()
 *   bias                  has no effect: whether there is a bias depends on the argument of SetParams()
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetQuantizedInnerProductInit(size_t M, size_t N, size_t K, SimdTensorDataType typeA, SimdTensorDataType typeB,
                                          SimdTensorDataType typeC, SimdBool transB, SimdBool constB, SimdBool bias);

/* The number of bytes that the context holds: packed weights and all else given to SetParams(); 0 before SetParams(). */
size_t SimdSynetQuantizedInnerProductInternalBufferSize(const void * context);

/* The size in bytes of the buffer that Forward() accepts; at least 1, and constant for a context. */
size_t SimdSynetQuantizedInnerProductExternalBufferSize(const void * context);

/*
 * Sets the weights, scales and zero points, which are copied. It may be called again, but not while Forward() runs.
 *
 *   aScale, cScale   one number each, finite and above 0
 *   aZero, cZero     one byte each, or NULL for 0
 *   b                N * K numbers; NULL only if there are none
 *   bScale           N floats, finite and above 0; all norm are finite
 *   bias             N integers in units of aScale * bScale[j], or NULL for zeros
 *
 * On error the context is unchanged.
 */
void SimdSynetQuantizedInnerProductSetParams(void * context, const float * aScale, const uint8_t * aZero, const int8_t * b,
                                             const float * bScale, const int32_t * bias, const float * cScale,
                                             const uint8_t * cZero);

/* Computes M rows. B is ignored, and may be NULL; buf is NULL or ExternalBufferSize() bytes, see
 * SimdSynetInnerProduct32fForward(). C must not overlap A. */
void SimdSynetQuantizedInnerProductForward(void * context, const uint8_t * A, const uint8_t * B, uint8_t * buf, uint8_t * C);

/*
 * The sums of an inner product of bytes: dst of M x N integers, for any M, N and K.
 *
 *   dst[i * N + j] = sum over k of src[i * K + k] * weight[j * K + k]           exact; wraps around at 32 bits; 0 for K 0
 *
 *   src             M rows of K bytes
 *   weight          N rows of K signed bytes, packed in each call: a context of SimdSynetQuantizedInnerProductInit() packs once
 *   compatibility   a SimdSynetCompatibilityType; sums are exact for every one
 *
 * dst must overlap neither src nor weight. Arrays without elements may be NULL.
 */
void SimdSynetInnerProduct8i(size_t M, size_t N, size_t K, const uint8_t * src, const int8_t * weight, int32_t * dst,
                             SimdSynetCompatibilityType compatibility);

/* --------------------------------------------------------------------------------------------------- winograd */
/*
 * The transforms of Winograd's convolution (arXiv:1509.09308) with stride 1. SimdWinogradKernel<Y>x<X>Block<y>x<x>... has a
 * kernel of Y x X taps and computes the output in tiles of y x x. A tile has (y + Y - 1) x (x + X - 1) = tY x tX inputs
 * and as many coefficients, T = tY * tX; each coefficient t = row * tX + column is stored in a plane of its own:
 *
 *   SetFilter   U = G g G'      SetInput   V = B' d B      SetOutput   Y = A' M A      (' is transposed)
 *
 * for each filter g, tile of inputs d and tile of products M; for each coefficient t, M is the product of the matrices U and
 * V (below). For kernels of one row, U = g G', V = d B, Y = M A. The rows of the matrices:
 *
 *   1x3 by 4,   B'  4  0 -5  0  1  0     0 -4 -4  1  1  0     0  4 -4 -1  1  0     0 -2 -1  2  1  0     0  2 -1 -2  1  0
 *   3x3 by 4        0  4  0 -5  0  1
 *               G   1/4 0 0     -1/6 -1/6 -1/6     -1/6 1/6 -1/6     1/24 1/12 1/6     1/24 -1/12 1/6     0 0 1
 *               A'  1 1 1 1 1 0     0 1 -1 2 -2 0     0 1 1 4 4 0     0 1 -1 8 -8 1
 *   1x5 by 4    B'  36 0 -49 0 14 0 -1 0     0 36 36 -13 -13 1 1 0     0 -36 36 13 -13 -1 1 0     0 18 9 -20 -10 2 1 0
 *                   0 -18 9 20 -10 -2 1 0     0 12 4 -15 -5 3 1 0     0 -12 4 15 -5 -3 1 0     0 -36 0 49 0 -14 0 1
 *               G   (1 0 0 0 0) / 36     (1 1 1 1 1) / 48     (1 -1 1 -1 1) / 48     (-1 -2 -4 -8 -16) / 120
 *                   (-1 2 -4 8 -16) / 120     (1 3 9 27 81) / 720     (1 -3 9 -27 81) / 720     0 0 0 0 1
 *               A'  1 1 1 1 1 1 1 0     0 1 -1 2 -2 3 -3 0     0 1 1 4 4 9 9 0     0 1 -1 8 -8 27 -27 1
 *   2x2 by 2    B'  1 -1 0     0 1 0     0 -1 1          G   1 0     1 1     0 1          A'  1 1 0     0 1 1
 *   2x2 by 4    B'  2 -1 -2 1 0     0 -2 -1 1 0     0 2 -3 1 0     0 -1 0 1 0     0 2 -1 -2 1
 *               G   1/2 0     -1/2 -1/2     -1/6 1/6     1/6 1/3     0 1
 *               A'  1 1 1 1 0     0 1 -1 2 0     0 1 1 4 0     0 1 -1 8 1
 *   3x3 by 2    B'  1 0 -1 0     0 1 1 0     0 -1 1 0     0 1 0 -1
 *               G   1 0 0     1/2 1/2 1/2     1/2 -1/2 1/2     0 0 1          A'  1 1 1 0     0 1 -1 -1
 *   3x3 by 3    B'  as 2x2 by 4
 *               G   1/2 0 0     -1/2 -1/2 -1/2     -1/6 1/6 -1/6     1/6 1/3 2/3     0 0 1
 *               A'  1 1 1 1 0     0 1 -1 2 0     0 1 1 4 1
 *
 * Arrays, for C input and D output channels. There are n = tilesY * tilesX tiles in row-major order, with
 * tilesY = ceil(dstHeight / y) and tilesX likewise:
 *
 *               trans SimdFalse (NCHW)                               trans SimdTrue (NHWC)
 *   SetFilter   src [size][Y * X], i = o * C + c (Oiyx)              src [Y * X][size], i = c * D + o (Yxio)
 *               dst t * size + i                                     dst t * size + i
 *   SetInput    src [C][srcHeight][srcWidth]                         src [srcHeight][srcWidth][C]
 *               dst t * dstStride + c * n + tile                     dst t * dstStride + tile * C + c
 *   SetOutput   src t * srcStride + o * n + tile                     src t * srcStride + tile * D + o
 *               dst [D][dstHeight][dstWidth]                         dst [dstHeight][dstWidth][D]
 *   product     M(D x n) = U(D x C) * V(C x n)                       M(n x D) = V(n x C) * U(C x D)
 *
 *   size        C * D
 *   padY ...    zeros at the top, left, bottom (padH) and right (padW); any number. The output of the convolution, and of
 *               SetOutput, has the size dstHeight = srcHeight + padY + padH - Y + 1 and
 *               dstWidth = srcWidth + padX + padW - X + 1
 *   strides     floats from one plane to the next, at least C * n (D * n). Floats between planes are neither read nor
 *               written: the array has (T - 1) * stride + C * n (D * n) elements
 *
 * Inputs outside the image are 0; outputs outside the result are not written. An infinity or a NaN among the inputs of a
 * tile may make all its outputs NaN.
 */

void SimdWinogradKernel1x3Block1x4SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel1x3Block1x4SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel1x3Block1x4SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel1x5Block1x4SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel1x5Block1x4SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel1x5Block1x4SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel2x2Block2x2SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel2x2Block2x2SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel2x2Block2x2SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel2x2Block4x4SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel2x2Block4x4SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel2x2Block4x4SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel3x3Block2x2SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel3x3Block2x2SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel3x3Block2x2SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel3x3Block3x3SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel3x3Block3x3SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel3x3Block3x3SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

void SimdWinogradKernel3x3Block4x4SetFilter(const float * src, size_t size, float * dst, SimdBool trans);
void SimdWinogradKernel3x3Block4x4SetInput(const float * src, size_t srcChannels, size_t srcHeight, size_t srcWidth,
                                           size_t padY, size_t padX, size_t padH, size_t padW, float * dst, size_t dstStride,
                                           SimdBool trans);
void SimdWinogradKernel3x3Block4x4SetOutput(const float * src, size_t srcStride, float * dst, size_t dstChannels,
                                            size_t dstHeight, size_t dstWidth, SimdBool trans);

/* ------------------------ errors and instruction sets: from here on, extensions that the Simd Library does not have */

/* The version of this library as a number, major * 10000 + minor * 100 + patch; SIMDNET_VERSION_NUMBER is that of the header
 * that a program was compiled with. */
int SimdnetVersionNumber(void);

/* A message that explains why the last call of this thread failed; "" after a successful call. Valid until the next call of
 * this thread. */
const char * SimdnetLastError(void);

/* The kind of that error: 0 none, 1 an invalid argument, 2 memory exhausted, 3 a function called in the wrong state (Forward
 * before SetParams ...). Errors also set errno: EINVAL, or ENOMEM for kind 2. */
int SimdnetLastErrorKind(void);

/* The name of the instruction set in use. A static string. */
const char * SimdnetActiveIsa(void);

/* Selects instruction set `name` for the following calls, or the last one before it that the machine supports; NULL selects
 * the default. Existing contexts keep their instruction set. Returns SimdFalse, and changes nothing, if this library has no
 * instruction set of that name. */
SimdBool SimdnetSetMaxIsa(const char * name);

/* The names of the instruction sets of this machine, oldest first; NULL past the end. Static strings. */
const char * SimdnetIsaLevel(size_t index);

/*
 * What contexts of convolutions and of inner products are to spare.
 *
 *   Speed    the algorithm that takes the least time, for many layers of 3x3, 5x5, 1x3, ... Winograd's. Its sums are 8 to 20
 *            times less exact than direct ones; a NaN or an infinity among the inputs reaches all outputs of its tile (2 to 6
 *            pixels each way); its packed weights take 1.3 to 4 times the bytes of the weights that are given
 *   Memory   the least bytes of packed weights and buffers, without Winograd's algorithm
 *   Exact    direct sums only: chains of multiply-adds, and a NaN reaches only the outputs that it belongs to
 *   Bfloat16 speed; and contexts of floats multiply their inputs and weights as bfloat16 numbers, rounded to nearest, 8 bits of
 *            precision, with sums of floats, where that takes less time: on `amx`, Convolution32f, MergedConvolution32f and
 *            InnerProduct32f with constant B, of at least 8 inputs and outputs of a group, 2 to 4 times as fast. The result is
 *            that of the context of bfloat16 numbers (SimdSynetConvolution16bInit(), ...) whose source and result are floats.
 *            Elsewhere it is the same as Speed. SimdnetAttention(), which has no context, has a member for it
 */
typedef enum {
    SimdnetPreferSpeed = 0,
    SimdnetPreferMemory = 1,
    SimdnetPreferExact = 2,
    SimdnetPreferBfloat16 = 3
} SimdnetPreferenceType;

/*
 * What the contexts of convolutions and inner products that the calling thread makes afterwards are to spare;
 * SimdnetPreferSpeed unless it is set. Contexts that exist, and those of other threads, keep theirs. Two contexts with different
 * algorithms cannot share parameters, see SimdnetShareParams(). SimdnetSetPreference() returns SimdFalse, and changes nothing,
 * for any other value.
 */
SimdnetPreferenceType SimdnetGetPreference(void);
SimdBool SimdnetSetPreference(SimdnetPreferenceType preference);

/*
 * Sets what the library reports about its calls. 0: nothing. 1: calls are counted and timed for SimdPerformanceStatistic().
 * 2: in addition, each call writes a line to stderr. The environment variable SIMDNET_VERBOSE sets the initial level; any
 * other value there is ignored, with one line on stderr. With 1 and 2 the library writes one line with its version and the
 * machine to stderr, once. A change from 0 to 1 or 2 starts a new table. Returns SimdFalse, and changes nothing, for any
 * other level.
 */
SimdBool SimdnetSetVerbose(int level);

/* The algorithm, register tile and instruction set of a context. The string is valid as long as the context; NULL if the
 * pointer is not a context. */
const char * SimdnetContextInfo(const void * context);

/* The same of a context of one kind: names of the Simd Library. A context of another kind is refused. */
const char * SimdSynetConvolution32fInfo(const void * context);
const char * SimdSynetConvolution8iInfo(const void * context);
const char * SimdSynetConvolution16bInfo(const void * context);
const char * SimdSynetDeconvolution16bInfo(const void * context);
const char * SimdSynetInnerProduct16bInfo(const void * context);
const char * SimdSynetMergedConvolution16bInfo(const void * context);
const char * SimdSynetMergedConvolution8iInfo(const void * context);
const char * SimdSynetQuantizedConvolutionInfo(const void * context);
const char * SimdSynetQuantizedInnerProductInfo(const void * context);
const char * SimdSynetQuantizedMergedConvolutionInfo(const void * context);
const char * SimdSynetDeconvolution32fInfo(const void * context);
const char * SimdSynetMergedConvolution32fInfo(const void * context);

/* --------------------------------------------------------------------- contexts with an addition and channel slices */

/*
 * SimdSynetConvolution32fForward() with an addition before the activation, as at the end of a residual block:
 *
 *   dst(o, y, x) = activation(bias[o] + add(o, y, x) + sum of src * weight)
 *
 * add has the shape and the layout of dst, batch * dstC * dstH * dstW floats, and may be src. Like bias[o], it is a term of
 * the sum. The order in which terms are added depends on the algorithm, and is the same for all calls with a context.
 */
void SimdnetConvolution32fForwardAdd(void * context, const float * src, float * buf, const float * add, float * dst);

/* Where SimdnetForward() adds. */
typedef enum {
    SimdnetAddBeforeActivation = 0, /* activation(sum + add) */
    SimdnetAddAfterActivation = 1   /* activation(sum) + add */
} SimdnetAddOrder;

/* The arguments of SimdnetForward(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetForwardParameters {
    size_t size;                         /* sizeof(SimdnetForwardParameters)                                           */
    const void * src;                    /* the source                                                                 */
    const void * add;                    /* NULL, or an array that is added, with the shape and element type of dst    */
    void * dst;                          /* the result                                                                 */
    void * buf;                          /* NULL, or the buffer of the context's own Forward function                  */
    size_t srcPixel, addPixel, dstPixel; /* NHWC: the distance between pixels, in elements; 0 means dense               */
    SimdnetAddOrder order;               /* of the addition; before the activation if 0                                */
} SimdnetForwardParameters;

/*
 * Runs the Forward function of any context of images on channel slices: a convolution can read some channels of a larger
 * NHWC image, or write its part of a concatenation, in place.
 *
 * Pixel i of the source begins at element i * srcPixel, pixel i of `add` at i * addPixel, and pixel i of dst at
 * i * dstPixel, counted through all images of the batch; each has its channels one after another. The elements between
 * pixels are neither read nor written. dst may be other channels of the array of src or add, as long as they have no element
 * in common. A distance may be 0, for dense pixels, or at least the number of channels; in NCHW it must be 0 or the
 * number of channels. The bits of the result do not depend on distances.
 *
 * The contexts and what they add: Convolution32f, InnerProduct32f (whose rows are pixels), Deconvolution32f and
 * MergedConvolution32f (whose own addition must then be off) add floats; Convolution16b, Deconvolution16b and InnerProduct16b
 * add floats to results that are floats; QuantizedConvolution and QuantizedInnerProduct add bytes if
 * SimdnetQuantizedSetParams() says how. For Convolution8i, other merged convolutions and results in bfloat16 `add` must be
 * NULL. The two operands of Add16b are src and `add`; in
 * NHWC its channels are the last dimension of its shapes, in other formats distances must be 0 or the number of all
 * elements. If `add` is NULL the order has no effect. A Permute and a Resize add nothing. Contexts that have arrays of
 * another kind (GridSample2d, GatherElements, Recurrent, Resizer) are refused.
 *
 * Before the activation, `add` is one of the terms of the sum, as in SimdnetConvolution32fForwardAdd(). An addition after
 * the activation, or one whose addPixel is not dstPixel, takes another pass over the result; so does one before the
 * activation of a Deconvolution32f or of a context of bfloat16 numbers, and of a Convolution32f that is depthwise or has few
 * outputs.
 *
 * A struct of a later version may be larger, up to 4096 bytes: bytes beyond the members of this version must be 0.
 */
void SimdnetForward(void * context, const SimdnetForwardParameters * parameters);

/* ---------------------------------------------------------------------------------------------- resizing as in ONNX */

/* What SimdnetResizeForward() computes: the methods of ONNX Resize, and means of areas. */
typedef enum {
    SimdnetResizeNearest = 0,
    SimdnetResizeLinear = 1,
    SimdnetResizeCubic = 2,
    SimdnetResizeArea = 3
} SimdnetResizeMethod;

/* The position of output i of m in an axis of n elements; s is the scale, m / n unless it is given. */
typedef enum {
    SimdnetResizeHalfPixel = 0,         /* (i + 0.5) / s - 0.5                                                       */
    SimdnetResizePytorchHalfPixel = 1,  /* the same, or 0 if m is 1                                                  */
    SimdnetResizeAlignCorners = 2,      /* i * (n - 1) / (m - 1), or 0 if m is 1                                     */
    SimdnetResizeAsymmetric = 3,        /* i / s                                                                     */
    SimdnetResizeHalfPixelSymmetric = 4 /* n / 2 * (1 - m / (s * n)) + (i + 0.5) / s - 0.5                           */
} SimdnetResizeCoordinates;

/* Which element is nearest to a position: halves are rounded down or up, or everything is. */
typedef enum {
    SimdnetResizeRoundPreferFloor = 0,
    SimdnetResizeRoundPreferCeil = 1,
    SimdnetResizeFloor = 2,
    SimdnetResizeCeil = 3
} SimdnetResizeRounding;

/* The arguments of SimdnetResizeInit(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetResizeParameters {
    size_t size;                           /* sizeof(SimdnetResizeParameters)                                          */
    SimdTensorDataType dataType;           /* SimdTensorData32f or SimdTensorData8u                                    */
    SimdTensorFormatType format;           /* NCHW or NHWC                                                             */
    size_t batch, channels;                /* images, and channels of a pixel                                          */
    size_t srcH, srcW, dstH, dstW;         /* the sizes of an image                                                    */
    SimdnetResizeMethod method;            /* what is computed                                                         */
    SimdnetResizeCoordinates coordinates;  /* where outputs lie in the source; ignored by Area                         */
    SimdnetResizeRounding rounding;        /* of Nearest                                                               */
    float scaleY, scaleX;                  /* the scale from which dst was rounded; 0 means dst / src                  */
    float cubic;                           /* of Cubic: the coefficient of the kernel, -16 to 16; 0 is -0.75           */
    SimdBool antialias;                    /* Linear, Cubic: a wider kernel along an axis that shrinks                 */
    SimdBool excludeOutside;               /* Linear, Cubic: weights outside are 0, the others normalized              */
} SimdnetResizeParameters;

/*
 * Creates a context that resizes images by the rules of ONNX Resize (version 19 of the operator; without
 * tf_crop_and_resize). SimdRelease() frees it.
 *
 * An output is the sum over elements of the source of weight * element, with the product of two weights, one of each axis:
 * Nearest has one element; Linear the triangle 1 - |d| of the distance d from the position; Cubic Keys' kernel of the
 * coefficient a = `cubic`, (a + 2) |d|^3 - (a + 3) d^2 + 1 up to 1, a |d|^3 - 5 a d^2 + 8 a |d| - 4 a up to 2; Area the part
 * of the element that lies between i / s and (i + 1) / s. Elements outside are the nearest ones inside. With antialias and
 * s < 1 the kernel is that of d * s, with weights whose sum is 1. Weights are computed in double and rounded to float, sums
 * are computed in float, along rows first; bytes are rounded at the end, to nearest, halves to even, and limited to
 * 0 .. 255. Elements of weight 0 next to those of other weights count: an infinity there gives NaN. Nearest keeps all bits.
 *
 * Positions by a scale that is given are computed in float, as ONNX Runtime does: each operation of the formulas of
 * SimdnetResizeCoordinates is rounded to float, in HalfPixelSymmetric what follows n / 2 * (1 - m / (s * n)) once at the
 * end, and RoundPreferFloor and RoundPreferCeil take what is within 1e-6 of a half for a half. A scale of 1 gives i itself.
 * On an axis of more than 2^23 elements, and without a scale, they are computed in double.
 */
void * SimdnetResizeInit(const SimdnetResizeParameters * parameters);

/*
 * Resizes a batch of images. SimdnetForward() does the same, with distances between pixels.
 *
 *   src   batch * channels * srcH * srcW elements
 *   dst   batch * channels * dstH * dstW elements
 */
void SimdnetResizeForward(void * context, const void * src, void * dst);

/* ------------------------------------------------------------- pooling and element-wise functions on channel slices */

/* What SimdnetPooling() computes of each window. */
typedef enum {
    SimdnetPoolingMax = 0,    /* SimdSynetPoolingMax32f(), SimdSynetPoolingMax16b(), SimdSynetPoolingMax8u() */
    SimdnetPoolingAverage = 1 /* SimdSynetPoolingAverage()                                                   */
} SimdnetPoolingType;

/* The arguments of SimdnetPooling(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetPoolingParameters {
    size_t size;                 /* sizeof(SimdnetPoolingParameters)                                               */
    SimdnetPoolingType type;     /* maximum or average                                                             */
    SimdTensorDataType dataType; /* of src and dst: SimdTensorData32f, SimdTensorData16b; for maxima also 8u       */
    SimdTensorFormatType format; /* SimdTensorFormatNchw or SimdTensorFormatNhwc                                   */
    const void * src;            /* the source                                                                     */
    void * dst;                  /* the result                                                                     */
    size_t srcPixel, dstPixel;   /* NHWC: the distance between pixels, in elements; 0 means dense                  */
    size_t batch, channels;      /* the number of images, and of channels, each of which is pooled by itself       */
    size_t srcH, srcW, dstH, dstW;
    size_t kernelY, kernelX, strideY, strideX, padY, padX;
    SimdBool excludePad;         /* averages: divides by the number of elements inside the image                   */
} SimdnetPoolingParameters;

/*
 * Pools a batch of images, whose pixels may be strided. Distances are as in SimdnetForward(): elements between pixels are
 * neither read nor written, and dst may be other channels of the array of src. Maxima do not depend on
 * distances, nor do averages of at least as many channels as a vector has floats (16 at most).
 *
 * Averages of bfloat16 numbers are computed in floats, with the error of SimdSynetPoolingAverage(), and then rounded:
 * to nearest, ties to even.
 */
void SimdnetPooling(const SimdnetPoolingParameters * parameters);

/* What SimdnetQuantizedPooling() computes of each window. */
typedef enum {
    SimdnetQuantizedPoolingMax = 0,          /* the largest byte, whatever its scale and zero    */
    SimdnetQuantizedPoolingAverage = 1,      /* the mean of a window: QLinearAveragePool         */
    SimdnetQuantizedPoolingGlobalAverage = 2 /* the mean of an image: QLinearGlobalAveragePool   */
} SimdnetQuantizedPoolingType;

/* The arguments of SimdnetQuantizedPooling(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetQuantizedPoolingParameters {
    size_t size;                 /* sizeof(SimdnetQuantizedPoolingParameters)                                         */
    SimdnetQuantizedPoolingType type;
    SimdTensorDataType dataType; /* of src and dst: SimdTensorData8u or SimdTensorData8i                              */
    SimdTensorFormatType format; /* SimdTensorFormatNchw or SimdTensorFormatNhwc                                      */
    const void * src;            /* batch images of channels * srcH * srcW bytes                                      */
    void * dst;                  /* batch images of channels * dstH * dstW bytes                                      */
    size_t batch, channels;      /* each channel is pooled by itself                                                  */
    size_t srcH, srcW, dstH, dstW; /* GlobalAverage: dstH and dstW are not used, they are 1                           */
    size_t kernelY, kernelX, strideY, strideX; /* at least 1; GlobalAverage: not used, like all up to excludePad      */
    size_t padY, padX, padH, padW; /* before rows and columns, and behind them; sizes of windows are below 2^31       */
    SimdBool excludePad;         /* averages: divides by the number of elements inside the image, not of the padding  */
    float scaleSrc, scaleDst;    /* averages: finite and above 0                                                      */
    int32_t zeroSrc, zeroDst;    /* averages: numbers of dataType                                                     */
} SimdnetQuantizedPoolingParameters;

/*
 * Maxima and averages of images of quantised bytes, as ONNX Runtime computes them. Output (y, x) covers the rows from
 * y * strideY - padY on, kernelY of them, and likewise columns. Each operation on floats is rounded:
 *
 *   Max            the largest byte inside the image; the least number of dataType if there is none
 *   Average        v = sum of (float)(src - zeroSrc) * scaleSrc, row by row, each from left to right, / count;
 *                  dst = limited(nearest(v / scaleDst + (float)zeroDst))
 *   GlobalAverage  n = srcH * srcW, sum in int32, which wraps;
 *                  dst = limited(nearest((float)sum(src - zeroSrc) * (scaleSrc / (scaleDst * (float)n))) + zeroDst)
 *
 * nearest() rounds ties to even, limited() is 0 .. 255 or -128 .. 127, and NaN gives the least. `count` is the number of
 * elements of the window inside the image (excludePad), or inside the image with its padding; if it is 0, v is 0. An empty
 * image has the mean 0. All instruction sets give the same results. dst must not overlap src.
 */
void SimdnetQuantizedPooling(const SimdnetQuantizedPoolingParameters * parameters);

/* What SimdnetPixelwise() computes; x is an element of src, y one of src1, c its channel. */
typedef enum {
    SimdnetPixelwiseCopy = 0,      /* x                                                                       */
    SimdnetPixelwiseRelu,          /* SimdSynetRelu32f(), slope params[0]                                     */
    SimdnetPixelwiseElu,           /* SimdSynetElu32f(), alpha params[0]                                      */
    SimdnetPixelwiseHswish,        /* SimdSynetHswish32f(), shift params[0], scale params[1]                  */
    SimdnetPixelwiseRestrictRange, /* SimdSynetRestrictRange32f(), lower params[0], upper params[1]           */
    SimdnetPixelwiseSigmoid,       /* SimdSynetSigmoid32f(), slope params[0]                                  */
    SimdnetPixelwiseSoftplus,      /* SimdSynetSoftplus32f(), beta params[0], threshold params[1]             */
    SimdnetPixelwiseTanh,          /* SimdSynetTanh32f(), slope params[0]                                     */
    SimdnetPixelwiseAbs,           /* |x|, as the following of SimdSynetUnaryOperation32fLayerForward()       */
    SimdnetPixelwiseExp,           /* exp(x)                                                                  */
    SimdnetPixelwiseLog,           /* log(x)                                                                  */
    SimdnetPixelwiseNeg,           /* -x                                                                      */
    SimdnetPixelwiseRsqrt,         /* 1 / sqrt(x)                                                             */
    SimdnetPixelwiseSqrt,          /* sqrt(x)                                                                 */
    SimdnetPixelwiseZero,          /* 0                                                                       */
    SimdnetPixelwiseAddBias,       /* SimdSynetAddBias(): x + bias[c]                                         */
    SimdnetPixelwiseScale,         /* SimdSynetScaleLayerForward(): x * scale[c] + bias[c], bias may be NULL  */
    SimdnetPixelwisePrelu,         /* SimdSynetPreluLayerForward(): the slope is scale[c]                     */
    SimdnetPixelwiseProduct,       /* x * y, as the following of SimdSynetEltwiseLayerForward()               */
    SimdnetPixelwiseSum,           /* x * params[0] + y * params[1]                                           */
    SimdnetPixelwiseMax,           /* the maximum of x and y                                                  */
    SimdnetPixelwiseMin,           /* the minimum of x and y                                                  */
    SimdnetPixelwiseSwish,         /* SimdSynetSwish32f(), slope params[0]                                    */
    SimdnetPixelwiseMish,          /* SimdSynetMish32f(), threshold params[0]                                 */
    SimdnetPixelwiseHardSigmoid,   /* SimdSynetHardSigmoid32f(), scale params[0], shift params[1]             */
    SimdnetPixelwiseGelu,          /* SimdSynetGelu32f()                                                      */
    SimdnetPixelwiseCeil,          /* the other ones of SimdSynetUnaryOperation32fLayerForward()              */
    SimdnetPixelwiseCos,
    SimdnetPixelwiseErf,
    SimdnetPixelwiseFloor,
    SimdnetPixelwiseNot,
    SimdnetPixelwiseRcp,
    SimdnetPixelwiseRound,
    SimdnetPixelwiseSign,
    SimdnetPixelwiseSin,
    SimdnetPixelwiseAcos,          /* functions of angles, hyperbolic ones and the inverses of both: the error is at  */
    SimdnetPixelwiseAcosh,         /* most 4 units in the last place, special values are those of the C library        */
    SimdnetPixelwiseAsin,
    SimdnetPixelwiseAsinh,
    SimdnetPixelwiseAtan,
    SimdnetPixelwiseAtanh,
    SimdnetPixelwiseCosh,
    SimdnetPixelwiseSinh,
    SimdnetPixelwiseTan
} SimdnetPixelwiseFunction;

/* The arguments of SimdnetPixelwise(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetPixelwiseParameters {
    size_t size;                          /* sizeof(SimdnetPixelwiseParameters)                                        */
    SimdnetPixelwiseFunction function;    /* what is computed                                                          */
    const float * src, * src1;            /* the sources; src1 of functions of two arrays                              */
    float * dst;                          /* the result                                                                */
    size_t srcPixel, src1Pixel, dstPixel; /* the distance between pixels, in elements; 0 means dense                   */
    size_t channels, pixels;              /* the number of channels, and of pixels of all images                       */
    const float * scale, * bias;          /* coefficients of the channels, if the function has any                     */
    float params[2];                      /* the function's parameters, if any                                         */
} SimdnetPixelwiseParameters;

/*
 * Applies an element-wise function to one or two NHWC images whose pixels may be strided. The results are those of the
 * function that the enumerator names; distances are as in SimdnetForward(). SimdnetPixelwiseCopy concatenates images, or
 * copies parts of them, in one pass. dst may be src or src1, with the same distance; otherwise they must have no element in
 * common.
 */
void SimdnetPixelwise(const SimdnetPixelwiseParameters * parameters);

/* ----------------------------------------------------------------------------------------------- copies and padding */

/* The number of dimensions that arrays of the following functions may have. */
enum {
    SIMDNET_MAX_DIMENSIONS = 8
};

/* The arguments of SimdnetCopy(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetCopyParameters {
    size_t size;                 /* sizeof(SimdnetCopyParameters)                                                 */
    SimdTensorDataType dataType; /* of both arrays: any type except Unknown                                       */
    size_t count;                /* the number of dimensions, 0 .. SIMDNET_MAX_DIMENSIONS; 0 means one element    */
    size_t shape[8];             /* the extent of each                                                            */
    const void * src;            /* the element with all indices 0                                                */
    void * dst;                  /* likewise                                                                      */
    ptrdiff_t srcStride[8];      /* elements from an index to the next, in each dimension; may be 0 or negative   */
    ptrdiff_t dstStride[8];      /* likewise; may be negative                                                     */
} SimdnetCopyParameters;

/*
 * Copies an array, with any strides of the source and the destination:
 *
 *   dst[sum of i(k) * dstStride[k]] = src[sum of i(k) * srcStride[k]] for all i(k) < shape[k]
 *
 * A single call does slices with steps, concatenation, reversal (a negative stride), expansion (a source stride of 0) or
 * permutation. Only these elements are read and written.
 *
 * No two elements of dst may have the same address: in the order of their size, each stride of dst (of dimensions with more
 * than one index) must be larger than the distance that the smaller ones span. dst must not overlap src; interleaved arrays
 * are accepted if both consist of rows at the same distance, such as different channels of the same pixels.
 */
void SimdnetCopy(const SimdnetCopyParameters * parameters);

/* Which elements SimdnetPad() adds around src, in a dimension with the elements a b c d. */
typedef enum {
    SimdnetPadConstant = 0, /* v v v a b c d v v v, a given value                                     */
    SimdnetPadReflect = 1,  /* d c b a b c d c b a, as often as necessary; a single element repeated  */
    SimdnetPadEdge = 2,     /* a a a a b c d d d d                                                    */
    SimdnetPadWrap = 3      /* b c d a b c d a b c                                                    */
} SimdnetPadMode;

/* The arguments of SimdnetPad(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetPadParameters {
    size_t size;                 /* sizeof(SimdnetPadParameters)                                                  */
    SimdnetPadMode mode;         /* what is added                                                                 */
    SimdTensorDataType dataType; /* of both arrays: any type except Unknown                                       */
    size_t count;                /* the number of dimensions, 0 .. SIMDNET_MAX_DIMENSIONS; 0 means one element    */
    size_t shape[8];             /* the extents of src                                                            */
    size_t before[8], after[8];  /* elements that are added to each dimension                                     */
    const void * value;          /* Constant: one element; NULL is 0                                              */
    const void * src;            /* dense                                                                         */
    void * dst;                  /* dense, of the extents before[k] + shape[k] + after[k]                         */
} SimdnetPadParameters;

/*
 * Adds elements around an array, as Pad of ONNX and numpy.pad() do. The dimensions are extended one after another, so the
 * corners are made of elements that were added before. A dimension without elements can be extended by a constant only.
 */
void SimdnetPad(const SimdnetPadParameters * parameters);

/* ------------------------------------------------------------------------------------------------------- reductions */

/* What SimdnetReduce() computes of n elements x; of none, the value in the last column. */
typedef enum {
    SimdnetReduceSum = 0,          /* sum of x                                  0    */
    SimdnetReduceMean = 1,         /* (sum of x) / n                            NaN  */
    SimdnetReduceMax = 2,          /* the maximum, NaN if there is one         -Inf  */
    SimdnetReduceMin = 3,          /* the minimum, NaN if there is one          Inf  */
    SimdnetReduceL2 = 4,           /* sqrt(sum of x^2)                          0    */
    SimdnetReduceL1 = 5,           /* sum of |x|                                0    */
    SimdnetReduceSumSquare = 6,    /* sum of x^2                                0    */
    SimdnetReduceProduct = 7,      /* product of x                              1    */
    SimdnetReduceLogSumExp = 8,    /* log(sum of exp(x)), without overflow     -Inf  */
    SimdnetReduceArgMax = 9,       /* the index of the maximum                       */
    SimdnetReduceArgMin = 10       /* the index of the minimum                       */
} SimdnetReduceOperation;

/* The arguments of SimdnetReduce(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetReduceParameters {
    size_t size;                      /* sizeof(SimdnetReduceParameters)                                              */
    SimdnetReduceOperation operation; /* what is computed                                                             */
    size_t count;                     /* the number of dimensions, 0 .. SIMDNET_MAX_DIMENSIONS; 0 means one element   */
    size_t shape[8];                  /* the extents of src                                                           */
    SimdBool reduced[8];              /* the dimensions that are reduced: exactly one for ArgMax and ArgMin           */
    SimdBool last;                    /* ArgMax, ArgMin: the last one of equal elements; the first one if SimdFalse   */
    const float * src;                /* dense; a pointer to elements of another type is cast                         */
    void * dst;                       /* dense, of the other dimensions: of dataType, or int64_t for ArgMax, ArgMin   */
    SimdTensorDataType dataType;      /* of src: 32f, which is 0, or 32i, 8i, 8u, 64i, 64u or Bool                    */
} SimdnetReduceParameters;

/*
 * Reduces dimensions of an array, as Reduce* and Arg* of ONNX and the functions of NumPy do.
 *
 * Sums of up to 2048 elements are computed in float, in many partial sums that are added in double, as are all products: the
 * error of Sum, L1, SumSquare and, before the square root, L2 is at most 70 * 2^-24 * (sum of the terms' sizes), and that of
 * LogSumExp (70 + log(n) + |result|) * 2^-24. Results that a float can represent do not overflow. The index of a maximum or
 * minimum that is NaN is that of the first (last) NaN. With ArgMax and ArgMin the reduced dimension must not be empty.
 *
 * Integers are computed exactly, and results keep the low bits; Mean and L2 are rounded towards zero. Of no elements, Max is
 * the least number of the type, Min the largest, Mean 0. Bool is 1 for a result that is not 0. LogSumExp is of floats alone.
 */
void SimdnetReduce(const SimdnetReduceParameters * parameters);

/* ----------------------------------------------------------------------------------------------- group normalization */

/*
 * Group normalization (arXiv:1803.08494): dst(c, s) = (x(c, s) - mean) / sqrt(variance + eps) * scale[c] + shift[c], with the
 * mean and the variance of the channels / groups channels of a group, for each of `batch` images in NCHW. The channels of a
 * group are neighbours, and `groups` divides channels.
 *
 *   src, dst       batch * channels * spatial floats; dst may be src
 *   scale, shift   channels floats                     eps   1 float
 *
 * As accurate as SimdSynetNormalizeLayerForwardV3(). A group of a single value becomes shift.
 */
void SimdnetGroupNorm(const float * src, size_t batch, size_t channels, size_t spatial, size_t groups, const float * scale,
                      const float * shift, const float * eps, float * dst);

/* ------------------------------------------------------------------------------------------------- recurrent layers */

/* The layer that SimdnetRecurrentCompute() computes. */
typedef enum {
    SimdnetRecurrentLstm = 0, /* long short-term memory */
    SimdnetRecurrentGru = 1,  /* gated recurrent unit   */
    SimdnetRecurrentRnn = 2   /* without gates          */
} SimdnetRecurrentType;

/* The order of the steps of a sequence. */
typedef enum {
    SimdnetRecurrentForward = 0,      /* from the first to the last                                 */
    SimdnetRecurrentReverse = 1,      /* from the last to the first                                 */
    SimdnetRecurrentBidirectional = 2 /* both, each with weights of its own; forward is the first   */
} SimdnetRecurrentDirection;

/* An activation of a recurrent layer, with parameters alpha and beta if it has any. */
typedef enum {
    SimdnetRecurrentActivationUsual = 0,           /* the default, sigmoid or tanh                      */
    SimdnetRecurrentActivationSigmoid = 1,         /* 1 / (1 + exp(-x))                                 */
    SimdnetRecurrentActivationTanh = 2,            /* tanh(x)                                           */
    SimdnetRecurrentActivationRelu = 3,            /* max(0, x)                                         */
    SimdnetRecurrentActivationAffine = 4,          /* alpha * x + beta                                  */
    SimdnetRecurrentActivationLeakyRelu = 5,       /* x if x >= 0, else alpha * x                       */
    SimdnetRecurrentActivationThresholdedRelu = 6, /* x if x >= alpha, else 0                           */
    SimdnetRecurrentActivationScaledTanh = 7,      /* alpha * tanh(beta * x)                            */
    SimdnetRecurrentActivationHardSigmoid = 8,     /* max(0, min(1, alpha * x + beta))                  */
    SimdnetRecurrentActivationElu = 9,             /* x if x >= 0, else alpha * (exp(x) - 1)            */
    SimdnetRecurrentActivationSoftsign = 10,       /* x / (1 + |x|)                                     */
    SimdnetRecurrentActivationSoftplus = 11        /* log(1 + exp(x))                                   */
} SimdnetRecurrentActivationType;

/*
 * The arguments of SimdnetRecurrentInit(). Set all other members to 0, then `size` and what is used. Of activations, alpha
 * and beta, elements 0, 1, 2 are the functions F, G, H of the first direction, 3, 4, 5 those of the second.
 */
typedef struct SimdnetRecurrentParameters {
    size_t size;                         /* sizeof(SimdnetRecurrentParameters)                                         */
    SimdnetRecurrentType type;
    SimdnetRecurrentDirection direction;
    size_t steps, batch, input, hidden;  /* at least 1: steps of a sequence, sequences, values of a step, hidden units */
    SimdBool batchFirst;                 /* the batch is the first dimension of arrays, layout 1 of ONNX               */
    SimdBool linearBeforeReset;          /* GRU: the reset gate is applied after the product, as in PyTorch            */
    SimdBool inputForget;                /* LSTM: f = 1 - i                                                            */
    float clip;                          /* the arguments of F and G are bounded to -clip .. clip; 0 for no bounds     */
    SimdnetRecurrentActivationType activations[6]; /* usual ones for functions that the layer does not have            */
    float alpha[6], beta[6];             /* their parameters                                                           */
} SimdnetRecurrentParameters;

/*
 * LSTM (Hochreiter and Schmidhuber, 1997; peepholes: Gers and Schmidhuber, 2000), GRU (arXiv:1406.1078) and layers without
 * gates (Elman, 1990), as the operators LSTM, GRU and RNN of ONNX. For each step, with x the input, h the state, C the cell
 * of an LSTM, and * the product element by element:
 *
 *   LSTM: i = F(Wi x + Ri h + bi + Pi * C)         GRU: z = F(Wz x + Rz h + bz)
 *         f = F(Wf x + Rf h + bf + Pf * C)              r = F(Wr x + Rr h + br)
 *         C = f * C + i * G(Wc x + Rc h + bc)           n = G(Wh x + Rh (r * h) + bh)
 *         o = F(Wo x + Ro h + bo + Po * C)              h = (1 - z) * n + z * h
 *         h = o * H(C)                             RNN: h = F(W x + R h + b)
 *
 * where b is the sum of W's and R's bias. With linearBeforeReset, n = G(Wh x + bWh + r * (Rh h + bRh)); with inputForget,
 * the forget gate f of an LSTM is 1 - i. The usual activations are F = sigmoid, G = H = tanh, for RNN F = tanh. `clip`
 * bounds the sums that are arguments of F and G; C is not bounded, as in ONNX Runtime.
 *
 * Sums are computed in float32: the error of a sum of n products is at most (n + 3) * 2^-23 * (sum of |product|), that of an
 * activation 2 units in the last place of its terms; errors of the state are carried from step to step. Other activations
 * than the usual ones are slower.
 *
 * Returns NULL on error. Then SetParams(), then SimdnetRecurrentCompute() any number of times, then SimdRelease().
 * SimdnetShareParams() accepts contexts that differ in anything but type, direction, input, hidden and linearBeforeReset. A
 * struct of version 0.2.0, which ends with linearBeforeReset, is accepted.
 */
void * SimdnetRecurrentInit(const SimdnetRecurrentParameters * parameters);

/* The number of bytes that the context holds: packed weights and bias; 0 before SetParams(). */
size_t SimdnetRecurrentInternalBufferSize(const void * context);

/*
 * Sets the weights, which are copied. With gates = 4 for LSTM, in the order i, o, f, C, 3 for GRU, in the order z, r, h, and
 * 1 for RNN; and directions = 2 for Bidirectional, else 1:
 *
 *   W         [directions][gates][hidden][input]
 *   R         [directions][gates][hidden][hidden]
 *   bias      [directions][2][gates][hidden], W's and R's; NULL for zeros
 *   peephole  LSTM: [directions][3][hidden], Pi, Po, Pf; NULL for zeros. Else NULL
 *
 * It may be called again, but not while SimdnetRecurrentCompute() runs. On error the context is unchanged.
 */
void SimdnetRecurrentSetParams(void * context, const float * W, const float * R, const float * bias,
                               const float * peephole);

/* The arguments of SimdnetRecurrentSetQuantizedParams(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetRecurrentQuantizedParams {
    size_t size;                    /* sizeof(SimdnetRecurrentQuantizedParams)                               */
    SimdTensorDataType type;        /* of W, R and zeros: SimdTensorData8u or SimdTensorData8i               */
    SimdBool perColumn;             /* each column has a scale and a zero; otherwise each direction has one  */
    const void * W;                 /* [directions][input][4][hidden]                                        */
    const void * R;                 /* [directions][hidden][4][hidden]                                       */
    const float * scaleW, * scaleR; /* [directions], or [directions][4][hidden] with perColumn               */
    const void * zeroW, * zeroR;    /* likewise, of `type`; NULL for zeros                                   */
    const float * bias, * peephole; /* as of SimdnetRecurrentSetParams(); NULL for zeros                     */
} SimdnetRecurrentQuantizedParams;

/*
 * Sets weights of bytes, for an LSTM: DynamicQuantizeLSTM of ONNX Runtime. W and R are transposed, compared with those of
 * SimdnetRecurrentSetParams(), whose weights they replace; gates have the same order. Inputs and states are quantised at run
 * time as by SimdnetDynamicQuantize(): all that are used of src with one scale and zero, and before each step the states of
 * those sequences that have it with theirs. A sequence begins, in the reverse direction, with its own last step. With these
 * scales and zeros s and z,
 *
 *   W x = (float)(sum over k of (x(k) - z) * (W(k, j) - zeroW[j])) * (s * scaleW[j])        likewise R h
 *
 * where sums are exact or wrap. All else is computed as with floats. So the results of a sequence depend on the others; where
 * a float is near the middle between two bytes, on the instruction set, since activations do.
 *
 * Scales are finite and not below 0. All is copied. It may be called again, or SetParams(), but not while
 * SimdnetRecurrentCompute() runs. On error the context is unchanged.
 */
void SimdnetRecurrentSetQuantizedParams(void * context, const SimdnetRecurrentQuantizedParams * parameters);

/* The arguments of SimdnetRecurrentCompute(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetRecurrentArrays {
    size_t size;            /* sizeof(SimdnetRecurrentArrays)                                     */
    const float * src;      /* the input of all steps                                             */
    const float * h0, * c0; /* the state and the cell before the first step; NULL for zeros       */
    const size_t * lengths; /* the steps of each sequence, 0 .. steps; NULL if all are `steps`    */
    float * dst;            /* the states after all steps, or NULL                                */
    float * hn, * cn;       /* the state and the cell after the last step; each may be NULL       */
} SimdnetRecurrentArrays;

/*
 * Computes `batch` sequences. c0 and cn are of LSTM; for others they must be NULL.
 *
 *                    batchFirst is SimdFalse               batchFirst is SimdTrue
 *   src              [steps][batch][input]                 [batch][steps][input]
 *   dst              [steps][directions][batch][hidden]    [batch][steps][directions][hidden]
 *   h0, c0, hn, cn   [directions][batch][hidden]           [batch][directions][hidden]
 *
 * Steps beyond the length of a sequence are not read; their states in dst are 0, and hn and cn are those after its last
 * step. The reverse direction of a sequence begins with its own last step.
 *
 * hn may be h0, and cn may be c0, so that the next call continues; otherwise no result may overlap another array. With
 * weights of floats, the bits of a sequence depend neither on the batch nor on the other sequences. Any number of threads may
 * call this function for a context at a time.
 */
void SimdnetRecurrentCompute(void * context, const SimdnetRecurrentArrays * parameters);

/* ------------------------------------------------------------------------------------- indices, types and selection */

/*
 * dst(o, j, i) = src(o, t, i) with t = index[j], or t + count if t is negative: Gather of ONNX, whose indices may have any
 * shape.
 *
 *   src     outer * count * inner elements of dataType, any except SimdTensorDataUnknown; they are moved unchanged
 *   index   `indices` numbers, each one of -count .. count - 1; the message about another one names the first and its place
 *   dst     outer * indices * inner elements
 */
void SimdnetGather(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner,
                   const int64_t * index, size_t indices, void * dst);

/*
 * dst(i) = src(i) in another type: Cast of ONNX.
 *
 *   srcType, dstType   SimdTensorData32f, 32i, 8i, 8u, 64i, 64u or Bool: any but those of 16 bits
 *   src, dst           `count` elements each; they must not overlap
 *
 * Integers become the nearest float, ties to even; a smaller integer type keeps the low bits. Bool is 1 for an element that
 * is not 0, else 0, also as a source. Floats are rounded towards zero to 32-bit integers, whose low bits 8i and 8u keep, or
 * to 64-bit ones for 64i and 64u; NaN and values out of range become -2^31 or -2^63, as in programs for x86. All instruction
 * sets give the same results.
 */
void SimdnetCast(SimdTensorDataType srcType, const void * src, size_t count, SimdTensorDataType dstType, void * dst);

/*
 * The k largest values of each line src(o, c, i), c < count, or the k smallest if `largest` is SimdFalse, and their indices
 * c: TopK of ONNX. Equal values are in the order of their indices; NaN is larger than any number, and -0 is equal to 0.
 *
 *   src               outer * count * inner floats; count is less than 2^32
 *   values, indices   outer * k * inner numbers each, k <= count
 *   sorted            SimdTrue: from the largest (or smallest) on; else they may be in any order
 */
void SimdnetTopK(const float * src, size_t outer, size_t count, size_t inner, size_t k, SimdBool largest, SimdBool sorted,
                 float * values, int64_t * indices);

/* The same of integers; values have the type of src.
 *
 *   dataType   SimdTensorData32i, 8i, 8u, 64i, 64u or Bool
 */
void SimdnetTopKIntegers(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner, size_t k,
                         SimdBool largest, SimdBool sorted, void * values, int64_t * indices);

/* The arguments of SimdnetRoiAlign(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetRoiAlignParameters {
    size_t size;                 /* sizeof(SimdnetRoiAlignParameters)                                               */
    const float * src;           /* [batch][channels][srcH][srcW]                                                   */
    const float * regions;       /* [count][4]: the corners (x1, y1, x2, y2)                                        */
    const int64_t * images;      /* [count]: the image of each region, 0 .. batch - 1                               */
    float * dst;                 /* [count][channels][dstH][dstW]                                                   */
    size_t batch, channels;
    size_t srcH, srcW;           /* at least 1, at most 2^24                                                        */
    size_t count, dstH, dstW;    /* the number of regions, and the bins of each                                     */
    float spatialScale;          /* of the corners: more than 0, finite                                             */
    size_t samplingRatio;        /* samples of a bin along each dimension, at most 2^16; 0: one for each element    */
    SimdBool max;                /* the maximum instead of the mean                                                 */
    SimdBool halfPixel;          /* positions are those of the centres of elements                                  */
} SimdnetRoiAlignParameters;

/*
 * RoiAlign of ONNX: regions of images as grids of bins, each of which is the mean of some samples of the image. Along x, and
 * with y, srcH and dstH likewise along y, in float operations in this order:
 *
 *   start   = x1 * spatialScale - h,   h = halfPixel ? 0.5 : 0
 *   extent  = x2 * spatialScale - h - start;   without halfPixel at least 1
 *   step    = extent / dstW
 *   samples = samplingRatio, or the least integer that is not below step; none if step is not above 0 or NaN
 *   at(k)   = start + bin * step + (k + 0.5) * step / samples,   k = 0 .. samples - 1
 *
 * A sample at -1 .. srcW is moved to 0 .. srcW - 1 and interpolated linearly between the elements on both sides; one outside is
 * 0, as a bin without samples. With `max`, a bin is the largest of the elements times their weights, the products of those
 * along x and y, and not of their sums. An element whose weight is 0 counts as 0, whatever it is; NaN may be left out of a
 * maximum. All instruction sets give the same results. dst must not overlap the other arrays. A larger struct is accepted as by
 * SimdnetForward().
 */
void SimdnetRoiAlign(const SimdnetRoiAlignParameters * parameters);

/* The arguments of SimdnetNonMaxSuppression(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetNonMaxSuppressionParameters {
    size_t size;                 /* sizeof(SimdnetNonMaxSuppressionParameters)                                      */
    const float * boxes;         /* [batch][count][4]: two opposite corners (y1, x1, y2, x2), or see `center`       */
    const float * scores;        /* [batch][classes][count]                                                         */
    size_t batch, classes;
    size_t count;                /* the number of boxes of an image, less than 2^32                                 */
    size_t maxOutput;            /* the largest number of boxes for each class of each image                        */
    float iouThreshold;          /* 0 .. 1                                                                          */
    float scoreThreshold;        /* used if useScoreThreshold: only boxes with a larger score are selected          */
    SimdBool useScoreThreshold;
    SimdBool center;             /* boxes are (x, y, width, height), x and y those of the centre                    */
    int64_t * selected;          /* `capacity` triples (image, class, box)                                          */
    size_t capacity;             /* at most so many are written; batch * classes * maxOutput suffices               */
} SimdnetNonMaxSuppressionParameters;

/*
 * NonMaxSuppression of ONNX. For each image and each class, the boxes are visited from the highest score to the lowest,
 * those of equal scores by their index. One is selected unless its intersection with a selected one of this class, divided
 * by the area of their union, exceeds iouThreshold. A box without area overlaps nothing, and one whose score is NaN is not
 * selected. A larger struct is accepted as by SimdnetForward().
 *
 * Returns the number of triples written, in the order of images, classes and visits. If `selected` is full, the rest is left
 * out.
 */
size_t SimdnetNonMaxSuppression(const SimdnetNonMaxSuppressionParameters * parameters);

/* --------------------------------------------------------------------------------------- batches of matrix products */

/* The arguments of SimdnetGemm(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetGemmParameters {
    size_t size;             /* sizeof(SimdnetGemmParameters)                                                        */
    size_t M, N, K;          /* the sizes of each product                                                            */
    SimdBool transA, transB; /* A is K rows of M floats; B is N rows of K floats                                     */
    float alpha, beta;       /* factors: 0 has the meaning 0, so set alpha = 1                                       */
    const float * A, * B;    /* the first element of the first product's matrices                                    */
    float * C;
    size_t lda, ldb, ldc;    /* floats from a row to the next; 0 is dense                                            */
    size_t batch[2];         /* the number of products is batch[0] * batch[1]; 0 means 1                             */
    size_t strideA[2], strideB[2], strideC[2]; /* floats from a matrix to that of the next index of batch            */
} SimdnetGemmParameters;

/*
 * A batch of matrix products, such as attention heads that are strided in one array: for each p < batch[0], q < batch[1],
 *
 *   C = alpha * A * B + beta * C,        A at A + p * strideA[0] + q * strideA[1], and likewise B and C.
 *
 * Each product is one of SimdGemm32fNN(); with transA, A(i, k) is A[k * lda + i], and with transB, B(k, j) is
 * B[j * ldb + k]. A stride of 0 means that several products use the same A or B. No two elements of C may have the same
 * address: each of ldc and the strides of C with more than one index must be at least the floats from the first to the last
 * element of what has smaller distances. In a batch, the memory from the first element of C to the last must not overlap
 * that of A or B; a single product may lie between rows of theirs. The result of a product may differ in the last bits from
 * that in another batch.
 */
void SimdnetGemm(const SimdnetGemmParameters * parameters);

/* The arguments of SimdnetAttention(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetAttentionParameters {
    size_t size;             /* sizeof(SimdnetAttentionParameters)                                                   */
    size_t M, N;             /* the rows of queries; those of keys and values                                        */
    size_t K, width;         /* the floats of a query and of a key; those of a value and of a result                 */
    SimdBool transK, transV; /* keys are K rows of N floats; values are `width` rows of N floats                     */
    float scale;             /* 0 has the meaning 0                                                                  */
    const float * queries, * keys, * values; /* the first element of the first head                                  */
    const float * bias;      /* is added to scores: M rows of N floats; NULL is none                                 */
    float * dst;
    size_t ldq, ldk, ldv, ldd; /* floats from a row to the next; 0 is dense                                          */
    size_t ldb;              /* the same for the bias; 0 means that all rows of a head have the same one             */
    size_t batch[2];         /* the number of heads is batch[0] * batch[1]; 0 means 1                                */
    size_t strideQ[2], strideK[2], strideV[2], strideB[2], strideD[2]; /* floats from a head to the next of batch    */
    SimdnetPreferenceType prefer; /* SimdnetPreferBfloat16: products of bfloat16 numbers; others have no effect      */
} SimdnetAttentionParameters;

/*
 * Attention of several heads: for each p < batch[0], q < batch[1],
 *
 *   score(i, j) = bias(i, j) + scale * sum over k < K of query(i, k) * key(j, k)
 *   share(i, j) = exp(score(i, j)) / sum over c < N of exp(score(i, c))
 *   dst(i, n) = sum over j < N of share(i, j) * value(j, n),      i < M, n < width
 *
 * with queries at queries + p * strideQ[0] + q * strideQ[1], and likewise the other arrays. key(j, k) is keys[j * ldk + k],
 * or with transK keys[k * ldk + j]; value(j, n) is values[j * ldv + n], or with transV values[n * ldv + j]. A stride of 0
 * means that several heads share an array, as groups of queries do with keys and values. A mask is a bias of -infinity, or of
 * a large negative number, where a row must not see a column; a row whose biases are all -infinity is NaN. Without columns
 * (N = 0) results are 0.
 *
 * The shares are those of SimdSynetSoftmaxLayerForward(). They are computed for some rows at a time, which stay in the
 * cache, so memory is needed for the scores of these only, and the keys and values of a head. No two elements of dst may have
 * the same address, as in SimdnetGemm(), and the memory from its first element to its last must not overlap the other
 * arrays. The result of a head may differ in the last bits from that in another batch.
 *
 * With SimdnetPreferBfloat16, and where that takes less time (on `amx`, at least 64 rows and columns, and 16 floats of a key),
 * the numbers scale * query(i, k), key(j, k), share(i, j) and value(j, n) are rounded to bfloat16, 8 bits of precision, before
 * the products, whose sums are floats.
 */
void SimdnetAttention(const SimdnetAttentionParameters * parameters);

/* The arguments of SimdnetGemmNBits(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetGemmNBitsParameters {
    size_t size;             /* sizeof(SimdnetGemmNBitsParameters)                                                   */
    size_t M, N, K;          /* M rows of src, N rows of weight, K numbers in each                                   */
    size_t bits;             /* of a number of weight: 4 or 8                                                        */
    size_t block;            /* numbers with a common scale: a power of two, at least 16                             */
    const float * src;       /* M rows of K floats                                                                   */
    const uint8_t * weight;  /* N rows of blocks * block * bits / 8 bytes, with blocks = K / block, rounded up       */
    const float * scale;     /* N rows of `blocks` floats                                                            */
    const uint8_t * zero;    /* N rows of blocks * bits / 8 bytes, rounded up; NULL means 2^(bits - 1) everywhere    */
    const float * bias;      /* N floats, or NULL                                                                    */
    float * dst;             /* M rows of N floats                                                                   */
    SimdBool quantised;      /* src is quantised in blocks: faster, with an error of up to 1 / 254 of a block's size */
} SimdnetGemmNBitsParameters;

/*
 * The product of floats and a matrix of 4 or 8 bits, as MatMulNBits of ONNX Runtime: with b = k / block,
 *
 *   dst(i, j) = bias[j] + sum over k of src(i, k) * (q(j, k) - zero(j, b)) * scale(j, b)
 *
 * q(j, k) and zero(j, b) are numbers without a sign, one after the other in the bytes of row j: two in a byte of 4 bits each,
 * the lower bits first. Bits behind the last number of a row are not used. All is computed in float32. With `quantised`, the
 * level of accuracy 4 of that operator, src is quantised: with the largest |src(i, k)| of a block of `block` numbers,
 *
 *   s(i, b) = f(largest / 127)     x(i, k) = nearest(f(src(i, k) / s(i, b))), at most 127, ties to even; 0 if s is 0
 *   dst(i, j) = bias[j] + sum over b of (sum over k of x(i, k) * (q(j, k) - zero(j, b))) * f(s(i, b) * scale(j, b))
 *
 * where the inner sums, of integers, are exact for blocks of up to 65536 numbers, and f() rounds to float. A block with a
 * number that is not finite gives NaN. A struct without `quantised` is accepted.
 *
 * One row, as of a decoder that writes word by word, is bound by reading `weight`: numbers become floats in registers. For many
 * rows they become floats once a call, in the caches. dst must not overlap the other arrays. The last bits of a row depend on M.
 */
void SimdnetGemmNBits(const SimdnetGemmNBitsParameters * parameters);

/* The arguments of SimdnetQuantizedGemm(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetQuantizedGemmParameters {
    size_t size;                      /* sizeof(SimdnetQuantizedGemmParameters)                                      */
    size_t M, N, K;                   /* the sizes of each product                                                   */
    size_t batch;                     /* the number of products; 0 means 1                                           */
    size_t strideA, strideB;          /* bytes from a matrix to that of the next product; 0: all use the same        */
    SimdBool transB;                  /* B is N rows of K bytes, otherwise K rows of N                               */
    SimdBool perRow, perColumn;       /* zeroA and scaleA have a value for each row; zeroB and scaleB for each column */
    SimdTensorDataType typeA, typeB;  /* SimdTensorData8u or SimdTensorData8i                                        */
    SimdTensorDataType typeC;         /* SimdTensorData32i, 32f, 8u or 8i                                            */
    const void * A, * B;              /* dense matrices                                                              */
    const void * zeroA, * zeroB;      /* bytes of the type of A, and of B; NULL means 0                              */
    const float * scaleA, * scaleB;   /* NULL means 1                                                                */
    float scaleC;                     /* of C of bytes: above 0                                                      */
    int32_t zeroC;                    /* likewise, a number of its type                                              */
    const void * bias;                /* N numbers or NULL: floats if C has floats, otherwise int32                  */
    void * C;                         /* batch * M rows of N                                                         */
} SimdnetQuantizedGemmParameters;

/*
 * A batch of products of matrices of bytes, both given by each call: MatMulInteger, QLinearMatMul and MatMulIntegerToFloat of
 * ONNX and of ONNX Runtime. With zeros and scales of row i and column j,
 *
 *   sum(i, j) = sum over k of (A(i, k) - zeroA[i]) * (B(k, j) - zeroB[j])        int32, exact or wrapping
 *
 *   32i     C = sum + bias[j]
 *   32f     C = (float)sum * (scaleA[i] * scaleB[j]) + bias[j]
 *   8u, 8i  C = limited(nearest((float)(sum + bias[j]) * (scaleA[i] * scaleB[j] / scaleC)) + zeroC)
 *
 * where each operation on floats is rounded, nearest() rounds ties to even, and limited() is 0 .. 255 or -128 .. 127; NaN gives
 * the least. perRow: there are batch * M values; otherwise one. perColumn: N values, the same for all products; otherwise one.
 * Scales are finite and not below 0. All instruction sets give the same results. C must not overlap the other arrays.
 */
void SimdnetQuantizedGemm(const SimdnetQuantizedGemmParameters * parameters);

/*
 * A matrix B of SimdnetQuantizedGemm() that is packed once, for many products: N columns of K bytes of typeB, which is
 * SimdTensorData8u or SimdTensorData8i. Products of few rows take the time of reading the packed bytes.
 *
 * Returns NULL on error. Then SetParams(), then SimdnetQuantizedGemmForward() any number of times, then SimdRelease().
 * SimdnetShareParams() accepts contexts with equal N, K and typeB.
 */
void * SimdnetQuantizedGemmInit(size_t N, size_t K, SimdTensorDataType typeB);

/* The number of bytes that the context holds: packed weights and their sums; 0 before SetParams(). */
size_t SimdnetQuantizedGemmInternalBufferSize(const void * context);

/*
 * Packs B: K rows of N bytes, or N rows of K with transB. B is not needed afterwards. It may be called again, but not while
 * SimdnetQuantizedGemmForward() runs. On error the context is unchanged.
 */
void SimdnetQuantizedGemmSetParams(void * context, const void * B, SimdBool transB);

/*
 * SimdnetQuantizedGemm() with the matrix of the context, the same bits: N, K and typeB are those of the context, B is NULL,
 * strideB is 0, and transB is not used. Any scaleA is taken as it is, since those that are computed from A may be infinite or
 * NaN. The rows of all products of a batch whose strideA is M * K are computed together. Any number of threads may call it for
 * a context at a time.
 */
void SimdnetQuantizedGemmForward(void * context, const SimdnetQuantizedGemmParameters * parameters);

/* ------------------------------------------------------------------------------------------ quantization by channel */

/* The arguments of SimdnetQuantizeLinear() and SimdnetDequantizeLinear(). Set all other members to 0, then `size` and what
 * is used. */
typedef struct SimdnetQuantizeLinearParameters {
    size_t size;                   /* sizeof(SimdnetQuantizeLinearParameters)                                       */
    SimdTensorDataType dataType;   /* of the bytes: SimdTensorData8u or SimdTensorData8i                            */
    size_t outer, channels, inner; /* the shape of both arrays; channels 1: one scale for all                       */
    const float * scale;           /* of each channel                                                               */
    const void * zero;             /* of each channel, of the data type; NULL for zeros                             */
    const void * src;              /* the source                                                                    */
    void * dst;                    /* the result                                                                    */
} SimdnetQuantizeLinearParameters;

/*
 * Quantises and dequantises, as QuantizeLinear and DequantizeLinear of ONNX, with one scale and zero point per channel or,
 * with channels 1, for all elements. Element (o, c, i) is at (o * channels + c) * inner + i.
 *
 *   QuantizeLinear     dst = min(max(nearest(src / scale[c]) + zero[c], least), most)
 *   DequantizeLinear   dst = (src - zero[c]) * scale[c]
 *
 * nearest() rounds the quotient, a float, to the nearest integer, ties to even. least and most are 0 and 255 for 8u, -128
 * and 127 for 8i; NaN gives the least. All instruction sets give the same results.
 */
void SimdnetQuantizeLinear(const SimdnetQuantizeLinearParameters * parameters);
void SimdnetDequantizeLinear(const SimdnetQuantizeLinearParameters * parameters);

/* The arguments of SimdnetDynamicQuantize(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetDynamicQuantizeParameters {
    size_t size;       /* sizeof(SimdnetDynamicQuantizeParameters) */
    size_t elements;   /* of src and dst                           */
    const float * src; /* the source                               */
    uint8_t * dst;     /* the result                               */
    float * scale;     /* one number: the scale of the result      */
    uint8_t * zero;    /* one byte: its zero                       */
} SimdnetDynamicQuantizeParameters;

/*
 * Quantises floats with the scale and the zero of their own range, as DynamicQuantizeLinear of ONNX, in two passes:
 *
 *   most = the largest element, at least 0            least = the smallest element, at most 0
 *   scale = f(f(most - least) / 255), 1 if that is 0  zero = nearest(f(0 - f(least / scale))), limited to 0 .. 255
 *   dst = limited(nearest(f(src / scale)) + zero)
 *
 * where f() rounds to float, nearest() to the nearest integer, ties to even, and limited() is 0 .. 255. NaN is left out of the
 * range, and gives 0. A range that is not finite has an infinite scale, and the zero and all bytes are 0. Without elements
 * the scale is 1 and the zero 0. All instruction sets give the same results, whatever the number of threads. dst must not
 * overlap src, nor scale and zero another array.
 */
void SimdnetDynamicQuantize(const SimdnetDynamicQuantizeParameters * parameters);

/* The arguments of SimdnetTable8(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetTable8Parameters {
    size_t size;                /* sizeof(SimdnetTable8Parameters)                                           */
    const uint8_t * table;      /* 256 bytes                                                                 */
    const uint8_t * src;        /* the source                                                                */
    uint8_t * dst;              /* the result                                                                */
    size_t srcPixel, dstPixel;  /* the distance between pixels, in bytes; 0 means dense                      */
    size_t channels, pixels;    /* the bytes of a pixel, and the number of pixels                            */
} SimdnetTable8Parameters;

/*
 * dst = table[src] for each byte of `pixels` pixels, which may be strided: any function of one quantised byte, computed once
 * for its 256 values. Signed bytes are pointers that were cast; byte b is at index b & 255 of the table.
 *
 * Distances are as in SimdnetForward(): bytes between pixels are neither read nor written. dst may be src, with the same
 * distance; otherwise they must have no byte in common, nor dst and table.
 */
void SimdnetTable8(const SimdnetTable8Parameters * parameters);

/* The arguments of SimdnetQuantizedSetParams(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetQuantizedParams {
    size_t size;                /* sizeof(SimdnetQuantizedParams)                                                          */
    float srcScale, dstScale;   /* of the source, and of sums once they are bytes: finite and above 0                      */
    uint8_t srcZero, dstZero;   /* their zero points                                                                       */
    const int8_t * weight;      /* as of the SetParams function of the context                                             */
    const float * weightScale;  /* of each output, finite and above 0                                                      */
    const int32_t * bias;       /* of each output, in units of srcScale * weightScale, or NULL for zeros                   */
    const uint8_t * table;      /* 256 bytes, or NULL                                                                      */
    SimdBool adds, addFirst;    /* whether SimdnetForward() may add; whether `add` is the first operand of sums            */
    SimdTensorDataType addType; /* with `adds`: of both operands and of sums, SimdTensorData8u or SimdTensorData8i         */
    float ownScale, addScale, sumScale; /* likewise: of what is added to, of `add`, and of sums: finite and above 0        */
    int32_t ownZero, addZero, sumZero;  /* likewise: numbers of addType                                                    */
} SimdnetQuantizedParams;

/*
 * Sets the parameters of a context of SimdSynetQuantizedConvolutionInit() with Identity, or of
 * SimdSynetQuantizedInnerProductInit(), whose SetParams function it replaces, and what follows the formula of the context,
 * which gives the byte q: a table of bytes, and with `adds` an addition of the bytes a that SimdnetForward() is given as `add`,
 *
 *   dst = table[q]            without `add`
 *   dst = table[sum(q, a)]    SimdnetAddBeforeActivation
 *   dst = sum(table[q], a)    SimdnetAddAfterActivation
 *
 * where table[q] is q if `table` is NULL. The bits are those of SimdnetTable8() and of SimdnetQuantizedBinary() with
 * SimdnetBinaryAdd after Forward(), whose operand a has ownScale and ownZero, b is `add` with its scale and zero, and whose
 * result has those of sums; with `addFirst` the operands are exchanged, which rounds in another order.
 *
 * Each thread does this with the lines that it has just computed: what is saved is a call of its own, with the whole tensor as
 * source and result. A table is any function of a quantised result: an activation, and the scale and the zero of its own
 * result. Results may be signed bytes by their pointer.
 *
 * All is copied. It may be called again, or SetParams(), after which there is neither table nor addition, but not while
 * Forward() runs. On error the context is unchanged. SimdnetShareParams() and SimdnetSetPacked() take both over. A struct
 * that ends after `table`, as that of earlier versions, adds nothing.
 */
void SimdnetQuantizedSetParams(void * context, const SimdnetQuantizedParams * parameters);

/* ----------------------------------------------------------------------------------------- arithmetic on two arrays */

/* What SimdnetBinary() computes. */
typedef enum {
    SimdnetBinaryAdd = 0,      /* a + b                                                          */
    SimdnetBinarySubtract = 1, /* a - b                                                          */
    SimdnetBinaryMultiply = 2, /* a * b                                                          */
    SimdnetBinaryDivide = 3,   /* a / b                                                          */
    SimdnetBinaryMaximum = 4,  /* the larger one; NaN if either is                               */
    SimdnetBinaryMinimum = 5,  /* the smaller one; NaN if either is                              */
    SimdnetBinaryPower = 6,    /* a to the power of b as powf() of C has it; error at most 2 ULP */
    SimdnetBinaryReplace = 7   /* b, but a where b is NaN; all bits of a are kept                */
} SimdnetBinaryOperation;

/* The arguments of SimdnetBinary(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetBinaryParameters {
    size_t size;                              /* sizeof(SimdnetBinaryParameters)                                         */
    SimdnetBinaryOperation operation;         /* what is computed                                                        */
    size_t count;                             /* the number of dimensions: 0 .. 8; with 0 all arrays are single numbers  */
    size_t shape[8];                          /* the extents of dst                                                      */
    size_t aShape[8], bShape[8];              /* of a and b: shape's extent in a dimension, or 1, which is repeated      */
    const float * a, * b;                     /* the operands                                                            */
    float * dst;                              /* the result                                                              */
    SimdConvolutionActivationType activation; /* of the result rounded to float; Identity is none; not Prelu             */
    float params[2];                          /* of the activation                                                       */
} SimdnetBinaryParameters;

/*
 * Element-wise arithmetic on two arrays with NumPy broadcasting. Shapes must have been padded with ones to the rank of the
 * result: an operand of extent 1 in a dimension is repeated along it. In every dimension at least one operand has the extent
 * of the result. dst may be an operand that has its shape.
 *
 * Results are those of IEEE arithmetic, on every instruction set the same, except powers, and the sign of a zero that is the
 * maximum or minimum of both zeros.
 */
void SimdnetBinary(const SimdnetBinaryParameters * parameters);

/* The arguments of SimdnetQuantizedBinary(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetQuantizedBinaryParameters {
    size_t size;                               /* sizeof(SimdnetQuantizedBinaryParameters)                         */
    SimdnetBinaryOperation operation;          /* SimdnetBinaryAdd or SimdnetBinaryMultiply                        */
    SimdTensorDataType dataType;               /* of all three arrays: SimdTensorData8u or SimdTensorData8i        */
    size_t count;                              /* the number of dimensions, at most SIMDNET_MAX_DIMENSIONS         */
    size_t shape[SIMDNET_MAX_DIMENSIONS];      /* of the result                                                    */
    size_t aShape[SIMDNET_MAX_DIMENSIONS], bShape[SIMDNET_MAX_DIMENSIONS]; /* each extent that of shape, or 1      */
    float aScale, bScale, dstScale;            /* finite and above 0                                               */
    int32_t aZero, bZero, dstZero;             /* numbers of the type                                              */
    const void * a, * b;                       /* the operands, dense                                              */
    void * dst;                                /* the result, dense; it may be an operand of its shape             */
} SimdnetQuantizedBinaryParameters;

/*
 * The sum or the product of two tensors of bytes, each with one scale and one zero, with broadcasting as in SimdnetBinary().
 *
 *   Add        limited(nearest(fma(a, p, fma(b, q, t)))), p = f(aScale / dstScale), q = f(bScale / dstScale),
 *              t = f(dstZero - f(f(p * aZero) + f(q * bZero)))
 *   Multiply   limited(nearest(f(f(float((a - aZero) * (b - bZero)) * f(f(aScale * bScale) / dstScale)) + dstZero)))
 *
 * where f() rounds to float, fma() has one rounding for product and sum, nearest() rounds ties to even, and limited() is
 * 0 .. 255 or -128 .. 127; NaN, which only overflowing scales give, is the least. All instruction sets give the same results;
 * sums are fast on those with a fused multiply-add.
 */
void SimdnetQuantizedBinary(const SimdnetQuantizedBinaryParameters * parameters);

/* -------------------------------------------------------------------- arithmetic on integers, comparisons, selections */

/* What SimdnetElementwise() computes. */
typedef enum {
    SimdnetElementwiseAdd = 0,         /* a + b                                                                          */
    SimdnetElementwiseSubtract = 1,    /* a - b                                                                          */
    SimdnetElementwiseMultiply = 2,    /* a * b                                                                          */
    SimdnetElementwiseDivide = 3,      /* a / b, rounded towards zero; 0 if b is 0                                       */
    SimdnetElementwiseModulo = 4,      /* a - b * floor(a / b), of the sign of b; of integers 0 if b is 0                */
    SimdnetElementwiseRemainder = 5,   /* fmod(a, b), of the sign of a; of integers 0 if b is 0                          */
    SimdnetElementwiseMaximum = 6,     /* the larger one                                                                 */
    SimdnetElementwiseMinimum = 7,     /* the smaller one                                                                */
    SimdnetElementwisePower = 8,       /* a to the power of b; of a negative b the quotient 1 / power, as of Divide      */
    SimdnetElementwiseAnd = 9,         /* a & b                                                                          */
    SimdnetElementwiseOr = 10,         /* a | b                                                                          */
    SimdnetElementwiseXor = 11,        /* a ^ b                                                                          */
    SimdnetElementwiseShiftLeft = 12,  /* a << b; b is taken as unsigned, and may exceed the bits of the type            */
    SimdnetElementwiseShiftRight = 13, /* a >> b, likewise; negative numbers are filled with ones                        */
    SimdnetElementwiseEqual = 14,      /* a == b; this and the following return Bool                                     */
    SimdnetElementwiseNotEqual = 15,   /* a != b                                                                         */
    SimdnetElementwiseLess = 16,       /* a < b                                                                          */
    SimdnetElementwiseLessOrEqual = 17 /* a <= b                                                                         */
} SimdnetElementwiseOperation;

/* The arguments of SimdnetElementwise(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetElementwiseParameters {
    size_t size;                           /* sizeof(SimdnetElementwiseParameters)                                       */
    SimdnetElementwiseOperation operation; /* what is computed                                                           */
    SimdTensorDataType dataType;           /* of a and b: 32i, 8i, 8u, 64i, 64u or Bool, or 32f for some operations      */
    size_t count;                          /* the number of dimensions, 0 .. SIMDNET_MAX_DIMENSIONS                      */
    size_t shape[8];                       /* the extents of dst                                                         */
    size_t aShape[8], bShape[8];           /* of a and b: shape's extent in a dimension, or 1, which is repeated         */
    const void * a, * b;                   /* dense                                                                      */
    void * dst;                            /* dense, of dataType, but Bool for comparisons                               */
} SimdnetElementwiseParameters;

/*
 * Element-wise arithmetic on integers and comparisons, with NumPy broadcasting as in SimdnetBinary(), which has the arithmetic
 * on floats. With 32f there are Modulo, Remainder and the comparisons.
 *
 * Results keep the low bits of what is computed exactly. Bool is 0 or 1 before the operation, and after it: a result that is
 * not 0 is 1. dst may be an operand that has its shape and its type. All instruction sets give the same results.
 */
void SimdnetElementwise(const SimdnetElementwiseParameters * parameters);

/* The arguments of SimdnetSelect(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetSelectParameters {
    size_t size;                 /* sizeof(SimdnetSelectParameters)                                                      */
    SimdTensorDataType dataType; /* of a, b and dst: any type except Unknown                                             */
    size_t count;                /* the number of dimensions, 0 .. SIMDNET_MAX_DIMENSIONS                                */
    size_t shape[8];             /* the extents of dst                                                                   */
    size_t conditionShape[8], aShape[8], bShape[8]; /* as in SimdnetElementwise()                                        */
    const uint8_t * condition;   /* Bool, dense                                                                          */
    const void * a, * b;         /* dense                                                                                */
    void * dst;                  /* dense                                                                                */
} SimdnetSelectParameters;

/*
 * dst = condition ? a : b with NumPy broadcasting: Where of ONNX. Elements are moved unchanged. dst may be a or b if these have
 * its shape.
 */
void SimdnetSelect(const SimdnetSelectParameters * parameters);

/* ------------------------------------------------------------------------------- scattering, and sums of what precedes */

/* How an update changes an element of dst. */
typedef enum {
    SimdnetScatterNone = 0,     /* replaces it                                       */
    SimdnetScatterAdd = 1,      /* adds; integers keep the low bits                  */
    SimdnetScatterMultiply = 2, /* multiplies, likewise                              */
    SimdnetScatterMaximum = 3,  /* the larger one; NaN if either is                  */
    SimdnetScatterMinimum = 4   /* the smaller one; NaN if either is                 */
} SimdnetScatterReduction;

/* The arguments of SimdnetScatterElements(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetScatterElementsParameters {
    size_t size;                       /* sizeof(SimdnetScatterElementsParameters)                                       */
    SimdTensorDataType dataType;       /* of src, updates and dst: any; not 16b and 16f unless reduction is None         */
    SimdnetScatterReduction reduction; /* what an update does                                                            */
    size_t count, axis;                /* the number of dimensions, 1 .. SIMDNET_MAX_DIMENSIONS, and one of them         */
    size_t shape[8];                   /* the extents of src and dst                                                     */
    size_t updatesShape[8];            /* of updates: at most shape's extent in each dimension but the axis              */
    size_t indexShape[8];              /* of index: updatesShape's extent in a dimension, or 1, which is repeated        */
    const void * src;                  /* dense; NULL if dst contains the elements already                               */
    const int64_t * index;             /* dense: -shape[axis] .. shape[axis] - 1                                         */
    const void * updates;              /* dense                                                                          */
    void * dst;                        /* dense; may be src                                                              */
} SimdnetScatterElementsParameters;

/*
 * ScatterElements of ONNX. dst is src in which, for each element u of updates at i, in their order, the element
 * dst[i(0), ..., t, ..., i(count - 1)], t = index[i] in place of i(axis), becomes reduction(dst, u).
 *
 * A message about an index out of range names the first and its place.
 */
void SimdnetScatterElements(const SimdnetScatterElementsParameters * parameters);

/* The arguments of SimdnetScatterNd() and SimdnetGatherNd(). Set all other members to 0, then `size` and what is used. */
typedef struct SimdnetScatterNdParameters {
    size_t size;                       /* sizeof(SimdnetScatterNdParameters)                                             */
    SimdTensorDataType dataType;       /* as in SimdnetScatterElements()                                                 */
    SimdnetScatterReduction reduction; /* None for SimdnetGatherNd()                                                     */
    size_t batch;                      /* the number of arrays of this shape; 0 means 1                                  */
    size_t depth;                      /* the numbers of an index, 0 .. SIMDNET_MAX_DIMENSIONS                           */
    size_t shape[8];                   /* the extents that they select from                                              */
    size_t inner;                      /* the elements that an index selects: the product of the other extents           */
    size_t indices;                    /* for each array of the batch                                                    */
    const int64_t * index;             /* [batch][indices][depth], -shape[k] .. shape[k] - 1 each                        */
    const void * src;                  /* [batch][shape][inner]; scattering: NULL if dst contains the elements already   */
    const void * updates;              /* [batch][indices][inner], unless SimdnetGatherNd()                              */
    void * dst;                        /* as src, and may be src; SimdnetGatherNd(): [batch][indices][inner]             */
    const int64_t * rows;              /* NULL, or, scattering, for each index a row of updates: -rowCount .. rowCount - 1 */
    size_t rowCount;                   /* if rows is not NULL, updates is [rowCount][inner]                              */
} SimdnetScatterNdParameters;

/*
 * ScatterND and GatherND of ONNX: dst is src in which the elements that an index selects become reduction(dst, updates), in the
 * order of the indices; or dst consists of the elements that each index selects. With `rows`, updates are gathered as they are
 * applied: rows of nodes that are added along the edges of a graph.
 */
void SimdnetScatterNd(const SimdnetScatterNdParameters * parameters);
void SimdnetGatherNd(const SimdnetScatterNdParameters * parameters);

/*
 * dst(o, c, i) = the sum of src(o, 0 .. c, i): CumSum of ONNX, numpy.cumsum().
 *
 *   dataType    32f, 32i, 8i, 8u, 64i or 64u; integers keep the low bits
 *   src, dst    outer * count * inner elements each; dst may be src
 *   exclusive   SimdTrue: the sum of 0 .. c - 1, which is 0 for the first
 *   reverse     SimdTrue: the sum of c .. count - 1 (c + 1 .. count - 1 if exclusive)
 *
 * Elements are added one after another, in the type.
 */
void SimdnetCumulativeSum(SimdTensorDataType dataType, const void * src, size_t outer, size_t count, size_t inner,
                          SimdBool exclusive, SimdBool reverse, void * dst);

/* ------------------------------------------------------------------------------------- sharing of packed parameters */

/*
 * Lets a context use the packed parameters of another one, without a copy, for a network that runs with images of several
 * sizes. The effect is that of SetParams() with the same arguments. Both are contexts of one kind, any that has a SetParams
 * function, whose shapes differ in the batch, the sizes of images, padding, strides and dilation only, in M of an
 * inner product, or in the steps of sequences; and `from` has its parameters.
 *
 *     if (!SimdnetShareParams(context, from))
 *         SimdSynetConvolution32fSetParams(context, weight, NULL, bias, params);
 *
 * Each context has the algorithm that is chosen for its own shape, and computes the same bits as with its own SetParams().
 * Weights are packed as an algorithm needs them. If the context packs them in another way, for example because one of the
 * two uses Winograd's algorithm, SimdnetShareParams() returns SimdFalse, and SimdnetLastError() says what differs. Either
 * context's SimdnetContextInfo() names its algorithm.
 *
 * The parameters are freed with the last context that uses them, so contexts may be released in any order. After SetParams()
 * a context has parameters of its own again, and those that share its former ones keep them. The InternalBufferSize function
 * of a context that shares counts only what it does not share. Contexts that share may run Forward() in different threads,
 * and be released while others run; but neither may be in SetParams() or released while this function runs, and `context`
 * may not be in Forward().
 *
 * Returns SimdTrue if it shares them. On error returns SimdFalse, and the context is unchanged.
 */
SimdBool SimdnetShareParams(void * context, const void * from);

/*
 * The packed parameters of a context as bytes, for a file that another process maps, instead of weights to pack.
 *
 *     SimdnetGetPacked(context, bytes);                              // SimdnetPackedSize(context) bytes
 *     if (!SimdnetSetPacked(again, mapped, size))                    // in place of SetParams() of an equal context
 *         SimdSynetConvolution32fSetParams(again, weight, NULL, bias, params);
 *
 * They serve contexts of the same arguments of Init, in this version of the library, on the same instruction set, whose
 * algorithm is the same. Contexts of all kinds with a SetParams function have them in this form, but those of Scale8i.
 *
 * SimdnetPackedSize() returns their bytes: 0 for a context that has none in this form, or no parameters yet. It is no error.
 */
size_t SimdnetPackedSize(const void * context);

/*
 * Writes the packed parameters of a context, which has some, to dst: SimdnetPackedSize() bytes at any address. Returns
 * SimdTrue; on error SimdFalse, and nothing is written.
 */
SimdBool SimdnetGetPacked(const void * context, void * dst);

/*
 * Lets a context use packed parameters in place of SetParams(), without a copy: src, at a multiple of 64, must stay as it is
 * for as long as the context exists, or one that shares its parameters (SimdnetShareParams()), or until SetParams().
 * The results have the bits of SetParams(). InternalBufferSize does not count them.
 *
 *   size    the bytes of src, as SimdnetPackedSize() has returned
 *
 * Returns SimdTrue if it uses them. SimdFalse, and the context is unchanged, if they were packed for a context of other
 * sizes, another algorithm or instruction set; their numbers are not checked.
 */
SimdBool SimdnetSetPacked(void * context, const void * src, size_t size);

/* ------------------------------------------------------------------------- prepared calls */

/* An argument of a call: a pointer, an integer (also an enumerator or a SimdBool), or a floating-point number. */
typedef union SimdnetArgument {
    void * pointer;
    int64_t number;
    double real;
} SimdnetArgument;

/* Calls one function of the library, and takes the arguments of that function from an array. */
typedef void (*SimdnetCallFunction)(const SimdnetArgument * arguments);

/*
 * One call.
 *
 *   run          what SimdnetCallOf() returns for the function
 *   arguments    [number of arguments of the function], in their order: pointers and integers as the function documents them
 */
typedef struct SimdnetCall {
    SimdnetCallFunction run;
    const SimdnetArgument * arguments;
} SimdnetCall;

/*
 * Returns what calls the function of this name for SimdnetRunCalls(): "SimdSynetRelu32f". There is one for each function of this
 * header that returns nothing, but SimdnetRunCalls(). NULL, without an error, for any other name.
 *
 *   name    must not be NULL
 */
SimdnetCallFunction SimdnetCallOf(const char * name);

/*
 * Makes calls one after the other. In languages where a call of the library costs more than a small layer, many calls cost no
 * more than one in this way. Each does what it does alone, also on threads; the first that is refused is the last, and its error
 * stays. What calls write may be read by later ones.
 *
 *   calls    [count]; may be NULL if count is 0. A call whose `run` or `arguments` is NULL is refused.
 */
void SimdnetRunCalls(const SimdnetCall * calls, size_t count);

/* ------------------------------------------------------------------------- former names of bfloat16 convolution */

/* Deprecated: former names of the functions SimdSynetConvolution16b, which are the same without `compatibility`. */
void * SimdnetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv);

/* Deprecated: SimdSynetConvolution16bExternalBufferSize(). */
size_t SimdnetConvolution16bExternalBufferSize(const void * context);

/* Deprecated: SimdSynetConvolution16bInternalBufferSize(). */
size_t SimdnetConvolution16bInternalBufferSize(const void * context);

/* Deprecated: SimdSynetConvolution16bSetParams(). */
void SimdnetConvolution16bSetParams(void * context, const float * weight, const float * bias, const float * params);

/* Deprecated: SimdSynetConvolution16bForward(). */
void SimdnetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
