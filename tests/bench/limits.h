/*
 * The limits of the machine, with which benchmarks are compared: as many operations as an instruction set can do, and
 * nothing else. limits.py parses this file.
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Each performs at least the given number of operations, counting two for a multiply-add, and returns how many. */
struct limits {
    size_t (*fma)(size_t operations);     /* multiply-adds of floats */
    size_t (*dot_8i)(size_t operations);  /* products of bytes, summed as in tiles of 8-bit convolutions */
    size_t (*dot_16b)(size_t operations); /* the same for bfloat16 numbers; for floats if there is no instruction */
    void (*copy)(const uint8_t * src, size_t size, uint8_t * dst); /* with plain loads and stores */
    /* reading in order: the sum of words of 4 bytes, the last one filled up with zeros, modulo 2^32 */
    uint32_t (*read)(const uint8_t * src, size_t size);
};

/* The limits of an instruction set of this machine, by its name; NULL for an unknown name. */
const struct limits * limits_of(const char * isa);

#endif
