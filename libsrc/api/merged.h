/* Contexts of merged convolutions of all element types: their checks, and what their public functions share. */
#ifndef SN_API_MERGED_H
#define SN_API_MERGED_H

#include "api/convolution.h"
#include "api/forward.h"
#include "ops/convolution/merged.h"

struct sn_merged_context {
    struct sn_context head;
    struct sn_merged plan;
};

/* What a kind of contexts permits. */
struct sn_merged_rules {
    bool add;    /* the source is added: its shape is that of the result of three convolutions */
    bool square; /* both strides of a convolution are equal */
};

/* How messages name the parameters of a stage. */
extern const char * const sn_merged_names[];

/* Copies the parameters of two or three convolutions to *p, and checks them: each type is float or the kind's small one.
 * True, or the last error is set. */
bool sn_take_merged(const char * function, size_t batch, const SimdConvolutionParameters * conv, size_t count,
                    const struct sn_merged_kind * how, struct sn_merged_rules rules, struct sn_convolution_parameters * p);

/* A new context of these convolutions, or NULL, and the last error is set. */
void * sn_merged_init(const struct sn_context_kind * kind, const char * function, const struct sn_merged_kind * how,
                      size_t batch, const struct sn_convolution_parameters * p, size_t count, enum sn_merged_addition add);

/* ---- for struct sn_context_kind */

void sn_merged_destroy(void * context);
struct sn_stages sn_merged_stages_of(void * context);
void sn_merged_forward_any(const char * function, void * context, const SimdnetForwardParameters * f);

/* `also`: NULL, or what SimdnetShareParams() asks, see there. */
#define SN_MERGED_KIND(text, also)                                                                                          \
    {.name = text, .destroy = sn_merged_destroy, .forward = sn_merged_forward_any, .stages = sn_merged_stages_of,           \
     .alike = also}

/* ---- the public functions, for contexts of a kind */

size_t sn_merged_external(const struct sn_context_kind * kind, const char * function, const void * context);
size_t sn_merged_internal(const struct sn_context_kind * kind, const char * function, const void * context);

/* The arguments of SetParams: an array for each convolution; bias and params may be NULL. `stats`: for bytes, those of the
 * source, of the source of the last convolution, and of the result: minima and maxima of each, NULL where not used. */
struct sn_merged_arrays {
    const sn_32f * const * weight, * const * bias, * const * params, * const * stats;
};

/* Sets them; false, and the last error set, if they are refused. */
bool sn_merged_set_params(const struct sn_context_kind * kind, const char * function, void * context,
                          const struct sn_merged_arrays * given);

void sn_merged_forward(const struct sn_context_kind * kind, const char * function, const void * context, const void * src,
                       void * buf, void * dst);

#endif
