/*
 * agent_check - which phases a run would pass if every attempt succeeded (`--dry-run`), and whether
 * the agents of all phases that may run exist.
 *
 * It asks the scheduler. The scheduler is pure, so the state of the journal can be fed with
 * successful results to its end, and nothing is started or written.
 */
#include "run/run_loop.h"

#include "run/replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The event that leads this phase on; false: none does, or it waits for others. */
static bool
next_event(const struct team *t, const struct sched_phase *ph, size_t i, struct sched_event *ev)
{
    bool is_gate = t->phases[i].type == PHASE_GATE;

    *ev = (struct sched_event){ .phase = i, .attempt = ph->attempt };
    switch (ph->state) {
    case PS_STARTING:
        ev->kind = EV_STARTED;
        return true;
    case PS_RUNNING:
        ev->kind = EV_RESULT;
        ev->outcome = OUT_COMPLETE;
        ev->verdict = is_gate ? VERDICT_PASS : VERDICT_NONE;
        return true;
    case PS_BACKOFF:
        ev->kind = EV_DUE;
        return true;
    default:
        ev->kind = EV_GONE;
        return ph->is_there;
    }
}

static void
lead_on(struct sched *s, const struct team *t, bool *runs)
{
    struct sched_event ev;

    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (size_t i = 0; i < t->n_phases; i++) {
            const struct sched_phase *ph = sched_phase(s, i);
            runs[i] = runs[i] || ph->state == PS_STARTING || ph->state == PS_RUNNING;
            if (next_event(t, ph, i, &ev) && sched_apply(s, &ev, NULL))
                is_moving = true;
        }
    }
}

/* They run when a gate sends work to them: where one runs, they may. */
static void
add_support(const struct team *t, bool *runs)
{
    bool has_gate = false;

    for (size_t i = 0; i < t->n_phases; i++)
        has_gate = has_gate || (runs[i] && t->phases[i].type == PHASE_GATE);
    for (size_t i = 0; i < t->n_phases; i++)
        runs[i] = runs[i] || (t->phases[i].is_support && has_gate);
}

/* Feeds the replayed scheduler with successes to its end; it cannot be used to resume afterwards.
 */
static void
walk(const struct plan *p, const struct run_start *b, struct replay *replay, bool *runs)
{
    if (b->way == START_ANEW) {
        memset(runs, true, p->team.n_phases * sizeof *runs);
    } else if (b->way == START_ON) {
        if (b->from != SIZE_MAX)
            sched_apply(replay->sched, &(struct sched_event){ .kind = EV_RERUN, .phase = b->from },
                        NULL);
        lead_on(replay->sched, &p->team, runs);
        add_support(&p->team, runs);
    }
}

/* Where a gate that runs may send work to may run, too; there may be gates among these. */
static void
add_routes(const struct plan *p, bool *runs)
{
    const struct team *t = &p->team;

    for (bool is_more = true; is_more;) {
        is_more = false;
        for (size_t gate = 0; gate < t->n_phases; gate++)
            for (size_t i = 0; runs[gate] && t->phases[gate].type == PHASE_GATE && i < t->n_phases;
                 i++)
                if (!runs[i] && dag_may_route(p->dag, gate, i))
                    runs[i] = is_more = true;
    }
}

/* The first of these phases whose agent is not there. */
static enum status
check_agents(const struct plan *p, const bool *runs, struct err *e)
{
    for (size_t i = 0; i < p->team.n_phases; i++)
        if (runs[i] && p->lacks[i].status)
            return err_set(e, p->lacks[i].status, "phase %s: %s", p->team.phases[i].name,
                           p->lacks[i].why);
    return ST_OK;
}

enum status
run_check_agents(const struct plan *p, bool *runs, struct err *e)
{
    add_routes(p, runs);
    return check_agents(p, runs, e);
}

enum status
agent_check(const struct plan *p, const struct run_start *b, int dir, struct err *e)
{
    struct replay replay = { 0 };
    enum status s = ST_OK;

    if (!p->is_lacking)
        return ST_OK;
    bool *runs = calloc(p->team.n_phases + 1, sizeof *runs);
    if (!runs)
        return err_nomem(e);
    if (b->way == START_ON)
        s = replay_load(&replay, dir, &p->team, e);
    if (!s) {
        walk(p, b, &replay, runs);
        s = run_check_agents(p, runs, e);
    }
    replay_release(&replay);
    free(runs);
    return s;
}

enum status
run_preview(const struct plan *p, const struct run_options *o, bool *runs, enum run_status *ended,
            struct err *e)
{
    struct replay replay = { 0 };
    struct run_start b;
    int dir = -1;
    enum status s = state_dir_open_dir(&p->state, "run", false, &dir, e);

    *ended = RUN_ACTIVE;
    if (!s)
        s = replay_load(&replay, dir, &p->team, e);
    s = start_choose(&b, p, o, &replay, s, e);
    if (!s && b.way == START_ENDED)
        *ended = replay.head.end;
    if (!s)
        walk(p, &b, &replay, runs);
    replay_release(&replay);
    if (dir >= 0)
        close(dir);
    return s;
}
