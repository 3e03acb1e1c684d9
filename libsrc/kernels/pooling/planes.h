/*
 * Small planes of single elements: a block of planes is transposed to pixels of as many elements, pooled by vectors of planes,
 * and transposed back, while it is in the L1 cache. Rows are reduced into a buffer with borders, then columns, in the order
 * of rows.h: results have the same bits, so a few planes behind the last block are left to it. Expects strips.h.
 *
 * Maxima of 1688x5x5 floats by 3x3 with stride 4 take 0.22 of the time of rows (avx2; 0.19 with avx512), of bytes 0.17 and
 * 0.12; 320x7x7 by 3x3 with stride 2 0.56 and 0.28, bytes 0.22 and 0.16.
 */

/* A block of planes: pixels of `inner` elements. */
struct block {
    const struct sn_pooling * p;
    size_t inner, row;          /* planes, and cells of a row with its borders */
    CELL * rows;                /* two of them */
    sn_32f columns[2 * PLAN];   /* the column factors of the divisors */
    ELEMENT * image, * results;
};

/* One row of outputs from its columns. */
static void block_columns(const struct block * b, const CELL * row, float divisor, ELEMENT * dst)
{
    const struct sn_pool_axis * axis = &b->p->axis[2];
    const size_t inner = b->inner, odd = inner % (2 * LANES);
    for (size_t o = 0; o < axis->dst; ++o, row += axis->stride * inner, dst += inner) {
        const v32f d = v_set_32f(HAS_DIVISOR ? divisor * b->columns[o] : 1);
        const struct taps t = {row, axis->kernel, inner, 2 * inner};
        REDUCTION v[2];
        if (odd) {
            reduce_taps(v, 1, &t, 0);
            store(dst, 0, v[0], d, false);
        }
        for (size_t i = odd; i < inner; i += 2 * LANES) {
            reduce_taps(v, 2, &t, i);
            store(dst, i, v[0], d, false);
            store(dst, i + LANES, v[1], d, false);
        }
    }
}

/* One or two rows of outputs. */
static void block_step(const struct block * b, const struct step * t)
{
    const struct sn_pool_axis * axis = &b->p->axis[2];
    const size_t pitch = axis->src * b->inner, dstPitch = axis->dst * b->inner;
    const ELEMENT * src = b->image;
    const struct input r = {.common = src + t->common.begin * b->inner,
                            .own = {src + t->own[0].begin * b->inner, src + t->own[1].begin * b->inner},
                            .rows = t->common.count,
                            .own_rows = {t->own[0].count, t->own[1].count},
                            .pitch = pitch,
                            .planes = 1};
    CELL * const row = b->rows + axis->pad * b->inner;
    reduce_cells(&r, pitch, row, row + b->row, t->two);
    for (size_t i = 0; i < (t->two ? 2 : 1); ++i)
        block_columns(b, b->rows + i * b->row, t->divisor[i], b->results + (t->y + i) * dstPitch);
}

/* Pixels of a row with its borders. */
static size_t block_row(const struct sn_pool_axis * axis)
{
    return sn_max((axis->dst - 1) * axis->stride + axis->kernel, axis->pad + axis->src);
}

/* The most vectors of a block, the fewest planes of one that is not full. */
enum { BLOCK_VECTORS = 4, BLOCK_LEAST = LANES / 2 > 8 ? LANES / 2 : 8 };

/*
 * The widest rows for which blocks are faster: of floats, 16-bit numbers and bytes, where strips have stride 1, 2, or there are
 * none; and the most pixels of a plane of floats. From 240 shapes of 256 planes at avx2 and avx512 (Intel Xeon with AMX): rows of
 * 14 floats with stride 1 take 1.0 to 1.4 times as long in blocks, 20 with stride 2 0.8 to 1.5, 24x7 pixels with stride 1 0.7
 * to 1.2 (avx2).
 */
static const uint8_t block_widest[3][3] = {{10, 14, 20}, {12, 20, 40}, {20, 40, 40}};
static const size_t block_pixels[3] = {12 * V32F_N, 21 * V32F_N, 400};

static bool is_for_blocks(const struct sn_pooling * p)
{
    const struct sn_pool_axis * y = &p->axis[1], * x = &p->axis[2];
    const size_t kind = strip_for(x->kernel, x->stride) ? x->stride - 1 : 2;
    const size_t element = sizeof(ELEMENT) == 4 ? 0 : sizeof(ELEMENT) == 2 ? 1 : 2;
    return p->inner == 1 && is_identity(&p->axis[0]) && is_usual(y) && is_usual(x) && y->src <= ROW &&
           sn_max(y->dst, x->dst) <= 2 * PLAN && x->src <= block_widest[element][kind] &&
           (element || y->src * x->src <= block_pixels[kind]);
}

/* The planes of a block, 0 if it does not fit in the buffer or rows are faster. Windows have at most ROW columns. */
static size_t block_planes(const struct sn_pooling * p)
{
    const struct sn_pool_axis * y = &p->axis[1], * x = &p->axis[2];
    if (!is_for_blocks(p))
        return 0;
    const size_t elements = y->src * x->src + y->dst * x->dst;
    for (size_t inner = BLOCK_VECTORS * LANES; inner; inner -= LANES)
        if ((elements * sizeof(ELEMENT) + 2 * block_row(x) * sizeof(CELL)) * inner <= (BUFFER + ROW) * sizeof(CELL))
            return inner;
    return 0;
}

static void begin_block(struct block * b, CELL * buffer, size_t inner)
{
    const struct sn_pool_axis * y = &b->p->axis[1], * x = &b->p->axis[2];
    b->inner = inner;
    b->row = block_row(x) * inner;
    b->rows = buffer;
    b->image = (ELEMENT *)(void *)(buffer + 2 * b->row);
    b->results = b->image + y->src * x->src * inner;
    for (size_t i = 0; i < 2 * b->row; i += LANES)
        WORD(store)(buffer + i, IDENTITY);
}

/* Computes planes plane .. end - 1 in blocks of `least` to `most` but for the last ones, if they are fewer; returns the first of
 * these. */
static __attribute__((noinline)) size_t pool_by_blocks(const struct sn_pooling * p, size_t least, size_t most, size_t plane,
                                                      size_t end)
{
    const size_t pixels = p->axis[1].src * p->axis[2].src, outputs = p->axis[1].dst * p->axis[2].dst;
    const size_t pairs = sn_pooling_pairs(p);
    struct block b = {.p = p};
    struct plan plan;
    CELL buffer[BUFFER + ROW] __attribute__((aligned(64)));
    plan_pairs(&plan, p, 0, pairs, COMPACT);
    for (size_t o = 0; HAS_DIVISOR && o < p->axis[2].dst; ++o)
        b.columns[o] = divisor_of(p, 2, window_of(&p->axis[2], o).count);
    for (size_t now; end - plane >= least; plane += now) {
        const size_t inner = sn_min(most, sn_ceil_div(end - plane, LANES) * LANES), step = inner * sizeof(ELEMENT);
        now = sn_min(end - plane, inner);
        if (b.inner != inner)
            begin_block(&b, buffer, inner);
        if (now < inner)
            memset(b.image, 0, pixels * step);
        p->transpose((const ELEMENT *)p->src + plane * pixels, pixels * sizeof(ELEMENT), now, pixels, b.image, step);
        for (const struct step * t = plan.step; t < plan.step + plan.first[pairs]; ++t)
            block_step(&b, t);
        p->transpose(b.results, step, outputs, now, (ELEMENT *)p->dst + plane * outputs, outputs * sizeof(ELEMENT));
    }
    return plane;
}
