/*
 * The Winograd transforms: their shapes and the arguments of their kernels. include/simdnet.h has the matrices.
 *
 * A tile is blockY x blockX outputs and the (blockY + kernelY - 1) x (blockX + kernelX - 1) inputs that they need. The
 * transform gives as many coefficients. Coefficients with the same index t form a plane; planes are `plane` floats apart.
 *
 * 3 taps with stride 2 are 2 taps with stride 1 on the even inputs, and one tap on the odd inputs: m outputs are F(m, 2),
 * which multiplies m + 1 coefficients, and m inputs that are multiplied without a transform. So m x m outputs have
 * coefficients of four kinds, in this order: (m + 1) x (m + 1) of even rows and columns; (m + 1) x m of even rows, odd
 * columns; m x (m + 1) of odd rows, even columns, stored column by column; m x m inputs. The filter has one coefficient for
 * all m of a row or column that is not transformed, in total (m + 2) x (m + 2).
 *
 * With a dilation d and stride 1, outputs that are d apart form a phase, which is a convolution without dilation of inputs
 * that are d apart. Along an axis, the tiles of phase 0, which begins at output 0, come first, then those of phase 1, to
 * d - 1.
 */
#ifndef SN_CONTRACT_WINOGRAD_H
#define SN_CONTRACT_WINOGRAD_H

#include "contract/enums.h"
#include "runtime/common.h"

/* SN_WINOGRAD_<block>_<kernel>, with an X for a single row, a Y for a single column; those after the public ones are for the
 * convolution only. */
enum sn_winograd {
    SN_WINOGRAD_4X_3X, /* SimdWinogradKernel1x3Block1x4 */
    SN_WINOGRAD_4X_5X,
    SN_WINOGRAD_2_2,
    SN_WINOGRAD_4_2, /* SimdWinogradKernel2x2Block4x4 */
    SN_WINOGRAD_2_3,
    SN_WINOGRAD_3_3,
    SN_WINOGRAD_4_3,
    SN_WINOGRAD_2_3_STRIDE_2,
    SN_WINOGRAD_4_3_STRIDE_2,
    SN_WINOGRAD_HALVES_4X_5X, /* with other points, see kernels/winograd/transforms.h */
    SN_WINOGRAD_HALVES_6X_3X,
    SN_WINOGRAD_HALVES_2X_7X,
    SN_WINOGRAD_4Y_3Y,
    SN_WINOGRAD_HALVES_4Y_5Y,
    SN_WINOGRAD_HALVES_6Y_3Y,
    SN_WINOGRAD_HALVES_2Y_7Y,
    SN_WINOGRAD_2_5,
    SN_WINOGRADS /* their number */
};

struct sn_winograd_size {
    size_t kernelY, kernelX, blockY, blockX, stride;
};

static inline struct sn_winograd_size sn_winograd_size(enum sn_winograd kind)
{
    static const struct sn_winograd_size sizes[SN_WINOGRADS] = {{1, 3, 1, 4, 1}, {1, 5, 1, 4, 1}, {2, 2, 2, 2, 1},
        {2, 2, 4, 4, 1}, {3, 3, 2, 2, 1}, {3, 3, 3, 3, 1}, {3, 3, 4, 4, 1}, {3, 3, 2, 2, 2}, {3, 3, 4, 4, 2},
        {1, 5, 1, 4, 1}, {1, 3, 1, 6, 1}, {1, 7, 1, 2, 1}, {3, 1, 4, 1, 1}, {5, 1, 4, 1, 1}, {3, 1, 6, 1, 1}, {7, 1, 2, 1, 1},
        {5, 5, 2, 2, 1}};
    return sizes[kind];
}

/* The rows and columns of a tile of inputs, and the number of coefficients. */
static inline size_t sn_winograd_rows(struct sn_winograd_size s) { return (s.blockY - 1) * s.stride + s.kernelY; }
static inline size_t sn_winograd_columns(struct sn_winograd_size s) { return (s.blockX - 1) * s.stride + s.kernelX; }
static inline size_t sn_winograd_planes(struct sn_winograd_size s) { return sn_winograd_rows(s) * sn_winograd_columns(s); }

/* The number of coefficients of a filter; and the number of planes, from `first` on, that coefficient f multiplies. */
static inline size_t sn_winograd_filters(struct sn_winograd_size s)
{
    return s.stride == 1 ? sn_winograd_planes(s) : (s.blockY + 2) * (s.blockX + 2);
}
static inline size_t sn_winograd_shared(struct sn_winograd_size s, size_t f, size_t * first)
{
    const size_t m = s.blockY, both = s.stride == 1 ? sn_winograd_planes(s) : (m + 1) * (m + 1), one = both + 2 * (m + 1);
    *first = f < both ? f : both + (f - both) * m;
    return f < both ? 1 : f < one ? m : m * m;
}

/* The tiles along an axis with `size` outputs. */
static inline size_t sn_winograd_tiles(size_t size, size_t block, size_t dilation)
{
    const size_t longer = size % dilation, least = size / dilation; /* phases of least + 1 outputs come first */
    return longer * sn_ceil_div(least + 1, block) + (dilation - longer) * sn_ceil_div(least, block);
}

/* One of them: its first output, and the tiles from it to the end of its phase. */
struct sn_winograd_place {
    size_t first, left;
};
static inline struct sn_winograd_place sn_winograd_place(size_t size, size_t block, size_t dilation, size_t tile)
{
    if (dilation == 1)
        return (struct sn_winograd_place){tile * block, sn_ceil_div(size, block) - tile};
    const size_t longer = size % dilation, least = size / dilation, of_longer = sn_ceil_div(least + 1, block);
    const bool is_longer = tile < longer * of_longer;
    const size_t at = is_longer ? tile : tile - longer * of_longer;
    const size_t tiles = is_longer ? of_longer : sn_ceil_div(least, block); /* not 0, since it has this tile */
    const size_t phase = (is_longer ? 0 : longer) + at / tiles;
    return (struct sn_winograd_place){phase + at % tiles * block * dilation, tiles - at % tiles};
}

/* Transforms filters begin .. end - 1 of `size`, in the layout of SimdWinograd*SetFilter; coefficient t of filter i is
 * written to dst[t * plane + i - begin]. */
struct sn_winograd_filter_32f {
    enum sn_winograd kind;
    const sn_32f * src;
    size_t size;
    sn_32f * dst;
    size_t plane;
    bool trans;
    size_t begin, end;
};
typedef void (*sn_winograd_filter_32f_fn)(const struct sn_winograd_filter_32f * job);

/*
 * Transforms a part of an image. Tile (ty, tx) begins at row ty * blockY * stride - padY and column
 * tx * blockX * stride - padX; inputs outside the image are 0. With a dilation, for the convolution only (trans), it begins
 * at the place above, for an output of dstH x dstW, less the padding.
 *
 * trans (NHWC): tiles begin .. end - 1, counted along the rows. Pixels of the image are `pixel` floats apart, and tile p is
 * written to dst + (p - begin) * tile, `channels` floats.
 *
 * Otherwise (NCHW): rows of tiles begin .. end - 1, counted through all channels: number u is row u % tilesY of channel
 * u / tilesY, and is written to dst + (u - begin) * tilesX. `pixel` and `tile` are not used.
 */
struct sn_winograd_input_32f {
    enum sn_winograd kind;
    const sn_32f * src;
    size_t channels, height, width, padY, padX;
    size_t dilationY, dilationX, dstH, dstW; /* sizes only for a dilation */
    size_t pixel;
    size_t tilesY, tilesX;
    sn_32f * dst;
    size_t plane, tile;
    bool trans;
    size_t begin, end;
};
typedef void (*sn_winograd_input_32f_fn)(const struct sn_winograd_input_32f * job);

/*
 * Transforms a part of the products to an image of height x width, in the same order: tile p is read from
 * src + (p - begin) * tile, or row u of tiles from src + (u - begin) * tilesX. Outputs outside the image are not written.
 *
 * With a bias, for the convolution only (trans): one value for each channel is added, then the activation is applied.
 * `base`, which has no such convolution, ignores both.
 */
struct sn_winograd_output_32f {
    enum sn_winograd kind;
    const sn_32f * src;
    size_t plane, tile;
    size_t tilesY, tilesX;
    sn_32f * dst;
    size_t channels, height, width;
    size_t dilationY, dilationX;
    size_t pixel;
    bool trans;
    size_t begin, end;

    const sn_32f * bias; /* whole vectors, like slope; or NULL */
    const sn_32f * add;  /* with a bias: NULL, or an array that is also added; has the layout of dst, and may be dst */
    const sn_32f * slope; /* for Prelu */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
};
typedef void (*sn_winograd_output_32f_fn)(const struct sn_winograd_output_32f * job);

/* The kernels of a level. */
struct sn_winograd_slots {
    sn_winograd_filter_32f_fn filter_32f;
    sn_winograd_input_32f_fn input_32f;
    sn_winograd_output_32f_fn output_32f;
};

#endif
