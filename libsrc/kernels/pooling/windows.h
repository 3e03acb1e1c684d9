/*
 * Wide windows of narrow pixels, each computed separately: too wide for the buffer, or the only one in its row. Expects
 * reduce.h.
 */

/* Independent accumulators in the reduction of single elements. */
enum { ACCUMULATORS = 4 };

/* Read from 64 - n: the mask of the first n bytes of a vector. */
static const int8_t first_bytes[128] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};

/* Reduces two vectors from PACK to one. */
SN_INLINE VECTOR reduce_packed(VECTOR a, VECTOR b) { return PACK(REDUCE(UNPACK(a), TERM(b))); }

/* Reduces `pixels` pixels at b to one, the first, in place: the second half is repeatedly combined with the first. */
static void fold_pixels(CELL * b, size_t pixels, size_t inner)
{
    while (pixels > 1) {
        const size_t half = pixels / 2, n = half * inner;
        const CELL * other = b + (pixels - half) * inner;
        for (size_t x = 0; x < n; x += LANES) {
            const size_t left = sn_min(n - x, LANES);
            WORD(store_tail)(b + x, reduce_packed(WORD(load_tail)(b + x, left), WORD(load_tail)(other + x, left)), left);
        }
        pixels -= half;
    }
}

/* A run of columns that fits in a buffer. */
static __attribute__((noinline)) VECTOR reduce_run(const struct input * r, size_t pixels, size_t inner)
{
    CELL part[ROW + LANES] __attribute__((aligned(64)));
    reduce_cells(r, pixels * inner, part, NULL, false);
    fold_pixels(part, pixels, inner);
    return WORD(load_tail)(part, inner);
}

/* A window of `pixels` columns of more than one element, halved until they fit. */
static VECTOR reduce_window(const struct input * r, size_t pixels, size_t inner)
{
    const size_t half = pixels / 2;
    if (pixels <= ROW / inner)
        return reduce_run(r, pixels, inner);
    struct input rest = *r;
    rest.common += half * inner;
    return reduce_packed(reduce_window(r, half, inner), reduce_window(&rest, pixels - half, inner));
}

/* Reduces single elements, one row after the other. */
SN_INLINE REDUCTION reduce_elements(const ELEMENT * p, size_t rows, size_t pitch, size_t n, REDUCTION v)
{
    REDUCTION w[ACCUMULATORS] = {v, UNPACK(IDENTITY), UNPACK(IDENTITY), UNPACK(IDENTITY)};
    const size_t tail = n % LANES;
    const v32i mask = v_load_32i(first_bytes + 64 - tail * sizeof(CELL));
    for (; rows; --rows, p += pitch) {
        size_t x = 0;
        for (; x + ACCUMULATORS * LANES <= n; x += ACCUMULATORS * LANES) {
            SN_UNROLL
            for (int i = 0; i < ACCUMULATORS; ++i)
                w[i] = REDUCE(w[i], TERM(load(p + x, i, 0, true)));
        }
        for (; x + LANES <= n; x += LANES)
            w[0] = REDUCE(w[0], TERM(load(p + x, 0, 0, true)));
        if (tail)
            w[1] = REDUCE(w[1], TERM(masked(load(p + x, 0, tail, false), mask)));
    }
    return REDUCE(REDUCE(w[0], w[1]), REDUCE(w[2], w[3]));
}

#if HAS_DIVISOR
/* Whether no lane of reduce_elements() has more than eight terms. */
SN_INLINE bool is_short(size_t rows, size_t n)
{
    return rows * (n / (ACCUMULATORS * LANES) + n % (ACCUMULATORS * LANES) / LANES + 1) <= 8;
}

/* reduce_elements() of halves, recursively until they are short. */
static __attribute__((noinline)) v32f reduce_halves(const ELEMENT * p, size_t rows, size_t pitch, size_t n)
{
    const size_t block = ACCUMULATORS * LANES;
    if (is_short(rows, n))
        return reduce_elements(p, rows, pitch, n, v_zero_32f());
    const size_t half = rows > 1 ? rows / 2 : n / block / 2 * block;
    if (rows > 1)
        return v_add_32f(reduce_halves(p, half, pitch, n),
                         reduce_halves(p + half * pitch, rows - half, pitch, n));
    return v_add_32f(reduce_halves(p, 1, pitch, half), reduce_halves(p + half, 1, pitch, n - half));
}
#endif

/* A window of single elements: reduces the n elements of each row, but not the lanes of the result. */
SN_INLINE REDUCTION reduce_single(const ELEMENT * p, size_t rows, size_t pitch, size_t n, REDUCTION v)
{
#if HAS_DIVISOR
    return v_add_32f(v, reduce_halves(p, rows, pitch, n));
#else
    return reduce_elements(p, rows, pitch, n, v);
#endif
}

/* Reduces all lanes to lane 0: first 32-bit lanes by halves, then the elements of one lane. */
SN_INLINE VECTOR reduce_lanes(VECTOR v)
{
    for (int n = V32F_N; n > 1; n /= 2) {
        const v32f x = v_cast_32i_32f(BITS(v));
        v = reduce_packed(FROM_BITS(v_cast_32f_32i(v_even_32f(x, x))), FROM_BITS(v_cast_32f_32i(v_odd_32f(x, x))));
    }
    if (sizeof(CELL) < 4)
        v = reduce_packed(v, FROM_BITS(v_shr_32i(BITS(v), 16)));
    if (sizeof(CELL) < 2)
        v = reduce_packed(v, FROM_BITS(v_shr_32i(BITS(v), 8)));
    return v;
}

/* One row of outputs. */
static void windows_step(const struct sn_pooling * p, const struct step * t, const ELEMENT * src, struct span planes,
                         ELEMENT * dst)
{
    const struct pitches pitch = pitches_of(p);
    const float of_row = divisor_of(p, 0, planes.count) * t->divisor[0];
    for (size_t o = 0; o < p->axis[2].dst; ++o, dst += p->inner) {
        const struct span x = window_of(&p->axis[2], o);
        const struct input r = input_of(t, src + x.begin * p->inner, pitch.row, planes.count, pitch.plane);
        REDUCTION v = UNPACK(IDENTITY);
        if (x.count == 0) {
            fill_identity(p, dst, 1);
            continue;
        }
        if (p->inner > 1)
            v = UNPACK(reduce_window(&r, x.count, p->inner));
        for (size_t i = 0; p->inner == 1 && i < planes.count; ++i)
            v = reduce_single(r.common + i * pitch.plane, r.rows, pitch.row, x.count, v);
        if (p->inner == 1)
            v = UNPACK(REDUCE_LANES(PACK(v)));
        store_tail(dst, v, v_set_32f(of_row * divisor_of(p, 2, x.count)), p->inner, false);
    }
}

/* One window per plane, which covers all of it: planes are runs of n elements. */
#if HAS_DIVISOR
/* The lanes of V32F_N planes are added up together: 1.7 times as fast as separately for planes of 7x7. */
static void global_planes(const struct sn_pooling * p, size_t begin, size_t end)
{
    const size_t n = p->axis[1].src * p->axis[2].src;
    const v32f divisor = v_set_32f(divisor_of(p, 1, p->axis[1].src) * divisor_of(p, 2, p->axis[2].src));
    for (; begin < end; begin += V32F_N) {
        const size_t planes = sn_min(end - begin, V32F_N);
        const ELEMENT * src = (const ELEMENT *)p->src + begin * n;
        v32f sum[V32F_N];
        for (size_t i = 0; i < V32F_N; ++i)
            sum[i] = i >= planes  ? v_zero_32f()
                     : is_short(1, n) ? reduce_elements(src + i * n, 1, n, n, v_zero_32f())
                                      : reduce_halves(src + i * n, 1, n, n);
        store_tail((ELEMENT *)p->dst + begin, sums_of_lanes(sum), divisor, planes, false);
    }
}
#else
static void global_planes(const struct sn_pooling * p, size_t begin, size_t end)
{
    const size_t n = p->axis[1].src * p->axis[2].src;
    const ELEMENT * src = (const ELEMENT *)p->src + begin * n;
    ELEMENT * dst = p->dst;
    for (; begin < end; ++begin, src += n) {
        const VECTOR rest = PACK(reduce_single(src, 1, n, n, UNPACK(IDENTITY)));
        store_tail(dst + begin, UNPACK(REDUCE_LANES(rest)), v_zero_32f(), 1, false);
    }
}
#endif
