#include "kernels/install.h"

void ISA_FN(install)(struct sn_table * table)
{
    table->alignment = V8U_N;
    ISA_FN(install_activation)(table);
    ISA_FN(install_convolution_32f)(table);
    ISA_FN(install_inner_product)(table);
    ISA_FN(install_add)(table);
    ISA_FN(install_gemm_32f)(table);
    ISA_FN(install_layout)(table);
    ISA_FN(install_limit)(table);
    ISA_FN(install_pooling)(table);
    ISA_FN(install_softmax)(table);
}
