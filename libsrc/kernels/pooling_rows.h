/*
 * The kernels of one kind of pooling; pooling.c includes this once per kind with
 *
 *   KIND                       the suffix of all names
 *   ELEMENT VECTOR LANES       what the arrays hold, and the vocabulary's vector of it
 *   WORD(name)                 the vocabulary's word for it
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

/* Reduces `rows` rows at p into u vectors. */
SN_INLINE void FN(fold)(VECTOR * v, int u, const ELEMENT * p, size_t rows, size_t pitch, size_t n, bool full)
{
    for (; rows; --rows, p += pitch) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], FN(load)(p, i, n, full));
    }
}

struct FN(source) {
    const ELEMENT * p;      /* first column, first row of the image, first plane of the window */
    size_t planes, plane;   /* how many, and the elements between them */
    size_t pitch;           /* elements between rows */
    struct rows rows;
};

SN_INLINE void FN(fold_planes)(VECTOR * v, int u, const struct FN(source) * s, size_t x, struct span rows, size_t n, bool full)
{
    for (size_t i = 0; rows.count && i < s->planes; ++i)
        FN(fold)(v, u, s->p + x + i * s->plane + rows.begin * s->pitch, rows.count, s->pitch, n, full);
}

/* Elements x .. x + u * LANES - 1 (with !full: the n of them that exist) reduced, for one or two rows of outputs. */
SN_INLINE void FN(reduce_rows)(VECTOR * v0, VECTOR * v1, int u, const struct FN(source) * s, size_t x, size_t n, bool two,
                               bool full)
{
    const ELEMENT * p = s->p + x + s->rows.common.begin * s->pitch;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v0[i] = FN(load)(p, i, n, full);
    FN(fold)(v0, u, p + s->pitch, s->rows.common.count - 1, s->pitch, n, full);
    for (size_t i = 1; i < s->planes; ++i)
        FN(fold)(v0, u, p + i * s->plane, s->rows.common.count, s->pitch, n, full);
    if (!two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    FN(fold_planes)(v0, u, s, x, s->rows.own[0], n, full);
    FN(fold_planes)(v1, u, s, x, s->rows.own[1], n, full);
}

/* ---- pixels of a vector and more, and rows that are not pooled along: each output straight from the image */

/* n elements of one pixel, for one or two rows of outputs. */
SN_INLINE void FN(pixel)(const struct FN(source) * s, size_t n, const float * divisor, ELEMENT * dst0, ELEMENT * dst1, bool two)
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
            WORD(store)(dst0 + x + i * LANES, LEAVE(v0[i], d0));
            if (two)
                WORD(store)(dst1 + x + i * LANES, LEAVE(v1[i], d1));
        }
    }
    for (; x < n; x += LANES) {
        const size_t left = sn_min(n - x, LANES);
        if (left == LANES)
            FN(reduce_rows)(v0, v1, 1, s, x, left, two, true);
        else
            FN(reduce_rows)(v0, v1, 1, s, x, left, two, false);
        WORD(store_tail)(dst0 + x, LEAVE(v0[0], d0), left);
        if (two)
            WORD(store_tail)(dst1 + x, LEAVE(v1[0], d1), left);
    }
}

/* With `columns` the planes of a source are the columns of a window: the image is pooled along rows and has one plane. */
static void FN(pixels)(const struct sn_pooling * p, size_t plane, size_t y, struct rows rows, struct span window)
{
    const struct pitches pitch = pitches_of(p);
    const bool columns = p->axis[2].src > 1;
    ELEMENT * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane + y * pitch.dstRow;
    float of_row[2], divisor[2];
    for (int i = 0; i < 2; ++i)
        of_row[i] = divisor_of(p, 0, window.count) * divisor_of(p, 1, rows_of(&rows, i));
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->inner) {
        const struct span x = window_of(&p->axis[2], o);
        if (x.count == 0) {
            FN(fill_empty)(p, dst, 1);
            if (rows.two)
                FN(fill_empty)(p, dst + pitch.dstRow, 1);
            continue;
        }
        struct FN(source) s = {.p = (const ELEMENT *)p->src + window.begin * pitch.plane + x.begin * p->inner,
                               .planes = columns ? x.count : window.count,
                               .plane = columns ? p->inner : pitch.plane,
                               .pitch = pitch.row,
                               .rows = rows};
        for (int i = 0; i < 2; ++i)
            divisor[i] = of_row[i] * divisor_of(p, 2, x.count);
        if (rows.two)
            FN(pixel)(&s, p->inner, divisor, dst, dst + pitch.dstRow, true);
        else
            FN(pixel)(&s, p->inner, divisor, dst, dst, false);
    }
}

/* ---- narrow pixels: rows reduced into a buffer, then along it */

/* n elements of the image's rows into the buffer rows b0 and b1, whole vectors. */
SN_INLINE void FN(collect_plain)(const struct FN(source) * s, size_t n, ELEMENT * b0, ELEMENT * b1, bool two)
{
    enum { U = 4 };
    VECTOR v0[U], v1[U];
    size_t x = 0;
    for (; x + U * LANES <= n; x += U * LANES) {
        FN(reduce_rows)(v0, v1, U, s, x, 0, two, true);
        SN_UNROLL
        for (int i = 0; i < U; ++i) {
            WORD(store)(b0 + x + i * LANES, v0[i]);
            if (two)
                WORD(store)(b1 + x + i * LANES, v1[i]);
        }
    }
    for (; x < n; x += LANES) {
        if (x + LANES <= n)
            FN(reduce_rows)(v0, v1, 1, s, x, 0, two, true);
        else
            FN(reduce_rows)(v0, v1, 1, s, x, n - x, two, false);
        WORD(store)(b0 + x, v0[0]);
        if (two)
            WORD(store)(b1 + x, v1[0]);
    }
}

/* The same with elements 0, 2, ... going to row e, elements 1, 3, ... to row o. */
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
    const bool two = s->rows.two;
    if (l->phases == 1) {
        if (two)
            FN(collect_plain)(s, n, row[0] + l->data[0], row[1] + l->data[0], true);
        else
            FN(collect_plain)(s, n, row[0] + l->data[0], NULL, false);
    } else {
        const size_t first = l->first;
        ELEMENT * const e[2] = {row[0] + l->data[first], two ? row[1] + l->data[first] : NULL};
        ELEMENT * const o[2] = {row[0] + l->data[1 - first], two ? row[1] + l->data[1 - first] : NULL};
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

struct FN(dense) {
    const struct sn_pooling * p;
    struct span covered;                  /* outputs along the row that have a window */
    struct chunk chunk;
    struct layout layout;
    size_t rows, waiting;                 /* the buffer's rows, and those that wait */
    struct FN(waiting) wait[MAX_ROWS];
    float columns[HAS_DIVISOR ? FN(ROW) + LANES : 1];
    ELEMENT buffer[FN(BUFFER)] __attribute__((aligned(64)));
    ELEMENT results[FN(ROW) + LANES] __attribute__((aligned(64)));
};

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

static void FN(begin_chunk)(struct FN(dense) * d, size_t output, size_t outputs)
{
    const struct layout * l = &d->layout;
    d->chunk = chunk_at(&d->p->axis[2], output, outputs);
    d->layout = layout_of(&d->p->axis[2], d->p->inner, &d->chunk, LANES);
    d->rows = sn_min(FN(BUFFER) / l->pitch, MAX_ROWS);
    d->waiting = 0;
    FN(divide_columns)(d);
    for (size_t i = 0; i < d->rows; ++i)
        for (size_t f = 0; f < l->phases; ++f)
            for (size_t x = l->origin[f] / LANES * LANES; x < l->data[f]; x += LANES)
                WORD(store)(d->buffer + i * l->pitch + x, IDENTITY);
}

/* One or two rows of outputs: collected now, finished when the buffer is full. */
static void FN(dense_rows)(struct FN(dense) * d, size_t plane, size_t y, struct rows rows, struct span window)
{
    const struct sn_pooling * p = d->p;
    const struct pitches pitch = pitches_of(p);
    const struct FN(source) s = {.p = (const ELEMENT *)p->src + window.begin * pitch.plane + d->chunk.column * p->inner,
                                 .planes = window.count, .plane = pitch.plane, .pitch = pitch.row, .rows = rows};
    ELEMENT * row[2], * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane + y * pitch.dstRow;
    const size_t count = rows.two ? 2 : 1, behind = d->covered.begin + d->covered.count;
    if (d->waiting + count > d->rows)
        FN(finish)(d);
    for (size_t i = 0; i < count; ++i) {
        if (d->covered.begin)
            FN(fill_empty)(p, dst, d->covered.begin);
        if (behind < p->axis[2].dst)
            FN(fill_empty)(p, dst + behind * p->inner, p->axis[2].dst - behind);
        row[i] = d->buffer + d->waiting * d->layout.pitch;
        d->wait[d->waiting++] = (struct FN(waiting)){
            row[i], dst + d->chunk.output * p->inner,
            divisor_of(p, 0, window.count) * divisor_of(p, 1, rows_of(&rows, (int)i))};
        dst += pitch.dstRow;
    }
    FN(collect)(&s, &d->layout, d->chunk.columns * p->inner, row);
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
    const size_t room = FN(ROW) / inner;
    for (bool more = false; pixels; more = true) {
        const size_t now = sn_min(pixels, room);
        FN(collect_plain)(s, now * inner, part, NULL, false);
        FN(fold_pixels)(part, now, inner);
        WORD(store)(b, more ? REDUCE(WORD(load)(b), WORD(load)(part)) : WORD(load)(part));
        s->p += now * inner;
        pixels -= now;
    }
}

static void FN(windows)(const struct sn_pooling * p, size_t plane, size_t y, struct rows rows, struct span window)
{
    const struct pitches pitch = pitches_of(p);
    ELEMENT * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane + y * pitch.dstRow;
    ELEMENT b[LANES] __attribute__((aligned(64))), part[FN(ROW) + LANES] __attribute__((aligned(64)));
    const float of_row = divisor_of(p, 0, window.count) * divisor_of(p, 1, rows.common.count);
    (void)of_row;
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->inner) {
        struct span x = window_of(&p->axis[2], o);
        if (x.count == 0) {
            FN(fill_empty)(p, dst, 1);
            continue;
        }
        struct FN(source) s = {.p = (const ELEMENT *)p->src + window.begin * pitch.plane + x.begin * p->inner,
                               .planes = window.count, .plane = pitch.plane, .pitch = pitch.row, .rows = rows};
        FN(reduce_window)(&s, x.count, p->inner, b, part);
        WORD(store_tail)(dst, LEAVE(WORD(load)(b), v_set_32f(of_row * divisor_of(p, 2, x.count))), p->inner);
    }
}

/* ---- the choice */

/* Calls one of the above for the rows of the units. */
typedef void (*FN(rows_fn))(const struct sn_pooling * p, size_t plane, size_t y, struct rows rows, struct span window);

static void FN(each_unit)(const struct sn_pooling * p, size_t begin, size_t end, FN(rows_fn) rows_fn, bool single,
                          struct FN(dense) * d)
{
    const size_t pairs = sn_pooling_pairs(p), count = p->axis[1].dst;
    const struct pitches pitch = pitches_of(p);
    for (size_t u = begin; u < end; ++u) {
        const size_t plane = u / pairs, last = sn_min(u % pairs * 2 + 2, count);
        const struct span window = window_of(&p->axis[0], plane);
        for (size_t y = u % pairs * 2; y < last;) {
            const struct rows rows = rows_at(&p->axis[1], y, single ? y + 1 : last);
            ELEMENT * dst = (ELEMENT *)p->dst + plane * pitch.dstPlane + y * pitch.dstRow;
            if (rows.common.count == 0 || window.count == 0)
                FN(fill_empty)(p, dst, (rows.two ? 2 : 1) * p->axis[2].dst);
            else if (d)
                FN(dense_rows)(d, plane, y, rows, window);
            else
                rows_fn(p, plane, y, rows, window);
            y += rows.two ? 2 : 1;
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
    const bool alone = axis->kernel == 1 && axis->stride == 1 && axis->pad == 0 && axis->src == axis->dst;
    if (alone) {
        p.inner *= axis->src;
        *axis = (struct sn_pool_axis){1, 1, 1, 1, 0};
    }
    const size_t most = FN(ROW) / 8 / p.inner;
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
#undef WORD
#undef IDENTITY
#undef ENTER
#undef LEAVE
#undef REDUCE
#undef HAS_DIVISOR
