/* The program: options, levels, families and their processes. check.h describes the checker's interface for families. */
#define _GNU_SOURCE
#include "check_frame.h"
#include "dispatch/dispatch.h"
#include "runtime/os.h"
#include "system.h"

#include <stdlib.h>

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
enum { TIME_LIMIT = 3600 }; /* seconds per family, also under an emulator; after that the program is ended */

struct frame_options frame_option;
const char * frame_program, * frame_family;
const char * frame_level[FRAME_LEVELS];
size_t frame_levels;

/* ---- options and levels */

static const char usage[] =
    "usage: check [--isa LEVEL] [--test FAMILY] [--function NAME] [--case TEXT] [--seed N] [--count N] [--quick] [--bench]\n"
    "             [--every N] [--jobs N] [--threads N] [--stack N] [--no-guards] [--counts] [--random N] [--seconds N]\n"
    "             [--caches] [--same] [--special N] [--flush] [--traps] [--refused]\n"
    "  compares the levels of this machine, or the one given, with base; SIMDNET_MAX_ISA leaves out newer ones\n"
    "  --case: only cases whose geometry contains TEXT    --count: random cases per loop    --bench: times, no checks\n"
    "  --seed: 1 if it is not given; other seeds draw other cases\n"
    "  --every: one case of N, chosen by the seed\n"
    "  --jobs: in N processes, a family in each\n"
    "  --threads: what up to N threads compute, on any machine and of any size, must be what one does, to the bit;\n"
    "             under --bench the times of one and of N\n"
    "  --stack: on a thread with a stack of N KB, all included: what the C library and the checker use of it, too\n"
    "  --no-guards: canaries instead of unreadable pages, for emulators that read what a masked load leaves out\n"
    "  --counts: prints what has been compared, by function\n"
    "  --random: random cases only, with seeds SEED + 1, SEED + 2 ..., until each function has N cases on each level, for\n"
    "            at most --seconds in each family\n"
    "  --caches: of 1 byte to 64 MB, and streaming stores always, sometimes or never, drawn for each case\n"
    "  --same: results by 1, 2, 4 and 8 threads, 25 times each and elsewhere, must have the same bits\n"
    "  --special: N rounds in which one element of an input is a NaN, an infinity, -0, a denormal or the largest number\n"
    "  --flush: counts, by function, results that differ if the caller lets the processor treat denormal numbers as 0\n"
    "  --traps: at one place, invalid operations, divisions by 0 and overflows end ordinary calls\n"
    "  --refused: only calls that must be refused, and how many there are\n";

/* All levels, also one that is slow here and so not the default, up to the one that SIMDNET_MAX_ISA names. */
static void choose_levels(void)
{
    const char * cap = getenv("SIMDNET_MAX_ISA"), * newest = cap && *cap ? SimdnetActiveIsa() : "";
    for (size_t i = 0; SimdnetIsaLevel(i) && frame_levels < FRAME_LEVELS; ++i) {
        const char * name = SimdnetIsaLevel(i);
        if (i == 0 || !frame_option.isa || strcmp(frame_option.isa, name) == 0)
            frame_level[frame_levels++] = name;
        if (strcmp(name, newest) == 0)
            break;
    }
    printf("seed %llu, levels:", (unsigned long long)frame_option.seed);
    for (size_t i = 0; i < frame_levels; ++i)
        printf(" %s", frame_level[i]);
    printf("\n");
    bool known = false;
    for (size_t i = 0; sn_level_name(i); ++i) {
        const char * name = sn_level_name(i);
        const bool requested = !frame_option.isa || strcmp(frame_option.isa, name) == 0;
        bool here = false, used = false;
        for (size_t k = 0; SimdnetIsaLevel(k); ++k)
            here |= strcmp(SimdnetIsaLevel(k), name) == 0;
        for (size_t k = 0; k < frame_levels; ++k)
            used |= strcmp(frame_level[k], name) == 0;
        if (requested && !used)
            printf("skipped: level %s: %s\n", name, here ? "SIMDNET_MAX_ISA leaves it out" : "this machine lacks it");
        known |= frame_option.isa && requested;
    }
    if (frame_option.isa && !known) {
        fprintf(stderr, "check: no such level: %s\n", frame_option.isa);
        exit(2);
    }
}

static void read_options(int argc, char ** argv)
{
    frame_option.seed = 1; /* the same cases in each run; other seeds are for runs by hand */
    const struct {
        const char * name;
        bool * given;
    } switches[] = {{"--quick", &frame_option.quick}, {"--bench", &frame_option.bench}, {"--no-guards", &frame_option.no_guards},
                    {"--counts", &frame_option.counts}, {"--caches", &frame_option.caches}, {"--same", &frame_option.same},
                    {"--flush", &frame_option.flush}, {"--traps", &frame_option.traps}, {"--refused", &frame_option.refused}};
    const struct {
        const char * name;
        const char ** text;
    } texts[] = {{"--isa", &frame_option.isa}, {"--test", &frame_option.test}, {"--function", &frame_option.function},
                 {"--case", &frame_option.geometry}};
    const struct {
        const char * name;
        size_t * number;
    } numbers[] = {{"--count", &frame_option.count}, {"--every", &frame_option.every}, {"--jobs", &frame_option.jobs},
                   {"--threads", &frame_option.threads}, {"--stack", &frame_option.stack}, {"--random", &frame_option.random},
                   {"--seconds", &frame_option.seconds}, {"--special", &frame_option.special}};
    for (int i = 1; i < argc; ++i) {
        const char * name = argv[i];
        bool known = false;
        for (size_t k = 0; k < sizeof(switches) / sizeof(switches[0]); ++k)
            if (strcmp(name, switches[k].name) == 0)
                *switches[k].given = known = true;
        const char * value = i + 1 < argc ? argv[i + 1] : NULL;
        bool taken = false;
        for (size_t k = 0; value && k < sizeof(texts) / sizeof(texts[0]); ++k)
            if (strcmp(name, texts[k].name) == 0)
                *texts[k].text = value, taken = true;
        for (size_t k = 0; value && k < sizeof(numbers) / sizeof(numbers[0]); ++k)
            if (strcmp(name, numbers[k].name) == 0)
                *numbers[k].number = strtoul(value, NULL, 0), taken = true;
        if (value && strcmp(name, "--seed") == 0)
            frame_option.seed = strtoull(value, NULL, 0), taken = true;
        if (!known && !taken) {
            fputs(usage, stderr);
            exit(2);
        }
        i += taken;
    }
    /* Seeds change a loop's random cases only: many of them in each round. The fixed ones need not even be listed. */
    if (frame_option.random) {
        frame_option.quick = true;
        if (!frame_option.count)
            frame_option.count = frame_option.random / 10 + 20;
    }
}

/* ---- families and processes */

static double seconds(void) { return (double)sn_os_now() * 1e-9; }

static bool family_selected(size_t i) { return !frame_option.test || strcmp(frame_option.test, families[i].name) == 0; }

static void run_family(const struct family * family)
{
    const size_t passed_before = frame_count.passed;
    const double begin = seconds();
    frame_family = family->name;
    frame_count.family_failed = 0;
    frame_refusals_clear();
    frame_level_in_use = frame_level[0];
    system_alarm(frame_option.bench ? 0 : TIME_LIMIT);
    frame_run_rounds(family->run);
    if (!frame_option.bench)
        printf("%-15s %zu passed, %zu failed (%.1f s)\n", family->name, frame_count.passed - passed_before,
               frame_count.family_failed, seconds() - begin);
    if (frame_option.refused)
        frame_refusals_print();
    fflush(stdout);
}

/* Shared by the processes of --jobs: the first family that none of them has begun, and their results. */
static struct shared {
    size_t next, passed, failed;
} * shared;

static void * run_families(void * unused)
{
    (void)unused;
    frame_catch_crashes();
    for (size_t i; (i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < FAMILIES;)
        if (family_selected(i))
            run_family(&families[i]);
    __atomic_fetch_add(&shared->passed, frame_count.passed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared->failed, frame_count.failed, __ATOMIC_RELAXED);
    return NULL;
}

static void run_process(void)
{
    if (!frame_option.stack) {
        run_families(NULL);
    } else if (!system_run_on_stack(frame_option.stack << 10, run_families, NULL)) {
        fprintf(stderr, "check: no thread with a stack of %zu KB\n", frame_option.stack);
        exit(2);
    }
}

static void run_one_process(size_t number)
{
    frame_choose_process(number);
    run_process();
}

static void require_family(void)
{
    for (size_t i = 0; i < FAMILIES; ++i)
        if (family_selected(i))
            return;
    fprintf(stderr, "check: no such family: %s\n", frame_option.test);
    exit(2);
}

int main(int argc, char ** argv)
{
    frame_program = argv[0];
    read_options(argc, argv);
    require_family();
    choose_levels();
    fflush(stdout); /* otherwise every process would print the buffered text again */
    shared = system_shared(sizeof(*shared));
    if (!shared) {
        fprintf(stderr, "check: no memory for what processes share\n");
        return 2;
    }
    frame_share(sn_max(frame_option.jobs, 1));
    if (frame_option.jobs > 1 && !frame_option.bench)
        shared->failed += system_processes(frame_option.jobs, run_one_process); /* results that are unknown */
    else
        run_process();
    if (frame_option.counts)
        frame_print_counts(sn_max(frame_option.jobs, 1));
    if (!frame_option.bench)
        printf("%zu passed, %zu failed\n", shared->passed, shared->failed);
    return shared->failed != 0 || (!frame_option.bench && shared->passed == 0);
}
