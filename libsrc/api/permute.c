#include "ops/copy.h"

#include <stdio.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/context.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "runtime/text.h"

enum { LEAST = 2, MOST = 5 };

struct permute {
    struct sn_context head;
    size_t bytes; /* of src and of dst */
    struct sn_copy plan;
};

static void compute(const char * function, const struct permute * c, const void * src, void * dst)
{
    SN_CHECK_FOR(function, src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK_FOR(function, dst, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart(function, (struct sn_array){"dst", dst, c->bytes}, (struct sn_array){"src", src, c->bytes}))
        sn_copy(c->head.table, &c->plan, src, dst);
}

/* SimdnetForward() */
static void forward(const char * function, void * context, const SimdnetForwardParameters * f)
{
    SN_CHECK_FOR(function, !f->add, SN_VOID, "add is not NULL, expected NULL: a Permute adds nothing");
    SN_CHECK_FOR(function, f->srcPixel == 0, SN_VOID, "srcPixel is %zu, expected 0: a Permute has no pixels", f->srcPixel);
    SN_CHECK_FOR(function, f->dstPixel == 0, SN_VOID, "dstPixel is %zu, expected 0: a Permute has no pixels", f->dstPixel);
    compute(function, context, f->src, f->dst);
}

static const struct sn_context_kind kind = {"Permute", NULL, forward, NULL};

static bool check_order(const char * function, const size_t * shape, const size_t * order, size_t count)
{
    bool used[MOST] = {false};
    size_t moved = 0;
    for (size_t i = 0; i < count; ++i) {
        SN_CHECK_FOR(function, shape[i] > 0, false, "shape[%zu] is 0, expected at least 1", i);
        SN_CHECK_FOR(function, order[i] < count, false, "order[%zu] is %zu, expected less than count, %zu", i, order[i],
                     count);
        SN_CHECK_FOR(function, !used[order[i]], false, "order[%zu] is %zu, expected each dimension once", i, order[i]);
        used[order[i]] = true;
        moved += order[i] != i && shape[order[i]] != 1;
    }
    SN_CHECK_FOR(function, moved >= 2, false,
                 "order leaves all elements in their order, expected at least two moved dimensions: copy the array");
    return true;
}

/* Dimension i of dst is dimension order[i] of src. */
static struct sn_copy plan_of(const size_t * shape, const size_t * order, size_t count, size_t element)
{
    struct sn_copy plan = {.count = count, .element = element};
    ptrdiff_t stride[MOST], dst = (ptrdiff_t)element;
    for (size_t i = count, bytes = element; i-- > 0; bytes *= shape[i])
        stride[i] = (ptrdiff_t)bytes;
    for (size_t i = count; i-- > 0; dst *= (ptrdiff_t)shape[order[i]])
        plan.d[i] = (struct sn_copy_dimension){shape[order[i]], stride[order[i]], dst};
    sn_copy_plan(&plan);
    return plan;
}

void * SimdSynetPermuteInit(const size_t * shape, const size_t * order, size_t count, SimdTensorDataType type)
{
    SN_BEGIN();
    size_t elements, element;
    SN_CHECK(count >= LEAST && count <= MOST, NULL, "count is %zu, expected %d to %d", count, LEAST, MOST);
    SN_CHECK_POINTER(shape, NULL);
    SN_CHECK_POINTER(order, NULL);
    if (!sn_take_element(__func__, "type", type, &element) || !check_order(__func__, shape, order, count) ||
        !sn_take_shape(__func__, count, shape, &elements))
        return NULL;
    struct permute * c = sn_context_new(&kind, sizeof(*c), __func__);
    if (!c)
        return NULL;
    c->bytes = elements * element;
    c->plan = plan_of(shape, order, count, element);
    sn_context_describe(&c->head, "%s", sn_copy_how(&c->plan));
    for (size_t i = 0; i < count; ++i)
        sn_append(c->head.shape, sizeof(c->head.shape), "%s%zu", i ? "x" : "src:", shape[i]);
    for (size_t i = 0; i < count; ++i)
        sn_append(c->head.shape, sizeof(c->head.shape), "%s%zu", i ? "," : "_order:", order[i]);
    return c;
}

size_t SimdSynetPermuteInternalBufferSize(const void * context)
{
    SN_BEGIN();
    sn_context_check(context, &kind, __func__);
    return 0;
}

void SimdSynetPermuteForward(void * context, const uint8_t * src, uint8_t * dst)
{
    SN_CALL_OF(context);
    if (sn_context_check(context, &kind, __func__))
        compute(__func__, context, src, dst);
}
