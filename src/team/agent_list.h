/*
 * roster - every agent that there is, and where it comes from.
 *
 *     settings    agents.<name>.entry
 *     team        the team's own: agents of its file, or of .cliq/agents.json
 *     installed   <config>/agents/<name>/ (installed_agents.h)
 *     built in    agents.def; PLANNED ones are not in this version
 *
 * That is also the order of the search (agent_resolve): of several with one name the first
 * counts, and hides the others. Every check of a name and every list of names
 * asks this module, so no two places know different agents.
 *
 * Ownership: all of it is in the arena, or borrowed from what it was made of.
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
    enum agent_kind kind;          /* AGENT_CUSTOM unless it is built in */
    const char *entry;             /* as it is written; NULL: none */
    const char *dir;               /* what an installed one's is relative to */
    const char *brief;             /* of one that is built in */
    const struct json *manifest;   /* of an installed one; NULL: none */
    const char *fault;             /* why it cannot be started, whatever the machine; or NULL */
    const char *const *settings;   /* of one that is built in; NULL: not in this version */
    const struct team_agent *mine; /* of the team's file, or NULL */
};

struct agent_list {
    struct agent_list_agent *v; /* in the order of the search */
    size_t n;
    struct name_index names;
};

/* What it is made of; what is NULL is left out. */
struct agent_list_places {
    const struct settings *settings;
    const struct team *team;
    const struct json *agents_json;
    bool is_blind; /* files are not looked at: there are no installed ones */
};

/* When installed agents cannot be listed it holds the others, and says why: v NULL only when
 * there is no memory. */
enum status agent_list_make(struct agent_list *r, struct arena *a,
                            const struct agent_list_places *in, struct err *e);

const struct agent_list_agent *
agent_list_find(const struct agent_list *r, const char *name); /* NULL: none */
/* Is there another of its name, which is found first? */
bool agent_list_is_hidden(const struct agent_list *r, const struct agent_list_agent *one);
/* Could it be started, as far as files tell? */
bool agent_list_is_there(const struct agent_list_agent *one);
void agent_list_near(const struct agent_list *r, struct suggest *n);

const char *agent_list_from_name(enum agent_list_from from); /* "installed" */

#endif
