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

#include <stdio.h>

static bool
awaits_only_people(struct run *r)
{
    int64_t now_ms = clock_wall_ns() / 1000000;
    size_t n = 0;

    if (!r->o->on_begun || r->is_over || r->is_cancelled || r->is_mute || r->is_urgent ||
        r->is_sleepless || r->n_fresh || sched_status(r->sched) != RUN_ACTIVE)
        return false;
    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        const struct attempt *l = r->attempts[i];
        if (r->waits[i].timer || (l && (!attempt_is_waiting(l) || attempt_due_ms(l) <= now_ms)))
            return false; /* one that is due gets its process in a moment */
        n += r->attempts[i] != NULL;
    }
    return n && notifier_is_idle(r->notifier);
}

void
run_sleep_try(struct run *r)
{
    struct sleeping now = { .since_ms = clock_wall_ns() / 1000000, .wake_ms = INT64_MAX };
    struct err e;

    if (r->is_asleep || !awaits_only_people(r))
        return;
    snprintf(now.run, sizeof now.run, "%s", r->run_id);
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i] && attempt_due_ms(r->attempts[i]) < now.wake_ms)
            now.wake_ms = attempt_due_ms(r->attempts[i]);
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

void
run_sleep_done(struct run *r)
{
    bool is_due = false;
    struct err e;

    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        const struct attempt *l = r->attempts[i];
        struct parked now = { .timer = -1 };
        if (l && (!parked_look(&now, &r->p->state, r->run_id, run_loop_phase(r, i)->name,
                               attempt_id_of(l)->n) ||
                  now.due_ms <= clock_wall_ns() / 1000000))
            is_due = true;
    }
    if (is_due)
        sleeping_wake(&r->p->state, NULL, &e); /* what went wrong stands in orchestrator.log */
    else
        sleeping_alarm_start(NULL);
}
