#define _GNU_SOURCE
#include "mcp/stdio.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/agent_client.h"
#include "mcp/claim_thread.h"
#include "mcp/files.h"
#include "mcp/resource_watch.h"
#include "mcp/tools.h"
#include "net/fetch.h"
#include "net/libcurl.h"
#include "wake/wake.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CLAIMS_MAX = 16, /* that wait at a time */
    WATCHES_MAX = 64,
    PIECE = 1 << 16, /* bytes of a read */
};

struct mcp_stdio {
    const struct mcp_stdio_options *o;
    struct jsonrpc_lines lines;
    struct arena arena; /* of one message */
    struct buf out;
    bool is_server;                /* the hub is at CLIQ_URL */
    char client[HUB_NAME_MAX + 1]; /* of the handshake */
    char identity[HUB_NAME_MAX + 1];
    char key_says[HUB_NAME_MAX + 1]; /* who the server takes the agent for; "": not asked */
    bool has_asked;
    struct hubclient hub;
    bool is_open;
    struct claim_thread *claims[CLAIMS_MAX];
    size_t n_claims;
    struct resource_watch *watches[WATCHES_MAX];
    size_t n_watches;
};

/* ---- who and where ---- */

static struct hubclient_options
hub_options(const struct mcp_stdio *s)
{
    return (struct hubclient_options){ .identity = s->is_server ? NULL : s->identity,
                                       .says = "cliq mcp --as NAME",
                                       .hub.may_be_read_only = true,
                                       .hub.on_round = wake_on_round,
                                       .secure = fetch_secure };
}

static void
close_hub(struct mcp_stdio *s)
{
    if (s->is_open)
        hubclient_close(&s->hub);
    s->is_open = false;
}

/* An agent of a run is its phase; any other is known by its client and directory. */
static void
find_identity(struct mcp_stdio *s, const char *client)
{
    const char *set = s->o->identity ? s->o->identity : agent_identity_set();
    char name[sizeof s->identity] = "";

    client = client && *client ? client : s->client;
    if (set || *s->key_says) {
        snprintf(name, sizeof name, "%s", set ? set : s->key_says);
    } else {
        const struct agent_client *known = agent_client_of_mcp(client);
        const char *project = known && known->dir_env ? getenv(known->dir_env) : NULL;
        char *dir = getcwd(NULL, 0);
        agent_identity_make(name, known ? known->id : client,
                            project && *project ? project
                            : dir               ? dir
                                                : "");
        free(dir);
    }
    if (strcmp(name, s->identity) != 0)
        close_hub(s);
    memcpy(s->identity, name, sizeof name);
}

static enum status
open_hub(struct mcp_stdio *s, struct err *e)
{
    struct hubclient_options o = hub_options(s);

    if (s->is_open)
        return ST_OK;
    enum status st = hubclient_open(&s->hub, &o, e);
    if (!st && s->hub.place.is_tls)
        st = libcurl_load(e);
    if (st)
        hubclient_close(&s->hub);
    s->is_open = !st;
    return st;
}

/* An agent without a name of its own is, in the project's files too, who its key says. Asked once,
 * and only when it matters: a client must not wait for a server that is not there. */
static void
learn_identity(struct mcp_stdio *s)
{
    const char *name = NULL;
    struct err e;

    if (!s->is_server || s->has_asked || s->o->identity || agent_identity_set())
        return;
    s->has_asked = true;
    if (open_hub(s, &e) || hubclient_whoami(&s->hub, &s->arena, &name, &e) || !name)
        return;
    snprintf(s->key_says, sizeof s->key_says, "%s", name);
    snprintf(s->identity, sizeof s->identity, "%s", name);
}

static struct mcp_offer
offer_of(const struct mcp_stdio *s)
{
    const char *named = getenv("CLIQ_IDENTITY"); /* a server knows the caller by the key */

    return (struct mcp_offer){ .identity = !s->is_server  ? s->identity
                                           : *s->key_says ? s->key_says
                                                          : named,
                               .has_files = true,
                               .has_subscribe = true,
                               .has_listen = true };
}

/* ---- watched resources ---- */

static void
close_watch(struct mcp_stdio *s, size_t i)
{
    resource_watch_close(s->watches[i]);
    free(s->watches[i]);
    s->watches[i] = s->watches[--s->n_watches];
}

static enum status
add_watch(struct mcp_stdio *s, const char *uri, const struct json *listener, struct err *e)
{
    struct hubclient_options o = hub_options(s);
    struct resource_watch *w;

    if (s->n_watches == WATCHES_MAX)
        return err_set(e, ST_CONFLICT, "%d resources are watched already", WATCHES_MAX);
    if (!(w = malloc(sizeof *w)))
        return err_nomem(e);
    enum status st = resource_watch_open(w, uri, listener, &o, e);
    if (st) {
        free(w);
        return st;
    }
    if (!w->is_inbox)
        resource_watch_changed(w); /* as it is now */
    s->watches[s->n_watches++] = w;
    return ST_OK;
}

/* uri NULL: any. listener NULL: of resources/subscribe. */
static void
drop_watches(struct mcp_stdio *s, const char *uri, const char *listener)
{
    for (size_t i = s->n_watches; i-- > 0;) {
        const struct resource_watch *w = s->watches[i];
        bool is_its = listener ? w->listener && strcmp(w->listener, listener) == 0 : !w->listener;
        if (is_its && (!uri || strcmp(w->uri, uri) == 0))
            close_watch(s, i);
    }
}

static void
subscribe(struct mcp_stdio *s, struct mcp_request *r)
{
    struct err e;
    enum status st = ST_OK;

    drop_watches(s, r->uri, NULL);
    if (r->need == MCP_SUBSCRIBE)
        st = add_watch(s, r->uri, NULL, &e);
    if (st)
        mcp_refuse(r, st == ST_IO ? JSONRPC_INTERNAL : JSONRPC_INVALID_PARAMS, e.text, &s->out);
    else
        mcp_finish_empty(r, &s->out);
}

/* Resources that cannot be watched are left out of the acknowledgement, as the protocol says. */
static void
begin_listening(struct mcp_stdio *s, const struct mcp_request *r)
{
    struct json *kept = json_new(&s->arena, JSON_ARRAY);
    struct err e;

    json_each (v, r->uris) {
        const char *uri = json_dup_text(&s->arena, v);
        if (kept && uri && add_watch(s, uri, r->id, &e) == ST_OK)
            json_add(kept, json_new_str(&s->arena, uri, strlen(uri)));
    }
    mcp_write_acknowledged(r, kept, &s->out);
}

static void
tell_change(struct mcp_stdio *s, const struct resource_watch *w)
{
    struct arena a = { 0 };
    struct json *listener = NULL;

    if (w->listener)
        json_parse(&a, w->listener, strlen(w->listener), &listener, NULL);
    mcp_write_updated(listener, w->uri, &s->out);
    arena_release(&a);
}

/* ---- requests ---- */

static void
ask_hub(struct mcp_stdio *s, struct mcp_request *r)
{
    bool is_over = false;

    while (!is_over) {
        struct hub_reply reply = { 0 };
        struct err e = { "" };
        enum status st = open_hub(s, &e);
        if (!st && r->tool && r->tool->complete && r->step++ == 0)
            st = r->tool->complete(r, &e);
        if (!st)
            st = hubclient_call(&s->hub, &s->arena, r->op, r->args, &reply, &e);
        if (st == ST_IO) /* a store that is no longer there, a server that went: the next request
                          * looks anew */
            close_hub(s);
        is_over = mcp_finish_hub(r, st, &reply, e.text, &s->out);
    }
}

static void
ask_files(struct mcp_stdio *s, const struct mcp_request *r)
{
    learn_identity(s);
    struct mcp_offer offer = offer_of(s);
    struct mcp_files files = { .identity = r->tool ? s->identity : offer.identity,
                               .arena = &s->arena };
    struct buf text = { 0 };
    struct err e = { "" };
    enum status st = mcp_files_run(&files, r, &text, &e);

    mcp_finish_files(r, st, &text, e.text, &s->out);
    buf_release(&text);
}

static bool
is_waiting(const struct mcp_request *r)
{
    int64_t wait_s = 0;

    return r->need == MCP_HUB && r->op == HUB_CLAIM && !json_get(r->args, "signal_id") &&
           json_int(json_get(r->args, "wait_seconds"), &wait_s) && wait_s > 0 &&
           wait_s <= HUB_WAIT_MAX_S;
}

static void
begin_claim(struct mcp_stdio *s, struct mcp_request *r, const char *text, size_t len)
{
    struct hubclient_options o = hub_options(s);
    struct mcp_offer offer = offer_of(s);
    struct err e = { "too many claims wait already: cancel one, or wait until it ends" };
    enum status st = ST_CONFLICT;

    if (s->n_claims < CLAIMS_MAX)
        st = claim_thread_begin(&s->claims[s->n_claims], &o, &offer, text, len, &e);
    if (st)
        mcp_finish_hub(r, st, NULL, e.text, &s->out);
    else
        s->n_claims++;
}

static void
cancel(struct mcp_stdio *s, const struct json *id)
{
    struct buf listener = { 0 };

    for (size_t i = 0; i < s->n_claims; i++)
        if (claim_thread_is(s->claims[i], id))
            claim_thread_cancel(s->claims[i]);
    json_write(&listener, id);
    if (!buf_failed(&listener))
        drop_watches(s, NULL, listener.p);
    buf_release(&listener);
}

static void
take_line(struct mcp_stdio *s, const char *text, size_t len)
{
    struct mcp_offer offer = offer_of(s);
    struct mcp_request r;

    mcp_take(&offer, &s->arena, text, len, &r, &s->out);
    if (r.client && !r.is_modern)
        snprintf(s->client, sizeof s->client, "%s", r.client);
    if (r.need != MCP_NOTHING && r.need != MCP_CANCEL)
        find_identity(s, r.client);
    switch (r.need) {
    case MCP_NOTHING:
        break;
    case MCP_HUB:
        if (is_waiting(&r))
            begin_claim(s, &r, text, len);
        else
            ask_hub(s, &r);
        break;
    case MCP_FILES:
        ask_files(s, &r);
        break;
    case MCP_SUBSCRIBE:
    case MCP_UNSUBSCRIBE:
        subscribe(s, &r);
        break;
    case MCP_LISTEN:
        begin_listening(s, &r);
        break;
    case MCP_CANCEL:
        cancel(s, r.cancels);
        break;
    }
    arena_reset(&s->arena);
}

/* ---- the loop ---- */

static enum status
write_out(struct mcp_stdio *s, struct err *e)
{
    enum status st = buf_status(&s->out, "an answer", e);

    for (size_t at = 0; !st && at < s->out.len;) {
        ssize_t n = SYS_RETRY(sys->write(s->o->out, s->out.p + at, s->out.len - at));
        if (n < 0)
            st = err_sys(e, "write to the client");
        else
            at += (size_t)n;
    }
    buf_reset(&s->out);
    return st;
}

/* *is_over: the client closed its end. */
static enum status
read_in(struct mcp_stdio *s, bool *is_over, struct err *e)
{
    static char piece[PIECE];
    enum jsonrpc_got got;
    const char *line;
    size_t len;
    ssize_t n = SYS_RETRY(sys->read(s->o->in, piece, sizeof piece));

    if (n < 0)
        return err_sys(e, "read from the client");
    *is_over = n == 0;
    jsonrpc_feed(&s->lines, piece, (size_t)n);
    enum status st = jsonrpc_lines_status(&s->lines, e);
    while (!st && (got = jsonrpc_line(&s->lines, &line, &len)) != JSONRPC_MORE) {
        if (got == JSONRPC_TOO_LONG)
            jsonrpc_write_error(&s->out, NULL, JSONRPC_INVALID_REQUEST,
                                "a message of more than "
                                "16 MiB",
                                NULL);
        else
            take_line(s, line, len);
        st = write_out(s, e);
    }
    return st;
}

static int
timeout_of(const struct mcp_stdio *s)
{
    int64_t at = INT64_MAX, now = clock_mono_ms();

    for (size_t i = 0; i < s->n_claims; i++)
        if (claim_thread_progress_at(s->claims[i]) < at)
            at = claim_thread_progress_at(s->claims[i]);
    return at == INT64_MAX ? -1 : at <= now ? 0 : (int)(at - now);
}

static void
look_at_claims(struct mcp_stdio *s, const struct pollfd *fds)
{
    int64_t now = clock_mono_ms();

    for (size_t i = s->n_claims; i-- > 0;) {
        if (fds[i].revents) {
            claim_thread_end(s->claims[i], &s->out);
            s->claims[i] = s->claims[--s->n_claims];
        } else if (claim_thread_progress_at(s->claims[i]) <= now) {
            claim_thread_tell_progress(s->claims[i], &s->out);
        }
    }
}

static enum status
turn(struct mcp_stdio *s, bool *is_over, struct err *e)
{
    struct pollfd fds[1 + CLAIMS_MAX + WATCHES_MAX] = { { .fd = s->o->in, .events = POLLIN } };
    struct pollfd *claims = fds + 1, *watches = claims + s->n_claims;
    nfds_t n = (nfds_t)(1 + s->n_claims + s->n_watches);

    for (size_t i = 0; i < s->n_claims; i++)
        claims[i] = (struct pollfd){ .fd = claim_thread_fd(s->claims[i]), .events = POLLIN };
    for (size_t i = 0; i < s->n_watches; i++)
        watches[i] = (struct pollfd){ .fd = s->watches[i]->fd, .events = POLLIN };
    if (SYS_RETRY(poll(fds, n, timeout_of(s))) < 0)
        return err_sys(e, "wait for the client");
    for (size_t i = 0; i < s->n_watches; i++)
        if (watches[i].revents && resource_watch_changed(s->watches[i]))
            tell_change(s, s->watches[i]);
    look_at_claims(s, claims);
    enum status st = write_out(s, e);
    return st || !fds[0].revents ? st : read_in(s, is_over, e);
}

enum status
mcp_stdio_run(const struct mcp_stdio_options *o, struct err *e)
{
    struct mcp_stdio s = { .o = o };
    const char *url = getenv("CLIQ_URL");
    bool is_over = false;
    enum status st = o->identity ? path_check_name("identity", o->identity, e) : ST_OK;

    s.is_server = url && *url;
    if (!st)
        find_identity(&s, NULL);
    while (!st && !is_over)
        st = turn(&s, &is_over, e);
    for (size_t i = 0; i < s.n_claims; i++)
        claim_thread_cancel(s.claims[i]);
    while (s.n_claims)
        claim_thread_end(s.claims[--s.n_claims], &s.out);
    while (s.n_watches)
        close_watch(&s, s.n_watches - 1);
    close_hub(&s);
    jsonrpc_lines_release(&s.lines);
    arena_release(&s.arena);
    buf_release(&s.out);
    return st;
}
