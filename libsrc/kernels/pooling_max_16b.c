/* Maxima of bfloat16 numbers. */
#include "contract/pooling.h"
#include "kernels/install.h"

/*
 * Maxima of bfloat16, compared as integers. If at least one number is not negative, the maximum is the largest signed
 * integer; if all are negative, it is the smallest one. So both extremes are kept: two instructions per vector, whereas a
 * conversion of the bits to an ordered integer would take four. The smallest starts from -Inf, so it is negative, which
 * as an unsigned integer is larger than any non-negative number: the unsigned minimum of the two is the maximum.
 */
struct extremes {
    v16i most, least;
};

SN_INLINE v16i lowest_16b(void) { return v_set_16i((int16_t)0xFF80); } /* -Inf */
SN_INLINE struct extremes first_16b(v16i v) { return (struct extremes){v, v_min_16i(v, lowest_16b())}; }
SN_INLINE struct extremes enter_16b(v16i v) { return (struct extremes){v, v}; }
SN_INLINE v16i rest_16b(struct extremes r) { return v_min_16u(r.most, r.least); }
SN_INLINE struct extremes reduce_16b(struct extremes a, struct extremes b)
{
    return (struct extremes){v_max_16i(a.most, b.most), v_min_16i(a.least, b.least)};
}

#define ELEMENT sn_16b
#define VECTOR v16i
#define LANES V16I_N
#define TYPE 16i
#define IDENTITY lowest_16b()
#define REDUCTION struct extremes
#define FIRST(v) first_16b(v)
#define ENTER(v) enter_16b(v)
#define REDUCE(a, b) reduce_16b(a, b)
#define REST(r) rest_16b(r)
#define RESUME(v) first_16b(v)
#define LEAVE(r, divisor) rest_16b(r)
#define ACROSS(v) across(v)
#define HAS_DIVISOR 0
#include "kernels/pooling.h"

SN_INSTALL(pooling_max_16b, pooling) { slots->max_16b = pooling; }
