/*
 * The table of an instruction set: for each family the slots of its contract, one typed pointer for each kernel.
 *
 * dispatch.c builds one table for each level of this machine: a copy of its parent's table, overwritten with the kernels
 * that the level improves. `base` fills every slot except tiles (without a tile, a driver runs the loops of the reference),
 * so base shares neither packing nor blocking with the fast path. Kernels do not check, allocate or use threads; the drivers
 * do.
 *
 * Drivers, api/ and dispatch include this; a kernel includes the contract of its own family only.
 */
#ifndef SN_CONTRACT_TABLE_H
#define SN_CONTRACT_TABLE_H

#include "contract/add.h"
#include "contract/affine.h"
#include "contract/channel_sum.h"
#include "contract/binary.h"
#include "contract/channelwise.h"
#include "contract/convolution_16b.h"
#include "contract/convolution_32f.h"
#include "contract/convolution_8i.h"
#include "contract/deconvolution_32f.h"
#include "contract/eltwise.h"
#include "contract/gemm.h"
#include "contract/gemm_nbits.h"
#include "contract/grid_sample.h"
#include "contract/inner_product.h"
#include "contract/layout.h"
#include "contract/lrn.h"
#include "contract/narrow.h"
#include "contract/normalize.h"
#include "contract/pointwise.h"
#include "contract/pooling.h"
#include "contract/reduce.h"
#include "contract/recurrent.h"
#include "contract/quantize_linear.h"
#include "contract/quantized_binary.h"
#include "contract/quantized_gemm.h"
#include "contract/quantized_pooling.h"
#include "contract/resize.h"
#include "contract/roi_align.h"
#include "contract/set_input.h"
#include "contract/shuffle.h"
#include "contract/softmax.h"
#include "contract/table8.h"
#include "contract/tiled_scale.h"
#include "contract/winograd.h"

struct sn_table {
    const char * isa;
    size_t alignment; /* bytes of a vector, at least 16: the result of SimdAlignment() */
    struct sn_pointwise_slots pointwise;
    struct sn_add_slots add;
    struct sn_affine_slots affine;
    struct sn_channelwise_slots channelwise;
    struct sn_channel_sum_slots channel_sum;
    struct sn_tiled_scale_slots tiled_scale;
    struct sn_softmax_slots softmax;
    struct sn_layout_slots layout;
    struct sn_set_input_slots set_input;
    struct sn_shuffle_slots shuffle;
    struct sn_eltwise_slots eltwise;
    struct sn_binary_slots binary;
    struct sn_quantize_linear_slots quantize_linear;
    struct sn_quantized_binary_slots quantized_binary;
    struct sn_lrn_slots lrn;
    struct sn_narrow_slots narrow;
    struct sn_normalize_slots normalize;
    struct sn_gemm_slots gemm;
    struct sn_gemm_nbits_slots gemm_nbits;
    struct sn_quantized_gemm_slots quantized_gemm;
    struct sn_quantized_pooling_slots quantized_pooling;
    struct sn_grid_sample_slots grid_sample;
    struct sn_inner_product_slots inner_product;
    struct sn_convolution_32f_slots convolution_32f;
    struct sn_deconvolution_32f_slots deconvolution_32f;
    struct sn_convolution_8i_slots convolution_8i;
    struct sn_convolution_16b_slots convolution_16b;
    struct sn_winograd_slots winograd;
    struct sn_pooling_slots pooling;
    struct sn_reduce_slots reduce;
    struct sn_recurrent_slots recurrent;
    struct sn_resize_slots resize;
    struct sn_roi_align_slots roi_align;
    struct sn_table8_slots table8;
};

#endif
