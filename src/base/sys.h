/*
 * sys - the table of system calls that tests can replace.
 *
 * In the program `sys` is always sys_kernel. A test installs a table that fails
 * the n-th call, writes less than asked, or returns a fixed time. Time,
 * randomness and the pid are in the table too, so that tests can repeat ids
 * and time stamps.
 *
 * Each call behaves as its manual page (section 2): -1 and errno. SYS_RETRY
 * repeats a call that failed with EINTR.
 *
 * Tests: test/fault/test_*.c
 */
#ifndef CLIQ_BASE_SYS_H
#define CLIQ_BASE_SYS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct sys {
    int (*openat)(int dir, const char *path, int flags, mode_t mode);
    ssize_t (*read)(int fd, void *to, size_t n);
    ssize_t (*pread)(int fd, void *to, size_t n, off_t at);
    ssize_t (*write)(int fd, const void *from, size_t n);
    off_t (*lseek)(int fd, off_t at, int whence);
    int (*fdatasync)(int fd);
    int (*fsync)(int fd);
    int (*ftruncate)(int fd, off_t len);
    int (*flock)(int fd, int op);
    int (*fstat)(int fd, struct stat *st);
    int (*fstatat)(int dir, const char *path, struct stat *st, int flags);
    int (*mkdirat)(int dir, const char *path, mode_t mode);
    int (*renameat)(int from_dir, const char *from, int to_dir, const char *to);
    int (*symlinkat)(const char *text, int dir, const char *path);
    ssize_t (*readlinkat)(int dir, const char *path, char *to, size_t n);
    int (*inotify_init)(int flags);
    int (*inotify_add)(int fd, const char *path, uint32_t mask);
    int (*clock_gettime)(clockid_t id, struct timespec *t);
    ssize_t (*getrandom)(void *to, size_t n, unsigned flags);
    pid_t (*getpid)(void);
};

extern const struct sys sys_kernel;
extern const struct sys *sys;

#ifdef CPPCHECK /* cppcheck does not understand statement expressions */
#define SYS_RETRY(call) (call)
#else
#define SYS_RETRY(call)                                                                            \
    ({                                                                                             \
        __typeof__(call) ret_;                                                                     \
        do {                                                                                       \
            ret_ = (call);                                                                         \
        } while (ret_ == -1 && errno == EINTR);                                                    \
        ret_;                                                                                      \
    })
#endif

#endif
