/* Matrices of bytes in panels as the tile of quantised convolutions reads them: quantized_gemm.c has the formula. */
#include "ops/bytes/quantized_matrix.h"

#include <string.h>

#include "ops/units.h"
#include "runtime/arena.h"
#include "runtime/threads.h"

static const int32_t none[SN_PANEL_COLUMNS];

struct sn_quantized_panels sn_panels_of(const struct sn_table * table, const uint8_t * b, size_t N, size_t K, bool with_sign,
                                        bool transposed)
{
    const struct sn_dot_tile * tile = &table->convolution_8i.tile;
    struct sn_quantized_panels m = {.table = table, .tile = tile, .b = b, .N = N, .K = K, .with_sign = with_sign,
        .transposed = transposed};
    m.groups = tile->run ? sn_ceil_div(K, tile->group) : 0;
    m.panel = tile->run ? sn_align(m.groups * tile->columns * 4, SN_ALIGN) : 0;
    return m;
}

struct sn_quantized_panels sn_panels_of_kept(const struct sn_quantized_matrix * q, const uint8_t * b, bool transposed)
{
    struct sn_quantized_panels m = sn_panels_of(q->table, b, q->N, q->K, q->with_sign, transposed);
    m.narrow = m.tile->run_narrow && m.N >= m.tile->columns;
    return m;
}

void sn_panels_set_ones(struct sn_quantized_panels * m, uint8_t * ones)
{
    memset(ones, sn_panels_none(m->tile), sn_panels_pitch(m));
    for (size_t k = 0; k < m->K; ++k)
        if (m->tile->number == 1)
            ones[k] = sn_panels_none(m->tile) + 1;
        else
            ((sn_16b *)(void *)ones)[k] = 1;
    m->ones = ones;
}

/* Numbers `begin` .. `end` - 1 of columns that are rows of bytes; groups begin at `begin`. */
static void pack_some(const struct sn_quantized_panels * m, size_t begin, size_t end, size_t first, size_t columns,
                      size_t width, uint8_t * panel)
{
    const uint32_t flip = m->with_sign ? 0 : 0x80808080;
    const size_t group = m->tile->group;
    for (size_t j = 0; j < columns; ++j) {
        const uint8_t * from = m->b + (first + j) * m->K;
        uint8_t * to = panel + (begin / group * width + j) * 4;
        for (size_t k = begin; k < end; k += group, to += width * 4) {
            uint32_t some = 0;
            memcpy(&some, from + k, sn_min(group, m->K - k));
            some ^= flip;
            if (group == 2)
                some = (uint16_t)(int8_t)some | (uint32_t)(int8_t)(some >> 8) << 16;
            memcpy(to, &some, sizeof(some));
        }
    }
}

/* Of a transposed B: groups of 4 bytes are transposed like floats, and split for a tile of groups of 2; others a line of the
 * cache at a time. */
static void pack_transposed(const struct sn_quantized_panels * m, size_t first, size_t columns, size_t width, uint8_t * panel)
{
    const size_t whole = m->K % 4 == 0 ? m->K / 4 : 0;
    const bool splits = m->tile->group == 2;
    uint8_t * fours = panel + (splits ? whole * width * 4 : 0);
    m->table->layout.transpose_32f(m->b + first * m->K, m->K, columns, whole, fours, width * 4);
    if (splits)
        m->table->quantized_gemm.split(fours, whole, width, m->with_sign, panel);
    else if (!m->with_sign)
        m->table->quantized_gemm.rows(&(struct sn_quantized_rows){.a = panel, .rows = 1, .size = whole * width * 4,
            .with_sign = true, .to = panel});
    for (size_t k = whole * 4; k < m->K; k += SN_LINE)
        pack_some(m, k, sn_min(k + SN_LINE, m->K), first, columns, width, panel);
}

/* The sum of each column, as a product with the row of ones. */
static void add_columns(const struct sn_quantized_panels * m, size_t columns, const uint8_t * panel, int32_t * sum)
{
    static const size_t start = 0;
    static const struct sn_result_8i sums = {.sums = true};
    m->tile->run(&(struct sn_dot){.a = m->ones, .height = 1, .width = 1, .segment = &start, .segments = 1,
        .length = m->groups, .b = panel, .columns = columns, .start = none, .c = (void *)sum, .result = &sums});
}

void sn_panels_pack(const struct sn_quantized_panels * m, size_t first, uint8_t * panel)
{
    const size_t columns = sn_min(m->tile->columns, m->N - first);
    const size_t width = sn_align(columns, m->tile->granule);
    if (m->transposed)
        pack_transposed(m, first, columns, width, panel);
    else
        m->table->quantized_gemm.pack(&(struct sn_quantized_pack){.b = m->b + first, .step = m->N, .rows = m->K,
            .columns = columns, .group = m->tile->group, .width = width, .with_sign = m->with_sign, .panel = panel});
    add_columns(m, columns, panel, (void *)(panel + m->panel));
}

/* Numbers of 16 bits that are bytes with a sign, and the sums behind them. */
static void keep_narrow(const struct sn_quantized_panels * m, const uint8_t * panel, uint8_t * to)
{
    m->table->quantized_gemm.narrow(panel, m->panel / 2, to);
    memcpy(to + sn_panels_kept(m), panel + m->panel, SN_PANEL_COLUMNS * sizeof(int32_t));
}

static bool pack_all(struct sn_quantized_panels * m, uint8_t * packed)
{
    const size_t pitch = sn_panels_pitch(m);
    uint8_t * ones = sn_scratch(pitch + (m->narrow ? sn_panels_made(m) : 0)), * made = ones + pitch;
    if (!ones)
        return false;
    sn_panels_set_ones(m, ones);
    if (m->narrow)
        memset(made, 0, sn_panels_made(m));
    for (size_t first = 0; first < m->N; first += m->tile->columns, packed += sn_panels_step(m)) {
        sn_panels_pack(m, first, m->narrow ? made : packed);
        if (m->narrow)
            keep_narrow(m, made, packed);
    }
    return true;
}

/* Whether the matrix is packed; else it is copied. */
static bool is_packed(const struct sn_quantized_matrix * q, const struct sn_quantized_panels * m)
{
    return m->tile->run && q->N * q->K != 0;
}

static size_t size_of(const struct sn_quantized_panels * m)
{
    return sn_ceil_div(m->N, m->tile->columns) * sn_panels_step(m);
}

size_t sn_quantized_matrix_size(const struct sn_quantized_matrix * q)
{
    const struct sn_quantized_panels m = sn_panels_of_kept(q, NULL, false);
    return is_packed(q, &m) ? size_of(&m) : sn_max(q->N * q->K, 1);
}

bool sn_quantized_matrix_pack(const struct sn_quantized_matrix * q, const uint8_t * b, bool transposed, void * packed)
{
    struct sn_quantized_panels m = sn_panels_of_kept(q, b, transposed);
    if (is_packed(q, &m))
        return pack_all(&m, packed);
    if (q->N * q->K != 0)
        memcpy(packed, b, q->N * q->K);
    return true;
}

bool sn_quantized_matrix_set(struct sn_quantized_matrix * q, const uint8_t * b, bool transposed)
{
    const size_t size = sn_quantized_matrix_size(q);
    uint8_t * packed = sn_arena_allocate(size);
    if (!packed || !sn_quantized_matrix_pack(q, b, transposed, packed)) {
        sn_arena_free(packed);
        return false;
    }
    sn_quantized_matrix_free(q);
    q->packed = packed;
    q->size = size;
    q->borrowed = false;
    q->transposed = transposed;
    return true;
}

void sn_quantized_matrix_share(struct sn_quantized_matrix * q, const struct sn_quantized_matrix * from)
{
    const struct sn_quantized_matrix before = *q;
    q->packed = from->borrowed ? from->packed : sn_arena_share(from->packed);
    q->size = 0;
    q->borrowed = from->borrowed;
    q->transposed = from->transposed;
    sn_quantized_matrix_free(&before);
}

void sn_quantized_matrix_borrow(struct sn_quantized_matrix * q, void * packed, bool transposed)
{
    sn_quantized_matrix_free(q);
    q->packed = packed;
    q->size = 0;
    q->borrowed = true;
    q->transposed = transposed;
}

void sn_quantized_matrix_free(const struct sn_quantized_matrix * q)
{
    if (!q->borrowed)
        sn_arena_free(q->packed);
}
