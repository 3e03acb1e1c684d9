
#include "contract/pointwise.h"
#include "reference/libm.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

/* The nearest integer, ties to even, in any rounding mode of the thread. */
static double nearest(double x) { return fabs(x) < 0x1p23 ? copysign(x - remainder(x, 1), x) : x; }

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
UNARY(exp, sn_exp(x))
UNARY(log, sn_log(x))
UNARY(neg, -x)
UNARY(rsqrt, 1 / sn_sqrt(x))
UNARY(sqrt, sn_sqrt(x)) /* double rounding gives the same result as rounding once: 53 bits are more than 2 * 24 + 2 */
UNARY(zero, ((void)x, 0))
UNARY(ceil, ceil(x))
UNARY(cos, sn_cos(x))
UNARY(erf, sn_erf(x))
UNARY(floor, floor(x))
UNARY(rcp, 1 / x)
UNARY(round, nearest(x))
UNARY(sign, x > 0 ? 1 : x < 0 ? -1 : x)
UNARY(sin, sn_sin(x))
UNARY(acos, sn_acos(x))
UNARY(acosh, sn_acosh(x))
UNARY(asin, sn_asin(x))
UNARY(asinh, sn_asinh(x))
UNARY(atan, sn_atan(x))
UNARY(atanh, fabs(x) == 1 ? copysign(INFINITY, x) : sn_atanh(x)) /* without the exception, as on other levels */
UNARY(cosh, sn_cosh(x))
UNARY(sinh, sn_sinh(x))
UNARY(tan, sn_tan(x))

static void not_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)
{
    (void)params;
    (void)stream;
    for (size_t i = 0; i < size; ++i)
        dst[i] = sn_from_bits_32f(~sn_bits_32f(src[i]));
}

SN_INSTALL(unary, pointwise)
{
    SN_UNARY_OPERATIONS(SN_POINTWISE_SLOT)
    SN_ANGLES(SN_POINTWISE_SLOT)
}
