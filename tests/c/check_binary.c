/*
 * SimdnetBinary: exact, except for powers (2 ULP) and activations (the errors of their own functions, on exact values). As
 * all instruction sets share the driver, a loop over indices checks what is combined with what.
 */
#include "check.h"
#include "shapes.h"
#include "contract/enums.h"

#define BINARY "SimdnetBinary"

enum { MOST = 8, NONE = 0, A = 1, B = 2 };

struct binary {
    SimdnetBinaryParameters p;
    int in_place; /* the operand that is also dst */
};

static void binary(const void * job, void * context, void * const * array)
{
    const struct binary * j = job;
    SimdnetBinaryParameters p = j->p;
    size_t next = 0;
    (void)context;
    if (j->in_place != A)
        p.a = array[next++];
    if (j->in_place != B)
        p.b = array[next++];
    p.dst = array[next];
    if (j->in_place == A)
        p.a = p.dst;
    if (j->in_place == B)
        p.b = p.dst;
    SimdnetBinary(&p);
}

static SimdnetBinaryParameters parameters_of(const size_t * a, const size_t * b, size_t count)
{
    SimdnetBinaryParameters p = {.size = sizeof(p), .count = count};
    for (size_t k = 0; k < count; ++k) {
        p.aShape[k] = a[k];
        p.bShape[k] = b[k];
        p.shape[k] = a[k] == 1 ? b[k] : a[k];
    }
    return p;
}

#define NAME(NAME, Name, name) #name,
static const char * const names[] = {SN_BINARY_LIST(NAME)};

/* All magnitudes whose powers are neither 0 nor infinity, and some beyond; bases of both signs if the exponent is whole. */
static void fill_for_power(float * a, size_t a_size, float * b, size_t b_size, bool whole)
{
    for (size_t i = 0; i < b_size; ++i) {
        b[i] = check_random_32f(-1, 1) * exp2f(check_random_32f(-3, 9));
        b[i] = whole ? rintf(b[i]) : b[i];
    }
    for (size_t i = 0; i < a_size; ++i) {
        a[i] = exp2f(check_random_32f(-155, 155) / fmaxf(0.5f, fabsf(b[i % b_size])));
        a[i] = whole && i % 2 ? -a[i] : a[i];
    }
}

static struct binary binary_case(SimdnetBinaryParameters p, int in_place, enum check_fill fill)
{
    const struct binary job = {p, in_place};
    const size_t sizes[] = {shape_size(p.aShape, p.count), shape_size(p.bShape, p.count), shape_size(p.shape, p.count)};
    char a[100], b[100];
    if (!check_case(BINARY, "%s a=%s b=%s dst=%d activation=%d %s", names[p.operation], shape_text(p.aShape, p.count, a),
                    shape_text(p.bShape, p.count, b), in_place, (int)p.activation, check_fill_name(fill)))
        return job;
    float * x = in_place == A ? NULL : check_in("a", CHECK_32F, sizes[0], fill);
    float * y = in_place == B ? NULL : check_in("b", CHECK_32F, sizes[1], fill);
    if (in_place)
        check_inout("dst", CHECK_32F, sizes[2], fill);
    else
        check_out("dst", CHECK_32F, sizes[2]);
    if (p.operation == SimdnetBinaryPower && x && y && (fill == CHECK_RANDOM || fill == CHECK_EQUAL))
        fill_for_power(x, sizes[0], y, sizes[1], fill == CHECK_EQUAL);
    if (p.operation == SimdnetBinaryDivide && x && fill == CHECK_RANDOM)
        for (size_t i = 0; i < sizes[0]; ++i)
            x[i] *= exp2f(check_random_32f(-140, 120));
    if (p.operation == SimdnetBinaryDivide || p.operation == SimdnetBinaryPower)
        check_raises_like_base();
    if (p.activation >= SimdConvolutionActivationElu && p.activation != SimdConvolutionActivationHswish &&
        p.activation != SimdConvolutionActivationHardSigmoid)
        check_ulp(5);
    else if (p.operation == SimdnetBinaryPower)
        check_ulp(2);
    else if (p.operation == SimdnetBinaryReplace && !p.activation)
        check_exact(0);
    else
        check_exact(CHECK_NAN_FREE | CHECK_ZERO_FREE);
    return job;
}

static void check_operation_at(int operation, const size_t * a, const size_t * b, size_t count, size_t turn)
{
    SimdnetBinaryParameters p = parameters_of(a, b, count);
    const bool fits[] = {true, memcmp(p.aShape, p.shape, sizeof(p.shape)) == 0,
                         memcmp(p.bShape, p.shape, sizeof(p.shape)) == 0};
    const int in_place = (int)(turn / 7 % 4);
    p.operation = (SimdnetBinaryOperation)operation;
    const struct binary job =
        binary_case(p, in_place < 3 && fits[in_place] ? in_place : NONE, (enum check_fill)(turn % CHECK_FILLS));
    check_run(binary, &job);
}

static void check_binary_at(const size_t * a, const size_t * b, size_t count, size_t turn)
{
    for (int operation = 0; operation < SN_BINARY_OPERATIONS; ++operation, ++turn)
        check_operation_at(operation, a, b, count, turn);
}

/* Shapes of the usual broadcasts, n elements in the last dimension; then what remains of NumPy's. */
static void shapes(size_t n, size_t turn)
{
    const size_t m = turn % 11 + 2;
    check_binary_at((size_t[]){n}, (size_t[]){n}, 1, turn);
    check_binary_at((size_t[]){n}, (size_t[]){1}, 1, turn + 1);
    check_binary_at((size_t[]){1}, (size_t[]){n}, 1, turn + 2);
    check_binary_at((size_t[]){m, n}, (size_t[]){1, n}, 2, turn + 3);
    check_binary_at((size_t[]){1, n}, (size_t[]){m, n}, 2, turn + 4);
    check_binary_at((size_t[]){m, n}, (size_t[]){m, 1}, 2, turn + 5);
    check_binary_at((size_t[]){m, 1}, (size_t[]){1, n}, 2, turn + 6);
    check_binary_at((size_t[]){2, m, n}, (size_t[]){1, m, 1}, 3, turn + 1);
    check_binary_at((size_t[]){2, 1, n}, (size_t[]){2, m, 1}, 3, turn + 2);
    check_binary_at((size_t[]){1, m, 1, n, 3}, (size_t[]){2, 1, 2, 1, 3}, 5, turn + 3);
}

static void activations(void)
{
    static const float params[][2] = {{0}, {0},           {0.1f}, {-0.5f, 0.5f},     {0}, {1},
                                      {3, 1 / 6.0f}, {20}, {1 / 6.0f, 0.5f}, {1}, {0}};
    for (size_t turn = 0; turn < 70; ++turn) {
        const size_t kind = turn % 12, n = turn / 12 ? check_random(1, 6000) : 5000;
        if (kind == SimdConvolutionActivationPrelu)
            continue;
        SimdnetBinaryParameters p = parameters_of((size_t[]){3, n}, (size_t[]){3, turn % 2 ? n : 1}, 2);
        p.operation = (SimdnetBinaryOperation)(turn % 6);
        p.activation = kind == 11 ? SimdnetConvolutionActivationSigmoid : (SimdConvolutionActivationType)kind;
        memcpy(p.params, params[kind % 11], sizeof(p.params));
        const struct binary job = binary_case(p, turn % 5 == 1 ? A : NONE, turn % 3 ? CHECK_RANDOM : CHECK_TIES);
        check_run(binary, &job);
    }
}

/* Random shapes on every instruction set, against a loop over all indices. */
static void against_indices(void)
{
    static float a[20000], b[20000], dst[20000];
    for (size_t n = 0, count = check_count(2000); n < count; ++n) {
        SimdnetBinaryParameters p = {.size = sizeof(p), .count = check_random(0, 6), .operation = SimdnetBinarySubtract,
                                     .a = a, .b = b, .dst = dst};
        const size_t most = p.count < 3 ? 100 : p.count < 4 ? 20 : 5;
        for (size_t k = 0; k < p.count; ++k) {
            const size_t kind = check_random(0, 3);
            p.shape[k] = check_random(1, most);
            p.aShape[k] = kind == 1 ? 1 : p.shape[k];
            p.bShape[k] = kind == 2 ? 1 : p.shape[k];
        }
        const size_t size = shape_size(p.shape, p.count);
        for (size_t i = 0; i < size; ++i)
            a[i] = (float)i, b[i] = (float)(3 * i);
        for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
            SimdnetSetMaxIsa(SimdnetIsaLevel(level));
            memset(dst, 0xFF, sizeof(dst));
            SimdnetBinary(&p);
            size_t bad = 0;
            for (size_t i = 0; i < size; ++i)
                bad += dst[i] != a[shape_index(p.shape, p.aShape, p.count, i)] - b[shape_index(p.shape, p.bShape, p.count, i)];
            char x[100], y[100];
            check_that(bad == 0, BINARY, "%zu on %s: %s and %s: %zu wrong: %s", n, SimdnetIsaLevel(level),
                       shape_text(p.aShape, p.count, x), shape_text(p.bShape, p.count, y), bad, SimdnetLastError());
        }
    }
    SimdnetSetMaxIsa(NULL);
}

static void refuse(const char * text, SimdnetBinaryParameters p)
{
    const struct binary job = {p, NONE};
    const struct binary good = binary_case(parameters_of((size_t[]){2, 3}, (size_t[]){2, 1}, 2), NONE, CHECK_RANDOM);
    (void)good;
    check_refused(CHECK_VALUE, text, binary, &job);
}

static void refusals(void)
{
    const SimdnetBinaryParameters good = parameters_of((size_t[]){2, 3}, (size_t[]){2, 1}, 2);
    SimdnetBinaryParameters p = good;
    const struct binary job = binary_case(parameters_of((size_t[]){2, 1}, (size_t[]){1, 3}, 2), NONE, CHECK_RANDOM);
    check_refused_null(binary, &job);
    check_refused_overlap(false, binary, &job);
    const struct binary same = binary_case(parameters_of((size_t[]){6}, (size_t[]){6}, 1), NONE, CHECK_RANDOM);
    check_refused_overlap(true, binary, &same);
    refuse("operation is", (p = good, p.operation = (SimdnetBinaryOperation)SN_BINARY_OPERATIONS, p));
    refuse("operation is -1", (p = good, p.operation = (SimdnetBinaryOperation)-1, p));
    refuse("count is 9", (p = good, p.count = 9, p));
    refuse("aShape[1] is 2, expected 1 or 3", (p = good, p.aShape[1] = 2, p));
    refuse("bShape[0] is 3, expected 1 or 2", (p = good, p.bShape[0] = 3, p));
    refuse("shape[1] is 3, expected 1", (p = good, p.aShape[1] = 1, p));
    refuse("activation is SimdConvolutionActivationPrelu", (p = good, p.activation = SimdConvolutionActivationPrelu, p));
    refuse("activation is 11", (p = good, p.activation = (SimdConvolutionActivationType)11, p));
    refuse("size is 8", (p = good, p.size = 8, p));
    refuse("shape has more", (p = good, p.shape[0] = p.aShape[0] = SIZE_MAX / 4, p.bShape[0] = 1, p));
    const struct binary empty = {parameters_of((size_t[]){0, 3}, (size_t[]){1, 3}, 2), NONE};
    check_empty(binary, &empty);
    SimdnetBinary(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, BINARY, "NULL: %s", SimdnetLastError());
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    static const size_t shapes_of[][2][4] = {
        {{1, 64, 56, 56}, {1, 64, 56, 56}}, {{1, 64, 56, 56}, {1, 1, 1, 1}}, {{1, 56, 56, 64}, {1, 1, 1, 64}},
        {{1, 64, 56, 56}, {1, 64, 1, 1}},   {{4, 64, 28, 28}, {4, 64, 1, 1}}, {{1, 224, 224, 3}, {1, 1, 1, 3}},
        {{1, 512, 7, 7}, {1, 512, 1, 1}},   {{1, 1, 1, 1000}, {1, 1, 1, 1000}}};
    for (size_t i = 0; i < sizeof(shapes_of) / sizeof(shapes_of[0]); ++i)
        for (int operation = 0; operation < SN_BINARY_OPERATIONS; ++operation) {
            SimdnetBinaryParameters p = parameters_of(shapes_of[i][0], shapes_of[i][1], 4);
            p.operation = (SimdnetBinaryOperation)operation;
            const struct binary job = binary_case(p, NONE, CHECK_EQUAL);
            check_bench(binary, &job, 0, 4.0 * (double)(2 * shape_size(p.shape, 4) + shape_size(p.bShape, 4)));
        }
}

CHECK_FAMILY(binary)
{
    size_t turn = 0;
    for (size_t n = 1; n <= 300; n += check_quick() ? 13 : n < 140 ? 1 : 7)
        shapes(n, turn++);
    check_binary_at((size_t[]){70000}, (size_t[]){70000}, 1, 0); /* more than one unit of work */
    for (turn = 0; turn < 2 * CHECK_FILLS; ++turn) /* long rows by numbers, which are divided by the inverse */
        check_operation_at(SimdnetBinaryDivide, (size_t[]){5, 600 + turn}, (size_t[]){5, 1}, 2, turn);
    check_binary_at((size_t[]){30000, 3}, (size_t[]){1, 3}, 2, 1);
    check_binary_at((size_t[]){5, 64, 300}, (size_t[]){5, 64, 1}, 3, 2);
    if (!check_quick()) {
        check_operation_at(SimdnetBinaryAdd, (size_t[]){8000003}, (size_t[]){8000003}, 1, 0); /* beyond the caches */
        check_operation_at(SimdnetBinarySubtract, (size_t[]){64, 1}, (size_t[]){64, 125001}, 2, 1);
    }
    activations();
    if (check_selected(BINARY))
        against_indices();
    refusals();
    if (check_timed())
        bench();
}
