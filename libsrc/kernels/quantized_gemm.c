/* Packs rows of B for the tile of products of bytes: numbers of a column that are multiplied together become neighbours. */
#include "contract/quantized_gemm.h"
#include "kernels/install.h"

/* Bytes `at` on of row k in lanes of 32 bits, 0 behind the last row. */
SN_INLINE v32i bytes_of(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    if (k >= p->rows)
        return v_set_32i(0);
    const uint8_t * from = p->b + k * p->step + at;
    return n == V32F_N ? v_load_8u_32i(from) : v_load_tail_8u_32i(from, n);
}

/* Four bytes with a sign: those without one less 128. */
SN_INLINE v32i four(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    const v32i low = v_or_32i(bytes_of(p, k, at, n), v_shl_32i(bytes_of(p, k + 1, at, n), 8));
    const v32i high = v_or_32i(v_shl_32i(bytes_of(p, k + 2, at, n), 16), v_shl_32i(bytes_of(p, k + 3, at, n), 24));
    return v_xor_32i(v_or_32i(low, high), v_set_32i(p->with_sign ? 0 : (int32_t)0x80808080));
}

/* The same as two numbers of 16 bits: the sign is copied from bit 7. */
SN_INLINE v32i two(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    const v32i flip = v_set_32i(p->with_sign ? 0 : 0x80);
    const v32i low = v_shl_32i(v_xor_32i(bytes_of(p, k, at, n), flip), 24);
    const v32i high = v_shl_32i(v_xor_32i(bytes_of(p, k + 1, at, n), flip), 24);
    return v_or_32i(v_shr_32i(v_sra_32i(low, 8), 16), v_and_32i(v_sra_32i(high, 8), v_set_32i((int32_t)0xFFFF0000)));
}

SN_INLINE void pack_groups(const struct sn_quantized_pack * p, size_t group)
{
    uint8_t * to = p->panel;
    for (size_t k = 0; k < p->rows; k += group, to += p->width * 4)
        for (size_t j = 0; j < p->columns; j += V32F_N) {
            const size_t n = sn_min(V32F_N, p->columns - j);
            v_store_32i(to + j * 4, group == 4 ? four(p, k, j, n) : two(p, k, j, n));
        }
}

static void pack(const struct sn_quantized_pack * p)
{
    if (p->group == 4)
        pack_groups(p, 4);
    else
        pack_groups(p, 2);
}

static void widen(const uint8_t * from, size_t count, uint8_t * to)
{
    for (size_t i = 0; i < count; i += V16I_N)
        v_store_16i(to + 2 * i, v_load_8i_16i(from + i));
}

SN_INSTALL(quantized_gemm, quantized_gemm)
{
    slots->pack = pack;
    slots->widen = widen;
}
