#include "context/agent_env.h"

#include "team/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct field agent_env_inherited[] = {
    { "PATH", .says =
                  "where programs are; the directory of cliq is added at its end when no cliq is "
                  "in it" },
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

static void
inherit(struct env *vars, const char *name)
{
    const char *value = getenv(name);

    if (value)
        env_add(vars, name, value);
}

/* Agents in shell call cliq, which may have been started by its path. */
static void
add_own_directory(struct env *vars)
{
    const char *path = getenv("PATH"), *self = agent_self(vars->arena);
    const char *slash = strrchr(self, '/');

    if (!path || !*path || !slash || strcmp(slash, "/cliq") != 0 || runner_has("cliq"))
        return;
    size_t n = strlen(path), len = (size_t)(slash - self);
    char *longer = arena_alloc(vars->arena, n + len + 2);
    if (!longer) {
        vars->is_starved = true;
        return;
    }
    snprintf(longer, n + len + 2, "%s:%.*s", path, (int)len, self);
    env_add(vars, "PATH", longer);
}

void
env_base(struct env *vars, const struct agent *agent)
{
    if (agent->kind == AGENT_CUSTOM) /* a compiled file beside its source would end the trust */
        env_add(vars, "PYTHONDONTWRITEBYTECODE", "1");
    for (const struct field *f = agent_env_inherited; f->key; f++)
        inherit(vars, f->key);
    add_own_directory(vars);
    for (const char *const *name = agent->env_names; name && *name; name++)
        inherit(vars, *name);
    env_add(vars, "CLIQ_AGENT", agent->name);
}
