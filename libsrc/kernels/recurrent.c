/*
 * The gates of recurrent layers. Sums and state are in the L1 cache, and the time is that of sigmoid and tanh: all gates of
 * a vector of hidden units are computed together, so that their chains of operations overlap.
 *
 * Each kernel is a template with an instance for the usual activations and one for any: these are chosen for each vector,
 * and their time is not hidden.
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

/* The activation of a place, of a sum that is bounded, or of a cell. The operands of comparisons are ordered so that NaN
 * propagates. */
static v32f any_activation(const struct sn_recurrent_gates * p, enum sn_recurrent_place place, v32f sum)
{
    const struct sn_recurrent_activation * a = &p->activation[place];
    const v32f alpha = v_set_32f(a->alpha), beta = v_set_32f(a->beta), zero = v_zero_32f();
    const v32f clip = v_set_32f(place == SN_RECURRENT_CELL ? INFINITY : p->clip);
    const v32f x = v_min_32f(clip, v_max_32f(v_sub_32f(zero, clip), sum));
    switch (a->function) {
    case SN_RECURRENT_SIGMOID: return v_sigmoid_32f(x);
    case SN_RECURRENT_TANH: return v_tanh_32f(x);
    case SN_RECURRENT_RELU: return v_max_32f(zero, x);
    case SN_RECURRENT_AFFINE: return v_fma_32f(alpha, x, beta);
    case SN_RECURRENT_LEAKY_RELU: return v_select_32f(v_lt_32f(x, zero), v_mul_32f(alpha, x), x);
    case SN_RECURRENT_THRESHOLDED_RELU: return v_select_32f(v_lt_32f(x, alpha), zero, x);
    case SN_RECURRENT_SCALED_TANH: return v_mul_32f(alpha, v_tanh_32f(v_mul_32f(beta, x)));
    case SN_RECURRENT_HARD_SIGMOID: return v_hard_sigmoid_32f(x, alpha, beta);
    case SN_RECURRENT_ELU: return v_elu_32f(x, alpha);
    case SN_RECURRENT_SOFTSIGN: return v_div_32f(x, v_add_32f(v_set_32f(1), v_abs_32f(x)));
    case SN_RECURRENT_SOFTPLUS: return v_softplus_32f(x);
    }
    return x;
}

SN_INLINE v32f gate_of(const struct sn_recurrent_gates * p, bool usual, v32f sum)
{
    return usual ? v_sigmoid_32f(sum) : any_activation(p, SN_RECURRENT_GATE, sum);
}

SN_INLINE v32f tanh_of(const struct sn_recurrent_gates * p, bool usual, enum sn_recurrent_place place, v32f sum)
{
    return usual ? v_tanh_32f(sum) : any_activation(p, place, sum);
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

/* 1 - i, or the activation of its own sum. */
SN_INLINE v32f forget_of(const struct sn_recurrent_gates * p, bool usual, size_t u, size_t n, v32f before, v32f i)
{
    if (!usual && p->inputForget)
        return v_sub_32f(v_set_32f(1), i);
    return gate_of(p, usual, add_peephole(p, SN_LSTM_FORGET, u, n, before, sum_of(p, SN_LSTM_FORGET, u, n)));
}

SN_INLINE void lstm(const struct sn_recurrent_gates * p, bool usual)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        const v32f before = load(p->c + u, n);
        const v32f i = gate_of(p, usual, add_peephole(p, SN_LSTM_INPUT, u, n, before, sum_of(p, SN_LSTM_INPUT, u, n)));
        const v32f f = forget_of(p, usual, u, n, before, i);
        const v32f new = tanh_of(p, usual, SN_RECURRENT_CANDIDATE, sum_of(p, SN_LSTM_CELL, u, n));
        const v32f c = v_fma_32f(f, before, v_mul_32f(i, new));
        const v32f o = gate_of(p, usual, add_peephole(p, SN_LSTM_OUTPUT, u, n, c, sum_of(p, SN_LSTM_OUTPUT, u, n)));
        store(p->c + u, c, n);
        set_state(p, u, n, v_mul_32f(o, tanh_of(p, usual, SN_RECURRENT_CELL, c)));
    }
}

SN_INLINE void gru_linear(const struct sn_recurrent_gates * p, bool usual)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        const v32f z = gate_of(p, usual, sum_of(p, SN_GRU_UPDATE, u, n));
        const v32f r = gate_of(p, usual, sum_of(p, SN_GRU_RESET, u, n));
        const size_t at = SN_GRU_HIDDEN * p->hidden + u;
        const v32f sum = v_fma_32f(r, load(p->g + at, n), load(p->x + at, n));
        set_mean(p, u, n, z, tanh_of(p, usual, SN_RECURRENT_CANDIDATE, sum));
    }
}

SN_INLINE void gru_reset(const struct sn_recurrent_gates * p, bool usual)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        store(p->g + u, gate_of(p, usual, sum_of(p, SN_GRU_UPDATE, u, n)), n);
        store(p->reset + u, v_mul_32f(gate_of(p, usual, sum_of(p, SN_GRU_RESET, u, n)), load(p->h + u, n)), n);
    }
}

SN_INLINE void gru_update(const struct sn_recurrent_gates * p, bool usual)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        const v32f sum = sum_of(p, SN_GRU_HIDDEN, u, n);
        set_mean(p, u, n, load(p->g + u, n), tanh_of(p, usual, SN_RECURRENT_CANDIDATE, sum));
    }
}

SN_INLINE void rnn(const struct sn_recurrent_gates * p, bool usual)
{
    for (size_t u = 0; u < p->hidden; u += V32F_N) {
        const size_t n = sn_min(p->hidden - u, V32F_N);
        set_state(p, u, n, tanh_of(p, usual, SN_RECURRENT_GATE, sum_of(p, 0, u, n)));
    }
}

static void lstm_32f(const struct sn_recurrent_gates * p) { lstm(p, true); }
static void lstm_any_32f(const struct sn_recurrent_gates * p) { lstm(p, false); }
static void gru_linear_32f(const struct sn_recurrent_gates * p) { gru_linear(p, true); }
static void gru_linear_any_32f(const struct sn_recurrent_gates * p) { gru_linear(p, false); }
static void gru_reset_32f(const struct sn_recurrent_gates * p) { gru_reset(p, true); }
static void gru_reset_any_32f(const struct sn_recurrent_gates * p) { gru_reset(p, false); }
static void gru_update_32f(const struct sn_recurrent_gates * p) { gru_update(p, true); }
static void gru_update_any_32f(const struct sn_recurrent_gates * p) { gru_update(p, false); }
static void rnn_32f(const struct sn_recurrent_gates * p) { rnn(p, true); }
static void rnn_any_32f(const struct sn_recurrent_gates * p) { rnn(p, false); }

SN_INSTALL(recurrent, recurrent)
{
    *slots = (struct sn_recurrent_slots){.lstm_32f = {lstm_32f, lstm_any_32f}, .rnn_32f = {rnn_32f, rnn_any_32f},
        .gru_linear_32f = {gru_linear_32f, gru_linear_any_32f}, .gru_reset_32f = {gru_reset_32f, gru_reset_any_32f},
        .gru_update_32f = {gru_update_32f, gru_update_any_32f}};
}
