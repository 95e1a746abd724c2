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

/* What statx(2) tells, as the kernel lays it out: not every C library has its declaration. */
struct looked {
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, gap;
    uint64_t ino, size, blocks, known_attributes;
    uint64_t times[8];
    uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
    uint64_t rest[14];
};
_Static_assert(sizeof(struct looked) == 256, "as in linux/stat.h");

enum { LOOK = 0x30f | 0x10 }; /* type, mode, links, user, inode, size | group */

/* Without the times. Who asks for those makes the next change of the file dearer, and with it the
 * sync of any other: the kernel then stamps changes finely instead of by its tick, and a file's
 * inode, too, is written with its data whenever its stamp has changed. */
static int
kernel_fstatat(int dir, const char *path, struct stat *st, int flags)
{
    struct looked x;

    if (syscall(SYS_statx, dir, path, flags, LOOK, &x) == 0) {
        *st = (struct stat){ .st_dev = makedev(x.dev_major, x.dev_minor),
                             .st_ino = x.ino,
                             .st_mode = x.mode,
                             .st_nlink = x.nlink,
                             .st_uid = x.uid,
                             .st_gid = x.gid,
                             .st_size = (off_t)x.size };
        return 0;
    }
    /* EPERM: of a sandbox that does not know the call */
    return errno == ENOSYS || errno == EPERM ? fstatat(dir, path, st, flags) : -1;
}

static int
kernel_fstat(int fd, struct stat *st)
{
    return kernel_fstatat(fd, "", st, AT_EMPTY_PATH);
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
