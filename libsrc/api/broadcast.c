#include "api/broadcast.h"

#include "api/check.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

bool sn_take_result(struct sn_broadcast * c, size_t count, const size_t * shape, const void * dst, size_t bytes)
{
    const char * function = c->function;
    if (!sn_take_shape(function, count, shape, &c->size))
        return false;
    CHECK(c->size == 0 || dst, "dst is NULL, expected an array");
    c->count = count;
    c->shape = shape;
    c->dst = (struct sn_array){"dst", dst, c->size * bytes};
    return true;
}

bool sn_take_operand(struct sn_broadcast * c, const char * names[2], const void * at, size_t bytes, const size_t * shape,
                     bool in_place, struct sn_operand * taken)
{
    const char * function = c->function;
    size_t size = 1;
    for (size_t k = 0; k < c->count; ++k) {
        CHECK(shape[k] == c->shape[k] || shape[k] == 1, "%s[%zu] is %zu, expected 1 or %zu as in shape", names[1], k,
              shape[k], c->shape[k]);
        c->covered[k] = c->covered[k] || shape[k] == c->shape[k];
        size *= shape[k];
    }
    if (c->size == 0)
        return true;
    CHECK(at, "%s is NULL, expected an array", names[0]);
    *taken = sn_operand_of(at, bytes, c->count, shape, c->shape);
    return sn_apart_for(function, c->dst, (struct sn_array){names[0], at, size * bytes}, in_place && size == c->size);
}

bool sn_is_covered(const struct sn_broadcast * c)
{
    const char * function = c->function;
    for (size_t k = 0; k < c->count; ++k)
        CHECK(c->covered[k], "shape[%zu] is %zu, expected 1 as in the shapes of the operands", k, c->shape[k]);
    return true;
}
