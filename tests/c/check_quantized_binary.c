/*
 * Sums and products of bytes with broadcasting, bit for bit as base. As all levels share the driver, a loop over indices
 * checks what is combined with what; every pair of bytes is compared with the formula.
 */
#include "check.h"
#include "shapes.h"

#define QUANTIZED_BINARY "SimdnetQuantizedBinary"

struct pair {
    SimdnetQuantizedBinaryParameters p;
    int in_place; /* the operand that is also dst: 1 is a, 2 is b */
};

static void quantized_binary(const void * job, void * context, void * const * array)
{
    const struct pair * j = job;
    SimdnetQuantizedBinaryParameters p = j->p;
    size_t next = 0;
    (void)context;
    p.a = j->in_place == 1 ? NULL : array[next++];
    p.b = j->in_place == 2 ? NULL : array[next++];
    p.dst = array[next];
    if (j->in_place == 1)
        p.a = p.dst;
    if (j->in_place == 2)
        p.b = p.dst;
    SimdnetQuantizedBinary(&p);
}

static SimdnetQuantizedBinaryParameters parameters_of(const size_t * a, const size_t * b, size_t count, size_t turn)
{
    SimdnetQuantizedBinaryParameters p = {.size = sizeof(p), .count = count};
    p.operation = turn & 1 ? SimdnetBinaryMultiply : SimdnetBinaryAdd;
    p.dataType = turn & 2 ? SimdTensorData8i : SimdTensorData8u;
    for (size_t k = 0; k < count; ++k) {
        p.aShape[k] = a[k];
        p.bShape[k] = b[k];
        p.shape[k] = a[k] == 1 ? b[k] : a[k];
    }
    const int32_t least = turn & 2 ? -128 : 0;
    p.aScale = turn & 4 ? 0.5f : check_random_32f(0.01f, 1), p.bScale = turn & 4 ? 0.25f : check_random_32f(0.01f, 1);
    p.dstScale = turn & 4 ? 0.5f : check_random_32f(0.01f, 1);
    p.aZero = (int32_t)check_random(0, 255) + least, p.bZero = (int32_t)check_random(0, 255) + least;
    p.dstZero = (int32_t)check_random(0, 255) + least;
    return p;
}

static bool pair_case(const struct pair * t, enum check_fill fill)
{
    const SimdnetQuantizedBinaryParameters * p = &t->p;
    const size_t size = shape_size(p->shape, p->count), a = shape_size(p->aShape, p->count), b = shape_size(p->bShape, p->count);
    if (!check_case(QUANTIZED_BINARY, "%s of %s: %zu and %zu of %zu dims %zu dst %d scales %g %g %g zeros %d %d %d %s",
                    p->operation == SimdnetBinaryAdd ? "Add" : "Multiply", p->dataType == SimdTensorData8i ? "8i" : "8u", a, b,
                    size, p->count, t->in_place, (double)p->aScale, (double)p->bScale, (double)p->dstScale, (int)p->aZero,
                    (int)p->bZero, (int)p->dstZero, check_fill_name(fill)))
        return false;
    if (t->in_place != 1)
        check_in("a", CHECK_8U, a, fill);
    if (t->in_place != 2)
        check_in("b", CHECK_8U, b, fill);
    if (t->in_place)
        check_inout("dst", CHECK_8U, size, fill);
    else
        check_out("dst", CHECK_8U, size);
    return true;
}

static void run(const size_t * a, const size_t * b, size_t count, size_t turn)
{
    struct pair t = {parameters_of(a, b, count, turn), (int)(turn / 8 % 3)};
    const size_t * own = t.in_place == 1 ? t.p.aShape : t.p.bShape;
    if (memcmp(own, t.p.shape, sizeof(t.p.shape)) != 0)
        t.in_place = 0;
    if (pair_case(&t, turn % 5 ? CHECK_RANDOM : CHECK_LARGE))
        check_run(quantized_binary, &t);
}

static void shapes(size_t n, size_t turn)
{
    const size_t m = turn % 11 + 2;
    run((size_t[]){n}, (size_t[]){n}, 1, turn);
    run((size_t[]){n}, (size_t[]){1}, 1, turn + 1);
    run((size_t[]){1}, (size_t[]){n}, 1, turn + 2);
    run((size_t[]){m, n}, (size_t[]){1, n}, 2, turn + 3);
    run((size_t[]){m, n}, (size_t[]){m, 1}, 2, turn + 4);
    run((size_t[]){m, 1}, (size_t[]){1, n}, 2, turn + 5);
    run((size_t[]){2, m, n}, (size_t[]){1, m, 1}, 3, turn + 6);
    run((size_t[]){1, m, 1, n, 3}, (size_t[]){2, 1, 2, 1, 3}, 5, turn + 7);
}

/* ---- without base */

static double number(const uint8_t * p, size_t i, bool negative) { return negative ? (int8_t)p[i] : p[i]; }

/* The formula with one operation of float after the other; sums of float products that double holds. */
static uint8_t expected(const SimdnetQuantizedBinaryParameters * p, double a, double b)
{
    const bool negative = p->dataType == SimdTensorData8i;
    const double least = negative ? -128 : 0;
    float t;
    if (p->operation == SimdnetBinaryAdd) {
        const float ra = p->aScale / p->dstScale, rb = p->bScale / p->dstScale;
        const float aPart = ra * (float)p->aZero, bPart = rb * (float)p->bZero, both = aPart + bPart;
        const float shift = (float)p->dstZero - both;
        t = fmaf((float)a, ra, fmaf((float)b, rb, shift));
    } else {
        const float scales = p->aScale * p->bScale, factor = scales / p->dstScale;
        const float product = (float)((a - p->aZero) * (b - p->bZero)) * factor;
        t = product + (float)p->dstZero;
    }
    return (uint8_t)(int)fmin(fmax(rint((double)t), least), least + 255);
}

/* All pairs of bytes, the columns by broadcasting; from turn 16 on with scales that exceed integers. */
static void every_pair(size_t turn)
{
    enum { BYTES = 256 };
    static uint8_t a[BYTES], dst[BYTES * BYTES];
    SimdnetQuantizedBinaryParameters p = parameters_of((size_t[]){BYTES, 1}, (size_t[]){1, BYTES}, 2, turn);
    const bool negative = p.dataType == SimdTensorData8i;
    for (size_t i = 0; i < BYTES; ++i)
        a[i] = (uint8_t)i;
    p.a = p.b = a, p.dst = dst;
    if (turn >= 16)
        p.aScale = 3e4f, p.dstScale = 1e-3f;
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        size_t bad = 0;
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        SimdnetQuantizedBinary(&p);
        for (size_t i = 0; i < sizeof(dst); ++i)
            bad += dst[i] != expected(&p, number(a, i / BYTES, negative), number(a, i % BYTES, negative));
        check_that(bad == 0, QUANTIZED_BINARY, "%d pairs differ on %s, turn %zu: %s", (int)bad, SimdnetIsaLevel(level), turn,
                   SimdnetLastError());
    }
    SimdnetSetMaxIsa(NULL);
}

/*
 * Random shapes, of which either operand or both are broadcast, on every instruction set, against a loop over all indices. Most
 * results of two dimensions are of several of the driver's blocks, which begin within rows.
 */
static void against_indices(void)
{
    static const size_t most[] = {20000, 141, 27, 11, 7, 5};
    static uint8_t a[20000], b[20000], dst[20000];
    for (size_t i = 0; i < sizeof(a); ++i)
        a[i] = (uint8_t)check_random(0, 255), b[i] = (uint8_t)check_random(0, 255);
    for (size_t n = 0; n < 200; ++n) {
        const size_t count = n % 3 ? n / 3 % 6 + 1 : 2;
        size_t shapes[2][6];
        for (size_t k = 0; k < count; ++k) {
            const size_t kind = check_random(0, 3), extent = check_random(count == 2 ? 60 : 1, most[count - 1]);
            shapes[0][k] = kind == 1 ? 1 : extent;
            shapes[1][k] = kind == 2 ? 1 : extent;
        }
        SimdnetQuantizedBinaryParameters p = parameters_of(shapes[0], shapes[1], count, n);
        const bool negative = p.dataType == SimdTensorData8i;
        const size_t size = shape_size(p.shape, count);
        p.a = a, p.b = b, p.dst = dst;
        for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
            size_t bad = 0;
            SimdnetSetMaxIsa(SimdnetIsaLevel(level));
            SimdnetQuantizedBinary(&p);
            for (size_t i = 0; i < size; ++i)
                bad += dst[i] != expected(&p, number(a, shape_index(p.shape, p.aShape, count, i), negative),
                                          number(b, shape_index(p.shape, p.bShape, count, i), negative));
            char x[100], y[100];
            check_that(bad == 0, QUANTIZED_BINARY, "%zu on %s: %s and %s: %zu wrong: %s", n, SimdnetIsaLevel(level),
                       shape_text(p.aShape, count, x), shape_text(p.bShape, count, y), bad, SimdnetLastError());
        }
    }
    SimdnetSetMaxIsa(NULL);
}

static void refuse(const char * text, SimdnetQuantizedBinaryParameters p)
{
    const struct pair t = {p, 0};
    check_refused(CHECK_VALUE, text, quantized_binary, &t);
}

static void refusals(void)
{
    const size_t shape[] = {2, 30};
    struct pair t = {parameters_of(shape, shape, 2, 2), 0};
    const SimdnetQuantizedBinaryParameters good = t.p;
    SimdnetQuantizedBinaryParameters p = good;
    pair_case(&t, CHECK_RANDOM);
    check_refused_null(quantized_binary, &t);
    check_refused_overlap(true, quantized_binary, &t);
    p.operation = SimdnetBinarySubtract;
    refuse("operation is 1", p);
    p = good, p.dataType = SimdTensorData32f;
    refuse("dataType is SimdTensorData32f", p);
    p = good, p.aScale = 0;
    refuse("aScale is 0", p);
    p = good, p.bScale = NAN;
    refuse("bScale is nan", p);
    p = good, p.dstScale = INFINITY;
    refuse("dstScale is inf", p);
    p = good, p.aZero = -129;
    refuse("aZero is -129", p);
    p = good, p.bZero = 128;
    refuse("bZero is 128", p);
    p = good, p.dataType = SimdTensorData8u, p.aZero = 0, p.bZero = 255, p.dstZero = 256;
    refuse("dstZero is 256", p);
    p = good, p.count = 9;
    refuse("count is 9", p);
    p = good, p.aShape[1] = 3;
    refuse("aShape[1] is 3", p);
    p = good, p.aShape[0] = p.bShape[0] = 1;
    refuse("shape[0] is 2", p);
    t.p.shape[0] = t.p.aShape[0] = t.p.bShape[0] = 0;
    check_empty(quantized_binary, &t);
    SimdnetQuantizedBinary(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, QUANTIZED_BINARY, "NULL: %s", SimdnetLastError());
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    static const size_t shapes[][2][2] = {{{1, 8192}, {1, 8192}}, {{64, 3136}, {64, 3136}}, {{64, 3136}, {64, 1}},
        {{3136, 64}, {1, 64}}};
    for (size_t i = 0; i < 4; ++i)
        for (size_t turn = 0; turn < 4; ++turn) {
            const struct pair t = {parameters_of(shapes[i][0], shapes[i][1], 2, turn), 0};
            if (pair_case(&t, CHECK_RANDOM))
                check_bench(quantized_binary, &t, 0, 3.0 * (double)(shapes[i][0][0] * shapes[i][0][1]));
        }
}

CHECK_FAMILY(quantized_binary)
{
    if (!check_selected(QUANTIZED_BINARY))
        return;
    size_t turn = 0;
    for (size_t n = 1; n <= 200; n += check_quick() ? 9 : 1)
        shapes(n, turn++);
    for (size_t i = 0, n = check_count(40); i < n; ++i)
        shapes(check_random_size(900), turn++);
    for (size_t k = 0; k < 4; ++k) { /* several units of work */
        run((size_t[]){3, 9000}, (size_t[]){3, 9000}, 2, k);
        run((size_t[]){3, 9000}, (size_t[]){3, 1}, 2, k);
    }
    for (size_t k = 0; k < 32; ++k)
        every_pair(k);
    against_indices();
    refusals();
    if (check_timed())
        bench();
}
