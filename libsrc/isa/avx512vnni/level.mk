FLAGS_avx512vnni   := $(FLAGS_avx512) -mavx512vnni
KERNELS_avx512vnni := gemm/8i depthwise/8i table8 gemm_nbits_8i
