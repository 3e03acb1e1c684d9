/* Contexts of inner products: those of a convolution, whose parameters are M, N and K. */
#include "ops/inner_product_32f.h"

#include <stdio.h>

#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"

static void forward_any(const char * function, void * context, const SimdnetForwardParameters * f);

static const struct sn_context_kind kind = {.name = "InnerProduct32f", .destroy = sn_convolution_destroy,
    .forward = forward_any, .plans = sn_convolution_plans};

static const struct sn_convolution * plan_of(const void * context)
{
    return &((const struct sn_convolution_context *)context)->plan;
}

static bool is_packed(const struct sn_convolution * c) { return c->family == &sn_inner_product_32f_packed; }

static void forward_any(const char * function, void * context, const SimdnetForwardParameters * f)
{
    SN_CHECK_FOR(function, is_packed(plan_of(context)), SN_VOID,
                 "context is an InnerProduct32f without constB, expected one with constB: use its own Forward function");
    sn_convolution_forward_any(function, context, f);
}

static bool check_flag(const char * function, const char * name, SimdBool flag)
{
    SN_CHECK_FOR(function, flag == SimdFalse || flag == SimdTrue, false, "%s is %d, expected SimdFalse or SimdTrue", name,
                 (int)flag);
    return true;
}

static bool check_size(const char * function, const char * names, size_t a, size_t b)
{
    size_t all;
    SN_CHECK_FOR(function, sn_max(a, b) <= SN_MOST_EXTENT && sn_product(&all, a, b), false,
                 "%c is %zu and %c is %zu, too large for an array", names[0], a, names[1], b);
    return true;
}

void * SimdSynetInnerProduct32fInit(size_t M, size_t N, size_t K, SimdBool transB, SimdBool constB, SimdBool bias,
                                    SimdConvolutionActivationType activation)
{
    SN_BEGIN();
    const struct sn_convolution_parameters p = sn_inner_product_parameters(M, N, K, (enum sn_activation)activation);
    if (!check_size(__func__, "MN", M, N) || !check_size(__func__, "MK", M, K) || !check_size(__func__, "NK", N, K) ||
        !check_flag(__func__, "transB", transB) || !check_flag(__func__, "constB", constB) ||
        !check_flag(__func__, "bias", bias) ||
        !sn_check_convolution_channels(&(struct sn_convolution_check){__func__, "", &p}))
        return NULL;
    struct sn_convolution_context * c = sn_convolution_init(
        &kind, __func__, constB == SimdTrue ? &sn_inner_product_32f_packed : &sn_inner_product_32f_given, 1, &p);
    if (!c)
        return NULL;
    *(struct sn_inner_product_data *)(void *)c->plan.familyData =
        (struct sn_inner_product_data){.transposed = transB == SimdTrue, .bias = bias == SimdTrue};
    snprintf(c->head.shape, sizeof(c->head.shape), "%zux%zux%zu%s%s", M, N, K, transB == SimdTrue ? ",transB" : "",
             constB == SimdTrue ? ",constB" : "");
    return c;
}

size_t SimdSynetInnerProduct32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

size_t SimdSynetInnerProduct32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

void SimdSynetInnerProduct32fSetParams(void * context, const sn_32f * weight, SimdBool * internal, const sn_32f * bias,
                                       const sn_32f * params)
{
    SN_CALL_OF(context);
    static const sn_32f none; /* weights that are not read */
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = plan_of(context);
    const struct sn_inner_product_data * data = sn_inner_product_data_of(c);
    const struct sn_set_params given = {is_packed(c) ? weight : &none, data->bias ? bias : NULL, params, NULL};
    if (sn_convolution_set_params(&kind, __func__, context, &given) && internal)
        *internal = SimdTrue;
}

/* True if there is something to compute. */
static bool check_arrays(const char * function, const struct sn_convolution * c, const sn_32f * A, const sn_32f * B,
                         const sn_32f * C)
{
    const size_t M = c->p.dstH, N = c->p.dstC, K = c->p.srcC, weights = is_packed(c) ? 0 : N * K;
    SN_CHECK_FOR(function, A || K == 0, false, "A is NULL, expected an array");
    SN_CHECK_FOR(function, B || weights == 0, false, "B is NULL, expected an array, since constB is SimdFalse");
    SN_CHECK_FOR(function, C, false, "C is NULL, expected an array");
    return sn_apart(function, SN_ARRAY(C, M * N), SN_ARRAY(A, M * K)) &&
           sn_apart(function, SN_ARRAY(C, M * N), SN_ARRAY(B, weights));
}

void SimdSynetInnerProduct32fForward(void * context, const sn_32f * A, const sn_32f * B, sn_32f * buf, sn_32f * C)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct sn_convolution * c = plan_of(context);
    const bool ready = c->packed && c->dstSize; /* otherwise sn_forward_begin() returns false */
    if (ready && !check_arrays(__func__, c, A, B, C))
        return;
    struct sn_arrays a = sn_dense_arrays(c, A ? A : C, NULL, C);
    if (!sn_forward_begin(&(struct sn_forward){__func__, c, c, 1, c->workSize, false}, &a, buf))
        return;
    if (is_packed(c))
        c->algorithm->forward(c, &a);
    else if (!sn_inner_product_32f_given_b(c, A, B, C))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer");
}
