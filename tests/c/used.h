/* How much memory and how many threads the process uses, for tests of what returns to the system. */
#ifndef SN_TESTS_USED_H
#define SN_TESTS_USED_H

#include <stddef.h>

/* Bytes: the address space, and what is in physical memory; 0 if the system does not report them. */
struct used {
    size_t space, resident;
};

#ifdef _WIN32
static inline struct used used(void) { return (struct used){0, 0}; }
#else
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static inline struct used used(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t space = 0, resident = 0;
    FILE * file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu %zu", &space, &resident) != 2)
        space = resident = 0;
    if (file)
        fclose(file);
    return (struct used){space * page, resident * page};
}

/* The threads of this process, as counted by the system. */
static inline size_t threads_of_process(void)
{
    DIR * tasks = opendir("/proc/self/task");
    size_t count = 0;
    for (struct dirent * entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}
#endif

#endif
