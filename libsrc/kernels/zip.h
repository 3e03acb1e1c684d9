/*
 * Interleaving of 2, 4, 8 or 16 rows: with n rows of V32F_N values, element k of row j goes to place k * n + j of n vectors, and
 * back. log2(n) operations a vector; where n is the number of lanes this is a transposition, which has its own word.
 */
#ifndef SN_KERNELS_ZIP_H
#define SN_KERNELS_ZIP_H

#include "kernels/vec.h"

/* Rows to vectors in their order. n is a constant. */
SN_INLINE void zip_32f(v32f * r, int n)
{
    v32f t[16];
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    /* Rows j and j + n / 2 at each step: the sequences double, their number halves. */
    SN_UNROLL for (int length = 1; length < n; length *= 2) {
        const int half = n / length / 2; /* sequences of `length` vectors; sequence j is r[j * length ...] */
        SN_UNROLL for (int j = 0; j < half; ++j) {
            SN_UNROLL for (int i = 0; i < length; ++i) {
                t[2 * (j * length + i)] = v_zip_low_32f(r[j * length + i], r[(j + half) * length + i]);
                t[2 * (j * length + i) + 1] = v_zip_high_32f(r[j * length + i], r[(j + half) * length + i]);
            }
        }
        SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
    }
}

/* Vectors to rows. */
SN_INLINE void unzip_32f(v32f * r, int n)
{
    v32f t[16];
    if (n == V32F_N) {
        v_transpose_32f(r);
        return;
    }
    /* The steps of zip_32f, undone from the last one. */
    SN_UNROLL for (int length = n / 2; length; length /= 2) {
        const int half = n / length / 2;
        SN_UNROLL for (int j = 0; j < half; ++j) {
            SN_UNROLL for (int i = 0; i < length; ++i) {
                t[j * length + i] = v_even_32f(r[2 * (j * length + i)], r[2 * (j * length + i) + 1]);
                t[(j + half) * length + i] = v_odd_32f(r[2 * (j * length + i)], r[2 * (j * length + i) + 1]);
            }
        }
        SN_UNROLL for (int i = 0; i < n; ++i) r[i] = t[i];
    }
}

#endif
