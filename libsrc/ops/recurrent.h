/* Recurrent layers: LSTM, GRU and RNN. */
#ifndef SN_OPS_RECURRENT_H
#define SN_OPS_RECURRENT_H

#include "ops/recurrent_plan.h"

/* The usual activation of a place. */
enum sn_recurrent_function sn_recurrent_usual(enum sn_recurrent_type type, enum sn_recurrent_place place);

/* The elements of src, of dst and of a state; false if an array is too large. */
struct sn_recurrent_sizes {
    size_t src, dst, state;
};
bool sn_recurrent_sizes(const struct sn_recurrent * r, struct sn_recurrent_sizes * sizes);

/* Completes a plan whose first members are set; false if an array is too large. */
bool sn_recurrent_plan(struct sn_recurrent * r);

/* Packs parameters; false, and nothing has changed, if there is no memory. */
bool sn_recurrent_set(struct sn_recurrent * r, const struct sn_recurrent_given * given);
bool sn_recurrent_set_bytes(struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given);

/* Takes the parameters of another plan, which has W and R of the same sizes. */
void sn_recurrent_share(struct sn_recurrent * r, const struct sn_recurrent * from);

/* The form of the parameters; the bytes of those of any form, 0 for one that the layer cannot have; and parameters of as many
 * bytes, in memory of the caller, in their place. */
unsigned sn_recurrent_form(const struct sn_recurrent * r);
size_t sn_recurrent_packed_size(const struct sn_recurrent * r, unsigned form);
void sn_recurrent_borrow(struct sn_recurrent * r, void * packed, unsigned form);

void sn_recurrent_free(struct sn_recurrent * r);

/* The bytes that the parameters take, unless they are shared. */
size_t sn_recurrent_held(const struct sn_recurrent * r);

/* The bytes of `work` for a call; and the call. */
size_t sn_recurrent_work(const struct sn_recurrent * r);
void sn_recurrent_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work);

#endif
