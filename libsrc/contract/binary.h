/* Functions of two arrays with broadcasting. */
#ifndef SN_CONTRACT_BINARY_H
#define SN_CONTRACT_BINARY_H

#include "contract/enums.h"
#include "runtime/common.h"

/* A row has at least this many results: no vector has more floats. */
enum { SN_BINARY_COLUMNS = 16 };

/*
 * Rows of `columns` results, one after another in dst. Row j of an operand begins `row` floats after row j - 1, and is as
 * many floats if `each`, otherwise a single one for the whole row. At least one operand has `each`. dst may be an operand
 * that has the same elements; with `stream` it may be written with non-temporal stores.
 */
struct sn_binary_operand {
    const sn_32f * at;
    size_t row;
    bool each;
};

struct sn_binary_rows {
    struct sn_binary_operand a, b;
    sn_32f * dst;
    size_t rows, columns;
    bool stream;
};

typedef void (*sn_binary_32f_fn)(const struct sn_binary_rows * rows);

/* The kernels of a level. */
struct sn_binary_slots {
    sn_binary_32f_fn run_32f[SN_BINARY_OPERATIONS];
};

/* A row of the list in SN_INSTALL(): the slot of the function, whose kernel is named like it. */
#define SN_BINARY_SLOT(NAME, Name, name) slots->run_32f[SN_BINARY_##NAME] = name##_32f;

#endif
