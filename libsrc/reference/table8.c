#include "contract/table8.h"

#include <string.h>

#include "reference/reference.h"

static void run(const struct sn_table8 * t)
{
    for (size_t y = 0; y < t->rows; ++y)
        for (size_t i = 0; i < t->n; ++i)
            t->dst[y * t->dstStep + i] = t->prepared[t->src[y * t->srcStep + i]];
}

static void prepare(const uint8_t * table, uint8_t * prepared) { memcpy(prepared, table, SN_TABLE8); }

SN_INSTALL(table8, table8)
{
    slots->run = run;
    slots->prepare = prepare;
}
