/* Tests the words of the vector vocabulary for bfloat16, on all its values and on floats around ties, against numeric.h. */
#include "test_vec.h"

#include <math.h>

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
    check_bf16_to_float();
    check_float_to_bf16();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "words of bfloat16", check_words); }
