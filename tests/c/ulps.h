/* Errors in units in the last place, for the programs that measure functions against the C library in double. */
#ifndef TESTS_ULPS_H
#define TESTS_ULPS_H

#include <float.h>
#include <math.h>

/*
 * How far a float is from an exact value: in units of the floats of that value's size. Beyond the largest float infinity is
 * right, and the largest float one unit off as long as the value is next to it. NaN is right for NaN alone.
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
