/*
 * Functions of the C library without their effect on errno: a successful call of ours leaves it as it is. The barriers keep the
 * compiler, which is told that these functions do not set it (-fno-math-errno), from exchanging the order or leaving out the
 * assignment.
 */
#ifndef SN_REFERENCE_LIBM_H
#define SN_REFERENCE_LIBM_H

#include <errno.h>
#include <math.h>

#define SN_WITHOUT_ERRNO(name)                                                                                              \
    static inline double sn_##name(double x)                                                                                \
    {                                                                                                                       \
        const int before = errno;                                                                                           \
        __asm__ volatile("" : "+m"(x) : : "memory");                                                                        \
        double y = name(x);                                                                                                 \
        __asm__ volatile("" : "+m"(y) : : "memory");                                                                        \
        errno = before;                                                                                                     \
        return y;                                                                                                           \
    }

SN_WITHOUT_ERRNO(acos)
SN_WITHOUT_ERRNO(acosh)
SN_WITHOUT_ERRNO(asin)
SN_WITHOUT_ERRNO(asinh)
SN_WITHOUT_ERRNO(atan)
SN_WITHOUT_ERRNO(atanh)
SN_WITHOUT_ERRNO(cos)
SN_WITHOUT_ERRNO(cosh)
SN_WITHOUT_ERRNO(erf)
SN_WITHOUT_ERRNO(erfc)
SN_WITHOUT_ERRNO(exp)
SN_WITHOUT_ERRNO(expm1)
SN_WITHOUT_ERRNO(log)
SN_WITHOUT_ERRNO(log1p)
SN_WITHOUT_ERRNO(sin)
SN_WITHOUT_ERRNO(sinh)
SN_WITHOUT_ERRNO(sqrt) /* a function only if the compiler does not optimise */
SN_WITHOUT_ERRNO(tan)
SN_WITHOUT_ERRNO(tanh)

static inline double sn_pow(double x, double exponent)
{
    const int before = errno;
    __asm__ volatile("" : "+m"(x) : : "memory");
    double y = pow(x, exponent);
    __asm__ volatile("" : "+m"(y) : : "memory");
    errno = before;
    return y;
}

/* 1 / (1 + exp(-x)), without the overflow of exp(). */
static inline double sn_sigmoid(double x)
{
    const double e = sn_exp(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

#undef SN_WITHOUT_ERRNO

#endif
