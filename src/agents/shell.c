#define _GNU_SOURCE
#include "agents/shell.h"

#include "base/clock.h"
#include "base/sys.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TERM_GRACE_MS = 2000, PIPE_MAX = 1 << 20 };

struct child {
    pid_t pid;
    int pidfd;
    int in, out;  /* our ends; -1: closed */
    size_t given; /* of its input */
    int hold; /* the other end of `out`, so that only the command's end wakes us, not its pipe's */
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int
reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct pipes {
    int in[2], out[2]; /* in: -1 where there is no input */
};

/* The child, in our memory until it is sh. Its own process group, so that all of it can be
 * stopped. Returns errno by *error, also where vfork copies memory as fork does: as 0 then, and
 * sh ended with exit code 127. */
static _Noreturn void
be_shell(const char *text, const struct pipes *p, bool is_err_apart, volatile int *error)
{
    char *const argv[] = { (char *)"sh", (char *)"-c", (char *)text, NULL };
    int in = p->in[0] >= 0 ? p->in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);

    signal(SIGPIPE, SIG_DFL); /* what we ignore is ours: `yes | head` must end */
    signal(SIGXFSZ, SIG_DFL);
    if (in >= 0 && setpgid(0, 0) == 0 && dup2(in, STDIN_FILENO) >= 0 &&
        dup2(p->out[1], STDOUT_FILENO) >= 0 &&
        (is_err_apart || dup2(p->out[1], STDERR_FILENO) >= 0))
        execve("/bin/sh", argv, environ);
    *error = errno;
    _exit(127);
}

/* vfork, not posix_spawn, which makes a pipe to hear of a failed exec. In a function of its own:
 * what its two returns share is then only these arguments. No handler of ours can run in the
 * child: we have none. */
static __attribute__((noinline)) pid_t
start_shell(const char *text, const struct pipes *p, bool is_err_apart, volatile int *error)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) see above */

    if (pid == 0)
        be_shell(text, p, is_err_apart, error); /* NOLINT(clang-analyzer-unix.Vfork) */
    if (pid < 0)
        *error = errno;
    return pid;
}

static enum status
start(const char *text, const struct shell_options *o, struct child *c, struct err *e)
{
    struct pipes p = { { -1, -1 }, { -1, -1 } };
    volatile int error = 0;

    if (pipe2(p.out, O_CLOEXEC) != 0 || (o->input && pipe2(p.in, O_CLOEXEC) != 0)) {
        enum status s = err_sys(e, "make a pipe");
        close_fd(&p.out[0]);
        close_fd(&p.out[1]);
        return s;
    }
    c->pid = start_shell(text, &p, o->is_err_apart, &error);
    close_fd(&p.in[0]);
    c->out = p.out[0];
    c->hold = p.out[1];
    c->in = p.in[1];
    if (!error) {
        c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
        error = c->pidfd < 0 ? errno : 0;
        if (error) /* nobody would tell us that it ended */
            kill(-c->pid, SIGKILL);
    }
    if (error) {
        if (c->pid > 0)
            reap(c->pid);
        close_fd(&c->out);
        close_fd(&c->hold);
        close_fd(&c->in);
        errno = error;
        return err_sys(e, "start /bin/sh");
    }
    fcntl(c->out, F_SETFL, O_NONBLOCK);
    if (c->in >= 0)
        fcntl(c->in, F_SETFL, O_NONBLOCK);
    return ST_OK;
}

/* Shows what came, and keeps the end of it; not more than a pipe can hold, for what the command
 * leaves behind may print for ever. */
static void
take_output(struct child *c, struct shell_result *r, size_t keep)
{
    static char chunk[16384]; /* not on the stack, where each page of it would be touched */
    ssize_t n;

    for (size_t took = 0; took < PIPE_MAX; took += (size_t)n) {
        n = read(c->out, chunk, sizeof chunk);
        if (n <= 0)
            return;
        for (ssize_t off = 0, k; off < n; off += k) {
            k = write(STDOUT_FILENO, chunk + off, (size_t)(n - off));
            if (k <= 0)
                break; /* the log cannot be written: the result still counts */
        }
        buf_add(&r->output, chunk, (size_t)n);
        if (r->output.len > 2 * keep) {
            r->is_cut = true;
            buf_drop(&r->output, r->output.len - keep);
        }
    }
}

static void
give_input(struct child *c, const struct shell_options *o)
{
    while (c->given < o->input_len) {
        ssize_t n = write(c->in, o->input + c->given, o->input_len - c->given);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0)
            break; /* it does not read: its right */
        c->given += (size_t)n;
    }
    close_fd(&c->in);
}

/* Until the command ended or its time is up; true when it ended. */
static bool
wake_supervisor_run(struct child *c, const struct shell_options *o, struct shell_result *r,
                    int64_t until_ms)
{
    size_t keep = o->keep ? o->keep : SHELL_KEEP;

    for (;;) {
        struct pollfd p[3] = { { .fd = c->pidfd, .events = POLLIN },
                               { .fd = c->out, .events = POLLIN },
                               { .fd = c->in, .events = POLLOUT } };
        int64_t left = until_ms - clock_mono_ms();
        if (left <= 0)
            return false;
        if (poll(p, 3, (int)(left > 1 << 30 ? 1 << 30 : left)) < 0 && errno != EINTR)
            return false;
        if (p[0].revents || p[1].revents)
            take_output(c, r, keep);
        if (p[0].revents) /* it ended; what its children still print is not waited for */
            return true;
        if (p[2].revents)
            give_input(c, o);
    }
}

/* Whole characters only: results are JSON. */
static void
trim_output(struct shell_result *r, size_t keep)
{
    if (r->output.len > keep) {
        r->is_cut = true;
        buf_drop(&r->output, r->output.len - keep);
    }
    size_t skip = 0;
    while (r->is_cut && skip < r->output.len && skip < 4 &&
           ((unsigned char)r->output.p[skip] & 0xC0) == 0x80)
        skip++;
    buf_drop(&r->output, skip);
}

enum status
shell_run(const char *text, const struct shell_options *o, struct shell_result *r, struct err *e)
{
    struct child c = { .pidfd = -1, .in = -1, .out = -1, .hold = -1 };
    int64_t began = clock_mono_ms(), limit = o->limit_ms ? o->limit_ms : SHELL_LIMIT_MS;

    *r = (struct shell_result){ 0 };
    signal(SIGPIPE, SIG_IGN);
    enum status s = start(text, o, &c, e);
    if (s)
        return s;
    if (o->meanwhile)
        o->meanwhile(o->ctx);
    bool is_over =
        wake_supervisor_run(&c, o, r, began + (limit < SHELL_MOMENT_MS ? limit : SHELL_MOMENT_MS));
    if (!is_over && o->later)
        o->later(o->ctx);
    if (!is_over && !wake_supervisor_run(&c, o, r, began + limit)) {
        r->is_timeout = true;
        kill(-c.pid, SIGTERM);
        kill(c.pid, SIGTERM);
        wake_supervisor_run(&c, o, r, clock_mono_ms() + TERM_GRACE_MS);
        kill(-c.pid, SIGKILL);
        kill(c.pid, SIGKILL); /* it may have left its group */
    }
    r->exit_code = reap(c.pid);
    if (r->is_timeout)
        r->exit_code = 124;
    r->duration_ms = clock_mono_ms() - began;
    trim_output(r, o->keep ? o->keep : SHELL_KEEP);
    close_fd(&c.in);
    close_fd(&c.out);
    close_fd(&c.hold);
    close_fd(&c.pidfd);
    return buf_status(&r->output, "the command's output", e);
}

void
shell_result_release(struct shell_result *r)
{
    buf_release(&r->output);
}
