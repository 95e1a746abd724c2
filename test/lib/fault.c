#define _GNU_SOURCE
#include "fault.h"

#include "test.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

enum call {
    OPENAT,
    READ,
    PREAD,
    WRITE,
    LSEEK,
    FDATASYNC,
    FSYNC,
    FTRUNCATE,
    FLOCK,
    FSTAT,
    FSTATAT,
    MKDIRAT,
    RENAMEAT,
    SYMLINKAT,
    READLINKAT,
    INOTIFY_INIT,
    INOTIFY_ADD,
    CALLS,
};

static const char *const names[CALLS] = {
    "openat",   "read",      "pread",      "write",        "lseek",       "fdatasync",
    "fsync",    "ftruncate", "flock",      "fstat",        "fstatat",     "mkdirat",
    "renameat", "symlinkat", "readlinkat", "inotify_init", "inotify_add",
};

static const struct {
    const char *name;
    int error; /* 0: a short write */
} modes[FAULT_MODES] = {
    [FAULT_EIO] = { "EIO", EIO },
    [FAULT_ENOSPC] = { "ENOSPC", ENOSPC },
    [FAULT_EINTR] = { "EINTR", EINTR },
    [FAULT_EMFILE] = { "EMFILE", EMFILE },
    [FAULT_ENOMEM] = { "ENOMEM", ENOMEM },
    [FAULT_SHORT_ONE] = { "one byte written", 0 },
    [FAULT_SHORT_HALF] = { "half of it written", 0 },
};

static struct {
    struct fault *fault;    /* the run in progress */
    int always[CALLS];      /* errno of calls that always fail */
    unsigned counts[CALLS]; /* including calls that failed */
    bool has_clock, has_pid, has_random;
    int64_t wall_ns, wall_off_ns;
    pid_t pid;
    unsigned char random;
} now;

/* Must this call fail? Sets errno. Short writes are handled in f_write. */
static bool
fails(enum call c)
{
    struct fault *f = now.fault;

    __atomic_add_fetch(&now.counts[c], 1, __ATOMIC_RELAXED); /* a thread may wait for the lock */
    if (now.always[c]) {
        errno = now.always[c];
        return true;
    }
    if (!f || !modes[f->mode].error)
        return false;
    unsigned seen = __atomic_add_fetch(&f->seen, 1, __ATOMIC_RELAXED);
    if (seen != f->nth && !(f->is_lasting && seen > f->nth))
        return false;
    if (!f->has_failed)
        f->call = names[c];
    f->has_failed = true;
    errno = modes[f->mode].error;
    return true;
}

#define OR_FAIL(c, real) (fails(c) ? -1 : sys_kernel.real)

static int
f_openat(int dir, const char *path, int flags, mode_t mode)
{
    return OR_FAIL(OPENAT, openat(dir, path, flags, mode));
}

static ssize_t
f_read(int fd, void *to, size_t n)
{
    return OR_FAIL(READ, read(fd, to, n));
}

static ssize_t
f_pread(int fd, void *to, size_t n, off_t at)
{
    return OR_FAIL(PREAD, pread(fd, to, n, at));
}

static ssize_t
f_write(int fd, const void *from, size_t n)
{
    struct fault *f = now.fault;

    if (fails(WRITE))
        return -1;
    if (f && !modes[f->mode].error && n > 1) {
        f->seen++;
        if (f->seen == f->nth || (f->is_lasting && f->seen > f->nth)) {
            f->has_failed = true;
            f->call = names[WRITE];
            return sys_kernel.write(fd, from, f->mode == FAULT_SHORT_ONE ? 1 : n / 2);
        }
    }
    return sys_kernel.write(fd, from, n);
}

static off_t
f_lseek(int fd, off_t at, int whence)
{
    return OR_FAIL(LSEEK, lseek(fd, at, whence));
}

static int
f_fdatasync(int fd)
{
    (void)fd; /* no real sync: these tests do not cut the power */
    return fails(FDATASYNC) ? -1 : 0;
}

static int
f_fsync(int fd)
{
    (void)fd;
    return fails(FSYNC) ? -1 : 0;
}

static int
f_ftruncate(int fd, off_t len)
{
    return OR_FAIL(FTRUNCATE, ftruncate(fd, len));
}

static int
f_flock(int fd, int op)
{
    return OR_FAIL(FLOCK, flock(fd, op));
}

static int
f_fstat(int fd, struct stat *st)
{
    return OR_FAIL(FSTAT, fstat(fd, st));
}

static int
f_fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return OR_FAIL(FSTATAT, fstatat(dir, path, st, flags));
}

static int
f_mkdirat(int dir, const char *path, mode_t mode)
{
    return OR_FAIL(MKDIRAT, mkdirat(dir, path, mode));
}

static int
f_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return OR_FAIL(RENAMEAT, renameat(from_dir, from, to_dir, to));
}

static int
f_symlinkat(const char *text, int dir, const char *path)
{
    return OR_FAIL(SYMLINKAT, symlinkat(text, dir, path));
}

static ssize_t
f_readlinkat(int dir, const char *path, char *to, size_t n)
{
    return OR_FAIL(READLINKAT, readlinkat(dir, path, to, n));
}

static int
f_inotify_init(int flags)
{
    return OR_FAIL(INOTIFY_INIT, inotify_init(flags));
}

static int
f_inotify_add(int fd, const char *path, uint32_t mask)
{
    return OR_FAIL(INOTIFY_ADD, inotify_add(fd, path, mask));
}

static int
f_clock_gettime(clockid_t id, struct timespec *t)
{
    if (!now.has_clock)
        return sys_kernel.clock_gettime(id, t);
    int64_t ns = now.wall_ns + (id == CLOCK_REALTIME ? now.wall_off_ns : 0);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

static ssize_t
f_getrandom(void *to, size_t n, unsigned flags)
{
    if (!now.has_random)
        return sys_kernel.getrandom(to, n, flags);
    memset(to, now.random, n);
    return (ssize_t)n;
}

static pid_t
f_getpid(void)
{
    return now.has_pid ? now.pid : sys_kernel.getpid();
}

static const struct sys faulty = {
    .openat = f_openat,
    .read = f_read,
    .pread = f_pread,
    .write = f_write,
    .lseek = f_lseek,
    .fdatasync = f_fdatasync,
    .fsync = f_fsync,
    .ftruncate = f_ftruncate,
    .flock = f_flock,
    .fstat = f_fstat,
    .fstatat = f_fstatat,
    .mkdirat = f_mkdirat,
    .renameat = f_renameat,
    .symlinkat = f_symlinkat,
    .readlinkat = f_readlinkat,
    .inotify_init = f_inotify_init,
    .inotify_add = f_inotify_add,
    .clock_gettime = f_clock_gettime,
    .getrandom = f_getrandom,
    .getpid = f_getpid,
};

/* Installs the table at the first fake or fault of a case. */
static void
take_over(void)
{
    if (sys == &faulty)
        return;
    memset(&now, 0, sizeof now);
    sys = &faulty;
}

void
fault_on(struct fault *f)
{
    take_over();
    f->seen = 0;
    f->has_failed = false;
    f->call = "nothing";
    now.fault = f;
}

void
fault_off(struct fault *f)
{
    (void)f;
    now.fault = NULL;
    memset(now.always, 0, sizeof now.always);
}

const char *
fault_what(const struct fault *f)
{
    static char text[120];

    snprintf(text, sizeof text, "call %u (%s)%s: %s", f->nth, f->call,
             f->is_lasting ? " and all later ones" : "", modes[f->mode].name);
    return text;
}

/* ---- stories as cases ---- */

struct telling {
    const struct story *story;
    struct fault f;
    bool is_over;
};

static void
tell(void **state)
{
    struct telling *t = *state;

    take_over();
    for (t->f.nth = 1; t->f.nth < 10000; t->f.nth++) {
        t->f.has_failed = false;
        t->story->tell(&t->f);
        if (!t->f.has_failed)
            break;
        empty_dir();
    }
    assert_true(t->f.nth < 10000);
    t->is_over = true;
}

static int
end_telling(void **state)
{
    struct telling *t = *state;

    if (!t->is_over)
        fprintf(stderr, "# failed in the run with %s\n", fault_what(&t->f));
    return case_leave(state);
}

int
run_stories(const char *group, const struct story *stories, size_t n)
{
    struct CMUnitTest *tests = calloc(n * FAULT_WAYS, sizeof *tests);
    struct telling *tellings = calloc(n * FAULT_WAYS, sizeof *tellings);
    size_t k = 0;

    assert(tests && tellings);
    /* Thousands of directories are created and removed: in memory if possible. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    for (size_t i = 0; i < n; i++)
        for (int m = 0; m < FAULT_MODES; m++)
            for (int lasting = 0; lasting <= (m != FAULT_EINTR); lasting++, k++) {
                char *name = NULL;
                if (asprintf(&name, "%s (%s, %s)", stories[i].name, modes[m].name,
                             lasting ? "from then on" : "once") < 0)
                    abort();
                tellings[k] = (struct telling){
                    .story = &stories[i],
                    .f = { .mode = (enum fault_mode)m, .is_lasting = lasting, .call = "nothing" },
                };
                tests[k] = (struct CMUnitTest){ name, tell, case_enter, end_telling, &tellings[k] };
            }
    assert(k == n * FAULT_WAYS);
    int rc = _cmocka_run_group_tests(group, tests, k, NULL, NULL);
    for (size_t i = 0; i < k; i++)
        free((char *)tests[i].name);
    free(tests);
    free(tellings);
    return rc;
}

/* ---- one call ---- */

static enum call
find(const char *name)
{
    enum call c = 0;

    while (c < CALLS && strcmp(names[c], name) != 0)
        c++;
    assert(c < CALLS); /* a misspelt name */
    return c;
}

void
fault_always(const char *call, int error)
{
    take_over();
    now.always[find(call)] = error;
}

unsigned
fault_count(const char *call)
{
    return now.counts[find(call)];
}

void
fault_count_from_here(void)
{
    take_over();
    memset(now.counts, 0, sizeof now.counts);
}

void
fake_clock(int64_t wall_ns)
{
    take_over();
    now.has_clock = true;
    now.wall_ns = wall_ns;
}

void
fake_wall(int64_t wall_ns)
{
    now.wall_off_ns = wall_ns - now.wall_ns;
}

void
fake_pid(pid_t pid)
{
    take_over();
    now.has_pid = true;
    now.pid = pid;
}

void
fake_random(unsigned char byte)
{
    take_over();
    now.has_random = true;
    now.random = byte;
}

bool
fault_next(struct fault *f)
{
    if (f->nth > 0 && !f->has_failed) { /* no call failed: go on to the next way of failing */
        bool is_lasting = !f->is_lasting && f->mode != FAULT_EINTR;
        f->mode += !is_lasting;
        f->is_lasting = is_lasting;
        f->nth = 0;
    }
    f->nth++;
    f->seen = 0;
    f->has_failed = false;
    return f->mode < FAULT_MODES;
}
