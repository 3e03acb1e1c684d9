/* What test programs need of Windows: see linux/system.h. */
#ifndef SN_TESTS_SYSTEM_H
#define SN_TESTS_SYSTEM_H

#define WIN32_LEAN_AND_MEAN
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static inline void * system_pages(size_t bytes) { return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

static inline void * system_shared(size_t bytes) { return system_pages(bytes); }

static inline bool system_guard(void * pages, size_t bytes)
{
    DWORD before;
    return VirtualProtect(pages, bytes, PAGE_NOACCESS, &before);
}

static inline void system_drop(void * pages, size_t bytes)
{
    (void)bytes;
    VirtualFree(pages, 0, MEM_RELEASE);
}

static inline size_t system_page(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* The program that runs the tests ends those that hang. */
static inline void system_alarm(unsigned seconds) { (void)seconds; }

/* The system's own calls need more of a stack than is promised, so nothing is measured. */
static inline bool system_run_on_stack(size_t size, void * (*run)(void * argument), void * argument)
{
    (void)size, (void)run, (void)argument;
    return false;
}

/* ---- crashes */

static void * system_crash[5];
static volatile bool system_in_call;
static DWORD system_thread;
static void * volatile system_address;
static volatile DWORD system_code;
static void (*system_ends)(int number);

/* Where a crashed call continues, outside of the handler. */
static inline void system_leave(void) { __builtin_longjmp(system_crash, 1); }

static inline bool system_is_crash(DWORD code)
{
    return code == EXCEPTION_ACCESS_VIOLATION || code == EXCEPTION_ILLEGAL_INSTRUCTION || code == EXCEPTION_STACK_OVERFLOW ||
           code == EXCEPTION_DATATYPE_MISALIGNMENT || (code >= EXCEPTION_FLT_DENORMAL_OPERAND && code <= EXCEPTION_INT_OVERFLOW) ||
           code == EXCEPTION_PRIV_INSTRUCTION || code == EXCEPTION_IN_PAGE_ERROR;
}

static inline LONG CALLBACK system_on_crash(EXCEPTION_POINTERS * what)
{
    const EXCEPTION_RECORD * record = what->ExceptionRecord;
    if (!system_is_crash(record->ExceptionCode))
        return EXCEPTION_CONTINUE_SEARCH;
    system_code = record->ExceptionCode;
    if (!system_in_call || GetCurrentThreadId() != system_thread) {
        system_ends((int)system_code);
        _exit(1);
    }
    system_address = record->NumberParameters > 1 ? (void *)record->ExceptionInformation[1] : record->ExceptionAddress;
    what->ContextRecord->Rip = (DWORD64)(uintptr_t)system_leave;
    what->ContextRecord->Rsp = ((what->ContextRecord->Rsp - 512) & ~(DWORD64)63) - 8;
    return EXCEPTION_CONTINUE_EXECUTION;
}

static inline void system_catch_crashes(void (*ends)(int number))
{
    AddVectoredExceptionHandler(1, system_on_crash);
    system_thread = GetCurrentThreadId();
    system_ends = ends;
}

static inline int system_call(bool (*run)(const void * argument, void ** a), const void * argument, void ** a, bool * good,
                              const char ** address)
{
    if (__builtin_setjmp(system_crash)) {
        system_in_call = false;
        *good = false;
        *address = system_address;
        return (int)system_code;
    }
    system_in_call = true;
    *good = run(argument, a);
    system_in_call = false;
    return 0;
}

static inline const char * system_signal(int number)
{
    return (DWORD)number == EXCEPTION_ACCESS_VIOLATION ? "access violation" : "exception";
}

#define system_line(...) fprintf(stderr, __VA_ARGS__)

/* An access that fails is SIGSEGV. */
#ifndef SIGBUS
#define SIGBUS SIGSEGV
#endif

/* ---- processes: there is no fork(); all is computed by this one */

static inline size_t system_processes(size_t count, void (*run)(size_t number))
{
    (void)count;
    run(0);
    return 0;
}

#endif
