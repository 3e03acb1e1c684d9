/* Contexts: what is accepted as one, which table it keeps, the order of calls, and what it copies from the caller. */
#include "api/context.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "test.h"

/* Two kinds of contexts of this test, which tests the rules without any family. */
static int destroyed;

static void destroy(void * context)
{
    (void)context;
    ++destroyed;
}

static const struct sn_context_kind kind_a = {.name = "A", .destroy = destroy}, kind_b = {.name = "B"};

struct context {
    struct sn_context head;
    char more[100];
};

static void kinds(void)
{
    SimdVersion();
    struct context * a = sn_context_new(&kind_a, sizeof(*a), "InitA");
    struct context * b = sn_context_new(&kind_b, sizeof(*b), "InitB");
    TEST(a && b && a->more[0] == 0 && a->more[99] == 0);
    TEST(sn_context_check(a, &kind_a, "FunctionA"));
    TEST(!sn_context_check(b, &kind_a, "FunctionA"));
    TEST_REFUSED(1, "FunctionA: context");
    TEST_REFUSED(1, "one of B, expected one of A");
    TEST(!sn_context_check(NULL, &kind_a, "FunctionA"));
    TEST_REFUSED(1, "context is NULL");
    SimdRelease(a);
    TEST_NO_ERROR();
    TEST(destroyed == 1);
    SimdRelease(b);
    TEST_NO_ERROR();
    SimdRelease(NULL);
    TEST_NO_ERROR();
    TEST(sn_context_new(&kind_a, SIZE_MAX / 2, "InitA") == NULL);
    TEST_REFUSED(2, "InitA");
}

/* Memory that is not a context: zeros, text, random bytes, at every alignment; nothing may be freed or called. */
static void random_memory(void)
{
    enum { SIZE = 4096 };
    unsigned char * block = SimdAllocate(SIZE, 64);
    if (!block)
        exit(1);
    for (int content = 0; content < 40; ++content) {
        for (size_t i = 0; i < SIZE; ++i)
            block[i] = content == 0 ? 0 : content == 1 ? 0xFF : content == 2 ? "context"[i % 7]
                                                                             : (unsigned char)(rand() >> 7);
        for (size_t shift = 0; shift < 130; shift += content < 3 ? 1 : 13) {
            SimdRelease(block + shift);
            TEST_REFUSED(1, "context");
            TEST(SimdnetContextInfo(block + shift) == NULL);
            TEST_REFUSED(1, "context");
        }
    }
    SimdFree(block);
    TEST(SimdnetContextInfo(NULL) == NULL);
    TEST_REFUSED(1, "context");
}

static SimdConvolutionParameters small(void)
{
    return (SimdConvolutionParameters){
        .srcC = 2, .srcH = 3, .srcW = 3, .srcT = SimdTensorData32f, .srcF = SimdTensorFormatNhwc,
        .dstC = 2, .dstH = 3, .dstW = 3, .dstT = SimdTensorData32f, .dstF = SimdTensorFormatNhwc,
        .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1, .group = 1,
        .activation = SimdConvolutionActivationIdentity};
}

static void order_of_calls(void)
{
    const SimdConvolutionParameters shape = small();
    float src[18], dst[18], weight[4] = {1, 2, 3, 4}, bias[2] = {10, 20};
    for (int i = 0; i < 18; ++i) {
        src[i] = (float)i;
        dst[i] = -1;
    }
    void * c = SimdSynetConvolution32fInit(1, &shape, NULL);
    TEST(c != NULL);
    TEST_NO_ERROR();
    SimdSynetConvolution32fForward(c, src, NULL, dst);
    TEST_REFUSED(3, "SimdSynetConvolution32fForward");
    TEST_REFUSED(3, "SetParams");
    bool untouched = true;
    for (int i = 0; i < 18; ++i)
        untouched &= dst[i] == -1;
    TEST(untouched);
    SimdBool internal = SimdFalse;
    SimdSynetConvolution32fSetParams(c, weight, &internal, bias, NULL);
    TEST_NO_ERROR();
    TEST(internal == SimdTrue);
    memset(weight, 0xFF, sizeof(weight)); /* the context keeps copies */
    memset(bias, 0xFF, sizeof(bias));
    for (int i = 0; i < 2; ++i) {
        SimdSynetConvolution32fForward(c, src, NULL, dst);
        TEST_NO_ERROR();
        TEST(dst[0] == 0 * 1 + 1 * 3 + 10 && dst[1] == 0 * 2 + 1 * 4 + 20 && dst[17] == 16 * 2 + 17 * 4 + 20);
    }
    TEST(SimdnetContextInfo(c) && strstr(SimdnetContextInfo(c), SimdnetActiveIsa()));
    SimdRelease(c);
    TEST_NO_ERROR();
}

/* Every function that takes a context refuses NULL, other memory and contexts of another kind. */
static void wrong_contexts(void)
{
    static uint64_t memory[64];
    struct context * other = sn_context_new(&kind_b, sizeof(*other), "InitB");
    void * const wrong[] = {NULL, memory, (char *)memory + 1, other};
    float x[18] = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        TEST(SimdSynetConvolution32fExternalBufferSize(wrong[i]) == 0);
        TEST_REFUSED(1, "SimdSynetConvolution32fExternalBufferSize: context");
        TEST(SimdSynetConvolution32fInternalBufferSize(wrong[i]) == 0);
        TEST_REFUSED(1, "SimdSynetConvolution32fInternalBufferSize: context");
        SimdSynetConvolution32fSetParams(wrong[i], x, NULL, NULL, NULL);
        TEST_REFUSED(1, "SimdSynetConvolution32fSetParams: context");
        SimdSynetConvolution32fForward(wrong[i], x, NULL, x);
        TEST_REFUSED(1, "SimdSynetConvolution32fForward: context");
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) { /* an argument that is not called context */
        SimdResizerRun(wrong[i], (uint8_t *)x, 4, (uint8_t *)x, 4);
        TEST_REFUSED(1, "SimdResizerRun: resizer ");
    }
    SimdRelease(other);
    TEST_NO_ERROR();
}

/* SimdnetForward() of an addition: each check by itself. */
static void additions(void)
{
    const size_t shape[] = {1, 3, 4, 8}, empty[] = {1, 0, 4, 8};
    enum { SIZE = 12 * 8 };
    float x[SIZE + 1], y[SIZE], dst[SIZE];
    const SimdTensorDataType type = SimdTensorData32f;
    void * none = SimdSynetAdd16bInit(empty, 4, type, empty, 4, type, type, SimdTensorFormatNhwc);
    void * context = SimdSynetAdd16bInit(shape, 4, type, shape, 4, type, type, SimdTensorFormatNhwc);
    const SimdnetForwardParameters good = {.size = sizeof(good), .src = x, .add = y, .dst = dst};
    const struct {
        const char * word;
        SimdnetForwardParameters f;
    } bad[] = {
        {"src is NULL", {.add = y, .dst = dst}},
        {"add is NULL", {.src = x, .dst = dst}},
        {"dst is NULL", {.src = x, .add = y}},
        {"srcPixel is 7", {.src = x, .add = y, .dst = dst, .srcPixel = 7}},
        {"addPixel is 7", {.src = x, .add = y, .dst = dst, .addPixel = 7}},
        {"dstPixel is 7", {.src = x, .add = y, .dst = dst, .dstPixel = 7}},
        {"dst overlaps src", {.src = x, .add = y, .dst = x + 1}},
        {"dst overlaps add", {.src = y, .add = x, .dst = x + 1}}};
    for (size_t i = 0; i < SIZE; ++i)
        x[i] = x[i + 1] = 1, y[i] = 2, dst[i] = 5;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        SimdnetForwardParameters f = bad[i].f;
        f.size = sizeof(f);
        SimdnetForward(context, &f);
        TEST_REFUSED(1, bad[i].word);
        TEST(x[1] == 1 && x[SIZE] == 1 && dst[0] == 5 && dst[SIZE - 1] == 5);
    }
    SimdnetForward(context, &good);
    TEST_NO_ERROR();
    TEST(dst[0] == 3 && dst[SIZE - 1] == 3);
    const SimdnetForwardParameters nothing = {.size = sizeof(nothing)};
    SimdnetForward(none, &nothing);
    TEST_NO_ERROR();
    SimdRelease(none);
    SimdRelease(context);
}

/* No pixels, no arrays. */
static void no_pixels(void)
{
    SimdnetPixelwise(&(SimdnetPixelwiseParameters){.size = sizeof(SimdnetPixelwiseParameters), .channels = 3});
    TEST_NO_ERROR();
}

/* A context keeps the level it was created with: the same bits before and after the limit changes. */
static void keeps_its_level(void)
{
    SimdConvolutionParameters shape = small();
    enum { C = 37, S = 9 };
    shape.srcC = shape.dstC = C;
    static float src[C * S], weight[C * C], before[C * S], after[C * S];
    for (int i = 0; i < C * S; ++i)
        src[i] = (float)(i % 101) / 7 - 5;
    for (int i = 0; i < C * C; ++i)
        weight[i] = (float)(i % 89) / 11 - 3;
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        void * c = SimdSynetConvolution32fInit(1, &shape, NULL);
        SimdSynetConvolution32fSetParams(c, weight, NULL, NULL, NULL);
        SimdSynetConvolution32fForward(c, src, NULL, before);
        for (size_t k = 0; SimdnetIsaLevel(k); ++k) {
            SimdnetSetMaxIsa(SimdnetIsaLevel(k));
            SimdSynetConvolution32fForward(c, src, NULL, after);
            TEST_NO_ERROR();
            TEST(memcmp(before, after, sizeof(before)) == 0);
            TEST(strstr(SimdnetContextInfo(c), SimdnetIsaLevel(i)) != NULL);
        }
        SimdRelease(c);
    }
    SimdnetSetMaxIsa(NULL);
}

/* Many threads use one context at once, half of them with a buffer of their own: bits as with one thread. */
enum { SHARED_C = 23, SHARED_S = 31 };

static struct shared {
    void * context;
    float src[SHARED_C * SHARED_S * SHARED_S], expected[SHARED_C * SHARED_S * SHARED_S];
    size_t buffer;
} shared;

static void * forward_in_thread(void * argument)
{
    const bool own = argument != NULL;
    float * dst = malloc(sizeof(shared.expected)), * buffer = own ? malloc(shared.buffer * sizeof(float)) : NULL;
    bool good = dst && (buffer || !own);
    for (int i = 0; good && i < 20; ++i) {
        memset(dst, 0xFF, sizeof(shared.expected));
        SimdSynetConvolution32fForward(shared.context, shared.src, buffer, dst);
        good = SimdnetLastErrorKind() == 0 && memcmp(dst, shared.expected, sizeof(shared.expected)) == 0;
    }
    free(dst);
    free(buffer);
    return good ? NULL : &shared;
}

static void in_many_threads(SimdTensorFormatType format)
{
    enum { THREADS = 6 };
    static float weight[SHARED_C * SHARED_C * 9];
    SimdConvolutionParameters shape = small();
    shape.srcF = shape.dstF = format;
    shape.srcC = shape.dstC = SHARED_C;
    shape.srcH = shape.srcW = shape.dstH = shape.dstW = SHARED_S;
    shape.kernelY = shape.kernelX = 3;
    shape.padY = shape.padX = shape.padH = shape.padW = 1;
    for (size_t i = 0; i < sizeof(weight) / sizeof(weight[0]); ++i)
        weight[i] = (float)(i % 89) / 11 - 3;
    for (size_t i = 0; i < sizeof(shared.src) / sizeof(shared.src[0]); ++i)
        shared.src[i] = (float)(i % 101) / 7 - 5;
    shared.context = SimdSynetConvolution32fInit(1, &shape, NULL);
    SimdSynetConvolution32fSetParams(shared.context, weight, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(shared.context, shared.src, NULL, shared.expected);
    TEST_NO_ERROR();
    shared.buffer = SimdSynetConvolution32fExternalBufferSize(shared.context);
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, forward_in_thread, i & 1 ? &shared : NULL) != 0)
            exit(1);
    for (size_t i = 0; i < THREADS; ++i) {
        void * wrong = NULL;
        TEST(pthread_join(thread[i], &wrong) == 0 && wrong == NULL);
    }
    SimdRelease(shared.context);
}

/* Functions of the Simd Library that have a twin here. */
static void twins(void)
{
    static const struct {
        const char * kind;
        const char * (*info)(const void * context);
    } infos[] = {{"Convolution32f", SimdSynetConvolution32fInfo}, {"Convolution8i", SimdSynetConvolution8iInfo},
                 {"Deconvolution32f", SimdSynetDeconvolution32fInfo},
                 {"MergedConvolution32f", SimdSynetMergedConvolution32fInfo},
                 {"Convolution16b", SimdSynetConvolution16bInfo},
                 {"InnerProduct16b", SimdSynetInnerProduct16bInfo},
                 {"Deconvolution16b", SimdSynetDeconvolution16bInfo},
                 {"MergedConvolution16b", SimdSynetMergedConvolution16bInfo},
                 {"MergedConvolution8i", SimdSynetMergedConvolution8iInfo},
                 {"QuantizedInnerProduct", SimdSynetQuantizedInnerProductInfo},
                 {"QuantizedMergedConvolution", SimdSynetQuantizedMergedConvolutionInfo},
                 {"QuantizedConvolution", SimdSynetQuantizedConvolutionInfo}};
    SimdConvolutionParameters p[2];
    for (size_t i = 0; i < 2; ++i)
        p[i] = (SimdConvolutionParameters){.srcC = 4, .srcH = 5, .srcW = 5, .srcT = SimdTensorData32f,
            .srcF = SimdTensorFormatNhwc, .dstC = 4, .dstH = 5, .dstW = 5, .dstT = SimdTensorData32f,
            .dstF = SimdTensorFormatNhwc, .kernelY = 3, .kernelX = 3, .dilationY = 1, .dilationX = 1, .strideY = 1,
            .strideX = 1, .padY = 1, .padX = 1, .padH = 1, .padW = 1, .group = 1};
    p[1].group = 4;
    void * contexts[] = {SimdSynetConvolution32fInit(1, p, NULL), SimdSynetConvolution8iInit(1, p),
                         SimdSynetDeconvolution32fInit(1, p, NULL), SimdSynetMergedConvolution32fInit(1, p, 2, SimdFalse),
                         SimdSynetConvolution16bInit(1, p, SimdSynetCompatibilityDefault),
                         SimdSynetInnerProduct16bInit(1, 1, 1, SimdTensorData16b, SimdTensorData16b, SimdTensorData16b, SimdTrue,
                                                      SimdTrue, SimdTrue, SimdConvolutionActivationIdentity),
                         SimdSynetDeconvolution16bInit(1, p, SimdSynetCompatibilityDefault),
                         SimdSynetMergedConvolution16bInit(1, p, 2, SimdFalse),
                         SimdSynetMergedConvolution8iInit(1, p, 2, SimdSynetCompatibilityDefault),
                         SimdSynetQuantizedInnerProductInit(1, 1, 1, SimdTensorData8u, SimdTensorData8i, SimdTensorData8u,
                                                            SimdTrue, SimdTrue, SimdTrue),
                         NULL, NULL};
    for (size_t i = 0; i < 2; ++i)
        p[i].srcT = p[i].dstT = SimdTensorData8u;
    contexts[sizeof(contexts) / sizeof(*contexts) - 2] = SimdSynetQuantizedMergedConvolutionInit(1, p, 2, 0);
    contexts[sizeof(contexts) / sizeof(*contexts) - 1] = SimdSynetQuantizedConvolutionInit(1, p);
    enum { KINDS = sizeof(infos) / sizeof(*infos) };
    for (size_t i = 0; i < KINDS; ++i) {
        TEST(contexts[i] && infos[i].info(contexts[i]) == SimdnetContextInfo(contexts[i]));
        TEST_NO_ERROR();
        TEST(infos[i].info(contexts[(i + 1) % KINDS]) == NULL);
        TEST_REFUSED(1, infos[i].kind);
        TEST(infos[i].info(NULL) == NULL);
        TEST_REFUSED(1, "context is NULL");
    }
    for (size_t i = 0; i < KINDS; ++i)
        SimdRelease(contexts[i]);
    const float x[3] = {1, 2, 4};
    float y[3], z[3];
    SimdSynetSoftmaxLayerForward(x, 1, 3, 1, y);
    SimdSynetSoftmax32f(x, 1, 3, 1, z);
    TEST(memcmp(y, z, sizeof(y)) == 0);
    SimdSynetSoftmax32f(NULL, 1, 3, 1, z);
    TEST_REFUSED(1, "SimdSynetSoftmax32f: src is NULL");
    static const SimdSynetUnaryOperation32fType types[] = {
        SimdSynetUnaryOperation32fAbs, SimdSynetUnaryOperation32fCeil, SimdSynetUnaryOperation32fCos,
        SimdSynetUnaryOperation32fErf, SimdSynetUnaryOperation32fExp, SimdSynetUnaryOperation32fFloor,
        SimdSynetUnaryOperation32fLog, SimdSynetUnaryOperation32fNeg, SimdSynetUnaryOperation32fNot,
        SimdSynetUnaryOperation32fRcp, SimdSynetUnaryOperation32fRound, SimdSynetUnaryOperation32fRsqrt,
        SimdSynetUnaryOperation32fSign, SimdSynetUnaryOperation32fSin, SimdSynetUnaryOperation32fSqrt,
        SimdSynetUnaryOperation32fTanh, SimdSynetUnaryOperation32fZero};
    for (int i = 0; i < 17; ++i) { /* the numbers of the later name, in order */
        SimdSynetUnaryOperation32fLayerForward(x, 3, types[i], y);
        SimdSynetUnaryOperation32f(x, 3, (SimdnetSimdUnaryType)i, z);
        TEST(memcmp(y, z, sizeof(y)) == 0);
    }
    SimdSynetUnaryOperation32f(NULL, 3, SimdnetSimdUnaryAbs, z);
    TEST_REFUSED(1, "SimdSynetUnaryOperation32f: src is NULL");
    SimdSynetUnaryOperation32f(x, 3, (SimdnetSimdUnaryType)17, z);
    TEST_REFUSED(1, "SimdSynetUnaryOperation32f: type is 17");
}

/* A context of 3x3 on 32 x 32 pixels, which Winograd's algorithm serves on all levels but base, with weights. */
static void * preferring(SimdnetPreferenceType preference)
{
    SimdConvolutionParameters p = small();
    p.srcC = p.dstC = 64;
    p.srcH = p.srcW = p.dstH = p.dstW = 32;
    p.kernelY = p.kernelX = 3;
    p.padY = p.padX = p.padH = p.padW = 1;
    TEST(SimdnetSetPreference(preference) && SimdnetGetPreference() == preference);
    void * context = SimdSynetConvolution32fInit(1, &p, NULL);
    TEST(context);
    return context;
}

static bool is_winograd(const void * context) { return strncmp(SimdnetContextInfo(context), "Winograd", 8) == 0; }

static void * other_thread(void * argument)
{
    *(SimdnetPreferenceType *)argument = SimdnetGetPreference();
    TEST(SimdnetSetPreference(SimdnetPreferMemory));
    return NULL;
}

static void preferences(void)
{
    TEST(SimdnetGetPreference() == SimdnetPreferSpeed);
    void * fast = preferring(SimdnetPreferSpeed), * exact = preferring(SimdnetPreferExact);
    SimdnetPreferenceType found = SimdnetPreferMemory;
    pthread_t thread;
    TEST(pthread_create(&thread, NULL, other_thread, &found) == 0 && pthread_join(thread, NULL) == 0);
    TEST(found == SimdnetPreferSpeed && SimdnetGetPreference() == SimdnetPreferExact);
    TEST(!SimdnetSetPreference((SimdnetPreferenceType)4));
    TEST_REFUSED(1, "preference is 4");
    TEST(!SimdnetSetPreference((SimdnetPreferenceType)-1));
    TEST_REFUSED(1, "preference is -1");
    TEST(SimdnetGetPreference() == SimdnetPreferExact);
    void * small_one = preferring(SimdnetPreferMemory);
    TEST(is_winograd(fast) == (strcmp(SimdnetActiveIsa(), "base") != 0) && !is_winograd(exact) && !is_winograd(small_one));

    float * weight = calloc(64 * 64 * 9, sizeof(float)), * image = calloc(64 * 32 * 32, sizeof(float)),
          * result = calloc(64 * 32 * 32, sizeof(float));
    if (!weight || !image || !result)
        exit(1);
    void * const each[] = {fast, exact, small_one};
    image[(16 * 32 + 16) * 64] = NAN;
    for (int i = 0; i < 3; ++i) {
        SimdSynetConvolution32fSetParams(each[i], weight, NULL, NULL, NULL);
        TEST_NO_ERROR();
        TEST(SimdSynetConvolution32fInternalBufferSize(each[i]) < 64 * 64 * 9 * 1.3 || is_winograd(each[i]));
        SimdSynetConvolution32fForward(each[i], image, NULL, result);
        size_t spread = 0;
        for (size_t pixel = 0; pixel < 32 * 32; ++pixel)
            spread += isnan(result[pixel * 64]);
        TEST(is_winograd(each[i]) ? spread > 9 : spread == 9);
    }
    TEST(SimdnetShareParams(small_one, exact));
    if (is_winograd(fast)) {
        TEST(!SimdnetShareParams(exact, fast));
        TEST_REFUSED(1, "SimdnetShareParams");
    }
    for (int i = 0; i < 3; ++i)
        SimdRelease(each[i]);
    free(weight);
    free(image);
    free(result);
    TEST(SimdnetSetPreference(SimdnetPreferSpeed));
}

int main(void)
{
    test_alarm();
    twins();
    kinds();
    random_memory();
    order_of_calls();
    wrong_contexts();
    additions();
    no_pixels();
    keeps_its_level();
    in_many_threads(SimdTensorFormatNhwc);
    in_many_threads(SimdTensorFormatNchw);
    preferences();
    return test_end();
}
