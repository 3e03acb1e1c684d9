/*
 * SimdnetElementwise and SimdnetSelect: loops that are the same for all levels, so they are also compared with a formula in
 * integers of 128 bits. Elements of integers are arrays of bytes of the checker.
 */
#include "check.h"
#include "shapes.h"
#include "ops/elementwise/elementwise.h"

#define ELEMENTWISE "SimdnetElementwise"
#define SELECT "SimdnetSelect"

enum { MOST = 30000 };

static const SimdTensorDataType FLOAT = SimdTensorData32f, BOOL = SimdTensorDataBool;

typedef __int128 wide;

static const char * const types[] = {"32f", "32i", "8i", "8u", "64i", "64u", "bool"};
#define NAME(NAME, Name) #Name,
static const char * const operations[] = {SN_ELEMENTWISE_LIST(NAME)};
static unsigned char result[8 * MOST];

static size_t bytes_of(SimdTensorDataType type)
{
    static const size_t bytes[] = {4, 4, 1, 1, 8, 8, 1, 2, 2};
    return bytes[type];
}

/* The place in an operand of the result's element i. */
static size_t place(const size_t * shape, const size_t * result_shape, size_t count, size_t i)
{
    size_t at = 0, step = 1;
    for (size_t k = count; k-- > 0; i /= result_shape[k]) {
        at += shape[k] == 1 ? 0 : i % result_shape[k] * step;
        step *= shape[k];
    }
    return at;
}

/* ---- single elements */

static wide element(SimdTensorDataType type, const void * array, size_t i)
{
    const unsigned char * at = (const unsigned char *)array + i * bytes_of(type);
    switch (type) {
    case SimdTensorData32i: return *(const sn_32i *)at;
    case SimdTensorData8i: return (signed char)*at;
    case SimdTensorData64i: return *(const sn_64i *)at;
    case SimdTensorData64u: return (uint64_t) * (const sn_64i *)at;
    case SimdTensorDataBool: return *at != 0;
    default: return *at;
    }
}

static wide floor_divided(wide a, wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static wide power(wide a, wide b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    uint64_t product = 1; /* by the binary digits of the exponent, from the highest one */
    for (int bit = 63; bit >= 0; --bit)
        product = product * product * (b >> bit & 1 ? (uint64_t)a : 1);
    return (wide)product;
}

static wide shifted(wide a, wide b, bool left, SimdTensorDataType type)
{
    const uint64_t bits = (uint64_t)b;
    if (left)
        return bits < 64 ? (wide)((uint64_t)a << bits) : 0;
    return a >> (bits < 64 ? bits : type == SimdTensorData64u || a >= 0 ? 64 : 63);
}

static wide computed(SimdnetElementwiseOperation operation, SimdTensorDataType type, wide a, wide b)
{
    switch (operation) {
    case SimdnetElementwiseAdd: return a + b;
    case SimdnetElementwiseSubtract: return a - b;
    case SimdnetElementwiseMultiply: return (wide)((uint64_t)a * (uint64_t)b);
    case SimdnetElementwiseDivide: return b ? a / b : 0;
    case SimdnetElementwiseModulo: return b ? a - b * floor_divided(a, b) : 0;
    case SimdnetElementwiseRemainder: return b ? a % b : 0;
    case SimdnetElementwiseMaximum: return a > b ? a : b;
    case SimdnetElementwiseMinimum: return a < b ? a : b;
    case SimdnetElementwisePower: return power(a, b);
    case SimdnetElementwiseAnd: return a & b;
    case SimdnetElementwiseOr: return a | b;
    case SimdnetElementwiseXor: return a ^ b;
    case SimdnetElementwiseShiftLeft: return shifted(a, b, true, type);
    case SimdnetElementwiseShiftRight: return shifted(a, b, false, type);
    case SimdnetElementwiseEqual: return a == b;
    case SimdnetElementwiseNotEqual: return a != b;
    case SimdnetElementwiseLess: return a < b;
    default: return a <= b;
    }
}

static float remainder_of(float a, float b, bool modulo)
{
    const double rest = fmod(a, b);
    if (!modulo || isnan(rest))
        return (float)rest;
    return rest == 0 ? copysignf(0, b) : (rest < 0) != (b < 0) ? (float)rest + b : (float)rest;
}

static bool compared(SimdnetElementwiseOperation operation, float a, float b)
{
    return operation == SimdnetElementwiseEqual      ? a == b
           : operation == SimdnetElementwiseNotEqual ? a != b
           : operation == SimdnetElementwiseLess     ? a < b
                                                     : a <= b;
}

/* ---- SimdnetElementwise */

struct elementwise {
    SimdnetElementwiseParameters p;
    bool in_place; /* dst is a */
};

static void elementwise(const void * job, void * context, void * const * array)
{
    const struct elementwise * j = job;
    SimdnetElementwiseParameters p = j->p;
    size_t next = 0;
    (void)context;
    if (!j->in_place)
        p.a = array[next++];
    p.b = array[next++];
    p.dst = array[next];
    if (j->in_place)
        p.a = p.dst;
    SimdnetElementwise(&p);
}

static bool compares(SimdnetElementwiseOperation operation) { return operation >= SimdnetElementwiseEqual; }

static bool is_right(const SimdnetElementwiseParameters * p, size_t i)
{
    const size_t a = place(p->aShape, p->shape, p->count, i), b = place(p->bShape, p->shape, p->count, i);
    if (p->dataType == FLOAT) {
        const float x = ((const sn_32f *)p->a)[a], y = ((const sn_32f *)p->b)[b];
        if (compares(p->operation))
            return result[i] == compared(p->operation, x, y);
        const float expected = remainder_of(x, y, p->operation == SimdnetElementwiseModulo);
        return check_same(CHECK_32F, &((const sn_32f *)result)[i], &expected, 1) ||
               (isnan(expected) && isnan(((const sn_32f *)result)[i]));
    }
    const wide full = computed(p->operation, p->dataType, element(p->dataType, p->a, a), element(p->dataType, p->b, b));
    if (compares(p->operation) || p->dataType == BOOL)
        return result[i] == (full != 0);
    const uint64_t bits = (uint64_t)full; /* low bytes come first */
    return memcmp(result + i * bytes_of(p->dataType), &bits, bytes_of(p->dataType)) == 0;
}

/* Zeros, ones and the limits of the type among random numbers; small exponents and shifts. */
static void put_special(void * array, SimdTensorDataType type, size_t size)
{
    static const int64_t few[] = {0, 1, -1, 2, 3, -3, 7, 63, 64, 31, 32, 8, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < size && type != FLOAT; ++i) {
        const uint64_t lowest = UINT64_C(1) << (8 * bytes_of(type) - 1);
        const uint64_t bits = check_random(0, 4) ? (uint64_t)few[check_random(0, 15)] : lowest;
        if (check_random(0, 2))
            memcpy((char *)array + i * bytes_of(type), &bits, bytes_of(type));
    }
}

static void * declare(const char * name, SimdTensorDataType type, size_t size, enum check_fill fill)
{
    void * array = type == FLOAT ? check_in(name, CHECK_32F, size, fill)
                                 : check_in(name, CHECK_8U, size * bytes_of(type), CHECK_RANDOM);
    put_special(array, type, size);
    return array;
}

static SimdnetElementwiseParameters parameters_of(const size_t * a, const size_t * b, size_t count)
{
    SimdnetElementwiseParameters p = {.size = sizeof(p), .count = count};
    for (size_t k = 0; k < count; ++k) {
        p.aShape[k] = a[k];
        p.bShape[k] = b[k];
        p.shape[k] = a[k] == 1 ? b[k] : a[k];
    }
    return p;
}

static void elementwise_case(SimdnetElementwiseParameters p, enum check_fill fill)
{
    const size_t size = shape_size(p.shape, p.count), bytes = bytes_of(p.dataType);
    struct elementwise job = {p, false};
    char a[100], b[100];
    if (!check_case(ELEMENTWISE, "%s %s %s and %s %s", operations[p.operation], types[p.dataType],
                    shape_text(p.aShape, p.count, a), shape_text(p.bShape, p.count, b), check_fill_name(fill)))
        return;
    p.a = declare("a", p.dataType, shape_size(p.aShape, p.count), fill);
    p.b = declare("b", p.dataType, shape_size(p.bShape, p.count), fill);
    const bool floats = p.dataType == FLOAT && !compares(p.operation);
    check_out("dst", floats ? CHECK_32F : CHECK_8U, floats ? size : size * (compares(p.operation) ? 1 : bytes));
    check_exact(CHECK_NAN_FREE);
    check_run(elementwise, &job);
    p.dst = result;
    SimdnetElementwise(&p);
    size_t wrong = 0;
    for (size_t i = 0; i < size; ++i)
        wrong += !is_right(&p, i);
    check_that(wrong == 0, ELEMENTWISE, "%s %s %s and %s %s: %zu wrong: %s", operations[p.operation], types[p.dataType], a, b,
               check_fill_name(fill), wrong, SimdnetLastError());
}

static bool is_for(SimdnetElementwiseOperation operation, SimdTensorDataType type)
{
    return type != FLOAT || compares(operation) || operation == SimdnetElementwiseModulo ||
           operation == SimdnetElementwiseRemainder;
}

static void check_shapes(const size_t * a, const size_t * b, size_t count, size_t turn)
{
    SimdnetElementwiseParameters p = parameters_of(a, b, count);
    for (int operation = 0; operation < SN_ELEMENTWISE_OPERATIONS; ++operation)
        for (int type = 0; type <= SimdTensorDataBool; ++type) {
            p.operation = (SimdnetElementwiseOperation)operation;
            p.dataType = (SimdTensorDataType)type;
            if (is_for(p.operation, p.dataType))
                elementwise_case(p, (enum check_fill)(turn++ % CHECK_FILLS));
        }
}

static void in_place(void)
{
    SimdnetElementwiseParameters p = parameters_of((size_t[]){3, 700}, (size_t[]){1, 700}, 2);
    for (int type = SimdTensorData32i; type <= SimdTensorDataBool; ++type) {
        p.dataType = (SimdTensorDataType)type;
        p.operation = SimdnetElementwiseAdd;
        const struct elementwise job = {p, true};
        if (!check_case(ELEMENTWISE, "in place %s", types[type]))
            continue;
        check_in("b", CHECK_8U, 700 * bytes_of(p.dataType), CHECK_RANDOM);
        check_inout("dst", CHECK_8U, 2100 * bytes_of(p.dataType), CHECK_RANDOM);
        check_run(elementwise, &job);
    }
}

static void refuse(const char * text, SimdnetElementwiseParameters p)
{
    const struct elementwise job = {p, false};
    check_refused(CHECK_VALUE, text, elementwise, &job);
}

static void refusals(void)
{
    SimdnetElementwiseParameters good = parameters_of((size_t[]){2, 1}, (size_t[]){1, 3}, 2), p;
    good.dataType = SimdTensorData32i;
    const struct elementwise job = {good, false};
    check_case(ELEMENTWISE, "refusals");
    check_in("a", CHECK_32I, 2, CHECK_RANDOM);
    check_in("b", CHECK_32I, 3, CHECK_RANDOM);
    check_out("dst", CHECK_32I, 6);
    check_refused_null(elementwise, &job);
    check_refused_overlap(false, elementwise, &job);
    refuse("operation is 18", (p = good, p.operation = (SimdnetElementwiseOperation)SN_ELEMENTWISE_OPERATIONS, p));
    refuse("operation is -1", (p = good, p.operation = (SimdnetElementwiseOperation)-1, p));
    refuse("operation is Add", (p = good, p.dataType = SimdTensorData32f, p));
    refuse("dataType is SimdTensorData16b", (p = good, p.dataType = SimdTensorData16b, p));
    refuse("dataType is SimdTensorDataUnknown", (p = good, p.dataType = SimdTensorDataUnknown, p));
    refuse("count is 9", (p = good, p.count = 9, p));
    refuse("aShape[1] is 2, expected 1 or 3", (p = good, p.aShape[1] = 2, p));
    refuse("bShape[0] is 3, expected 1 or 2", (p = good, p.bShape[0] = 3, p));
    refuse("shape[1] is 3, expected 1", (p = good, p.bShape[1] = 1, p));
    refuse("size is 8", (p = good, p.size = 8, p));
    refuse("shape of", (p = good, p.shape[0] = p.aShape[0] = SIZE_MAX / 4, p));
    const struct elementwise empty = {(p = good, p.shape[0] = p.aShape[0] = 0, p), false};
    check_empty(elementwise, &empty);
    SimdnetElementwise(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, ELEMENTWISE, "NULL: %s", SimdnetLastError());
}

/* ---- SimdnetSelect */

static void selection(const void * job, void * context, void * const * array)
{
    SimdnetSelectParameters p = *(const SimdnetSelectParameters *)job;
    (void)context;
    p.condition = array[0];
    p.a = array[1];
    p.b = array[2];
    p.dst = array[3];
    SimdnetSelect(&p);
}

static void select_case(SimdTensorDataType type, const size_t * c, const size_t * a, const size_t * b, size_t count)
{
    SimdnetSelectParameters p = {.size = sizeof(p), .dataType = type, .count = count};
    const size_t bytes = bytes_of(type);
    char texts[3][100];
    for (size_t k = 0; k < count; ++k) {
        p.conditionShape[k] = c[k], p.aShape[k] = a[k], p.bShape[k] = b[k];
        p.shape[k] = c[k] != 1 ? c[k] : a[k] != 1 ? a[k] : b[k];
    }
    const size_t size = shape_size(p.shape, count);
    if (!check_case(SELECT, "type=%d %s ? %s : %s", (int)type, shape_text(c, count, texts[0]), shape_text(a, count, texts[1]),
                    shape_text(b, count, texts[2])))
        return;
    uint8_t * condition = check_in("condition", CHECK_8U, shape_size(c, count), CHECK_RANDOM);
    for (size_t i = 0; i < shape_size(c, count); ++i)
        condition[i] = check_random(0, 1) ? condition[i] : 0;
    p.condition = condition;
    p.a = check_in("a", CHECK_8U, shape_size(a, count) * bytes, CHECK_RANDOM);
    p.b = check_in("b", CHECK_8U, shape_size(b, count) * bytes, CHECK_RANDOM);
    check_out("dst", CHECK_8U, size * bytes);
    check_run(selection, &p);
    p.dst = result;
    SimdnetSelect(&p);
    size_t wrong = 0;
    for (size_t i = 0; i < size; ++i) {
        const bool first = condition[place(c, p.shape, count, i)] != 0;
        const char * from = first ? p.a : p.b;
        wrong += memcmp(result + i * bytes, from + place(first ? a : b, p.shape, count, i) * bytes, bytes) != 0;
    }
    check_that(wrong == 0, SELECT, "type=%d %s ? %s : %s: %zu wrong", (int)type, texts[0], texts[1], texts[2], wrong);
}

static void select_refusals(void)
{
    SimdnetSelectParameters good = {.size = sizeof(good), .dataType = SimdTensorData32f, .count = 1, .shape = {6},
                                    .conditionShape = {6}, .aShape = {6}, .bShape = {6}}, p;
    check_case(SELECT, "refusals");
    check_in("condition", CHECK_8U, 6, CHECK_RANDOM);
    check_in("a", CHECK_32F, 6, CHECK_RANDOM);
    check_in("b", CHECK_32F, 6, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 6);
    check_refused_null(selection, &good);
    check_refused_overlap(true, selection, &good);
    check_refused(CHECK_VALUE, "dataType", selection, (p = good, p.dataType = SimdTensorDataUnknown, &p));
    check_refused(CHECK_VALUE, "count is 9", selection, (p = good, p.count = 9, &p));
    check_refused(CHECK_VALUE, "conditionShape[0] is 5", selection, (p = good, p.conditionShape[0] = 5, &p));
    check_refused(CHECK_VALUE, "aShape[0] is 5", selection, (p = good, p.aShape[0] = 5, &p));
    check_refused(CHECK_VALUE, "bShape[0] is 5", selection, (p = good, p.bShape[0] = 5, &p));
    check_refused(CHECK_VALUE, "size is 8", selection, (p = good, p.size = 8, &p));
    p = good;
    p.shape[0] = p.conditionShape[0] = p.aShape[0] = p.bShape[0] = 0;
    check_empty(selection, &p);
    SimdnetSelect(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, SELECT, "NULL: %s", SimdnetLastError());
}

static void selections(void)
{
    for (int type = 0; type <= SimdTensorData16f; ++type) {
        const SimdTensorDataType of = (SimdTensorDataType)type;
        const size_t n = check_random(1, 1200);
        select_case(of, (size_t[]){n}, (size_t[]){n}, (size_t[]){n}, 1);
        select_case(of, (size_t[]){n}, (size_t[]){1}, (size_t[]){n}, 1);
        select_case(of, (size_t[]){2, 1, n}, (size_t[]){1, 5, n}, (size_t[]){1, 1, 1}, 3);
        select_case(of, (size_t[]){1, 5, 3}, (size_t[]){n, 1, 3}, (size_t[]){n, 5, 1}, 3);
    }
    select_case(SimdTensorData64i, NULL, NULL, NULL, 0);
    select_case(SimdTensorData32f, (size_t[]){1, 150}, (size_t[]){200, 150}, (size_t[]){200, 1}, 2);
    select_refusals();
}

CHECK_FAMILY(elementwise)
{
    for (size_t turn = 0; turn < (check_quick() ? 2 : 12); ++turn) {
        const size_t n = check_random(1, 40), m = check_random(2, 9);
        check_shapes((size_t[]){n + 500}, (size_t[]){n + 500}, 1, turn);
        check_shapes((size_t[]){n}, (size_t[]){1}, 1, turn);
        check_shapes((size_t[]){m, 1, n}, (size_t[]){1, 3, n}, 3, turn);
        check_shapes((size_t[]){1, 2, 1, m, 3}, (size_t[]){n, 1, 2, m, 1}, 5, turn);
    }
    check_shapes(NULL, NULL, 0, 0);
    SimdnetElementwiseParameters p = parameters_of((size_t[]){3, 9000}, (size_t[]){3, 1}, 2); /* several units of work */
    p.dataType = SimdTensorData32i;
    elementwise_case(p, CHECK_RANDOM);
    in_place();
    if (check_selected(ELEMENTWISE))
        refusals();
    if (check_selected(SELECT))
        selections();
}
