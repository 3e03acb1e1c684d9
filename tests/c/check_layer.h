/* What the checks of layers with a context share: Init, SetParams, Forward, what must hold for them, what they refuse. */
#ifndef SN_CHECK_LAYER_H
#define SN_CHECK_LAYER_H

#include "check_convolution.h"

enum { CHECK_STAGES = 3 };

/* The arrays of a case. Those of several stages lie behind each other. Statistics are four: minima and maxima of the source,
 * minima and maxima of the destination. */
enum check_layer_array {
    CHECK_SRC,
    CHECK_WEIGHT,
    CHECK_BIAS,
    CHECK_PARAMS,
    CHECK_DST,
    CHECK_STATS,
    CHECK_NO_ARRAY = CHECK_STATS + 4
};

struct check_layer;

struct check_layer_family {
    const char * init, * set_params, * forward, * external, * internal; /* names of the functions */
    size_t (*external_size)(const void * context), (*internal_size)(const void * context);
    size_t unit, weight_unit; /* bytes: what both sizes count, and the least that a context keeps of a weight */
    bool stats;               /* SetParams takes statistics */
    bool narrow;              /* of numbers smaller than floats: weights are not subnormal */
    void * (*make)(const struct check_layer * l);
    /* SetParams with these arrays, of which some are NULL; false if `internal` has not become SimdTrue. */
    bool (*give)(const struct check_layer * l, void * context, const float * const * a);
    void (*run)(void * context, const void * src, void * buf, void * dst);
    void (*also)(const struct check_layer * l, void * const * a); /* NULL, or what else must hold of a result */
};

/* The part of a family that follows from the name of its functions. */
#define CHECK_LAYER_FUNCTIONS(function)                                                                                     \
    .init = #function "Init", .set_params = #function "SetParams", .forward = #function "Forward",                          \
    .external = #function "ExternalBufferSize", .internal = #function "InternalBufferSize",                                 \
    .external_size = function##ExternalBufferSize, .internal_size = function##InternalBufferSize

/* A layer and how it is called. A family's own job begins with one, or is one. */
struct check_layer {
    const struct check_layer_family * family;
    SimdConvolutionParameters p[CHECK_STAGES];
    size_t stages, batch;
    bool add;                              /* of stages: the source is added */
    bool own_buffer;                       /* give Forward a buffer */
    bool no_bias;
    bool null_conv, no_set, wrong_context; /* faults: Init without parameters, Forward without SetParams, no context */
    enum check_layer_array missing;        /* the array that a call does not get in the calls that must be refused */
};

/* One layer of batch 1; and another batch, with or without a buffer. */
struct check_layer check_layer_of(const struct check_layer_family * family, SimdConvolutionParameters p);
struct check_layer check_layer_with(struct check_layer l, size_t batch, bool own_buffer);

/* The number of floats, or of elements of src and dst. */
size_t check_layer_count(const struct check_layer * l, enum check_layer_array array);

/* ---- a case: check_layer_case() begins it, the family changes data and tells how results are compared, one of these runs
 * it. They verify beside results: bits depend neither on the buffer (with a batch of 1) nor on the place in a batch, buffers
 * have the size that is told and are not left, InternalBufferSize() counts the weights, no array of SetParams is kept. */

/* `text` tells all but how it is called; a[] gets the arrays' contents; the result is that of check_case(). Weights are
 * filled as `fill` says, but with small finite values where it would give large or infinite ones. dst is declared last, if
 * there are no statistics. */
bool check_layer_case(const struct check_layer * l, const char * text, enum check_fill fill, void ** a);

void check_layer_run(const struct check_layer * l);
void check_layer_run_equal(const struct check_layer * l); /* a batch of equal images */
void check_layer_bench(const struct check_layer * l, double flops);

/* ---- faults */

/* Init must refuse this one. */
void check_layer_refuse_init(const struct check_layer * l, const char * argument);

/* What Init must refuse of every single layer. The one that is given is good, of a 6x6 image, with 4 inputs and 6 outputs in
 * two groups; each fault is put into it alone. */
void check_layer_refuse_parameters(const struct check_layer * l);

/* What SetParams and Forward of a good layer, one with params for its activation, must refuse. */
void check_layer_refuse_calls(const struct check_layer * l);
void check_layer_refuse_missing(const struct check_layer * l, enum check_layer_array array, const char * argument);

/* A layer without output channels needs no arrays. */
void check_layer_empty(const struct check_layer * l);

/* The parts, for cases of a family's own: Init (also for check_convolution_algorithms()), Init and SetParams, Forward. */
void * check_layer_init(const void * layer, void * const * a);
void * check_layer_open(const void * layer, void * const * a);
void check_layer_forward(const void * layer, void * context, void * const * a);

#endif
