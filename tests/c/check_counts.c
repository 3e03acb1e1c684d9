/* What has been compared, by function and level, printed by --counts. Each process of --jobs counts in a table of its own, in
 * memory that all of them share. */
#define _GNU_SOURCE
#include "check_frame.h"
#include "system.h"

#include <ctype.h>
#include <stdlib.h>

static struct frame_process * processes;
struct frame_process * frame_process;

void frame_share(size_t number)
{
    processes = system_shared(number * sizeof(*processes));
    if (!processes) {
        fprintf(stderr, "check: no memory for what processes share\n");
        exit(2);
    }
    frame_process = processes;
}

void frame_choose_process(size_t number) { frame_process = &processes[number]; }

static struct frame_tally * find(struct frame_process * p, const char * function)
{
    static size_t last; /* most cases are of the same function as the previous one */
    if (last < p->functions && strcmp(p->function[last].function, function) == 0)
        return &p->function[last];
    for (last = 0; last < p->functions; ++last)
        if (strcmp(p->function[last].function, function) == 0)
            return &p->function[last];
    if (p->functions == sizeof(p->function) / sizeof(p->function[0])) {
        fprintf(stderr, "check: more functions than the table has room for\n");
        exit(2);
    }
    struct frame_tally * tally = &p->function[p->functions++];
    snprintf(tally->function, sizeof(tally->function), "%s", function);
    return tally;
}

struct frame_tally * frame_tally(void) { return find(frame_process, frame_case.function); }

/* ---- sizes: the numbers in the text of a geometry, under the letters before each, as in "channels=3 5x7" */

static void add_value(struct frame_tally * tally, const char * name, size_t length, unsigned long value)
{
    size_t i = 0;
    while (i < FRAME_KEYS - 1 && tally->key[i].name[0] &&
           (strncmp(tally->key[i].name, name, length) != 0 || tally->key[i].name[length]))
        ++i;
    memcpy(tally->key[i].name, name, length);
    if (value < 128)
        tally->key[i].values[value / 64] |= (uint64_t)1 << value % 64;
}

static void add_values(struct frame_tally * tally, const char * text)
{
    const char * name = text;
    for (const char * p = text; *p; ++p) {
        if (isdigit((unsigned char)*p) && (p == text || !isalnum((unsigned char)p[-1]) || p[-1] == 'x')) {
            const char * end = p;
            while (end > name && !isalpha((unsigned char)end[-1]))
                --end;
            const char * begin = end;
            while (begin > name && isalpha((unsigned char)begin[-1]))
                --begin;
            if (end == begin)
                add_value(tally, "-", 1, strtoul(p, NULL, 10));
            else if (end - begin < (ptrdiff_t)sizeof(tally->key[0].name))
                add_value(tally, begin, (size_t)(end - begin), strtoul(p, NULL, 10));
            while (isdigit((unsigned char)p[1]) || p[1] == '.')
                ++p;
            name = p + 1;
        } else if (*p == ' ') {
            name = p + 1;
        }
    }
}

/* ---- results */

static uint64_t hash_of(uint64_t hash, const unsigned char * data, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ data[i]) * 0x100000001B3u;
    return hash;
}

void frame_tally_case(size_t level)
{
    struct frame_tally * tally = frame_tally();
    ++tally->cases[level];
    if (!frame_option.counts)
        return;
    uint64_t hash = frame_hash(level, frame_case.geometry);
    for (size_t i = 0; i < frame_case.arrays; ++i)
        if (frame_case.array[i].role != FRAME_IN)
            hash = hash_of(hash, frame_case.array[i].first, frame_case.array[i].bytes);
    tally->checksum[level] += hash;
    if (level == 0)
        add_values(tally, frame_case.geometry);
}

static void merge(struct frame_tally * to, const struct frame_tally * from)
{
    to->others += from->others;
    to->same_threads += from->same_threads;
    to->same_repeats += from->same_repeats;
    for (size_t i = 0; i < frame_levels; ++i) {
        to->cases[i] += from->cases[i];
        to->checksum[i] += from->checksum[i];
        to->flushed[i] += from->flushed[i];
        to->kept[i] += from->kept[i];
        to->planted[i] += from->planted[i];
    }
    for (size_t i = 0; i < FRAME_ARRAYS; ++i)
        to->offset[i] |= from->offset[i];
    for (size_t i = 0; i < FRAME_KEYS && from->key[i].name[0]; ++i)
        for (size_t value = 0; value < 128; ++value)
            if (from->key[i].values[value / 64] >> value % 64 & 1)
                add_value(to, from->key[i].name, strlen(from->key[i].name), value);
}

static size_t bits(uint64_t set) { return (size_t)__builtin_popcountll(set); }

static void print_levels(const char * name, const size_t * counts)
{
    printf(", \"%s\": {", name);
    for (size_t i = 0; i < frame_levels; ++i)
        printf("%s\"%s\": %zu", i ? ", " : "", frame_level[i], counts[i]);
    printf("}");
}

/* A line of JSON, for programs. */
static void print(const struct frame_tally * tally)
{
    size_t offsets = 64;
    for (size_t i = 0; i < FRAME_ARRAYS; ++i)
        if (tally->offset[i])
            offsets = sn_min(offsets, bits(tally->offset[i]));
    printf("function: {\"name\": \"%s\", \"others\": %zu, \"offsets\": %zu", tally->function, tally->others, offsets);
    print_levels("cases", tally->cases);
    if (frame_option.flush)
        print_levels("flushed", tally->flushed);
    if (frame_option.special)
        print_levels("planted", tally->planted);
    printf(", \"sizes\": {");
    for (size_t i = 0; i < FRAME_KEYS && tally->key[i].name[0]; ++i)
        printf("%s\"%s\": %zu", i ? ", " : "", tally->key[i].name,
               bits(tally->key[i].values[0] & ~(uint64_t)1) + bits(tally->key[i].values[1] & 0xF));
    printf("}, \"checksum\": [");
    for (size_t i = 0; i < frame_levels; ++i)
        printf("%s\"%016llx\"", i ? ", " : "", (unsigned long long)tally->checksum[i]);
    printf("]}\n");
}

static int by_name(const void * a, const void * b)
{
    return strcmp(((const struct frame_tally *)a)->function, ((const struct frame_tally *)b)->function);
}

void frame_print_counts(size_t number)
{
    static struct frame_process all;
    size_t threads = 0, repeats = 0, planted = 0;
    for (size_t i = 0; i < number; ++i) {
        all.calls += processes[i].calls;
        all.pairs += processes[i].pairs;
        for (size_t k = 0; k < processes[i].functions; ++k)
            merge(find(&all, processes[i].function[k].function), &processes[i].function[k]);
    }
    qsort(all.function, all.functions, sizeof(all.function[0]), by_name);
    for (size_t i = 0; i < all.functions; ++i) {
        print(&all.function[i]);
        threads += all.function[i].same_threads;
        repeats += all.function[i].same_repeats;
        for (size_t k = 0; k < frame_levels; ++k)
            planted += all.function[i].planted[k];
    }
    printf("scorecard: {\"calls\": %zu, \"pairs\": %zu, \"threads\": %zu, \"repeats\": %zu, \"planted\": %zu}\n", all.calls,
           all.pairs, threads, repeats, planted);
}
