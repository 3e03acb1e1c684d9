/* Copies that prepare the operands of convolutions, and the operations applied to their results. */
#include "contract/convolution_32f.h"
#include "kernels/activate.h"
#include "kernels/install.h"

/* ---- copies */

/* Rows are written in order, so that what is written beyond the end of a row is overwritten by the next. */
static void columns_32f(const struct sn_columns_32f * g)
{
    sn_32f * row = g->panel;
    for (size_t k = 0; k < g->depth; ++k, row += g->width) {
        sn_32f * to = row;
        for (size_t i = 0; i < g->pieces; ++i) {
            const sn_32f * from = g->src + g->offset[k] + g->piece[i].from;
            const size_t count = g->piece[i].count;
            size_t j = 0;
            for (; j + V32F_N <= count; j += V32F_N)
                v_store_32f(to + j, v_load_32f(from + j));
            if (j < count)
                v_store_32f(to + j, g->exact ? v_load_tail_32f(from + j, count - j) : v_load_32f(from + j));
            to += count;
        }
        for (; to < row + g->width; to += V32F_N)
            v_store_32f(to, v_zero_32f());
    }
}

SN_INLINE void zeros(sn_32f * p, size_t count)
{
    for (; count >= V32F_N; count -= V32F_N, p += V32F_N)
        v_store_32f(p, v_zero_32f());
    v_store_tail_32f(p, v_zero_32f(), count);
}

/* `count` floats src[0], src[2] ...; nothing after the last is read. */
SN_INLINE v32f every_second(const sn_32f * src, size_t count)
{
    if (count > V32F_N)
        return v_even_32f(v_load_32f(src), v_load_32f(src + V32F_N));
    const size_t all = 2 * count - 1, low = sn_min(all, V32F_N);
    return v_even_32f(v_load_tail_32f(src, low), v_load_tail_32f(src + low, all - low));
}

/* The same of src[0], src[4] ... */
SN_INLINE v32f every_fourth(const sn_32f * src, size_t count)
{
    v32f x[4];
    const size_t all = count > V32F_N ? 4 * V32F_N : 4 * count - 3;
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const size_t begin = sn_min(i * V32F_N, all);
        x[i] = count > V32F_N ? v_load_32f(src + i * V32F_N) : v_load_tail_32f(src + begin, sn_min(all - begin, V32F_N));
    }
    return v_even_32f(v_even_32f(x[0], x[1]), v_even_32f(x[2], x[3]));
}

SN_INLINE v32f every(const sn_32f * src, size_t count, size_t stride)
{
    return stride == 2 ? every_second(src, count) : every_fourth(src, count);
}

/* The last vector overlaps the one before it: lines of 13 floats take 0.6 of the time that a tail needs (AVX2). */
SN_INLINE void copy(const sn_32f * src, size_t count, sn_32f * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= count; i += V32F_N)
        v_store_32f(dst + i, v_load_32f(src + i));
    if (i == count)
        return;
    if (count >= V32F_N)
        v_store_32f(dst + count - V32F_N, v_load_32f(src + count - V32F_N));
    else
        v_store_tail_32f(dst, v_load_tail_32f(src, count), count);
}

/* Writes the zeros of a line, over a vector of it on each side if it is long enough, before what is inside. */
SN_INLINE void pad(const struct sn_lines_32f * l, sn_32f * dst)
{
    const size_t after = l->size - l->before - l->inside;
    if (sn_max(l->before, after) > V32F_N || l->size < V32F_N) {
        zeros(dst, l->before);
        zeros(dst + l->size - after, after);
        return;
    }
    if (l->before)
        v_store_32f(dst, v_zero_32f());
    if (after)
        v_store_32f(dst + l->size - V32F_N, v_zero_32f());
}

/* With a stride of 2 or 4, a constant. */
SN_INLINE void copy_every(const sn_32f * src, size_t count, sn_32f * dst, size_t stride)
{
    size_t i = 0;
    for (; i + V32F_N < count; i += V32F_N)
        v_store_32f(dst + i, every(src + stride * i, count - i, stride));
    if (count >= V32F_N)
        v_store_32f(dst + count - V32F_N, every(src + stride * (count - V32F_N), V32F_N, stride));
    else if (count)
        v_store_tail_32f(dst, every(src, count, stride), count);
}

static void line_32f(const struct sn_lines_32f * l, const sn_32f * src, sn_32f * dst)
{
    pad(l, dst);
    dst += l->before;
    if (l->stride == 1)
        copy(src, l->inside, dst);
    else if (l->stride == 2)
        copy_every(src, l->inside, dst, 2);
    else if (l->stride == 4)
        copy_every(src, l->inside, dst, 4);
    else
        for (size_t i = 0; i < l->inside; ++i) /* gather instructions are not faster than this */
            dst[i] = src[i * l->stride];
}

/*
 * Neighbouring lines of at most two vectors, but the last ones: whole vectors are written, whose zeros are the padding
 * after a line and before the next. Returns how many were written. 288x10x10 to 2 by 2x2, which copies planes of 10 such
 * lines, takes 0.83 of the time (avx2, Xeon with AMX).
 */
static size_t short_lines(const struct sn_lines_32f * l)
{
    const size_t size = l->size, step = l->srcStep, low = sn_min(l->inside, V32F_N), high = l->inside - low;
    const bool two = size > V32F_N;
    const sn_32f * src = l->src;
    sn_32f * dst = l->dst + l->before;
    size_t i = 0;
    if (l->stride != 1 || size > 2 * V32F_N || l->dstStep != size || l->lines * size < 2 * V32F_N)
        return 0;
    const sn_32f * const end = l->dst + l->lines * size - (two ? 2 * V32F_N : V32F_N);
    zeros(l->dst, l->before);
    for (; dst <= end; ++i, src += step, dst += size) {
        v_store_32f(dst, low == V32F_N ? v_load_32f(src) : v_load_tail_32f(src, low));
        if (two)
            v_store_32f(dst + V32F_N, v_load_tail_32f(src + low, high));
    }
    return i;
}

/* Short lines without padding, as pixels are, take 1.9 times as long with the code for all lines (16 floats). */
static void lines_32f(const struct sn_lines_32f * l)
{
    const bool plain = l->stride == 1 && l->inside == l->size;
    for (size_t i = plain ? 0 : short_lines(l); i < l->lines; ++i)
        if (plain)
            copy(l->src + i * l->srcStep, l->inside, l->dst + i * l->dstStep);
        else
            line_32f(l, l->src + i * l->srcStep, l->dst + i * l->dstStep);
}

/* ---- operations applied to results */

static void join_32f(const struct sn_join_32f * j)
{
    const v32f p0 = v_set_32f(j->param[0]), p1 = v_set_32f(j->param[1]);
    const sn_32f * add = j->add;
    sn_32f * dst = j->dst;
    for (size_t i = 0; i < j->rows; ++i, add += j->addStep, dst += j->dstStep) {
        const bool prelu = j->activation == SN_ACTIVATION_PRELU;
        const v32f ofRow = v_set_32f(prelu && j->byRow ? j->slope[(j->first + i) / j->period % j->slopes] : 0);
        for (size_t x = 0; x < j->columns; x += V32F_N) {
            const size_t n = sn_min(j->columns - x, V32F_N);
            const v32f slope = prelu && !j->byRow ? v_load_tail_32f(j->slope + x, n) : ofRow;
            const v32f sum = v_add_32f(v_load_tail_32f(dst + x, n), v_load_tail_32f(add + x, n));
            v_store_tail_32f(dst + x, activate_32f(sum, j->activation, slope, p0, p1), n);
        }
    }
    if (activates_rows(j->activation))
        ACTIVATE_ROWS(j->dst, j->rows, j->columns, j->dstStep, j->activation, j->param);
}

SN_INSTALL(convolution_32f, convolution_32f)
{
    slots->columns = columns_32f;
    slots->lines = lines_32f;
    slots->join = join_32f;
}
