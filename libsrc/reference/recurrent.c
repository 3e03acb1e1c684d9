
#include "contract/recurrent.h"
#include "reference/libm.h"
#include "reference/reference.h"

static double sigmoid(double x) { return 1 / (1 + sn_exp(-x)); }

/* The sum of unit u of a gate. */
static double sum_of(const struct sn_recurrent_gates * p, int gate, size_t u)
{
    const size_t at = (size_t)gate * p->hidden + u;
    return (double)p->x[at] + p->g[at];
}

static double peephole(const struct sn_recurrent_gates * p, int gate, size_t u, double cell)
{
    return p->peephole ? p->peephole[(size_t)gate * p->hidden + u] * cell : 0;
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
        const double i = sigmoid(sum_of(p, SN_LSTM_INPUT, u) + peephole(p, SN_LSTM_INPUT, u, p->c[u]));
        const double f = sigmoid(sum_of(p, SN_LSTM_FORGET, u) + peephole(p, SN_LSTM_FORGET, u, p->c[u]));
        const double c = f * p->c[u] + i * sn_tanh(sum_of(p, SN_LSTM_CELL, u));
        const double o = sigmoid(sum_of(p, SN_LSTM_OUTPUT, u) + peephole(p, SN_LSTM_OUTPUT, u, c));
        p->c[u] = (float)c;
        set_state(p, u, o * sn_tanh(c));
    }
}

static void gru_linear_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        const double z = sigmoid(sum_of(p, SN_GRU_UPDATE, u)), r = sigmoid(sum_of(p, SN_GRU_RESET, u));
        const size_t at = SN_GRU_HIDDEN * p->hidden + u;
        const double n = sn_tanh(p->x[at] + r * p->g[at]);
        set_state(p, u, (1 - z) * n + z * p->h[u]);
    }
}

static void gru_reset_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        p->g[u] = (float)sigmoid(sum_of(p, SN_GRU_UPDATE, u));
        p->reset[u] = (float)(sigmoid(sum_of(p, SN_GRU_RESET, u)) * p->h[u]);
    }
}

static void gru_update_32f(const struct sn_recurrent_gates * p)
{
    for (size_t u = 0; u < p->hidden; ++u) {
        const double z = p->g[u];
        set_state(p, u, (1 - z) * sn_tanh(sum_of(p, SN_GRU_HIDDEN, u)) + z * p->h[u]);
    }
}

SN_INSTALL(recurrent, recurrent)
{
    slots->lstm_32f = lstm_32f;
    slots->gru_linear_32f = gru_linear_32f;
    slots->gru_reset_32f = gru_reset_32f;
    slots->gru_update_32f = gru_update_32f;
}
