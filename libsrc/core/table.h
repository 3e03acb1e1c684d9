/*
 * The table of an instruction set: one typed pointer for each kernel, grouped by family.
 *
 * dispatch.c builds one table per level of this machine: the parent's table copied, then overwritten where the level does
 * better. `base` fills every slot, except tiles (a driver without a tile runs base's direct loops), so that base shares
 * neither packing nor blocking with the fast path. What a slot computes is written at its type; the public meaning is in
 * include/simdnet.h. Kernels do not check, allocate or use threads: their caller has.
 */
#ifndef SN_CORE_TABLE_H
#define SN_CORE_TABLE_H

#include "core/common.h"
#include "core/convolution.h"
#include "core/convolution_16b.h"
#include "core/convolution_8i.h"
#include "core/gemm.h"
#include "core/winograd.h"
#include "simdnet.h"

/* ---- activation, unary: functions of every element, with the parameters of the public functions in their order */

enum sn_pointwise {
    SN_RELU,           /* slope */
    SN_ELU,            /* alpha */
    SN_HSWISH,         /* shift, scale */
    SN_RESTRICT_RANGE, /* lower, upper */
    SN_SIGMOID,        /* slope */
    SN_SOFTPLUS,       /* beta, threshold */
    SN_TANH,           /* slope */
    SN_ABS,
    SN_EXP,
    SN_LOG,
    SN_NEG,
    SN_RSQRT,
    SN_SQRT,
    SN_ZERO,
    SN_POINTWISE /* their number */
};

/* dst = f(src); dst may be src. With `stream` dst may be written past the caches. */
typedef void (*sn_pointwise_32f_fn)(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream);

/* ---- add */

/* The arguments of SimdSynetAdd8i but for sizes and format; upper is the largest byte of the result. */
struct sn_add_8i {
    const uint8_t * a;
    const sn_32f * aScale, * aShift;
    const uint8_t * b;
    const sn_32f * bScale, * bShift;
    uint8_t * c;
    const sn_32f * cScale, * cShift;
    uint8_t upper;
};

/* One image of SimdSynetAdd8i, NCHW or NHWC. */
typedef void (*sn_add_8i_fn)(const struct sn_add_8i * add, size_t channels, size_t spatial, SimdTensorFormatType format);

/* dst[i] = a[i] + b[i], elements float or bfloat16, at any address. */
typedef void (*sn_add_16b_fn)(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size);

/* ---- channelwise */

/*
 * What a channel-wise layer does to a value x; p, q, r are coefficients of its channel, s and t single values, y is a value
 * of a second source. Those marked * are float32 operations as printed, each rounded by itself; the others may fuse.
 */
enum sn_channelwise_op {
    SN_ADD_BIAS,   /* * x + p                                                                        */
    SN_SCALE,      /* * x * p                                                                        */
    SN_SCALE_BIAS, /*   x * p + q                                                                    */
    SN_PRELU,      /* * max(0, x) + p * min(0, x)                                                    */
    SN_FUSED_0,    /* * (v - |v|) * q + max(0, v),           v = x + p                               */
    SN_FUSED_1,    /*   max(0, -v) * q + r + max(0, v),      v = x + p                               */
    SN_FUSED_2,    /*   max(0, v) + min(0, v) * s,           v = x * p + q                           */
    SN_FUSED_3,    /* * max(0, v) + min(0, v) * q,           v = x + p                               */
    SN_FUSED_4,    /*   max(0, (x + p) * s + t), half of the layer; the other half has s = 1, t = 0  */
    SN_FUSED_8,    /*   x + y * p                                                                    */
    SN_FUSED_9,    /*   max(0, x * p + q), the first result of the layer; the second is x            */
    SN_CHANNELWISE_OPS
};

/* A layer: the arguments of its public function; p are p, q and r from above. */
struct sn_channelwise {
    enum sn_channelwise_op op;
    const sn_32f * src, * src1; /* src1 of FUSED_8 and FUSED_9 */
    const sn_32f * p[3];
    float s, t;
    size_t channels, channels1; /* channels1 of FUSED_9 */
    size_t spatial;
    sn_32f * dst, * dst1;       /* dst1 of FUSED_9, or NULL */
    SimdTensorFormatType format;
};

/* One image of a layer, straight from the formula. Only `base` has it. */
typedef void (*sn_channelwise_fn)(const struct sn_channelwise * layer);

/*
 * Rows of `size` values, one behind the other: value i of row j has the coefficients p[k][j * period + i % period]. size is
 * a multiple of period, neither is 0. dst may be src or src1. With `stream` dst may be written past the caches.
 */
struct sn_channelwise_rows {
    const sn_32f * src, * src1;
    const sn_32f * p[3];
    float s, t;
    sn_32f * dst;
    size_t rows, size, period;
    bool stream;
};

typedef void (*sn_channelwise_rows_fn)(const struct sn_channelwise_rows * rows);

/*
 * FUSED_4 or FUSED_9 on `number` pixels of two sources, `period` values in each: pixel q of dst is the results of pixel q
 * of the first, then those of pixel q of the second; `copy` of FUSED_9, if not NULL, gets their values. One period may be 0.
 * The source of FUSED_4 is twice the same. rows, size, dst and stream of the halves are not used.
 */
typedef void (*sn_channelwise_joined_fn)(const struct sn_channelwise_rows half[2], size_t number, sn_32f * dst,
                                         sn_32f * copy);

/* Pixel q of dst is the aSize values of pixel q of a, then the bSize values of pixel q of b. */
typedef void (*sn_concat_32f_fn)(const sn_32f * a, size_t aSize, const sn_32f * b, size_t bSize, size_t number,
                                 sn_32f * dst);

/* ---- softmax */

/* The whole of SimdSynetSoftmaxLayerForward. */
typedef void (*sn_softmax_32f_fn)(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst);

/* ---- layout */

/* Positions begin .. end - 1 of one image of SimdSynetConvertImage, all channels; the formats differ. */
typedef void (*sn_convert_image_32f_fn)(size_t channels, size_t spatial, const sn_32f * src, SimdTensorFormatType srcFormat,
                                        sn_32f * dst, SimdTensorFormatType dstFormat, size_t begin, size_t end);

/* Inputs begin .. end - 1 of SimdSynetConvertFilter, all outputs and taps; the formats differ. */
typedef void (*sn_convert_filter_32f_fn)(size_t output, size_t input, size_t kernel, const sn_32f * src,
                                         SimdTensorFormatType srcFormat, sn_32f * dst, SimdTensorFormatType dstFormat,
                                         size_t begin, size_t end);

/* ---- set_input */

/* The arguments of SimdSynetSetInput. */
struct sn_set_input {
    const uint8_t * src;
    size_t width, height, stride;
    SimdPixelFormatType srcFormat;
    const sn_32f * lower, * upper;
    sn_32f * dst;
    size_t channels;
    SimdTensorFormatType dstFormat;
};

/* Rows begin .. end - 1. */
typedef void (*sn_set_input_32f_fn)(const struct sn_set_input * p, size_t begin, size_t end);

/* ---- shuffle */

/* The arguments of SimdSynetShuffleLayerForward, but for the format. */
struct sn_shuffle {
    const sn_32f * src0;
    size_t srcC0;
    const sn_32f * src1;
    size_t srcC1, spatial;
    sn_32f * dst0, * dst1;
};

/* NCHW: channels begin .. end - 1 of both outputs. NHWC: pixels begin .. end - 1. */
typedef void (*sn_shuffle_32f_fn)(const struct sn_shuffle * p, size_t begin, size_t end);

/* ---- eltwise */

/* Elements 0 .. size - 1 from `offset` of SimdSynetEltwiseLayerForward; with `stream` dst may be written past the caches. */
typedef void (*sn_eltwise_32f_fn)(const sn_32f * const * src, const sn_32f * weight, size_t count, size_t offset,
                                  size_t size, SimdSynetEltwiseOperationType type, sn_32f * dst, bool stream);

/* ---- local response normalization */

/* The arguments of SimdSynetLrnLayerCrossChannels; half is less than channels. */
struct sn_lrn {
    const sn_32f * src;
    size_t half, channels, spatial;
    const sn_32f * k;
    sn_32f * dst;
    SimdTensorFormatType format;
};

/* The floats of `work`: for squares and sums of all channels with `half` zeros on either side, of some pixels, or of 16
 * positions of planes; few positions of planes are made pixels, and have room behind theirs. */
static inline size_t sn_lrn_work_of_pixels(const struct sn_lrn * p) { return 3 * (p->channels + 2 * p->half + 1088); }
static inline size_t sn_lrn_work(const struct sn_lrn * p)
{
    const bool pixels = p->format == SimdTensorFormatNhwc || p->spatial == 1; /* planes only when narrow */
    const size_t line = sn_min(p->channels + 2 * p->half, pixels ? 64 : SIZE_MAX);
    return sn_max(sn_lrn_work_of_pixels(p) + sn_min(p->spatial, 16) * p->channels, 32 * (line + 2));
}

/* Positions begin .. end - 1, all channels. */
typedef void (*sn_lrn_32f_fn)(const struct sn_lrn * p, size_t begin, size_t end, sn_32f * work);

/* ---- inner product */

/*
 * dst[i] = alpha * (sum over j of src[j] * weight[i * step + j]) + bias[i] + beta * dst[i] for i < count and j < size; bias
 * may be NULL, and with beta 0 dst is not read.
 */
struct sn_inner_product_32f {
    const sn_32f * src, * weight;
    size_t step, matrix; /* floats of all rows, of which a thread may have some */
    const sn_32f * bias;
    size_t count, size;
    float alpha, beta;
    sn_32f * dst;
};
typedef void (*sn_inner_product_32f_fn)(const struct sn_inner_product_32f * p);

/* ---- matrix multiplication */

/* Types in core/gemm.h. */

/* ---- convolution */

/* One image, straight from the formula; all arrays as the public function gets them, bias not NULL. `add`, if not NULL, lies
 * as dst and is added before the activation. Only `base` has it. */
typedef void (*sn_convolution_32f_fn)(const SimdConvolutionParameters * p, const sn_32f * weight, const sn_32f * bias,
                                      const sn_32f * params, const sn_32f * src, const sn_32f * add, sn_32f * dst);

/* The same of a deconvolution. */
typedef void (*sn_deconvolution_32f_fn)(const SimdConvolutionParameters * p, const sn_32f * weight, const sn_32f * bias,
                                        const sn_32f * params, const sn_32f * src, sn_32f * dst);

/* The kernels of the algorithms, and what they are given: core/convolution.h. */

/* ---- pooling */

/* Output i of an axis covers its inputs max(0, i * stride - pad) .. min(src, i * stride - pad + kernel) - 1. */
struct sn_pool_axis {
    size_t src, dst, kernel, stride, pad;
};

/*
 * Pools src[i0][i1][i2][i] over its first three axes into dst[o0][o1][o2][i]. Both layouts are of this form: NCHW has the
 * axes C, H, W and inner 1; NHWC has none, H, W and inner C; NHWC pooled over channels too has H, W, C and inner 1.
 */
struct sn_pooling {
    const void * src;
    void * dst;
    struct sn_pool_axis axis[3];
    size_t inner;
    bool excludePad;            /* of the average: divides by the cells inside the image */
};

/* The units of a pooling are pairs of output rows: unit u is rows 2 * (u % pairs) and the next, if there is one, of o0 =
 * u / pairs. Two rows share what both windows cover, and sums keep their order however the units are split. */
static inline size_t sn_pooling_pairs(const struct sn_pooling * p) { return sn_ceil_div(p->axis[1].dst, 2); }

/* Computes units begin .. end - 1. */
typedef void (*sn_pooling_fn)(const struct sn_pooling * p, size_t begin, size_t end);

/* ---- limit */

/* Does about that many floating-point operations as fast as the set can, two for a multiply-add; returns how many. */
typedef size_t (*sn_fma_work_fn)(size_t flops);

/* dst = src, by plain loads and stores. */
typedef void (*sn_copy_work_fn)(const uint8_t * src, size_t size, uint8_t * dst);

struct sn_table {
    const char * isa;
    size_t alignment; /* bytes of a vector, at least 16: the answer of SimdAlignment() */

    /* activation, unary */
    sn_pointwise_32f_fn pointwise_32f[SN_POINTWISE];

    /* add */
    sn_add_8i_fn add_8i;
    sn_add_16b_fn add_16b[2][2][2]; /* [a][b][dst]: 0 is float, 1 is bfloat16 */

    /* channelwise */
    sn_channelwise_fn channelwise;
    sn_channelwise_rows_fn channelwise_rows[SN_CHANNELWISE_OPS]; /* these have no base, which runs whole layers */
    sn_channelwise_joined_fn channelwise_joined[2]; /* FUSED_4, FUSED_9 */
    sn_concat_32f_fn concat_32f;

    /* softmax */
    sn_softmax_32f_fn softmax_32f;

    /* layout */
    sn_convert_image_32f_fn convert_image_32f;
    sn_convert_filter_32f_fn convert_filter_32f;

    /* set_input */
    sn_set_input_32f_fn set_input_32f;

    /* shuffle */
    sn_shuffle_32f_fn shuffle_nchw_32f, shuffle_nhwc_32f;

    /* eltwise */
    sn_eltwise_32f_fn eltwise_32f;

    /* local response normalization */
    sn_lrn_32f_fn lrn_32f;

    /* the tile under everything that multiplies matrices, see core/gemm.h; `base` has none */
    struct sn_gemm_32f_tile gemm_32f;

    /* matrix multiplication */
    sn_gemm_fn gemm_plain;                    /* the formula; only `base` needs it */
    sn_gemm_panels_32f_fn gemm_panels_32f[2]; /* [transposed]; these and the next belong to the tile */
    struct sn_gemm_few_32f gemm_few_32f;

    /* inner product */
    sn_inner_product_32f_fn inner_product_32f;

    /* convolution */
    sn_convolution_32f_fn convolution_32f;
    sn_deconvolution_32f_fn deconvolution_32f;
    sn_depthwise_nhwc_32f_fn depthwise_nhwc_32f; /* this one and the next belong to the tile: `base` has none */
    sn_depthwise_nchw_32f_fn depthwise_nchw_32f;
    sn_gemm_32f_fn few_nhwc_32f; /* see core/convolution.h */
    sn_few_nchw_32f_fn few_nchw_32f;
    sn_columns_32f_fn columns_32f;
    sn_join_32f_fn join_32f;
    sn_lines_32f_fn lines_32f;
    sn_interleave_32f_fn interleave_32f;

    /* quantised convolution, see core/convolution_8i.h */
    sn_convolution_8i_fn convolution_8i;
    struct sn_dot_tile gemm_8i; /* this one and the next ones belong to the tile: `base` has none */
    struct sn_depthwise_8i depthwise_8i;
    sn_pixels_fn pixels_8i;
    sn_planes_fn planes_8u;

    /* bfloat16 convolution, likewise */
    sn_convolution_16b_fn convolution_16b;
    struct sn_dot_tile gemm_16b;
    sn_pixels_fn pixels_16b;
    sn_planes_fn planes_16b;

    /* winograd, see core/winograd.h */
    sn_winograd_filter_32f_fn winograd_filter_32f;
    sn_winograd_input_32f_fn winograd_input_32f;
    sn_winograd_output_32f_fn winograd_output_32f;

    /* pooling */
    sn_pooling_fn pooling_max_32f, pooling_max_16b, pooling_max_8u, pooling_average_32f;

    /* limit */
    sn_fma_work_fn fma_work;
    sn_dot_work_fn dot_work;
    sn_dot_work_fn dot_16b_work;
    sn_copy_work_fn copy_work;
};

#endif
