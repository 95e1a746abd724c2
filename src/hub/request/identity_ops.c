/*
 * identity_ops - who is there and what they want: identities, roles, rings, keys, subscriptions,
 * and how far agents were woken.
 */
#include "hub/hub_impl.h"

#include "hub/api_key.h"
#include "hub/model/match.h"
#include "hub/model/signal_id.h"

#include <stdio.h>
#include <string.h>

/* ---- subscriptions ---- */

bool
op_subscription(struct op *t)
{
    struct hub_event ev = { .by = t->req->identity, .at = t->h->now.wall_ms };
    bool is_new = t->req->op == HUB_SUBSCRIBE;
    struct index *ix = t->h->ix;
    const char *agent = NULL;

    ev.kind = is_new ? EV_SUBSCRIBE : EV_UNSUBSCRIBE;
    if (!arg_trimmed(&t->in, "pattern", &ev.pattern))
        return false;
    if (!ev.pattern)
        return refuse(&t->refusal, 400, "VALIDATION_FIELD_REQUIRED",
                      "Signal subscription pattern is required");
    size_t segments = 1;
    for (const char *c = ev.pattern; *c; c++)
        segments += *c == ':';
    if (segments > MATCH_SEGMENTS_MAX)
        return arg_wrong(&t->in, "pattern", "must have at most 1000 segments");
    if (is_new && !match_is_pattern(ev.pattern, strlen(ev.pattern))) /* old ones can be removed */
        return arg_wrong(&t->in, "pattern", MATCH_PATTERN_SAYS);
    if (!arg_name(&t->in, "agentId", &agent) || (is_new && !arg_flag(&t->in, "silent", &ev.silent)))
        return false;
    if (agent && strcmp(agent, ev.by) != 0 && !t->req->is_admin)
        return refuse(&t->refusal, 403, "AUTH_FORBIDDEN",
                      is_new ? "Cannot subscribe agent from another user: %s"
                             : "Cannot unsubscribe agent from another user: %s",
                      agent);
    if (agent)
        ev.by = agent;
    struct row *r =
        index_run(ix, "SELECT silent FROM subscriptions WHERE identity = ? AND pattern = ?", "ss",
                  ev.by, ev.pattern);
    bool is_there = index_next(ix, r);
    int silent = is_there ? (int)row_int(r, 0) : 1;
    if (is_new && ev.silent != FLAG_UNSET)
        silent = ev.silent == FLAG_YES;
    if ((is_new || is_there) && !op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_text(t->out, "agentId", ev.by);
    render_text(t->out, "pattern", ev.pattern);
    if (is_new)
        json_key_bool(t->out, "silent", silent);
    else
        json_key_bool(t->out, "removed", is_there);
    json_close(t->out, '}');
    return true;
}

bool
op_woken(struct op *t)
{
    struct hub_event ev = { .kind = EV_WOKEN, .at = t->h->now.wall_ms };

    if (!t->req->is_system)
        return refuse(&t->refusal, 403, "AUTH_FORBIDDEN", "woken is for cliq itself");
    if (!arg_name(&t->in, "identity", &ev.identity) || !arg_int(&t->in, "upto", &ev.upto))
        return false;
    return ev.identity && ev.upto ? op_event(t, &ev)
                                  : arg_missing(&t->in, ev.identity ? "upto" : "identity");
}

/* ---- identities, roles, rings, keys ---- */

static bool
is_there(struct op *t, const char *sql, const char *id)
{
    struct row *r = index_run(t->h->ix, sql, "s", id);

    return index_next(t->h->ix, r);
}

static bool
take_name(struct op *t, const char *key, const char **out)
{
    if (!arg_name(&t->in, key, out))
        return false;
    return *out || arg_missing(&t->in, key);
}

bool
op_define(struct op *t)
{
    struct hub_event ev = { .by = t->req->identity, .at = t->h->now.wall_ms };
    enum hub_op op = t->req->op;

    ev.kind = op == HUB_ROLE_ADD ? EV_ROLE : op == HUB_RING_ADD ? EV_RING : EV_IDENTITY;
    if (!take_name(t, "id", &ev.id) || !arg_text(&t->in, "name", &ev.name))
        return false;
    if (op == HUB_IDENTITY_ADD
            ? !arg_text(&t->in, "type", &ev.type_of) || !arg_name(&t->in, "agent", &ev.agent) ||
                  !arg_text(&t->in, "dir", &ev.dir)
            : !arg_text(&t->in, "purpose", &ev.purpose))
        return false;
    if (ev.dir && ev.dir[0] != '/')
        return arg_wrong(&t->in, "dir", "must be an absolute path");
    if (!op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_text(t->out, "id", ev.id);
    render_text(t->out, "name", ev.name ? ev.name : ev.id);
    if (op == HUB_IDENTITY_ADD) {
        render_text(t->out, "type", ev.type_of);
        render_text(t->out, "agent", ev.agent);
        render_text(t->out, "dir", ev.dir);
    } else {
        render_text(t->out, "purpose", ev.purpose);
    }
    json_close(t->out, '}');
    return true;
}

static bool
make_identity(struct op *t, const char *id)
{
    struct hub_event ev = {
        .kind = EV_IDENTITY, .id = id, .by = t->req->identity, .at = t->h->now.wall_ms
    };

    return is_there(t, "SELECT 1 FROM identities WHERE id = ?", id) || op_event(t, &ev);
}

bool
op_join(struct op *t)
{
    bool is_fill = t->req->op == HUB_FILL;
    struct hub_event ev = { .kind = is_fill ? EV_FILL : EV_JOIN,
                            .by = t->req->identity,
                            .at = t->h->now.wall_ms };
    const char **group = is_fill ? &ev.role : &ev.ring, *what = is_fill ? "role" : "ring";

    if (!take_name(t, "identity", &ev.identity) || !take_name(t, what, group))
        return false;
    if (!(is_fill ? is_there(t, "SELECT 1 FROM roles WHERE id = ?", *group)
                  : is_there(t, "SELECT 1 FROM rings WHERE id = ?", *group)))
        return refuse(&t->refusal, 404, "SIGNAL_NOT_FOUND", "%s: there is no %s \"%s\"", what, what,
                      *group);
    if (!make_identity(t, ev.identity) || !op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_text(t->out, "identity", ev.identity);
    render_text(t->out, what, *group);
    json_close(t->out, '}');
    return true;
}

bool
op_key_create(struct op *t)
{
    struct hub_event ev = { .kind = EV_KEY, .by = t->req->identity, .at = t->h->now.wall_ms };
    char key[SECRET_KEY_SIZE], hash[SECRET_HASH_SIZE], id[HUB_ID_SIZE];
    int64_t ttl_s = 0;
    struct err e;

    if (!take_name(t, "identity", &ev.identity) || !arg_texts(&t->in, "scopes", &ev.scopes) ||
        !arg_int(&t->in, "ttl_seconds", &ttl_s))
        return false;
    if (ttl_s)
        ev.until = ev.at + ttl_s * 1000;
    if (!json_first(ev.scopes))
        ev.scopes = scope_list(t->a, SCOPE_DEFAULT);
    if (hub_new_id(id, &e))
        return refuse(&t->refusal, 503, "STORE_UNAVAILABLE", "%s", e.text);
    if (t->req->is_system && t->req->new_key)
        snprintf(key, sizeof key, "%s", t->req->new_key);
    else
        api_key_new(key);
    api_key_hash(hash, key, strlen(key));
    ev.id = arena_dup(t->a, hub_event_bare_id(id), EVENT_ID_LEN);
    ev.hash = hash;
    if (!ev.id || !ev.scopes)
        return refuse_starved(&t->refusal);
    if (!make_identity(t, ev.identity) || !op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_text(t->out, "key", key);
    render_text(t->out, "identity", ev.identity);
    render_scopes(t->out, "scopes", scope_bits(ev.scopes));
    render_text(t->out, "id", ev.id);
    render_time(t->out, "expires_at", ev.until);
    json_close(t->out, '}');
    return true;
}

bool
op_key_revoke(struct op *t)
{
    const char *id = NULL;

    if (!arg_text(&t->in, "id", &id))
        return false;
    if (!id)
        return arg_missing(&t->in, "id");
    if (!op_full_id_of(t, "id", SHORT_ID_KEY, &id))
        return false;
    if (!is_there(t, "SELECT 1 FROM keys WHERE id = ?", id))
        return refuse(&t->refusal, 404, "SIGNAL_NOT_FOUND", "id: there is no key %s", id);
    struct hub_event ev = {
        .kind = EV_REVOKE, .id = id, .by = t->req->identity, .at = t->h->now.wall_ms
    };
    if (!op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_text(t->out, "id", id);
    json_key_bool(t->out, "revoked", true);
    json_close(t->out, '}');
    return true;
}
