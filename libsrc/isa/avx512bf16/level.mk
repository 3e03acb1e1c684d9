FLAGS_avx512bf16   := $(FLAGS_avx512) -mavx512bf16
KERNELS_avx512bf16 := gemm/16b depthwise/pairs_16b
COMPACT_avx512bf16 := gemm/16b
