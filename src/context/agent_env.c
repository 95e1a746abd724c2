#define _GNU_SOURCE
#include "context/agent_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct field agent_env_inherited[] = {
    { "PATH", .says = "where programs are" },
    { "HOME", .says = "your home directory" },
    { "LANG", .says = "your language" },
    { "TERM", .says = "the kind of terminal" },
    { "TMPDIR", .says = "the directory of temporary files" },
    { "CLIQ_HOME", .says = "your directory of cliq" },
    { 0 },
};

const struct field agent_env_set[] = {
    { "CLIQ_AGENT", .says = "the agent's name" },
    { "CLIQ_PROJECT_DIR", .says = "the project's directory" },
    { "CLIQ_STATE_DIR", .says = "the run's directory: .cliq/" },
    { "CLIQ_RUN_ID", .says = "the run's id" },
    { "CLIQ_PHASE", .says = "of a phase: its name" },
    { "CLIQ_ATTEMPT_NUMBER", .says = "of a phase: 1 for its first attempt in this run" },
    { "CLIQ_ATTEMPT", .says = "marks every process of the agent, so that all of them are stopped; "
                              "leave it as it is; of a phase: the message's attempt_id" },
    { "CLIQ_IDENTITY", .says = "of a woken agent: who it is to the hub" },
    { "CLIQ_WAKE", .says = "of a woken agent: the same; leave it as it is" },
    { "PYTHONDONTWRITEBYTECODE", .says = "of an agent with an entry: 1, because a compiled file "
                                         "beside its source would end the trust in agents/" },
    { 0 },
};

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

static void
inherit(struct env *vars, const char *name)
{
    const char *value = getenv(name);

    if (value)
        env_add(vars, name, value);
}

void
env_base(struct env *vars, const struct agent *agent)
{
    if (agent->kind == AGENT_CUSTOM) /* a compiled file beside its source would end the trust */
        env_add(vars, "PYTHONDONTWRITEBYTECODE", "1");
    for (const struct field *f = agent_env_inherited; f->key; f++)
        inherit(vars, f->key);
    for (const char *const *name = agent->env_names; name && *name; name++)
        inherit(vars, *name);
    env_add(vars, "CLIQ_AGENT", agent->name);
}
