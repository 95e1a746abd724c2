/* web - opens the page of the server in the browser, signed in. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "hub/model/scope.h"
#include "hubclient/hubclient.h"
#include "net/fetch.h"
#include "net/libcurl.h"
#include "net/own_server.h"
#include "proc/proc.h"
#include "team/agent.h"
#include "team/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK_MS = 10000, KEY_S = 12 * 3600 };

static const struct opt opts[] = {
    { "print", OPT_FLAG, NULL, "print the address to open, and open nothing" },
    { "listen", OPT_TEXT, "ADDRESS", "where a new server listens; default 127.0.0.1:3000" },
    { "as", OPT_TEXT, "IDENTITY", "who you are (else CLIQ_IDENTITY, else your user's name)" },
    { "url", OPT_TEXT, "URL", "a server elsewhere (else CLIQ_URL); its key: CLIQ_KEY" },
    { 0 },
};

/* ---- the server ---- */

/* Is the server of this store there? Its URL, then. */
static bool
find_server(const char *config, struct buf *url)
{
    struct err e;
    struct transport_place at;
    struct http_client client;
    struct buf said = { 0 };
    struct http_client_request q = { .method = "GET", .target = "/health", .is_repeatable = true };

    if (own_server_url(config, url, &e) != ST_OK || transport_parse(&at, url->p, &e) != ST_OK)
        return false;
    at.check = own_server_check;
    at.own_config = config;
    http_client_init(&client, &at);
    enum status s = http_client_fetch(&client, &q, &said, ASK_MS, 1, NULL, &e);
    http_client_close(&client);
    buf_release(&said);
    return s == ST_OK;
}

/* This process becomes the server, which opens the page as soon as it listens. */
static enum status
become_server(const struct args *a, struct err *e)
{
    struct arena arena = { 0 };
    const char *self = agent_self(&arena), *listen = args_text(a, "listen");
    const char *how = args_has(a, "print") ? "--open=print" : "--open=browser";
    const char *argv[] = { "cliq", "serve", how, listen ? "--listen" : NULL, listen, NULL };

    if (args_text(a, "as"))
        setenv("CLIQ_IDENTITY", args_text(a, "as"), 1);
    printf("no server runs for these signals: starting one (Ctrl-C ends it)\n");
    fflush(stdout);
    if (self)
        execv(self, (char *const *)(uintptr_t)argv);
    enum status s = self ? err_sys(e, "start cliq serve") : err_nomem(e);
    arena_release(&arena);
    return s;
}

/* ---- the key and its ticket ---- */

/* A key for the browser, of twelve hours. Files may make it; it is handed over by a ticket. */
static enum status
make_key(const char *config, const char *as, struct arena *a, const char **key, struct err *e)
{
    struct hubclient d;
    struct hubclient_options o = {
        .config = config, .url = "", .identity = as, .says = "--as NAME"
    };
    struct hub_reply reply;
    struct json *args = json_new(a, JSON_OBJECT), *scopes = scope_list(a, SCOPE_ADMIN);
    enum status s = hubclient_open(&d, &o, e);

    if (!s && (!args || !scopes))
        s = err_nomem(e);
    if (!s) {
        json_set(args, "identity", json_new_str(a, d.identity, strlen(d.identity)));
        json_set(args, "scopes", scopes);
        json_set(args, "ttl_seconds", json_new_int(a, KEY_S));
        s = hubclient_call(&d, a, HUB_KEY_CREATE, args, &reply, e);
    }
    if (!s && !(*key = json_dup_text(a, json_get(reply.data, "key"))))
        s = err_nomem(e);
    hubclient_close(&d);
    return s;
}

static enum status
take_ticket(struct hubclient *d, struct arena *a, const char **ticket, struct err *e)
{
    struct buf head = { 0 }, said = { 0 };
    struct json *doc;

    buf_addf(&head, "Authorization: Bearer %s\r\n", d->key);
    enum status s = buf_status(&head, "the request", e);
    struct http_client_request q = {
        .method = "POST", .target = "/sign-in/ticket", .headers = head.p, .is_repeatable = true
    };
    if (!s)
        s = http_client_fetch(&d->client, &q, &said, ASK_MS, HTTP_CLIENT_TRIES, NULL, e);
    const char *text = s ? NULL : arena_dup(a, said.p ? said.p : "", said.len);
    *ticket = NULL;
    if (text && json_parse(a, text, said.len, &doc, NULL))
        *ticket = json_dup_text(a, json_get(json_get(doc, "data"), "ticket"));
    if (!s && !*ticket)
        s = err_set(e, ST_REFUSED, "%s gives no ticket (status %d): is its cliq older than this?",
                    d->url, d->client.reply.status);
    buf_release(&head);
    buf_release(&said);
    return s;
}

/* ---- the browser ---- */

/* False: there is no browser to open. */
static bool
open_browser(const char *address)
{
    struct proc_id id;
    struct err e;
    struct proc_spec spec = { .argv = (const char *[]){ "xdg-open", address, NULL },
                              .env = (const char *const *)environ,
                              .out = "/dev/null" };
    const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

    if (!(display && *display) && !(wayland && *wayland) && !getenv("BROWSER"))
        return false;
    return proc_spawn(&spec, &id, &e) == ST_OK;
}

/* `key` NULL: that of CLIQ_KEY. */
static enum status
open_page(const char *url, const char *key, const char *own_config, bool is_print, struct err *e)
{
    struct arena a = { 0 };
    struct hubclient d;
    struct hubclient_options o = { .url = url, .key = key, .secure = fetch_secure };
    struct buf address = { 0 };
    const char *ticket;
    enum status s = hubclient_open(&d, &o, e);

    if (!s && d.place.is_tls)
        s = libcurl_load(e);
    if (!s && own_config) {
        d.place.check = own_server_check;
        d.place.own_config = own_config;
    }
    if (!s)
        s = take_ticket(&d, &a, &ticket, e);
    if (!s) {
        buf_addf(&address, "%s/#ticket=%s", d.url, ticket);
        s = buf_status(&address, "the address", e);
    }
    if (!s && !is_print && open_browser(address.p))
        printf("opened %s/ in the browser\n", d.url);
    else if (!s)
        printf("%s\n", address.p);
    if (!s && fflush(stdout) != 0)
        s = err_sys(e, "write to standard output");
    hubclient_close(&d);
    arena_release(&a);
    buf_release(&address);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *url = args_text(a, "url") ? args_text(a, "url") : getenv("CLIQ_URL");
    bool is_print = args_has(a, "print");
    struct buf config = { 0 }, own = { 0 };
    struct arena arena = { 0 };
    const char *key = NULL;

    if (url && *url)
        return open_page(url, NULL, NULL, is_print, e);
    enum status s = path_config(&config, e);
    if (!s && !find_server(config.p, &own)) {
        s = become_server(a, e);
    } else if (!s) {
        s = make_key(config.p, args_text(a, "as"), &arena, &key, e);
        if (!s)
            s = open_page(own.p, key, config.p, is_print, e);
    }
    buf_release(&config);
    buf_release(&own);
    arena_release(&arena);
    return s;
}

const struct cmd cmd_web = {
    .name = "web",
    .brief = "open the page: runs, what needs you, signals",
    .about =
        "Opens the page of the server of these signals in the browser, signed in as you. When no\n"
        "server runs, this process becomes one, as cliq serve, until Ctrl-C. Without a desktop it\n"
        "prints the address.\n"
        "\n"
        "The address has a ticket, good once and for a minute, that the page exchanges for a key "
        "of\n"
        "twelve hours with the scope admin. The key is in cliq key list; cliq key revoke ends it. "
        "At a\n"
        "server elsewhere the page gets the key in CLIQ_KEY, with its scopes.",
    .examples = "cliq web\n"
                "cliq web --print\n"
                "CLIQ_KEY=cho_... cliq web --url https://hub.example",
    .opts = opts,
    .run = run,
};
