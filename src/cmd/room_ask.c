/* room ask - the command of a role whose work is done from an inbox of the hub. */
#include "cmd/lib/hub_call.h"
#include "hubclient/subscription.h"

#include <stdlib.h>
#include <string.h>

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

static bool
set_text(struct arena *a, struct json *to, const char *key, const char *text)
{
    return json_set(to, key, json_new_copy(a, text, strlen(text)));
}

static const char *
text_of(struct arena *a, const struct json *m, const char *key)
{
    const char *s = json_dup_text(a, json_get(m, key));

    return s ? s : "";
}

/* The task: the same however often it is asked for the same message. */
static enum status
describe(struct arena *a, const struct json *m, const char *role, struct json **out, struct err *e)
{
    const char *room = getenv("CLIQ_ROOM"), *as = getenv("CLIQ_ROLE");
    struct json *args = json_new(a, JSON_OBJECT), *about = json_new(a, JSON_OBJECT),
                *tags = json_new(a, JSON_ARRAY);
    struct buf content = { 0 }, key = { 0 };

    room = room ? room : "";
    as = as ? as : role;
    buf_addf(&content, "%s (%s) asks %s: %s from %s\n\n%s", room, text_of(a, m, "ref"), as,
             text_of(a, m, "type"), text_of(a, m, "from"), text_of(a, m, "body"));
    buf_addf(&key, "room-ask/%s/%s/%s", room, as, text_of(a, m, "id"));
    bool is_good = args && about && tags && !buf_failed(&content) && !buf_failed(&key);
    if (is_good) {
        json_add(tags, json_new_str(a, "room", 4));
        if (*room)
            json_add(tags, json_new_copy(a, room, strlen(room)));
        is_good = set_text(a, about, "room", room) && set_text(a, about, "role", as) &&
                  set_text(a, about, "message", text_of(a, m, "id")) &&
                  set_text(a, args, "signal_type", "task") &&
                  set_text(a, args, "content", content.p) && set_text(a, args, "to_role", role) &&
                  set_text(a, args, "dedup_key", key.p) && json_set(args, "tags", tags) &&
                  json_set(args, "metadata", about);
    }
    buf_release(&content);
    buf_release(&key);
    *out = args;
    return is_good ? ST_OK : err_nomem(e);
}

/* Is that signal an answer to the task, with words? */
static bool
is_answer(const struct json *signal, const char *task)
{
    const struct json *content = json_get(signal, "content");

    return json_eq(json_get(signal, "parent_id"), task) && json_is(content, JSON_STRING) &&
           content->text.len;
}

/* What it says; with --json all of it. */
static enum status
print_answer(const struct hub_call *c, const struct json *signal, struct err *e)
{
    const struct json *content = json_get(signal, "content");
    struct buf out = { 0 };

    if (c->is_json)
        json_write(&out, signal);
    else
        buf_add(&out, content->text.p, content->text.len);
    buf_addc(&out, '\n');
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

/* One that came before we listened: the task was asked for by an earlier process. */
static enum status
find_answer(struct hub_call *c, const char *task, bool *is_found, struct err *e)
{
    struct json *args = json_new(&c->hub.arena, JSON_OBJECT);
    struct hub_reply reply;
    enum status s = args && set_text(&c->hub.arena, args, "id", task)
                        ? hub_call(c, HUB_THREAD, args, &reply, e)
                        : err_nomem(e);

    *is_found = false;
    json_each (signal, s ? NULL : reply.data)
        if (!*is_found && is_answer(signal, task)) {
            s = print_answer(c, signal, e);
            *is_found = true;
        }
    return s;
}

static enum status
await(const struct hub_call *c, struct subscription *f, const char *task, struct err *e)
{
    const struct json *signal;
    enum status s;

    while (!(s = subscription_next(f, INT64_MAX, &signal, e)))
        if (!f->is_reset && is_answer(signal, task))
            return print_answer(c, signal, e);
    return s;
}

static enum status
ask(struct hub_call *c, const struct json *message, const char *role, struct err *e)
{
    struct subscription f;
    struct subscription_filter all = { 0 };
    struct json *args;
    struct hub_reply reply;
    bool is_found = false;
    enum status s = describe(&c->hub.arena, message, role, &args, e);

    if (!s)
        s = subscription_open(&f, &c->hub, &all, e);
    if (s)
        return s;
    s = hub_call(c, HUB_EMIT, args, &reply, e);
    const char *task = s ? NULL : json_dup_text(&c->hub.arena, json_get(reply.data, "id"));
    if (!s && !task)
        s = err_nomem(e);
    if (!s)
        s = find_answer(c, task, &is_found, e);
    if (!s && !is_found)
        s = await(c, &f, task, e);
    subscription_close(&f);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    const char *text;
    struct json *message;
    size_t len;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_read_stdin(&c, "the message on standard input", &text, &len, e);
    if (!s)
        s = json_parse_named(&c.hub.arena, "the message on standard input", text, len, &message, e);
    if (!s)
        s = ask(&c, message, a->words[0], e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_room_ask = {
    .name = "room ask",
    .words = "ROLE",
    .min_words = 1,
    .max_words = 1,
    .choose = "roles",
    .brief = "put a room's message into a role's inbox, and print the answer",
    .about =
        "The command of a role that is played from the hub: cliq room run gives it the message on\n"
        "standard input, a task with it goes to the inbox of ROLE, and the first signal that\n"
        "answers the task (--parent) is what the role says in the room; a reviewer's answer needs\n"
        "a line VERDICT: PASS or VERDICT: FAIL. The time limit of the room's states holds: make\n"
        "the room with a --timeout that suits. A task is written once, however often it is asked.",
    .examples = "cliq settings roles.qa.command 'cliq room ask reviewer'\n"
                "cliq inbox reviewer\n"
                "cliq emit answer 'No test. VERDICT: FAIL' --parent ID",
    .opts = opts,
    .run = run,
};
