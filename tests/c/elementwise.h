/* The functions of the lists in contract/pointwise.h, for tests that call each of them. */
#ifndef SN_TESTS_ELEMENTWISE_H
#define SN_TESTS_ELEMENTWISE_H

#include "contract/pointwise.h"
#include "simdnet.h"

#define ELEMENTWISE_ONE(...) +1
enum {
    ACTIVATIONS = SN_ACTIVATIONS(ELEMENTWISE_ONE),
    UNARY_OPERATIONS = SN_UNARY_OPERATIONS(ELEMENTWISE_ONE) + 1, /* and Tanh */
    /* and Copy, AddBias, Scale, Prelu, Product, Sum, Max, Min */
    PIXELWISE_FUNCTIONS = SN_ACTIVATIONS(ELEMENTWISE_ONE) SN_UNARY_OPERATIONS(ELEMENTWISE_ONE) SN_ANGLES(ELEMENTWISE_ONE) + 8
};

/* A public function, where its number of parameters is, and their names; NULL for parameters that it does not have. */
struct activation {
    const char * function;
    SimdnetPixelwiseFunction pixelwise;
    void (*of_0)(const float * src, size_t size, float * dst);
    void (*of_1)(const float * src, size_t size, const float * p, float * dst);
    void (*of_2)(const float * src, size_t size, const float * p, const float * q, float * dst);
    const char * names[2];
};

#define ELEMENTWISE_ACTIVATION(NAME, Name, name, count, ...)                                                                \
    {.function = "SimdSynet" #Name "32f", .pixelwise = SimdnetPixelwise##Name, .of_##count = SimdSynet##Name##32f,          \
     .names = {__VA_ARGS__}},
static const struct activation activations[] = {SN_ACTIVATIONS(ELEMENTWISE_ACTIVATION)};

static inline void activate(const struct activation * f, const float * src, size_t size, const float * p, const float * q,
                            float * dst)
{
    if (f->of_2)
        f->of_2(src, size, p, q, dst);
    else if (f->of_1)
        f->of_1(src, size, p, dst);
    else
        f->of_0(src, size, dst);
}

#endif
