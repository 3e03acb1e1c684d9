/* Errors in units in the last place, for programs that compare functions with the C library in double. */
#ifndef TESTS_ULPS_H
#define TESTS_ULPS_H

#include <float.h>
#include <math.h>

/*
 * The error of a float against an exact value, in units in the last place of floats of that size. Beyond the largest float,
 * infinity is correct, and the largest float is one unit off if the value is next to it. For NaN, only NaN is correct.
 */
static inline double ulps(float got, double exact)
{
    int exponent;
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (fabs(exact) >= 0x1.FFFFFFp127) /* rounds to infinity */
        return (double)got == copysign(INFINITY, exact) ? 0 : fabs(exact) < 0x1.000002p128 && got == FLT_MAX ? 1 : INFINITY;
    frexp(fmax(fabs(exact), 0x1p-126), &exponent);
    return isinf(got) ? (fabs(exact) >= 0x1.FFFFFCp127 ? 1 : INFINITY) : fabs((double)got - exact) / ldexp(1, exponent - 24);
}

#endif
