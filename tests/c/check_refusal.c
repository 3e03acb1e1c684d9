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

/* How the arrays of a call differ from those of the case: one is NULL, or all; or one is elsewhere. */
enum { NONE = -1, ALL = FRAME_ARRAYS };

struct change {
    int null;         /* the number of an array, ALL or NONE */
    size_t moved;     /* this array is `offset` bytes behind the beginning of another one, */
    size_t next;      /* if that is not the same; */
    ptrdiff_t offset;
    bool joined;      /* in memory for both: otherwise the call must not touch it */
};

static void join(const struct change * change, void ** a)
{
    const struct frame_array * moved = &frame_case.array[change->moved], * next = &frame_case.array[change->next];
    unsigned char * both = check_buffer(moved->bytes + next->bytes);
    const void * before = a[change->moved];
    a[change->next] = change->offset < 0 ? both + moved->bytes : both;
    memcpy(a[change->next], next->content, next->bytes);
    memcpy((unsigned char *)a[change->next] + change->offset, before, moved->bytes);
}

/* Calls with this change, which `a` then does not show, except for what is NULL or joined. False if open() refused. */
static bool call_with(const struct change * change, void ** a, void ** context, check_call_fn call, const void * job)
{
    frame_set_up(FRAME_END, a);
    if (change->joined)
        join(change, a);
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (change->null == ALL || change->null == (int)i)
            a[i] = NULL;
    *context = NULL;
    frame_set_error();
    if (frame_case.open) {
        *context = frame_case.open(job, a);
        if (!*context)
            return false;
        frame_set_error();
    }
    void * const unmoved = a[change->moved];
    if (change->moved != change->next)
        a[change->moved] = (unsigned char *)a[change->next] + change->offset;
    if (call)
        call(job, *context, a);
    if (!change->joined)
        a[change->moved] = unmoved;
    return true;
}

struct job {
    struct change change;
    int kind;
    const char * argument; /* the call, or open() if there is no call, must be refused and name it; NULL: it must succeed */
    check_call_fn call;
    const void * job;
};

static bool run_changed(const void * argument, void ** a)
{
    const struct job * j = argument;
    void * context;
    const bool opened = call_with(&j->change, a, &context, j->call, j->job);
    bool good;
    if (!j->argument) {
        const char * what = j->change.joined ? "adjacent arrays" : "a call without elements";
        good = opened ? frame_no_error(what) && frame_memory_intact(a) : frame_no_error("Init");
    } else if (opened != (j->call != NULL)) {
        frame_fail("bad %s: Init %s, text \"%s\"", j->argument, opened ? "did not refuse it" : "refused, not the call",
                   SimdnetLastError());
        good = false;
    } else {
        good = is_correct_refusal(j->kind, j->argument, a);
    }
    if (context)
        SimdRelease(context);
    return good;
}

/* Cases of the family, each counted once, however many levels refuse it. */
static struct {
    size_t null, overlap, context, init, state, other, cases;
} refusals;

void frame_refusals_clear(void) { memset(&refusals, 0, sizeof(refusals)); }

void frame_refusals_print(void)
{
    printf("scorecard: {\"c_null\": %zu, \"c_overlap\": %zu, \"c_context\": %zu, \"c_init\": %zu, \"c_state\": %zu, "
           "\"c_other\": %zu, \"c_cases\": %zu}\n",
           refusals.null, refusals.overlap, refusals.context, refusals.init, refusals.state, refusals.other, refusals.cases);
}

static void count(const struct change * change, int kind, const char * argument, bool init)
{
    size_t * one = change->null != NONE            ? &refusals.null
                   : change->moved != change->next ? &refusals.overlap
                   : init                          ? &refusals.init
                   : !strcmp(argument, "context")  ? &refusals.context
                   : kind == CHECK_STATE           ? &refusals.state
                                                   : &refusals.other;
    ++*one;
    ++refusals.cases;
}

static void on_every_level(struct change change, int kind, const char * argument, check_call_fn call, const void * job)
{
    frame_end_data();
    if (frame_case.skip || frame_option.bench)
        return;
    if (argument)
        count(&change, kind, argument, call == NULL);
    for (size_t i = 0; i < frame_levels; ++i) {
        frame_use_level(frame_level[i]);
        const bool good = frame_guarded(run_changed, &(struct job){change, kind, argument, call, job});
        frame_count.passed += good;
        frame_tally()->others += good;
    }
}

void check_refused(int kind, const char * argument, check_call_fn call, const void * job)
{
    on_every_level((struct change){.null = NONE}, kind, argument, call, job);
}

void check_refused_null(check_call_fn call, const void * job)
{
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (!frame_case.array[i].optional)
            on_every_level((struct change){.null = (int)i}, CHECK_VALUE, frame_case.array[i].name, call, job);
}

/* The array `moved`, a result, with the first or last byte of another one, at its beginning, and behind or before it. */
static void overlaps_of(size_t moved, size_t next, bool in_place, check_call_fn call, const void * job)
{
    const struct frame_array * result = &frame_case.array[moved], * other = &frame_case.array[next];
    const ptrdiff_t size = (ptrdiff_t)result->bytes, end = (ptrdiff_t)other->bytes;
    const bool same = in_place && other->type == result->type && other->count == result->count;
    const ptrdiff_t offsets[] = {end - 1, 1 - size, same ? 1 : 0, end, -size};
    for (size_t i = 0; i < 5; ++i) {
        const struct change change = {NONE, moved, next, offsets[i], i >= 3};
        on_every_level(change, CHECK_VALUE, i < 3 ? other->name : NULL, call, job);
    }
}

void check_refused_overlap(bool in_place, check_call_fn call, const void * job)
{
    for (size_t i = 0; i < frame_case.arrays; ++i)
        for (size_t k = 0; k < frame_case.arrays; ++k)
            if (i != k && frame_case.array[i].role != FRAME_IN && frame_case.array[k].count > 1)
                overlaps_of(i, k, in_place, call, job);
}

void check_empty(check_call_fn call, const void * job)
{
    on_every_level((struct change){.null = ALL}, 0, NULL, call, job);
}
