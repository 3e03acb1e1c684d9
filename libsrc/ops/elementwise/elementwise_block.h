/*
 * Arithmetic on a block of one type, included once for each: BLOCK_NUMBER, and BLOCK_BITS, the unsigned type in which its
 * sums and products do not overflow; BLOCK_DIFFER, whether two of them differ; BLOCK_FN, the function, which is false for
 * operations that it does not have. A chunk has a constant size, so that compilers make vectors of it.
 */
static bool BLOCK_FN(enum sn_elementwise_operation operation, const void * a, const void * b, size_t n, void * restrict dst)
{
    const BLOCK_NUMBER *x = a, *y = b;
    BLOCK_NUMBER * restrict r = dst;
    uint8_t * restrict truth = dst;
    switch (operation) {
    case SN_ELEMENTWISE_ADD: EACH(r[i], (BLOCK_NUMBER)((BLOCK_BITS)x[i] + (BLOCK_BITS)y[i]));
    case SN_ELEMENTWISE_SUBTRACT: EACH(r[i], (BLOCK_NUMBER)((BLOCK_BITS)x[i] - (BLOCK_BITS)y[i]));
    case SN_ELEMENTWISE_MULTIPLY: EACH(r[i], (BLOCK_NUMBER)((BLOCK_BITS)x[i] * (BLOCK_BITS)y[i]));
    case SN_ELEMENTWISE_MAXIMUM: EACH(r[i], x[i] > y[i] ? x[i] : y[i]);
    case SN_ELEMENTWISE_MINIMUM: EACH(r[i], x[i] < y[i] ? x[i] : y[i]);
    case SN_ELEMENTWISE_AND: EACH(r[i], x[i] & y[i]);
    case SN_ELEMENTWISE_OR: EACH(r[i], x[i] | y[i]);
    case SN_ELEMENTWISE_XOR: EACH(r[i], x[i] ^ y[i]);
    case SN_ELEMENTWISE_EQUAL: EACH(truth[i], !BLOCK_DIFFER(x[i], y[i]));
    case SN_ELEMENTWISE_NOT_EQUAL: EACH(truth[i], BLOCK_DIFFER(x[i], y[i]));
    case SN_ELEMENTWISE_LESS: EACH(truth[i], x[i] < y[i]);
    case SN_ELEMENTWISE_LESS_OR_EQUAL: EACH(truth[i], x[i] <= y[i]);
    default: return false;
    }
    return true;
}
#undef BLOCK_FN
#undef BLOCK_NUMBER
#undef BLOCK_BITS
#undef BLOCK_DIFFER
