/* The end of a run: no notifier is cut off early, no process stays, then the journal's end. */
#include "run/run_loop.h"

#include "base/clock.h"
#include "run/scrub.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define STATUS_FILE "signals/_pipeline_status"

enum {
    NOTIFY_WAIT_MS = 30000,   /* for notifiers, when all else is over: run.notify_timeout */
    NOTIFY_CANCEL_MS = 10000, /* at most, of a run that was cancelled */
    NOTIFY_GRACE_MS = 2000,   /* between SIGTERM and SIGKILL for those that are late */
};

static void
pump(void *ctx, struct run *r)
{
    (void)ctx;
    notifier_pump(r->notifier);
}

static void
stop_notifiers(void *ctx, struct run *r)
{
    notifier_stop(r->notifier, *(int *)ctx);
}

static void
look_idle(void *ctx, struct run *r)
{
    bool *are = ctx;

    *are = notifier_is_idle(r->notifier) && *are; /* each forgets those that ended */
}

static bool
are_idle(struct run *r)
{
    bool are = true;

    run_loop_each(r, look_idle, &are);
    return are;
}

static void
on_wait(void *ctx)
{
    struct run *r = ctx;

    loop_drop(r->tick);
    r->tick = NULL;
    int64_t late_ms = clock_mono_ms() - r->late_at_ms;
    int signo = late_ms >= NOTIFY_GRACE_MS ? SIGKILL : SIGTERM;
    if (late_ms >= 0)
        run_loop_each(r, stop_notifiers, &signo);
    if (are_idle(r))
        loop_stop(r->loop);
    else
        r->tick = loop_after(r->loop, RUN_LOOP_POLL_MS, on_wait, r, NULL);
}

/* Notifiers have a while to deliver; then they are stopped. */
static enum status
wait_for_notifiers(struct run *r, struct err *e)
{
    enum status s = ST_OK;

    run_loop_each(r, pump, NULL);
    int64_t wait_ms = settings_ms(&r->p->settings, "run.notify_timeout", NOTIFY_WAIT_MS);
    if (r->is_cancelled && wait_ms > NOTIFY_CANCEL_MS)
        wait_ms = NOTIFY_CANCEL_MS;
    r->late_at_ms = clock_mono_ms() + wait_ms;
    loop_drop(r->tick);
    r->tick = NULL;
    progress_flush(r->progress);
    while (!s && !are_idle(r)) {
        if (!r->tick)
            r->tick = loop_after(r->loop, RUN_LOOP_POLL_MS, on_wait, r, e);
        s = r->tick ? loop_run(r->loop, e) : ST_IO;
    }
    return s;
}

/* Daemons that left their session, parents and environment behind are ours now: no
 * attempt runs any more, so whatever child there is is one of them. */
static void
stop_strays(const struct run *r)
{
    int64_t kill_at = clock_mono_ms() + ATTEMPT_GRACE_MS;
    bool is_first = true;

    proc_reap(NULL, NULL);
    while (r->knows_relatives) {
        siginfo_t any = { 0 };
        if (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0)
            return; /* no children at all, as always */
        int signo = clock_mono_ms() >= kill_at ? SIGKILL : is_first ? SIGTERM : 0;
        if (proc_signal_strays(r->relatives, r->n_relatives, signo) <= 0)
            return;
        is_first = false;
        poll(NULL, 0, RUN_LOOP_POLL_MS);
        proc_reap(NULL, NULL);
    }
}

/* Each attempt has removed its own cgroup. What is left: those of an orchestrator before this one,
 * and one that still held a stray process then. */
static void
sweep(const struct run *r)
{
    if (r->is_resumed || cgroup_is_untidy())
        run_sweep_leftovers(&r->p->state);
}

/* Nothing writes any more: secrets that agents were given, or printed, go. */
static void
scrub(struct run *r)
{
    struct buf text = { 0 };
    struct err e;

    if (scrub_run(&r->p->state, &r->mask, &e) == ST_OK)
        return;
    buf_addf(&text, "secrets of an agent may be left in %s: %s", r->p->state.state_dir, e.text);
    progress_warn(r->progress, buf_failed(&text) ? e.text : text.p);
    buf_release(&text);
}

/* ---- how it is told ---- */

/* What the journal does not have did not happen: who resumes the run will not find it. But who
 * cancelled it wants to hear that all is stopped. */
static bool
is_unwritten(const struct run *r)
{
    return r->is_mute && sched_status(r->sched) != RUN_CANCELLED;
}

static enum run_status
status_of(const struct run *r)
{
    return is_unwritten(r) ? RUN_FAILED : sched_status(r->sched);
}

const char *
finish_reason(const struct run *r)
{
    return is_unwritten(r) ? r->why.text : sched_reason(r->sched);
}

static void
warn_cancelled(struct run *r)
{
    struct buf text = { 0 };

    buf_addf(&text, "everything is stopped, but the journal cannot tell: %s", r->why.text);
    progress_warn(r->progress, buf_failed(&text) ? r->why.text : text.p);
    buf_release(&text);
}

static void
fall_silent(struct run *r, enum status s, const struct err *why)
{
    r->is_mute = true;
    if (!r->failed) {
        r->failed = s;
        r->why = *why;
    }
}

/* The file is for those who look on, and the journal for us: a run does not fail for want of it.
 * What it said before would be wrong now. */
void
finish_status(struct run *r, enum run_status status)
{
    struct err e;
    struct buf text = { 0 };
    const char *name = run_status_name(status);

    if (state_dir_replace(&r->p->state, STATUS_FILE, name, strlen(name), &e) == ST_OK)
        return;
    state_dir_remove(&r->p->state, STATUS_FILE, NULL);
    buf_addf(&text, "%s/" STATUS_FILE " does not say that this run ended %s: %s%s",
             r->p->state.state_dir, name, e.text,
             r->is_mute ? "" : "; when that is mended, cliq run --resume writes it");
    progress_warn(r->progress, buf_failed(&text) ? e.text : text.p);
    buf_release(&text);
}

void
finish_again(struct run *r, enum run_status status)
{
    struct buf text = { 0 };
    const char *name = run_status_name(status);

    if (state_dir_read(&r->p->state, STATUS_FILE, &text, NULL) != ST_OK ||
        text.len < strlen(name) || memcmp(text.p, name, strlen(name)) != 0)
        finish_status(r, status);
    buf_release(&text);
    run_sweep_leftovers(&r->p->state);
}

/* ---- the journal's end ---- */

/* An end that cannot be journalled is not announced. */
static void
look_for_room(struct run *r)
{
    struct err e;

    if (r->is_mute)
        return;
    enum status s = journal_make_room(&r->journal, r->n_batch, sched_reason(r->sched), &e);
    if (s)
        fall_silent(r, s, &e);
}

static void
write_end(struct run *r)
{
    struct err e;
    enum status s = journal_add(&r->journal, r->batch, r->n_batch, &e);

    if (!s)
        s = journal_end(&r->journal, sched_status(r->sched), sched_reason(r->sched), &e);
    if (s)
        fall_silent(r, s, &e);
}

enum status
finish_run(struct run *r, enum run_status *status, struct err *e)
{
    look_for_room(r);
    enum run_status before = *status = status_of(r);
    finish_status(r, before);
    run_notices_end(r, before, finish_reason(r));
    enum status s = wait_for_notifiers(r, e);
    panes_free(r->panes);
    r->panes = r->host.panes = NULL;
    stop_strays(r);
    sweep(r);
    scrub(r);
    if (!s && !r->is_mute)
        write_end(r);
    *status = status_of(r);
    if (*status != before)
        finish_status(r, *status);
    if (r->is_mute && *status == RUN_CANCELLED)
        warn_cancelled(r);
    if (!s)
        run_signals_end(&r->signals, r->sched, *status, finish_reason(r));
    hub_publisher_go(r->publisher);
    return s;
}
