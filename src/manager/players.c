#include "manager/players.h"

#include "base/path.h"
#include "context/state_dir.h"
#include "team/trust.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status
players_open(struct players *p, const struct rooms *r, struct err *e)
{
    *p = (struct players){ .state_dir = r->state_dir };
    return settings_load(&p->settings, r->state_dir, e);
}

void
players_close(struct players *p)
{
    settings_release(&p->settings);
    arena_release(&p->arena);
    *p = (struct players){ 0 };
}

static const char *
setting(struct players *p, const char *role, const char *key)
{
    const struct json *roles = settings_get(&p->settings, "roles");
    const char *text = json_dup_text(&p->arena, json_get(json_get(roles, role), key));

    return text && *text ? text : NULL;
}

enum status
players_find(struct players *p, const char *role, struct player *out, struct err *e)
{
    const char *agent = setting(p, role, "agent"), *command = setting(p, role, "command");

    if (agent && command)
        return err_set(e, ST_INVALID,
                       "the settings roles.%s.agent and roles.%s.command are both set: a role has "
                       "one of them",
                       role, role);
    *out = agent ? (struct player){ .kind = PLAYER_AGENT, .name = agent }
           : command
               ? (struct player){ .kind = PLAYER_COMMAND, .name = "command", .command = command }
               : (struct player){ .kind = PLAYER_PERSON, .name = "person" };
    return ST_OK;
}

/* The project's own agents, when they are trusted. */
static enum status
read_own_agents(struct players *p, struct err *e)
{
    struct buf text = { 0 };
    struct json *doc = NULL;
    int dir = -1;

    if (p->agents_json || !p->state_dir || path_open_dir(p->state_dir, false, &dir, NULL))
        return ST_OK;
    enum status s = state_dir_read_at(dir, "agents.json", &text, NULL);
    if (!s)
        s = trust_check(dir, p->state_dir, e);
    else if (s == ST_NOT_FOUND)
        s = ST_OK;
    if (!s && text.len) {
        const char *kept = arena_dup(&p->arena, text.p, text.len);
        s = kept ? json_parse_named(&p->arena, "agents.json", kept, text.len, &doc, e)
                 : err_nomem(e);
        p->agents_json = doc;
    }
    close(dir);
    buf_release(&text);
    return s;
}

enum status
players_agent(struct players *p, struct arena *a, const char *name, struct agent *out,
              struct err *e)
{
    enum status s = read_own_agents(p, e);
    struct agent_scope scope = { p->state_dir, &p->settings, p->agents_json };

    return s ? s : agent_resolve(a, &scope, name, out, e);
}
