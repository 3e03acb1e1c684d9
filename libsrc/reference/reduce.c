/* Reductions, in double. */
#include "contract/reduce.h"


#include "reference/libm.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static double fold(double total, const struct sn_fold_matrix * m, float x, float shift, enum sn_fold kind)
{
    const double value = sn_from_bits_32f((sn_bits_32f(x) & m->mask) ^ m->flip);
    switch (kind) {
    case SN_FOLD_SUM: return total + value;
    case SN_FOLD_SQUARES: return total + (double)x * (double)x;
    case SN_FOLD_MAX: return value > total || isnan(value) ? value : total;
    case SN_FOLD_EXP: return total + sn_exp((double)x - (double)shift);
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

static bool results(const struct sn_fold_results * r, const double * total)
{
    for (size_t i = 0; i < r->count; ++i)
        switch (r->end) {
        case SN_FOLD_END_SCALE: r->dst[i] = (float)(total[i] * r->scale); break;
        case SN_FOLD_END_ROOT: r->dst[i] = (float)sqrt(total[i]); break;
        default: r->dst[i] = isfinite(r->shift[i]) ? (float)(sn_log(total[i]) + (double)r->shift[i]) : r->shift[i];
        }
    return true;
}

static bool find_rows(const struct sn_fold_matrix * m, const sn_32f * value, bool last, int64_t * index)
{
    for (size_t r = 0; r < m->rows; ++r)
        for (size_t c = 0; c < m->columns; ++c) {
            const size_t at = last ? c : m->columns - 1 - c;
            if (m->src[r * m->step + at] == value[r])
                index[r] = (int64_t)at;
        }
    return false; /* base does not look for NaN */
}

static bool find_columns(const struct sn_fold_matrix * m, bool last, sn_32f * value, int64_t * index)
{
    for (size_t c = 0; c < m->columns; ++c)
        for (size_t r = 0; r < m->rows; ++r) {
            const size_t at = last ? m->rows - 1 - r : r;
            const float x = m->src[at * m->step + c];
            if (r == 0 || (!isnan(value[c]) && (isnan(x) || (m->flip ? x < value[c] : x > value[c])))) {
                value[c] = x;
                index[c] = (int64_t)at;
            }
        }
    return true;
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
    slots->results = results;
    slots->find_rows = find_rows;
    slots->find_columns = find_columns;
}
