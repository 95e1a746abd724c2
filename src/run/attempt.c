#include "run/attempt.h"

#include "base/clock.h"
#include "base/sys.h"
#include "run/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_POLL_MS = 10, STOP_POLL_MAX_MS = 100, UNKNOWN_POLL_MS = 1000 };

enum stopping { STOP_NO, STOP_HUP, STOP_TERM, STOP_KILL };

struct attempt {
    struct attempt_host *host;
    struct attempt_id a;
    struct arena arena; /* of what is prepared */
    struct attempt_files prepared;
    bool is_laid_out;
    struct proc_id id;
    bool is_started, is_child, is_exited, has_result, is_complete, is_gone, is_closed;
    bool has_status; /* wait_status is known */
    int wait_status;
    int64_t began_ms; /* monotonic */
    char ended[80];   /* how, for its pane; empty: without a result */
    /* its signal file */
    int fd;
    struct log_reader reader;
    size_t n_lines, n_told; /* that are not terminal: in the file, and told */
    /* what it waits for */
    struct loop_source *death, *deadline, *poll;
    int pidfd;
    struct pane *pane; /* NULL: none */
    enum stopping stopping;
    int64_t term_at_ms, kill_at_ms; /* then come SIGTERM, SIGKILL */
    unsigned poll_ms;               /* until we look again; longer each time */
};

const struct attempt_id *
attempt_id_of(const struct attempt *l)
{
    return &l->a;
}

pid_t
attempt_pid(const struct attempt *l)
{
    return l->id.pid;
}

bool
attempt_completed(const struct attempt *l)
{
    return l->is_complete;
}

bool
attempt_was_closed(const struct attempt *l)
{
    return l->is_closed;
}

void
attempt_set_verdict(struct attempt *l, const char *text)
{
    snprintf(l->ended, sizeof l->ended, "%s", text);
}

bool
attempt_owns(const struct attempt *l, pid_t pid)
{
    return l->is_started && !l->is_exited && l->id.pid == pid;
}

static const char *
phase_name(const struct attempt *l)
{
    return l->host->plan->team.phases[l->a.phase].name;
}

bool
attempt_writes(const struct attempt *l, const char *name)
{
    const char *phase = phase_name(l);
    size_t n = strlen(phase);

    return strncmp(name, phase, n) == 0 && strcmp(name + n, ".jsonl") == 0;
}

enum status
attempt_new(struct attempt **out, struct attempt_host *host, const struct attempt_id *a,
            struct err *e)
{
    struct attempt *l = calloc(1, sizeof *l);
    enum status s;

    *out = NULL;
    if (!l)
        return err_nomem(e);
    l->host = host;
    l->a = *a;
    l->fd = l->pidfd = -1;
    log_reader_init(&l->reader, -1, 0);
    s = attempt_files_write(host->plan, a, host->run_id, &l->arena, &l->prepared, e);
    if (s)
        attempt_free(l);
    else
        *out = l;
    return s;
}

static void
drop_sources(struct attempt *l)
{
    loop_drop(l->death);
    loop_drop(l->deadline);
    loop_drop(l->poll);
    l->death = l->deadline = l->poll = NULL;
    if (l->pidfd >= 0)
        close(l->pidfd);
    l->pidfd = -1;
}

void
attempt_free(struct attempt *l)
{
    if (!l)
        return;
    drop_sources(l);
    log_reader_release(&l->reader);
    if (l->fd >= 0)
        close(l->fd);
    arena_release(&l->arena);
    free(l);
}

/* A timer that fired, or is not wanted any more. */
static void
drop(struct loop_source **timer)
{
    loop_drop(*timer);
    *timer = NULL;
}

/* The last thing in a callback of the loop: l may be freed in it. */
static void
settle(const struct attempt *l)
{
    l->host->settle(l->host->ctx);
}

/* ---- results ---- */

static void
on_linger(void *ctx)
{
    struct attempt *l = ctx;

    drop(&l->deadline);
    l->host->on_note(l->host->ctx, l->a.phase,
                     "what still runs of it, 5 s after its last line, is stopped");
    attempt_stop(l);
}

static void
give_result(struct attempt *l, enum outcome outcome, const struct status_line *line,
            const char *text)
{
    static const char *const names[] = { "completed", "error", "crashed", "timed out" };

    l->has_result = true;
    l->is_complete = outcome == OUT_COMPLETE;
    attempt_set_verdict(l, l->is_closed ? "closed" : names[outcome]);
    drop(&l->deadline);
    if (!l->is_exited && !l->stopping && !l->is_closed && outcome != OUT_TIMEOUT)
        l->deadline = loop_after(l->host->loop, ATTEMPT_LINGER_MS, on_linger, l, NULL);
    l->host->on_result(l->host->ctx, l, outcome, line, text);
}

/* Has the file another's place now, or was it cut short? Then it is read from its beginning. */
static bool
is_other_file(const struct attempt *l, const char *path)
{
    struct stat named, open;

    return sys->fstat(l->fd, &open) != 0 || open.st_size < l->reader.at ||
           (sys->fstatat(l->host->plan->state.dir, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            (named.st_ino != open.st_ino || named.st_dev != open.st_dev));
}

/* Where it tells what it does. */
static void
add_signals_path(const struct attempt *l, struct buf *to)
{
    buf_addf(to, "%s/%s.jsonl", l->a.stage == STAGE_CHECKS ? "run/checks" : "signals",
             phase_name(l));
}

static bool
open_signals(struct attempt *l)
{
    struct buf path = { 0 };

    add_signals_path(l, &path);
    if (l->fd >= 0 && !buf_failed(&path) && is_other_file(l, path.p)) {
        log_reader_release(&l->reader);
        close(l->fd);
        l->fd = -1;
        l->n_lines = 0;
    }
    if (l->fd >= 0) {
        buf_release(&path);
        return true;
    }
    if (!buf_failed(&path))
        l->fd = SYS_RETRY(sys->openat(l->host->plan->state.dir, path.p,
                                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
    buf_release(&path);
    if (l->fd >= 0)
        log_reader_init(&l->reader, l->fd, 0);
    return l->fd >= 0;
}

/* Who replaces the file to add a line has those before it there again. */
static bool
is_new_line(struct attempt *l)
{
    if (++l->n_lines <= l->n_told)
        return false;
    l->n_told++;
    return true;
}

void
attempt_look(struct attempt *l)
{
    struct log_record rec;

    if (!l->is_started || l->has_result || !open_signals(l))
        return;
    while (!l->has_result && log_next(&l->reader, &rec)) {
        struct arena a = { 0 };
        struct status_line line = status_line_read(&a, rec.json);
        if (line.status == LINE_COMPLETE)
            give_result(l, OUT_COMPLETE, &line, NULL);
        else if (line.status == LINE_ERROR)
            give_result(l, OUT_ERROR, &line, line.error);
        else if ((line.status == LINE_PROGRESS || line.status == LINE_NOTIFY) && is_new_line(l))
            l->host->on_line(l->host->ctx, l, &line);
        arena_release(&a);
    }
}

/* ---- the end of its process, and of everything it left behind ---- */

/* Reports the lines of its status file that could not be used. */
static void
add_bad_lines(const struct attempt *l, struct buf *to)
{
    uint64_t n = l->reader.bad;

    if (!n)
        return;
    buf_addf(to, "%" PRIu64 " line%s of ", n, n == 1 ? "" : "s");
    add_signals_path(l, to);
    buf_addf(to, " could not be used: cliq fsck %s/", l->host->plan->state.state_dir);
    add_signals_path(l, to);
    buf_adds(to, " tells why");
}

static void
note_bad_lines(const struct attempt *l)
{
    struct buf text = { 0 };

    add_bad_lines(l, &text);
    if (text.len && !buf_failed(&text))
        l->host->on_note(l->host->ctx, l->a.phase, text.p);
    buf_release(&text);
}

/* "PASS (exit code 0, 1.2 s)" */
static void
finish_pane(struct attempt *l)
{
    struct buf how = { 0 };
    int64_t ms = clock_mono_ms() - l->began_ms;

    if (!l->pane)
        return;
    buf_addf(&how, "%s (", *l->ended ? l->ended : "stopped");
    if (l->has_status && WIFSIGNALED(l->wait_status))
        buf_addf(&how, "signal %d, ", WTERMSIG(l->wait_status));
    else if (l->has_status)
        buf_addf(&how, "exit code %d, ", WEXITSTATUS(l->wait_status));
    progress_elapsed(&how, ms);
    buf_addc(&how, ')');
    pane_finish(l->pane, buf_failed(&how) ? "ended" : how.p);
    l->pane = NULL;
    buf_release(&how);
}

static void
gone(struct attempt *l)
{
    if (l->is_gone)
        return;
    l->is_gone = true;
    if (l->is_complete)
        note_bad_lines(l); /* else it is part of what is told */
    drop_sources(l);
    finish_pane(l);
    cgroup_remove(l->id.cgroup);
    l->host->on_gone(l->host->ctx, l);
}

void
attempt_check_gone(struct attempt *l)
{
    if (l->is_started && l->is_exited && !l->is_gone &&
        proc_signal_tree(&l->id, l->prepared.token, 0) == 0)
        gone(l);
}

static void
say_death(const struct attempt *l, struct buf *to)
{
    if (!l->has_status)
        buf_adds(to, "died without a terminal line");
    else if (WIFSIGNALED(l->wait_status))
        buf_addf(to, "was killed by signal %d (%s)", WTERMSIG(l->wait_status),
                 strsignal(WTERMSIG(l->wait_status)));
    else
        buf_addf(to, "exited with code %d without a terminal line", WEXITSTATUS(l->wait_status));
    if (l->reader.bad)
        buf_adds(to, "; ");
    add_bad_lines(l, to);
}

static void
on_death(struct attempt *l)
{
    struct buf text = { 0 };

    if (l->is_exited)
        return;
    drop(&l->death);
    attempt_look(l); /* its last lines */
    l->is_exited = true;
    if (!l->has_status)
        l->has_status = proc_how_died(&l->id, &l->wait_status);
    if (!l->has_result) {
        say_death(l, &text);
        give_result(l, OUT_CRASH, NULL, buf_failed(&text) ? "died" : text.p);
        buf_release(&text);
    }
    size_t n;
    const pid_t *known = l->host->known(l->host->ctx, &n);
    if (!proc_may_have_left(&l->id, known, n))
        gone(l);
    else
        attempt_check_gone(l);
    if (!l->is_gone && !l->deadline)
        attempt_stop(l); /* it died without a result: what it left has nothing to finish */
}

void
attempt_exited(struct attempt *l, int wait_status)
{
    l->has_status = true;
    l->wait_status = wait_status;
    on_death(l);
}

static void
on_pidfd(void *ctx)
{
    struct attempt *l = ctx;

    if (!l->is_child || proc_alive(&l->id) == PROC_DEAD)
        on_death(l);
    settle(l);
}

/* ---- stopping ---- */

static void
on_stop_poll(void *ctx)
{
    struct attempt *l = ctx;
    int64_t now_ms = clock_mono_ms();
    int signo = 0;

    drop(&l->poll);
    if (now_ms >= l->kill_at_ms) {
        l->stopping = STOP_KILL;
        signo = SIGKILL; /* again and again: what it forks meanwhile, too */
    } else if (l->stopping == STOP_HUP && now_ms >= l->term_at_ms) {
        l->stopping = STOP_TERM;
        signo = SIGTERM;
    }
    l->poll_ms = l->poll_ms * 2 < STOP_POLL_MAX_MS ? l->poll_ms * 2 : STOP_POLL_MAX_MS;
    int left = proc_signal_tree(&l->id, l->prepared.token, signo);
    if (left == 0 && !l->is_child)
        l->is_exited = true;
    if (left == 0 && l->is_exited)
        gone(l);
    else
        l->poll = loop_after(l->host->loop, l->poll_ms, on_stop_poll, l, NULL);
    settle(l);
}

/* The first step of the ladder; on_stop_poll takes the others. */
static void
begin_stop(struct attempt *l, enum stopping first)
{
    if (!l->is_started || l->is_gone || l->stopping)
        return;
    l->stopping = first;
    l->term_at_ms = clock_mono_ms() + (first == STOP_HUP ? ATTEMPT_HANGUP_MS : 0);
    l->kill_at_ms = l->term_at_ms + ATTEMPT_GRACE_MS;
    l->poll_ms = STOP_POLL_MS;
    proc_signal_tree(&l->id, l->prepared.token, first == STOP_HUP ? SIGHUP : SIGTERM);
    drop(&l->poll); /* one that looks at a process that cannot be watched */
    l->poll = loop_after(l->host->loop, l->poll_ms, on_stop_poll, l, NULL);
}

void
attempt_stop(struct attempt *l)
{
    if (l->stopping == STOP_HUP)
        l->term_at_ms = 0; /* no more patience */
    begin_stop(l, STOP_TERM);
}

/* A person closed its pane. A terminal line that it wrote before counts. */
static void
on_pane_closed(void *ctx)
{
    struct attempt *l = ctx;

    l->pane = NULL;
    attempt_look(l);
    if (!l->has_result) {
        l->is_closed = true;
        give_result(l, OUT_CRASH, NULL, "its pane was closed");
    }
    begin_stop(l, STOP_HUP);
    settle(l);
}

void
attempt_hurry(struct attempt *l)
{
    l->kill_at_ms = 0;
}

static void
on_timeout(void *ctx)
{
    struct attempt *l = ctx;

    drop(&l->deadline);
    attempt_look(l);
    if (!l->has_result)
        give_result(l, OUT_TIMEOUT, NULL, NULL);
    attempt_stop(l);
    settle(l);
}

/* ---- starting ---- */

static void
set_deadline(struct attempt *l, int64_t timeout_ms)
{
    drop(&l->deadline);
    if (timeout_ms >= 0)
        l->deadline = loop_after(l->host->loop, (uint64_t)timeout_ms, on_timeout, l, NULL);
}

/* Removes the status lines of an earlier attempt. */
static void
forget_signals(const struct attempt *l)
{
    const struct state_dir *f = &l->host->plan->state;
    char path[TEAM_PHASE_NAME_MAX + 32];

    snprintf(path, sizeof path, "signals/%s.jsonl", phase_name(l));
    state_dir_remove(f, path, NULL);
    snprintf(path, sizeof path, "run/checks/%s.jsonl", phase_name(l));
    if (l->a.stage == STAGE_CHECKS)
        state_dir_remove(f, path, NULL);
}

enum status
attempt_lay_out(struct attempt *l, struct err *e)
{
    if (l->is_laid_out)
        return ST_OK;
    forget_signals(l);
    enum status s = attempt_files_message(l->host->plan, &l->prepared, e);
    l->is_laid_out = !s;
    return s;
}

enum status
attempt_start(struct attempt *l, int64_t timeout_ms, struct err *e)
{
    enum status s = attempt_lay_out(l, e);

    if (s)
        return s;
    s = proc_spawn(&l->prepared.spec, &l->id, e);
    if (s == ST_CONFLICT) /* begun already, by an orchestrator that died at that moment */
        return attempt_resume(l, timeout_ms, timeout_ms, e);
    if (s)
        return s;
    l->is_started = l->is_child = true;
    l->began_ms = clock_mono_ms();
    if (!l->deadline)
        set_deadline(l, timeout_ms);
    attempt_show(l);
    return ST_OK;
}

static void
on_unknown_poll(void *ctx)
{
    struct attempt *l = ctx;

    drop(&l->poll);
    attempt_look(l);
    if (proc_alive(&l->id) == PROC_DEAD)
        on_death(l);
    else
        l->poll = loop_after(l->host->loop, UNKNOWN_POLL_MS, on_unknown_poll, l, NULL);
    settle(l);
}

/* It is there, or was: listen to it. */
static enum status
attach(struct attempt *l, int64_t timeout_left_ms, struct err *e)
{
    l->is_started = true;
    attempt_look(l);
    l->pidfd = proc_pidfd(&l->id);
    if (l->pidfd < 0 && proc_alive(&l->id) == PROC_DEAD) {
        on_death(l);
        return ST_OK;
    }
    if (l->pidfd >= 0)
        l->death = loop_on_readable(l->host->loop, l->pidfd, on_pidfd, l, e);
    else
        l->poll = loop_after(l->host->loop, UNKNOWN_POLL_MS, on_unknown_poll, l, e);
    if (!l->has_result && !l->deadline)
        set_deadline(l, timeout_left_ms > 0 ? timeout_left_ms : 0);
    return ST_OK;
}

/* The same attempt under its next name. */
static enum status
rename_attempt(struct attempt *l, struct err *e)
{
    l->a.redo++;
    arena_reset(&l->arena);
    l->is_laid_out = false;
    return attempt_files_write(l->host->plan, &l->a, l->host->run_id, &l->arena, &l->prepared, e);
}

enum status
attempt_resume(struct attempt *l, int64_t timeout_ms, int64_t timeout_left_ms, struct err *e)
{
    for (;;) {
        enum status s = proc_read_id(l->prepared.spec.attempt_file, &l->id, e);
        l->began_ms = clock_mono_ms() - (timeout_ms - timeout_left_ms);
        if (!s)
            return attach(l, timeout_left_ms, e);
        if (s != ST_NOT_FOUND)
            return s;
        /* Never begun: make sure that it never will, then begin it under another name. */
        enum status v = proc_void(l->prepared.spec.attempt_file, e);
        if (v == ST_CONFLICT && proc_read_id(l->prepared.spec.attempt_file, &l->id, e) == ST_OK)
            return attach(l, timeout_left_ms, e); /* it began this instant */
        if (v && v != ST_CONFLICT)
            return v;
        s = rename_attempt(l, e);
        if (s)
            return s;
        if (!v)
            return attempt_start(l, timeout_ms, e);
    }
}

void
attempt_show(struct attempt *l)
{
    if (l->is_started && !l->is_exited && !l->pane)
        l->pane = panes_open(l->host->panes, &l->prepared.spec, on_pane_closed, l);
}

enum status
attempt_resume_rest(struct attempt *l, struct err *e)
{
    while (proc_read_id(l->prepared.spec.attempt_file, &l->id, e) != ST_OK) {
        struct stat st;
        if (sys->fstatat(AT_FDCWD, l->prepared.spec.attempt_file, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            gone(l); /* it never was */
            return ST_OK;
        }
        enum status s = rename_attempt(l, e);
        if (s)
            return s;
    }
    l->is_started = l->has_result = true;
    l->is_exited = proc_alive(&l->id) == PROC_DEAD;
    if (l->is_exited && proc_signal_tree(&l->id, l->prepared.token, 0) == 0)
        gone(l);
    else
        attempt_stop(l);
    return ST_OK;
}
