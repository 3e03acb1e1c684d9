/*
 * The error bounds of convolutions of floats: the rounding of a chain of K multiply-adds and of the activation after it,
 * ((K + 3) * eps * (sum |a * b| + |bias|)) * slope + 8 * eps * |result|, where `slope` is the largest slope of the activation.
 * Where an instruction set computes F(m,3) by Winograd, as reported by SimdnetContextInfo(), the chain's part is the bound in
 * the header: (k + 8 * srcC, if values are equal) * 2^-24 * sum over channels of (largest input of the tile) * (sum of
 * |weights|); and in a tile with a value that is not finite, any result is accepted.
 */
#include <stdlib.h>

#include "check_convolution.h"

typedef SimdConvolutionParameters parameters;

static size_t image_at(SimdTensorFormatType f, size_t C, size_t H, size_t W, size_t c, size_t y, size_t x)
{
    return f == SimdTensorFormatNhwc ? (y * W + x) * C + c : (c * H + y) * W + x;
}

static size_t weight_at(const parameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t n = p->srcC / p->group;
    return p->srcF == SimdTensorFormatNhwc ? ((ky * p->kernelX + kx) * n + i) * p->dstC + o
                                           : ((o * n + i) * p->kernelY + ky) * p->kernelX + kx;
}

static double magnitude(const parameters * p, const float * src, const float * weight, size_t o, size_t y, size_t x)
{
    const size_t n = p->srcC / p->group;
    double sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const ptrdiff_t sy = (ptrdiff_t)(y * p->strideY + ky * p->dilationY) - (ptrdiff_t)p->padY;
            const ptrdiff_t sx = (ptrdiff_t)(x * p->strideX + kx * p->dilationX) - (ptrdiff_t)p->padX;
            if (sy < 0 || sx < 0 || sy >= (ptrdiff_t)p->srcH || sx >= (ptrdiff_t)p->srcW)
                continue;
            for (size_t i = 0; i < n; ++i)
                sum += fabs((double)weight[weight_at(p, o, i, ky, kx)] *
                            src[image_at(p->srcF, p->srcC, p->srcH, p->srcW, o / (p->dstC / p->group) * n + i, (size_t)sy,
                                         (size_t)sx)]);
        }
    return isfinite(sum) ? sum : INFINITY;
}

/* The tiles of Winograd's algorithm: m x m outputs, or m of a row or of a column. A kernel whose other rows or columns meet
 * padding only is computed as one of a row or of a column, so its own size does not decide. */
enum tiles { SQUARES, ROWS, COLUMNS, TILES };

enum { MOST_OUTPUTS = 6, /* the largest m */ BITS = 8 /* of check_convolution_algorithms() for each of `tiles` */ };

/* The bit of F(m,r) on the instruction set in use; 1 for another algorithm. */
static unsigned algorithm_bit(check_open_fn open, const void * job)
{
    unsigned bit = 1;
    void * context = open(job, NULL);
    const char * info = context ? strstr(SimdnetContextInfo(context), "Winograd F(") : NULL;
    if (info) {
        const enum tiles tiles = strstr(info, "of rows") ? ROWS : strstr(info, "of columns") ? COLUMNS : SQUARES;
        bit = 1u << (BITS * tiles + (unsigned)(info[strlen("Winograd F(")] - '0'));
    }
    SimdRelease(context);
    return bit;
}

unsigned check_convolution_algorithms(check_open_fn open, const void * job)
{
    unsigned found = 0;
    for (size_t i = 1; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        found |= algorithm_bit(open, job);
    }
    SimdnetSetMaxIsa(NULL);
    return found;
}

/* The tiles of an axis: the outputs of each, and the distance between them. */
struct axis {
    size_t block, taps, dilation, stride, pad;
};

/* Position i of the inputs of the tile of output `at`; wraps if it is negative. */
static size_t input_at(struct axis a, size_t at, size_t i)
{
    return (at % a.dilation + at / a.dilation / a.block * a.block * a.dilation) * a.stride + i * a.dilation - a.pad;
}

static size_t inputs_of(struct axis a) { return (a.block - 1) * a.stride + a.taps; }

/* The largest input of each channel in the tile of an output; NAN if one is not finite. */
static void largest_of_tile(const parameters * p, const float * src, size_t y, size_t x, enum tiles tiles, size_t block,
                            double * largest)
{
    if (tiles == ROWS && p->srcW == 1 && p->dstW == 1) /* computed as an image of one row */
        tiles = COLUMNS;
    const struct axis ay = {tiles == ROWS ? 1 : block, p->kernelY, p->dilationY, p->strideY, p->padY};
    const struct axis ax = {tiles == COLUMNS ? 1 : block, p->kernelX, p->dilationX, p->strideX, p->padX};
    const size_t inputs = inputs_of(ay) * inputs_of(ax);
    for (size_t c = 0; c < p->srcC; ++c) {
        largest[c] = 0;
        for (size_t i = 0; i < inputs; ++i) {
            const size_t sy = input_at(ay, y, i / inputs_of(ax)), sx = input_at(ax, x, i % inputs_of(ax));
            if (sy >= p->srcH || sx >= p->srcW)
                continue;
            const double v = fabs((double)src[image_at(p->srcF, p->srcC, p->srcH, p->srcW, c, sy, sx)]);
            largest[c] = isnan(largest[c]) || !isfinite(v) ? NAN : fmax(largest[c], v);
        }
    }
}

/* The sums of the magnitudes of the taps of each filter, by output and input of its group, which the caller frees. */
static double * sums_of_taps(const parameters * p, const float * weight)
{
    const size_t inputs = p->srcC / p->group;
    double * taps = calloc(p->dstC * inputs + 1, sizeof(double));
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t i = 0; i < inputs; ++i)
            for (size_t t = 0; t < p->kernelY * p->kernelX; ++t)
                taps[o * inputs + i] += fabs((double)weight[weight_at(p, o, i, t / p->kernelX, t % p->kernelX)]);
    return taps;
}

/* `taps` are the sums of the output's filters, `largest` the inputs of its group. */
static double winograd_error(const parameters * p, const double * taps, const double * largest, enum tiles tiles,
                             size_t block, bool equal)
{
    static const double of_stride[][MOST_OUTPUTS + 1] = {{[2] = 4, [3] = 12, [4] = 32}, {[2] = 2, [4] = 12}};
    const bool strided = p->dstH > 1 && p->strideY == 2; /* the library takes a stride of 1 for one row */
    const double k = tiles != SQUARES || p->kernelY == 5 ? 16 : of_stride[strided][block];
    double sum = 0;
    for (size_t i = 0; i < p->srcC / p->group; ++i)
        sum += taps[i] * largest[i];
    return (k + (equal ? 8 * (double)(p->srcC / p->group) : 0)) * 0x1p-24 * sum;
}

static bool is_used(unsigned used, enum tiles tiles, size_t block) { return used >> (BITS * tiles + block) & 1; }

/* For each kind of tiles and each block, the largest inputs of the tile of an output. */
typedef double * tile_inputs[TILES][MOST_OUTPUTS + 1];

/* The error allowed in the sum of an output, for any of the algorithms; `taps` as above. */
static double sum_error(const parameters * p, size_t o, const double * taps, double size, unsigned used, tile_inputs largest)
{
    const size_t inputs = p->srcC / p->group, channel = o / (p->dstC / p->group) * inputs;
    const double depth = (double)(p->srcC / p->group * p->kernelY * p->kernelX);
    double error = used & 1 ? depth * size * FLT_EPSILON : 0;
    for (enum tiles tiles = SQUARES; tiles < TILES; ++tiles)
        for (size_t block = 2; block <= MOST_OUTPUTS; ++block)
            if (is_used(used, tiles, block)) {
                const double * of_group = largest[tiles][block] + channel;
                const double other =
                    winograd_error(p, taps + o * inputs, of_group, tiles, block, used & CHECK_EQUAL_VALUES);
                if (isnan(other))
                    return NAN;
                error = fmax(error, other);
            }
    return error;
}

double check_activated(const parameters * p, const float * params, size_t o, double size, double error)
{
    double slope = 1, result = size;
    if (p->activation == SimdConvolutionActivationPrelu)
        slope = fmax(1, fabs(params[o]));
    else if (p->activation == SimdConvolutionActivationLeakyRelu || p->activation == SimdConvolutionActivationElu)
        slope = fmax(1, fabs(params[0])), result *= slope;
    else if (p->activation == SimdConvolutionActivationHswish)
        slope = 3 * fabs((double)params[0] * params[1]), result *= slope;
    else if (p->activation == SimdConvolutionActivationHardSigmoid)
        slope = fabs(params[0]), result = 1 + size * slope + fabs(params[1]);
    else if (p->activation == SimdnetConvolutionActivationSigmoid)
        slope = 0.25, result = 1;
    else if (p->activation > SimdConvolutionActivationHswish) /* Mish, Swish, Gelu */
        slope = 1.2;
    if (p->activation == SimdConvolutionActivationElu) /* the terms are exp(v) and 1 */
        result += 2 * fabs(params[0]);
    return error * slope + (3 * size * slope + 8 * result) * FLT_EPSILON;
}

void check_convolution_bounds(const parameters * p, size_t batch, const float * src, const float * weight,
                              const float * bias, const float * add, const float * params, unsigned used, double * bound)
{
    tile_inputs largest = {{NULL}};
    double * taps = used & ~(CHECK_EQUAL_VALUES | 1u) ? sums_of_taps(p, weight) : NULL;
    for (enum tiles tiles = SQUARES; tiles < TILES; ++tiles)
        for (size_t block = 2; block <= MOST_OUTPUTS; ++block)
            if (is_used(used, tiles, block))
                largest[tiles][block] = malloc((p->srcC + 1) * sizeof(double));
    const size_t results = p->dstC * p->dstH * p->dstW;
    for (size_t b = 0; b < batch; ++b, src += p->srcC * p->srcH * p->srcW, bound += results, add += add ? results : 0)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                for (enum tiles tiles = SQUARES; tiles < TILES; ++tiles)
                    for (size_t block = 2; block <= MOST_OUTPUTS; ++block)
                        if (is_used(used, tiles, block))
                            largest_of_tile(p, src, y, x, tiles, block, largest[tiles][block]);
                for (size_t o = 0; o < p->dstC; ++o) {
                    const size_t at = image_at(p->dstF, p->dstC, p->dstH, p->dstW, o, y, x);
                    const double size = magnitude(p, src, weight, o, y, x) + fabs(bias[o]) + (add ? fabs(add[at]) : 0);
                    const double error = sum_error(p, o, taps, size, used, largest);
                    bound[at] = check_activated(p, params, o, size, error);
                }
            }
    for (enum tiles tiles = SQUARES; tiles < TILES; ++tiles)
        for (size_t block = 2; block <= MOST_OUTPUTS; ++block)
            free(largest[tiles][block]);
    free(taps);
}
