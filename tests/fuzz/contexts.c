/* Contexts: Init, SetParams, Forward in one of its forms, Release; those of convolutions are in convolutions.c. */
#include "contexts.h"

/* ---- inner products */

static void inner_product_32f(void)
{
    const size_t M = fuzz_size(9), N = fuzz_size(40), K = fuzz_size(60);
    const SimdBool transB = (SimdBool)fuzz_enum(2), constB = (SimdBool)fuzz_enum(2), has_bias = (SimdBool)fuzz_enum(2);
    const SimdConvolutionActivationType activation = (SimdConvolutionActivationType)fuzz_activation();
    void * context;
    OPEN(context, SimdSynetInnerProduct32fInit, M, N, K, transB, constB, has_bias, activation);
    if (!context)
        return;
    SimdBool internal;
    fuzz_near(0x1p-6);
    const float * weight = constB ? fuzz_in(F32, CELLS(N, K)) : NULL, * bias = fuzz_chance() ? fuzz_in(F32, N) : NULL;
    const float * params = fuzz_activation_params(activation, N);
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetInnerProduct32fSetParams, context, weight, &internal, bias, params);
    const size_t buffer = 4 * SimdSynetInnerProduct32fExternalBufferSize(context);
    const SimdConvolutionParameters rows = {.srcC = K, .dstC = N, .srcH = M, .dstH = M, .srcW = 1, .dstW = 1,
        .srcF = SimdTensorFormatNhwc, .dstF = SimdTensorFormatNhwc};
    if (fuzz_chance()) {
        fuzz_forward(context, 1, &rows, &rows, true, buffer);
    } else {
        const float * A = fuzz_in(F32, CELLS(M, K)), * B = constB ? NULL : fuzz_in(F32, CELLS(N, K));
        float * C = fuzz_out(F32, CELLS(M, N)), * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetInnerProduct32fForward, context, A, B, buf, C);
    }
    SimdRelease(context);
}

static void inner_product_16b(void)
{
    const size_t M = fuzz_size(9), N = fuzz_size(40), K = fuzz_size(60);
    const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b, SimdTensorData8u};
    SimdTensorDataType t[3];
    for (size_t i = 0; i < 3; ++i)
        t[i] = types[fuzz_byte() >= 252 ? 2 : fuzz_pick(0, 1)];
    const SimdBool transB = (SimdBool)fuzz_enum(2), constB = (SimdBool)fuzz_enum(2), has_bias = (SimdBool)fuzz_enum(2);
    const SimdConvolutionActivationType activation = (SimdConvolutionActivationType)fuzz_activation();
    void * context;
    OPEN(context, SimdSynetInnerProduct16bInit, M, N, K, t[0], t[1], t[2], transB, constB, has_bias, activation);
    if (!context)
        return;
    fuzz_near(0x1p-6);
    const float * weight = constB ? fuzz_in(F32, CELLS(N, K)) : NULL, * bias = fuzz_chance() ? fuzz_in(F32, N) : NULL;
    const float * params = fuzz_activation_params(activation, N);
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetInnerProduct16bSetParams, context, weight, bias, params);
    const size_t buffer = SimdSynetInnerProduct16bExternalBufferSize(context);
    const SimdConvolutionParameters rows = {.srcC = K, .dstC = N, .srcH = M, .dstH = M, .srcW = 1, .dstW = 1, .srcT = t[0],
        .dstT = t[2], .srcF = SimdTensorFormatNhwc, .dstF = SimdTensorFormatNhwc};
    if (fuzz_chance()) {
        fuzz_forward(context, 1, &rows, &rows, t[2] == SimdTensorData32f, buffer);
    } else {
        const uint8_t * A = fuzz_in(fuzz_type_of(t[0]), CELLS(M, K));
        const uint8_t * B = constB ? NULL : fuzz_in(fuzz_type_of(t[1]), CELLS(N, K));
        uint8_t * C = fuzz_out(fuzz_type_of(t[2]), CELLS(M, N)), * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetInnerProduct16bForward, context, A, B, buf, C);
    }
    SimdRelease(context);
}

static void quantized_inner_product(void)
{
    const size_t M = fuzz_size(9), N = fuzz_size(40), K = fuzz_size(60);
    const SimdTensorDataType typeA = fuzz_byte() >= 252 ? SimdTensorData32f : SimdTensorData8u;
    const SimdBool transB = (SimdBool)fuzz_enum(2), constB = fuzz_byte() >= 252 ? SimdFalse : SimdTrue;
    void * context;
    OPEN(context, SimdSynetQuantizedInnerProductInit, M, N, K, typeA, SimdTensorData8i, SimdTensorData8u, transB, constB,
         SimdFalse);
    if (!context)
        return;
    const float * aScale = fuzz_in(F32, 1), * bScale = fuzz_in(F32, N), * cScale = fuzz_in(F32, 1);
    const uint8_t * aZero = fuzz_chance() ? fuzz_in(U8, 1) : NULL, * cZero = fuzz_chance() ? fuzz_in(U8, 1) : NULL;
    const int8_t * b = fuzz_in(I8, CELLS(N, K));
    const int32_t * bias = fuzz_chance() ? fuzz_in(I32, N) : NULL;
    const SimdnetQuantizedParams q = {.size = sizeof(q), .srcScale = 0.5f, .dstScale = fuzz_chance() ? 2.0f : 0.0f, .srcZero = 9,
        .weight = b, .weightScale = bScale, .bias = bias, .table = fuzz_in(U8, 256)};
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetQuantizedInnerProductSetParams, context, aScale, aZero, b, bScale, bias, cScale, cZero);
    if (fuzz_possible() && fuzz_byte() % 4 == 1)
        CALL(SimdnetQuantizedSetParams, context, &q);
    const uint8_t * A = fuzz_in(U8, CELLS(M, K));
    uint8_t * C = fuzz_out(U8, CELLS(M, N));
    uint8_t * buf = fuzz_chance() ? fuzz_scratch(SimdSynetQuantizedInnerProductExternalBufferSize(context)) : NULL;
    if (fuzz_possible())
        CALL(SimdSynetQuantizedInnerProductForward, context, A, NULL, buf, C);
    SimdRelease(context);
}

static void inner_product_8i(void)
{
    const size_t M = fuzz_size(9), N = fuzz_size(40), K = fuzz_size(60);
    const uint8_t * src = fuzz_in(U8, CELLS(M, K));
    const int8_t * weight = fuzz_in(I8, CELLS(N, K));
    int32_t * dst = fuzz_out(I32, CELLS(M, N));
    if (fuzz_possible())
        CALL(SimdSynetInnerProduct8i, M, N, K, src, weight, dst, SimdSynetCompatibilityDefault);
}

/* ---- other contexts */

static void add_16b(void)
{
    const size_t a_count = fuzz_byte() >= 250 ? fuzz_size(9) : fuzz_pick(0, 4), b_count = fuzz_byte() >= 250 ? 1 : a_count;
    size_t shape[9], other[9];
    for (size_t i = 0; i < 9; ++i) {
        shape[i] = i < a_count && i < 4 ? fuzz_size(9) : 1;
        other[i] = i < a_count && fuzz_byte() >= 252 ? fuzz_size(9) : shape[i];
    }
    const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b, SimdTensorData8u};
    SimdTensorDataType t[3];
    for (size_t i = 0; i < 3; ++i)
        t[i] = types[fuzz_byte() >= 252 ? 2 : fuzz_pick(0, 1)];
    const SimdTensorFormatType format = (SimdTensorFormatType)(fuzz_enum(3) - 1);
    const size_t all = a_count > 9 ? SIZE_MAX : fuzz_cells(shape, a_count);
    if (a_count > 9)
        return;
    void * context;
    OPEN(context, SimdSynetAdd16bInit, shape, a_count, t[0], other, b_count, t[1], t[2], format);
    if (!context)
        return;
    const uint8_t * a = fuzz_in(fuzz_type_of(t[0]), all), * b = fuzz_in(fuzz_type_of(t[1]), all);
    uint8_t * dst = fuzz_out_or_source(fuzz_type_of(t[2]), all);
    if (fuzz_possible()) {
        if (fuzz_chance()) {
            const SimdnetForwardParameters f = {.size = sizeof(f), .src = a, .add = b, .dst = dst};
            CALL(SimdnetForward, context, &f);
        } else {
            CALL(SimdSynetAdd16bForward, context, a, b, dst);
        }
    }
    SimdRelease(context);
}

/* Scale16b or Scale8i. */
static void scale_narrow(void)
{
    const bool bytes = fuzz_chance();
    const SimdTensorDataType small = bytes ? SimdTensorData8u : SimdTensorData16b;
    const SimdTensorDataType srcType = fuzz_chance() ? small : (SimdTensorDataType)(fuzz_byte() >= 250 ? 2 : 0);
    const SimdTensorDataType dstType = fuzz_chance() ? small : SimdTensorData32f;
    const size_t batch = bytes ? fuzz_size(2) : 1, channels = fuzz_size(30), spatial = fuzz_size(60);
    const int format = fuzz_enum(2), norm = fuzz_enum(2), bias = fuzz_enum(2);
    const size_t all = CELLS(batch, channels, spatial);
    void * context;
    if (bytes)
        OPEN(context, SimdSynetScale8iInit, batch, channels, spatial, srcType, dstType, (SimdTensorFormatType)format,
             SimdSynetCompatibilityDefault);
    else
        OPEN(context, SimdSynetScale16bInit, channels, spatial, srcType, dstType, (SimdTensorFormatType)format,
             (SimdBool)norm, (SimdBool)bias);
    if (!context)
        return;
    const float * k = fuzz_in(F32, channels), * h = fuzz_chance() ? fuzz_in(F32, channels) : NULL;
    const float * const stats[4] = {fuzz_in(F32, channels), fuzz_in(F32, channels), fuzz_in(F32, channels), k};
    const uint8_t * src = fuzz_in(fuzz_type_of(srcType), all);
    uint8_t * dst = fuzz_out_or_source(fuzz_type_of(dstType), all);
    if (fuzz_possible() && bytes) {
        CALL(SimdSynetScale8iSetParams, context, k, h, fuzz_chance() ? NULL : stats);
        CALL(SimdSynetScale8iForward, context, src, dst);
    } else if (fuzz_possible()) {
        CALL(SimdSynetScale16bForward, context, src, k, h, dst);
    }
    SimdRelease(context);
}

static void quantized_add(void)
{
    const size_t shape[2] = {fuzz_size(9), fuzz_size(60)}, all = fuzz_cells(shape, 2);
    SimdTensorDataType t[3];
    const float * scale[3];
    int32_t zero[3];
    for (size_t i = 0; i < 3; ++i) {
        t[i] = fuzz_byte() >= 252 ? SimdTensorData16b : fuzz_chance() ? SimdTensorData8u : SimdTensorData32f;
        scale[i] = fuzz_chance() ? NULL : fuzz_scalar(fuzz_byte() >= 240 ? fuzz_number() : 0.25f);
        zero[i] = fuzz_byte() >= 250 ? 256 : (int32_t)fuzz_pick(0, 255);
    }
    const int activation = fuzz_enum(2);
    void * context;
    OPEN(context, SimdSynetQuantizedAddInit, shape, 2, t[0], scale[0], zero[0], shape, 2, t[1], scale[1], zero[1],
         (SimdConvolutionActivationType)activation, NULL, t[2], scale[2], zero[2]);
    if (!context)
        return;
    const uint8_t * a = fuzz_in(fuzz_type_of(t[0]), all), * b = fuzz_in(fuzz_type_of(t[1]), all);
    uint8_t * dst = fuzz_out_or_source(fuzz_type_of(t[2]), all);
    if (fuzz_possible())
        CALL(SimdSynetQuantizedAddForward, context, a, b, dst);
    SimdRelease(context);
}

static void grid_sample(void)
{
    const size_t batch = fuzz_size(2), channels = fuzz_size(5), srcH = fuzz_size(9), srcW = fuzz_size(12);
    const size_t dstH = fuzz_size(6), dstW = fuzz_size(20);
    const int type = fuzz_byte() >= 250 ? 7 : 0, interp = fuzz_enum(3), pad = fuzz_enum(3), align = fuzz_enum(2);
    void * context;
    OPEN(context, SimdSynetGridSample2dInit, batch, channels, srcH, srcW, dstH, dstW, (SimdTensorDataType)type,
         (SimdGridSampleInterpType)interp, (SimdGridSamplePaddingType)pad, (SimdBool)align);
    if (!context)
        return;
    const uint8_t * src = fuzz_in(F32, CELLS(batch, channels, srcH, srcW)), * grid = fuzz_in(F32, CELLS(batch, dstH, dstW, 2));
    uint8_t * dst = fuzz_out(F32, CELLS(batch, channels, dstH, dstW));
    if (fuzz_possible())
        CALL(SimdSynetGridSample2dForward, context, src, grid, dst);
    SimdRelease(context);
}

static const SimdTensorDataType gathered[] = {SimdTensorData32f, SimdTensorData16b, SimdTensorData8u};
static const enum fuzz_type gathered_types[] = {I32, B16, U8};

static void gather_elements(void)
{
    static int64_t wide[4096];
    static int32_t narrow[4096];
    const size_t which = fuzz_pick(0, 2), dimensions = fuzz_byte() >= 252 ? fuzz_size(17) : fuzz_pick(0, 3);
    const bool is_wide = fuzz_chance();
    const SimdBool constant = (SimdBool)fuzz_enum(2);
    size_t outer[17];
    for (size_t i = 0; i < 17; ++i)
        outer[i] = i < 3 && i < dimensions ? fuzz_size(4) : 1;
    if (dimensions > 17)
        return;
    const size_t count = fuzz_size(9), inner = fuzz_size(7), indices = fuzz_size(9), rows = fuzz_cells(outer, dimensions);
    const size_t all = CELLS(rows, indices, inner), bad = fuzz_byte() >= 240 ? fuzz_pick(0, 20) : SIZE_MAX;
    const size_t known = count < 100 ? count : 100;
    for (size_t i = 0; i < 4096; ++i) {
        wide[i] = (int64_t)(known ? (i * 7 + i / 5) % (2 * known) : 0) - (int64_t)known + (i == bad ? 200 : 0);
        narrow[i] = (int32_t)wide[i];
    }
    void * context;
    OPEN(context, SimdSynetGatherElementsInit, gathered[which], is_wide ? SimdTensorData64i : SimdTensorData32i, constant,
         fuzz_pick(0, 2), outer, dimensions, count, inner, indices);
    if (!context)
        return;
    const void * src = fuzz_in(gathered_types[which], CELLS(rows, count, inner));
    const void * idx = all <= 4096 ? fuzz_given(is_wide ? (const void *)wide : narrow, is_wide ? I64 : I32, all)
                                   : fuzz_in(is_wide ? I64 : I32, all);
    void * dst = fuzz_out(gathered_types[which], all);
    const bool set = fuzz_chance();
    if (fuzz_possible()) {
        if (set)
            CALL(SimdSynetGatherElementsSetIndex, context, idx);
        CALL(SimdSynetGatherElementsForward, context, src, set && fuzz_chance() ? NULL : idx, dst);
    }
    SimdRelease(context);
}

static void permute(void)
{
    static const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData8u, SimdTensorData16b, SimdTensorData64i};
    static const enum fuzz_type elements[] = {I32, U8, B16, I64};
    const size_t which = fuzz_pick(0, 3), count = fuzz_byte() >= 250 ? fuzz_size(5) : fuzz_pick(2, 5);
    size_t shape[5], order[5] = {0, 1, 2, 3, 4};
    if (count > 5)
        return;
    for (size_t i = 0; i < 5; ++i)
        shape[i] = fuzz_size(i % 2 ? 20 : 5);
    for (size_t i = 0; i < count; ++i) {
        const size_t other = fuzz_byte() >= 254 ? 0 : fuzz_pick(i, count - 1), kept = order[i];
        order[i] = order[other], order[other] = kept;
    }
    if (fuzz_byte() >= 252)
        order[0] = fuzz_size(5);
    void * context;
    OPEN(context, SimdSynetPermuteInit, shape, order, count, types[which]);
    if (!context)
        return;
    const uint8_t * src = fuzz_in(elements[which], fuzz_cells(shape, count));
    uint8_t * dst = fuzz_out(elements[which], fuzz_cells(shape, count));
    if (fuzz_possible())
        CALL(SimdSynetPermuteForward, context, src, dst);
    SimdRelease(context);
}

static void resize(void)
{
    SimdnetResizeParameters p = {.size = sizeof(p)};
    p.dataType = fuzz_chance() ? SimdTensorData8u : (SimdTensorDataType)fuzz_enum(1);
    p.format = (SimdTensorFormatType)fuzz_enum(2);
    p.batch = fuzz_size(2), p.channels = fuzz_size(9);
    p.srcH = fuzz_size(9), p.srcW = fuzz_size(12), p.dstH = fuzz_size(12), p.dstW = fuzz_size(20);
    p.method = (SimdnetResizeMethod)fuzz_enum(4), p.coordinates = (SimdnetResizeCoordinates)fuzz_enum(5);
    p.rounding = (SimdnetResizeRounding)fuzz_enum(4);
    if (fuzz_byte() % 4 == 3)
        p.scaleY = fuzz_number(), p.scaleX = fuzz_number();
    p.cubic = fuzz_byte() % 2 ? -0.5f : 0;
    p.antialias = (SimdBool)fuzz_enum(2), p.excludeOutside = (SimdBool)fuzz_enum(2);
    void * context;
    OPEN(context, SimdnetResizeInit, &p);
    if (!context)
        return;
    fuzz_within_one();
    if (p.method != SimdnetResizeNearest && p.dataType == SimdTensorData32f)
        fuzz_near(0x1p-7);
    const enum fuzz_type type = p.dataType == SimdTensorData8u ? U8 : F32;
    const SimdConvolutionParameters images = {.srcC = p.channels, .dstC = p.channels, .srcH = p.srcH, .srcW = p.srcW,
        .dstH = p.dstH, .dstW = p.dstW, .srcT = p.dataType, .dstT = p.dataType, .dstF = p.format};
    if (fuzz_chance()) {
        fuzz_forward(context, p.batch, &images, &images, false, 0);
    } else {
        const void * src = fuzz_in(type, CELLS(p.batch, p.channels, p.srcH, p.srcW));
        void * dst = fuzz_out(type, CELLS(p.batch, p.channels, p.dstH, p.dstW));
        if (fuzz_possible())
            CALL(SimdnetResizeForward, context, src, dst);
    }
    SimdRelease(context);
}

static void resizer(void)
{
    static const enum fuzz_type types[] = {U8, B16, F32, B16};
    static const size_t bytes[] = {1, 2, 4, 2};
    const size_t srcX = fuzz_size(20), srcY = fuzz_size(9), dstX = fuzz_size(20), dstY = fuzz_size(9), channels = fuzz_size(5);
    const int type = fuzz_enum(4), method = fuzz_enum(9);
    void * context;
    OPEN(context, SimdResizerInit, srcX, srcY, dstX, dstY, channels, (SimdResizeChannelType)type, (SimdResizeMethodType)method);
    if (!context)
        return;
    fuzz_within_one();
    if (type == SimdResizeChannelBf16)
        fuzz_near(0x1p-7); /* the next number of 8 bits */
    if (type == SimdResizeChannelShort)
        fuzz_anything(); /* of any 16 bits, which may differ by 1; here they are declared as bfloat16 numbers */
    const size_t src_row = CELLS(srcX, channels), dst_row = CELLS(dstX, channels);
    const size_t src_stride = src_row + fuzz_pick(0, 3), dst_stride = dst_row + fuzz_pick(0, 3);
    const size_t odd = fuzz_byte() >= 252 ? 1 : 0;
    const uint8_t * src = fuzz_in(types[type], fuzz_span(srcY, src_stride + odd, src_row));
    uint8_t * dst = fuzz_out(types[type], fuzz_span(dstY, dst_stride, dst_row));
    if (fuzz_possible())
        CALL(SimdResizerRun, context, src, src_stride * bytes[type] + odd, dst, dst_stride * bytes[type]);
    SimdRelease(context);
}

/* Weights of bytes. */
static void set_bytes(void * context, const SimdnetRecurrentParameters * p, const float * bias, const float * peephole)
{
    const size_t directions = p->direction == SimdnetRecurrentBidirectional ? 2 : 1;
    SimdnetRecurrentQuantizedParams q = {.size = sizeof(q), .bias = bias, .peephole = peephole};
    q.type = fuzz_chance() ? SimdTensorData8u : SimdTensorData8i, q.perColumn = (SimdBool)fuzz_enum(2);
    const size_t scales = q.perColumn == SimdFalse ? directions : CELLS(directions, 4, p->hidden);
    q.W = fuzz_in(U8, CELLS(directions, p->input, 4, p->hidden));
    q.R = fuzz_in(U8, CELLS(directions, p->hidden, 4, p->hidden));
    q.scaleW = fuzz_in(F32, scales), q.scaleR = fuzz_in(F32, scales);
    q.zeroW = fuzz_chance() ? fuzz_in(U8, scales) : NULL;
    q.zeroR = fuzz_chance() ? fuzz_in(U8, scales) : NULL;
    if (fuzz_possible())
        CALL(SimdnetRecurrentSetQuantizedParams, context, &q);
}

static void recurrent(void)
{
    static const size_t lengths_of[] = {1, 0, 3, 2, 5, 1};
    SimdnetRecurrentParameters p = {.size = sizeof(p)};
    p.type = (SimdnetRecurrentType)fuzz_enum(3), p.direction = (SimdnetRecurrentDirection)fuzz_enum(3);
    p.steps = fuzz_size(5), p.batch = fuzz_size(5), p.input = fuzz_size(12), p.hidden = fuzz_size(12);
    p.batchFirst = (SimdBool)fuzz_enum(2), p.linearBeforeReset = (SimdBool)fuzz_enum(2);
    for (size_t i = 0; i < 6 && fuzz_chance(); ++i) {
        p.activations[i] = (SimdnetRecurrentActivationType)fuzz_enum(12);
        p.alpha[i] = (float)fuzz_pick(0, 4) - 2, p.beta[i] = (float)fuzz_pick(0, 4) / 4;
    }
    p.clip = fuzz_chance() ? 0 : (float)fuzz_pick(0, 3) / 2, p.inputForget = (SimdBool)fuzz_chance();
    void * context;
    OPEN(context, SimdnetRecurrentInit, &p);
    if (!context)
        return;
    const size_t gates = p.type == SimdnetRecurrentLstm ? 4 : p.type == SimdnetRecurrentGru ? 3 : 1;
    const size_t directions = p.direction == SimdnetRecurrentBidirectional ? 2 : 1;
    const size_t state = CELLS(directions, p.batch, p.hidden);
    fuzz_near(0x1p-5);
    const float * W = fuzz_in(F32, CELLS(directions, gates, p.hidden, p.input));
    const float * R = fuzz_in(F32, CELLS(directions, gates, p.hidden, p.hidden));
    const float * bias = fuzz_chance() ? fuzz_in(F32, CELLS(directions, 2, gates, p.hidden)) : NULL;
    const float * peephole = fuzz_chance() ? fuzz_in(F32, CELLS(directions, 3, p.hidden)) : NULL;
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdnetRecurrentSetParams, context, W, R, bias, peephole);
    if (fuzz_byte() < 64)
        set_bytes(context, &p, bias, peephole);
    SimdnetRecurrentArrays a = {.size = sizeof(a)};
    const uint8_t which = fuzz_byte();
    a.src = fuzz_in(F32, CELLS(p.steps, p.batch, p.input));
    a.h0 = which & 1 ? fuzz_in(F32, state) : NULL;
    a.c0 = which & 2 ? fuzz_in(F32, state) : NULL;
    a.dst = which & 4 ? NULL : fuzz_out(F32, CELLS(p.steps, directions, p.batch, p.hidden));
    a.hn = which & 8 ? fuzz_out(F32, state) : NULL;
    a.cn = which & 16 ? fuzz_out(F32, state) : NULL;
    a.lengths = which & 32 && p.batch <= 5 ? lengths_of + (which >> 6 & 1) : NULL;
    if (fuzz_possible())
        CALL(SimdnetRecurrentCompute, context, &a);
    SimdRelease(context);
}

/* ---- numbers of the infrastructure, and pointers that are no contexts */

static void infrastructure(void)
{
    static const uint64_t nothing[64];
    const size_t which = fuzz_pick(0, 5), size = fuzz_size(200), align = fuzz_chance() ? (size_t)1 << fuzz_pick(0, 63) : fuzz_size(9);
    switch (which) {
    case 0:
        fuzz_before("SimdAlign");
        fuzz_result(SimdAlign(size, align));
        fuzz_after();
        break;
    case 1: {
        fuzz_before("SimdAllocate");
        void * block = size < 1000 && align > 4096 ? NULL : SimdAllocate(size, align);
        if (block)
            memset(block, 1, size);
        SimdFree(block);
        break;
    }
    case 2:
        CALL(SimdRelease, (void *)(uintptr_t)nothing);
        break;
    case 3:
        (void)SimdCpuInfo((SimdCpuInfoType)fuzz_enum(20)); /* the caches are others in the last run */
        break;
    case 4:
        fuzz_result(SimdSynetTensorAlignment((SimdTensorFormatType)fuzz_enum(12)));
        break;
    default:
        fuzz_before("SimdnetContextInfo");
        fuzz_result(SimdnetContextInfo(nothing) != NULL);
        fuzz_after();
    }
}

/* Inputs of the corpus choose a target by its place. */
const struct fuzz_target fuzz_contexts[] = {
    {"convolution_32f", fuzz_convolution_32f}, {"convolution_16b", fuzz_convolution_16b},
    {"convolution_8i", fuzz_convolution_8i}, {"quantized_convolution", fuzz_quantized_convolution},
    {"merged_convolution", fuzz_merged_convolution}, {"inner_product_32f", inner_product_32f},
    {"quantized_merged_convolution", fuzz_quantized_merged_convolution},
    {"quantized_inner_product", quantized_inner_product}, {"inner_product_8i", inner_product_8i},
    {"inner_product_16b", inner_product_16b}, {"deconvolution_16b", fuzz_deconvolution_16b},
    {"merged_convolution_16b", fuzz_merged_convolution_16b},
    {"merged_convolution_8i", fuzz_merged_convolution_8i}, {"add_16b", add_16b}, {"scale_narrow", scale_narrow},
    {"quantized_add", quantized_add}, {"grid_sample", grid_sample}, {"gather_elements", gather_elements},
    {"permute", permute}, {"resize", resize}, {"resizer", resizer}, {"recurrent", recurrent},
    {"infrastructure", infrastructure},
    /* Twice, as these have the most algorithms. */
    {"convolution_32f", fuzz_convolution_32f}, {"convolution_8i", fuzz_convolution_8i}, {NULL, NULL}};
