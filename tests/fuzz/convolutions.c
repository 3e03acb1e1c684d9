/* Contexts of convolutions, one or merged, of numbers and of bytes; and what other contexts share with them. */
#include "contexts.h"

#include <stdlib.h>

static size_t reach(size_t kernel, size_t dilation) { return dilation * (kernel - 1) + 1; }

static size_t padding(void) { return fuzz_byte() >= 250 ? fuzz_size(3) : fuzz_pick(0, 2); }

int fuzz_activation(void)
{
    const uint8_t byte = fuzz_byte();
    return byte >= 250 ? (int)byte - 252 : byte % 12 == 11 ? SimdnetConvolutionActivationSigmoid : byte % 12;
}

/* The output size that belongs to the other parameters; nonsense where they are. */
static void set_output(SimdConvolutionParameters * p, bool back)
{
    const size_t spanY = reach(p->kernelY, p->dilationY), spanX = reach(p->kernelX, p->dilationX);
    const size_t padsY = p->padY + p->padH, padsX = p->padX + p->padW;
    if (back) {
        p->dstH = p->strideY * (p->srcH - 1) + spanY - padsY;
        p->dstW = p->strideX * (p->srcW - 1) + spanX - padsX;
    } else {
        p->dstH = (p->srcH + padsY - spanY) / (p->strideY ? p->strideY : 1) + 1;
        p->dstW = (p->srcW + padsX - spanX) / (p->strideX ? p->strideX : 1) + 1;
    }
}

static SimdConvolutionParameters some_convolution(bool back)
{
    SimdConvolutionParameters p = {.srcT = SimdTensorData32f, .dstT = SimdTensorData32f, .group = 1, .dilationY = 1,
        .dilationX = 1};
    const uint8_t form = fuzz_byte();
    p.srcC = fuzz_size(form % 8 == 1 ? 70 : 20), p.dstC = fuzz_size(form % 8 == 2 ? 70 : 20);
    p.srcH = fuzz_size(10), p.srcW = fuzz_size(form % 8 == 3 ? 40 : 12);
    p.kernelY = fuzz_size(form % 4 == 0 ? 3 : 7), p.kernelX = form % 3 == 0 ? fuzz_size(7) : p.kernelY;
    p.strideY = fuzz_byte() % 2 ? fuzz_size(3) : 1, p.strideX = fuzz_byte() % 4 == 3 ? fuzz_size(3) : p.strideY;
    if (fuzz_byte() % 4 == 3)
        p.dilationY = fuzz_size(3), p.dilationX = fuzz_size(3);
    p.padY = padding(), p.padX = padding(), p.padH = padding(), p.padW = padding();
    p.srcF = p.dstF = (SimdTensorFormatType)fuzz_enum(2);
    const uint8_t groups = fuzz_byte();
    if (groups % 4 == 1)
        p.group = p.dstC = p.srcC;
    else if (groups % 4 == 2)
        p.group = 1 + groups / 4 % 4, p.srcC = CELLS(p.group, 1 + p.srcC % 8), p.dstC = CELLS(p.group, 1 + p.dstC % 8);
    else if (groups >= 252)
        p.group = fuzz_size(9);
    p.activation = (SimdConvolutionActivationType)fuzz_activation();
    set_output(&p, back);
    if (fuzz_byte() >= 250)
        p.dstH = fuzz_size(20), p.dstF = (SimdTensorFormatType)fuzz_enum(2);
    return p;
}

const float * fuzz_activation_params(SimdConvolutionActivationType activation, size_t dstC)
{
    const float some = (float)fuzz_pick(1, 6);
    const float two[2] = {activation == SimdConvolutionActivationRestrictRange ? -1 :
                          activation == SimdConvolutionActivationMish ? 14 + some : some, 1.5f};
    if (activation == SimdConvolutionActivationPrelu)
        return fuzz_in(F32, dstC);
    return fuzz_byte() % 8 == 7 ? NULL : fuzz_given(two, F32, 2);
}

static size_t weights_of(const SimdConvolutionParameters * p)
{
    return CELLS(p->srcC / (p->group ? p->group : 1), p->kernelY, p->kernelX, p->dstC);
}

static size_t pixel(const SimdConvolutionParameters * p, size_t channels)
{
    const uint8_t byte = fuzz_byte();
    if (byte % 2 == 0)
        return 0;
    return byte >= 250 ? fuzz_size(9) : p->dstF == SimdTensorFormatNhwc ? channels + byte / 2 % 5 : channels;
}

enum fuzz_type fuzz_type_of(SimdTensorDataType type)
{
    return type == SimdTensorData16b ? B16 : type == SimdTensorData8u ? U8 : F32;
}

void fuzz_forward(void * context, size_t batch, const SimdConvolutionParameters * first,
                  const SimdConvolutionParameters * last_one, bool can_add, size_t buffer)
{
    SimdnetForwardParameters f = {.size = sizeof(f)};
    f.srcPixel = pixel(first, first->srcC), f.dstPixel = pixel(last_one, last_one->dstC);
    const size_t src = CELLS(batch, first->srcH, first->srcW), dst = CELLS(batch, last_one->dstH, last_one->dstW);
    f.src = fuzz_in(fuzz_type_of(first->srcT), fuzz_span(src, f.srcPixel ? f.srcPixel : first->srcC, first->srcC));
    if (can_add && fuzz_chance()) {
        f.addPixel = pixel(last_one, last_one->dstC);
        f.add = fuzz_in(fuzz_type_of(last_one->dstT), fuzz_span(dst, f.addPixel ? f.addPixel : last_one->dstC, last_one->dstC));
        f.order = (SimdnetAddOrder)fuzz_enum(2);
    }
    f.dst = fuzz_out(fuzz_type_of(last_one->dstT), fuzz_span(dst, f.dstPixel ? f.dstPixel : last_one->dstC, last_one->dstC));
    f.buf = buffer && fuzz_chance() ? fuzz_scratch(buffer) : NULL;
    if (fuzz_possible())
        CALL(SimdnetForward, context, &f);
}

/* Gives a context its own packed parameters again, in memory of the caller. */
static void packed_outside(void * context)
{
    static uint8_t kept[1 << 20] __attribute__((aligned(64)));
    fuzz_before("SimdnetPackedSize");
    const size_t size = SimdnetPackedSize(context); /* of no two levels the same, and so no calls that levels compare */
    if (size && size <= sizeof(kept) && !(SimdnetGetPacked(context, kept) && SimdnetSetPacked(context, kept, size)))
        abort();
}

/* Releases `from` if the other one, for another batch, has taken over its parameters, and that one if not. Returns the one that
 * remains. */
static void * shared(void * context, void * other, size_t * batch, size_t other_batch)
{
    packed_outside(context);
    if (!other)
        return context;
    fuzz_before("SimdnetShareParams");
    const SimdBool taken = SimdnetShareParams(other, context);
    fuzz_anything(); /* levels differ in whether the weights are packed in one way */
    SimdRelease(taken ? context : other);
    *batch = taken ? other_batch : *batch;
    return taken ? other : context;
}

void fuzz_convolution_32f(void)
{
    const bool back = fuzz_chance();
    size_t batch = fuzz_byte() % 4 == 1 ? fuzz_size(3) : 1;
    const SimdConvolutionParameters p = some_convolution(back);
    void * context;
    if (back)
        OPEN(context, SimdSynetDeconvolution32fInit, batch, &p, NULL);
    else
        OPEN(context, SimdSynetConvolution32fInit, batch, &p, NULL);
    if (!context)
        return;
    const bool share = fuzz_byte() % 8 == 1;
    SimdBool internal;
    fuzz_near(0x1p-6);
    fuzz_padded();
    const float * weight = fuzz_in(F32, weights_of(&p)), * bias = fuzz_chance() ? fuzz_in(F32, p.dstC) : NULL;
    const float * params = fuzz_activation_params(p.activation, p.dstC);
    if (fuzz_possible() && fuzz_byte() < 250) {
        if (back)
            CALL(SimdSynetDeconvolution32fSetParams, context, weight, &internal, bias, params);
        else
            CALL(SimdSynetConvolution32fSetParams, context, weight, &internal, bias, params);
    }
    if (share)
        context = shared(context, back ? SimdSynetDeconvolution32fInit(batch + 1, &p, NULL)
                                       : SimdSynetConvolution32fInit(batch + 1, &p, NULL), &batch, batch + 1);
    const size_t buffer = 4 * (back ? SimdSynetDeconvolution32fExternalBufferSize(context)
                                    : SimdSynetConvolution32fExternalBufferSize(context));
    const size_t form = fuzz_pick(0, 3), dst_count = CELLS(batch, p.dstC, p.dstH, p.dstW);
    if (form == 0) {
        fuzz_forward(context, batch, &p, &p, true, buffer);
        SimdRelease(context);
        return;
    }
    const float * src = fuzz_in(F32, CELLS(batch, p.srcC, p.srcH, p.srcW));
    const float * add = form == 1 && !back ? fuzz_in(F32, dst_count) : NULL;
    float * dst = fuzz_out(F32, dst_count), * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
    if (fuzz_possible()) {
        if (back)
            CALL(SimdSynetDeconvolution32fForward, context, src, buf, dst);
        else if (form == 1)
            CALL(SimdnetConvolution32fForwardAdd, context, src, buf, add, dst);
        else
            CALL(SimdSynetConvolution32fForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

static void small_convolution(bool back)
{
    size_t batch = fuzz_byte() % 4 == 1 ? fuzz_size(3) : 1;
    SimdConvolutionParameters p = some_convolution(back);
    p.srcT = fuzz_chance() ? SimdTensorData16b : fuzz_enum(1), p.dstT = fuzz_chance() ? SimdTensorData16b : fuzz_enum(1);
    void * context;
    if (back)
        OPEN(context, SimdSynetDeconvolution16bInit, batch, &p, SimdSynetCompatibilityDefault);
    else
        OPEN(context, SimdSynetConvolution16bInit, batch, &p, SimdSynetCompatibilityDefault);
    if (!context)
        return;
    const bool share = fuzz_byte() % 8 == 1;
    fuzz_near(0x1p-5);
    fuzz_padded();
    const float * weight = fuzz_in(F32, weights_of(&p)), * bias = fuzz_chance() ? fuzz_in(F32, p.dstC) : NULL;
    const float * params = fuzz_activation_params(p.activation, p.dstC);
    if (fuzz_possible() && fuzz_byte() < 250) {
        if (back)
            CALL(SimdSynetDeconvolution16bSetParams, context, weight, bias, params);
        else
            CALL(SimdSynetConvolution16bSetParams, context, weight, bias, params);
    }
    if (share)
        context = shared(context, back ? SimdSynetDeconvolution16bInit(batch + 1, &p, SimdSynetCompatibilityDefault)
                                       : SimdSynetConvolution16bInit(batch + 1, &p, SimdSynetCompatibilityDefault),
                         &batch, batch + 1);
    const size_t buffer = back ? SimdSynetDeconvolution16bExternalBufferSize(context)
                               : SimdSynetConvolution16bExternalBufferSize(context);
    if (fuzz_chance()) {
        fuzz_forward(context, batch, &p, &p, p.dstT == SimdTensorData32f, buffer);
    } else {
        const uint8_t * src = fuzz_in(fuzz_type_of(p.srcT), CELLS(batch, p.srcC, p.srcH, p.srcW));
        uint8_t * dst = fuzz_out(fuzz_type_of(p.dstT), CELLS(batch, p.dstC, p.dstH, p.dstW));
        uint8_t * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible() && back)
            CALL(SimdSynetDeconvolution16bForward, context, src, buf, dst);
        else if (fuzz_possible())
            CALL(SimdSynetConvolution16bForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

void fuzz_convolution_16b(void) { small_convolution(false); }
void fuzz_deconvolution_16b(void) { small_convolution(true); }

/* Minima and maxima of channels: minima of either sign, or none below 0. */
static const float * const * some_stats(size_t srcC, size_t dstC, const float ** stats)
{
    static float low[128], high[128];
    const float least = fuzz_chance() ? -1 : 0, most = (float)fuzz_pick(0, 9) - (fuzz_byte() >= 250 ? 20 : 0);
    for (size_t i = 0; i < 128; ++i)
        low[i] = least, high[i] = most + (float)(i % 3);
    for (size_t i = 0; i < 4; ++i) {
        const size_t count = i < 2 ? srcC : dstC;
        stats[i] = count <= 128 ? fuzz_given(i % 2 ? high : low, F32, count) : fuzz_in(F32, count);
    }
    return fuzz_byte() >= 252 ? NULL : stats;
}

void fuzz_convolution_8i(void)
{
    size_t batch = fuzz_byte() % 4 == 1 ? fuzz_size(3) : 1;
    SimdConvolutionParameters p = some_convolution(false);
    p.srcT = fuzz_chance() ? SimdTensorData8u : fuzz_enum(1), p.dstT = fuzz_chance() ? SimdTensorData8u : fuzz_enum(1);
    void * context;
    OPEN(context, SimdSynetConvolution8iInit, batch, &p);
    if (!context)
        return;
    const bool share = fuzz_byte() % 8 == 1;
    const float * stats[4];
    fuzz_within_one();
    const float * weight = fuzz_in(F32, weights_of(&p)), * bias = fuzz_chance() ? fuzz_in(F32, p.dstC) : NULL;
    const float * params = fuzz_activation_params(p.activation, p.dstC);
    const float * const * given = some_stats(p.srcC, p.dstC, stats);
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetConvolution8iSetParams, context, weight, bias, params, given);
    if (share)
        context = shared(context, SimdSynetConvolution8iInit(batch + 1, &p), &batch, batch + 1);
    const size_t buffer = SimdSynetConvolution8iExternalBufferSize(context);
    if (fuzz_chance()) {
        fuzz_forward(context, batch, &p, &p, false, buffer);
    } else {
        const uint8_t * src = fuzz_in(fuzz_type_of(p.srcT), CELLS(batch, p.srcC, p.srcH, p.srcW));
        uint8_t * dst = fuzz_out(fuzz_type_of(p.dstT), CELLS(batch, p.dstC, p.dstH, p.dstW));
        uint8_t * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetConvolution8iForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

void fuzz_quantized_convolution(void)
{
    size_t batch = fuzz_byte() % 4 == 1 ? fuzz_size(3) : 1;
    SimdConvolutionParameters p = some_convolution(false);
    p.srcT = fuzz_byte() < 250 ? SimdTensorData8u : fuzz_enum(1), p.dstT = fuzz_byte() < 250 ? SimdTensorData8u : fuzz_enum(1);
    void * context;
    OPEN(context, SimdSynetQuantizedConvolutionInit, batch, &p);
    if (!context)
        return;
    const bool share = fuzz_byte() % 8 == 1;
    float given[3], each[128];
    uint8_t zeros[3];
    for (size_t i = 0; i < 3; ++i)
        given[i] = fuzz_byte() >= 252 ? -1 : 0.25f * (float)fuzz_pick(1, 6), zeros[i] = fuzz_byte();
    for (size_t i = 0; i < 128; ++i)
        each[i] = 0.01f * (float)(1 + i % 5);
    const float * scale = fuzz_given(given, F32, 3), * params = fuzz_activation_params(p.activation, p.dstC);
    const float * weightScale = p.dstC <= 128 ? fuzz_given(each, F32, p.dstC) : fuzz_in(F32, p.dstC);
    const uint8_t * zero = fuzz_given(zeros, U8, 3);
    const int8_t * weight = fuzz_in(I8, weights_of(&p));
    const int32_t * bias = fuzz_chance() ? fuzz_in(I32, p.dstC) : NULL;
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetQuantizedConvolutionSetParams, context, scale, zero, weight, weightScale, bias, params);
    SimdnetQuantizedParams q = {.size = sizeof(q), .srcScale = given[0], .dstScale = given[2], .srcZero = zeros[0],
        .weight = weight, .weightScale = weightScale, .bias = bias, .table = fuzz_chance() ? fuzz_in(U8, 256) : NULL};
    q.adds = fuzz_chance() ? SimdTrue : SimdFalse, q.addFirst = fuzz_chance() ? SimdTrue : SimdFalse;
    q.addType = fuzz_chance() ? SimdTensorData8u : SimdTensorData8i;
    q.ownScale = given[0], q.addScale = 0.5f, q.sumScale = fuzz_byte() >= 252 ? -1 : 0.75f;
    q.ownZero = zeros[0] / 2, q.addZero = zeros[1] / 2, q.sumZero = zeros[2] / 2 + (fuzz_byte() >= 252 ? 200 : 0);
    if (fuzz_possible() && fuzz_byte() % 4 == 1)
        CALL(SimdnetQuantizedSetParams, context, &q);
    if (share)
        context = shared(context, SimdSynetQuantizedConvolutionInit(batch + 1, &p), &batch, batch + 1);
    const size_t buffer = SimdSynetQuantizedConvolutionExternalBufferSize(context);
    if (fuzz_chance()) {
        fuzz_forward(context, batch, &p, &p, true, buffer);
    } else {
        const uint8_t * src = fuzz_in(U8, CELLS(batch, p.srcC, p.srcH, p.srcW));
        uint8_t * dst = fuzz_out(U8, CELLS(batch, p.dstC, p.dstH, p.dstW));
        uint8_t * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetQuantizedConvolutionForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

/* The shapes of expansion, depthwise and projection, `used` of them from one on. */
static void some_stages(SimdConvolutionParameters * p, size_t from, size_t used)
{
    const size_t c = fuzz_size(20), wide = fuzz_size(40), height = fuzz_size(9), width = fuzz_size(12);
    const size_t outputs = fuzz_chance() ? c : fuzz_size(20), stride = fuzz_chance() ? 1 : fuzz_size(3);
    for (size_t i = 0; i < used; ++i) {
        const size_t stage = from + i, taps = stage == 0 ? (fuzz_chance() ? 3 : 1) : stage == 1 ? 3 + 2 * fuzz_pick(0, 2) : 1;
        const SimdConvolutionParameters * before = i ? &p[i - 1] : NULL;
        p[i] = (SimdConvolutionParameters){.srcC = before ? before->dstC : from ? wide : c,
            .srcH = before ? before->dstH : height, .srcW = before ? before->dstW : width, .srcT = SimdTensorData32f,
            .srcF = SimdTensorFormatNhwc, .dstT = SimdTensorData32f, .dstF = SimdTensorFormatNhwc, .kernelY = taps,
            .kernelX = taps, .dilationY = 1, .dilationX = 1, .strideY = stage == 1 ? stride : 1,
            .strideX = stage == 1 ? stride : 1, .padY = taps / 2, .padX = taps / 2, .padH = taps / 2, .padW = taps / 2,
            .activation = (SimdConvolutionActivationType)fuzz_activation()};
        p[i].dstC = stage == 0 ? wide : stage == 1 ? p[i].srcC : outputs;
        p[i].group = stage == 1 ? p[i].srcC : 1;
        if (fuzz_byte() >= 248)
            p[i].padH = fuzz_size(3), p[i].group = fuzz_size(4);
        set_output(&p[i], false);
    }
}

static void some_merged(bool small)
{
    const size_t count = fuzz_byte() >= 250 ? fuzz_size(5) : fuzz_pick(2, 3), batch = fuzz_byte() % 4 == 1 ? fuzz_size(2) : 1;
    const SimdBool add = (SimdBool)fuzz_enum(2);
    const size_t from = count == 2 ? fuzz_pick(0, 1) : 0, used = count > 3 ? 3 : count;
    SimdConvolutionParameters p[3];
    const float * weight[3] = {NULL, NULL, NULL}, * bias[3] = {NULL, NULL, NULL}, * params[3] = {NULL, NULL, NULL};
    some_stages(p, from, used);
    void * context;
    const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b};
    for (size_t i = 0; small && i < used; ++i)
        p[i].srcT = types[fuzz_pick(0, 1)], p[i].dstT = types[fuzz_pick(0, 1)];
    if (small)
        OPEN(context, SimdSynetMergedConvolution16bInit, batch, p, count, add);
    else
        OPEN(context, SimdSynetMergedConvolution32fInit, batch, p, count, add);
    if (!context)
        return;
    SimdBool internal[3];
    fuzz_near(small ? 0x1p-4f : 0x1p-6f);
    fuzz_padded();
    for (size_t i = 0; i < used; ++i) {
        weight[i] = fuzz_in(F32, weights_of(&p[i]));
        bias[i] = fuzz_chance() ? fuzz_in(F32, p[i].dstC) : NULL;
        params[i] = fuzz_activation_params(p[i].activation, p[i].dstC);
    }
    if (fuzz_possible() && fuzz_byte() < 250) {
        if (small)
            CALL(SimdSynetMergedConvolution16bSetParams, context, weight, bias, params);
        else
            CALL(SimdSynetMergedConvolution32fSetParams, context, weight, internal, bias, params);
    }
    const size_t buffer = small ? SimdSynetMergedConvolution16bExternalBufferSize(context)
                                : 4 * SimdSynetMergedConvolution32fExternalBufferSize(context);
    const SimdConvolutionParameters * end = &p[used - 1];
    if (fuzz_chance()) {
        fuzz_forward(context, batch, p, end, !small, buffer);
    } else if (small) {
        const uint8_t * src = fuzz_in(fuzz_type_of(p->srcT), CELLS(batch, p->srcC, p->srcH, p->srcW));
        uint8_t * dst = fuzz_out(fuzz_type_of(end->dstT), CELLS(batch, end->dstC, end->dstH, end->dstW));
        uint8_t * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetMergedConvolution16bForward, context, src, buf, dst);
    } else {
        const float * src = fuzz_in(F32, CELLS(batch, p->srcC, p->srcH, p->srcW));
        float * dst = fuzz_out(F32, CELLS(batch, end->dstC, end->dstH, end->dstW));
        float * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetMergedConvolution32fForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

/* Results are not compared with base: a number near the middle of two bytes may become either. */
void fuzz_merged_convolution_8i(void)
{
    const size_t count = fuzz_pick(2, 3), batch = fuzz_byte() % 4 == 1 ? fuzz_size(2) : 1;
    SimdConvolutionParameters p[3];
    const float * weight[3] = {NULL, NULL, NULL}, * bias[3] = {NULL, NULL, NULL}, * params[3] = {NULL, NULL, NULL};
    const float * stats[6], * pair[4];
    const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData8u};
    some_stages(p, count == 2 ? fuzz_pick(0, 1) : 0, count);
    for (size_t i = 0; i < count; ++i)
        p[i].srcT = types[fuzz_pick(0, 1)], p[i].dstT = types[fuzz_pick(0, 1)];
    void * context;
    OPEN(context, SimdSynetMergedConvolution8iInit, batch, p, count, (SimdSynetCompatibilityType)fuzz_enum(15));
    if (!context)
        return;
    SimdBool internal[3];
    fuzz_anything();
    for (size_t i = 0; i < count; ++i) {
        weight[i] = fuzz_in(F32, weights_of(&p[i]));
        bias[i] = fuzz_chance() ? fuzz_in(F32, p[i].dstC) : NULL;
        params[i] = fuzz_activation_params(p[i].activation, p[i].dstC);
    }
    const SimdConvolutionParameters * end = &p[count - 1];
    const float * const * given = some_stats(p->srcC, end->srcC, pair);
    memcpy(stats, pair, sizeof(pair));
    some_stats(0, end->dstC, pair);
    memcpy(stats + 4, pair + 2, 2 * sizeof(*pair));
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetMergedConvolution8iSetParams, context, weight, internal, bias, params, given ? stats : NULL);
    const size_t buffer = SimdSynetMergedConvolution8iExternalBufferSize(context);
    if (fuzz_chance()) {
        fuzz_forward(context, batch, p, end, false, buffer);
    } else {
        const uint8_t * src = fuzz_in(fuzz_type_of(p->srcT), CELLS(batch, p->srcC, p->srcH, p->srcW));
        uint8_t * dst = fuzz_out(fuzz_type_of(end->dstT), CELLS(batch, end->dstC, end->dstH, end->dstW));
        uint8_t * buf = fuzz_chance() ? fuzz_scratch(buffer) : NULL;
        if (fuzz_possible())
            CALL(SimdSynetMergedConvolution8iForward, context, src, buf, dst);
    }
    SimdRelease(context);
}

void fuzz_merged_convolution(void) { some_merged(false); }
void fuzz_merged_convolution_16b(void) { some_merged(true); }

void fuzz_quantized_merged_convolution(void)
{
    const size_t count = fuzz_pick(2, 3), batch = fuzz_byte() % 4 == 1 ? fuzz_size(2) : 1;
    const size_t from = count == 2 ? fuzz_pick(0, 1) : 0;
    const int add = count == 3 ? (int)fuzz_pick(0, 2) : 0;
    SimdConvolutionParameters p[3];
    const int8_t * weight[3] = {NULL, NULL, NULL};
    const float * scale[3] = {NULL, NULL, NULL};
    const int32_t * bias[3] = {NULL, NULL, NULL};
    some_stages(p, from, count);
    for (size_t i = 0; i < count; ++i) {
        p[i].srcT = p[i].dstT = SimdTensorData8u;
        p[i].activation = fuzz_byte() >= 252 ? SimdConvolutionActivationRelu : SimdConvolutionActivationIdentity;
    }
    void * context;
    OPEN(context, SimdSynetQuantizedMergedConvolutionInit, batch, p, count, add);
    if (!context)
        return;
    fuzz_padded();
    for (size_t i = 0; i < count; ++i) {
        weight[i] = fuzz_in(I8, weights_of(&p[i]));
        scale[i] = fuzz_in(F32, p[i].dstC);
        bias[i] = fuzz_chance() ? fuzz_in(I32, p[i].dstC) : NULL;
    }
    const float * ioScale = fuzz_in(F32, count + 1 + (add != 0));
    const uint8_t * ioZero = fuzz_in(U8, count + 1 + (add != 0));
    if (fuzz_possible() && fuzz_byte() < 250)
        CALL(SimdSynetQuantizedMergedConvolutionSetParams, context, ioScale, ioZero, weight, scale, bias);
    const SimdConvolutionParameters * end = &p[count - 1];
    const uint8_t * src = fuzz_in(U8, CELLS(batch, p->srcC, p->srcH, p->srcW));
    uint8_t * dst = fuzz_out(U8, CELLS(batch, end->dstC, end->dstH, end->dstW));
    uint8_t * buf = fuzz_chance() ? fuzz_scratch(SimdSynetQuantizedMergedConvolutionExternalBufferSize(context)) : NULL;
    if (fuzz_possible())
        CALL(SimdSynetQuantizedMergedConvolutionForward, context, src, buf, dst);
    SimdRelease(context);
}
