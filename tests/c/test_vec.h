/*
 * Shared by the tests of the vector vocabulary.
 *
 * They are compiled once per instruction set, like the kernels, into one program each: test_vec_lanes_<isa> [seed]. It prints a
 * line per failing word (with lane and inputs), and "N passed, M failed" at the end. On a machine without the instruction
 * set it prints that it is skipped.
 *
 * A block is a vector in memory; get_ and put_ copy it by memcpy, so that no word is needed to test another (except that
 * truth values are read through v_select_32i).
 */
#ifndef SN_TESTS_TEST_VEC_H
#define SN_TESTS_TEST_VEC_H

#include "runtime/numeric.h"
#include "kernels/vec.h"
#include "machine_has_isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISA SN_STRING(SN_ISA)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

union block
{
    float f[V32F_N];
    uint32_t u32[V32F_N];
    uint16_t u16[V16I_N];
    uint8_t u8[V8U_N];
};

SN_INLINE v32f get_32f(const union block *x) { v32f v; memcpy(&v, x, sizeof(v)); return v; }
SN_INLINE v32i get_32i(const union block *x) { v32i v; memcpy(&v, x, sizeof(v)); return v; }
SN_INLINE v16i get_16i(const union block *x) { v16i v; memcpy(&v, x, sizeof(v)); return v; }
SN_INLINE v8u get_8u(const union block *x) { v8u v; memcpy(&v, x, sizeof(v)); return v; }
SN_INLINE void put_32f(union block *x, v32f v) { memcpy(x, &v, sizeof(v)); }
SN_INLINE void put_32i(union block *x, v32i v) { memcpy(x, &v, sizeof(v)); }
SN_INLINE void put_16i(union block *x, v16i v) { memcpy(x, &v, sizeof(v)); }
SN_INLINE void put_8u(union block *x, v8u v) { memcpy(x, &v, sizeof(v)); }

SN_INLINE uint32_t lane(const union block *x, int bits, size_t i)
{
    return bits == 8 ? x->u8[i] : bits == 16 ? x->u16[i] : x->u32[i];
}

SN_INLINE void set_lane(union block *x, int bits, size_t i, uint32_t value)
{
    if (bits == 8)
        x->u8[i] = (uint8_t)value;
    else if (bits == 16)
        x->u16[i] = (uint16_t)value;
    else
        x->u32[i] = value;
}

SN_INLINE uint32_t width_mask(int bits) { return bits == 32 ? 0xFFFFFFFF : ((uint32_t)1 << bits) - 1; }

/* A word on blocks: RUN_2(v_add_32f, 32f) is the function run_v_add_32f(). */

#define IN(type, k) get_##type(in + (k))
#define RUN(name, type, value) static void run_##name(const union block *in, union block *out) { put_##type(out, value); }
#define RUN_2(word, type) RUN(word, type, word(IN(type, 0), IN(type, 1)))

/* Reporting: one result per word; only the first failures of a word are printed. */

static int passed, failed, failures_of_word;
static const char *volatile word_now = "";

SN_INLINE void begin(const char *word)
{
    word_now = word;
    failures_of_word = 0;
}

SN_INLINE void end(void) { failures_of_word ? failed++ : passed++; }

/* True if the caller should print its inputs. */
SN_INLINE bool fails(bool good)
{
    if (good)
        return false;
    failures_of_word++;
    if (failures_of_word == 4)
        printf("FAIL %s (%s): ... and more\n", word_now, ISA);
    return failures_of_word < 4;
}

SN_INLINE void expect(bool good, const char *what)
{
    if (fails(good))
        printf("FAIL %s (%s): %s\n", word_now, ISA, what);
}

/* Values. */

static uint64_t random_state;

SN_INLINE uint32_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32 ^ random_state);
}

SN_INLINE float random_float(void) { return (float)((int32_t)random_bits()) * (1.0f / 268435456); }

SN_INLINE void random_block(union block *x)
{
    for (size_t i = 0; i < V32F_N; i++)
        x->u32[i] = random_bits();
}

/* The body of main(): check() reports its results through begin(), expect() and end(). */
static int test_vec(int argc, char ** argv, const char * what, void (*check)(void))
{
    if (!machine_has_isa()) {
        printf("skipped: this machine has no %s\n", ISA);
        return 0;
    }
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    random_state = seed * 2654435761u + 88172645463325252u;
    check(); /* a separate function: the code of main() must run on any machine */
    printf("%s on %s, seed %llu: %d passed, %d failed\n", what, ISA, (unsigned long long)seed, passed, failed);
    return failed != 0;
}

#endif
