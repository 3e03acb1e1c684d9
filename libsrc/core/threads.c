#include "core/threads.h"

#include "core/cpu.h"

static size_t number = 1;

size_t sn_threads(void) { return __atomic_load_n(&number, __ATOMIC_RELAXED); }

void sn_threads_set(size_t wanted)
{
    __atomic_store_n(&number, sn_min(sn_max(wanted, 1), sn_cpu()->threads), __ATOMIC_RELAXED);
}
