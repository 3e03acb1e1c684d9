/* The gates of recurrent layers: what follows the products of a step. */
#ifndef SN_CONTRACT_RECURRENT_H
#define SN_CONTRACT_RECURRENT_H

#include "runtime/common.h"

/* The gates of a layer in the order of weights. */
enum sn_lstm_gate { SN_LSTM_INPUT, SN_LSTM_OUTPUT, SN_LSTM_FORGET, SN_LSTM_CELL, SN_LSTM_GATES };
enum sn_gru_gate { SN_GRU_UPDATE, SN_GRU_RESET, SN_GRU_HIDDEN, SN_GRU_GATES };

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
};
typedef void (*sn_recurrent_gates_fn)(const struct sn_recurrent_gates * p);

/* The kernels of a level. */
struct sn_recurrent_slots {
    sn_recurrent_gates_fn lstm_32f;
    sn_recurrent_gates_fn gru_linear_32f; /* the reset gate is applied behind the product */
    /* Otherwise two halves: the first stores the update gate in place of its sum, and `reset`, with which the product of the
     * hidden gate is then computed. */
    sn_recurrent_gates_fn gru_reset_32f, gru_update_32f;
};

#endif
