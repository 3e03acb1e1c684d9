#include "ops/convolution/nhwc_edges.h"

#include <string.h>

/* The outputs of a row (or column) that need padding before the image; the first of those that need padding after it. */
static size_t edge_before(size_t pad, size_t stride, size_t outputs) { return sn_min(sn_ceil_div(pad, stride), outputs); }

static size_t edge_behind(size_t size, size_t pad, size_t stride, size_t reach, size_t outputs)
{
    return size + pad > reach ? sn_min((size + pad - reach - 1) / stride + 1, outputs) : 0;
}

struct sn_inner sn_inner_of(const struct sn_convolution_parameters * p)
{
    const size_t reachY = (p->kernelY - 1) * p->dilationY, reachX = (p->kernelX - 1) * p->dilationX;
    struct sn_inner i = {.top = edge_before(p->padY, p->strideY, p->dstH), .left = edge_before(p->padX, p->strideX, p->dstW)};
    i.bottom = sn_max(edge_behind(p->srcH, p->padY, p->strideY, reachY, p->dstH), i.top);
    i.right = sn_max(edge_behind(p->srcW, p->padX, p->strideX, reachX, p->dstW), i.left);
    return i;
}

bool sn_edges_fit(const struct sn_convolution_parameters * p)
{
    const struct sn_inner i = sn_inner_of(p);
    const size_t most = sn_max(i.left, p->dstW - i.right);
    return i.left < i.right && (most == 0 || sn_used(most, p->strideX, p->kernelX, p->dilationX) <= p->srcW);
}

bool sn_nhwc_edges_fit(const struct sn_convolution_parameters * p, const struct sn_band * band)
{
    return band->copied && band->pixel == p->srcC && sn_edges_fit(p);
}

void sn_nhwc_only_edges(const struct sn_convolution_parameters * p, struct sn_band * band)
{
    band->columns = p->srcW;
    band->strideY = p->strideY;
    band->strideX = p->strideX;
    band->classes = 0;
    band->dense = false;
}

void sn_edges_copy(const struct sn_band_copy * b, const struct sn_edges_part * part, uint8_t * to)
{
    const struct sn_convolution_parameters * p = b->p;
    const size_t pixel = b->band->pixel * b->unit, line = b->band->line * b->unit, step = b->band->classes ? p->dilationY : 1;
    const size_t lines = sn_used(part->endY - part->y, p->strideY, p->kernelY, p->dilationY);
    const size_t columns = sn_used(part->endX - part->x, p->strideX, p->kernelX, p->dilationX), at = part->x * p->strideX;
    const size_t before = at < p->padX ? sn_min(p->padX - at, columns) : 0, begin = at + before - p->padX;
    const size_t inside = begin < p->srcW ? sn_min(p->srcW - begin, columns - before) : 0;
    for (size_t i = 0; i < lines; i += step, to += step * line) {
        const size_t y = part->y * p->strideY + i - p->padY; /* wraps to a huge number for a line above the image */
        const bool any = y < p->srcH && inside;
        const size_t first = any ? before : columns, rest = columns - before - inside;
        if (first)
            b->fill(b->job, to, first * pixel);
        if (any)
            b->copy(b->job, y * p->srcW + begin, 1, inside, to + before * pixel);
        if (any && rest)
            b->fill(b->job, to + (before + inside) * pixel, rest * pixel);
    }
}

/* Runs a part, if it has outputs. */
static void run_part(const struct sn_convolution_parameters * p, const struct sn_inner * inner, struct sn_edges_part part,
                     const struct sn_edges_run * run)
{
    if (part.y >= part.endY || part.x >= part.endX)
        return;
    part.inside = part.y >= inner->top && part.endY <= inner->bottom && part.x >= inner->left && part.endX <= inner->right;
    if (part.inside)
        part.at = (part.y * p->strideY - p->padY) * p->srcW + part.x * p->strideX - p->padX;
    run->run(run->job, &part);
}

/* The columns at the sides are parts of all rows: as few parts as possible. */
void sn_edges_divide(const struct sn_convolution_parameters * p, size_t row, size_t rows, const struct sn_edges_run * run)
{
    const struct sn_inner inner = sn_inner_of(p);
    const size_t end = row + rows, middle = sn_min(sn_max(row, inner.top), end);
    const size_t y[] = {row, middle, sn_max(sn_min(end, inner.bottom), middle), end};
    run_part(p, &inner, (struct sn_edges_part){.y = row, .endY = end, .x = 0, .endX = inner.left}, run);
    for (size_t i = 0; i < 3; ++i)
        run_part(p, &inner, (struct sn_edges_part){.y = y[i], .endY = y[i + 1], .x = inner.left, .endX = inner.right}, run);
    run_part(p, &inner, (struct sn_edges_part){.y = row, .endY = end, .x = inner.right, .endX = p->dstW}, run);
}

/* ---- floats */

struct floats {
    const struct sn_nhwc_edges * e;
    const struct sn_nhwc_rows * all;
};

static void fill(const void * job, uint8_t * to, size_t bytes)
{
    (void)job;
    memset(to, 0, bytes);
}

static void copy(const void * job, size_t first, size_t step, size_t pixels, uint8_t * to)
{
    const struct sn_nhwc_edges * e = job;
    sn_nhwc_copy(e->c, e->image, first, step, pixels, (sn_32f *)(void *)to, e->c->p.srcC);
}

static void run_floats(const void * job, const struct sn_edges_part * part)
{
    const struct floats * j = job;
    const struct sn_nhwc_edges * e = j->e;
    const struct sn_convolution_parameters * p = &e->c->p;
    struct sn_nhwc_rows r = *j->all;
    const size_t to = (part->y - r.row) * r.dstLine + part->x * r.dstPixel;
    r.row = part->y;
    r.rows = part->endY - part->y;
    r.columns = part->endX - part->x;
    r.dst += to;
    r.add = r.add ? r.add + to : NULL;
    r.src = e->work;
    if (part->inside && e->image.pixel == p->srcC)
        r.src = e->image.src + part->at * p->srcC;
    else
        sn_edges_copy(&(struct sn_band_copy){e->band, p, sizeof(float), e, fill, copy}, part, (uint8_t *)e->work);
    e->compute(e->job, &r);
}

void sn_nhwc_edges_run(const struct sn_nhwc_edges * e, const struct sn_nhwc_rows * r)
{
    struct sn_nhwc_rows all = *r;
    all.srcLine = e->band->strideY * e->band->line;
    all.srcPixel = e->band->strideX * e->band->pixel;
    sn_edges_divide(&e->c->p, r->row, r->rows, &(struct sn_edges_run){&(struct floats){e, &all}, run_floats});
}
