#include "isa/base/base.h"

static void inner_product_32f(const float * src, const float * weight, const float * bias, size_t count, size_t size,
                              float * dst)
{
    for (size_t i = 0; i < count; ++i) {
        double sum = bias ? bias[i] : 0;
        for (size_t j = 0; j < size; ++j)
            sum += (double)src[j] * weight[i * size + j];
        dst[i] = (float)sum;
    }
}

void sn_install_inner_product_base(struct sn_table * table) { table->inner_product_32f = inner_product_32f; }
