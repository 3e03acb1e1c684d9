/*
 * The gates of recurrent layers. Sums and state are in the L1 cache, and the time is that of sigmoid and tanh: all gates of
 * a vector of hidden units are computed together, so that their chains of operations overlap.
 */
#include "contract/recurrent.h"
#include "kernels/install.h"
#include "kernels/vec_math.h"

/* Whole vectors are a branch that is predicted, in place of a second copy of each loop. */
SN_INLINE v32f load(const sn_32f * p, size_t n) { return n == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n); }

SN_INLINE void store(sn_32f * p, v32f v, size_t n)
{
    if (n == V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, n);
}

/* The sums of n units of a gate, from unit u on. */
SN_INLINE v32f sum_of(const struct sn_recurrent_gates * p, size_t gate, size_t u, size_t n)
{
    const size_t at = gate * p->hidden + u;
    return v_add_32f(load(p->x + at, n), load(p->g + at, n));
}

SN_INLINE v32f add_peephole(const struct sn_recurrent_gates * p, size_t gate, size_t u, size_t n, v32f cell, v32f sum)
{
    return p->peephole ? v_fma_32f(load(p->peephole + gate * p->hidden + u, n), cell, sum) : sum;
}

SN_INLINE void set_state(const struct sn_recurrent_gates * p, size_t u, size_t n, v32f h)
{
    store(p->h + u, h, n);
    if (p->dst)
        store(p->dst + u, h, n);
}

/* (1 - z) * candidate + z * state */
SN_INLINE void set_mean(const struct sn_recurrent_gates * p, size_t u, size_t n, v32f z, v32f candidate)
{
    const v32f rest = v_mul_32f(v_sub_32f(v_set_32f(1), z), candidate);
    set_state(p, u, n, v_fma_32f(z, load(p->h + u, n), rest));
}

static void lstm_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        const v32f before = load(p->c + u, n);
        const v32f i = v_sigmoid_32f(add_peephole(p, SN_LSTM_INPUT, u, n, before, sum_of(p, SN_LSTM_INPUT, u, n)));
        const v32f f = v_sigmoid_32f(add_peephole(p, SN_LSTM_FORGET, u, n, before, sum_of(p, SN_LSTM_FORGET, u, n)));
        const v32f c = v_fma_32f(f, before, v_mul_32f(i, v_tanh_32f(sum_of(p, SN_LSTM_CELL, u, n))));
        const v32f o = v_sigmoid_32f(add_peephole(p, SN_LSTM_OUTPUT, u, n, c, sum_of(p, SN_LSTM_OUTPUT, u, n)));
        store(p->c + u, c, n);
        set_state(p, u, n, v_mul_32f(o, v_tanh_32f(c)));
    }
}

static void gru_linear_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        const v32f z = v_sigmoid_32f(sum_of(p, SN_GRU_UPDATE, u, n)), r = v_sigmoid_32f(sum_of(p, SN_GRU_RESET, u, n));
        const size_t at = SN_GRU_HIDDEN * p->hidden + u;
        set_mean(p, u, n, z, v_tanh_32f(v_fma_32f(r, load(p->g + at, n), load(p->x + at, n))));
    }
}

static void gru_reset_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        store(p->g + u, v_sigmoid_32f(sum_of(p, SN_GRU_UPDATE, u, n)), n);
        store(p->reset + u, v_mul_32f(v_sigmoid_32f(sum_of(p, SN_GRU_RESET, u, n)), load(p->h + u, n)), n);
    }
}

static void gru_update_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        set_mean(p, u, n, load(p->g + u, n), v_tanh_32f(sum_of(p, SN_GRU_HIDDEN, u, n)));
    }
}

SN_INSTALL(recurrent, recurrent)
{
    slots->lstm_32f = lstm_32f;
    slots->gru_linear_32f = gru_linear_32f;
    slots->gru_reset_32f = gru_reset_32f;
    slots->gru_update_32f = gru_update_32f;
}
