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
 *                              time. Widened arrays need it; V_COMPACT if it is not defined
 *   IDENTITY                   the identity of the reduction, a VECTOR
 *   REDUCTION REDUCE(a, b)     the type of intermediate values, and the reduction of two of them
 *   INIT(v) TERM(v)            vectors to reductions: the first term of each, and all others
 *   PACK(r) UNPACK(v)          converts a reduction to a vector that can be stored and shuffled, and back
 *   FINISH(r, divisor)         the results of a reduction, a vector
 *   REDUCE_LANES(v)            reduces the lanes of a vector from PACK, to lane 0
 *   HAS_DIVISOR                1 if FINISH uses the divisor
 */

/* In this order: each part uses only parts above it, which it names at its top. */
#include "kernels/pooling/plan.h"

#include "kernels/pooling/elements.h"
#if HAS_DIVISOR
#include "kernels/pooling/sums.h"
#endif
#include "kernels/pooling/reduce.h"

#include "kernels/pooling/pixels.h"
#include "kernels/pooling/rows.h"
#include "kernels/pooling/strips.h"
#include "kernels/pooling/planes.h"
#include "kernels/pooling/windows.h"

/* ---- choice of the algorithm */

/* The algorithm of a pooling. */
struct algorithm {
    step_fn step;
    struct row_buffer * rows; /* if not NULL, the buffer is used instead of `step` */
    bool single;              /* one row of outputs at a time */
    bool ring;                /* steps are computed by ring_plane() */
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
    if (algorithm->ring && planes.count) {
        ring_plane(p, begin, end, src, dst);
        return;
    }
    if (FLATTENS && algorithm->rows && algorithm->rows->flat) {
        flat_steps(algorithm->rows, begin, end, src, dst);
        return;
    }
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

/* Computes units through the buffer, which is on the stack, one chunk of columns after the other. */
static __attribute__((noinline)) void pool_by_buffer(const struct sn_pooling * p, size_t begin, size_t end)
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
        begin_strips(&rows);
        if (FLATTENS)
            begin_flat(&rows);
        do_units(&algorithm, p, begin, end);
        if (FLATTENS && rows.flat)
            flush_flat(&rows);
        else
            flush_rows(&rows);
    }
}

/* Computes units in blocks of planes if these are faster, else through the buffer. Rows of one output are slow there, so no
 * plane is left to them. Neither function is called by the other: both use much of the stack. */
static void pool_elements(const struct sn_pooling * p, size_t begin, size_t end)
{
    const size_t pairs = sn_pooling_pairs(p), first = sn_ceil_div(begin, pairs), last = end / pairs;
    const size_t least = covered(&p->axis[2]).count > 1 ? BLOCK_LEAST : 1;
    const size_t most = first + least <= last ? block_planes(p) : 0;
    if (most) {
        if (begin < first * pairs)
            pool_by_buffer(p, begin, first * pairs);
        begin = pool_by_blocks(p, least, most, first, last) * pairs;
    }
    if (begin < end)
        pool_by_buffer(p, begin, end);
}

/* Copies units of windows of one element, which follow each other in both arrays: pixels of a single one, as wide as all. */
static void copy_units(struct sn_pooling p, size_t begin, size_t end)
{
    const size_t pairs = sn_pooling_pairs(&p), rows = p.axis[1].src;
    const size_t from = (begin / pairs * rows + 2 * (begin % pairs)) * p.inner;
    const size_t to = (end / pairs * rows + 2 * (end % pairs)) * p.inner;
    p.src = (const ELEMENT *)p.src + from;
    p.dst = (ELEMENT *)p.dst + from;
    p.inner = p.srcPixel = p.dstPixel = to - from;
    for (int a = 0; a < 3; ++a)
        p.axis[a] = (struct sn_pool_axis){1, 1, 1, 1, 0};
    do_units(&(struct algorithm){.step = wide_step}, &p, 0, 1);
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
    const size_t fewest = HAS_DIVISOR ? 1 : BLOCK_LEAST; /* averages must not depend on the number of planes: of a batch */
    const step_fn step = identity ? wide_step : pixels_for(&p);
    if (identity && is_identity(&p.axis[0]) && is_identity(&p.axis[1]))
        copy_units(p, begin, end);
    else if (p.inner == 1 && dense && is_identity(&p.axis[0]) && is_global(&p.axis[1]) && is_global(axis))
        global_planes(&p, begin, end);
    else if (identity || p.inner >= LANES)
        do_units(&(struct algorithm){.step = step, .ring = step == pixels_step && is_for_ring(&p)}, &p, begin, end);
    else if (!dense)
        do_units(&(struct algorithm){.step = pixels_step}, &p, begin, end);
    else if (axis->kernel > most || axis->stride > most ||
             (covered(axis).count <= 1 && (p.axis[0].dst < fewest || block_planes(&p) == 0)))
        do_units(&(struct algorithm){.step = windows_step, .single = true}, &p, begin, end);
    else
        pool_elements(&p, begin, end);
}
