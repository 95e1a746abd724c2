#include "team/builtin_agents.h"

#include <string.h>

const struct builtin builtins[] = {
#define AGENT(id, name, kind, brief, ...) { name, AGENT_##kind, brief, true, { __VA_ARGS__ } },
#define PLANNED(name, kind, brief)        { name, AGENT_##kind, brief, false, { NULL } },
#include "agents/agents.def"
    { 0 },
};

const struct builtin *
builtin_find(const char *name)
{
    for (const struct builtin *b = builtins; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

bool
team_is_builtin_agent(const char *name)
{
    return builtin_find(name) != NULL;
}

const char *
agent_kind_name(enum agent_kind kind)
{
    static const char *const names[] = {
        [AGENT_SPECIAL] = "special",     [AGENT_CLI] = "cli",           [AGENT_LLM] = "llm",
        [AGENT_CONNECTOR] = "connector", [AGENT_NOTIFIER] = "notifier", [AGENT_CUSTOM] = "custom",
    };

    return names[kind];
}
