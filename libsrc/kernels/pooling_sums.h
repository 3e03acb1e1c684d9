/*
 * Sums of large windows, for averages: the error of a float chain of n additions may be n * 2^-24 of the sum of the terms,
 * that of pairwise sums log2(n) * 2^-24. Included by pooling.h.
 *
 * Windows of up to CHAIN terms on either axis are added one after the other, first along one axis, then along the other:
 * 12 additions in a chain for 49 terms, which is log2(49) + 6.4. Larger ones are halved until LEAF remain.
 */
#include "kernels/sums.h"

enum { CHAIN = 7, LEAF = 4 };

static inline bool is_long(size_t rows, size_t planes) { return rows > CHAIN || planes > CHAIN; }

/* `rows` rows of `planes` values each, `pitch` and `plane` numbers apart; n lanes of the vectors exist unless all do. They
 * are in an array, or with `cells` in a buffer of floats, with all lanes. */
struct terms {
    const void * p;
    size_t rows, pitch, planes, plane;
    size_t n;
    bool cells;
};

/* The address of number i. */
SN_INLINE const void * term_address(const void * p, size_t i, bool cells)
{
    return (const char *)p + i * (cells ? sizeof(CELL) : sizeof(ELEMENT));
}

SN_INLINE v32f term_at(const void * p, int i, size_t n, bool full, bool cells)
{
    if (cells)
        return v_load_32f((const sn_32f *)p + i * V32F_N);
    if (full)
        return ARRAY_WORD(load)((const ELEMENT *)p + i * V32F_N);
    const size_t at = sn_min((size_t)i * V32F_N, n);
    return ARRAY_WORD(load_tail)((const ELEMENT *)p + at, sn_min(n - at, V32F_N));
}

/* Adds u vectors, one row after the other. */
SN_INLINE void sum_rows(v32f * v, int u, const struct terms * t, const void * p, bool full)
{
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v[i] = term_at(p, i, t->n, full, t->cells);
    for (size_t row = 1; row < t->rows; ++row) {
        SN_UNROLL
        for (int i = 0; i < u; ++i)
            v[i] = v_add_32f(v[i], term_at(term_address(p, row * t->pitch, t->cells), i, t->n, full, t->cells));
    }
}

/* Adds the rows of one plane, then those of the next. */
SN_INLINE void sum_chain(v32f * v, int u, const struct terms * t, bool full)
{
    v32f w[4];
    sum_rows(v, u, t, t->p, full);
    for (size_t i = 1; i < t->planes; ++i) {
        sum_rows(w, u, t, term_address(t->p, i * t->plane, t->cells), full);
        SN_UNROLL
        for (int j = 0; j < u; ++j)
            v[j] = v_add_32f(v[j], w[j]);
    }
}

/*
 * Halves the `rows` x `planes` terms at p until no axis has more than `most`; rows first, so that the data read at a time is
 * in few long pieces. u is 1, 2 or 4, and at most 2 if not all lanes exist. What halves differ in is not passed in a struct:
 * gcc would copy it by vectors, which have to wait for the stores of its members.
 */
static __attribute__((noinline)) void sum_halves(v32f * v, int u, const struct terms * t, const void * p, size_t rows,
                                                 size_t planes, bool full, size_t most)
{
    if (rows <= most && planes <= most) {
        const struct terms leaf = {p, rows, t->pitch, planes, t->plane, t->n, false};
#if WIDENS
        if (t->cells) {
            const struct terms cells = {p, rows, t->pitch, planes, t->plane, t->n, true};
            if (u == 2) /* compact code has at most two */
                sum_chain(v, 2, &cells, true);
            else
                sum_chain(v, 1, &cells, true);
            return;
        }
#endif
        switch (full ? u : -u) {
        case 4: sum_chain(v, 4, &leaf, true); return;
        case 2: sum_chain(v, 2, &leaf, true); return;
        case 1: sum_chain(v, 1, &leaf, true); return;
        case -2: sum_chain(v, 2, &leaf, false); return;
        default: sum_chain(v, 1, &leaf, false); return;
        }
    }
    const size_t half = (rows > most ? rows : planes) / 2;
    v32f w[4];
    if (rows > most) {
        sum_halves(v, u, t, p, half, planes, full, most);
        sum_halves(w, u, t, term_address(p, half * t->pitch, t->cells), rows - half, planes, full, most);
    } else {
        sum_halves(v, u, t, p, rows, half, full, most);
        sum_halves(w, u, t, term_address(p, half * t->plane, t->cells), rows, planes - half, full, most);
    }
    for (int i = 0; i < u; ++i)
        v[i] = v_add_32f(v[i], w[i]);
}

/* The sum of a window, which is not empty: u vectors. */
static void sum_terms(v32f * v, int u, const struct terms * t, bool full)
{
    sum_halves(v, u, t, t->p, t->rows, t->planes, full, is_long(t->rows, t->planes) ? LEAF : CHAIN);
}
