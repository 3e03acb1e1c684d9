
#include "contract/recurrent.h"
#include "reference/libm.h"
#include "reference/reference.h"

/* A place's activation. The operands of comparisons are ordered so that NaN propagates. */
static double activate(const struct sn_recurrent_gates * p, enum sn_recurrent_place place, double sum)
{
    const struct sn_recurrent_activation * a = &p->activation[place];
    const double clip = place == SN_RECURRENT_CELL ? INFINITY : p->clip;
    const double x = sum < -clip ? -clip : sum > clip ? clip : sum;
    switch (a->function) {
    case SN_RECURRENT_SIGMOID: return sn_sigmoid(x);
    case SN_RECURRENT_TANH: return sn_tanh(x);
    case SN_RECURRENT_RELU: return x < 0 ? 0 : x;
    case SN_RECURRENT_AFFINE: return a->alpha * x + a->beta;
    case SN_RECURRENT_LEAKY_RELU: return x < 0 ? a->alpha * x : x;
    case SN_RECURRENT_THRESHOLDED_RELU: return x < a->alpha ? 0 : x;
    case SN_RECURRENT_SCALED_TANH: return a->alpha * sn_tanh(a->beta * x);
    case SN_RECURRENT_HARD_SIGMOID: {
        const double y = a->alpha * x + a->beta;
        return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    case SN_RECURRENT_ELU: return x < 0 ? a->alpha * sn_expm1(x) : x;
    case SN_RECURRENT_SOFTSIGN: return x / (1 + fabs(x));
    case SN_RECURRENT_SOFTPLUS: return (x < 0 ? 0 : x) + sn_log1p(sn_exp(-fabs(x)));
    }
    return x;
}

static double gate(const struct sn_recurrent_gates * p, double sum) { return activate(p, SN_RECURRENT_GATE, sum); }
static double candidate(const struct sn_recurrent_gates * p, double sum) { return activate(p, SN_RECURRENT_CANDIDATE, sum); }

/* The sum of unit u of a gate. */
static double sum_of(const struct sn_recurrent_gates * p, int g, size_t u)
{
    const size_t at = (size_t)g * p->hidden + u;
    return (double)p->x[at] + p->g[at];
}

static double peephole(const struct sn_recurrent_gates * p, int g, size_t u, double cell)
{
    return p->peephole ? p->peephole[(size_t)g * p->hidden + u] * cell : 0;
}

static void set_state(const struct sn_recurrent_gates * p, size_t u, double h)
{
    p->h[u] = (float)h;
    if (p->dst)
        p->dst[u] = (float)h;
}

static void lstm_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        const double i = gate(p, sum_of(p, SN_LSTM_INPUT, u) + peephole(p, SN_LSTM_INPUT, u, p->c[u]));
        const double own = sum_of(p, SN_LSTM_FORGET, u) + peephole(p, SN_LSTM_FORGET, u, p->c[u]);
        const double f = p->inputForget ? 1 - i : gate(p, own);
        const double c = f * p->c[u] + i * candidate(p, sum_of(p, SN_LSTM_CELL, u));
        const double o = gate(p, sum_of(p, SN_LSTM_OUTPUT, u) + peephole(p, SN_LSTM_OUTPUT, u, c));
        p->c[u] = (float)c;
        set_state(p, u, o * activate(p, SN_RECURRENT_CELL, c));
    }
}

static void gru_linear_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        const double z = gate(p, sum_of(p, SN_GRU_UPDATE, u)), r = gate(p, sum_of(p, SN_GRU_RESET, u));
        const size_t at = SN_GRU_HIDDEN * p->hidden + u;
        const double n = candidate(p, p->x[at] + r * p->g[at]);
        set_state(p, u, (1 - z) * n + z * p->h[u]);
    }
}

static void gru_reset_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        p->g[u] = (float)gate(p, sum_of(p, SN_GRU_UPDATE, u));
        p->reset[u] = (float)(gate(p, sum_of(p, SN_GRU_RESET, u)) * p->h[u]);
    }
}

static void gru_update_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        const double z = p->g[u];
        set_state(p, u, (1 - z) * candidate(p, sum_of(p, SN_GRU_HIDDEN, u)) + z * p->h[u]);
    }
}

static void rnn_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u)
        set_state(p, u, gate(p, sum_of(p, 0, u)));
}

SN_INSTALL(recurrent, recurrent)
{
    for (int i = 0; i < SN_RECURRENT_KERNELS; ++i) {
        slots->lstm_32f[i] = lstm_32f;
        slots->gru_linear_32f[i] = gru_linear_32f;
        slots->gru_reset_32f[i] = gru_reset_32f;
        slots->gru_update_32f[i] = gru_update_32f;
        slots->rnn_32f[i] = rnn_32f;
    }
}
