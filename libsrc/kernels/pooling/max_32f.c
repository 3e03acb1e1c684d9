/* Maxima of floats. */
#include <float.h>

#include "contract/pooling.h"
#include "kernels/install.h"

#define ELEMENT sn_32f
#define VECTOR v32f
#define LANES V32F_N
#define TYPE 32f
#define IDENTITY v_set_32f(-FLT_MAX)
#define REDUCTION v32f
#define INIT(v) v_max_32f(v_set_32f(-FLT_MAX), v)
#define TERM(v) (v)
#define REDUCE(a, b) v_max_32f(a, b)
#define PACK(r) (r)
#define UNPACK(v) (v)
#define FINISH(r, divisor) (r)
#define REDUCE_LANES(v) v_set_32f(v_reduce_max_32f(v))
#define HAS_DIVISOR 0
#include "kernels/pooling/pooling.h"

SN_INSTALL(pooling_max_32f, pooling) { slots->max_32f = pooling; }
