# Four products of bytes at a time, in VEX encoding: available since Alder Lake on processors without AVX-512.
FLAGS_avxvnni   := $(FLAGS_avx2) -mavxvnni
KERNELS_avxvnni := gemm/8i depthwise/8i gemm_nbits_8i
