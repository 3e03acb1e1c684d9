/*
 * Narrow pixels: rows are reduced into a buffer in which the border is IDENTITY, then along the row. Included by pooling.h.
 *
 * Many rows are stored in the buffer before the first is finished, so that no load has to wait for a recent store. With
 * stride 1 a vector of results is computed from K loads at neighbouring positions. Otherwise all positions are computed and
 * the required ones are copied: gathering a vector of outputs costs more than the unused positions.
 */

/* A row of outputs whose columns are in the buffer. */
struct pending_row {
    CELL * row;
    ELEMENT * dst;
    float divisor;
};

/* Outputs of narrow pixels are selected by permutations: 1.2 times as fast as copies with vectors of 16 floats, 0.83 times
 * with vectors of 8. */
#define BY_PERMUTATION (sizeof(ELEMENT) == sizeof(float) && V32F_N > 8)

struct row_buffer;
typedef void (*strip_fn)(const struct row_buffer * d, const struct step * t, const struct step * end, const ELEMENT * src,
                         ELEMENT * dst);

struct row_buffer {
    const struct sn_pooling * p;
    struct span covered;                  /* outputs along the row whose windows are not empty */
    struct chunk chunk;
    struct layout layout;
    size_t rows, pending_rows, bordered;  /* rows of the buffer, unfinished ones, those with a left border */
    struct pending_row pending[MAX_ROWS];
    strip_fn strip;                       /* for this kind of window, or NULL */
    size_t vectors;                       /* of a strip's row that overlap the image */
    size_t min_before, max_before;        /* elements before its row: at least before the first, at most before the last */
    float columns[HAS_DIVISOR ? ROW + LANES : 1];     /* divisors, see divide_columns() */
    float outputs[HAS_DIVISOR ? ROW / 2 + LANES : 1];
    int32_t index[BY_PERMUTATION ? ROW + LANES : 1]; /* index of each output among the results, if selected */
    CELL buffer[BUFFER] __attribute__((aligned(64)));
    CELL mask[ROW + LANES] __attribute__((aligned(64)));
};

/* The cells of the buffer that one row of results is computed from. */
struct taps {
    const CELL * p;  /* the first tap */
    size_t count, step;
};

/* Reduces u vectors at x over the taps. */
SN_INLINE void reduce_taps(REDUCTION * v, int u, const struct taps * t, size_t x)
{
#if HAS_DIVISOR
    if (is_long(t->count, 1)) {
        sum_terms(v, u, &(struct terms){t->p + x, t->count, t->step, 1, 0, 0, true}, true);
        return;
    }
#endif
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = UNPACK(WORD(load)(t->p + x + i * LANES));
    for (size_t k = 1; k < t->count; ++k) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], TERM(WORD(load)(t->p + x + k * t->step + i * LANES)));
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
            store(dst, x + (size_t)i * LANES, v[i], DIVISOR(x + i * LANES), false);
    }
    for (; x < n; x += LANES) {
        reduce_taps(v, 1, t, x);
        store_tail(dst + x, v[0], DIVISOR(x), sn_min(n - x, LANES), false);
    }
#undef DIVISOR
}

/* Copies `bytes` from every stride-th pixel of t, while they fit in the space of the remaining outputs; returns how many. */
SN_INLINE size_t gather_bytes(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst, size_t bytes)
{
    size_t o = 0;
    for (; (outputs - o) * inner * sizeof(ELEMENT) >= bytes && o < outputs; ++o)
        memcpy(dst + o * inner, t + o * stride * inner, bytes);
    return o;
}

/* Selects every stride-th of the results in t, pixels of `inner` elements. */
static void gather(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst)
{
    const size_t bytes = inner * sizeof(ELEMENT);
    size_t o = bytes == 1   ? gather_bytes(t, stride, inner, outputs, dst, 1)
               : bytes == 2 ? gather_bytes(t, stride, inner, outputs, dst, 2)
               : bytes <= 4 ? gather_bytes(t, stride, inner, outputs, dst, 4)
               : bytes <= 8 ? gather_bytes(t, stride, inner, outputs, dst, 8)
               : bytes <= 16 ? gather_bytes(t, stride, inner, outputs, dst, 16)
               : bytes <= 32 ? gather_bytes(t, stride, inner, outputs, dst, 32)
                             : gather_bytes(t, stride, inner, outputs, dst, 64);
    for (; o < outputs; ++o)
        memcpy(dst + o * inner, t + o * stride * inner, bytes);
}

/* The same for n floats, whose indices in t are given: a vector of outputs is permuted from as many vectors as it is spread
 * over. */
static void gather_floats(const sn_32f * t, const int32_t * index, size_t n, sn_32f * dst)
{
    for (size_t x = 0; x < n; x += V32F_N) {
        const size_t now = sn_min(n - x, V32F_N);
        const sn_32f * from = t + index[x];
        const v32i lane = v_sub_32i(v_load_32i(index + x), v_set_32i(index[x]));
        v32f v = v_lookup_32f(v_load_32f(from), lane);
        for (int begin = V32F_N; begin <= index[x + now - 1] - index[x]; begin += V32F_N) {
            const v32i w = v_cast_32f_32i(v_lookup_32f(v_load_32f(from + begin), lane));
            v = v_cast_32i_32f(v_select_32i(v_gt_32i(lane, v_set_32i(begin - 1)), w, v_cast_32f_32i(v)));
        }
        v_store_tail_32f(dst + x, v, now);
    }
}

/* Results to be selected overwrite the row, including its left border, until all rows are complete. They are elements, so
 * that none lies behind the cells that it is computed from. */
static void flush_rows(struct row_buffer * d)
{
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct layout * l = &d->layout;
    const size_t inner = d->p->inner, outputs = d->chunk.outputs;
    const bool gathered = axis->stride > 1;
    const size_t n = (gathered ? (outputs - 1) * axis->stride + 1 : outputs) * inner;
    for (size_t i = 0; i < d->pending_rows; ++i) {
        const struct pending_row * w = &d->pending[i];
        const struct taps t = {w->row + l->origin, axis->kernel, inner};
        reduce_columns(&t, n, d->columns, w->divisor, gathered ? (void *)(w->row + l->origin) : w->dst);
    }
    for (size_t i = 0; gathered && i < d->pending_rows; ++i) {
        const ELEMENT * results = (const void *)(d->pending[i].row + l->origin);
        if (BY_PERMUTATION && inner <= NARROW)
            gather_floats((const void *)results, d->index, outputs * inner, (void *)d->pending[i].dst);
        else
            gather(results, axis->stride, inner, outputs, d->pending[i].dst);
    }
    d->bordered = gathered ? 0 : d->bordered;
    d->pending_rows = 0;
}

/* The column factors of the divisors: of each element of reduce_columns(), and of each output if these are not adjacent. */
static void divide_columns(struct row_buffer * d)
{
#if HAS_DIVISOR
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct chunk * c = &d->chunk;
    const size_t inner = d->p->inner, n = (c->outputs - 1) * axis->stride + 1;
    for (size_t o = 0; o < n; ++o) {
        const size_t begin = sn_max(o, c->lead), end = sn_min(o + axis->kernel, c->lead + c->columns);
        for (size_t i = 0; i < inner; ++i)
            d->columns[o * inner + i] = divisor_of(d->p, 2, begin < end ? end - begin : 1);
    }
    for (size_t i = n * inner; i < n * inner + LANES; ++i)
        d->columns[i] = 1;
    for (size_t o = 0; axis->stride > 1 && o < c->outputs + LANES; ++o)
        d->outputs[o] = d->columns[sn_min(o * axis->stride, n) * inner];
#else
    (void)d;
#endif
}

static void find_indices(struct row_buffer * d)
{
    const size_t inner = d->p->inner, pixels = BY_PERMUTATION && inner <= NARROW ? d->chunk.outputs : 0;
    for (size_t o = 0; o < pixels; ++o)
        for (size_t i = 0; i < inner; ++i)
            d->index[o * inner + i] = (int32_t)(o * d->p->axis[2].stride * inner + i);
}

static void begin_strips(struct row_buffer * d);

static void begin_chunk(struct row_buffer * d, size_t output, size_t outputs)
{
    d->chunk = chunk_at(&d->p->axis[2], output, outputs);
    d->layout = layout_of(&d->p->axis[2], d->p->inner, &d->chunk, LANES);
    d->rows = sn_min(BUFFER / d->layout.pitch, MAX_ROWS);
    d->pending_rows = d->bordered = 0;
    divide_columns(d);
    find_indices(d);
    begin_strips(d);
}

/* Prepares the next row of the buffer, with its left border. */
static CELL * next_buffer_row(struct row_buffer * d, ELEMENT * dst, float divisor)
{
    const struct layout * l = &d->layout;
    CELL * row = d->buffer + d->pending_rows * l->pitch;
    if (d->pending_rows == d->bordered) {
        ++d->bordered;
        for (size_t x = l->origin / LANES * LANES; x < l->data; x += LANES)
            WORD(store)(row + x, IDENTITY);
    }
    d->pending[d->pending_rows++] = (struct pending_row){row, dst, divisor};
    return row;
}

/* One or two rows of outputs: reduced into the buffer now, finished when the buffer is full. */
static void buffer_step(struct row_buffer * d, const struct step * t, const ELEMENT * src, struct span planes, ELEMENT * dst)
{
    const struct sn_pooling * p = d->p;
    const struct pitches pitch = pitches_of(p);
    const struct input r = input_of(t, src + d->chunk.column * p->inner, pitch.row, planes.count, pitch.plane);
    const size_t count = t->two ? 2 : 1, behind = d->covered.begin + d->covered.count;
    const struct layout * l = &d->layout;
    CELL * row[2];
    if (d->pending_rows + count > d->rows)
        flush_rows(d);
    row[1] = d->buffer;
    for (size_t i = 0; i < count; ++i, dst += pitch.dstRow) {
        if (d->covered.count < p->axis[2].dst) {
            fill_identity(p, dst, d->covered.begin);
            fill_identity(p, dst + behind * p->inner, p->axis[2].dst - behind);
        }
        row[i] = next_buffer_row(d, dst + d->chunk.output * p->inner, divisor_of(p, 0, planes.count) * t->divisor[i]);
    }
    reduce_cells(&r, l->count, row[0] + l->data, row[1] + l->data, t->two);
    for (size_t i = 0; i < count; ++i) {
        for (size_t x = l->data + l->count; x < l->end; x += LANES)
            WORD(store)(row[i] + x, IDENTITY);
        WORD(store)(row[i] + l->end, IDENTITY); /* read by the last vectors of outputs */
    }
}
