/* LSTM with weights of bytes. */
#ifndef SN_OPS_RECURRENT_BYTES_H
#define SN_OPS_RECURRENT_BYTES_H

#include "ops/recurrent_plan.h"

/* Packs parameters into new memory; false if there is none. What the plan had before is still the caller's to free. */
bool sn_recurrent_bytes_set(struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given);

/* Takes parameters of this form, which `packed` has or will have. */
void sn_recurrent_bytes_use(struct sn_recurrent * r, unsigned form);

/* The bytes of parameters of a form. */
size_t sn_recurrent_bytes_size(const struct sn_recurrent * r, unsigned form);

/* The bytes of `work` for a call; and the call. */
size_t sn_recurrent_bytes_work(const struct sn_recurrent * r);
void sn_recurrent_bytes_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work);

#endif
