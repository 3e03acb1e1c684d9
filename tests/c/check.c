/* The frame of the checker: options, running of cases, reports. check.h describes its interface for families. */
#define _GNU_SOURCE
#include "check_frame.h"
#include "dispatch/dispatch.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"
#include "stack.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#undef CHECK_FAMILY
#define CHECK_FAMILY(name) void check_##name(void);
#include "families.h"
#undef CHECK_FAMILY

static const struct family {
    const char * name;
    void (*run)(void);
} families[] = {
#define CHECK_FAMILY(name) {#name, check_##name},
#include "families.h"
#undef CHECK_FAMILY
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };
enum { REPORTS = 20 }; /* failures of a family that are reported in full */
enum { HANGS = 3600 }; /* seconds per family, also under an emulator; after that the program is ended */

struct frame_case frame_case;
const char * frame_level[FRAME_LEVELS];
size_t frame_levels;
bool frame_bench, frame_no_guards;
size_t frame_threads;

static struct {
    const char * isa, * test, * function, * geometry;
    uint64_t seed;
    size_t count, stack, jobs;
    bool quick;
} option;

static const char * program;
static const struct family * family;
static const char * level;              /* in use */
static struct frame_random case_random;  /* for the data of the case */
static struct frame_random place_random; /* for its placement on a level; other levels do not affect it */
static struct frame_random family_random;
static size_t passed, failed, family_failed;
static size_t buffers;
static enum frame_place buffer_place;

/* ------------------------------------------------------------------------------------------------- reports */

static void __attribute__((format(printf, 1, 2))) fail(const char * format, ...)
{
    ++failed;
    if (++family_failed > REPORTS)
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("FAIL %s [%s] on %s: ", frame_case.function, frame_case.geometry, level);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n     repeat: %s --seed %llu --test %s --function %s --case '%s' --isa %s", program,
           (unsigned long long)option.seed, family->name, frame_case.function, frame_case.geometry, level);
    if (frame_threads)
        printf(" --threads %zu", frame_threads);
    if (option.stack)
        printf(" --stack %zu", option.stack);
    printf("\n");
    if (family_failed == REPORTS)
        printf("     (more failures of this family are counted, not told)\n");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------- crashes */

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
            frame_case.geometry, level, (unsigned long long)option.seed);
    _exit(1);
}

static void catch_crashes(void)
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
            fail("signal %d (%s) at %s %+lld bytes, which has %zu bytes", number, strsignal(number),
                 frame_case.array[i].name, (long long)(address - begin), frame_case.array[i].bytes);
            return;
        }
    }
    fail("signal %d (%s) at address %p", number, strsignal(number), (const void *)address);
}

/* ------------------------------------------------------------------------------------------------- describing */

bool check_selected(const char * function) { return !option.function || strcmp(option.function, function) == 0; }

bool check_case(const char * function, const char * geometry, ...)
{
    struct frame_case * c = &frame_case;
    c->function = function;
    va_list arguments;
    va_start(arguments, geometry);
    vsnprintf(c->geometry, sizeof(c->geometry), geometry, arguments);
    va_end(arguments);
    c->skip = !check_selected(function) || (option.geometry && !strstr(c->geometry, option.geometry));
    c->arrays = 0;
    c->compare = FRAME_EXACT;
    c->tolerance = 0;
    c->freedoms = 0;
    c->raises = false;
    c->open = NULL;
    case_random.state = frame_hash(frame_hash(option.seed, function), c->geometry);
    return !c->skip;
}

static void * declare(const char * name, enum check_type type, size_t count, enum frame_role role, enum check_fill fill)
{
    struct frame_case * c = &frame_case;
    if (c->arrays == FRAME_ARRAYS) {
        fprintf(stderr, "check: %s has more than %d arrays\n", c->function, (int)FRAME_ARRAYS);
        exit(2);
    }
    struct frame_array * array = &c->array[c->arrays++];
    array->name = name;
    array->type = type;
    array->role = role;
    array->count = count;
    array->bytes = count * frame_type_bytes(type);
    array->optional = array->has_bound = false;
    /* Three parts, each a multiple of 8 bytes for alignment. */
    const size_t part = (array->bytes + 15) / 8 * 8;
    array->content = frame_grow(array->content, &array->capacity, 3 * part);
    array->expected = array->content + part;
    array->first = array->expected + part;
    if (role != FRAME_OUT && !c->skip)
        frame_fill(&case_random, type, count, fill, array->content);
    return array->content;
}

void * check_in(const char * name, enum check_type type, size_t count, enum check_fill fill)
{
    return declare(name, type, count, FRAME_IN, fill);
}

void * check_inout(const char * name, enum check_type type, size_t count, enum check_fill fill)
{
    return declare(name, type, count, FRAME_INOUT, fill);
}

void check_out(const char * name, enum check_type type, size_t count)
{
    declare(name, type, count, FRAME_OUT, CHECK_ZERO);
}

static struct frame_array * last_array(void) { return &frame_case.array[frame_case.arrays - 1]; }

void check_optional(void) { last_array()->optional = true; }

static void rule(enum frame_compare compare, double tolerance, int freedoms)
{
    frame_case.compare = compare;
    frame_case.tolerance = tolerance;
    frame_case.freedoms = freedoms;
}

void check_exact(int freedoms) { rule(FRAME_EXACT, 0, freedoms); }
void check_ulp(double ulp) { rule(FRAME_ULP, ulp, CHECK_NAN_FREE); }
void check_bytes_within(int n) { rule(FRAME_WITHIN, n, 0); }
void check_anything(void) { rule(FRAME_ANYTHING, 0, 0); }

double * check_bound(void)
{
    if (frame_case.skip) {
        fprintf(stderr, "check: a bound for %s [%s], which is left out\n", frame_case.function, frame_case.geometry);
        exit(2);
    }
    struct frame_array * array = last_array();
    array->has_bound = true;
    array->bound = frame_grow(array->bound, &array->bound_capacity, (array->count + 1) * sizeof(double));
    memset(array->bound, 0, array->count * sizeof(double));
    return array->bound;
}

void check_raises(void) { frame_case.raises = true; }

void check_open(check_open_fn open) { frame_case.open = open; }

/* ------------------------------------------------------------------------------------------------- running */

bool frame_selected(void) { return !frame_case.skip; }

void frame_use_level(const char * name)
{
    level = name;
    if (!SimdnetSetMaxIsa(name) || strcmp(SimdnetActiveIsa(), name) != 0) {
        fprintf(stderr, "check: asked for %s, got %s\n", name, SimdnetActiveIsa());
        exit(2);
    }
}

void * check_buffer(size_t bytes)
{
    if (buffers == 4) {
        fprintf(stderr, "check: %s asks for more than 4 buffers\n", frame_case.function);
        exit(2);
    }
    unsigned char * buffer = frame_place(FRAME_ARRAYS + buffers++, bytes, 1, buffer_place, frame_next(&place_random) >> 8);
    const uint16_t signaling = 0x7FBF; /* as a bfloat16, and twice as a float */
    for (size_t i = 0; i < bytes; ++i)
        buffer[i] = (unsigned char)(signaling >> 8 * (i % 2));
    return buffer;
}

/* The byte that fills outputs before the call: as floats, values that no result should have. */
static unsigned char dirt(enum frame_place place) { return (unsigned char)(0x5A + 0x11 * (int)place); }

void frame_set_up(enum frame_place place, void ** a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        const uint64_t random = frame_next(&place_random);
        const size_t step = random & 1 ? 1 : frame_type_bytes(array->type); /* aligned results may be streamed */
        a[i] = frame_place(i, array->bytes, step, place, random >> 8);
        if (array->role == FRAME_OUT)
            memset(a[i], dirt(place), array->bytes);
        else
            memcpy(a[i], array->content, array->bytes);
    }
    buffers = 0;
    buffer_place = place;
}

/* Sets an error text, which the next successful call must clear. */
static void leave_error(void)
{
    SimdnetSetMaxIsa("no such level");
    errno = 0; /* set by a refused call */
}

static bool no_error(const char * where)
{
    if (SimdnetLastErrorKind() == 0 && SimdnetLastError()[0] == '\0')
        return true;
    fail("%s left the error \"%s\" of kind %d", where, SimdnetLastError(), SimdnetLastErrorKind());
    return false;
}

static bool memory_whole(void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        if (a[i] && array->role == FRAME_IN && memcmp(a[i], array->content, array->bytes) != 0) {
            fail("%s was changed", array->name);
            return false;
        }
        if (a[i] && !frame_canaries_whole(i)) {
            fail("wrote outside %s", array->name);
            return false;
        }
    }
    for (size_t i = 0; i < buffers; ++i)
        if (!frame_canaries_whole(FRAME_ARRAYS + i)) {
            fail("wrote outside a buffer");
            return false;
        }
    return true;
}

static bool told(const struct frame_array * array, const void * got, const void * expected, size_t index, const char * what)
{
    char is[80], should[80];
    if (index == array->count)
        return false;
    frame_show(array, got, index, is, sizeof(is));
    frame_show(array, expected, index, should, sizeof(should));
    if (array->has_bound && array->bound[index] >= 0 && got != array->first)
        fail("%s[%zu] of %zu is %s, %s %s, the bound is %.3g", array->name, index, array->count, is, what, should,
             array->bound[index]);
    else
        fail("%s[%zu] of %zu is %s, %s %s", array->name, index, array->count, is, what, should);
    return true;
}

/* Compares the outputs of one call with base's, and with those of the first place. */
static bool results_good(enum frame_place place, bool is_base, void * const * a)
{
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        struct frame_array * array = &frame_case.array[i];
        if (array->role == FRAME_IN)
            continue;
        if (place == FRAME_END) {
            memcpy(array->first, a[i], array->bytes);
            if (is_base)
                memcpy(array->expected, a[i], array->bytes);
            else if (told(array, a[i], array->expected, frame_difference(&frame_case, array, a[i]), "base has"))
                return false;
        } else {
            char what[120];
            snprintf(what, sizeof(what), "by %zu threads; with one, at another alignment (end of a page%s), it was",
                     SimdGetThreadNumber(), place == FRAME_BEGIN ? "" : ", larger caches");
            if (told(array, a[i], array->first, frame_unequal(array, a[i], array->first), what))
                return false;
        }
    }
    return true;
}

/* At one of the places the caches are reported as small, and traits are others: large results are then written with streaming stores, and work is
 * cut into different blocks. */
static void set_caches(bool small)
{
    static struct sn_cpu real;
    if (real.cacheL1 == 0)
        real = *sn_cpu();
    struct sn_traits traits = real.traits;
    if (small) {
        traits.cached = 192;
        traits.prefetchC = !traits.prefetchC;
        traits.ordered = !traits.ordered;
    }
    sn_cpu_set(small ? 48 << 10 : real.cacheL2, &traits);
}

/* With --threads, every place except the first uses several threads, even on a machine with few processors and for small
 * calls. */
static void set_threads(enum frame_place place)
{
    if (frame_threads > 1 && place != FRAME_END)
        sn_threads_force(2 + frame_next(&place_random) % (frame_threads - 1));
    else
        sn_threads_set(1);
}

static void use_level(size_t index)
{
    frame_use_level(frame_level[index]);
    place_random.state = frame_hash(case_random.state, frame_level[index]);
}

/*
 * Exceptions that a host may have unmasked; underflow and inexact results are not errors. Finite numbers of ordinary size
 * must raise none, unless `base` raises one because of the formula itself: a division by zero, the root of a negative
 * number. Larger numbers may, since `base` computes in double.
 */
enum { EXCEPTIONS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

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
    static bool allowed;
    const int raised = fetestexcept(EXCEPTIONS);
    if (is_base && place == FRAME_END)
        allowed = raised || !ordinary_data();
    if (!raised || allowed)
        return true;
    fail("raised floating-point exceptions:%s%s%s", raised & FE_INVALID ? " invalid" : "",
         raised & FE_DIVBYZERO ? " division by zero" : "", raised & FE_OVERFLOW ? " overflow" : "");
    return false;
}

static bool one_place(enum frame_place place, bool is_base, void ** a, check_call_fn call, const void * job)
{
    void * context = NULL;
    frame_set_up(place, a);
    set_caches(place == FRAME_MIDDLE);
    set_threads(place);
    leave_error();
    feclearexcept(FE_ALL_EXCEPT);
    if (frame_case.open) {
        context = frame_case.open(job, a);
        if (!context) {
            fail("Init returned NULL: %s", SimdnetLastError());
            return false;
        }
        if (!no_error("the making of the context"))
            return false;
        leave_error();
    }
    call(job, context, a);
    bool good = no_exception(place, is_base) && no_error("a good call");
    if (context)
        SimdRelease(context);
    return good && memory_whole(a) && results_good(place, is_base, a);
}

static bool one_level(size_t index, check_call_fn call, const void * job)
{
    static void * a[FRAME_ARRAYS];
    use_level(index);
    const int number = sigsetjmp(crash, 1);
    bool good = number == 0;
    if (good) {
        in_call = 1;
        for (int place = FRAME_END; place < FRAME_PLACES && good; ++place)
            good = one_place((enum frame_place)place, index == 0, a, call, job);
    }
    in_call = 0;
    set_caches(false);
    set_threads(FRAME_END);
    if (number)
        report_crash(number, a);
    return good;
}

void check_run(check_call_fn call, const void * job)
{
    if (frame_case.skip || frame_bench)
        return;
    for (size_t i = 0; i < frame_levels; ++i) {
        if (one_level(i, call, job))
            ++passed;
        else if (i == 0)
            return; /* nothing to compare with */
    }
}

/* ------------------------------------------------------------------------------------------------- bad arguments */

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

static bool refusal_good(int kind, const char * argument, void * const * a)
{
    const char * text = SimdnetLastError();
    const size_t name = strlen(frame_case.function);
    for (size_t i = 0; i < frame_case.arrays; ++i) {
        const struct frame_array * array = &frame_case.array[i];
        const unsigned char * p = a[i];
        for (size_t k = 0; p && array->role != FRAME_IN && k < array->bytes; ++k)
            if (p[k] != (array->role == FRAME_OUT ? dirt(FRAME_END) : array->content[k])) {
                fail("bad %s: byte %zu of %s was written", argument, k, array->name);
                return false;
            }
    }
    if (errno == 0) {
        fail("bad %s: errno is not set", argument);
        return false;
    }
    if (SimdnetLastErrorKind() != kind) {
        fail("bad %s: error kind %d, expected %d, text \"%s\"", argument, SimdnetLastErrorKind(), kind, text);
        return false;
    }
    if (strncmp(text, frame_case.function, name) != 0 || text[name] != ':' || !names_argument(text + name + 1, argument)) {
        fail("bad %s: the text \"%s\" does not begin with the function and name the argument", argument, text);
        return false;
    }
    return memory_whole(a);
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
    leave_error();
    if (frame_case.open) {
        *context = frame_case.open(job, a);
        if (!*context)
            return false;
        leave_error();
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
        good = opened ? no_error("a call without elements") && memory_whole(a) : no_error("Init");
    else if (opened != (call != NULL)) {
        fail("bad %s: Init %s, text \"%s\"", argument, opened ? "did not refuse it" : "refused, not the call",
             SimdnetLastError());
        good = false;
    } else {
        good = refusal_good(kind, argument, a);
    }
    if (context)
        SimdRelease(context);
    return good;
}

static bool one_level_null(size_t index, int null, int kind, const char * argument, check_call_fn call, const void * job)
{
    static void * a[FRAME_ARRAYS];
    use_level(index);
    const int number = sigsetjmp(crash, 1);
    bool good = number == 0;
    if (good) {
        in_call = 1;
        good = one_null(null, kind, argument, a, call, job);
    }
    in_call = 0;
    if (number)
        report_crash(number, a);
    return good;
}

static void on_every_level(int null, int kind, const char * argument, check_call_fn call, const void * job)
{
    if (frame_case.skip || frame_bench)
        return;
    for (size_t i = 0; i < frame_levels; ++i)
        passed += one_level_null(i, null, kind, argument, call, job);
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

void check_that(bool condition, const char * function, const char * text, ...)
{
    if (frame_bench || !check_selected(function))
        return;
    va_list arguments;
    va_start(arguments, text);
    frame_case.function = function;
    vsnprintf(frame_case.geometry, sizeof(frame_case.geometry), text, arguments);
    va_end(arguments);
    if (option.geometry && !strstr(frame_case.geometry, option.geometry))
        return;
    if (condition)
        ++passed;
    else
        fail("not so");
}

/* ------------------------------------------------------------------------------------------------- geometries */

bool check_quick(void) { return option.quick; }

size_t check_count(size_t usual)
{
    return option.count ? option.count : option.quick ? (usual + 7) / 8 : usual;
}

size_t check_random(size_t low, size_t high) { return low + frame_next(&family_random) % (high - low + 1); }

float check_random_32f(float low, float high)
{
    return low + (high - low) * ((float)(frame_next(&family_random) >> 40) * 0x1p-24f);
}

/* ------------------------------------------------------------------------------------------------- the program */

static const char usage[] =
    "usage: check [--isa LEVEL] [--test FAMILY] [--function NAME] [--case TEXT] [--seed N] [--count N] [--quick] [--bench]\n"
    "             [--jobs N] [--threads N] [--stack N] [--no-guards]\n"
    "  compares the levels of this machine, or the one given, with base; SIMDNET_MAX_ISA leaves out newer ones\n"
    "  --case: only cases whose geometry contains TEXT    --count: random cases per loop    --bench: times, no checks\n"
    "  --jobs: in N processes, a family in each\n"
    "  --threads: what up to N threads compute, on any machine and of any size, must be what one does, to the bit;\n"
    "             under --bench the times of one and of N\n"
    "  --stack: on a thread with a stack of N KB, all included: what the C library and the checker use of it, too\n"
    "  --no-guards: canaries instead of unreadable pages, for emulators that read what a masked load leaves out\n";

static void choose_levels(void)
{
    const char * newest = SimdnetActiveIsa();
    for (size_t i = 0; SimdnetIsaLevel(i) && frame_levels < FRAME_LEVELS; ++i) {
        const char * name = SimdnetIsaLevel(i);
        if (i == 0 || !option.isa || strcmp(option.isa, name) == 0)
            frame_level[frame_levels++] = name;
        if (strcmp(name, newest) == 0)
            break;
    }
    printf("seed %llu, levels:", (unsigned long long)option.seed);
    for (size_t i = 0; i < frame_levels; ++i)
        printf(" %s", frame_level[i]);
    printf("\n");
    bool known = false;
    for (size_t i = 0; sn_level_name(i); ++i) {
        const char * name = sn_level_name(i);
        const bool asked = !option.isa || strcmp(option.isa, name) == 0;
        bool here = false, used = false;
        for (size_t k = 0; SimdnetIsaLevel(k); ++k)
            here |= strcmp(SimdnetIsaLevel(k), name) == 0;
        for (size_t k = 0; k < frame_levels; ++k)
            used |= strcmp(frame_level[k], name) == 0;
        if (asked && !used)
            printf("skipped: level %s: %s\n", name, here ? "SIMDNET_MAX_ISA leaves it out" : "this machine lacks it");
        known |= option.isa && asked;
    }
    if (option.isa && !known) {
        fprintf(stderr, "check: no such level: %s\n", option.isa);
        exit(2);
    }
}

static void read_options(int argc, char ** argv)
{
    option.seed = (uint64_t)time(NULL) * 1000003u % 1000000007u;
    for (int i = 1; i < argc; ++i) {
        const char * name = argv[i];
        if (strcmp(name, "--quick") == 0)
            option.quick = true;
        else if (strcmp(name, "--bench") == 0)
            frame_bench = true;
        else if (strcmp(name, "--no-guards") == 0)
            frame_no_guards = true;
        else if (i + 1 < argc && strcmp(name, "--isa") == 0)
            option.isa = argv[++i];
        else if (i + 1 < argc && strcmp(name, "--test") == 0)
            option.test = argv[++i];
        else if (i + 1 < argc && strcmp(name, "--function") == 0)
            option.function = argv[++i];
        else if (i + 1 < argc && strcmp(name, "--case") == 0)
            option.geometry = argv[++i];
        else if (i + 1 < argc && strcmp(name, "--seed") == 0)
            option.seed = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(name, "--count") == 0)
            option.count = strtoul(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(name, "--jobs") == 0)
            option.jobs = strtoul(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(name, "--threads") == 0)
            frame_threads = strtoul(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(name, "--stack") == 0)
            option.stack = strtoul(argv[++i], NULL, 0);
        else {
            fputs(usage, stderr);
            exit(2);
        }
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool family_selected(size_t i) { return !option.test || strcmp(option.test, families[i].name) == 0; }

static void run_family(void)
{
    const size_t passed_before = passed;
    const double begin = seconds();
    family_random.state = frame_hash(option.seed, family->name);
    family_failed = 0;
    level = frame_level[0];
    alarm(frame_bench ? 0 : HANGS);
    family->run();
    if (!frame_bench)
        printf("%-15s %zu passed, %zu failed (%.1f s)\n", family->name, passed - passed_before, family_failed,
               seconds() - begin);
    fflush(stdout);
}

/* Shared by the processes of --jobs: the first family that none of them has begun, and their results. */
static struct shared {
    size_t next, passed, failed;
} * shared;

static void * run_families(void * unused)
{
    (void)unused;
    catch_crashes();
    for (size_t i; (i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < FAMILIES;) {
        if (family_selected(i)) {
            family = &families[i];
            run_family();
        }
    }
    __atomic_fetch_add(&shared->passed, passed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared->failed, failed, __ATOMIC_RELAXED);
    return NULL;
}

static void run_process(void)
{
    if (!option.stack) {
        run_families(NULL);
    } else if (!run_on_stack(option.stack << 10, run_families, NULL)) {
        fprintf(stderr, "check: no thread with a stack of %zu KB\n", option.stack);
        exit(2);
    }
}

/* A process that does not finish counts as a failure: its results are unknown. */
static void run_processes(void)
{
    for (size_t i = 0; i < option.jobs; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            run_process();
            exit(0);
        }
        if (child < 0) {
            fprintf(stderr, "check: no process: %s\n", strerror(errno));
            ++shared->failed;
            break;
        }
    }
    for (int status; wait(&status) > 0;) {
        if (status != 0) {
            fprintf(stderr, "check: a process ended by signal %d, with status %d\n", WTERMSIG(status), WEXITSTATUS(status));
            __atomic_fetch_add(&shared->failed, 1, __ATOMIC_RELAXED);
        }
    }
}

static void require_family(void)
{
    for (size_t i = 0; i < FAMILIES; ++i)
        if (family_selected(i))
            return;
    fprintf(stderr, "check: no such family: %s\n", option.test);
    exit(2);
}

int main(int argc, char ** argv)
{
    program = argv[0];
    read_options(argc, argv);
    require_family();
    choose_levels();
    fflush(stdout); /* otherwise every process would print the buffered text again */
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "check: no memory for what processes share\n");
        return 2;
    }
    if (option.jobs > 1 && !frame_bench)
        run_processes();
    else
        run_process();
    if (!frame_bench)
        printf("%zu passed, %zu failed\n", shared->passed, shared->failed);
    return shared->failed != 0 || (!frame_bench && shared->passed == 0);
}
