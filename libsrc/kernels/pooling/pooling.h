/*
 * Pooling: maxima of floats, bfloat16 and bytes, averages of floats and bfloat16, over windows of rows and columns.
 *
 * A tensor is planes of rows of pixels of `inner` elements (see contract/pooling.h). A window is reduced in two steps, first
 * over its rows (and planes), element by element, then over its columns. Both use vectors of neighbouring outputs. Two rows
 * of outputs are computed together: the rows of the image that both windows cover are read once.
 *
 * No element needs a mask: clipped rows are omitted from the first step; the second reads a buffer in which the border is
 * filled with the identity of the reduction.
 *
 * Each kind of pooling is a source file that includes this one and defines
 *
 *   ELEMENT TYPE VECTOR LANES  the element of the arrays, and the vocabulary's suffix, vector and vector size for it
 *   CELL ARRAY                 only if arrays are widened: the element of vectors and buffers, which TYPE then names, and
 *                              the suffix of loads that widen ELEMENT and of stores that round to it
 *   COMPACT                    1 for small code: few functions are specialised, and rows of outputs are computed one at a
 *                              time. Widened arrays need it
 *   IDENTITY                   the identity of the reduction, a VECTOR
 *   REDUCTION REDUCE(a, b)     the type of intermediate values, and the reduction of two of them
 *   INIT(v) TERM(v)            vectors to reductions: the first term of each, and all others
 *   PACK(r) UNPACK(v)          converts a reduction to a vector that can be stored and shuffled, and back
 *   FINISH(r, divisor)         the results of a reduction, a vector
 *   REDUCE_LANES(v)            reduces the lanes of a vector from PACK, to lane 0
 *   HAS_DIVISOR                1 if FINISH uses the divisor
 */
#include <string.h>

#ifdef CELL
#define WIDENS 1
#else
#define WIDENS 0
#define CELL ELEMENT
#define ARRAY TYPE
#endif

#ifndef COMPACT
#define COMPACT 0
#endif

#define WORD(name) SN_JOIN3(v_, name, SN_JOIN2(_, TYPE))
#define ARRAY_WORD(name) SN_JOIN3(v_, name, SN_JOIN2(_, ARRAY))

#include "kernels/pooling/plan.h"
#if HAS_DIVISOR
#include "kernels/pooling/sums.h"
#endif

/* What is known of a step at compile time: its numbers of rows, or 0 if they are unknown. */
struct constants {
    int common, own;
    bool two, flat; /* it has two rows of outputs; windows have one plane */
};

#define BITS(v) SN_JOIN3(v_cast_, TYPE, _32i)(v)
#define FROM_BITS(v) SN_JOIN2(v_cast_32i_, TYPE)(v)

/* Read from 64 - n: the mask of the first n bytes of a vector. */
static const int8_t first_bytes[128] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};

/* Cells of the buffer, and of a row in it. RING: columns of overlapping windows, a power of two. NARROW: elements of a
 * pixel. RUN: vectors of a run of channels (overlap_run()). */
enum { BUFFER = 16384 / sizeof(CELL), ROW = BUFFER / 2, MAX_ROWS = 32, RING = 32, NARROW = 4, RUN = 32 };

/* Independent accumulators in the reduction of single elements. */
enum { ACCUMULATORS = 4 };

SN_INLINE VECTOR load(const ELEMENT * p, int i, size_t n, bool full)
{
    if (full)
        return ARRAY_WORD(load)(p + i * LANES);
    const size_t at = sn_min((size_t)i * LANES, n);
    return ARRAY_WORD(load_tail)(p + at, sn_min(n - at, LANES));
}

/* Lanes outside the mask become IDENTITY. */
SN_INLINE VECTOR masked(VECTOR v, v32i mask)
{
    return FROM_BITS(v_xor_32i(BITS(IDENTITY), v_and_32i(mask, v_xor_32i(BITS(IDENTITY), BITS(v)))));
}

/* Stores v to all lanes of n elements. */
static void fill(ELEMENT * p, size_t n, VECTOR v)
{
    for (; n >= LANES; n -= LANES, p += LANES)
        ARRAY_WORD(store)(p, v);
    if (n)
        ARRAY_WORD(store_tail)(p, v, n);
}

/* The results of empty windows. */
static void fill_identity(const struct sn_pooling * p, ELEMENT * dst, size_t outputs)
{
    const float divisor = divisor_of(p, 0, 0) * divisor_of(p, 1, 0) * divisor_of(p, 2, 0);
    const VECTOR v = FINISH(UNPACK(IDENTITY), v_set_32f(divisor));
    const bool dense = p->dstPixel == p->inner;
    (void)divisor;
    for (size_t o = 0; o < (dense ? 1 : outputs); ++o)
        fill(dst + o * p->dstPixel, dense ? outputs * p->inner : p->inner, v);
}

/* ---- the first step: over rows and planes */

/* The input of one or two rows of outputs. Kept in registers: a vector store might alias it in memory. */
struct input {
    const ELEMENT * common, * own[2];   /* rows of both, rows of one */
    size_t rows, own_rows[2];           /* the number of each */
    size_t pitch;                       /* elements between rows */
    size_t planes, plane;               /* the number of planes, each with the same rows, and elements between planes */
};

SN_INLINE struct input input_of(const struct step * t, const ELEMENT * src, size_t pitch, size_t planes, size_t plane)
{
    return (struct input){.common = src + t->common.begin,
                          .own = {src + t->own[0].begin, src + t->own[1].begin},
                          .rows = t->common.count,
                          .own_rows = {t->own[0].count, t->own[1].count},
                          .pitch = pitch,
                          .planes = planes,
                          .plane = plane};
}

/* Reduces `rows` rows at p into u vectors. */
SN_INLINE void fold(REDUCTION * v, int u, const ELEMENT * p, size_t rows, size_t pitch, size_t n, bool full, int known)
{
    if (known) {
        SN_UNROLL
        for (int row = 0; row < known; ++row, p += pitch) {
            SN_UNROLL
            for (int i = 0; i < u; ++i)
                v[i] = REDUCE(v[i], TERM(load(p, i, n, full)));
        }
        return;
    }
    for (; rows; --rows, p += pitch) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], TERM(load(p, i, n, full)));
    }
}

#if HAS_DIVISOR
/* `rows` rows of all planes at p. */
SN_INLINE struct terms terms_of(const struct input * r, const ELEMENT * p, size_t rows, size_t n)
{
    return (struct terms){p, rows, r->pitch, 2 * r->pitch, r->planes, r->plane, n, false};
}

/* Adds `rows` rows of all planes at p to v, or if they are few, so that chain is true, one after the other; rows may be 0. */
SN_INLINE void add_terms(v32f * v, int u, const struct input * r, const ELEMENT * p, size_t rows, size_t n, bool full,
                         bool chain)
{
    const struct terms t = terms_of(r, p, rows, n);
    v32f w[4];
    if (rows == 0)
        return;
    if (chain)
        sum_chain(w, u, &t, full);
    else
        sum_terms(w, u, &t, full);
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = v_add_32f(v[i], w[i]);
}

/* reduce() of several planes: each is summed separately, so that chains do not grow with their number. With !chain also of
 * many rows or planes. */
SN_INLINE void reduce_planes(v32f * v0, v32f * v1, int u, const struct input * r, size_t x, size_t n, bool full, bool two,
                             bool chain)
{
    const struct terms t = terms_of(r, r->common + x, r->rows, n);
    if (chain)
        sum_chain(v0, u, &t, full);
    else
        sum_terms(v0, u, &t, full);
    if (!two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    add_terms(v0, u, r, r->own[0] + x, r->own_rows[0], n, full, chain);
    add_terms(v1, u, r, r->own[1] + x, r->own_rows[1], n, full, chain);
}

/* reduce() if one chain of additions might be too long. Not inlined: many instances of reduce() share it. */
static __attribute__((noinline)) void reduce_long(v32f * v0, v32f * v1, int u, const struct input * r, size_t x, size_t n,
                                                  bool full, bool two)
{
    switch (full ? u : 0) {
    case 4: reduce_planes(v0, v1, 4, r, x, n, true, two, false); return;
    case 2: reduce_planes(v0, v1, 2, r, x, n, true, two, false); return;
    case 1: reduce_planes(v0, v1, 1, r, x, n, true, two, false); return;
    default: reduce_planes(v0, v1, 1, r, x, n, false, two, false);
    }
}
#endif

/* Reduces elements x .. x + u * LANES - 1 (with !full: the n of them that exist), for one or two rows of outputs. */
SN_INLINE void reduce(REDUCTION * v0, REDUCTION * v1, int u, const struct input * r, size_t x, size_t n, bool full,
                      struct constants k)
{
#if HAS_DIVISOR
    if (!k.common && is_long(r->rows + sn_max(r->own_rows[0], r->own_rows[1]), k.flat ? 1 : r->planes)) {
        const struct input copy = *r; /* a struct whose address is passed stays in memory */
        v32f a[4], b[4];
        reduce_long(a, b, u, &copy, x, n, full, k.two);
        SN_UNROLL
        for (int i = 0; i < u; ++i) {
            v0[i] = a[i];
            if (k.two)
                v1[i] = b[i];
        }
        return;
    }
    if (!k.flat && r->planes > 1) {
        reduce_planes(v0, v1, u, r, x, n, full, k.two, true);
        return;
    }
#endif
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v0[i] = INIT(load(r->common + x, i, n, full));
    if (k.common != 1)
        fold(v0, u, r->common + x + r->pitch, r->rows - 1, r->pitch, n, full, k.common ? k.common - 1 : 0);
    for (size_t i = 1; !k.flat && i < r->planes; ++i)
        fold(v0, u, r->common + x + i * r->plane, r->rows, r->pitch, n, full, 0);
    if (!k.two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    fold(v0, u, r->own[0] + x, r->own_rows[0], r->pitch, n, full, k.own);
    fold(v1, u, r->own[1] + x, r->own_rows[1], r->pitch, n, full, k.own);
    for (size_t i = 1; !k.flat && i < r->planes; ++i) {
        fold(v0, u, r->own[0] + x + i * r->plane, r->own_rows[0], r->pitch, n, full, 0);
        fold(v1, u, r->own[1] + x + i * r->plane, r->own_rows[1], r->pitch, n, full, 0);
    }
}

/* Stores the result of a reduction at x of an array, or with `cells` of a buffer, not yet divided. */
SN_INLINE void store(void * p, size_t x, REDUCTION r, v32f divisor, bool cells)
{
    (void)divisor;
    if (WIDENS && cells)
        WORD(store)((CELL *)p + x, PACK(r));
    else
        ARRAY_WORD(store)((ELEMENT *)p + x, FINISH(r, divisor));
}

SN_INLINE void store_tail(void * p, REDUCTION r, v32f divisor, size_t n, bool cells)
{
    (void)divisor;
    if (WIDENS && cells)
        WORD(store_tail)(p, PACK(r), n);
    else
        ARRAY_WORD(store_tail)(p, FINISH(r, divisor), n);
}

/* u vectors of results of one or two rows at x. */
SN_INLINE void reduce_vectors(const struct input * r, size_t x, int u, v32f d0, v32f d1, void * dst0, void * dst1, bool two,
                              bool cells)
{
    REDUCTION v0[4], v1[4];
    reduce(v0, v1, u, r, x, 0, true, (struct constants){0, 0, two, false});
    SN_UNROLL
    for (int i = 0; i < u; ++i) {
        store(dst0, x + (size_t)i * LANES, v0[i], d0, cells);
        if (two)
            store(dst1, x + (size_t)i * LANES, v1[i], d1, cells);
    }
}

/* n results of one or two rows. The last vectors overlap those before if possible: a window of 28x28 pixels of 120 channels,
 * whose sums are recursive, takes 0.75 to 0.87 of the time so. */
SN_INLINE void reduce_rows_as(const struct input * given, size_t n, const sn_32f * divisor, void * dst0, void * dst1,
                              bool two, bool cells)
{
    const struct input copy = *given, * r = &copy;
    const v32f d0 = v_set_32f(divisor[0]), d1 = v_set_32f(divisor[1]);
    size_t x = 0;
    if (n < LANES) {
        REDUCTION v0, v1;
        reduce(&v0, &v1, 1, r, 0, n, false, (struct constants){0, 0, two, false});
        store_tail(dst0, v0, d0, n, cells);
        if (two)
            store_tail(dst1, v1, d1, n, cells);
        return;
    }
    for (; n >= 4 * LANES && x + 2 * LANES < n; x += 4 * LANES)
        reduce_vectors(r, sn_min(x, n - 4 * LANES), 4, d0, d1, dst0, dst1, two, cells);
    for (; n >= 2 * LANES && x + LANES < n; x += 2 * LANES)
        reduce_vectors(r, sn_min(x, n - 2 * LANES), 2, d0, d1, dst0, dst1, two, cells);
    for (; x < n; x += LANES)
        reduce_vectors(r, sn_min(x, n - LANES), 1, d0, d1, dst0, dst1, two, cells);
}

/* Results are elements of an array, or with `cells` those of a buffer. Not inlined: the same code serves pixels, whole rows
 * and the buffer. */
static __attribute__((noinline)) void reduce_any(const struct input * r, size_t n, const sn_32f * divisor, void * dst0,
                                                 void * dst1, bool two, bool cells)
{
    if (two && !COMPACT)
        reduce_rows_as(r, n, divisor, dst0, dst1, true, cells);
    else
        reduce_rows_as(r, n, divisor, dst0, NULL, false, cells);
}

SN_INLINE void reduce_rows(const struct input * r, size_t n, const sn_32f * divisor, ELEMENT * dst0, ELEMENT * dst1,
                           bool two)
{
    reduce_any(r, n, divisor, dst0, dst1, two, false);
}

/* Rows in the buffer are divided when results are computed from them. */
static const float no_divisor[2] = {1, 1};

SN_INLINE void reduce_cells(const struct input * r, size_t n, CELL * dst0, CELL * dst1, bool two)
{
    reduce_any(r, n, no_divisor, dst0, dst1, two, WIDENS);
}

#include "kernels/pooling/pixels.h"
#include "kernels/pooling/rows.h"
#include "kernels/pooling/strips.h"
#include "kernels/pooling/windows.h"

/* ---- choice of the algorithm */

/* The algorithm of a pooling. */
struct algorithm {
    step_fn step;
    struct row_buffer * rows; /* if not NULL, the buffer is used instead of `step` */
    bool single;              /* one row of outputs at a time */
};

/* Computes one step; the planes of its windows begin at src, the plane of its outputs at dst. */
static void do_step(const struct algorithm * algorithm, const struct sn_pooling * p, const struct step * t,
                    const ELEMENT * src, struct span planes, ELEMENT * dst)
{
    dst += t->y * pitches_of(p).dstRow;
    if (t->common.count == 0 || planes.count == 0)
        fill_identity(p, dst, (t->two ? 2 : 1) * p->axis[2].dst);
    else if (algorithm->rows)
        buffer_step(algorithm->rows, t, src, planes, dst);
    else
        algorithm->step(p, t, src, planes, dst);
}

/* Computes steps begin .. end - 1 for one plane of outputs. */
static void do_plane(const struct algorithm * algorithm, const struct sn_pooling * p, const struct step * begin,
                     const struct step * end, size_t plane)
{
    const struct pitches pitch = pitches_of(p);
    const struct span planes = window_of(&p->axis[0], plane);
    const ELEMENT * src = (const ELEMENT *)p->src + planes.begin * pitch.plane;
    ELEMENT * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane;
    const struct step * strip = begin, * rest = begin;
    if (algorithm->rows && planes.count == 1)
        find_strips(algorithm->rows, planes.begin * pitch.plane, end, &strip, &rest);
    for (; begin < strip; ++begin)
        do_step(algorithm, p, begin, src, planes, dst);
    if (strip < rest)
        do_strips(algorithm->rows, strip, rest, src, dst);
    for (begin = rest; begin < end; ++begin)
        do_step(algorithm, p, begin, src, planes, dst);
}

/* Computes units begin .. end - 1. The steps are planned for a block of rows, then computed for all planes. */
static void do_units(const struct algorithm * algorithm, const struct sn_pooling * p, size_t begin, size_t end)
{
    const size_t pairs = sn_pooling_pairs(p);
    struct plan plan;
    for (size_t first = 0; first < pairs; first += PLAN) {
        const size_t count = sn_min(pairs - first, PLAN);
        plan_pairs(&plan, p, first, first + count, COMPACT || algorithm->single);
        for (size_t plane = begin / pairs; plane * pairs < end; ++plane) {
            const size_t unit = plane * pairs + first;
            const size_t from = sn_max(begin, unit), to = sn_min(end, unit + count);
            if (from < to)
                do_plane(algorithm, p, plan.step + plan.first[from - unit], plan.step + plan.first[to - unit], plane);
        }
    }
}

/* Computes units through the buffer, one chunk of columns after the other. */
static void pool_by_buffer(const struct sn_pooling * p, size_t begin, size_t end)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t space = ROW - 8 * LANES - 2 * axis->kernel * p->inner, most = space / (axis->stride * p->inner);
    struct row_buffer rows;
    const struct algorithm algorithm = {.rows = &rows};
    rows.p = p;
    rows.covered = covered(axis);
    for (size_t o = 0, now; o < rows.covered.count; o += now) {
        now = sn_min(rows.covered.count - o, most);
        begin_chunk(&rows, rows.covered.begin + o, now);
        do_units(&algorithm, p, begin, end);
        flush_rows(&rows);
    }
}

static void pooling(const struct sn_pooling * given, size_t begin, size_t end)
{
    struct sn_pooling p = *given;
    struct sn_pool_axis * axis = &p.axis[2];
    const bool dense = p.srcPixel == p.inner && p.dstPixel == p.inner, identity = is_identity(axis) && dense;
    if (identity) { /* a row is treated as one wide pixel */
        p.inner = p.srcPixel = p.dstPixel = p.inner * axis->src;
        *axis = (struct sn_pool_axis){1, 1, 1, 1, 0};
    }
    const size_t most = ROW / 8 / p.inner;
    if (p.inner == 1 && dense && is_identity(&p.axis[0]) && is_global(&p.axis[1]) && is_global(axis))
        global_planes(&p, begin, end);
    else if (identity || p.inner >= LANES)
        do_units(&(struct algorithm){.step = identity ? wide_step : pixels_for(&p)}, &p, begin, end);
    else if (!dense)
        do_units(&(struct algorithm){.step = pixels_step}, &p, begin, end);
    else if (axis->kernel > most || axis->stride > most || covered(axis).count <= 1)
        do_units(&(struct algorithm){.step = windows_step, .single = true}, &p, begin, end);
    else
        pool_by_buffer(&p, begin, end);
}
