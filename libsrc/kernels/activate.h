/* The activations of convolutions (enum sn_activation) on a vector: what kernels apply before they store. */
#ifndef SN_KERNELS_ACTIVATE_H
#define SN_KERNELS_ACTIVATE_H

#include <math.h>

#include "contract/enums.h"
#include "kernels/vec_math.h"
#include "runtime/common.h"

/* Those without exp; others leave v unchanged. `type` is a constant, or is tested for each vector. The operands of
 * comparisons are ordered so that NaN propagates. */
SN_INLINE v32f activate_32f(v32f v, enum sn_activation type, v32f slope, v32f p0, v32f p1)
{
    const v32f zero = v_zero_32f();
    switch (type) {
    case SN_ACTIVATION_RELU: return v_max_32f(zero, v);
    case SN_ACTIVATION_LEAKY_RELU:
    case SN_ACTIVATION_PRELU: return v_add_32f(v_max_32f(zero, v), v_mul_32f(slope, v_min_32f(zero, v)));
    case SN_ACTIVATION_RESTRICT_RANGE: return v_min_32f(p1, v_max_32f(p0, v));
    case SN_ACTIVATION_HSWISH:
        return v_mul_32f(v_mul_32f(v_max_32f(zero, v_add_32f(v_min_32f(p0, v), p0)), p1), v);
    default: return v;
    }
}

/* Activations that need no second pass: Identity, Relu and RestrictRange are a max and a min with different limits. */
struct limits {
    v32f low, high;
};

SN_INLINE struct limits limits_of(enum sn_activation activation, const sn_32f * param)
{
    struct limits l = {v_set_32f(-INFINITY), v_set_32f(INFINITY)};
    if (activation == SN_ACTIVATION_RELU)
        l.low = v_zero_32f();
    if (activation == SN_ACTIVATION_RESTRICT_RANGE)
        l = (struct limits){v_set_32f(param[0]), v_set_32f(param[1])};
    return l;
}

SN_INLINE v32f limit(v32f v, struct limits l) { return v_min_32f(l.high, v_max_32f(l.low, v)); }

/*
 * The others are applied in a second pass over results that have just been written. Those with exp need the registers that
 * sums occupy and are long: activate_rows() applies them, one copy for all kernels of a vocabulary. HardSigmoid, which is
 * short, is among them to keep the other kernels small.
 */
static inline bool activates_rows(enum sn_activation activation)
{
    return activation == SN_ACTIVATION_ELU || activation > SN_ACTIVATION_HSWISH;
}

static inline bool second_pass(enum sn_activation activation)
{
    return activation == SN_ACTIVATION_PRELU || activation == SN_ACTIVATION_HSWISH || activates_rows(activation);
}

/* Applies such an activation to rows `step` apart, in place. */
void VOCABULARY_FN(activate_rows)(sn_32f * row, size_t rows, size_t columns, size_t step, enum sn_activation activation,
                                  const sn_32f * param);
#define ACTIVATE_ROWS VOCABULARY_FN(activate_rows)

#endif
