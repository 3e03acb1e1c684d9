/* SimdnetRunCalls(): prepared calls, one after the other. */
#include "api/callable.h"
#include "api/check.h"

#include <string.h>

/* C has no way to call a function with arguments whose types are known at run time only: one small function for each. */
#define P(index) arguments[index].pointer
#define N(type, index) (type)arguments[index].number
#define R(type, index) (type)arguments[index].real
#define RUN(name, ...)                                                                                                      \
    static void run_##name(const SimdnetArgument * arguments)                                                               \
    {                                                                                                                       \
        name(__VA_ARGS__);                                                                                                  \
    }
SN_CALLABLE(RUN)

#define NAMED(name, ...) {#name, run_##name},
static const struct {
    const char * name;
    SimdnetCallFunction run;
} functions[] = {SN_CALLABLE(NAMED)};

SimdnetCallFunction SimdnetCallOf(const char * name)
{
    SN_BEGIN();
    SN_CHECK(name, NULL, "name is NULL, expected the name of a function");
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].run;
    }
    return NULL;
}

void SimdnetRunCalls(const SimdnetCall * calls, size_t count)
{
    SN_BEGIN();
    SN_CHECK(calls || !count, SN_VOID, "calls is NULL, expected an array");
    for (size_t i = 0; i < count && !SimdnetLastErrorKind(); ++i) {
        SN_CHECK(calls[i].run, SN_VOID, "calls[%zu].run is NULL, expected what SimdnetCallOf() returns", i);
        SN_CHECK(calls[i].arguments, SN_VOID, "calls[%zu].arguments is NULL, expected an array", i);
        calls[i].run(calls[i].arguments);
    }
}
