/* Some output rows of an NHWC convolution, computed from the image itself or from a band of it (band.h). */
#ifndef SN_OPS_CONVOLUTION_NHWC_BAND_H
#define SN_OPS_CONVOLUTION_NHWC_BAND_H

#include "ops/convolution/band.h"
#include "ops/convolution/plan.h"

struct sn_nhwc_band {
    struct sn_band band;
    size_t depth;  /* multiply-adds of one output: kernelY * kernelX * srcC / group */
    size_t length; /* of a segment */
    bool apart;    /* no padding is read, so there is none: a copy, of other pixels, has the lines of the image */
};

/* Plans the band; if `spaced`, pixels are a cache line further apart. */
void sn_nhwc_band_plan(const struct sn_convolution * c, bool spaced, struct sn_nhwc_band * b);

/* The same for taps that are segments, and are left out where they meet padding. */
void sn_nhwc_band_apart(const struct sn_convolution * c, bool spaced, struct sn_nhwc_band * b);

/* Then computes its size, which is that of the workspace, depth, length, and c->segments. False: too large. */
bool sn_nhwc_band_size(struct sn_convolution * c, struct sn_nhwc_band * b);

/* Writes the offsets of the segments of a sum from the first input of a pixel. */
void sn_nhwc_offsets(const struct sn_convolution * c, const struct sn_nhwc_band * b);

/* An NHWC image, and the floats between its pixels. */
struct sn_nhwc_image {
    const sn_32f * src;
    size_t pixel;
};

/* Whether the band is a copy for this image. Taps of a dense image are read as one segment, or at offsets that were set with
 * the weights; an image with other distances is read in place if there is a single tap. */
static inline bool sn_nhwc_copied(const struct sn_convolution * c, const struct sn_nhwc_band * b, struct sn_nhwc_image image)
{
    if (b->apart)
        return image.pixel != b->band.pixel;
    return b->band.copied || (image.pixel != c->p.srcC && c->p.kernelY * c->p.kernelX > 1);
}

/* The floats of the copy, for images with any distances; false: too large. */
bool sn_nhwc_copy_size(const struct sn_convolution * c, const struct sn_nhwc_band * b, size_t * size);

/* Copies `pixels` pixels of an image, every step-th, to dense pixels `toPixel` floats apart. */
void sn_nhwc_copy(const struct sn_convolution * c, struct sn_nhwc_image image, size_t first, size_t step, size_t pixels,
                  sn_32f * to, size_t toPixel);

/* Copies the band of `rows` output rows from `row` on, with its padding. */
void sn_nhwc_band_copy(const struct sn_convolution * c, const struct sn_band * band, struct sn_nhwc_image image, size_t row,
                       size_t rows, sn_32f * to);

/* Output rows, the location of their input (the steps include the stride), and their destination. */
struct sn_nhwc_rows {
    size_t row;               /* the first one, among those of the image */
    size_t rows, columns;     /* 0 columns: all */
    const sn_32f * src;
    size_t srcLine, srcPixel; /* floats between the inputs of neighbouring outputs */
    sn_32f * dst;
    size_t dstLine, dstPixel;
    const sn_32f * add;       /* NULL, or an array that is added before the activation; has the layout of dst */
    size_t first, outputs;    /* only these output channels, a panel of the tile, the first one at dst; 0 outputs: all */
    bool stream;              /* dst is an array that exceeds the caches */
    bool images;              /* source and dst are images, no buffers that stay in the caches */
    const sn_32f * prefetch;     /* NULL, or `prefetchSize` floats that will be needed next and are prefetched */
    size_t prefetchSize;
    const sn_32f * source;       /* NULL, or inputs of these next pixels: the first panel prefetches them, others `prefetch` */
};

/* The rows of a share of an image; their source is not set. */
struct sn_nhwc_rows sn_nhwc_rows_of(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a);

/* Sets the source of r, for r->rows output rows from `row` on of the image, copied to `work` if the band is a copy.
 * r->rows is at most b->band.rows. */
void sn_nhwc_source(const struct sn_convolution * c, const struct sn_nhwc_band * b, struct sn_nhwc_image image, size_t row,
                    sn_32f * work, struct sn_nhwc_rows * r);

#endif
