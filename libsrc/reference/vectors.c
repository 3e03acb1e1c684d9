
#include "contract/pointwise.h"
#include "reference/libm.h"
#include "reference/reference.h"

/* One loop over an array; `f` is the value for x and the parameter p. */
#define VECTOR(name, f)                                                                                                     \
    static void name##_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)               \
    {                                                                                                                       \
        const float p = params[0];                                                                                          \
        (void)stream;                                                                                                       \
        for (size_t i = 0; i < size; ++i) {                                                                                 \
            const float x = src[i];                                                                                         \
            dst[i] = f;                                                                                                     \
        }                                                                                                                   \
    }

static void fill_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    (void)src;
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = params[0];
}

VECTOR(add_value, x + p)
VECTOR(pow, (float)sn_pow((double)x, (double)p))

SN_INSTALL(vectors, pointwise)
{
    slots->run_32f[SN_FILL] = fill_32f;
    slots->run_32f[SN_ADD_VALUE] = add_value_32f;
    slots->run_32f[SN_POW] = pow_32f;
}
