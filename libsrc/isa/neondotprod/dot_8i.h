/*
 * sdot adds four products of signed bytes to each 32-bit sum. Activations are converted to signed bytes when loaded, by
 * subtracting 128; the initial value of the sums compensates for it.
 */
#ifndef SN_ISA_NEONDOTPROD_DOT_8I_H
#define SN_ISA_NEONDOTPROD_DOT_8I_H

enum { TILE_GROUP = 4, TILE_BIASED = true };

SN_INLINE v32i tile_load(const uint8_t * p) { return v_xor_32i(v_broadcast_32i(p), v_set_32i((int32_t)0x80808080)); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    return vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
}

#endif
