FLAGS_neondotprod   := -march=armv8.2-a+dotprod
KERNELS_neondotprod := gemm_8i
