/* Recurrent layers: LSTM, GRU and RNN. */
#ifndef SN_OPS_RECURRENT_H
#define SN_OPS_RECURRENT_H

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

/* ---- weights of bytes: ops/recurrent_bytes.c; false if there is no memory; _use: of `packed`, which has them or will */
bool sn_recurrent_bytes_set(struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given);
void sn_recurrent_bytes_use(struct sn_recurrent * r, unsigned form);
size_t sn_recurrent_bytes_size(const struct sn_recurrent * r, unsigned form);
void sn_recurrent_bytes_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work);
size_t sn_recurrent_bytes_work(const struct sn_recurrent * r);

/* The bytes of `work` for a call; and the call. */
size_t sn_recurrent_work(const struct sn_recurrent * r);
void sn_recurrent_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work);

#endif
