/* Failures of a case: wrong results and crashes. Each is printed with the command that repeats it. */
#define _GNU_SOURCE
#include "check_frame.h"
#include "system.h"

#include <stdarg.h>

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

/* A crash of the function under test is a failure of its case; anywhere else it ends the program. */
static void report_end(int number)
{
    system_line("check: signal %d in %s [%s] on %s, --seed %llu\n", number, frame_case.function, frame_case.geometry,
                frame_level_in_use, (unsigned long long)frame_option.seed);
}

void frame_catch_crashes(void) { system_catch_crashes(report_end); }

static void report_crash(int number, const char * address, void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const char * begin = a[i];
        const char * end = begin + frame_case.array[i].bytes;
        if (begin && address >= begin - 8192 && address < end + 4096) {
            frame_fail("signal %d (%s) at %s %+lld bytes, which has %zu bytes", number, system_signal(number),
                       frame_case.array[i].name, (long long)(address - begin), frame_case.array[i].bytes);
            return;
        }
    }
    frame_fail("signal %d (%s) at address %p", number, system_signal(number), (const void *)address);
}

bool frame_guarded(bool (*run)(const void * argument, void ** a), const void * argument)
{
    static void * a[FRAME_ARRAYS];
    bool good;
    const char * address;
    const int number = system_call(run, argument, a, &good, &address);
    if (number)
        report_crash(number, address, a);
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
