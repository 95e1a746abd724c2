/*
 * agent_list - every agent that cliq can find, and where it comes from.
 *
 *     settings    agents.<name>.entry, or agents.<name>.acp
 *     team        the team's own: agents of its file, or of .cliq/agents.json
 *     installed   <config>/agents/<name>/ (installed_agents.h)
 *     built in    agents.def; PLANNED ones are not in this version
 *
 * agent_resolve searches in this order: of several agents with one name the first is used, and
 * hides the others. Every check of a name and every list of names uses this module, so that all of
 * them know the same agents.
 *
 * Ownership: everything is in the arena, or borrowed from struct agent_list_places.
 *
 * Tests: test/cli/team.bats
 */
#ifndef CLIQ_TEAM_AGENT_LIST_H
#define CLIQ_TEAM_AGENT_LIST_H

#include "base/suggest.h"
#include "team/builtin_agents.h"
#include "team/name_index.h"

enum agent_list_from {
    AGENT_LIST_SETTINGS,
    AGENT_LIST_TEAM,
    AGENT_LIST_INSTALLED,
    AGENT_LIST_BUILTIN
};

struct agent_list_agent {
    const char *name;
    enum agent_list_from from;
    enum agent_kind kind;          /* AGENT_CUSTOM unless it is built in or has acp */
    const char *entry;             /* as written; NULL: none */
    const char *dir;               /* an installed agent's entry is relative to it */
    const char *brief;             /* of a built-in agent */
    const struct json *manifest;   /* of an installed or built-in agent; NULL: none */
    const char *fault;             /* why no machine could start it; or NULL */
    bool is_planned;               /* a built-in agent that this version cannot run */
    const struct team_agent *mine; /* from the team's file, or NULL */
};

struct agent_list {
    struct agent_list_agent *v; /* in search order */
    size_t n;
    struct name_index names;
};

/* The sources of the list; a NULL source is left out. */
struct agent_list_places {
    const struct settings *settings;
    const struct team *team;
    const struct json *agents_json;
    bool is_blind; /* do not read files: no installed agents */
};

/* When installed agents cannot be listed, the list holds the others, and e says why. v is NULL
 * only when memory ran out. */
enum status agent_list_make(struct agent_list *r, struct arena *a,
                            const struct agent_list_places *in, struct err *e);

const struct agent_list_agent *
agent_list_find(const struct agent_list *r, const char *name); /* NULL: none */
/* Does an earlier agent of the same name hide it? */
bool agent_list_is_hidden(const struct agent_list *r, const struct agent_list_agent *one);
/* Could it be started, as far as its files tell? */
bool agent_list_is_there(const struct agent_list_agent *one);
void agent_list_suggest(const struct agent_list *r, struct suggest *n);

const char *agent_list_from_name(enum agent_list_from from); /* "installed" */

#endif
