/*
 * Convolution of small numbers by the tile: rows of A are output pixels, columns are output channels, and the taps of a
 * kernel row are adjacent in memory, see 32f_nhwc.c. Numbers are multiplied in groups, of 4 bytes in B; the
 * last group of a segment may extend into the next pixel, which is multiplied by weights of 0.
 *
 * Groups of channels are separate convolutions; of bytes, several groups may be joined to one, with weights of 0 between
 * their channels; if all are, panels of outputs may multiply only the inputs of their own groups. (0 times a bfloat16 number
 * may be NaN.)
 *
 * Inner products keep whole panels of 16-bit numbers as bytes, half of what one row reads: the tile widens them for few rows;
 * for many a panel is widened once. So contexts of any number of rows share their weights.
 */
#include "ops/convolution/cost.h"
#include "ops/convolution/dot.h"
#include "ops/convolution/dot_tap_rows.h"
#include "runtime/cpu.h"
#include "runtime/numeric.h"

struct tiled {
    struct sn_dot_band band;
    size_t depth, length; /* number of groups in a sum, and in a segment */
    size_t joined;        /* groups that are computed as one */
    size_t range;         /* the inputs that a panel multiplies, or 0 for all that are joined */
    size_t images;        /* that are computed together */
    size_t made;          /* where in the workspace a panel is widened, or the last pixel is copied */
    uint16_t panel;       /* outputs of a panel, or 0 for those of the tile */
    bool narrow;          /* whole panels are kept as bytes */
    bool apart;           /* images are read in place, and the last pixel of the lines is copied */
    bool leavesOut;       /* rows of taps; the packed weights end with their sums, see dot_tap_rows.h */
};
SN_FITS_ALGORITHM_DATA(struct tiled);

static const struct tiled * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }
static const struct sn_dot_tile * tile_of(const struct sn_convolution * c) { return sn_dot_of(c)->tile; }

static size_t width_of(const struct sn_convolution * c, size_t columns)
{
    const size_t granule = tile_of(c)->granule;
    return sn_ceil_div(columns, granule) * granule;
}

/* Taps of a kernel row that are adjacent in memory, if the band has no gaps between pixels: all, or 1. */
static size_t adjacent_taps(const struct sn_convolution * c)
{
    return c->p.group == data_of(c)->joined && data_of(c)->range == 0 && c->p.dilationX == 1 ? c->p.kernelX : 1;
}

/* Numbers of joined groups in a pixel. */
static size_t joined_inputs(const struct sn_convolution * c) { return data_of(c)->joined * data_of(c)->band.inputs; }

/* The taps of a segment, and its numbers. */
static size_t taps(const struct sn_convolution * c)
{
    const struct sn_dot_band * b = &data_of(c)->band;
    return b->band.pixel == joined_inputs(c) * b->number ? adjacent_taps(c) : 1;
}

static size_t numbers(const struct sn_convolution * c)
{
    return data_of(c)->range ? data_of(c)->range : taps(c) * joined_inputs(c);
}

/* The first input that the panel from output o on multiplies: all that follow are in the same pixel. */
static size_t first_input(const struct sn_convolution * c, size_t o)
{
    const size_t range = data_of(c)->range;
    return range ? sn_min(o / sn_outputs(c) * sn_inputs(c), joined_inputs(c) - range) : 0;
}

/* The kernel row and column of the first tap of segment s. */
static size_t row_of(const struct sn_convolution * c, size_t s) { return s * taps(c) / c->p.kernelX; }
static size_t column_of(const struct sn_convolution * c, size_t s) { return s * taps(c) % c->p.kernelX; }

/* Whether a panel of so many columns is kept as bytes, and its bytes: in a form that the tile reads, and as it is kept. */
static bool is_narrow(const struct sn_convolution * c, size_t columns)
{
    return data_of(c)->narrow && columns == tile_of(c)->columns;
}

static size_t panel_bytes(const struct sn_convolution * c, size_t columns)
{
    return data_of(c)->depth * 4 * width_of(c, columns);
}

static size_t kept_bytes(const struct sn_convolution * c, size_t columns)
{
    return panel_bytes(c, columns) / (is_narrow(c, columns) ? 2 : 1);
}

/* Rows that read bytes, tile by tile: for more of them, a panel is widened once. */
static size_t few_rows(const struct sn_convolution * c) { return 4 * tile_of(c)->rows; }

static bool supports(const struct sn_convolution * c)
{
    (void)c;
    return true;
}

/* The rows of the largest register tile when a product has `rows` rows. */
static size_t height_of(const struct sn_convolution * c, size_t rows)
{
    return rows / sn_ceil_div(rows, tile_of(c)->rows);
}

/* Whether the rows of A of an image are contiguous. */
static bool is_dense(const struct sn_convolution * c)
{
    const struct sn_band * band = &data_of(c)->band.band;
    return band->strideY * band->line == c->p.dstW * band->strideX * band->pixel;
}

/*
 * Images of a batch that are computed together: their pixels at the same place are rows of a product, which fill the tile
 * where the pixels of a line do not, and images share the passes over the weights. With bytes, whose tile has 6 rows, 16
 * images of 512x7x7 to 512 are 1.11 times as fast.
 */
static size_t images_together(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band.band;
    const bool whole = band->copied && !data_of(c)->band.edges && !data_of(c)->band.unlessAligned;
    if (!whole || p->group > 1 || c->dstSize == 0 || band->rows < p->dstH)
        return 1;
    const bool dense = is_dense(c);
    const size_t fit = sn_max(sn_cpu()->cacheL2 / 2 / c->workSize, 1), rows = tile_of(c)->rows;
    const size_t images = c->batch <= fit ? c->batch : fit > rows ? fit / rows * rows : fit;
    return height_of(c, images) > height_of(c, dense ? p->dstW * p->dstH : p->dstW) ? images : 1;
}

/*
 * What joined_time() adds to the steps of vectors for a row of results: for each vector; for a panel; for one that ends
 * within a vector; and for a panel in each step, which loads numbers of A once. Of a block that is not whole, the steps.
 */
struct times { double vector, panel, rest, step; };
enum { VECTORS_2, VECTORS_4, BLOCKS, BLOCK = 16 };
static const struct times times[] = {{4, 27, 3, 0.5}, {4, 10, 1, 0.5}, {64, 72, 0, 0}};
static const double PART = 6, PART_STEP = 0.6;
static const double RANGED = 1.05; /* what ranges must win: the error of these times */

/*
 * The inputs of a pixel that panels of `panel` outputs multiply if all groups are joined, each those of its own groups; or 0
 * if those are all of them.
 */
static size_t range_of(const struct sn_convolution * c, size_t panel)
{
    const size_t outputs = sn_outputs(c), group = tile_of(c)->group;
    size_t groups = outputs % panel ? 2 : 1;
    if (outputs < panel) /* panels begin at the same places of groups again after as many panels as a group has outputs */
        for (size_t o = 0, end = sn_min(c->p.dstC, panel * outputs); o < end; o += panel)
            groups = sn_max(groups, (sn_min(o + panel, c->p.dstC) - 1) / outputs + 1 - o / outputs);
    const size_t range = sn_ceil_div(groups * sn_inputs(c), group) * group;
    return range < c->p.srcC ? range : 0;
}

/*
 * The time of n groups by the tile, in steps of a vector; range: 0 or range_of() the panel. Fitted to 48 layers of 2 to 64
 * groups, all choices of each (Xeon with AMX): the chosen ones take 1.004, 1.004, 1.005, 1.006, 1.015 and 1.008 of the time
 * of the best ones on avx2, avxvnni, avx512, avx512vnni, amx and sse41.
 */
static double joined_time(const struct sn_convolution * c, size_t n, size_t panel, size_t range)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = tile_of(c);
    const bool adjacent = n == p->group && range == 0 && p->dilationX == 1; /* taps of a row are */
    const size_t numbers = (range ? range : n * sn_inputs(c)) * (adjacent ? p->kernelX : 1);
    const size_t groups = sn_ceil_div(numbers, tile->group), part = tile->aligned ? groups % BLOCK : 0;
    const size_t columns = n * sn_outputs(c), vectors = width_of(c, columns) / tile->granule;
    const struct times * t = &times[tile->aligned ? BLOCKS : tile->columns > 2 * tile->granule ? VECTORS_4 : VECTORS_2];
    const double segments = (double)p->kernelY * (double)(adjacent ? 1 : p->kernelX);
    const double steps = segments * ((double)(groups - part) + (part ? PART + PART_STEP * (double)part : 0));
    return (steps + t->vector) * (double)vectors + (steps * t->step + t->panel) * (double)sn_ceil_div(columns, panel) +
           (columns % tile->granule ? t->rest : 0);
}

/*
 * Chooses the groups that are computed as one: those that take the least time. One group of few channels leaves most of a
 * tile's columns, and of the numbers that are multiplied together, unused: 116 groups of one input and two outputs by 3x5
 * take 0.3 of the time.
 *
 * If all groups are joined, panels may multiply only the inputs of their own groups: all but the last one are whole vectors
 * then, which groups of 11 outputs are not. 121x192x192 to 121 in 11 groups takes 0.67 of the time with avx512vnni, 0.88
 * with avxvnni, 0.87 with amx; 104x28x28 to 52 in 26 groups 0.57 with avxvnni, 0.66 with avx2; 11x57x57 to 55 by 3x3 in 11
 * groups 0.54 with avx512; 143x20x20 by 3x3 in 13 groups 0.61 with amx (Xeon with AMX).
 */
static void choose_groups(const struct sn_convolution * c, struct tiled * t)
{
    const struct sn_dot_tile * tile = tile_of(c);
    const size_t outputs = sn_outputs(c), groups = c->p.group;
    t->joined = 1, t->panel = 0, t->range = 0;
    if (groups == 1 || outputs == 0 || sn_dot_of(c)->spaced)
        return;
    double least = joined_time(c, 1, tile->columns, 0) * (double)groups;
    for (size_t n = 2; n <= groups; ++n) {
        if (groups % n > 0 || (n * outputs > tile->columns && n < groups))
            continue;
        const double all = joined_time(c, n, tile->columns, 0) * (double)(groups / n);
        if (all < least)
            t->joined = n, least = all;
    }
    for (size_t panel = tile->granule; panel <= tile->columns; panel += tile->granule) {
        const size_t range = range_of(c, panel);
        const double all = range ? joined_time(c, groups, panel, range) * RANGED : least;
        if (all < least)
            t->joined = groups, t->panel = (uint16_t)panel, t->range = range, least = all;
    }
}

static bool is_inner_product(const struct sn_convolution * c) { return c->family->inputs != NULL; }

/*
 * The outputs of a panel: half of the tile's if it has more bytes than half of a usual L2 cache, since all rows of pixels read it,
 * and tiles for fewer outputs have more rows. 842x16x16 to 256 by 7x7 with stride 2 in two groups takes 0.62 of the time with avx512
 * and 0.92 with avx512vnni, 512x7x7 to 512 by 5x5 0.77, 1024x7x7 to 512 by 3x3 0.87, 512x28x28 to 64 by 5x5 0.90 with avx512.
 * The same on all processors of a level, whose packed weights are the same.
 */
enum { LARGE_PANEL = 1 << 20 };

static size_t panel_of(const struct sn_convolution * c)
{
    const struct sn_dot_tile * tile = tile_of(c);
    if (data_of(c)->panel)
        return data_of(c)->panel;
    const bool half = !tile->aligned && !is_inner_product(c) && panel_bytes(c, tile->columns) > LARGE_PANEL;
    return half ? tile->columns / 2 : tile->columns;
}

/* Plans the sums of the weights, with which these end. */
static bool plan_sums(struct sn_convolution * c, struct tiled * t)
{
    size_t bytes;
    t->leavesOut = t->band.band.copied && !t->band.edges && sn_dot_leaves_out(c, t->depth, is_dense(c));
    return !t->leavesOut ||
           (sn_dot_sums_size(c, &bytes) && sn_product(&c->weightSize, sn_align(c->weightSize, SN_ALIGN) + bytes, 1));
}

static int32_t * sums_of(const struct sn_convolution * c)
{
    size_t bytes;
    sn_dot_sums_size(c, &bytes);
    return (int32_t *)(void *)((uint8_t *)c->weight + c->weightSize - bytes);
}

/* Plans the weights, and space for a widened panel. */
static bool plan_weights(struct sn_convolution * c, struct tiled * t)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = tile_of(c);
    t->depth = c->segments * t->length;
    c->run = t->joined * sn_outputs(c);
    c->runStep = width_of(c, c->run);
    if (!sn_product(&c->channels, p->group / t->joined, c->runStep) ||
        !sn_product(&c->weightSize, t->depth, 4, c->channels))
        return false;
    t->narrow = tile->run_narrow && is_inner_product(c) && p->dstC >= tile->columns;
    if (!t->narrow)
        return plan_sums(c, t);
    c->weightSize -= p->dstC / tile->columns * kept_bytes(c, tile->columns);
    t->made = sn_align(c->workSize, SN_ALIGN);
    const size_t space = p->dstH > few_rows(c) ? panel_bytes(c, tile->columns) : 0;
    return space == 0 || sn_product(&c->workSize, t->made + space, 1);
}

/*
 * Whether pixels whose numbers do not fill their last group are read in place, by 1x1 kernels. The group extends into the next
 * pixel, where it is multiplied by weights of 0, and not beyond that one; the last pixel, behind which there may be none, is
 * copied. 8x14x56x56 to 14 takes 0.74 of the time, 86x56x56 to 14 0.66, 185x28x28 to 128 0.88, with stride 2 50x57x57 to 50
 * 0.79; images in no cache 0.85 to 1.36 (Xeon with AMX).
 */
static bool is_read_apart(const struct sn_convolution * c)
{
    return c->p.kernelY * c->p.kernelX == 1 && data_of(c)->band.inputs == sn_inputs(c) && c->p.srcC >= 3;
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = tile_of(c);
    struct tiled * t = (void *)c->algorithmData;
    const size_t spacing = sn_dot_of(c)->spaced ? tile->group : 1;
    t->band.number = tile->number;
    choose_groups(c, t);
    t->band.inputs = sn_ceil_div(sn_inputs(c), spacing) * spacing;
    const bool whole = t->range || (t->band.inputs == sn_inputs(c) && adjacent_taps(c) * joined_inputs(c) % tile->group == 0);
    const bool apart = !whole && is_read_apart(c);
    if (!sn_dot_band_plan(c, &t->band, whole ? SN_READS_PARTS : apart ? SN_READS_PIXELS : SN_READS_COPY,
                          sn_min(p->dstC, tile->columns) * sn_element(p->dstT)))
        return false;
    t->apart = apart && !t->band.band.copied;
    t->made = c->workSize = sn_align(c->workSize, SN_ALIGN);
    if (t->apart && !sn_product(&c->workSize, c->workSize + p->srcC * t->band.number + SN_ALIGN, 1))
        return false;
    t->images = images_together(c);
    if (!sn_product(&c->workSize, c->workSize, t->images))
        return false;
    c->segments = sn_weight_count(c) == 0 ? 0 : p->kernelY * (p->kernelX / taps(c)); /* empty sums have none */
    t->length = sn_ceil_div(numbers(c), tile->group);
    return plan_weights(c, t);
}

/* Stores a weight: a float, rounded to bfloat16; or a byte, which is widened to 16 bits if the tile has groups of two and
 * reads it so. */
static void store_weight(const struct sn_convolution * c, bool narrow, void * packed, size_t at, const void * weight,
                         size_t from)
{
    if (c->family->smallType == SN_DATA_16B)
        ((sn_16b *)packed)[at] = sn_32f_to_16b(((const sn_32f *)weight)[from]);
    else if (narrow || tile_of(c)->group == 4)
        ((int8_t *)packed)[at] = ((const int8_t *)weight)[from];
    else
        ((int16_t *)packed)[at] = ((const int8_t *)weight)[from];
}

/* Packs the weights of one panel: `columns` outputs from o on. Joined outputs have weights for the inputs of their group. */
static void pack_panel(const struct sn_convolution * c, const void * weight, size_t o, size_t columns,
                       void * packed)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t group = tile_of(c)->group, width = width_of(c, columns), inputs = data_of(c)->band.inputs;
    const size_t joined = data_of(c)->joined, outputs = sn_outputs(c);
    const bool narrow = is_narrow(c, columns);
    for (size_t s = 0; s < c->segments; ++s)
        for (size_t k = 0; k < numbers(c); ++k) {
            const size_t at = first_input(c, o) + k, i = at % inputs;
            const size_t ky = row_of(c, s), kx = column_of(c, s) + at / (joined * inputs);
            const size_t from = at / inputs % joined; /* the group of this input */
            if (i >= sn_inputs(c))
                continue;
            const size_t row = (s * data_of(c)->length + k / group) * width;
            for (size_t n = 0; n < columns; ++n)
                if ((o + n) / outputs % joined == from)
                    store_weight(c, narrow, packed, (row + n) * group + k % group, weight,
                                 sn_weight_at(c->format, p, o + n, i, ky * p->kernelX + kx));
        }
}

static void offsets(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band.band;
    for (size_t s = 0; s < c->segments; ++s)
        c->segment[s] = row_of(c, s) * p->dilationY * band->line + column_of(c, s) * p->dilationX * band->pixel;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t most = panel_of(c);
    uint8_t * packed = c->weight;
    for (size_t o = 0; o < p->dstC; o += c->run)
        for (size_t first = 0; first < c->run; first += most) {
            const size_t columns = sn_min(most, c->run - first);
            pack_panel(c, weight, o + first, columns, packed);
            packed += kept_bytes(c, columns);
        }
    if (data_of(c)->leavesOut)
        sn_dot_pack_sums(c, weight, sums_of(c));
}

/*
 * While a panel is used by products of whole blocks, the next one is prefetched, if all do not stay in the L2 cache. Few rows
 * read panels as fast as the memory delivers them: 1.1 with 32 rows; many tiles hide what a panel takes to load. Weights in no
 * cache: 128x768x768 bytes take 0.91 to 0.93 of the time, 96x768x768 0.88 to 0.92, 128x1024x1024 0.91 to 0.94; near ones 0.98 to
 * 1.03 (Xeon with AMX). The tile of dot products gained 0.9 to 1.0 and lost up to 1.07, and was 28 KB larger.
 */
enum { LEAST_ROWS = 64, MOST_TILES = 64 };

static void prefetch_next(const struct sn_convolution * c, const struct sn_dot_tile * tile, struct sn_dot * g, size_t bytes)
{
    const size_t tiles = g->height * sn_ceil_div(g->width, tile->rows), groups = SN_ALIGN / sizeof(int32_t);
    if (!tile->aligned || g->height * g->width < LEAST_ROWS || tiles > MOST_TILES || bytes == 0 || !sn_weights_exceed_l2(c))
        return;
    g->prefetch = (const uint8_t *)g->b + bytes;
    g->prefetchStep = sn_ceil_div(groups * bytes, data_of(c)->depth * tiles);
}

/* Multiplies by a panel that is kept as bytes: as they are, or widened to `made`. */
static void run_narrow(const struct sn_convolution * c, struct sn_dot * gemm, uint8_t * made)
{
    if (gemm->width * gemm->height <= few_rows(c)) {
        tile_of(c)->run_narrow(gemm);
        return;
    }
    c->table->quantized_gemm.widen(gemm->b, kept_bytes(c, gemm->columns), made);
    gemm->b = made;
    tile_of(c)->run(gemm);
}

/* Copies the last pixel of lines that are read in place. */
static uint8_t * copy_last(const struct sn_convolution * c, const struct sn_share * s, const struct sn_dot_lines * lines,
                           const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t bytes = p->srcC * data_of(c)->band.number;
    uint8_t * last = (uint8_t *)a->work + data_of(c)->made;
    memcpy(last, lines->first + (s->lines - 1) * p->strideY * lines->line + (p->dstW - 1) * p->strideX * lines->pixel, bytes);
    memset(last + bytes, 0, SN_ALIGN);
    return last;
}

/* Multiplies all rows, of which the last one is at `last`. */
static void run_apart(const struct sn_dot_tile * tile, const struct sn_dot * all, const uint8_t * last)
{
    struct sn_dot gemm = *all;
    gemm.height -= 1;
    if (gemm.height)
        tile->run(&gemm);
    gemm.a += gemm.height * gemm.aStepY, gemm.c += gemm.height * gemm.cStepY;
    gemm.height = 1, gemm.width -= 1;
    if (gemm.width)
        tile->run(&gemm);
    gemm.a = last, gemm.c += gemm.width * gemm.cStepX;
    gemm.width = 1;
    tile->run(&gemm);
}

/* Computes columns x .. endX - 1 of a share. */
static void compute_columns(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a,
                            const struct sn_dot_lines * lines, size_t x, size_t endX)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_band * b = &data_of(c)->band;
    const struct sn_band * band = &b->band;
    const struct sn_dot_tile * tile = tile_of(c);
    const uint8_t * weight = c->weight, * pixel = data_of(c)->apart && !lines->copied ? copy_last(c, s, lines, a) : NULL;
    uint8_t * work = a->work ? (uint8_t *)a->work + b->bytes : NULL;
    const size_t most = panel_of(c), last = p->group == 1 ? s->first + s->columns : c->run;
    weight += s->first / most * kept_bytes(c, most);
    for (size_t g = 0; g < p->group / data_of(c)->joined; ++g)
        for (size_t first = s->first; first < last; first += most) {
            const size_t o = g * c->run + first, index = g * c->runStep + first, columns = sn_min(most, c->run - first);
            const size_t input = g * joined_inputs(c) + first_input(c, first);
            union sn_dot_result result;
            sn_dot_of(c)->result(c, index, &result);
            struct sn_dot gemm = {.a = lines->first + input * b->number, .height = s->lines, .width = endX - x,
                .aStepY = band->strideY * lines->line, .aStepX = band->strideX * lines->pixel, .segment = c->segment,
                .segments = c->segments, .length = data_of(c)->length, .b = weight, .columns = columns,
                .start = c->bias + index, .result = &result};
            gemm.c = sn_dot_result_at(c, o, columns, s->line, work, a, &gemm.cStepX);
            gemm.c += x * gemm.cStepX;
            gemm.cStepY = p->dstW * gemm.cStepX;
            if (!data_of(c)->leavesOut)
                sn_dot_order_rows(&gemm, tile->rows);
            prefetch_next(c, tile, &gemm, kept_bytes(c, columns));
            if (data_of(c)->leavesOut)
                sn_dot_run_tap_rows(c, &gemm, sums_of(c), index, s->line);
            else if (is_narrow(c, columns))
                run_narrow(c, &gemm, (uint8_t *)a->work + data_of(c)->made);
            else if (pixel)
                run_apart(tile, &gemm, pixel + input * b->number);
            else
                tile->run(&gemm);
            weight += kept_bytes(c, columns);
            sn_dot_result_store(c, work, o, columns, s->line, s->lines, a);
        }
}

struct part_job {
    const struct sn_convolution * c;
    const struct sn_share * share;
    const struct sn_arrays * arrays;
};

static void compute_part(const struct sn_dot_parts * parts, const struct sn_edges_part * part,
                         const struct sn_dot_lines * lines)
{
    const struct part_job * j = parts->job;
    struct sn_share s = *j->share;
    s.line = part->y, s.lines = part->endY - part->y;
    compute_columns(j->c, &s, j->arrays, lines, part->x, part->endX);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_dot_band * b = &data_of(c)->band;
    if (b->edges) {
        const struct part_job job = {c, s, a};
        sn_dot_parts(c, b, s, a, &(struct sn_dot_parts){&job, compute_part});
    } else {
        const struct sn_dot_lines lines = sn_dot_lines_of(c, b, s, a);
        compute_columns(c, s, a, &lines, 0, c->p.dstW);
    }
    sn_dot_result_finish(c, c->p.group == 1 ? s->first : 0, c->p.group == 1 ? s->columns : c->p.dstC, s->line, s->lines, a);
}

void sn_dot_tiled_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a)
{
    const size_t most = sn_max(data_of(c)->band.band.rows, 1);
    for (const size_t end = row + rows; row < end; row += most)
        compute(c, &(struct sn_share){.line = row, .lines = sn_min(end - row, most), .columns = c->p.dstC}, a);
}

/* The same for several images, the lines of this share. */
static void compute_images(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_band * b = &data_of(c)->band;
    const struct sn_dot_tile * tile = tile_of(c);
    const struct sn_share whole = {.lines = p->dstH};
    const size_t most = panel_of(c);
    uint8_t * work = a->work, * results = work + data_of(c)->images * b->bytes;
    for (size_t i = 0; i < s->lines; ++i) {
        const struct sn_arrays one = sn_image_of(a, s->line + i, work + i * b->bytes);
        sn_dot_lines_of(c, b, &whole, &one);
    }
    for (size_t first = s->first; first < s->first + s->columns; first += most) {
        const size_t columns = sn_min(most, p->dstC - first);
        const size_t size = p->dstH * p->dstW * columns * sn_element(p->dstT); /* of an image's results for NCHW */
        const struct sn_arrays to = sn_image_of(a, s->line, NULL);
        union sn_dot_result result;
        sn_dot_of(c)->result(c, first, &result);
        struct sn_dot gemm = {.height = p->dstW, .width = s->lines, .aStepY = b->band.strideX * b->band.pixel,
            .aStepX = b->bytes, .segment = c->segment, .segments = c->segments, .length = data_of(c)->length,
            .b = (const uint8_t *)c->weight + data_of(c)->depth * 4 * first, .columns = columns,
            .start = c->bias + first, .result = &result};
        for (size_t y = 0; y < p->dstH; ++y) {
            uint8_t * dst = sn_dot_result_at(c, first, columns, y, results, &to, &gemm.cStepY);
            const bool planes = dst == results;
            gemm.a = work + y * b->band.strideY * b->band.line;
            gemm.c = planes ? dst + y * p->dstW * gemm.cStepY : dst;
            gemm.cStepX = planes ? size : to.at->dstImage;
            if (data_of(c)->leavesOut)
                sn_dot_run_taps(c, &gemm, sums_of(c), first, y);
            else
                tile->run(&gemm);
        }
        for (size_t i = 0; i < s->lines; ++i) {
            const struct sn_arrays one = sn_image_of(a, s->line + i, NULL);
            sn_dot_result_store(c, results + i * size, first, columns, 0, p->dstH, &one);
        }
    }
    for (size_t i = 0; i < s->lines; ++i) {
        const struct sn_arrays one = sn_image_of(a, s->line + i, NULL);
        sn_dot_result_finish(c, s->first, s->columns, 0, p->dstH, &one);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_dot_tile * tile = tile_of(c);
    const size_t images = data_of(c)->images;
    if (images == 1) {
        sn_dot_run(c, &data_of(c)->band, a, panel_of(c), compute);
        return;
    }
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_images, .joined = true,
        .time = sn_convolution_dot_time(c), .shares = {.lines = c->batch, .most = images, .columns = c->p.dstC,
        .width = panel_of(c), .weights = c->weightSize, .source = c->batch * c->srcSize, .start = true,
        .least = sn_min(tile->rows, sn_ceil_div(c->batch, sn_threads()))}});
}

const struct sn_convolution_algorithm sn_convolution_dot_tiled = {.name = "tiled", .tiled = true, .supports = supports,
    .plan = plan, .offsets = offsets, .pack = pack, .alike = sn_dot_alike, .forward = forward};
