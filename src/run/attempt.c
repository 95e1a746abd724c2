#include "run/attempt.h"

#include "base/clock.h"
#include "base/sys.h"
#include "proc/child_loop.h"
#include "run/live_view.h"
#include "run/parked.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AGAIN_MAX = 5 }; /* processes of one attempt that are killed while we look */

struct attempt {
    struct attempt_host *host;
    struct attempt_id a;
    struct arena arena; /* of what is prepared */
    struct attempt_files prepared;
    bool is_laid_out;
    struct child child; /* NONE: not started */
    struct child_watch watch;
    struct loop_source *deadline; /* of the result, then of what still runs */
    bool has_result, is_complete;
    bool is_closed, is_ended_early; /* by a person who closed its pane; by attempt_end */
    bool is_ended;                  /* we know that its process ended */
    bool is_gone;                   /* the host was told */
    bool is_stopped;                /* attempt_stop was called */
    bool is_again;                  /* it was killed, and is started again when its tree is gone */
    unsigned n_again;               /* times it was, by this orchestrator */
    bool is_parked;                 /* people are awaited: it goes on without a process */
    bool is_waiting;                /* and its process has ended */
    struct parked parked;           /* what it waits for then */
    int64_t timeout_ms;
    int64_t began_ms; /* monotonic */
    char ended[80];   /* how, for its pane; empty: without a result */
    /* its signal file */
    int fd;
    struct log_reader reader;
    size_t n_lines, n_told; /* that are not terminal: in the file, and told */
    bool has_ids;           /* a line had our attempt_id: those without are not ours */
    bool has_foreign;       /* lines were ignored as not ours */
    struct pane *pane;      /* NULL: none */
};

const struct attempt_id *
attempt_id_of(const struct attempt *l)
{
    return &l->a;
}

pid_t
attempt_pid(const struct attempt *l)
{
    return l->child.id.pid;
}

bool
attempt_completed(const struct attempt *l)
{
    return l->is_complete;
}

bool
attempt_was_ended(const struct attempt *l)
{
    return l->is_closed || l->is_ended_early;
}

void
attempt_set_verdict(struct attempt *l, const char *text)
{
    snprintf(l->ended, sizeof l->ended, "%s", text);
}

bool
attempt_owns(const struct attempt *l, pid_t pid)
{
    return l->child.id.pid == pid && !l->child.has_exited;
}

static bool
is_started(const struct attempt *l)
{
    return l->child.state != CHILD_NONE;
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
    l->fd = -1;
    l->parked = (struct parked){ .timer = -1 };
    log_reader_init(&l->reader, -1, 0);
    s = attempt_files_write(host->plan, a, host->run_id, &l->arena, &l->prepared, e);
    if (!s) {
        settings_add_env_secrets(host->mask, l->prepared.spec.env);
        s = mask_build(host->mask, e);
    }
    if (s)
        attempt_free(l);
    else
        *out = l;
    return s;
}

void
attempt_free(struct attempt *l)
{
    if (!l)
        return;
    child_unwatch(&l->watch);
    child_release(&l->child);
    parked_release(&l->parked);
    loop_drop(l->deadline);
    log_reader_release(&l->reader);
    if (l->fd >= 0)
        close(l->fd);
    arena_release(&l->arena);
    free(l);
}

static void
drop_deadline(struct attempt *l)
{
    loop_drop(l->deadline);
    l->deadline = NULL;
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

    drop_deadline(l);
    l->host->on_note(l->host->ctx, l->a.phase,
                     "what still runs of it, 5 s after its last line, is stopped");
    attempt_stop(l);
}

/* An agent that waits for people waits longer than machines stay up: the end of its process is not
 * the end of the attempt, as long as it was killed and did not fail. */
static bool
is_patient(const struct attempt *l)
{
    return l->a.stage == STAGE_AGENT && l->host->plan->agents[l->a.phase].is_patient;
}

static void
give_result(struct attempt *l, enum outcome outcome, const struct status_line *line,
            const char *text)
{
    static const char *const names[] = { "completed", "error", "crashed", "timed out" };

    l->has_result = true;
    l->is_again = false;
    l->is_complete = outcome == OUT_COMPLETE;
    attempt_set_verdict(l, l->is_closed ? "closed" : names[outcome]);
    drop_deadline(l);
    if (!l->is_ended && l->child.state == CHILD_RUNNING && !attempt_was_ended(l) &&
        outcome != OUT_TIMEOUT)
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
        l->has_ids = false;
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

/* Is the line of this attempt? A line with the attempt_id of another never is. A line without one
 * is, as long as none with ours was seen: an SDK that knows no attempt_id writes only such lines.
 */
static bool
is_ours(struct attempt *l, const struct status_line *line)
{
    bool is_same = line->attempt_id && strcmp(line->attempt_id, l->prepared.token) == 0;

    l->has_ids |= is_same;
    return line->attempt_id ? is_same : !l->has_ids;
}

static void
ignore_line(struct attempt *l)
{
    struct buf text = { 0 };

    if (l->has_foreign || is_patient(l))
        return; /* told before; of another process of the same attempt */
    l->has_foreign = true;
    add_signals_path(l, &text);
    buf_addf(&text,
             " has lines that are not of this attempt (attempt_id is not %s): they are "
             "ignored",
             l->prepared.token);
    if (!buf_failed(&text))
        l->host->on_note(l->host->ctx, l->a.phase, text.p);
    buf_release(&text);
}

static const char *
mask_word(const struct attempt *l, struct arena *a, const char *text)
{
    struct buf b = { 0 };

    if (!text || mask_is_empty(l->host->mask))
        return text;
    bool is_good = mask_text(l->host->mask, text, strlen(text), &b, NULL) == ST_OK;
    const char *shown = is_good ? arena_dup(a, b.p ? b.p : "", b.len) : NULL;
    buf_release(&b);
    return shown ? shown : "(out of memory)";
}

/* An agent of another SDK may tell what it must not. */
static void
mask_line(const struct attempt *l, struct arena *a, struct status_line *line)
{
    line->message = mask_word(l, a, line->message);
    line->error = mask_word(l, a, line->error);
    line->result = mask_json(l->host->mask, a, line->result);
}

void
attempt_look(struct attempt *l)
{
    struct log_record rec;

    if (!is_started(l) || l->has_result || !open_signals(l))
        return;
    while (!l->has_result && log_next(&l->reader, &rec)) {
        struct arena a = { 0 };
        struct status_line line = status_line_read(&a, rec.json);
        mask_line(l, &a, &line);
        if (line.status == LINE_UNKNOWN)
            ;
        else if (!is_ours(l, &line))
            ignore_line(l);
        else if (line.status == LINE_COMPLETE)
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
    if (l->child.has_status && WIFSIGNALED(l->child.wait_status))
        buf_addf(&how, "signal %d, ", WTERMSIG(l->child.wait_status));
    else if (l->child.has_status)
        buf_addf(&how, "exit code %d, ", WEXITSTATUS(l->child.wait_status));
    live_view_elapsed(&how, ms);
    buf_addc(&how, ')');
    pane_finish(l->pane, buf_failed(&how) ? "ended" : how.p);
    l->pane = NULL;
    buf_release(&how);
}

static void begin_again(struct attempt *l);
static void park(struct attempt *l);

static void
gone(struct attempt *l)
{
    if (l->is_gone)
        return;
    if (l->is_parked) {
        park(l);
        return;
    }
    if (l->is_again) {
        begin_again(l);
        return;
    }
    l->is_gone = true;
    if (is_patient(l))
        parked_cancel(l->host->reviews, l->host->run_id, phase_name(l), l->a.n);
    if (l->is_complete)
        note_bad_lines(l); /* else it is part of what is told */
    child_unwatch(&l->watch);
    drop_deadline(l);
    finish_pane(l);
    l->host->on_gone(l->host->ctx, l);
}

/* An agent that was written without its SDK beside it. */
static const char *
hint_for(const char *last_line)
{
    static const char js[] = "; cliq sdk install js agents, in the team, brings it: then assemble "
                             "the team again";
    static const struct {
        const char *said, *hint;
    } hints[] = {
        { "Cannot find package '@cliqhub/cliq-sdk'", js },
        { "Cannot find module '@cliqhub/cliq-sdk'", js },
        { "No module named 'cliq_sdk'",
          "; cliq sdk install python agents/NAME, in the team, brings it: then assemble the team "
          "again" },
    };

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(last_line, hints[i].said))
            return hints[i].hint;
    return "";
}

/* ": make: *** No rule": what it printed last. */
static void
add_last_line(const struct attempt *l, struct buf *to)
{
    struct buf line = { 0 };

    attempt_files_last_line(l->host->plan, &l->prepared, l->host->mask, &line);
    if (line.len && !buf_failed(&line))
        buf_addf(to, ": %s%s", line.p, hint_for(line.p));
    buf_release(&line);
}

static void
say_death(const struct attempt *l, struct buf *to)
{
    int status = l->child.wait_status;

    if (!l->child.has_status)
        buf_adds(to, "died");
    else if (WIFSIGNALED(status))
        buf_addf(to, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        buf_addf(to, "exit code %d", WEXITSTATUS(status));
    buf_adds(to, " after ");
    live_view_elapsed(to, clock_mono_ms() - l->began_ms);
    buf_adds(to, " without a terminal line");
    if (l->child.has_status && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        buf_adds(to, " (complete or error, with which an agent ends: cliq help protocol)");
    add_last_line(l, to);
    if (l->reader.bad)
        buf_adds(to, "; ");
    add_bad_lines(l, to);
    if (l->has_foreign)
        buf_addf(to, "; lines without the attempt_id %s were ignored", l->prepared.token);
}

/* It was killed; or it ended well and without a verdict, because people decided at that moment. */
static bool
may_begin_again(const struct attempt *l)
{
    int status = l->child.wait_status, signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool was_killed =
        !l->child.has_status || signo == SIGKILL || signo == SIGTERM || signo == SIGHUP;

    return is_patient(l) && (was_killed || status == 0) && !l->is_stopped && l->n_again < AGAIN_MAX;
}

/* People are awaited: no process need be there. */
static bool
may_park(struct attempt *l)
{
    return is_patient(l) && !l->is_stopped && l->host->watch_reviews(l->host->ctx) &&
           parked_look(&l->parked, l->host->reviews, l->host->run_id, phase_name(l), l->a.n) &&
           l->parked.due_ms > 0;
}

/* Its process ended. */
static void
on_end(struct attempt *l)
{
    struct buf text = { 0 };

    attempt_look(l); /* its last lines */
    l->is_ended = true;
    if (!l->has_result && may_park(l))
        l->is_parked = true;
    else if (!l->has_result && may_begin_again(l))
        l->is_again = true;
    if (l->is_parked || l->is_again) {
        if (l->child.state == CHILD_RUNNING) /* what it left */
            child_watch_stop(&l->watch);
        return;
    }
    if (!l->has_result) {
        say_death(l, &text);
        give_result(l, OUT_CRASH, NULL, buf_failed(&text) ? "died" : text.p);
        buf_release(&text);
    }
    /* It ended without a result: what it left has nothing to finish. A tree that is being stopped
     * keeps the time that its present step gives it. */
    if (!l->deadline && l->child.state == CHILD_RUNNING)
        attempt_stop(l);
}

/* Takes what the supervisor of its process knows. */
static void
take_child(struct attempt *l)
{
    if (l->child.has_exited && !l->is_ended)
        on_end(l);
    if (l->child.state == CHILD_GONE)
        gone(l);
}

static void
on_child(void *ctx)
{
    take_child(ctx);
    settle(ctx);
}

void
attempt_reaped(struct attempt *l, int wait_status)
{
    child_reaped(&l->child, wait_status);
    child_watch_look(&l->watch);
}

void
attempt_check_gone(struct attempt *l)
{
    if (l->child.has_exited)
        child_watch_look(&l->watch);
}

/* ---- stopping ---- */

void
attempt_stop(struct attempt *l)
{
    l->is_again = l->is_parked = false;
    l->is_stopped = true;
    parked_release(&l->parked);
    if (l->is_waiting) { /* nothing is left of it */
        l->is_waiting = false;
        gone(l);
        return;
    }
    if (is_started(l))
        child_watch_stop(&l->watch);
}

void
attempt_kill(struct attempt *l)
{
    if (is_started(l))
        child_watch_kill(&l->watch);
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
    child_watch_hangup(&l->watch);
    settle(l);
}

void
attempt_end(struct attempt *l, const char *why)
{
    if (!is_started(l) || l->has_result)
        return;
    l->is_ended_early = true;
    give_result(l, OUT_ERROR, NULL, why);
    attempt_stop(l);
}

static void
on_timeout(void *ctx)
{
    struct attempt *l = ctx;
    struct buf text = { 0 };

    drop_deadline(l);
    attempt_look(l);
    if (!l->has_result) {
        buf_adds(&text, "no terminal line after ");
        live_view_elapsed(&text, clock_mono_ms() - l->began_ms);
        add_last_line(l, &text);
        give_result(l, OUT_TIMEOUT, NULL, buf_failed(&text) ? NULL : text.p);
        buf_release(&text);
    }
    attempt_stop(l);
    settle(l);
}

/* ---- starting ---- */

static void
set_deadline(struct attempt *l, int64_t timeout_ms)
{
    drop_deadline(l);
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

/* The cheap question: a descendant that is left has become a child of this process, and is none of
 * those that it started. */
static bool
may_have_left(void *ctx)
{
    const struct attempt *l = ctx;
    size_t n;
    const pid_t *known = l->host->known(l->host->ctx, &n);

    return proc_may_have_left(&l->child.id, known, n);
}

static struct child_spec
child_spec_of(struct attempt *l)
{
    return (struct child_spec){ .proc = l->prepared.spec,
                                .token = l->prepared.token,
                                .hangup_ms = ATTEMPT_HANGUP_MS,
                                .grace_ms = ATTEMPT_GRACE_MS,
                                .is_whole_tree = true,
                                .may_have_left = may_have_left,
                                .ctx = l };
}

static enum status
watch_child(struct attempt *l, struct err *e)
{
    return child_watch(&l->watch, &l->child, l->host->loop, on_child, l, e);
}

enum status
attempt_start(struct attempt *l, int64_t timeout_ms, struct err *e)
{
    enum status s = attempt_lay_out(l, e);
    struct child_spec spec = child_spec_of(l);

    if (s)
        return s;
    s = child_start(&l->child, &spec, e);
    if (s == ST_CONFLICT) /* begun already, by an orchestrator that died at that moment */
        return attempt_resume(l, timeout_ms, timeout_ms, e);
    if (s)
        return s;
    s = watch_child(l, e);
    if (s) { /* no memory */
        child_kill(&l->child);
        child_wait(&l->child, -1);
        return s;
    }
    l->began_ms = clock_mono_ms();
    l->timeout_ms = timeout_ms;
    set_deadline(l, timeout_ms);
    attempt_show(l);
    return ST_OK;
}

/* An earlier orchestrator started it: listen to it from now on. */
static enum status
adopt(struct attempt *l, const struct proc_id *id, struct err *e)
{
    struct child_spec spec = child_spec_of(l);

    child_adopt(&l->child, &spec, id);
    return watch_child(l, e);
}

/* It is there, or was. */
static enum status
go_on_with(struct attempt *l, const struct proc_id *id, int64_t timeout_left_ms, struct err *e)
{
    enum status s = adopt(l, id, e);

    if (s)
        return s;
    attempt_look(l);
    if (!l->has_result)
        set_deadline(l, timeout_left_ms > 0 ? timeout_left_ms : 0);
    child_step(&l->child);
    take_child(l);
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
    struct proc_id id;

    for (;;) {
        enum status s = proc_read_id(l->prepared.spec.attempt_file, &id, e);
        l->began_ms = clock_mono_ms() - (timeout_ms - timeout_left_ms);
        l->timeout_ms = timeout_ms;
        if (!s)
            return go_on_with(l, &id, timeout_left_ms, e);
        if (s != ST_NOT_FOUND)
            return s;
        /* Never begun: make sure that it never will, then begin it under another name. */
        enum status v = proc_void(l->prepared.spec.attempt_file, e);
        if (v == ST_CONFLICT && proc_read_id(l->prepared.spec.attempt_file, &id, e) == ST_OK)
            return go_on_with(l, &id, timeout_left_ms, e); /* it began this instant */
        if (v && v != ST_CONFLICT)
            return v;
        s = rename_attempt(l, e);
        if (s)
            return s;
        if (!v)
            return attempt_start(l, timeout_ms, e);
    }
}

/* Forgets its process, which has ended; the attempt goes on. */
static void
end_process(struct attempt *l, const char *how)
{
    attempt_set_verdict(l, how);
    finish_pane(l);
    child_unwatch(&l->watch);
    child_release(&l->child);
    l->child = (struct child){ 0 };
}

/* Another process for the same attempt, under its next name. */
static void
begin_again(struct attempt *l)
{
    int64_t left_ms = l->timeout_ms - (clock_mono_ms() - l->began_ms), began_ms = l->began_ms;
    bool was_killed = l->is_again && !l->child.is_adopted;
    struct err e;

    l->n_again += was_killed;
    if (was_killed)
        l->host->on_note(l->host->ctx, l->a.phase, "its process was killed, and is started again");
    end_process(l, "killed");
    drop_deadline(l);
    l->is_again = l->is_ended = l->has_ids = false;
    l->n_lines = l->n_told = 0;
    enum status s = rename_attempt(l, &e);
    if (!s)
        s = attempt_resume(l, l->timeout_ms, left_ms, &e);
    if (s) {
        give_result(l, OUT_CRASH, NULL, e.text);
        gone(l);
        return;
    }
    l->began_ms = began_ms;
    if (!l->has_result && l->child.state == CHILD_RUNNING)
        set_deadline(l, left_ms > 0 ? left_ms : 0);
}

/* ---- waiting without a process ---- */

/* Something may have changed for a parked attempt: its review, or the time. */
static void
look_parked(struct attempt *l)
{
    const struct state_dir *f = l->host->reviews;

    if (!l->is_waiting)
        return;
    if (parked_look(&l->parked, f, l->host->run_id, phase_name(l), l->a.n) &&
        l->parked.due_ms > clock_wall_ns() / 1000000)
        return;
    l->is_parked = l->is_waiting = false;
    parked_release(&l->parked);
    begin_again(l);
}

static void
on_parked_due(void *ctx)
{
    look_parked(ctx);
    settle(ctx);
}

static void
park(struct attempt *l)
{
    struct err e;

    end_process(l, "waits for people");
    l->is_waiting = true;
    if (parked_wait(&l->parked, l->host->loop, on_parked_due, l, &e) == ST_OK)
        return;
    l->is_parked = l->is_waiting = false;
    give_result(l, OUT_CRASH, NULL, e.text);
    gone(l);
}

bool
attempt_is_waiting(const struct attempt *l)
{
    return l->is_waiting;
}

int64_t
attempt_due_ms(const struct attempt *l)
{
    int64_t limit_ms = clock_wall_ns() / 1000000 + l->timeout_ms - (clock_mono_ms() - l->began_ms);

    return limit_ms < l->parked.due_ms ? limit_ms : l->parked.due_ms;
}

void
attempt_look_review(struct attempt *l, const char *name)
{
    if (l->is_waiting && (!name || parked_is_file(&l->parked, name)))
        look_parked(l);
}

void
attempt_show(struct attempt *l)
{
    if (is_started(l) && !l->child.has_exited && !l->pane)
        l->pane = panes_open(l->host->panes, &l->prepared.spec, on_pane_closed, l);
}

enum status
attempt_resume_rest(struct attempt *l, struct err *e)
{
    struct proc_id id;

    while (proc_read_id(l->prepared.spec.attempt_file, &id, e) != ST_OK) {
        struct stat st;
        if (sys->fstatat(AT_FDCWD, l->prepared.spec.attempt_file, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            gone(l); /* it never was */
            return ST_OK;
        }
        enum status s = rename_attempt(l, e);
        if (s)
            return s;
    }
    l->has_result = true;
    enum status s = adopt(l, &id, e);
    if (s)
        return s;
    child_step(&l->child);
    attempt_stop(l);
    take_child(l);
    return ST_OK;
}
