/* Linux refuses AMX to a process that has a stack for signals without room for its registers: then the level is missing. */
#define _GNU_SOURCE
#include <signal.h>

#include "runtime/cpu.h"
#include "test.h"

#if defined(__linux__)
static void give_small_stack(void)
{
    static char stack[4096];
    const stack_t small = {.ss_sp = stack, .ss_size = sizeof(stack)};
    TEST(sigaltstack(&small, NULL) == 0);
}
#else
static void give_small_stack(void) {}
#endif

int main(void)
{
    give_small_stack();
    TEST((sn_cpu()->features & (SN_CPU_AMX_TILE | SN_CPU_AMX_INT8 | SN_CPU_AMX_BF16)) == 0);
    return test_end();
}
