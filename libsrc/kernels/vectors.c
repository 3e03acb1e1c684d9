/* Element-wise functions with a number: fill, addition, power. Each is a line of the template in kernels/pointwise.h. */
#include "contract/pointwise.h"
#include "kernels/pointwise.h"
#include "kernels/power.h"

SN_INLINE v32f filled(v32f x, const v32f * p)
{
    (void)x;
    return p[0];
}

SN_INLINE v32f increased(v32f x, const v32f * p) { return v_add_32f(x, p[0]); }

SN_INLINE v32f raised(v32f x, const v32f * p) { return power(x, p[0]); }

POINTWISE(filled, 1, 4)
POINTWISE(increased, 1, 4)
POINTWISE(raised, 1, 1)

SN_INSTALL(vectors, pointwise)
{
    slots->run_32f[SN_FILL] = filled_32f;
    slots->run_32f[SN_ADD_VALUE] = increased_32f;
    slots->run_32f[SN_POW] = raised_32f;
}
