/* Bytes replaced by those of a table. */
#ifndef SN_CONTRACT_TABLE8_H
#define SN_CONTRACT_TABLE8_H

#include "runtime/common.h"

/* The bytes of a table, and of one that is prepared for the kernel of a level. */
enum { SN_TABLE8 = 256 };

/* n bytes in each of `rows` rows. src and dst are equal, with equal steps, or have no byte in common. */
struct sn_table8 {
    const uint8_t * prepared;
    const uint8_t * src;
    uint8_t * dst;
    size_t srcStep, dstStep;
    size_t n, rows;
};

/* The kernels of a level. */
struct sn_table8_slots {
    void (*run)(const struct sn_table8 * t);
    void (*prepare)(const uint8_t * table, uint8_t * prepared);
};

#endif
