/*
 * Tests every word of the vector vocabulary, except those of memory, against scalar loops that follow kernels/vec.h. Special
 * values are combined with each other in all pairs and in every lane.
 */
#include "test_vec.h"

#include <fenv.h>
#include <math.h>

/*
 * Zeros, subnormals, normals at the limits of the range, infinities, quiet and signalling NaNs, each with both signs; ties
 * of rounding to integer and to bfloat16, integers, and the largest numbers that have a fraction bit.
 */
static const uint32_t special_32f[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00008000, 0x807FFFFF, 0x00800000,
    0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0xFFBFFFFF, 0x3F800000,
    0xBF800000, 0x3F000000, 0xBF000000, 0x3EFFFFFF, 0x3FC00000, 0x40200000, 0xC0200000, 0xC0600000, 0x3F808000, 0x3F818000,
    0xBF808001, 0x4AFFFFFF, 0x4B000001, 0xCAFFFFFD, 0x4A7FFFFE, 0x4E9651F4, 0x33800000};

static const uint32_t special_32i[] = {0, 1, 2, 127, 128, 254, 255, 256, 32767, 32768, 65535, 65536, 16777217, 0x7F000000,
    0x7FFFFFBF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFF0000, 0xFFFF7FFF, 0xFFFF8000, 0xFFFF8001, 0xFFFFFF00, 0xFFFFFFFE,
    0xFFFFFFFF, 0x55555555, 0xAAAAAAAA};

static const uint32_t special_16i[] = {0, 1, 2, 127, 128, 255, 256, 0x3F80, 0x7F80, 0x7FC0, 0x7FFF, 0x8000, 0x8001, 0xBF80,
    0xFF00, 0xFF80, 0xFFFE, 0xFFFF, 0x5555, 0xAAAA};

static const uint32_t special_8u[] = {0, 1, 2, 3, 15, 16, 85, 100, 126, 127, 128, 129, 170, 200, 253, 254, 255};

enum values { FLOATS, WORDS, HALVES, BYTES };

static const struct { const uint32_t *special; size_t count; int bits; } values_table[] = {
    {special_32f, COUNT(special_32f), 32}, {special_32i, COUNT(special_32i), 32},
    {special_16i, COUNT(special_16i), 16}, {special_8u, COUNT(special_8u), 8}};

static bool is_nan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

/* Words that work lane by lane: the word on blocks, and one lane on its bits. */

struct lane_word
{
    const char *name;
    void (*run)(const union block *in, union block *out);
    uint32_t (*one)(uint32_t a, uint32_t b, uint32_t c);
    enum values values;
    int inputs;
    bool any_nan;   /* a NaN must be a NaN, with any sign and payload */
    uint32_t count; /* of a shift, passed as b */
};

static void compare_lanes(const struct lane_word *t, const union block *in)
{
    int bits = values_table[t->values].bits;
    union block out;
    t->run(in, &out);
    for (size_t i = 0; i < sizeof(out) * 8 / (size_t)bits; i++)
    {
        uint32_t a = lane(in, bits, i), b = t->inputs < 2 ? t->count : lane(in + 1, bits, i), c = lane(in + 2, bits, i);
        uint32_t want = t->one(a, b, c) & width_mask(bits), got = lane(&out, bits, i);
        if (fails(got == want || (t->any_nan && is_nan(got) && is_nan(want))))
            printf("FAIL %s (%s): lane %zu: a = %#x, b = %#x, c = %#x: got %#x, want %#x\n", t->name, ISA, i, a, b, c, got,
                want);
    }
}

static void check_lane_word(const struct lane_word *t)
{
    const uint32_t *special = values_table[t->values].special;
    size_t count = values_table[t->values].count, total = count;
    int bits = values_table[t->values].bits;
    size_t lanes = sizeof(union block) * 8 / (size_t)bits;
    union block in[3];
    memset(in, 0, sizeof(in));
    begin(t->name);
    for (int i = 1; i < t->inputs; i++)
        total *= count;
    for (size_t start = 0; start < total; start++)
    {
        for (size_t i = 0; i < lanes; i++)
        {
            size_t k = (start + i) % total;
            set_lane(in, bits, i, special[k % count]);
            set_lane(in + 1, bits, i, special[k / count % count]);
            set_lane(in + 2, bits, i, special[k / count / count % count]);
        }
        compare_lanes(t, in);
    }
    for (int round = 0; round < 20000; round++)
    {
        for (int i = 0; i < 3; i++)
            random_block(in + i);
        for (size_t i = 0; round % 2 && t->values == FLOATS && i < V32F_N; i++)
            in[0].f[i] = random_float(), in[1].f[i] = random_float(), in[2].f[i] = random_float();
        compare_lanes(t, in);
    }
    end();
}

#define IN(type, k) get_##type(in + (k))
#define RUN(name, type, value) static void run_##name(const union block *in, union block *out) { put_##type(out, value); }
#define RUN_1(word, type) RUN(word, type, word(IN(type, 0)))
#define RUN_2(word, type) RUN(word, type, word(IN(type, 0), IN(type, 1)))
#define RUN_3(word, type) RUN(word, type, word(IN(type, 0), IN(type, 1), IN(type, 2)))
#define RUN_MASK(word, type) RUN(word, 32i, v_select_32i(word(IN(type, 0), IN(type, 1)), v_set_32i(-1), v_set_32i(0)))
#define RUN_SHIFT(word, type, count) RUN(word##_##count, type, word(IN(type, 0), count))
#define RUN_PUT(word, type, k) RUN(word##_##k, type, word(IN(type, 0), IN(type, 1), k))
#define RUN_CAST(word, from, to) RUN(word, to, word(IN(from, 0)))

/* One lane on its bits: ONE_F takes them as floats. */
#define LANE(name) static uint32_t one_##name(uint32_t a, uint32_t b, uint32_t c)
#define ONE(name, value) LANE(name) { return (void)a, (void)b, (void)c, value; }
#define ONE_F(name, value) static float f_##name(float a, float b, float c) { return (void)a, (void)b, (void)c, value; } \
    LANE(name) { return sn_bits_32f(f_##name(sn_from_bits_32f(a), sn_from_bits_32f(b), sn_from_bits_32f(c))); }

RUN_2(v_add_32f, 32f) RUN_2(v_sub_32f, 32f) RUN_2(v_mul_32f, 32f) RUN_2(v_div_32f, 32f)
RUN_3(v_fma_32f, 32f) RUN_3(v_fnma_32f, 32f) RUN_3(v_fma_once_32f, 32f)
RUN_2(v_max_32f, 32f) RUN_2(v_min_32f, 32f)
RUN_1(v_abs_32f, 32f) RUN_1(v_sqrt_32f, 32f) RUN_1(v_round_32f, 32f)
RUN_1(v_keep_32f, 32f) RUN_1(v_keep_32i, 32i)
RUN_MASK(v_lt_32f, 32f) RUN_MASK(v_le_32f, 32f) RUN_MASK(v_eq_32f, 32f) RUN_MASK(v_gt_32i, 32i)
RUN_2(v_add_32i, 32i) RUN_2(v_sub_32i, 32i) RUN_2(v_mul_32i, 32i)
RUN_2(v_and_32i, 32i) RUN_2(v_or_32i, 32i) RUN_2(v_xor_32i, 32i)
RUN_PUT(v_put_byte_32i, 32i, 0) RUN_PUT(v_put_byte_32i, 32i, 1)
RUN_PUT(v_put_byte_32i, 32i, 2) RUN_PUT(v_put_byte_32i, 32i, 3)
RUN_SHIFT(v_shl_32i, 32i, 1) RUN_SHIFT(v_shl_32i, 32i, 16) RUN_SHIFT(v_shl_32i, 32i, 31) RUN_SHIFT(v_shr_32i, 32i, 1)
RUN_SHIFT(v_shr_32i, 32i, 16) RUN_SHIFT(v_shr_32i, 32i, 31) RUN_SHIFT(v_sra_32i, 32i, 1) RUN_SHIFT(v_sra_32i, 32i, 16)
RUN_SHIFT(v_sra_32i, 32i, 31)
RUN_CAST(v_cast_32f_32i, 32f, 32i) RUN_CAST(v_cast_32i_32f, 32i, 32f) RUN_CAST(v_cast_16i_32i, 16i, 32i)
RUN_CAST(v_cast_32i_16i, 32i, 16i) RUN_CAST(v_cast_8u_32i, 8u, 32i) RUN_CAST(v_cast_32i_8u, 32i, 8u)
RUN_CAST(v_cvt_32i_32f, 32i, 32f)
RUN_2(v_max_16i, 16i) RUN_2(v_min_16i, 16i) RUN_2(v_min_16u, 16i) RUN_2(v_add_16i, 16i) RUN_2(v_sub_16i, 16i)
RUN_2(v_max_8u, 8u) RUN_2(v_min_8u, 8u) RUN_2(v_subs_8i, 8u)

static void run_v_select_32f(const union block *in, union block *out)
{
    put_32f(out, v_select_32f(v_lt_32f(get_32f(in), get_32f(in + 1)), get_32f(in + 1), get_32f(in + 2)));
}

static void run_v_select_32i(const union block *in, union block *out)
{
    put_32i(out, v_select_32i(v_gt_32i(get_32i(in), get_32i(in + 1)), get_32i(in + 1), get_32i(in + 2)));
}

/* Clamped first, as the definition of the word requires; the clamp maps NaN to its second operand. */
static void run_v_cvt_32f_32i(const union block *in, union block *out)
{
    put_32i(out, v_cvt_32f_32i(v_min_32f(v_max_32f(get_32f(in), v_set_32f(-0x1p31f)), v_set_32f(0x1.FFFFFEp30f))));
}

static uint32_t clamped_to_int(float a)
{
    float low = a > -0x1p31f ? a : -0x1p31f;
    return (uint32_t)lrintf(low < 0x1.FFFFFEp30f ? low : 0x1.FFFFFEp30f);
}

static uint32_t sra(uint32_t a, uint32_t count, int bits)
{
    uint32_t sign = a >> (bits - 1) & 1;
    return count == 0 ? a : a >> count | (sign ? width_mask(bits) << ((uint32_t)bits - count) : 0);
}

static uint32_t larger_16i(uint32_t a, uint32_t b) { return (a ^ 0x8000) > (b ^ 0x8000) ? a : b; }

ONE_F(add, a + b)
ONE_F(sub, a - b)
ONE_F(mul, a * b)
ONE_F(div, a / b)
ONE_F(fma, V_FMA ? fmaf(a, b, c) : a * b + c)
ONE_F(fnma, V_FMA ? fmaf(-a, b, c) : c - a * b)
ONE_F(fma_once, fmaf(a, b, c))
ONE_F(max, a > b ? a : b)
ONE_F(min, a < b ? a : b)
ONE_F(sqrt, sqrtf(a))
ONE_F(round, rintf(a))
ONE_F(select_lt, a < b ? b : c)
ONE(abs, a & 0x7FFFFFFF)
ONE(same, a)
ONE(lt, sn_from_bits_32f(a) < sn_from_bits_32f(b) ? 0xFFFFFFFF : 0)
ONE(le, sn_from_bits_32f(a) <= sn_from_bits_32f(b) ? 0xFFFFFFFF : 0)
ONE(eq, sn_from_bits_32f(a) == sn_from_bits_32f(b) ? 0xFFFFFFFF : 0)
ONE(gt_32i, (int32_t)a > (int32_t)b ? 0xFFFFFFFF : 0)
ONE(select_gt, (int32_t)a > (int32_t)b ? b : c)
ONE(add_32i, a + b)
ONE(sub_32i, a - b)
ONE(mul_32i, a * b)
ONE(and, a & b)
ONE(or, a | b)
ONE(put_byte_0, (a & 0xFFFFFF00) | (b & 0xFF))
ONE(put_byte_1, (a & 0xFFFF00FF) | (b & 0xFF00))
ONE(put_byte_2, (a & 0xFF00FFFF) | (b & 0xFF0000))
ONE(put_byte_3, (a & 0x00FFFFFF) | (b & 0xFF000000))
ONE(xor, a ^ b)
ONE(shl, a << b)
ONE(shr, a >> b)
ONE(sra_32i, sra(a, b, 32))
ONE(cvt_32i_32f, sn_bits_32f((float)(int32_t)a))
ONE(cvt_32f_32i, clamped_to_int(sn_from_bits_32f(a)))
ONE(max_16i, larger_16i(a, b))
ONE(min_16i, larger_16i(a, b) == a ? b : a)
ONE(min_16u, a < b ? a : b)
ONE(add_16i, (uint16_t)(a + b))
ONE(sub_16i, (uint16_t)(a - b))
ONE(max_8u, a > b ? a : b)
ONE(min_8u, a < b ? a : b)
LANE(subs_8i)
{
    const int difference = (int8_t)a - (int8_t)b;
    return (void)c, (uint8_t)(difference < -128 ? -128 : difference > 127 ? 127 : difference);
}

static const struct lane_word lane_words[] = {
    {"v_add_32f", run_v_add_32f, one_add, FLOATS, 2, true, 0},
    {"v_sub_32f", run_v_sub_32f, one_sub, FLOATS, 2, true, 0},
    {"v_mul_32f", run_v_mul_32f, one_mul, FLOATS, 2, true, 0},
    {"v_div_32f", run_v_div_32f, one_div, FLOATS, 2, true, 0},
    {"v_fma_32f", run_v_fma_32f, one_fma, FLOATS, 3, true, 0},
    {"v_fnma_32f", run_v_fnma_32f, one_fnma, FLOATS, 3, true, 0},
    {"v_fma_once_32f", run_v_fma_once_32f, one_fma_once, FLOATS, 3, true, 0},
    {"v_max_32f", run_v_max_32f, one_max, FLOATS, 2, false, 0},
    {"v_min_32f", run_v_min_32f, one_min, FLOATS, 2, false, 0},
    {"v_abs_32f", run_v_abs_32f, one_abs, FLOATS, 1, false, 0},
    {"v_sqrt_32f", run_v_sqrt_32f, one_sqrt, FLOATS, 1, true, 0},
    {"v_round_32f", run_v_round_32f, one_round, FLOATS, 1, true, 0},
    {"v_keep_32f", run_v_keep_32f, one_same, FLOATS, 1, false, 0},
    {"v_keep_32i", run_v_keep_32i, one_same, WORDS, 1, false, 0},
    {"v_lt_32f", run_v_lt_32f, one_lt, FLOATS, 2, false, 0},
    {"v_le_32f", run_v_le_32f, one_le, FLOATS, 2, false, 0},
    {"v_eq_32f", run_v_eq_32f, one_eq, FLOATS, 2, false, 0},
    {"v_select_32f", run_v_select_32f, one_select_lt, FLOATS, 3, false, 0},
    {"v_gt_32i", run_v_gt_32i, one_gt_32i, WORDS, 2, false, 0},
    {"v_select_32i", run_v_select_32i, one_select_gt, WORDS, 3, false, 0},
    {"v_add_32i", run_v_add_32i, one_add_32i, WORDS, 2, false, 0},
    {"v_mul_32i", run_v_mul_32i, one_mul_32i, WORDS, 2, false, 0},
    {"v_sub_32i", run_v_sub_32i, one_sub_32i, WORDS, 2, false, 0},
    {"v_and_32i", run_v_and_32i, one_and, WORDS, 2, false, 0},
    {"v_or_32i", run_v_or_32i, one_or, WORDS, 2, false, 0},
    {"v_put_byte_32i 0", run_v_put_byte_32i_0, one_put_byte_0, WORDS, 2, false, 0},
    {"v_put_byte_32i 1", run_v_put_byte_32i_1, one_put_byte_1, WORDS, 2, false, 0},
    {"v_put_byte_32i 2", run_v_put_byte_32i_2, one_put_byte_2, WORDS, 2, false, 0},
    {"v_put_byte_32i 3", run_v_put_byte_32i_3, one_put_byte_3, WORDS, 2, false, 0},
    {"v_xor_32i", run_v_xor_32i, one_xor, WORDS, 2, false, 0},
    {"v_shl_32i by 1", run_v_shl_32i_1, one_shl, WORDS, 1, false, 1},
    {"v_shl_32i by 16", run_v_shl_32i_16, one_shl, WORDS, 1, false, 16},
    {"v_shl_32i by 31", run_v_shl_32i_31, one_shl, WORDS, 1, false, 31},
    {"v_shr_32i by 1", run_v_shr_32i_1, one_shr, WORDS, 1, false, 1},
    {"v_shr_32i by 16", run_v_shr_32i_16, one_shr, WORDS, 1, false, 16},
    {"v_shr_32i by 31", run_v_shr_32i_31, one_shr, WORDS, 1, false, 31},
    {"v_sra_32i by 1", run_v_sra_32i_1, one_sra_32i, WORDS, 1, false, 1},
    {"v_sra_32i by 16", run_v_sra_32i_16, one_sra_32i, WORDS, 1, false, 16},
    {"v_sra_32i by 31", run_v_sra_32i_31, one_sra_32i, WORDS, 1, false, 31},
    {"v_cast_32f_32i", run_v_cast_32f_32i, one_same, FLOATS, 1, false, 0},
    {"v_cast_32i_32f", run_v_cast_32i_32f, one_same, FLOATS, 1, false, 0},
    {"v_cast_16i_32i", run_v_cast_16i_32i, one_same, HALVES, 1, false, 0},
    {"v_cast_32i_16i", run_v_cast_32i_16i, one_same, HALVES, 1, false, 0},
    {"v_cast_8u_32i", run_v_cast_8u_32i, one_same, BYTES, 1, false, 0},
    {"v_cast_32i_8u", run_v_cast_32i_8u, one_same, BYTES, 1, false, 0},
    {"v_cvt_32i_32f", run_v_cvt_32i_32f, one_cvt_32i_32f, WORDS, 1, false, 0},
    {"v_cvt_32f_32i", run_v_cvt_32f_32i, one_cvt_32f_32i, FLOATS, 1, false, 0},
    {"v_max_16i", run_v_max_16i, one_max_16i, HALVES, 2, false, 0},
    {"v_min_16i", run_v_min_16i, one_min_16i, HALVES, 2, false, 0},
    {"v_min_16u", run_v_min_16u, one_min_16u, HALVES, 2, false, 0},
    {"v_add_16i", run_v_add_16i, one_add_16i, HALVES, 2, false, 0},
    {"v_sub_16i", run_v_sub_16i, one_sub_16i, HALVES, 2, false, 0},
    {"v_max_8u", run_v_max_8u, one_max_8u, BYTES, 2, false, 0},
    {"v_min_8u", run_v_min_8u, one_min_8u, BYTES, 2, false, 0},
    {"v_subs_8i", run_v_subs_8i, one_subs_8i, BYTES, 2, false, 0},
};

/* Words that move lanes: the result is every second element of a, then of b; or a vector of consecutive
 * elements of both, from a given index on. */

RUN_2(v_even_32f, 32f) RUN_2(v_odd_32f, 32f) RUN_2(v_even_16i, 16i) RUN_2(v_odd_16i, 16i) RUN_2(v_even_8u, 8u)
RUN_2(v_odd_8u, 8u)
#define RUN_SLIDE(word, type, n) RUN(word##_##n, type, word(IN(type, 0), IN(type, 1), n))
RUN_SLIDE(v_slide_32f, 32f, 1) RUN_SLIDE(v_slide_32f, 32f, 2) RUN_SLIDE(v_slide_32f, 32f, 3) RUN_SLIDE(v_slide_32f, 32f, 4)
RUN_SLIDE(v_slide_16i, 16i, 1) RUN_SLIDE(v_slide_16i, 16i, 2) RUN_SLIDE(v_slide_16i, 16i, 3) RUN_SLIDE(v_slide_16i, 16i, 4)
RUN_SLIDE(v_slide_8u, 8u, 1) RUN_SLIDE(v_slide_8u, 8u, 2) RUN_SLIDE(v_slide_8u, 8u, 3) RUN_SLIDE(v_slide_8u, 8u, 4)

static const struct moving_word
{
    const char *name;
    void (*run)(const union block *in, union block *out);
    int bits;
    size_t step, first;
} moving_words[] = {
    {"v_even_32f", run_v_even_32f, 32, 2, 0}, {"v_odd_32f", run_v_odd_32f, 32, 2, 1},
    {"v_even_16i", run_v_even_16i, 16, 2, 0}, {"v_odd_16i", run_v_odd_16i, 16, 2, 1},
    {"v_even_8u", run_v_even_8u, 8, 2, 0}, {"v_odd_8u", run_v_odd_8u, 8, 2, 1},
    {"v_slide_32f by 1", run_v_slide_32f_1, 32, 1, 1}, {"v_slide_32f by 2", run_v_slide_32f_2, 32, 1, 2},
    {"v_slide_32f by 3", run_v_slide_32f_3, 32, 1, 3}, {"v_slide_32f by 4", run_v_slide_32f_4, 32, 1, 4},
    {"v_slide_16i by 1", run_v_slide_16i_1, 16, 1, 1}, {"v_slide_16i by 2", run_v_slide_16i_2, 16, 1, 2},
    {"v_slide_16i by 3", run_v_slide_16i_3, 16, 1, 3}, {"v_slide_16i by 4", run_v_slide_16i_4, 16, 1, 4},
    {"v_slide_8u by 1", run_v_slide_8u_1, 8, 1, 1}, {"v_slide_8u by 2", run_v_slide_8u_2, 8, 1, 2},
    {"v_slide_8u by 3", run_v_slide_8u_3, 8, 1, 3}, {"v_slide_8u by 4", run_v_slide_8u_4, 8, 1, 4},
};

static void check_moving_word(const struct moving_word *t)
{
    size_t lanes = sizeof(union block) * 8 / (size_t)t->bits;
    begin(t->name);
    for (int round = 0; round < 1000; round++)
    {
        union block in[2], out;
        random_block(in);
        random_block(in + 1);
        t->run(in, &out);
        for (size_t i = 0; i < lanes; i++)
        {
            size_t from = t->step * i + t->first;
            uint32_t want = lane(in + from / lanes, t->bits, from % lanes), got = lane(&out, t->bits, i);
            if (fails(got == want))
                printf("FAIL %s (%s): lane %zu: got %#x, want %#x\n", t->name, ISA, i, got, want);
        }
    }
    end();
}

static void check_zips(void)
{
    for (size_t high = 0; high < 2; high++)
    {
        begin(high ? "v_zip_high_32f" : "v_zip_low_32f");
        for (int round = 0; round < 1000; round++)
        {
            union block in[2], out;
            random_block(in);
            random_block(in + 1);
            put_32f(&out, high ? v_zip_high_32f(get_32f(in), get_32f(in + 1)) : v_zip_low_32f(get_32f(in), get_32f(in + 1)));
            for (size_t i = 0; i < V32F_N; i++)
            {
                uint32_t want = in[i % 2].u32[high * V32F_N / 2 + i / 2], got = out.u32[i];
                if (fails(got == want))
                    printf("FAIL %s (%s): lane %zu: got %#x, want %#x\n", word_now, ISA, i, got, want);
            }
        }
        end();
    }
}

static void check_lookup(void)
{
    begin("v_lookup_32f");
    for (int round = 0; round < 1000; round++)
    {
        union block table, index, out;
        random_block(&table);
        random_block(&index);
        put_32f(&out, v_lookup_32f(get_32f(&table), get_32i(&index)));
        for (size_t i = 0; i < V32F_N; i++)
            expect(out.u32[i] == table.u32[index.u32[i] % V32F_N], "not the lane asked for");
    }
    end();
}

static void check_collect(void)
{
    enum { COUNT = 40 };
    uint32_t memory[COUNT];
    begin("v_collect");
    for (int round = 0; round < 1000; round++)
    {
        union block in, index, two[2], four[4];
        v32f r[2], q[4];
        for (size_t i = 0; i < COUNT; i++)
        {
            random_block(&in);
            memory[i] = in.u32[0];
        }
        random_block(&index);
        for (size_t i = 0; i < V32F_N; i++)
            index.u32[i] %= COUNT - 3;
        v_collect_2_32f(r, memory, (const int32_t *)index.u32);
        v_collect_4_32f(q, memory, (const int32_t *)index.u32);
        for (size_t k = 0; k < 2; k++)
            put_32f(two + k, r[k]);
        for (size_t k = 0; k < 4; k++)
            put_32f(four + k, q[k]);
        for (size_t i = 0; i < 4 * V32F_N; i++)
        {
            const size_t k = i / V32F_N, l = i % V32F_N;
            expect(k >= 2 || two[k].u32[l] == memory[index.u32[l] + k], "not the float asked for, of two");
            expect(four[k].u32[l] == memory[index.u32[l] + k], "not the float asked for, of four");
        }
    }
    end();
}

static void check_pick(void)
{
    begin("v_pick_8u");
    for (int round = 0; round < 1000; round++)
    {
        union block bytes, index, out;
        random_block(&bytes);
        random_block(&index);
        put_8u(&out, v_pick_8u((const char *)&bytes + (sizeof(bytes) > 16 ? round % 2 : 0), get_8u(&index)));
        for (size_t i = 0; i < V8U_N; i++)
        {
            const uint32_t at = lane(&index, 8, i), from = at % 16 + (sizeof(bytes) > 16 ? (uint32_t)round % 2 : 0);
            expect(lane(&out, 8, i) == (at < 128 ? lane(&bytes, 8, from) : 0), "not the byte asked for");
        }
    }
    end();
}

/* Every power, with mantissas of all kinds, then NaN. */
static void check_scale(void)
{
    begin("v_scale_32f");
    for (int round = 0; round < 4000; round++)
    {
        union block a, n, out;
        random_block(&a);
        for (size_t i = 0; i < V32F_N; i++)
        {
            a.u32[i] = (a.u32[i] & 0x80FFFFFF) + 0x3F000000;
            if (round % 64 == 0)
                a.u32[i] = i % 2 ? 0x40000000 : 0x3F000000;
            n.f[i] = (float)((int)((size_t)round + 37 * i) % 501 - 250);
            if (round % 3 == 0 && n.f[i] < 250)
                n.f[i] += (float)(round % 16) / 16;
        }
        put_32f(&out, v_scale_32f(get_32f(&a), get_32f(&n)));
        for (size_t i = 0; i < V32F_N; i++)
        {
            float want = ldexpf(a.f[i], (int)floorf(n.f[i]));
            if (fails(memcmp(&out.f[i], &want, 4) == 0))
                printf("FAIL %s (%s): lane %zu: %a * 2^%g: got %a, want %a\n", word_now, ISA, i, (double)a.f[i],
                    (double)n.f[i], (double)out.f[i], (double)want);
        }
    }
    union block out;
    put_32f(&out, v_scale_32f(v_set_32f(NAN), v_set_32f(-3)));
    for (size_t i = 0; i < V32F_N; i++)
        expect(isnan(out.f[i]), "a NaN does not stay one");
    end();
}

/* All floats of two neighbouring exponents, and every exponent that is allowed. */
static void check_sqrt_by_products(void)
{
    begin("v_sqrt_by_products_32f");
    for (uint32_t bits = 0x3F800000; bits < 0x40800000; bits += V32F_N)
    {
        union block a, out;
        const int shift = (int)(bits / V32F_N % 227) - 100 - (bits >= 0x40000000);
        for (size_t i = 0; i < V32F_N; i++)
        {
            a.u32[i] = bits + (uint32_t)i;
            a.f[i] = ldexpf(a.f[i], bits % 3 ? 0 : shift);
        }
        put_32f(&out, v_sqrt_by_products_32f(get_32f(&a)));
        for (size_t i = 0; i < V32F_N; i++)
            if (fails(out.f[i] == sqrtf(a.f[i])))
                printf("FAIL %s (%s): lane %zu: of %a: got %a, want %a\n", word_now, ISA, i, (double)a.f[i],
                    (double)out.f[i], (double)sqrtf(a.f[i]));
    }
    end();
}

/* Normal numbers of every exponent, compared with double, then the special values. */
static void check_rsqrt(void)
{
    begin("v_rsqrt_32f");
    for (int round = 0; round < 100000; round++)
    {
        union block a, out;
        random_block(&a);
        for (size_t i = 0; i < V32F_N; i++)
            a.u32[i] = (a.u32[i] & 0x7FFFFFFF) % 0x7F000000 + 0x00800000;
        put_32f(&out, v_rsqrt_32f(get_32f(&a)));
        for (size_t i = 0; i < V32F_N; i++)
        {
            double want = 1 / sqrt((double)a.f[i]), unit = ldexp(1, ilogb(want) - 23);
            if (fails(fabs((double)out.f[i] - want) <= 4 * unit))
                printf("FAIL %s (%s): lane %zu: of %a: got %a, want %a\n", word_now, ISA, i, (double)a.f[i],
                    (double)out.f[i], want);
        }
    }
    static const float special[][2] = {{INFINITY, 0}, {0, INFINITY}, {NAN, NAN}, {-1, NAN}, {-INFINITY, NAN}, {1, 1}};
    for (size_t k = 0; k < COUNT(special); k++)
    {
        union block out;
        put_32f(&out, v_rsqrt_32f(v_set_32f(special[k][0])));
        for (size_t i = 0; i < V32F_N; i++)
        {
            float want = special[k][1];
            expect(isnan(want) ? isnan(out.f[i]) : out.f[i] == want || fabsf(out.f[i] - want) < 1e-6f, "special value");
        }
    }
    end();
}

/* Compared with logb of the C library: values of all kinds, then the special ones. */
static void check_exponent(void)
{
    begin("v_exponent_32f, v_mantissa_32f");
    for (int round = 0; round < 4000; round++)
    {
        union block a, e, m;
        random_block(&a);
        for (size_t i = 0; i < V32F_N; i++)
            if (round % 4 == 0)
                a.u32[i] = special_32f[((size_t)round / 4 + i) % COUNT(special_32f)];
            else if (round % 4 == 1)
                a.u32[i] = (a.u32[i] & 0x80FFFFFF) >> a.u32[i] % 24;
        put_32f(&e, v_exponent_32f(get_32f(&a)));
        put_32f(&m, v_mantissa_32f(get_32f(&a)));
        for (size_t i = 0; i < V32F_N; i++)
        {
            const float x = a.f[i], exponent = logbf(x);
            const float mantissa = x == 0 || x == INFINITY ? 1 : x > 0 ? scalbnf(x, -(int)exponent) : NAN;
            const bool good_e = isnan(x) ? isnan(e.f[i]) : e.f[i] == exponent;
            if (fails(good_e && (isnan(mantissa) ? isnan(m.f[i]) : m.f[i] == mantissa)))
                printf("FAIL %s (%s): lane %zu: of %a: got %a and %a, want %a and %a\n", word_now, ISA, i, (double)x,
                    (double)e.f[i], (double)m.f[i], (double)exponent, (double)mantissa);
        }
    }
    end();
}

static void check_transpose(void)
{
    begin("v_transpose_32f");
    for (int round = 0; round < 100; round++)
    {
        union block in[V32F_N], out[V32F_N];
        v32f r[V32F_N];
        for (size_t i = 0; i < V32F_N; i++)
        {
            random_block(in + i);
            r[i] = get_32f(in + i);
        }
        v_transpose_32f(r);
        for (size_t i = 0; i < V32F_N; i++)
            put_32f(out + i, r[i]);
        for (size_t i = 0; i < V32F_N * V32F_N; i++)
        {
            uint32_t got = out[i / V32F_N].u32[i % V32F_N], want = in[i % V32F_N].u32[i / V32F_N];
            if (fails(got == want))
                printf("FAIL %s (%s): row %zu lane %zu: got %#x, want %#x\n", word_now, ISA, i / V32F_N, i % V32F_N, got,
                    want);
        }
    }
    end();
}

/* Saturation of every special integer in every lane, then of random ones. The result of v_pack has the lanes of a, then of b
 * ...; that of v_join has one lane of each in turn. */
static void check_pack(bool join)
{
    begin(join ? "v_join_32i_8u" : "v_pack_32i_8u");
    for (size_t round = 0; round < 10000; round++)
    {
        union block in[4], out;
        for (size_t i = 0; i < V8U_N; i++)
        {
            uint32_t near_bytes = random_bits() % 1024 - 384;
            uint32_t x = round < COUNT(special_32i) ? special_32i[(round + i) % COUNT(special_32i)] :
                round % 2 ? near_bytes : random_bits();
            in[i / V32F_N].u32[i % V32F_N] = x;
        }
        v32i a = get_32i(in), b = get_32i(in + 1), c = get_32i(in + 2), d = get_32i(in + 3);
        put_8u(&out, join ? v_join_32i_8u(a, b, c, d) : v_pack_32i_8u(a, b, c, d));
        for (size_t i = 0; i < V8U_N; i++)
        {
            int32_t x = (int32_t)(join ? in[i % 4].u32[i / 4] : in[i / V32F_N].u32[i % V32F_N]);
            int32_t want = x < 0 ? 0 : x > 255 ? 255 : x;
            if (fails(out.u8[i] == want))
                printf("FAIL %s (%s): lane %zu of %d: got %d, want %d\n", word_now, ISA, i, x, out.u8[i], want);
        }
    }
    end();
}

static void check_madd(void)
{
    begin("v_madd_16i_32i");
    for (size_t round = 0; round < 10000; round++)
    {
        union block a, b, out;
        for (size_t i = 0; i < V32F_N; i++)
        {
            a.u32[i] = round % 3 ? random_bits() : round % 2 ? 0x80008000 : 0x7FFF8000;
            b.u32[i] = round % 5 ? random_bits() : 0x80008000;
        }
        put_32i(&out, v_madd_16i_32i(v_cast_32i_16i(get_32i(&a)), v_cast_32i_16i(get_32i(&b))));
        for (size_t i = 0; i < V32F_N; i++)
        {
            uint32_t want = (uint32_t)((int16_t)a.u32[i] * (int16_t)b.u32[i]) +
                (uint32_t)((int16_t)(a.u32[i] >> 16) * (int16_t)(b.u32[i] >> 16));
            if (fails(out.u32[i] == want))
                printf("FAIL %s (%s): lane %zu: got %08X, want %08X\n", word_now, ISA, i, out.u32[i], want);
        }
    }
    end();
}

static void check_constants(void)
{
    union block out;
    begin("V32F_N, V16I_N, V8U_N");
    expect(V16I_N == 2 * V32F_N && V8U_N == 4 * V32F_N && sizeof(v32f) == V8U_N && sizeof(v32i) == V8U_N &&
        sizeof(v16i) == V8U_N && sizeof(v8u) == V8U_N && (V_FMA == 0 || V_FMA == 1), "widths do not agree");
    end();

    begin("v_zero_32f");
    put_32f(&out, v_zero_32f());
    for (size_t i = 0; i < V32F_N; i++)
        expect(out.u32[i] == 0, "a lane is not +0");
    end();

    begin("v_set_32f");
    for (size_t k = 0; k < COUNT(special_32f); k++)
    {
        if (is_nan(special_32f[k]))
            continue; /* a signalling NaN may become quiet on its way into the function */
        put_32f(&out, v_set_32f(sn_from_bits_32f(special_32f[k])));
        for (size_t i = 0; i < V32F_N; i++)
            expect(out.u32[i] == special_32f[k], "a lane is not x");
    }
    end();

    begin("v_set_32i");
    for (size_t k = 0; k < COUNT(special_32i); k++)
    {
        put_32i(&out, v_set_32i((int32_t)special_32i[k]));
        for (size_t i = 0; i < V32F_N; i++)
            expect(out.u32[i] == special_32i[k], "a lane is not x");
    }
    end();

    begin("v_set_16i");
    for (size_t k = 0; k < COUNT(special_16i); k++)
    {
        put_16i(&out, v_set_16i((int16_t)special_16i[k]));
        for (size_t i = 0; i < V16I_N; i++)
            expect(out.u16[i] == special_16i[k], "a lane is not x");
    }
    end();

    begin("v_set_8u");
    for (int x = 0; x < 256; x++)
    {
        put_8u(&out, v_set_8u((uint8_t)x));
        for (size_t i = 0; i < V8U_N; i++)
            expect(out.u8[i] == x, "a lane is not x");
    }
    end();
}

/* Sums of integers are exact in any order, so a lane omitted or added twice changes the bits. */
static void check_reductions(void)
{
    union block in;
    begin("v_reduce_add_32f");
    for (int round = 0; round < 10000; round++)
    {
        float want = 0;
        for (size_t i = 0; i < V32F_N; i++)
        {
            in.f[i] = (float)(random_bits() % 65536);
            want += in.f[i];
        }
        float got = v_reduce_add_32f(get_32f(&in));
        if (fails(got == want))
            printf("FAIL %s (%s): got %.9g, want %.9g\n", word_now, ISA, (double)got, (double)want);
    }
    for (int round = 0; round < 10000; round++)
    {
        double want = 0, size = 0;
        for (size_t i = 0; i < V32F_N; i++)
        {
            in.f[i] = random_float();
            want += (double)in.f[i];
            size += fabs((double)in.f[i]);
        }
        float got = v_reduce_add_32f(get_32f(&in)), again = v_reduce_add_32f(get_32f(&in));
        if (fails(fabs((double)got - want) <= V32F_N * 0x1p-24 * size && got == again))
            printf("FAIL %s (%s): got %.9g, then %.9g, want %.9g\n", word_now, ISA, (double)got, (double)again, want);
    }
    end();

    begin("v_reduce_max_32f");
    for (size_t round = 0; round < 10000; round++)
    {
        float want = -INFINITY;
        for (size_t i = 0; i < V32F_N; i++)
        {
            in.f[i] = random_float() - 9;
            if (round < V32F_N)
                in.f[i] = i == round ? -1 : -INFINITY;
            want = in.f[i] > want ? in.f[i] : want;
        }
        float got = v_reduce_max_32f(get_32f(&in));
        if (fails(got == want))
            printf("FAIL %s (%s): got %.9g, want %.9g\n", word_now, ISA, (double)got, (double)want);
    }
    end();
}

static void check_any(void)
{
    begin("v_any");
    for (size_t k = 0; k <= V32F_N; k++)
    {
        union block in;
        for (size_t i = 0; i < V32F_N; i++)
            in.f[i] = i == k ? -1.0f : 1.0f;
        int want = k < V32F_N, all = v_any(v_le_32f(get_32f(&in), get_32f(&in)));
        int of_floats = v_any(v_lt_32f(get_32f(&in), v_zero_32f()));
        int of_ints = v_any(v_gt_32i(v_set_32i(0), get_32i(&in)));
        if (fails(of_floats == want && of_ints == want && all == 1))
            printf("FAIL %s (%s): lane %zu: got %d %d %d, want %d %d 1\n", word_now, ISA, k, of_floats, of_ints, all, want,
                want);
    }
    end();
}

static void check_round_modes(void)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    union block in[1], out;
    begin("v_round_32f in every rounding mode");
    for (size_t k = 0; k < COUNT(special_32f); k++)
        for (size_t m = 0; m < COUNT(modes); m++)
        {
            uint32_t want = sn_bits_32f(rintf(sn_from_bits_32f(special_32f[k])));
            void (*volatile run)(const union block *, union block *) = run_v_round_32f;
            for (size_t i = 0; i < V32F_N; i++)
                in[0].u32[i] = special_32f[k];
            fesetround(modes[m]);
            run(in, &out);
            fesetround(FE_TONEAREST);
            if (fails(out.u32[0] == want || (is_nan(out.u32[0]) && is_nan(want))))
                printf("FAIL %s (%s): mode %#x: %#x: got %#x, want %#x\n", word_now, ISA, (unsigned)modes[m],
                    special_32f[k], out.u32[0], want);
        }
    end();
}

/* bfloat16. */

static void check_bf16_to_float(void)
{
    begin("v_load_16b_32f, v_even_16b_32f, v_odd_16b_32f on all values");
    for (uint32_t x = 0; x < 65536; x++)
    {
        union block in, loaded, even, odd;
        for (size_t i = 0; i < V16I_N; i++)
            in.u16[i] = (uint16_t)(x + i * 257);
        put_32f(&loaded, v_load_16b_32f(in.u16));
        put_32f(&even, v_even_16b_32f(get_16i(&in)));
        put_32f(&odd, v_odd_16b_32f(get_16i(&in)));
        for (size_t i = 0; i < V32F_N; i++)
            if (fails(loaded.u32[i] == (uint32_t)in.u16[i] << 16 && even.u32[i] == (uint32_t)in.u16[2 * i] << 16 &&
                odd.u32[i] == (uint32_t)in.u16[2 * i + 1] << 16))
                printf("FAIL %s (%s): lane %zu of %#x, %#x, %#x: got %#x, %#x, %#x\n", word_now, ISA, i, in.u16[i],
                    in.u16[2 * i], in.u16[2 * i + 1], loaded.u32[i], even.u32[i], odd.u32[i]);
    }
    end();
}

/* Makes every NaN one that v_join_16b_32f accepts, without changing its nearest bfloat16. */
static v32f joinable(const union block *x)
{
    union block y = *x;
    for (size_t i = 0; i < V32F_N; i++)
        if (isnan(x->f[i]))
            y.u32[i] = (uint32_t)sn_32f_to_16b(x->f[i]) << 16;
    return get_32f(&y);
}

static void compare_bf16(const union block *in)
{
    union block stored, tail, sum, joined;
    v_store_16b_32f(stored.u16, get_32f(in));
    v_store_tail_16b_32f(tail.u16, get_32f(in), V32F_N);
    v_store_sum_16b_32f(sum.u16, joinable(in));
    put_16i(&joined, v_join_16b_32f(joinable(in), joinable(in + 1)));
    for (size_t i = 0; i < V32F_N; i++)
    {
        uint16_t a = sn_32f_to_16b(in[0].f[i]), b = sn_32f_to_16b(in[1].f[i]);
        if (fails(stored.u16[i] == a && tail.u16[i] == a && sum.u16[i] == a && joined.u16[2 * i] == a &&
            joined.u16[2 * i + 1] == b))
            printf("FAIL %s (%s): lane %zu of %#x, %#x: got %#x %#x %#x %#x, %#x, want %#x, %#x\n", word_now, ISA, i,
                in[0].u32[i], in[1].u32[i], stored.u16[i], tail.u16[i], sum.u16[i], joined.u16[2 * i], joined.u16[2 * i + 1],
                a, b);
    }
}

/* Every upper half, with lower halves at and around the tie, then random bits, 1/256 of which are NaN. */
static void check_float_to_bf16(void)
{
    static const uint32_t lower[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xC000, 0xFFFF, 0x1234};
    union block in[2];
    begin("v_store_16b_32f, v_store_tail_16b_32f, v_store_sum_16b_32f, v_join_16b_32f");
    for (uint32_t k = 0; k < 65536 * COUNT(lower); k++)
    {
        for (size_t i = 0; i < V32F_N; i++)
        {
            uint32_t a = k + (uint32_t)i, b = k + (uint32_t)i * 8195;
            in[0].u32[i] = (a / COUNT(lower) % 65536) << 16 | lower[a % COUNT(lower)];
            in[1].u32[i] = (b / COUNT(lower) % 65536) << 16 | lower[b % COUNT(lower)];
        }
        compare_bf16(in);
    }
    for (int round = 0; round < 100000; round++)
    {
        random_block(in);
        random_block(in + 1);
        compare_bf16(in);
    }
    end();
}

static __attribute__((noinline)) void check_words(void)
{
    check_constants();
    for (size_t i = 0; i < COUNT(lane_words); i++)
        check_lane_word(lane_words + i);
    for (size_t i = 0; i < COUNT(moving_words); i++)
        check_moving_word(moving_words + i);
    check_transpose();
    check_pack(false);
    check_pack(true);
    check_madd();
    check_zips();
    check_scale();
    check_sqrt_by_products();
    check_rsqrt();
    check_exponent();
    check_lookup();
    check_collect();
    check_pick();
    check_reductions();
    check_any();
    check_round_modes();
    check_bf16_to_float();
    check_float_to_bf16();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "vocabulary", check_words); }
