/* Arithmetic on integers, comparisons and selections with broadcasting, on several threads: arguments are checked. */
#ifndef SN_OPS_ELEMENTWISE_ELEMENTWISE_H
#define SN_OPS_ELEMENTWISE_ELEMENTWISE_H

#include "contract/enums.h"
#include "ops/elementwise/broadcast.h"

/* SimdnetElementwiseOperation: the list of these functions. */
#define SN_ELEMENTWISE_LIST(X)                                                                                              \
    X(ADD, Add)                                                                                                             \
    X(SUBTRACT, Subtract)                                                                                                   \
    X(MULTIPLY, Multiply)                                                                                                   \
    X(DIVIDE, Divide)                                                                                                       \
    X(MODULO, Modulo)                                                                                                       \
    X(REMAINDER, Remainder)                                                                                                 \
    X(MAXIMUM, Maximum)                                                                                                     \
    X(MINIMUM, Minimum)                                                                                                     \
    X(POWER, Power)                                                                                                         \
    X(AND, And)                                                                                                             \
    X(OR, Or)                                                                                                               \
    X(XOR, Xor)                                                                                                             \
    X(SHIFT_LEFT, ShiftLeft)                                                                                                \
    X(SHIFT_RIGHT, ShiftRight)                                                                                              \
    X(EQUAL, Equal)                                                                                                         \
    X(NOT_EQUAL, NotEqual)                                                                                                  \
    X(LESS, Less)                                                                                                           \
    X(LESS_OR_EQUAL, LessOrEqual)

#define SN_ELEMENTWISE_ENUMERATOR(NAME, Name) SN_ELEMENTWISE_##NAME,
enum sn_elementwise_operation { SN_ELEMENTWISE_LIST(SN_ELEMENTWISE_ENUMERATOR) SN_ELEMENTWISE_OPERATIONS };

struct sn_elementwise {
    enum sn_elementwise_operation operation;
    enum sn_data type; /* of a and b; 32f for Modulo, Remainder and comparisons only */
    struct sn_operand a, b;
    uint8_t * dst;
    size_t size; /* of dst, in elements */
};
void sn_elementwise(const struct sn_elementwise * job);

struct sn_select {
    struct sn_operand condition, a, b;
    uint8_t * dst;
    size_t size;
};
void sn_select(const struct sn_select * job);

#endif
