/* Bytes replaced by those of a table; look_up.h has the instructions. */
#include "contract/table8.h"
#include "kernels/install.h"

#include <look_up.h>

SN_INLINE LOOK_UP_TARGET void row(const struct look_up * table, const uint8_t * src, size_t n, uint8_t * dst)
{
    size_t i = 0;
    for (; i + V8U_N <= n; i += V8U_N)
        v_store_8u(dst + i, look_up(table, v_load_8u(src + i)));
    if (i < n)
        v_store_tail_8u(dst + i, look_up(table, v_load_tail_8u(src + i, n - i)), n - i);
}

static LOOK_UP_TARGET void run(const struct sn_table8 * t)
{
    const struct look_up table = look_up_of(t->prepared);
    const bool dense = t->srcStep == t->n && t->dstStep == t->n;
    const size_t rows = dense ? 1 : t->rows, n = dense ? t->n * t->rows : t->n;
    for (size_t y = 0; y < rows; ++y)
        row(&table, t->src + y * t->srcStep, n, t->dst + y * t->dstStep);
}

SN_INSTALL(table8, table8)
{
    if (!look_up_is_usable())
        return;
    slots->run = run;
    slots->prepare = look_up_prepare;
}
