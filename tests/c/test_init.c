/*
 * Every Init returns quickly and allocates little, whatever its arguments, refused or accepted: within 50 ms, with at most 1
 * MB beyond what its BufferSize functions return. No table and no loop grows with an extent, a stride or a number of
 * channels, except in contexts that resize, which have the weights of each position of both axes. Arrays of 2^60 elements or
 * more are refused with a sentence, also if the product of their extents wraps to a small number.
 *
 * Sizes are drawn from values on which an allocation or a loop might depend. All allocations of the library go through
 * posix_memalign(), which is replaced here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/arena.h"
#include "emulated.h"
#include "test.h"

static size_t allocated; /* bytes, including freed ones */

int posix_memalign(void ** block, size_t align, size_t size)
{
    allocated += size;
    *block = aligned_alloc(align, size ? size : align);
    return *block ? 0 : ENOMEM;
}

/* ---- numbers */

static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* A small value with probability 2/3; otherwise a value of the table or, one time in 64, one near SIZE_MAX. */
static size_t any(void)
{
    static const size_t numbers[] = {4097, 65537, ((size_t)1 << 20) + 1, ((size_t)1 << 26) + 1, (size_t)1 << 31,
                                     ((size_t)1 << 40) - 3, (size_t)1 << 53, (size_t)1 << 60};
    return below(3) ? 1 + below(5) : below(64) ? numbers[below(sizeof(numbers) / sizeof(numbers[0]))] : SIZE_MAX - below(9);
}

/* The correct output size of an axis, or any number if there is none. */
static size_t output(bool turned, size_t src, size_t kernel, size_t dilation, size_t stride, size_t before, size_t after)
{
    __extension__ typedef __int128 wide;
    const wide pads = (wide)before + after;
    wide reach, dst;
    if (__builtin_mul_overflow((wide)(kernel - 1), (wide)dilation, &reach) ||
        __builtin_mul_overflow((wide)stride, (wide)src - 1, &dst) || __builtin_add_overflow(dst, ++reach - pads, &dst))
        return any();
    if (!turned)
        dst = ((wide)src + pads - reach) / stride + 1;
    return dst > 0 && dst < (wide)SIZE_MAX ? (size_t)dst : any();
}

static SimdConvolutionParameters random_shape(bool turned)
{
    SimdConvolutionParameters p = {.srcC = below(9) ? any() : 0, .srcH = any(), .srcW = any(), 
        .dstC = below(9) ? any() : 0, .kernelY = any(), .kernelX = any(), .dilationY = any(),
        .dilationX = any(), .strideY = any(), .strideX = any(), .group = 1,
        .activation = (SimdConvolutionActivationType)below(11)};
    p.srcF = p.dstF = below(2) ? SimdTensorFormatNchw : SimdTensorFormatNhwc;
    size_t * const pads[] = {&p.padY, &p.padX, &p.padH, &p.padW};
    for (size_t i = 0; i < 4; ++i)
        *pads[i] = below(2) ? 0 : any();
    if (below(2)) /* a single image position, covered by the whole kernel */
        p.srcH = p.padY = p.padH = p.strideY = p.dilationY = 1, p.kernelY = 3;
    if (below(2))
        p.srcW = p.padX = p.padW = p.strideX = p.dilationX = 1, p.kernelX = 3;
    if (below(3) == 0)
        p.group = p.dstC = p.srcC;
    p.dstH = output(turned, p.srcH, p.kernelY, p.dilationY, p.strideY, p.padY, p.padH);
    p.dstW = output(turned, p.srcW, p.kernelX, p.dilationX, p.strideX, p.padX, p.padW);
    return p;
}

/* ---- contexts */

static SimdConvolutionParameters shape[3];
static size_t batch;

static void * convolution_32f(void) { return SimdSynetConvolution32fInit(batch, shape, NULL); }
static void * deconvolution_32f(void) { return SimdSynetDeconvolution32fInit(batch, shape, NULL); }
static void * deconvolution_16b(void) { return SimdSynetDeconvolution16bInit(batch, shape, SimdSynetCompatibilityDefault); }
static void * convolution_8i(void) { return SimdSynetConvolution8iInit(batch, shape); }
static void * quantized_convolution(void) { return SimdSynetQuantizedConvolutionInit(batch, shape); }
static void * convolution_16b(void) { return SimdSynetConvolution16bInit(batch, shape, SimdSynetCompatibilityDefault); }
static void * merged_convolution_32f(void) { return SimdSynetMergedConvolution32fInit(batch, shape, 3, SimdFalse); }

static void * merged_convolution_16b(void) { return SimdSynetMergedConvolution16bInit(batch, shape, 3, SimdFalse); }

static void * merged_convolution_8i(void)
{
    return SimdSynetMergedConvolution8iInit(batch, shape, 3, SimdSynetCompatibilityDefault);
}

static void * quantized_merged_convolution(void)
{
    for (size_t i = 0; i < 3; ++i)
        shape[i].srcT = shape[i].dstT = SimdTensorData8u, shape[i].activation = SimdConvolutionActivationIdentity;
    return SimdSynetQuantizedMergedConvolutionInit(batch, shape, 3, 0);
}

static void * inner_product_32f(void)
{
    return SimdSynetInnerProduct32fInit(shape->srcH, shape->dstC, shape->srcC, (SimdBool)below(2), (SimdBool)below(2),
                                        SimdTrue, shape->activation);
}

static SimdTensorDataType some_type(void) { return below(2) ? SimdTensorData16b : SimdTensorData32f; }

static void * inner_product_16b(void)
{
    return SimdSynetInnerProduct16bInit(shape->srcH, shape->dstC, shape->srcC, some_type(), some_type(), some_type(),
                                        (SimdBool)below(2), (SimdBool)below(2), SimdTrue, shape->activation);
}

static void * quantized_inner_product(void)
{
    return SimdSynetQuantizedInnerProductInit(shape->srcH, shape->dstC, shape->srcC, SimdTensorData8u, SimdTensorData8i,
                                              SimdTensorData8u, (SimdBool)below(2), SimdTrue, SimdTrue);
}

static void * add_16b(void)
{
    const size_t dimensions[] = {batch, shape->srcC, shape->srcH, shape->srcW};
    return SimdSynetAdd16bInit(dimensions, 4, SimdTensorData32f, dimensions, 4, SimdTensorData16b, SimdTensorData16b,
                               shape->srcF);
}

static void * quantized_add(void)
{
    const size_t dimensions[] = {batch, shape->srcC, shape->srcH, shape->srcW};
    return SimdSynetQuantizedAddInit(dimensions, 4, SimdTensorData32f, NULL, 0, dimensions, 4, SimdTensorData8u, NULL, 3,
                                     SimdConvolutionActivationRelu, NULL, SimdTensorData8u, NULL, 5);
}

static size_t spatial(void)
{
    return shape->srcW && shape->srcH > SIZE_MAX / shape->srcW ? SIZE_MAX : shape->srcH * shape->srcW;
}

static void * scale_16b(void)
{
    return SimdSynetScale16bInit(shape->srcC, spatial(), SimdTensorData16b, SimdTensorData32f, shape->srcF, SimdTrue,
                                 (SimdBool)below(2));
}

static void * scale_8i(void)
{
    return SimdSynetScale8iInit(batch, shape->srcC, spatial(), SimdTensorData8u, SimdTensorData8u, shape->srcF,
                                SimdSynetCompatibilityDefault);
}

static void * recurrent(void)
{
    const SimdnetRecurrentParameters p = {.size = sizeof(p), .type = (SimdnetRecurrentType)(shape->padY % 3),
        .direction = (SimdnetRecurrentDirection)(shape->padX % 3), .steps = shape->srcH, .batch = batch,
        .input = shape->srcC, .hidden = shape->dstC, .batchFirst = shape->padH ? SimdTrue : SimdFalse};
    return SimdnetRecurrentInit(&p);
}

static void * quantized_gemm(void)
{
    return SimdnetQuantizedGemmInit(shape->dstC, shape->srcC, below(2) ? SimdTensorData8u : SimdTensorData8i);
}

/* A size of an axis of a context that resizes: small, or refused. */
static size_t axis(size_t n) { return n <= 5000 || n >= (size_t)1 << 31 ? n : 1 + n % 300; }

static size_t positions; /* of both axes, which have weights */

static void * resize(void)
{
    const SimdnetResizeParameters p = {.size = sizeof(p), .dataType = shape->srcT, .format = shape->srcF, .batch = batch,
        .channels = shape->srcC, .srcH = axis(shape->srcH), .srcW = axis(shape->srcW), .dstH = axis(shape->kernelY),
        .dstW = axis(shape->kernelX), .method = (SimdnetResizeMethod)(shape->padY % 4),
        .antialias = shape->padX ? SimdTrue : SimdFalse};
    positions = p.srcH + p.srcW + p.dstH + p.dstW;
    return SimdnetResizeInit(&p);
}

static void * resizer(void)
{
    const size_t x = axis(shape->srcW), y = axis(shape->srcH), toX = axis(shape->kernelX), toY = axis(shape->kernelY);
    positions = x + y + toX + toY;
    return SimdResizerInit(x, y, toX, toY, shape->srcC, (SimdResizeChannelType)below(4), (SimdResizeMethodType)below(9));
}

static void * grid_sample(void)
{
    return SimdSynetGridSample2dInit(batch, shape->srcC, shape->srcH, shape->srcW, shape->kernelY, shape->kernelX,
                                     SimdTensorData32f, (SimdGridSampleInterpType)below(3),
                                     (SimdGridSamplePaddingType)below(3), (SimdBool)below(2));
}

static void * gather_elements(void)
{
    const size_t outer[] = {batch, shape->srcC};
    return SimdSynetGatherElementsInit(SimdTensorData16b, SimdTensorData64i, (SimdBool)below(2), 1, outer, 2, shape->srcH,
                                       shape->srcW, shape->kernelY);
}

static void * permute(void)
{
    const size_t extents[] = {batch, shape->srcC, shape->srcH, shape->srcW}, order[] = {3, 1, 2, 0};
    return SimdSynetPermuteInit(extents, order, 4, SimdTensorData32f);
}

static size_t nothing(const void * context)
{
    (void)context;
    return 0;
}

static const struct family {
    const char * name;
    void * (*init)(void);
    size_t (*external)(const void * context), (*internal)(const void * context);
    size_t unit; /* unit of the buffer sizes, in bytes */
    SimdTensorDataType type;
} families[] = {
    {"Convolution32f", convolution_32f, SimdSynetConvolution32fExternalBufferSize,
     SimdSynetConvolution32fInternalBufferSize, 4, SimdTensorData32f},
    {"Deconvolution32f", deconvolution_32f, SimdSynetDeconvolution32fExternalBufferSize,
     SimdSynetDeconvolution32fInternalBufferSize, 4, SimdTensorData32f},
    {"Deconvolution16b", deconvolution_16b, SimdSynetDeconvolution16bExternalBufferSize,
     SimdSynetDeconvolution16bInternalBufferSize, 1, SimdTensorData16b},
    {"Convolution8i", convolution_8i, SimdSynetConvolution8iExternalBufferSize, SimdSynetConvolution8iInternalBufferSize, 1,
     SimdTensorData8u},
    {"QuantizedConvolution", quantized_convolution, SimdSynetQuantizedConvolutionExternalBufferSize,
     SimdSynetQuantizedConvolutionInternalBufferSize, 1, SimdTensorData8u},
    {"Convolution16b", convolution_16b, SimdSynetConvolution16bExternalBufferSize, SimdSynetConvolution16bInternalBufferSize, 1,
     SimdTensorData16b},
    {"MergedConvolution32f", merged_convolution_32f, SimdSynetMergedConvolution32fExternalBufferSize,
     SimdSynetMergedConvolution32fInternalBufferSize, 4, SimdTensorData32f},
    {"MergedConvolution16b", merged_convolution_16b, SimdSynetMergedConvolution16bExternalBufferSize,
     SimdSynetMergedConvolution16bInternalBufferSize, 1, SimdTensorData32f},
    {"MergedConvolution8i", merged_convolution_8i, SimdSynetMergedConvolution8iExternalBufferSize,
     SimdSynetMergedConvolution8iInternalBufferSize, 1, SimdTensorData32f},
    {"QuantizedMergedConvolution", quantized_merged_convolution, SimdSynetQuantizedMergedConvolutionExternalBufferSize,
     SimdSynetQuantizedMergedConvolutionInternalBufferSize, 1, SimdTensorData8u},
    {"InnerProduct32f", inner_product_32f, SimdSynetInnerProduct32fExternalBufferSize,
     SimdSynetInnerProduct32fInternalBufferSize, 4, SimdTensorData32f},
    {"InnerProduct16b", inner_product_16b, SimdSynetInnerProduct16bExternalBufferSize,
     SimdSynetInnerProduct16bInternalBufferSize, 1, SimdTensorData32f},
    {"QuantizedInnerProduct", quantized_inner_product, SimdSynetQuantizedInnerProductExternalBufferSize,
     SimdSynetQuantizedInnerProductInternalBufferSize, 1, SimdTensorData8u},
    {"Add16b", add_16b, nothing, nothing, 1, SimdTensorData32f},
    {"QuantizedAdd", quantized_add, nothing, nothing, 1, SimdTensorData32f},
    {"Scale16b", scale_16b, nothing, nothing, 1, SimdTensorData32f},
    {"Scale8i", scale_8i, nothing, SimdSynetScale8iInternalBufferSize, 1, SimdTensorData32f},
    {"Recurrent", recurrent, nothing, SimdnetRecurrentInternalBufferSize, 1, SimdTensorData32f},
    {"QuantizedGemm", quantized_gemm, nothing, SimdnetQuantizedGemmInternalBufferSize, 1, SimdTensorData8u},
    {"Resize", resize, nothing, nothing, 1, SimdTensorData32f},
    {"Resizer", resizer, nothing, nothing, 1, SimdTensorData32f},
    {"GridSample2d", grid_sample, nothing, SimdSynetGridSample2dInternalBufferSize, 1, SimdTensorData32f},
    {"GatherElements", gather_elements, nothing, SimdSynetGatherElementsInternalBufferSize, 1, SimdTensorData32f},
    {"Permute", permute, nothing, SimdSynetPermuteInternalBufferSize, 1, SimdTensorData32f},
};

/* An expansion, a depthwise convolution and a projection, for the image and the channels of shape[0]. */
static void make_merged(void)
{
    SimdConvolutionParameters * p = shape;
    p->srcF = p->dstF = SimdTensorFormatNhwc;
    p->kernelY = p->kernelX = p->dilationY = p->dilationX = p->strideY = p->strideX = p->group = 1;
    p->padY = p->padX = p->padH = p->padW = 0;
    p->dstH = p->srcH;
    p->dstW = p->srcW;
    p[1] = p[2] = p[0];
    p[1].srcC = p[1].group = p[1].dstC = p[2].srcC = p[0].dstC;
    p[1].kernelY = p[1].kernelX = 3 + 2 * below(3);
    p[1].strideY = p[1].strideX = 1 + below(3);
    p[1].padY = p[1].padX = p[1].padH = p[1].padW = below(2) ? 1 + below(3) : any();
    p[1].dstH = p[2].srcH = p[2].dstH = output(false, p->srcH, p[1].kernelY, 1, p[1].strideY, p[1].padY, p[1].padH);
    p[1].dstW = p[2].srcW = p[2].dstW = output(false, p->srcW, p[1].kernelX, 1, p[1].strideX, p[1].padX, p[1].padW);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_shape(const struct family * f, double time)
{
    const SimdConvolutionParameters * p = shape;
    printf("%s on %s: %.3f s, %zu bytes, batch %zu, %zux%zux%zu -> %zux%zux%zu, kernel %zu,%zu dilation %zu,%zu stride "
           "%zu,%zu pad %zu,%zu,%zu,%zu group %zu format %d\n", f->name, SimdnetActiveIsa(), time, allocated, batch, p->srcC,
           p->srcH, p->srcW, p->dstC, p->dstH, p->dstW, p->kernelY, p->kernelX, p->dilationY, p->dilationX, p->strideY,
           p->strideX, p->padY, p->padX, p->padH, p->padW, p->group, (int)p->srcF);
}

/* Whether the source or the result of shape[0] has 2^60 elements or more, which no memory can have. */
static bool is_absurd(const struct family * f)
{
    const SimdConvolutionParameters * p = shape;
    const bool convolves = f->init == convolution_32f || f->init == deconvolution_32f || f->init == convolution_8i ||
                           f->init == deconvolution_16b || f->init == merged_convolution_16b || f->init == merged_convolution_8i ||
                           f->init == convolution_16b || f->init == merged_convolution_32f ||
                           f->init == quantized_convolution || f->init == quantized_merged_convolution;
    const double images = (f->init == scale_16b ? 1 : (double)batch) * (double)p->srcC;
    if (f->init == inner_product_32f || f->init == inner_product_16b || f->init == quantized_inner_product)
        return (double)p->srcH * (double)p->srcC >= 0x1p60 || (double)p->srcH * (double)p->dstC >= 0x1p60;
    if (f->init == quantized_gemm)
        return (double)p->srcC * (double)p->dstC >= 0x1p60;
    if (f->init == recurrent)
        return (double)p->srcH * images >= 0x1p60 || (double)p->srcH * (double)batch * (double)p->dstC >= 0x1p60;
    if (f->init == resizer || f->init == resize)
        return false; /* some sizes are replaced */
    return images * (double)p->srcH * (double)p->srcW >= 0x1p60 ||
           (convolves && (double)batch * (double)p->dstC * (double)p->dstH * (double)p->dstW >= 0x1p60);
}

static size_t cases, absurd, most_bytes; /* beyond the BufferSize functions */
static double most_ms;

/* True if a context was created. Emulators and sanitizers are allowed more time. */
static bool is_quick_and_small(const struct family * f)
{
    allocated = positions = 0;
    const double begin = seconds();
    void * c = f->init();
    const double time = seconds() - begin;
    const bool made = c != NULL;
    size_t counted = made ? f->external(c) + f->internal(c) : 0;
    counted = counted < SIZE_MAX / 8 ? counted * f->unit : SIZE_MAX / 2;
    const size_t more = allocated - (allocated < counted ? allocated : counted);
    const size_t tables = made ? positions : 0;
    const bool good = (time < 0.05 + 5e-7 * (double)tables || emulated() || SN_SANITIZED) &&
                      more <= ((size_t)1 << 20) + 1024 * tables;
    if (!good)
        print_shape(f, time);
    TEST(good);
    TEST(made || (SimdnetLastErrorKind() != 0 && strlen(SimdnetLastError()) > 20));
    if (is_absurd(f)) {
        TEST(!made);
        ++absurd;
    }
    ++cases;
    if (tables == 0) {
        most_ms = time > most_ms / 1e3 ? time * 1e3 : most_ms;
        most_bytes = more > most_bytes ? more : most_bytes;
    }
    if (made)
        SimdRelease(c);
    return made;
}

static void draw(const struct family * f)
{
    *shape = random_shape(f->init == deconvolution_32f || f->init == deconvolution_16b);
    shape->srcT = shape->dstT = f->type;
    batch = any();
    if (f->init == merged_convolution_32f || f->init == merged_convolution_16b || f->init == merged_convolution_8i ||
        f->init == quantized_merged_convolution)
        make_merged();
}

/* Strides so large that there are as many phases of outputs; many taps; many phases on both axes. */
static void deconvolutions(void)
{
    static const struct {
        size_t src, kernel, stride, pad;
    } axes[] = {{2, 1, ((size_t)1 << 26) + 1, 0}, {3, 3, (size_t)1 << 40, 0}, {2, 9000, 8000, 0}, {2, 3, 8192, 0},
                {1, (size_t)1 << 40, 1, 0}, {1, 9001, 1, 4500}, {2, (size_t)1 << 24, (size_t)1 << 25, (size_t)1 << 24},
                {5, 4, 2, 1}};
    enum { AXES = sizeof(axes) / sizeof(axes[0]) };
    for (size_t i = 0; i < 2 * AXES * AXES; ++i) {
        SimdConvolutionParameters p = {.srcC = 2, .srcT = SimdTensorData32f, .dstC = 2, .dstT = SimdTensorData32f,
            .dilationY = 1, .dilationX = 1, .group = 1};
        const size_t y = i % AXES, x = i / AXES % AXES;
        p.srcF = p.dstF = i < AXES * AXES ? SimdTensorFormatNchw : SimdTensorFormatNhwc;
        p.srcH = axes[y].src, p.kernelY = axes[y].kernel, p.strideY = axes[y].stride, p.padY = p.padH = axes[y].pad / 2;
        p.srcW = axes[x].src, p.kernelX = axes[x].kernel, p.strideX = axes[x].stride, p.padX = p.padW = axes[x].pad / 2;
        p.dstH = output(true, p.srcH, p.kernelY, 1, p.strideY, p.padY, p.padH);
        p.dstW = output(true, p.srcW, p.kernelX, 1, p.strideX, p.padX, p.padW);
        *shape = p;
        batch = 1;
        is_quick_and_small(&families[1]);
    }
}

int main(void)
{
    enum { DRAWN = 3000 };
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        deconvolutions();
        for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); ++f) {
            size_t made = 0;
            state = 20 + f;
            for (int k = 0; k < DRAWN; ++k) {
                draw(&families[f]);
                made += is_quick_and_small(&families[f]);
            }
            TEST(made > DRAWN / 5);
        }
    }
    printf("scorecard: {\"cases\": %zu, \"absurd\": %zu, \"failed\": %d, \"most_ms\": %.3f, \"most_bytes\": %zu}\n", cases,
           absurd, test_failed, most_ms, most_bytes);
    return test_end();
}
