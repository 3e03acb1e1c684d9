/* What recurrent layers of floats and of bytes share: the plan, its parameters, and where values are in the arrays. */
#ifndef SN_OPS_RECURRENT_PLAN_H
#define SN_OPS_RECURRENT_PLAN_H

#include "contract/table.h"
#include "ops/bytes/quantized_gemm.h"

enum sn_recurrent_type { SN_RECURRENT_LSTM, SN_RECURRENT_GRU, SN_RECURRENT_RNN };
enum sn_recurrent_direction { SN_RECURRENT_FORWARD, SN_RECURRENT_REVERSE, SN_RECURRENT_BIDIRECTIONAL };

/* Weights of bytes: a matrix for each direction, with scales and zeros of one or of each column. They are in `packed`. */
struct sn_recurrent_bytes {
    bool used; /* the layer has them, not floats */
    bool with_sign, perColumn;
    struct sn_quantized_matrix W[2], R[2];
};

/* What parameters are, besides their sizes. */
enum { SN_RECURRENT_PEEPHOLE = 1, SN_RECURRENT_BYTES = 2, SN_RECURRENT_SIGN = 4, SN_RECURRENT_COLUMNS = 8 };

struct sn_recurrent {
    const struct sn_table * table;
    enum sn_recurrent_type type;
    enum sn_recurrent_direction direction;
    size_t steps, batch, input, hidden;
    bool batchFirst, linearBeforeReset, inputForget;
    float clip;              /* as in contract/recurrent.h */
    struct sn_recurrent_activation activation[2][SN_RECURRENT_PLACES]; /* of each direction */

    size_t gates, directions; /* from here on set by sn_recurrent_plan() */
    int kernel;               /* SN_RECURRENT_USUAL or SN_RECURRENT_ANY */
    size_t workSize;          /* bytes for a thread */
    size_t sideSize;          /* floats of the parameters of a direction */
    void * packed;            /* the parameters; NULL before they are set */
    size_t packedSize;        /* bytes of them that are not shared */
    bool borrowed;            /* whether they are in memory of the caller */
    bool peephole;            /* they include those of an LSTM */
    struct sn_recurrent_bytes bytes;
};

/* The parameters, as in SimdnetRecurrentSetParams(). */
struct sn_recurrent_given {
    const sn_32f * W, * R, * bias, * peephole;
};

/* As in SimdnetRecurrentSetQuantizedParams(). */
struct sn_recurrent_given_bytes {
    const uint8_t * W, * R, * zeroW, * zeroR;
    const sn_32f * scaleW, * scaleR, * bias, * peephole;
    bool with_sign, perColumn;
};

/* The arrays, as in SimdnetRecurrentCompute(). */
struct sn_recurrent_arrays {
    const sn_32f * src, * h0, * c0;
    const size_t * lengths;
    sn_32f * dst, * hn, * cn;
};

/* The first value of a step of a sequence in src, in dst, and in an array of states. */
static inline size_t sn_recurrent_src_at(const struct sn_recurrent * r, size_t sequence, size_t step)
{
    return (r->batchFirst ? sequence * r->steps + step : step * r->batch + sequence) * r->input;
}

static inline size_t sn_recurrent_dst_at(const struct sn_recurrent * r, size_t direction, size_t sequence, size_t step)
{
    return (r->batchFirst ? (sequence * r->steps + step) * r->directions + direction
                          : (step * r->directions + direction) * r->batch + sequence) * r->hidden;
}

static inline size_t sn_recurrent_state_at(const struct sn_recurrent * r, size_t direction, size_t sequence)
{
    return (r->batchFirst ? sequence * r->directions + direction : direction * r->batch + sequence) * r->hidden;
}

static inline size_t sn_recurrent_length(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, size_t sequence)
{
    return a->lengths ? a->lengths[sequence] : r->steps;
}

#endif
