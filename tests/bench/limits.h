/*
 * The limits of the machine, which benchmarks compare with: as many operations as an instruction set can do, and nothing
 * else. limits.py parses this file.
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Operations: at least as many as asked for are done, two for a multiply-add; the return value is how many. */
struct limits {
    size_t (*fma)(size_t operations);     /* multiply-adds of floats */
    size_t (*dot_8i)(size_t operations);  /* products of bytes, added up as tiles of 8-bit convolutions do */
    size_t (*dot_16b)(size_t operations); /* the same of bfloat16 numbers; of floats where no instruction does */
    void (*copy)(const uint8_t * src, size_t size, uint8_t * dst); /* by plain loads and stores */
};

/* Of an instruction set that this machine has, by its name; NULL for an unknown name. */
const struct limits * limits_of(const char * isa);

#endif
