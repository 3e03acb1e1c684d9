#include <math.h>

#include "contract/pointwise.h"
#include "reference/reference.h"

/* One loop over an array; `f` is the value for x. */
#define UNARY(name, f)                                                                                                      \
    static void name##_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)               \
    {                                                                                                                       \
        (void)params;                                                                                                       \
        (void)stream;                                                                                                       \
        for (size_t i = 0; i < size; ++i) {                                                                                 \
            const double x = src[i];                                                                                        \
            dst[i] = (float)(f);                                                                                            \
        }                                                                                                                   \
    }

UNARY(abs, fabs(x))
UNARY(exp, exp(x))
UNARY(log, log(x))
UNARY(neg, -x)
UNARY(rsqrt, 1 / sqrt(x))
UNARY(sqrt, sqrt(x)) /* double rounding gives the same result as rounding once: 53 bits are more than 2 * 24 + 2 */
UNARY(zero, ((void)x, 0))

SN_INSTALL(unary, pointwise)
{
    slots->run_32f[SN_ABS] = abs_32f;
    slots->run_32f[SN_EXP] = exp_32f;
    slots->run_32f[SN_LOG] = log_32f;
    slots->run_32f[SN_NEG] = neg_32f;
    slots->run_32f[SN_RSQRT] = rsqrt_32f;
    slots->run_32f[SN_SQRT] = sqrt_32f;
    slots->run_32f[SN_ZERO] = zero_32f;
}
