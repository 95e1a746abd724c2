#define _GNU_SOURCE
#include "proc/child.h"

#include "base/clock.h"
#include "base/sys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MARK "CLIQ_CHILD="

enum {
    POLL_MS = 10, /* doubled until POLL_MAX_MS */
    POLL_MAX_MS = 100,
    REST_POLL_MS = 1000, /* a rest of the tree that is not being stopped */
    TAKE_MAX = 1 << 20,  /* a step: what a process leaves behind may print for ever */
    SLACK_MAX = 1 << 20, /* output kept above spec.keep, so that it is seldom moved */
};

/* Keeps errno. */
static void
close_fd(int *fd)
{
    int error = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

/* ---- starting ---- */

/* An input of this text, above 2; -1 and errno. A file in memory: all of it is there before the
 * child starts, so no process has to write while the child reads. */
static int
open_input(const char *text, size_t len)
{
    int low = memfd_create("input", MFD_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ssize_t n = 1;

    close_fd(&low);
    for (size_t at = 0; fd >= 0 && n > 0 && at < len; at += (size_t)n)
        n = SYS_RETRY(write(fd, text + at, len - at));
    if (fd >= 0 && (n <= 0 || lseek(fd, 0, SEEK_SET) != 0))
        close_fd(&fd);
    return fd;
}

static bool
open_output(struct child *c)
{
    int ends[2];

    if (proc_pipe(ends) != 0)
        return false;
    c->out = ends[0];
    c->hold = ends[1];
    return fcntl(c->hold, F_SETFL, 0) == 0; /* only we do not block */
}

/* The environment with a new mark in place of that of the child that we are in; NULL: no memory. */
static const char **
marked_env(struct child *c, const char *const *env)
{
    static atomic_uint made;
    size_t n = 0, k = 0;

    if (!env)
        env = (const char *const *)environ;
    while (env[n])
        n++;
    const char **v = malloc((n + 2) * sizeof *v);
    if (!v)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(env[i], MARK, sizeof MARK - 1) != 0)
            v[k++] = env[i];
    snprintf(c->mark, sizeof c->mark, MARK "%d-%" PRId64 "-%u", (int)getpid(), clock_mono_ms(),
             ++made);
    v[k++] = c->mark;
    v[k] = NULL;
    return v;
}

static void
begin(struct child *c, const struct child_spec *spec)
{
    *c = (struct child){ .state = CHILD_RUNNING,
                         .spec = *spec,
                         .pidfd = -1,
                         .out = -1,
                         .hold = -1,
                         .poll_ms = POLL_MS };
    c->until_ms = spec->limit_ms ? clock_mono_ms() + spec->limit_ms : INT64_MAX;
}

enum status
child_start(struct child *c, const struct child_spec *spec, struct err *e)
{
    struct proc_spec proc = spec->proc;
    int in = -1;

    begin(c, spec);
    const char **marked = spec->token ? NULL : marked_env(c, spec->proc.env);
    enum status s = spec->token || marked ? ST_OK : err_nomem(e);
    if (!s && spec->input && (in = open_input(spec->input, spec->input_len)) < 0)
        s = err_sys(e, "start %s: keep its input", proc.argv[0]);
    if (!s && spec->keep && !open_output(c))
        s = err_sys(e, "start %s: make a pipe", proc.argv[0]);
    if (!s) {
        if (marked)
            proc.env = marked;
        proc.in_fd = in >= 0 ? in : spec->proc.in_fd;
        if (spec->keep)
            proc.out_fd = c->hold;
        if (spec->keep && !spec->is_err_apart)
            proc.err_fd = c->hold;
        s = proc_spawn(&proc, &c->id, e);
    }
    free(marked);
    close_fd(&in);
    if (s)
        child_release(c);
    else
        c->pidfd = (int)syscall(SYS_pidfd_open, c->id.pid, 0U); /* ours, and not waited for */
    return s;
}

void
child_adopt(struct child *c, const struct child_spec *spec, const struct proc_id *id)
{
    begin(c, spec);
    c->id = *id;
    c->is_adopted = true;
    c->pidfd = proc_pidfd(id);
}

void
child_release(struct child *c)
{
    if (c->state == CHILD_NONE)
        return;
    close_fd(&c->pidfd);
    close_fd(&c->out);
    close_fd(&c->hold);
    buf_release(&c->output);
    free(c->seen.v);
    *c = (struct child){ 0 };
}

/* ---- output ---- */

static void
take_piece(struct child *c, const char *p, size_t len)
{
    if (c->spec.on_output)
        c->spec.on_output(c->spec.ctx, p, len);
    size_t keep = c->spec.keep;
    buf_add(&c->output, p, len);
    if (c->output.len > keep + (keep < SLACK_MAX ? keep : SLACK_MAX)) {
        c->is_cut = true;
        buf_drop(&c->output, c->output.len - c->spec.keep);
    }
}

static void
take_output(struct child *c)
{
    char piece[16384];
    ssize_t n;

    for (size_t took = 0; c->out >= 0 && took < TAKE_MAX; took += (size_t)n) {
        n = SYS_RETRY(read(c->out, piece, sizeof piece));
        if (n <= 0)
            return;
        take_piece(c, piece, (size_t)n);
    }
}

/* ---- its end ---- */

void
child_reaped(struct child *c, int wait_status)
{
    c->has_exited = c->has_status = true;
    c->wait_status = wait_status;
}

static bool
is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return SYS_RETRY(poll(&p, 1, 0)) > 0;
}

/* Our child stays a zombie until the tree is gone: its pid is no other's, and its session is
 * known by it. -1 of waitid: another thread reaped it. */
static void
look_at_process(struct child *c)
{
    siginfo_t end = { 0 };

    if (c->has_exited || (c->pidfd >= 0 && !is_readable(c->pidfd)))
        return;
    if (c->is_adopted) {
        c->has_exited = c->pidfd >= 0 || proc_alive(&c->id) == PROC_DEAD;
        c->has_status = c->has_exited && proc_how_died(&c->id, &c->wait_status);
        return;
    }
    int rc = SYS_RETRY(waitid(P_PID, (id_t)c->id.pid, &end, WEXITED | WNOWAIT | WNOHANG));
    c->has_exited = rc != 0 || end.si_pid != 0;
    c->has_status = rc == 0 && end.si_pid != 0;
    c->wait_status = end.si_code == CLD_EXITED ? end.si_status << 8 : end.si_status;
}

/* How many processes of its tree live; -1: not known. Sends the signal to each. */
static int
signal_tree(struct child *c, int signo)
{
    const char *token = c->spec.token ? c->spec.token : c->mark + sizeof MARK - 1;
    int n =
        proc_signal_marked(&c->id, c->spec.token ? "CLIQ_ATTEMPT=" : MARK, token, &c->seen, signo);

    /* Without /proc or pidfds, those that we can name: it is ours, and not yet waited for. */
    if (signo && (n < 0 || c->pidfd < 0) && !c->has_exited && !c->is_adopted) {
        kill(-c->id.pid, signo);
        kill(c->id.pid, signo);
    }
    return n;
}

/* Is anything of the tree left? An adopted process that cannot be watched, as a process of another
 * user may have its pid by now, has ended when /proc shows nothing of its tree. */
static bool
has_left(struct child *c, int signo)
{
    bool is_watched = c->pidfd >= 0 || !c->is_adopted;

    if (!c->has_exited && is_watched)
        return true;
    bool has = signal_tree(c, signo) != 0;
    if (!has && !c->has_exited) {
        c->has_exited = true;
        c->has_status = proc_how_died(&c->id, &c->wait_status);
    }
    return has;
}

/* ---- the state machine ---- */

static void
enter(struct child *c, enum child_state state)
{
    const struct child_spec *s = &c->spec;
    int64_t now = clock_mono_ms();

    c->state = state;
    c->poll_ms = POLL_MS;
    if (state == CHILD_HUP) {
        c->until_ms = now + s->hangup_ms;
        signal_tree(c, SIGHUP);
    } else if (state == CHILD_TERM) {
        c->until_ms = now + s->grace_ms;
        signal_tree(c, SIGTERM);
    } else if (state == CHILD_KILL) {
        c->until_ms = s->kill_ms ? now + s->kill_ms : INT64_MAX;
        signal_tree(c, SIGKILL);
    } else if (state == CHILD_GONE) {
        if (!c->is_adopted)
            SYS_RETRY(waitpid(c->id.pid, NULL, WNOHANG));
        cgroup_remove(c->id.cgroup);
        take_output(c);
        if (c->output.len > s->keep) {
            c->is_cut = true;
            buf_drop(&c->output, c->output.len - s->keep);
        }
    }
}

/* The first step of a stop. */
static enum child_state
stop_state(const struct child *c)
{
    return c->spec.grace_ms ? CHILD_TERM : CHILD_KILL;
}

/* The state after the present one; the tree is searched only where that decides. */
static enum child_state
next_state(struct child *c, int64_t now)
{
    const struct child_spec *s = &c->spec;
    bool is_due = now >= c->until_ms;

    switch (c->state) {
    case CHILD_RUNNING:
        if (c->has_exited && (!s->is_whole_tree ||
                              (s->may_have_left && !s->may_have_left(s->ctx)) || !has_left(c, 0)))
            return CHILD_GONE;
        if (!is_due)
            return CHILD_RUNNING;
        c->is_timeout = !c->has_exited;
        return stop_state(c);
    case CHILD_HUP:
        if (!has_left(c, 0))
            return CHILD_GONE;
        return is_due ? stop_state(c) : CHILD_HUP;
    case CHILD_TERM:
        if (!has_left(c, 0))
            return CHILD_GONE;
        return is_due ? CHILD_KILL : CHILD_TERM;
    case CHILD_KILL:
        if (!c->has_exited)
            signal_tree(c, SIGKILL);
        return c->has_exited && (!has_left(c, SIGKILL) || is_due) ? CHILD_GONE : CHILD_KILL;
    case CHILD_NONE:
    case CHILD_GONE:
        break;
    }
    return c->state;
}

enum child_state
child_step(struct child *c)
{
    if (c->state == CHILD_NONE || c->state == CHILD_GONE)
        return c->state;
    look_at_process(c); /* first: what it printed before its end is taken below */
    take_output(c);
    enum child_state next = next_state(c, clock_mono_ms());
    if (next != c->state)
        enter(c, next);
    else if (c->poll_ms < POLL_MAX_MS)
        c->poll_ms *= 2;
    return c->state;
}

int64_t
child_due_ms(const struct child *c)
{
    int64_t left = c->until_ms == INT64_MAX ? INT64_MAX : c->until_ms - clock_mono_ms();
    bool is_told = c->pidfd >= 0 && !c->has_exited && c->state != CHILD_KILL;
    int64_t poll_ms = is_told                                      ? INT64_MAX
                      : c->state == CHILD_RUNNING && c->has_exited ? REST_POLL_MS
                                                                   : c->poll_ms;

    if (c->state == CHILD_NONE || c->state == CHILD_GONE)
        return -1;
    if (left > poll_ms)
        left = poll_ms;
    return left == INT64_MAX ? -1 : left < 0 ? 0 : left;
}

int
child_end_fd(const struct child *c)
{
    return c->state == CHILD_NONE || c->state == CHILD_GONE || c->has_exited ? -1 : c->pidfd;
}

void
child_stop(struct child *c)
{
    if (c->state == CHILD_RUNNING || c->state == CHILD_HUP)
        enter(c, stop_state(c));
}

void
child_hangup(struct child *c)
{
    if (c->state == CHILD_RUNNING)
        enter(c, c->spec.hangup_ms ? CHILD_HUP : stop_state(c));
}

void
child_kill(struct child *c)
{
    if (c->state == CHILD_RUNNING || c->state == CHILD_HUP || c->state == CHILD_TERM)
        enter(c, CHILD_KILL);
}

/* ---- blocking ---- */

bool
child_wait(struct child *c, int64_t ms)
{
    int64_t until = ms < 0 ? INT64_MAX : clock_mono_ms() + ms;

    while (child_step(c) != CHILD_GONE && c->state != CHILD_NONE) {
        struct pollfd p[2] = { { .fd = c->has_exited ? -1 : c->pidfd, .events = POLLIN },
                               { .fd = c->out, .events = POLLIN } };
        int64_t due = child_due_ms(c), left = until - clock_mono_ms();
        if (left <= 0)
            return false;
        if (due < 0 || due > left)
            due = left;
        poll(p, 2, due > 1 << 30 ? 1 << 30 : (int)due);
    }
    return true;
}

enum status
child_run(struct child *c, const struct child_spec *spec, struct err *e)
{
    enum status s = child_start(c, spec, e);

    if (!s)
        child_wait(c, -1);
    return s;
}

int
child_exit_code(const struct child *c)
{
    if (!c->has_status)
        return -1;
    return WIFSIGNALED(c->wait_status) ? 128 + WTERMSIG(c->wait_status)
                                       : WEXITSTATUS(c->wait_status);
}
