#include "contract/inner_product.h"
#include "reference/reference.h"

static void inner_product_32f(const struct sn_inner_product_32f * p)
{
    for (size_t i = 0; i < p->count; ++i) {
        double sum = 0;
        for (size_t j = 0; j < p->size; ++j)
            sum += (double)p->src[j] * p->weight[i * p->step + j];
        sum = p->alpha * sum + (p->bias ? p->bias[i] : 0);
        if (p->beta != 0)
            sum += (double)p->beta * p->dst[i];
        p->dst[i] = (float)sum;
    }
}

SN_INSTALL(inner_product, inner_product) { slots->run_32f = inner_product_32f; }
