/* Recurrent layers: LSTM and GRU. */
#ifndef SN_OPS_RECURRENT_H
#define SN_OPS_RECURRENT_H

#include "contract/table.h"

enum sn_recurrent_type { SN_RECURRENT_LSTM, SN_RECURRENT_GRU };
enum sn_recurrent_direction { SN_RECURRENT_FORWARD, SN_RECURRENT_REVERSE, SN_RECURRENT_BIDIRECTIONAL };

struct sn_recurrent {
    const struct sn_table * table;
    enum sn_recurrent_type type;
    enum sn_recurrent_direction direction;
    size_t steps, batch, input, hidden;
    bool batchFirst, linearBeforeReset;

    size_t gates, directions; /* from here on set by sn_recurrent_plan() */
    size_t workSize;          /* bytes for a thread */
    size_t sideSize;          /* floats of the parameters of a direction */
    void * packed;            /* the parameters; NULL before they are set */
    size_t packedSize;        /* bytes of them that are not shared */
    bool peephole;            /* they include those of an LSTM */
};

/* The parameters, as in SimdnetRecurrentSetParams(). */
struct sn_recurrent_given {
    const sn_32f * W, * R, * bias, * peephole;
};

/* The arrays, as in SimdnetRecurrentCompute(). */
struct sn_recurrent_arrays {
    const sn_32f * src, * h0, * c0;
    const size_t * lengths;
    sn_32f * dst, * hn, * cn;
};

/* The elements of src, of dst and of a state; false if an array is too large. */
struct sn_recurrent_sizes {
    size_t src, dst, state;
};
bool sn_recurrent_sizes(const struct sn_recurrent * r, struct sn_recurrent_sizes * sizes);

/* Completes a plan whose first members are set; false if an array is too large. */
bool sn_recurrent_plan(struct sn_recurrent * r);

/* Packs parameters; false, and nothing has changed, if there is no memory. */
bool sn_recurrent_set(struct sn_recurrent * r, const struct sn_recurrent_given * given);

/* Takes the parameters of another plan, which differs in steps, batch and batchFirst only. */
void sn_recurrent_share(struct sn_recurrent * r, const struct sn_recurrent * from);

void sn_recurrent_free(struct sn_recurrent * r);

/* `work` has workSize bytes. */
void sn_recurrent_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work);

#endif
