/* SimdnetForward(): the parameters that all contexts share, and the computation of contexts of a single convolution. */
#include "api/forward.h"

#include "api/call.h"
#include "api/convolution.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* Members that a later version has appended, and this one does not know, must have no effect. */
static bool check_size(const char * function, const SimdnetForwardParameters * f)
{
    const size_t known = sizeof(*f);
    CHECK(f, "parameters is NULL, expected a struct");
    CHECK(f->size >= known, "parameters->size is %zu, expected at least %zu", f->size, known);
    const char * more = (const char *)f;
    for (size_t i = known; i < f->size; ++i)
        CHECK(more[i] == 0, "byte %zu of parameters is not 0, expected zeros after the %zu bytes that this version uses", i,
              known);
    return true;
}

static bool check_order(const char * function, SimdnetAddOrder order)
{
    CHECK(order == SimdnetAddBeforeActivation || order == SimdnetAddAfterActivation,
          "order is %d, expected SimdnetAddBeforeActivation or SimdnetAddAfterActivation", (int)order);
    return true;
}

bool sn_take_pixel(const char * function, struct sn_forward_array array, size_t * pixel, size_t * image)
{
    size_t all;
    CHECK(*pixel == 0 || *pixel == array.channels || array.format == SN_NHWC,
          "%s is %zu, expected 0 or %zu, the number of channels, if the format is not SimdTensorFormatNhwc", array.name,
          *pixel, array.channels);
    CHECK(*pixel == 0 || *pixel >= array.channels, "%s is %zu, expected 0 or at least %zu, the number of channels",
          array.name, *pixel, array.channels);
    *pixel = *pixel ? *pixel : array.channels;
    CHECK(sn_product(&all, array.batch, array.pixels, *pixel, array.element), "%s is %zu, too large for %zu pixels",
          array.name, *pixel, array.batch * array.pixels);
    *image = array.pixels * *pixel * array.element;
    return true;
}

bool sn_take_forward(const char * function, const SimdnetForwardParameters * f, const struct sn_convolution * first,
                     const struct sn_convolution * last, struct sn_distances * at)
{
    const struct sn_convolution_parameters * s = &first->p, * d = &last->p;
    const size_t pixels = d->dstH * d->dstW, element = sn_element(d->dstT);
    *at = (struct sn_distances){.srcPixel = f->srcPixel, .addPixel = f->addPixel, .dstPixel = f->dstPixel,
        .after = f->order == SimdnetAddAfterActivation};
    return sn_take_pixel(function, (struct sn_forward_array){"srcPixel", s->srcF, first->batch, s->srcH * s->srcW, s->srcC,
                                                             sn_element(s->srcT)}, &at->srcPixel, &at->srcImage) &&
           sn_take_pixel(function, (struct sn_forward_array){"addPixel", d->dstF, last->batch, pixels, d->dstC, element},
                         &at->addPixel, &at->addImage) &&
           sn_take_pixel(function, (struct sn_forward_array){"dstPixel", d->dstF, last->batch, pixels, d->dstC, element},
                         &at->dstPixel, &at->dstImage);
}

void sn_convolution_forward_any(const char * function, void * context, const SimdnetForwardParameters * f)
{
    const struct sn_convolution * c = &((const struct sn_convolution_context *)context)->plan;
    struct sn_distances at;
    struct sn_arrays a = {f->src, NULL, f->add, f->dst, &at};
    SN_CHECK_FOR(function, !f->add || c->family->smallType != SN_DATA_8U, SN_VOID,
                 "add is not NULL, expected NULL: a Convolution8i adds nothing");
    SN_CHECK_FOR(function, !f->add || c->p.dstT == SN_DATA_32F, SN_VOID,
                 "add is not NULL, expected NULL where dstT is not SimdTensorData32f");
    const struct sn_forward forward = {function, c, c, c->batch, c->workSize, false};
    if (sn_take_forward(function, f, c, c, &at) && sn_forward_begin(&forward, &a, f->buf))
        sn_convolution_forward_32f(c, &a);
}

void SimdnetForward(void * context, const SimdnetForwardParameters * parameters)
{
    SN_CALL_OF(context);
    const struct sn_context * c = context;
    if (sn_is_context(c, __func__) && check_size(__func__, parameters) && check_order(__func__, parameters->order))
        c->kind->forward(__func__, context, parameters);
}
