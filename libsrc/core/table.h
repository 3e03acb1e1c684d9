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
#include "core/gemm.h"
#include "simdnet.h"

/* ---- activation */

/* dst = max(0, src) + slope * min(0, src); dst may be src. */
typedef void (*sn_relu_32f_fn)(const float * src, size_t size, float slope, float * dst);

/* ---- add */

/* The whole of SimdSynetAddBias. */
typedef void (*sn_add_bias_32f_fn)(const float * bias, size_t channels, size_t spatial, float * dst,
                                   SimdTensorFormatType format);

/* The arguments of SimdSynetAdd8i but for sizes and format; upper is the largest byte of the result. */
struct sn_add_8i {
    const uint8_t * a;
    const float * aScale, * aShift;
    const uint8_t * b;
    const float * bScale, * bShift;
    uint8_t * c;
    const float * cScale, * cShift;
    uint8_t upper;
};

/* One image of SimdSynetAdd8i, NCHW or NHWC. */
typedef void (*sn_add_8i_fn)(const struct sn_add_8i * add, size_t channels, size_t spatial, SimdTensorFormatType format);

/* dst[i] = a[i] + b[i], elements float or bfloat16, at any address. */
typedef void (*sn_add_16b_fn)(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size);

/* ---- softmax */

/* The whole of SimdSynetSoftmaxLayerForward. */
typedef void (*sn_softmax_32f_fn)(const float * src, size_t outer, size_t count, size_t inner, float * dst);

/* ---- layout */

/* Positions begin .. end - 1 of one image of SimdSynetConvertImage, all channels; the formats differ. */
typedef void (*sn_convert_image_32f_fn)(size_t channels, size_t spatial, const float * src, SimdTensorFormatType srcFormat,
                                        float * dst, SimdTensorFormatType dstFormat, size_t begin, size_t end);

/* ---- inner product */

/* dst[i] = bias[i] + sum over j of src[j] * weight[i * size + j] for i < count; bias may be NULL. */
typedef void (*sn_inner_product_32f_fn)(const float * src, const float * weight, const float * bias, size_t count,
                                        size_t size, float * dst);

/* ---- convolution */

/* One image, straight from the formula; all arrays as the public function gets them, bias not NULL. Only `base` has it. */
typedef void (*sn_convolution_32f_fn)(const SimdConvolutionParameters * p, const float * weight, const float * bias,
                                      const float * params, const float * src, float * dst);

/* ---- limit */

/* Does about that many floating-point operations as fast as the set can, two for a multiply-add; returns how many. */
typedef size_t (*sn_fma_work_fn)(size_t flops);

/* dst = src, by plain loads and stores. */
typedef void (*sn_copy_work_fn)(const uint8_t * src, size_t size, uint8_t * dst);

struct sn_table {
    const char * isa;
    size_t alignment; /* bytes of a vector, at least 16: the answer of SimdAlignment() */

    /* activation */
    sn_relu_32f_fn relu_32f;

    /* add */
    sn_add_bias_32f_fn add_bias_32f;
    sn_add_8i_fn add_8i;
    sn_add_16b_fn add_16b[2][2][2]; /* [a][b][dst]: 0 is float, 1 is bfloat16 */

    /* softmax */
    sn_softmax_32f_fn softmax_32f;

    /* layout */
    sn_convert_image_32f_fn convert_image_32f;

    /* the tile under everything that multiplies matrices, see core/gemm.h; `base` has none */
    struct sn_gemm_32f_tile gemm_32f;

    /* inner product */
    sn_inner_product_32f_fn inner_product_32f;

    /* convolution */
    sn_convolution_32f_fn convolution_32f;

    /* limit */
    sn_fma_work_fn fma_work;
    sn_copy_work_fn copy_work;
};

#endif
