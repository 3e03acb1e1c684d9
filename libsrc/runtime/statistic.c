/*
 * A hash table of rows, each allocated once and never moved, protected by the library's lock, which is held for tens of
 * nanoseconds. fork() takes the lock as well, so that the child does not find it locked for ever.
 */
#include "runtime/statistic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/os.h"

struct row {
    uint64_t hash, calls, total, least, most; /* nanoseconds */
    char text[];
};

/* The size of the table, a power of two, and the limit of rows: a program with ever new shapes does not fill the memory. */
enum { BUCKETS = 2048, ROWS = 1500 };

static struct row * rows[BUCKETS];
static size_t row_count;
static const char other_calls[] = "(others) - - -"; /* the row of calls that exceed the limit */

static bool has_fork_handlers;

static void set_fork_handlers(void) { has_fork_handlers = sn_os_on_fork(sn_os_lock, sn_os_unlock, sn_os_unlock); }

/* Takes the lock. False, without it, if the fork handlers could not be registered: then nothing is counted. */
static bool try_lock(void)
{
    static struct sn_once once;
    sn_once(&once, set_fork_handlers);
    if (has_fork_handlers)
        sn_os_lock();
    return has_fork_handlers;
}

static uint64_t hash_of(const char * text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* The row with this text, a new one if there is none; NULL if it cannot be made. */
static struct row * row_of(const char * text, size_t limit)
{
    const uint64_t hash = hash_of(text);
    size_t bucket = hash % BUCKETS;
    while (rows[bucket] && (rows[bucket]->hash != hash || strcmp(rows[bucket]->text, text) != 0))
        bucket = (bucket + 1) % BUCKETS;
    if (!rows[bucket] && row_count < limit) {
        struct row * row = malloc(sizeof(*row) + strlen(text) + 1);
        if (row) {
            *row = (struct row){.hash = hash, .least = UINT64_MAX};
            strcpy(row->text, text);
            rows[bucket] = row;
            ++row_count;
        }
    }
    return rows[bucket];
}

void sn_statistic_add(const char * text, uint64_t nanoseconds)
{
    if (!try_lock())
        return;
    const int before = errno; /* malloc() may set it, and a row that cannot be made is no error */
    struct row * row = row_of(text, ROWS);
    row = row ? row : row_of(other_calls, ROWS + 1);
    if (row) {
        ++row->calls;
        row->total += nanoseconds;
        row->least = row->least < nanoseconds ? row->least : nanoseconds;
        row->most = row->most > nanoseconds ? row->most : nanoseconds;
    }
    errno = before;
    sn_os_unlock();
}

void sn_statistic_clear(void)
{
    if (!try_lock())
        return;
    for (size_t i = 0; i < BUCKETS; ++i) {
        free(rows[i]);
        rows[i] = NULL;
    }
    row_count = 0;
    sn_os_unlock();
}

/* The largest total first; equal totals by text. */
static int compare(const void * a, const void * b)
{
    const struct row * const x = *(struct row * const *)a, * const y = *(struct row * const *)b;
    return x->total != y->total ? (x->total < y->total ? 1 : -1) : strcmp(x->text, y->text);
}

#define US "%10llu.%03u"
#define US_OF(nanoseconds) (unsigned long long)((nanoseconds) / 1000), (unsigned)((nanoseconds) % 1000)

enum { LINE = 5 * 24 + SN_STATISTIC_TEXT };

static void write_table(char * text, struct row * const * sorted)
{
    *text = '\0';
    if (row_count)
        text += snprintf(text, LINE, "%9s %14s %14s %14s %14s  function shape algorithm level\n", "calls", "total_us",
                         "mean_us", "min_us", "max_us");
    for (size_t i = 0; i < row_count; ++i) {
        const struct row * row = sorted[i];
        text += snprintf(text, LINE, "%9llu " US " " US " " US " " US "  %s\n", (unsigned long long)row->calls,
                         US_OF(row->total), US_OF(row->total / row->calls), US_OF(row->least), US_OF(row->most), row->text);
    }
}

const char * sn_statistic_text(void)
{
    char * text = NULL;
    if (!try_lock())
        return NULL;
    struct row ** sorted = sn_scratch(row_count * sizeof(sorted[0]) + (row_count + 1) * LINE);
    if (sorted) {
        size_t count = 0;
        for (size_t i = 0; i < BUCKETS; ++i)
            if (rows[i])
                sorted[count++] = rows[i];
        qsort(sorted, count, sizeof(sorted[0]), compare);
        text = (char *)(sorted + count);
        write_table(text, sorted);
    }
    sn_os_unlock();
    return text;
}
