/*
 * Sums of large windows, for averages: the error of a float chain of n additions may be n * 2^-24 of the sum of the terms,
 * that of pairwise sums log2(n) * 2^-24. Expects elements.h.
 *
 * Windows of up to CHAIN terms on either axis are added one after the other, first along one axis, then along the other:
 * 12 additions in a chain for 49 terms, which is log2(49) + 6.4. Larger ones are added in blocks of four, so that a chain of
 * up to LEAF rows has at most log2(rows) + 1.4 additions; more rows, and more than four planes, are halved. (Halving all
 * rows, until four are left, takes 3 times as long for windows of 9x9: avx2, Zen 3.)
 */
#include "kernels/sums.h"

enum { CHAIN = 7, BLOCK = 4, LEAF = 16 };

static inline bool is_long(size_t rows, size_t planes) { return rows > CHAIN || planes > CHAIN; }

/*
 * `rows` rows of `planes` values each, planes `plane` numbers apart. Row 1 is `odd` numbers behind row 0, and row i + 2 is
 * `pitch` numbers behind row i. n lanes of the vectors exist unless all do. They are in an array, or with `cells` in a
 * buffer of floats, with all lanes.
 */
struct terms {
    const void * p;
    size_t rows, odd, pitch, planes, plane;
    size_t n;
    bool cells;
};

/* Number i behind p. */
SN_INLINE const void * term_address(const void * p, size_t i, bool cells)
{
    return (const char *)p + i * (cells ? sizeof(CELL) : sizeof(ELEMENT));
}

SN_INLINE v32f term_at(const void * p, int i, const struct terms * t, bool full)
{
    if (t->cells)
        return v_load_32f((const sn_32f *)p + i * V32F_N);
    if (full)
        return ARRAY_WORD(load)((const ELEMENT *)p + i * V32F_N);
    const size_t at = sn_min((size_t)i * V32F_N, t->n);
    return ARRAY_WORD(load_tail)((const ELEMENT *)p + at, sn_min(t->n - at, V32F_N));
}

/* Adds u vectors, one row after the other. */
SN_INLINE void sum_rows(v32f * v, int u, const struct terms * t, const void * p, size_t rows, bool full)
{
    const void * odd = term_address(p, t->odd, t->cells);
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = term_at(p, i, t, full);
    for (size_t left = rows; left > 2; left -= 2) {
        p = term_address(p, t->pitch, t->cells);
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v_add_32f(v[i], term_at(odd, i, t, full)), term_at(p, i, t, full));
        odd = term_address(odd, t->pitch, t->cells);
    }
    if (rows % 2 == 0) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v[i], term_at(odd, i, t, full));
    }
}

/* Adds the rows of one plane, then those of the next. */
SN_INLINE void sum_chain(v32f * v, int u, const struct terms * t, bool full)
{
    v32f w[4];
    sum_rows(v, u, t, t->p, t->rows, full);
    for (size_t i = 1; i < t->planes; ++i) {
        sum_rows(w, u, t, term_address(t->p, i * t->plane, t->cells), t->rows, full);
        SN_UNROLL
        for (int j = 0; j < u; ++j)
            v[j] = v_add_32f(v[j], w[j]);
    }
}

/* Adds BLOCK rows. */
SN_INLINE void sum_block(v32f * v, int u, const struct terms * t, const void * p, bool full)
{
    const void * const odd = term_address(p, t->odd, t->cells);
    SN_UNROLL
    for (int i = 0; i < u; ++i) {
        const v32f a = v_add_32f(term_at(p, i, t, full), term_at(odd, i, t, full));
        const v32f b = term_at(term_address(p, t->pitch, t->cells), i, t, full);
        v[i] = v_add_32f(a, v_add_32f(b, term_at(term_address(odd, t->pitch, t->cells), i, t, full)));
    }
}

/* Adds up to LEAF rows, block after block. */
SN_INLINE void sum_blocks(v32f * v, int u, const struct terms * t, const void * p, size_t rows, bool full)
{
    v32f w[4];
    if (rows < BLOCK) {
        sum_rows(v, u, t, p, rows, full);
        return;
    }
    sum_block(v, u, t, p, full);
    for (size_t row = BLOCK; row < rows; row += BLOCK) {
        p = term_address(p, BLOCK / 2 * t->pitch, t->cells);
        if (rows - row >= BLOCK)
            sum_block(w, u, t, p, full);
        else
            sum_rows(w, u, t, p, rows - row, full);
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v[i], w[i]);
    }
}

/* Adds the rows of up to BLOCK planes. */
SN_INLINE void sum_leaf(v32f * v, int u, const struct terms * t, const void * p, size_t rows, size_t planes, bool full)
{
    v32f w[4];
    sum_blocks(v, u, t, p, rows, full);
    for (size_t i = 1; i < planes; ++i) {
        sum_blocks(w, u, t, term_address(p, i * t->plane, t->cells), rows, full);
        SN_UNROLL
        for (int j = 0; j < u; ++j)
            v[j] = v_add_32f(v[j], w[j]);
    }
}

/*
 * Halves the `rows` x `planes` terms at p until they are a leaf; rows first, so that the data read at a time is in few long
 * pieces. The first half has an even number of rows: the distance to the next row depends on that. u is 1, 2 or 4, and 1 if
 * not all lanes exist. What halves differ in is not passed in a struct: gcc would copy it by vectors, which have to wait for
 * the stores of its members.
 */
static __attribute__((noinline)) void sum_halves(v32f * v, int u, const struct terms * t, const void * p, size_t rows,
                                                 size_t planes, bool full)
{
    if (rows <= LEAF && planes <= BLOCK) {
        const struct terms array = {NULL, 0, t->odd, t->pitch, 0, t->plane, t->n, false};
        const struct terms cells = {NULL, 0, t->odd, t->pitch, 0, t->plane, t->n, true};
        switch (WIDENS && t->cells ? 0 : full ? u : -u) {
        case 4: sum_leaf(v, 4, &array, p, rows, planes, true); return;
        case 2: sum_leaf(v, 2, &array, p, rows, planes, true); return;
        case 1: sum_leaf(v, 1, &array, p, rows, planes, true); return;
        case -1: sum_leaf(v, 1, &array, p, rows, planes, false); return;
        }
        if (u == 2) /* compact code has at most two */
            sum_leaf(v, 2, &cells, p, rows, planes, true);
        else
            sum_leaf(v, 1, &cells, p, rows, planes, true);
        return;
    }
    const size_t half = rows > LEAF ? rows / 4 * 2 : planes / 2;
    v32f w[4];
    if (rows > LEAF) {
        sum_halves(v, u, t, p, half, planes, full);
        sum_halves(w, u, t, term_address(p, half / 2 * t->pitch, t->cells), rows - half, planes, full);
    } else {
        sum_halves(v, u, t, p, rows, half, full);
        sum_halves(w, u, t, term_address(p, half * t->plane, t->cells), rows, planes - half, full);
    }
    for (int i = 0; i < u; ++i)
        v[i] = v_add_32f(v[i], w[i]);
}

/* The sum of a window, which is not empty: u vectors. What is passed to sum_halves() is copied: it stays in memory. */
SN_INLINE void sum_terms(v32f * v, int u, const struct terms * t, bool full)
{
    if (t->rows <= LEAF && t->planes == 1) {
        sum_blocks(v, u, t, t->p, t->rows, full);
    } else {
        const struct terms copy = *t;
        v32f w[4];
        sum_halves(w, u, &copy, t->p, t->rows, t->planes, full);
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = w[i];
    }
}
