/* Calls with invalid arguments, which must be refused, and calls without elements, which need no arrays. */
#include "check_frame.h"

#include <errno.h>

static bool names_argument(const char * text, const char * argument)
{
    const size_t length = strlen(argument);
    for (const char * p = strstr(text, argument); p; p = strstr(p + 1, argument)) {
        const char before = p == text ? ' ' : p[-1], behind = p[length];
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", before) &&
            (behind == '\0' || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", behind)))
            return true;
    }
    return false;
}

static bool is_correct_refusal(int kind, const char * argument, void * const * a)
{
    const char * text = SimdnetLastError();
    const size_t name = strlen(frame_case.function);
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        const unsigned char * p = a[i];
        for (size_t k = 0; p && array->role != FRAME_IN && k < array->bytes; ++k)
            if (p[k] != (array->role == FRAME_OUT ? frame_filler(FRAME_END) : array->content[k])) {
                frame_fail("bad %s: byte %zu of %s was written", argument, k, array->name);
                return false;
            }
    }
    if (errno == 0) {
        frame_fail("bad %s: errno is not set", argument);
        return false;
    }
    if (SimdnetLastErrorKind() != kind) {
        frame_fail("bad %s: error kind %d, expected %d, text \"%s\"", argument, SimdnetLastErrorKind(), kind, text);
        return false;
    }
    if (strncmp(text, frame_case.function, name) != 0 || text[name] != ':' || !names_argument(text + name + 1, argument)) {
        frame_fail("bad %s: the text \"%s\" does not begin with the function and name the argument", argument, text);
        return false;
    }
    return frame_memory_intact(a);
}

/* Calls with NULL for array number `null` (ALL: for all, NONE: for none). False if open() refused. */
enum { NONE = -1, ALL = FRAME_ARRAYS };

static bool call_with_null(int null, void ** a, void ** context, check_call_fn call, const void * job)
{
    frame_set_up(FRAME_END, a);
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (null == ALL || null == (int)i)
            a[i] = NULL;
    *context = NULL;
    frame_set_error();
    if (frame_case.open) {
        *context = frame_case.open(job, a);
        if (!*context)
            return false;
        frame_set_error();
    }
    if (call)
        call(job, *context, a);
    return true;
}

/* With an argument: the call, or open() if there is no call, must be refused. Without: it must succeed. */
static bool one_null(int null, int kind, const char * argument, void ** a, check_call_fn call, const void * job)
{
    void * context;
    const bool opened = call_with_null(null, a, &context, call, job);
    bool good;
    if (!argument)
        good = opened ? frame_no_error("a call without elements") && frame_memory_intact(a) : frame_no_error("Init");
    else if (opened != (call != NULL)) {
        frame_fail("bad %s: Init %s, text \"%s\"", argument, opened ? "did not refuse it" : "refused, not the call",
             SimdnetLastError());
        good = false;
    } else {
        good = is_correct_refusal(kind, argument, a);
    }
    if (context)
        SimdRelease(context);
    return good;
}

struct job {
    int null, kind;
    const char * argument;
    check_call_fn call;
    const void * job;
};

static bool run_null(const void * argument, void ** a)
{
    const struct job * j = argument;
    return one_null(j->null, j->kind, j->argument, a, j->call, j->job);
}

static void on_every_level(int null, int kind, const char * argument, check_call_fn call, const void * job)
{
    if (frame_case.skip || frame_option.bench)
        return;
    for (size_t i = 0; i < frame_levels; ++i) {
        frame_use_level(frame_level[i]);
        frame_count.passed += frame_guarded(run_null, &(struct job){null, kind, argument, call, job});
    }
}

void check_refused(int kind, const char * argument, check_call_fn call, const void * job)
{
    on_every_level(NONE, kind, argument, call, job);
}

void check_refused_null(check_call_fn call, const void * job)
{
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (!frame_case.array[i].optional)
            on_every_level((int)i, CHECK_VALUE, frame_case.array[i].name, call, job);
}

void check_empty(check_call_fn call, const void * job) { on_every_level(ALL, 0, NULL, call, job); }
