FLAGS_sse41 := -msse4.1
# For processors made before 2013: small code rather than the fastest, as V_COMPACT in the kernels. By -Os kernels take up to 1.18
# times as long by geometric mean, some, among them reductions, 1.2 to 1.4 times. Sums of tiles of floats would leave registers.
COMPACT_sse41 := add add_8i add_quantized affine binary channelwise convolution_16b convolution_32f convolution_8i deconvolution_32f \
                 depthwise/% eltwise few_32f gemm/16b gemm/8i gemm/gemm gemm_nbits grid_sample grouped_nhwc_32f \
                 inner_product activation layout lrn narrow normalize pooling/% quantized_pooling reduce resize set_input shuffle \
                 softmax unary vectors winograd/32f winograd/8i
