/* The checks of two or three stages, see merged.h. */
#include "api/merged.h"

#include "api/enums.h"

#define CHECK(condition, text, ...) SN_CHECK_FOR(c->function, condition, false, "%s" text, c->of, __VA_ARGS__)

static bool check_common(const struct sn_convolution_check * c, bool same_strides)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcF == SN_NHWC, "srcF is %s, expected SimdTensorFormatNhwc", SN_NAME(sn_formats, p->srcF));
    CHECK(p->kernelX == p->kernelY, "kernelX is %zu, expected %zu as kernelY", p->kernelX, p->kernelY);
    CHECK(p->dilationY == 1, "dilationY is %zu, expected 1", p->dilationY);
    CHECK(p->dilationX == 1, "dilationX is %zu, expected 1", p->dilationX);
    CHECK(p->strideY <= 3, "strideY is %zu, expected 1, 2 or 3", p->strideY);
    CHECK(p->strideX <= 3, "strideX is %zu, expected 1, 2 or 3", p->strideX);
    CHECK(p->strideX == p->strideY || !same_strides, "strideX is %zu, expected %zu as strideY", p->strideX, p->strideY);
    return true;
}

static bool check_stage(const struct sn_convolution_check * c, enum sn_merged_stage stage)
{
    const struct sn_convolution_parameters * p = c->p;
    const size_t k = p->kernelY;
    switch (stage) {
    case SN_EXPANSION:
        CHECK(k == 1 || k == 3, "kernelY is %zu, expected 1 or 3", k);
        CHECK(p->group == 1, "group is %zu, expected 1", p->group);
        break;
    case SN_DEPTHWISE:
        CHECK(k == 3 || k == 5 || k == 7, "kernelY is %zu, expected 3, 5 or 7 for a depthwise convolution", k);
        CHECK(p->group == p->srcC, "group is %zu, expected %zu as srcC for a depthwise convolution", p->group, p->srcC);
        CHECK(p->dstC == p->srcC, "dstC is %zu, expected %zu as srcC for a depthwise convolution", p->dstC, p->srcC);
        break;
    default:
        CHECK(k == 1, "kernelY is %zu, expected 1", k);
        CHECK(p->strideY == 1 && p->strideX == 1, "strideY, strideX are %zu, %zu, expected 1", p->strideY, p->strideX);
        CHECK(p->group == 1, "group is %zu, expected 1", p->group);
    }
    return true;
}

/* The input of stage i must be the output of the stage before; messages name both. */
static bool check_chain(const struct sn_convolution_check * c, size_t i, const struct sn_convolution_parameters * before)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(p->srcC == before->dstC, "srcC is %zu, expected %zu as conv[%zu].dstC", p->srcC, before->dstC, i - 1);
    CHECK(p->srcH == before->dstH, "srcH is %zu, expected %zu as conv[%zu].dstH", p->srcH, before->dstH, i - 1);
    CHECK(p->srcW == before->dstW, "srcW is %zu, expected %zu as conv[%zu].dstW", p->srcW, before->dstW, i - 1);
    return true;
}

/* The source must have the shape of the output of the third stage, to which it is added. */
static bool check_add(const char * function, const struct sn_convolution_parameters * p)
{
    const struct sn_convolution_parameters * last = p + 2;
    SN_CHECK_FOR(function, last->dstC == p->srcC, false, "conv[2].dstC is %zu, expected %zu as conv[0].srcC for add",
                 last->dstC, p->srcC);
    SN_CHECK_FOR(function, last->dstH == p->srcH, false, "conv[2].dstH is %zu, expected %zu as conv[0].srcH for add",
                 last->dstH, p->srcH);
    SN_CHECK_FOR(function, last->dstW == p->srcW, false, "conv[2].dstW is %zu, expected %zu as conv[0].srcW for add",
                 last->dstW, p->srcW);
    return true;
}

enum sn_merged_stage sn_merged_first(const struct sn_convolution_parameters * p, size_t count)
{
    return count == 2 && p[1].kernelY == 1 ? SN_DEPTHWISE : SN_EXPANSION;
}

const char * const sn_merged_names[] = {"conv[0].", "conv[1].", "conv[2]."};

static bool check_types(const struct sn_convolution_check * c, enum sn_data small)
{
    if (small == SN_DATA_32F)
        return sn_check_convolution_types(c);
    return sn_check_convolution_types_of(c, small, small == SN_DATA_16B ? "SimdTensorData16b" : "SimdTensorData8u");
}

/* Only contexts of floats have a projection with padding. */
static bool check_padding(const struct sn_convolution_check * c, enum sn_merged_stage stage)
{
    const struct sn_convolution_parameters * p = c->p;
    CHECK(stage != SN_PROJECTION || (p->padY | p->padX | p->padH | p->padW) == 0,
          "padY, padX, padH, padW are %zu, %zu, %zu, %zu, expected 0", p->padY, p->padX, p->padH, p->padW);
    return true;
}

bool sn_check_merged(const char * function, const struct sn_convolution_parameters * p, size_t count, bool add,
                     enum sn_data small)
{
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution_check c = {function, sn_merged_names[i], &p[i]};
        const enum sn_merged_stage stage = sn_merged_first(p, count) + (enum sn_merged_stage)i;
        if (!check_types(&c, small) || !sn_check_convolution_size(&c) || !sn_check_convolution_channels(&c) ||
            !check_common(&c, count == 3 && small == SN_DATA_32F) || !check_stage(&c, stage) ||
            (small != SN_DATA_32F && !check_padding(&c, stage)) || (i > 0 && !check_chain(&c, i, &p[i - 1])))
            return false;
    }
    return count == 2 || !add || check_add(function, p);
}
