/*
 * context_act - what an agent does with its context: handoffs, files, signals, the end of the
 * phase.
 */
#include "context/context.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"
#include "context/status_line.h"
#include "log/lock.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_TEXT_MAX = 64 * 1024 }; /* bytes of a progress note or an error, which people read */

static enum status
need_phase(const struct context *c, const char *what, struct err *e)
{
    return c->phase ? ST_OK
                    : err_set(e, ST_INVALID, "%s: a %s message has no phase", what, c->msg->type);
}

/* ---- lines ---- */

/* The text of *n bytes without secrets, in the arena. NULL: out of memory. */
static const char *
masked_text(const struct context *c, struct arena *a, const char *text, size_t *n)
{
    struct buf b = { 0 };
    const char *shown = NULL;

    if (mask_is_empty(&c->mask))
        return text;
    if (mask_text(&c->mask, text, *n, &b, NULL) == ST_OK)
        shown = arena_dup(a, b.p ? b.p : "", b.len);
    *n = b.len;
    buf_release(&b);
    return shown;
}

/* The text without secrets, truncated at a character boundary when it is too long for a line. */
static const char *
short_text(const struct context *c, struct arena *a, const char *text)
{
    size_t n = strlen(text);

    text = masked_text(c, a, text, &n);
    if (!text)
        return "(out of memory)";

    if (n <= LINE_TEXT_MAX)
        return text;
    char *cut = arena_dup(a, text, utf8_cut(text, n, LINE_TEXT_MAX));
    return cut ? cut : "(a text too long for a line)";
}

static struct status_file
signals_of(const struct context *c)
{
    return (struct status_file){ c->signal_dir, c->signal_name, c->msg->type, c->msg->attempt_id };
}

enum status
context_ack(struct context *c, struct err *e)
{
    struct status_file f = signals_of(c);

    c->owes_ack = false;
    return status_line_ack(&f, c->state.dir, c->heard_ns, e);
}

/* What a line needs is freed with it: an agent may tell a million of them. */
static enum status
append(struct context *c, enum line_status status, const char *message, const char *error,
       const struct json *result, struct err *e)
{
    struct status_file f = signals_of(c);
    struct arena a = { 0 };
    const struct json *shown = mask_json(&c->mask, &a, result);
    enum status s = ST_OK;

    if (result && !shown)
        s = err_nomem(e);
    if (!s)
        s = status_line_append_acked(&f, c->owes_ack ? c->heard_ns : 0, status,
                                     message ? short_text(c, &a, message) : NULL,
                                     error ? short_text(c, &a, error) : NULL, shown, e);
    c->owes_ack &= s != ST_OK;
    arena_release(&a);
    return s;
}

/* Of a program that repeats itself the rest is in its log. */
enum { SAID_MAX = 50, USED_MAX = 20 }; /* lines a second */

static enum status
say_held(struct context *c, uint64_t n, struct err *e)
{
    char text[80];

    snprintf(text, sizeof text, "(%" PRIu64 " more lines are in the log)", n);
    return n ? append(c, LINE_PROGRESS, text, NULL, NULL, e) : ST_OK;
}

enum status
context_progress(struct context *c, const char *text, struct err *e)
{
    return append(c, LINE_PROGRESS, text, NULL, NULL, e);
}

enum status
context_echo(struct context *c, const char *text, struct err *e)
{
    uint64_t held;

    if (!flood_lets(&c->said, SAID_MAX, clock_mono_ms(), &held))
        return ST_OK;
    enum status s = say_held(c, held, e);
    return s ? s : context_progress(c, text, e);
}

/* A copy that can become a member of another tree: only its root node is new. */
static struct json *
graft(struct arena *a, const struct json *v)
{
    struct json *node = v ? json_new(a, v->type) : NULL;

    if (node) {
        *node = *v;
        node->next = NULL;
    }
    return node;
}

/* {"usage":{…}} */
static struct json *
usage_result(const struct context *c, struct arena *a)
{
    struct json *o = json_new(a, JSON_OBJECT);

    return o && json_set(o, "usage", graft(a, c->usage)) ? o : NULL;
}

enum status
context_usage(struct context *c, const struct usage *u, const char *text, struct err *e)
{
    uint64_t held;

    struct arena now = { 0 };
    struct json *told = usage_json(&now, u); /* before the one before is freed: u may be of it */
    arena_release(&c->usage_arena);
    c->usage_arena = now;
    c->usage = told;
    if (c->usage && !flood_lets(&c->used, USED_MAX, clock_mono_ms(), &held))
        return ST_OK; /* the next line has the sum */
    const struct json *result = c->usage ? usage_result(c, &c->usage_arena) : NULL;
    return result ? append(c, LINE_PROGRESS, text, NULL, result, e) : err_nomem(e);
}

/* The result with the usage as a member; a result that is no object stays as it is. */
static enum status
with_usage(struct context *c, const struct json **result, struct err *e)
{
    if (!c->usage || (*result && !json_is(*result, JSON_OBJECT)))
        return ST_OK;
    struct json *o = usage_result(c, c->arena), **link = o ? &o->kids.first->next : NULL;
    const struct json *old = json_get(*result, "usage");
    json_each (m, *result) {
        if (!o || m == old)
            continue;
        if (!(*link = graft(c->arena, m)))
            return err_nomem(e);
        link = &(*link)->next;
        o->kids.count++;
    }
    *result = o;
    return o ? ST_OK : err_nomem(e);
}

enum status
context_complete(struct context *c, const struct json *result, struct err *e)
{
    enum status s = c->is_done ? ST_OK : with_usage(c, &result, e);

    if (!s && !c->is_done)
        s = append(c, LINE_COMPLETE, NULL, NULL, result, e);

    c->is_done |= !s;
    return s;
}

enum status
context_fail(struct context *c, const char *text, struct err *e)
{
    const struct json *result = c->usage ? usage_result(c, c->arena) : NULL;
    enum status s = c->is_done ? ST_OK : append(c, LINE_ERROR, NULL, text, result, e);

    c->is_done |= !s;
    return s;
}

enum status
context_notify(struct context *c, const char *event, const char *to, const struct json *payload,
               struct err *e)
{
    const char *colon = strchr(to, ':');
    size_t n = colon ? (size_t)(colon - to) : strlen(to);
    char *agent = arena_dup(c->arena, to, n);
    struct json *v = json_new(c->arena, JSON_OBJECT);

    if (!agent || !v)
        return err_nomem(e);
    if (!path_is_name(agent) || (colon && !colon[1]))
        return err_set(e, ST_INVALID,
                       "bad receiver of a notification \"%.200s\": write agent or agent:channel",
                       to);
    if (!*event)
        return err_set(e, ST_INVALID, "the notification has no event");
    struct json *parts[] = {
        json_new_str(c->arena, agent, n),
        colon ? json_new_str(c->arena, colon + 1, strlen(colon + 1))
              : json_new(c->arena, JSON_NULL),
        json_new_str(c->arena, event, strlen(event)),
        payload ? graft(c->arena, payload) : json_new(c->arena, JSON_OBJECT),
    };
    static const char *const keys[] = { "agent", "channel", "event", "payload" };
    for (size_t i = 0; i < 4; i++) {
        if (!parts[i])
            return err_nomem(e);
        json_set(v, keys[i], parts[i]);
    }
    return append(c, LINE_NOTIFY, NULL, NULL, v, e);
}

/* ---- files ---- */

static enum status
hand_over(struct context *c, const char *channel, const struct handoff *h, struct err *e)
{
    struct handoff shown = *h;

    if (h->data && !(shown.data = mask_json(&c->mask, c->arena, h->data)))
        return err_nomem(e);
    if (h->text && !(shown.text = masked_text(c, c->arena, h->text, &shown.text_len)))
        return err_nomem(e);
    return handoff_write(channel, &shown, e);
}

enum status
context_send(struct context *c, const char *target, const struct json *data, const char *text,
             struct err *e)
{
    struct buf known = { 0 };
    enum status s = need_phase(c, "send", e);

    if (s)
        return s;
    if (!data && !text)
        return err_set(e, ST_INVALID, "send to %.100s: neither data nor text was given", target);
    for (size_t i = 0; i < c->n_targets; i++) {
        struct context_target *t = &c->targets[i];
        buf_addf(&known, "%s%s", i ? ", " : "", t->name);
        if (strcmp(t->name, target) != 0)
            continue;
        struct handoff h = {
            c->phase_type, c->phase, c->agent, data, text, text ? strlen(text) : 0
        };
        s = hand_over(c, t->channel, &h, e);
        t->is_sent |= !s;
        buf_release(&known);
        return s;
    }
    s = err_set(e, ST_INVALID, "phase %s cannot send to \"%.100s\": %s%s", c->phase, target,
                c->n_targets ? "its targets are " : "it has no targets", known.p ? known.p : "");
    buf_release(&known);
    return s;
}

enum status
context_write_file(struct context *c, const char *name, const void *p, size_t n, struct err *e)
{
    struct buf path = { 0 };
    enum status s = need_phase(c, "write_file", e);

    if (s)
        return s;
    buf_addf(&path, "files/%s/%s", c->phase, name);
    s = buf_status(&path, "the file's name", e);
    if (!s)
        s = state_dir_replace(&c->state, path.p, p, n, e);
    buf_release(&path);
    return s;
}

/* A name for signals/<phase>_<name>.json that is not one of cliq's own (context/state_dir.h). */
static enum status
check_signal_name(const char *name, struct err *e)
{
    static const char *const reserved[] = { "command_results", "routed" };
    enum status s = path_check_name("name of a signal", name, e);

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !s; i++)
        if (strcmp(name, reserved[i]) == 0)
            s = err_set(e, ST_INVALID, "the name of a signal %s is reserved: choose another name",
                        name);
    return s;
}

enum status
context_signal(struct context *c, const char *name, const struct json *payload, struct err *e)
{
    struct buf path = { 0 }, text = { 0 };
    enum status s = need_phase(c, "signal", e);

    if (!s)
        s = check_signal_name(name, e);
    if (s)
        return s;
    const struct json *shown = mask_json(&c->mask, c->arena, payload);
    if (payload && !shown)
        return err_nomem(e);
    buf_addf(&path, "signals/%s_%s.json", c->phase, name);
    json_write_pretty(&text, shown, 0);
    buf_addc(&text, '\n');
    s = buf_status(&path, "the path", e);
    if (!s)
        s = buf_status(&text, "the signal", e);
    if (!s)
        s = state_dir_replace(&c->state, path.p, text.p, text.len, e);
    buf_release(&path);
    buf_release(&text);
    return s;
}

/* Locks the state directory itself, through a descriptor of its own, so no lock file is needed. */
enum status
context_write_board(struct context *c, struct err *e)
{
    struct board now = { 0 };
    enum { WAIT_MS = 10000 };

    if (!c->board.is_dirty)
        return ST_OK;
    int lock = SYS_RETRY(sys->openat(c->state.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (lock < 0)
        return err_sys(e, "open %s", c->state.state_dir);
    enum status s = lock_take(lock, "the task board", WAIT_MS, e);
    if (!s)
        s = state_dir_read(&c->state, "task_board.md", &now.text, e);
    if (s == ST_NOT_FOUND) {
        buf_add(&now.text, c->board.text.p, c->board.text.len);
        s = ST_OK;
    } else if (!s) {
        board_redo(&now, &c->board);
    }
    if (!s)
        s = buf_status(&c->board.done, "the edits of the task board", e);
    if (!s)
        s = buf_status(&now.text, "the task board", e);
    if (!s)
        s = state_dir_replace(&c->state, "task_board.md", now.text.p, now.text.len, e);
    close(lock); /* releases the lock too */
    if (!s) {
        buf_release(&c->board.text);
        c->board.text = now.text;
        now.text = (struct buf){ 0 };
        buf_reset(&c->board.done);
        c->board.is_dirty = false;
    }
    board_release(&now);
    return s;
}

/* ---- the end ---- */

/* Marks the phase's entry of the board. context_open has not read the board, so it is read here. */
static enum status
tick(struct context *c, struct err *e)
{
    enum status s = ST_OK;

    if (!c->is_ticking || c->state.dir < 0)
        return ST_OK;
    if (!c->board.text.len)
        s = state_dir_read(&c->state, "task_board.md", &c->board.text, e);
    if (!s)
        board_mark(&c->board, c->phase, true);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

static enum status
finalize(struct context *c, const struct json *result, struct err *e)
{
    enum status s = need_phase(c, "finalize", e);

    if (!s && !c->is_done)
        s = tick(c, e);
    if (!s && !c->is_done)
        s = context_write_board(c, e);
    return s ? s : context_complete(c, result, e);
}

enum status
context_finalize_standard(struct context *c, struct err *e)
{
    return finalize(c, NULL, e);
}

enum status
context_finalize_summary(struct context *c, const char *summary, struct err *e)
{
    struct json *result = json_new(c->arena, JSON_OBJECT);
    const char *text = short_text(c, c->arena, summary);

    if (!result || !json_set(result, "summary", json_new_str(c->arena, text, strlen(text))))
        return err_nomem(e);
    return finalize(c, result, e);
}

static bool
is_route_target(const struct context *c, const char *name)
{
    for (size_t i = 0; i < c->n_route_targets; i++)
        if (strcmp(c->route_targets[i], name) == 0)
            return true;
    return false;
}

static enum status
check_verdict(const struct context *c, const struct context_verdict *v, struct err *e)
{
    struct buf known = { 0 };
    bool has_target = v->target && *v->target;
    const char *outcome = v->outcome ? v->outcome : "";
    enum status s = need_phase(c, "verdict", e);

    if (s)
        return s;
    if (!c->is_gate)
        return err_set(e, ST_INVALID, "phase %s is not a gate: it gives no verdict", c->phase);
    if (strcmp(outcome, "PASS") != 0 && strcmp(outcome, "ROUTE") != 0 &&
        strcmp(outcome, "ESCALATE") != 0)
        return err_set(e, ST_INVALID,
                       "bad outcome \"%.100s\" of gate %s: it must be PASS, ROUTE or ESCALATE",
                       outcome, c->phase);
    if (strcmp(outcome, "ROUTE") != 0)
        return ST_OK; /* only ROUTE has a target; drop it */
    if (has_target && is_route_target(c, v->target))
        return ST_OK;
    for (size_t i = 0; i < c->n_route_targets; i++)
        buf_addf(&known, "%s%s", i ? ", " : "", c->route_targets[i]);
    s = err_set(e, ST_INVALID, "gate %s cannot route to \"%.100s\": %s%s", c->phase,
                has_target ? v->target : "",
                c->n_route_targets ? "its route targets are " : "it has no route targets",
                known.p ? known.p : "");
    buf_release(&known);
    return s;
}

/* Adds a member; NULL text adds none. False: out of memory. */
static bool
set_text(struct arena *a, struct json *object, const char *key, const char *text)
{
    return !text || json_set(object, key, json_new_str(a, text, strlen(text)));
}

/* {"outcome":…,"target":…,"reason":…}; NULL: out of memory. */
static struct json *
verdict_json(struct arena *a, const struct context_verdict *v)
{
    struct json *o = json_new(a, JSON_OBJECT);

    return o && set_text(a, o, "outcome", v->outcome) && set_text(a, o, "target", v->target) &&
                   set_text(a, o, "reason", v->comment ? v->comment : "")
               ? o
               : NULL;
}

/* [{"name":…,"pass":…}]: the check results without their output. */
static struct json *
checks_json(struct arena *a, const struct json *results)
{
    struct json *list = json_new(a, JSON_ARRAY);

    json_each (r, results) {
        struct json *o = json_new(a, JSON_OBJECT);
        const struct json *name = json_get(r, "name"), *pass = json_get(r, "pass");
        if (!list || !o)
            return NULL;
        if (name && !json_set(o, "name", graft(a, name)))
            return NULL;
        if (pass && !json_set(o, "pass", graft(a, pass)))
            return NULL;
        json_add(list, o);
    }
    return list;
}

static struct json *
gate_data(struct context *c, const struct context_verdict *v)
{
    struct arena *a = c->arena;
    struct json *o = json_new(a, JSON_OBJECT);

    return o && json_set(o, "verdict", verdict_json(a, v)) &&
                   json_set(o, "checks", checks_json(a, c->check_results)) &&
                   json_set(o, "iteration", json_new_int(a, c->iteration)) &&
                   json_set(o, "max_iterations", json_new_int(a, c->max_iterations)) &&
                   set_text(a, o, "reviewer", v->reviewer) &&
                   set_text(a, o, "decided_at", v->decided_at) &&
                   (!c->usage || json_set(o, "usage", graft(a, c->usage)))
               ? o
               : NULL;
}

/* "ROUTE to developer: Tests fail." */
static void
gate_text(struct buf *to, const struct context_verdict *v)
{
    buf_adds(to, v->outcome);
    if (v->target)
        buf_addf(to, " to %s", v->target);
    if (v->comment && *v->comment)
        buf_addf(to, ": %s", v->comment);
}

static enum status
send_verdict(struct context *c, const struct context_verdict *v, struct err *e)
{
    struct buf text = { 0 }, path = { 0 };
    struct json *data = gate_data(c, v);

    gate_text(&text, v);
    if (strcmp(v->outcome, "ROUTE") == 0)
        buf_addf(&path, "%s/channels/%s--%s", c->state.state_dir, c->phase, v->target);
    enum status s = data ? buf_status(&text, "the verdict", e) : err_nomem(e);
    if (!s)
        s = buf_status(&path, "the path", e);
    struct handoff h = { "gate", c->phase, c->agent, data, text.p, text.len };
    if (!s && path.len)
        s = hand_over(c, path.p, &h, e);
    for (size_t i = 0; i < c->n_targets && !s && strcmp(v->outcome, "PASS") == 0; i++)
        if (!c->targets[i].is_sent && !is_route_target(c, c->targets[i].name))
            s = hand_over(c, c->targets[i].channel, &h, e);
    buf_release(&text);
    buf_release(&path);
    return s;
}

enum status
context_finalize_gate(struct context *c, const struct context_verdict *given, struct err *e)
{
    struct context_verdict copy = *given, *v = &copy;
    enum status s = check_verdict(c, v, e);

    if (s || c->is_done)
        return s;
    if (strcmp(v->outcome, "ROUTE") != 0)
        v->target = NULL;
    struct json *result = json_new(c->arena, JSON_OBJECT);
    if (!result || !json_set(result, "verdict", verdict_json(c->arena, v)) ||
        !set_text(c->arena, result, "reviewer", v->reviewer) ||
        !set_text(c->arena, result, "decided_at", v->decided_at))
        return err_nomem(e);
    s = send_verdict(c, v, e);
    if (!s && strcmp(v->outcome, "PASS") == 0)
        s = tick(c, e);
    if (!s)
        s = context_write_board(c, e);
    return s ? s : context_complete(c, result, e);
}
