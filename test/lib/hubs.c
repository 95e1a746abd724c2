#include "hubs.h"

#include <stdarg.h>

static struct arena answers;

void
forget_answers(void)
{
    arena_release(&answers);
    answers = (struct arena){ 0 };
}

struct hub *
open_hub(void)
{
    struct hub *h;
    struct err e;

    CHECK_OK(hub_open(&h, "config", &(struct hub_options){ .lock_wait_ms = 5000 }, &e), &e);
    return h;
}

void
close_hub(struct hub *h)
{
    hub_close(h);
    forget_answers();
}

void
submit_on(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
          struct hub_reply *replies)
{
    hub_round_begin(h, true);
    hub_round_decide(h, r, n, a, replies);
    hub_round_end(h, r, n, a, replies);
}

static struct hub_reply *
submit(struct hub *h, enum hub_op op, const char *who, const char *key, const char *json,
       bool goes_on)
{
    struct hub_reply *r = arena_alloc(&answers, sizeof *r);
    char *text = arena_dup(&answers, json, strlen(json));
    struct json *args;

    assert_non_null(r);
    if (!json_parse(&answers, text, strlen(text), &args, NULL))
        fail_msg("not JSON: %s", text);
    struct hub_request req = { .op = op, .identity = who, .args = args, .dedup_key = key };
    if (*who == '!') {
        req.identity++;
        req.is_admin = req.is_file = true;
    }
    if (goes_on)
        submit_on(h, &req, 1, &answers, r);
    else if (hub_ops[op].writes)
        hub_submit(h, &req, 1, &answers, r);
    else
        hub_read(h, &req, &answers, r);
    r->data = hub_reply_data(r, &answers);
    return r;
}

static const char *
format(const char *fmt, va_list ap)
{
    static char text[65536];

    vsnprintf(text, sizeof text, fmt, ap);
    return text;
}

struct hub_reply *
ask(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct hub_reply *r = submit(h, op, who, NULL, format(fmt, ap), false);
    va_end(ap);
    return r;
}

struct hub_reply *
ask_on(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct hub_reply *r = submit(h, op, who, NULL, format(fmt, ap), true);
    va_end(ap);
    return r;
}

struct hub_reply *
ask_keyed(struct hub *h, enum hub_op op, const char *who, const char *key, const char *json)
{
    return submit(h, op, who, key, json, false);
}

static const char *
text_of_value(const struct json *v)
{
    struct buf b = { 0 };

    if (!v)
        return "(none)";
    if (v->type == JSON_STRING)
        return arena_dup(&answers, v->text.p, v->text.len);
    json_write(&b, v);
    const char *text = arena_dup(&answers, b.p, b.len);
    buf_release(&b);
    return text;
}

const char *
got(const struct hub_reply *r, const char *path)
{
    return text_of_value(json_path(hub_reply_data(r, &answers), path));
}

const char *
data(const struct hub_reply *r)
{
    return text_of_value(hub_reply_data(r, &answers));
}

const char *
each(const struct hub_reply *r, const char *key)
{
    const struct json *list = hub_reply_data(r, &answers);
    struct buf b = { 0 };

    if (json_is(list, JSON_OBJECT))
        list = json_first(list);
    buf_adds(&b, "");
    json_each (v, list)
        buf_addf(&b, "%s%s", b.len ? " " : "", text_of_value(json_get(v, key)));
    const char *text = arena_dup(&answers, b.p ? b.p : "", b.len);
    buf_release(&b);
    return text;
}

const char *
emit(struct hub *h, const char *who, const char *json)
{
    struct hub_reply *r = ask(h, HUB_EMIT, who, "%s", json);

    CHECK_REPLY(r, 200);
    return got(r, "id");
}

const char *
claim(struct hub *h, const char *who, const char *id)
{
    struct hub_reply *r = ask(h, HUB_CLAIM, who, "{\"signal_id\":\"%s\"}", id);

    CHECK_REPLY(r, 200);
    return got(r, "claim_id");
}

unsigned
random_below(unsigned below)
{
    static uint32_t x = 20261116;

    x = x * 1664525 + 1013904223;
    return (x >> 8) % below;
}

struct hub_reply *
set_status(struct hub *h, const char *who, const char *id, const char *status)
{
    return ask(h, HUB_STATUS, who, "{\"signal_id\":\"%s\",\"task_status\":\"%s\"}", id, status);
}

char *
whole_hub(struct hub *h)
{
    static const struct {
        enum hub_op op;
        const char *json;
    } q[] = {
        { HUB_LIST, "{\"limit\":100}" },
        { HUB_INBOX, "{\"target\":\"@bob\"}" },
        { HUB_INBOX, "{\"target\":\"dev\"}" },
        { HUB_ROLES, "{}" },
        { HUB_RINGS, "{}" },
        { HUB_IDENTITIES, "{}" },
        { HUB_KEYS, "{}" },
        { HUB_SUBSCRIPTIONS, "{}" },
        { HUB_DELAYED, "{}" },
        { HUB_EVENTS, "{}" },
    };
    struct buf b = { 0 };

    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        buf_addf(&b, "%s\n", data(ask(h, q[i].op, "!root", "%s", q[i].json)));
    return b.p;
}

void
fill_hub(struct hub *h)
{
    ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\",\"purpose\":\"p\"}");
    ask(h, HUB_RING_ADD, "!root", "{\"id\":\"ops\",\"name\":\"Ops\"}");
    ask(h, HUB_FILL, "!root", "{\"identity\":\"bob\",\"role\":\"dev\"}");
    ask(h, HUB_JOIN, "!root", "{\"identity\":\"bob\",\"ring\":\"ops\"}");
    ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"bob\"}");
    ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\"a:*\"}");
    ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"later\",\"deliverAt\":\"+1h\",\"repeatKey\":\"k\"}");
    ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}");
    const char *t = emit(h, "ruby", TASK);
    claim(h, "bob", t);
    set_status(h, "bob", t, "in_progress");
    t = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_role\":\"dev\"}");
    claim(h, "bob", t);
    ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\",\"error\":{\"code\":1}}", t);
    t = emit(h, "ruby",
             "{\"signal_type\":\"query\",\"to_ring\":\"ops\",\"attachments\":[\"f.txt\"]}");
    ask(h, HUB_INBOX_SNOOZE, "bob", "{\"signal_id\":\"%s\",\"until\":\"+1d\"}", t);
    ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", t);
}

void
fill_hub_much(struct hub *h)
{
    struct hub_reply *r;

    for (int i = 0; i < 700; i++) {
        r = ask_on(
            h, HUB_EMIT, "ruby",
            "{\"signal_type\":\"task\",\"to_identity\":\"%s\",\"tags\":[\"a\"],\"urgency\":0.%d}",
            i % 3 ? "bob" : "zoe", i % 10);
        if (i % 100 == 50) /* a thread is looked up, and so is a key */
            ask_on(h, HUB_EMIT, "ruby",
                   "{\"signal_type\":\"note\",\"parent_id\":\"%s\",\"dedup_key\":\"k%d\"}",
                   got(r, "id"), i);
        if (i % 200 == 150) {
            r = ask_on(h, HUB_CLAIM, "bob", "{}");
            ask_on(h, i % 400 == 150 ? HUB_ACK : HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}",
                   got(r, "id"));
        }
        forget_answers();
    }
    hub_settle(h);
}

pid_t
fork_worker(void (*work)(int fd, int n), int n, int *from)
{
    int p[2];

    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(p[0]);
        work(p[1], n);
        _exit(0);
    }
    close(p[1]);
    *from = p[0];
    return pid;
}

bool
is_in_index(struct hub *reader, const char *id)
{
    struct arena a = { 0 };
    struct json *args = json_new(&a, JSON_OBJECT);
    struct hub_reply r = { 0 };

    json_set(args, "id", json_new_str(&a, id, strlen(id)));
    bool is_it = hub_try_read(
        reader,
        &(struct hub_request){ .op = HUB_GET, .identity = "eve", .reads_all = true, .args = args },
        &a, &r);
    arena_release(&a);
    return is_it && r.status == 200;
}
