/*
 * env - the environment that a program is started with. A later value replaces an earlier one of
 * the same name.
 *
 *     struct env vars = { .arena = a };
 *     env_ours(&vars);
 *     env_add(&vars, "CLIQ_PHASE", name);
 *     spec.env = vars.v;                      unless vars.is_starved
 */
#ifndef CLIQ_CONTEXT_ENV_H
#define CLIQ_CONTEXT_ENV_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct env {
    struct arena *arena;
    const char **v; /* "NAME=value", NULL-ended */
    size_t n, cap;
    bool is_starved;
};

void env_add(struct env *vars, const char *name, const char *value);
/* Adds every variable of this process except CLIQ_*, which belong to one run or one agent. For our
 * own processes. */
void env_ours(struct env *vars);

#endif
