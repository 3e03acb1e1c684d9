/* The sums of inner products of bytes: SimdnetQuantizedGemm() without zeros. */
#include <string.h>

#include "api/call.h"
#include "api/inner_product.h"
#include "ops/bytes/quantized_gemm.h"

void SimdSynetInnerProduct8i(size_t M, size_t N, size_t K, const uint8_t * src, const int8_t * weight, sn_32i * dst,
                             SimdSynetCompatibilityType compatibility)
{
    SN_CALL(M, N, K);
    (void)compatibility;
    if (!sn_check_matrix(__func__, "MN", M, N) || !sn_check_matrix(__func__, "MK", M, K) ||
        !sn_check_matrix(__func__, "NK", N, K) || M == 0 || N == 0)
        return;
    SN_CHECK(src || K == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(weight || K == 0, SN_VOID, "weight is NULL, expected an array");
    SN_CHECK(dst, SN_VOID, "dst is NULL, expected an array");
    if (!sn_apart(__func__, SN_ARRAY(dst, M * N), SN_ARRAY(src, M * K)) ||
        !sn_apart(__func__, SN_ARRAY(dst, M * N), SN_ARRAY(weight, N * K)))
        return;
    const struct sn_quantized_gemm g = {.M = M, .N = N, .K = K, .A = src, .B = (const uint8_t *)weight, .signedB = true,
        .transposed = true, .type = SN_DATA_32I, .C = (uint8_t *)dst};
    if (!sn_quantized_gemm(&g, NULL, 1, 0, 0))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the weights");
}
