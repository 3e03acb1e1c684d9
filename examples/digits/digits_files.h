/*
 * The two files of the digits example, which README.md describes byte by byte. If a file is invalid, the readers print why
 * and end the program.
 */
#ifndef DIGITS_FILES_H
#define DIGITS_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { CONVOLUTION = 1, MAX_POOLING, AVERAGE_POOLING, INNER_PRODUCT, SOFTMAX };
enum { MAX_LAYERS = 64 };

struct layer {
    uint32_t kind; /* twelve words in the order of the file */
    struct {
        uint32_t c, h, w;
    } src, dst;
    uint32_t kernel, stride, pad, group, relu;

    size_t weights, biases;
    const float * weight, * bias; /* pointers into the network's data */
};

struct network {
    uint32_t count;
    struct layer layers[MAX_LAYERS];
    float * data; /* for free() */
};

struct images {
    size_t count, size; /* size: pixels per image */
    uint8_t * labels;   /* for free() */
    float * pixels;     /* for free() */
};

/* Prints a line to stderr and ends the program. */
void die(const char * format, ...);

/* malloc() that ends the program if it fails. */
void * allocate(size_t size);

void read_network(const char * path, struct network * net);

/* The images must fit the first layer of the network. */
void read_images(const char * path, struct images * images, const struct network * net);

#endif
