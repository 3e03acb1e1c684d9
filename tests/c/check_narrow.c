/*
 * Conversions of floats to bfloat16 and half precision, and back: bit for bit as base, which is compared with the C
 * library's rounding of every 16-bit number, of the floats half-way between two and of their neighbours.
 */
#include "check.h"

enum { PATTERNS = 1 << 16, EACH = 4 };

struct narrow {
    size_t size;
};

static void to_bfloat16(const void * job, void * context, void * const * a)
{
    (void)context;
    SimdFloat32ToBFloat16(a[0], ((const struct narrow *)job)->size, a[1]);
}

static void from_bfloat16(const void * job, void * context, void * const * a)
{
    (void)context;
    SimdBFloat16ToFloat32(a[0], ((const struct narrow *)job)->size, a[1]);
}

static void to_half(const void * job, void * context, void * const * a)
{
    (void)context;
    SimdFloat32ToFloat16(a[0], ((const struct narrow *)job)->size, a[1]);
}

static void from_half(const void * job, void * context, void * const * a)
{
    (void)context;
    SimdFloat16ToFloat32(a[0], ((const struct narrow *)job)->size, a[1]);
}

/* The conversions: to 16 bits or from, and a number of 16 bits has `bits` bits of fraction and exponents from `least` on. */
static const struct {
    const char * name;
    check_call_fn call;
    bool narrows;
    int bits, least, most;
} functions[] = {{"SimdFloat32ToBFloat16", to_bfloat16, true, 7, -126, 127},
                 {"SimdBFloat16ToFloat32", from_bfloat16, false, 7, -126, 127},
                 {"SimdFloat32ToFloat16", to_half, true, 10, -14, 15},
                 {"SimdFloat16ToFloat32", from_half, false, 10, -14, 15}};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* Declares the arrays of a case; NULL if it is left out. */
static void * narrow_case(int which, size_t size, const char * text, enum check_fill fill)
{
    if (!check_case(functions[which].name, "size=%zu %s", size, text))
        return NULL;
    void * src = check_in("src", functions[which].narrows ? CHECK_32F : CHECK_16B, size, fill);
    check_out("dst", functions[which].narrows ? CHECK_16B : CHECK_32F, size);
    return src;
}

static void sizes(int which, size_t size, enum check_fill fill)
{
    const struct narrow job = {size};
    if (narrow_case(which, size, check_fill_name(fill), fill))
        check_run(functions[which].call, &job);
}

/* ---- every number of 16 bits */

/* Its float. NaN is compared by its bits: the sign and the upper bits of the fraction. */
static uint32_t widened(int which, uint16_t x)
{
    const int bits = functions[which].bits, least = functions[which].least;
    const uint32_t sign = (uint32_t)(x >> 15) << 31, fraction = x & ((1U << bits) - 1);
    const int exponent = (x & 0x7FFF) >> bits;
    if (exponent == functions[which].most - least + 2)
        return sign | 0x7F800000 | fraction << (23 - bits);
    const int normal = exponent > 0;
    const double size = ldexp((double)fraction + (normal ? ldexp(1, bits) : 0), least - bits + (normal ? exponent - 1 : 0));
    return sign | sn_bits_32f((float)size);
}

/* The nearest number of 16 bits. */
static uint16_t narrowed(int which, float x)
{
    const int bits = functions[which].bits, least = functions[which].least, most = functions[which].most;
    const uint32_t sign = sn_bits_32f(x) >> 16 & 0x8000, infinity = (uint32_t)(most - least + 2) << bits;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1U << (bits - 1) | (sn_bits_32f(x) >> (23 - bits) & ((1U << bits) - 1)));
    if (isinf(x) || x == 0)
        return (uint16_t)(sign | (isinf(x) ? infinity : 0));
    int exponent;
    frexp((double)x, &exponent);
    exponent = exponent - 1 > least ? exponent - 1 : least;
    const double places = rint(ldexp(fabs((double)x), bits - exponent));
    const uint32_t size = (uint32_t)places + ((uint32_t)(exponent - least) << bits);
    return (uint16_t)(sign | (size < infinity ? size : infinity));
}

static void all_to_16_bits(int which)
{
    static sn_16b dst[EACH * PATTERNS];
    const struct narrow job = {EACH * PATTERNS};
    float * src = narrow_case(which, job.size, "around every number", CHECK_ZERO);
    if (!src)
        return;
    const uint32_t tie = 1U << (22 - functions[which].bits), near[EACH] = {0, tie - 1, tie, tie + 1};
    for (uint32_t i = 0; i < job.size; ++i)
        src[i] = sn_from_bits_32f(widened(which, (uint16_t)(i / EACH)) + near[i % EACH]);
    if (which == 2) /* between subnormal halves, the floats have more bits */
        for (uint32_t i = 0; i < EACH * 0x401; ++i) {
            const double place = i / EACH + (i % EACH ? 0.5 : 0);
            src[i] = sn_from_bits_32f(sn_bits_32f((float)ldexp(place, -24)) + i % EACH - (i % EACH ? 2 : 0));
        }
    check_run(functions[which].call, &job);
    functions[which].call(&job, NULL, (void * const[]){src, dst});
    bool good = true;
    for (uint32_t i = 0; i < job.size; ++i)
        good &= dst[i] == narrowed(which, src[i]);
    check_that(good, functions[which].name, "rounds to nearest, ties to even");
}

static void all_from_16_bits(int which)
{
    static sn_32f dst[PATTERNS];
    const struct narrow job = {PATTERNS};
    uint16_t * src = narrow_case(which, job.size, "every number", CHECK_ZERO);
    if (!src)
        return;
    for (uint32_t i = 0; i < PATTERNS; ++i)
        src[i] = (uint16_t)i;
    check_run(functions[which].call, &job);
    functions[which].call(&job, NULL, (void * const[]){src, dst});
    bool good = true;
    for (uint32_t i = 0; i < PATTERNS; ++i) {
        const uint32_t expected = widened(which, (uint16_t)i);
        good &= memcmp(&dst[i], &expected, sizeof(expected)) == 0;
    }
    check_that(good, functions[which].name, "is exact");
}

static void refusals(int which)
{
    const struct narrow job = {7}, empty = {0}, large = {SIZE_MAX / 2};
    narrow_case(which, job.size, "refusals", CHECK_RANDOM);
    check_refused_null(functions[which].call, &job);
    check_refused(CHECK_VALUE, "size", functions[which].call, &large);
    check_refused_overlap(false, functions[which].call, &job);
    check_empty(functions[which].call, &empty);
}

static void bench(int which)
{
    static const size_t bench_sizes[] = {100, 10000, 1000000};
    for (size_t i = 0; i < sizeof(bench_sizes) / sizeof(bench_sizes[0]); ++i) {
        const struct narrow job = {bench_sizes[i]};
        narrow_case(which, job.size, "bench", CHECK_RANDOM);
        check_bench(functions[which].call, &job, 0, 6.0 * (double)job.size);
    }
}

CHECK_FAMILY(narrow)
{
    for (int which = 0; which < FUNCTIONS; ++which) {
        for (size_t size = 0; size <= 67; ++size)
            sizes(which, size, (enum check_fill)(size % CHECK_FILLS));
        for (size_t i = 0, n = check_count(30); i < n; ++i)
            sizes(which, check_random_size(5000), (enum check_fill)(i % CHECK_FILLS));
        sizes(which, 40001, CHECK_RANDOM); /* long enough for several threads */
        if (functions[which].narrows)
            all_to_16_bits(which);
        else
            all_from_16_bits(which);
        refusals(which);
        if (check_timed())
            bench(which);
    }
}
