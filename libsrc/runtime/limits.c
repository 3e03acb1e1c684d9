#define _GNU_SOURCE
#include "runtime/limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The beginning of a small file as a string; false if it is missing or empty. */
static bool read_text(const char * path, char * text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* ---- control groups */

enum { PATH = 4096 };

/* The quota of one directory in processors; 0: unlimited. Version 2 has both numbers in one file, version 1 in two. */
static size_t quota_of(const char * directory)
{
    static const char * const files[] = {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"};
    char path[PATH + 32], text[64];
    long long number[3] = {0, 0, 0}; /* quota, period */
    size_t count = 0;
    for (size_t i = 0; i < 3 && count < 2; ++i) {
        snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
        if (!read_text(path, text, sizeof(text)))
            continue;
        char * at = text;
        for (char * end; count < 3; at = end, ++count) {
            number[count] = strtoll(at, &end, 10);
            if (end == at)
                break;
        }
        if (i == 0 && count < 2) /* "max" */
            return 0;
    }
    if (count < 2 || number[0] <= 0 || number[1] <= 0)
        return 0;
    return sn_max((size_t)(number[0] / number[1]), 1);
}

static size_t min_limit(size_t a, size_t b) { return a == 0 ? b : b == 0 ? a : sn_min(a, b); }

/* The smallest quota of a group and its ancestors, including the root: in a container the mounted root may be a subgroup. */
static size_t quota_from(const char * root, const char * controller, const char * group)
{
    char path[PATH];
    const int length = snprintf(path, sizeof(path), "%s%s%s", root, controller, group);
    if (length < 0 || length >= PATH)
        return 0;
    char * const top = path + strlen(root) + strlen(controller);
    size_t least = 0;
    for (;;) {
        least = min_limit(least, quota_of(path));
        char * slash = strrchr(top, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* True if a list separated by commas contains the word. */
static bool contains(const char * list, const char * word)
{
    const size_t length = strlen(word);
    for (const char * at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

size_t sn_group_quota(const char * groups, const char * root)
{
    char text[2 * PATH];
    size_t least = 0;
    if (!read_text(groups, text, sizeof(text)))
        return 0;
    /* Lines are number:controllers:path; version 2 has number 0 and no controllers. */
    for (char * line = text, * next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char * controllers = strchr(line, ':'), * path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        ++controllers;
        if (*controllers == '\0')
            least = min_limit(least, min_limit(quota_from(root, "", path), quota_from(root, "/unified", path)));
        else if (contains(controllers, "cpu"))
            least = min_limit(least, quota_from(root, "/cpu", path));
    }
    return least;
}

/* ---- both limits */

static size_t quota;
static pthread_once_t quota_once = PTHREAD_ONCE_INIT;

static void read_quota(void) { quota = sn_group_quota("/proc/self/cgroup", "/sys/fs/cgroup"); }

size_t sn_processors(void)
{
    cpu_set_t mask[8]; /* 8192 processors */
    const size_t bytes = sizeof(mask);
    size_t usable = 0;
    if (sched_getaffinity(0, bytes, mask) == 0)
        usable = (size_t)CPU_COUNT_S(bytes, mask);
    if (usable == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        usable = online > 0 ? (size_t)online : 1;
    }
    pthread_once(&quota_once, read_quota);
    return min_limit(usable, quota);
}
