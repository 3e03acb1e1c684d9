/*
 * Reduction along rows in registers, for single elements and small windows: K columns, stride S = 1 or 2. K is a constant for
 * common windows, and a variable for others. Expects rows.h.
 *
 * Vector j holds the positions from j * LANES on of a row that is already reduced over rows. Output vector i is computed
 * from vectors S * i and those after it, shifted by 1, 2, ... lanes; with S = 2 their even and odd lanes are separated
 * first. Compared with the buffer of rows.h this saves a store and K loads that cross cache lines per vector: it is
 * 1.5 to 2 times as fast, also if K is a variable. (Windows of 5 as 2 + 2 + 1 save another shift, but only rows of many
 * vectors gain by it.)
 *
 * Vectors are loaded whole, so at both ends of a row the neighbouring elements are read and masked. The first and the last
 * rows of the array, for which that would be outside the array, are computed through the buffer.
 */

/* Columns of windows, so that sums of them are chains, as in the buffer; and lanes that the vocabulary shifts vectors by. */
enum { MOST_COLUMNS = 7, MOST_SLIDES = 4 };

/* The parameters of a strip in addition to struct input; also in registers. */
struct strip {
    size_t outputs, vectors;                /* the latter: that overlap the image */
    const CELL * mask;                      /* of the image's columns */
    const sn_32f * columns;                 /* the column factors of the divisors */
};

/* Vector j, which may cross or lie beyond an end of the row. */
SN_INLINE void fetch_edge(VECTOR * v0, VECTOR * v1, const struct input * r, const struct strip * s, size_t j,
                          struct constants k)
{
    if (j >= s->vectors) {
        v0[0] = v1[0] = IDENTITY;
        return;
    }
    const v32i mask = v_load_32i(s->mask + j * LANES);
    REDUCTION w0, w1;
    reduce(&w0, &w1, 1, r, j * LANES, 0, true, k);
    v0[0] = masked(PACK(w0), mask);
    if (k.two)
        v1[0] = masked(PACK(w1), mask);
}

/* Vector j for S = 1, to e[.][at]; for S = 2 the even lanes of vectors j and j + 1 and, to o[.][at], the odd ones. */
SN_INLINE void fetch(VECTOR (*e)[2], VECTOR (*o)[2], int at, const struct input * r, const struct strip * s, size_t j, int S,
                     struct constants k, bool edge)
{
    VECTOR v[2][2];
    if (!edge) {
        REDUCTION w[2][2];
        reduce(w[0], w[1], S, r, j * LANES, 0, true, k);
        SN_UNROLL
        for (int i = 0; i < S; ++i) {
            v[0][i] = PACK(w[0][i]);
            if (k.two)
                v[1][i] = PACK(w[1][i]);
        }
    } else {
        fetch_edge(v[0], v[1], r, s, j, k);
        if (S == 2)
            fetch_edge(v[0] + 1, v[1] + 1, r, s, j + 1, k);
    }
    e[0][at] = S == 1 ? v[0][0] : WORD(even)(v[0][0], v[0][1]);
    if (S == 2)
        o[0][at] = WORD(odd)(v[0][0], v[0][1]);
    if (k.two)
        e[1][at] = S == 1 ? v[1][0] : WORD(even)(v[1][0], v[1][1]);
    if (k.two && S == 2)
        o[1][at] = WORD(odd)(v[1][0], v[1][1]);
}

/* One vector of outputs; columns are reduced from left to right as in the buffer, so that sums are the same. */
SN_INLINE REDUCTION reduce_slides(const VECTOR * e, const VECTOR * o, int K, int S)
{
    REDUCTION v = UNPACK(e[0]);
    if (S == 2 && K > 1)
        v = REDUCE(v, TERM(o[0]));
    SN_UNROLL
    for (int k = 1; k <= MOST_SLIDES; ++k) {
        if (k * S < K)
            v = REDUCE(v, TERM(WORD(slide)(e[0], e[1], k)));
        if (S == 2 && k * S + 1 < K)
            v = REDUCE(v, TERM(WORD(slide)(o[0], o[1], k)));
    }
    return v;
}

/* Stores the n results at x of one row, and advances its vectors. */
SN_INLINE void put(const struct strip * s, VECTOR * e, VECTOR * o, v32f divisor, ELEMENT * dst, size_t x, size_t n, int K,
                   int S)
{
    const REDUCTION v = reduce_slides(e, o, K, S);
#if HAS_DIVISOR
    divisor = v_mul_32f(divisor, v_load_32f(s->columns + x));
#else
    (void)s;
#endif
    if (n == LANES)
        store(dst, x, v, divisor, false);
    else
        store_tail(dst + x, v, divisor, n, false);
    e[0] = e[1];
    if (S == 2)
        o[0] = o[1];
}

/* One step. With `inside`, code for vectors that need no mask is separate. Two rows are written at a time, which hardware
 * does not fetch in advance: of windows of 2x2 with stride 1, the next two are prefetched unless they are short. Maxima of
 * 32x434x434 floats take 0.80 of the time (avx512, Intel Xeon with AMX; 0.98 if they are prefetched before the loop). For
 * windows of 3x3 it is 0.88 for 3x640x640, but 1.05 for 16x56x56; with stride 2, and for rows of the image, it makes no
 * difference. */
SN_INLINE void strip_step(const struct input * r, const struct strip * s, const sn_32f * divisor, ELEMENT * dst0,
                          ELEMENT * dst1, int K, int S, struct constants k, bool inside)
{
    const bool fetched = s->outputs >= 512 / sizeof(ELEMENT);
    VECTOR e[2][2], o[2][2];
    const v32f d0 = v_set_32f(divisor[0]), d1 = v_set_32f(divisor[1]);
    size_t j = (size_t)S, x = 0;
    fetch(e, o, 0, r, s, 0, S, k, true);
    for (; inside && j + (size_t)S < s->vectors; j += (size_t)S, x += LANES) {
        fetch(e, o, 1, r, s, j, S, k, false);
        if (K == 2 && S == 1 && fetched) {
            __builtin_prefetch(dst0 + x + 2 * (dst1 - dst0), 1);
            __builtin_prefetch(dst0 + x + 3 * (dst1 - dst0), 1);
        }
        put(s, e[0], o[0], d0, dst0, x, LANES, K, S);
        if (k.two)
            put(s, e[1], o[1], d1, dst1, x, LANES, K, S);
    }
    for (; x < s->outputs; j += (size_t)S, x += LANES) {
        const size_t n = sn_min(s->outputs - x, LANES);
        fetch(e, o, 1, r, s, j, S, k, true);
        put(s, e[0], o[0], d0, dst0, x, n, K, S);
        if (k.two)
            put(s, e[1], o[1], d1, dst1, x, n, K, S);
    }
}

/* The steps of one plane of the image, whose position 0 is at src, to the plane of outputs at dst. Unless a row is clipped,
 * the numbers of rows are constants if K is one. */
SN_INLINE void strip(const struct row_buffer * d, const struct step * t, const struct step * end, const ELEMENT * src,
                     ELEMENT * dst, int K, int S)
{
    const int common = K > S ? K - S : K, columns = K ? K : (int)d->p->axis[2].kernel;
    const struct constants k = {common, S, K > S, true}, any = {0, 0, !COMPACT, true};
    const size_t pitch = d->p->axis[2].src, dstPitch = d->p->axis[2].dst;
    const struct strip s = {d->chunk.outputs, d->vectors, d->mask, d->columns};
    for (; t < end; ++t) {
        const struct input r = input_of(t, src, pitch, 1, 0);
        ELEMENT * row = dst + t->y * dstPitch;
        const bool own = r.own_rows[0] == (size_t)S && r.own_rows[1] == (size_t)S;
        if (K && t->two == k.two && r.rows == (size_t)common && (own || !k.two))
            strip_step(&r, &s, t->divisor, row, row + dstPitch, K, S, k, true);
        else /* one row is computed as two equal ones */
            strip_step(&r, &s, t->divisor, row, t->two ? row + dstPitch : row, columns, S, any, !K);
    }
}

/* With K = 0 it is the number of columns of the kernel. */
#define STRIP(K, S)                                                                                                         \
    static void strip_##K##_##S(const struct row_buffer * d, const struct step * t, const struct step * end,                \
                                const ELEMENT * src, ELEMENT * dst)                                                         \
    {                                                                                                                       \
        strip(d, t, end, src, dst, K, S);                                                                                   \
    }

STRIP(0, 1)
STRIP(0, 2)
#if !COMPACT
STRIP(1, 2)
STRIP(2, 1)
STRIP(2, 2)
STRIP(3, 1)
STRIP(3, 2)
STRIP(5, 1)
#endif

#undef STRIP

/* The strip for windows of `kernel` columns and `stride`, or NULL if there is none. */
static strip_fn strip_for(size_t kernel, size_t stride)
{
#if !COMPACT
    switch (sn_min(kernel, 9) * 10 + sn_min(stride, 9)) {
    case 12: return strip_1_2;
    case 21: return strip_2_1;
    case 22: return strip_2_2;
    case 31: return strip_3_1;
    case 32: return strip_3_2;
    case 51: return strip_5_1;
    }
#endif
    if (stride > 2 || kernel > MOST_COLUMNS || (kernel - 1) / stride > MOST_SLIDES)
        return NULL;
    return stride == 1 ? strip_0_1 : strip_0_2;
}

static void begin_strips(struct row_buffer * d)
{
    const struct sn_pool_axis * axis = d->p->axis;
    const struct chunk * c = &d->chunk;
    const size_t total = axis[0].src * axis[1].src * axis[2].src;
    const size_t end = (d->vectors = sn_ceil_div(c->lead + c->columns, LANES)) * LANES;
    const bool fits = d->p->inner == 1 && d->covered.count == axis[2].dst && total + c->lead >= end + c->column;
    d->strip = fits ? strip_for(axis[2].kernel, axis[2].stride) : NULL;
    if (!d->strip)
        return;
    d->min_before = c->lead - sn_min(c->lead, c->column);
    d->max_before = total + c->lead - end - c->column;
    memset(d->mask, 0, end * sizeof(CELL));
    memset(d->mask + c->lead, 0xFF, c->columns * sizeof(CELL));
}

/* Finds the steps *strip .. *rest - 1, of those up to `end`, that may load whole vectors, for a plane at offset `at` in the
 * array. */
static void find_strips(const struct row_buffer * d, size_t at, const struct step * end, const struct step ** strip,
                        const struct step ** rest)
{
    if (!d->strip)
        return;
    while (*strip < end && ((*strip)->common.count == 0 || at + (*strip)->first < d->min_before))
        ++*strip;
    while (end > *strip && (end[-1].common.count == 0 || at + end[-1].last > d->max_before))
        --end;
    *rest = end;
}

static void do_strips(const struct row_buffer * d, const struct step * t, const struct step * end, const ELEMENT * src,
                      ELEMENT * dst)
{
    d->strip(d, t, end, src + d->chunk.column - d->chunk.lead, dst + d->chunk.output);
}
