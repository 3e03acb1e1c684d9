/*
 * NHWC with few outputs in each of several groups, which would use a few lanes of a vector: lanes are inputs of a group, and are
 * added up at the end, see struct sn_few_grouped_32f of contract/convolution_32f.h. Images are read in place.
 */
#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"

/* The sums of a group: three are padded with a zero. */
static size_t padded(const struct sn_convolution * c) { return sn_outputs(c) == 3 ? 4 : sn_outputs(c); }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NHWC && c->p.group > 1 && c->srcSize && c->dstSize && sn_outputs(c) <= SN_FEW;
}

/* Vector cycles of a vector of inputs for an output, of a tap, and to add up the lanes: of those tried the values whose choices,
 * of 112 layers by 1x1 and 3x3 on each of three levels, lose least (0.5% on average). */
static const double INPUTS_ADDED = 1.2, TAP = 0.7, LANES_ADDED = 2.5;

static double cost(const struct sn_convolution * c)
{
    const double sums = (double)sn_align(c->p.group * padded(c), sn_lanes(c));
    const double taps = sn_taps(c) * (sn_vectors(c, sn_inputs(c)) * INPUTS_ADDED + TAP);
    return sn_of_vectors(c, sn_dst_pixels(c) * sums * (taps + LANES_ADDED));
}

static bool plan(struct sn_convolution * c)
{
    c->run = sn_outputs(c);
    c->runStep = padded(c);
    c->workSize = c->p.kernelY * sizeof(void *);
    size_t inputs, sums;
    if (!sn_product(&sums, c->p.group, padded(c)) || sums > SIZE_MAX - sn_lanes(c))
        return false;
    c->channels = sn_align(sums, sn_lanes(c));
    return sn_product(&inputs, sn_ceil_div(sn_inputs(c), sn_lanes(c)), sn_lanes(c)) &&
           sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, inputs, c->channels);
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), inputs = sn_inputs(c), outputs = sn_outputs(c), sums = padded(c);
    const size_t taps = c->p.kernelY * c->p.kernelX;
    sn_32f * packed = c->weight;
    for (size_t unit = 0; unit < c->channels; unit += lanes)
        for (size_t tap = 0; tap < taps; ++tap)
            for (size_t first = 0; first < inputs; first += lanes)
                for (size_t s = unit; s < unit + lanes; ++s)
                    for (size_t i = first; i < first + lanes; ++i) {
                        const size_t group = s / sums, o = s % sums;
                        const bool exists = i < inputs && group < c->p.group && o < outputs;
                        const size_t at = sn_weight_at(c->format, &c->p, group * outputs + o, i, tap);
                        *packed++ = exists ? ((const sn_32f *)weight)[at] : 0;
                    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const sn_32f ** line = a->work;
    struct sn_few_grouped_32f f = {.line = line, .srcW = p->srcW, .srcPixel = a->at->srcPixel, .kernelY = p->kernelY,
        .kernelX = p->kernelX, .strideX = p->strideX, .dilationX = p->dilationX, .padX = p->padX, .groups = p->group,
        .inputs = sn_inputs(c), .outputs = sn_outputs(c), .weight = c->weight, .bias = c->bias, .slope = c->slope,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}, .dstW = p->dstW,
        .dstPixel = a->at->dstPixel};
    for (size_t y = s->line; y < s->line + s->lines; ++y) {
        for (size_t ky = 0; ky < p->kernelY; ++ky) {
            const size_t at = y * p->strideY + ky * p->dilationY - p->padY; /* wraps for those above */
            line[ky] = at < p->srcH ? (const sn_32f *)a->src + at * p->srcW * f.srcPixel : NULL;
        }
        f.dst = (sn_32f *)a->dst + y * p->dstW * f.dstPixel;
        c->table->convolution_32f.few_grouped(&f);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .columns = true, .near = true,
        .shares = {.lines = c->p.dstH, .most = c->p.dstH}});
}

const struct sn_convolution_algorithm sn_convolution_32f_few_grouped = {.name = "few outputs of groups NHWC",
    .supports = supports, .cost = cost, .plan = plan, .pack = pack, .forward = forward};
