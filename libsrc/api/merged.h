/* Checks of contexts of merged convolutions of all element types. */
#ifndef SN_API_MERGED_H
#define SN_API_MERGED_H

#include "api/convolution.h"
#include "ops/convolution/merged_32f.h"

/* With two stages, the kernel of the second determines whether it is the depthwise stage. */
enum sn_merged_stage sn_merged_first(const struct sn_convolution_parameters * p, size_t count);

/* How messages name the parameters of a stage. */
extern const char * const sn_merged_names[];

/* The parameters of two or three stages; with `small`, types are each float or this one, and the projection has no padding.
 * True, or the last error is set. */
bool sn_check_merged(const char * function, const struct sn_convolution_parameters * p, size_t count, bool add,
                     enum sn_data small);

#endif
