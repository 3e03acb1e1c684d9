/* Bytes with a zero and a scale, V32F_N at a time. */
#ifndef SN_KERNELS_LINEAR_8U_H
#define SN_KERNELS_LINEAR_8U_H

#include "kernels/vec.h"

/* (byte - zero) * scale. The difference is exact. */
SN_INLINE v32f value_of_bytes(const uint8_t * p, float zero, float scale)
{
    return v_mul_32f(v_sub_32f(v_cvt_32i_32f(v_load_8u_32i(p)), v_set_32f(zero)), v_set_32f(scale));
}

/* The nearest integer of t, ties to even, plus zero, for v_pack_32i_8u(). Limits as floats make NaN a number below 0. */
SN_INLINE v32i integer_of(v32f t, int32_t zero)
{
    const v32f limited = v_min_32f(v_max_32f(t, v_set_32f(-0x1p24f)), v_set_32f(0x1p24f));
    return v_add_32i(v_cvt_32f_32i(limited), v_set_32i(zero));
}

#endif
