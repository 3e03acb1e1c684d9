/* Matrices B of bytes for products of bytes: one that is packed once, and the panels of any. */
#ifndef SN_OPS_BYTES_QUANTIZED_MATRIX_H
#define SN_OPS_BYTES_QUANTIZED_MATRIX_H

#include "contract/table.h"
#include "runtime/memory.h"

/* A matrix B that is packed once. */
struct sn_quantized_matrix {
    const struct sn_table * table;
    size_t N, K;
    bool with_sign;
    bool transposed; /* the bytes in `packed`, if they are those of B, as in `base` */
    void * packed;   /* NULL before it is set */
    size_t size;     /* bytes of it that are not shared */
    bool borrowed;   /* whether it is in memory of the caller */
};

/* False, with *q unchanged, if there is no memory. */
bool sn_quantized_matrix_set(struct sn_quantized_matrix * q, const uint8_t * b, bool transposed);
void sn_quantized_matrix_share(struct sn_quantized_matrix * q, const struct sn_quantized_matrix * from);

/* The bytes of `packed`; and as many, in memory of the caller, in its place. */
size_t sn_quantized_matrix_size(const struct sn_quantized_matrix * q);
void sn_quantized_matrix_borrow(struct sn_quantized_matrix * q, void * packed, bool transposed);

/* Writes them, aligned to SN_ALIGN; false if there is no memory. */
bool sn_quantized_matrix_pack(const struct sn_quantized_matrix * q, const uint8_t * b, bool transposed, void * packed);

void sn_quantized_matrix_free(const struct sn_quantized_matrix * q);

/* ---- for the products: panels */

/* Values of a panel's columns: more than any tile has, in whole vectors of bytes. */
enum { SN_PANEL_COLUMNS = 128 };

/* A matrix B and its panels, each followed by the sums of its columns. */
struct sn_quantized_panels {
    const struct sn_table * table;
    const struct sn_dot_tile * tile;
    const uint8_t * b;
    size_t N, K;
    bool with_sign, transposed;
    const uint8_t * ones; /* a row of ones for the tile */
    size_t groups;        /* of numbers in a column */
    size_t panel;         /* bytes without the sums */
    bool narrow;          /* panels are kept as bytes */
};

/* The number that a biased tile, which subtracts 128, multiplies as 0. */
SN_INLINE uint8_t sn_panels_none(const struct sn_dot_tile * tile) { return tile->biased ? 128 : 0; }

/* Of a panel that is kept: its bytes without the sums, and those from it to the next. */
SN_INLINE size_t sn_panels_kept(const struct sn_quantized_panels * m)
{
    return m->narrow ? sn_align(m->panel / 2, SN_ALIGN) : m->panel;
}

SN_INLINE size_t sn_panels_step(const struct sn_quantized_panels * m)
{
    return sn_panels_kept(m) + SN_PANEL_COLUMNS * sizeof(int32_t);
}

/* Bytes of a panel that is packed or widened for a call. */
SN_INLINE size_t sn_panels_made(const struct sn_quantized_panels * m)
{
    return m->panel + SN_PANEL_COLUMNS * sizeof(int32_t);
}

/* Bytes of a row of A, of which one of ones is needed to pack. */
SN_INLINE size_t sn_panels_pitch(const struct sn_quantized_panels * m) { return sn_align(m->groups * 4, SN_ALIGN); }

/* A matrix of N columns of K numbers, for the tile of a level; and the one that is kept, with `b` and `transposed` as given. */
struct sn_quantized_panels sn_panels_of(const struct sn_table * table, const uint8_t * b, size_t N, size_t K, bool with_sign,
                                        bool transposed);
struct sn_quantized_panels sn_panels_of_kept(const struct sn_quantized_matrix * q, const uint8_t * b, bool transposed);

/* Writes the row of ones, of sn_panels_pitch() bytes. */
void sn_panels_set_ones(struct sn_quantized_panels * m, uint8_t * ones);

/* Packs columns from `first` on, and their sums. */
void sn_panels_pack(const struct sn_quantized_panels * m, size_t first, uint8_t * panel);

#endif
