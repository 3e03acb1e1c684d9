/* SimdnetForward(): the parameters that all contexts share, and the computation of contexts of a single convolution. */
#include "api/forward.h"

#include "api/call.h"
#include "api/convolution.h"
#include "ops/convolution/8i.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

static bool check_order(const char * function, SimdnetAddOrder order)
{
    CHECK(order == SimdnetAddBeforeActivation || order == SimdnetAddAfterActivation,
          "order is %d, expected SimdnetAddBeforeActivation or SimdnetAddAfterActivation", (int)order);
    return true;
}

bool sn_take_forward(const char * function, const SimdnetForwardParameters * f, const struct sn_convolution * first,
                     const struct sn_convolution * last, struct sn_distances * at)
{
    const struct sn_convolution_parameters * s = &first->p, * d = &last->p;
    const size_t pixels = d->dstH * d->dstW, element = sn_element(d->dstT), joined = sn_max(first->joined, 1);
    *at = (struct sn_distances){.srcPixel = f->srcPixel, .addPixel = f->addPixel, .dstPixel = f->dstPixel,
        .after = f->order == SimdnetAddAfterActivation};
    const struct sn_pixel_array src = {"srcPixel", first->format, first->batch, s->srcH * s->srcW * joined, s->srcC / joined,
                                       sn_element(s->srcT)};
    if (!sn_take_pixel(function, src, &at->srcPixel, &at->srcImage))
        return false;
    at->srcPixel *= joined;
    return sn_take_pixel(function, (struct sn_pixel_array){"addPixel", last->format, last->batch, pixels, d->dstC, element},
                         &at->addPixel, &at->addImage) &&
           sn_take_pixel(function, (struct sn_pixel_array){"dstPixel", last->format, last->batch, pixels, d->dstC, element},
                         &at->dstPixel, &at->dstImage);
}

static void forward(const char * function, const struct sn_convolution * c, const SimdnetForwardParameters * f,
                    void (*compute)(const struct sn_convolution * c, const struct sn_arrays * a))
{
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, f->add, f->dst, &at};
    const struct sn_forward given = {function, c, c, c->batch, c->workSize, false};
    if (sn_take_forward(function, f, c, c, &at) && sn_forward_begin(&given, &a, f->buf))
        compute(c, &a);
}

void sn_convolution_forward_floats(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_convolution * c = sn_convolution_of(context);
    SN_CHECK_FOR(function, !f->add || c->p.dstT == SN_DATA_32F, SN_VOID,
                 "add is not NULL, expected NULL where dstT is not SimdTensorData32f");
    forward(function, c, f, sn_convolution_forward_32f);
}

void sn_convolution_forward_bytes(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_convolution * c = sn_convolution_of(context);
    SN_CHECK_FOR(function, !f->add || sn_quantized_adds(c), SN_VOID, "add is not NULL, expected NULL: this %s adds nothing",
                 ((const struct sn_context *)context)->kind->name);
    forward(function, c, f, c->algorithm->forward);
}

void SimdnetForward(void * context, const SimdnetForwardParameters * parameters)
{
    SN_CALL_OF(context);
    const struct sn_context * c = context;
    if (!sn_is_context(c, __func__))
        return;
    SN_CHECK(c->kind->forward, SN_VOID, "context is one of %s, which has arrays of its own, expected one of images",
             c->kind->name);
    if (sn_is_known(__func__, parameters, sizeof(*parameters)) && check_order(__func__, parameters->order))
        c->kind->forward(__func__, context, parameters);
}
