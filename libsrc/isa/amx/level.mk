# The instructions are in assembler: gcc before 11 has no options for them; clang's assembler wants them.
FLAGS_amx   := $(FLAGS_avx512vnni) $(if $(IS_CLANG),-mamx-tile -mamx-int8 -mamx-bf16)
KERNELS_amx := gemm/blocks_8i gemm/blocks_16b gemm/blocks_nbits grid_sample
