/*
 * Shapes of register tiles. isa/<isa>/tiles_<type>.h lists those of an instruction set, the highest tile of each width:
 *
 *     #define TILE_SHAPES(X) X(12, 1) X(6, 2)       tiles of 1 to 12 rows by one vector, and of 1 to 6 rows by two
 *
 * Kernels define TILE(rows, vectors), an instance called tile_<rows>x<vectors>. TILE_SHAPES(TILE_INSTANCES) then defines all
 * instances, and arrays tiles_<vectors> of them, indexed by height - 1.
 */
#ifndef SN_KERNELS_TILE_SHAPES_H
#define SN_KERNELS_TILE_SHAPES_H

#include "runtime/common.h"

/* X(1, ...) to X(rows, ...). */
#define ROWS_3(X, ...) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__)
#define ROWS_4(X, ...) ROWS_3(X, __VA_ARGS__) X(4, __VA_ARGS__)
#define ROWS_5(X, ...) ROWS_4(X, __VA_ARGS__) X(5, __VA_ARGS__)
#define ROWS_6(X, ...) ROWS_5(X, __VA_ARGS__) X(6, __VA_ARGS__)
#define ROWS_7(X, ...) ROWS_6(X, __VA_ARGS__) X(7, __VA_ARGS__)
#define ROWS_8(X, ...) ROWS_7(X, __VA_ARGS__) X(8, __VA_ARGS__)
#define ROWS_12(X, ...) ROWS_8(X, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__) X(12, __VA_ARGS__)
#define ROWS_14(X, ...) ROWS_12(X, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__)

/* The shapes as numbers; the widest one is the last. */
struct tile_shape {
    size_t rows, vectors;
};
#define TILE_SHAPE(rows, vectors) {rows, vectors},

#define TILE_NAME(rows, vectors) tile_##rows##x##vectors,
#define TILE_INSTANCES(rows, vectors)                                                                                       \
    ROWS_##rows(TILE, vectors) static const tile_fn tiles_##vectors[] = {ROWS_##rows(TILE_NAME, vectors)};

#endif
