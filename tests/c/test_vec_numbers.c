/*
 * Tests the words of the vector vocabulary for constants, packing, sums and functions of numbers against scalar loops that
 * follow kernels/vec.h.
 */
#include "test_vec_values.h"

#include <math.h>

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

static __attribute__((noinline)) void check_words(void)
{
    check_constants();
    check_pack(false);
    check_pack(true);
    check_madd();
    check_scale();
    check_sqrt_by_products();
    check_rsqrt();
    check_exponent();
    check_reductions();
    check_any();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "words of numbers", check_words); }
