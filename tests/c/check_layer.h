/* Shared by the checks of layers with a context: Init, SetParams, Forward, their properties, and what they refuse. */
#ifndef SN_CHECK_LAYER_H
#define SN_CHECK_LAYER_H

#include "check_convolution.h"

enum { CHECK_STAGES = 3 };

/* The arrays of a case; those of several stages are concatenated. There are four statistics: minima and maxima of the
 * source, minima and maxima of the destination. */
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
    size_t unit, weight_unit; /* bytes: the unit of both buffer sizes, and the least that a context stores per weight */
    bool stats;               /* SetParams takes statistics */
    bool narrow;              /* numbers narrower than floats: weights are not subnormal */
    void * (*make)(const struct check_layer * l);
    /* SetParams with these arrays, some of them NULL; false if `internal` was not set to SimdTrue. */
    bool (*call_set_params)(const struct check_layer * l, void * context, const float * const * a);
    void (*run)(void * context, const void * src, void * buf, void * dst);
    void (*also)(const struct check_layer * l, void * const * a); /* NULL, or a further check of the result */
};

/* The members of a family that follow from the name of its functions. */
#define CHECK_LAYER_FUNCTIONS(function)                                                                                     \
    .init = #function "Init", .set_params = #function "SetParams", .forward = #function "Forward",                          \
    .external = #function "ExternalBufferSize", .internal = #function "InternalBufferSize",                                 \
    .external_size = function##ExternalBufferSize, .internal_size = function##InternalBufferSize

/* A layer and how it is called. A family's own job is one, or has one as its first member. */
struct check_layer {
    const struct check_layer_family * family;
    SimdConvolutionParameters p[CHECK_STAGES];
    size_t stages, batch;
    bool add;                              /* merged stages: the source is added */
    bool own_buffer;                       /* pass a buffer to Forward */
    bool no_bias;
    bool null_conv, no_set, wrong_context; /* faults: Init without parameters, Forward without SetParams, not a context */
    enum check_layer_array missing;        /* the array that is NULL in calls that must be refused */
};

/* A layer of batch 1; the layer with another batch, with or without a buffer. */
struct check_layer check_layer_of(const struct check_layer_family * family, SimdConvolutionParameters p);
struct check_layer check_layer_with(struct check_layer l, size_t batch, bool own_buffer);

/* The number of floats, or of elements for src and dst. */
size_t check_layer_count(const struct check_layer * l, enum check_layer_array array);

/* ---- a case: check_layer_case() begins it, the family changes data and sets the kind of comparison, one of these runs it.
 * Besides the result they verify that the bits depend neither on the buffer (with a batch of 1) nor on the batch and the
 * position in it, that buffers need no more than the reported size, that InternalBufferSize() counts the weights, and that
 * no array of SetParams is kept. */

/* `text` describes the layer except how it is called; a[] receives the contents of the arrays; the result is that of
 * check_case(). Weights are filled according to `fill`, but with small finite values where it would give large or infinite
 * ones. dst is declared last, unless there are statistics. */
bool check_layer_case(const struct check_layer * l, const char * text, enum check_fill fill, void ** a);

void check_layer_run(const struct check_layer * l);
void check_layer_run_equal(const struct check_layer * l); /* a batch of equal images */
void check_layer_bench(const struct check_layer * l, double flops);

/* Layers of known networks; `begin` begins their cases. */
void check_layer_bench_known(const struct check_layer_family * family, void (*begin)(struct check_layer * l));

/* ---- invalid arguments */

/* Init must refuse this layer. */
void check_layer_refuse_init(const struct check_layer * l, const char * argument);

/* The same for a valid layer after one change, of j. */
#define CHECK_REFUSED_INIT(valid, argument, change)                                                                         \
    do {                                                                                                                    \
        struct check_layer j = valid;                                                                                       \
        change;                                                                                                             \
        check_layer_refuse_init(&j, argument);                                                                              \
    } while (0)

/* What Init must refuse for every single layer. The given layer is valid, with a 6x6 image, 4 inputs and 6 outputs in two
 * groups; each fault is tried alone. */
void check_layer_refuse_parameters(const struct check_layer * l);

/* What SetParams and Forward must refuse for a valid layer, which must have params for its activation. */
void check_layer_refuse_calls(const struct check_layer * l);
void check_layer_refuse_missing(const struct check_layer * l, enum check_layer_array array, const char * argument);

/* A layer without output channels needs no arrays. */
void check_layer_empty(const struct check_layer * l);

/* The steps, for a family's own cases: Init (also for check_convolution_algorithms()), Init and SetParams, Forward. */
void * check_layer_init(const void * layer, void * const * a);
void * check_layer_open(const void * layer, void * const * a);
void check_layer_forward(const void * layer, void * context, void * const * a);

#endif
