/* Also the products of all levels, in double: they are rare, and a level's products of floats would overflow too early. */
#include "contract/reduce.h"

#include <math.h>

#include "reference/reference.h"
#include "runtime/numeric.h"

static double fold(double total, const struct sn_fold_matrix * m, float x, float shift, enum sn_fold kind)
{
    const double value = sn_from_bits_32f((sn_bits_32f(x) & m->mask) ^ m->flip);
    switch (kind) {
    case SN_FOLD_SUM: return total + value;
    case SN_FOLD_SQUARES: return total + (double)x * (double)x;
    case SN_FOLD_MAX: return value > total || isnan(value) ? value : total;
    case SN_FOLD_EXP: return total + exp((double)x - (double)shift);
    default: return total * (double)x;
    }
}

static void fold_rows(const struct sn_fold_matrix * m, double * total, enum sn_fold kind)
{
    for (size_t r = 0; r < m->rows; ++r)
        for (size_t c = 0; c < m->columns; ++c)
            total[r] = fold(total[r], m, m->src[r * m->step + c], m->shift ? m->shift[r] : 0, kind);
}

static void fold_columns(const struct sn_fold_matrix * m, double * total, enum sn_fold kind)
{
    for (size_t r = 0; r < m->rows; ++r)
        for (size_t c = 0; c < m->columns; ++c)
            total[c] = fold(total[c], m, m->src[r * m->step + c], m->shift ? m->shift[c] : 0, kind);
}

static void sum_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_SUM); }
static void square_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_SQUARES); }
static void max_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_MAX); }
static void exp_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_EXP); }
static void product_rows(const struct sn_fold_matrix * m, double * total) { fold_rows(m, total, SN_FOLD_PRODUCT); }
static void sum_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_SUM); }
static void square_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_SQUARES); }
static void max_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_MAX); }
static void exp_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_EXP); }
static void product_columns(const struct sn_fold_matrix * m, double * total) { fold_columns(m, total, SN_FOLD_PRODUCT); }

static size_t find_row(const sn_32f * src, size_t n, float value, bool last)
{
    size_t found = 0;
    for (size_t i = n; i-- > 0;)
        if (src[i] == value) {
            found = i;
            if (last)
                break;
        }
    return found;
}

static void find_columns(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int32_t * index)
{
    for (size_t c = 0; c < m->columns; ++c)
        for (size_t r = 0; r < m->rows; ++r) {
            const size_t at = last ? r : m->rows - 1 - r;
            if (m->src[at * m->step + c] == value[c])
                index[c] = (int32_t)at;
        }
}

SN_INSTALL(reduce, reduce)
{
    slots->rows[SN_FOLD_SUM] = sum_rows;
    slots->rows[SN_FOLD_SQUARES] = square_rows;
    slots->rows[SN_FOLD_MAX] = max_rows;
    slots->rows[SN_FOLD_EXP] = exp_rows;
    slots->rows[SN_FOLD_PRODUCT] = product_rows;
    slots->columns[SN_FOLD_SUM] = sum_columns;
    slots->columns[SN_FOLD_SQUARES] = square_columns;
    slots->columns[SN_FOLD_MAX] = max_columns;
    slots->columns[SN_FOLD_EXP] = exp_columns;
    slots->columns[SN_FOLD_PRODUCT] = product_columns;
    slots->find_row = find_row;
    slots->find_columns = find_columns;
}
