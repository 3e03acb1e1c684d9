FLAGS_neondotprod   := -march=armv8.2-a+dotprod
KERNELS_neondotprod := gemm/8i gemm_nbits_8i
