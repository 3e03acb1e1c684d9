/*
 * The Winograd transforms: their shapes, and what their kernels are given. The matrices are printed in include/simdnet.h.
 *
 * A tile is blockY x blockX outputs and the inputs they need, (blockY + kernelY - 1) x (blockX + kernelX - 1) of them. After
 * the transform there are as many coefficients. Coefficient t of everything is a plane; planes lie `plane` floats apart.
 */
#ifndef SN_CORE_WINOGRAD_H
#define SN_CORE_WINOGRAD_H

#include "core/common.h"
#include "simdnet.h"

/* SN_WINOGRAD_<block>_<kernel>, with an X for one that is a row. */
enum sn_winograd {
    SN_WINOGRAD_4X_3X, /* SimdWinogradKernel1x3Block1x4 */
    SN_WINOGRAD_4X_5X,
    SN_WINOGRAD_2_2,
    SN_WINOGRAD_4_2, /* SimdWinogradKernel2x2Block4x4 */
    SN_WINOGRAD_2_3,
    SN_WINOGRAD_3_3,
    SN_WINOGRAD_4_3,
    SN_WINOGRADS /* their number */
};

struct sn_winograd_size {
    size_t kernelY, kernelX, blockY, blockX;
};

static inline struct sn_winograd_size sn_winograd_size(enum sn_winograd kind)
{
    static const struct sn_winograd_size sizes[SN_WINOGRADS] = {{1, 3, 1, 4}, {1, 5, 1, 4}, {2, 2, 2, 2}, {2, 2, 4, 4},
                                                                {3, 3, 2, 2}, {3, 3, 3, 3}, {3, 3, 4, 4}};
    return sizes[kind];
}

/* The rows and columns of a tile of inputs, and the number of coefficients. */
static inline size_t sn_winograd_rows(struct sn_winograd_size s) { return s.blockY + s.kernelY - 1; }
static inline size_t sn_winograd_columns(struct sn_winograd_size s) { return s.blockX + s.kernelX - 1; }
static inline size_t sn_winograd_planes(struct sn_winograd_size s) { return sn_winograd_rows(s) * sn_winograd_columns(s); }

/* Filters begin .. end - 1 of `size`, which lie as SimdWinograd*SetFilter has them; number i is written to
 * dst[t * plane + i - begin]. */
struct sn_winograd_filter_32f {
    enum sn_winograd kind;
    const float * src;
    size_t size;
    float * dst;
    size_t plane;
    bool trans;
    size_t begin, end;
};
typedef void (*sn_winograd_filter_32f_fn)(const struct sn_winograd_filter_32f * job);

/*
 * The transform of a part of an image. Tile (ty, tx) begins at row ty * blockY - padY and column tx * blockX - padX; what
 * lies outside the image is 0.
 *
 * trans (NHWC): tiles begin .. end - 1, counted along the rows. Pixels of the image lie `pixel` floats apart, and tile p is
 * written to dst + (p - begin) * tile, `channels` floats.
 *
 * else (NCHW): rows of tiles begin .. end - 1, counted through all channels: number u is row u % tilesY of channel
 * u / tilesY, and is written to dst + (u - begin) * tilesX. `pixel` and `tile` are not used.
 */
struct sn_winograd_input_32f {
    enum sn_winograd kind;
    const float * src;
    size_t channels, height, width, padY, padX;
    size_t pixel;
    size_t tilesY, tilesX;
    float * dst;
    size_t plane, tile;
    bool trans;
    size_t begin, end;
};
typedef void (*sn_winograd_input_32f_fn)(const struct sn_winograd_input_32f * job);

/*
 * The transform of a part of the products to an image of height x width, in the same order: tile p is read from
 * src + (p - begin) * tile, or row u of tiles from src + (u - begin) * tilesX. What lies outside the image is not written.
 *
 * With a bias, for the convolution alone (3x3, trans): one for each channel is added, and the activation follows. `base`, which
 * has no such convolution, leaves both out.
 */
struct sn_winograd_output_32f {
    enum sn_winograd kind;
    const float * src;
    size_t plane, tile;
    size_t tilesY, tilesX;
    float * dst;
    size_t channels, height, width;
    size_t pixel;
    bool trans;
    size_t begin, end;

    const float * bias;  /* whole vectors, as the next; or NULL */
    const float * slope; /* for Prelu */
    SimdConvolutionActivationType activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2];
};
typedef void (*sn_winograd_output_32f_fn)(const struct sn_winograd_output_32f * job);

#endif
