/*
 * Padding: a copy of the interior, then each dimension is extended, from the last to the first, by copies of what dst has
 * already. So all modes are copies with strides (ops/copy.h): of a constant with strides of 0, of an edge with a stride of 0
 * in the extended dimension, of a reflection with a negative one.
 */
#include "ops/pad.h"

#include <string.h>

struct pad {
    const struct sn_pad * p;
    ptrdiff_t stride[SN_COPY_DIMENSIONS]; /* bytes of dst from an index to the next */
    uint8_t * interior;                   /* the first element of src in dst */
    uint8_t zero[8];
};

/*
 * Dimensions before k have their interior, those behind it are complete; k has n indices from `at`, counted from the
 * interior.
 */
static struct sn_copy part_of(const struct pad * s, size_t k, size_t n, uint8_t ** at)
{
    const struct sn_pad * p = s->p;
    struct sn_copy c = {.count = p->count, .element = p->element};
    for (size_t i = 0; i < p->count; ++i) {
        const struct sn_pad_dimension * d = &p->d[i];
        const size_t extent = i < k ? d->extent : i == k ? n : d->before + d->extent + d->after;
        c.d[i] = (struct sn_copy_dimension){extent, s->stride[i], s->stride[i]};
        if (i > k)
            *at -= (ptrdiff_t)d->before * s->stride[i];
    }
    return c;
}

/* Writes the n indices `first` .. of dimension k as copies of those from `from` on, in steps of `step`. */
static void extend(const struct pad * s, size_t k, ptrdiff_t first, size_t n, ptrdiff_t from, ptrdiff_t step)
{
    const ptrdiff_t stride = s->stride[k];
    uint8_t * at = s->interior;
    struct sn_copy c = part_of(s, k, n, &at);
    const uint8_t * src = at + from * stride;
    c.d[k].src = step * stride;
    for (size_t i = 0; i < c.count; ++i)
        if (c.d[i].extent == 0)
            return;
    if (s->p->mode == SN_PAD_CONSTANT) {
        src = s->p->value ? s->p->value : s->zero;
        for (size_t i = 0; i < c.count; ++i)
            c.d[i].src = 0;
    }
    sn_copy_once(c, src, at + first * stride);
}

/*
 * One side of dimension k, with `rest` indices. `filled` counts the indices from the other end of the interior on: a
 * reflection continues up to the next one, and of a period as many are repeated as there are already.
 */
static void extend_side(const struct pad * s, size_t k, size_t rest, bool behind)
{
    const size_t extent = s->p->d[k].extent;
    const enum sn_pad_mode mode = s->p->mode == SN_PAD_REFLECT && extent == 1 ? SN_PAD_EDGE : s->p->mode;
    for (size_t filled = extent, n; rest; filled += n, rest -= n) {
        const size_t periods = mode == SN_PAD_WRAP ? filled / extent * extent : 0;
        n = mode == SN_PAD_WRAP ? sn_min(rest, periods) : mode == SN_PAD_REFLECT ? sn_min(rest, extent - 1) : rest;
        const ptrdiff_t first = behind ? (ptrdiff_t)filled : (ptrdiff_t)extent - (ptrdiff_t)(filled + n);
        const ptrdiff_t distance = behind ? -(ptrdiff_t)periods : (ptrdiff_t)periods;
        if (mode == SN_PAD_WRAP)
            extend(s, k, first, n, first + distance, 1);
        else if (mode == SN_PAD_REFLECT)
            extend(s, k, first, n, behind ? first - 2 : first + 2 * (ptrdiff_t)n, -1);
        else
            extend(s, k, first, n, behind ? (ptrdiff_t)extent - 1 : 0, 0);
    }
}

void sn_pad(const struct sn_pad * p)
{
    struct pad s = {.p = p, .interior = p->dst};
    struct sn_copy c = {.count = p->count, .element = p->element};
    size_t elements = 1;
    ptrdiff_t src = (ptrdiff_t)p->element, dst = src;
    for (size_t k = p->count; k-- > 0;) {
        const struct sn_pad_dimension * d = &p->d[k];
        c.d[k] = (struct sn_copy_dimension){d->extent, src, dst};
        s.stride[k] = dst;
        s.interior += (ptrdiff_t)d->before * dst;
        src *= (ptrdiff_t)d->extent;
        dst *= (ptrdiff_t)(d->before + d->extent + d->after);
        elements *= d->extent;
    }
    if (elements)
        sn_copy_once(c, p->src, s.interior);
    for (size_t k = p->count; k-- > 0;) {
        extend_side(&s, k, p->d[k].before, false);
        extend_side(&s, k, p->d[k].after, true);
    }
}
