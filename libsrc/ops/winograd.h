/* The Winograd transforms, on several threads: arguments as in the public functions, checked and not empty. */
#ifndef SN_OPS_WINOGRAD_H
#define SN_OPS_WINOGRAD_H

#include "contract/winograd.h"

void sn_winograd_filter_32f(enum sn_winograd kind, const sn_32f * src, size_t size, sn_32f * dst, bool trans);

/* The whole image: the functions set `begin` and `end`. */
void sn_winograd_input_32f(struct sn_winograd_input_32f job);
void sn_winograd_output_32f(struct sn_winograd_output_32f job);

#endif
