#include "serve/teams.h"

#include "hub/model/scope.h"
#include "team/published_teams.h"

#include <pthread.h>

static enum status
publish(struct file_call *c, struct err *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct publisher by = { c->identity, c->is_admin };

    pthread_mutex_lock(&lock);
    enum status s = published_teams_add(c->config, &by, c->body, &c->out, e);
    pthread_mutex_unlock(&lock);
    return s;
}

static enum status
list(struct file_call *c, struct err *e)
{
    const char *words = "";

    if (!arg_text(&c->in, "query", &words))
        return ST_INVALID;
    return published_teams_list(c->config, words, &c->out, e);
}

static enum status
versions(struct file_call *c, struct err *e)
{
    const char *scope = "", *name = "";

    if (!arg_text(&c->in, "scope", &scope) || !arg_text(&c->in, "name", &name))
        return ST_INVALID;
    return published_teams_versions(c->config, scope, name, &c->out, e);
}

static enum status
download(struct file_call *c, struct err *e)
{
    const char *scope = "", *name = "", *version = "";

    if (!arg_text(&c->in, "scope", &scope) || !arg_text(&c->in, "name", &name) ||
        !arg_text(&c->in, "version", &version))
        return ST_INVALID;
    return published_teams_read(c->config, scope, name, version, &c->out, e);
}

/* ---- the table ---- */

#define SCOPE                                                                                      \
    {                                                                                              \
        "scope", A_TEXT, .is_required = true, .brief = "@acme of @acme/review"                     \
    }
#define NAME                                                                                       \
    {                                                                                              \
        "name", A_TEXT, .is_required = true, .brief = "review of @acme/review"                     \
    }
#define VERSION                                                                                    \
    {                                                                                              \
        "version", A_TEXT, .is_required = true, .brief = "as 1.2.0"                                \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const struct hub_arg list_args[] = {
    { "query", A_TEXT, .brief = "words that the name or the description has" }, END
};
static const struct hub_arg team_args[] = { SCOPE, NAME, END };
static const struct hub_arg version_args[] = { SCOPE, NAME, VERSION, END };

const struct file_route teams_routes[] = {
    { "POST", "/teams", "publish a version of a team", SCOPE_TEAMS, .answer = "Team",
      .noun = "TEAM", .conflict = "TEAM_EXISTS", .takes_package = true, .run = publish },
    { "GET", "/teams", "the newest version of each team", SCOPE_TEAMS, list_args,
      .answer = "Team[]", .noun = "TEAM", .run = list },
    { "GET", "/teams/:scope/:name", "the versions of a team, newest first", SCOPE_TEAMS, team_args,
      .answer = "Team[]", .noun = "TEAM", .run = versions },
    { "GET", "/teams/:scope/:name/:version", "a version's package (.tgz)", SCOPE_TEAMS,
      version_args, .type = "application/gzip", .noun = "TEAM", .run = download },
    { .path = NULL },
};
