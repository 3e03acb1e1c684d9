#include "runtime/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/os.h"

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
        if (!sn_os_read_text(path, text, sizeof(text)))
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
    if (!sn_os_read_text(groups, text, sizeof(text)))
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
static struct sn_once quota_once;

static void read_quota(void) { quota = sn_group_quota("/proc/self/cgroup", "/sys/fs/cgroup"); }

static size_t count(const struct sn_processor_set * set)
{
    size_t sum = 0;
    for (size_t i = 0; i < SN_SET_WORDS; ++i)
        for (uint64_t rest = set->word[i]; rest; rest &= rest - 1)
            ++sum;
    return sum;
}

size_t sn_processors(void)
{
    struct sn_processor_set set;
    size_t usable = 0;
    if (sn_os_affinity(&set))
        usable = count(&set);
    if (usable == 0)
        usable = sn_os_online();
    sn_once(&quota_once, read_quota);
    return min_limit(usable, quota);
}
