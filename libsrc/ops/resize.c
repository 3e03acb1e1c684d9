/*
 * A unit of work is a row of the result. Threads whose ranges meet resize the source rows that both need twice.
 *
 * Where lanes are rows, the rows that the next outputs need are resized several at a time, those between them not at all.
 */
#include "ops/resize.h"

#include <string.h>

#include "ops/units.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

struct job {
    const struct sn_resize * r;
    const struct sn_resize_arrays * a;
    size_t element, pitch; /* bytes of an element; floats of a row in the window */
    bool direct;           /* without the window */
    size_t together;       /* rows that are resized together into the window */
    size_t ring;           /* rows of the window */
    size_t line, columns;  /* floats behind it, for one row of the source or for several; the other is 0 */
};

size_t sn_resize_element(enum sn_resize_type type)
{
    return type == SN_RESIZE_32F ? sizeof(float) : type == SN_RESIZE_16B || type == SN_RESIZE_16U ? sizeof(uint16_t) : 1;
}

static bool is_dense(const struct sn_resize * r, const struct sn_resize_arrays * a)
{
    return a->srcPixel == r->channels && a->dstPixel == r->channels;
}

/* ---- copies: nearest neighbours */

/* SIZE bytes of each pixel. */
#define MOVE(SIZE)                                                                                                          \
    for (size_t i = 0; i < x->dst; ++i)                                                                                     \
        memcpy(dst + i * dstPixel, src + x->begin[i] * srcPixel, SIZE)

/* Distances are in bytes. */
static void move_pixels(const struct sn_resize_axis * x, const uint8_t * src, size_t srcPixel, uint8_t * dst,
                        size_t dstPixel, size_t size)
{
    switch (size) {
    case 1: MOVE(1); break;
    case 2: MOVE(2); break;
    case 3: MOVE(3); break;
    case 4: MOVE(4); break;
    case 6: MOVE(6); break;
    case 8: MOVE(8); break;
    default: MOVE(size);
    }
}

/* A row that was already written for the same source row. */
static void repeat_row(const struct job * j, const uint8_t * src, uint8_t * dst)
{
    const size_t size = j->r->channels * j->element, step = j->a->dstPixel * j->element;
    if (step == size)
        memcpy(dst, src, j->r->x.dst * size);
    else
        for (size_t i = 0; i < j->r->x.dst; ++i)
            memcpy(dst + i * step, src + i * step, size);
}

static void copy_row(const struct job * j, const uint8_t * src, uint8_t * dst)
{
    const struct sn_resize * r = j->r;
    const size_t size = r->channels * j->element;
    if (r->type == SN_RESIZE_32F && is_dense(r, j->a))
        r->table->resize.row(&r->x, r->channels, (const sn_32f *)src, (sn_32f *)dst);
    else
        move_pixels(&r->x, src, j->a->srcPixel * j->element, dst, j->a->dstPixel * j->element, size);
}

static void copy_rows(const struct job * j, size_t image, size_t begin, size_t end)
{
    const struct sn_resize_axis * y = &j->r->y;
    const uint8_t * src = j->a->src + image * j->a->srcImage;
    uint8_t * dst = j->a->dst + image * j->a->dstImage;
    for (size_t i = begin; i < end; ++i)
        if (i > begin && y->begin[i] == y->begin[i - 1])
            repeat_row(j, dst + (i - 1) * j->a->dstRow, dst + i * j->a->dstRow);
        else
            copy_row(j, src + y->begin[i] * j->a->srcRow, dst + i * j->a->dstRow);
}

/* ---- sums */

/* A row of the source, resized, to a row of the window; `line` is room for the row as dense floats. */
static void window_row(const struct job * j, const uint8_t * src, sn_32f * line, sn_32f * dst)
{
    const struct sn_resize * r = j->r;
    const size_t channels = r->channels;
    const bool dense = j->a->srcPixel == channels;
    const sn_32f * from = line;
    if (dense && r->type == SN_RESIZE_32F)
        from = (const sn_32f *)src;
    else if (dense)
        r->table->resize.widen(r->type, src, r->x.src * channels, line);
    else
        for (size_t i = 0; i < r->x.src; ++i)
            r->table->resize.widen(r->type, src + i * j->a->srcPixel * j->element, channels, line + i * channels);
    r->table->resize.row(&r->x, channels, from, dst);
}

static void combine(const struct job * j, const sn_32f * const * rows, size_t i, uint8_t * dst)
{
    const struct sn_resize * r = j->r;
    const size_t taps = r->y.taps;
    const struct sn_resize_column c = {rows, r->y.weight + i * taps, taps, r->columnType, r->scale, r->bias};
    if (j->a->dstPixel == r->channels)
        r->table->resize.column(&c, 0, r->x.dst * r->channels, dst);
    else
        for (size_t k = 0; k < r->x.dst; ++k)
            r->table->resize.column(&c, k * r->channels, r->channels, dst + k * j->a->dstPixel * j->element);
}

/* The source rows that the outputs need, in their order. */
struct needed {
    size_t output, row; /* the next ones */
    size_t count;       /* of the rows before */
};

/* The outputs up to i have what they need; returns how many rows are before the first one of i. */
static size_t need(struct needed * used, const struct sn_resize_axis * y, size_t i)
{
    const size_t first = y->begin[i], row = sn_max(used->row, first), before = used->count - (row - first);
    used->count += first + y->taps - row;
    used->row = first + y->taps;
    return before;
}

/* The next rows, at most `most`, none beyond the needs of output end - 1; returns their number. */
static size_t next_rows(struct needed * made, const struct sn_resize_axis * y, size_t end, size_t most, size_t * rows)
{
    size_t n = 0;
    while (n < most && made->output < end) {
        const size_t first = y->begin[made->output];
        made->row = sn_max(made->row, first);
        if (made->row < first + y->taps)
            rows[n++] = made->row++;
        else
            ++made->output;
    }
    made->count += n;
    return n;
}

/* Memory of a thread. Row k of those needed is row k % ring of the window. */
struct work {
    sn_32f * window, * line, * columns;
    const sn_32f ** rows;
};

static size_t work_bytes(const struct job * j)
{
    return (j->ring * j->pitch + j->line + j->columns) * sizeof(float) + j->r->y.taps * sizeof(sn_32f *);
}

static struct work work_of(const struct job * j, void * memory)
{
    struct work w = {.window = memory};
    w.line = w.window + j->ring * j->pitch;
    w.columns = w.line + j->line;
    w.rows = (const sn_32f **)(w.columns + j->columns);
    return w;
}

/* Resizes the next rows into the window. */
static void fill_window(const struct job * j, const struct work * w, const uint8_t * src, struct needed * made, size_t end)
{
    const struct sn_resize * r = j->r;
    const size_t before = made->count;
    size_t rows[SN_RESIZE_ROWS];
    const size_t n = next_rows(made, &r->y, end, j->together, rows);
    const void * from[SN_RESIZE_ROWS];
    sn_32f * to[SN_RESIZE_ROWS];
    for (size_t i = 0; i < n; ++i) {
        from[i] = src + rows[i] * j->a->srcRow;
        to[i] = w->window + (before + i) % j->ring * j->pitch;
    }
    if (j->together > 1)
        r->table->resize.rows(&r->x, &(struct sn_resize_rows){r->type, r->channels, n, from, to, w->columns});
    else
        window_row(j, from[0], w->line, to[0]);
}

static void sum_rows(const struct job * j, size_t image, size_t begin, size_t end, void * memory)
{
    const struct sn_resize_axis * y = &j->r->y;
    const struct work w = work_of(j, memory);
    const uint8_t * src = j->a->src + image * j->a->srcImage;
    uint8_t * dst = j->a->dst + image * j->a->dstImage;
    struct needed used = {begin, 0, 0}, made = {begin, 0, 0};
    for (size_t i = begin; i < end; ++i) {
        const size_t before = need(&used, y, i);
        while (made.count < used.count)
            fill_window(j, &w, src, &made, end);
        for (size_t t = 0; t < y->taps; ++t)
            w.rows[t] = w.window + (before + t) % j->ring * j->pitch;
        combine(j, w.rows, i, dst + i * j->a->dstRow);
    }
}

/* ---- dense images of floats: nearest neighbours, and linear interpolation of both axes */

/* Rows of few channels are written in strips, which takes longer if they are long: 1.3 times for 512 floats. */
static bool is_direct(const struct sn_resize * r, const struct sn_resize_arrays * a)
{
    const bool copies = r->x.copies && r->y.copies, linear = r->x.taps == 2 && r->y.taps == 2;
    const bool strips = r->x.near && r->x.dst * r->channels <= (copies ? 160 : 256);
    const bool doubles = copies && r->x.doubles && r->channels == 1 && r->x.src >= r->x.lanes;
    return r->type == SN_RESIZE_32F && is_dense(r, a) && (copies || linear) &&
           (r->channels >= r->x.lanes || strips || doubles);
}

static void image_rows(const struct job * j, size_t image, size_t begin, size_t end)
{
    const struct sn_resize * r = j->r;
    const struct sn_resize_arrays * a = j->a;
    const struct sn_resize_image m = {&r->x, &r->y, r->channels, (const sn_32f *)(a->src + image * a->srcImage),
        (sn_32f *)(a->dst + image * a->dstImage), a->srcRow / sizeof(float), a->dstRow / sizeof(float),
        sn_beyond_cache(r->images * r->channels * (r->x.src * r->y.src + r->x.dst * r->y.dst) * sizeof(float))};
    r->table->resize.image(&m, begin, end);
}

/* ---- all rows */

static void range(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * j = argument;
    const struct sn_resize * r = j->r;
    for (size_t unit = begin, number; unit < end; unit += number) {
        const size_t image = unit / r->y.dst, i = unit % r->y.dst;
        number = sn_min(end - unit, r->y.dst - i);
        if (j->direct)
            image_rows(j, image, i, i + number);
        else if (work)
            sum_rows(j, image, i, i + number, work);
        else
            copy_rows(j, image, i, i + number);
    }
}

/* Sources that are near each other are looked up in vectors, row by row. */
static size_t rows_together(const struct sn_resize * r, const struct sn_resize_arrays * a)
{
    const bool few = r->channels < SN_RESIZE_WIDE && sn_min(r->x.src, r->x.dst) * r->channels >= r->x.lanes;
    return few && !r->x.near && !r->x.copies && a->srcPixel == r->channels ? sn_min(r->x.lanes, SN_RESIZE_ROWS) : 1;
}

bool sn_resize_run(const struct sn_resize * r, const struct sn_resize_arrays * a)
{
    const size_t line = sn_align(r->x.src * r->channels * sizeof(float), SN_ALIGN) / sizeof(float);
    const size_t together = rows_together(r, a);
    const struct job job = {r, a, .element = sn_resize_element(r->type),
        .pitch = sn_align(r->x.dst * r->channels * sizeof(float), SN_ALIGN) / sizeof(float), .direct = is_direct(r, a),
        .together = together, .ring = r->y.taps + together - 1, .line = together > 1 ? 0 : line,
        .columns = together > 1 ? line * r->x.lanes : 0};
    const size_t bytes = job.direct || (r->x.copies && r->y.copies) ? 0 : work_bytes(&job);
    void * work = bytes ? sn_scratch(bytes) : NULL;
    if (bytes && !work)
        return false;
    const double results = (double)(r->images * r->y.dst) * (double)(r->x.dst * r->channels);
    const double taps = (double)(r->y.taps + r->x.taps * sn_ceil_div(r->y.src, r->y.dst)) + 2;
    sn_parallel_for(&(struct sn_parallel){.run = range, .job = &job, .units = r->images * r->y.dst,
        .cost = sn_cost_of_bytes((double)job.element * results * taps),
        .least = sn_max(sn_items_per_unit(r->x.dst * r->channels), 4), .work = work, .workBytes = bytes});
    return true;
}
