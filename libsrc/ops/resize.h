/*
 * Resizing: the weights of each axis, made by Init, and the computation on several threads.
 *
 * All methods are sums of neighbours with weights for each output of an axis. Rows of the source are resized one after
 * another into a window of rows, from which a row of the result is combined; so the source is read once.
 */
#ifndef SN_OPS_RESIZE_H
#define SN_OPS_RESIZE_H

#include "contract/table.h"

/* The weights of one output: value[low] .. value[high] are those that are not 0. */
struct sn_resize_line {
    double * value;
    size_t size, low, high;
};

/* Adds to the weight of a source element; those outside are the nearest one inside. */
void sn_resize_add(struct sn_resize_line * line, double index, double weight);

/* Axis `src` to `dst`; what the other members mean is up to `taps`, which adds the weights of output i. */
struct sn_resize_rule {
    void (*taps)(const struct sn_resize_rule * rule, size_t i, struct sn_resize_line * line);
    size_t src, dst;
    double scale;           /* dst over src; 0: exactly that */
    int coordinates, rounding;
    double radius, cubic;   /* of the kernel, 1 or 2 elements of the source; the coefficient of a kernel of 2 */
    bool antialias, excludeOutside;
    double unit;            /* of documented methods of bytes: the sum of weights, which are integers */
};

/* SimdnetResizeMethod, SimdnetResizeCoordinates and SimdnetResizeRounding: the same values. */
enum sn_resize_method { SN_RESIZE_NEAREST, SN_RESIZE_LINEAR, SN_RESIZE_CUBIC, SN_RESIZE_AREA };
enum sn_resize_coordinates {
    SN_RESIZE_HALF_PIXEL,
    SN_RESIZE_PYTORCH_HALF_PIXEL,
    SN_RESIZE_ALIGN_CORNERS,
    SN_RESIZE_ASYMMETRIC,
    SN_RESIZE_HALF_PIXEL_SYMMETRIC
};
enum sn_resize_rounding {
    SN_RESIZE_ROUND_PREFER_FLOOR,
    SN_RESIZE_ROUND_PREFER_CEIL,
    SN_RESIZE_FLOOR,
    SN_RESIZE_CEIL
};

/* Sets taps and radius of a rule of ONNX. */
void sn_resize_method(struct sn_resize_rule * rule, enum sn_resize_method method);

struct sn_resize {
    const struct sn_table * table;
    struct sn_resize_axis x, y;
    void * memory[2];                     /* of the axes */
    size_t images, channels;              /* planes are images of one channel */
    enum sn_resize_type type, columnType; /* of elements; how columns are added */
    float scale, bias;                    /* of SN_RESIZE_8U */
};

/* Makes the axes, for which table, channels and so on are set; false without memory. */
bool sn_resize_init(struct sn_resize * r, const struct sn_resize_rule * x, const struct sn_resize_rule * y);
void sn_resize_free(struct sn_resize * r);

size_t sn_resize_element(enum sn_resize_type type);

/* Two arrays. Distances: elements from pixel to pixel, bytes from row to row and from image to image. */
struct sn_resize_arrays {
    const uint8_t * src;
    uint8_t * dst;
    size_t srcPixel, srcRow, srcImage, dstPixel, dstRow, dstImage;
};

/* False without memory. */
bool sn_resize_run(const struct sn_resize * r, const struct sn_resize_arrays * a);

#endif
