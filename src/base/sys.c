#define _GNU_SOURCE
#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* openat is variadic; struct sys has one fixed form. */
static int
kernel_openat(int dir, const char *path, int flags, mode_t mode)
{
    return openat(dir, path, flags, mode);
}

/* Asks for everything but the time stamps. A query of the time stamps makes the kernel use a fine
 * time stamp for the file's next change, not the one of the last tick. The inode then changes with
 * every write, and each fdatasync has to write it too. */
static int
kernel_fstatat(int dir, const char *path, struct stat *st, int flags)
{
    const unsigned wanted =
        STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_INO | STATX_SIZE;
    struct statx x;

    if (statx(dir, path, flags, wanted, &x) == 0) {
        *st = (struct stat){ .st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
                             .st_ino = x.stx_ino,
                             .st_mode = x.stx_mode,
                             .st_nlink = x.stx_nlink,
                             .st_uid = x.stx_uid,
                             .st_gid = x.stx_gid,
                             .st_size = (off_t)x.stx_size };
        return 0;
    }
    /* EPERM: a sandbox that forbids statx */
    return errno == ENOSYS || errno == EPERM ? fstatat(dir, path, st, flags) : -1;
}

static int
kernel_fstat(int fd, struct stat *st)
{
    return kernel_fstatat(fd, "", st, AT_EMPTY_PATH);
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
    .clock_gettime = clock_gettime,
    .getrandom = getrandom,
    .getpid = getpid,
};

const struct sys *sys = &sys_kernel;
