/* Images whose pixels lie among other elements, in memory that ends where a page begins that cannot be accessed. Included
 * after a definition of _GNU_SOURCE. */
#ifndef SN_CHECK_PIXELS_H
#define SN_CHECK_PIXELS_H

#include <stdlib.h>

#include "check_frame.h"
#include "system.h"

/* `size` bytes of 0xFF before a page that cannot be accessed; with --no-guards before one whose bytes are 0. */
struct memory {
    unsigned char * bytes;
    size_t size, whole;
    unsigned char * begin;
};

static inline struct memory memory(size_t size)
{
    const size_t page = system_page(), inside = (size + page - 1) / page * page;
    unsigned char * begin = system_pages(inside + page);
    if (!begin || (!frame_option.no_guards && !system_guard(begin + inside, page)))
        abort();
    memset(begin, 0xFF, inside);
    return (struct memory){begin + inside - size, size, inside + page, begin};
}

static inline void drop(struct memory m) { system_drop(m.begin, m.whole); }

static inline size_t element_of(SimdTensorDataType type)
{
    return type == SimdTensorData32f ? 4 : type == SimdTensorData16b ? 2 : 1;
}

/* An image of pixels. */
struct image {
    struct memory memory;
    size_t pixels, channels, pixel, element;
};

static inline struct image image(size_t pixels, size_t channels, size_t pixel, SimdTensorDataType type)
{
    const size_t element = element_of(type);
    return (struct image){memory(((pixels - 1) * pixel + channels) * element), pixels, channels, pixel, element};
}

static inline void fill(const struct image * m, SimdTensorDataType type)
{
    for (size_t i = 0; i < m->pixels * m->channels; ++i) {
        const float value = check_random_32f(-1, 1);
        const uint16_t small = sn_32f_to_16b(value);
        const uint8_t byte = (uint8_t)(value * 127 + 128);
        const void * from = type == SimdTensorData32f ? (const void *)&value
                            : type == SimdTensorData16b ? (const void *)&small : (const void *)&byte;
        memcpy(m->memory.bytes + i * m->element, from, m->element);
    }
}

static inline unsigned char * pixel_at(const struct image * m, size_t i)
{
    return m->memory.bytes + i * m->pixel * m->element;
}

/* The pixels of a dense image, farther apart. */
static inline struct image spread(const struct image * dense, size_t pixel, SimdTensorDataType type)
{
    const struct image m = image(dense->pixels, dense->channels, pixel, type);
    for (size_t i = 0; i < m.pixels; ++i)
        memcpy(pixel_at(&m, i), pixel_at(dense, i), m.channels * m.element);
    return m;
}

/* True if the pixels are equal, and the elements between those of m untouched. */
static inline bool same(const struct image * m, const struct image * dense)
{
    const size_t bytes = m->channels * m->element;
    for (size_t i = 0; i < m->pixels; ++i) {
        const unsigned char * at = pixel_at(m, i);
        if (memcmp(at, pixel_at(dense, i), bytes) != 0)
            return false;
        for (size_t k = bytes; i + 1 < m->pixels && k < m->pixel * m->element; ++k)
            if (at[k] != 0xFF)
                return false;
    }
    return true;
}

/* A distance between pixels. */
static inline size_t gap(size_t channels) { return channels + (check_random(0, 3) ? check_random(0, 9) : 64); }

#endif
