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
    v16i max, min;
};

SN_INLINE v16i lowest_16b(void) { return v_set_16i((int16_t)0xFF80); } /* -Inf */
SN_INLINE struct extremes init_16b(v16i v) { return (struct extremes){v, v_min_16i(v, lowest_16b())}; }
SN_INLINE struct extremes term_16b(v16i v) { return (struct extremes){v, v}; }
SN_INLINE v16i pack_16b(struct extremes r) { return v_min_16u(r.max, r.min); }
SN_INLINE struct extremes reduce_16b(struct extremes a, struct extremes b)
{
    return (struct extremes){v_max_16i(a.max, b.max), v_min_16i(a.min, b.min)};
}

#define ELEMENT sn_16b
#define VECTOR v16i
#define LANES V16I_N
#define TYPE 16i
#define IDENTITY lowest_16b()
#define REDUCTION struct extremes
#define INIT(v) init_16b(v)
#define TERM(v) term_16b(v)
#define REDUCE(a, b) reduce_16b(a, b)
#define PACK(r) pack_16b(r)
#define UNPACK(v) init_16b(v)
#define FINISH(r, divisor) pack_16b(r)
#define REDUCE_LANES(v) reduce_lanes(v)
#define HAS_DIVISOR 0
#include "kernels/pooling/pooling.h"

SN_INSTALL(pooling_max_16b, pooling) { slots->max_16b = pooling; }
