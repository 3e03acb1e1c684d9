#include "contract/channel_sum.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static void rows(const sn_16b * src, size_t rows, size_t size, size_t step, sn_32f * sum)
{
    for (size_t i = 0; i < rows; ++i) {
        double s = 0;
        for (size_t j = 0; j < size; ++j)
            s += sn_16b_to_32f(src[i * step + j]);
        sum[i] = (float)s;
    }
}

static void columns(const sn_16b * src, size_t rows, size_t size, size_t step, sn_32f * sum)
{
    for (size_t j = 0; j < size; ++j) {
        double s = 0;
        for (size_t i = 0; i < rows; ++i)
            s += sn_16b_to_32f(src[i * step + j]);
        sum[j] = (float)s;
    }
}

SN_INSTALL(channel_sum, channel_sum)
{
    slots->rows = rows;
    slots->columns = columns;
}
