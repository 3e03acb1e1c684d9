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

bool sn_nhwc_edges_fit(const struct sn_convolution_parameters * p, const struct sn_band * band)
{
    if (!band->copied || band->pixel != p->srcC)
        return false;
    const struct sn_inner i = sn_inner_of(p);
    const size_t most = sn_max(i.left, p->dstW - i.right);
    return i.left < i.right && (most == 0 || sn_used(most, p->strideX, p->kernelX, p->dilationX) <= p->srcW);
}

void sn_nhwc_only_edges(const struct sn_convolution_parameters * p, struct sn_band * band)
{
    band->columns = p->srcW;
    band->strideY = p->strideY;
    band->strideX = p->strideX;
    band->classes = 0;
    band->dense = false;
}

/* Copies the input of r->rows x r->columns outputs from column x on, with padding. */
static void copy_part(const struct sn_nhwc_edges * e, const struct sn_nhwc_rows * r, size_t x)
{
    const struct sn_convolution_parameters * p = &e->c->p;
    const size_t lines = sn_used(r->rows, p->strideY, p->kernelY, p->dilationY), step = e->band->classes ? p->dilationY : 1;
    const size_t columns = sn_used(r->columns, p->strideX, p->kernelX, p->dilationX), at = x * p->strideX;
    const size_t before = at < p->padX ? sn_min(p->padX - at, columns) : 0, begin = at + before - p->padX;
    const size_t inside = begin < p->srcW ? sn_min(p->srcW - begin, columns - before) : 0;
    sn_32f * to = e->work;
    for (size_t i = 0; i < lines; i += step, to += step * e->band->line) {
        const size_t y = r->row * p->strideY + i - p->padY; /* wraps to a huge number for a line above the image */
        memset(to, 0, columns * p->srcC * sizeof(float));
        if (y < p->srcH && inside)
            sn_nhwc_copy(e->c, e->image, y * p->srcW + begin, 1, inside, to + before * p->srcC, p->srcC);
    }
}

/* Computes rows y .. endY - 1, columns x .. endX - 1 of the outputs `all`. */
static void run_part(const struct sn_nhwc_edges * e, const struct sn_nhwc_rows * all, size_t y, size_t endY, size_t x,
                     size_t endX)
{
    const struct sn_convolution_parameters * p = &e->c->p;
    const struct sn_inner inner = sn_inner_of(p);
    if (y >= endY || x >= endX)
        return;
    const size_t to = (y - all->row) * all->dstLine + x * all->dstPixel;
    struct sn_nhwc_rows r = *all;
    r.row = y;
    r.rows = endY - y;
    r.columns = endX - x;
    r.dst += to;
    r.add = r.add ? r.add + to : NULL;
    if (e->image.pixel == p->srcC && y >= inner.top && endY <= inner.bottom && x >= inner.left && endX <= inner.right) {
        r.src = e->image.src + ((y * p->strideY - p->padY) * p->srcW + x * p->strideX - p->padX) * p->srcC;
    } else {
        copy_part(e, &r, x);
        r.src = e->work;
    }
    e->compute(e->job, &r);
}

void sn_nhwc_edges_run(const struct sn_nhwc_edges * e, const struct sn_nhwc_rows * r)
{
    const struct sn_inner inner = sn_inner_of(&e->c->p);
    const size_t row = r->row, end = row + r->rows, middle = sn_min(sn_max(row, inner.top), end);
    const size_t below = sn_max(sn_min(end, inner.bottom), middle);
    const size_t y[] = {row, middle, below, end}, x[] = {0, inner.left, inner.right, e->c->p.dstW};
    struct sn_nhwc_rows all = *r;
    all.srcLine = e->band->strideY * e->band->line;
    all.srcPixel = e->band->strideX * e->band->pixel;
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
            run_part(e, &all, y[i], y[i + 1], x[j], x[j + 1]);
}
