#include "mcp/resource_watch.h"

#include "mcp/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At a server only one's own inbox can be followed: it is that of the key. */
static enum status
open_inbox(struct resource_watch *w, const char *identity, const struct hubclient_options *o,
           struct err *e)
{
    static const struct subscription_filter want = { .is_inbox = true };
    struct hubclient_options own = *o;

    w->is_inbox = true;
    snprintf(w->identity, sizeof w->identity, "%s", identity);
    own.identity = w->identity;
    own.hub.on_round = NULL; /* it only reads */
    enum status s = hubclient_open(&w->hub, &own, e);
    if (!s)
        s = subscription_open(&w->subscription, &w->hub, &want, e);
    return s ? s : subscription_fd(&w->subscription, &w->fd, e);
}

enum status
resource_watch_open(struct resource_watch *w, const char *uri, const struct json *listener,
                    const struct hubclient_options *o, struct err *e)
{
    struct arena a = { 0 };
    struct mcp_uri u;
    struct buf id = { 0 };

    *w = (struct resource_watch){ .fd = -1, .watch.fd = -1, .uri = strdup(uri) };
    if (listener) {
        json_write(&id, listener);
        w->listener = buf_failed(&id) ? NULL : strndup(id.p, id.len);
        buf_release(&id);
    }
    enum status s =
        w->uri && (w->listener || !listener) ? mcp_uri_parse(&a, uri, &u, e) : err_nomem(e);
    if (!s && u.scheme == MCP_INBOX) {
        s = open_inbox(w, u.name, o, e);
    } else if (!s) {
        s = mcp_files_watch(&a, uri, &w->watch, e);
        w->fd = w->watch.fd;
    }
    arena_release(&a);
    if (s)
        resource_watch_close(w);
    return s;
}

static bool
inbox_changed(struct resource_watch *w)
{
    const struct json *signal;
    struct err e;
    bool is_new = false;

    while (subscription_next(&w->subscription, 0, &signal, &e) == ST_OK)
        is_new = true;
    return is_new;
}

/* Is the file another one than it was? */
static bool
file_changed(struct resource_watch *w)
{
    struct buf path = { 0 };
    struct stat st = { 0 };

    watch_drain(&w->watch);
    buf_addf(&path, "%s/%s", w->watch.path, w->watch.name);
    if (buf_failed(&path) || stat(path.p, &st) != 0)
        st = (struct stat){ 0 };
    buf_release(&path);
    bool is_new = st.st_size != w->size || st.st_mtim.tv_sec != w->written.tv_sec ||
                  st.st_mtim.tv_nsec != w->written.tv_nsec;
    w->size = st.st_size;
    w->written = st.st_mtim;
    return is_new;
}

bool
resource_watch_changed(struct resource_watch *w)
{
    return w->is_inbox ? inbox_changed(w) : file_changed(w);
}

void
resource_watch_close(struct resource_watch *w)
{
    if (w->is_inbox) {
        subscription_close(&w->subscription);
        hubclient_close(&w->hub);
    }
    watch_close(&w->watch);
    free(w->uri);
    free(w->listener);
    *w = (struct resource_watch){ .fd = -1, .watch.fd = -1 };
}
