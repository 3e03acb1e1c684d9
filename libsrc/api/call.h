/*
 * How a public function that computes begins:
 *
 *     SN_CALL(outer, count, inner);            its shape: at most SN_CALL_VALUES arguments that describe it
 *     SN_CALL_FORMATS(1, channels, format);    the last argument (the last 1) is of SimdTensorFormatType
 *     SN_CALL_OF(context);                     for the functions of a context, which has a shape of its own
 *
 * This clears the last error, as SN_BEGIN() does, and opens a scope that ends when the function returns: then the call and
 * its time are reported (api/verbose.h). With reports off this costs one load and two branches.
 */
#ifndef SN_API_CALL_H
#define SN_API_CALL_H

#include "api/check.h"

enum { SN_CALL_VALUES = 20 };

struct sn_call {
    const char * function; /* NULL if the call is not reported; the other members are then not set */
    const void * context;
    const char * names;    /* "channels, spatial, format"; "" for a context */
    size_t count, formats; /* number of values, the last `formats` of which are of SimdTensorFormatType */
    size_t values[SN_CALL_VALUES];
    uint64_t start;
};

void sn_call_begin(struct sn_call * call, const char * function, const void * context, const char * names, size_t formats,
                   const size_t * values, size_t count);
void sn_call_report(const struct sn_call * call);

SN_INLINE void sn_call_end(const struct sn_call * call)
{
    if (!SN_LIKELY(!call->function))
        sn_call_report(call);
}

#define SN_CALL_BEGIN_(context, names, formats, values)                                                                     \
    __attribute__((cleanup(sn_call_end))) struct sn_call sn_this_call;                                                      \
    sn_this_call.function = NULL;                                                                                           \
    sn_error_clear();                                                                                                       \
    (void)(sn_verbose_off() ||                                                                                              \
           (sn_call_begin(&sn_this_call, __func__, context, names, formats, values, sizeof(values) / sizeof(size_t)), true))

#define SN_CALL(...) SN_CALL_BEGIN_(NULL, #__VA_ARGS__, 0, ((const size_t[]){__VA_ARGS__}))
#define SN_CALL_FORMATS(formats, ...) SN_CALL_BEGIN_(NULL, #__VA_ARGS__, formats, ((const size_t[]){__VA_ARGS__}))
#define SN_CALL_OF(context) SN_CALL_BEGIN_(context, "", 0, ((const size_t[]){0}))

#endif
