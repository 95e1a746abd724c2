/*
 * How a run's process ends while only people are awaited, and the run does not (sleeping.h).
 *
 * Only a detached run does: where a person looks on, the process stays with the terminal. All of
 * its attempts are parked, nothing is retried, no notifier is at work. The record of the sleep is
 * written under the run's lock. An answer that comes between our last look and the end of the lock
 * finds the lock held, and starts nothing; so the reviews are read once more after that.
 */
#include "run/run_loop.h"

#include "base/clock.h"
#include "run/parked.h"
#include "run/sleeping.h"
#include "run/subrun.h"

#include <stdio.h>

/* What a look at all runs of the tree finds. */
struct awaited {
    int64_t now_ms, wake_ms;
    size_t n;        /* attempts that wait for people */
    bool has_others; /* something else is to be awaited */
};

/* A team phase itself has its time, too. */
static void
look(void *ctx, struct run *r)
{
    struct awaited *x = ctx;

    if (r->sub && !subrun_is_open(r)) {
        x->has_others |= !notifier_is_idle(r->notifier);
        return;
    }
    x->has_others |= r->is_over || r->is_cancelled || r->is_mute || r->is_urgent || r->n_fresh ||
                     sched_status(r->sched) != RUN_ACTIVE ||
                     (r->sub && subrun_due_ms(r) <= x->now_ms);
    if (r->sub && subrun_due_ms(r) < x->wake_ms)
        x->wake_ms = subrun_due_ms(r);
    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        const struct attempt *l = r->attempts[i];
        x->has_others |= r->waits[i].timer != NULL;
        if (!l)
            continue;
        x->n++;
        /* one that is due gets its process in a moment */
        x->has_others |= !attempt_is_waiting(l) || attempt_due_ms(l) <= x->now_ms;
        if (attempt_is_waiting(l) && attempt_due_ms(l) < x->wake_ms)
            x->wake_ms = attempt_due_ms(l);
    }
    x->has_others |= !notifier_is_idle(r->notifier);
}

static bool
awaits_only_people(struct run *r, struct awaited *x)
{
    *x = (struct awaited){ .now_ms = clock_wall_ns() / 1000000, .wake_ms = INT64_MAX };
    if (!r->o->on_begun || r->is_sleepless || r->n_late)
        return false;
    run_loop_each(r, look, x);
    return x->n && !x->has_others;
}

void
run_sleep_try(struct run *r)
{
    struct sleeping now = { .since_ms = clock_wall_ns() / 1000000, .wake_ms = INT64_MAX };
    struct awaited x;
    struct err e;

    if (r->is_asleep || !awaits_only_people(r, &x))
        return;
    snprintf(now.run, sizeof now.run, "%s", r->run_id);
    now.wake_ms = x.wake_ms;
    if (sleeping_begin(&r->p->state, &now, &e) != ST_OK) {
        r->is_sleepless = true;
        progress_warn(r->progress, e.text);
        return;
    }
    r->is_asleep = true;
    progress_event(r->progress, "note", SIZE_MAX, NULL,
                   "the run sleeps, without a process, until people answer: cliq review");
    panes_free(r->panes);
    r->panes = r->host.panes = NULL;
    loop_stop(r->loop);
}

static void
look_due(void *ctx, struct run *r)
{
    bool *is_due = ctx;

    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        const struct attempt *l = r->attempts[i];
        struct parked now = { .timer = -1 };
        if (l && (!parked_look(&now, &r->root->p->state, r->run_id, run_loop_phase(r, i)->name,
                               attempt_id_of(l)->n) ||
                  now.due_ms <= clock_wall_ns() / 1000000))
            *is_due = true;
    }
}

void
run_sleep_done(struct run *r)
{
    bool is_due = false;
    struct err e;

    run_loop_each(r, look_due, &is_due);
    if (is_due)
        sleeping_wake(&r->p->state, NULL, &e); /* what went wrong stands in orchestrator.log */
    else
        sleeping_alarm_start(NULL);
}
