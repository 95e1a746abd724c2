#define _GNU_SOURCE
#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* openat and friends are variadic or differ between C libraries: fixed here. */
static int
kernel_openat(int dir, const char *path, int flags, mode_t mode)
{
    return openat(dir, path, flags, mode);
}

/* glibc calls newfstatat with an empty path, which the kernel has to look at first. */
static int
kernel_fstat(int fd, struct stat *st)
{
#if defined(__GLIBC__) && defined(__x86_64__)
    return (int)syscall(SYS_fstat, fd, st);
#else
    return fstat(fd, st);
#endif
}

/* Without the times: asking for those makes the next write to the file dearer. */
static int
kernel_fstatat(int dir, const char *path, struct stat *st, int flags)
{
#ifdef STATX_INO
    struct statx x;

    if (statx(dir, path, flags,
              STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_INO | STATX_SIZE,
              &x) == 0) {
        *st = (struct stat){ .st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
                             .st_ino = x.stx_ino,
                             .st_mode = x.stx_mode,
                             .st_nlink = x.stx_nlink,
                             .st_uid = x.stx_uid,
                             .st_size = (off_t)x.stx_size };
        return 0;
    }
    if (errno != ENOSYS)
        return -1;
#endif
    return fstatat(dir, path, st, flags);
}

/* The front asks five times in its life, and the C library's way without a call begins with two
 * pages that are not there yet. */
static int
kernel_clock_gettime(clockid_t id, struct timespec *t)
{
#if defined(CLIQ_LEAN) && defined(__x86_64__)
    return (int)syscall(SYS_clock_gettime, id, t);
#else
    return clock_gettime(id, t);
#endif
}

const struct sys sys_kernel = {
    .openat = kernel_openat,
    .read = read,
    .pread = pread,
    .write = write,
    .lseek = lseek,
    .fdatasync = fdatasync,
    .fsync = fsync,
    .ftruncate = ftruncate,
    .flock = flock,
    .fstat = kernel_fstat,
    .fstatat = kernel_fstatat,
    .mkdirat = mkdirat,
    .renameat = renameat,
    .symlinkat = symlinkat,
    .readlinkat = readlinkat,
    .inotify_init = inotify_init1,
    .inotify_add = inotify_add_watch,
    .clock_gettime = kernel_clock_gettime,
    .getrandom = getrandom,
    .getpid = getpid,
};

const struct sys *sys = &sys_kernel;
