# Four products of bytes at a time, in VEX form: processors with AVX2 alone have it since Alder Lake.
FLAGS_avxvnni   := $(FLAGS_avx2) -mavxvnni
KERNELS_avxvnni := gemm_8i depthwise_8i
