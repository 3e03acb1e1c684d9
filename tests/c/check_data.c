/* Contents of arrays, and comparison of results. */
#include "check_frame.h"

/* splitmix64: any seed is valid, and a stream can be started anywhere. */
uint64_t frame_next(struct frame_random * random)
{
    uint64_t x = random->state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* FNV-1a, continued from `hash`. */
uint64_t frame_hash(uint64_t hash, const char * text)
{
    hash ^= 0xCBF29CE484222325u;
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

size_t frame_type_bytes(enum check_type type) { return type == CHECK_8U ? 1 : type == CHECK_16B ? 2 : 4; }

static float sign_of(uint64_t bits) { return bits & 1 ? -1.0f : 1.0f; }

static float uniform(uint64_t bits) { return (float)(int64_t)(bits >> 40) * 0x1p-23f - 1.0f; }

/* Element i of a float array; `r` are its random bits, `all` is the same for all elements. */
static float value_32f(enum check_fill fill, size_t i, uint64_t r, uint64_t all)
{
    static const float nan_or_inf[4] = {INFINITY, -INFINITY, NAN, NAN};
    switch (fill) {
    case CHECK_LARGE: return sign_of(i ^ all) * 1e30f * (1.0f + uniform(r) / 4);
    case CHECK_DENORMAL:
        return r % 4 == 0 ? sign_of(r >> 8) * 0.0f
               : r % 4 == 1 ? sign_of(r >> 8) * FLT_MIN * (1.0f + (float)(r >> 60))
                            : sn_from_bits_32f((uint32_t)(r >> 32) & 0x807FFFFF);
    case CHECK_EQUAL: return uniform(all);
    case CHECK_TIES: return r % 9 == 8 ? -0.0f : (float)(r % 9) / 2 - 2.0f;
    case CHECK_INF: return r % 5 == 0 ? sign_of(r >> 8) * INFINITY : uniform(r);
    case CHECK_NAN: return r % 5 == 0 ? nan_or_inf[r >> 8 & 3] : uniform(r);
    case CHECK_ZERO: return 0.0f;
    case CHECK_RANDOM:
    case CHECK_FILLS: break;
    }
    return uniform(r);
}

static uint8_t value_8u(enum check_fill fill, size_t i, uint64_t r, uint64_t all)
{
    switch (fill) {
    case CHECK_LARGE: return (i ^ all) & 1 ? 255 : 0;
    case CHECK_DENORMAL: return (uint8_t)(r >> 8 & 1);
    case CHECK_EQUAL: return (uint8_t)(all >> 8);
    case CHECK_TIES: return (uint8_t)(126 + (r >> 8) % 4);
    case CHECK_INF: return (uint8_t)(r % 5 == 0 ? 255 : r >> 8);
    case CHECK_NAN: return (uint8_t)(r % 5 == 0 ? 0 : r >> 8);
    case CHECK_ZERO: return 0;
    case CHECK_RANDOM:
    case CHECK_FILLS: break;
    }
    return (uint8_t)(r >> 8);
}

void frame_fill(struct frame_random * random, enum check_type type, size_t count, enum check_fill fill, void * data)
{
    const uint64_t all = frame_next(random);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t r = frame_next(random);
        switch (type) {
        case CHECK_32F: ((float *)data)[i] = value_32f(fill, i, r, all); break;
        case CHECK_16B: {
            /* Denormals of bfloat16 have their bits in the upper half. */
            const float x = value_32f(fill, i, r, all);
            ((uint16_t *)data)[i] = fill == CHECK_DENORMAL ? (uint16_t)(sn_bits_32f(x) >> 16) : sn_32f_to_16b(x);
            break;
        }
        case CHECK_8U: ((uint8_t *)data)[i] = value_8u(fill, i, r, all); break;
        case CHECK_32I: ((int32_t *)data)[i] = (int32_t)(r >> 32); break;
        }
    }
}

/* ------------------------------------------------------------------------------------------------- comparing */

static float float_at(enum check_type type, const void * data, size_t i)
{
    if (type == CHECK_16B) {
        uint16_t x;
        memcpy(&x, (const char *)data + 2 * i, 2);
        return sn_16b_to_32f(x);
    }
    float x;
    memcpy(&x, (const char *)data + 4 * i, 4);
    return x;
}

static int32_t integer_at(enum check_type type, const void * data, size_t i)
{
    if (type == CHECK_8U)
        return ((const uint8_t *)data)[i];
    int32_t x;
    memcpy(&x, (const char *)data + 4 * i, 4);
    return x;
}

static bool is_float(enum check_type type) { return type == CHECK_32F || type == CHECK_16B; }

bool frame_ordinary(const struct frame_array * array)
{
    const float most = 1e6f;
    for (size_t i = 0; is_float(array->type) && i < array->count; ++i)
        if (!(fabsf(float_at(array->type, array->content, i)) <= most))
            return false;
    return true;
}

static bool same_bits(enum check_type type, const void * a, const void * b, size_t i, int freedoms)
{
    const size_t bytes = frame_type_bytes(type);
    if (memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) == 0)
        return true;
    if (!is_float(type))
        return false;
    const float x = float_at(type, a, i), y = float_at(type, b, i);
    return ((freedoms & CHECK_NAN_FREE) && isnan(x) && isnan(y)) || ((freedoms & CHECK_ZERO_FREE) && x == 0 && y == 0);
}

/* One unit in the last place of a float or bfloat16 of the size of x. */
static double unit(enum check_type type, float x)
{
    int exponent;
    frexp(fabs((double)x) < (double)FLT_MIN ? (double)FLT_MIN : (double)x, &exponent);
    return ldexp(1.0, exponent - (type == CHECK_16B ? 8 : 24));
}

static bool near_enough(const struct frame_case * c, const struct frame_array * array, const void * got, size_t i)
{
    if (c->compare == FRAME_ANYTHING)
        return true;
    if (c->compare == FRAME_WITHIN && !is_float(array->type))
        return fabs((double)integer_at(array->type, array->expected, i) - integer_at(array->type, got, i)) <= c->tolerance;
    if (!array->has_bound && (c->compare == FRAME_EXACT || !is_float(array->type)))
        return same_bits(array->type, array->expected, got, i, c->freedoms);
    const float x = float_at(array->type, array->expected, i), y = float_at(array->type, got, i);
    if (array->has_bound && isnan(array->bound[i]))
        return true;
    /* A sum or a square that overflows on the way; the squares of a norm do, and then the result is 0. */
    const float most = 1e30f, least = 1e-30f;
    if (c->has_largest && (!(fabsf(x) < most) || fabsf(x) < least || (array->has_bound && !(array->bound[i] < (double)most))))
        return true;
    if (isnan(x) || isinf(x))
        return isnan(x) ? isnan(y) : x == y;
    if (array->has_bound && isinf(array->bound[i]))
        return fabs((double)x - y) <= 4 * unit(array->type, x);
    if (array->has_bound) /* a value rounded to bfloat16 may be rounded in either direction */
        return fabs((double)x - y) <= array->bound[i] + (array->type == CHECK_16B ? unit(array->type, x) : 0);
    return fabs((double)x - y) <= c->tolerance * unit(array->type, x);
}

size_t frame_difference(const struct frame_case * c, const struct frame_array * array, const void * got)
{
    if (array->bytes == 0 || memcmp(array->expected, got, array->bytes) == 0)
        return array->count;
    size_t i = 0;
    while (i < array->count && near_enough(c, array, got, i))
        ++i;
    return i;
}

size_t frame_unequal(enum check_type type, const void * a, const void * b, size_t count)
{
    if (count == 0 || memcmp(a, b, count * frame_type_bytes(type)) == 0)
        return count;
    size_t i = 0;
    while (i < count && same_bits(type, a, b, i, CHECK_NAN_FREE))
        ++i;
    return i;
}

bool check_same(enum check_type type, const void * a, const void * b, size_t count)
{
    ++frame_process->pairs;
    return frame_unequal(type, a, b, count) == count;
}

void frame_show(const struct frame_array * array, const void * data, size_t index, char * text, size_t size)
{
    if (array->type == CHECK_32F)
        snprintf(text, size, "%.9g (0x%08X)", (double)float_at(CHECK_32F, data, index),
                 (unsigned)sn_bits_32f(float_at(CHECK_32F, data, index)));
    else if (array->type == CHECK_16B)
        snprintf(text, size, "%.9g (0x%04X)", (double)float_at(CHECK_16B, data, index),
                 (unsigned)(sn_bits_32f(float_at(CHECK_16B, data, index)) >> 16));
    else
        snprintf(text, size, "%d", (int)integer_at(array->type, data, index));
}

/* ------------------------------------------------------------------------------------------------- names */

const char * check_fill_name(enum check_fill fill)
{
    static const char * const names[] = {"random", "large", "denormal", "equal", "ties", "inf", "nan", "?", "zero"};
    return names[fill];
}

const char * check_format_name(SimdTensorFormatType format)
{
    static const char * const names[] = {"unknown", "nchw",  "nhwc",   "nchw4c", "nchw8c",  "nchw16c", "nchwXc",
                                         "oiyx",    "yxio",  "oyxi4o", "oyxi8o", "oyxi16o", "oyxiXo"};
    return format >= SimdTensorFormatUnknown && format <= SimdTensorFormatOyxiXo ? names[format + 1] : "nonsense";
}
