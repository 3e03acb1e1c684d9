/* Tests the words of the vector vocabulary that move lanes against scalar loops that follow kernels/vec.h. */
#include "test_vec.h"

/* The result is every second element of a, then of b; or a vector of consecutive elements of both, from a given index on. */

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

static void check_columns(void)
{
    enum { MOST = 7 };
    uint32_t memory[V32F_N * MOST];
    begin("v_load_columns_32f");
    for (size_t round = 0; round < 100; round++)
    {
        const size_t stride = round % (MOST - 3) + 4;
        union block in, out;
        v32f r[4];
        for (size_t i = 0; i < V32F_N * MOST; i++)
        {
            random_block(&in);
            memory[i] = in.u32[0];
        }
        v_load_columns_32f(r, memory, stride);
        for (size_t k = 0; k < 4; k++)
        {
            put_32f(&out, r[k]);
            for (size_t l = 0; l < V32F_N; l++)
                expect(out.u32[l] == memory[l * stride + k], "not the float of the row");
        }
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

static __attribute__((noinline)) void check_words(void)
{
    for (size_t i = 0; i < COUNT(moving_words); i++)
        check_moving_word(moving_words + i);
    check_transpose();
    check_zips();
    check_lookup();
    check_columns();
    check_collect();
    check_pick();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "words that move lanes", check_words); }
