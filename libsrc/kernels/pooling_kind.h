/*
 * The kernels of one kind of pooling; pooling.c includes this once per kind with
 *
 *   KIND                       the suffix of all names
 *   ELEMENT TYPE VECTOR LANES  what the arrays hold, and the vocabulary's suffix, vector and its size for it
 *   IDENTITY                   what changes nothing in a reduction
 *   ENTER(v) LEAVE(v, divisor) from an array to a vector that REDUCE takes, and from a reduction to a result
 *   REDUCE(a, b)
 *   HAS_DIVISOR                1 when LEAVE needs the divisor
 */
#define FN(name) SN_JOIN3(name, _, KIND)

enum { FN(BUFFER) = BUFFER_BYTES / sizeof(ELEMENT), FN(ROW) = FN(BUFFER) / 2 };

SN_INLINE VECTOR FN(load)(const ELEMENT * p, int i, size_t n, bool full)
{
    if (full)
        return ENTER(WORD(load)(p + i * LANES));
    const size_t at = sn_min((size_t)i * LANES, n);
    return ENTER(WORD(load_tail)(p + at, sn_min(n - at, LANES)));
}

/* Lanes without a mask become IDENTITY. */
SN_INLINE VECTOR FN(masked)(VECTOR v, v32i mask)
{
    const v32i identity = SN_JOIN3(v_cast_, TYPE, _32i)(IDENTITY), bits = SN_JOIN3(v_cast_, TYPE, _32i)(v);
    return SN_JOIN2(v_cast_32i_, TYPE)(v_xor_32i(identity, v_and_32i(mask, v_xor_32i(identity, bits))));
}

static void FN(fill)(ELEMENT * p, size_t n, VECTOR v)
{
    for (; n >= LANES; n -= LANES, p += LANES)
        WORD(store)(p, v);
    if (n)
        WORD(store_tail)(p, v, n);
}

/* The row of a chunk, or the empty windows of a row, as results. */
static void FN(fill_empty)(const struct sn_pooling * p, ELEMENT * dst, size_t outputs)
{
    const float divisor = divisor_of(p, 0, 0) * divisor_of(p, 1, 0) * divisor_of(p, 2, 0);
    (void)divisor;
    FN(fill)(dst, outputs * p->inner, LEAVE(IDENTITY, v_set_32f(divisor)));
}

/* ---- the first step: over rows and planes */

struct FN(source) {
    const ELEMENT * p;          /* the first column, in the first plane of the window */
    size_t planes, plane;       /* how many, and the elements between them */
    size_t pitch;               /* elements between rows */
    const struct step * step;
};

/* Reduces `rows` rows at p into u vectors; `known` is their number if that is a constant, else 0. */
SN_INLINE void FN(fold)(VECTOR * v, int u, const ELEMENT * p, size_t rows, size_t pitch, size_t n, bool full, int known)
{
    if (known) {
        SN_UNROLL
        for (int row = 0; row < known; ++row, p += pitch) {
            SN_UNROLL
            for (int i = 0; i < u; ++i)
                v[i] = REDUCE(v[i], FN(load)(p, i, n, full));
        }
        return;
    }
    for (; rows; --rows, p += pitch) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], FN(load)(p, i, n, full));
    }
}

/* Elements x .. x + u * LANES - 1 (with !full: the n of them that exist) reduced, for one or two rows of outputs. */
SN_INLINE void FN(reduce_rows)(VECTOR * v0, VECTOR * v1, int u, const struct FN(source) * s, size_t x, size_t n, bool two,
                               bool full)
{
    const struct step * step = s->step;
    const ELEMENT * p = s->p + x;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v0[i] = FN(load)(p + step->common.begin, i, n, full);
    FN(fold)(v0, u, p + step->common.begin + s->pitch, step->common.count - 1, s->pitch, n, full, 0);
    for (size_t k = 1; k < s->planes; ++k)
        FN(fold)(v0, u, p + step->common.begin + k * s->plane, step->common.count, s->pitch, n, full, 0);
    if (!two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    for (size_t k = 0; k < s->planes; ++k) {
        FN(fold)(v0, u, p + step->own[0].begin + k * s->plane, step->own[0].count, s->pitch, n, full, 0);
        FN(fold)(v1, u, p + step->own[1].begin + k * s->plane, step->own[1].count, s->pitch, n, full, 0);
    }
}

/* n elements of one or two rows into dst0 and dst1: results there if `direct`, else whole vectors of the buffer. */
SN_INLINE void FN(collect_plain)(const struct FN(source) * s, size_t n, const float * divisor, ELEMENT * dst0, ELEMENT * dst1,
                                 bool two, bool direct)
{
    enum { U = 4 };
    VECTOR v0[U], v1[U];
    const v32f d0 = v_set_32f(divisor[0]), d1 = v_set_32f(divisor[1]);
    (void)d0;
    (void)d1;
    size_t x = 0;
    for (; x + U * LANES <= n; x += U * LANES) {
        FN(reduce_rows)(v0, v1, U, s, x, 0, two, true);
        SN_UNROLL
        for (int i = 0; i < U; ++i) {
            WORD(store)(dst0 + x + i * LANES, direct ? LEAVE(v0[i], d0) : v0[i]);
            if (two)
                WORD(store)(dst1 + x + i * LANES, direct ? LEAVE(v1[i], d1) : v1[i]);
        }
    }
    for (; x + LANES <= n; x += LANES) {
        FN(reduce_rows)(v0, v1, 1, s, x, 0, two, true);
        WORD(store)(dst0 + x, direct ? LEAVE(v0[0], d0) : v0[0]);
        if (two)
            WORD(store)(dst1 + x, direct ? LEAVE(v1[0], d1) : v1[0]);
    }
    if (x == n)
        return;
    FN(reduce_rows)(v0, v1, 1, s, x, n - x, two, false);
    if (direct) {
        WORD(store_tail)(dst0 + x, LEAVE(v0[0], d0), n - x);
        if (two)
            WORD(store_tail)(dst1 + x, LEAVE(v1[0], d1), n - x);
    } else {
        WORD(store)(dst0 + x, v0[0]);
        if (two)
            WORD(store)(dst1 + x, v1[0]);
    }
}

/* ---- pixels of a vector and more, and rows that are not pooled along: each output straight from the image */

/* Where rows are pooled along, the image has one plane, and the planes of the source are the columns of a window. */
static void FN(pixels)(const struct sn_pooling * p, const struct step * step, struct FN(source) * s, float planes, ELEMENT * dst)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t dstRow = axis->dst * p->inner;
    const bool columns = axis->src * axis->dst * axis->kernel != 1 || axis->pad;
    const ELEMENT * row = s->p;
    for (size_t o = 0; o < axis->dst; ++o, dst += p->inner) {
        if (columns) {
            const struct span x = window_of(axis, o);
            s->p = row + x.begin * p->inner;
            s->planes = x.count;
            s->plane = p->inner;
        }
        const float part = planes * divisor_of(p, 2, columns ? s->planes : 1);
        const float divisor[2] = {step->divisor[0] * part, step->divisor[1] * part};
        if (s->planes == 0) {
            FN(fill_empty)(p, dst, 1);
            if (step->two)
                FN(fill_empty)(p, dst + dstRow, 1);
        } else if (step->two) {
            FN(collect_plain)(s, p->inner, divisor, dst, dst + dstRow, true, true);
        } else {
            FN(collect_plain)(s, p->inner, divisor, dst, NULL, false, true);
        }
    }
}

/* ---- narrow pixels: rows reduced into a buffer, then along it */

/* Elements 0, 2, ... of the n go to e, elements 1, 3, ... to o, for one or two rows. */
SN_INLINE void FN(collect_phases)(const struct FN(source) * s, size_t n, ELEMENT * const * e, ELEMENT * const * o, bool two)
{
    VECTOR v[2][2];
    for (size_t x = 0; x < n; x += 2 * LANES) {
        if (x + 2 * LANES <= n)
            FN(reduce_rows)(v[0], v[1], 2, s, x, 0, two, true);
        else
            FN(reduce_rows)(v[0], v[1], 2, s, x, n - x, two, false);
        WORD(store)(e[0] + x / 2, WORD(even)(v[0][0], v[0][1]));
        WORD(store)(o[0] + x / 2, WORD(odd)(v[0][0], v[0][1]));
        if (two) {
            WORD(store)(e[1] + x / 2, WORD(even)(v[1][0], v[1][1]));
            WORD(store)(o[1] + x / 2, WORD(odd)(v[1][0], v[1][1]));
        }
    }
}

/* Collects a chunk of one or two rows, and writes the right border; the left one is there. */
static void FN(collect)(const struct FN(source) * s, const struct layout * l, size_t n, ELEMENT * const * row)
{
    static const float no_divisor[2];
    const bool two = s->step->two;
    if (l->phases == 1) {
        if (two)
            FN(collect_plain)(s, n, no_divisor, row[0] + l->data[0], row[1] + l->data[0], true, false);
        else
            FN(collect_plain)(s, n, no_divisor, row[0] + l->data[0], NULL, false, false);
    } else {
        ELEMENT * const e[2] = {row[0] + l->data[l->first], row[1] + l->data[l->first]};
        ELEMENT * const o[2] = {row[0] + l->data[1 - l->first], row[1] + l->data[1 - l->first]};
        if (two)
            FN(collect_phases)(s, n, e, o, true);
        else
            FN(collect_phases)(s, n, e, o, false);
    }
    for (size_t f = 0; f < l->phases; ++f)
        for (int i = 0; i < (two ? 2 : 1); ++i)
            for (size_t x = l->data[f] + l->count[f]; x < l->end[f]; x += LANES)
                WORD(store)(row[i] + x, IDENTITY);
}

struct FN(taps) {
    const ELEMENT * p[2];   /* the first tap of each phase */
    size_t count[2], step;
};

/* u vectors at x reduced over the taps. */
SN_INLINE void FN(reduce_taps)(VECTOR * v, int u, const struct FN(taps) * t, size_t x)
{
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = WORD(load)(t->p[0] + x + i * LANES);
    for (size_t k = 1; k < t->count[0]; ++k) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], WORD(load)(t->p[0] + x + k * t->step + i * LANES));
    }
    for (size_t k = 0; k < t->count[1]; ++k) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], WORD(load)(t->p[1] + x + k * t->step + i * LANES));
    }
}

/* n results from the taps; `columns` are the column parts of the divisors. */
static void FN(reduce_columns)(const struct FN(taps) * t, size_t n, const float * columns, float row, ELEMENT * dst)
{
    enum { U = 2 };
    VECTOR v[U];
    const v32f d = v_set_32f(row);
    (void)d;
    (void)columns;
#if HAS_DIVISOR
#define DIVISOR(x) v_mul_32f(d, v_load_32f(columns + (x)))
#else
#define DIVISOR(x) d
#endif
    size_t x = 0;
    for (; x + U * LANES <= n; x += U * LANES) {
        FN(reduce_taps)(v, U, t, x);
        SN_UNROLL
        for (int i = 0; i < U; ++i)
            WORD(store)(dst + x + i * LANES, LEAVE(v[i], DIVISOR(x + i * LANES)));
    }
    for (; x < n; x += LANES) {
        FN(reduce_taps)(v, 1, t, x);
        WORD(store_tail)(dst + x, LEAVE(v[0], DIVISOR(x)), sn_min(n - x, LANES));
    }
#undef DIVISOR
}

/* Every stride-th of the results in t, pixels of `inner` elements. A pixel is copied as a whole vector where the pixels
 * that follow will cover what is too much. */
static void FN(pick)(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst)
{
    if (inner == 1) {
        for (size_t o = 0; o < outputs; ++o)
            dst[o] = t[o * stride];
        return;
    }
    size_t o = 0;
    for (; o * inner + LANES <= outputs * inner; ++o)
        WORD(store)(dst + o * inner, WORD(load)(t + o * stride * inner));
    for (; o < outputs; ++o)
        WORD(store_tail)(dst + o * inner, WORD(load)(t + o * stride * inner), sn_min(inner, LANES));
}

/* A row of outputs whose columns wait in the buffer. */
struct FN(waiting) {
    ELEMENT * row, * dst;
    float divisor;
};

struct FN(dense);
typedef void (*FN(strip_fn))(const struct FN(dense) * d, const struct step * t, size_t steps, const ELEMENT * src, float planes,
                             ELEMENT * dst);

struct FN(dense) {
    const struct sn_pooling * p;
    struct span covered;                  /* outputs along the row that have a window */
    struct chunk chunk;
    struct layout layout;
    size_t rows, waiting;                 /* the buffer's rows, and those that wait */
    struct FN(waiting) wait[MAX_ROWS + 1];
    FN(strip_fn) strip;                   /* for this kind of window, or NULL */
    size_t vectors;                       /* of a strip's row that reach into the image */
    size_t least, most;                   /* elements before its row that it asks for: those of the first, of the last row */
    float columns[HAS_DIVISOR ? FN(ROW) + LANES : 1];
    ELEMENT buffer[FN(BUFFER)] __attribute__((aligned(64)));
    ELEMENT results[FN(ROW) + LANES] __attribute__((aligned(64)));
    ELEMENT mask[FN(ROW) + LANES] __attribute__((aligned(64)));
};

#include "kernels/pooling_strips.h"

static void FN(finish)(struct FN(dense) * d)
{
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct layout * l = &d->layout;
    const size_t inner = d->p->inner, outputs = d->chunk.outputs;
    const bool picked = l->phases == 1 && axis->stride > 1;
    const size_t n = (picked ? (outputs - 1) * axis->stride + 1 : outputs) * inner;
    for (size_t i = 0; i < d->waiting; ++i) {
        const struct FN(waiting) * w = &d->wait[i];
        struct FN(taps) t = {.p = {w->row + l->origin[0], w->row + l->origin[l->phases - 1]}, .step = inner};
        t.count[0] = sn_ceil_div(axis->kernel, l->phases);
        t.count[1] = axis->kernel - t.count[0];
        FN(reduce_columns)(&t, n, d->columns, w->divisor, picked ? d->results : w->dst);
        if (picked)
            FN(pick)(d->results, axis->stride, inner, outputs, w->dst);
    }
    d->waiting = 0;
}

/* The column parts of the divisors, for each element that reduce_columns() computes. */
static void FN(divide_columns)(struct FN(dense) * d)
{
#if HAS_DIVISOR
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct chunk * c = &d->chunk;
    const bool picked = d->layout.phases == 1;
    const size_t step = picked ? 1 : axis->stride, inner = d->p->inner;
    const size_t n = picked ? (c->outputs - 1) * axis->stride + 1 : c->outputs;
    for (size_t o = 0; o < n; ++o) {
        const size_t begin = sn_max(o * step, c->lead), end = sn_min(o * step + axis->kernel, c->lead + c->columns);
        for (size_t i = 0; i < inner; ++i)
            d->columns[o * inner + i] = divisor_of(d->p, 2, begin < end ? end - begin : 1);
    }
    for (size_t i = n * inner; i < n * inner + LANES; ++i)
        d->columns[i] = 1;
#else
    (void)d;
#endif
}

static void FN(begin_strips)(struct FN(dense) * d)
{
    const struct sn_pool_axis * axis = d->p->axis;
    const struct chunk * c = &d->chunk;
    const size_t total = axis[0].src * axis[1].src * axis[2].src;
    const size_t end = (d->vectors = sn_ceil_div(c->lead + c->columns, LANES)) * LANES;
    d->strip = d->p->inner == 1 && d->covered.count == axis[2].dst ? FN(strip_for)(axis[2].kernel, axis[2].stride) : NULL;
    d->least = c->lead - sn_min(c->lead, c->column);
    if (total + c->lead < end + c->column)
        d->strip = NULL;
    else
        d->most = total + c->lead - end - c->column;
    if (d->strip) {
        memset(d->mask, 0, end * sizeof(ELEMENT));
        memset(d->mask + c->lead, 0xFF, c->columns * sizeof(ELEMENT));
    }
}

static void FN(begin_chunk)(struct FN(dense) * d, size_t output, size_t outputs)
{
    const struct layout * l = &d->layout;
    d->chunk = chunk_at(&d->p->axis[2], output, outputs);
    d->layout = layout_of(&d->p->axis[2], d->p->inner, &d->chunk, LANES);
    d->rows = sn_min(FN(BUFFER) / l->pitch, MAX_ROWS);
    d->waiting = 0;
    FN(divide_columns)(d);
    FN(begin_strips)(d);
    for (size_t i = 0; i < d->rows; ++i)
        for (size_t f = 0; f < l->phases; ++f)
            for (size_t x = l->origin[f] / LANES * LANES; x < l->data[f]; x += LANES)
                WORD(store)(d->buffer + i * l->pitch + x, IDENTITY);
}

/* One or two rows of outputs: in a strip, or collected now and finished when the buffer is full. */
static void FN(dense_rows)(struct FN(dense) * d, struct FN(source) * s, float planes, ELEMENT * dst)
{
    const struct sn_pooling * p = d->p;
    const size_t count = s->step->two ? 2 : 1, behind = d->covered.begin + d->covered.count, pitch = p->axis[2].dst * p->inner;
    ELEMENT * row[2];
    for (size_t i = 0; i < count && d->covered.count < p->axis[2].dst; ++i) {
        FN(fill_empty)(p, dst + i * pitch, d->covered.begin);
        FN(fill_empty)(p, dst + i * pitch + behind * p->inner, p->axis[2].dst - behind);
    }
    dst += d->chunk.output * p->inner;
    if (d->waiting + count > d->rows)
        FN(finish)(d);
    for (size_t i = 0; i < 2; ++i) {
        row[i] = d->buffer + (d->waiting + i) * d->layout.pitch;
        d->wait[d->waiting + i] = (struct FN(waiting)){row[i], dst + i * pitch, planes * s->step->divisor[i]};
    }
    d->waiting += count;
    s->p += d->chunk.column * p->inner;
    FN(collect)(s, &d->layout, d->chunk.columns * p->inner, row);
}

/* ---- wide windows: each output by itself, over runs of columns */

/* The reduction of all elements of a buffer of n <= LANES * 2^k pixels, in place: halves upon halves. */
static void FN(fold_pixels)(ELEMENT * b, size_t pixels, size_t inner)
{
    while (pixels > 1) {
        const size_t half = pixels / 2, n = half * inner;
        const ELEMENT * other = b + (pixels - half) * inner;
        for (size_t x = 0; x < n; x += LANES) {
            const size_t left = sn_min(n - x, LANES);
            WORD(store_tail)(b + x, REDUCE(WORD(load_tail)(b + x, left), WORD(load_tail)(other + x, left)), left);
        }
        pixels -= half;
    }
}

/* The columns of one window, `pixels` of them, reduced into b[0 .. inner - 1]; b has room for FN(ROW) + LANES elements. */
static void FN(reduce_window)(struct FN(source) * s, size_t pixels, size_t inner, ELEMENT * b, ELEMENT * part)
{
    static const float no_divisor[2];
    const size_t room = FN(ROW) / inner;
    for (bool more = false; pixels; more = true) {
        const size_t now = sn_min(pixels, room);
        FN(collect_plain)(s, now * inner, no_divisor, part, NULL, false, false);
        FN(fold_pixels)(part, now, inner);
        WORD(store)(b, more ? REDUCE(WORD(load)(b), WORD(load)(part)) : WORD(load)(part));
        s->p += now * inner;
        pixels -= now;
    }
}

/* The n elements of each row of a window of single elements, reduced into one vector. */
SN_INLINE VECTOR FN(reduce_single)(const ELEMENT * p, size_t rows, size_t pitch, size_t n, VECTOR v)
{
    enum { U = 4 };
    VECTOR w[U] = {v, IDENTITY, IDENTITY, IDENTITY};
    const size_t tail = n % LANES;
    const v32i mask = v_load_32i(first_bytes + 64 - tail * sizeof(ELEMENT));
    for (; rows; --rows, p += pitch) {
        size_t x = 0;
        for (; x + U * LANES <= n; x += U * LANES) {
            SN_UNROLL
            for (int i = 0; i < U; ++i)
                w[i] = REDUCE(w[i], FN(load)(p + x, i, 0, true));
        }
        for (; x + LANES <= n; x += LANES)
            w[0] = REDUCE(w[0], FN(load)(p + x, 0, 0, true));
        if (tail)
            w[1] = REDUCE(w[1], FN(masked)(FN(load)(p + x, 0, tail, false), mask));
    }
    return REDUCE(REDUCE(w[0], w[1]), REDUCE(w[2], w[3]));
}

/* All lanes reduced, into lane 0: the 32-bit lanes in halves, then what is in one. */
SN_INLINE VECTOR FN(across)(VECTOR v)
{
    SN_UNROLL
    for (int n = V32F_N; n > 1; n /= 2) {
        const v32f x = v_cast_32i_32f(SN_JOIN3(v_cast_, TYPE, _32i)(v));
        v = REDUCE(SN_JOIN2(v_cast_32i_, TYPE)(v_cast_32f_32i(v_even_32f(x, x))),
                   SN_JOIN2(v_cast_32i_, TYPE)(v_cast_32f_32i(v_odd_32f(x, x))));
    }
    SN_UNROLL
    for (int bits = 16; bits >= (int)sizeof(ELEMENT) * 8; bits /= 2)
        v = REDUCE(v, SN_JOIN2(v_cast_32i_, TYPE)(v_shr_32i(SN_JOIN3(v_cast_, TYPE, _32i)(v), bits)));
    return v;
}

/* One window for each plane, all of it: planes are runs of n elements. */
static void FN(whole_planes)(const struct sn_pooling * p, size_t begin, size_t end)
{
    const size_t n = p->axis[1].src * p->axis[2].src;
    const ELEMENT * src = (const ELEMENT *)p->src + begin * n;
    ELEMENT * dst = p->dst;
    const v32f divisor = v_set_32f(divisor_of(p, 1, p->axis[1].src) * divisor_of(p, 2, p->axis[2].src));
    (void)divisor;
    for (; begin < end; ++begin, src += n)
        WORD(store_tail)(dst + begin, LEAVE(FN(across)(FN(reduce_single)(src, 1, n, n, IDENTITY)), divisor), 1);
}

static void FN(windows)(const struct sn_pooling * p, const struct step * step, struct FN(source) * s, float planes, ELEMENT * dst)
{
    ELEMENT b[LANES] __attribute__((aligned(64))), part[FN(ROW) + LANES] __attribute__((aligned(64)));
    const ELEMENT * row = s->p;
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->inner) {
        const struct span x = window_of(&p->axis[2], o);
        const float divisor = planes * step->divisor[0] * divisor_of(p, 2, x.count);
        VECTOR v = IDENTITY;
        (void)divisor;
        s->p = row + x.begin * p->inner;
        if (x.count == 0) {
            FN(fill_empty)(p, dst, 1);
            continue;
        }
        if (p->inner == 1) {
            for (size_t i = 0; i < s->planes; ++i)
                v = FN(reduce_single)(s->p + step->common.begin + i * s->plane, step->common.count, s->pitch, x.count, v);
            v = FN(across)(v);
        } else {
            FN(reduce_window)(s, x.count, p->inner, b, part);
            v = WORD(load)(b);
        }
        WORD(store_tail)(dst, LEAVE(v, v_set_32f(divisor)), p->inner);
    }
}

/* ---- the choice */

/* Calls one of the above for the rows of the units. */
typedef void (*FN(rows_fn))(const struct sn_pooling * p, const struct step * step, struct FN(source) * s, float planes,
                            ELEMENT * dst);

/* One step by one of the above; planes begins at src, its outputs at dst. */
static void FN(do_step)(const struct sn_pooling * p, const struct step * step, struct span window, const ELEMENT * src,
                        ELEMENT * dst, FN(rows_fn) rows_fn, struct FN(dense) * d)
{
    const struct pitches pitch = pitches_of(p);
    const float planes = divisor_of(p, 0, window.count);
    struct FN(source) s = {src, window.count, pitch.plane, pitch.row, step};
    dst += step->y * pitch.dstRow;
    if (step->common.count == 0 || window.count == 0)
        FN(fill_empty)(p, dst, (step->two ? 2 : 1) * p->axis[2].dst);
    else if (d)
        FN(dense_rows)(d, &s, planes, dst);
    else
        rows_fn(p, step, &s, planes, dst);
}

/* Steps begin .. end - 1 for one plane of outputs. */
static void FN(do_plane)(const struct sn_pooling * p, const struct step * begin, const struct step * end, size_t plane,
                         FN(rows_fn) rows_fn, struct FN(dense) * d)
{
    const struct pitches pitch = pitches_of(p);
    const struct span window = window_of(&p->axis[0], plane);
    const size_t at = window.begin * pitch.plane;
    const ELEMENT * src = (const ELEMENT *)p->src + at;
    ELEMENT * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane;
    if (d && d->strip && window.count == 1) {
        const struct step * first = begin, * last = end;
        while (first < last && (first->common.count == 0 || at + first->first < d->least))
            ++first;
        while (first < last && (last[-1].common.count == 0 || at + last[-1].last > d->most))
            --last;
        for (; begin < first; ++begin)
            FN(do_step)(p, begin, window, src, dst, rows_fn, d);
        d->strip(d, first, (size_t)(last - first), src + d->chunk.column - d->chunk.lead, divisor_of(p, 0, 1),
                 dst + d->chunk.output);
        begin = last;
    }
    for (; begin < end; ++begin)
        FN(do_step)(p, begin, window, src, dst, rows_fn, d);
}

static void FN(each_unit)(const struct sn_pooling * p, size_t begin, size_t end, FN(rows_fn) rows_fn, bool single,
                          struct FN(dense) * d)
{
    const size_t pairs = sn_pooling_pairs(p);
    struct plan plan;
    for (size_t first = 0; first < pairs; first += PLAN) {
        const size_t count = sn_min(pairs - first, PLAN);
        plan_pairs(&plan, p, first, first + count, single);
        for (size_t plane = begin / pairs; plane * pairs < end; ++plane) {
            const size_t unit = plane * pairs + first;
            const size_t from = sn_max(begin, unit), to = sn_min(end, unit + count);
            if (from < to)
                FN(do_plane)(p, plan.step + plan.first[from - unit], plan.step + plan.first[to - unit], plane, rows_fn, d);
        }
    }
}

static void FN(dense_all)(const struct sn_pooling * p, size_t begin, size_t end)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    struct FN(dense) d;
    const size_t room = FN(ROW) - 8 * LANES - 2 * axis->kernel * p->inner;
    const size_t most = room / (axis->stride * p->inner);
    d.p = p;
    d.covered = covered(axis);
    for (size_t o = 0; o < d.covered.count;) {
        const size_t now = sn_min(d.covered.count - o, most);
        FN(begin_chunk)(&d, d.covered.begin + o, now);
        FN(each_unit)(p, begin, end, NULL, false, &d);
        FN(finish)(&d);
        o += now;
    }
}

static void FN(pooling)(const struct sn_pooling * given, size_t begin, size_t end)
{
    struct sn_pooling p = *given;
    struct sn_pool_axis * axis = &p.axis[2];
    const bool alone = is_alone(axis);
    if (alone) {
        p.inner *= axis->src;
        *axis = (struct sn_pool_axis){1, 1, 1, 1, 0};
    }
    const size_t most = FN(ROW) / 8 / p.inner;
    if (p.inner == 1 && is_whole(&p.axis[1]) && is_whole(axis) && is_alone(&p.axis[0])) {
        FN(whole_planes)(&p, begin, end);
        return;
    }
    if (alone || p.inner >= LANES)
        FN(each_unit)(&p, begin, end, FN(pixels), false, NULL);
    else if (axis->kernel > most || axis->stride > most || covered(axis).count <= 1)
        FN(each_unit)(&p, begin, end, FN(windows), true, NULL);
    else
        FN(dense_all)(&p, begin, end);
}

#undef FN
#undef KIND
#undef ELEMENT
#undef VECTOR
#undef LANES
#undef TYPE
#undef IDENTITY
#undef ENTER
#undef LEAVE
#undef REDUCE
#undef HAS_DIVISOR
