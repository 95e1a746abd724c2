/* run_notices - reports events of a run to the progress output and to the notifiers. */
#include "run/run_loop.h"

#include "run/next_step.h"
#include "run/verdict.h"

#include <string.h>

static unsigned
all_attempts(const struct run *r)
{
    unsigned n = 0;

    for (size_t i = 0; i < r->p->team.n_phases; i++)
        n += sched_phase(r->sched, i)->attempt;
    return n;
}

static void
notify_run(struct run *r, struct notify_event n)
{
    n.phase = SIZE_MAX;
    n.number = all_attempts(r);
    notifier_run_event(r->notifier, &n);
}

/* Of the run, and of those below it that its phases ran last. False: out of memory. */
static bool
make_step(struct run *r, struct arena *a, struct next_step *out)
{
    size_t n = r->p->team.n_phases;
    struct sched_phase *phases = arena_alloc(a, (n + 1) * sizeof *phases);

    *out = (struct next_step){
        .team = &r->p->team, .dag = r->p->dag, .phases = phases, .way = r->p->way
    };
    for (size_t i = 0; phases && i < n; i++)
        phases[i] = *sched_phase(r->sched, i);
    if (!r->kids || !phases)
        return phases;
    out->subs = arena_alloc(a, n * sizeof *out->subs);
    for (size_t i = 0; out->subs && i < n; i++) {
        struct next_step *sub = NULL;
        if (r->kids[i] && r->kids[i]->sched && !(sub = arena_alloc(a, sizeof *sub)))
            return false;
        out->subs[i] = sub;
        if (sub && !make_step(r->kids[i], a, sub))
            return false;
    }
    return out->subs;
}

void
run_notices_next(struct run *r, enum run_status status, struct buf *to)
{
    struct arena a = { 0 };
    struct next_step step;

    if (make_step(r, &a, &step)) {
        step.status = status;
        step.is_unwritten = r->is_mute;
        next_step_write(to, &step);
    }
    arena_release(&a);
}

void
run_notices_end(struct run *r, enum run_status status, const char *reason)
{
    static const char *const names[] = {
        [RUN_COMPLETED] = "on_complete",
        [RUN_ESCALATED] = "on_escalate",
        [RUN_FAILED] = "on_escalate",
        [RUN_CANCELLED] = "on_cancel",
    };
    struct buf next = { 0 };
    const char *command = NULL;

    run_notices_next(r, status, &next);
    if (next.len && !buf_failed(&next)) {
        buf_cut(&next, next.len - 1); /* its line end */
        command = next.p + strlen(NEXT_STEP_WORD);
    }
    notify_run(r, (struct notify_event){ .name = names[status],
                                         .outcome = run_status_name(status),
                                         .reason = reason,
                                         .next = command });
    buf_release(&next);
}

static void
notify_phase(struct run *r, const struct sched_event *ev)
{
    const struct sched_phase *ph = sched_phase(r->sched, ev->phase);
    struct notify_event n = { .phase = ev->phase, .number = ph->attempt, .reason = ev->text };

    if (run_loop_phase(r, ev->phase)->type == PHASE_GATE)
        n.iteration = ph->iteration;
    if (ev->kind == EV_RESULT && *verdict_name(ev->verdict))
        n.outcome = verdict_name(ev->verdict);
    if (sched_was_stopped(ph, ev))
        n.outcome = "stopped";
    if (ev->kind == EV_STARTED) {
        n.name = "on_phase_start";
        notifier_run_event(r->notifier, &n);
        n.name = "on_start";
        notifier_phase_event(r->notifier, &n);
    } else if (ev->kind == EV_SKIP) {
        n.name = "on_skip";
        notifier_phase_event(r->notifier, &n);
    } else if (ev->kind == EV_RESULT && ph->state == PS_DONE) {
        n.name = "on_phase_complete";
        notifier_run_event(r->notifier, &n);
        n.name = "on_complete";
        notifier_phase_event(r->notifier, &n);
    } else if (ev->kind == EV_RESULT) {
        n.name = ev->outcome == OUT_TIMEOUT ? "on_timeout" : "on_error";
        if (ev->outcome != OUT_COMPLETE)
            notifier_phase_event(r->notifier, &n);
        for (int i = 0; ph->state == PS_FAILED && i < 2; i++) {
            n.name = i ? "on_escalate" : "on_fail";
            notifier_phase_event(r->notifier, &n);
        }
    }
}

/* "ROUTE to developer: Tests fail." */
static void
say_verdict(const struct run *r, const struct sched_event *ev, struct buf *to)
{
    buf_adds(to, verdict_name(ev->verdict));
    if (ev->verdict == VERDICT_ROUTE && ev->target < r->p->team.n_phases)
        buf_addf(to, " to %s", run_loop_phase(r, ev->target)->name);
    if (ev->text && *ev->text)
        buf_addf(to, ": %s", ev->text);
}

void
run_notices_event(struct run *r, const struct sched_event *ev)
{
    static const char *const results[] = { "completed", "error", "crashed", "timed out" };
    const char *says = ev->kind == EV_RESULT    ? results[ev->outcome]
                       : ev->kind == EV_STARTED ? "started"
                       : ev->kind == EV_SKIP    ? "skipped"
                                                : NULL;
    struct buf text = { 0 };

    if (!says && r->sub)
        return; /* the run above tells of its phase */
    if (says && sched_was_stopped(sched_phase(r->sched, ev->phase), ev))
        says = "stopped";
    if (says) {
        if (ev->kind == EV_RESULT && ev->verdict != VERDICT_NONE)
            say_verdict(r, ev, &text);
        progress_event(r->progress, says, ev->phase, sched_phase(r->sched, ev->phase),
                       text.p ? text.p : ev->text);
        notify_phase(r, ev);
    } else if (ev->kind == EV_CANCEL) {
        progress_event(r->progress, "cancelled", SIZE_MAX, NULL, NULL);
    } else if (ev->kind == EV_BEGIN || ev->kind == EV_RERUN) {
        progress_event(r->progress, "started", SIZE_MAX, NULL, r->run_id);
        notify_run(r, (struct notify_event){ .name = "on_start" });
    }
    buf_release(&text);
}

/* A phase that failed when the run was ending, or before, and was to be tried again: it is not
 * among those that failed, nor among those that never began. */
void
run_notices_untried(struct run *r)
{
    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        const struct sched_phase *ph = sched_phase(r->sched, i);
        struct buf text = { 0 };
        if (!sched_is_untried(ph))
            continue;
        buf_addf(&text, "failed (%u of %u times), and is not tried again since the run ends",
                 ph->failures, run_loop_phase(r, i)->retries + 1);
        if (!buf_failed(&text))
            progress_event(r->progress, "note", i, ph, text.p);
        buf_release(&text);
    }
}
