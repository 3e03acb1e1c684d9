/*
 * Conversion of a stage between bytes and floats by two statistics of each channel, its minima and maxima; the formulas are those
 * of the bytes of Convolution8i, see include/simdnet.h. Kernels have one pair of coefficients for each element of a list: the list
 * holds several pixels if channels are few, so that dense pixels are converted together.
 */
#include "ops/convolution/conversion_8i.h"

#include "ops/bytes/statistics.h"

enum { LIST = 256 }; /* elements, from which on a longer list gains nothing */

struct conversion {
    sn_32f * k, * h; /* in `packed` */
};
SN_FITS_FAMILY_DATA(struct conversion);

static const struct conversion * data_of(const struct sn_convolution * c) { return (const void *)c->familyData; }

/* The pixels of the list. */
static size_t list_pixels(const struct sn_convolution * c) { return c->p.dstC ? sn_ceil_div(LIST, c->p.dstC) : 1; }

struct sn_convolution_parameters sn_conversion_of(const struct sn_convolution_parameters * depthwise, bool source)
{
    struct sn_convolution_parameters p = *depthwise;
    p.kernelY = p.kernelX = 0; /* no taps */
    p.strideY = p.strideX = 1;
    p.padY = p.padX = p.padH = p.padW = 0;
    p.activation = SN_ACTIVATION_IDENTITY;
    if (source)
        p.dstH = p.srcH, p.dstW = p.srcW, p.dstT = SN_DATA_32F;
    else
        p.srcH = p.dstH, p.srcW = p.dstW, p.srcT = SN_DATA_32F;
    return p;
}

bool sn_is_conversion(const struct sn_convolution_parameters * p) { return p->kernelY == 0; }

void sn_convert_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t channels = p->dstC, from = a->at->srcPixel, to = a->at->dstPixel;
    const bool bytes = p->dstT == SN_DATA_8U, dense = from == channels && to == channels;
    const sn_affine_fn kernel = c->table->affine.run[bytes ? SN_AFFINE_SUM_32F_8U : SN_AFFINE_SUM_8U_32F];
    const struct sn_affine numbers = {.k = data_of(c)->k, .h = data_of(c)->h, .each = true, .srcScale = 1, .dstScale = 1,
        .upper = 255};
    const size_t first = row * p->dstW, end = first + rows * p->dstW, most = dense ? list_pixels(c) : 1;
    for (size_t i = first, pixels; i < end; i += pixels) {
        pixels = sn_min(most, end - i);
        kernel(&numbers, (const uint8_t *)a->src + i * from * sn_element(p->srcT), pixels * channels,
               (uint8_t *)a->dst + i * to * sn_element(p->dstT));
    }
}

/* ---- the algorithm: one image */

static bool supports(const struct sn_convolution * c)
{
    (void)c;
    return true;
}

static bool plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return true;
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a) { sn_convert_rows(c, 0, c->p.dstH, a); }

const struct sn_convolution_algorithm sn_conversion_rows = {.name = "conversion", .supports = supports, .plan = plan,
    .forward = forward};

/* ---- the family */

static uintptr_t layout_arrays(struct sn_convolution * c, uintptr_t at)
{
    struct conversion * o = (void *)c->familyData;
    const size_t floats = list_pixels(c) * c->p.dstC * sizeof(float);
    o->k = sn_layout_array(&at, floats, SN_ALIGN);
    o->h = sn_layout_array(&at, floats, SN_ALIGN);
    return at;
}

static const void * set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault)
{
    (void)scratch, (void)fault; /* statistics were checked */
    const struct conversion * o = data_of(c);
    const size_t channels = c->p.dstC;
    const float zero = sn_steps(given->stats[0], given->stats[1], channels, o->k);
    for (size_t i = 0; i < channels; ++i) {
        const float step = o->k[i];
        o->k[i] = c->p.dstT == SN_DATA_8U ? 1 / step : step;
        o->h[i] = c->p.dstT == SN_DATA_8U ? zero : -zero * step;
    }
    for (size_t i = channels; i < list_pixels(c) * channels; ++i)
        o->k[i] = o->k[i - channels], o->h[i] = o->h[i - channels];
    return NULL;
}

const struct sn_convolution_family sn_conversion_8i = {.smallType = SN_DATA_8U, .unit = 1, .units = "bytes",
    .align = SN_ALIGN, .prefix = "", .set_params = set_params, .layout_arrays = layout_arrays};
