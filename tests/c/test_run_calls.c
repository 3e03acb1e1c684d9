/* SimdnetRunCalls(): the order of calls, each kind of argument, what is refused, and that the first refused call is the last. */
#include "test.h"

enum { SIZE = 3 };

static float x[SIZE] = {-2, 1, -4}, y[SIZE], z[SIZE];

static SimdnetArgument pointer_to(const void * p) { return (SimdnetArgument){.pointer = (void *)(uintptr_t)p}; }

static void order(void)
{
    static const float slope = 0.5f, none = 0;
    const SimdnetArgument first[] = {pointer_to(x), {.number = SIZE}, pointer_to(&slope), pointer_to(y)};
    const SimdnetArgument second[] = {pointer_to(y), {.number = SIZE}, pointer_to(&none), pointer_to(z)};
    const SimdnetCallFunction relu = SimdnetCallOf("SimdSynetRelu32f");
    const SimdnetCall calls[] = {{relu, first}, {relu, second}};
    TEST(relu != NULL);
    TEST_NO_ERROR();
    SimdnetRunCalls(calls, 2);
    TEST_NO_ERROR();
    TEST(y[0] == -1 && y[1] == 1 && y[2] == -2 && z[0] == 0 && z[1] == 1 && z[2] == 0);
}

/* Integers of 64 bits, enumerators and floating-point numbers. */
static void arguments(void)
{
    const float image[4] = {1, 2, 3, 4}, bias[2] = {10, 20};
    float sums[4] = {1, 2, 3, 4};
    const SimdnetArgument add[] = {
        pointer_to(bias), {.number = 2}, {.number = 2}, pointer_to(sums), {.number = SimdTensorFormatNchw}};
    const SimdnetCall call = {SimdnetCallOf("SimdSynetAddBias"), add};
    SimdnetRunCalls(&call, 1);
    TEST_NO_ERROR();
    for (int i = 0; i < 4; ++i)
        TEST(sums[i] == image[i] + bias[i / 2]);
}

static void refused(void)
{
    static const float slope = 0.5f;
    const SimdnetArgument good[] = {pointer_to(x), {.number = SIZE}, pointer_to(&slope), pointer_to(y)};
    const SimdnetArgument bad[] = {{NULL}, {.number = SIZE}, pointer_to(&slope), pointer_to(y)};
    const SimdnetCallFunction relu = SimdnetCallOf("SimdSynetRelu32f");
    const SimdnetCall calls[] = {{relu, bad}, {relu, good}}, no_function = {NULL, good}, no_arguments = {relu, NULL};
    memset(y, 0, sizeof(y));
    SimdnetRunCalls(calls, 2);
    TEST_REFUSED(1, "SimdSynetRelu32f: src is NULL");
    TEST(y[0] == 0);
    SimdnetRunCalls(&no_function, 1);
    TEST_REFUSED(1, "SimdnetRunCalls: calls[0].run is NULL");
    SimdnetRunCalls(&no_arguments, 1);
    TEST_REFUSED(1, "SimdnetRunCalls: calls[0].arguments is NULL");
    SimdnetRunCalls(NULL, 1);
    TEST_REFUSED(1, "SimdnetRunCalls: calls is NULL");
    SimdnetRunCalls(NULL, 0);
    TEST_NO_ERROR();
}

static void names(void)
{
    TEST(SimdnetCallOf("SimdVersion") == NULL && SimdnetCallOf("SimdnetRunCalls") == NULL && SimdnetCallOf("") == NULL);
    TEST_NO_ERROR();
    TEST(SimdnetCallOf(NULL) == NULL);
    TEST_REFUSED(1, "SimdnetCallOf: name is NULL");
}

int main(void)
{
    test_alarm();
    order();
    arguments();
    refused();
    names();
    return test_end();
}
