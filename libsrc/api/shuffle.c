#include "ops/shuffle.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/overlap.h"

void SimdSynetShuffleLayerForward(const sn_32f * src0, size_t srcC0, const sn_32f * src1, size_t srcC1, size_t spatial,
                                  sn_32f * dst0, sn_32f * dst1, size_t dstC, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC0, srcC1, spatial, format);
    size_t elements0, elements1;
    if (!sn_check_format(__func__, "format", format))
        return;
    SN_CHECK(srcC0 % 2 == 0, SN_VOID, "srcC0 is %zu, expected an even number", srcC0);
    SN_CHECK(srcC1 % 2 == 0, SN_VOID, "srcC1 is %zu, expected an even number", srcC1);
    SN_CHECK(srcC0 / 2 + srcC1 / 2 == dstC, SN_VOID, "dstC is %zu, expected half of srcC0 + srcC1, %zu", dstC,
             srcC0 / 2 + srcC1 / 2);
    SN_CHECK(sn_product(&elements0, srcC0, spatial) && sn_product(&elements1, srcC1, spatial), SN_VOID,
             "srcC0 is %zu, srcC1 is %zu and spatial is %zu, too large for an array", srcC0, srcC1, spatial);
    if (elements0 == 0 && elements1 == 0)
        return;
    SN_CHECK(src0 || elements0 == 0, SN_VOID, "src0 is NULL, expected an array");
    SN_CHECK(src1 || elements1 == 0, SN_VOID, "src1 is NULL, expected an array");
    SN_CHECK_POINTER(dst0, SN_VOID);
    SN_CHECK_POINTER(dst1, SN_VOID);
    const struct sn_array first = SN_ARRAY(dst0, dstC * spatial), second = SN_ARRAY(dst1, dstC * spatial);
    if (!sn_apart(__func__, first, SN_ARRAY(src0, elements0)) || !sn_apart(__func__, first, SN_ARRAY(src1, elements1)) ||
        !sn_apart(__func__, second, SN_ARRAY(src0, elements0)) || !sn_apart(__func__, second, SN_ARRAY(src1, elements1)) ||
        !sn_apart(__func__, second, first))
        return;
    const struct sn_shuffle p = {src0, srcC0, src1, srcC1, spatial, dst0, dst1};
    sn_shuffle_32f(&p, (enum sn_format)format);
}
