/*
 * Narrow pixels: rows are reduced into a buffer in which the border stands as IDENTITY, then along it. Included by
 * pooling.h.
 *
 * Many rows are collected before the first is finished, so that no load meets a store that is still on its way. With stride
 * 1 a vector of results is K loads at neighbouring positions; with stride 2 and single elements too, because even and odd
 * positions lie apart. Else all positions are computed and those wanted are copied: a vector of outputs would have to be
 * gathered, which costs more than the positions thrown away.
 */

/* A row of outputs whose columns wait in the buffer. */
struct waiting {
    ELEMENT * row, * dst;
    float divisor;
};

/* Outputs of narrow pixels are picked by looking them up. */
#define BY_PLACE (sizeof(ELEMENT) == sizeof(float) && V32F_N >= 8)

struct rows;
typedef void (*strip_fn)(const struct rows * d, const struct step * t, const struct step * end, const ELEMENT * src,
                             ELEMENT * dst);

struct rows {
    const struct sn_pooling * p;
    struct span covered;                  /* outputs along the row that have a window */
    struct chunk chunk;
    struct layout layout;
    size_t rows, waiting, begun;          /* the buffer's rows, those that wait, those with a left border */
    struct waiting wait[MAX_ROWS];
    strip_fn strip;                   /* for this kind of window, or NULL */
    size_t vectors;                       /* of a strip's row that reach into the image */
    size_t least, most;                   /* elements before its row that it asks for: those of the first, of the last row */
    float columns[HAS_DIVISOR ? ROW + LANES : 1];
    int32_t place[BY_PLACE ? ROW + LANES : 1]; /* of each output among the results, if picked */
    ELEMENT buffer[BUFFER] __attribute__((aligned(64)));
    ELEMENT mask[ROW + LANES] __attribute__((aligned(64)));
};

/* Elements 0, 2, ... of the n go to e, elements 1, 3, ... to o, for one or two rows. */
SN_INLINE void collect_phases(const struct reach * r, size_t n, ELEMENT * const * e, ELEMENT * const * o, bool two)
{
    const struct known known = {0, 0, two, false};
    REDUCTION v[2][2];
    for (size_t x = 0; x < n; x += 2 * LANES) {
        if (x + 2 * LANES <= n)
            reduce(v[0], v[1], 2, r, x, 0, true, known);
        else
            reduce(v[0], v[1], 2, r, x, n - x, false, known);
        WORD(store)(e[0] + x / 2, WORD(even)(REST(v[0][0]), REST(v[0][1])));
        WORD(store)(o[0] + x / 2, WORD(odd)(REST(v[0][0]), REST(v[0][1])));
        if (two) {
            WORD(store)(e[1] + x / 2, WORD(even)(REST(v[1][0]), REST(v[1][1])));
            WORD(store)(o[1] + x / 2, WORD(odd)(REST(v[1][0]), REST(v[1][1])));
        }
    }
}

/* The columns of a chunk for one or two rows, with the right border; the left one is there. */
static void collect_rows(const struct reach * r, const struct layout * l, size_t n, ELEMENT * const * row, bool two)
{
    if (l->phases == 1) {
        collect_vectors(r, n, row[0] + l->data[0], row[1] + l->data[0], two);
    } else {
        ELEMENT * const e[2] = {row[0] + l->data[l->first], row[1] + l->data[l->first]};
        ELEMENT * const o[2] = {row[0] + l->data[1 - l->first], row[1] + l->data[1 - l->first]};
        if (two)
            collect_phases(r, n, e, o, true);
        else
            collect_phases(r, n, e, o, false);
    }
    for (size_t f = 0; f < l->phases; ++f)
        for (int i = 0; i < (two ? 2 : 1); ++i) {
            for (size_t x = l->data[f] + l->count[f]; x < l->end[f]; x += LANES)
                WORD(store)(row[i] + x, IDENTITY);
            WORD(store)(row[i] + l->end[f], IDENTITY); /* what the last vectors of outputs read beyond theirs */
        }
}

struct taps {
    const ELEMENT * p[2];   /* the first tap of each phase */
    size_t count[2], step;
};

/* u vectors at x reduced over the taps. */
SN_INLINE void reduce_taps(REDUCTION * v, int u, const struct taps * t, size_t x)
{
#if HAS_DIVISOR
    if (is_long(t->count[0] + t->count[1], 1)) {
        v32f w[4];
        sum_terms(v, u, &(struct terms){t->p[0] + x, t->count[0], t->step, 1, 0, 0}, true);
        if (t->count[1]) {
            sum_terms(w, u, &(struct terms){t->p[1] + x, t->count[1], t->step, 1, 0, 0}, true);
            add_vectors(v, w, u);
        }
        return;
    }
#endif
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = RESUME(WORD(load)(t->p[0] + x + i * LANES));
    for (size_t k = 1; k < t->count[0]; ++k) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], ENTER(WORD(load)(t->p[0] + x + k * t->step + i * LANES)));
    }
    for (size_t k = 0; k < t->count[1]; ++k) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], ENTER(WORD(load)(t->p[1] + x + k * t->step + i * LANES)));
    }
}

/* n results from the taps; `columns` are the column parts of the divisors. */
static void reduce_columns(const struct taps * t, size_t n, const sn_32f * columns, float row, ELEMENT * dst)
{
    enum { U = 2 };
    REDUCTION v[U];
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
        reduce_taps(v, U, t, x);
        SN_UNROLL
        for (int i = 0; i < U; ++i)
            WORD(store)(dst + x + i * LANES, LEAVE(v[i], DIVISOR(x + i * LANES)));
    }
    for (; x < n; x += LANES) {
        reduce_taps(v, 1, t, x);
        WORD(store_tail)(dst + x, LEAVE(v[0], DIVISOR(x)), sn_min(n - x, LANES));
    }
#undef DIVISOR
}

/* Copies `bytes` of each pixel: the first ones of t that are `stride` apart, each beyond its end as far as there is room. */
SN_INLINE size_t pick_some(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst, size_t bytes)
{
    size_t o = 0;
    for (; (outputs - o) * inner * sizeof(ELEMENT) >= bytes && o < outputs; ++o)
        memcpy(dst + o * inner, t + o * stride * inner, bytes);
    return o;
}

/* Every stride-th of the results in t, pixels of `inner` elements. */
static void pick(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst)
{
    const size_t bytes = inner * sizeof(ELEMENT);
    size_t o = bytes == 1   ? pick_some(t, stride, inner, outputs, dst, 1)
               : bytes == 2 ? pick_some(t, stride, inner, outputs, dst, 2)
               : bytes <= 4 ? pick_some(t, stride, inner, outputs, dst, 4)
               : bytes <= 8 ? pick_some(t, stride, inner, outputs, dst, 8)
               : bytes <= 16 ? pick_some(t, stride, inner, outputs, dst, 16)
               : bytes <= 32 ? pick_some(t, stride, inner, outputs, dst, 32)
                             : pick_some(t, stride, inner, outputs, dst, 64);
    for (; o < outputs; ++o)
        memcpy(dst + o * inner, t + o * stride * inner, bytes);
}

/* The same for n floats, whose places in t are known: a vector of outputs is looked up in as many vectors as it is spread
 * over. Twice as fast as copies of single pixels. */
static void pick_floats(const sn_32f * t, const int32_t * place, size_t n, sn_32f * dst)
{
    for (size_t x = 0; x < n; x += V32F_N) {
        const size_t now = sn_min(n - x, V32F_N);
        const sn_32f * from = t + place[x];
        const v32i lane = v_sub_32i(v_load_32i(place + x), v_set_32i(place[x]));
        v32f v = v_lookup_32f(v_load_32f(from), lane);
        for (int begin = V32F_N; begin <= place[x + now - 1] - place[x]; begin += V32F_N) {
            const v32i w = v_cast_32f_32i(v_lookup_32f(v_load_32f(from + begin), lane));
            v = v_cast_32i_32f(v_select_32i(v_gt_32i(lane, v_set_32i(begin - 1)), w, v_cast_32f_32i(v)));
        }
        v_store_tail_32f(dst + x, v, now);
    }
}

/* Results to be picked replace the row, over its left border too, and wait until all rows are there. */
static void finish_rows(struct rows * d)
{
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct layout * l = &d->layout;
    const size_t inner = d->p->inner, outputs = d->chunk.outputs;
    const bool picked = l->phases == 1 && axis->stride > 1;
    const size_t n = (picked ? (outputs - 1) * axis->stride + 1 : outputs) * inner;
    for (size_t i = 0; i < d->waiting; ++i) {
        const struct waiting * w = &d->wait[i];
        struct taps t = {.p = {w->row + l->origin[0], w->row + l->origin[l->phases - 1]}, .step = inner};
        t.count[0] = sn_ceil_div(axis->kernel, l->phases);
        t.count[1] = axis->kernel - t.count[0];
        reduce_columns(&t, n, d->columns, w->divisor, picked ? w->row + l->origin[0] : w->dst);
    }
    for (size_t i = 0; picked && i < d->waiting; ++i) {
        const ELEMENT * results = d->wait[i].row + l->origin[0];
        if (BY_PLACE && inner <= NARROW)
            pick_floats((const void *)results, d->place, outputs * inner, (void *)d->wait[i].dst);
        else
            pick(results, axis->stride, inner, outputs, d->wait[i].dst);
    }
    d->begun = picked ? 0 : d->begun;
    d->waiting = 0;
}

/* The column parts of the divisors, for each element that reduce_columns() computes. */
static void divide_columns(struct rows * d)
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

static void find_places(struct rows * d)
{
    const size_t inner = d->p->inner, pixels = BY_PLACE && inner <= NARROW ? d->chunk.outputs : 0;
    for (size_t o = 0; o < pixels; ++o)
        for (size_t i = 0; i < inner; ++i)
            d->place[o * inner + i] = (int32_t)(o * d->p->axis[2].stride * inner + i);
}

static void begin_strips(struct rows * d);

static void begin_chunk(struct rows * d, size_t output, size_t outputs)
{
    d->chunk = chunk_at(&d->p->axis[2], output, outputs);
    d->layout = layout_of(&d->p->axis[2], d->p->inner, &d->chunk, LANES);
    d->rows = sn_min(BUFFER / d->layout.pitch, MAX_ROWS);
    d->waiting = d->begun = 0;
    divide_columns(d);
    find_places(d);
    begin_strips(d);
}

/* The next row of the buffer, with its left border. */
static ELEMENT * next_row(struct rows * d, ELEMENT * dst, float divisor)
{
    const struct layout * l = &d->layout;
    ELEMENT * row = d->buffer + d->waiting * l->pitch;
    if (d->waiting == d->begun) {
        ++d->begun;
        for (size_t f = 0; f < l->phases; ++f)
            for (size_t x = l->origin[f] / LANES * LANES; x < l->data[f]; x += LANES)
                WORD(store)(row + x, IDENTITY);
    }
    d->wait[d->waiting++] = (struct waiting){row, dst, divisor};
    return row;
}

/* One or two rows of outputs: collected now, finished when the buffer is full. */
static void rows_step(struct rows * d, const struct step * t, const ELEMENT * src, struct span planes, ELEMENT * dst)
{
    const struct sn_pooling * p = d->p;
    const struct pitches pitch = pitches_of(p);
    const struct reach r = reach_of(t, src + d->chunk.column * p->inner, pitch.row, planes.count, pitch.plane);
    const size_t count = t->two ? 2 : 1, behind = d->covered.begin + d->covered.count;
    ELEMENT * row[2];
    if (d->waiting + count > d->rows)
        finish_rows(d);
    row[1] = d->buffer;
    for (size_t i = 0; i < count; ++i, dst += pitch.dstRow) {
        if (d->covered.count < p->axis[2].dst) {
            fill_empty(p, dst, d->covered.begin);
            fill_empty(p, dst + behind * p->inner, p->axis[2].dst - behind);
        }
        row[i] = next_row(d, dst + d->chunk.output * p->inner, divisor_of(p, 0, planes.count) * t->divisor[i]);
    }
    collect_rows(&r, &d->layout, d->chunk.columns * p->inner, row, t->two);
}
