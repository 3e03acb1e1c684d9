/*
 * Bytes of a table of 256 for the bytes of a vector. An instruction set may replace this header by its own of the same name. It
 * defines
 *
 *   LOOK_UP_TARGET                how a function that calls the following must be declared
 *   look_up_is_usable()           whether this processor has the instructions
 *   look_up_prepare(table, to)    the table in the order that look_up() needs, 256 bytes
 *   struct look_up, look_up_of(prepared)   what of it stays in registers
 *   look_up(t, i)                 the bytes for those of i
 *
 * Here a vector picks from 16 bytes at a time. Of the parts of the table up to the one that has a byte, the index less 16 for
 * each part is not negative, and all but the last contribute what the next one removes: parts are stored as differences. So
 * a part takes a subtraction, a choice and an exclusive or; choosing parts by comparisons would take one operation more.
 */
#ifndef SN_KERNELS_DEFAULT_LOOK_UP_H
#define SN_KERNELS_DEFAULT_LOOK_UP_H

#define LOOK_UP_TARGET

enum { PART = 16, HALF_OF_TABLE = SN_TABLE8 / 2 };

static inline bool look_up_is_usable(void) { return true; }

/* Each part of a half, less the part before it. */
static void look_up_prepare(const uint8_t * table, uint8_t * prepared)
{
    for (size_t i = 0; i < SN_TABLE8; ++i)
        prepared[i] = (uint8_t)(table[i] ^ (i % HALF_OF_TABLE < PART ? 0 : table[i - PART]));
}

struct look_up {
    const uint8_t * low, * high;
};

SN_INLINE struct look_up look_up_of(const uint8_t * prepared)
{
    return (struct look_up){prepared, prepared + HALF_OF_TABLE};
}

SN_INLINE v8u exclusive_or(v8u a, v8u b) { return v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(a), v_cast_8u_32i(b))); }

SN_INLINE v8u look_up(const struct look_up * t, v8u i)
{
    v8u j = exclusive_or(i, v_set_8u(HALF_OF_TABLE)), found = exclusive_or(v_pick_8u(t->low, i), v_pick_8u(t->high, j));
    SN_UNROLL for (int part = PART; part < HALF_OF_TABLE; part += PART)
    {
        i = v_subs_8i(i, v_set_8u(PART));
        j = v_subs_8i(j, v_set_8u(PART));
        found = exclusive_or(found, exclusive_or(v_pick_8u(t->low + part, i), v_pick_8u(t->high + part, j)));
    }
    return found;
}

#endif
