#include "agents/review/review_task.h"

#include "hubclient/hubclient.h"
#include "net/fetch.h"
#include "net/libcurl.h"
#include "run/review.h"
#include "wake/wake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCK_WAIT_MS = 2000 }; /* a person who answers, or cancels, should not wait longer */

static enum status
open_hub(const char *sender, struct hubclient *hub, struct err *e)
{
    struct hubclient_options o = {
        .says = "CLIQ_IDENTITY",
        .hub = { .on_round = wake_on_round, .lock_wait_ms = LOCK_WAIT_MS },
        .secure = fetch_secure,
    };
    enum status s = hubclient_open(hub, &o, e);

    if (!s && hub->place.is_tls)
        s = libcurl_load(e);
    if (!s && !getenv("CLIQ_IDENTITY"))
        hub->identity = sender;
    return s;
}

static void
tell(const char *what, const struct err *e)
{
    fprintf(stderr, "review: %s: %s\n", what, e->text);
}

static bool
set_text(struct arena *a, struct json *to, const char *key, const char *text)
{
    return !text || json_set(to, key, json_new_str(a, text, strlen(text)));
}

/* ---- the tasks begin ---- */

static const char *
content_of(struct arena *a, const struct json *doc)
{
    struct buf text = { 0 };
    const char *id = review_text(a, doc, "id"), *out = NULL;

    buf_addf(&text, "Review gate %s of %s: cliq review show %s", review_text(a, doc, "gate"),
             review_text(a, doc, "team"), id);
    if (!buf_failed(&text))
        out = arena_dup(a, text.p, text.len);
    buf_release(&text);
    return out;
}

static struct json *
task_of(struct context *c, struct arena *a, const struct json *doc, const char *to)
{
    struct json *args = json_new(a, JSON_OBJECT), *tags = json_new(a, JSON_ARRAY);
    struct json *about = json_new(a, JSON_OBJECT);
    const char *content = content_of(a, doc), *id = review_text(a, doc, "id");
    struct buf key = { 0 };

    if (!args || !tags || !about || !content)
        return NULL;
    buf_addf(&key, "review:%s:%s:%s", review_text(a, doc, "run"), id, to);
    json_add(tags, json_new_str(a, "review", 6));
    json_add(tags, json_new_str(a, c->phase, strlen(c->phase)));
    bool ok = set_text(a, about, "review", id) &&
              set_text(a, about, "run", review_text(a, doc, "run")) &&
              set_text(a, about, "project", c->project_dir) && !buf_failed(&key) &&
              set_text(a, args, "signal_type", "task") && set_text(a, args, "content", content) &&
              set_text(a, args, "to_identity", to) && json_set(args, "tags", tags) &&
              json_set(args, "metadata", about) &&
              json_set(args, "dedup_key", json_new_copy(a, key.p, key.len));
    buf_release(&key);
    return ok ? args : NULL;
}

static enum status
emit(struct context *c, struct hubclient *hub, struct arena *a, const struct json *doc,
     const char *to, struct err *e)
{
    struct json *args = task_of(c, a, doc, to);
    struct hub_reply reply;
    enum status s = args ? hubclient_call(hub, a, HUB_EMIT, args, &reply, e) : err_nomem(e);
    const char *task = s ? NULL : json_dup_text(a, json_get(reply.data, "id"));

    return task ? review_note_task(&c->state, a, review_text(a, doc, "id"), to, task, e) : s;
}

void
review_task_open(struct context *c, const struct json *doc)
{
    struct hubclient hub;
    struct arena a = { 0 };
    struct err e;
    enum status s = open_hub(c->agent, &hub, &e);

    json_each (r, json_get(doc, "reviewers"))
        if (!s && !json_get(r, "task"))
            s = emit(c, &hub, &a, doc, review_text(&a, r, "identity"), &e);
    if (s)
        tell("no task in the hub", &e);
    hubclient_close(&hub);
    arena_release(&a);
}

/* ---- and end ---- */

static enum status
call(struct hubclient *hub, struct arena *a, enum hub_op op, const char *task, const char *status,
     struct err *e)
{
    struct json *args = json_new(a, JSON_OBJECT);
    struct hub_reply reply;
    bool ok =
        args && set_text(a, args, "signal_id", task) && set_text(a, args, "task_status", status);

    return ok ? hubclient_call(hub, a, op, args, &reply, e) : err_nomem(e);
}

/* As the reviewer, who may have claimed it. */
static enum status
finish(struct hubclient *hub, struct arena *a, const char *task, const char *identity,
       struct err *e)
{
    const char *own = hub->identity;
    struct err ignored;

    hub->identity = identity;
    call(hub, a, HUB_CLAIM, task, NULL, &ignored);
    call(hub, a, HUB_STATUS, task, "in_progress", &ignored);
    enum status s = call(hub, a, HUB_STATUS, task, "done", e);
    hub->identity = own;
    return s;
}

static bool
has_answered(const struct json *doc, const char *identity)
{
    json_each (v, json_get(doc, "answers"))
        if (json_eq(json_get(v, "by"), identity))
            return true;
    return false;
}

static bool
is_open(struct hubclient *hub, struct arena *a, const char *task)
{
    struct json *args = json_new(a, JSON_OBJECT);
    struct hub_reply reply;

    return args && set_text(a, args, "id", task) &&
           hubclient_call(hub, a, HUB_GET, args, &reply, NULL) == ST_OK &&
           !json_eq(json_get(reply.data, "task_status"), "done") &&
           !json_eq(json_get(reply.data, "task_status"), "cancelled");
}

/* One that is over already, since an orchestrator and a command end the same review, stays so. */
static void
close_one(struct hubclient *hub, struct arena *a, const struct json *doc)
{
    json_each (r, json_get(doc, "reviewers")) {
        const char *task = review_text(a, r, "task"), *who = review_text(a, r, "identity");
        struct err why;
        if (!*task || !is_open(hub, a, task))
            continue;
        enum status done = has_answered(doc, who)
                               ? finish(hub, a, task, who, &why)
                               : call(hub, a, HUB_STATUS, task, "cancelled", &why);
        if (done && is_open(hub, a, task))
            tell(task, &why);
    }
}

void
review_task_close(const char *sender, const struct json *doc)
{
    struct hubclient hub;
    struct arena a = { 0 };
    struct err e;
    enum status s = open_hub(sender, &hub, &e);

    if (s)
        tell("the tasks in the hub stay open", &e);
    else
        close_one(&hub, &a, doc);
    hubclient_close(&hub);
    arena_release(&a);
}

void
review_task_cancel_all(const struct state_dir *f, const char *sender)
{
    struct hubclient hub;
    struct arena a = { 0 };
    struct json *docs, *doc;
    struct err e;

    if (review_list(f, &a, &docs, NULL) == ST_OK && json_first(docs)) {
        enum status s = open_hub(sender, &hub, &e);
        json_each (v, docs)
            if ((review_is(v, "open") || review_is(v, "cancelled")) &&
                review_move(f, &a, review_text(&a, v, "id"), "open", "cancelled", &doc, NULL) ==
                    ST_OK &&
                !s)
                close_one(&hub, &a, doc);
        if (s)
            tell("the tasks in the hub stay open", &e);
        hubclient_close(&hub);
    }
    arena_release(&a);
}
