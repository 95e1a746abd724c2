/*
 * The child is made with vfork: it borrows our memory until it executes the agent, so
 * starting costs the same however large we are. That is why nothing between vfork and
 * exec allocates, takes a lock or returns, and why signals are blocked meanwhile: a
 * handler of ours would run in our memory, as another process. What the child has to say
 * comes through a close-on-exec pipe, not through that memory: under emulators that make
 * a fork of vfork (valgrind, qemu-user) the pipe still works. Only the hint that the memory
 * is shared comes through it: then vfork has waited for exec, and we need not.
 *
 * With clone3 the child is born in its cgroup. Where that cannot be, it moves there first, for
 * which the kernel stops every fork of the machine for a moment: a tenth of the time of a short
 * phase.
 */
#define _GNU_SOURCE
#include "proc/proc.h"

#include "base/boot_id.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"
#include "proc/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Not every C library has it. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* pid, start, boot id, cgroup: an attempt file. */
#define ATTEMPT_TEXT_SIZE (64 + BOOT_ID_SIZE + CGROUP_PATH_SIZE)

/* In the order they are taken. */
enum spawn_step {
    STEP_DONE, /* all but exec */
    STEP_SESSION,
    STEP_IN,
    STEP_OUT,
    STEP_CLOSE,
    STEP_DIR,
    STEP_SELF,
    STEP_CLAIM,
    STEP_EXEC,
    STEP_UNTOLD, /* it ended without a word */
};

/* The child sends its report once all is prepared, or once a step failed. After the first of these
 * it also reports a failed exec. */
struct proc_report {
    int step; /* the one that failed; STEP_DONE: none did */
    int error;
    uint64_t start;
    bool is_clock_right; /* see find_self */
    bool is_inside;      /* of the cgroup that was made for it */
};

/* The child's knowledge of its parent. */
struct origin {
    const char *boot_id;
    uint64_t since;     /* the tick in which it was not there yet, or was made; 0: unknown */
    const char *cgroup; /* NULL, "": none */
    int dir;            /* of that cgroup, or of the one that it leaves ours for; -1: none */
    bool is_born_inside;
};

static bool
failed(struct proc_report *r, enum spawn_step step)
{
    r->step = step;
    r->error = errno;
    return false;
}

/* fd becomes the descriptor `as`. */
static int
move_fd(int fd, int as)
{
    if (fd == as)
        return 0;
    int rc = SYS_RETRY(dup2(fd, as));
    int error = errno;
    close(fd);
    errno = error;
    return rc < 0 ? -1 : 0;
}

/* The directory that a path of the spec is relative to, and the rest of the path. */
static int
below(const struct proc_spec *spec, const char **path)
{
    *path += spec->base_len;
    return spec->base_len ? spec->base : AT_FDCWD;
}

/* Not blocking, because a FIFO in the place of a file would hold us up, not only the child. */
static int
open_file(int dir, const char *path, int flags)
{
    int fd = SYS_RETRY(sys->openat(dir, path, flags | O_NONBLOCK | O_NOCTTY, 0600));

    if (fd >= 0)
        fcntl(fd, F_SETFL, flags & O_APPEND);
    return fd;
}

static bool
open_in(const struct proc_spec *spec, struct proc_report *r)
{
    if (spec->in_fd)
        return SYS_RETRY(dup2(spec->in_fd, STDIN_FILENO)) >= 0 ? true : failed(r, STEP_IN);
    const char *path = spec->in;
    int dir = path ? below(spec, &path) : AT_FDCWD;
    int fd = open_file(dir, path ? path : "/dev/null", O_RDONLY);

    return fd >= 0 && move_fd(fd, STDIN_FILENO) == 0 ? true : failed(r, STEP_IN);
}

static bool
open_out(const struct proc_spec *spec, struct proc_report *r)
{
    const char *path = spec->out;

    if ((spec->out_fd && SYS_RETRY(dup2(spec->out_fd, STDOUT_FILENO)) < 0) ||
        (spec->err_fd && SYS_RETRY(dup2(spec->err_fd, STDERR_FILENO)) < 0))
        return failed(r, STEP_OUT);
    if (!path || spec->out_fd)
        return true;
    int dir = below(spec, &path);
    int fd = open_file(dir, path, O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0 || move_fd(fd, STDOUT_FILENO) != 0 ||
        SYS_RETRY(dup2(STDOUT_FILENO, STDERR_FILENO)) < 0)
        return failed(r, STEP_OUT);
    return true;
}

/* Whatever else is open closes at exec, the pipe too. */
static bool
close_others(struct proc_report *r)
{
    struct rlimit limit;

    if (syscall(SYS_close_range, 3U, ~0U, (unsigned)CLOSE_RANGE_CLOEXEC) == 0)
        return true;
    if (errno != ENOSYS && errno != EINVAL) /* Linux before 5.11 */
        return failed(r, STEP_CLOSE);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return failed(r, STEP_CLOSE);
    for (rlim_t fd = 3; fd < limit.rlim_cur && fd < INT_MAX; fd++)
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return true;
}

/* Where the first child has seen that its stat says what the clock did. */
static atomic_bool trusts_clock;

/* Clock ticks since boot, as /proc/<pid>/stat counts them; 0: not known. */
static uint64_t
tick(void)
{
    struct timespec now;
    long hz = sysconf(_SC_CLK_TCK);

    if (hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * (uint64_t)hz + (uint64_t)(now.tv_nsec / (1000000000 / hz));
}

/*
 * Our pid and when we began. To read our stat takes longer than all else here but making files.
 * But a process that was made after `since`, while it is still the same tick, began in that tick.
 * The first child compares that with /proc/self: they may differ where the kernel is emulated or
 * /proc is that of another namespace.
 */
static bool
find_self(uint64_t since, pid_t *pid, struct proc_report *r)
{
    bool is_one_tick = since > 0 && tick() == since;
    struct procfs self;

    *pid = getpid();
    r->start = since;
    if (is_one_tick && trusts_clock)
        return true;
    if (procfs_read(&self, 0) != 0)
        return failed(r, STEP_SELF);
    r->is_clock_right = is_one_tick && self.start == since && self.pid == *pid;
    r->start = self.start;
    *pid = self.pid;
    return true;
}

/* Makes the attempt file with our identity in it, or finds that it is there already: a symbolic
 * link, whose text appears with its name in one call that never replaces anything. */
static bool
claim_attempt(int dir, const char *path, const struct origin *o, struct proc_report *r)
{
    char text[ATTEMPT_TEXT_SIZE], *p = text;
    pid_t pid;

    if (!find_self(o->since, &pid, r))
        return false;
    if (!path)
        return true;
    p = procfs_decimal(p, (uint64_t)pid);
    *p++ = ' ';
    p = procfs_decimal(p, r->start);
    *p++ = ' ';
    p = stpcpy(p, o->boot_id);
    if (o->cgroup && o->cgroup[0]) {
        *p++ = ' ';
        strcpy(p, o->cgroup);
    }
    return SYS_RETRY(sys->symlinkat(text, dir, path)) == 0 ? true : failed(r, STEP_CLAIM);
}

/* Into the cgroup, or out of ours. What cannot be has no part in the attempt's fate. */
static void
move_to_cgroup(struct origin *o, struct proc_report *r)
{
    r->is_inside = o->is_born_inside || (o->dir >= 0 && cgroup_enter(o->dir));
    if (!r->is_inside)
        o->cgroup = NULL;
}

/* All that stands between a new process and exec. Only async-signal-safe calls. */
static bool
prepare(const struct proc_spec *spec, const struct origin *o, struct proc_report *r)
{
    if ((spec->is_group ? setpgid(0, 0) : setsid()) < 0)
        return failed(r, STEP_SESSION);
    if (!open_in(spec, r) || !open_out(spec, r) || !close_others(r))
        return false;

    /* The attempt file is made last, so that a missing directory does not use it up; but its
     * path is relative to where we are now. */
    const char *attempt = spec->attempt_file;
    int here = attempt ? below(spec, &attempt) : AT_FDCWD;
    if (attempt && here == AT_FDCWD && attempt[0] != '/' && spec->dir) {
        here = SYS_RETRY(sys->openat(AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
        if (here < 0)
            return failed(r, STEP_DIR);
    }
    if (spec->dir && chdir(spec->dir) != 0)
        return failed(r, STEP_DIR);
    if (!claim_attempt(here, attempt, o, r))
        return false;
    r->step = STEP_DONE;
    return true;
}

/* Limits of our children, where we raised our own. */
static struct rlimit files_before;
static bool is_raised;

size_t
proc_raise_files(size_t wanted)
{
    struct rlimit now;

    if (getrlimit(RLIMIT_NOFILE, &now) != 0)
        return wanted; /* the limit cannot be read */
    if (now.rlim_cur != RLIM_INFINITY && now.rlim_cur < wanted) {
        struct rlimit more = { .rlim_cur = now.rlim_max < wanted ? now.rlim_max : wanted,
                               .rlim_max = now.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &more) == 0) {
            files_before = is_raised ? files_before : now;
            is_raised = true;
            now = more;
        }
    }
    return now.rlim_cur < SIZE_MAX ? (size_t)now.rlim_cur : SIZE_MAX;
}

/* All zero is the default action. Not by sigaction: signals 32 and 33 belong to the C library,
 * which refuses them; but what a program ignored before it became us, make for one, goes on to
 * the agent. */
static void
reset(int signo)
{
    const unsigned long act[8] = { 0 }; /* no less than the kernel's struct */

    syscall(SYS_rt_sigaction, signo, act, NULL, 8);
}

/* Signals 32 to 64 that are ignored, bit 0 is signal 1. Asked once: we ignore none of them. */
static uint64_t ignored_high;

static void
find_ignored_high(void)
{
    for (int signo = 32; signo <= 64; signo++) {
        unsigned long act[8] = { 0 };
        if (syscall(SYS_rt_sigaction, signo, NULL, act, 8) == 0 &&
            act[0] == (unsigned long)(uintptr_t)SIG_IGN)
            ignored_high |= 1ULL << (signo - 1);
    }
}

/* Before there is a child. */
static void
look_at_signals(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_ignored_high);
}

/* The last thing before exec, which resets handlers but keeps limits and what is ignored. A
 * SIGPIPE that waits is dropped: it is about our pipe, whose reader was killed; the agent runs
 * on. */
static void
reset_process(void)
{
    sigset_t none;

    if (is_raised)
        setrlimit(RLIMIT_NOFILE, &files_before);
    signal(SIGPIPE, SIG_IGN);
    for (int signo = 1; signo < 32; signo++) /* to ask which are ignored takes as long */
        reset(signo);
    for (uint64_t high = ignored_high; high; high &= high - 1)
        reset(__builtin_ctzll(high) + 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *
path_of(const struct proc_spec *spec)
{
    for (const char *const *v = spec->env; *v; v++)
        if (strncmp(*v, "PATH=", 5) == 0)
            return *v + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

/* execvp, but with the PATH that the program will have. Returns only on failure. */
static void
execute(const struct proc_spec *spec)
{
    const char *name = spec->file ? spec->file : spec->argv[0];
    char *const *argv = (char *const *)(uintptr_t)spec->argv;
    char *const *env = (char *const *)(uintptr_t)spec->env;
    char file[PATH_MAX];
    int error = ENOENT; /* EACCES when one was there that we may not run */
    size_t name_len = strlen(name);

    if (strchr(name, '/')) {
        execve(name, argv, env);
        return;
    }
    for (const char *at = path_of(spec);; at++) {
        size_t n = strcspn(at, ":");
        if (name_len > 0 && n + name_len + 3 <= sizeof file) {
            char *p = file;
            memcpy(p, at, n);
            p += n;
            if (n == 0)
                *p++ = '.'; /* an empty element is the working directory */
            *p++ = '/';
            memcpy(p, name, name_len + 1);
            execve(file, argv, env);
            if (errno == EACCES)
                error = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                return;
        }
        at += n;
        if (!*at)
            break;
    }
    errno = error;
}

/* ENOENT is also said of a script whose interpreter is missing. */
static enum status
exec_failed(const struct proc_spec *spec, struct err *e)
{
    const char *name = spec->file ? spec->file : spec->argv[0];
    int error = errno;

    if (error == ENOENT && !strchr(name, '/'))
        return err_set(e, ST_NOT_FOUND, "run %s: there is no such program in %s", name,
                       path_of(spec));
    if (error == ENOENT && name[0] == '/' && access(name, F_OK) == 0)
        return err_set(e, ST_NOT_FOUND, "run %s: the interpreter of its first line is missing",
                       name);
    errno = error;
    if (error == ENOENT)
        return err_set(e, ST_NOT_FOUND, "run %s: %s", name, strerror(error));
    if (error == ENOEXEC)
        return err_set(e, ST_IO,
                       "run %s: not a program (a script needs a first line like "
                       "#!/bin/sh)",
                       name);
    return err_sys(e, "run %s", name);
}

static enum status
proc_reported(const struct proc_spec *spec, const struct proc_report *r, struct err *e)
{
    enum status missing =
        r->error == ENOENT || r->error == ENOTDIR ? ST_NOT_FOUND : status_of_errno(r->error);

    errno = r->error;
    switch ((enum spawn_step)r->step) {
    case STEP_DONE:
        return ST_OK;
    case STEP_SESSION:
        return err_sys(e, "start %s: make a session", spec->argv[0]);
    case STEP_IN:
        err_say_errno(e, "start %s: open its input %s", spec->argv[0],
                      spec->in ? spec->in : "/dev/null");
        return missing;
    case STEP_OUT:
        if (!spec->out)
            return err_sys(e, "start %s: set its output", spec->argv[0]);
        err_say_errno(e, "start %s: open its log %s", spec->argv[0], spec->out);
        return missing;
    case STEP_CLOSE:
        return err_sys(e, "start %s: close other files", spec->argv[0]);
    case STEP_SELF:
        return err_sys(e, "start %s: read /proc/self/stat", spec->argv[0]);
    case STEP_CLAIM:
        if (r->error == EEXIST)
            return err_set(e, ST_CONFLICT,
                           "start %s: the attempt %s was started or given up "
                           "before",
                           spec->argv[0], spec->attempt_file);
        if (r->error == EPERM)
            return err_set(e, ST_IO,
                           "start %s: create the attempt %s: the file system has no symbolic "
                           "links; keep the project on one that has",
                           spec->argv[0], spec->attempt_file);
        err_say_errno(e, "start %s: create the attempt %s", spec->argv[0], spec->attempt_file);
        return missing;
    case STEP_DIR:
        err_say_errno(e, "start %s: go to directory %s", spec->argv[0], spec->dir);
        return missing;
    case STEP_EXEC:
        return exec_failed(spec, e);
    case STEP_UNTOLD:
        break;
    }
    return err_set(e, ST_IO, "start %s: it ended before it could run", spec->argv[0]);
}

/* One write below PIPE_BUF is whole or not at all. */
static void
tell(int fd, const struct proc_report *r)
{
    while (write(fd, r, sizeof *r) < 0 && errno == EINTR)
        ;
}

static _Noreturn void
be_child(const struct proc_spec *spec, const struct origin *o, int to, volatile bool *is_shared)
{
    struct proc_report r = { 0 };
    struct origin own = *o;

    *is_shared = true;
    move_to_cgroup(&own, &r); /* before another file has the descriptor's number */
    bool is_ready = prepare(spec, &own, &r);

    tell(to, &r);
    if (is_ready) {
        reset_process();
        execute(spec);
        failed(&r, STEP_EXEC);
        tell(to, &r);
    }
    _exit(127);
}

/* The address sanitizer knows what vfork does to its stack, but not that clone3 does the same. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ /* clang does not say it as gcc does */
#endif
#endif
#if defined __x86_64__ && defined SYS_clone3 && !defined __SANITIZE_ADDRESS__
#define HAS_CLONE3
#endif

/* vfork into the cgroup. The system call stands here in line, because parent and child go on from
 * it on one stack: neither may return from a function in which it is. */
static __attribute__((noinline)) pid_t
start_inside(const struct proc_spec *spec, const struct origin *o, int to, volatile bool *is_shared)
{
#ifdef HAS_CLONE3
    struct clone_args args = { .flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP,
                               .exit_signal = SIGCHLD,
                               .cgroup = (uint64_t)o->dir };
    long pid;

    __asm__ volatile("syscall"
                     : "=a"(pid)
                     : "0"((long)SYS_clone3), "D"(&args), "S"(sizeof args)
                     : "rcx", "r11", "memory");
    if (pid == 0)
        be_child(spec, o, to, is_shared);
    return (pid_t)pid;
#else
    (void)spec, (void)o, (void)to, (void)is_shared;
    return -1;
#endif
}

/* In a function of its own: what vfork's two returns share is then only these arguments. */
static __attribute__((noinline)) pid_t
start_anywhere(const struct proc_spec *spec, const struct origin *o, int to,
               volatile bool *is_shared)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) see above */

    if (pid == 0)
        be_child(spec, o, to, is_shared); /* NOLINT(clang-analyzer-unix.Vfork) */
    return pid;
}

static pid_t
start_child(const struct proc_spec *spec, struct origin *o, int to, volatile bool *is_shared)
{
    pid_t pid = -1;

    o->is_born_inside = true;
    if (o->dir >= 0)
        pid = start_inside(spec, o, to, is_shared);
    o->is_born_inside = false;
    return pid > 0 ? pid : start_anywhere(spec, o, to, is_shared);
}

int
proc_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    if (ends[1] > STDERR_FILENO)
        return 0;
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(ends[1]);
    ends[1] = high;
    if (high < 0)
        close(ends[0]);
    errno = error;
    return high < 0 ? -1 : 0;
}

/* The last thing that the child said. Exec, or its end, closes its end of the pipe; with
 * shared memory one of them is past, or about to be and cannot fail any more. */
static struct proc_report
listen_to_child(int from, bool is_shared)
{
    struct proc_report r, last = { .step = STEP_UNTOLD };
    struct pollfd p = { .fd = from, .events = POLLIN };

    for (;;) {
        ssize_t n = SYS_RETRY(read(from, &r, sizeof r));
        if (n == (ssize_t)sizeof r)
            last = r;
        else if (n < 0 && errno == EAGAIN && !is_shared)
            poll(&p, 1, -1);
        else
            return last;
    }
}

/* Removes its empty cgroup. */
static void
drop_cgroup(struct proc_id *id)
{
    cgroup_remove(id->cgroup);
    memset(id->cgroup, 0, sizeof id->cgroup);
}

/* id has the boot and the path of the cgroup, if there is one; `dir` is where it is to be. */
static enum status
spawn(const struct proc_spec *spec, int dir, struct proc_id *id, struct err *e)
{
    volatile bool is_shared = false;
    sigset_t all, before;
    int ends[2];

    look_at_signals();
    if (proc_pipe(ends) != 0)
        return err_sys(e, "start %s: make a pipe", spec->argv[0]);

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct origin o = { .boot_id = id->boot_id, .since = tick(), .cgroup = id->cgroup, .dir = dir };
    pid_t pid = start_child(spec, &o, ends[1], &is_shared);
    sched_yield(); /* on one CPU the agent goes first: we only keep the books */
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return err_sys(e, "start %s: make a process", spec->argv[0]);
    }

    struct proc_report last = listen_to_child(ends[0], is_shared);
    close(ends[0]);
    enum status s = proc_reported(spec, &last, e);
    if (s) {
        SYS_RETRY(waitpid(pid, NULL, 0));
        return s;
    }
    id->pid = pid;
    id->start = last.start;
    if (last.is_clock_right)
        trusts_clock = true;
    if (!last.is_inside)
        drop_cgroup(id);
    return ST_OK;
}

enum status
proc_spawn(const struct proc_spec *spec, struct proc_id *id, struct err *e)
{
    int dir = -1;

    memset(id, 0, sizeof *id);
    enum status s = boot_id_read(id->boot_id, e);
    if (s)
        return s;
    if (spec->is_woken)
        dir = cgroup_open_outside();
    else if (spec->attempt_file)
        cgroup_make(id->cgroup, &dir);
    s = spawn(spec, dir, id, e);
    if (dir >= 0)
        close(dir);
    if (s)
        drop_cgroup(id);
    return s;
}

/* "4711 302824 0f7c…-… /cliq-…", and exactly as we write it; the last word need not be there. */
static bool
parse_id(const char *text, struct proc_id *id)
{
    char same[64 + BOOT_ID_SIZE];

    if (sscanf(text, "%d %" SCNu64 " %39[0-9a-f-]", &id->pid, &id->start, id->boot_id) != 3)
        return false;
    int n = snprintf(same, sizeof same, "%d %" PRIu64 " %s", id->pid, id->start, id->boot_id);
    if (id->pid <= 0 || strncmp(same, text, (size_t)n) != 0)
        return false;
    const char *rest = text + n;
    if (!*rest)
        return true;
    if (*rest != ' ' || !cgroup_is_ours(rest + 1))
        return false;
    strcpy(id->cgroup, rest + 1); /* is_ours: it fits */
    return true;
}

/* The text of an attempt file: a void one is empty; an older version ended it with '\n'. */
static enum status
read_plain(const char *attempt_file, char *to, size_t size, struct err *e)
{
    struct buf text = BUF_MAX(8192);
    enum status s = path_read_file(AT_FDCWD, attempt_file, &text, e);

    if (!s && text.len == 0)
        s = err_set(e, ST_NOT_FOUND, "%s is void: that attempt never started", attempt_file);
    to[0] = '\0';
    if (!s && text.len < size && text.p[text.len - 1] == '\n' && strlen(text.p) == text.len)
        snprintf(to, size, "%.*s", (int)text.len - 1, text.p);
    buf_release(&text);
    return s;
}

enum status
proc_read_id(const char *attempt_file, struct proc_id *id, struct err *e)
{
    char text[ATTEMPT_TEXT_SIZE];
    ssize_t n = SYS_RETRY(sys->readlinkat(AT_FDCWD, attempt_file, text, sizeof text - 1));
    enum status s = ST_OK;

    memset(id, 0, sizeof *id);
    if (n >= 0)
        text[n] = '\0';
    else if (errno == EINVAL) /* not a link */
        s = read_plain(attempt_file, text, sizeof text, e);
    else
        s = path_open_failed(AT_FDCWD, attempt_file, attempt_file, e);
    if (!s && !parse_id(text, id)) {
        memset(id, 0, sizeof *id);
        s = err_set(e, ST_INVALID, "%s is not an attempt file", attempt_file);
    }
    return s;
}

enum status
proc_void(const char *attempt_file, struct err *e)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, attempt_file, flags, 0600));

    if (fd < 0)
        return errno == EEXIST ? err_set(e, ST_CONFLICT, "%s is there already", attempt_file)
                               : err_sys(e, "create %s", attempt_file);
    close(fd);
    return ST_OK;
}
