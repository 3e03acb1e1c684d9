/*
 * Interleaving of 2, 4, 8 or 16 rows: with n rows of V32F_N values, value k of row j goes to place k * n + j of n vectors, and
 * back. log2(n) operations a vector; where n is the number of lanes this is a transposition, which has its own word.
 */
#ifndef SN_KERNELS_ZIP_H
#define SN_KERNELS_ZIP_H

#include "kernels/vec.h"

/* One step: the first half of the vectors, taken as one sequence, is interleaved with the second half. */
SN_INLINE void zip_step_32f(v32f * r, int n)
{
    v32f t[V32F_N];
    SN_UNROLL for (int i = 0; i < n / 2; ++i) {
        t[2 * i] = v_zip_low_32f(r[i], r[i + n / 2]);
        t[2 * i + 1] = v_zip_high_32f(r[i], r[i + n / 2]);
    }
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
}

SN_INLINE void unzip_step_32f(v32f * r, int n)
{
    v32f t[V32F_N];
    SN_UNROLL for (int i = 0; i < n / 2; ++i) {
        t[i] = v_even_32f(r[2 * i], r[2 * i + 1]);
        t[i + n / 2] = v_odd_32f(r[2 * i], r[2 * i + 1]);
    }
    SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
}

/* n rows to vectors in their order; n <= V32F_N is a constant. */
SN_INLINE void zip_32f(v32f * r, int n)
{
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    zip_step_32f(r, n);
    if (n >= 4)
        zip_step_32f(r, n);
    if (n >= 8)
        zip_step_32f(r, n);
}

/* Vectors to rows. */
SN_INLINE void unzip_32f(v32f * r, int n)
{
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    unzip_step_32f(r, n);
    if (n >= 4)
        unzip_step_32f(r, n);
    if (n >= 8)
        unzip_step_32f(r, n);
}

#endif
