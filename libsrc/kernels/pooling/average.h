/* Averages of floats, for arrays of the ELEMENT that the file defines: the parameters of pooling.h. */
#define VECTOR v32f
#define LANES V32F_N
#define TYPE 32f
#define IDENTITY v_zero_32f()
#define REDUCTION v32f
#define INIT(v) (v)
#define TERM(v) (v)
#define REDUCE(a, b) v_add_32f(a, b)
#define PACK(r) (r)
#define UNPACK(v) (v)
#define FINISH(r, divisor) v_div_32f(r, divisor)
#define REDUCE_LANES(v) v_set_32f(v_reduce_add_32f(v))
#define HAS_DIVISOR 1
#include "kernels/pooling/pooling.h"
