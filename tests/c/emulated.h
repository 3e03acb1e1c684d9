/* For tests of things that user-mode emulators cannot do. */
#ifndef SN_TESTS_EMULATED_H
#define SN_TESTS_EMULATED_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* True under an emulator: there, programs cannot be executed anew, and a forked child of a multithreaded program cannot
 * create threads. It is detected by its name, or because it shows the processor of its host. */
static inline bool emulated(void)
{
#if defined(__x86_64__)
    uint32_t eax, name[3];
    __cpuid(0x40000000, eax, name[0], name[1], name[2]);
    return memcmp(name, "TCGTCGTCGTCG", sizeof(name)) == 0;
#elif defined(__aarch64__)
    char text[4096] = "";
    const int file = open("/proc/cpuinfo", O_RDONLY);
    const bool read_some = file >= 0 && read(file, text, sizeof(text) - 1) > 0;
    close(file);
    return read_some && !strstr(text, "CPU implementer");
#else
    return false;
#endif
}

#endif
