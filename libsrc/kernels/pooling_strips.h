/*
 * Rows pooled along in registers, for single elements and windows that are small and usual: K columns, S = 1 or 2 apart.
 * Included by pooling_kind.h.
 *
 * Vector j holds positions j * LANES and following of a row that is reduced already. Output vector x is made of vectors
 * S * x and those after it, slid by 1, 2, ... lanes; with S = 2 their even and odd lanes first go apart. Beside the buffer of
 * pooling_kind.h this saves a store and K loads that cross cache lines per vector: 2 to 3 times faster on rows in cache.
 *
 * Vectors are loaded whole, so at both ends of a row what lies before and behind it is read and put out by a mask. The first
 * and the last rows of the array, for which that would be outside of it, are left to the buffer.
 */

/* What a step needs, in a struct that stays in registers: a vector store might change any other. */
struct FN(reach) {
    const ELEMENT * common, * own[2];   /* where position 0 of their first rows is */
    size_t rows, own_rows[2];
    size_t pitch;
    size_t vectors;                     /* that reach into the image */
    const ELEMENT * mask;               /* of its columns */
};

/* Vectors j .. j + u - 1 of one or two rows; `common` and `own` are their numbers of rows if they are constants, else 0. */
SN_INLINE void FN(fetch)(VECTOR * v0, VECTOR * v1, const struct FN(reach) * r, size_t j, int u, int common, int own, bool two)
{
    const size_t x = j * LANES;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v0[i] = FN(load)(r->common + x, i, 0, true);
    if (common != 1)
        FN(fold)(v0, u, r->common + x + r->pitch, r->rows - 1, r->pitch, 0, true, common ? common - 1 : 0);
    if (!two)
        return;
    SN_UNROLL
    for (int i = 0; i < u; ++i)
        v1[i] = v0[i];
    FN(fold)(v0, u, r->own[0] + x, r->own_rows[0], r->pitch, 0, true, own);
    FN(fold)(v1, u, r->own[1] + x, r->own_rows[1], r->pitch, 0, true, own);
}

/* Vector j, which may lie on or behind an end of the row. */
SN_INLINE void FN(fetch_edge)(VECTOR * v0, VECTOR * v1, const struct FN(reach) * r, size_t j, int common, int own, bool two)
{
    if (j >= r->vectors) {
        v0[0] = v1[0] = IDENTITY;
        return;
    }
    const v32i mask = v_load_32i(r->mask + j * LANES);
    FN(fetch)(v0, v1, r, j, 1, common, own, two);
    v0[0] = FN(masked)(v0[0], mask);
    if (two)
        v1[0] = FN(masked)(v1[0], mask);
}

/* Vector j for S = 1; for S = 2 the even lanes of vectors j and j + 1, to e[.][at], and the odd ones, to o[.][at]. */
SN_INLINE void FN(fetch_phases)(VECTOR (*e)[2], VECTOR (*o)[2], int at, const struct FN(reach) * r, size_t j, int S, int common,
                                int own, bool two, bool edge)
{
    VECTOR v[2][2];
    if (!edge) {
        FN(fetch)(v[0], v[1], r, j, S, common, own, two);
    } else {
        FN(fetch_edge)(v[0], v[1], r, j, common, own, two);
        if (S == 2)
            FN(fetch_edge)(v[0] + 1, v[1] + 1, r, j + 1, common, own, two);
    }
    e[0][at] = S == 1 ? v[0][0] : WORD(even)(v[0][0], v[0][1]);
    if (S == 2)
        o[0][at] = WORD(odd)(v[0][0], v[0][1]);
    if (two)
        e[1][at] = S == 1 ? v[1][0] : WORD(even)(v[1][0], v[1][1]);
    if (two && S == 2)
        o[1][at] = WORD(odd)(v[1][0], v[1][1]);
}

/* One vector of outputs; the columns are taken in the order of the buffer, so that sums are the same. */
SN_INLINE VECTOR FN(reduce_slides)(const VECTOR * e, const VECTOR * o, int K, int S)
{
    VECTOR v = e[0];
    SN_UNROLL
    for (int k = 1; k < 5; ++k)
        if (k * S < K)
            v = REDUCE(v, WORD(slide)(e[0], e[1], k));
    if (S == 2 && K > 1)
        v = REDUCE(v, o[0]);
    SN_UNROLL
    for (int k = 1; k < 5; ++k)
        if (S == 2 && k * S + 1 < K)
            v = REDUCE(v, WORD(slide)(o[0], o[1], k));
    return v;
}

/* One step. Where neither row is clipped, the numbers of rows are constants, and vectors inside the row go unmasked. */
SN_INLINE void FN(strip_step)(const struct FN(reach) * r, const struct step * t, size_t outputs, const float * columns,
                              float planes, ELEMENT * dst0, ELEMENT * dst1, int K, int S, int common, int own, bool two)
{
    VECTOR e[2][2], o[2][2];
    const v32f of_row[2] = {v_set_32f(planes * t->divisor[0]), v_set_32f(planes * t->divisor[1])};
    size_t j = (size_t)S, x = 0;
    (void)of_row;
    (void)columns;
    FN(fetch_phases)(e, o, 0, r, 0, S, common, own, two, true);
    for (; common && j + (size_t)S < r->vectors; j += (size_t)S, x += LANES) {
        FN(fetch_phases)(e, o, 1, r, j, S, common, own, two, false);
        WORD(store)(dst0 + x, LEAVE(FN(reduce_slides)(e[0], o[0], K, S), v_mul_32f(of_row[0], v_load_32f(columns + x))));
        if (two)
            WORD(store)(dst1 + x, LEAVE(FN(reduce_slides)(e[1], o[1], K, S), v_mul_32f(of_row[1], v_load_32f(columns + x))));
        e[0][0] = e[0][1], e[1][0] = e[1][1], o[0][0] = o[0][1], o[1][0] = o[1][1];
    }
    for (; x < outputs; j += (size_t)S, x += LANES) {
        const size_t n = sn_min(outputs - x, LANES);
        FN(fetch_phases)(e, o, 1, r, j, S, common, own, two, true);
        WORD(store_tail)(dst0 + x, LEAVE(FN(reduce_slides)(e[0], o[0], K, S), v_mul_32f(of_row[0], v_load_32f(columns + x))), n);
        if (two)
            WORD(store_tail)(dst1 + x, LEAVE(FN(reduce_slides)(e[1], o[1], K, S), v_mul_32f(of_row[1], v_load_32f(columns + x))), n);
        e[0][0] = e[0][1], e[1][0] = e[1][1], o[0][0] = o[0][1], o[1][0] = o[1][1];
    }
}

/* Steps of one plane of the image, which begins at src, to the plane of outputs at dst. */
SN_INLINE void FN(strip)(const struct FN(dense) * d, const struct step * t, size_t steps, const ELEMENT * src, float planes,
                         ELEMENT * dst, int K, int S)
{
    const size_t common = (size_t)(K > S ? K - S : K), own = (size_t)S, outputs = d->chunk.outputs, pitch = d->p->axis[2].dst;
    const bool two = K > S;
    struct FN(reach) r = {.pitch = d->p->axis[2].src, .vectors = d->vectors, .mask = d->mask};
    for (; steps; --steps, ++t) {
        ELEMENT * row = dst + t->y * pitch;
        r.common = src + t->common.begin;
        r.own[0] = src + t->own[0].begin;
        r.own[1] = src + t->own[1].begin;
        r.rows = t->common.count;
        r.own_rows[0] = t->own[0].count;
        r.own_rows[1] = t->own[1].count;
        if (t->two == two && r.rows == common && (!two || (r.own_rows[0] == own && r.own_rows[1] == own)))
            FN(strip_step)(&r, t, outputs, d->columns, planes, row, row + pitch, K, S, (int)common, S, two);
        else if (t->two)
            FN(strip_step)(&r, t, outputs, d->columns, planes, row, row + pitch, K, S, 0, 0, true);
        else
            FN(strip_step)(&r, t, outputs, d->columns, planes, row, row, K, S, 0, 0, false);
    }
}

#define STRIP(K, S)                                                                                                         \
    static void SN_JOIN2(FN(strip), _##K##_##S)(const struct FN(dense) * d, const struct step * t, size_t steps,             \
                                                const ELEMENT * src, float planes, ELEMENT * dst)                           \
    {                                                                                                                       \
        FN(strip)(d, t, steps, src, planes, dst, K, S);                                                                     \
    }

STRIP(1, 2)
STRIP(2, 1)
STRIP(2, 2)
STRIP(3, 1)
STRIP(3, 2)
STRIP(5, 1)

/* The strip for windows of `kernel` columns `stride` apart, NULL when there is none. */
static FN(strip_fn) FN(strip_for)(size_t kernel, size_t stride)
{
    switch (kernel * 4 + sn_min(stride, 3)) {
    case 1 * 4 + 2: return SN_JOIN2(FN(strip), _1_2);
    case 2 * 4 + 1: return SN_JOIN2(FN(strip), _2_1);
    case 2 * 4 + 2: return SN_JOIN2(FN(strip), _2_2);
    case 3 * 4 + 1: return SN_JOIN2(FN(strip), _3_1);
    case 3 * 4 + 2: return SN_JOIN2(FN(strip), _3_2);
    case 5 * 4 + 1: return SN_JOIN2(FN(strip), _5_1);
    default: return NULL;
    }
}

#undef STRIP
