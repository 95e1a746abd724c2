/*
 * roster - every agent that there is, and where it comes from.
 *
 *     settings    agents.<name>.entry
 *     team        the team's own: agents of its file, or of .cliq/agents.json
 *     installed   <config>/agents/<name>/ (installed.h)
 *     built in    agents.def; not all of them are in this version (agent_settings)
 *
 * That is also the order of the search (agent_resolve): of several with one name the first
 * counts, and hides the others. Whoever checks a name, or tells which names there are, asks
 * here, so that no two places know different agents.
 *
 * Ownership: all of it is in the arena, or borrowed from what it was made of.
 */
#ifndef CLIQ_TEAM_ROSTER_H
#define CLIQ_TEAM_ROSTER_H

#include "base/near.h"
#include "team/builtin.h"
#include "team/names.h"

enum roster_from { ROSTER_SETTINGS, ROSTER_TEAM, ROSTER_INSTALLED, ROSTER_BUILTIN };

struct roster_agent {
    const char *name;
    enum roster_from from;
    enum agent_kind kind;          /* AGENT_CUSTOM unless it is built in */
    const char *entry;             /* as it is written; NULL: none */
    const char *dir;               /* what an installed one's is relative to */
    const char *brief;             /* of one that is built in */
    const struct json *manifest;   /* of an installed one; NULL: none */
    const char *fault;             /* why it cannot be started, whatever the machine; or NULL */
    const char *const *settings;   /* of one that is built in; NULL: not in this version */
    const struct team_agent *mine; /* of the team's file, or NULL */
};

struct roster {
    struct roster_agent *v; /* in the order of the search */
    size_t n;
    struct names names;
};

/* What it is made of; what is NULL is left out. */
struct roster_places {
    const struct settings *settings;
    const struct team *team;
    const struct json *agents_json;
    bool is_blind; /* files are not looked at: there are no installed ones */
};

/* When installed agents cannot be listed it holds the others, and says why: v NULL only when
 * there is no memory. */
enum status
roster_make(struct roster *r, struct arena *a, const struct roster_places *in, struct err *e);

const struct roster_agent *roster_find(const struct roster *r, const char *name); /* NULL: none */
/* Is there another of its name, which is found first? */
bool roster_is_hidden(const struct roster *r, const struct roster_agent *one);
/* Could it be started, as far as files tell? */
bool roster_is_there(const struct roster_agent *one);
void roster_near(const struct roster *r, struct near *n);

const char *roster_from_name(enum roster_from from); /* "installed" */

#endif
