/*
 * foresee - which phases a run would go through if all went well, for `--dry-run`.
 *
 * The scheduler is asked: it is pure, so the journal's state can be led on to its end with
 * nothing but good results, and nothing is started or written.
 */
#include "run/drive.h"

#include "run/past.h"

#include <unistd.h>

/* The event that leads this phase on; false: none does, or it waits for others. */
static bool
next_event(const struct team *t, const struct sched_phase *ph, size_t i, struct event *ev)
{
    bool is_gate = t->phases[i].type == PHASE_GATE;

    *ev = (struct event){ .phase = i, .attempt = ph->attempt };
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
    struct event ev;

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

enum status
run_foresee(const struct plan *p, const struct run_options *o, bool *runs, enum run_status *ended,
            struct err *e)
{
    struct past past = { 0 };
    struct begin b;
    int dir;
    enum status s = frame_open_dir(&p->frame, "run", false, &dir, e);

    *ended = RUN_ACTIVE;
    if (!s) {
        s = past_load(&past, dir, &p->team, e);
        close(dir);
    }
    s = begin_choose(&b, p, o, &past, s, e);
    if (!s && b.way == BEGIN_ENDED) {
        *ended = past.head.end;
    } else if (!s && b.way == BEGIN_ANEW) {
        for (size_t i = 0; i < p->team.n_phases; i++)
            runs[i] = true;
    } else if (!s) {
        if (b.from != SIZE_MAX)
            sched_apply(past.sched, &(struct event){ .kind = EV_RERUN, .phase = b.from }, NULL);
        lead_on(past.sched, &p->team, runs);
        add_support(&p->team, runs);
    }
    past_release(&past);
    return s;
}
