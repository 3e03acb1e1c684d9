/* The sum of two tensors of quantised bytes or floats. */
#include <math.h>
#include <stdio.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/quantized.h"
#include "ops/elementwise/add.h"

struct add {
    struct sn_context head;
    size_t size;
    bool a, b, dst; /* byte, else float */
    struct sn_add_quantized plan;
};

static const struct sn_context_kind kind = {.name = "QuantizedAdd"};

/* A tensor of Init, and the names of its arguments. */
struct tensor {
    const char * type, * scale, * zero;
    SimdTensorDataType dataType;
    float byScale;
    int32_t byZero;
};

static bool check_tensor(const char * function, const struct tensor * t)
{
    SN_CHECK_FOR(function, t->dataType == SimdTensorData32f || t->dataType == SimdTensorData8u, false,
                 "%s is %s, expected SimdTensorData32f or SimdTensorData8u", t->type, SN_NAME(sn_data_types, t->dataType));
    return t->dataType == SimdTensorData32f ||
           (sn_check_scale(function, t->scale, t->byScale) && sn_check_zero(function, t->zero, t->byZero));
}

static struct sn_add_quantized plan_of(const struct tensor t[3], bool relu)
{
    const struct tensor * a = &t[0], * b = &t[1], * dst = &t[2];
    struct sn_add_quantized p = {.aScale = a->byScale, .bScale = b->byScale, .aZero = (float)a->byZero,
        .bZero = (float)b->byZero, .dstScale = 1 / dst->byScale, .dstZero = dst->byZero, .relu = relu};
    if (a->dataType == SimdTensorData8u && b->dataType == SimdTensorData8u && dst->dataType == SimdTensorData8u) {
        const float aScale = a->byScale / dst->byScale, bScale = b->byScale / dst->byScale;
        const float aPart = aScale * (float)a->byZero, bPart = bScale * (float)b->byZero, both = aPart + bPart;
        p.aScale = aScale, p.bScale = bScale, p.shift = (float)dst->byZero - both;
        p.least = relu ? (uint8_t)dst->byZero : 0;
    }
    return p;
}

void * SimdSynetQuantizedAddInit(const size_t * aShape, size_t aCount, SimdTensorDataType aType, const sn_32f * aScale,
                                 int32_t aZero, const size_t * bShape, size_t bCount, SimdTensorDataType bType,
                                 const sn_32f * bScale, int32_t bZero, SimdConvolutionActivationType actType,
                                 const sn_32f * actParams, SimdTensorDataType dstType, const sn_32f * dstScale,
                                 int32_t dstZero)
{
    SN_BEGIN();
    (void)actParams;
    const struct tensor t[3] = {{"aType", "aScale", "aZero", aType, aScale ? *aScale : 1, aZero},
                                {"bType", "bScale", "bZero", bType, bScale ? *bScale : 1, bZero},
                                {"dstType", "dstScale", "dstZero", dstType, dstScale ? *dstScale : 1, dstZero}};
    size_t size;
    if (!sn_check_shapes(__func__, aShape, aCount, bShape, bCount, &size) || !check_tensor(__func__, &t[0]) ||
        !check_tensor(__func__, &t[1]) || !check_tensor(__func__, &t[2]))
        return NULL;
    const bool relu = actType == SimdConvolutionActivationRelu;
    SN_CHECK(relu || actType == SimdConvolutionActivationIdentity, NULL,
             "actType is %s, expected SimdConvolutionActivationIdentity or Relu", SN_NAME(sn_activations, actType));
    struct add * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->size = size;
    c->a = aType == SimdTensorData8u, c->b = bType == SimdTensorData8u, c->dst = dstType == SimdTensorData8u;
    c->plan = plan_of(t, relu);
    sn_context_describe(&c->head, "%s + %s -> %s%s", c->a ? "8u" : "32f", c->b ? "8u" : "32f", c->dst ? "8u" : "32f",
                        relu ? ", Relu" : "");
    snprintf(c->head.shape, sizeof(c->head.shape), "size:%zu", size);
    return c;
}

/* The sum may be a source of its own type. */
static bool is_apart(const char * function, const struct add * c, struct sn_array dst, struct sn_array src, bool type)
{
    dst.bytes *= c->dst ? 1 : 4, src.bytes *= type ? 1 : 4;
    return sn_apart_for(function, dst, src, type == c->dst);
}

void SimdSynetQuantizedAddForward(void * context, const uint8_t * a, const uint8_t * b, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (!sn_context_check(context, &kind, __func__))
        return;
    const struct add * c = context;
    if (c->size == 0)
        return;
    SN_CHECK_POINTER(a, SN_VOID);
    SN_CHECK_POINTER(b, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    const struct sn_array sum = SN_ARRAY(dst, c->size);
    if (is_apart(__func__, c, sum, SN_ARRAY(a, c->size), c->a) && is_apart(__func__, c, sum, SN_ARRAY(b, c->size), c->b))
        sn_add_quantized(c->head.table, c->a, c->b, c->dst, &c->plan, a, b, dst, c->size);
}
