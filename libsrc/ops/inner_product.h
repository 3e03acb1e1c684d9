/* Products of the rows of a matrix with a vector, on several threads. */
#ifndef SN_OPS_INNER_PRODUCT_H
#define SN_OPS_INNER_PRODUCT_H

#include "contract/table.h"

void sn_inner_product_32f(const struct sn_table * table, const struct sn_inner_product_32f * p);

#endif
