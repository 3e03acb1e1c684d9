/*
 * Files of another system, for programs that are linked with --wrap=open: FOLDER, defined before this is included, is where
 * they are. The library opens no file to write.
 */
#ifndef SN_TESTS_GIVEN_FILES_H
#define SN_TESTS_GIVEN_FILES_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The files that exist below the folder, up to one without a name; NULL for those of this system. */
static const struct file {
    const char * name, * text;
} * files;

int __real_open(const char * path, int flags, ...);
int __wrap_open(const char * path, int flags, ...);

int __wrap_open(const char * path, int flags, ...)
{
    static const char folder[] = FOLDER;
    if (!files || strncmp(path, folder, sizeof(folder) - 1) != 0)
        return __real_open(path, flags);
    for (const struct file * f = files; f->name; ++f) {
        int ends[2];
        if (strcmp(path + sizeof(folder) - 1, f->name) == 0 && pipe(ends) == 0) {
            const bool written = write(ends[1], f->text, strlen(f->text)) == (ssize_t)strlen(f->text);
            close(ends[1]);
            return written ? ends[0] : -1;
        }
    }
    errno = ENOENT;
    return -1;
}

#endif
