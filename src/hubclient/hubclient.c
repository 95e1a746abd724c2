#include "hubclient/hubclient.h"

#include "base/path.h"
#include "net/own_server.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status
keep(struct hubclient *d, const char *text, const char **out, struct err *e)
{
    *out = arena_dup(&d->arena, text, strlen(text));
    return *out ? ST_OK : err_nomem(e);
}

/* ---- identity, server and key ---- */

static enum status
find_identity(struct hubclient *d, const struct hubclient_options *o, struct err *e)
{
    const char *says = o->says ? o->says : "a name", *from = says, *name = o->identity;
    char text[2048];
    struct passwd user, *p = NULL;

    if (!name) {
        from = "CLIQ_IDENTITY";
        name = getenv("CLIQ_IDENTITY");
    }
    if (!name || !*name) {
        getpwuid_r(geteuid(), &user, text, sizeof text, &p);
        from = "your user's name";
        name = p ? p->pw_name : NULL;
    }
    if (!name)
        return err_set(e, ST_INVALID, "no identity: your user has no name; set one with %s", says);
    if (!path_is_name(name))
        return err_set(e, ST_INVALID,
                       "bad identity \"%s\" (%s): use 1 to 64 of A-Z a-z 0-9 . _ -; set another "
                       "with %s",
                       name, from, says);
    return keep(d, name, &d->identity, e);
}

/* The admin key that the first start of `cliq serve` stored in <config>; NULL: none. From then on
 * connections are made only to the server of <config> (net/own_server.h). */
static const char *
own_key(struct hubclient *d, const struct hubclient_options *o)
{
    struct buf path = { 0 }, text = { 0 };
    const char *key = NULL;

    if (o->config)
        buf_adds(&path, o->config);
    if (o->config || path_config(&path, NULL) == ST_OK) {
        d->place.own_config = arena_dup(&d->arena, path.p ? path.p : "", path.len);
        d->place.check = own_server_check;
        buf_adds(&path, "/" OWN_SERVER_KEY);
        if (d->place.own_config && !buf_failed(&path) &&
            path_read_file(AT_FDCWD, path.p, &text, NULL) == ST_OK && text.len)
            key = arena_dup(&d->arena, text.p, strcspn(text.p, "\n"));
    }
    buf_release(&path);
    buf_release(&text);
    return key;
}

static enum status
find_key(struct hubclient *d, const struct hubclient_options *o, struct err *e)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *key = o->key ? o->key : getenv("CLIQ_KEY");

    if ((!key || !*key) && transport_is_local(&d->place) && !d->place.is_tls)
        key = own_key(d, o);
    if (!key || !*key)
        return err_set(e, ST_REFUSED,
                       "no key for %s: set CLIQ_KEY to a key from its admin (cliq key create)",
                       d->url);
    if (key[strspn(key, letters)])
        return err_set(e, ST_REFUSED,
                       "CLIQ_KEY is not a key: keys are cho_ and 43 letters, digits, "
                       "- and _");
    return keep(d, key, &d->key, e);
}

static enum status
find_server(struct hubclient *d, const struct hubclient_options *o, const char *url, struct err *e)
{
    const char *name = o->identity ? o->identity : getenv("CLIQ_IDENTITY");
    size_t n = strlen(url);
    enum status s = transport_parse(&d->place, url, e);

    if (!s && d->place.is_tls && o->no_tls)
        s = err_set(e, ST_INVALID, "%s: %s", url, o->no_tls);
    if (s)
        return s;
    while (n && url[n - 1] == '/')
        n--;
    d->place.secure = o->secure;
    d->url = arena_dup(&d->arena, url, n);
    s = d->url ? find_key(d, o, e) : err_nomem(e);
    if (!s && name && path_is_name(name))
        s = keep(d, name, &d->identity, e);
    http_client_init(&d->client, &d->place);
    return s;
}

static enum status
find_files(struct hubclient *d, const struct hubclient_options *o, struct err *e)
{
    struct buf path = { 0 };
    enum status s = ST_OK;

    if (o->config)
        buf_adds(&path, o->config);
    else
        s = path_config(&path, e);
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = keep(d, path.p ? path.p : "", &d->config, e);
    buf_release(&path);
    return s ? s : find_identity(d, o, e);
}

enum status
hubclient_open(struct hubclient *d, const struct hubclient_options *o, struct err *e)
{
    const char *url = o->url ? o->url : getenv("CLIQ_URL");

    *d = (struct hubclient){ .hub_options = o->hub, .cancel = o->cancel };
    return url && *url ? find_server(d, o, url, e) : find_files(d, o, e);
}

void
hubclient_close(struct hubclient *d)
{
    hub_close(d->hub);
    http_client_close(&d->client);
    arena_release(&d->arena);
    *d = (struct hubclient){ 0 };
}

/* ---- errors ---- */

static enum status
status_of(int http)
{
    switch (http) {
    case 401:
    case 403:
    case 421:
        return ST_REFUSED;
    case 404:
        return ST_NOT_FOUND;
    case 409:
        return ST_CONFLICT;
    case 408:
    case 504:
        return ST_TIMEOUT;
    default:
        return http == 429 || http >= 500 || http < 400 ? ST_IO : ST_INVALID;
    }
}

/* Advice for an error code; NULL: none. */
static const char *
hint(enum hub_op op, const char *code)
{
    static const char *const not_found[HUB_N_OPS] = {
        [HUB_FILL] = "cliq role list shows all roles, cliq role add creates one",
        [HUB_JOIN] = "cliq ring list shows all rings, cliq ring add creates one",
        [HUB_LEASE_RELEASE] = "cliq lease list shows all leases",
        [HUB_KEY_REVOKE] = "cliq key list shows the keys and their ids",
    };
    static const struct {
        const char *code, *says;
    } hints[] = {
        { "SIGNAL_NOT_FOUND", "cliq signal list and cliq inbox show the signals" },
        { "FILE_LEASED", "cliq lease list shows all leases; subscribe to lease:*:released" },
        { "SIGNAL_CLAIM_CONFLICT", "cliq status-of ID --history shows who has it, and why" },
        { "SIGNAL_LEASE_LOST", "stop working on it; claim it again first" },
        { "SIGNAL_NOT_CLAIMABLE", "cliq status-of ID --history shows what happened to it" },
        { "SIGNAL_ROLE_NOT_HELD", "cliq role fill ROLE IDENTITY gives it the role" },
        { "SIGNAL_EMIT_CONFLICT", "use a new key for a different request" },
        { "AUTH_REQUIRED", "set CLIQ_KEY to a key of this server" },
        { "AUTH_FORBIDDEN", "ask an admin for the role, or for a key with that scope" },
        { "RATE_LIMITED", "wait a little and try again" },
        { "STORE_UNAVAILABLE", "try again later" },
    };

    if (code && strcmp(code, "SIGNAL_NOT_FOUND") == 0 && not_found[op])
        return not_found[op];
    if (code && strcmp(code, "AUTH_FORBIDDEN") == 0 && (op == HUB_GENERATE || op == HUB_SCHEDULE))
        return NULL; /* the claimed identity was rejected, so a role would not help */
    for (size_t i = 0; code && i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].code, code) == 0)
            return hints[i].says;
    return NULL;
}

enum status
hubclient_refused(enum hub_op op, const struct hub_reply *r, struct err *e)
{
    const char *says = hint(op, r->code), *message = r->message ? r->message : "the hub refused it";

    return says ? err_set(e, status_of(r->status), "%s (%s)", message, says)
                : err_set(e, status_of(r->status), "%s", message);
}

/* ---- the call ---- */

enum status
hubclient_files(struct hubclient *d, struct err *e)
{
    return d->hub ? ST_OK : hub_open(&d->hub, d->config, &d->hub_options, e);
}

static enum status
call_files(struct hubclient *d, struct arena *a, enum hub_op op, const struct json *args,
           struct hub_reply *reply, struct err *e)
{
    struct hub_request r = {
        .op = op, .identity = d->identity, .is_admin = true, .is_file = true, .args = args
    };
    enum status s = hubclient_files(d, e);

    if (s)
        return s;
    if (hub_ops[op].writes)
        hub_submit(d->hub, &r, 1, a, reply);
    else
        hub_read(d->hub, &r, a, reply);
    reply->data = hub_reply_data(reply, a);
    return reply->status < 300 ? ST_OK : hubclient_refused(op, reply, e);
}

enum status
hubclient_call(struct hubclient *d, struct arena *a, enum hub_op op, const struct json *args,
               struct hub_reply *reply, struct err *e)
{
    *reply = (struct hub_reply){ 0 };
    return d->url ? hubclient_call_server(d, a, op, args, reply, e)
                  : call_files(d, a, op, args, reply, e);
}
