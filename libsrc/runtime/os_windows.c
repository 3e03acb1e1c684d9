/* For Windows 10 and later: kernel32, api-ms-win-core-synch-l1-2-0 (WaitOnAddress) and the C library UCRT. */
#define WIN32_LEAN_AND_MEAN
#include "runtime/os.h"

#include <errno.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* ---- memory */

void * sn_os_allocate(size_t size, size_t align)
{
    const int before = errno;
    void * block = _aligned_malloc(sn_max(size, 1), align);
    if (block)
        errno = before;
    return block;
}

void sn_os_free(void * block) { _aligned_free(block); }

size_t sn_os_page(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* Only programs with a right of their own, "Lock pages in memory", may have large pages, and they get no others. */
void sn_os_use_large_pages(void * block, size_t size) { (void)block, (void)size; }

void sn_os_discard(void * pages, size_t size) { (void)VirtualAlloc(pages, size, MEM_RESET, PAGE_READWRITE); }

/* ---- processors */

/* The bits of a group's processors. */
static uint64_t group_mask(WORD group)
{
    const DWORD count = GetActiveProcessorCount(group);
    return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/*
 * A thread runs in one group at a time. If the process has several and nobody has restricted this thread in its own, then it
 * may use all processors of all of them.
 */
bool sn_os_affinity(struct sn_processor_set * set)
{
    GROUP_AFFINITY own;
    USHORT groups[SN_SET_WORDS], count = SN_SET_WORDS;
    *set = (struct sn_processor_set){{0}};
    if (!GetThreadGroupAffinity(GetCurrentThread(), &own) || own.Group >= SN_SET_WORDS)
        return false;
    set->word[own.Group] = own.Mask;
    if (!GetProcessGroupAffinity(GetCurrentProcess(), &count, groups) || count < 2 || own.Mask != group_mask(own.Group))
        return true;
    for (size_t i = 0; i < count; ++i)
        if (groups[i] < SN_SET_WORDS)
            set->word[groups[i]] = group_mask(groups[i]);
    return true;
}

/* Threads with processors of several groups are given to these in turn. */
void sn_os_set_affinity(const struct sn_processor_set * set)
{
    static uint32_t turn;
    WORD groups[SN_SET_WORDS], count = 0;
    for (WORD i = 0; i < SN_SET_WORDS; ++i)
        if (set->word[i])
            groups[count++] = i;
    if (!count)
        return;
    const WORD group = groups[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % count];
    const GROUP_AFFINITY wanted = {.Group = group, .Mask = set->word[group]};
    (void)SetThreadGroupAffinity(GetCurrentThread(), &wanted, NULL);
}

#if defined(__x86_64__)
/* Windows wants a request, too, EnableProcessOptionalXStateFeatures(), which was never tried: AMX is not used there. */
bool sn_os_allow_tiles(void) { return false; }
#endif

/* Workers exist as long as the process, and so do these handles. */
sn_os_thread sn_os_this_thread(void)
{
    HANDLE handle = NULL;
    (void)DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &handle, 0, FALSE,
                          DUPLICATE_SAME_ACCESS);
    return (sn_os_thread)handle;
}

bool sn_os_leave(sn_os_thread thread, int processor)
{
    GROUP_AFFINITY own, others;
    if (!thread || !GetThreadGroupAffinity((HANDLE)thread, &own))
        return false;
    if (own.Group != processor / 64)
        return true;
    others = own;
    others.Mask &= ~((KAFFINITY)1 << processor % 64);
    return others.Mask && SetThreadGroupAffinity((HANDLE)thread, &others, NULL) &&
           SetThreadGroupAffinity((HANDLE)thread, &own, NULL);
}

int sn_os_processor(void)
{
    PROCESSOR_NUMBER number;
    GetCurrentProcessorNumberEx(&number);
    return number.Group * 64 + number.Number;
}

size_t sn_os_online(void) { return sn_max(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), 1); }

typedef SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX relation;

/* Caches of data and unified ones; those of the first processors come first. */
static void add_relation(struct sn_topology * topology, const relation * r, bool * found)
{
    const CACHE_RELATIONSHIP * cache = &r->Cache;
    topology->cores += r->Relationship == RelationProcessorCore;
    topology->sockets += r->Relationship == RelationProcessorPackage;
    if (r->Relationship != RelationCache || cache->Type == CacheInstruction || cache->Level < 1 || cache->Level > 3)
        return;
    if (!found[cache->Level - 1] && cache->CacheSize)
        topology->cache[cache->Level - 1] = cache->CacheSize;
    found[cache->Level - 1] = true;
}

void sn_os_topology(struct sn_topology * topology)
{
    const size_t sockets = topology->sockets;
    DWORD bytes = 0;
    bool found[3] = {false, false, false};
    topology->threads = sn_os_online();
    GetLogicalProcessorInformationEx(RelationAll, NULL, &bytes);
    char * list = bytes ? malloc(bytes) : NULL;
    if (!list || !GetLogicalProcessorInformationEx(RelationAll, (relation *)list, &bytes)) {
        free(list);
        return;
    }
    topology->cores = topology->sockets = 0;
    for (DWORD at = 0; at < bytes; at += ((const relation *)(list + at))->Size)
        add_relation(topology, (const relation *)(list + at), found);
    topology->sockets = topology->sockets ? topology->sockets : sockets;
    free(list);
}

bool sn_os_read_text(const char * path, char * text, size_t size)
{
    (void)path, (void)text, (void)size;
    return false;
}

/* ---- threads */

/* Threads run code of this library until the process ends, so that it must not be unloaded. */
static void stay_loaded(void)
{
    HMODULE self;
    (void)GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                             (LPCSTR)(uintptr_t)stay_loaded, &self);
}

/* Bytes, reserved. The default size is that of the program. */
enum { THREAD_STACK = 1 << 20 };

static DWORD WINAPI start(void * run)
{
    ((void (*)(void))(uintptr_t)run)();
    return 0;
}

size_t sn_os_start_threads(void (*run)(void), size_t count)
{
    size_t started = 0;
    stay_loaded();
    for (; started < count; ++started) {
        HANDLE thread = CreateThread(NULL, THREAD_STACK, start, (void *)(uintptr_t)run, STACK_SIZE_PARAM_IS_A_RESERVATION,
                                     NULL);
        if (!thread)
            break;
        CloseHandle(thread);
    }
    return started;
}

/*
 * WakeByAddress...() does not tell how many threads it has woken, which the pool must know. So a thread that wakes others
 * takes them out of `waiting` and leaves a token for each; a thread that sleeps waits for a token.
 */
static uint32_t waiting, tokens;

static uint32_t take(uint32_t * number, uint32_t most)
{
    uint32_t n = __atomic_load_n(number, __ATOMIC_SEQ_CST);
    while (n && !__atomic_compare_exchange_n(number, &n, n - (n < most ? n : most), false, __ATOMIC_SEQ_CST,
                                             __ATOMIC_SEQ_CST)) {
    }
    return n < most ? n : most;
}

void sn_os_wait(const uint32_t * address, uint32_t value)
{
    uint32_t none = 0;
    __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != value && take(&waiting, 1))
        return;
    while (!take(&tokens, 1))
        WaitOnAddress(&tokens, &none, sizeof(tokens), INFINITE);
}

size_t sn_os_wake(const uint32_t * address, uint32_t count)
{
    (void)address;
    const uint32_t woken = take(&waiting, count);
    __atomic_fetch_add(&tokens, woken, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < woken; ++i)
        WakeByAddressSingle(&tokens);
    return woken;
}

/* The shortest time that Windows has: 1 to 16 ms. */
void sn_os_sleep(uint32_t nanoseconds)
{
    (void)nanoseconds;
    Sleep(1);
}

void sn_os_yield(void) { (void)SwitchToThread(); }

static BOOL CALLBACK run_once(INIT_ONCE * once, void * function, void ** unused)
{
    (void)once, (void)unused;
    ((void (*)(void))(uintptr_t)function)();
    return TRUE;
}

void sn_os_once(struct sn_once * once, void (*function)(void))
{
    InitOnceExecuteOnce((INIT_ONCE *)&once->state.pointer, run_once, (void *)(uintptr_t)function, NULL);
    __atomic_store_n(&once->done, 1, __ATOMIC_RELEASE);
}

static SRWLOCK lock = SRWLOCK_INIT;

void sn_os_lock(void) { AcquireSRWLockExclusive(&lock); }
void sn_os_unlock(void) { ReleaseSRWLockExclusive(&lock); }

bool sn_os_on_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)before, (void)parent, (void)child;
    return true;
}

static DWORD key;
static void (*end_of_thread)(void * value);

static void WINAPI end_thread(void * value)
{
    if (value)
        end_of_thread(value);
}

bool sn_os_make_thread_value(void (*end)(void * value))
{
    stay_loaded(); /* the system calls end_thread() */
    end_of_thread = end;
    key = FlsAlloc(end_thread);
    return key != FLS_OUT_OF_INDEXES;
}

/* FlsGetValue() changes the last error. */
void * sn_os_thread_value(void)
{
    const DWORD before = GetLastError();
    void * value = FlsGetValue(key);
    SetLastError(before);
    return value;
}

bool sn_os_set_thread_value(void * value) { return FlsSetValue(key, value); }

/* ---- time, environment, messages */

int64_t sn_os_now(void)
{
    LARGE_INTEGER frequency, ticks;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&ticks);
    const int64_t per_second = frequency.QuadPart, seconds = ticks.QuadPart / per_second;
    return seconds * 1000000000 + ticks.QuadPart % per_second * 1000000000 / per_second;
}

const char * sn_os_environment(const char * name) { return getenv(name); }

const char * sn_os_library(void)
{
    enum { LONGEST = 4096 };
    static char path[3 * LONGEST];
    WCHAR wide[LONGEST];
    HMODULE self;
    const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    if (!GetModuleHandleExA(flags, path, &self))
        return "-";
    const DWORD length = GetModuleFileNameW(self, wide, LONGEST);
    if (!length || length == LONGEST || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, sizeof(path), NULL, NULL))
        return "-";
    return path;
}

void sn_os_write_error(const char * text, size_t length)
{
    const int written = _write(2, text, (unsigned)length);
    (void)written; /* a failure cannot be reported */
}
