/* The end of a run: no notifier is cut off early, no process stays, then the journal's end. */
#include "run/drive.h"

#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    NOTIFY_WAIT_MS = 10000, /* for notifiers, when all else is over */
    NOTIFY_GRACE_MS = 2000, /* between SIGTERM and SIGKILL for those that are late */
};

static void
on_wait(void *ctx)
{
    struct run *r = ctx;

    loop_drop(r->tick);
    r->tick = NULL;
    int64_t late_ms = clock_mono_ms() - r->late_at_ms;
    if (late_ms >= 0)
        notifier_stop(r->notifier, late_ms >= NOTIFY_GRACE_MS ? SIGKILL : SIGTERM);
    if (notifier_is_idle(r->notifier))
        loop_stop(r->loop);
    else
        r->tick = loop_after(r->loop, DRIVE_POLL_MS, on_wait, r, NULL);
}

/* Notifiers have a while to deliver; then they are stopped. */
static enum status
wait_for_notifiers(struct run *r, struct err *e)
{
    enum status s = ST_OK;

    notifier_pump(r->notifier);
    r->late_at_ms = clock_mono_ms() + NOTIFY_WAIT_MS;
    loop_drop(r->tick);
    r->tick = NULL;
    view_flush(r->view);
    while (!s && !notifier_is_idle(r->notifier)) {
        if (!r->tick)
            r->tick = loop_after(r->loop, DRIVE_POLL_MS, on_wait, r, e);
        s = r->tick ? loop_run(r->loop, e) : ST_IO;
    }
    return s;
}

/* Daemons that left their session, parents and environment behind are ours now: no
 * attempt runs any more, so whatever child there is is one of them. */
static void
stop_strays(const struct run *r)
{
    int64_t kill_at = clock_mono_ms() + LIVE_GRACE_MS;
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
        poll(NULL, 0, DRIVE_POLL_MS);
        proc_reap(NULL, NULL);
    }
}

enum status
finish_run(struct run *r, enum run_status status, struct err *e)
{
    static const char *const events[] = {
        [RUN_COMPLETED] = "on_complete",
        [RUN_ESCALATED] = "on_escalate",
        [RUN_FAILED] = "on_escalate",
        [RUN_CANCELLED] = "on_cancel",
    };

    announce_run(r, events[status], run_status_name(status), sched_reason(r->sched));
    enum status s = wait_for_notifiers(r, e);
    panes_free(r->panes);
    r->panes = r->host.panes = NULL;
    stop_strays(r);
    if (!s && !r->is_mute && r->n_batch)
        s = journal_add(&r->journal, r->batch, r->n_batch, e);
    if (!s && !r->is_mute)
        s = journal_end(&r->journal, status, sched_reason(r->sched), e);
    if (!s)
        transitions_end(&r->transitions, r->sched, status, sched_reason(r->sched));
    broadcast_go(r->broadcast);
    return s;
}
