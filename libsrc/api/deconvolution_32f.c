#include "api/call.h"
#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/deconvolution.h"

static const struct sn_context_kind kind = {.name = "Deconvolution32f", .destroy = sn_convolution_destroy,
    .forward = sn_convolution_forward_floats, .stages = sn_convolution_stages};

#define CHECK(condition, ...) SN_CHECK_FOR(c->function, condition, false, __VA_ARGS__)

/* dst = stride * (src - 1) + dilation * (kernel - 1) + 1 - pads, at least 1. */
static bool check_axis(const struct sn_convolution_check * c, struct sn_convolution_axis a)
{
    if (!sn_check_convolution_axis(c, &a))
        return false;
    size_t span, taps;
    CHECK(sn_product(&taps, a.kernel - 1, a.dilation), "kernel%s is %zu with dilation%s %zu, too large", a.name, a.kernel,
          a.name, a.dilation);
    CHECK(sn_product(&span, a.src ? a.src - 1 : 1, a.stride), "stride%s is %zu for src%s %zu, too large", a.name, a.stride,
          a.extent, a.src);
    /* The size without padding; may be less than 1 if there are no inputs. */
    const ptrdiff_t whole = (ptrdiff_t)taps + 1 + (a.src ? (ptrdiff_t)span : -(ptrdiff_t)span);
    const ptrdiff_t pads = (ptrdiff_t)(a.before + a.after);
    CHECK(whole > pads, "pad%s and pad%s are %zu and %zu, too large for an output of %td without them", a.name, a.extent,
          a.before, a.after, whole);
    CHECK(a.dst == (size_t)(whole - pads), "dst%s is %zu, expected %td", a.extent, a.dst, whole - pads);
    return true;
}

bool sn_check_deconvolution(const char * function, const struct sn_convolution_parameters * p, enum sn_data small,
                            const char * name)
{
    const struct sn_convolution_check c = {function, "", p};
    return (small == SN_DATA_32F ? sn_check_convolution_types(&c) : sn_check_convolution_types_of(&c, small, name)) &&
           check_axis(&c, sn_axis_y(p)) && check_axis(&c, sn_axis_x(p)) && sn_check_convolution_channels(&c);
}

void * SimdSynetDeconvolution32fInit(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm)
{
    SN_BEGIN();
    (void)gemm;
    struct sn_convolution_parameters p;
    if (!sn_convert_parameters(__func__, batch, conv, 1, &p) ||
        !sn_check_deconvolution(__func__, &p, SN_DATA_32F, "SimdTensorData32f"))
        return NULL;
    return sn_convolution_init(&kind, __func__, &sn_deconvolution_32f, batch, &p);
}

size_t SimdSynetDeconvolution32fExternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_external(&kind, __func__, context);
}

size_t SimdSynetDeconvolution32fInternalBufferSize(const void * context)
{
    SN_BEGIN();
    return sn_convolution_internal(&kind, __func__, context);
}

void SimdSynetDeconvolution32fSetParams(void * context, const sn_32f * weight, SimdBool * internal, const sn_32f * bias,
                                        const sn_32f * params)
{
    SN_CALL_OF(context);
    if (sn_convolution_set_params(&kind, __func__, context, &(struct sn_set_params){weight, bias, params, NULL, NULL}) &&
        internal)
        *internal = SimdTrue;
}

void SimdSynetDeconvolution32fForward(void * context, const sn_32f * src, sn_32f * buf, sn_32f * dst)
{
    SN_CALL_OF(context);
    sn_convolution_forward(&kind, __func__, context, src, buf, dst);
}
