/*
 * SimdnetGetPacked() and SimdnetSetPacked() for contexts that have no convolutions: on every instruction set, those that use the
 * bytes have the bits of SetParams(), whatever becomes of the first context. test_share.c has the convolutions.
 */
#include <string.h>

#include "emulated.h"
#include "test.h"

enum { STEPS = 3, BATCH = 2, INPUT = 5, HIDDEN = 9, M = 4, N = 19, K = 23, MOST = 4096 };

static float floats[MOST], first[MOST], second[MOST];

struct kind {
    void * (*init)(int variant);
    void (*set)(void * context, int variant, const float * from);
    void (*compute)(void * context, float * dst);
    int variants;
};

/* ---- recurrent layers: types, directions, and an LSTM with peepholes */

static SimdnetRecurrentParameters layer(int variant)
{
    return (SimdnetRecurrentParameters){.size = sizeof(SimdnetRecurrentParameters), .type = (SimdnetRecurrentType)(variant % 3),
        .direction = (SimdnetRecurrentDirection)(variant / 3 % 3), .steps = STEPS, .batch = BATCH, .input = INPUT,
        .hidden = HIDDEN, .linearBeforeReset = (SimdBool)(variant == 10)};
}

static void * init_layer(int variant)
{
    const SimdnetRecurrentParameters p = layer(variant);
    return SimdnetRecurrentInit(&p);
}

static void set_layer(void * context, int variant, const float * from)
{
    SimdnetRecurrentSetParams(context, from, from + 7, from + 11, variant == 9 ? from + 3 : NULL);
}

static void compute_layer(void * context, float * dst)
{
    const SimdnetRecurrentArrays a = {.size = sizeof(a), .src = floats, .dst = dst, .hn = dst + MOST / 2};
    SimdnetRecurrentCompute(context, &a);
}

/* ---- LSTM of bytes: directions, with and without a sign, scales of columns, and peepholes */

static void * init_bytes(int variant) { return init_layer(variant % 3 * 3); }

static void set_bytes(void * context, int variant, const float * from)
{
    static float scales[2 * 4 * HIDDEN + 1];
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); ++i)
        scales[i] = 0.001f * (float)(i % 7 + 1);
    const SimdnetRecurrentQuantizedParams p = {.size = sizeof(p), .type = variant / 3 % 2 ? SimdTensorData8i : SimdTensorData8u,
        .perColumn = (SimdBool)(variant / 6), .W = (const void *)from, .R = (const void *)(from + 11),
        .zeroW = (const void *)(from + 3), .zeroR = (const void *)(from + 5), .scaleW = scales, .scaleR = scales + 1,
        .bias = from + 7, .peephole = variant % 2 ? from + 9 : NULL};
    SimdnetRecurrentSetQuantizedParams(context, &p);
}

/* ---- matrices of bytes: with and without a sign, each in both orders */

static void * init_matrix(int variant)
{
    return SimdnetQuantizedGemmInit(N, K, variant % 2 ? SimdTensorData8i : SimdTensorData8u);
}

static void set_matrix(void * context, int variant, const float * from)
{
    SimdnetQuantizedGemmSetParams(context, from, (SimdBool)(variant / 2 != 0));
}

static void compute_matrix(void * context, float * dst)
{
    SimdnetQuantizedGemmParameters p = {.size = sizeof(p), .M = M, .N = N, .K = K, .typeA = SimdTensorData8u,
        .typeB = SimdTensorData8i, .typeC = SimdTensorData32i, .A = floats, .C = dst};
    SimdnetQuantizedGemmForward(context, &p);
    if (SimdnetLastErrorKind()) { /* its bytes have no sign */
        p.typeB = SimdTensorData8u;
        SimdnetQuantizedGemmForward(context, &p);
    }
}

static const struct kind kinds[] = {{init_layer, set_layer, compute_layer, 11}, {init_bytes, set_bytes, compute_layer, 12},
    {init_matrix, set_matrix, compute_matrix, 4}};

/* ---- */

static void compute(const struct kind * kind, void * context, float * dst)
{
    memset(dst, 0, sizeof(first));
    kind->compute(context, dst);
    TEST_NO_ERROR();
}

static bool same(void) { return memcmp(first, second, sizeof(first)) == 0; }

/* The bytes serve `context`, and a third one that shares with it; both can have parameters of their own again. */
static void use(const struct kind * kind, int variant, void * context, uint8_t * bytes, size_t size)
{
    void * third = kind->init(variant);
    uint8_t * again = SimdAllocate(size, 64);
    TEST(SimdnetSetPacked(context, bytes, size));
    compute(kind, context, second);
    TEST(same());
    TEST(SimdnetShareParams(third, context));
    SimdRelease(context);
    compute(kind, third, second);
    TEST(same());
    TEST(SimdnetPackedSize(third) == size && SimdnetGetPacked(third, again) && memcmp(bytes, again, size) == 0);
    TEST(SimdnetSetPacked(third, again, size));
    kind->set(third, variant, floats + 1);
    memset(bytes, 0, size); /* which nothing uses any more */
    memset(again, 0, size);
    context = kind->init(variant);
    kind->set(context, variant, floats + 1);
    compute(kind, context, first);
    compute(kind, third, second);
    TEST(same());
    SimdRelease(context);
    SimdRelease(third);
    SimdFree(again);
}

static void store(const struct kind * kind, int variant)
{
    void * from = kind->init(variant), * context = kind->init(variant), * other = kind->init((variant + 1) % kind->variants);
    TEST(from && SimdnetPackedSize(from) == 0);
    TEST(!SimdnetGetPacked(from, second));
    TEST_REFUSED(1, "expected one whose SimdnetPackedSize() is not 0");
    kind->set(from, variant, floats);
    compute(kind, from, first);
    const size_t size = SimdnetPackedSize(from);
    uint8_t * bytes = SimdAllocate(size, 64);
    TEST(size > 0 && SimdnetGetPacked(from, bytes));
    SimdRelease(from);
    TEST(!SimdnetSetPacked(context, bytes, size - 1));
    TEST_REFUSED(1, "size is ");
    if (!SimdnetSetPacked(other, bytes, size)) /* LSTM and its peepholes are of one form, as are a matrix and its transpose */
        TEST(strstr(SimdnetLastError(), "size is ") || strstr(SimdnetLastError(), "src was packed for another context than '"));
    else
        TEST((variant == 9 && kind == &kinds[0]) || kind == &kinds[2]);
    SimdRelease(other);
    TEST(SimdnetPackedSize(context) == 0);
    use(kind, variant, context, bytes, size);
    SimdFree(bytes);
}

/* A context without parameters has none in this form. */
static void none(void)
{
    static uint8_t bytes[64] __attribute__((aligned(64)));
    const size_t shape[] = {2, 3}, order[] = {1, 0};
    void * context = SimdSynetPermuteInit(shape, order, 2, SimdTensorData32f);
    TEST(context && SimdnetPackedSize(context) == 0 && !SimdnetSetPacked(context, bytes, sizeof(bytes)));
    TEST_REFUSED(1, "context is one of Permute, whose parameters have no such form");
    SimdRelease(context);
}

int main(void)
{
    test_alarm();
    for (size_t i = 0; i < MOST; ++i)
        floats[i] = (float)(i * 2654435761u % 1021) / 512 - 1;
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k)
            for (int variant = 0; variant < kinds[k].variants; ++variant)
                store(&kinds[k], variant);
    }
    SimdnetSetMaxIsa(NULL);
    none();
    return test_end();
}
