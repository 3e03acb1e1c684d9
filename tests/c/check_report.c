/* Failures of a case: wrong results and crashes. Each is printed with the command that repeats it. */
#define _GNU_SOURCE
#include "check_frame.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

enum { REPORTS = 20 }; /* failures of a family that are reported in full */

struct frame_counts frame_count;

void frame_fail(const char * format, ...)
{
    ++frame_count.failed;
    if (++frame_count.family_failed > REPORTS)
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("FAIL %s [%s] on %s: ", frame_case.function, frame_case.geometry, frame_level_in_use);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n     repeat: %s --seed %llu --test %s --function %s --case '%s' --isa %s",
           frame_program, (unsigned long long)frame_option.seed, frame_family, frame_case.function, frame_case.geometry,
           frame_level_in_use);
    if (frame_option.quick)
        printf(" --quick");
    if (frame_option.count)
        printf(" --count %zu", frame_option.count);
    if (frame_option.threads)
        printf(" --threads %zu", frame_option.threads);
    const struct {
        bool given;
        const char * name;
    } switches[] = {{frame_option.caches, "caches"}, {frame_option.same, "same"}, {frame_option.flush, "flush"},
                    {frame_option.traps, "traps"}};
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); ++i)
        if (switches[i].given)
            printf(" --%s", switches[i].name);
    if (frame_option.stack)
        printf(" --stack %zu", frame_option.stack);
    printf("\n");
    if (frame_count.family_failed == REPORTS)
        printf("     (more failures of this family are counted, but not reported)\n");
    fflush(stdout);
}

static sigjmp_buf crash;
static volatile sig_atomic_t in_call;
static pthread_t main_thread;
static void * volatile crash_address;

/* A crash of the function under test is a failure of its case; anywhere else it ends the program. */
static void on_crash(int number, siginfo_t * info, void * machine)
{
    (void)machine;
    if (in_call && pthread_equal(pthread_self(), main_thread)) {
        crash_address = info->si_addr;
        siglongjmp(crash, number);
    }
    dprintf(STDERR_FILENO, "check: signal %d in %s [%s] on %s, --seed %llu\n", number, frame_case.function,
            frame_case.geometry, frame_level_in_use, (unsigned long long)frame_option.seed);
    _exit(1);
}

void frame_catch_crashes(void)
{
    static char stack[1 << 16];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&alternative, NULL);
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i)
        sigaction(signals[i], &action, NULL);
    main_thread = pthread_self();
}

static void report_crash(int number, void * const * a)
{
    const char * address = crash_address;
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const char * begin = a[i];
        const char * end = begin + frame_case.array[i].bytes;
        if (begin && address >= begin - 8192 && address < end + 4096) {
            frame_fail("signal %d (%s) at %s %+lld bytes, which has %zu bytes", number, strsignal(number),
                       frame_case.array[i].name, (long long)(address - begin), frame_case.array[i].bytes);
            return;
        }
    }
    frame_fail("signal %d (%s) at address %p", number, strsignal(number), (const void *)address);
}

bool frame_guarded(bool (*run)(const void * argument, void ** a), const void * argument)
{
    static void * a[FRAME_ARRAYS];
    const int number = sigsetjmp(crash, 1);
    in_call = number == 0;
    const bool good = number == 0 && run(argument, a);
    in_call = 0;
    if (number)
        report_crash(number, a);
    return good;
}

void check_that(bool condition, const char * function, const char * text, ...)
{
    if (frame_option.bench || !check_selected(function))
        return;
    va_list arguments;
    va_start(arguments, text);
    frame_case.function = function;
    vsnprintf(frame_case.geometry, sizeof(frame_case.geometry), text, arguments);
    va_end(arguments);
    if (frame_option.geometry && !strstr(frame_case.geometry, frame_option.geometry))
        return;
    if (condition)
        ++frame_count.passed, ++frame_tally()->others;
    else
        frame_fail("the condition is false");
}
