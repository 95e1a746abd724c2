#define _GNU_SOURCE
#include "context/env.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
env_add(struct env *vars, const char *name, const char *value)
{
    size_t len = strlen(name), n = len + strlen(value) + 2, at = 0;
    char *text = arena_alloc(vars->arena, n);

    while (at < vars->n && (strncmp(vars->v[at], name, len) != 0 || vars->v[at][len] != '='))
        at++;
    if (vars->n + 1 >= vars->cap) {
        size_t cap = vars->cap ? vars->cap * 2 : 32;
        const char **v = arena_alloc(vars->arena, cap * sizeof *v);
        if (v && vars->n)
            memcpy(v, vars->v, vars->n * sizeof *v);
        vars->v = v ? v : vars->v;
        vars->cap = v ? cap : vars->cap;
        vars->is_starved = vars->is_starved || !v;
    }
    if (!text || vars->is_starved) {
        vars->is_starved = true;
        return;
    }
    snprintf(text, n, "%s=%s", name, value);
    vars->v[at] = text;
    if (at == vars->n)
        vars->v[++vars->n] = NULL;
}

void
env_ours(struct env *vars)
{
    for (char **at = environ; *at; at++) {
        const char *value = strchr(*at, '=');
        if (!value || strncmp(*at, "CLIQ_", 5) == 0)
            continue;
        const char *name = arena_dup(vars->arena, *at, (size_t)(value - *at));
        if (name)
            env_add(vars, name, value + 1);
        vars->is_starved = vars->is_starved || !name;
    }
}
