/* Activations. The operands of comparisons are ordered so that NaN propagates: max(0, x) is x for a NaN. */
#include "contract/pointwise.h"
#include "kernels/activate.h"
#include "kernels/pointwise.h"
#include "kernels/vec_erf.h"
#include "kernels/vec_math.h"

SN_INLINE v32f relu(v32f x, const v32f * p)
{
    const v32f zero = v_zero_32f();
    return v_add_32f(v_max_32f(zero, x), v_mul_32f(p[0], v_min_32f(zero, x)));
}

SN_INLINE v32f hswish(v32f x, const v32f * p)
{
    const v32f sum = v_add_32f(v_min_32f(x, p[0]), p[0]);
    return v_mul_32f(v_mul_32f(v_max_32f(sum, v_zero_32f()), p[1]), x);
}

SN_INLINE v32f restrict_range(v32f x, const v32f * p) { return v_min_32f(p[1], v_max_32f(p[0], x)); }

SN_INLINE v32f elu(v32f x, const v32f * p) { return v_elu_32f(x, p[0]); }

SN_INLINE v32f sigmoid_of_any(v32f x, const v32f * p) { return v_sigmoid_32f(v_mul_32f(p[0], x)); }

SN_INLINE v32f sigmoid_of_1(v32f x, const v32f * p)
{
    (void)p;
    return v_sigmoid_32f(x);
}

SN_INLINE v32f softplus_of_any(v32f x, const v32f * p)
{
    return v_select_32f(v_lt_32f(p[1], x), x, v_div_32f(v_softplus_32f(v_mul_32f(p[0], x)), p[0]));
}

SN_INLINE v32f softplus_of_1(v32f x, const v32f * p) { return v_select_32f(v_lt_32f(p[1], x), x, v_softplus_32f(x)); }

SN_INLINE v32f tanh_of_any(v32f x, const v32f * p) { return v_tanh_32f(v_mul_32f(p[0], x)); }

SN_INLINE v32f tanh_of_1(v32f x, const v32f * p)
{
    (void)p;
    return v_tanh_32f(x);
}

SN_INLINE v32f swish_of_any(v32f x, const v32f * p) { return v_swish_32f(x, p[0]); }

SN_INLINE v32f swish_of_1(v32f x, const v32f * p)
{
    (void)p;
    return v_swish_of_1_32f(x);
}

SN_INLINE v32f mish(v32f x, const v32f * p) { return v_mish_32f(x, p[0]); }

SN_INLINE v32f hard_sigmoid(v32f x, const v32f * p) { return v_hard_sigmoid_32f(x, p[0], p[1]); }

SN_INLINE v32f gelu(v32f x, const v32f * p)
{
    (void)p;
    return v_gelu_32f(x);
}

/*
 * Vectors in a group of the long functions: with 16 registers the constants do not leave room for two; one at a time takes
 * 0.92 of the time for sigmoid, 0.95 for mish, 0.98 to 1.00 for the others (Zen 3, avx2).
 */
enum { SLOW = V32F_N == 16 ? 2 : 1 };

POINTWISE(relu, 1, 4)
POINTWISE(hswish, 2, 4)
POINTWISE(restrict_range, 2, 4)
POINTWISE(elu, 1, SLOW)
POINTWISE(sigmoid_of_any, 1, SLOW)
POINTWISE(sigmoid_of_1, 0, SLOW)
POINTWISE(softplus_of_any, 2, SLOW)
POINTWISE(softplus_of_1, 2, SLOW)
POINTWISE(tanh_of_any, 1, SLOW)
POINTWISE(tanh_of_1, 0, SLOW)
POINTWISE(swish_of_any, 1, SLOW)
POINTWISE(swish_of_1, 0, SLOW)
POINTWISE(mish, 1, SLOW)
POINTWISE(hard_sigmoid, 2, 4)
POINTWISE(gelu, 0, SLOW)

/* A slope or beta of 1, the usual value, saves a multiplication, and in softplus a division: 1/10 to 1/6 of the time. */
#define USUALLY_1(name)                                                                                                     \
    static void name##_32f(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream)               \
    {                                                                                                                       \
        (params[0] == 1 ? name##_of_1_32f : name##_of_any_32f)(src, size, params, dst, stream);                             \
    }

USUALLY_1(sigmoid)
USUALLY_1(softplus)
USUALLY_1(swish)
USUALLY_1(tanh)

/* ---- of convolutions, on results that have just been written */

typedef void (*rows_fn)(sn_32f * row, size_t rows, size_t columns, size_t step, const v32f * p);

#define ROWS(name, f)                                                                                                       \
    static void name##_rows(sn_32f * row, size_t rows, size_t columns, size_t step, const v32f * p)                         \
    {                                                                                                                       \
        for (; rows; --rows, row += step)                                                                                   \
            pointwise_rest(f, row, columns, p, row);                                                                        \
    }

ROWS(elu, elu)
ROWS(mish, mish)
ROWS(hard_sigmoid, hard_sigmoid)
ROWS(swish_of_any, swish_of_any)
ROWS(swish_of_1, swish_of_1)
ROWS(gelu, gelu)
ROWS(sigmoid, sigmoid_of_1)

void VOCABULARY_FN(activate_rows)(sn_32f * row, size_t rows, size_t columns, size_t step, enum sn_activation activation,
                                  const sn_32f * param)
{
    const v32f p[2] = {v_set_32f(param[0]), v_set_32f(param[1])};
    const size_t joined = columns == step && rows ? rows : 1; /* without gaps they are one: vectors would be nearly empty */
    rows_fn fn = elu_rows;
    switch (activation) {
    case SN_ACTIVATION_MISH: fn = mish_rows; break;
    case SN_ACTIVATION_HARD_SIGMOID: fn = hard_sigmoid_rows; break;
    case SN_ACTIVATION_SWISH: fn = param[0] == 1 ? swish_of_1_rows : swish_of_any_rows; break;
    case SN_ACTIVATION_GELU: fn = gelu_rows; break;
    case SN_ACTIVATION_SIGMOID: fn = sigmoid_rows; break;
    default: break;
    }
    fn(row, rows / joined, columns * joined, step, p);
}

SN_INSTALL(activation, pointwise)
{
    SN_ACTIVATIONS(SN_POINTWISE_SLOT)
}
