/*
 * Runs a case on each level, with its arrays at each place, and verifies memory, errors, floating-point exceptions and
 * results.
 */
#define _GNU_SOURCE
#include "check_frame.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

#include <errno.h>
#include <fenv.h>
#include <stdlib.h>

const char * frame_level_in_use;
size_t frame_level_number;
static struct frame_random place_random; /* for the placement of arrays on a level; other levels do not affect it */
static size_t buffers;
static enum frame_place buffer_place;

void frame_use_level(const char * name)
{
    frame_level_in_use = name;
    for (frame_level_number = 0; strcmp(frame_level[frame_level_number], name) != 0;)
        ++frame_level_number;
    if (!SimdnetSetMaxIsa(name) || strcmp(SimdnetActiveIsa(), name) != 0) {
        fprintf(stderr, "check: requested level %s, got %s\n", name, SimdnetActiveIsa());
        exit(2);
    }
    place_random.state = frame_hash(frame_case.random.state, name);
}

/* ---- the memory of a call */

/* What no call may read before it writes it: as a bfloat16, and twice as a float, a signaling NaN. The filled part is copied
 * behind itself, since storing bytes one by one took most of the time of small cases. */
static void fill_unwritten(unsigned char * buffer, size_t bytes)
{
    const unsigned char signaling[] = {0xBF, 0x7F};
    size_t filled = bytes < sizeof(signaling) ? bytes : sizeof(signaling);
    memcpy(buffer, signaling, filled);
    for (size_t more; filled < bytes; filled += more) {
        more = filled < bytes - filled ? filled : bytes - filled;
        memcpy(buffer + filled, buffer, more);
    }
}

/* Most of the workspace that a call of this thread will have. */
static void fill_scratch(void)
{
    enum { BYTES = 64 << 10 };
    unsigned char * scratch = sn_scratch(BYTES);
    if (scratch)
        fill_unwritten(scratch, BYTES);
}

void * check_buffer(size_t bytes)
{
    if (buffers == 4) {
        fprintf(stderr, "check: %s requests more than 4 buffers\n", frame_case.function);
        exit(2);
    }
    unsigned char * buffer = frame_place(FRAME_ARRAYS + buffers++, bytes, 1, buffer_place, frame_next(&place_random) >> 8);
    fill_unwritten(buffer, bytes);
    return buffer;
}

/* The byte that fills outputs before the call: as floats, values that no result should have. */
unsigned char frame_filler(enum frame_place place) { return (unsigned char)(0x5A + 0x11 * (int)place); }

static void fill(enum frame_place place, void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        if (array->role == FRAME_OUT)
            memset(a[i], frame_filler(place), array->bytes);
        else
            memcpy(a[i], array->content, array->bytes);
    }
    buffers = 0;
    buffer_place = place;
}

void frame_set_up(enum frame_place place, void ** a)
{
    uint64_t * offsets = frame_tally()->offset;
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        const uint64_t random = frame_next(&place_random);
        const size_t step = random & 1 ? 1 : frame_type_bytes(array->type); /* aligned results may be streamed */
        a[i] = frame_place(i, array->bytes, step, place, random >> 8);
        offsets[i] |= (uint64_t)1 << (uintptr_t)a[i] % 64;
    }
    fill(place, a);
}

/* ---- errors of a call */

void frame_set_error(void)
{
    SimdnetSetMaxIsa("no such level");
    errno = 0; /* set by a refused call */
}

bool frame_no_error(const char * where)
{
    if (SimdnetLastErrorKind() == 0 && SimdnetLastError()[0] == '\0')
        return true;
    frame_fail("%s left the error \"%s\" of kind %d", where, SimdnetLastError(), SimdnetLastErrorKind());
    return false;
}

bool frame_memory_intact(void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        if (a[i] && array->role == FRAME_IN && memcmp(a[i], array->content, array->bytes) != 0) {
            frame_fail("%s was changed", array->name);
            return false;
        }
        if (a[i] && !frame_canaries_intact(i)) {
            frame_fail("wrote outside %s", array->name);
            return false;
        }
    }
    for (size_t i = 0; i < buffers; ++i)
        if (!frame_canaries_intact(FRAME_ARRAYS + i)) {
            frame_fail("wrote outside a buffer");
            return false;
        }
    return true;
}

/* Reports the difference at an index; false if the index is the count: there is none. */
static bool is_reported(const struct frame_array * array, const void * got, const void * expected, size_t index,
                        const char * what)
{
    char is[80], should[80];
    if (index == array->count)
        return false;
    frame_show(array, got, index, is, sizeof(is));
    frame_show(array, expected, index, should, sizeof(should));
    if (array->has_bound && array->bound[index] >= 0 && got != array->first)
        frame_fail("%s[%zu] of %zu is %s, %s %s, the bound is %.3g", array->name, index, array->count, is, what, should,
                   array->bound[index]);
    else
        frame_fail("%s[%zu] of %zu is %s, %s %s", array->name, index, array->count, is, what, should);
    return true;
}

/* Compares the outputs of one call with base's, and with those of the first place. */
static bool results_equal(enum frame_place place, bool is_base, void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        struct frame_array * array = &frame_case.array[i];
        if (array->role == FRAME_IN)
            continue;
        if (place == FRAME_END) {
            memcpy(array->first, a[i], array->bytes);
            if (is_base)
                memcpy(array->expected, a[i], array->bytes);
            else if (is_reported(array, a[i], array->expected, frame_difference(&frame_case, array, a[i]), "base has"))
                return false;
        } else {
            char what[120];
            snprintf(what, sizeof(what), "by %zu threads; with one, at another alignment (end of a page%s), it was",
                     SimdGetThreadNumber(), place == FRAME_BEGIN ? "" : ", larger caches");
            if (is_reported(array, a[i], array->first, frame_unequal(array->type, a[i], array->first, array->count), what))
                return false;
        }
    }
    return true;
}

/* At one of the places the caches seem small, and the traits are others: large results are then written with streaming
 * stores, and work is cut into different blocks. */
static void set_caches(bool small)
{
    static struct sn_cpu real;
    if (real.cacheL1 == 0)
        real = *sn_cpu();
    struct sn_traits traits = real.traits;
    size_t cacheL2 = small ? 48 << 10 : real.cacheL2;
    if (small) {
        traits.cached = 192;
        traits.prefetchC = !traits.prefetchC;
        traits.ordered = !traits.ordered;
    }
    if (small && frame_option.caches) {
        const size_t cached[] = {0, 192, SIZE_MAX};
        cacheL2 = (size_t)exp2((double)(frame_next(&place_random) % 2601) / 100);
        traits.cached = cached[frame_next(&place_random) % 3];
        traits.ordered = frame_next(&place_random) & 1;
    }
    sn_cpu_set(cacheL2, &traits);
}

/* With --threads, every place except the first uses several threads, even on a machine with few processors and for small
 * calls. */
static void set_threads(enum frame_place place)
{
    if (frame_option.threads > 1 && place != FRAME_END)
        sn_threads_force(2 + frame_next(&place_random) % (frame_option.threads - 1));
    else
        sn_threads_set(1);
}

/*
 * Exceptions that a host may have unmasked; underflow and inexact results are not errors. Finite numbers of ordinary size
 * must raise none, on any level; where the formula itself raises one, a division by zero or the root of a negative number,
 * the case says so by check_raises_like_base(). Larger numbers may, since `base` computes in double.
 */
enum { EXCEPTIONS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static bool no_exception_allowed; /* in this case */

static bool ordinary_data(void)
{
    if (frame_case.raises)
        return false;
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (frame_case.array[i].role != FRAME_OUT && !frame_ordinary(&frame_case.array[i]))
            return false;
    return true;
}

/* Exceptions of this thread, which does all the work at the first place. */
static bool no_exception(enum frame_place place, bool is_base)
{
    const int raised = fetestexcept(EXCEPTIONS);
    if (is_base && place == FRAME_END && frame_case.raises_like_base)
        no_exception_allowed &= !raised;
    if (!raised || !no_exception_allowed)
        return true;
    frame_fail("raised floating-point exceptions:%s%s%s", raised & FE_INVALID ? " invalid" : "",
               raised & FE_DIVBYZERO ? " division by zero" : "", raised & FE_OVERFLOW ? " overflow" : "");
    return false;
}

/* What a good call must leave as it is: the control bits of the floating-point unit, and errno. */
enum { KEPT_ERRNO = 4321 };

static uint32_t control_bits(void)
{
#if defined(__x86_64__)
    return sn_float_control() & ~0x3Fu; /* the others are flags */
#else
    return sn_float_control();
#endif
}

static bool environment_kept(uint32_t control)
{
    if (control_bits() != control)
        frame_fail("changed the floating-point unit's control word from 0x%X to 0x%X", (unsigned)control, (unsigned)control_bits());
    else if (errno != KEPT_ERRNO)
        frame_fail("changed errno to %d", errno);
    else
        return true;
    return false;
}

/* With --traps, exceptions end the calls at one place. */
static void set_traps(bool on)
{
#if defined(__GLIBC__)
    if (on)
        feenableexcept(EXCEPTIONS);
    else if (frame_option.traps)
        fedisableexcept(EXCEPTIONS);
#else
    (void)on;
#endif
}

/* A call on a context of its own, if the case has one. */
static bool good_call(void ** a, void ** context, check_call_fn call, const void * job)
{
    frame_set_error();
    const uint32_t control = control_bits();
    errno = KEPT_ERRNO;
    if (frame_case.open && !*context) {
        *context = frame_case.open(job, a);
        if (!*context) {
            frame_fail("Init returned NULL: %s", SimdnetLastError());
            return false;
        }
        if (!frame_no_error("Init") || !environment_kept(control))
            return false;
        frame_set_error();
        errno = KEPT_ERRNO;
    }
    fill_scratch();
    call(job, *context, a);
    ++frame_process->calls;
    return frame_no_error("a good call") && environment_kept(control);
}

static bool one_place(enum frame_place place, bool is_base, void ** a, check_call_fn call, const void * job)
{
    void * context = NULL;
    frame_set_up(place, a);
    set_caches(place == FRAME_MIDDLE);
    set_threads(place);
    feclearexcept(FE_ALL_EXCEPT);
    set_traps(frame_option.traps && place == FRAME_BEGIN && no_exception_allowed);
    bool good = good_call(a, &context, call, job);
    set_traps(false);
    good = good && no_exception(place, is_base);
    if (context)
        SimdRelease(context);
    return good && frame_memory_intact(a) && results_equal(place, is_base, a);
}

/* ---- the same call in other ways */

static bool same_results(const char * what, void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        if (array->role != FRAME_IN &&
            is_reported(array, a[i], array->first, frame_unequal(array->type, a[i], array->first, array->count), what))
            return false;
    }
    return true;
}

/* With --same: by several numbers of threads, each at another place and with caches of other sizes, and repeated there. */
static bool repeat_call(void ** a, check_call_fn call, const void * job)
{
    enum { REPEATS = 25 };
    const size_t threads[] = {1, 2, 4, 8};
    struct frame_tally * tally = frame_tally();
    for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); ++t) {
        void * context = NULL;
        bool good = true;
        frame_set_up(FRAME_MIDDLE, a);
        set_caches(t & 1);
        sn_threads_force(threads[t]);
        for (size_t i = 0; good && i < REPEATS; ++i) {
            char what[80];
            fill(FRAME_MIDDLE, a);
            good = good_call(a, &context, call, job);
            snprintf(what, sizeof(what), "in call %zu by %zu threads; in the first one, it was", i + 1, threads[t]);
            good = good && frame_memory_intact(a) && same_results(what, a);
            tally->same_threads += good && i == 0;
            tally->same_repeats += good && i > 0;
        }
        if (context)
            SimdRelease(context);
        if (!good)
            return false;
    }
    return true;
}

/* With --flush: denormal numbers are 0, as the caller may have set; by one thread and by several. */
static bool flush_call(void ** a, check_call_fn call, const void * job)
{
    const uint32_t control = sn_float_control();
    bool same = true;
    for (size_t threads = 1; threads <= 4; threads += 3) {
        void * context = NULL;
        frame_set_up(FRAME_MIDDLE, a);
        set_caches(false);
        sn_threads_force(threads);
        sn_set_float_control(control | SN_FLOAT_FLUSH);
        bool good = good_call(a, &context, call, job);
        sn_set_float_control(control);
        if (context)
            SimdRelease(context);
        if (!good || !frame_memory_intact(a))
            return false;
        for (size_t i = 0; threads == 1 && i < frame_case.arrays; ++i) {
            struct frame_array * array = &frame_case.array[i];
            if (array->role == FRAME_IN)
                continue;
            same &= frame_unequal(array->type, a[i], array->first, array->count) == array->count;
            memcpy(array->first, a[i], array->bytes);
        }
        if (threads != 1 && !same_results("by 4 threads, if denormal numbers become 0; by one, it was", a))
            return false;
    }
    ++*(same ? &frame_tally()->kept[frame_level_number] : &frame_tally()->flushed[frame_level_number]);
    return true;
}

/* ---- all calls of a case */

struct job {
    bool is_base;
    check_call_fn call;
    const void * job;
};

static bool all_places(const void * argument, void ** a)
{
    const struct job * j = argument;
    for (int place = FRAME_END; place < FRAME_PLACES; ++place)
        if (!one_place((enum frame_place)place, j->is_base, a, j->call, j->job))
            return false;
    return (!frame_option.same || repeat_call(a, j->call, j->job)) && (!frame_option.flush || flush_call(a, j->call, j->job));
}

void check_run(check_call_fn call, const void * job)
{
    frame_end_data();
    if (frame_case.skip || frame_option.bench || frame_option.refused || (frame_option.special && !frame_is_planted()))
        return;
    no_exception_allowed = ordinary_data();
    for (size_t i = 0; i < frame_levels; ++i) {
        const uint32_t control = sn_float_control();
        frame_use_level(frame_level[i]);
        const bool good = frame_guarded(all_places, &(struct job){i == 0, call, job});
        sn_set_float_control(control); /* after a crash, that of the handler */
        set_caches(false);
        set_threads(FRAME_END);
        frame_count.passed += good;
        if (good)
            frame_tally_case(i);
        else if (i == 0)
            return; /* nothing to compare with */
        if (!good && frame_option.special)
            return;
    }
    if (frame_option.special)
        frame_plant_passed();
}
