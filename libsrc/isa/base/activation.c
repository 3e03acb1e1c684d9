#include "isa/base/base.h"

/* Comparisons are turned so that a NaN comes through. */
static float relu(float x, float slope) { return (0 > x ? 0 : x) + slope * (0 < x ? 0 : x); }

static void relu_32f(const float * src, size_t size, float slope, float * dst, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = relu(src[i], slope);
}

void sn_install_activation_base(struct sn_table * table) { table->relu_32f = relu_32f; }
