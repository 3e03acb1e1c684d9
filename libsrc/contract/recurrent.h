/* The gates of recurrent layers: what follows the products of a step. */
#ifndef SN_CONTRACT_RECURRENT_H
#define SN_CONTRACT_RECURRENT_H

#include "runtime/common.h"

/* The gates of a layer in the order of weights. */
enum sn_lstm_gate { SN_LSTM_INPUT, SN_LSTM_OUTPUT, SN_LSTM_FORGET, SN_LSTM_CELL, SN_LSTM_GATES };
enum sn_gru_gate { SN_GRU_UPDATE, SN_GRU_RESET, SN_GRU_HIDDEN, SN_GRU_GATES };
enum { SN_RNN_GATES = 1 };

/* The activations of a layer: of a gate (of the sum, if there are none), of the candidate, of an LSTM's cell. */
enum sn_recurrent_place { SN_RECURRENT_GATE, SN_RECURRENT_CANDIDATE, SN_RECURRENT_CELL, SN_RECURRENT_PLACES };

enum sn_recurrent_function {
    SN_RECURRENT_SIGMOID, SN_RECURRENT_TANH, SN_RECURRENT_RELU, SN_RECURRENT_AFFINE, SN_RECURRENT_LEAKY_RELU,
    SN_RECURRENT_THRESHOLDED_RELU, SN_RECURRENT_SCALED_TANH, SN_RECURRENT_HARD_SIGMOID, SN_RECURRENT_ELU,
    SN_RECURRENT_SOFTSIGN, SN_RECURRENT_SOFTPLUS
};

struct sn_recurrent_activation {
    enum sn_recurrent_function function;
    float alpha, beta;
};

/* A step of one sequence. x and g have `hidden` floats for each gate. */
struct sn_recurrent_gates {
    size_t hidden;
    const sn_32f * x;        /* the product of the input, with its bias */
    sn_32f * g;              /* the product of the state, likewise */
    const sn_32f * peephole; /* LSTM: NULL, or those of the first three gates */
    sn_32f * c;              /* LSTM: the cell, replaced */
    sn_32f * h;              /* the state, replaced */
    sn_32f * reset;          /* GRU: the state times the reset gate */
    sn_32f * dst;            /* NULL, or where the new state is stored too */
    const struct sn_recurrent_activation * activation; /* of each place */
    float clip;              /* the sums are within -clip .. clip; infinite if they are not bounded */
    bool inputForget;        /* LSTM: the forget gate is 1 less the input gate */
};
typedef void (*sn_recurrent_gates_fn)(const struct sn_recurrent_gates * p);

/* The kernels of a level; of each two, the first is for the usual activations, without `clip` and `inputForget`. */
enum { SN_RECURRENT_USUAL, SN_RECURRENT_ANY, SN_RECURRENT_KERNELS };

struct sn_recurrent_slots {
    sn_recurrent_gates_fn lstm_32f[SN_RECURRENT_KERNELS], rnn_32f[SN_RECURRENT_KERNELS];
    sn_recurrent_gates_fn gru_linear_32f[SN_RECURRENT_KERNELS]; /* the reset gate is applied after the product */
    /* Otherwise two halves: the first stores the update gate in place of its sum, and `reset`, with which the product of the
     * hidden gate is then computed. */
    sn_recurrent_gates_fn gru_reset_32f[SN_RECURRENT_KERNELS], gru_update_32f[SN_RECURRENT_KERNELS];
};

#endif
