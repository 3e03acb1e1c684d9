/*
 * What is refused because results overlap other arrays, where the checker does not look: arrays with gaps, whose elements
 * are compared with those of all positions; an addend; single numbers; arrays that are not used.
 */
#include "api/overlap.h"
#include "runtime/error.h"
#include "test.h"

enum { MEMORY = 200 };

/* True if an element of one array is an element of the other. */
static bool shares(const struct sn_rows * a, const struct sn_rows * b)
{
    static char memory[MEMORY];
    memset(memory, 0, sizeof(memory));
    for (size_t r = 0; r < a->rows; ++r)
        memset(memory + (uintptr_t)a->at + r * a->step, 1, a->bytes);
    for (size_t r = 0; r < b->rows; ++r)
        if (memchr(memory + (uintptr_t)b->at + r * b->step, 1, b->bytes))
            return true;
    return false;
}

/* All small arrays of `step` bytes a row, at all distances; addresses are positions in the memory of shares(). */
static void rows(void)
{
    const struct sn_rows empty = {"empty", (void *)80, 0, 4, 4};
    size_t wrong = 0, unseen = 0;
    for (size_t n = 0; n < 3 * 3 * 4 * 4 * 2 * 80; ++n) {
        size_t i = n;
#define NEXT(range) (i % (range)); i /= (range)
        const size_t rowsA = 1 + NEXT(3);
        const size_t rowsB = 1 + NEXT(3);
        const size_t bytesA = 1 + NEXT(4);
        const size_t bytesB = 1 + NEXT(4);
        const size_t more = NEXT(2);
#undef NEXT
        const struct sn_rows a = {"a", (void *)80, rowsA, bytesA, 5}, b = {"b", (void *)(40 + i), rowsB, bytesB, 5 + more};
        const bool exact = !more || rowsA == 1 || rowsB == 1, shared = shares(&a, &b);
        for (int turn = 0; turn < 2; ++turn) {
            const bool apart = turn ? sn_rows_apart("f", b, a) : sn_rows_apart("f", a, b);
            wrong += shared ? exact && apart : !apart;
            unseen += shared && apart;
        }
        TEST(sn_rows_apart("f", a, empty) && sn_rows_apart("f", empty, b));
    }
    TEST(wrong == 0);
    TEST(unseen > 0); /* otherwise the test could claim more */
    sn_error_clear();
}

/* Left and right columns of one matrix of 4 x 6. */
static void columns_of_a_matrix(void)
{
    float matrix[24] = {0}, b[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const float one = 1, zero = 0;
    for (int i = 0; i < 24; ++i)
        matrix[i] = (float)i;
    SimdGemm32fNN(4, 3, 3, &one, matrix, 6, b, 3, &zero, matrix + 3, 6);
    TEST_NO_ERROR();
    TEST(matrix[3] == 0 && matrix[23] == 20);
    SimdGemm32fNN(4, 3, 3, &one, matrix, 6, b, 3, &zero, matrix + 2, 6);
    TEST_REFUSED(1, "C overlaps A");
    SimdGemm32fNN(3, 3, 3, &one, matrix, 6, b, 3, &zero, matrix + 4, 6);
    TEST_REFUSED(1, "C overlaps A");
    SimdGemm32fNT(3, 3, 4, &one, matrix + 2, 6, matrix, 4, &zero, b, 3);
    TEST_NO_ERROR();
    SimdGemm32fNN(3, 3, 3, &zero, b, 3, b, 3, &zero, b, 3); /* A and B are not read */
    TEST_NO_ERROR();
}

/* A picture of 2 x 2 gray pixels in rows of 12 bytes, and its tensor of 2 floats a row, in between. */
static void gaps_of_a_picture(void)
{
    _Alignas(float) uint8_t memory[32] = {0, 255};
    float between[1] = {5}, lower = 0, upper = 1;
    memcpy(memory + 4, between, sizeof(between));
    SimdSynetSetInput(memory, 2, 1, 20, SimdPixelFormatGray8, &lower, &upper, (void *)(memory + 4), 1, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    SimdSynetSetInput(memory, 2, 2, 20, SimdPixelFormatGray8, &lower, &upper, (void *)(memory + 4), 1, SimdTensorFormatNhwc);
    TEST_NO_ERROR();
    SimdSynetSetInput(memory, 2, 2, 19, SimdPixelFormatGray8, &lower, &upper, (void *)(memory + 4), 1, SimdTensorFormatNhwc);
    TEST_REFUSED(1, "dst overlaps src");
}

/* Planes of coefficients with the image between them. */
static void gaps_of_planes(void)
{
    enum { TILES = 4, STRIDE = 60 };
    static float memory[16 * STRIDE];
    float * image = memory + TILES;
    SimdWinogradKernel3x3Block2x2SetInput(image, 1, 4, 4, 1, 1, 1, 1, memory, STRIDE, SimdTrue);
    TEST_NO_ERROR();
    SimdWinogradKernel3x3Block2x2SetInput(image - 1, 1, 4, 4, 1, 1, 1, 1, memory, STRIDE, SimdTrue);
    TEST_REFUSED(1, "dst overlaps src");
    SimdWinogradKernel3x3Block2x2SetOutput(memory, STRIDE, image, 1, 4, 4, SimdTrue);
    TEST_NO_ERROR();
    SimdWinogradKernel3x3Block2x2SetOutput(memory, STRIDE, image + STRIDE - TILES - 15, 1, 4, 4, SimdTrue);
    TEST_REFUSED(1, "dst overlaps src");
}

static void addend(void)
{
    const SimdConvolutionParameters p = {.srcC = 2, .srcH = 3, .srcW = 3, .dstC = 2, .dstH = 3, .dstW = 3, .kernelY = 3,
        .kernelX = 3, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1, .padY = 1, .padX = 1, .padH = 1, .padW = 1,
        .group = 1, .srcF = SimdTensorFormatNhwc, .dstF = SimdTensorFormatNhwc};
    enum { SIZE = 18 };
    static float weight[36], src[SIZE], dst[SIZE], more[8192];
    void * context = SimdSynetConvolution32fInit(1, &p, NULL);
    const size_t size = SimdSynetConvolution32fExternalBufferSize(context);
    float * add = more + size;
    TEST(size + SIZE <= 8192);
    SimdSynetConvolution32fSetParams(context, weight, NULL, NULL, NULL);
    SimdnetConvolution32fForwardAdd(context, src, more, add, dst);
    TEST_NO_ERROR();
    SimdnetConvolution32fForwardAdd(context, src, more, src, dst);
    TEST_NO_ERROR();
    SimdnetConvolution32fForwardAdd(context, src, more + 1, add, dst);
    TEST_REFUSED(1, "buf overlaps add");
    SimdnetConvolution32fForwardAdd(context, src, NULL, dst, dst);
    TEST_REFUSED(1, "dst overlaps add");
    SimdnetConvolution32fForwardAdd(context, src, NULL, add, add + SIZE - 1);
    TEST_REFUSED(1, "dst overlaps add");
    SimdRelease(context);
}

/* Four pixels of six channels, of which a 1x1 convolution reads the first three and writes the last three. */
static void channels_of_an_image(void)
{
    const SimdConvolutionParameters conv = {.srcC = 3, .srcH = 2, .srcW = 2, .srcT = SimdTensorData32f,
        .srcF = SimdTensorFormatNhwc, .dstC = 3, .dstH = 2, .dstW = 2, .dstT = SimdTensorData32f,
        .dstF = SimdTensorFormatNhwc, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1,
        .strideY = 1, .strideX = 1, .group = 1};
    const float weight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    float image[24] = {0};
    for (int i = 0; i < 24; ++i)
        image[i] = (float)i;
    void * context = SimdSynetConvolution32fInit(1, &conv, NULL);
    SimdSynetConvolution32fSetParams(context, weight, NULL, NULL, NULL);
    SimdnetForwardParameters f = {.size = sizeof(f), .src = image, .dst = image + 3, .srcPixel = 6, .dstPixel = 6};
    SimdnetForward(context, &f);
    TEST_NO_ERROR();
    TEST(image[3] == 0 && image[5] == 2 && image[6] == 6 && image[23] == 20);
    f.dst = image + 2;
    SimdnetForward(context, &f);
    TEST_REFUSED(1, "dst overlaps src");
    f.dst = image + 3;
    f.add = image + 1;
    f.addPixel = 6;
    SimdnetForward(context, &f);
    TEST_REFUSED(1, "dst overlaps add");
    f.add = NULL;
    f.buf = image;
    SimdnetForward(context, &f);
    TEST_REFUSED(1, "buf overlaps src");
    SimdRelease(context);
}

/* The same of a sum, of floats and of bfloat16 numbers: its pixels are behind those of a source, in the same distances. */
static void channels_of_sums(void)
{
    static const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b};
    const size_t shape[] = {4, 3};
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            uint16_t image[4 * 6 * 2] = {0}, other[4 * 3 * 2] = {0};
            void * context = SimdSynetAdd16bInit(shape, 2, types[a], shape, 2, types[b], types[a], SimdTensorFormatNhwc);
            SimdnetForwardParameters f = {.size = sizeof(f), .src = image, .add = other, .dst = image + 3 * (2 - a),
                .srcPixel = 6, .dstPixel = 6};
            SimdnetForward(context, &f);
            TEST_NO_ERROR();
            f.dst = image + 2 * (2 - a);
            SimdnetForward(context, &f);
            TEST_REFUSED(1, "dst overlaps src");
            SimdRelease(context);
        }
}

static void what_is_not_checked(void)
{
    float x[4] = {-1, 1, -1, 1}, y[4] = {1, 2, 3, 4};
    const float * both[2] = {x, y};
    SimdSynetRelu32f(x, 4, x, x); /* a number among the values */
    TEST_NO_ERROR();
    TEST(x[0] == 1 && x[2] == 1);
    SimdSynetEltwiseLayerForward(both, y, 2, 4, SimdSynetEltwiseOperationMax, y); /* weights that are not used */
    TEST_NO_ERROR();
    SimdSynetEltwiseLayerForward(both, y, 2, 4, SimdSynetEltwiseOperationSum, y);
    TEST_REFUSED(1, "dst overlaps weight");
    SimdSynetInnerProductLayerForward(x, y, NULL, 1, 2, y + 2);
    TEST_NO_ERROR();
    SimdSynetRelu32f(x, 0, NULL, x + 1);
    TEST_NO_ERROR();
}

int main(void)
{
    test_alarm();
    rows();
    columns_of_a_matrix();
    gaps_of_a_picture();
    gaps_of_planes();
    addend();
    channels_of_an_image();
    channels_of_sums();
    what_is_not_checked();
    return test_end();
}
