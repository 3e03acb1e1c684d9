/*
 * LSTM with weights of bytes, as DynamicQuantizeLSTM of ONNX Runtime: the inputs of all steps are quantised with their common
 * range, the states of all sequences that have the step with theirs, and products of bytes are exact. So the sequences of a
 * direction are computed together; all begin in the first round, those of a reverse direction with their own last step.
 */
#include "ops/recurrent_bytes.h"

#include <string.h>

#include "ops/convolution/plan.h"
#include "ops/bytes/quantize_linear.h"
#include "ops/units.h"
#include "runtime/arena.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* Rows of inputs that are multiplied together. */
enum { ROWS = 64 };

/* Arrays of `rows` rows of inputs or `batch` states; parts of the memory of a thread. */
struct workspace {
    uint8_t * inputs, * states;
    sn_32f * x, * g, * h, * c;
    uint8_t * product;
};

/* The parameters of a direction that are not in its matrices. */
struct values {
    sn_32f * scaleW, * scaleR, * biasW, * biasR, * peephole;
    uint8_t * zeroW, * zeroR;
};

/* The inputs as bytes, which both directions read. */
struct inputs {
    uint8_t * bytes;
    sn_32f scale;
    uint8_t zero;
};

struct job {
    const struct sn_recurrent * r;
    const struct sn_recurrent_arrays * a;
    const struct inputs * inputs;
    size_t longest; /* steps of the longest sequence */
};

/* ---- memory */

static sn_32f * floats_at(uintptr_t * at, size_t count) { return sn_layout_array(at, count * sizeof(float), SN_ALIGN); }

static uintptr_t layout_values(const struct sn_recurrent * r, uintptr_t at, struct values * v)
{
    const size_t columns = r->gates * r->hidden, scales = r->bytes.perColumn ? columns : 1;
    v->scaleW = floats_at(&at, scales);
    v->scaleR = floats_at(&at, scales);
    v->biasW = floats_at(&at, columns);
    v->biasR = floats_at(&at, columns);
    v->peephole = floats_at(&at, 3 * r->hidden);
    v->zeroW = sn_layout_array(&at, scales, SN_ALIGN);
    v->zeroR = sn_layout_array(&at, scales, SN_ALIGN);
    return sn_align(at, SN_ALIGN);
}

static struct values values_of(const struct sn_recurrent * r, size_t direction)
{
    struct values v;
    const size_t size = layout_values(r, 0, &v);
    layout_values(r, (uintptr_t)r->packed + direction * size, &v);
    return v;
}

/* Steps whose inputs are multiplied together. */
static size_t steps_at_once(const struct sn_recurrent * r) { return sn_min(r->steps, sn_max(ROWS / r->batch, 1)); }

static uintptr_t layout_work(const struct sn_recurrent * r, uintptr_t at, struct workspace * w)
{
    const size_t columns = r->gates * r->hidden, rows = steps_at_once(r) * r->batch;
    w->x = floats_at(&at, rows * columns);
    w->g = floats_at(&at, r->batch * columns);
    w->h = floats_at(&at, r->batch * r->hidden);
    w->c = floats_at(&at, r->batch * r->hidden);
    w->inputs = sn_layout_array(&at, rows * r->input, SN_ALIGN);
    w->states = sn_layout_array(&at, r->batch * r->hidden, SN_ALIGN);
    const size_t product = sn_max(sn_quantized_matrix_work(&r->bytes.W[0], rows),
                                  sn_quantized_matrix_work(&r->bytes.R[0], r->batch));
    w->product = sn_layout_array(&at, product, SN_ALIGN);
    return sn_align(at, SN_ALIGN);
}

/* Inputs as bytes, and a copy of those that are used, if sequences have lengths. */
static size_t count_of(const struct sn_recurrent * r) { return r->steps * r->batch * r->input; }

size_t sn_recurrent_bytes_work(const struct sn_recurrent * r)
{
    struct workspace w;
    return layout_work(r, 0, &w) + sn_align(count_of(r), SN_ALIGN) + count_of(r) * sizeof(float);
}

/* ---- parameters */

static struct sn_quantized_matrix matrix_of(const struct sn_recurrent * r, size_t rows)
{
    return (struct sn_quantized_matrix){.table = r->table, .N = r->gates * r->hidden, .K = rows,
        .with_sign = r->bytes.with_sign, .borrowed = true};
}

/* Places the matrices behind the other parameters; returns the bytes of all. */
static size_t place_matrices(struct sn_recurrent * r)
{
    struct values v;
    uintptr_t at = (uintptr_t)r->packed;
    at += r->directions * layout_values(r, 0, &v);
    for (size_t d = 0; d < r->directions; ++d)
        for (int of_states = 0; of_states < 2; ++of_states) {
            struct sn_quantized_matrix * q = of_states ? &r->bytes.R[d] : &r->bytes.W[d];
            *q = matrix_of(r, of_states ? r->hidden : r->input);
            q->packed = sn_layout_array(&at, sn_quantized_matrix_size(q), SN_ALIGN);
        }
    return sn_align(at, SN_ALIGN) - (uintptr_t)r->packed;
}

void sn_recurrent_bytes_use(struct sn_recurrent * r, unsigned form)
{
    r->peephole = form & SN_RECURRENT_PEEPHOLE;
    r->bytes = (struct sn_recurrent_bytes){.used = form & SN_RECURRENT_BYTES, .with_sign = form & SN_RECURRENT_SIGN,
        .perColumn = form & SN_RECURRENT_COLUMNS};
    if (r->bytes.used)
        place_matrices(r);
}

size_t sn_recurrent_bytes_size(const struct sn_recurrent * r, unsigned form)
{
    struct sn_recurrent of_form = *r;
    of_form.packed = NULL;
    of_form.bytes = (struct sn_recurrent_bytes){.used = true, .perColumn = form & SN_RECURRENT_COLUMNS};
    return place_matrices(&of_form);
}

/* An array of a direction, or zeros. */
static void take(void * to, const void * from, size_t direction, size_t bytes)
{
    if (from)
        memcpy(to, (const uint8_t *)from + direction * bytes, bytes);
    else
        memset(to, 0, bytes);
}

static void set_values(const struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given, size_t d)
{
    const size_t columns = r->gates * r->hidden, scales = r->bytes.perColumn ? columns : 1;
    const struct values v = values_of(r, d);
    take(v.scaleW, given->scaleW, d, scales * sizeof(float));
    take(v.scaleR, given->scaleR, d, scales * sizeof(float));
    take(v.zeroW, given->zeroW, d, scales);
    take(v.zeroR, given->zeroR, d, scales);
    take(v.biasW, given->bias, 2 * d, columns * sizeof(float));
    take(v.biasR, given->bias, 2 * d + 1, columns * sizeof(float));
    take(v.peephole, given->peephole, d, 3 * r->hidden * sizeof(float));
}

static bool set_matrices(const struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given, size_t d)
{
    const struct sn_quantized_matrix * W = &r->bytes.W[d], * R = &r->bytes.R[d];
    return sn_quantized_matrix_pack(W, given->W + d * W->N * W->K, false, W->packed) &&
           sn_quantized_matrix_pack(R, given->R + d * R->N * R->K, false, R->packed);
}

bool sn_recurrent_bytes_set(struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given)
{
    const unsigned form = SN_RECURRENT_BYTES | (given->peephole ? SN_RECURRENT_PEEPHOLE : 0) |
                          (given->with_sign ? SN_RECURRENT_SIGN : 0) | (given->perColumn ? SN_RECURRENT_COLUMNS : 0);
    r->packedSize = sn_recurrent_bytes_size(r, form);
    r->packed = sn_arena_allocate(r->packedSize);
    if (!r->packed)
        return false;
    memset(r->packed, 0, r->packedSize); /* gaps too, which files have */
    r->borrowed = false;
    sn_recurrent_bytes_use(r, form);
    for (size_t d = 0; d < r->directions; ++d) {
        set_values(r, given, d);
        if (!set_matrices(r, given, d)) {
            sn_arena_free(r->packed);
            return false;
        }
    }
    return true;
}

/* ---- the inputs */

/* The inputs of all sequences, zeros for steps that they do not have. */
static const sn_32f * used_inputs(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, sn_32f * copy)
{
    if (!a->lengths)
        return a->src;
    memset(copy, 0, count_of(r) * sizeof(float));
    for (size_t b = 0; b < r->batch; ++b)
        for (size_t step = 0; step < a->lengths[b]; ++step) {
            const size_t at = sn_recurrent_src_at(r, b, step);
            memcpy(copy + at, a->src + at, r->input * sizeof(float));
        }
    return copy;
}

/* The step of a sequence in round i of a direction. */
static size_t step_at(const struct job * job, size_t direction, size_t sequence, size_t i)
{
    const bool reverse = direction || job->r->direction == SN_RECURRENT_REVERSE;
    return reverse ? sn_recurrent_length(job->r, job->a, sequence) - 1 - i : i;
}

static void multiply(const struct job * job, const struct sn_quantized_matrix * matrix, size_t rows, const uint8_t * a,
                     const sn_32f * scale, const uint8_t * zero, const sn_32f * scales, const uint8_t * zeros,
                     const sn_32f * bias, sn_32f * c, uint8_t * work)
{
    sn_quantized_matrix_multiply(&(struct sn_quantized_gemm){.M = rows, .N = matrix->N, .K = matrix->K, .A = a,
        .signedB = matrix->with_sign, .perColumn = job->r->bytes.perColumn, .zeroA = zero, .zeroB = zeros, .scaleA = scale,
        .scaleB = scales, .bias = bias, .type = SN_DATA_32F, .C = (void *)c}, matrix, work);
}

/* The products of the inputs of rounds i .. i + count - 1; bytes that stand for 0 where a sequence has ended. */
static void multiply_inputs(const struct job * job, size_t d, const struct values * v, const struct workspace * w, size_t i,
                            size_t count)
{
    const struct sn_recurrent * r = job->r;
    uint8_t * to = w->inputs;
    for (size_t end = i + count; i < end; ++i)
        for (size_t b = 0; b < r->batch; ++b, to += r->input)
            if (i < sn_recurrent_length(r, job->a, b))
                memcpy(to, job->inputs->bytes + sn_recurrent_src_at(r, b, step_at(job, d, b, i)), r->input);
            else
                memset(to, job->inputs->zero, r->input);
    multiply(job, &r->bytes.W[d], count * r->batch, w->inputs, &job->inputs->scale, &job->inputs->zero, v->scaleW, v->zeroW,
             v->biasW, w->x, w->product);
}

/* ---- the states */

static void multiply_states(const struct job * job, size_t d, const struct values * v, const struct workspace * w)
{
    const struct sn_recurrent * r = job->r;
    sn_32f scale;
    uint8_t zero;
    sn_dynamic_quantize(&(struct sn_dynamic_quantize){w->h, r->batch * r->hidden, w->states, &scale, &zero});
    multiply(job, &r->bytes.R[d], r->batch, w->states, &scale, &zero, v->scaleR, v->zeroR, v->biasR, w->g, w->product);
}

/* Stores the state and the cell of a sequence, which has ended; its state is then as if it were not there. */
static void end_sequence(const struct job * job, size_t d, const struct workspace * w, size_t b)
{
    const struct sn_recurrent * r = job->r;
    const size_t at = sn_recurrent_state_at(r, d, b), from = b * r->hidden, bytes = r->hidden * sizeof(float);
    if (job->a->hn)
        memcpy(job->a->hn + at, w->h + from, bytes);
    if (job->a->cn)
        memcpy(job->a->cn + at, w->c + from, bytes);
    memset(w->h + from, 0, bytes);
}

/* Round i. */
static void compute_gates(const struct job * job, size_t d, const struct values * v, const struct workspace * w,
                          const sn_32f * x, size_t i)
{
    const struct sn_recurrent * r = job->r;
    const size_t columns = r->gates * r->hidden;
    for (size_t b = 0; b < r->batch; ++b) {
        const size_t length = sn_recurrent_length(r, job->a, b);
        if (i >= length)
            continue;
        sn_32f * dst = job->a->dst ? job->a->dst + sn_recurrent_dst_at(r, d, b, step_at(job, d, b, i)) : NULL;
        r->table->recurrent.lstm_32f[r->kernel](&(struct sn_recurrent_gates){.hidden = r->hidden, .x = x + b * columns,
            .g = w->g + b * columns, .peephole = r->peephole ? v->peephole : NULL, .c = w->c + b * r->hidden,
            .h = w->h + b * r->hidden, .dst = dst, .activation = r->activation[d], .clip = r->clip,
            .inputForget = r->inputForget});
        if (i + 1 == length)
            end_sequence(job, d, w, b);
    }
}

/* The states before the first round; results of steps that a sequence does not have are 0. */
static void begin_all(const struct job * job, size_t d, const struct workspace * w)
{
    const struct sn_recurrent * r = job->r;
    const size_t bytes = r->hidden * sizeof(float);
    for (size_t b = 0; b < r->batch; ++b) {
        const size_t at = sn_recurrent_state_at(r, d, b), length = sn_recurrent_length(r, job->a, b);
        take(w->h + b * r->hidden, job->a->h0 ? job->a->h0 + at : NULL, 0, bytes);
        take(w->c + b * r->hidden, job->a->c0 ? job->a->c0 + at : NULL, 0, bytes);
        for (size_t step = length; job->a->dst && step < r->steps; ++step)
            memset(job->a->dst + sn_recurrent_dst_at(r, d, b, step), 0, bytes);
        if (length == 0)
            end_sequence(job, d, w, b);
    }
}

/* ---- */

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_recurrent * r = job->r;
    const size_t block = steps_at_once(r), rows = r->batch * r->gates * r->hidden;
    struct workspace w;
    layout_work(r, (uintptr_t)work, &w);
    for (size_t d = begin; d < end; ++d) {
        const struct values v = values_of(r, d);
        begin_all(job, d, &w);
        for (size_t i = 0; i < job->longest; ++i) {
            if (i % block == 0)
                multiply_inputs(job, d, &v, &w, i, sn_min(block, job->longest - i));
            multiply_states(job, d, &v, &w);
            compute_gates(job, d, &v, &w, w.x + i % block * rows, i);
        }
    }
}

/* A single direction divides its products among threads; two are computed by a thread each. */
void sn_recurrent_bytes_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work)
{
    struct workspace w;
    const size_t size = layout_work(r, 0, &w);
    struct inputs inputs = {.bytes = (uint8_t *)work + size};
    struct job job = {r, a, &inputs, 0};
    for (size_t b = 0; b < r->batch; ++b)
        job.longest = sn_max(job.longest, sn_recurrent_length(r, a, b));
    const sn_32f * src = used_inputs(r, a, (void *)(inputs.bytes + sn_align(count_of(r), SN_ALIGN)));
    sn_dynamic_quantize(&(struct sn_dynamic_quantize){src, count_of(r), inputs.bytes, &inputs.scale, &inputs.zero});
    if (r->directions == 1) {
        run(&job, work, 0, 1);
        return;
    }
    const double columns = 2 * (double)r->batch * (double)(r->gates * r->hidden) * (double)r->steps;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = 2,
        .cost = sn_cost_of_sums(columns * (double)(r->input + r->hidden) / 4, r->table->alignment), .work = work,
        .workBytes = size});
}
