/*
 * Lack of memory: every allocation of every function fails in turn, alone and together with all later ones. The call then
 * reports an error of kind 2 or works without the memory; a refused call leaves the output unchanged and frees what it had
 * allocated, and the next call is correct. Also: Forward allocates nothing after its first call in a thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/arena.h"
#include "runtime/memory.h"
#include "runtime/statistic.h"
#include "runtime/threads.h"
#include "allocations.h"
#include "layers.h"
#include "test.h"

/* ---- trials of a layer */

static bool has_error(int kind, const struct kind * of, const char * function)
{
    char name[80];
    snprintf(name, sizeof(name), "%s%s: ", of->name, function);
    return SimdnetLastErrorKind() == kind && errno == (kind == 2 ? ENOMEM : EINVAL) &&
           (strncmp(SimdnetLastError(), name, strlen(name)) == 0 ||
            (kind == 2 && strcmp(SimdnetLastError(), "there is not enough memory for the text of this error") == 0));
}

static const char * computes(const struct kind * of) { return of->computes ? of->computes : "Forward"; }

static void try_init(const void * layer, int from, int to)
{
    const struct layer * l = layer;
    const int before = blocks_now();
    refuse(from, to);
    void * context = l->kind->init(l);
    refuse_none();
    if (context)
        TEST_NO_ERROR();
    else
        TEST(refused && has_error(2, l->kind, "Init"));
    SimdRelease(context);
    TEST(as_many_blocks(before));
}

enum { CANARY = 77 };
static float expected[MOST], result[MOST];

static bool untouched(void)
{
    for (size_t i = 0; i < sizeof(result); ++i)
        if (((const uint8_t *)result)[i] != CANARY)
            return false;
    return true;
}

static bool right(const struct layer * l, void * context)
{
    memset(result, CANARY, sizeof(result));
    l->kind->forward(context, result);
    return SimdnetLastErrorKind() == 0 && memcmp(result, expected, sizeof(result)) == 0;
}

/* A refused SetParams leaves the context as it was: without weights, or with the previous ones. */
static void try_set_of(const struct layer * l, int from, int to, bool again)
{
    const int before = blocks_now();
    void * context = l->kind->init(l);
    if (again)
        l->kind->set(context);
    const int made = blocks_now();
    refuse(from, to);
    l->kind->set(context);
    refuse_none();
    if (SimdnetLastErrorKind() != 0) {
        TEST(refused && has_error(2, l->kind, "SetParams"));
        TEST(as_many_blocks(made));
        if (again) {
            TEST(right(l, context));
        } else {
            memset(result, CANARY, sizeof(result));
            l->kind->forward(context, result);
            TEST(has_error(3, l->kind, computes(l->kind)) && untouched());
        }
        l->kind->set(context);
        TEST_NO_ERROR();
    }
    TEST(right(l, context));
    SimdRelease(context);
    TEST(as_many_blocks(before));
}

static void try_set(const void * layer, int from, int to) { try_set_of(layer, from, to, false); }
static void try_set_again(const void * layer, int from, int to) { try_set_of(layer, from, to, true); }

/* A thread's first Forward, which allocates its scratch memory. */
struct first_forward {
    const struct layer * layer;
    void * context;
    int from, to;
};

static void * forward_on_thread(void * of)
{
    const struct first_forward * f = of;
    memset(result, CANARY, sizeof(result));
    refuse(f->from, f->to);
    f->layer->kind->forward(f->context, result);
    refuse_none();
    if (SimdnetLastErrorKind() != 0)
        TEST(refused && SimdnetLastErrorKind() == 2 && errno == ENOMEM && untouched());
    else
        TEST(memcmp(result, expected, sizeof(result)) == 0);
    TEST(right(f->layer, f->context));
    const int before = allocations;
    TEST(right(f->layer, f->context));
    TEST(allocations == before);
    return NULL;
}

static void try_forward(const void * of, int from, int to)
{
    struct first_forward f = *(const struct first_forward *)of;
    f.from = from;
    f.to = to;
    in_thread(forward_on_thread, &f);
}

static void every_allocation(struct layer l)
{
    struct first_forward f = {.layer = &l, .context = l.kind->init(&l)};
    TEST(f.context);
    l.kind->set(f.context);
    memset(expected, CANARY, sizeof(expected));
    l.kind->forward(f.context, expected);
    TEST_NO_ERROR();
    SimdRelease(f.context); /* it would keep a chunk, which is one block more once the chunk is full */
    each_refused_twice(try_init, &l);
    if (l.kind->set != set_nothing) {
        each_refused_twice(try_set, &l);
        each_refused_twice(try_set_again, &l);
    }
    f.context = l.kind->init(&l);
    l.kind->set(f.context);
    each_refused(try_forward, &f);
    SimdRelease(f.context);
}

/* Refused for another reason than memory: what was allocated before is freed. */
static void refused_values(struct layer l)
{
    const int before = blocks_now();
    for (size_t i = 0; i < l.count; ++i) {
        l.p[i].srcH = l.p[i].dstH = (size_t)1 << 40;
        l.p[i].srcW = l.p[i].dstW = (size_t)1 << 40;
        if (l.p[i].strideY == 2)
            l.p[i].dstH = l.p[i].dstW = ((size_t)1 << 41) - 1;
    }
    TEST(l.kind->init(&l) == NULL && has_error(1, l.kind, "Init"));
    TEST(blocks_now() == before);
}

/* ---- contexts that are no layers of images */

static void * init_product(const struct layer * l)
{
    return SimdSynetInnerProduct32fInit(l->p->srcH, l->p->dstC, l->p->srcC, SimdTrue, SimdTrue, SimdTrue,
                                        SimdConvolutionActivationPrelu);
}
static void set_product(void * context) { SimdSynetInnerProduct32fSetParams(context, ones, NULL, ones, ones); }
static void forward_product(void * context, float * dst)
{
    SimdSynetInnerProduct32fForward(context, ones, NULL, NULL, dst);
}
static const struct kind inner_product_32f = {"SimdSynetInnerProduct32f", init_product, set_product, forward_product, NULL};

/* Its matrix is an argument of Forward, which packs it in scratch memory. */
static void * init_product_of_two(const struct layer * l)
{
    return SimdSynetInnerProduct32fInit(l->p->srcH, l->p->dstC, l->p->srcC, SimdFalse, SimdFalse, SimdFalse,
                                        SimdConvolutionActivationIdentity);
}
static void set_product_of_two(void * context) { SimdSynetInnerProduct32fSetParams(context, NULL, NULL, NULL, NULL); }
static void forward_product_of_two(void * context, float * dst)
{
    SimdSynetInnerProduct32fForward(context, ones, ones, NULL, dst);
}
static const struct kind product_of_two = {"SimdSynetInnerProduct32f", init_product_of_two, set_product_of_two,
                                           forward_product_of_two, NULL};

static void * init_product_16b(const struct layer * l)
{
    return SimdSynetInnerProduct16bInit(l->p->srcH, l->p->dstC, l->p->srcC, l->p->srcT, SimdTensorData32f, SimdTensorData32f,
                                        SimdTrue, l->p->srcF == SimdTensorFormatNhwc ? SimdTrue : SimdFalse, SimdTrue,
                                        SimdConvolutionActivationPrelu);
}
static void set_product_16b(void * context) { SimdSynetInnerProduct16bSetParams(context, ones, ones, ones); }
static void forward_product_16b(void * context, float * dst)
{
    SimdSynetInnerProduct16bForward(context, (const uint8_t *)ones, (const uint8_t *)ones, NULL, (uint8_t *)dst);
}
static const struct kind inner_product_16b = {"SimdSynetInnerProduct16b", init_product_16b, set_product_16b,
                                              forward_product_16b, NULL};

static void * init_product_quantized(const struct layer * l)
{
    return SimdSynetQuantizedInnerProductInit(l->p->srcH, l->p->dstC, l->p->srcC, SimdTensorData8u, SimdTensorData8i,
                                              SimdTensorData8u, SimdTrue, SimdTrue, SimdTrue);
}
static void set_product_quantized(void * context)
{
    SimdSynetQuantizedInnerProductSetParams(context, ones, byte_ones, signed_ones, ones, NULL, ones, byte_ones);
}
static void forward_product_quantized(void * context, float * dst)
{
    SimdSynetQuantizedInnerProductForward(context, byte_ones, NULL, NULL, (uint8_t *)dst);
}
static const struct kind inner_product_quantized = {"SimdSynetQuantizedInnerProduct", init_product_quantized,
                                                    set_product_quantized, forward_product_quantized, NULL};

static void * init_permute(const struct layer * l)
{
    return SimdSynetPermuteInit((size_t[]){l->p->srcC, l->p->srcH, l->p->srcW}, (size_t[]){2, 0, 1}, 3, SimdTensorData32f);
}
static void forward_permute(void * context, float * dst)
{
    SimdSynetPermuteForward(context, (const uint8_t *)ones, (uint8_t *)dst);
}
static const struct kind permute = {"SimdSynetPermute", init_permute, set_nothing, forward_permute, NULL};

static void * init_grid(const struct layer * l)
{
    return SimdSynetGridSample2dInit(1, l->p->srcC, l->p->srcH, l->p->srcW, 3, 3, SimdTensorData32f,
                                     SimdGridSampleInterpBicubic, SimdGridSamplePaddingReflect, SimdTrue);
}
static void forward_grid(void * context, float * dst)
{
    SimdSynetGridSample2dForward(context, (const uint8_t *)ones, (const uint8_t *)zeros, (uint8_t *)dst);
}
static const struct kind grid_sample = {"SimdSynetGridSample2d", init_grid, set_nothing, forward_grid, NULL};

static const int32_t places[12];

static void * init_gather(const struct layer * l)
{
    return SimdSynetGatherElementsInit(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, &l->p->srcC, 1, l->p->srcH, 1, 2);
}
static void forward_gather(void * context, float * dst)
{
    SimdSynetGatherElementsForward(context, (const uint8_t *)ones, (const uint8_t *)places, (uint8_t *)dst);
}
static const struct kind gather_elements = {"SimdSynetGatherElements", init_gather, set_nothing, forward_gather, NULL};

static void * init_resize(const struct layer * l)
{
    const SimdnetResizeParameters p = {.size = sizeof(p), .dataType = l->p->srcT, .format = l->p->srcF, .batch = 1,
        .channels = l->p->srcC, .srcH = l->p->srcH, .srcW = l->p->srcW, .dstH = 7, .dstW = 19, .method = SimdnetResizeCubic};
    return SimdnetResizeInit(&p);
}
static void forward_resize(void * context, float * dst) { SimdnetResizeForward(context, ones, dst); }
static const struct kind resize = {"SimdnetResize", init_resize, set_nothing, forward_resize, NULL};

static void * init_resizer(const struct layer * l)
{
    const bool bytes = l->p->srcT == SimdTensorData8u;
    return SimdResizerInit(l->p->srcW, l->p->srcH, 19, 7, 3, bytes ? SimdResizeChannelByte : SimdResizeChannelFloat,
                           bytes ? SimdResizeMethodBicubic : SimdResizeMethodBilinear);
}
static void forward_resizer(void * context, float * dst)
{
    SimdResizerRun(context, (const uint8_t *)ones, 4 * 3 * SIDE, (uint8_t *)dst, 4 * 3 * 19);
}
static const struct kind resizer = {"SimdResizer", init_resizer, set_nothing, forward_resizer, "Run"};

static void other_contexts(void)
{
    for (int nhwc = 0; nhwc < 2; ++nhwc) {
        const SimdConvolutionParameters p = shape(nhwc ? SimdTensorFormatNhwc : SimdTensorFormatNchw, 6, 5, 1, 1);
        every_allocation(of_floats(&inner_product_32f, p));
        every_allocation(of_floats(&product_of_two, p));
        every_allocation(of_floats(&inner_product_16b, p));
        every_allocation(of_floats(&inner_product_quantized, p));
        every_allocation(of_floats(&permute, p));
        every_allocation(of_floats(&grid_sample, p));
        every_allocation(of_floats(&gather_elements, p));
        every_allocation(of_floats(&resize, p));
        every_allocation(of_type(of_floats(&resize, p), SimdTensorData8u));
        every_allocation(of_floats(&resizer, p));
        every_allocation(of_type(of_floats(&resizer, p), SimdTensorData8u));
    }
}

/* Indices that cannot be kept are not. */
static void try_index(const void * layer, int from, int to)
{
    const int before = blocks_now();
    void * context = init_gather(layer);
    const int made = blocks_now();
    refuse(from, to);
    SimdSynetGatherElementsSetIndex(context, (const uint8_t *)places);
    refuse_none();
    if (SimdnetLastErrorKind() != 0) {
        TEST(refused && has_error(2, &gather_elements, "SetIndex") && as_many_blocks(made));
        SimdSynetGatherElementsSetIndex(context, (const uint8_t *)places);
        TEST_NO_ERROR();
    }
    SimdSynetGatherElementsForward(context, (const uint8_t *)ones, NULL, (uint8_t *)result);
    TEST_NO_ERROR();
    SimdRelease(context);
    TEST(as_many_blocks(before));
}

static void indices(void)
{
    const struct layer l = of_floats(&gather_elements, shape(SimdTensorFormatNhwc, 6, 5, 1, 1));
    each_refused_twice(try_index, &l);
}

static void layers(void)
{
    struct layer all[LAYERS];
    const size_t count = all_layers(all);
    for (size_t i = 0; i < count; ++i) {
        every_allocation(all[i]);
        const struct kind * kind = all[i].kind;
        if (kind != &add_16b && kind != &scale_16b && kind != &scale_8i && kind != &quantized_add &&
            kind != &quantized_gemm)
            refused_values(all[i]); /* the others take products of sizes */
    }
}

/* Layers of bytes: weights that are not finite are detected after the memory for the new ones was allocated. */
static void faults_of_8i(void)
{
    static float bad[MOST_C * 9];
    const struct layer l = of_type((struct layer){&convolution_8i, {shape(SimdTensorFormatNhwc, 5, 5, 3, 1)}, 1},
                                   SimdTensorData8u);
    void * context = init_8i(&l);
    bad[40] = (float)(1e300 * 1e300);
    for (int i = 0; i < 2; ++i) {
        const int before = blocks_now();
        SimdSynetConvolution8iSetParams(context, bad, NULL, NULL, stats);
        TEST(has_error(1, &convolution_8i, "SetParams"));
        TEST(blocks_now() == before);
        set_8i(context);
        TEST_NO_ERROR();
    }
    SimdRelease(context);
}

/* InternalBufferSize() counts all that a context allocates besides itself: weights, bias, offsets, tables of phases. */
static void deconvolution_size(void)
{
    SimdConvolutionParameters p = shape(SimdTensorFormatNhwc, 5, 5, 3, 1);
    allocated = 0;
    SimdRelease(SimdSynetDeconvolution32fInit(1, &p, NULL));
    const size_t context = allocated;
    p.strideY = p.strideX = 40;
    p.dstH = p.dstW = 40 * (SIDE - 1) + 1;
    allocated = 0;
    void * c = SimdSynetDeconvolution32fInit(1, &p, NULL);
    TEST(SimdSynetDeconvolution32fInternalBufferSize(c) == 0);
    SimdSynetDeconvolution32fSetParams(c, ones, NULL, NULL, NULL);
    const size_t bytes = SimdSynetDeconvolution32fInternalBufferSize(c) * sizeof(float), others = allocated - context;
    TEST(bytes <= others && bytes + 4 * 64 >= others); /* blocks are multiples of 64 bytes */
    SimdRelease(c);
}

/* ---- functions without a context */

static void multiply(float * dst)
{
    const float one = 1, none = 0;
    SimdGemm32fNN(20, 40, 30, &one, ones, 30, ones, 40, &none, dst, 40);
}

static void multiply_transposed(float * dst)
{
    const float one = 1, none = 0;
    SimdGemm32fNT(20, 40, 30, &one, ones, 30, ones, 30, &none, dst, 40);
}

static void normalise(float * dst)
{
    const float k[3] = {1, 0.1f, -0.75f};
    SimdSynetLrnLayerCrossChannels(ones, 2, 50, 40, k, dst, SimdTensorFormatNhwc);
}

static void multiply_batch(float * dst)
{
    const SimdnetGemmParameters p = {.size = sizeof(p), .M = 20, .N = 40, .K = 30, .transA = SimdTrue, .alpha = 1, .A = ones,
        .B = ones, .C = dst, .batch = {2, 1}, .strideA = {600, 0}, .strideB = {1200, 0}, .strideC = {800, 0}};
    SimdnetGemm(&p);
}

static void normalise_across(float * dst)
{
    const float eps = 0.1f;
    SimdSynetNormalizeLayerForward(ones, 2, 40, 50, ones, &eps, SimdTrue, SimdTensorFormatNhwc, NULL, dst);
}

static void normalise_layer(float * dst)
{
    const float eps = 0.1f;
    SimdSynetNormalizeLayerForwardV2(ones, 2, 40, 50, ones, ones, &eps, SimdTensorFormatNchw, NULL, dst);
}

static void normalise_instance(float * dst)
{
    const float eps = 0.1f;
    SimdSynetNormalizeLayerForwardV3(ones, 2, 40, 50, ones, ones, &eps, SimdTensorFormatNhwc, NULL, dst);
}

static void normalise_response(float * dst)
{
    const float eps = 0.1f;
    SimdSynetNormalizeLayerForwardV4(ones, 2, 40, 50, ones, ones, &eps, SimdTensorFormatNhwc, NULL, dst);
}

static void select_largest(float * dst)
{
    int64_t indices[6];
    SimdnetTopK(ones, 2, 50, 1, 3, SimdTrue, SimdTrue, dst, indices);
}

static void select_boxes(float * dst)
{
    int64_t selected[9];
    const SimdnetNonMaxSuppressionParameters p = {.size = sizeof(p), .boxes = ones, .scores = ones, .batch = 1, .classes = 1,
        .count = 50, .maxOutput = 3, .iouThreshold = 0.5f, .selected = selected, .capacity = 3};
    const size_t count = SimdnetNonMaxSuppression(&p);
    if (SimdnetLastErrorKind() == 0)
        dst[0] = (float)count;
}

static void align_regions(float * dst)
{
    static const int64_t images[1];
    SimdnetRoiAlign(&(SimdnetRoiAlignParameters){.size = sizeof(SimdnetRoiAlignParameters), .src = ones, .regions = ones,
        .images = images, .dst = dst, .batch = 1, .channels = 1, .srcH = 5, .srcW = 9, .count = 1, .dstH = 1, .dstW = 3,
        .spatialScale = 1});
}

static struct first_call {
    void (*call)(float * dst);
    int from, to;
} const first_calls[] = {{multiply, 0, 0}, {multiply_transposed, 0, 0}, {multiply_batch, 0, 0}, {normalise, 0, 0},
    {normalise_across, 0, 0}, {normalise_layer, 0, 0}, {normalise_instance, 0, 0}, {normalise_response, 0, 0},
    {select_largest, 0, 0}, {select_boxes, 0, 0}, {align_regions, 0, 0}};

static void * call_on_thread(void * of)
{
    const struct first_call * f = of;
    memset(result, CANARY, sizeof(result));
    refuse(f->from, f->to);
    f->call(result);
    refuse_none();
    TEST(SimdnetLastErrorKind() == 0 || (refused && SimdnetLastErrorKind() == 2 && errno == ENOMEM && untouched()));
    f->call(result);
    TEST_NO_ERROR();
    TEST(memcmp(result, expected, sizeof(result)) == 0);
    return NULL;
}

static void try_call(const void * of, int from, int to)
{
    struct first_call f = *(const struct first_call *)of;
    f.from = from;
    f.to = to;
    in_thread(call_on_thread, &f);
}

static void functions(void)
{
    for (size_t i = 0; i < sizeof(first_calls) / sizeof(first_calls[0]); ++i) {
        memset(expected, CANARY, sizeof(expected));
        first_calls[i].call(expected);
        each_refused(try_call, &first_calls[i]);
    }
}

static void try_allocate(const void * unused, int from, int to)
{
    (void)unused;
    refuse(from, to);
    void * block = SimdAllocate(100, 64);
    refuse_none();
    TEST(block ? SimdnetLastErrorKind() == 0 : refused && SimdnetLastErrorKind() == 2 && errno == ENOMEM);
    SimdFree(block);
}

/* The scratch memory of a thread: kept if a larger block cannot be allocated, otherwise freed and replaced by it. */
static void * grow(void * unused)
{
    void * some = sn_scratch(100);
    const int before = blocks_now();
    refuse(1, INT_MAX);
    TEST(some && sn_scratch(1 << 20) == NULL && sn_scratch(100) == some);
    refuse_none();
    TEST(blocks_now() == before);
    TEST(sn_scratch(1 << 20) != NULL);
    TEST(blocks_now() == before);
    return unused;
}

/* Kept blocks are parts of chunks, which are freed with their last block; if no chunk can be allocated, a block is allocated
 * separately. */
static void chunks(void)
{
    enum { BLOCKS = 30, SIZE = 5 << 18 };
    void * block[BLOCKS];
    const int before = blocks_now();
    for (int i = 0; i < BLOCKS; ++i) {
        refuse(i % 3, i % 3);
        block[i] = sn_arena_allocate(SIZE);
        refuse_none();
        TEST(block[i] || i % 3);
    }
    for (int i = 0; i < BLOCKS; ++i) {
        const int now = blocks_now();
        refuse(1, INT_MAX);
        void * none = sn_arena_allocate(8 * SIZE), * small = sn_arena_allocate(100);
        refuse_none();
        TEST(none == NULL && small == NULL && blocks_now() <= now);
        sn_arena_free(block[i]);
    }
    TEST(blocks_now() == before); /* including the chunk that the next blocks are taken from */
}

/* Parameters of the caller are freed by nobody; a context that cannot allocate its offsets has none. */
static void packed_parameters(void)
{
    const SimdConvolutionParameters p = shape(SimdTensorFormatNhwc, 64, 64, 1, 1);
    const int before = blocks_now();
    void * from = SimdSynetConvolution32fInit(1, &p, NULL), * context = SimdSynetConvolution32fInit(1, &p, NULL);
    set_32f(from);
    const size_t size = SimdnetPackedSize(from);
    void * bytes = SimdAllocate(size, 64);
    TEST(bytes && SimdnetGetPacked(from, bytes));
    refuse(1, INT_MAX);
    const bool taken = SimdnetSetPacked(context, bytes, size);
    refuse_none();
    TEST(taken == !refused);
    TEST(taken || (SimdnetLastErrorKind() == 2 && SimdnetPackedSize(context) == 0));
    TEST(SimdnetSetPacked(context, bytes, size));
    TEST(SimdnetSetPacked(from, bytes, size));
    TEST(SimdnetShareParams(from, context) && SimdnetSetPacked(from, bytes, size));
    set_32f(from);
    SimdRelease(from);
    memset(result, CANARY, sizeof(result));
    forward_32f(context, result);
    TEST_NO_ERROR();
    SimdRelease(context);
    SimdFree(bytes);
    TEST(blocks_now() == before);
}

/* The last context that uses parameters frees them; one that cannot allocate its offsets has none. */
static void shared_parameters(void)
{
    const SimdConvolutionParameters p = shape(SimdTensorFormatNhwc, 64, 64, 1, 1);
    for (int order = 0; order < 6; ++order) {
        const int before = blocks_now();
        void * context[3];
        for (int i = 0; i < 3; ++i)
            context[i] = SimdSynetConvolution32fInit(1, &p, NULL);
        set_32f(context[0]);
        refuse(1, INT_MAX);
        const bool shared = SimdnetShareParams(context[1], context[0]);
        refuse_none();
        TEST(shared == !refused);
        TEST(shared || (SimdnetLastErrorKind() == 2 && SimdSynetConvolution32fInternalBufferSize(context[1]) == 0));
        TEST(SimdnetShareParams(context[1], context[0]) && SimdnetShareParams(context[2], context[1]));
        TEST(SimdnetShareParams(context[2], context[0]));
        const int one = order % 3, two = (one + 1 + order / 3) % 3;
        SimdRelease(context[one]);
        SimdRelease(context[two]);
        memset(result, CANARY, sizeof(result));
        forward_32f(context[3 - one - two], result);
        TEST_NO_ERROR();
        SimdRelease(context[3 - one - two]);
        TEST(blocks_now() == before);
    }
}

/* Calls whose row cannot be allocated are counted together, or not at all; the table is refused, and returned later. */
static void try_statistic(const void * unused, int from, int to)
{
    (void)unused;
    const float slope = 0;
    SimdnetSetVerbose(1); /* writes one line on stderr */
    refuse(from, to);
    SimdSynetRelu32f(ones, 7, &slope, result);
    const bool good = SimdnetLastErrorKind() == 0;
    const char * table = SimdPerformanceStatistic();
    refuse_none();
    TEST(good);
    TEST(*table || (refused && SimdnetLastErrorKind() == 2 && errno == ENOMEM));
    TEST(refused || strstr(table, "SimdSynetRelu32f size:7"));
    SimdSynetRelu32f(ones, 8, &slope, result);
    TEST(strstr(SimdPerformanceStatistic(), "SimdSynetRelu32f size:8"));
    SimdnetSetVerbose(0);
    sn_statistic_clear();
}

static void * statistic_on_thread(void * of)
{
    const struct first_call * f = of;
    try_statistic(NULL, f->from, f->to);
    return NULL;
}

static void try_statistic_on_thread(const void * unused, int from, int to)
{
    (void)unused;
    in_thread(statistic_on_thread, &(struct first_call){NULL, from, to});
}

/* All other functions without a context allocate nothing. */
static void plain_functions(void)
{
    static float x[4000], y[4000], z[4000];
    static uint8_t bytes[4000], sums[4000];
    const float slope = 0.5f;
    refuse(1, INT_MAX);
    SimdSynetRelu32f(x, 4000, &slope, y);
    TEST_NO_ERROR();
    SimdSynetSoftmaxLayerForward(x, 20, 10, 20, y);
    TEST_NO_ERROR();
    SimdSynetInnerProductLayerForward(x, z, NULL, 40, 100, y);
    TEST_NO_ERROR();
    SimdSynetAddBias(x, 10, 400, y, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    SimdSynetAdd8i(bytes, x, x, bytes, x, x, sums, x, x, 1, 10, 400, SimdTensorFormatNhwc, SimdSynetCompatibilityDefault);
    TEST_NO_ERROR();
    SimdSynetRelu16b((const uint16_t *)x, 8000, &slope, (uint16_t *)y);
    TEST_NO_ERROR();
    SimdSynetConvert32fTo8u(x, 1, 10, 20, 20, SimdTensorFormatNhwc, z, z, bytes, SimdSynetCompatibilityDefault);
    TEST_NO_ERROR();
    SimdSynetQuantizedPreluLayerForward(bytes, &slope, 0, 10, 400, x, sums, &slope, 0, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    SimdSynetConvertImage(1, 10, 400, x, SimdTensorFormatNchw, y, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        SimdSynetPoolingMax32f(x, 10, 20, 20, 1, 5, 5, 1, 1, 1, 0, 2, 2, y, 10, 20, 20, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
        SimdSynetPoolingMax8u(bytes, 10, 20, 20, 5, 5, 1, 1, 2, 2, sums, 20, 20, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
        SimdSynetPoolingAverage(x, 10, 20, 20, 5, 5, 1, 1, 2, 2, y, 20, 20, SimdTrue, (SimdTensorFormatType)format);
        TEST_NO_ERROR();
    }
    TEST(!refused);
    refuse_none();
}

/* ---- workers: a worker whose allocation fails leaves its work to the others */

static void try_workers(const void * of, int from, int to)
{
    const struct first_forward * f = of;
    sn_threads_force(4);
    refuse(from, to);
    memset(result, CANARY, sizeof(result));
    f->layer->kind->forward(f->context, result);
    const bool good = SimdnetLastErrorKind() == 0;
    refuse_none();
    TEST(good && memcmp(result, expected, sizeof(result)) == 0);
    sn_threads_set(1);
}

/* This thread has its scratch memory, the workers do not. */
static void workers(void)
{
    const struct layer l = {&convolution_32f, {shape(SimdTensorFormatNhwc, 64, 64, 3, 1)}, 1};
    const struct first_forward f = {.layer = &l, .context = init_32f(&l)};
    set_32f(f.context);
    memset(expected, CANARY, sizeof(expected));
    forward_32f(f.context, expected);
    try_workers(&f, 1, INT_MAX);
    TEST(refused || strcmp(SimdnetActiveIsa(), "base") == 0);
    each_refused(try_workers, &f);
    SimdRelease(f.context);
}

/* ---- a Forward with `buf` allocates nothing, not even the scratch memory of its thread */

struct product {
    size_t M, N, K;
    SimdBool constant;
};

static void * product_on_thread(void * of)
{
    const struct product * p = of;
    float * A = calloc(p->M * p->K, sizeof(float)), * B = calloc(p->N * p->K, sizeof(float)), * C = calloc(p->M, p->N * sizeof(float));
    void * context = SimdSynetInnerProduct32fInit(p->M, p->N, p->K, SimdFalse, p->constant, SimdFalse,
                                                  SimdConvolutionActivationIdentity);
    SimdSynetInnerProduct32fSetParams(context, B, NULL, NULL, NULL);
    float * buf = malloc(SimdSynetInnerProduct32fExternalBufferSize(context) * sizeof(float));
    const int before = allocations;
    SimdSynetInnerProduct32fForward(context, A, B, buf, C);
    TEST_NO_ERROR();
    TEST(allocations == before);
    SimdRelease(context);
    free(A), free(B), free(C), free(buf);
    return NULL;
}

/* A B of each call is packed; long rows are multiplied in steps, of which rows of A are copied. */
static void products_with_buffer(void)
{
    struct product products[] = {{1, 70, 70, SimdFalse}, {2, 70, 70, SimdFalse}, {40, 70, 300, SimdFalse}, {40, 70, 300, SimdTrue},
                                 {144, 272, 2048, SimdTrue}};
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); ++i)
        in_thread(product_on_thread, &products[i]);
}

/* ---- a thread without a value of the key for its memory: what it would be is freed */

#ifdef _WIN32
static void no_key(void) {} /* the linker cannot replace FlsSetValue() */
#else
static void * error_on_thread(void * unused)
{
    no_specific = true; /* not before: a sanitizer sets values when the thread starts */
    TEST(SimdAllocate(100, 3) == NULL && SimdnetLastErrorKind() == 1);
    no_specific = false;
    return unused;
}

static void no_key(void)
{
    const int before = blocks_now();
    in_thread(error_on_thread, NULL);
    TEST(blocks_now() == before);
}
#endif

int main(void)
{
    test_alarm();
    fill_layers();
    workers(); /* before this thread or another one has any memory of its own */
    sn_arena_free(sn_arena_allocate(1 << 20)); /* the chunk that blocks are taken from remains */
    (void)SimdPerformanceStatistic(); /* so does the memory of this thread */
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        layers();
        other_contexts();
        indices();
        faults_of_8i();
        deconvolution_size();
        functions();
        plain_functions();
        shared_parameters();
        packed_parameters();
        products_with_buffer();
    }
    each_refused_twice(try_allocate, NULL);
    each_refused(try_statistic_on_thread, NULL);
    in_thread(grow, NULL);
    no_key();
    chunks();
    printf("scorecard: {\"points\": %d}\n", points);
    return test_end();
}
