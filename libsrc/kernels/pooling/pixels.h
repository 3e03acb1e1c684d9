/*
 * Pixels of at least a vector (NHWC), and rows without pooling along them, which are one wide pixel. Expects reduce.h.
 *
 * Vectors run across the channels, so windows need no borders: what is outside the image is omitted. If windows overlap
 * along the row, each column is reduced once, from left to right, and kept for the following windows: in K - S columns for
 * the usual windows, otherwise in a ring.
 */

/*
 * RING: the most columns of overlapping windows, a power of two; RING_SPACE: vectors in the columns of a row (struct ring);
 * RING_LINES: bytes of the lines of a part (ring_plane()).
 */
enum { RING = 32, RING_SPACE = 16384 / sizeof(REDUCTION), RING_LINES = 512 << 10 };

/* A pixel as wide as the row: there are no columns. */
static void wide_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                      ELEMENT * dst)
{
    const struct pitches pitch = pitches_of(p);
    const struct input r = input_of(t, src, pitch.row, planes.count, pitch.plane);
    const float part = divisor_of(p, 0, planes.count), divisor[2] = {part * t->divisor[0], part * t->divisor[1]};
    reduce_rows(&r, p->inner, divisor, dst, dst + pitch.dstRow, t->two);
}

/* Any window: its columns are the planes of struct input. The image has one plane. */
static void pixels_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                        ELEMENT * dst)
{
    const struct pitches pitch = pitches_of(p);
    (void)planes;
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->dstPixel) {
        const struct span x = window_of(&p->axis[2], o);
        const struct input r = input_of(t, src + x.begin * p->srcPixel, pitch.row, x.count, p->srcPixel);
        const float part = divisor_of(p, 2, x.count), divisor[2] = {part * t->divisor[0], part * t->divisor[1]};
        if (x.count == 0) {
            fill_identity(p, dst, 1);
            if (t->two)
                fill_identity(p, dst + pitch.dstRow, 1);
        } else {
            reduce_rows(&r, p->inner, divisor, dst, dst + pitch.dstRow, t->two);
        }
    }
}

/* ---- windows of 2 x 2 pixels side by side, inside the image */

/* One row of outputs, u vectors at a time. */
SN_INLINE void pairs_row(const struct sn_pooling * p, const struct input * r, v32f divisor, ELEMENT * dst, int u)
{
    const struct constants k = {2, 0, false, true};
    const size_t inner = p->inner, step = (size_t)u * LANES;
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->dstPixel)
        for (size_t c = 0; c < inner; c += step) {
            const size_t at = sn_min(c, inner - step), x = 2 * o * p->srcPixel + at;
            REDUCTION v[4], w[4], none[4];
            reduce(v, none, u, r, x, 0, true, k);
            reduce(w, none, u, r, x + p->srcPixel, 0, true, k);
            SN_UNROLL
            for (int i = 0; i < u; ++i)
                store(dst, at + (size_t)i * LANES, REDUCE(v[i], w[i]), divisor, false);
        }
}

/* Computes a step. With few channels the calls of reduce_rows() would take longer than the work. */
static void pairs_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                       ELEMENT * dst)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    if (t->two || t->common.count != 2 || axis->pad || 2 * axis->dst > axis->src) {
        pixels_step(p, t, src, planes, dst);
        return;
    }
    const struct input r = input_of(t, src, pitches_of(p).row, 1, 0);
    const v32f divisor = v_set_32f(divisor_of(p, 2, 2) * t->divisor[0]);
    if (p->inner >= 4 * LANES && !COMPACT)
        pairs_row(p, &r, divisor, dst, 4);
    else if (p->inner >= 2 * LANES)
        pairs_row(p, &r, divisor, dst, 2);
    else
        pairs_row(p, &r, divisor, dst, 1);
}

/* ---- overlapping windows */

/*
 * Columns of one or two rows that are already reduced over rows, of a run of channels: vector v of column x is at
 * [x % columns * pitch + v], where `columns` is a power of two and `pitch` is odd: at multiples of 4 KB loads wait for
 * stores.
 */
struct ring {
    size_t columns, pitch;
    REDUCTION row[2][RING_SPACE + RING];
};

#if HAS_DIVISOR
/* The sum of the columns x: from their position to the end of the ring, then from its beginning. */
static __attribute__((noinline)) void ring_sum(const struct ring * ring, const v32f * row, int u, struct span x, v32f * v)
{
    const size_t at = x.begin % ring->columns, first = sn_min(x.count, ring->columns - at), odd = ring->pitch * V32F_N;
    const struct terms t = {.odd = odd, .pitch = 2 * odd, .cells = true};
    v32f w[4];
    sum_halves(v, u, &t, row + at * ring->pitch, first, 1, true);
    if (first < x.count) {
        sum_halves(w, u, &t, row, x.count - first, 1, true);
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v[i], w[i]);
    }
}
#endif

/* u vectors of one row of outputs from the columns x, which are in the ring, where those of the row begin at `row`. */
SN_INLINE void ring_store(const struct ring * ring, const REDUCTION * row, int u, struct span x, v32f divisor, ELEMENT * dst)
{
    const size_t mask = ring->columns - 1, pitch = ring->pitch;
    REDUCTION v[4];
    size_t c = x.begin + 1;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = row[(x.begin & mask) * pitch + (size_t)i];
#if HAS_DIVISOR
    if (is_long(x.count, 1)) {
        ring_sum(ring, row, u, x, v);
        c += x.count;
    }
#endif
    for (; c < x.begin + x.count; ++c) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], row[(c & mask) * pitch + (size_t)i]);
    }
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        store(dst, (size_t)i * LANES, v[i], divisor, false);
}

/* A column of the image for the channels of a run, in blocks of u vectors, the last of which overlaps the one before. */
SN_INLINE void ring_column(struct ring * ring, const struct sn_pooling * p, const struct input * r, size_t x,
                           struct span channels, int u, bool two)
{
    const size_t step = (size_t)u * LANES;
    REDUCTION * const row0 = ring->row[0] + (x & (ring->columns - 1)) * ring->pitch;
    REDUCTION * const row1 = row0 + RING_SPACE + RING;
    for (size_t i = 0, v = 0; i < channels.count; i += step, v += (size_t)u) {
        const size_t c = sn_min(channels.begin + i, p->inner - step);
        REDUCTION a[4], b[4];
        reduce(a, b, u, r, x * p->srcPixel + c, 0, true, (struct constants){0, 0, two, true});
        SN_UNROLL
        for (int j = 0; j < u; ++j) {
            row0[v + (size_t)j] = a[j];
            if (two)
                row1[v + (size_t)j] = b[j];
        }
    }
}

/* Outputs of a step for a run of channels; windows have at most as many columns as the ring, and none is empty. */
SN_INLINE void ring_step(struct ring * ring, const struct sn_pooling * p, const struct step * t, const ELEMENT * src,
                         ELEMENT * dst, struct span outputs, struct span channels, int u, bool two)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t dstRow = axis->dst * p->dstPixel, block = (size_t)u * LANES;
    const struct input r = input_of(t, src, pitches_of(p).row, 1, 0);
    size_t next = 0; /* the first column that is not yet in the ring */
    dst += t->y * dstRow + outputs.begin * p->dstPixel;
    for (size_t o = 0; o < outputs.count; ++o, dst += p->dstPixel) {
        const struct span x = window_of(axis, outputs.begin + o);
        const float part = divisor_of(p, 2, x.count);
        const v32f d0 = v_set_32f(part * t->divisor[0]), d1 = v_set_32f(part * t->divisor[1]);
        for (next = sn_max(next, x.begin); next < x.begin + x.count; ++next)
            ring_column(ring, p, &r, next, channels, u, two);
        for (size_t i = 0, v = 0; i < channels.count; i += block, v += (size_t)u) {
            ELEMENT * const to = dst + sn_min(channels.begin + i, p->inner - block);
            ring_store(ring, ring->row[0] + v, u, x, d0, to);
            if (two)
                ring_store(ring, ring->row[1] + v, u, x, d1, to + dstRow);
        }
    }
}

SN_INLINE void ring_steps(struct ring * ring, const struct sn_pooling * p, const struct step * t, const struct step * end,
                          const ELEMENT * src, ELEMENT * dst, struct span outputs, struct span channels, int u)
{
    for (; t < end; ++t)
        if (t->two && !COMPACT)
            ring_step(ring, p, t, src, dst, outputs, channels, u, true);
        else if (t->common.count)
            ring_step(ring, p, t, src, dst, outputs, channels, u, false);
}

/*
 * Steps of one plane. All rows of a part of the columns are computed before the next columns, for a run of channels, so that
 * lines are read in pieces of 2 KB, and from the L2 cache after the first step that uses them: averages of 1024x7x599 by 7x7
 * take 0.2 of the time of whole rows for four vectors of channels after the other, 256x56x56 by 7x7 0.53 to 0.67, maxima of
 * 512x13x13 by 13x13 0.75 to 0.9, but of 512x28x28 by 5x5 with stride 2 1.0 to 1.14. With runs half as long the first takes
 * 1.3 to 1.8 times as long. The ring is 36 KB of the stack.
 */
static __attribute__((noinline)) void ring_plane(const struct sn_pooling * p, const struct step * begin,
                                                 const struct step * end, const ELEMENT * src, ELEMENT * dst)
{
    const struct sn_pool_axis * rows = &p->axis[1], * axis = &p->axis[2];
    const size_t inner = p->inner, u = inner >= 4 * LANES && !COMPACT ? 4 : inner >= 2 * LANES || COMPACT ? 2 : 1;
    struct ring ring = {.columns = 4};
    while (ring.columns < axis->kernel)
        ring.columns *= 2;
    const size_t vectors = sn_min(RING_SPACE / ring.columns, sn_ceil_div(inner, u * LANES) * u), run = vectors * LANES;
    const size_t height = sn_min(rows->kernel, rows->src) + sn_min(rows->stride, rows->src);
    const size_t lines = height * sn_min(run, inner) * sizeof(ELEMENT); /* bytes of a column for a run */
    const size_t most = sn_max(RING_LINES / sn_max(lines, 1), 4 * axis->kernel) / axis->stride;
    const size_t part = end - begin > 1 ? most : axis->dst;
    ring.pitch = vectors + 1;
    for (const struct step * t = begin; t < end; ++t)
        if (t->common.count == 0)
            fill_identity(p, dst + t->y * pitches_of(p).dstRow, axis->dst);
    for (size_t c = 0; c < inner; c += run)
        for (size_t o = 0; o < axis->dst; o += part) {
            const struct span outputs = {o, sn_min(part, axis->dst - o)}, channels = {c, sn_min(run, inner - c)};
            if (u == 4)
                ring_steps(&ring, p, begin, end, src, dst, outputs, channels, COMPACT ? 2 : 4);
            else if (u == 2)
                ring_steps(&ring, p, begin, end, src, dst, outputs, channels, 2);
            else
                ring_steps(&ring, p, begin, end, src, dst, outputs, channels, 1);
        }
}

/* u vectors of one row of outputs; w are the K columns of the window, of both rows. */
SN_INLINE void overlap_store(REDUCTION (*w)[2][2], int row, int u, int K, float divisor, ELEMENT * dst)
{
    const v32f d = v_set_32f(divisor);
    SN_UNROLL
    for (int i = 0; i < u; ++i) {
        REDUCTION v = w[0][row][i];
        SN_UNROLL
        for (int c = 1; c < 5; ++c)
            if (c < K)
                v = REDUCE(v, w[c][row][i]);
        store(dst, (size_t)i * LANES, v, d, false);
    }
}

/* The columns that windows share with those to the left, for a run of channels: vectors of both rows, block by block. */
enum { SHARED_SPACE = 16384 / sizeof(VECTOR) };
struct shared_columns {
    VECTOR * column[4]; /* K - S of them, from left to right */
    VECTOR storage[SHARED_SPACE];
};

/* u vectors of column x of two rows, at offset `at`; the image has `columns` columns. */
SN_INLINE void column(REDUCTION (*w)[2], int u, const struct input * r, ptrdiff_t x, size_t columns, size_t pixel, size_t at,
                      struct constants k)
{
    if ((size_t)x < columns) {
        reduce(w[0], w[1], u, r, (size_t)x * pixel + at, 0, true, k);
        return;
    }
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        w[0][i] = w[1][i] = UNPACK(IDENTITY);
}

SN_INLINE void save_column(VECTOR * shared, int u, REDUCTION (*w)[2])
{
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        shared[i] = PACK(w[0][i]), shared[u + i] = PACK(w[1][i]);
}

/* u vectors of the output of two rows whose window begins at column x. */
SN_INLINE void overlap_output(const struct input * r, const struct shared_columns * shared, size_t block, ptrdiff_t x,
                              size_t columns, size_t pixel, size_t at, const sn_32f * divisor, ELEMENT * dst, ELEMENT * dst1,
                              int u, int K, int S)
{
    const struct constants k = {K - S, S, true, true};
    REDUCTION w[5][2][2];
    SN_UNROLL
    for (int c = 0; c < K - S; ++c) {
        const VECTOR * from = shared->column[c] + block;
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            w[c][0][i] = UNPACK(from[i]), w[c][1][i] = UNPACK(from[u + i]);
    }
    SN_UNROLL
    for (int c = K - S; c < K; ++c)
        column(w[c], u, r, x + c, columns, pixel, at, k);
    save_column(shared->column[0] + block, u, w[K - 1]);
    overlap_store(w, 0, u, K, divisor[0], dst + at);
    overlap_store(w, 1, u, K, divisor[1], dst1 + at);
}

/*
 * Two rows of outputs for channels first .. end - 1; windows have K columns with stride S, and each output replaces the
 * oldest kept columns by new ones. The image is read in its order: processing a whole row for one or two vectors of
 * channels, with the columns in registers, and then the next ones, takes up to 1.5 times as long if vectors share cache
 * lines.
 */
SN_INLINE void overlap_run(const struct sn_pooling * p, const struct input * r, const sn_32f * divisor, ELEMENT * dst,
                           size_t first, size_t end, int u, int K, int S)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const struct constants k = {K - S, S, true, true};
    const size_t inner = p->inner, pixel = p->srcPixel, columns = axis->src, step = (size_t)u * LANES;
    ptrdiff_t x = -(ptrdiff_t)axis->pad;
    struct shared_columns shared;
    for (int c = 0; c < K - S; ++c) {
        shared.column[c] = shared.storage + c * (SHARED_SPACE / (K - S));
        for (size_t i = first, block = 0; i < end; i += step, block += 2 * (size_t)u) {
            REDUCTION w[2][2];
            column(w, u, r, x + c, columns, pixel, sn_min(i, inner - step), k);
            save_column(shared.column[c] + block, u, w);
        }
    }
    for (size_t o = 0; o < axis->dst; ++o, dst += p->dstPixel, x += S) {
        const ptrdiff_t before = x < 0 ? -x : 0, behind = x + K > (ptrdiff_t)columns ? x + K - (ptrdiff_t)columns : 0;
        const float part = divisor_of(p, 2, (size_t)(K - before - behind));
        const float divisors[2] = {part * divisor[0], part * divisor[1]};
        ELEMENT * const dst1 = dst + axis->dst * p->dstPixel;
        size_t i = first, block = 0;
        for (; before + behind == 0 && i < end; i += step, block += 2 * (size_t)u)
            overlap_output(r, &shared, block, x, SIZE_MAX, pixel, sn_min(i, inner - step), divisors, dst, dst1, u, K, S);
        for (; i < end; i += step, block += 2 * (size_t)u)
            overlap_output(r, &shared, block, x, columns, pixel, sn_min(i, inner - step), divisors, dst, dst1, u, K, S);
        VECTOR * const last = shared.column[0];
        for (int c = 0; c + 1 < K - S; ++c)
            shared.column[c] = shared.column[c + 1];
        shared.column[K - S - 1] = last;
    }
}

/*
 * Computes a step. Clipped rows, which are few, have no specialised code. Pairs of reductions of two vectors would need more
 * than 16 registers. Runs are as long as the L1 cache holds their columns, so that lines are read in long pieces, which the
 * processor fetches in advance: 1536x38x38 by 2x2 takes 0.47 of the time of 16 vectors (AVX2; AVX-512 0.80), 1280x30x30 by 3x3
 * 0.70, averages of 832x28x28 by 3x3 0.71.
 */
SN_INLINE void overlap_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                            ELEMENT * dst, int K, int S)
{
    const size_t inner = p->inner, run = SHARED_SPACE / (size_t)(K - S) / 2 * LANES;
    if (!t->two || t->common.count != (size_t)(K - S) || t->own[0].count != (size_t)S || t->own[1].count != (size_t)S) {
        pixels_step(p, t, src, planes, dst);
        return;
    }
    const struct input r = input_of(t, src, pitches_of(p).row, 1, 0);
    for (size_t first = 0; first < inner; first += run)
        if (K < 5 && inner >= 2 * LANES && (sizeof(REDUCTION) == sizeof(VECTOR) || V32F_N > 8))
            overlap_run(p, &r, t->divisor, dst, first, sn_min(first + run, inner), 2, K, S);
        else
            overlap_run(p, &r, t->divisor, dst, first, sn_min(first + run, inner), 1, K, S);
}

#define OVERLAP(K, S)                                                                                                       \
    static void overlap_##K##_##S(const struct sn_pooling * p, const struct step * t, const ELEMENT * src,                  \
                                  struct span planes, ELEMENT * dst)                                                        \
    {                                                                                                                       \
        overlap_step(p, t, src, planes, dst, K, S);                                                                         \
    }

#if !COMPACT
OVERLAP(2, 1)
OVERLAP(3, 1)
OVERLAP(3, 2)
OVERLAP(5, 1)
#endif

#undef OVERLAP

typedef void (*step_fn)(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                        ELEMENT * dst);

/* Whether the windows of all outputs have columns. */
static bool is_usual(const struct sn_pool_axis * axis)
{
    return axis->pad < axis->kernel && covered(axis).count == axis->dst;
}

/* The fastest function for a step of these windows. */
static step_fn pixels_for(const struct sn_pooling * p)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    switch (is_usual(axis) ? sn_min(axis->kernel, 9) * 10 + sn_min(axis->stride, 9) : 0) {
    case 22: return pairs_step;
#if !COMPACT
    case 21: return overlap_2_1;
    case 31: return overlap_3_1;
    case 32: return overlap_3_2;
    case 51: return overlap_5_1;
#endif
    default: return pixels_step;
    }
}

/* Whether a ring is faster than pixels_step(): if most columns are in at least two windows; for floats with many loads, in
 * three. */
static bool is_for_ring(const struct sn_pooling * p)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t spare = sizeof(ELEMENT) < sizeof(float) || V32F_N > 8 ? 1 : 3;
    const bool shared = axis->dst > 1 && axis->kernel >= spare && (axis->kernel - spare) / 2 >= axis->stride;
    return is_usual(axis) && shared && axis->kernel <= RING && (p->inner >= 2 * LANES || !COMPACT);
}
