#include "cmd/lib/hub_show.h"

#include "base/clock.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/lib/message_show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct hub_column hub_signal_columns[] = {
    { "ID", "@id" },           { "TYPE", "signal_type" }, { "URGENCY", "urgency" },
    { "FROM", "@from" },       { "TO", "@to" },           { "STATE", "delivery_state" },
    { "TASK", "task_status" }, { "CONTENT", "content" },  { 0 },
};

const struct hub_column hub_broadcast_columns[] = {
    { "TIME", "@time:createdAt" },
    { "TYPE", "type" },
    { "SOURCE", "@source" },
    { "ID", "@id" },
    { "DATA", "data" },
    { 0 },
};

const struct hub_column hub_subscription_columns[] = {
    { "AGENT", "agentId" },
    { "PATTERN", "pattern" },
    { "SILENT", "silent" },
    { 0 },
};

const struct hub_column hub_state_columns[] = {
    { "ID", "@id" },
    { "STATE", "delivery_state" },
    { "TASK", "task_status" },
    { 0 },
};

const struct hub_column hub_group_columns[] = {
    { "ID", "id" }, { "NAME", "name" }, { "MEMBERS", "members" }, { "PURPOSE", "purpose" }, { 0 },
};

const struct opt hub_opts[] = {
    HUB_OPTS,
    { 0 },
};

const struct opt hub_held_opts[] = {
    { "claim-id", OPT_TEXT, "CLAIM", "only if this is still your claim" },
    HUB_OPTS,
    { 0 },
};

const struct hub_field hub_held_fields[] = {
    { "claim-id", "claim_id", HF_TEXT },
    { 0 },
};

const struct opt hub_group_opts[] = {
    { "name", OPT_TEXT, "TEXT", "what people call it" },
    { "purpose", OPT_TEXT, "TEXT", "what it is for" },
    HUB_OPTS,
    { 0 },
};

const struct hub_field hub_group_fields[] = {
    { "name", "name", HF_TEXT },
    { "purpose", "purpose", HF_TEXT },
    { 0 },
};

static void
add_plain(struct buf *to, const struct json *v)
{
    struct buf text = { 0 };
    bool is_first = true;

    if (!v || v->type == JSON_NULL)
        return;
    if (v->type == JSON_STRING || v->type == JSON_NUMBER) {
        term_escape(to, v->text.p, v->text.len, false);
        return;
    }
    bool is_words = v->type == JSON_ARRAY;
    json_each (w, v)
        is_words = is_words && json_is(w, JSON_STRING);
    if (is_words) {
        json_each (w, v) {
            if (!is_first)
                buf_addc(to, ' ');
            is_first = false;
            term_escape(to, w->text.p, w->text.len, false);
        }
        return;
    }
    json_write(&text, v);
    term_escape(to, text.p ? text.p : "", text.len, false);
    to->is_starved = to->is_starved || text.is_starved;
    buf_release(&text);
}

static void
add_time(struct buf *to, const struct json *v)
{
    char text[CLOCK_ISO_SIZE];
    int64_t ms;

    if (json_int(v, &ms) && ms >= 0)
        buf_adds(to, clock_iso_ms(text, ms));
    else
        add_plain(to, v);
}

void
hub_show_cell(struct buf *to, const struct json *object, const char *key)
{
    if (strcmp(key, "@id") == 0) {
        add_plain(to, json_get(object, "id"));
    } else if (strcmp(key, "@from") == 0) {
        add_plain(to, json_get(object, "from_identity"));
        if (json_is(json_get(object, "from_role"), JSON_STRING)) {
            buf_adds(to, " as ");
            add_plain(to, json_get(object, "from_role"));
        }
    } else if (strcmp(key, "@to") == 0) {
        const struct json *ring = json_get(object, "to_ring"),
                          *who = json_get(object, "to_identity");
        add_plain(to, json_get(object, "to_role"));
        buf_adds(to, json_is(ring, JSON_STRING) ? "+" : json_is(who, JSON_STRING) ? "@" : "");
        add_plain(to, json_is(ring, JSON_STRING) ? ring : who);
    } else if (strcmp(key, "@source") == 0) {
        const struct json *source = json_get(object, "source"), *id = json_get(source, "id");
        add_plain(to, json_get(source, "type"));
        if (id && id->type != JSON_NULL)
            buf_addc(to, ':');
        add_plain(to, id);
    } else if (strncmp(key, "@time:", 6) == 0) {
        add_time(to, json_get(object, key + 6));
    } else {
        add_plain(to, json_get(object, key));
    }
}

enum status
hub_show_json(struct hub_call *c, const struct json *v, struct err *e)
{
    struct buf out = { 0 };

    show_json(&out, v, c->is_tty);
    buf_addc(&out, '\n');
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

void
hub_show_row(struct buf *to, const struct json *object, const struct hub_column *columns,
             const char *between)
{
    for (const struct hub_column *k = columns; k->head; k++) {
        buf_adds(to, k == columns ? "" : between);
        hub_show_cell(to, object, k->key);
    }
    buf_addc(to, '\n');
}

/* A cell for people: the end of a signal's id, which every command takes in its place (ids begin
 * with the time, so the ends differ), and times as they are told. */
static void
show_near_cell(struct buf *to, const struct json *object, const char *key)
{
    enum { END = 8, ID_LEN = 24 };
    bool is_id = strcmp(key, "@id") == 0, is_time = strncmp(key, "@time:", 6) == 0;
    const struct json *v = json_get(object, is_id ? "id" : is_time ? key + 6 : key);
    char text[CLOCK_ISO_SIZE];
    int64_t ms;

    if (is_id && json_is(v, JSON_STRING) && v->text.len >= ID_LEN)
        buf_add(to, v->text.p + v->text.len - END, END);
    else if (is_time && json_int(v, &ms) && ms >= 0)
        buf_adds(to, clock_near(text, ms, clock_wall_ns() / 1000000));
    else if (is_time && json_is(v, JSON_STRING) && show_near(text, v->text.p, v->text.len))
        buf_adds(to, text);
    else
        hub_show_cell(to, object, key);
}

static void
add_row(struct table *t, struct buf *out, const struct json *object,
        const struct hub_column *columns)
{
    struct buf cell = { 0 };

    for (const struct hub_column *k = columns; k->head; k++) {
        buf_reset(&cell);
        show_near_cell(&cell, object, k->key);
        table_cell(t, cell.p ? cell.p : "", cell.len);
        out->is_starved = out->is_starved || cell.is_starved;
    }
    buf_release(&cell);
}

enum status
hub_show_list(struct hub_call *c, const struct json *list, const struct hub_column *columns,
              struct err *e)
{
    struct table t = { 0 };
    struct buf out = { 0 };

    if (c->is_json) {
        static const struct json none = { .type = JSON_ARRAY };
        return hub_show_json(c, list ? list : &none, e);
    }
    if (!json_first(list)) {
        if (c->is_tty)
            fprintf(stderr, "cliq: nothing to show\n");
        return ST_OK;
    }
    for (const struct hub_column *k = columns; k->head; k++)
        t.columns++;
    for (const struct hub_column *k = columns; c->is_tty && k->head; k++)
        table_cell(&t, k->head, strlen(k->head));
    json_each (v, list) {
        if (c->is_tty)
            add_row(&t, &out, v, columns);
        else
            hub_show_row(&out, v, columns, "\t");
    }
    if (c->is_tty)
        table_write(&t, &out, term_width(STDOUT_FILENO), term_has_color(STDOUT_FILENO));
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    table_release(&t);
    return s;
}

enum status
hub_show_one(struct hub_call *c, const struct json *object, const struct hub_column *columns,
             struct err *e)
{
    if (c->is_json)
        return hub_show_json(c, object, e);
    struct json *list = json_new(&c->hub.arena, JSON_ARRAY),
                *copy = json_new(&c->hub.arena, JSON_OBJECT);
    if (!list || !copy || !object)
        return err_nomem(e);
    *copy = *object;
    copy->next = NULL;
    json_add(list, copy);
    return hub_show_list(c, list, columns, e);
}

enum status
hub_show_text(struct hub_call *c, const struct json *text, const struct json *whole, struct err *e)
{
    struct buf out = { 0 };

    if (c->is_json)
        return hub_show_json(c, whole, e);
    add_plain(&out, text);
    buf_addc(&out, '\n');
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
add_words(struct hub_call *c, const struct hub_simple *w, const struct args *a, struct json *args,
          struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < a->n_words && w->words[i]; i++)
        s = hub_args_add(c, args, w->words[i], a->words[i], e);
    if (s || !w->mine || json_get(args, w->mine))
        return s;
    return c->hub.identity ? hub_args_add(c, args, w->mine, c->hub.identity, e)
                           : err_set(e, ST_INVALID, "over HTTP the %s must be named", w->mine);
}

enum status
hub_run(const struct hub_simple *w, const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, w->fields, &args, e);
    if (!s)
        s = add_words(&c, w, a, args, e);
    if (!s)
        s = hub_call(&c, w->op, args, &reply, e);
    if (!s) {
        const struct json *v = w->inside ? json_get(reply.data, w->inside) : reply.data;
        s = w->text                  ? hub_show_text(&c, json_get(v, w->text), v, e)
            : json_is(v, JSON_ARRAY) ? hub_show_list(&c, v, w->columns, e)
                                     : hub_show_one(&c, v, w->columns, e);
    }
    hub_call_end(&c);
    return s;
}
