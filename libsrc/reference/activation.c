/* The operands of comparisons are ordered so that NaN propagates. */

#include "contract/pointwise.h"
#include "reference/libm.h"
#include "reference/reference.h"

static void relu_32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = (0 > src[i] ? 0 : src[i]) + slope[0] * (0 < src[i] ? 0 : src[i]);
}

static void elu_32f(const sn_32f * src, size_t size, const sn_32f * alpha, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = src[i] < 0 ? (float)(alpha[0] * sn_expm1(src[i])) : src[i];
}

static void hswish_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    const float shift = params[0], scale = params[1];
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float sum = (src[i] < shift ? src[i] : shift) + shift;
        dst[i] = (sum > 0 ? sum : 0) * scale * src[i];
    }
}

static void restrict_range_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    const float lower = params[0], upper = params[1];
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float x = lower > src[i] ? lower : src[i];
        dst[i] = upper < x ? upper : x;
    }
}

static void sigmoid_32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float x = slope[0] * src[i];
        dst[i] = (float)sn_sigmoid(x);
    }
}

static double log_of_1_plus_exp(double x) { return x > 0 ? x + sn_log1p(sn_exp(-x)) : sn_log1p(sn_exp(x)); }

static void softplus_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    const float beta = params[0], threshold = params[1];
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float x = beta * src[i];
        dst[i] = src[i] > threshold ? src[i] : (float)(log_of_1_plus_exp(x) / beta);
    }
}

static void tanh_32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float x = slope[0] * src[i];
        dst[i] = (float)sn_tanh(x);
    }
}

static void swish_32f(const sn_32f * src, size_t size, const sn_32f * slope, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float x = slope[0] * src[i];
        dst[i] = (float)(src[i] * sn_sigmoid(x));
    }
}

static void mish_32f(const sn_32f * src, size_t size, const sn_32f * threshold, sn_32f * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = src[i] > threshold[0] ? src[i] : (float)(src[i] * sn_tanh(log_of_1_plus_exp(src[i])));
}

static void hard_sigmoid_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    const float scale = params[0], shift = params[1];
    (void)stream;
    for (size_t i = 0; i < size; ++i) {
        const float product = src[i] * scale, sum = product + shift, x = 1 < sum ? 1 : sum;
        dst[i] = 0 > x ? 0 : x;
    }
}

static void gelu_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    (void)params;
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = (float)(0.5 * src[i] * sn_erfc(-0x1.6A09E667F3BCDp-1 * src[i]));
}

SN_INSTALL(activation, pointwise)
{
    SN_ACTIVATIONS(SN_POINTWISE_SLOT)
}
