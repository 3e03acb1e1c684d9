/*
 * Tests the words of the vector vocabulary that work lane by lane against scalar loops that follow kernels/vec.h. Special
 * values are combined with each other in all pairs and in every lane.
 */
#include "test_vec_values.h"

#include <fenv.h>
#include <math.h>

static const uint32_t special_8u[] = {0, 1, 2, 3, 15, 16, 85, 100, 126, 127, 128, 129, 170, 200, 253, 254, 255};

enum values { FLOATS, WORDS, HALVES, BYTES };

static const struct { const uint32_t *special; size_t count; int bits; } values_table[] = {
    {special_32f, COUNT(special_32f), 32}, {special_32i, COUNT(special_32i), 32},
    {special_16i, COUNT(special_16i), 16}, {special_8u, COUNT(special_8u), 8}};

/* The word on blocks, and one lane on its bits. */
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

#define RUN_1(word, type) RUN(word, type, word(IN(type, 0)))
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
RUN_MASK(v_lt_32f, 32f) RUN_MASK(v_le_32f, 32f) RUN_MASK(v_eq_32f, 32f) RUN_MASK(v_nlt_32f, 32f)
RUN_MASK(v_gt_32i, 32i)
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

static void run_v_where_32f(const union block *in, union block *out)
{
    put_32f(out, v_where_32f(v_lt_32f(get_32f(in), get_32f(in + 1)), get_32f(in + 1)));
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
ONE_F(where_lt, a < b ? b : 0)
ONE(abs, a & 0x7FFFFFFF)
ONE(same, a)
ONE(lt, sn_from_bits_32f(a) < sn_from_bits_32f(b) ? 0xFFFFFFFF : 0)
ONE(nlt, sn_from_bits_32f(a) < sn_from_bits_32f(b) ? 0 : 0xFFFFFFFF)
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
    {"v_nlt_32f", run_v_nlt_32f, one_nlt, FLOATS, 2, false, 0},
    {"v_where_32f", run_v_where_32f, one_where_lt, FLOATS, 2, false, 0},
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

static __attribute__((noinline)) void check_words(void)
{
    for (size_t i = 0; i < COUNT(lane_words); i++)
        check_lane_word(lane_words + i);
    check_round_modes();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "words of lanes", check_words); }
