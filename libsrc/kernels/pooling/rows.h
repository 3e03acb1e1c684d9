/*
 * Narrow pixels: rows are reduced into a buffer in which the border is IDENTITY, then along the row. Expects reduce.h.
 *
 * Many rows are stored in the buffer before the first is finished, so that no load has to wait for a recent store. With
 * stride 1 a vector of results is computed from K loads at neighbouring positions. Otherwise all positions are computed and
 * the required ones are copied: gathering a vector of outputs costs more than the unused positions. If the stride is even,
 * the even and the odd positions of single elements are separated first: a window begins at an even one, so only these are
 * computed, and with stride 2 none is unused. By that, maxima of 14x14 floats by windows of 10x10 with stride 2 take 0.85 of
 * the time (avx2, Zen 3).
 */

/* Rows of the buffer, and elements of a narrow pixel. */
enum { MAX_ROWS = 32, NARROW = 4 };

/* The most outputs of flat rows, whose indices are kept; cells of flat rows, and where their results are. */
enum { INDICES = ROW / 2, FLAT = ROW, FLAT_RESULTS = FLAT + 4 * LANES };

/* A row of outputs whose columns are in the buffer. */
struct pending_row {
    CELL * row;
    ELEMENT * dst;
    float divisor;
};

/* Outputs of narrow pixels are selected by permutations: 1.2 times as fast as copies with vectors of 16 floats, 0.83 times
 * with vectors of 8. */
#define BY_PERMUTATION (sizeof(ELEMENT) == sizeof(float) && V32F_N > 8)

/* Reduces rows in registers in place of the buffer, see strips.h. */
struct row_buffer;
typedef void (*strip_fn)(const struct row_buffer * d, const struct step * t, const struct step * end, const ELEMENT * src,
                         ELEMENT * dst);

struct row_buffer {
    const struct sn_pooling * p;
    struct span covered;                  /* outputs along the row whose windows are not empty */
    struct chunk chunk;
    struct layout layout;
    size_t rows, pending_rows, bordered;  /* rows of the buffer, unfinished ones, those with borders */
    bool split;                           /* the even and the odd positions of rows are separated */
    size_t odd;                           /* where the odd ones begin then */
    size_t stride, results;               /* of the outputs among the results that are computed, and the number of these */
    bool flat, uniform;                   /* rows are finished as one, see begin_flat(); all divisors are the same */
    ELEMENT * first, * next;              /* then: the outputs of unfinished rows, and where those of the next row must be */
    struct pending_row pending[MAX_ROWS];
    strip_fn strip;                       /* for this kind of window, or NULL */
    size_t vectors;                       /* of a strip's row that overlap the image */
    size_t min_before, max_before;        /* elements before its row: at least before the first, at most before the last */
    float columns[HAS_DIVISOR ? ROW + LANES : 1];           /* the column factor of the divisor of each result */
    int32_t index[BY_PERMUTATION ? INDICES + LANES : 1];    /* index of each output among the results, if selected */
    CELL buffer[BUFFER + ROW] __attribute__((aligned(64))); /* a row more, for split_row() */
    CELL mask[ROW + LANES] __attribute__((aligned(64)));
};

/* The cells of the buffer that one row of results is computed from: tap 0, tap 1 is `odd` cells behind it, and tap i + 2 is
 * `pitch` cells behind tap i. */
struct taps {
    const CELL * p;
    size_t count, odd, pitch;
};

/* Reduces u vectors at x over the taps. */
SN_INLINE void reduce_taps(REDUCTION * v, int u, const struct taps * t, size_t x)
{
#if HAS_DIVISOR
    if (is_long(t->count, 1)) {
        sum_terms(v, u, &(struct terms){t->p + x, t->count, t->odd, t->pitch, 1, 0, 0, true}, true);
        return;
    }
#endif
    const CELL * p = t->p + x, * odd = p + t->odd;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = UNPACK(WORD(load)(p + i * LANES));
    for (size_t k = t->count; k > 2; k -= 2) {
        p += t->pitch;
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(REDUCE(v[i], TERM(WORD(load)(odd + i * LANES))), TERM(WORD(load)(p + i * LANES)));
        odd += t->pitch;
    }
    if (t->count % 2 == 0) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], TERM(WORD(load)(odd + i * LANES)));
    }
}

/* Stores the n results at x, at most a vector. */
SN_INLINE void store_columns(ELEMENT * dst, size_t x, size_t n, REDUCTION v, const sn_32f * columns, v32f row)
{
    (void)columns;
#if HAS_DIVISOR
    if (columns)
        row = v_mul_32f(row, v_load_32f(columns + x));
    if (!columns && !WIDENS)
        v_store_tail_32f((void *)(dst + x), v, sn_min(n, LANES));
    else
#endif
    if (n >= LANES)
        store(dst, x, v, row, false);
    else
        store_tail(dst + x, v, row, n, false);
}

/* n results from the taps. `columns` are the column parts of the divisors; if it is NULL, `row` is all of them, and sums of
 * floats are not yet divided: see flush_flat(). */
#if HAS_DIVISOR
static __attribute__((noinline)) /* 2 KB */
#else
SN_INLINE
#endif
void reduce_columns(const struct taps * t, size_t n, const sn_32f * columns, float row, ELEMENT * dst)
{
    REDUCTION v[2];
    const v32f d = v_set_32f(row);
    size_t x = 0;
    for (; x + LANES < n; x += 2 * LANES) {
        reduce_taps(v, 2, t, x);
        store_columns(dst, x, LANES, v[0], columns, d);
        store_columns(dst, x + LANES, n - x - LANES, v[1], columns, d);
    }
    if (x < n) {
        reduce_taps(v, 1, t, x);
        store_columns(dst, x, n - x, v[0], columns, d);
    }
}

/* Copies `bytes` from every stride-th pixel of t, while they fit in the space of the remaining outputs; returns how many. */
SN_INLINE size_t gather_bytes(const ELEMENT * t, size_t stride, size_t inner, size_t outputs, ELEMENT * dst, size_t bytes)
{
    const size_t size = inner * sizeof(ELEMENT), pitch = stride * inner;
    const size_t n = size == bytes ? outputs : outputs * size >= bytes ? (outputs * size - bytes) / size + 1 : 0;
    for (size_t o = 0; o < n; ++o, t += pitch, dst += inner)
        memcpy(dst, t, bytes);
    return n;
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

/* Separates the positions of a row: at most n - LANES even ones, and as many odd ones. */
static void split_row(const CELL * from, CELL * even, CELL * odd, size_t n)
{
    size_t x = 0;
    for (; x + LANES < n; x += LANES) {
        const VECTOR a = WORD(load)(from + 2 * x), b = WORD(load)(from + 2 * x + LANES);
        WORD(store)(even + x, WORD(even)(a, b));
        WORD(store)(odd + x, WORD(odd)(a, b));
    }
    WORD(store)(even + x, IDENTITY); /* read by the last vectors of results */
    WORD(store)(odd + x, IDENTITY);
}

/* Results to be selected overwrite the cells, including the border, until all rows are complete. They are elements, so
 * that none lies behind the cells that it is computed from. */
static void flush_rows(struct row_buffer * d)
{
    const struct layout * l = &d->layout;
    const size_t inner = d->p->inner, outputs = d->chunk.outputs, kernel = d->p->axis[2].kernel;
    const bool gathered = d->stride > 1;
    for (size_t i = 0; d->split && i < d->pending_rows; ++i) { /* in place of the row before, which is no longer needed */
        CELL * const row = d->pending[i].row, * const even = row - l->pitch;
        split_row(row + l->origin, even, even + d->odd, d->odd);
    }
    for (size_t i = 0; i < d->pending_rows; ++i) {
        struct pending_row * w = &d->pending[i];
        w->row = d->split ? w->row - l->pitch : w->row + l->origin;
        const struct taps t = {w->row, kernel, d->split ? d->odd : inner, d->split ? 1 : 2 * inner};
        reduce_columns(&t, d->results, d->columns, w->divisor, gathered ? (void *)w->row : w->dst);
    }
    for (size_t i = 0; gathered && i < d->pending_rows; ++i) {
        const struct pending_row * w = &d->pending[i];
        if (BY_PERMUTATION && inner <= NARROW)
            gather_floats((const void *)w->row, d->index, outputs * inner, (void *)w->dst);
        else
            gather((const void *)w->row, d->stride, inner, outputs, w->dst);
    }
    d->bordered = gathered || d->split ? 0 : d->bordered;
    d->pending_rows = 0;
}

/* The column factors of the divisors. */
static void divide_columns(struct row_buffer * d)
{
#if HAS_DIVISOR
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const struct chunk * c = &d->chunk;
    const size_t inner = d->p->inner;
    for (size_t o = 0, x = 0; o < d->results; o += inner, x += d->split ? 2 : 1) {
        const size_t begin = sn_max(x, c->lead), end = sn_min(x + axis->kernel, c->lead + c->columns);
        for (size_t i = 0; i < inner; ++i)
            d->columns[o + i] = divisor_of(d->p, 2, begin < end ? end - begin : 1);
    }
    for (size_t i = d->results; i < d->results + LANES; ++i)
        d->columns[i] = 1;
#else
    (void)d;
#endif
}

static void find_indices(struct row_buffer * d)
{
    const size_t inner = d->p->inner, pixels = BY_PERMUTATION && d->stride > 1 && inner <= NARROW ? d->chunk.outputs : 0;
    for (size_t o = 0; o < pixels; ++o)
        for (size_t i = 0; i < inner; ++i)
            d->index[o * inner + i] = (int32_t)(o * d->stride * inner + i);
}

static void begin_chunk(struct row_buffer * d, size_t output, size_t outputs)
{
    const struct sn_pool_axis * axis = &d->p->axis[2];
    d->chunk = chunk_at(axis, output, outputs);
    d->layout = layout_of(axis, d->p->inner, &d->chunk, LANES);
    d->split = d->p->inner == 1 && axis->stride % 2 == 0;
    d->odd = (sn_ceil_div(d->layout.end - d->layout.origin, 2 * LANES) + 1) * LANES;
    d->stride = d->split ? axis->stride / 2 : axis->stride;
    d->results = ((outputs - 1) * d->stride + 1) * d->p->inner;
    d->rows = sn_min(BUFFER / d->layout.pitch, MAX_ROWS);
    d->pending_rows = d->bordered = 0;
    divide_columns(d);
    find_indices(d);
}

/* Prepares the next row of the buffer, with its borders. */
static CELL * next_buffer_row(struct row_buffer * d, ELEMENT * dst, float divisor)
{
    const struct layout * l = &d->layout;
    CELL * row = d->buffer + (d->pending_rows + (d->split ? 1 : 0)) * l->pitch;
    if (d->pending_rows == d->bordered) {
        ++d->bordered;
        for (size_t x = l->origin / LANES * LANES; x < l->data; x += LANES)
            WORD(store)(row + x, IDENTITY);
        for (size_t x = l->data + l->count; x < l->end + 2 * LANES; x += LANES) /* split_row() reads two vectors behind */
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
}

/* ---- rows of an image that are finished as one */

/* Whether all divisors are the same. */
static bool is_uniform(const struct sn_pooling * p)
{
    bool inside = true;
    for (int a = 1; a < 3; ++a)
        inside = inside && p->axis[a].pad == 0 && window_of(&p->axis[a], p->axis[a].dst - 1).count == p->axis[a].kernel;
    return !HAS_DIVISOR || !p->excludePad || inside;
}

/*
 * If results are selected and all outputs of a row are in the chunk, the outputs of consecutive rows and planes are one run.
 * Then their rows lie in the buffer without gaps, and results are computed and selected along all of them at once; results
 * have a part of the buffer for themselves, so that borders are stored only here. Maxima of 160 images of 18x18 floats by
 * windows of 3x3 with stride 3 take 0.56 of the time of rows that are finished one by one (avx512, Intel Xeon with AMX; 0.64
 * on avx2). Compact code and small elements, for which it would be 16 KB more, do without.
 */
enum { FLATTENS = !COMPACT && sizeof(ELEMENT) == sizeof(float) };

static void begin_flat(struct row_buffer * d)
{
    const struct sn_pooling * p = d->p;
    const struct chunk * c = &d->chunk;
    const size_t inner = p->inner, outputs = c->outputs * inner;
    const size_t length = ((c->outputs - 1) * p->axis[2].stride + p->axis[2].kernel) * inner;
    const size_t pitch = d->split ? length + length % 2 : length, half = d->split ? pitch / 2 : pitch;
    const size_t rows = sn_min(sn_min(FLAT / pitch, INDICES / outputs), MAX_ROWS);
    d->flat = !d->strip && (d->stride > 1 || d->split) && c->outputs == p->axis[2].dst && rows >= 4 &&
              is_identity(&p->axis[0]);
    if (!d->flat)
        return;
    d->uniform = is_uniform(p);
    d->rows = sn_min(rows, p->axis[0].dst * p->axis[1].dst + 1);
    d->layout = (struct layout){0, c->lead * inner, c->columns * inner, length, pitch};
    for (size_t x = 0; x < d->rows * pitch + 4 * LANES; x += LANES)
        WORD(store)(d->buffer + x, IDENTITY);
    for (size_t row = 0; BY_PERMUTATION && inner <= NARROW && row < d->rows; ++row)
        for (size_t o = 0; o < c->outputs; ++o)
            for (size_t i = 0; i < inner; ++i)
                d->index[row * outputs + o * inner + i] = (int32_t)(row * half + o * d->stride * inner + i);
    for (size_t o = 0; HAS_DIVISOR && !d->uniform && o < c->outputs; ++o) /* the factors of outputs alone */
        memmove(d->columns + o * inner, d->columns + o * d->stride * inner, inner * sizeof(float));
}

/* Divides n floats, at most a vector. */
SN_INLINE void divide_tail(void * p, size_t n, v32f divisor)
{
    v_store_tail_32f(p, v_div_32f(v_load_tail_32f(p, n), divisor), n);
}

static void flush_flat(struct row_buffer * d)
{
    const struct sn_pool_axis * axis = &d->p->axis[2];
    const size_t inner = d->p->inner, outputs = d->chunk.outputs, rows = d->pending_rows, pitch = d->layout.pitch;
    const size_t half = d->split ? pitch / 2 : pitch, odd = (sn_ceil_div(rows * pitch, 2 * LANES) + 1) * LANES;
    const size_t n = rows * outputs * inner;
    const float divisor = divisor_of(d->p, 1, d->p->axis[1].kernel) * divisor_of(d->p, 2, axis->kernel);
    CELL * const results = d->buffer + FLAT_RESULTS;
    const struct taps t = {d->split ? results : d->buffer, axis->kernel, d->split ? odd : inner, d->split ? 1 : 2 * inner};
    d->pending_rows = 0;
    if (rows == 0)
        return;
    if (d->split)
        split_row(d->buffer, results, results + odd, odd);
    reduce_columns(&t, (rows - 1) * half + d->results, NULL, divisor, (void *)results);
    if (BY_PERMUTATION && inner <= NARROW)
        gather_floats((const void *)results, d->index, n, (void *)d->first);
    for (size_t i = 0; !(BY_PERMUTATION && inner <= NARROW) && i < rows; ++i)
        gather((const ELEMENT *)(const void *)results + i * half, d->stride, inner, outputs, d->first + i * outputs * inner);
#if HAS_DIVISOR && !WIDENS /* now, since most of the results were not selected */
    for (size_t row = 0, run = outputs * inner; row < rows && !d->uniform; ++row)
        for (size_t x = 0; x < run; x += LANES)
            divide_tail(d->first + row * run + x, sn_min(run - x, LANES),
                        v_mul_32f(v_load_32f(d->columns + x), v_set_32f(d->pending[row].divisor)));
    for (size_t x = 0; x < n && d->uniform; x += LANES)
        divide_tail(d->first + x, sn_min(n - x, LANES), v_set_32f(divisor));
#endif
}

/* Reduces n cells over the rows of one or two outputs, in few vectors, the last of which overlaps the one before. */
SN_INLINE void flat_cells(const struct input * r, size_t n, CELL * dst0, CELL * dst1, bool two)
{
    const struct constants k = {0, 0, two, true};
    const v32f one = v_set_32f(1);
    REDUCTION v0, v1;
    if (n < LANES) {
        reduce(&v0, &v1, 1, r, 0, n, false, k);
        store_tail(dst0, v0, one, n, true);
        if (two)
            store_tail(dst1, v1, one, n, true);
        return;
    }
    for (size_t i = 0; i < n; i += LANES) {
        const size_t x = sn_min(i, n - LANES);
        reduce(&v0, &v1, 1, r, x, 0, true, k);
        store(dst0, x, v0, one, true);
        if (two)
            store(dst1, x, v1, one, true);
    }
}

/* Steps of one plane of the image. Rows of few vectors are reduced here: with calls, averages by windows of 3x3 with
 * stride 3 take up to twice as long. Large windows are left to reduce_cells(), whose sums use more vectors at a time. */
static __attribute__((noinline)) void flat_steps(struct row_buffer * d, const struct step * t, const struct step * end,
                                                 const ELEMENT * src, ELEMENT * plane)
{
    const struct sn_pooling * p = d->p;
    const struct pitches pitch = pitches_of(p);
    const struct layout l = d->layout;
    const bool few = HAS_DIVISOR ? l.count <= 8 * LANES && p->axis[1].kernel < 8 : l.count <= 3 * LANES;
    const bool divisors = HAS_DIVISOR && !d->uniform;
    src += d->chunk.column * p->inner;
    for (; t < end; ++t) {
        const size_t count = t->two ? 2 : 1;
        ELEMENT * const dst = plane + t->y * pitch.dstRow;
        if (t->common.count == 0) {
            fill_identity(p, dst, p->axis[2].dst);
            continue;
        }
        if (d->pending_rows + count > d->rows || (d->pending_rows && dst != d->next))
            flush_flat(d);
        if (d->pending_rows == 0)
            d->first = dst;
        CELL * const row = d->buffer + d->pending_rows * l.pitch + l.data, * const below = row + l.pitch;
        for (size_t i = 0; divisors && i < count; ++i)
            d->pending[d->pending_rows + i].divisor = t->divisor[i];
        d->pending_rows += count;
        d->next = dst + count * pitch.dstRow;
        const struct input r = input_of(t, src, pitch.row, 1, 0);
        if (!few) {
            const struct input copy = r; /* a struct whose address is passed stays in memory */
            reduce_cells(&copy, l.count, row, below, t->two);
        } else if (t->two)
            flat_cells(&r, l.count, row, below, true);
        else
            flat_cells(&r, l.count, row, NULL, false);
    }
}
