/*
 * simdnet: primitives of neural-network inference on a CPU.
 *
 * This is the only header and the only list of declarations: C and C++ programs include it, the Python package reads its
 * declarations from it, a test compares it with the symbols that the library exports. The functions called Simd* have the
 * names, the arguments and the meaning of the Simd Library's documentation (Synet functions); the block called Simdnet* at
 * the end is ours.
 *
 * The contract of every function, where it does not say otherwise:
 *
 *   Memory       Exactly the documented elements are read and exactly the documented elements are written. Arrays are dense
 *                and row-major; there is no padding to provide. Arrays of data, single numbers and buffers may lie at any
 *                byte address; arrays of pointers, arrays of sizes, and structs have the alignment of their type. src and
 *                dst must not overlap. The library keeps no pointer of the caller after it returned.
 *   Errors       A bad argument (NULL, an unknown format, a size that cannot be, a stride of 0 ...) is refused before any
 *                element is written: an Init function returns NULL, one that gives a number 0, the others leave dst alone,
 *                and SimdnetLastError() tells which argument, what it was, and what was expected. Nothing aborts, and
 *                nothing prints unless SIMDNET_VERBOSE asks for it.
 *                A context that was released, or a pointer to no memory, cannot be told from a good one.
 *   Empty        An output of zero elements is valid: nothing is done and pointers may be NULL.
 *   Threads      Every function may be called from many threads at once. A context may run Forward in many threads at once.
 *   Stack        A call needs less than 64 KB of stack: a thread that has 64 KB in all may call every function (80 KB where
 *                clang compiled the library).
 *   Numbers      The same library, instruction set and arguments give the same bits on each run, whatever the thread count,
 *                the position in a batch or the alignment. NaN propagates unless a function says otherwise; the caller's
 *                floating-point environment is neither changed nor asked for more than round-to-nearest.
 *   Batches      Functions without a batch argument work on one image; call them once per image. In NHWC, a function that
 *                treats every pixel alike (AddBias ...) can take batch * height * width as its spatial size.
 *
 * Layouts of a tensor of C channels and S = H * W spatial positions; (c, s) is at
 *
 *   NCHW   c * S + s             NHWC   s * C + c             NCHWxc, x = 4, 8 or 16   ((c / x) * S + s) * x + c % x
 *
 * The last one rounds the number of channels up to a multiple of x. A filter of O outputs, I inputs and K = kernelY *
 * kernelX taps has (o, i, k) at
 *
 *   Oiyx   (o * I + i) * K + k   Yxio   (k * I + i) * O + o
 *   Oyxixo, x = 4, 8 or 16   (((o / x) * K + k) * I + i) * x + o % x
 *
 * and the last one rounds the number of outputs up to a multiple of x.
 *
 * Instruction sets, oldest first: base, sse41, avx2, avxvnni, avx512, avx512vnni, avx512bf16 on x86-64; base, neon,
 * neondotprod on aarch64. The last that the machine has is used. The environment variable SIMDNET_MAX_ISA=<name>, read once,
 * and SimdnetSetMaxIsa() cap it: the last that the machine has is used that is not behind the named one. An unknown name in
 * the variable is ignored, and one line on stderr says so. A library that was built for some of them knows no others.
 */
#ifndef SIMDNET_H
#define SIMDNET_H

#include <stddef.h>
#include <stdint.h>

#define SIMDNET_VERSION "0.2.0"

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

/* What SimdCpuInfo() can be asked for: counts, cache sizes in bytes, and instruction sets (1 when usable). */
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
 */
typedef enum {
    SimdConvolutionActivationIdentity = 0,
    SimdConvolutionActivationRelu = 1,
    SimdConvolutionActivationLeakyRelu = 2,
    SimdConvolutionActivationRestrictRange = 3,
    SimdConvolutionActivationPrelu = 4,
    SimdConvolutionActivationElu = 5,
    SimdConvolutionActivationHswish = 6
} SimdConvolutionActivationType;

/* What SimdSynetEltwiseLayerForward() does with its arrays. */
typedef enum {
    SimdSynetEltwiseOperationProduct = 0,
    SimdSynetEltwiseOperationSum = 1,
    SimdSynetEltwiseOperationMax = 2,
    SimdSynetEltwiseOperationMin = 3
} SimdSynetEltwiseOperationType;

/* Formats of pixels. Functions here take Gray8, Bgr24, Bgra32 and Rgb24: bytes, in the order of their names. */
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

/* Flags of the quantised functions. Only the group 8i matters: 8iNarrowed limits bytes to 0..180, all else to 0..255. */
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

/* Shape of one convolution. Padding is counted in zeros at the top (padY), left (padX), bottom (padH) and right (padW). */
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
 * A matrix multiplication that a program may offer to the convolutions: C(M,N) = alpha * A(M,K) * B(K,N) + beta * C(M,N),
 * row-major, alpha and beta pointers to one float. This library accepts it and never calls it: its own is used.
 */
typedef void (*SimdGemm32fNNPtr)(size_t M, size_t N, size_t K, const float * alpha, const float * A, size_t lda,
                                 const float * B, size_t ldb, const float * beta, float * C, size_t ldc);

/* --------------------------------------------------------------------------------------------- infrastructure */

/* The version of this library, three numbers with dots; a static string. */
const char * SimdVersion(void);

/* A fact about this machine (see SimdCpuInfoType); 0 for an unknown type. An instruction set counts when the processor and
 * the operating system support it and the library has kernels for it or for a newer one that contains it. */
size_t SimdCpuInfo(SimdCpuInfoType type);

/*
 * A table of the time spent in each function, as SimdnetSetVerbose() has it collected; "" when there is none, never NULL. A
 * line of names, then one for each function, shape, algorithm and instruction set: calls, their microseconds (total, mean,
 * min, max), and these four words; the largest total first. The text is this thread's own and valid until its next call of
 * the library.
 */
const char * SimdPerformanceStatistic(void);

/* A block of at least `size` bytes (rounded up to a multiple of `align`) whose address is a multiple of `align`, a power of
 * two; NULL when there is no memory or `align` is not a power of two. Free it with SimdFree(). */
void * SimdAllocate(size_t size, size_t align);

/* Frees a block of SimdAllocate(); NULL is allowed. */
void SimdFree(void * ptr);

/* `size` rounded up to a multiple of `align`, a power of two or 0, which gives 0; what cannot be is refused, and gives 0. */
size_t SimdAlign(size_t size, size_t align);

/* The alignment in bytes that suits the instruction set in use: 64, 32 or 16. It follows the cap of SimdnetSetMaxIsa(). */
size_t SimdAlignment(void);

/* Destroys a context made by any Init function; NULL is allowed, a pointer to something else is refused. */
void SimdRelease(void * context);

/*
 * The number of threads that one call may use, its caller among them; 1 unless set here or by the environment variable
 * SIMDNET_NUM_THREADS (a number of at least 1; anything else is ignored, with a line on stderr).
 *
 * Work that is worth it is shared out to a pool of threads, made by the first call that can use them and kept until the
 * process ends; with 1 there is none. Small work stays on the caller, as does that of a call which finds the pool at work
 * for another thread. The pool's threads take no signals and compute with the caller's mode of rounding; a forked child
 * makes its own.
 */
size_t SimdGetThreadNumber(void);

/*
 * Sets it, for the whole process, limited to 1 .. the number of processors that the calling thread's affinity and the quotas
 * of its control groups allow. Results do not depend on it. The threads are made by the first call that is worth them, and
 * run where the thread may that sets the number.
 */
void SimdSetThreadNumber(size_t threadNumber);

/* ---------------------------------------------------------------------------------------------------- layouts */

/* NchwXc and OyxiXo made specific for the instruction set in use: X is SimdAlignment() / 4. Unknown for any other input. */
SimdTensorFormatType SimdSynetSpecifyTensorFormat(SimdTensorFormatType format);

/* The multiple to which a layout rounds channels (or filter outputs): 1, 4, 8 or 16; 0 for Unknown, NchwXc and OyxiXo. */
size_t SimdSynetTensorAlignment(SimdTensorFormatType format);

/*
 * Converts images between NCHW, NHWC, NCHW4c, NCHW8c and NCHW16c, in every direction but from one NCHWxc to another.
 *
 *   batch, channels, spatial   images, C, H * W
 *   src, dst                   batch * SimdAlign(C, SimdSynetTensorAlignment(format)) * spatial floats, by format
 *
 * Values are copied to the bit. To NCHWxc, the lanes beyond C are written as 0; from it, they are dropped; the same format
 * on both sides is a plain copy, those lanes included.
 */
void SimdSynetConvertImage(size_t batch, size_t channels, size_t spatial, const float * src,
                           SimdTensorFormatType srcFormat, float * dst, SimdTensorFormatType dstFormat);

/*
 * Converts filters between Oiyx, Yxio, Oyxi4o, Oyxi8o and Oyxi16o, in every direction but from one Oyxixo to another.
 *
 *   output, input, kernel   O, I, kernelY * kernelX; of a grouped convolution I is the inputs of one group
 *   src, dst                SimdAlign(O, SimdSynetTensorAlignment(format)) * I * kernel floats, by format
 *
 * Values are copied to the bit. To Oyxixo, the lanes beyond O are written as 0; from it, they are dropped; the same format
 * on both sides is a plain copy, those lanes included.
 */
void SimdSynetConvertFilter(size_t output, size_t input, size_t kernel, const float * src, SimdTensorFormatType srcFormat,
                            float * dst, SimdTensorFormatType dstFormat);

/*
 * Makes the input tensor of a network from a picture: every byte v of colour c becomes
 *
 *   dst(c, y, x) = v * ((upper[c] - lower[c]) / 255) + lower[c], each operation rounded by itself,
 *
 * the same bits on every instruction set. With 3 channels c is blue, green, red, in this order whatever the order in the
 * picture, and a gray picture gives three times the same; with 1 channel, colours become the gray byte
 * (1868 * blue + 9617 * green + 4899 * red + 8192) / 16384, rounded down. Alpha is ignored.
 *
 *   src            height rows of width pixels, the first bytes of which are `stride` bytes apart, at least
 *                  width * (bytes of a pixel); what lies between two rows is not read
 *   srcFormat      Gray8, Bgr24, Bgra32 or Rgb24
 *   lower, upper   `channels` floats each: what bytes 0 and 255 become
 *   channels       1 or 3
 *   dst            channels * height * width floats, NCHW or NHWC
 */
void SimdSynetSetInput(const uint8_t * src, size_t width, size_t height, size_t stride, SimdPixelFormatType srcFormat,
                       const float * lower, const float * upper, float * dst, size_t channels,
                       SimdTensorFormatType dstFormat);

/*
 * Parts the channels of two tensors, taken as one after the other, into even and odd ones:
 *
 *   dst0 = channels 0, 2, 4 ... of src0, then of src1        dst1 = channels 1, 3, 5 ... of src0, then of src1
 *
 *   src0, src1   srcC0 * spatial and srcC1 * spatial floats, srcC0 and srcC1 even
 *   dst0, dst1   dstC * spatial floats each, dstC = (srcC0 + srcC1) / 2
 *   format       NCHW or NHWC
 */
void SimdSynetShuffleLayerForward(const float * src0, size_t srcC0, const float * src1, size_t srcC1, size_t spatial,
                                  float * dst0, float * dst1, size_t dstC, SimdTensorFormatType format);

/* ---------------------------------------------------------------------------------------------------- pooling */
/*
 * The window of output (y, x) is rows max(0, y * strideY - padY) .. min(srcH, y * strideY - padY + kernelY) - 1 and columns
 * alike: cells of the padding contribute nothing. dstH and dstW are the caller's choice (floor and ceil conventions are both
 * fine); a window that lies wholly outside the image is empty.
 *
 *   src   srcC * srcH * srcW elements        dst   srcC * dstH * dstW elements        format   NCHW or NHWC
 *
 * kernel and stride are at least 1. Which NaN wins in a maximum, and whether one does, is open.
 */

/* Maximum. The start value is -FLT_MAX, so an empty window, and one of nothing but -Inf, gives -FLT_MAX.
 * With kernelC 1, strideC 1, padC 0 and srcC == dstC each channel is pooled by itself; else the window also spans channels
 * max(0, c * strideC - padC) .. min(srcC, c * strideC - padC + kernelC) - 1 for c in 0 .. dstC - 1, and dst has dstC
 * channels. */
void SimdSynetPoolingMax32f(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelC, size_t kernelY,
                            size_t kernelX, size_t strideC, size_t strideY, size_t strideX, size_t padC, size_t padY,
                            size_t padX, float * dst, size_t dstC, size_t dstH, size_t dstW, SimdTensorFormatType format);

/* Maximum of bfloat16 values, compared as floats. The start value is -FLT_MAX, which bfloat16 stores as -Inf (0xFF80). */
void SimdSynetPoolingMax16b(const uint16_t * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                            size_t strideY, size_t strideX, size_t padY, size_t padX, uint16_t * dst, size_t dstH,
                            size_t dstW, SimdTensorFormatType format);

/* Maximum of bytes; 0 for an empty window. */
void SimdSynetPoolingMax8u(const uint8_t * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                           size_t strideY, size_t strideX, size_t padY, size_t padX, uint8_t * dst, size_t dstH,
                           size_t dstW, SimdTensorFormatType format);

/* Mean. The divisor is the number of cells inside the image when excludePad is SimdTrue, else kernelY * kernelX, also where
 * the window is cut off. An empty window gives 0, or NaN (0 / 0) with excludePad. The error is at most (log2(n) + 8) *
 * 2^-24 * (sum of |src|) / divisor for n cells. */
void SimdSynetPoolingAverage(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                             size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst, size_t dstH,
                             size_t dstW, SimdBool excludePad, SimdTensorFormatType format);

/* The maximum under its older name: trans is SimdFalse for NCHW, SimdTrue for NHWC. */
void SimdSynetPoolingForwardMax(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                                size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst, size_t dstH,
                                size_t dstW, SimdBool trans);

/* The mean under its older name. */
void SimdSynetPoolingForwardAverage(const float * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY,
                                    size_t kernelX, size_t strideY, size_t strideX, size_t padY, size_t padX, float * dst,
                                    size_t dstH, size_t dstW, SimdBool excludePad, SimdTensorFormatType format);

/* --------------------------------------------------------------------------------------------------- addition */

/*
 * Adds two byte tensors that carry per-channel scales and shifts; in float32, each operation rounded by itself:
 *
 *   t = (a * aScale[c] + aShift[c] + b * bScale[c] + bShift[c]) * cScale[c] + cShift[c]
 *   c = min(max(nearest integer of t, ties to even, 0), upper)
 *
 * upper is 180 when (compatibility & SimdSynetCompatibility8iMask) is SimdSynetCompatibility8iNarrowed, else 255; a NaN
 * gives 0. Every instruction set gives the same bytes.
 *
 *   aData, bData, cData   batch * channels * spatial bytes        the six arrays   channels floats each
 *   format                NCHW or NHWC
 */
void SimdSynetAdd8i(const uint8_t * aData, const float * aScale, const float * aShift, const uint8_t * bData,
                    const float * bScale, const float * bShift, uint8_t * cData, const float * cScale, const float * cShift,
                    size_t batch, size_t channels, size_t spatial, SimdTensorFormatType format,
                    SimdSynetCompatibilityType compatibility);

/*
 * Makes a context that adds two tensors of the same shape, each float or bfloat16:
 *
 *   dst[i] = convert(float(a[i]) + float(b[i]))
 *
 *   aShape, bShape         aCount and bCount dimensions; the counts and all dimensions must be equal. A count of 0 is one
 *                          element, a dimension of 0 is none
 *   aType, bType, dstType  SimdTensorData32f or SimdTensorData16b each; to bfloat16 it rounds to nearest even and keeps
 *                          subnormals; a NaN stays one
 *   format                 Unknown, NCHW or NHWC; it does not change the result
 *
 * Returns NULL on error. Release it with SimdRelease().
 */
void * SimdSynetAdd16bInit(const size_t * aShape, size_t aCount, SimdTensorDataType aType, const size_t * bShape,
                           size_t bCount, SimdTensorDataType bType, SimdTensorDataType dstType,
                           SimdTensorFormatType format);

/* Adds. a, b and dst point to floats or bfloat16 values, as Init said. dst may be a or b when it has the same type. */
void SimdSynetAdd16bForward(void * context, const uint8_t * a, const uint8_t * b, uint8_t * dst);

/*
 * Puts `count` arrays together, element by element, x(i) being src[i][j]:
 *
 *   Product   dst[j] = x(0) * x(1) * x(2) ..., from left to right, each product rounded by itself
 *   Sum       dst[j] = weight[0] * x(0) + weight[1] * x(1) ...
 *   Max       d = x(0), then d = d > x(i) ? d : x(i) for i = 1, 2 ...; so a NaN stays where it is in the last array
 *   Min       likewise with d < x(i)
 *
 * count is at least 1. With 1, Max and Min begin at -FLT_MAX and FLT_MAX: infinities of that sign become finite.
 *
 *   src      count pointers to `size` floats each          weight   count floats; NULL is fine for all but Sum
 *   dst      size floats; it may be any one of the arrays
 */
void SimdSynetEltwiseLayerForward(float const * const * src, const float * weight, size_t count, size_t size,
                                  SimdSynetEltwiseOperationType type, float * dst);

/* ---------------------------------------------------------------------------------------- channel-wise layers */
/*
 * One pass over an image of C channels and S positions, x = src(c, s), where every channel has coefficients of its own.
 *
 *   format        NCHW, NHWC, NCHW4c, NCHW8c or NCHW16c, of src and dst alike
 *   src, dst      A * spatial floats, with A = SimdAlign(channels, SimdSynetTensorAlignment(format))
 *   coefficients  A floats in each array that is indexed by c. In NCHWxc the lanes beyond `channels` are treated as the
 *                 others: their results follow from what src and the coefficients have there
 *
 * dst may be src where it says "in place". A NaN comes through: max(0, x) and min(0, x) are x for it.
 */

/* dst(c, s) += bias[c], in place. */
void SimdSynetAddBias(const float * bias, size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* dst(c, s) = x * scale[c] + bias[c]; bias may be NULL for zeros. Also in place. */
void SimdSynetScaleLayerForward(const float * src, const float * scale, const float * bias, size_t channels, size_t spatial,
                                float * dst, SimdTensorFormatType format);

/* dst(c, s) = max(0, x) + slope[c] * min(0, x). Also in place. */
void SimdSynetPreluLayerForward(const float * src, const float * slope, size_t channels, size_t spatial, float * dst,
                                SimdTensorFormatType format);

/* v = x + bias[c]; dst(c, s) = (v - |v|) * scale[c] + max(0, v), which for v < 0 is 2 * v * scale[c]. Also in place. */
void SimdSynetFusedLayerForward0(const float * src, const float * bias, const float * scale, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/* v = x + bias0[c]; dst(c, s) = max(0, -v) * scale1[c] + bias1[c] + max(0, v). Also in place. */
void SimdSynetFusedLayerForward1(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* v = x * scale[c] + bias[c]; dst(c, s) = max(0, v) + min(0, v) * slope[0], one slope for all channels. Also in place. */
void SimdSynetFusedLayerForward2(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, const float * slope, float * dst, SimdTensorFormatType format);

/*
 * v = x + bias[c]; dst(c, s) = max(0, v) + min(0, v) * scale[c]. Also in place.
 *
 * As the documentation prints it, scale is the second argument and bias the third: a program that was written for the
 * original library, which takes them the other way round, must swap them.
 */
void SimdSynetFusedLayerForward3(const float * src, const float * scale, const float * bias, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/*
 * v = x + bias0[c]; dst(c, s) = max(0, v) and dst(channels + c, s) = max(0, v * scale1[0] + bias1[0]): dst has 2 * channels
 * channels, scale1 and bias1 are one float each. In NCHWxc channels must be a multiple of x.
 */
void SimdSynetFusedLayerForward4(const float * src, const float * bias0, const float * scale1, const float * bias1,
                                 size_t channels, size_t spatial, float * dst, SimdTensorFormatType format);

/* dst(c, s) = src0(c, s) + src1(c, s) * src2[c]: src2 are coefficients. dst may be src0 or src1. */
void SimdSynetFusedLayerForward8(const float * src0, const float * src1, const float * src2, size_t channels,
                                 size_t spatial, float * dst, SimdTensorFormatType format);

/*
 * x runs over the channels0 channels of src0, then over the channels1 of src1; c counts all of them:
 * dst0(c, s) = max(0, x * scale[c] + bias[c]), and dst1(c, s) = x unless dst1 is NULL. Both have channels0 + channels1
 * channels. In NCHWxc channels0 must be a multiple of x.
 */
void SimdSynetFusedLayerForward9(const float * src0, const float * src1, const float * scale, const float * bias,
                                 size_t channels0, size_t channels1, size_t spatial, float * dst0, float * dst1,
                                 SimdTensorFormatType format);

/* ------------------------------------------------------------------------------------------------ activations */
/*
 * Functions of every element: src and dst are `size` floats, dst may be src, and each parameter points to one float. Those
 * of exp and tanh are within 2 units in the last place of the exact value at the argument that float32 arithmetic gives
 * (slope * x, beta * x), denormal results included.
 */

/* dst[i] = max(0, src[i]) + slope[0] * min(0, src[i]); slope 0 is the plain ReLU, but that -Inf gives NaN. */
void SimdSynetRelu32f(const float * src, size_t size, const float * slope, float * dst);

/* dst[i] = src[i] >= 0 ? src[i] : alpha[0] * (exp(src[i]) - 1), without cancellation near 0. */
void SimdSynetElu32f(const float * src, size_t size, const float * alpha, float * dst);

/* dst[i] = max(min(src[i], shift[0]) + shift[0], 0) * scale[0] * src[i]; arXiv:1905.02244 has shift 3 and scale 1/6. */
void SimdSynetHswish32f(const float * src, size_t size, const float * shift, const float * scale, float * dst);

/* dst[i] = min(max(lower[0], src[i]), upper[0]); upper[0] where lower[0] is above it. */
void SimdSynetRestrictRange32f(const float * src, size_t size, const float * lower, const float * upper, float * dst);

/* dst[i] = 1 / (1 + exp(-slope[0] * src[i])). */
void SimdSynetSigmoid32f(const float * src, size_t size, const float * slope, float * dst);

/* dst[i] = src[i] > threshold[0] ? src[i] : log(1 + exp(beta[0] * src[i])) / beta[0],
 * without cancellation for negative arguments. */
void SimdSynetSoftplus32f(const float * src, size_t size, const float * beta, const float * threshold, float * dst);

/* dst[i] = tanh(slope[0] * src[i]). */
void SimdSynetTanh32f(const float * src, size_t size, const float * slope, float * dst);

/* ------------------------------------------------------------------------------------------- unary operations */

/* Abs |x|, Exp e^x, Log the natural logarithm, Neg -x, Rsqrt 1 / sqrt(x), Sqrt, Tanh, Zero 0. */
typedef enum {
    SimdSynetUnaryOperation32fAbs = 0,
    SimdSynetUnaryOperation32fExp = 1,
    SimdSynetUnaryOperation32fLog = 2,
    SimdSynetUnaryOperation32fNeg = 3,
    SimdSynetUnaryOperation32fRsqrt = 4,
    SimdSynetUnaryOperation32fSqrt = 5,
    SimdSynetUnaryOperation32fTanh = 6,
    SimdSynetUnaryOperation32fZero = 7
} SimdSynetUnaryOperation32fType;

/*
 * dst[i] = operation(src[i]) for i < size; dst may be src. Abs, Neg, Sqrt and Zero are exact, the others within 2 units in
 * the last place; with avx512 the last bit of Rsqrt may differ between makers of processors. Special values are those of the
 * C library: Log of 0 is -Inf and of less NaN, Rsqrt of 0 is Inf and of -0 -Inf, Sqrt of less than 0 is NaN.
 */
void SimdSynetUnaryOperation32fLayerForward(const float * src, size_t size, SimdSynetUnaryOperation32fType type,
                                            float * dst);

/* --------------------------------------------------------------------------------------------------- softmax */

/*
 * For each (o, i): dst(o, c, i) = e(c) / (sum of all e), e(c) = exp(src(o, c, i) - max over c), with (o, c, i) at
 * (o * count + c) * inner + i of outer * count * inner floats. Large inputs do not overflow. dst may be src. The error of
 * the sum is at most (log2(count) + 8) * 2^-24 of it, beside those of the exponentials.
 */
void SimdSynetSoftmaxLayerForward(const float * src, size_t outer, size_t count, size_t inner, float * dst);

/* --------------------------------------------------------------------------------- local response normalization */

/*
 * dst(c, s) = src(c, s) * (k[0] + k[1] * sum) ^ k[2], where sum is that of the squares of src(i, s) for all channels i from
 * max(0, c - half) to min(channels - 1, c + half). `half` may be any number.
 *
 *   src, dst   channels * spatial floats        k   3 floats        format   NCHW or NHWC
 *
 * The result is within 1e-6 of itself for -1 <= k[2] <= 1, and open where the sum of finite values is beyond float or where
 * k[0] + k[1] * sum is below FLT_MIN. Multiples of 1/4 are fast; last bits may differ between makers of processors.
 */
void SimdSynetLrnLayerCrossChannels(const float * src, size_t half, size_t channels, size_t spatial, const float * k,
                                    float * dst, SimdTensorFormatType format);

/* ---------------------------------------------------------------------------------------------- inner product */

/*
 * dst[i] = sum over j of src[j] * weight[i * size + j] + bias[i], for i in 0 .. count - 1.
 *
 *   src   size floats        weight   count * size floats        bias   count floats, or NULL for none
 */
void SimdSynetInnerProductLayerForward(const float * src, const float * weight, const float * bias, size_t count,
                                       size_t size, float * dst);

/* --------------------------------------------------------------------------------------- matrix multiplication */

/*
 * C = alpha * A * B + beta * C of row-major matrices: C[i * ldc + j] = alpha[0] * (sum over k of A[i * lda + k] * B(k, j))
 * + beta[0] * C[i * ldc + j] for i < M and j < N, where B(k, j) is B[k * ldb + j] in NN, and B[j * ldb + k] in NT, whose B
 * is transposed.
 *
 *   A   M rows of K floats, lda >= K apart           C   M rows of N floats, ldc >= N apart
 *   B   NN: K rows of N floats, ldb >= N apart       NT: N rows of K floats, ldb >= K apart
 *
 * As in BLAS, with beta 0 C is written without being read, and with alpha 0 A and B are not read; with K 0 they may be NULL.
 * What lies between rows is neither read nor written. C must not overlap A or B. alpha is multiplied with B before the sum
 * where that is faster, so that it may overflow there.
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
 * A weight that is not finite may act on those zeros, or not, as the algorithm has it.
 *
 * Both tensors are float, both NCHW or both NHWC, and the output size must be the one that follows:
 * dstH = (srcH + padY + padH - (dilationY * (kernelY - 1) + 1)) / strideY + 1, at least 1, and dstW alike. batch, strides,
 * dilations, kernel and group are at least 1; group divides srcC and dstC. `gemm` is ignored and may be NULL.
 *
 * SimdnetContextInfo() tells the algorithm, which follows from the shape and the instruction set. Where it is "Winograd
 * F(m,3)" or "Winograd F(m,3) of stride 2", a tile is the inputs of m x m outputs that are computed together: an infinity or
 * a NaN among them may make all those outputs NaN. The error of a sum is within k * 2^-24 * sum over i of (largest |src| of
 * the tile) * (sum of |weight(o, i)|), with k of 4, 12 and 32 for m of 2, 3 and 4, or, of stride 2, of 2 and 12 for m of 2
 * and 4, where many channels share in the sum, with terms of both signs. Where a few weights are nearly all of it, k is up
 * to 12 times as large; where all terms have one sign it is larger by up to srcC / 64, and by up to 8 * srcC where all
 * roundings go the same way, as with equal values beside zeros of the padding.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm);

/* The number of floats of the buffer that Forward() can be given; at least 1, and constant. */
size_t SimdSynetConvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds now: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetConvolution32fInternalBufferSize(const void * context);

/*
 * Gives the context its weights; may be called again with others, but not while Forward() runs.
 *
 *   weight     NCHW: Oiyx, i inside the group: ((o * (srcC / group) + i) * kernelY + ky) * kernelX + kx
 *              NHWC: Yxio: ((ky * kernelX + kx) * (srcC / group) + i) * dstC + o
 *   internal   NULL, or receives SimdTrue: everything is copied and the arrays may be freed at once
 *   bias       dstC floats, or NULL for zeros
 *   params     what the activation needs (see SimdConvolutionActivationType); NULL when it needs nothing
 */
void SimdSynetConvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                      const float * params);

/*
 * Computes `batch` images, image b at src + b * srcC * srcH * srcW and dst + b * dstC * dstH * dstW.
 *
 *   buf   ExternalBufferSize() floats, one per thread that runs this context; or NULL, then the library uses scratch memory
 *         of the calling thread, which it allocates in the first call of that thread
 */
void SimdSynetConvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* ---------------------------------------------------------------------------------------------- deconvolution */

/*
 * A context for the transposed convolution: each input is multiplied with the kernel, which lands on the output strideY
 * lines and strideX columns further on for each input further on,
 *
 *   dst(o, sy * strideY + ky * dilationY - padY, sx * strideX + kx * dilationX - padX) +=
 *       src(i, sy, sx) * weight(i, o, ky, kx)       for all i of the group of o; what lies outside dst is dropped,
 *
 * then bias[o] is added and the activation applied. Padding is what is cut off the output, whose size must be the one that
 * follows: dstH = strideY * (srcH - 1) + dilationY * (kernelY - 1) + 1 - padY - padH, at least 1, and dstW alike. Types,
 * formats and the other parameters are those of SimdSynetConvolution32fInit, but NHWC has a group of 1.
 *
 * SimdnetContextInfo() tells the algorithm, which follows from the shape and the instruction set. Of stride 1 it is a
 * convolution, and what SimdSynetConvolution32fInit says of Winograd's algorithm holds.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetDeconvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm);

/* The number of floats of the buffer that Forward() can be given; at least 1, and constant. */
size_t SimdSynetDeconvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds now: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdSynetDeconvolution32fInternalBufferSize(const void * context);

/*
 * Gives the context its weights; may be called again with others, but not while Forward() runs. In both layouts the input
 * channel is outermost:
 *
 *   weight     NCHW: ((i * (dstC / group) + o) * kernelY + ky) * kernelX + kx, i of all srcC, o inside the group
 *              NHWC: ((i * kernelY + ky) * kernelX + kx) * dstC + o
 *   internal   NULL, or receives SimdTrue: everything is copied and the arrays may be freed at once
 *   bias       dstC floats, or NULL for zeros
 *   params     what the activation needs (see SimdConvolutionActivationType); NULL when it needs nothing
 */
void SimdSynetDeconvolution32fSetParams(void * context, const float * weight, SimdBool * internal, const float * bias,
                                        const float * params);

/*
 * Computes `batch` images, image b at src + b * srcC * srcH * srcW and dst + b * dstC * dstH * dstW. dst must not overlap
 * src.
 *
 *   buf   ExternalBufferSize() floats, one per thread that runs this context; or NULL, then the library uses scratch memory
 *         of the calling thread, which it allocates in the first call of that thread
 */
void SimdSynetDeconvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* ----------------------------------------------------------------------------------------- merged convolution */

/*
 * A context for convolutions one after the other, whose results in between stay in the caches and are never whole images:
 *
 *   conv[0]   an expansion: group 1, kernel 1x1 or 3x3, stride 1 .. 3
 *   conv[1]   depthwise: group = srcC = dstC, kernel 3x3, 5x5 or 7x7, stride 1 .. 3
 *   conv[2]   a projection: group 1, kernel 1x1, stride 1
 *
 * With count 3 all of them; with count 2, an extension, the first two or the last two. Each is what
 * SimdSynetConvolution32fInit describes, with its bias and its activation, and its source is the result of the one before:
 * srcC, srcH and srcW of conv[i + 1] are dstC, dstH and dstW of conv[i]. All tensors are float and NHWC; kernels are square,
 * dilations 1, and with count 3 strideY and strideX are equal. What lies in the padding of a convolution is 0, not the
 * result of the one before at that place.
 *
 * add, which count 2 ignores: the image is added to the result of conv[2], before its activation:
 * dst = activation(src + sum + bias). conv[2] then has the output size that conv[0] has as input.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdSynetMergedConvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, size_t count, SimdBool add);

/* The number of floats of the buffer that Forward() can be given; at least 1, and constant. */
size_t SimdSynetMergedConvolution32fExternalBufferSize(const void * context);

/* The number of floats that the context holds now: packed weights, biases and parameters; 0 before SetParams(). */
size_t SimdSynetMergedConvolution32fInternalBufferSize(const void * context);

/*
 * Gives the context its weights; may be called again with others, but not while Forward() runs. Arrays of `count`:
 *
 *   weight     weight[i]: Yxio, ((ky * kernelX + kx) * (srcC / group) + i) * dstC + o; depthwise:
 *              (ky * kernelX + kx) * srcC + c
 *   internal   NULL, or receives SimdTrue in each: everything is copied and the arrays may be freed at once
 *   bias       bias[i]: dstC floats, or NULL for zeros; the array itself may be NULL
 *   params     params[i]: what the activation needs (see SimdConvolutionActivationType), or NULL when it needs nothing; the
 *              array itself may be NULL when none does
 */
void SimdSynetMergedConvolution32fSetParams(void * context, const float * const * weight, SimdBool * internal,
                                            const float * const * bias, const float * const * params);

/*
 * Computes `batch` images, image b at src + b * srcC * srcH * srcW and dst + b * dstC * dstH * dstW, of the first source and
 * the last result. dst must not overlap src, not even with add.
 *
 *   buf   ExternalBufferSize() floats, one per thread that runs this context; or NULL, then the library uses scratch memory
 *         of the calling thread, which it allocates in the first call of that thread
 */
void SimdSynetMergedConvolution32fForward(void * context, const float * src, float * buf, float * dst);

/* --------------------------------------------------------------------------------------- quantised convolution */

/*
 * Convolution as of SimdSynetConvolution32fInit(), with 8-bit integers: unsigned inputs, signed weights, exact sums. Source
 * and destination are each float or uint8 (srcT and dstT: SimdTensorData32f or SimdTensorData8u, all four combinations).
 *
 * A tensor is quantised by the smallest and largest value of each of its channels, which SetParams() gets. With neg true
 * when some channel's minimum is below 0:
 *
 *   inv[c] = max(|min[c]|, |max[c]|) / (neg ? 127 : 255), or 1 where that is below 1e-7        scale[c] = 1 / inv[c]
 *   zero = neg ? 128 : 0                             byte of x: x * scale[c] + zero, to nearest even, within 0 .. 255;
 *                                                    0 of a NaN
 *
 * and back, x = (byte - zero) * inv[c]. Weights of each output channel o, with n = weight / scale of its input channel:
 *
 *   ws = 127 / (largest |n|)        w8 = n * ws to nearest even, within -128 .. 127        norm[o] = 1 / ws
 *   b[o] = bias[o] - zero of src * (sum of w8) / ws                     where all n are 0: w8, norm and 1 / ws are 0
 *
 * Forward() quantises a float source, and puts the byte `zero` outside the image. It computes
 *
 *   dst(o, y, x) = activation((sum of byte * w8) * norm[o] + b[o]), as a float, or as the byte of it
 *
 * in float32, each operation rounded by itself in the order written (sums are integers until they become a float). So all
 * instruction sets give the same bits, but for the exponential of Elu: bytes within 1, floats within 4 units in the last
 * place. Sums wrap beyond 32 bits, which takes 66,312 products or more.
 *
 * Parameters otherwise as in SimdSynetConvolution32fInit(). src and dst are addresses of the declared types, of any
 * alignment.
 */
void * SimdSynetConvolution8iInit(size_t batch, const SimdConvolutionParameters * conv);

/* The number of bytes of the buffer that Forward() can be given; at least 1, and constant. */
size_t SimdSynetConvolution8iExternalBufferSize(const void * context);

/* The number of bytes that the context holds now: packed weights and what else SetParams() gave; 0 before it. */
size_t SimdSynetConvolution8iInternalBufferSize(const void * context);

/*
 * Gives the context its weights and statistics; all are copied. May be called again, but not while Forward() runs.
 *
 *   weight, bias, params   floats as for SimdSynetConvolution32fSetParams(); they must be finite, and give finite norm and b
 *   stats                  four arrays of finite floats: minima and maxima of the source (srcC each), minima and maxima of
 *                          the destination (dstC each), no minimum above its maximum; all four also for float tensors
 *
 * On error the context keeps what it had.
 */
void SimdSynetConvolution8iSetParams(void * context, const float * weight, const float * bias, const float * params,
                                     const float * const * stats);

/* Computes `batch` images; buf is NULL or ExternalBufferSize() bytes, see SimdSynetConvolution32fForward(). */
void SimdSynetConvolution8iForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

/* --------------------------------------------------------------------------------------------------- winograd */
/*
 * The transforms of Winograd's convolution (arXiv:1509.09308) of stride 1. SimdWinogradKernel<Y>x<X>Block<y>x<x>... has a
 * kernel of Y x X taps and computes the output in tiles of y x x. A tile needs (y + Y - 1) x (x + X - 1) = tY x tX inputs
 * and has as many coefficients, T = tY * tX; coefficient number row * tX + column is a plane of its own:
 *
 *   SetFilter   U = G g G'      SetInput   V = B' d B      SetOutput   Y = A' M A      (' is transposed)
 *
 * for each filter g, tile of inputs d and tile of products M; for each coefficient t, M is the product of the matrices U and
 * V (below). A kernel of one row has a matrix on the right alone: U = g G', V = d B, Y = M A. The rows of the matrices:
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
 * Arrays, for C input and D output channels; there are n = tilesY * tilesX tiles, counted along the rows, with
 * tilesY = ceil(dstHeight / y) and tilesX alike:
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
 *   padY ...    zeros at the top, left, bottom (padH) and right (padW); any number. The output of the convolution, the image
 *               of SetOutput, is dstHeight = srcHeight + padY + padH - Y + 1 high and
 *               dstWidth = srcWidth + padX + padW - X + 1 wide
 *   strides     floats between planes, at least C * n (D * n). Floats between the planes are not touched: the array has
 *               (T - 1) * stride + C * n (D * n)
 *
 * What a tile needs from outside of the image is 0; what it has outside of the output is not written. An infinity or a NaN
 * among the inputs of a tile may make all its outputs NaN.
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

/* ----------------------------------------------------- extensions: what the Simd Library does not have */

/* Why the last call of this thread was refused, one sentence; "" after a successful call. Valid until the thread's next. */
const char * SimdnetLastError(void);

/* Its kind: 0 none, 1 value (a bad argument), 2 memory, 3 state (Forward before SetParams ...). Each of these sets errno. */
int SimdnetLastErrorKind(void);

/* The instruction set in use, after the cap. A static string. */
const char * SimdnetActiveIsa(void);

/* Caps the instruction set: `name` and older ones are used by the calls that follow; NULL lifts the cap. Contexts that exist
 * keep theirs. SimdFalse, and no change, for a name that no instruction set of this library has. */
SimdBool SimdnetSetMaxIsa(const char * name);

/* The instruction sets of this machine, oldest first; NULL past the end. Static strings. */
const char * SimdnetIsaLevel(size_t index);

/*
 * What the library tells about its calls: 0 nothing; 1 counts and times them for SimdPerformanceStatistic(); 2 also writes a
 * line for each on stderr. The environment variable SIMDNET_VERBOSE says it first; any other value there is ignored, and one
 * line on stderr says so. With 1 and 2 the library introduces itself by one line, once. Going from 0 to 1 or 2 begins a new
 * table. SimdFalse, and no change, for another level.
 */
SimdBool SimdnetSetVerbose(int level);

/* How a context does its work: algorithm, tile, instruction set. Lives as long as the context; NULL for no context. */
const char * SimdnetContextInfo(const void * context);

/*
 * SimdSynetConvolution32fForward() of the same context with an addition before the activation, as the end of a residual
 * block has it:
 *
 *   dst(o, y, x) = activation(bias[o] + add(o, y, x) + sum of src * weight)
 *
 * add has the shape of dst, for all images, and lies as it does: batch * dstC * dstH * dstW floats. It may be src, but must
 * not overlap dst. It is a term of the sum as bias[o] is, and outside of what Winograd's algorithm multiplies. The order in
 * which terms are added is the algorithm's affair, and the same for each call with a context: some start from bias + add,
 * Winograd's adds first the bias and then add to its sums, others add last.
 */
void SimdnetConvolution32fForwardAdd(void * context, const float * src, float * buf, const float * add, float * dst);

/*
 * Convolution as of SimdSynetConvolution32fInit() with bfloat16 numbers, half the bytes of floats: source and destination
 * are each float or bfloat16 (srcT and dstT: SimdTensorData32f or SimdTensorData16b, all four combinations). It computes
 *
 *   dst(o, y, x) = convert(activation(bias[o] + sum of round(src) * round(weight)))
 *
 * where round is to the nearest bfloat16, ties to even, subnormals kept (nothing changes of a bfloat16 source), sums and
 * activation are of floats, and convert rounds in the same way to a bfloat16 destination. Products of bfloat16 numbers are
 * exact in float. The sum of n products and the bias is within (n + 3) * 2^-23 * (sum of |product| + |bias|) of the exact
 * one, whatever the order of its additions.
 *
 * On avx512bf16 the instruction adds two products at a time, which the bound has room for, takes subnormal numbers for zeros
 * and makes none: there bfloat16 numbers, sums and results below 2^-126 may count as 0, which adds the sum of |src * weight|
 * over the subnormal ones of them, and (n + 3) * 2^-126, to the bound.
 *
 * Parameters otherwise as in SimdSynetConvolution32fInit(). src and dst are addresses of the declared types, of any
 * alignment.
 *
 * Returns NULL on error. Then SetParams(), then Forward() any number of times, then SimdRelease().
 */
void * SimdnetConvolution16bInit(size_t batch, const SimdConvolutionParameters * conv);

/* The number of bytes of the buffer that Forward() can be given; at least 1, and constant. */
size_t SimdnetConvolution16bExternalBufferSize(const void * context);

/* The number of bytes that the context holds now: packed weights, bias and parameters; 0 before SetParams(). */
size_t SimdnetConvolution16bInternalBufferSize(const void * context);

/* Gives the context its weights: floats as for SimdSynetConvolution32fSetParams(), which are copied, the weights rounded.
 * May be called again, but not while Forward() runs. On error the context keeps what it had. */
void SimdnetConvolution16bSetParams(void * context, const float * weight, const float * bias, const float * params);

/* Computes `batch` images; buf is NULL or ExternalBufferSize() bytes, see SimdSynetConvolution32fForward(). */
void SimdnetConvolution16bForward(void * context, const uint8_t * src, uint8_t * buf, uint8_t * dst);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
