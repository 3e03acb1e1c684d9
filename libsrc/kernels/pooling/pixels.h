/*
 * Pixels of at least a vector (NHWC), and rows without pooling along them, which are one wide pixel. Expects reduce.h.
 *
 * Vectors run across the channels, so windows need no borders: what is outside the image is omitted. If windows overlap
 * along the row, each column is reduced once, from left to right, and kept for the following windows: in K - S columns for
 * the usual windows, otherwise in a ring.
 */

/* RING: columns of overlapping windows, a power of two. RUN: vectors of a run of channels (overlap_run()). */
enum { RING = 32, RUN = 32 };

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

#if HAS_DIVISOR
/* The sum of the columns x: from their position to the end of the ring, then from its beginning. */
static __attribute__((noinline)) void ring_sum(v32f (*ring)[4], int u, struct span x, v32f * v)
{
    const size_t at = x.begin % RING, first = sn_min(x.count, RING - at);
    const struct terms t = {.odd = 4 * V32F_N, .pitch = 8 * V32F_N, .cells = true};
    v32f w[4];
    sum_halves(v, u, &t, ring[at], first, 1, true);
    if (first < x.count) {
        sum_halves(w, u, &t, ring[0], x.count - first, 1, true);
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v[i], w[i]);
    }
}
#endif

/* u vectors of one row of outputs from the columns x, which are in the ring. */
SN_INLINE void ring_store(REDUCTION (*ring)[4], int u, struct span x, float divisor, ELEMENT * dst)
{
    const v32f d = v_set_32f(divisor);
    REDUCTION v[4];
    size_t c = x.begin + 1;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = UNPACK(IDENTITY);
    if (x.count) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = ring[x.begin % RING][i];
    }
#if HAS_DIVISOR
    if (is_long(x.count, 1)) {
        ring_sum(ring, u, x, v);
        c += x.count;
    }
#endif
    for (; c < x.begin + x.count; ++c) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = REDUCE(v[i], ring[c % RING][i]);
    }
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        store(dst, (size_t)i * LANES, v[i], d, false);
}

/* One or two rows of outputs for u vectors of channels; windows have at most RING columns. Column x is kept at x % RING. */
SN_INLINE void ring_rows(const struct sn_pooling * p, const struct input * r, const sn_32f * divisor, ELEMENT * dst, int u,
                         bool two)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t dstRow = axis->dst * p->dstPixel;
    const struct constants k = {0, 0, two, true};
    REDUCTION ring[2][RING][4];
    size_t next = 0; /* the first column that is not yet in the ring */
    for (size_t o = 0; o < axis->dst; ++o, dst += p->dstPixel) {
        const struct span x = window_of(axis, o);
        const float part = divisor_of(p, 2, x.count);
        for (next = sn_max(next, x.begin); next < x.begin + x.count; ++next)
            reduce(ring[0][next % RING], ring[1][next % RING], u, r, next * p->srcPixel, 0, true, k);
        ring_store(ring[0], u, x, part * divisor[0], dst);
        if (two)
            ring_store(ring[1], u, x, part * divisor[1], dst + dstRow);
    }
}

/* A step by the ring, in blocks of one, two or four vectors of channels, the last of which overlaps the one before. */
SN_INLINE void ring_blocks(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, ELEMENT * dst, int u)
{
    const size_t inner = p->inner, block = (size_t)u * LANES;
    for (size_t c = 0; c < inner; c += block) {
        const size_t at = sn_min(c, inner - block);
        const struct input r = input_of(t, src + at, pitches_of(p).row, 1, 0);
        if (t->two && !COMPACT)
            ring_rows(p, &r, t->divisor, dst + at, u, true);
        else
            ring_rows(p, &r, t->divisor, dst + at, u, false);
    }
}

static void ring_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                      ELEMENT * dst)
{
    (void)planes;
    if (p->inner >= 4 * LANES && !COMPACT)
        ring_blocks(p, t, src, dst, 4);
    else if (p->inner >= 2 * LANES || COMPACT)
        ring_blocks(p, t, src, dst, 2);
    else
        ring_blocks(p, t, src, dst, 1);
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
struct shared_columns {
    VECTOR * column[4]; /* K - S of them, from left to right */
    VECTOR storage[4][RUN];
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
        shared.column[c] = shared.storage[c];
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

/* Computes a step. Clipped rows, which are few, have no specialised code. Pairs of reductions of two vectors would need more
 * than 16 registers. */
SN_INLINE void overlap_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                            ELEMENT * dst, int K, int S)
{
    const size_t inner = p->inner, run = RUN / 2 * LANES;
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

/* The fastest function for a step of these windows. A ring is faster if most columns are in at least two windows; for floats
 * with many loads, in three. */
static step_fn pixels_for(const struct sn_pooling * p)
{
    const struct sn_pool_axis * axis = &p->axis[2];
    const size_t spare = sizeof(ELEMENT) < sizeof(float) || V32F_N > 8 ? 1 : 3;
    const bool usual = axis->pad < axis->kernel && covered(axis).count == axis->dst;
    switch (usual ? sn_min(axis->kernel, 9) * 10 + sn_min(axis->stride, 9) : 0) {
    case 22: return pairs_step;
#if !COMPACT
    case 21: return overlap_2_1;
    case 31: return overlap_3_1;
    case 32: return overlap_3_2;
    case 51: return overlap_5_1;
#endif
    }
    const bool shared = axis->dst > 1 && axis->kernel >= spare && (axis->kernel - spare) / 2 >= axis->stride;
    if (shared && axis->kernel <= RING && (p->inner >= 2 * LANES || !COMPACT))
        return ring_step;
    return pixels_step;
}
