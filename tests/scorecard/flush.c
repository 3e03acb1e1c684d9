/*
 * Linked into programs and libraries that count which lines run (gcc --coverage), with -Wl,--wrap=_exit: a child process of a
 * test that ends by _exit() writes its counts first, which otherwise only exit() does.
 */
#include <stdlib.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
