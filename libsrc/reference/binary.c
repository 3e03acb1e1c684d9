
#include "contract/binary.h"
#include "reference/libm.h"
#include "reference/reference.h"

/* One loop over all rows; `f` is the value for a and b. */
#define BINARY(name, f)                                                                                                     \
    static void name##_32f(const struct sn_binary_rows * r)                                                                 \
    {                                                                                                                       \
        for (size_t j = 0; j < r->rows; ++j)                                                                                \
            for (size_t i = 0; i < r->columns; ++i) {                                                                       \
                const float a = r->a.at[j * r->a.row + (r->a.each ? i : 0)];                                                \
                const float b = r->b.at[j * r->b.row + (r->b.each ? i : 0)];                                                \
                r->dst[j * r->columns + i] = f;                                                                             \
            }                                                                                                               \
    }

BINARY(add, a + b)
BINARY(subtract, a - b)
BINARY(multiply, a * b)
BINARY(divide, a / b)
BINARY(maximum, a > b || a != a ? a : b)
BINARY(minimum, a < b || a != a ? a : b)
BINARY(power, (float)sn_pow((double)a, (double)b))
BINARY(replace, b == b ? b : a)

SN_INSTALL(binary, binary)
{
    SN_BINARY_LIST(SN_BINARY_SLOT)
}
