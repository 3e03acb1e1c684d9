/* Maxima of bytes. */
#include "contract/pooling.h"
#include "kernels/install.h"

#define ELEMENT uint8_t
#define VECTOR v8u
#define LANES V8U_N
#define TYPE 8u
#define IDENTITY v_set_8u(0)
#define REDUCTION v8u
#define INIT(v) (v)
#define TERM(v) (v)
#define REDUCE(a, b) v_max_8u(a, b)
#define PACK(r) (r)
#define UNPACK(v) (v)
#define FINISH(r, divisor) (r)
#define REDUCE_LANES(v) reduce_lanes(v)
#define HAS_DIVISOR 0
#include "kernels/pooling/pooling.h"

SN_INSTALL(pooling_max_8u, pooling) { slots->max_8u = pooling; }
