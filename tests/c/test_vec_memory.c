/*
 * Tests the loads and stores of the vector vocabulary against their definition in kernels/vec.h, at every misalignment, with
 * the elements placed right after one inaccessible page and right before another.
 *
 * qemu-x86_64 7.2 reads the masked-off elements of vmaskmov: there the masked loads of AVX2 fault, unlike on real
 * processors.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "test_vec.h"

#include <signal.h>
#include <stddef.h>
#include "system.h"

/* Arguments of the word being tested, for fault(). */
static volatile size_t n_now, shift_now;

static void fault(int number)
{
    printf("FAIL %s (%s): signal %d, touched memory that is not its own, n = %zu, shift = %zu\n", word_now, ISA, number,
        n_now, shift_now);
    fflush(stdout);
    _exit(1);
}

#define LOAD(name, type) static void load_##name(const void *p, union block *out) { put_##type(out, v_load_##name(p)); }
#define LOAD_TAIL(name, type) LOAD_N(name) { put_##type(out, v_load_tail_##name(p, n)); }
#define STORE(name, type) static void store_##name(void *p, const union block *in) { v_store_##name(p, get_##type(in)); }
#define STORE_TAIL(name, type) STORE_N(name) { v_store_tail_##name(p, get_##type(in), n); }
#define LOAD_N(name) static void load_tail_##name(const void *p, union block *out, size_t n)
#define STORE_N(name) static void store_tail_##name(void *p, const union block *in, size_t n)

LOAD(32f, 32f) LOAD(32i, 32i) LOAD(16i, 16i) LOAD(8u, 8u) LOAD(16b_32f, 32f) LOAD(8u_32i, 32i) LOAD(8u_16i, 16i)
LOAD(24_32i, 32i) LOAD(8i_32i, 32i) LOAD(8i_16i, 16i)
LOAD_TAIL(32f, 32f) LOAD_TAIL(32i, 32i) LOAD_TAIL(16i, 16i) LOAD_TAIL(8u, 8u) LOAD_TAIL(16b_32f, 32f)
LOAD_TAIL(8u_32i, 32i) LOAD_TAIL(8u_16i, 16i) LOAD_TAIL(24_32i, 32i) LOAD_TAIL(8i_32i, 32i) LOAD_TAIL(8i_16i, 16i)
STORE(32f, 32f) STORE(32i, 32i) STORE(16i, 16i) STORE(8u, 8u) STORE(16b_32f, 32f)
STORE_TAIL(32f, 32f) STORE_TAIL(32i, 32i) STORE_TAIL(16i, 16i) STORE_TAIL(8u, 8u) STORE_TAIL(16b_32f, 32f)

static uint32_t same(uint32_t a) { return a; }
static uint32_t widen_8i(uint32_t a) { return (uint32_t)(int8_t)a; }
static uint32_t widen_8i_16(uint32_t a) { return (uint16_t)(int8_t)a; }
static uint32_t widen_16b(uint32_t a) { return a << 16; }
static uint32_t narrow_16b(uint32_t a) { return sn_32f_to_16b(sn_from_bits_32f(a)); }

static const struct memory_word
{
    const char *load_name, *load_tail_name, *store_name, *store_tail_name;
    void (*load)(const void *p, union block *out);
    void (*load_tail)(const void *p, union block *out, size_t n);
    void (*store)(void *p, const union block *in);
    void (*store_tail)(void *p, const union block *in, size_t n);
    uint32_t (*widen)(uint32_t a);
    uint32_t (*narrow)(uint32_t a);
    int bits;    /* of a lane */
    size_t size; /* of an element in memory, in bytes */
} memory_words[] = {
    {"v_load_32f", "v_load_tail_32f", "v_store_32f", "v_store_tail_32f", load_32f, load_tail_32f, store_32f, store_tail_32f,
        same, same, 32, 4},
    {"v_load_32i", "v_load_tail_32i", "v_store_32i", "v_store_tail_32i", load_32i, load_tail_32i, store_32i, store_tail_32i,
        same, same, 32, 4},
    {"v_load_16i", "v_load_tail_16i", "v_store_16i", "v_store_tail_16i", load_16i, load_tail_16i, store_16i, store_tail_16i,
        same, same, 16, 2},
    {"v_load_8u", "v_load_tail_8u", "v_store_8u", "v_store_tail_8u", load_8u, load_tail_8u, store_8u, store_tail_8u,
        same, same, 8, 1},
    {"v_load_16b_32f", "v_load_tail_16b_32f", "v_store_16b_32f", "v_store_tail_16b_32f", load_16b_32f, load_tail_16b_32f,
        store_16b_32f, store_tail_16b_32f, widen_16b, narrow_16b, 32, 2},
    {"v_load_8u_32i", "v_load_tail_8u_32i", NULL, NULL, load_8u_32i, load_tail_8u_32i, NULL, NULL, same, NULL, 32, 1},
    {"v_load_8i_32i", "v_load_tail_8i_32i", NULL, NULL, load_8i_32i, load_tail_8i_32i, NULL, NULL, widen_8i, NULL, 32, 1},
    {"v_load_8u_16i", "v_load_tail_8u_16i", NULL, NULL, load_8u_16i, load_tail_8u_16i, NULL, NULL, same, NULL, 16, 1},
    {"v_load_8i_16i", "v_load_tail_8i_16i", NULL, NULL, load_8i_16i, load_tail_8i_16i, NULL, NULL, widen_8i_16, NULL, 16, 1},
    {"v_load_24_32i", "v_load_tail_24_32i", NULL, NULL, load_24_32i, load_tail_24_32i, NULL, NULL, same, NULL, 32, 3},
};

/* Readable and writable memory between two inaccessible pages; only a window at each end is used. */
static uint8_t *guarded_begin, *guarded_end;

enum { WINDOW = 256, MISALIGNMENTS = 64 };

static bool make_guarded(void)
{
    size_t page = system_page();
    uint8_t *p = system_pages(3 * page);
    if (!p || !system_guard(p, page) || !system_guard(p + 2 * page, page))
        return false;
    guarded_begin = p + page;
    guarded_end = p + 2 * page;
    return true;
}

/* The address for n elements, shift bytes away from the lower or the upper inaccessible page. */
static uint8_t *place(size_t bytes, size_t shift, int upper)
{
    return upper ? guarded_end - shift - bytes : guarded_begin + shift;
}

static uint32_t element(const uint8_t *p, size_t size)
{
    uint32_t x = 0;
    for (size_t i = 0; i < size; i++)
        x |= (uint32_t)p[i] << 8 * i;
    return x;
}

static void check_load_at(const struct memory_word *t, size_t n, bool full, size_t shift, int upper)
{
    size_t lanes = sizeof(union block) * 8 / (size_t)t->bits;
    const uint8_t *p = place(n * t->size, shift, upper);
    union block out;
    memset(&out, 0xEE, sizeof(out));
    n_now = n;
    shift_now = shift;
    if (full)
        t->load(p, &out);
    else
        t->load_tail(p, &out, n);
    for (size_t i = 0; i < lanes; i++)
    {
        uint32_t want = i < n ? t->widen(element(p + i * t->size, t->size)) : 0, got = lane(&out, t->bits, i);
        if (fails(got == want))
            printf("FAIL %s (%s): n = %zu, %zu bytes from the %s guard, lane %zu: got %#x, want %#x\n", word_now, ISA, n,
                shift, upper ? "upper" : "lower", i, got, want);
    }
}

static void check_store_at(const struct memory_word *t, size_t n, bool full, size_t shift, int upper)
{
    uint8_t *p = place(n * t->size, shift, upper), *window = upper ? guarded_end - WINDOW : guarded_begin;
    union block in;
    random_block(&in);
    memset(window, 0xA5, WINDOW);
    n_now = n;
    shift_now = shift;
    if (full)
        t->store(p, &in);
    else
        t->store_tail(p, &in, n);
    for (uint8_t *q = window; q < window + WINDOW; q++)
    {
        uint32_t want = 0xA5;
        if (q >= p && q < p + n * t->size)
        {
            size_t i = (size_t)(q - p);
            want = t->narrow(lane(&in, t->bits, i / t->size)) >> 8 * (i % t->size) & 0xFF;
        }
        if (fails(*q == want))
            printf("FAIL %s (%s): n = %zu, %zu bytes from the %s guard, byte %td: got %#x, want %#x\n", word_now, ISA, n,
                shift, upper ? "upper" : "lower", q - p, *q, want);
    }
}

static void check_memory_word(const struct memory_word *t)
{
    size_t lanes = sizeof(union block) * 8 / (size_t)t->bits;
    for (int form = 0; form < 4; form++)
    {
        bool store = form >= 2, full = form % 2 == 0;
        const char *const names[] = {t->load_name, t->load_tail_name, t->store_name, t->store_tail_name};
        if (!names[form])
            continue;
        begin(names[form]);
        for (uint8_t *p = guarded_begin; p < guarded_end; p++)
            *p = (uint8_t)random_bits();
        for (size_t n = full ? lanes : 0; n <= lanes; n++)
            for (size_t shift = 0; shift < MISALIGNMENTS; shift++)
                for (int upper = 0; upper < 2; upper++)
                    (store ? check_store_at : check_load_at)(t, n, full, shift, upper);
        end();
    }
}

static void check_stream(void)
{
    begin("v_stream_32f, v_fence");
    for (size_t i = 0; i < WINDOW / sizeof(union block); i++)
    {
        uint8_t *p = guarded_end - (i + 1) * sizeof(union block);
        union block in;
        random_block(&in);
        memset(guarded_end - WINDOW, 0xA5, WINDOW);
        v_stream_32f(p, get_32f(&in));
        v_fence();
        expect(memcmp(p, &in, sizeof(in)) == 0, "not what was stored");
        for (uint8_t *q = guarded_end - WINDOW; q < guarded_end; q++)
            expect((q >= p && q < p + sizeof(in)) || *q == 0xA5, "wrote outside the vector");
    }
    end();
}

static __attribute__((noinline)) void check_memory(void)
{
    begin("guard pages");
    const bool guarded = make_guarded();
    expect(guarded, "there are none");
    end();
    if (!guarded)
        return;
    signal(SIGSEGV, fault);
    signal(SIGBUS, fault);
    for (size_t i = 0; i < COUNT(memory_words); i++)
        check_memory_word(memory_words + i);
    check_stream();
}

int main(int argc, char **argv) { return test_vec(argc, argv, "loads and stores", check_memory); }
