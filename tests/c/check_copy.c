/*
 * Permute, SimdnetCopy(), SimdnetPad(): exact copies. All levels share the driver, so every result is also compared with
 * that of a loop over all indices.
 */
#include "check.h"

#include <stdlib.h>

#define PERMUTE_INIT "SimdSynetPermuteInit"
#define PERMUTE "SimdSynetPermuteForward"
#define COPY "SimdnetCopy"
#define PAD "SimdnetPad"

enum { DIMENSIONS = SIMDNET_MAX_DIMENSIONS, TYPES = 9 };

static const size_t bytes_of[TYPES] = {4, 4, 1, 1, 8, 8, 1, 2, 2}; /* 32f 32i 8i 8u 64i 64u Bool 16b 16f */

/* The result that a loop over all indices gives, and the number of calls with another one. */
struct expected {
    uint8_t * dst;
    size_t bytes;
    size_t wrong;
};

static void compare(struct expected * e, const void * dst)
{
    if (e->bytes && memcmp(e->dst, dst, e->bytes) != 0)
        ++e->wrong;
}

static void report(struct expected * e, const char * function, const char * geometry)
{
    check_that(e->wrong == 0, function, "%zu results differ from those of a loop: %s", e->wrong, geometry);
    free(e->dst);
}

/* The next combination of indices; false after the last one. */
static bool next(size_t * index, const size_t * shape, size_t count)
{
    for (size_t k = count; k-- > 0;) {
        if (++index[k] < shape[k])
            return true;
        index[k] = 0;
    }
    return false;
}

static size_t product(const size_t * shape, size_t count)
{
    size_t all = 1;
    for (size_t k = 0; k < count; ++k)
        all *= shape[k];
    return all;
}

/* "3x4x5" */
static const char * text_of(char text[200], const size_t * numbers, size_t count)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t k = 0; k < count; ++k)
        n += (size_t)snprintf(text + n, 200 - n, "%s%zd", k ? "x" : "", (ptrdiff_t)numbers[k]);
    return text;
}

/* ---- SimdnetCopy() */

struct copy {
    SimdnetCopyParameters p;
    size_t src, dst; /* bytes of the arrays */
    size_t srcFirst, dstFirst; /* bytes from their beginning to the element with all indices 0 */
    struct expected * expected;
};

static void copy(const void * job, void * context, void * const * a)
{
    const struct copy * c = job;
    SimdnetCopyParameters p = c->p;
    (void)context;
    p.src = a[0] ? (const uint8_t *)a[0] + c->srcFirst : NULL;
    p.dst = a[1] ? (uint8_t *)a[1] + c->dstFirst : NULL;
    SimdnetCopy(&p);
    if (c->expected)
        compare(c->expected, a[1]);
}

static const size_t * unsigned_of(const ptrdiff_t * strides) { return (const size_t *)strides; }

static void expect_copy(const struct copy * c, const uint8_t * src, uint8_t * dst)
{
    const size_t element = bytes_of[c->p.dataType];
    size_t index[DIMENSIONS] = {0};
    if (product(c->p.shape, c->p.count) == 0)
        return;
    do {
        ptrdiff_t from = 0, to = 0;
        for (size_t k = 0; k < c->p.count; ++k) {
            from += (ptrdiff_t)index[k] * c->p.srcStride[k];
            to += (ptrdiff_t)index[k] * c->p.dstStride[k];
        }
        memcpy(dst + (ptrdiff_t)c->dstFirst + to * (ptrdiff_t)element,
               src + (ptrdiff_t)c->srcFirst + from * (ptrdiff_t)element, element);
    } while (next(index, c->p.shape, c->p.count));
}

/* The bytes of an array, and to its element with all indices 0. */
static size_t span(const SimdnetCopyParameters * p, const ptrdiff_t * stride, size_t * first)
{
    size_t below = 0, above = 0;
    for (size_t k = 0; k < p->count; ++k)
        if (stride[k] < 0)
            below += (p->shape[k] - 1) * (size_t)-stride[k];
        else
            above += (p->shape[k] - 1) * (size_t)stride[k];
    *first = below * bytes_of[p->dataType];
    return (below + above + 1) * bytes_of[p->dataType];
}

static struct copy copy_of(SimdnetCopyParameters p)
{
    struct copy c = {.p = p};
    c.p.size = sizeof(p);
    c.src = span(&p, p.srcStride, &c.srcFirst);
    c.dst = span(&p, p.dstStride, &c.dstFirst);
    return c;
}

static bool copy_case(const struct copy * c, char geometry[900])
{
    char shape[200], from[200], to[200];
    snprintf(geometry, 900, "type=%d shape=%s src=%s dst=%s", (int)c->p.dataType, text_of(shape, c->p.shape, c->p.count),
             text_of(from, unsigned_of(c->p.srcStride), c->p.count), text_of(to, unsigned_of(c->p.dstStride), c->p.count));
    return check_case(COPY, "%s", geometry);
}

static void check_copy_of(SimdnetCopyParameters p)
{
    struct copy c = copy_of(p);
    struct expected expected = {malloc(c.dst), c.dst, 0};
    char geometry[900];
    if (copy_case(&c, geometry) && expected.dst) {
        const uint8_t * src = check_in("src", CHECK_8U, c.src, CHECK_RANDOM);
        memcpy(expected.dst, check_inout("dst", CHECK_8U, c.dst, CHECK_RANDOM), c.dst);
        expect_copy(&c, src, expected.dst);
        c.expected = &expected;
        check_run(copy, &c);
    }
    report(&expected, COPY, geometry);
}

/* Strides of dense memory, with the dimensions in this order, the last one first in memory. */
static void dense(const size_t * shape, const size_t * order, size_t count, ptrdiff_t * stride)
{
    ptrdiff_t all = 1;
    for (size_t k = count; k-- > 0; all *= (ptrdiff_t)shape[order[k]])
        stride[order[k]] = all;
}

static void shuffle(size_t * order, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        order[k] = k;
    for (size_t k = count; k > 1; --k) {
        const size_t other = check_random(0, k - 1), swapped = order[k - 1];
        order[k - 1] = order[other];
        order[other] = swapped;
    }
}

/* Dense arrays in any order of dimensions, some with gaps, reversed or repeated dimensions. */
static void random_copy(size_t most, size_t type)
{
    SimdnetCopyParameters p = {.count = check_random(0, 5), .dataType = (SimdTensorDataType)type};
    size_t order[DIMENSIONS], padded[DIMENSIONS];
    for (size_t k = 0; k < p.count; ++k) {
        p.shape[k] = check_random(1, sn_max(most >> p.count, 2));
        padded[k] = p.shape[k] + (check_random(0, 3) == 0);
    }
    shuffle(order, p.count);
    dense(padded, order, p.count, p.dstStride);
    shuffle(order, p.count);
    dense(padded, order, p.count, p.srcStride);
    for (size_t k = 0; k < p.count; ++k) {
        const size_t kind = check_random(0, 11);
        p.srcStride[k] *= kind == 0 ? 0 : kind == 1 ? -1 : kind == 2 ? 2 : 1;
        p.dstStride[k] *= check_random(0, 9) ? 1 : -1;
    }
    check_copy_of(p);
}

/* A permutation of two of three dimensions: planes to pixels, and blocks of pixels. */
static void plain_copy(size_t type, size_t n, size_t rows, size_t columns, size_t inner)
{
    SimdnetCopyParameters p = {.dataType = (SimdTensorDataType)type, .count = 4, .shape = {n, rows, columns, inner}};
    dense(p.shape, (const size_t[]){0, 1, 2, 3}, 4, p.dstStride);
    dense(p.shape, (const size_t[]){0, 2, 1, 3}, 4, p.srcStride);
    check_copy_of(p);
}

static void copies(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 79, 80, 81, 130};
    static const size_t types[] = {SimdTensorData32f, SimdTensorData8u, SimdTensorData16b, SimdTensorData64i};
    const size_t count = sizeof(sizes) / sizeof(*sizes), step = check_quick() ? 5 : 1;
    for (size_t i = 0; i < count; i += step)
        for (size_t j = 0; j < count; j += step)
            for (size_t k = 0; k < sizeof(types) / sizeof(*types); ++k)
                plain_copy(types[k], 1 + (i + j) % 2, sizes[i], sizes[j], 1);
    for (size_t inner = 1; inner < 300; inner += inner < 20 ? step : 37)
        plain_copy(inner % TYPES, 2, 5, 7, inner);
    for (size_t type = 0; type < TYPES; ++type)
        for (size_t i = 0, n = check_count(40); i < n; ++i)
            random_copy(i % 8 ? 64 : 256, type);
    plain_copy(0, 1, 300, 260, 1); /* more than one unit of work */
    for (size_t pixels = 1; pixels <= 300; pixels += pixels < 70 ? 1 : 23) { /* colours, to planes and back */
        plain_copy(SimdTensorData8u, 1, 3, pixels, 1);
        plain_copy(SimdTensorData8u, 2, pixels, 3, 1);
    }
    for (size_t few = 7; few <= 33; few += few < 18 ? 1 : 15) /* short sides of bytes */
        for (size_t wide = 62; wide <= 68; wide += 3) {
            plain_copy(SimdTensorData8u, 1, few, wide, 1);
            plain_copy(SimdTensorData8u, 1, wide, few, 1);
        }
    plain_copy(0, 1, 3, 20000, 1);
    plain_copy(3, 40000, 2, 3, 1);
    for (size_t pixels = 1; pixels <= 130; ++pixels) /* of three bytes, which have a kernel of their own */
        plain_copy(SimdTensorData8u, 1, 3, pixels, 1);
    plain_copy(SimdTensorData8u, 2, 3, 40000, 1);
    for (ptrdiff_t distance = 3; distance <= 4; ++distance) /* windows that overlap, and three of four bytes */
        for (size_t rows = 3; rows <= 40; rows += 37)
            check_copy_of((SimdnetCopyParameters){.dataType = SimdTensorData8u, .count = 2, .shape = {rows, 100},
                              .srcStride = {1, distance}, .dstStride = {100, 1}});
    plain_copy(7, 3, 2, 2, 30000);
    check_copy_of((SimdnetCopyParameters){.count = 1, .shape = {100000}, .srcStride = {1}, .dstStride = {1}});
    check_copy_of((SimdnetCopyParameters){.count = 1, .shape = {100000}, .srcStride = {0}, .dstStride = {1}});
    check_copy_of((SimdnetCopyParameters){.count = 2, .shape = {3, 9000}, .srcStride = {1, 0}, .dstStride = {9001, 1}});
    check_copy_of((SimdnetCopyParameters){.count = 2, .shape = {50, 600}, .srcStride = {1, -1}, .dstStride = {600, 1}});
}

static void copy_refusals(void)
{
    char geometry[900];
    struct copy c = copy_of((SimdnetCopyParameters){.count = 2, .shape = {3, 4}, .srcStride = {1, 3}, .dstStride = {4, 1}});
    const struct copy good = c;
    copy_case(&c, geometry);
    check_in("src", CHECK_8U, c.src, CHECK_RANDOM);
    check_out("dst", CHECK_8U, c.dst);
    check_refused_null(copy, &c);
    check_refused_overlap(false, copy, &c);
    c.p.dataType = SimdTensorDataUnknown;
    check_refused(CHECK_VALUE, "dataType", copy, &c);
    c.p.dataType = (SimdTensorDataType)9;
    check_refused(CHECK_VALUE, "dataType", copy, &c);
    c = good;
    c.p.count = DIMENSIONS + 1;
    check_refused(CHECK_VALUE, "count", copy, &c);
    c = good;
    c.p.size = sizeof(c.p) - 1;
    check_refused(CHECK_VALUE, "size", copy, &c);
    c = good;
    c.p.shape[0] = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "shape", copy, &c);
    static const ptrdiff_t bad[] = {0, 1, -1, 3, -3};
    for (size_t i = 0; i < 5; ++i) { /* two indices with one place */
        c = good;
        c.p.dstStride[0] = bad[i];
        check_refused(CHECK_VALUE, "dstStride", copy, &c);
    }
    c = good;
    c.p.dstStride[0] = PTRDIFF_MIN;
    check_refused(CHECK_VALUE, "dstStride", copy, &c);
    c = good;
    c.p.srcStride[1] = PTRDIFF_MAX / 3;
    check_refused(CHECK_VALUE, "srcStride", copy, &c);
    c = good;
    c.p.shape[1] = 0;
    check_empty(copy, &c);
}

/* One array: some channels of pixels are copied to others of the same pixels, and to themselves. */
static void between_channels(void)
{
    uint8_t pixels[10 * 7];
    for (size_t i = 0; i < sizeof(pixels); ++i)
        pixels[i] = (uint8_t)i;
    SimdnetCopyParameters p = {sizeof(p), SimdTensorData8u, 2, {10, 3}, pixels, pixels + 4, {7, 1}, {7, 1}};
    SimdnetCopy(&p);
    bool same = SimdnetLastErrorKind() == 0;
    for (size_t i = 0; i < sizeof(pixels); ++i)
        same = same && pixels[i] == (i % 7 < 4 ? i : i - 4);
    check_that(same, COPY, "channels 0 to 2 are not copied to 4 to 6 of the same pixels");
    p.dst = pixels + 2;
    SimdnetCopy(&p);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, COPY, "channels 0 to 2 are copied to 2 to 4 of the same pixels");
    p.dst = pixels + 4;
    p.shape[0] = 5;
    p.srcStride[0] = 10; /* channels 4 to 6 of others, too */
    SimdnetCopy(&p);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, COPY, "pixels are copied to pixels at another distance");
}

/* ---- SimdnetPad() */

struct pad {
    SimdnetPadParameters p;
    size_t src, dst;
    uint64_t value;
    struct expected * expected;
};

static void pad(const void * job, void * context, void * const * a)
{
    const struct pad * c = job;
    SimdnetPadParameters p = c->p;
    (void)context;
    p.src = a[0];
    p.dst = a[1];
    p.value = c->value ? &c->value : NULL;
    SimdnetPad(&p);
    if (c->expected)
        compare(c->expected, a[1]);
}

/* The index of src, from an index of dst that counts from the interior; `extent` for a constant. */
static size_t source_of(ptrdiff_t i, size_t extent, SimdnetPadMode mode)
{
    const ptrdiff_t n = (ptrdiff_t)extent, period = mode == SimdnetPadWrap || n == 1 ? n : 2 * (n - 1);
    if (i >= 0 && i < n)
        return (size_t)i;
    if (mode == SimdnetPadConstant)
        return extent;
    if (mode == SimdnetPadEdge)
        return i < 0 ? 0 : extent - 1;
    const ptrdiff_t at = (i % period + period) % period;
    return (size_t)(at < n ? at : period - at);
}

static void expect_pad(const struct pad * c, const uint8_t * src, uint8_t * dst)
{
    const SimdnetPadParameters * p = &c->p;
    const size_t element = bytes_of[p->dataType];
    size_t index[DIMENSIONS] = {0}, shape[DIMENSIONS];
    for (size_t k = 0; k < p->count; ++k)
        shape[k] = p->before[k] + p->shape[k] + p->after[k];
    do {
        size_t from = 0;
        bool outside = false;
        for (size_t k = 0; k < p->count; ++k) {
            const size_t at = source_of((ptrdiff_t)index[k] - (ptrdiff_t)p->before[k], p->shape[k], p->mode);
            outside = outside || at == p->shape[k];
            from = from * p->shape[k] + at;
        }
        memcpy(dst, outside ? (const uint8_t *)&c->value : src + from * element, element);
        dst += element;
    } while (next(index, shape, p->count));
}

static bool pad_case(struct pad * c, SimdnetPadParameters p, char geometry[900])
{
    char shape[200], before[200], after[200];
    size_t dst = bytes_of[p.dataType];
    for (size_t k = 0; k < p.count; ++k)
        dst *= p.before[k] + p.shape[k] + p.after[k];
    p.size = sizeof(p);
    *c = (struct pad){p, product(p.shape, p.count) * bytes_of[p.dataType], dst, dst % 3 ? 0x8899AABBCCDDEEFF : 0, NULL};
    snprintf(geometry, 900, "mode=%d type=%d shape=%s before=%s after=%s", (int)p.mode, (int)p.dataType,
             text_of(shape, p.shape, p.count), text_of(before, p.before, p.count), text_of(after, p.after, p.count));
    return check_case(PAD, "%s", geometry);
}

static void check_pad_of(SimdnetPadParameters p)
{
    struct pad c;
    char geometry[900];
    const bool wanted = pad_case(&c, p, geometry);
    struct expected expected = {malloc(c.dst), c.dst, 0};
    if (wanted && expected.dst) {
        const uint8_t * src = check_in("src", CHECK_8U, c.src, CHECK_RANDOM);
        check_out("dst", CHECK_8U, c.dst);
        if (c.dst)
            expect_pad(&c, src, expected.dst);
        c.expected = &expected;
        check_run(pad, &c);
    }
    report(&expected, PAD, geometry);
}

static void pads(void)
{
    for (int mode = SimdnetPadConstant; mode <= SimdnetPadWrap; ++mode) {
        for (size_t i = 0, n = check_count(60); i < n; ++i) {
            SimdnetPadParameters p = {.mode = (SimdnetPadMode)mode, .count = check_random(0, 4),
                                      .dataType = (SimdTensorDataType)check_random(0, TYPES - 1)};
            for (size_t k = 0; k < p.count; ++k) {
                p.shape[k] = check_random(mode || i % 7 ? 1 : 0, i % 5 ? 5 : 17);
                p.before[k] = check_random(0, 2) ? 0 : check_random(0, 12);
                p.after[k] = check_random(0, 2) ? check_random(0, 3) : check_random(0, 12);
            }
            check_pad_of(p);
        }
        check_pad_of((SimdnetPadParameters){.mode = (SimdnetPadMode)mode, .count = 4, .shape = {2, 30, 30, 20},
                                            .before = {0, 1, 2, 0}, .after = {0, 3, 0, 0}});
        check_pad_of((SimdnetPadParameters){.mode = (SimdnetPadMode)mode, .count = 2, .shape = {100, 300},
                                            .before = {1, 1}, .after = {1, 1}});
    }
}

static void pad_refusals(void)
{
    char geometry[900];
    struct pad c;
    pad_case(&c, (SimdnetPadParameters){.count = 2, .shape = {3, 4}, .before = {1, 0}, .after = {0, 2}}, geometry);
    const struct pad good = c;
    check_in("src", CHECK_8U, c.src, CHECK_RANDOM);
    check_out("dst", CHECK_8U, c.dst);
    check_refused_null(pad, &c);
    check_refused_overlap(false, pad, &c);
    for (int mode = -1; mode <= 4; mode += 5) {
        c = good;
        c.p.mode = (SimdnetPadMode)mode;
        check_refused(CHECK_VALUE, "mode", pad, &c);
    }
    c = good;
    c.p.dataType = SimdTensorDataUnknown;
    check_refused(CHECK_VALUE, "dataType", pad, &c);
    c = good;
    c.p.size = 8;
    check_refused(CHECK_VALUE, "size", pad, &c);
    c = good;
    c.p.before[1] = SIZE_MAX;
    check_refused(CHECK_VALUE, "before", pad, &c);
    c = good;
    c.p.after[1] = SIZE_MAX / 16;
    check_refused(CHECK_VALUE, "after", pad, &c);
    c = good;
    c.p.shape[1] = 0;
    c.p.mode = SimdnetPadEdge;
    check_refused(CHECK_VALUE, "shape", pad, &c);
    c.p.shape[1] = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "shape", pad, &c);
    c = good;
    c.p.shape[1] = c.p.after[1] = 0;
    check_empty(pad, &c);
}

/* ---- Permute */

struct permute {
    size_t shape[6], order[6], count;
    int type;
    const size_t * no_array; /* shape or order, which is passed as NULL */
    struct expected * expected;
};

static void * permute_open(const void * job, void * const * a)
{
    const struct permute * p = job;
    (void)a;
    return SimdSynetPermuteInit(p->no_array == p->shape ? NULL : p->shape, p->no_array == p->order ? NULL : p->order,
                                p->count, (SimdTensorDataType)p->type);
}

static void permute(const void * job, void * context, void * const * a)
{
    const struct permute * p = job;
    SimdSynetPermuteForward(context, a[0], a[1]);
    if (p->expected)
        compare(p->expected, a[1]);
}

static void permute_forward(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdnetForward(context, &(SimdnetForwardParameters){.size = sizeof(SimdnetForwardParameters), .src = a[0], .dst = a[1]});
}

static size_t permute_case(const struct permute * p, char geometry[900])
{
    char shape[200], order[200];
    snprintf(geometry, 900, "type=%d shape=%s order=%s", p->type, text_of(shape, p->shape, p->count),
             text_of(order, p->order, p->count));
    check_case(PERMUTE, "%s", geometry);
    check_open(permute_open);
    return product(p->shape, p->count) * bytes_of[p->type];
}

static void check_permute(struct permute p)
{
    char geometry[900];
    const size_t bytes = permute_case(&p, geometry);
    struct expected expected = {malloc(bytes), bytes, 0};
    const uint8_t * src = check_in("src", CHECK_8U, bytes, CHECK_RANDOM);
    check_out("dst", CHECK_8U, bytes);
    struct copy c = {.p = {.count = p.count, .dataType = (SimdTensorDataType)p.type}};
    ptrdiff_t stride[6];
    dense(p.shape, (const size_t[]){0, 1, 2, 3, 4}, p.count, stride);
    for (size_t i = 0; i < p.count; ++i) {
        c.p.shape[i] = p.shape[p.order[i]];
        c.p.srcStride[i] = stride[p.order[i]];
    }
    dense(c.p.shape, (const size_t[]){0, 1, 2, 3, 4}, p.count, c.p.dstStride);
    expect_copy(&c, src, expected.dst);
    p.expected = &expected;
    check_run(permute, &p);
    check_run(permute_forward, &p);
    report(&expected, PERMUTE, geometry);
}

static void permutes(void)
{
    for (size_t i = 0, n = check_count(300); i < n; ++i) {
        struct permute p = {.count = check_random(2, 5), .type = (int)(i % TYPES)};
        size_t moved = 0;
        for (size_t k = 0; k < p.count; ++k)
            p.shape[k] = check_random(1, i % 10 ? 9 : 20);
        shuffle(p.order, p.count);
        for (size_t k = 0; k < p.count; ++k)
            moved += p.order[k] != k && p.shape[p.order[k]] != 1;
        if (moved >= 2)
            check_permute(p);
    }
    check_permute((struct permute){{1, 3, 5}, {1, 2, 0}, 3, 0, NULL, NULL}); /* the bytes stay in order */
    check_permute((struct permute){{2, 64, 20, 21}, {0, 2, 3, 1}, 4, 0, NULL, NULL});
    check_permute((struct permute){{2, 20, 21, 64}, {0, 3, 1, 2}, 4, 0, NULL, NULL});
    check_permute((struct permute){{2, 50, 12, 64}, {0, 2, 1, 3}, 4, 0, NULL, NULL});
    check_permute((struct permute){{50, 6, 33}, {1, 0, 2}, 3, 0, NULL, NULL});
}

static void permute_refusals(void)
{
    const struct permute good = {{3, 4, 5}, {2, 0, 1}, 3, 0, NULL, NULL};
    const struct {
        struct permute p;
        const char * argument;
    } bad[] = {
        {{{12}, {0}, 1, 0, NULL, NULL}, "count"},
        {{{1, 2, 1, 2, 1, 2}, {5, 4, 3, 2, 1, 0}, 6, 0, NULL, NULL}, "count"},
        {{{3, 0, 5}, {2, 0, 1}, 3, 0, NULL, NULL}, "shape"},
        {{{3, 4, 5}, {2, 3, 1}, 3, 0, NULL, NULL}, "order"},
        {{{3, 4, 5}, {2, 2, 1}, 3, 0, NULL, NULL}, "order"},
        {{{3, 4, 5}, {0, 1, 2}, 3, 0, NULL, NULL}, "order"},
        {{{1, 4, 1}, {1, 0, 2}, 3, 0, NULL, NULL}, "order"},
        {{{3, 4, 5}, {2, 0, 1}, 3, -1, NULL, NULL}, "type"},
        {{{3, 4, 5}, {2, 0, 1}, 3, 9, NULL, NULL}, "type"},
        {{{SIZE_MAX / 4, 4, 5}, {2, 0, 1}, 3, 0, NULL, NULL}, "shape"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); ++i) {
        check_case(PERMUTE_INIT, "bad %s %zu", bad[i].argument, i);
        check_open(permute_open);
        check_refused(CHECK_VALUE, bad[i].argument, NULL, &bad[i].p);
    }
    struct permute p = good;
    check_case(PERMUTE_INIT, "no arrays");
    check_open(permute_open);
    p.no_array = p.shape;
    check_refused(CHECK_VALUE, "shape", NULL, &p);
    p.no_array = p.order;
    check_refused(CHECK_VALUE, "order", NULL, &p);
    char geometry[900];
    const size_t bytes = permute_case(&good, geometry);
    check_in("src", CHECK_8U, bytes, CHECK_RANDOM);
    check_out("dst", CHECK_8U, bytes);
    check_refused_null(permute, &good);
    check_refused_overlap(false, permute, &good);
    void * context = permute_open(&good, NULL);
    check_that(context && SimdSynetPermuteInternalBufferSize(context) == 0 && SimdnetLastErrorKind() == 0,
               "SimdSynetPermuteInternalBufferSize", "is not 0");
    SimdRelease(context);
}

/* ---- times; aim: those of a copy */

static void bench(void)
{
    static const struct permute orders[] = {
        {{1, 64, 56, 56}, {0, 2, 3, 1}, 4, 0, NULL, NULL}, {{1, 56, 56, 64}, {0, 3, 1, 2}, 4, 0, NULL, NULL},
        {{1, 196, 12, 64}, {0, 2, 1, 3}, 4, 0, NULL, NULL}, {{40, 8, 512}, {1, 0, 2}, 3, 0, NULL, NULL},
        {{1, 64, 56, 56}, {0, 2, 3, 1}, 4, 3, NULL, NULL}, {{1, 64, 56, 56}, {0, 2, 3, 1}, 4, 7, NULL, NULL},
        {{1, 64, 56, 56}, {0, 2, 3, 1}, 4, 4, NULL, NULL}, {{8, 8, 3136}, {1, 0, 2}, 3, 0, NULL, NULL},
        {{3136, 8, 8}, {0, 2, 1}, 3, 0, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); ++i) {
        char geometry[900];
        const size_t bytes = permute_case(&orders[i], geometry);
        check_in("src", CHECK_8U, bytes, CHECK_RANDOM);
        check_out("dst", CHECK_8U, bytes);
        check_bench(permute, &orders[i], 0, 2.0 * (double)bytes);
    }
}

CHECK_FAMILY(copy)
{
    copies();
    copy_refusals();
    between_channels();
    pads();
    pad_refusals();
    permutes();
    permute_refusals();
    if (check_timed())
        bench();
}
