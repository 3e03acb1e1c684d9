/*
 * A hash table of rows, each allocated once and never moved, behind one lock, which is taken for tens of nanoseconds. A fork
 * waits for it, so that the child does not find it taken for ever.
 */
#define _POSIX_C_SOURCE 200112L
#include "runtime/statistic.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

struct row {
    uint64_t hash, calls, total, least, most; /* nanoseconds */
    char text[];
};

/* Places, a power of two, and how many of them are used at most: a program with ever new shapes does not fill the memory. */
enum { PLACES = 2048, ROWS = 1500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row * rows[PLACES];
static size_t row_count;
static const char rest[] = "(others) - - -"; /* for what has no place */

static void lock_it(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }

static void heed_forks(void) { pthread_atfork(lock_it, leave, leave); }

static void take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, heed_forks);
    lock_it();
}

static uint64_t hash_of(const char * text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* The row with this text, a new one where there is none; NULL when it cannot be made. */
static struct row * row_of(const char * text, size_t limit)
{
    const uint64_t hash = hash_of(text);
    size_t place = hash % PLACES;
    while (rows[place] && (rows[place]->hash != hash || strcmp(rows[place]->text, text) != 0))
        place = (place + 1) % PLACES;
    if (!rows[place] && row_count < limit) {
        struct row * row = malloc(sizeof(*row) + strlen(text) + 1);
        if (row) {
            *row = (struct row){.hash = hash, .least = UINT64_MAX};
            strcpy(row->text, text);
            rows[place] = row;
            ++row_count;
        }
    }
    return rows[place];
}

void sn_statistic_add(const char * text, uint64_t nanoseconds)
{
    take();
    struct row * row = row_of(text, ROWS);
    row = row ? row : row_of(rest, ROWS + 1);
    if (row) {
        ++row->calls;
        row->total += nanoseconds;
        row->least = row->least < nanoseconds ? row->least : nanoseconds;
        row->most = row->most > nanoseconds ? row->most : nanoseconds;
    }
    leave();
}

void sn_statistic_clear(void)
{
    take();
    for (size_t i = 0; i < PLACES; ++i) {
        free(rows[i]);
        rows[i] = NULL;
    }
    row_count = 0;
    leave();
}

/* The largest total first; by text where that does not decide. */
static int compare(const void * a, const void * b)
{
    const struct row * const x = *(struct row * const *)a, * const y = *(struct row * const *)b;
    return x->total != y->total ? (x->total < y->total ? 1 : -1) : strcmp(x->text, y->text);
}

#define US "%10llu.%03u"
#define US_OF(nanoseconds) (unsigned long long)((nanoseconds) / 1000), (unsigned)((nanoseconds) % 1000)

static const char * write_table(struct row * const * sorted, size_t count)
{
    const size_t line = 5 * 24 + SN_STATISTIC_TEXT, size = (count + 1) * line;
    char * text = sn_scratch(size), * at = text;
    if (!text)
        return NULL;
    *text = '\0';
    if (count)
        at += snprintf(at, line, "%9s %14s %14s %14s %14s  function shape algorithm level\n", "calls", "total_us", "mean_us",
                       "min_us", "max_us");
    for (size_t i = 0; i < count; ++i) {
        const struct row * row = sorted[i];
        at += snprintf(at, line, "%9llu " US " " US " " US " " US "  %s\n", (unsigned long long)row->calls,
                       US_OF(row->total), US_OF(row->total / row->calls), US_OF(row->least), US_OF(row->most), row->text);
    }
    return text;
}

const char * sn_statistic_text(void)
{
    struct row * sorted[ROWS + 1];
    size_t count = 0;
    take();
    for (size_t i = 0; i < PLACES; ++i)
        if (rows[i])
            sorted[count++] = rows[i];
    qsort(sorted, count, sizeof(sorted[0]), compare);
    const char * text = write_table(sorted, count);
    leave();
    return text;
}
