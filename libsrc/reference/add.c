#include <string.h>

#include "contract/add.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

static void add_8i(const struct sn_add_8i * p, size_t channels, size_t spatial, enum sn_format format)
{
    for (size_t c = 0; c < channels; ++c)
        for (size_t s = 0; s < spatial; ++s) {
            const size_t i = format == SN_NCHW ? c * spatial + s : s * channels + c;
            const float a = (float)p->a[i] * p->aScale[c] + p->aShift[c];
            const float b = (float)p->b[i] * p->bScale[c] + p->bShift[c];
            p->c[i] = sn_32f_to_8u((a + b) * p->cScale[c] + p->cShift[c], p->upper);
        }
}

static float load(const uint8_t * p, size_t i, bool is_16b)
{
    uint16_t narrow;
    float wide;
    if (is_16b) {
        memcpy(&narrow, p + 2 * i, 2);
        return sn_16b_to_32f(narrow);
    }
    memcpy(&wide, p + 4 * i, 4);
    return wide;
}

static void store(uint8_t * p, size_t i, bool is_16b, float x)
{
    if (is_16b) {
        const uint16_t narrow = sn_32f_to_16b(x);
        memcpy(p + 2 * i, &narrow, 2);
    } else {
        memcpy(p + 4 * i, &x, 4);
    }
}

static void add_16b(const uint8_t * a, bool a_16b, const uint8_t * b, bool b_16b, uint8_t * dst, bool dst_16b, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        store(dst, i, dst_16b, load(a, i, a_16b) + load(b, i, b_16b));
}

#define ADD_16B(a_16b, b_16b, dst_16b)                                                                                      \
    static void add_16b_##a_16b##b_16b##dst_16b(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size)           \
    {                                                                                                                       \
        add_16b(a, a_16b, b, b_16b, dst, dst_16b, size);                                                                    \
    }

ADD_16B(0, 0, 0)
ADD_16B(0, 0, 1)
ADD_16B(0, 1, 0)
ADD_16B(0, 1, 1)
ADD_16B(1, 0, 0)
ADD_16B(1, 0, 1)
ADD_16B(1, 1, 0)
ADD_16B(1, 1, 1)

SN_INSTALL(add, add)
{
    const sn_add_16b_fn add[2][2][2] = {{{add_16b_000, add_16b_001}, {add_16b_010, add_16b_011}},
                                        {{add_16b_100, add_16b_101}, {add_16b_110, add_16b_111}}};
    slots->run_8i = add_8i;
    memcpy(slots->run_16b, add, sizeof(add));
}
