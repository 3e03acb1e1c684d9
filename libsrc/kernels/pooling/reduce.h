/*
 * The first step of a reduction: over the rows and planes of windows, for one or two rows of outputs. Expects elements.h and,
 * for averages, sums.h.
 */
/* What is known of a step at compile time: its numbers of rows, or 0 if they are unknown. */
struct constants {
    int common, own;
    bool two, flat; /* it has two rows of outputs; windows have one plane */
};

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

/* Adds `rows` rows of all planes at p to v, one after the other; rows may be 0. */
SN_INLINE void add_terms(v32f * v, int u, const struct input * r, const ELEMENT * p, size_t rows, size_t n, bool full)
{
    const struct terms t = terms_of(r, p, rows, n);
    v32f w[4];
    if (rows == 0)
        return;
    sum_chain(w, u, &t, full);
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = v_add_32f(v[i], w[i]);
}

/* reduce() of several planes: each is summed separately, so that chains do not grow with their number. */
SN_INLINE void reduce_planes(v32f * v0, v32f * v1, int u, const struct input * r, size_t x, size_t n, bool full, bool two)
{
    const struct terms t = terms_of(r, r->common + x, r->rows, n);
    sum_chain(v0, u, &t, full);
    if (!two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    add_terms(v0, u, r, r->own[0] + x, r->own_rows[0], n, full);
    add_terms(v1, u, r, r->own[1] + x, r->own_rows[1], n, full);
}

/* u vectors of reduce_long(). Sums of rows of one output are added to results in memory: that is a third of the code. */
SN_INLINE void reduce_long_vectors(sn_32f * const * dst, int u, const struct input * r, size_t x, size_t at, size_t n,
                                   bool full, bool two)
{
    const ELEMENT * p = r->common;
    size_t rows = r->rows;
    for (int part = 0; ; ++part) {
        const struct terms t = terms_of(r, p + x + at, rows, n);
        v32f v[4];
        sum_terms(v, u, &t, full);
        SN_UNROLL
        for (int i = 0; i < u; ++i) {
            sn_32f * const a = dst[part > 1] + at + i * V32F_N, * const b = dst[1] + at + i * V32F_N;
            if (part)
                v[i] = v_add_32f(full ? v_load_32f(a) : v_load_tail_32f(a, n), v[i]);
            if (full)
                v_store_32f(a, v[i]);
            else
                v_store_tail_32f(a, v[i], n);
            if (part == 0 && two && full)
                v_store_32f(b, v[i]);
            else if (part == 0 && two)
                v_store_tail_32f(b, v[i], n);
        }
        part += part == 0 && two && r->own_rows[0] == 0;
        if (!two || part == 2 || r->own_rows[part] == 0)
            return;
        p = r->own[part];
        rows = r->own_rows[part];
    }
}

/* reduce() of n elements from x on if one chain of additions might be too long. Not inlined: many instances of reduce()
 * share it. The last vectors overlap those before if possible. */
static __attribute__((noinline)) void reduce_long(sn_32f * dst0, sn_32f * dst1, const struct input * r, size_t x, size_t n,
                                                  bool two)
{
    sn_32f * const dst[2] = {dst0, dst1};
    size_t i = 0;
    if (n < LANES)
        reduce_long_vectors(dst, 1, r, x, 0, n, false, two);
    for (; n >= 4 * LANES && i + 2 * LANES < n; i += 4 * LANES)
        reduce_long_vectors(dst, 4, r, x, sn_min(i, n - 4 * LANES), 0, true, two);
    for (; n >= 2 * LANES && i + LANES < n; i += 2 * LANES)
        reduce_long_vectors(dst, 2, r, x, sn_min(i, n - 2 * LANES), 0, true, two);
    for (; n >= LANES && i < n; i += LANES)
        reduce_long_vectors(dst, 1, r, x, sn_min(i, n - LANES), 0, true, two);
}

/* Whether sums of these rows need reduce_long(). */
SN_INLINE bool is_long_input(const struct input * r, bool flat)
{
    return is_long(r->rows + sn_max(r->own_rows[0], r->own_rows[1]), flat ? 1 : r->planes);
}
#endif

/* Reduces elements x .. x + u * LANES - 1 (with !full: the n of them that exist), for one or two rows of outputs. */
SN_INLINE void reduce(REDUCTION * v0, REDUCTION * v1, int u, const struct input * r, size_t x, size_t n, bool full,
                      struct constants k)
{
#if HAS_DIVISOR
    if (!k.common && is_long_input(r, k.flat)) {
        const struct input copy = *r; /* a struct whose address is passed stays in memory */
        sn_32f a[4 * LANES] __attribute__((aligned(64))), b[4 * LANES] __attribute__((aligned(64)));
        reduce_long(a, b, &copy, x, full ? (size_t)u * LANES : n, k.two);
        SN_UNROLL
        for (int i = 0; i < u; ++i) {
            v0[i] = v_load_32f(a + i * V32F_N);
            if (k.two)
                v1[i] = v_load_32f(b + i * V32F_N);
        }
        return;
    }
    if (!k.flat && r->planes > 1) {
        reduce_planes(v0, v1, u, r, x, n, full, k.two);
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
#if HAS_DIVISOR
    if (is_long_input(r, false)) {
        reduce_long(dst0, dst1, r, 0, n, two);
        return;
    }
#endif
    reduce_any(r, n, no_divisor, dst0, dst1, two, true);
}
