/* Functions of arrays of numbers, pixels and channels. Targets of the same form are entries of small tables. */
#include "elementwise.h"
#include "fuzz.h"

/* ---- element-wise functions: dst = f(src, size, up to two numbers) */

static void vectors(void)
{
    const size_t which = fuzz_pick(0, 4), size = fuzz_size(150);
    const float * number = fuzz_scalar(fuzz_number());
    if (which == 0) {
        CALL(SimdFill32f, fuzz_out(F32, size), size, number);
        return;
    }
    if (which == 1) {
        fuzz_close();
        const float * src = fuzz_in(F32, size);
        CALL(SimdNeuralAddVectorMultipliedByValue, src, size, number, fuzz_inout(F32, size));
        return;
    }
    if (which == 2) {
        fuzz_close();
        const float * src = fuzz_in(F32, size);
        CALL(SimdNeuralPow, src, size, number, fuzz_out_or_source(F32, size));
        return;
    }
    if (which == 3) {
        CALL(SimdNeuralAddValue, number, fuzz_inout(F32, size), size);
        return;
    }
    fuzz_close();
    const float * a = fuzz_in(F32, size), * b = fuzz_in(F32, size);
    CALL(SimdNeuralProductSum, a, b, size, fuzz_out(F32, 1));
}

static void narrow(void)
{
    const size_t which = fuzz_pick(0, 3), size = fuzz_size(150);
    const void * src = fuzz_in(which % 2 ? B16 : F32, size);
    void * dst = fuzz_out(which % 2 ? F32 : B16, size);
    if (which == 0)
        CALL(SimdFloat32ToBFloat16, src, size, dst);
    else if (which == 1)
        CALL(SimdBFloat16ToFloat32, src, size, dst);
    else if (which == 2)
        CALL(SimdFloat32ToFloat16, src, size, dst);
    else
        CALL(SimdFloat16ToFloat32, src, size, dst);
}

static void activation(void)
{
    const size_t which = fuzz_pick(0, ACTIVATIONS - 1), size = fuzz_size(150);
    const float * p = fuzz_scalar(fuzz_number()), * q = fuzz_scalar(fuzz_number());
    const float * src = fuzz_in(F32, size);
    float * dst = fuzz_out_or_source(F32, size);
    fuzz_close();
    fuzz_before(activations[which].function);
    activate(&activations[which], src, size, p, q, dst);
    fuzz_after();
}

static void unary(void)
{
    const size_t size = fuzz_size(150);
    const int type = fuzz_enum(UNARY_OPERATIONS);
    const float * src = fuzz_in(F32, size);
    fuzz_close();
    CALL(SimdSynetUnaryOperation32fLayerForward, src, size, (SimdSynetUnaryOperation32fType)type, fuzz_out_or_source(F32, size));
}

static void eltwise(void)
{
    const size_t count = fuzz_pick(0, 4), size = fuzz_size(150);
    const int type = fuzz_enum(4);
    const float * src[4] = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < count; ++i)
        src[i] = fuzz_in(F32, size);
    const float * weight = type == SimdSynetEltwiseOperationSum ? fuzz_in(F32, count) : NULL;
    fuzz_close();
    CALL(SimdSynetEltwiseLayerForward, src, weight, count, size, (SimdSynetEltwiseOperationType)type, fuzz_out(F32, size));
}

static void quantize(void)
{
    static const int32_t zeros[] = {0, 128, -128, 255, 1 << 23, (1 << 23) + 1, -(1 << 23), INT32_MIN};
    const size_t size = fuzz_size(150);
    const float * norm = fuzz_scalar(fuzz_number());
    const int32_t zero = zeros[fuzz_pick(0, 7)];
    if (fuzz_chance()) {
        const float * src = fuzz_in(F32, size);
        CALL(SimdSynetQuantizeLinear, src, size, norm, zero, fuzz_out(U8, size));
    } else {
        const uint8_t * src = fuzz_in(U8, size);
        CALL(SimdSynetDequantizeLinear, src, size, zero, norm, fuzz_out(F32, size));
    }
}

static void quantize_linear(void)
{
    SimdnetQuantizeLinearParameters p = {.size = sizeof(p)};
    const bool back = fuzz_chance();
    p.dataType = fuzz_chance() ? SimdTensorData8u : (SimdTensorDataType)(2 + fuzz_enum(1));
    p.outer = fuzz_size(5), p.channels = fuzz_size(9), p.inner = fuzz_size(40);
    const size_t all = CELLS(p.outer, p.channels, p.inner);
    const enum fuzz_type bytes = p.dataType == SimdTensorData8i ? I8 : U8;
    p.scale = fuzz_in(F32, p.channels);
    p.zero = fuzz_chance() ? fuzz_in(bytes, p.channels) : NULL;
    p.src = fuzz_in(back ? bytes : F32, all);
    p.dst = fuzz_out(back ? F32 : bytes, all);
    if (back)
        CALL(SimdnetDequantizeLinear, &p);
    else
        CALL(SimdnetQuantizeLinear, &p);
}

static void dynamic_quantize(void)
{
    SimdnetDynamicQuantizeParameters p = {.size = sizeof(p)};
    p.elements = fuzz_size(300);
    p.src = fuzz_in(F32, p.elements);
    p.dst = fuzz_out(U8, p.elements);
    p.scale = fuzz_out(F32, 1);
    p.zero = fuzz_out(U8, 1);
    CALL(SimdnetDynamicQuantize, &p);
}

static void table8(void)
{
    SimdnetTable8Parameters p = {.size = sizeof(p)};
    p.channels = fuzz_size(90), p.pixels = fuzz_size(20);
    const size_t from = fuzz_chance() ? p.channels + fuzz_size(9) : 0, to = fuzz_chance() ? p.channels + fuzz_size(9) : 0;
    p.srcPixel = from, p.dstPixel = to;
    p.table = fuzz_in(U8, 256);
    p.src = fuzz_in(U8, fuzz_span(p.pixels, from ? from : p.channels, p.channels));
    p.dst = fuzz_out(U8, fuzz_span(p.pixels, to ? to : p.channels, p.channels));
    CALL(SimdnetTable8, &p);
}

/* ---- layouts */

static size_t multiple(int format)
{
    const size_t of[] = {1, 1, 4, 8, 16, 1, 1, 1, 4, 8, 16};
    return format >= 0 && format <= SimdTensorFormatOyxi16o ? of[format] : 1;
}

static size_t aligned(size_t n, int format)
{
    const size_t to = multiple(format);
    return n > SIZE_MAX - to ? SIZE_MAX : (n + to - 1) / to * to;
}

static void convert(void)
{
    const bool filter = fuzz_chance();
    const size_t first = fuzz_size(filter ? 40 : 3), second = fuzz_size(40), third = fuzz_size(20);
    const int from = fuzz_enum(5) + (filter ? 6 : 0), to = fuzz_enum(5) + (filter ? 6 : 0);
    const size_t from_count = filter ? CELLS(aligned(first, from), second, third) : CELLS(first, aligned(second, from), third);
    const size_t to_count = filter ? CELLS(aligned(first, to), second, third) : CELLS(first, aligned(second, to), third);
    const float * src = fuzz_in(F32, from_count);
    float * dst = fuzz_out(F32, to_count);
    if (filter)
        CALL(SimdSynetConvertFilter, first, second, third, src, (SimdTensorFormatType)from, dst, (SimdTensorFormatType)to);
    else
        CALL(SimdSynetConvertImage, first, second, third, src, (SimdTensorFormatType)from, dst, (SimdTensorFormatType)to);
}

static void set_input(void)
{
    static const int formats[] = {SimdPixelFormatGray8, SimdPixelFormatBgr24, SimdPixelFormatBgra32, SimdPixelFormatRgb24};
    static const size_t bytes[] = {1, 3, 4, 3};
    const size_t which = fuzz_pick(0, 3), width = fuzz_size(70), height = fuzz_size(5);
    const int format = fuzz_byte() >= 250 ? 5 : formats[which], order = fuzz_enum(2);
    const size_t row = CELLS(width, bytes[which]), stride = fuzz_chance() ? row : fuzz_size(250);
    const size_t channels = fuzz_chance() ? 3 : fuzz_size(3);
    const uint8_t * src = fuzz_in(U8, fuzz_span(height, stride, row));
    const float * lower = fuzz_in(F32, channels), * upper = fuzz_in(F32, channels);
    CALL(SimdSynetSetInput, src, width, height, stride, (SimdPixelFormatType)format, lower, upper,
         fuzz_out(F32, CELLS(channels, height, width)), channels, (SimdTensorFormatType)order);
}

static void shuffle(void)
{
    const size_t c0 = fuzz_size(30), c1 = fuzz_size(30), spatial = fuzz_size(40), dstC = c0 / 2 + c1 / 2;
    const int format = fuzz_enum(2);
    const float * src0 = fuzz_in(F32, CELLS(c0, spatial)), * src1 = fuzz_in(F32, CELLS(c1, spatial));
    float * dst0 = fuzz_out(F32, CELLS(dstC, spatial)), * dst1 = fuzz_out(F32, CELLS(dstC, spatial));
    CALL(SimdSynetShuffleLayerForward, src0, c0, src1, c1, spatial, dst0, dst1, dstC, (SimdTensorFormatType)format);
}

/* ---- channels */

static void channelwise(void)
{
    const size_t which = fuzz_pick(0, 9), channels = fuzz_size(40), spatial = fuzz_size(40);
    const SimdTensorFormatType format = (SimdTensorFormatType)fuzz_enum(5);
    const size_t coefficients = aligned(channels, (int)format), all = CELLS(coefficients, spatial);
    const float * a = fuzz_in(F32, coefficients), * b = fuzz_in(F32, coefficients), * c = fuzz_in(F32, coefficients);
    const float * one = fuzz_scalar(fuzz_number()), * other = fuzz_scalar(fuzz_number());
    fuzz_close();
    if (which == 0) {
        CALL(SimdSynetAddBias, a, channels, spatial, fuzz_inout(F32, all), format);
        return;
    }
    if (which == 1) {
        const size_t more = fuzz_size(30);
        const size_t sum = channels > SIZE_MAX - more ? SIZE_MAX : channels + more;
        const size_t both = aligned(sum, (int)format), rest = CELLS(aligned(more, (int)format), spatial);
        const float * src0 = fuzz_in(F32, all), * src1 = fuzz_in(F32, rest);
        const float * scale = fuzz_in(F32, both), * bias = fuzz_in(F32, both);
        float * dst0 = fuzz_out(F32, CELLS(both, spatial));
        float * dst1 = fuzz_chance() ? fuzz_out(F32, CELLS(both, spatial)) : NULL;
        CALL(SimdSynetFusedLayerForward9, src0, src1, scale, bias, channels, more, spatial, dst0, dst1, format);
        return;
    }
    const float * src = fuzz_in(F32, all);
    if (which == 2) {
        CALL(SimdSynetFusedLayerForward4, src, a, one, other, channels, spatial, fuzz_out(F32, CELLS(2, all)), format);
        return;
    }
    if (which == 3) {
        const float * src1 = fuzz_in(F32, all);
        CALL(SimdSynetFusedLayerForward8, src, src1, a, channels, spatial, fuzz_out_or_source(F32, all), format);
        return;
    }
    float * dst = fuzz_out_or_source(F32, all);
    switch (which) {
    case 4: CALL(SimdSynetScaleLayerForward, src, a, fuzz_chance() ? b : NULL, channels, spatial, dst, format); break;
    case 5: CALL(SimdSynetPreluLayerForward, src, a, channels, spatial, dst, format); break;
    case 6: CALL(SimdSynetFusedLayerForward0, src, a, b, channels, spatial, dst, format); break;
    case 7: CALL(SimdSynetFusedLayerForward1, src, a, b, c, channels, spatial, dst, format); break;
    case 8: CALL(SimdSynetFusedLayerForward2, src, a, b, channels, spatial, one, dst, format); break;
    default: CALL(SimdSynetFusedLayerForward3, src, a, b, channels, spatial, dst, format);
    }
}

static void tiled_scale(void)
{
    const size_t channels = fuzz_size(20), height = fuzz_size(10), width = fuzz_size(20), all = CELLS(channels, height, width);
    const int format = fuzz_enum(2);
    const float * ver = fuzz_in(F32, CELLS(channels, width)), * hor = fuzz_in(F32, CELLS(channels, height));
    const float * src = fuzz_in(F32, all);
    CALL(SimdSynetTiledScale2D32f, src, channels, height, width, (SimdTensorFormatType)format, ver, hor,
         fuzz_out_or_source(F32, all));
}

static void channel_sum(void)
{
    const size_t channels = fuzz_size(40), spatial = fuzz_size(60);
    const int format = fuzz_enum(2);
    const uint16_t * src = fuzz_in(B16, CELLS(channels, spatial));
    fuzz_close();
    CALL(SimdSynetChannelSum16b, src, channels, spatial, (SimdTensorFormatType)format, fuzz_out(F32, channels));
}

static void add_8i(void)
{
    const size_t batch = fuzz_size(2), channels = fuzz_size(30), spatial = fuzz_size(40), all = CELLS(batch, channels, spatial);
    const int format = fuzz_enum(2), compatibility = fuzz_chance() ? SimdSynetCompatibility8iNarrowed : fuzz_enum(256);
    const float * p[6];
    for (size_t i = 0; i < 6; ++i)
        p[i] = fuzz_in(F32, channels);
    const uint8_t * a = fuzz_in(U8, all), * b = fuzz_in(U8, all);
    CALL(SimdSynetAdd8i, a, p[0], p[1], b, p[2], p[3], fuzz_out(U8, all), p[4], p[5], batch, channels, spatial,
         (SimdTensorFormatType)format, (SimdSynetCompatibilityType)compatibility);
}

static void relu_16b(void)
{
    const size_t size = fuzz_size(150);
    const float * slope = fuzz_scalar(fuzz_number());
    const uint16_t * src = fuzz_in(B16, size);
    CALL(SimdSynetRelu16b, src, size, slope, fuzz_out_or_source(B16, size));
}

static void convert_8u(void)
{
    const size_t batch = fuzz_size(2), channels = fuzz_size(30), height = fuzz_size(5), width = fuzz_size(20);
    const size_t all = CELLS(batch, channels, height, width);
    const int format = fuzz_enum(2), compatibility = fuzz_chance() ? SimdSynetCompatibility8iNarrowed : fuzz_enum(256);
    const bool back = fuzz_chance();
    const float * scale = fuzz_in(F32, channels), * shift = fuzz_in(F32, channels);
    const void * src = fuzz_in(back ? U8 : F32, all);
    void * dst = fuzz_out(back ? F32 : U8, all);
    if (back)
        CALL(SimdSynetConvert8uTo32f, src, batch, channels, height, width, (SimdTensorFormatType)format, scale, shift, dst,
             (SimdSynetCompatibilityType)compatibility);
    else
        CALL(SimdSynetConvert32fTo8u, src, batch, channels, height, width, (SimdTensorFormatType)format, scale, shift, dst,
             (SimdSynetCompatibilityType)compatibility);
}

/* A scale, usually a good one; as an array, which may be NULL. */
static float scale_number(void) { return fuzz_byte() >= 240 ? fuzz_number() : 0.25f; }
static const float * some_scale(void) { return fuzz_scalar(scale_number()); }

/* A zero of a tensor of bytes, or minus one. */
static int some_zero(void) { return fuzz_byte() >= 250 ? 256 : (int)fuzz_pick(0, 255); }

static void quantized_layer(void)
{
    const size_t channels = fuzz_size(30), spatial = fuzz_size(60), all = CELLS(channels, spatial);
    const float * srcScale = some_scale(), * dstScale = some_scale();
    const int srcZero = some_zero(), dstZero = some_zero(), format = fuzz_enum(2);
    const bool scales = fuzz_chance();
    const float * k = fuzz_in(F32, channels), * h = scales && fuzz_chance() ? fuzz_in(F32, channels) : NULL;
    const uint8_t * src = fuzz_in(U8, all);
    uint8_t * dst = fuzz_out_or_source(U8, all);
    if (scales)
        CALL(SimdSynetQuantizedScaleLayerForward, src, srcScale, srcZero, channels, spatial, k, h, dst, dstScale, dstZero,
             (SimdTensorFormatType)format);
    else
        CALL(SimdSynetQuantizedPreluLayerForward, src, srcScale, srcZero, channels, spatial, k, dst, dstScale, dstZero,
             (SimdTensorFormatType)format);
}

static void quantized_concat(void)
{
    const size_t count = fuzz_pick(0, 3), num = fuzz_size(20);
    size_t size[3] = {0}, row = 0;
    const uint8_t * src[3] = {NULL, NULL, NULL};
    float norm[3];
    int32_t bias[3];
    for (size_t i = 0; i < count; ++i) {
        size[i] = fuzz_pick(0, 90), row += size[i], norm[i] = scale_number(), bias[i] = -some_zero();
        src[i] = fuzz_in(U8, CELLS(num, size[i]));
    }
    const float * scale = some_scale();
    const int zero = some_zero();
    CALL(SimdSynetQuantizedConcatLayerForward, count, src, num, size, fuzz_given(bias, I32, count),
         fuzz_given(norm, F32, count), scale, zero, fuzz_out(U8, CELLS(num, row)));
}

static void quantized_shuffle(void)
{
    const size_t c0 = 2 * fuzz_pick(0, 20) + (fuzz_byte() >= 250), c1 = 2 * fuzz_pick(0, 20), spatial = fuzz_size(40);
    const size_t half = (c0 + c1) / 2;
    const int type = fuzz_enum(2), format = fuzz_enum(2), bias0 = -some_zero(), bias1 = -some_zero(), zero = some_zero();
    const float * norm0 = some_scale(), * norm1 = some_scale(), * scale = some_scale();
    const bool inverse = type == 1;
    const uint8_t * src0 = fuzz_in(U8, CELLS(inverse ? half : c0, spatial));
    const uint8_t * src1 = fuzz_in(U8, CELLS(inverse ? half : c1, spatial));
    uint8_t * dst0 = fuzz_out(U8, CELLS(inverse ? c0 : half, spatial));
    uint8_t * dst1 = fuzz_out(U8, CELLS(inverse ? c1 : half, spatial));
    CALL(SimdSynetQuantizedShuffleLayerForward, src0, bias0, norm0, c0, src1, bias1, norm1, c1, spatial, dst0, dst1, scale,
         zero, (SimdTensorFormatType)format, type);
}

/* ---- layers whose results are sums */

static void softmax(void)
{
    const size_t outer = fuzz_size(6), count = fuzz_size(40), inner = fuzz_size(20), all = CELLS(outer, count, inner);
    const float * src = fuzz_in(F32, all);
    fuzz_close();
    CALL(SimdSynetSoftmaxLayerForward, src, outer, count, inner, fuzz_out_or_source(F32, all));
}

static void softmax_16b(void)
{
    const size_t outer = fuzz_size(6), count = fuzz_size(40), inner = fuzz_size(20), all = CELLS(outer, count, inner);
    const uint16_t * src = fuzz_in(B16, all);
    fuzz_close();
    CALL(SimdSynetSoftmax16b, src, outer, count, inner, fuzz_out_or_source(B16, all));
}

static void normalize_16b(void)
{
    const size_t batch = fuzz_size(2), channels = fuzz_size(40), spatial = fuzz_size(30), all = CELLS(batch, channels, spatial);
    const float * eps = fuzz_scalar(0.01f), * scale = fuzz_in(F32, channels), * shift = fuzz_in(F32, channels);
    const int format = fuzz_enum(2);
    const uint16_t * src = fuzz_in(B16, all);
    fuzz_close();
    CALL(SimdSynetNormalizeLayerForward16bV2, src, batch, channels, spatial, scale, shift, eps, (SimdTensorFormatType)format,
         NULL, fuzz_out_or_source(B16, all));
}

static void lrn(void)
{
    const size_t half = fuzz_size(6), channels = fuzz_size(40), spatial = fuzz_size(30), all = CELLS(channels, spatial);
    const float k[3] = {1 + (float)fuzz_pick(0, 3), (float)fuzz_pick(0, 8) / 8, (float)fuzz_pick(0, 20) / 8 - 1};
    const int format = fuzz_enum(2);
    const float * parameters = fuzz_given(k, F32, 3), * src = fuzz_in(F32, all);
    fuzz_close();
    CALL(SimdSynetLrnLayerCrossChannels, src, half, channels, spatial, parameters, fuzz_out(F32, all),
         (SimdTensorFormatType)format);
}

static void normalize(void)
{
    const size_t which = fuzz_pick(0, 4), batch = fuzz_size(3), channels = fuzz_size(30), spatial = fuzz_size(30);
    const size_t all = CELLS(batch, channels, spatial), groups = which == 4 ? fuzz_size(6) : 1;
    const SimdBool across = (SimdBool)fuzz_enum(2);
    const SimdTensorFormatType format = (SimdTensorFormatType)fuzz_enum(2);
    const float * eps = fuzz_scalar((float)fuzz_pick(1, 9) / 64);
    const float * scale = fuzz_in(F32, channels), * shift = fuzz_in(F32, channels), * src = fuzz_in(F32, all);
    float * dst = fuzz_out_or_source(F32, all);
    fuzz_near(0x1p-6);
    switch (which) {
    case 0: CALL(SimdSynetNormalizeLayerForward, src, batch, channels, spatial, scale, eps, across, format, NULL, dst); break;
    case 1: CALL(SimdSynetNormalizeLayerForwardV2, src, batch, channels, spatial, scale, shift, eps, format, NULL, dst); break;
    case 2: CALL(SimdSynetNormalizeLayerForwardV3, src, batch, channels, spatial, scale, shift, eps, format, NULL, dst); break;
    case 3: CALL(SimdSynetNormalizeLayerForwardV4, src, batch, channels, spatial, scale, shift, eps, format, NULL, dst); break;
    default: CALL(SimdnetGroupNorm, src, batch, channels, spatial, groups, scale, shift, eps, dst);
    }
}

static void inner_product(void)
{
    const size_t count = fuzz_size(40), size = fuzz_size(70);
    const float * src = fuzz_in(F32, size), * weight = fuzz_in(F32, CELLS(count, size));
    const float * bias = fuzz_chance() ? fuzz_in(F32, count) : NULL;
    fuzz_close();
    CALL(SimdSynetInnerProductLayerForward, src, weight, bias, count, size, fuzz_out(F32, count));
}

static size_t distance(size_t least) { return fuzz_chance() ? least : fuzz_size(60); }

static void gemm(void)
{
    const bool transposed = fuzz_chance();
    const size_t M = fuzz_size(20), N = fuzz_size(40), K = fuzz_size(40);
    const size_t lda = distance(K), ldb = distance(transposed ? K : N), ldc = distance(N);
    const float * alpha = fuzz_scalar(fuzz_number()), * beta = fuzz_scalar(fuzz_number());
    const float * A = fuzz_in(F32, fuzz_span(M, lda, K));
    const float * B = fuzz_in(F32, transposed ? fuzz_span(N, ldb, K) : fuzz_span(K, ldb, N));
    float * C = fuzz_inout(F32, fuzz_span(M, ldc, N));
    fuzz_close();
    if (transposed)
        CALL(SimdGemm32fNT, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    else
        CALL(SimdGemm32fNN, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

static size_t last(size_t count, size_t stride) { return count > 1 ? CELLS(count - 1, stride) : 0; }

static size_t sum(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

/* Elements of the matrices of a batch, each with `one` elements; `batch` 0 means 1. */
static size_t batched(size_t one, const size_t * batch, const size_t * stride)
{
    return one ? sum(sum(last(batch[0], stride[0]), last(batch[1], stride[1])), one) : 0;
}

static void gemm_batch(void)
{
    SimdnetGemmParameters p = {.size = sizeof(p)};
    p.M = fuzz_size(9), p.N = fuzz_size(20), p.K = fuzz_size(20);
    p.transA = (SimdBool)fuzz_enum(2), p.transB = (SimdBool)fuzz_enum(2);
    p.alpha = fuzz_number(), p.beta = fuzz_number();
    const size_t rowA = p.transA ? p.M : p.K, rowB = p.transB ? p.K : p.N;
    p.lda = fuzz_chance() ? 0 : distance(rowA), p.ldb = fuzz_chance() ? 0 : distance(rowB);
    p.ldc = fuzz_chance() ? 0 : distance(p.N);
    const size_t a = fuzz_span(p.transA ? p.K : p.M, p.lda ? p.lda : rowA, rowA);
    const size_t b = fuzz_span(p.transB ? p.N : p.K, p.ldb ? p.ldb : rowB, rowB), c = fuzz_span(p.M, p.ldc ? p.ldc : p.N, p.N);
    for (size_t i = 0; i < 2; ++i) {
        p.batch[i] = fuzz_pick(0, 3);
        p.strideA[i] = fuzz_chance() ? 0 : sum(a, fuzz_pick(0, 3));
        p.strideB[i] = fuzz_chance() ? 0 : sum(b, fuzz_pick(0, 3));
        p.strideC[i] = fuzz_byte() < 200 ? CELLS(sum(c, 2), i ? 1 : 4) : fuzz_size(60);
    }
    p.A = fuzz_in(F32, batched(a, p.batch, p.strideA));
    p.B = fuzz_in(F32, batched(b, p.batch, p.strideB));
    p.C = fuzz_inout(F32, batched(c, p.batch, p.strideC));
    fuzz_close();
    CALL(SimdnetGemm, &p);
}

static void attention(void)
{
    SimdnetAttentionParameters p = {.size = sizeof(p)};
    p.M = fuzz_size(9), p.N = fuzz_size(20), p.K = fuzz_size(20), p.width = fuzz_size(9);
    p.transK = (SimdBool)fuzz_enum(2), p.transV = (SimdBool)fuzz_enum(2);
    p.prefer = (SimdnetPreferenceType)fuzz_enum(4);
    p.scale = fuzz_number();
    const size_t rowK = p.transK ? p.N : p.K, rowV = p.transV ? p.N : p.width;
    p.ldq = fuzz_chance() ? 0 : distance(p.K), p.ldk = fuzz_chance() ? 0 : distance(rowK);
    p.ldv = fuzz_chance() ? 0 : distance(rowV), p.ldd = fuzz_chance() ? 0 : distance(p.width);
    p.ldb = fuzz_chance() ? 0 : distance(p.N);
    const size_t q = fuzz_span(p.M, p.ldq ? p.ldq : p.K, p.K);
    const size_t k = fuzz_span(p.transK ? p.K : p.N, p.ldk ? p.ldk : rowK, rowK);
    const size_t v = fuzz_span(p.transV ? p.width : p.N, p.ldv ? p.ldv : rowV, rowV);
    const size_t b = p.ldb ? fuzz_span(p.M, p.ldb, p.N) : p.N, d = fuzz_span(p.M, p.ldd ? p.ldd : p.width, p.width);
    for (size_t i = 0; i < 2; ++i) {
        p.batch[i] = fuzz_pick(0, 3);
        p.strideQ[i] = fuzz_chance() ? 0 : sum(q, fuzz_pick(0, 3));
        p.strideK[i] = fuzz_chance() ? 0 : sum(k, fuzz_pick(0, 3));
        p.strideV[i] = fuzz_chance() ? 0 : sum(v, fuzz_pick(0, 3));
        p.strideB[i] = fuzz_chance() ? 0 : sum(b, fuzz_pick(0, 3));
        p.strideD[i] = fuzz_byte() < 200 ? CELLS(sum(d, 2), i ? 1 : 4) : fuzz_size(60);
    }
    p.queries = fuzz_in(F32, batched(q, p.batch, p.strideQ));
    p.keys = fuzz_in(F32, batched(k, p.batch, p.strideK));
    p.values = fuzz_in(F32, batched(v, p.batch, p.strideV));
    p.bias = fuzz_chance() ? fuzz_in(F32, batched(b, p.batch, p.strideB)) : NULL;
    p.dst = fuzz_inout(F32, batched(d, p.batch, p.strideD));
    if (fuzz_wild()) /* scores may overflow, or the softmax may have no finite one */
        fuzz_anything();
    fuzz_close();
    CALL(SimdnetAttention, &p);
}

static void gemm_nbits(void)
{
    SimdnetGemmNBitsParameters p = {.size = sizeof(p), .quantised = (SimdBool)fuzz_enum(2)};
    p.M = fuzz_size(9), p.N = fuzz_size(20), p.K = fuzz_size(90);
    p.bits = fuzz_chance() ? 4 : 8, p.block = (size_t)16 << fuzz_pick(0, 3);
    const size_t blocks = p.K / p.block + (p.K % p.block != 0);
    p.src = fuzz_in(F32, CELLS(p.M, p.K));
    p.weight = fuzz_in(U8, CELLS(p.N, blocks, p.block * p.bits / 8));
    p.scale = fuzz_in(F32, CELLS(p.N, blocks));
    p.zero = fuzz_chance() ? fuzz_in(U8, CELLS(p.N, (blocks * p.bits + 7) / 8)) : NULL;
    p.bias = fuzz_chance() ? fuzz_in(F32, p.N) : NULL;
    p.dst = fuzz_out(F32, CELLS(p.M, p.N));
    if (fuzz_wild()) /* sums of a block may overflow before they are multiplied by a scale, or 0 * infinity appear */
        fuzz_anything();
    fuzz_close();
    CALL(SimdnetGemmNBits, &p);
}

static void quantized_gemm(void)
{
    SimdnetQuantizedGemmParameters p = {.size = sizeof(p)};
    p.M = fuzz_size(9), p.N = fuzz_size(90), p.K = fuzz_size(40), p.batch = fuzz_pick(0, 3);
    p.transB = (SimdBool)fuzz_enum(1), p.perRow = (SimdBool)fuzz_enum(1), p.perColumn = (SimdBool)fuzz_enum(1);
    p.typeA = fuzz_chance() ? SimdTensorData8u : SimdTensorData8i;
    p.typeB = fuzz_chance() ? SimdTensorData8u : SimdTensorData8i;
    p.typeC = (SimdTensorDataType)fuzz_enum(3);
    const size_t batch = p.batch ? p.batch : 1, a = CELLS(p.M, p.K), b = CELLS(p.N, p.K);
    p.strideA = fuzz_chance() ? 0 : a, p.strideB = fuzz_chance() ? 0 : b;
    const size_t rows = p.perRow ? CELLS(batch, p.M) : 1, columns = p.perColumn ? p.N : 1;
    const enum fuzz_type result = p.typeC == SimdTensorData8u || p.typeC == SimdTensorData8i ? U8 : F32;
    p.A = fuzz_in(U8, CELLS(batch, a));
    p.B = fuzz_in(U8, CELLS(batch, b));
    p.zeroA = fuzz_chance() ? fuzz_in(U8, rows) : NULL;
    p.zeroB = fuzz_chance() ? fuzz_in(U8, columns) : NULL;
    p.scaleA = fuzz_chance() ? fuzz_in(F32, rows) : NULL;
    p.scaleB = fuzz_chance() ? fuzz_in(F32, columns) : NULL;
    p.scaleC = fuzz_number(), p.zeroC = (int32_t)fuzz_pick(0, 255) - (p.typeC == SimdTensorData8i ? 128 : 0);
    p.bias = fuzz_chance() ? fuzz_in(p.typeC == SimdTensorData32f ? F32 : I32, p.N) : NULL;
    p.C = fuzz_out(p.typeC == SimdTensorData32i ? I32 : result, CELLS(batch, p.M, p.N));
    CALL(SimdnetQuantizedGemm, &p);
    void * context;
    OPEN(context, SimdnetQuantizedGemmInit, p.N, p.K, p.typeB);
    if (!context)
        return;
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdnetQuantizedGemmSetParams, context, p.B, p.transB);
    p.B = NULL, p.strideB = 0;
    if (fuzz_possible())
        CALL(SimdnetQuantizedGemmForward, context, &p);
    SimdRelease(context);
}

static void quantized_pooling(void)
{
    SimdnetQuantizedPoolingParameters p = {.size = sizeof(p), .type = (SimdnetQuantizedPoolingType)fuzz_enum(3)};
    p.dataType = fuzz_chance() ? SimdTensorData8u : SimdTensorData8i;
    p.format = (SimdTensorFormatType)fuzz_enum(2);
    p.batch = fuzz_pick(0, 3), p.channels = fuzz_size(80), p.srcH = fuzz_size(9), p.srcW = fuzz_size(9);
    p.dstH = fuzz_pick(0, 6), p.dstW = fuzz_pick(0, 6);
    p.kernelY = fuzz_pick(1, 4), p.kernelX = fuzz_size(4), p.strideY = fuzz_pick(1, 3), p.strideX = fuzz_pick(1, 3);
    p.padY = fuzz_size(4), p.padX = fuzz_pick(0, 4), p.padH = fuzz_size(4), p.padW = fuzz_pick(0, 4);
    p.excludePad = (SimdBool)fuzz_enum(2);
    const int32_t least = p.dataType == SimdTensorData8i ? -128 : 0;
    p.scaleSrc = fuzz_number(), p.scaleDst = fuzz_number();
    p.zeroSrc = (int32_t)fuzz_pick(0, 255) + least, p.zeroDst = (int32_t)fuzz_pick(0, 255) + least;
    const bool global = p.type == SimdnetQuantizedPoolingGlobalAverage;
    p.src = fuzz_in(U8, CELLS(p.batch, p.channels, p.srcH, p.srcW));
    p.dst = fuzz_out(U8, CELLS(p.batch, p.channels, global ? 1 : p.dstH, global ? 1 : p.dstW));
    CALL(SimdnetQuantizedPooling, &p);
}

const struct fuzz_target fuzz_functions[] = {
    {"vectors", vectors}, {"activation", activation}, {"unary", unary}, {"eltwise", eltwise}, {"quantize", quantize},
    {"quantize_linear", quantize_linear}, {"dynamic_quantize", dynamic_quantize}, {"table8", table8}, {"convert", convert}, {"set_input", set_input}, {"shuffle", shuffle},
    {"channelwise", channelwise}, {"tiled_scale", tiled_scale}, {"channel_sum", channel_sum}, {"add_8i", add_8i},
    {"softmax", softmax}, {"lrn", lrn}, {"normalize", normalize}, {"inner_product", inner_product}, {"gemm", gemm},
    {"gemm_batch", gemm_batch}, {"attention", attention}, {"gemm_nbits", gemm_nbits}, {"quantized_gemm", quantized_gemm}, {"narrow", narrow},
    {"quantized_pooling", quantized_pooling},
    {"relu_16b", relu_16b}, {"convert_8u", convert_8u}, {"quantized_layer", quantized_layer},
    {"quantized_concat", quantized_concat}, {"quantized_shuffle", quantized_shuffle},
    {"softmax_16b", softmax_16b}, {"normalize_16b", normalize_16b}, {NULL, NULL}};
