/* The machine: life_answers and life_apply. The table is made in lifecycle_table.c. */
#include "room/lifecycle.h"

#include <assert.h>
#include <string.h>

static const char *const type_names[] = { "work", "review", "triage", "decision", "terminal" };

const char *
life_type_name(enum life_type type)
{
    return type_names[type];
}

size_t
lifecycle_find(const struct lifecycle *c, const char *state)
{
    for (size_t i = 0; i < c->n_states; i++)
        if (strcmp(c->states[i].name, state) == 0)
            return i;
    return SIZE_MAX;
}

const char *
lifecycle_worker(const struct lifecycle *c)
{
    for (size_t i = 0; i < c->n_states; i++)
        if (c->states[i].type == LIFE_WORK && c->states[i].role)
            return c->states[i].role;
    return "engineer";
}

void
life_begin(struct life *l, const struct lifecycle *c)
{
    *l = (struct life){ .c = c, .state = c->initial, .visit = 1 };
}

const struct life_state *
life_state_of(const struct life *l)
{
    return &l->c->states[l->state];
}

bool
life_is_over(const struct life *l)
{
    return life_state_of(l)->type == LIFE_TERMINAL;
}

static bool
is_open(const struct life *l, enum life_guard guard)
{
    switch (guard) {
    case LIFE_RETRIES_LEFT:
        return l->retries < l->c->max_retries;
    case LIFE_RETRIES_SPENT:
        return l->retries >= l->c->max_retries;
    case LIFE_ALWAYS:
        break;
    }
    return true;
}

/* Is that sender this role? "engineer:fe" is an engineer. */
static bool
is_role(const char *role, const char *from)
{
    size_t n = strcspn(from, ":");

    return !role || (strlen(role) == n && memcmp(role, from, n) == 0);
}

size_t
life_answers(const struct life *l, const char *from, const char *type)
{
    const struct life_state *s = life_state_of(l);

    if (s->type == LIFE_TERMINAL || !is_role(s->role, from))
        return SIZE_MAX;
    for (size_t i = 0; i < s->n_signals; i++)
        if (strcmp(s->signals[i].type, type) == 0 && is_open(l, s->signals[i].guard))
            return i;
    return SIZE_MAX;
}

const char *
life_receiver(const struct life *l, const char *type)
{
    const struct life_state *s = life_state_of(l);

    for (size_t i = 0; i < s->n_signals; i++) {
        const struct life_state *to = &l->c->states[s->signals[i].target];
        bool is_for_it = (s->type == LIFE_WORK && to->type == LIFE_REVIEW) ||
                         (s->type == LIFE_TRIAGE && to->type == LIFE_WORK);
        if (is_for_it && to->role && strcmp(s->signals[i].type, type) == 0)
            return to->role;
    }
    return LIFE_MANAGER;
}

/* A decision state is never a place to be: its guards choose at once. */
static size_t
decide(const struct life *l, size_t target, struct life_move *out)
{
    const struct lifecycle *c = l->c;

    for (size_t steps = 0; c->states[target].type == LIFE_DECISION; steps++) {
        const struct life_state *s = &c->states[target];
        size_t i = 0;
        while (i < s->n_signals && !is_open(l, s->signals[i].guard))
            i++;
        out->through = target;
        target = i < s->n_signals && steps < c->n_states ? s->signals[i].target : c->failed_final;
    }
    return target;
}

static enum life_answer
enter(struct life *l, size_t target, bool is_fix_asked, struct life_move *out)
{
    const struct lifecycle *c = l->c;

    out->from = l->state;
    if (out->is_retry) {
        l->retries++;
        if (l->retries >= c->max_retries)
            target = c->decision;
    }
    target = decide(l, target, out);
    if (l->visit >= LIFE_VISITS_MAX && c->states[target].type != LIFE_TERMINAL)
        target = c->failed_final;
    const struct life_state *to = &c->states[target];
    if (to->type == LIFE_TERMINAL)
        out->adds_notes = false;
    else if (to->role && (to->type == LIFE_WORK || is_fix_asked)) {
        out->posts = out->adds_notes ? "task" : "fix";
        out->to_role = to->role;
    }
    out->to = target;
    l->state = target;
    l->visit++;
    l->crashes = 0;
    return LIFE_MOVED;
}

enum life_answer
life_apply(struct life *l, const struct life_event *ev, struct life_move *out)
{
    const struct life_state *s = life_state_of(l);
    const struct life_signal *sig;

    *out = (struct life_move){ .from = l->state, .to = l->state, .through = SIZE_MAX };
    if (s->type == LIFE_TERMINAL)
        return LIFE_STAYS;
    switch (ev->kind) {
    case LIFE_MESSAGE:
        assert(ev->signal < s->n_signals);
        sig = &s->signals[ev->signal];
        out->is_retry = sig->is_retry;
        out->adds_notes = sig->adds_notes;
        return enter(l, sig->target, sig->posts_fix, out);
    case LIFE_LATE:
        out->is_retry = true;
        return enter(l, l->c->initial, true, out);
    case LIFE_CRASH:
        return ++l->crashes <= LIFE_CRASHES_MAX ? LIFE_RESTARTS : LIFE_GIVES_UP;
    case LIFE_STALL:
        break;
    }
    return ++l->recoveries <= LIFE_RECOVERIES_MAX ? LIFE_RESTARTS
                                                  : enter(l, l->c->failed_final, false, out);
}
