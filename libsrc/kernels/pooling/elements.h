/*
 * The elements, vectors and reductions of a kind of pooling. Expects plan.h and what the kind defines, see pooling.h.
 */
#include <string.h>

#ifdef CELL
#define WIDENS 1
#else
#define WIDENS 0
#define CELL ELEMENT
#define ARRAY TYPE
#endif

#ifndef COMPACT
#define COMPACT V_COMPACT
#endif

#define WORD(name) SN_JOIN3(v_, name, SN_JOIN2(_, TYPE))
#define ARRAY_WORD(name) SN_JOIN3(v_, name, SN_JOIN2(_, ARRAY))

#define BITS(v) SN_JOIN3(v_cast_, TYPE, _32i)(v)
#define FROM_BITS(v) SN_JOIN2(v_cast_32i_, TYPE)(v)

/* Cells of the buffer for narrow pixels, and of a row in it. */
enum { BUFFER = 16384 / sizeof(CELL), ROW = BUFFER / 2 };

SN_INLINE VECTOR load(const ELEMENT * p, int i, size_t n, bool full)
{
    if (full)
        return ARRAY_WORD(load)(p + i * LANES);
    const size_t at = sn_min((size_t)i * LANES, n);
    return ARRAY_WORD(load_tail)(p + at, sn_min(n - at, LANES));
}

/* Lanes outside the mask become IDENTITY. */
SN_INLINE VECTOR masked(VECTOR v, v32i mask)
{
    return FROM_BITS(v_xor_32i(BITS(IDENTITY), v_and_32i(mask, v_xor_32i(BITS(IDENTITY), BITS(v)))));
}

/* Stores the result of a reduction at x of an array, or with `cells` of a buffer, not yet divided. */
SN_INLINE void store(void * p, size_t x, REDUCTION r, v32f divisor, bool cells)
{
    (void)divisor;
    if ((WIDENS || HAS_DIVISOR) && cells)
        WORD(store)((CELL *)p + x, PACK(r));
    else
        ARRAY_WORD(store)((ELEMENT *)p + x, FINISH(r, divisor));
}

SN_INLINE void store_tail(void * p, REDUCTION r, v32f divisor, size_t n, bool cells)
{
    (void)divisor;
    if ((WIDENS || HAS_DIVISOR) && cells)
        WORD(store_tail)(p, PACK(r), n);
    else
        ARRAY_WORD(store_tail)(p, FINISH(r, divisor), n);
}

/* Stores v to all lanes of n elements. */
static void fill(ELEMENT * p, size_t n, VECTOR v)
{
    for (; n >= LANES; n -= LANES, p += LANES)
        ARRAY_WORD(store)(p, v);
    if (n)
        ARRAY_WORD(store_tail)(p, v, n);
}

/* The results of empty windows. */
static void fill_identity(const struct sn_pooling * p, ELEMENT * dst, size_t outputs)
{
    const float divisor = divisor_of(p, 0, 0) * divisor_of(p, 1, 0) * divisor_of(p, 2, 0);
    const VECTOR v = FINISH(UNPACK(IDENTITY), v_set_32f(divisor));
    const bool dense = p->dstPixel == p->inner;
    (void)divisor;
    for (size_t o = 0; o < (dense ? 1 : outputs); ++o)
        fill(dst + o * p->dstPixel, dense ? outputs * p->inner : p->inner, v);
}
