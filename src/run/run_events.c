/*
 * run_events - what a run hears: lines and ends of attempts, files that others write, children that
 * end, signals of the terminal. Each becomes an event of the loop.
 */
#include "run/run_loop.h"

#include "base/clock.h"
#include "base/sys.h"
#include "run/subrun.h"
#include "run/verdict.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TICK_MS = 1000,
    PROGRESS_MAX = 100, /* lines of a phase that are told in a second */
};

/* ---- what attempts tell ---- */

/* An agent may repeat itself without end: the rest of a flood stands in its own file only. */
static void
tell_progress(struct run *r, size_t phase, unsigned attempt, const char *message)
{
    unsigned k = ++r->n_progress[phase];
    uint64_t held;

    if (!flood_lets(&r->floods[phase], PROGRESS_MAX, clock_mono_ms(), &held)) {
        progress_tick(r->progress);
        return;
    }
    if (held) {
        char text[80];
        snprintf(text, sizeof text, "(%" PRIu64 " more lines of progress in signals/)", held);
        progress_event(r->progress, "note", phase, sched_phase(r->sched, phase), text);
    }
    progress_event(r->progress, "progress", phase, sched_phase(r->sched, phase), message);
    run_signals_progress(&r->signals, phase, attempt, k, message);
}

static void
on_line(void *ctx, struct attempt *l, const struct status_line *line)
{
    struct run *r = ctx;
    size_t phase = attempt_id_of(l)->phase;

    if (line->status == LINE_PROGRESS && !line->message) {
        progress_tick(r->progress); /* its cost */
    } else if (line->status == LINE_PROGRESS) {
        tell_progress(r, phase, attempt_id_of(l)->n, line->message);
    } else {
        notifier_line(r->notifier, phase, attempt_id_of(l)->n, ++r->n_notified[phase],
                      line->result);
    }
    if (line->status == LINE_PROGRESS)
        spending_report(r, l, json_get(line->result, "usage"));
}

void
run_events_note(void *ctx, size_t phase, const char *text)
{
    struct run *r = ctx;
    bool is_phase = phase < r->p->team.n_phases;

    progress_event(r->progress, "note", phase, is_phase ? sched_phase(r->sched, phase) : NULL,
                   text);
}

/* People look for it in cliq status, which reads the journal. */
static void
on_notify_failure(void *ctx, size_t phase, const char *text)
{
    struct run *r = ctx;
    struct err e;

    run_events_note(ctx, phase, text);
    if (!r->root->is_mute && journal_note(&r->root->journal, text, &e) != ST_OK)
        run_events_note(ctx, SIZE_MAX, e.text);
}

/* The commands of a gate have run: now its agent judges. */
static void
second_stage(struct run *r, struct attempt *checks)
{
    struct attempt_id a = *attempt_id_of(checks);
    struct err e;

    a.stage = STAGE_AGENT;
    a.redo = 0;
    /* the checks' own is freed elsewhere */
    enum status s = attempt_new(&r->attempts[a.phase], &r->host, &a, &e);
    if (s)
        run_loop_fail_to_prepare(r, &a, s, &e);
    else
        r->fresh[r->n_fresh++] = r->attempts[a.phase];
}

/* What an agent wrote by the path that it was told came to nobody then. */
static bool
is_moved(const struct state_dir *f)
{
    struct stat then, now;

    return sys->fstat(f->dir, &then) == 0 &&
           (sys->fstatat(AT_FDCWD, f->state_dir, &now, 0) != 0 || now.st_ino != then.st_ino ||
            now.st_dev != then.st_dev);
}

static void
feed_crash(struct run *r, struct sched_event ev)
{
    struct buf text = { 0 };

    if (sched_phase(r->sched, ev.phase)->is_stopped) {
        ev.text = sched_stop_reason(r->sched); /* how it died says nothing: we stopped it */
    } else if (is_moved(&r->p->state)) {
        buf_addf(&text,
                 "%s; %s was moved or removed during the run, and agents find their files by that "
                 "path: put it back, then cliq retry",
                 ev.text, r->p->state.state_dir);
        if (!buf_failed(&text))
            ev.text = text.p;
    }
    run_loop_feed(r, ev);
    buf_release(&text);
}

static void
on_result(void *ctx, struct attempt *l, enum outcome outcome, const struct status_line *line,
          const char *text)
{
    struct run *r = ctx;
    const struct attempt_id *at = attempt_id_of(l);
    struct arena a = { 0 };
    struct sched_event ev = {
        .kind = EV_RESULT,
        .phase = at->phase,
        .attempt = at->n,
        .outcome = outcome,
        .text = text,
        .is_final = attempt_was_ended(l), /* a person, or its budget, ended it: not tried again */
    };

    if (attempt_was_ended(l) && r->sub)
        r->sub->is_hopeless = true;
    if (line)
        spending_report(r, l, json_get(line->result, "usage"));
    if (at->stage == STAGE_CHECKS && outcome == OUT_COMPLETE)
        return; /* on_gone brings the second stage */
    if (outcome == OUT_COMPLETE && run_loop_phase(r, at->phase)->type == PHASE_GATE) {
        struct err e;
        verdict_read(&r->p->team, line->result, &a, &ev);
        if (*verdict_name(ev.verdict))
            attempt_set_verdict(l, verdict_name(ev.verdict));
        bool is_public =
            ev.verdict == VERDICT_PASS || (ev.verdict == VERDICT_ROUTE && ev.target != SIZE_MAX &&
                                           dag_may_route(r->p->dag, at->phase, ev.target));
        if (is_public && verdict_publish(r->p, at, &ev, &r->published[at->phase], &e) != ST_OK)
            run_loop_abort(r, ST_IO, &e);
    } else if (outcome == OUT_COMPLETE) {
        ev.text = json_dup_text(&a, json_get(line->result, "summary"));
    }
    if (outcome == OUT_CRASH)
        feed_crash(r, ev);
    else
        run_loop_feed(r, ev);
    arena_release(&a);
}

static void
on_gone(void *ctx, struct attempt *l)
{
    struct run *r = ctx;
    const struct attempt_id *at = attempt_id_of(l);

    r->dead[r->n_dead++] = l;
    if (at->stage == STAGE_CHECKS && attempt_completed(l) && !r->is_stopped[at->phase] &&
        sched_phase(r->sched, at->phase)->state == PS_RUNNING) {
        second_stage(r, l);
        return;
    }
    if (r->attempts[at->phase] == l)
        r->attempts[at->phase] = NULL;
    run_loop_feed(r, (struct sched_event){ .kind = EV_GONE, .phase = at->phase, .attempt = at->n });
}

static void
count_pids(void *ctx, struct run *r)
{
    size_t *most = ctx;

    *most += r->p->team.n_phases + notifier_count(r->notifier);
}

struct pids {
    pid_t *to;
    size_t n;
};

static void
add_pids(void *ctx, struct run *r)
{
    struct pids *all = ctx;

    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i] && attempt_pid(r->attempts[i]))
            all->to[all->n++] = attempt_pid(r->attempts[i]);
    all->n += notifier_pids(r->notifier, all->to + all->n);
}

static const pid_t *
known(void *ctx, size_t *n)
{
    struct run *r = ((struct run *)ctx)->root;
    size_t most = r->n_relatives + 2;

    run_loop_each(r, count_pids, &most);
    pid_t *pids = realloc(r->pids, most * sizeof *pids);
    *n = 0;
    if (!pids)
        return NULL; /* out of memory: /proc is searched instead */
    r->pids = pids;
    struct pids all = { .to = pids };
    run_loop_each(r, add_pids, &all);
    for (size_t i = 0; i < r->n_relatives; i++)
        pids[all.n++] = r->relatives[i];
    if (panes_server(r->panes))
        pids[all.n++] = panes_server(r->panes);
    *n = all.n;
    return pids;
}

static void
on_settle(void *ctx)
{
    run_loop_settle(ctx);
}

static void
on_pane_note(void *ctx, const char *text)
{
    run_events_note(ctx, SIZE_MAX, text);
    progress_flush(((struct run *)ctx)->progress);
}

/* ---- what the loop tells ---- */

/* Anybody may cancel by writing the status file. */
static bool
is_cancelled_outside(const struct run *r)
{
    char text[16] = "";
    int fd = SYS_RETRY(sys->openat(r->p->state.dir, "signals/_pipeline_status",
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    if (fd < 0)
        return false;
    ssize_t n = SYS_RETRY(sys->pread(fd, text, sizeof text - 1, 0));
    close(fd);
    return n >= 9 && memcmp(text, "CANCELLED", 9) == 0;
}

/* A file of signals/; NULL: any. */
static void
on_written(void *ctx, const char *name)
{
    struct run *r = ctx;

    if ((!name || strcmp(name, "_pipeline_status") == 0) && !r->is_over && !r->is_cancelled &&
        is_cancelled_outside(r))
        run_loop_cancel(r);
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i] && (!name || attempt_writes(r->attempts[i], name)))
            attempt_look(r->attempts[i]);
}

static void
on_signals(void *ctx)
{
    struct run *r = ctx;

    watch_drain_names(&r->watch, on_written, r);
    run_loop_settle(r);
}

static void
look_review(void *ctx, struct run *r)
{
    const char *name = ctx;

    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_look_review(r->attempts[i], name);
}

/* A file of reviews/; NULL: any. */
static void
on_review(void *ctx, const char *name)
{
    run_loop_each(ctx, look_review, (void *)(uintptr_t)name);
}

static void
on_reviews(void *ctx)
{
    struct run *r = ctx;

    watch_drain_names(&r->reviews, on_review, r);
    run_loop_settle(r);
}

static bool
watch_reviews(void *ctx)
{
    struct run *r = ((struct run *)ctx)->root;
    struct buf path = { 0 };
    struct err e;
    bool is_watched = r->reviews.fd >= 0;

    state_dir_path(&r->p->state, &path, "reviews");
    if (!is_watched && !buf_failed(&path))
        is_watched = watch_open_writes(&r->reviews, path.p, &e) == ST_OK &&
                     loop_on_readable(r->loop, r->reviews.fd, on_reviews, r, &e);
    buf_release(&path);
    return is_watched;
}

/* A child that was reaped. */
struct reaped {
    pid_t pid;
    int wait_status;
    bool is_taken;
};

static void
take_reaped(void *ctx, struct run *r)
{
    struct reaped *x = ctx;

    for (size_t i = 0; !x->is_taken && i < r->p->team.n_phases; i++)
        if (r->attempts[i] && attempt_owns(r->attempts[i], x->pid)) {
            x->is_taken = true;
            attempt_reaped(r->attempts[i], x->wait_status);
        }
    if (!x->is_taken)
        x->is_taken = notifier_exited(r->notifier, x->pid, x->wait_status);
}

static void
on_reaped(void *ctx, pid_t pid, int wait_status)
{
    run_loop_each(ctx, take_reaped, &(struct reaped){ .pid = pid, .wait_status = wait_status });
}

static void
check_gone(void *ctx, struct run *r)
{
    (void)ctx;
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_check_gone(r->attempts[i]);
}

static void
on_child(void *ctx)
{
    struct run *r = ctx;

    proc_reap(on_reaped, r);
    run_loop_each(r, check_gone, NULL);
    run_loop_settle(r);
}

static void
on_cancel(void *ctx)
{
    struct run *r = ctx;

    if (r->is_over)
        r->late_at_ms = clock_mono_ms(); /* only notifiers are waited for */
    else if (!r->is_cancelled)
        run_loop_cancel(r);
    run_loop_settle(r);
}

static void
kill_attempts(void *ctx, struct run *r)
{
    (void)ctx;
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_kill(r->attempts[i]);
}

/* A second signal ends the grace period. */
static void
on_interrupt(void *ctx)
{
    struct run *r = ctx;

    if (r->is_cancelled)
        run_loop_each(r, kill_attempts, NULL);
    on_cancel(ctx);
}

static void
on_tick(void *ctx)
{
    struct run *r = ctx;

    progress_tick(r->progress);
    loop_drop(r->tick);
    r->tick = loop_after(r->loop, TICK_MS, on_tick, r, NULL);
}

static void
on_resize(void *ctx)
{
    progress_tick(((struct run *)ctx)->progress);
}

/* ---- what is listened to ---- */

enum status
run_events_listen(struct run *r, struct err *e)
{
    struct run *root = r->root;
    struct buf signals = { 0 };

    r->notifier = notifier_new(&(struct notifier_host){ .ctx = r,
                                                        .plan = r->p,
                                                        .mask = &root->mask,
                                                        .run_id = r->run_id,
                                                        .on_note = run_events_note,
                                                        .on_failure = on_notify_failure });
    if (!r->notifier)
        return err_nomem(e);
    r->host = (struct attempt_host){ .ctx = r,
                                     .plan = r->p,
                                     .reviews = &root->p->state,
                                     .loop = r->loop,
                                     .run_id = r->run_id,
                                     .panes = root->panes,
                                     .mask = &root->mask,
                                     .on_line = on_line,
                                     .on_result = on_result,
                                     .on_note = run_events_note,
                                     .on_gone = on_gone,
                                     .settle = on_settle,
                                     .watch_reviews = watch_reviews,
                                     .known = known };
    enum status s = state_dir_mkdir(&r->p->state, "signals", e);
    state_dir_path(&r->p->state, &signals, "signals");
    if (!s)
        s = buf_status(&signals, "the path", e);
    if (!s)
        s = watch_open_writes(&r->watch, signals.p, e);
    buf_release(&signals);
    if (!s && !(r->watching = loop_on_readable(r->loop, r->watch.fd, on_signals, r, e)))
        s = ST_IO;
    return s;
}

enum status
run_events_listen_root(struct run *r, bool is_live, struct err *e)
{
    bool is_heard = loop_on_signal(r->loop, SIGCHLD, on_child, r, e) &&
                    loop_on_signal(r->loop, SIGINT, on_interrupt, r, e) &&
                    loop_on_signal(r->loop, SIGTERM, on_cancel, r, e) &&
                    loop_on_signal(r->loop, SIGHUP, on_cancel, r, e);

    if (is_heard && is_live)
        r->tick = loop_after(r->loop, TICK_MS, on_tick, r, e);
    if (is_heard && is_live)
        is_heard = loop_on_signal(r->loop, SIGWINCH, on_resize, r, e);
    signal(SIGPIPE, SIG_IGN); /* the reader of our output may be gone */
    return is_heard ? ST_OK : ST_IO;
}

enum status
run_events_show_panes(struct run *r, struct err *e)
{
    r->panes = panes_new(
        &(struct panes_host){ .ctx = r, .plan = r->p, .loop = r->loop, .on_note = on_pane_note });
    return r->panes ? ST_OK : err_nomem(e);
}
