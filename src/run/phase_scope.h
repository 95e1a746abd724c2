/*
 * phase_scope - where the values of a phase's templates come from: the inputs, and the handoffs of
 * its predecessors.
 *
 * $(handoff.X.…) reads the envelope that X wrote. When X is in depends_on, that is the channel from
 * X to the phase, and no other. When X is a predecessor further up, it is the first channel with a
 * handoff among those from X to a successor that is a predecessor of the phase too, the nearest
 * to the phase first (dag_on_the_way).
 */
#ifndef CLIQ_RUN_PHASE_SCOPE_H
#define CLIQ_RUN_PHASE_SCOPE_H

#include "run/run.h"
#include "team/template.h"

struct phase_scope {
    const struct plan *plan;
    size_t phase;
    struct arena *arena;
    const bool *runs; /* phases whose handoffs are still to be written; NULL: none */
    struct template_scope scope;
    struct err fault; /* why a handoff cannot be read; "" while all can */
};

/* run_id NULL: not known yet. The scope points to itself, so it must not be moved. */
void phase_scope_init(struct phase_scope *s, const struct plan *p, size_t phase, const char *run_id,
                      struct arena *arena);
/* Why a template cannot be resolved: a handoff that cannot be read, before anything else. */
const char *phase_scope_why(const struct phase_scope *s, const struct err *why);
/* "<state_dir>/<path>" in the arena; NULL: out of memory. */
const char *phase_scope_path(const struct phase_scope *s, const char *path);

struct phase_value {
    const char *name;  /* "inputs.env"; in the arena */
    const char *value; /* NULL: not known */
    const char *why;   /* then: the reason */
};

/* The value of each variable that the phase uses: in when, commands, env, sources, target_entries,
 * review, inputs, the agent's own fields and the role. */
enum status
phase_scope_values(struct phase_scope *s, struct phase_value **out, size_t *n, struct err *e);

#endif
