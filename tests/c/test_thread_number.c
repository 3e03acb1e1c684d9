/* The thread number: its limits, SIMDNET_NUM_THREADS, and a process that cannot register fork handlers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/limits.h"
#include "emulated.h"
#include "test.h"

#define FOLDER "/"
#include "given_files.h"

static void number(void)
{
    const size_t most = sn_processors();
    TEST(SimdGetThreadNumber() == 1);
    TEST(most >= 1 && most <= SimdCpuInfo(SimdCpuInfoThreads));
    const size_t wanted[] = {0, 1, 2, most, most + 1, 1000, SIZE_MAX, 1};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
        SimdSetThreadNumber(wanted[i]);
        TEST_NO_ERROR();
        TEST(SimdGetThreadNumber() == (wanted[i] < 1 ? 1 : wanted[i] > most ? most : wanted[i]));
    }
    TEST(SimdGetThreadNumber() == 1);
}

/* The thread number that SIMDNET_NUM_THREADS leads to in a new process; *warned: it wrote a line about the value. */
static size_t number_under(const char * program, const char * value, bool * warned)
{
    int answer[2], errors[2];
    if (pipe(answer) != 0 || pipe(errors) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        dup2(answer[1], STDOUT_FILENO);
        dup2(errors[1], STDERR_FILENO);
        setenv("SIMDNET_NUM_THREADS", value, 1);
        execl(program, program, "number", (char *)NULL);
        _exit(127);
    }
    close(answer[1]);
    close(errors[1]);
    char text[32] = "", error[300] = "";
    const ssize_t length = read(answer[0], text, sizeof(text) - 1);
    *warned = read(errors[0], error, sizeof(error) - 1) > 0;
    for (const char * at = error; *at; ++at)
        TEST(*at == '\n' ? !at[1] : *at >= ' ' && *at < 127);
    TEST(!*warned || (strstr(error, "SIMDNET_NUM_THREADS") && strstr(error, "ignored")));
    close(answer[0]);
    close(errors[0]);
    int status;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return length > 0 ? strtoul(text, NULL, 10) : 0;
}

static void environment(const char * program)
{
    const size_t most = sn_processors();
    bool warned;
    TEST(number_under(program, "1", &warned) == 1 && !warned);
    TEST(number_under(program, "2", &warned) == (most < 2 ? most : 2) && !warned);
    TEST(number_under(program, "007", &warned) == (most < 7 ? most : 7) && !warned);
    TEST(number_under(program, "100000", &warned) == most && !warned);
    TEST(number_under(program, "99999999999999999999999999", &warned) == most && !warned);
    TEST(number_under(program, "", &warned) == 1 && !warned);
    static const char * const bad[] = {"0", "-2", "two", "2.5", " 2", "0x2", "+2", "2 ", "\x1b[1m\x7f",
        "a word that is much longer than any number of threads could be, so long that a line about it must be cut off"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i)
        TEST(number_under(program, bad[i], &warned) == 1 && warned);
}

/* ---- limits of the system */

static void write_file(const char * root, const char * name, const char * text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    const int file = creat(path, 0600);
    TEST(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

static void make_folder(const char * root, const char * name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    TEST(mkdir(path, 0700) == 0 || errno == EEXIST);
}

/* Control groups are read from a tree that the test creates. */
static void groups(void)
{
    char root[] = "/tmp/simdnet-groups-XXXXXX", list[64];
    if (!mkdtemp(root))
        exit(1);
    snprintf(list, sizeof(list), "%s/list", root);
    TEST(sn_group_quota(list, root) == 0); /* no list of groups */
    write_file(root, "list", "0::/a/b\n");
    TEST(sn_group_quota(list, root) == 0); /* the tree has no such group */
    make_folder(root, "a");
    make_folder(root, "a/b");
    write_file(root, "a/b/cpu.max", "max 100000\n");
    TEST(sn_group_quota(list, root) == 0);
    write_file(root, "a/b/cpu.max", "350000 100000\n");
    TEST(sn_group_quota(list, root) == 3);
    write_file(root, "a/cpu.max", "200000 100000\n"); /* limits of parent groups count too */
    TEST(sn_group_quota(list, root) == 2);
    write_file(root, "cpu.max", "20000 100000\n");
    TEST(sn_group_quota(list, root) == 1);
    write_file(root, "cpu.max", "");
    write_file(root, "a/cpu.max", "nonsense");
    write_file(root, "a/b/cpu.max", "800000");
    TEST(sn_group_quota(list, root) == 0);
    write_file(root, "list", "12:cpuset:/a\n11:cpuacct,cpu:/c\n1:name=systemd:/\n0::/\n");
    TEST(sn_group_quota(list, root) == 0);
    make_folder(root, "cpu");
    make_folder(root, "cpu/c");
    write_file(root, "cpu/c/cpu.cfs_quota_us", "-1\n");
    write_file(root, "cpu/c/cpu.cfs_period_us", "100000\n");
    TEST(sn_group_quota(list, root) == 0);
    write_file(root, "cpu/c/cpu.cfs_quota_us", "500000\n");
    TEST(sn_group_quota(list, root) == 5);
    write_file(root, "list", "11:cpuacct,cpu:/elsewhere/c\n"); /* in a container only the root is visible */
    write_file(root, "cpu/cpu.cfs_quota_us", "400000");
    write_file(root, "cpu/cpu.cfs_period_us", "100000");
    TEST(sn_group_quota(list, root) == 4);
    write_file(root, "list", "12:cpuset:/c\n10:gpu,xcpu:/c\n"); /* other controllers */
    TEST(sn_group_quota(list, root) == 0);
    char command[96];
    snprintf(command, sizeof(command), "rm -r %s", root);
    TEST(system(command) == 0);
}

/* The group of this process allows one processor. A new process looks for it, so this one must not have looked yet. */
static void group_of_process(void)
{
    const pid_t child = fork();
    if (child == 0) {
        files = (const struct file[]){{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "100000 100000\n"},
                                      {NULL, NULL}};
        _exit(sn_processors() == 1 ? 0 : 1);
    }
    int status = -1;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void affinity(void)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    TEST(sched_setaffinity(0, sizeof(one), &one) == 0);
    SimdSetThreadNumber(8);
    TEST(SimdGetThreadNumber() == 1);
    TEST(sched_setaffinity(0, sizeof(all), &all) == 0);
    SimdSetThreadNumber(1);
}

/* ---- a system that does not report the affinity (-Wl,--wrap) */

static bool no_affinity;

int __real_sched_getaffinity(pid_t process, size_t size, cpu_set_t * mask);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t * mask);

int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t * mask)
{
    errno = ENOSYS;
    return no_affinity ? -1 : __real_sched_getaffinity(process, size, mask);
}

/* Then all processors that are online may be used. */
static void unknown_affinity(void)
{
    cpu_set_t all;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t usable = sn_processors();
    const bool every = sched_getaffinity(0, sizeof(all), &all) == 0 && CPU_COUNT(&all) == online;
    no_affinity = true;
    TEST(every ? sn_processors() == usable : sn_processors() <= (size_t)online);
    no_affinity = false;
}

/* ---- forks (-Wl,--wrap) */

static bool no_memory_for_forks;

typedef void fork_handler(void);
int __real_pthread_atfork(fork_handler * prepare, fork_handler * parent, fork_handler * child);
int __wrap_pthread_atfork(fork_handler * prepare, fork_handler * parent, fork_handler * child);

int __wrap_pthread_atfork(fork_handler * prepare, fork_handler * parent, fork_handler * child)
{
    return no_memory_for_forks ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

/* Without fork handlers, a child would wait for threads, or for a lock, that do not exist there: so there is no pool, and no
 * table. */
static void no_fork_handler(void)
{
    const pid_t child = fork();
    if (child == 0) {
        const float slope = 0;
        float x = -1;
        no_memory_for_forks = true;
        SimdSetThreadNumber(1000);
        bool good = SimdGetThreadNumber() == 1;
        good &= freopen("/dev/null", "w", stderr) && SimdnetSetVerbose(1) == SimdTrue; /* writes a line */
        SimdSynetRelu32f(&x, 1, &slope, &x);
        good &= SimdnetLastErrorKind() == 0 && *SimdPerformanceStatistic() == '\0' && SimdnetLastErrorKind() == 2;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char ** argv)
{
    if (argc > 1) { /* see number_under() */
        printf("%zu\n", SimdGetThreadNumber());
        return 0;
    }
    test_alarm();
    unsetenv("SIMDNET_NUM_THREADS");
    if (emulated()) {
        printf("skipped: forks and the environment, under an emulator\n");
    } else {
        group_of_process(); /* before this process reads the number */
        no_fork_handler();
        environment(argv[0]);
    }
    number();
    groups();
    affinity();
    unknown_affinity();
    return test_end();
}
