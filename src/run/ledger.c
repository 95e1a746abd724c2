#include "run/ledger.h"

#include <stdlib.h>
#include <string.h>

bool
ledger_init(struct ledger *l, size_t n_phases)
{
    *l = (struct ledger){ .phases = calloc(n_phases + 1, sizeof *l->phases), .n = n_phases };
    return l->phases;
}

void
ledger_release(struct ledger *l)
{
    free(l->phases);
    arena_release(&l->texts);
    *l = (struct ledger){ 0 };
}

/* Reports come often, and their texts seldom change: the copy before is used again. */
static const char *
keep_text(struct ledger *l, const char *text, const char *before)
{
    if (!text || (before && strcmp(text, before) == 0))
        return text ? before : NULL;
    return arena_dup(&l->texts, text, strlen(text));
}

void
ledger_report(struct ledger *l, size_t phase, const struct usage *u)
{
    struct usage *now = &l->phases[phase].now;
    const char *model = now->model, *session = now->session_id;

    *now = *u;
    now->model = keep_text(l, u->model, model);
    now->session_id = keep_text(l, u->session_id, session);
}

/* The attempt that ran has ended. */
static void
close_attempt(struct ledger_phase *p)
{
    struct usage used = p->now;

    usage_add(&p->past, &used);
    if (used.session_id && p->session.session_id &&
        strcmp(used.session_id, p->session.session_id) == 0) {
        used.session_id = p->session.session_id;
        usage_add(&p->session, &used);
    } else if (used.session_id) {
        p->session = used;
    }
    if (used.session_id)
        p->session_agent = p->agent;
    p->now = (struct usage){ 0 };
}

void
ledger_take(struct ledger *l, const struct sched_event *ev)
{
    if (ev->kind == EV_STARTED) {
        struct ledger_phase *p = &l->phases[ev->phase];
        close_attempt(p);
        p->agent = keep_text(l, ev->agent, p->agent);
    } else if (ev->kind == EV_RESULT) {
        if (ev->usage)
            ledger_report(l, ev->phase, ev->usage);
        close_attempt(&l->phases[ev->phase]);
    }
}

struct usage
ledger_phase_usage(const struct ledger *l, size_t phase)
{
    struct usage sum = l->phases[phase].past;

    usage_add(&sum, &l->phases[phase].now);
    return sum;
}

struct usage
ledger_total(const struct ledger *l)
{
    struct usage sum = { 0 };

    for (size_t i = 0; i < l->n; i++) {
        struct usage one = ledger_phase_usage(l, i);
        usage_add(&sum, &one);
    }
    return sum;
}

const struct usage *
ledger_session(const struct ledger *l, size_t phase, const char *agent)
{
    const struct ledger_phase *p = &l->phases[phase];

    return p->session.session_id && (!p->session_agent || strcmp(p->session_agent, agent) == 0)
               ? &p->session
               : NULL;
}
