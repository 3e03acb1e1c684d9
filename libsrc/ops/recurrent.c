/*
 * Recurrent layers. The products of the input do not depend on the state: they are computed for a block of steps at once.
 * Then each step takes the product of the state before, for a single sequence a matrix by a vector, whose time is that of
 * reading the matrix from the L2 cache; the gates follow.
 *
 * The inputs of a block are copied in the order of the steps: so the sequences of a batch are together in either layout, a
 * reversed sequence is like any other, and rows do not evict each other from the L1 cache. The copy takes little time beside
 * the products, which use each value gates * hidden times.
 *
 * A reversed sequence that is shorter than others begins later: steps count from the end of the longest.
 *
 * Directions, and the sequences of a batch, are divided among threads; of a single sequence in one direction, the columns of
 * each product.
 */
#include "ops/recurrent.h"

#include <math.h>
#include <string.h>

#include "ops/cache_sets.h"
#include "ops/convolution/plan.h"
#include "ops/packed_32f.h"
#include "ops/recurrent_bytes.h"
#include "ops/units.h"
#include "runtime/arena.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* The most sequences that are computed together, and rows of inputs in a block: their sums stay in the L2 cache, and reading
 * W takes less time than multiplying it. */
enum { ROWS = 64 };

/* ---- memory: the parameters of a direction, the workspace of a thread */

struct parameters {
    struct sn_packed_32f W, R, hidden; /* hidden: R of the GRU's last gate, where it has a product of its own */
    sn_32f * biasW, * biasR, * peephole;
};

struct workspace {
    size_t inputPitch, gatesPitch, statePitch;  /* floats of a row */
    sn_32f * inputs, * x, * g, * h, * c, * reset; /* x, g: as in contract/recurrent.h */
};

/* True if the last gate of a GRU is multiplied by another state than the first two. */
static bool is_split(const struct sn_recurrent * r) { return r->type == SN_RECURRENT_GRU && !r->linearBeforeReset; }

static sn_32f * floats_at(uintptr_t * at, size_t count) { return sn_layout_array(at, count * sizeof(float), SN_ALIGN); }

static uintptr_t layout_parameters(const struct sn_recurrent * r, uintptr_t at, struct parameters * p)
{
    const size_t columns = r->gates * r->hidden, last = is_split(r) ? r->hidden : 0;
    p->W = (struct sn_packed_32f){&r->table->gemm, r->input, columns, NULL};
    p->R = (struct sn_packed_32f){&r->table->gemm, r->hidden, columns - last, NULL};
    p->hidden = (struct sn_packed_32f){&r->table->gemm, r->hidden, last, NULL};
    p->W.panels = floats_at(&at, sn_packed_size_32f(&p->W));
    p->R.panels = floats_at(&at, sn_packed_size_32f(&p->R));
    p->hidden.panels = floats_at(&at, last ? sn_packed_size_32f(&p->hidden) : 0);
    p->biasW = floats_at(&at, sn_packed_bias_size_32f(&p->W));
    p->biasR = floats_at(&at, sn_packed_bias_size_32f(&p->W));
    p->peephole = floats_at(&at, r->type == SN_RECURRENT_LSTM ? 3 * r->hidden : 0);
    return at;
}

static struct parameters parameters_of(const struct sn_recurrent * r, size_t direction)
{
    struct parameters p;
    layout_parameters(r, (uintptr_t)r->packed + direction * r->sideSize, &p);
    return p;
}

static size_t sequences_at_once(const struct sn_recurrent * r) { return sn_min(r->batch, ROWS); }

/* The steps whose inputs are multiplied together, of `rows` sequences. */
static size_t steps_at_once(const struct sn_recurrent * r, size_t rows)
{
    const size_t blocks = sn_ceil_div(r->steps, sn_max(ROWS / rows, 1));
    return sn_ceil_div(r->steps, blocks);
}

static uintptr_t layout_work(const struct sn_recurrent * r, uintptr_t at, struct workspace * w)
{
    const size_t rows = sequences_at_once(r), block = sn_min(ROWS, r->batch * r->steps);
    w->inputPitch = sn_spaced(r->input, SN_FOUR_SETS);
    w->gatesPitch = sn_spaced(r->gates * r->hidden, SN_FOUR_SETS);
    w->statePitch = sn_spaced(r->hidden, SN_FOUR_SETS);
    w->inputs = floats_at(&at, block * w->inputPitch);
    w->x = floats_at(&at, block * w->gatesPitch);
    w->g = floats_at(&at, rows * w->gatesPitch);
    w->h = floats_at(&at, rows * w->statePitch);
    w->c = floats_at(&at, r->type == SN_RECURRENT_LSTM ? rows * w->statePitch : 0);
    w->reset = floats_at(&at, is_split(r) ? rows * w->statePitch : 0);
    return at;
}

/* ---- plan and parameters */

bool sn_recurrent_sizes(const struct sn_recurrent * r, struct sn_recurrent_sizes * sizes)
{
    return sn_product(&sizes->src, r->steps, r->batch, r->input) &&
           sn_product(&sizes->state, r->directions, r->batch, r->hidden) && sn_product(&sizes->dst, r->steps, sizes->state);
}

enum sn_recurrent_function sn_recurrent_usual(enum sn_recurrent_type type, enum sn_recurrent_place place)
{
    return place == SN_RECURRENT_GATE && type != SN_RECURRENT_RNN ? SN_RECURRENT_SIGMOID : SN_RECURRENT_TANH;
}

/* The activations of a layer: those of places that it does not have are usual ones. */
static bool is_usual(const struct sn_recurrent * r)
{
    bool usual = isinf(r->clip) && !r->inputForget;
    for (size_t d = 0; d < r->directions; ++d)
        for (int place = 0; place < SN_RECURRENT_PLACES; ++place)
            usual &= r->activation[d][place].function == sn_recurrent_usual(r->type, (enum sn_recurrent_place)place);
    return usual;
}

bool sn_recurrent_plan(struct sn_recurrent * r)
{
    static const size_t gates[] = {SN_LSTM_GATES, SN_GRU_GATES, SN_RNN_GATES};
    enum { MARGIN = 64 }; /* floats that panels and rows may be longer */
    struct sn_recurrent_sizes sizes;
    struct parameters p;
    struct workspace w;
    size_t columns, most;
    r->gates = gates[r->type];
    r->directions = r->direction == SN_RECURRENT_BIDIRECTIONAL ? 2 : 1;
    r->kernel = is_usual(r) ? SN_RECURRENT_USUAL : SN_RECURRENT_ANY;
    if (!sn_recurrent_sizes(r, &sizes) || !sn_product(&columns, r->gates, r->hidden) ||
        !sn_product(&most, 4 * MARGIN, columns + MARGIN, sn_max(r->input, r->hidden) + MARGIN))
        return false;
    r->sideSize = layout_parameters(r, 0, &p);
    r->workSize = layout_work(r, 0, &w);
    return true;
}

/* Copies the bias of a direction; its parameters are zeros so far. */
static void set_bias(const struct sn_recurrent * r, const struct parameters * p, const sn_32f * bias)
{
    const size_t count = r->gates * r->hidden;
    memcpy(p->biasW, bias, count * sizeof(float));
    memcpy(p->biasR, bias + count, count * sizeof(float));
}

static void set_direction(const struct sn_recurrent * r, const struct sn_recurrent_given * given, size_t d)
{
    const size_t columns = r->gates * r->hidden;
    const struct parameters p = parameters_of(r, d);
    const sn_32f * R = given->R + d * columns * r->hidden;
    sn_pack_32f(&p.W, given->W + d * columns * r->input);
    sn_pack_32f(&p.R, R);
    if (is_split(r))
        sn_pack_32f(&p.hidden, R + p.R.columns * r->hidden);
    if (given->bias)
        set_bias(r, &p, given->bias + d * 2 * columns);
    if (given->peephole)
        memcpy(p.peephole, given->peephole + d * 3 * r->hidden, 3 * r->hidden * sizeof(float));
}

bool sn_recurrent_set(struct sn_recurrent * r, const struct sn_recurrent_given * given)
{
    const size_t size = sn_recurrent_packed_size(r, 0);
    void * packed = sn_arena_allocate(size);
    if (!packed)
        return false;
    sn_recurrent_free(r);
    memset(packed, 0, size);
    r->packed = packed;
    r->borrowed = false;
    r->packedSize = size;
    r->peephole = given->peephole != NULL;
    for (size_t d = 0; d < r->directions; ++d)
        set_direction(r, given, d);
    return true;
}

bool sn_recurrent_set_bytes(struct sn_recurrent * r, const struct sn_recurrent_given_bytes * given)
{
    struct sn_recurrent made = *r;
    if (!sn_recurrent_bytes_set(&made, given))
        return false;
    sn_recurrent_free(r);
    *r = made;
    return true;
}

void sn_recurrent_share(struct sn_recurrent * r, const struct sn_recurrent * from)
{
    struct sn_recurrent before = *r;
    r->packed = from->borrowed ? from->packed : sn_arena_share(from->packed);
    r->packedSize = 0;
    r->borrowed = from->borrowed;
    r->peephole = from->peephole;
    r->bytes = from->bytes;
    sn_recurrent_free(&before);
}

unsigned sn_recurrent_form(const struct sn_recurrent * r)
{
    return (r->peephole ? SN_RECURRENT_PEEPHOLE : 0) | (r->bytes.used ? SN_RECURRENT_BYTES : 0) |
           (r->bytes.with_sign ? SN_RECURRENT_SIGN : 0) | (r->bytes.perColumn ? SN_RECURRENT_COLUMNS : 0);
}

size_t sn_recurrent_packed_size(const struct sn_recurrent * r, unsigned form)
{
    if (form / 2 && (r->type != SN_RECURRENT_LSTM || !(form & SN_RECURRENT_BYTES) || form >= 2 * SN_RECURRENT_COLUMNS))
        return 0;
    return form & SN_RECURRENT_BYTES ? sn_recurrent_bytes_size(r, form) : r->directions * r->sideSize;
}

void sn_recurrent_borrow(struct sn_recurrent * r, void * packed, unsigned form)
{
    sn_recurrent_free(r);
    r->packed = packed;
    r->packedSize = 0;
    r->borrowed = true;
    sn_recurrent_bytes_use(r, form);
}

void sn_recurrent_free(struct sn_recurrent * r)
{
    if (!r->borrowed)
        sn_arena_free(r->packed);
    r->bytes.used = r->bytes.with_sign = r->bytes.perColumn = false;
}

size_t sn_recurrent_held(const struct sn_recurrent * r) { return r->packedSize; }

/* ---- some sequences in one direction */

struct side {
    const struct sn_recurrent * r;
    const struct sn_recurrent_arrays * a;
    struct parameters p;
    struct workspace w;
    size_t direction, first, rows; /* sequences first .. first + rows - 1 */
    size_t longest;                /* steps of the longest of them */
    bool reverse;
    bool alone;                    /* the only ones of the call: their products are divided among threads */
};

/* The length of sequence `row` of these. */
static size_t length_of(const struct side * s, size_t row) { return sn_recurrent_length(s->r, s->a, s->first + row); }

/* The first element of a sequence's state in h0, c0, hn, cn. */
static size_t state_at(const struct side * s, size_t row)
{
    return sn_recurrent_state_at(s->r, s->direction, s->first + row);
}

static const sn_32f * src_at(const struct side * s, size_t row, size_t step)
{
    return s->a->src + sn_recurrent_src_at(s->r, s->first + row, step);
}

static sn_32f * dst_at(const struct side * s, size_t row, size_t step)
{
    return s->a->dst + sn_recurrent_dst_at(s->r, s->direction, s->first + row, step);
}

/* The number of the step, in the order of computation, with which a sequence begins. */
static size_t begin_of(const struct side * s, size_t row) { return s->reverse ? s->longest - length_of(s, row) : 0; }

/* A row of zeros, or of what is given. */
static void set_row(sn_32f * row, const sn_32f * given, size_t bytes)
{
    if (given)
        memcpy(row, given, bytes);
    else
        memset(row, 0, bytes);
}

/* Rows of sequences that have not begun, or have ended, are zeros: they are multiplied like the others, but raise no
 * floating-point exceptions. */
static void clear_sequence(const struct side * s, size_t row)
{
    const size_t at = row * s->w.statePitch, bytes = s->r->hidden * sizeof(float);
    memset(s->w.h + at, 0, bytes);
    if (is_split(s->r))
        memset(s->w.reset + at, 0, bytes);
}

static void begin_sequence(const struct side * s, size_t row)
{
    const size_t at = row * s->w.statePitch, bytes = s->r->hidden * sizeof(float);
    set_row(s->w.h + at, s->a->h0 ? s->a->h0 + state_at(s, row) : NULL, bytes);
    if (s->r->type == SN_RECURRENT_LSTM)
        set_row(s->w.c + at, s->a->c0 ? s->a->c0 + state_at(s, row) : NULL, bytes);
}

static void end_sequence(const struct side * s, size_t row)
{
    const size_t at = row * s->w.statePitch, bytes = s->r->hidden * sizeof(float);
    if (s->a->hn)
        memcpy(s->a->hn + state_at(s, row), s->w.h + at, bytes);
    if (s->a->cn)
        memcpy(s->a->cn + state_at(s, row), s->w.c + at, bytes);
    clear_sequence(s, row);
}

/* Before step i, or behind the last one: what begins there, and what has ended; a sequence without steps does both. */
static void begin_and_end(const struct side * s, size_t i)
{
    for (size_t row = 0; row < s->rows; ++row) {
        const size_t begin = begin_of(s, row);
        if (i == begin)
            begin_sequence(s, row);
        if (i == begin + length_of(s, row))
            end_sequence(s, row);
    }
}

/* Finds the longest sequence; writes the outputs beyond the end of each one. */
static void prepare_sequences(struct side * s)
{
    s->longest = 0;
    for (size_t row = 0; row < s->rows; ++row) {
        clear_sequence(s, row);
        s->longest = sn_max(s->longest, length_of(s, row));
        for (size_t step = length_of(s, row); s->a->dst && step < s->r->steps; ++step)
            memset(dst_at(s, row, step), 0, s->r->hidden * sizeof(float));
    }
}

/* The i-th step that is computed. */
static size_t step_at(const struct side * s, size_t i) { return s->reverse ? s->longest - 1 - i : i; }

/* The products of the inputs of steps i .. i + count - 1; zeros for sequences that are shorter. */
static void multiply_inputs(const struct side * s, size_t i, size_t count)
{
    const struct workspace * w = &s->w;
    const size_t bytes = s->r->input * sizeof(float);
    sn_32f * to = w->inputs;
    for (size_t end = i + count; i < end; ++i)
        for (size_t row = 0; row < s->rows; ++row, to += w->inputPitch)
            if (step_at(s, i) < length_of(s, row))
                memcpy(to, src_at(s, row, step_at(s, i)), bytes);
            else
                memset(to, 0, bytes);
    sn_packed_multiply_32f(&s->p.W, w->inputs, w->inputPitch, count * s->rows, s->p.biasW, w->x,
                           w->gatesPitch, s->alone);
}

/* A kernel for all sequences that have this step. */
static void compute_gates(const struct side * s, const sn_recurrent_gates_fn * kernels, const sn_32f * x, size_t step)
{
    const struct sn_recurrent * r = s->r;
    const struct workspace * w = &s->w;
    for (size_t row = 0; row < s->rows; ++row) {
        const size_t state = row * w->statePitch, gates = row * w->gatesPitch;
        if (step < length_of(s, row))
            kernels[r->kernel](&(struct sn_recurrent_gates){.hidden = r->hidden, .x = x + gates, .g = w->g + gates,
                .peephole = r->peephole ? s->p.peephole : NULL, .c = w->c + state, .h = w->h + state,
                .reset = w->reset + state, .dst = s->a->dst ? dst_at(s, row, step) : NULL,
                .activation = r->activation[s->direction], .clip = r->clip, .inputForget = r->inputForget});
    }
}

static void compute_step(const struct side * s, const sn_32f * x, size_t step)
{
    const struct workspace * w = &s->w;
    const struct sn_recurrent_slots * kernels = &s->r->table->recurrent;
    const size_t updates = s->p.R.columns; /* the gates before the last, if that is split */
    sn_packed_multiply_32f(&s->p.R, w->h, w->statePitch, s->rows, s->p.biasR, w->g, w->gatesPitch,
                           s->alone);
    if (s->r->type == SN_RECURRENT_LSTM) {
        compute_gates(s, kernels->lstm_32f, x, step);
    } else if (s->r->type == SN_RECURRENT_RNN) {
        compute_gates(s, kernels->rnn_32f, x, step);
    } else if (!is_split(s->r)) {
        compute_gates(s, kernels->gru_linear_32f, x, step);
    } else {
        compute_gates(s, kernels->gru_reset_32f, x, step);
        sn_packed_multiply_32f(&s->p.hidden, w->reset, w->statePitch, s->rows, s->p.biasR + updates, w->g + updates,
                               w->gatesPitch, s->alone);
        compute_gates(s, kernels->gru_update_32f, x, step);
    }
}

static void compute_side(struct side * s)
{
    prepare_sequences(s);
    const size_t block = steps_at_once(s->r, s->rows);
    for (size_t i = 0; i < s->longest; i += block) {
        const size_t count = sn_min(block, s->longest - i);
        multiply_inputs(s, i, count);
        for (size_t k = 0; k < count; ++k) {
            begin_and_end(s, i + k);
            compute_step(s, s->w.x + k * s->rows * s->w.gatesPitch, step_at(s, i + k));
        }
    }
    begin_and_end(s, s->longest);
}

/* ---- all of them */

struct job {
    const struct sn_recurrent * r;
    const struct sn_recurrent_arrays * a;
};

/* Units are the sequences of the first direction, then those of the second. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_recurrent * r = job->r;
    struct side s = {.r = r, .a = job->a, .alone = r->directions * r->batch == 1};
    layout_work(r, (uintptr_t)work, &s.w);
    for (; begin < end; begin += s.rows) {
        s.direction = begin / r->batch;
        s.first = begin % r->batch;
        s.rows = sn_min(sn_min(end - begin, r->batch - s.first), sequences_at_once(r));
        s.reverse = s.direction || r->direction == SN_RECURRENT_REVERSE;
        s.p = parameters_of(r, s.direction);
        compute_side(&s);
    }
}

size_t sn_recurrent_work(const struct sn_recurrent * r) { return r->bytes.used ? sn_recurrent_bytes_work(r) : r->workSize; }

/* Each range of units reads R in each step: there are as few ranges as threads. */
void sn_recurrent_compute(const struct sn_recurrent * r, const struct sn_recurrent_arrays * a, void * work)
{
    if (r->bytes.used) {
        sn_recurrent_bytes_compute(r, a, work);
        return;
    }
    const struct job job = {r, a};
    const size_t units = r->directions * r->batch;
    const double columns = (double)units * (double)(r->gates * r->hidden) * (double)r->steps;
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = units,
        .cost = sn_cost_of_sums(columns * (double)(r->input + r->hidden), r->table->alignment),
        .least = sn_ceil_div(units, sn_threads()), .work = work, .workBytes = r->workSize});
}
