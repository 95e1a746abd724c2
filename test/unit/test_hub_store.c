/*
 * The hub on real files: what is asked, what is answered, what stands in the log.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#include "base/sys.h"
#include "hub/hub_impl.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASK "{\"signal_type\":\"task\",\"content\":\"x\"}"
#define S    INT64_C(1000000000)
#define T0   (INT64_C(1775215174) * S)

static struct err e;

static void
an_emitted_signal_comes_back_as_it_was_sent(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    struct hub_reply *r =
        ask(h, HUB_EMIT, "ruby",
            "{\"signal_type\":\"alert\",\"content\":\"fire\",\"to_role\":\"ops\",\"urgency\":0.8,"
            "\"tags\":[\"a\",\"b\"],\"payload\":{\"x\":1},\"metadata\":{\"m\":null},"
            "\"resources\":[{\"kind\":\"artifact\",\"ref\":\"r\"}],\"parent_id\":\"signal:root\"}");

    CHECK_REPLY(r, 200);
    const char *id = got(r, "id");
    assert_int_equal(strlen(id), 31);
    assert_memory_equal(id, "signal:", 7);
    struct hub_reply *g = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    CHECK_REPLY(g, 200);
    assert_string_equal(data(r), data(g));
    assert_string_equal(got(g, "signal_type"), "alert");
    assert_string_equal(got(g, "content"), "fire");
    assert_string_equal(got(g, "urgency"), "0.8");
    assert_string_equal(got(g, "from_identity"), "ruby");
    assert_string_equal(got(g, "to_role"), "ops");
    assert_string_equal(got(g, "to_ring"), "null");
    assert_string_equal(got(g, "parent_id"), "signal:root");
    assert_string_equal(got(g, "thread_id"), "signal:root");
    assert_string_equal(got(g, "sequence"), "1");
    assert_string_equal(got(g, "tags"), "[\"a\",\"b\"]");
    assert_string_equal(got(g, "payload"), "{\"x\":1}");
    assert_string_equal(got(g, "delivery_state"), "pending");
    assert_string_equal(got(g, "task_status"), "null");
    assert_string_equal(got(g, "protocol_version"), "chorus/1.0");
    assert_int_equal(file_mode(HUB_LOG), 0600);
    assert_int_equal(file_mode("config/signals/index.db"), 0600);
    assert_int_equal(file_mode("config/signals"), 0700);
    close_hub(h);
}

static void
what_is_wrong_is_refused_with_its_name_and_nothing_is_stored(void **state)
{
    static const struct {
        enum hub_op op;
        const char *json;
        int status;
        const char *code, *says;
    } wrong[] = {
        { HUB_EMIT, "{}", 400, "SIGNAL_EMIT_INVALID_TYPE", "signal_type is required" },
        { HUB_EMIT, "{\"signal_type\":\" \"}", 400, "SIGNAL_EMIT_INVALID_TYPE", "signal_type" },
        { HUB_EMIT, "{\"signal_type\":7}", 400, "SIGNAL_EMIT_INVALID_TYPE",
          "signal_type must be a text, not 7" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"content\":7}", 400, "SIGNAL_EMIT_VALIDATION_FAILED",
          "content must be a text, not 7" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"urgency\":1.5}", 400, "SIGNAL_EMIT_VALIDATION_FAILED",
          "urgency must be a number from 0 to 1, not 1.5" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"urgency\":\"0.5\"}", 400,
          "SIGNAL_EMIT_VALIDATION_FAILED", "urgency" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"to_role\":\"a\",\"to_ring\":\"b\"}", 400,
          "SIGNAL_EMIT_VALIDATION_FAILED", "at most one" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"to_role\":\"a b\"}", 400,
          "SIGNAL_EMIT_VALIDATION_FAILED", "to_role" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"tags\":[1]}", 400, "SIGNAL_EMIT_VALIDATION_FAILED",
          "tags must be a list of texts" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"resources\":[{\"kind\":\"x\",\"ref\":\"y\"}]}", 400,
          "SIGNAL_EMIT_VALIDATION_FAILED", "resources[0].kind" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"from_role\":\"boss\"}", 400, "SIGNAL_ROLE_NOT_HELD",
          "does not hold the role \"boss\"" },
        { HUB_EMIT_BATCH, "{}", 400, "SIGNAL_EMIT_VALIDATION_FAILED", "signals is required" },
        { HUB_EMIT_BATCH, "{\"signals\":[]}", 400, "SIGNAL_EMIT_VALIDATION_FAILED",
          "1 to 1000 elements, not 0" },
        { HUB_EMIT_BATCH, "{\"signals\":[{\"signal_type\":\"t\"},{\"signal_type\":\"\"}]}", 400,
          "SIGNAL_EMIT_INVALID_TYPE", "signals[1].signal_type" },
        { HUB_CLAIM, "{\"signal_id\":\"signal:no\"}", 404, "SIGNAL_NOT_FOUND", "signal:no" },
        { HUB_CLAIM, "{\"lease_seconds\":0}", 400, "VALIDATION_INVALID_TYPE", "lease_seconds" },
        { HUB_CLAIM, "{\"wait_seconds\":61}", 400, "VALIDATION_INVALID_TYPE", "wait_seconds" },
        { HUB_CLAIM, "{\"role\":\"dev\"}", 403, "AUTH_FORBIDDEN", "dev" },
        { HUB_ACK, "{}", 400, "VALIDATION_FIELD_REQUIRED", "signal_id is required" },
        { HUB_STATUS, "{\"signal_id\":\"x\"}", 400, "VALIDATION_FIELD_REQUIRED", "task_status" },
        { HUB_STATUS, "{\"signal_id\":\"x\",\"task_status\":\"odd\"}", 400,
          "VALIDATION_INVALID_TYPE", "not \"odd\"" },
        { HUB_FAIL, "{\"signal_id\":\"x\",\"retry_in\":-1}", 400, "VALIDATION_INVALID_TYPE",
          "retry_in" },
        { HUB_INBOX_SNOOZE, "{\"signal_id\":\"x\",\"until\":\"+1d\"}", 404, "SIGNAL_NOT_FOUND",
          "signal:x" },
        { HUB_INBOX, "{\"target\":\"a/b\"}", 400, "VALIDATION_INVALID_TYPE", "target" },
        { HUB_INBOX, "{\"target\":\"a\",\"view\":\"old\"}", 400, "VALIDATION_INVALID_TYPE",
          "view" },
        { HUB_INBOX, "{\"target\":\"a\",\"limit\":\"101\"}", 400, "VALIDATION_INVALID_TYPE",
          "limit must be a whole number from 1 to 100, not \"101\"" },
        { HUB_INBOX, "{\"target\":\"a\",\"after\":\"zzz\"}", 400, "VALIDATION_INVALID_TYPE",
          "after" },
        { HUB_LIST, "{\"delivery_state\":\"lost\"}", 400, "VALIDATION_INVALID_TYPE",
          "delivery_state" },
        { HUB_THREAD, "{\"id\":\"nobody\"}", 404, "SIGNAL_NOT_FOUND", "nobody" },
        { HUB_GENERATE, "{\"type\":\" \"}", 400, "SIGNAL_EMIT_INVALID_TYPE",
          "Signal type is required" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":{\"type\":\"agent\"}}", 400,
          "VALIDATION_INVALID_TYPE", "Agent signal source id is required" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":{\"type\":\"webhook\",\"user\":\"eve\"}}", 400,
          "VALIDATION_INVALID_TYPE", "unknown key: user" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":\"odd\"}", 400, "VALIDATION_INVALID_TYPE",
          "Unsupported signal source type: odd" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":{\"type\":\"odd\"}}", 400,
          "VALIDATION_INVALID_TYPE", "Unsupported signal source type: odd" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":{\"type\":\"system\"}}", 403, "AUTH_FORBIDDEN",
          "system" },
        { HUB_GENERATE, "{\"type\":\"t\",\"source\":{\"type\":\"agent\",\"id\":\"eve\"}}", 403,
          "AUTH_FORBIDDEN", "eve" },
        { HUB_GENERATE, "{\"type\":\"a:*\"}", 400, "SIGNAL_EMIT_INVALID_TYPE",
          "type must be segments without a *, which is for patterns, not \"a:*\"" },
        { HUB_GENERATE, "{\"type\":\"*\"}", 400, "SIGNAL_EMIT_INVALID_TYPE", "not \"*\"" },
        { HUB_SCHEDULE, "{\"type\":\"a:**\",\"deliverAt\":5}", 400, "SIGNAL_EMIT_INVALID_TYPE",
          "type must be segments" },
        { HUB_EMIT, "{\"signal_type\":\"a*\"}", 400, "SIGNAL_EMIT_INVALID_TYPE",
          "signal_type must be segments" },
        { HUB_EMIT_BATCH, "{\"signals\":[{\"signal_type\":\"t\"},{\"signal_type\":\"*:b\"}]}", 400,
          "SIGNAL_EMIT_INVALID_TYPE", "signals[1].signal_type must be segments" },
        { HUB_SUBSCRIBE, "{\"pattern\":\"a:**:b\"}", 400, "VALIDATION_INVALID_TYPE",
          "pattern must have each * alone between colons, where it is one segment, not "
          "\"a:**:b\"" },
        { HUB_SUBSCRIBE, "{\"pattern\":\"a:b*\"}", 400, "VALIDATION_INVALID_TYPE", "not \"a:b*\"" },
        { HUB_SUBSCRIBE, "{}", 400, "VALIDATION_FIELD_REQUIRED",
          "Signal subscription pattern is required" },
        { HUB_SUBSCRIBE, "{\"pattern\":\"a\",\"agentId\":\"eve\"}", 403, "AUTH_FORBIDDEN", "eve" },
        { HUB_SCHEDULE, "{\"type\":\"t\"}", 400, "VALIDATION_INVALID_TYPE",
          "deliverAt must be a finite unix timestamp" },
        { HUB_SCHEDULE, "{\"type\":\"t\",\"deliverAt\":-1}", 400, "VALIDATION_INVALID_TYPE",
          "deliverAt must be positive" },
        { HUB_CANCEL, "{}", 400, "VALIDATION_FIELD_REQUIRED", "id or repeatKey" },
        { HUB_EVENTS, "{\"limit\":\"1001\"}", 400, "VALIDATION_INVALID_TYPE", "Invalid query" },
        { HUB_EVENTS, "{\"limit\":\"abc\"}", 400, "VALIDATION_INVALID_TYPE", "Invalid query" },
        { HUB_FILL, "{\"identity\":\"a\",\"role\":\"b\"}", 404, "SIGNAL_NOT_FOUND",
          "no role \"b\"" },
        { HUB_KEY_CREATE, "{\"identity\":\"a\",\"scopes\":[\"fly\"]}", 400,
          "VALIDATION_INVALID_TYPE", "fly" },
        { HUB_KEY_REVOKE, "{\"id\":\"x\"}", 404, "SIGNAL_NOT_FOUND", "x" },
    };

    (void)state;
    struct hub *h = open_hub();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bool is_admin = hub_ops[wrong[i].op].scope == SCOPE_ADMIN;
        struct hub_reply *r = ask(h, wrong[i].op, is_admin ? "!ruby" : "ruby", "%s", wrong[i].json);
        if (r->status != wrong[i].status || !r->code || strcmp(r->code, wrong[i].code) ||
            !strstr(r->message, wrong[i].says))
            fail_msg("%s %s: %d %s: %s", hub_ops[wrong[i].op].name, wrong[i].json, r->status,
                     r->code ? r->code : "", r->message ? r->message : "");
        assert_null(r->data);
    }
    assert_int_equal(file_size(HUB_LOG), 0);
    for (int op = 0; op < HUB_N_OPS; op++)
        if (hub_ops[op].scope == SCOPE_ADMIN)
            CHECK_REFUSED(ask(h, (enum hub_op)op, "ruby", "{\"id\":\"x\"}"), 403, "AUTH_FORBIDDEN",
                          "admin");
    CHECK_REFUSED(ask(h, HUB_EMIT, "a b", TASK), 400, "VALIDATION_INVALID_TYPE", "identity");
    close_hub(h);
}

/* Logs of before, and of others: what is refused today stands in them. */
static void
types_and_patterns_with_stars_in_an_old_log_are_folded(void **state)
{
    (void)state;
    make_dirs("config/signals");
    write_file(HUB_LOG, "{\"op\":\"subscribe\",\"by\":\"bob\",\"at\":1,\"pattern\":\"a:**\"}\n"
                        "{\"op\":\"subscribe\",\"by\":\"bob\",\"at\":1,\"pattern\":\"*:b\"}\n"
                        "{\"id\":\"one1\",\"type\":\"a:**\",\"createdAt\":5}\n"
                        "{\"id\":\"two2\",\"type\":\"*:b\",\"createdAt\":6}\n"
                        "{\"id\":\"three3\",\"type\":\"a:x\",\"createdAt\":7}\n");
    struct hub *h = open_hub();
    struct hub_reply *r = ask(h, HUB_EVENTS, "ruby", "{}");
    CHECK_REPLY(r, 200);
    assert_string_equal(each(r, "type"), "a:** *:b a:x");
    r = ask(h, HUB_INBOX, "bob", "{\"target\":\"@bob\"}");
    assert_string_equal(each(r, "signal_type"), "a:** *:b"); /* as text, and by the one star */
    r = ask(h, HUB_UNSUBSCRIBE, "bob", "{\"pattern\":\"a:**\"}");
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "removed"), "true");
    close_hub(h);
}

/* A value that no argument of that kind may have; NULL: there is none. */
static const char *
wrong_value(const struct hub_arg *a)
{
    switch (a->kind) {
    case ARG_ANY:
        return NULL;
    case ARG_INT:
    case ARG_NUMBER:
        return "-1";
    case ARG_TIME:
        return "\"soon\"";
    case ARG_NAME:
    case ARG_FLAG:
        return "\"a b\"";
    case ARG_LIST:
    case ARG_SIGNALS:
    case ARG_OBJECT:
    case ARG_TEXT_OR_OBJECT:
    case ARG_SOURCE:
        return "true";
    case ARG_WORD:
    case ARG_WORDS:
        return "\"nonesuch\"";
    default:
        return "7";
    }
}

/* Every other argument that must be there, good. */
static const char *
good_value(const struct hub_arg *a)
{
    switch (a->kind) {
    case ARG_SIGNALS:
        return "[{\"signal_type\":\"t\"}]";
    case ARG_TIME:
        return "\"+1d\"";
    case ARG_WORD:
        return "\"done\"";
    default:
        return "\"x\"";
    }
}

static void
check_arguments(struct hub *h, enum hub_op op)
{
    const struct hub_arg *all = hub_op_args(op);
    struct buf base = { 0 };

    CHECK_REFUSED(ask(h, op, "!ruby", "{\"zzzzzzzz\":1}"), 400,
                  op == HUB_EMIT ? "SIGNAL_EMIT_VALIDATION_FAILED" : "VALIDATION_UNKNOWN_FIELD",
                  "zzzzzzzz is not known to");
    for (const struct hub_arg *a = all; a->name; a++) {
        char says[100];
        snprintf(says, sizeof says, "%s_ is not known to %s; did you mean %s?", a->name,
                 hub_ops[op].name, a->name);
        struct hub_reply *r = ask(h, op, "!ruby", "{\"%s_\":1}", a->name);
        CHECK_REPLY(r, 400);
        if (!strstr(r->message, says))
            fail_msg("\"%s\" is not \"%s\"", r->message, says);
        buf_reset(&base);
        for (const struct hub_arg *o = all; o->name; o++)
            if (o != a && o->is_required)
                buf_addf(&base, ",\"%s\":%s", o->name, good_value(o));
        buf_adds(&base, "");
        if (a->is_required && base.len)
            CHECK_REPLY(ask(h, op, "!ruby", "{%s}", base.p + 1), 400);
        else if (a->is_required)
            CHECK_REPLY(ask(h, op, "!ruby", "{}"), 400);
        if (!wrong_value(a))
            continue;
        r = ask(h, op, "!ruby", "{\"%s\":%s%s}", a->name, wrong_value(a), base.len ? base.p : "");
        CHECK_REPLY(r, 400);
        if (!strstr(r->message, a->name) && op != HUB_EVENTS)
            fail_msg("%s of %s: \"%s\"", a->name, hub_ops[op].name, r->message);
    }
    buf_release(&base);
}

/* ops.def is what documents and clients are made from: it must be what is checked. */
static void
arguments_are_as_the_table_says(void **state)
{
    (void)state;
    struct hub *h = open_hub();

    for (int op = 0; op < HUB_N_OPS; op++)
        if (hub_ops[op].path) /* not what is for cliq itself */
            check_arguments(h, (enum hub_op)op);
    CHECK_REFUSED(ask(h, HUB_EMIT, "bob", "{\"signal_type\":\"task\",\"to_rol\":\"dev\"}"), 400,
                  "SIGNAL_EMIT_VALIDATION_FAILED",
                  "to_rol is not known to emit; did you mean to_role?");
    CHECK_REFUSED(ask(h, HUB_EMIT_BATCH, "bob",
                      "{\"signals\":[{\"signal_type\":\"t\"},{\"signal_type\":\"t\",\"tag\":[]}]}"),
                  400, "SIGNAL_EMIT_VALIDATION_FAILED", "signals[1].tag is not known to emit");
    CHECK_REFUSED(ask(h, HUB_EMIT_BATCH, "bob",
                      "{\"signals\":[{\"signal_type\":\"t\",\"dedup_key\":\"k\"}]}"),
                  400, "SIGNAL_EMIT_VALIDATION_FAILED", "signals[0].dedup_key: a batch has one");
    assert_int_equal(file_size(HUB_LOG), 0);
    /* null is as good as absent, and from_identity is the key's business */
    struct hub_reply *r = ask(
        h, HUB_EMIT, "bob", "{\"signal_type\":\"t\",\"nonesuch\":null,\"from_identity\":\"eve\"}");
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "from_identity"), "bob");
    close_hub(h);
}

/* One reader's ack would take it from all the others. */
static void
a_broadcast_is_acked_by_its_sender_alone(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", "{\"signal_type\":\"sense\"}");

    CHECK_REFUSED(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), 403, "AUTH_FORBIDDEN",
                  "is for everyone");
    CHECK_REPLY(ask(h, HUB_INBOX_ACKNOWLEDGE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    CHECK_REPLY(ask(h, HUB_ACK, "ruby", "{\"signal_id\":\"%s\"}", id), 200);
    /* a task for anyone is one that anyone may take, so that anyone may settle it */
    id = emit(h, "ruby", TASK);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    close_hub(h);
}

static void
one_task_has_one_winner(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    struct hub_reply *r = ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id);

    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "delivery_state"), "leased");
    assert_string_equal(got(r, "task_status"), "claimed");
    assert_string_equal(got(r, "claimed_by"), "bob");
    assert_int_equal(strlen(got(r, "claim_id")), 24);
    assert_string_not_equal(got(r, "claim_expires_at"), "null");
    r = ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id);
    CHECK_REFUSED(r, 409, "SIGNAL_CLAIM_CONFLICT", "claimed by bob");
    assert_true(json_eq(json_get(r->details, "claimed_by"), "bob"));
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_CLAIM_CONFLICT", "claimed by bob");
    CHECK_REFUSED(ask(h, HUB_ACK, "eve", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_CLAIM_CONFLICT", "bob");
    r = ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id);
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "delivery_state"), "acked");
    assert_string_equal(got(r, "task_status"), "claimed");
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"ack\""), 1);
    r = ask(h, HUB_HISTORY, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(each(r, "op"), "emit claim ack");
    assert_string_equal(each(r, "by"), "ruby bob bob");
    close_hub(h);
}

static void
the_next_task_is_the_most_urgent_then_the_oldest(void **state)
{
    (void)state;
    struct hub *h = open_hub();

    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\"}"), 200);
    CHECK_REPLY(ask(h, HUB_FILL, "!root", "{\"identity\":\"bob\",\"role\":\"dev\"}"), 200);
    emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"1\",\"to_role\":\"dev\"}");
    emit(h, "ruby",
         "{\"signal_type\":\"task\",\"content\":\"2\",\"urgency\":0.9,\"to_role\":\"qa\"}");
    emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"3\",\"urgency\":0.7}");
    emit(h, "ruby",
         "{\"signal_type\":\"task\",\"content\":\"4\",\"urgency\":0.7,\"to_identity\":\"bob\"}");
    emit(h, "ruby", "{\"signal_type\":\"pulse\",\"content\":\"5\",\"urgency\":1}");
    emit(h, "ruby",
         "{\"signal_type\":\"odd\",\"content\":\"6\",\"urgency\":0,\"task_status\":\"open\"}");
    assert_string_equal(got(ask(h, HUB_CLAIM, "bob", "{\"types\":[\"odd\"]}"), "content"), "6");
    assert_string_equal(got(ask(h, HUB_CLAIM, "bob", "{\"role\":\"dev\"}"), "content"), "1");
    assert_string_equal(got(ask(h, HUB_CLAIM, "bob", "{}"), "content"), "3");
    assert_string_equal(got(ask(h, HUB_CLAIM, "bob", "{}"), "content"), "4");
    struct hub_reply *r = ask(h, HUB_CLAIM, "bob", "{}");
    CHECK_REPLY(r, 200);
    assert_null(r->data);
    close_hub(h);
}

static void
a_conflict_is_told_before_a_lack_of_permission(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");

    CHECK_REFUSED(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 403, "AUTH_FORBIDDEN",
                  "not addressed to eve");
    CHECK_REFUSED(ask(h, HUB_ACK, "eve", "{\"signal_id\":\"%s\"}", id), 403, "AUTH_FORBIDDEN",
                  "eve");
    claim(h, "bob", id);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_CLAIM_CONFLICT", "bob");
    const char *query = emit(h, "ruby", "{\"signal_type\":\"query\",\"to_identity\":\"bob\"}");
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", query), 409,
                  "SIGNAL_NOT_CLAIMABLE", "not a task");
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", query), 200);
    close_hub(h);
}

static void
a_lease_ends_by_its_time_and_the_task_is_open_again(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    const char *first = claim(h, "bob", id);

    assert_int_equal(hub_due_in_ms(h), 60000);
    fake_clock(T0 + 299 * S);
    assert_int_equal(hub_due_in_ms(h), 1000);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    CHECK_REPLY(ask(h, HUB_EXTEND, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":10}", id), 200);
    fake_clock(T0 + 308 * S + 999 * (S / 1000));
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_clock(T0 + 309 * S);
    assert_int_equal(hub_due_in_ms(h), 0);
    hub_submit(h, NULL, 0, NULL, NULL);
    struct hub_reply *r = ask(h, HUB_GET, "eve", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "pending");
    assert_string_equal(got(r, "task_status"), "open");
    assert_string_equal(got(r, "delivery_count"), "1");
    assert_string_equal(got(r, "claimed_by"), "null");
    assert_int_equal(hub_due_in_ms(h), -1);
    CHECK_REFUSED(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, first),
                  409, "SIGNAL_LEASE_LOST", first);
    const char *second = claim(h, "bob", id); /* the same identity again: the old claim is dead */
    CHECK_REFUSED(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, first),
                  409, "SIGNAL_LEASE_LOST", first);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, second),
                200);
    assert_string_equal(each(ask(h, HUB_HISTORY, "bob", "{\"id\":\"%s\"}", id), "op"),
                        "emit claim extend expire claim ack");
    close_hub(h);
}

/* Both clocks are cut to milliseconds, and not at the same moment. */
static void
a_lease_does_not_end_a_part_of_a_millisecond_early(void **state)
{
    (void)state;
    fake_clock(T0 + 900000);
    fake_wall(T0 + 100000);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":10}", id), 200);
    fake_clock(T0 + 10 * S); /* 0.9 ms are missing */
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "leased");
    fake_clock(T0 + 10 * S + 1000000);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    close_hub(h);
}

static void
a_clock_that_is_set_moves_no_lease(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    claim(h, "bob", id);
    fake_clock(T0 + 100 * S);
    fake_wall(T0 + 86400 * S); /* a day ahead */
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_wall(T0 - 86400 * S); /* a day back */
    fake_clock(T0 + 299 * S);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_clock(T0 + 300 * S);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 200);
    close_hub(h);
}

static void
what_fails_comes_back_later_each_time_and_then_is_a_dead_letter(void **state)
{
    static const int back_off[] = { 1, 2, 4, 8 };

    (void)state;
    int64_t now = T0;
    fake_clock(now);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    struct hub_reply *r;
    for (size_t i = 0; i < 4; i++) {
        claim(h, "bob", id);
        r = ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\",\"error\":\"no\"}", id);
        CHECK_REPLY(r, 200);
        assert_string_equal(got(r, "delivery_state"), "failed");
        CHECK_REPLY(ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\"}", id), 200); /* again */
        assert_int_equal(hub_due_in_ms(h), back_off[i] * 1000);
        fake_clock(now + back_off[i] * S - 1000000);
        CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                      "SIGNAL_NOT_CLAIMABLE", "failed");
        fake_clock(now += back_off[i] * S);
    }
    claim(h, "bob", id);
    r = ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "dead_letter");
    assert_string_equal(got(r, "delivery_count"), "5");
    assert_int_equal(hub_due_in_ms(h), -1);
    assert_string_equal(each(ask(h, HUB_LIST, "bob", "{\"delivery_state\":\"dead_letter\"}"), "id"),
                        id);
    CHECK_REPLY(ask(h, HUB_REQUEUE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    CHECK_REPLY(ask(h, HUB_REQUEUE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"requeue\""), 1);
    claim(h, "bob", id);
    CHECK_REPLY(ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\",\"retry_in\":0}", id), 200);
    claim(h, "bob", id);
    close_hub(h);
}

static void
five_lost_leases_make_a_dead_letter(void **state)
{
    (void)state;
    int64_t now = T0;
    fake_clock(now);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    for (int i = 1; i <= HUB_MAX_DELIVERIES; i++) {
        claim(h, "bob", id);
        fake_clock(now += 300 * S);
        hub_submit(h, NULL, 0, NULL, NULL);
        struct hub_reply *r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
        assert_string_equal(got(r, "delivery_state"), i < 5 ? "pending" : "dead_letter");
        assert_int_equal(atoi(got(r, "delivery_count")), i);
    }
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"expire\""), 5);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_NOT_CLAIMABLE", "dead_letter");
    assert_null(ask(h, HUB_CLAIM, "bob", "{}")->data);
    close_hub(h);
}

/* A number that looks random and is the same in every run. */
static unsigned
some(unsigned below)
{
    static uint32_t x = 20261116;

    x = x * 1664525 + 1013904223;
    return (x >> 8) % below;
}

/* Somebody sets the clock at every step, up to a day ahead or back, and the store is closed and
 * opened now and then: each of many leases ends at its own time, not a millisecond before. */
static void
leases_end_exactly_while_the_clock_is_set_to_and_fro(void **state)
{
    enum { LEASES = 120, STEPS = 150 };
    int64_t ends_s[LEASES], now_s = 0;
    struct hub *h;

    (void)state;
    fake_clock(T0);
    h = open_hub();
    for (int i = 0; i < LEASES; i++) {
        ends_s[i] = 1 + some(600);
        const char *id = emit(h, "ruby", TASK);
        CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":%d}", id,
                        (int)ends_s[i]),
                    200);
    }
    for (int i = 0; i < STEPS; i++) {
        now_s += 1 + some(8);
        for (int is_reached = 0; is_reached < 2; is_reached++) { /* a ms before, then at it */
            int64_t at = T0 + now_s * S - (is_reached ? 0 : S / 1000);
            fake_clock(at);
            fake_wall(at + ((int64_t)some(2 * 86400) - 86400) * S);
            hub_submit(h, NULL, 0, NULL, NULL);
            size_t want = 0;
            for (int k = 0; k < LEASES; k++)
                want += ends_s[k] < now_s || (ends_s[k] == now_s && is_reached);
            assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"expire\""), want);
        }
        if (some(10) == 0) {
            close_hub(h);
            h = open_hub();
        }
    }
    assert_true(now_s > 400);
    close_hub(h);
}

/* What is delayed is for a time of the wall clock: by that clock it is never early, and a clock
 * that is set back brings nothing twice. */
static void
delayed_signals_come_once_while_the_clock_is_set_to_and_fro(void **state)
{
    enum { SIGNALS = 100, STEPS = 150, DAY = 86400 };
    int64_t at_s[SIGNALS], latest_s = -1;
    struct hub *h;

    (void)state;
    fake_clock(T0);
    h = open_hub();
    for (int i = 0; i < SIGNALS; i++) {
        at_s[i] = i * (DAY / SIGNALS) + 1 + some(DAY / SIGNALS);
        CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"late\",\"deliverAt\":%jd}",
                        (intmax_t)(T0 / 1000000 + at_s[i] * 1000)),
                    200);
    }
    for (int i = 0; i < STEPS; i++) {
        int64_t wall_s = some(4) ? at_s[i * SIGNALS / STEPS] : -(int64_t)some(DAY);
        for (int is_reached = 0; is_reached < 2; is_reached++) {
            fake_clock(T0 + i * S);
            fake_wall(T0 + wall_s * S - (is_reached ? 0 : S / 1000));
            hub_submit(h, NULL, 0, NULL, NULL);
            if (is_reached && wall_s > latest_s)
                latest_s = wall_s;
            size_t want = 0;
            for (int k = 0; k < SIGNALS; k++)
                want += at_s[k] <= latest_s || (at_s[k] < wall_s);
            assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"deliver\""), want);
            assert_int_equal(count_records(HUB_LOG, 0, "\"delayed\":"), want);
        }
        if (some(10) == 0) {
            close_hub(h);
            h = open_hub();
        }
    }
    fake_wall(T0 + DAY * S);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"deliver\""), SIGNALS);
    assert_int_equal(hub_due_in_ms(h), -1);
    close_hub(h);
}

static void
a_released_task_is_free_at_once(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK), *c = claim(h, "bob", id);

    CHECK_REPLY(ask(h, HUB_RELEASE, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, c),
                200);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    claim(h, "eve", id);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, c),
                200);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", id), 409);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "eve");
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_count"), "0");
    close_hub(h);
}

static struct hub_reply *
set_status(struct hub *h, const char *who, const char *id, const char *status)
{
    return ask(h, HUB_STATUS, who, "{\"signal_id\":\"%s\",\"task_status\":\"%s\"}", id, status);
}

static void
a_task_goes_its_way_step_by_step(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    CHECK_REFUSED(set_status(h, "bob", id, "done"), 409, "SIGNAL_CLAIM_CONFLICT",
                  "from open to done");
    claim(h, "bob", id);
    CHECK_REFUSED(set_status(h, "bob", id, "done"), 409, "SIGNAL_CLAIM_CONFLICT",
                  "from claimed to");
    CHECK_REFUSED(set_status(h, "eve", id, "in_progress"), 409, "SIGNAL_CLAIM_CONFLICT", "bob");
    CHECK_REPLY(set_status(h, "bob", id, "in_progress"), 200);
    CHECK_REPLY(set_status(h, "bob", id, "in_progress"), 200);
    CHECK_REPLY(set_status(h, "bob", id, "blocked"), 200);
    CHECK_REPLY(set_status(h, "bob", id, "in_progress"), 200);
    CHECK_REPLY(set_status(h, "bob", id, "done"), 200);
    CHECK_REPLY(set_status(h, "bob", id, "cancelled"), 409);
    fake_clock(T0 + 1000 * S);
    hub_submit(h, NULL, 0, NULL, NULL);
    struct hub_reply *r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "task_status"), "done");
    assert_string_equal(got(r, "delivery_state"), "acked");
    const char *other = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_role\":\"dev\"}");
    CHECK_REFUSED(set_status(h, "eve", other, "cancelled"), 403, "AUTH_FORBIDDEN", "eve");
    CHECK_REPLY(set_status(h, "ruby", other, "cancelled"), 200);
    close_hub(h);
}

static void
a_retry_with_the_same_key_is_the_same_signal(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    struct hub_reply *a = ask_keyed(h, HUB_EMIT, "ruby", "k", TASK);
    struct hub_reply *b = ask_keyed(h, HUB_EMIT, "ruby", "k", TASK);

    CHECK_REPLY(a, 200);
    assert_string_equal(data(a), data(b));
    CHECK_REFUSED(ask_keyed(h, HUB_EMIT, "ruby", "k", "{\"signal_type\":\"query\"}"), 409,
                  "SIGNAL_EMIT_CONFLICT", "\"k\"");
    assert_string_not_equal(got(ask_keyed(h, HUB_EMIT, "bob", "k", TASK), "id"), got(a, "id"));
    /* also in the body, over a closed hub without its index */
    close_hub(h);
    remove_tree("config/signals/index.db");
    h = open_hub();
    a = ask(h, HUB_EMIT, "ruby",
            "{\"signal_type\":\"task\",\"content\":\"x\",\"dedup_key\":\"k\"}");
    CHECK_REPLY(a, 200);
    assert_string_equal(got(a, "sequence"), "1");
    fake_clock(T0 + 86400 * S);
    assert_string_equal(got(ask_keyed(h, HUB_EMIT, "ruby", "k", TASK), "sequence"), "3");
    /* batches and claims */
    static const char batch[] = "{\"signals\":[{\"signal_type\":\"a\"},{\"signal_type\":\"b\"}]}";
    a = ask_keyed(h, HUB_EMIT_BATCH, "ruby", "b", batch);
    b = ask_keyed(h, HUB_EMIT_BATCH, "ruby", "b", batch);
    assert_string_equal(each(a, "signal_type"), "a b");
    assert_string_equal(data(a), data(b));
    a = ask_keyed(h, HUB_CLAIM, "eve", "c", "{}");
    b = ask_keyed(h, HUB_CLAIM, "eve", "c", "{}");
    CHECK_REPLY(b, 200);
    assert_string_equal(got(a, "claim_id"), got(b, "claim_id"));
    CHECK_REPLY(ask(h, HUB_RELEASE, "eve", "{\"signal_id\":\"%s\"}", got(a, "id")), 200);
    CHECK_REFUSED(ask_keyed(h, HUB_CLAIM, "eve", "c", "{}"), 409, "SIGNAL_LEASE_LOST", "\"c\"");
    close_hub(h);
}

static void
a_batch_is_all_or_nothing(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    struct buf b = { 0 };

    buf_adds(&b, "{\"signals\":[");
    for (int i = 0; i < 1000; i++)
        buf_addf(&b, "%s{\"signal_type\":\"t%d\"}", i ? "," : "", i);
    buf_adds(&b, "]}");
    struct hub_reply *r = ask(h, HUB_EMIT_BATCH, "ruby", "%s", b.p);
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "[999].sequence"), "1000");
    assert_int_equal(r->seq, 1000);
    buf_release(&b);
    off_t size = file_size(HUB_LOG);
    CHECK_REPLY(ask(h, HUB_EMIT_BATCH, "ruby", "{\"signals\":[{\"signal_type\":\"x\"},3]}"), 400);
    assert_int_equal(file_size(HUB_LOG), size);
    assert_string_equal(got(ask(h, HUB_EMIT, "ruby", TASK), "sequence"), "1001");
    struct hub_stats s;
    CHECK_OK(hub_stats(h, &s, &e), &e);
    assert_int_equal(s.signals, 1001);
    assert_int_equal(s.last_seq, 1001);
    close_hub(h);
}

static void
requests_of_one_round_see_each_other(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    struct arena a = { 0 };
    struct json *task, *none;
    struct hub_reply r[4];

    assert_true(json_parse(&a, TASK, sizeof TASK - 1, &task, NULL));
    assert_true(json_parse(&a, "{}", 2, &none, NULL));
    struct hub_request q[] = {
        { .op = HUB_EMIT, .identity = "ruby", .args = task },
        { .op = HUB_CLAIM, .identity = "bob", .args = none },
        { .op = HUB_CLAIM, .identity = "eve", .args = none },
        { .op = HUB_EMIT, .identity = "ruby", .args = none },
    };
    fault_count_from_here();
    hub_submit(h, q, 4, &a, r);
    assert_int_equal(fault_count("fdatasync"), 1);
    assert_string_equal(got(&r[0], "delivery_state"), "pending");
    assert_string_equal(got(&r[1], "claimed_by"), "bob");
    assert_null(r[2].data);
    assert_int_equal(r[2].status, 200);
    assert_int_equal(r[3].status, 400);
    assert_int_equal(r[1].seq, 2);
    arena_release(&a);
    close_hub(h);
}

static void
a_thread_is_found_from_any_of_its_members(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *root = emit(h, "ruby", "{\"signal_type\":\"query\",\"content\":\"1\"}");
    char text[200];

    snprintf(text, sizeof text,
             "{\"signal_type\":\"sense\",\"content\":\"2\",\"parent_id\":\"%s\"}", root);
    const char *child = emit(h, "bob", text);
    emit(h, "ruby", TASK);
    snprintf(text, sizeof text,
             "{\"signal_type\":\"sense\",\"content\":\"3\",\"parent_id\":\"%s\"}", child);
    const char *grandchild = emit(h, "ruby", text);
    const char *const members[] = { root, child, grandchild };
    for (size_t i = 0; i < 3; i++) {
        struct hub_reply *r = ask(h, HUB_THREAD, "bob", "{\"id\":\"%s\"}", members[i]);
        assert_string_equal(each(r, "content"), "1 2 3");
        assert_string_equal(got(r, "[2].thread_id"), root);
    }
    emit(h, "ruby", "{\"signal_type\":\"sense\",\"content\":\"4\",\"parent_id\":\"signal:root\"}");
    assert_string_equal(each(ask(h, HUB_THREAD, "bob", "{\"id\":\"signal:root\"}"), "content"),
                        "4");
    close_hub(h);
}

static const char *
inbox(struct hub *h, const char *who, const char *filters)
{
    struct hub_reply *r = ask(h, HUB_INBOX, who, "{%s}", filters);

    CHECK_REPLY(r, 200);
    return each(r, "content");
}

static void
an_inbox_shows_what_is_for_it_by_every_filter(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();

    ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\"}");
    ask(h, HUB_RING_ADD, "!root", "{\"id\":\"ops\"}");
    ask(h, HUB_FILL, "!root", "{\"identity\":\"bob\",\"role\":\"dev\"}");
    ask(h, HUB_JOIN, "!root", "{\"identity\":\"bob\",\"ring\":\"ops\"}");
    emit(h, "ruby",
         "{\"signal_type\":\"query\",\"content\":\"a\",\"to_role\":\"dev\",\"tags\":[\"web\"]}");
    fake_clock(T0 + 73 * 3600 * S);
    emit(h, "ruby",
         "{\"signal_type\":\"alert\",\"content\":\"b\",\"to_ring\":\"ops\",\"urgency\":0.9}");
    const char *c =
        emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"c\",\"to_identity\":\"bob\"}");
    emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"d\",\"to_role\":\"qa\"}");
    emit(h, "ruby", "{\"signal_type\":\"build:web:done\",\"content\":\"e\"}");
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\"build:*:done\"}"), 200);
    emit(h, "ruby", "{\"signal_type\":\"build:api:done\",\"content\":\"f\",\"urgency\":0.1}");
    emit(h, "bob", "{\"signal_type\":\"build:api:done\",\"content\":\"own\"}");
    emit(h, "bob",
         "{\"signal_type\":\"note\",\"content\":\"g\",\"to_identity\":\"bob\",\"urgency\":0}");

    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\""), "b a c f g");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "a");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"type\":\"alert,task\""), "b c");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"min_urgency\":\"0.5\""), "b a c");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"project_tag\":\"web\""), "a");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"view\":\"recent\""), "g f c b");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"view\":\"history\""), "g f c b a");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"view\":\"stale\""), "a");
    assert_string_equal(inbox(h, "eve", "\"target\":\"@bob\""), "a c f g"); /* not of the ring */

    claim(h, "bob", c);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", c), 200);
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\""), "b a f g");
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\",\"delivery_state\":\"acked\""), "c");
    CHECK_REPLY(ask(h, HUB_UNSUBSCRIBE, "bob", "{\"pattern\":\"build:*:done\"}"), 200);
    assert_string_equal(inbox(h, "bob", "\"target\":\"@bob\""), "b a g");
    close_hub(h);
}

static void
a_rings_signal_is_for_members_its_sender_and_admins(void **state)
{
    (void)state;
    static const struct {
        const char *who;
        int status;
    } asked[] = { { "bob", 200 }, { "ruby", 200 }, { "eve", 404 }, { "!root", 200 } };
    struct hub *h = open_hub();
    ask(h, HUB_RING_ADD, "!root", "{\"id\":\"ops\"}");
    ask(h, HUB_JOIN, "!root", "{\"identity\":\"bob\",\"ring\":\"ops\"}");
    const char *id = emit(h, "ruby", "{\"signal_type\":\"alert\",\"to_ring\":\"ops\"}");
    const char *all = emit(h, "ruby", "{\"signal_type\":\"alert\"}");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        CHECK_REPLY(ask(h, HUB_GET, asked[i].who, "{\"id\":\"%s\"}", id), asked[i].status);
        CHECK_REPLY(ask(h, HUB_HISTORY, asked[i].who, "{\"id\":\"%s\"}", id), asked[i].status);
        CHECK_REPLY(ask(h, HUB_GET, asked[i].who, "{\"id\":\"%s\"}", all), 200);
    }
    close_hub(h);
}

static void
receipts_are_each_identitys_own(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *a =
        emit(h, "ruby", "{\"signal_type\":\"query\",\"content\":\"a\",\"to_role\":\"dev\"}");
    const char *b =
        emit(h, "ruby", "{\"signal_type\":\"query\",\"content\":\"b\",\"to_role\":\"dev\"}");
    struct hub_reply *r;

    const char *before = data(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", a));
    r = ask(h, HUB_INBOX_RESOLVE, "bob", "{\"signal_id\":\"%s\"}", a);
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "receipt_state"), "resolved");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "b");
    assert_string_equal(inbox(h, "eve", "\"target\":\"dev\""), "a b");
    assert_string_equal(data(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", a)), before);
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\",\"receipt_state\":\"resolved\""), "a");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\",\"receipt_state\":\"unread\""), "b");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\",\"include_resolved\":\"true\""), "a b");

    r = ask(h, HUB_INBOX_SNOOZE, "bob", "{\"signal_id\":\"%s\",\"until\":\"2026-04-03T12:00:00Z\"}",
            b);
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "snoozed_until"), "2026-04-03T12:00:00.000Z");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\",\"receipt_state\":\"snoozed\""), "b");
    CHECK_REPLY(ask(h, HUB_INBOX_SNOOZE, "bob", "{\"signal_id\":\"%s\",\"until\":1}", b), 400);
    CHECK_REPLY(ask(h, HUB_INBOX_UNSNOOZE, "bob", "{\"signal_id\":\"%s\"}", b), 200);
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "b");
    CHECK_REPLY(ask(h, HUB_INBOX_SNOOZE, "bob", "{\"signal_id\":\"%s\",\"until\":\"+1h\"}", b),
                200);
    fake_clock(T0 + 3600 * S);
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "b"); /* the time has come */
    CHECK_REPLY(ask(h, HUB_INBOX_ACKNOWLEDGE, "bob", "{\"signal_id\":\"%s\"}", b), 200);
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\",\"receipt_state\":\"acknowledged\""),
                        "b");
    assert_string_equal(inbox(h, "bob", "\"target\":\"dev\""), "b");
    close_hub(h);
}

static void
pages_follow_each_other_without_gap_or_repeat(void **state)
{
    static const char *const views[] = { "now", "history", "recent" };

    (void)state;
    struct hub *h = open_hub();
    for (int i = 0; i < 25; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "{\"signal_type\":\"t\",\"content\":\"%d\",\"to_role\":\"dev\",\"urgency\":0.%d}",
                 i, i % 3);
        emit(h, "ruby", text);
    }
    for (size_t v = 0; v < 3; v++) {
        bool seen[25] = { 0 };
        char after[100] = "";
        size_t n = 0;
        do {
            struct hub_reply *r =
                ask(h, HUB_INBOX, "bob", "{\"target\":\"dev\",\"limit\":\"7\",\"view\":\"%s\"%s}",
                    views[v], after);
            CHECK_REPLY(r, 200);
            assert_true(r->has_cursor);
            json_each (s, r->data) {
                int k = atoi(json_get(s, "content")->text.p);
                assert_false(seen[k]);
                seen[k] = true;
                n++;
            }
            after[0] = '\0';
            if (r->cursor) {
                assert_int_equal(strspn(r->cursor, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789"
                                                   "abcdefghijklmnopqrstuvwxyz"),
                                 strlen(r->cursor));
                snprintf(after, sizeof after, ",\"after\":\"%s\"", r->cursor);
            }
        } while (after[0]);
        assert_int_equal(n, 25);
    }
    struct hub_reply *r = ask(h, HUB_LIST, "bob", "{\"limit\":25}");
    assert_null(r->cursor);
    assert_string_equal(got(r, "[0].content"), "24");
    close_hub(h);
}

static void
broadcasts_reach_subscribers_but_never_their_sender(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    struct hub_reply *r = ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\" a:* \",\"silent\":false}");

    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "silent"), "false");
    r = ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\"a:*\"}");
    assert_string_equal(got(r, "silent"), "false"); /* kept */
    assert_string_equal(got(ask(h, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"a:*\"}"), "silent"),
                        "true");
    r = ask(h, HUB_GENERATE, "bob", "{\"type\":\" a:b \",\"data\":{\"x\":[1]}}");
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "signal.type"), "a:b");
    assert_string_equal(got(r, "signal.source"), "{\"type\":\"agent\",\"id\":\"bob\"}");
    assert_string_equal(got(r, "signal.createdAt"), "1775215174000");
    assert_int_equal(strlen(got(r, "signal.id")), 24);
    assert_string_equal(each(ask(h, HUB_INBOX, "bob", "{\"target\":\"@bob\"}"), "signal_type"), "");
    assert_string_equal(each(ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "a:b");
    CHECK_REPLY(ask(h, HUB_GENERATE, "bob", "{\"type\":\"c\",\"source\":\"process\"}"), 200);
    r = ask(h, HUB_EVENTS, "bob", "{}");
    assert_string_equal(each(r, "type"), "a:b c");
    assert_string_equal(got(r, "events[1].source"), "{\"type\":\"process\"}");
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{\"limit\":\"1\"}"), "type"), "c");
    r = ask(h, HUB_SUBSCRIPTIONS, "bob", "{}");
    assert_string_equal(each(r, "agentId"), "bob eve");
    assert_string_equal(got(ask(h, HUB_UNSUBSCRIBE, "eve", "{\"pattern\":\"a:*\"}"), "removed"),
                        "true");
    assert_string_equal(got(ask(h, HUB_UNSUBSCRIBE, "eve", "{\"pattern\":\"a:*\"}"), "removed"),
                        "false");
    assert_string_equal(each(ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"), "");
    close_hub(h);
}

static void
a_delayed_signal_comes_at_its_time_never_early(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    int64_t now_ms = T0 / 1000000;
    struct hub_reply *r;

    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob",
                    "{\"type\":\"b\",\"deliverAt\":%jd,\"data\":1,\"repeatKey\":\" k \"}",
                    (intmax_t)now_ms + 1000),
                200);
    r = ask(h, HUB_SCHEDULE, "bob",
            "{\"type\":\"b\",\"deliverAt\":%jd.9,\"data\":2,\"repeatKey\":\"k\"}",
            (intmax_t)now_ms + 5000);
    CHECK_REPLY(r, 200);
    CHECK_REPLY(
        ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"a\",\"deliverAt\":%jd}", (intmax_t)now_ms + 9000),
        200);
    const char *first = got(r, "delayed.id");
    r = ask(h, HUB_DELAYED, "bob", "{}");
    assert_string_equal(each(r, "type"), "b a");
    char *view = read_file("config/signals/delayed.json", NULL);
    assert_memory_equal(view, "{\n  \"version\": 1,\n  \"events\": [\n    {\n      \"id\": ", 50);
    assert_non_null(strstr(view, first));
    assert_int_equal(file_mode("config/signals/delayed.json"), 0600);
    free(view);
    assert_int_equal(hub_due_in_ms(h), 5000);
    fake_clock(T0 + 4999 * (S / 1000));
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{}"), "type"), "");
    close_hub(h); /* survives */
    fake_clock(T0 + 6000 * (S / 1000));
    h = open_hub();
    hub_submit(h, NULL, 0, NULL, NULL);
    r = ask(h, HUB_EVENTS, "bob", "{}");
    assert_string_equal(each(r, "type"), "b");
    assert_string_equal(each(r, "data"), "2");
    assert_string_equal(each(r, "createdAt"), "1775215180000");
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{}"), "type"), "b"); /* once */
    assert_string_equal(got(ask(h, HUB_CANCEL, "bob", "{\"repeatKey\":\"k\"}"), "removed"), "0");
    r = ask(h, HUB_DELAYED, "bob", "{}");
    assert_string_equal(
        got(ask(h, HUB_CANCEL, "bob", "{\"id\":\"%s\"}", got(r, "events[0].id")), "removed"), "1");
    CHECK_FILE("config/signals/delayed.json", "{\n  \"version\": 1,\n  \"events\": []\n}\n");
    assert_int_equal(hub_due_in_ms(h), -1);
    close_hub(h);
}

static void
two_hubs_on_one_store_are_one(void **state)
{
    (void)state;
    struct hub *a = open_hub(), *b = open_hub();
    const char *id = emit(a, "ruby", TASK);

    assert_string_equal(got(ask(b, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "sequence"), "1");
    claim(b, "bob", id);
    CHECK_REPLY(ask(a, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    CHECK_REPLY(ask(a, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    CHECK_REPLY(ask(b, HUB_GENERATE, "bob", "{\"type\":\"x\"}"), 200);
    assert_string_equal(each(ask(a, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "x");
    CHECK_REPLY(ask(b, HUB_UNSUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    CHECK_REPLY(ask(a, HUB_GENERATE, "bob", "{\"type\":\"x\"}"), 200);
    CHECK_REPLY(ask(b, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    assert_string_equal(each(ask(b, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "x");
    for (int i = 0; i < 20; i++)
        emit(i % 2 ? a : b, "ruby", TASK);
    CHECK_NUMBERS(HUB_LOG,
                  "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27");
    /* one of them makes the index again under the other */
    CHECK_OK(hub_rebuild(a, &e), &e);
    assert_string_equal(got(ask(b, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "bob");
    remove_tree("config/signals/index.db");
    remove_tree("config/signals/index.db-wal");
    remove_tree("config/signals/index.db-shm");
    assert_string_equal(got(ask(a, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "bob");
    assert_string_equal(got(ask(b, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), "delivery_state"),
                        "acked");
    assert_string_equal(got(ask(a, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "acked");
    hub_close(a);
    close_hub(b);
}

static void
foreign_lines_count_and_invalid_ones_change_nothing(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"mine\"}");
    char line[300];

    append_file(HUB_LOG, "{\"type\":\"hello:world\"}\n");
    append_file(HUB_LOG, "{ \"createdAt\": 5, \"type\" : \"task\", \"content\":\"foreign\","
                         " \"id\":\"mine1\", \"odd\":[] }\n");
    append_file(HUB_LOG, "not json\n{\"type\":\"task\",\"id\":\"mine1\",\"content\":\"again\"}\n");
    struct hub_reply *r = ask(h, HUB_EVENTS, "bob", "{}");
    assert_string_equal(each(r, "type"), "task hello:world task");
    assert_string_equal(got(r, "events[1].id"), "f00000000000000000000002");
    assert_string_equal(each(ask(h, HUB_LIST, "bob", "{}"), "content"), "foreign null mine");
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"zoe\",\"claim\":\"c1\",\"until\":1}\n",
             id);
    append_file(HUB_LOG, line);
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"max\",\"claim\":\"c2\",\"until\":1}\n",
             id);
    append_file(HUB_LOG, line);
    r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "claimed_by"), "zoe"); /* the first valid one wins */
    snprintf(line, sizeof line, "{\"op\":\"ack\",\"signal\":\"%s\",\"by\":\"max\"}\n", id);
    append_file(HUB_LOG, line);
    append_file(HUB_LOG,
                "{\"op\":\"dance\"}\n{\"op\":7}\n{\"op\":\"claim\"}\n{\"type\":\"\"}\n{}\n");
    r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "leased");
    append_file(HUB_LOG, "{\"type\":\"torn");
    r = ask(h, HUB_CLAIM, "bob", "{}"); /* the foreign lease is long over */
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "content"), "mine");
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 1); /* "not json"; what was torn is a note */
    close_hub(h);
}

/* Everything there is to see, as text. */
static char *
all(struct hub *h)
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

static void
live_a_life(struct hub *h)
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

static void
an_index_that_is_lost_or_damaged_is_made_again(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    live_a_life(h);
    char *before = all(h);
    close_hub(h);

    for (int i = 0; i < 5; i++) {
        if (i == 0)
            remove_tree("config/signals/index.db");
        if (i == 1)
            write_file("config/signals/index.db", "this is not a database, by any means at all");
        if (i == 2) { /* the middle of it */
            char junk[4096];
            memset(junk, 'x', sizeof junk);
            FILE *f = fopen("config/signals/index.db", "r+");
            assert_non_null(f);
            for (int k = 1; k < 60; k++) {
                fseek(f, 4096L * k, SEEK_SET);
                fwrite(junk, 1, sizeof junk, f);
            }
            fclose(f);
        }
        if (i == 3)
            write_file("config/signals/index.db", "");
        if (i == 4) { /* another log than the one it was made from */
            size_t n;
            char *log = read_file(HUB_LOG, &n);
            remove_tree(HUB_LOG);
            write_bytes(HUB_LOG, log, n);
            free(log);
        }
        if (i < 4) {
            remove_tree("config/signals/index.db-wal");
            remove_tree("config/signals/index.db-shm");
        }
        h = open_hub();
        char *after = all(h);
        assert_string_equal(before, after);
        free(after);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
    free(before);
}

/* Many, with all that can happen to them. */
static void
live_a_long_life(struct hub *h)
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

static void
an_index_of_many_signals_is_made_as_it_was_lived(void **state)
{
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    live_a_long_life(h);
    append_file(HUB_LOG, "{\"type\":\"task\",\"id\":\"twice\",\"to_identity\":\"bob\"}\n"
                         "{\"type\":\"task\",\"id\":\"twice\",\"to_identity\":\"zoe\"}\n");
    live_a_long_life(h);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e); /* makes another, and compares */
    assert_int_equal(problems, 0);
    write_file("config/signals/index.db.new", "left by somebody who was killed");
    CHECK_OK(hub_rebuild(h, &e), &e);
    assert_int_equal(ask(h, HUB_CLAIM, "zoe", "{}")->status, 200);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    assert_int_not_equal(access("config/signals/index.db.new", F_OK), 0);
    close_hub(h);
}

/* A thousand at once that need nothing of the index, each with its own texts. */
static void
emit_thousand(struct hub *h, int nth)
{
    struct buf b = { 0 };

    buf_adds(&b, "{\"signals\":[");
    for (int i = 0; i < 1000; i++)
        buf_addf(&b, "%s{\"signal_type\":\"t%d:%d\",\"to_identity\":\"%s\"}", i ? "," : "", nth, i,
                 i % 3 ? "bob" : "zoe");
    buf_adds(&b, "]}");
    assert_int_equal(ask(h, HUB_EMIT_BATCH, "ruby", "%s", b.p)->status, 200);
    forget_answers();
    buf_release(&b);
}

/* So many in a row that another thread adds them (row_queue_share), pile after pile. */
static void
an_index_is_made_by_two_threads_as_it_was_lived(void **state)
{
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    for (int i = 0; i < 6; i++) {
        emit_thousand(h, i);
        if (i == 3) /* in the middle of it the helper is waited for */
            assert_int_equal(ask(h, HUB_CLAIM, "zoe", "{}")->status, 200);
    }
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e); /* makes another, and compares */
    assert_int_equal(problems, 0);
    CHECK_OK(hub_rebuild(h, &e), &e);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

/* Somebody else writes whenever a finding is told. */
struct others {
    struct hub *hub;
    uint64_t written, dropped, notes, differences;
};

static void
write_on(struct others *o)
{
    uint64_t dropped;

    for (int i = 0; i < 20; i++) {
        struct hub_reply *r =
            ask_on(o->hub, HUB_EMIT, "zoe", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");
        assert_int_equal(r->status, 200);
        o->written++;
    }
    assert_int_equal(ask_on(o->hub, HUB_CLAIM, "bob", "{}")->status, 200);
    hub_settle(o->hub);
    CHECK_OK(hub_compact(o->hub, -5000, &dropped, &e), &e);
    o->dropped += dropped;
    forget_answers();
}

static void
on_finding(void *ctx, const struct hub_finding *f)
{
    struct others *o = ctx;

    o->notes += f->is_note;
    o->differences += !f->file;
    write_on(o);
}

static void
others_write_rotate_and_compact_while_it_is_checked(void **state)
{
    struct hub_options quick = { .rotate_bytes = 3000, .lock_wait_ms = 100 };
    struct others o = { 0 };
    uint64_t problems;
    struct hub *h, *checked;

    (void)state;
    CHECK_OK(hub_open(&h, "config", &quick, &e), &e);
    for (int i = 0; i < 60; i++)
        ask_on(h, HUB_EMIT, "ruby", "{\"signal_type\":\"note\"}");
    hub_settle(h);
    forget_answers();
    append_file(HUB_LOG,
                "no record\n{\"type\":\"task\",\"id\":\"last\",\"to_iden"); /* unfinished */
    o.hub = h;
    CHECK_OK(hub_open(&checked, "config", &quick, &e), &e);
    CHECK_OK(hub_check(checked, on_finding, &o, &problems, &e), &e);
    assert_int_equal(problems, 1);
    assert_int_equal(o.differences, 0);
    assert_int_equal(o.notes, 1);
    assert_int_equal(o.written, 40);
    assert_true(o.dropped > 0);
    CHECK_OK(hub_check(checked, NULL, NULL, &problems, &e), &e); /* of what is there now */
    close_hub(checked);
    close_hub(h);
}

static void
an_index_that_does_not_fit_on_the_disk_is_told_and_leaves_nothing(void **state)
{
    struct rlimit was, small;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    live_a_long_life(h);
    close_hub(h);
    remove_tree("config/signals/index.db");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = (struct rlimit){ 200000, was.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(hub_open(&h, "config", NULL, &e), ST_IO);
    assert_non_null(strstr(e.text, "index.db"));
    assert_int_not_equal(access("config/signals/index.db.new", F_OK), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    h = open_hub();
    assert_int_equal(ask(h, HUB_CLAIM, "bob", "{}")->status, 200);
    close_hub(h);
}

/* Bytes of any kind in the middle of an index that is in use. */
static void
a_damaged_page_is_noticed_and_mended(void **state)
{
    static char content[60001], text[60100], junk[4096];

    (void)state;
    struct hub *h = open_hub();
    memset(content, 'x', sizeof content - 1);
    snprintf(text, sizeof text, "{\"signal_type\":\"task\",\"content\":\"%s\"}", content);
    for (int i = 0; i < 60; i++)
        emit(h, "ruby", text);
    for (int i = 0; i < 20; i++)
        emit(h, "ruby", TASK);
    close_hub(h);
    off_t size = file_size("config/signals/index.db");
    assert_true(size > 1000000); /* it was checkpointed */
    memset(junk, 0xa5, sizeof junk);
    for (int round = 0; round < 3; round++) {
        FILE *f = fopen("config/signals/index.db", "r+");
        assert_non_null(f);
        for (off_t at = 4096 * (1 + round); at < file_size("config/signals/index.db"); at += 4096) {
            fseek(f, at, SEEK_SET);
            fwrite(junk, 1, sizeof junk, f);
        }
        fclose(f);
        remove_tree("config/signals/index.db-wal");
        remove_tree("config/signals/index.db-shm");
        h = open_hub();
        struct hub_reply *r =
            round == 0 ? ask(h, HUB_LIST, "bob", "{\"limit\":3}") : ask(h, HUB_CLAIM, "bob", "{}");
        CHECK_REPLY(r, 200);
        if (round == 0)
            assert_string_equal(each(r, "sequence"), "80 79 78");
        else
            assert_int_equal(atoi(got(r, "sequence")), round);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
}

static void
a_hub_stays_where_it_was_opened(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    make_dirs("elsewhere");
    assert_int_equal(chdir("elsewhere"), 0);
    CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id), 200);
    claim(h, "bob", id);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(count_files("elsewhere"), 0);
    close_hub(h);
}

static void
a_log_cut_short_is_what_counts(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    off_t size = file_size(HUB_LOG);

    claim(h, "bob", id);
    assert_int_equal(truncate(HUB_LOG, size), 0);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    claim(h, "eve", id);
    assert_int_equal(truncate(HUB_LOG, 0), 0);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), 404);
    assert_string_equal(got(ask(h, HUB_EMIT, "ruby", TASK), "sequence"), "1");
    close_hub(h);
}

static void
segments_are_one_log(void **state)
{
    (void)state;
    struct hub *h, *b = open_hub();
    struct hub_options o = { .rotate_bytes = 2000, .lock_wait_ms = 50 };
    const char *last = NULL;

    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    live_a_life(h);
    for (int i = 0; i < 30; i++)
        last = emit(h, "ruby", TASK);
    assert_true(count_files("config/signals") > 6);
    char *before = all(h), *other = all(b);
    assert_string_equal(before, other);
    free(other);
    claim(b, "zoe", last);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", last), "claimed_by"), "zoe");
    CHECK_REPLY(ask(b, HUB_RELEASE, "zoe", "{\"signal_id\":\"%s\"}", last), 200);
    hub_close(b);
    hub_close(h);
    remove_tree("config/signals/index.db");
    remove_tree("config/signals/index.db-wal");
    remove_tree("config/signals/index.db-shm");
    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    char *after = all(h);
    assert_string_equal(before, after);
    struct hub_stats s;
    CHECK_OK(hub_stats(h, &s, &e), &e);
    assert_int_equal(s.first_seq, 1);
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    free(before);
    free(after);
    close_hub(h);
}

static void
a_key_opens_until_it_is_revoked(void **state)
{
    (void)state;
    struct hub *h = open_hub(), *server = open_hub();
    struct arena a = { 0 };
    const char *who;
    unsigned scopes;
    struct hub_reply *r =
        ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"bob\",\"scopes\":[\"emit\",\"admin\"]}");

    CHECK_REPLY(r, 200);
    const char *key = got(r, "key");
    assert_int_equal(strlen(key), 47);
    assert_memory_equal(key, "cho_", 4);
    assert_string_equal(got(r, "scopes"), "[\"emit\",\"admin\"]");
    CHECK_OK(hub_check_key(server, key, &a, &who, &scopes, &e), &e);
    assert_string_equal(who, "bob");
    assert_int_equal(scopes, SCOPE_EMIT | SCOPE_ADMIN);
    char *log = read_file(HUB_LOG, NULL), *list = strdup(data(ask(h, HUB_KEYS, "!root", "{}")));
    assert_null(strstr(log, key));
    assert_null(strstr(list, key));
    free(log);
    free(list);
    assert_int_equal(hub_check_key(server, "cho_nobody", &a, &who, &scopes, &e), ST_NOT_FOUND);
    assert_int_equal(hub_check_key(server, "", &a, &who, &scopes, &e), ST_NOT_FOUND);
    CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", got(r, "id")), 200);
    assert_int_equal(hub_check_key(server, key, &a, &who, &scopes, &e), ST_NOT_FOUND);
    r = ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"bob\"}");
    assert_string_equal(got(r, "scopes"), "[\"emit\",\"claim\",\"ack\",\"inbox\",\"stream\"]");
    assert_string_equal(each(ask(h, HUB_IDENTITIES, "!root", "{}"), "id"), "bob");
    arena_release(&a);
    hub_close(server);
    close_hub(h);
}

static void
a_role_must_be_held_to_speak_for_it(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    static const char as_dev[] = "{\"signal_type\":\"t\",\"from_role\":\"dev\"}";

    CHECK_REPLY(ask(h, HUB_EMIT, "!ruby", as_dev), 200); /* nobody made it yet */
    CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", as_dev), 400, "SIGNAL_ROLE_NOT_HELD", "dev");
    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\"}"), 200);
    CHECK_REFUSED(ask(h, HUB_EMIT, "!ruby", as_dev), 400, "SIGNAL_ROLE_NOT_HELD", "dev");
    CHECK_REPLY(ask(h, HUB_FILL, "!root", "{\"identity\":\"ruby\",\"role\":\"dev\"}"), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", as_dev), 200);
    struct hub_reply *r = ask(h, HUB_ROLES, "ruby", "{}");
    assert_string_equal(each(r, "id"), "dev");
    assert_string_equal(got(r, "[0].members"), "[\"ruby\"]");
    close_hub(h);
}

static void
what_is_too_large_is_refused_alone(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    struct arena a = { 0 };
    struct json *small, *body = json_new(&a, JSON_OBJECT);
    struct hub_reply r[2];
    size_t n = LOG_LINE_MAX;
    char *big = malloc(n);

    memset(big, 'x', n);
    json_set(body, "signal_type", json_new_str(&a, "t", 1));
    json_set(body, "content", json_new_str(&a, big, n));
    assert_true(json_parse(&a, TASK, sizeof TASK - 1, &small, NULL));
    hub_submit(h,
               (struct hub_request[]){ { .op = HUB_EMIT, .identity = "ruby", .args = body },
                                       { .op = HUB_EMIT, .identity = "ruby", .args = small } },
               2, &a, r);
    CHECK_REFUSED(&r[0], 413, "BODY_TOO_LARGE", "1048476");
    CHECK_REPLY(&r[1], 200);
    assert_string_equal(got(&r[1], "sequence"), "1");
    free(big);
    arena_release(&a);
    close_hub(h);
}

static void
a_failed_write_or_sync_is_told_and_changes_nothing(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    fault_always("write", ENOSPC);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 503, "STORE_UNAVAILABLE",
                  "events.jsonl");
    fault_off(NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    fault_always("fdatasync", EIO);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", id), 503);
    fault_off(NULL);
    CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "failed fdatasync");
    close_hub(h);
    h = open_hub();
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    close_hub(h);
}

static void
a_store_whose_sync_failed_is_mended_but_not_hammered(void **state)
{
    (void)state;
    uint64_t problems;

    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    assert_null(hub_trouble(h));
    fault_always("fdatasync", EIO);
    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 503);
    assert_non_null(strstr(hub_trouble(h), "sync events.jsonl"));
    fault_count_from_here();
    int64_t at = T0, waited[8];
    for (int i = 0; i < 8; i++) { /* one try each time it says so, and none before */
        waited[i] = hub_write_retry_in_ms(h);
        at += waited[i] * (S / 1000) - 1;
        fake_clock(at);
        CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "sync");
        fake_clock(++at);
        CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "sync");
        assert_int_equal(fault_count("fdatasync"), i + 1);
        assert_true(i == 0 || waited[i] == 2 * waited[i - 1] || waited[i] == 10000);
    }
    assert_int_equal(waited[0], 100);
    assert_int_equal(waited[7], 10000);
    fault_off(NULL);
    fake_clock(at + 10 * S);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    assert_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), -1);
    /* nobody knew about the claim; it is there, so it counts */
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "leased");
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
a_full_disk_is_trouble_until_there_is_room(void **state)
{
    (void)state;
    struct rlimit before, tight;
    struct arena a = { 0 };

    fake_clock(T0);
    struct hub *h = open_hub();
    emit(h, "ruby", TASK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)hub_log_end(h) + 100; /* more than nothing, less than a signal */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503);
    assert_non_null(strstr(hub_trouble(h), "append to events.jsonl"));
    assert_int_equal(hub_write_retry_in_ms(h), 100);
    fake_clock(T0 + S / 10);
    hub_submit(h, NULL, 0, &a, NULL);
    assert_non_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503); /* is tried, and puts nothing off */
    assert_int_equal(hub_write_retry_in_ms(h), 200);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    fake_clock(T0 + S);
    hub_submit(h, NULL, 0, &a, NULL); /* nobody writes */
    assert_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), -1);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503);
    assert_int_equal(hub_write_retry_in_ms(h), 100);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200); /* or somebody does */
    assert_null(hub_trouble(h));
    arena_release(&a);
    close_hub(h);
}

/* ---- other processes ---- */

/* A child that runs `work` with the writing end of a pipe; the reading end. */
static pid_t
start(void (*work)(int fd, int n), int n, int *from)
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

static void
claim_all(int fd, int n)
{
    struct hub *h = open_hub();
    char who[16];

    snprintf(who, sizeof who, "w%d", n);
    for (;;) {
        struct hub_reply *r = ask(h, HUB_CLAIM, who, "{}");
        if (r->status != 200 || !r->data)
            _exit(r->status != 200);
        int k = atoi(got(r, "content"));
        if (write(fd, &k, sizeof k) != sizeof k)
            _exit(1);
        forget_answers();
    }
}

static void
many_processes_claim_each_task_once(void **state)
{
    enum { TASKS = 120, WORKERS = 4 };
    bool seen[TASKS] = { 0 };
    pid_t pids[WORKERS];
    int fds[WORKERS], k, n = 0;

    (void)state;
    struct hub *h = open_hub();
    for (int i = 0; i < TASKS; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"signal_type\":\"task\",\"content\":\"%d\"}", i);
        emit(h, "ruby", text);
    }
    close_hub(h);
    for (int i = 0; i < WORKERS; i++)
        pids[i] = start(claim_all, i, &fds[i]);
    for (int i = 0; i < WORKERS; i++) {
        while (read(fds[i], &k, sizeof k) == sizeof k) {
            assert_true(k >= 0 && k < TASKS && !seen[k]);
            seen[k] = true;
            n++;
        }
        close(fds[i]);
        assert_int_equal(wait_child(pids[i]), 0);
    }
    assert_int_equal(n, TASKS);
    h = open_hub();
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
emit_for_ever(int fd, int n)
{
    struct hub *h = open_hub();

    (void)n;
    for (;;) {
        const char *id = emit(h, "ruby", TASK);
        if (write(fd, id, 31) != 31)
            _exit(1);
        forget_answers();
    }
}

static void
a_killed_writer_loses_nothing_that_it_was_told(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        char ids[200][32] = { "" };
        int fd, n = 0;
        pid_t pid = start(emit_for_ever, 0, &fd);
        while (n < 20 + round && read(fd, ids[n], 31) == 31)
            n++;
        kill(pid, SIGKILL);
        wait_child(pid);
        while (n < 200 && read(fd, ids[n], 31) == 31)
            n++;
        close(fd);
        assert_true(n >= 20 + round);
        struct hub *h = open_hub();
        for (int i = 0; i < n; i++)
            CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", ids[i]), 200);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
}

/* ---- a writer that takes no lock, at the worst moment ---- */

static const char *sneaked;

static ssize_t
sneaky_write(int fd, const void *p, size_t n)
{
    if (sneaked) {
        append_file(HUB_LOG, sneaked);
        sneaked = NULL;
    }
    return sys_kernel.write(fd, p, n);
}

static void
a_line_that_slips_in_before_ours_counts_first(void **state)
{
    (void)state;
    struct sys sly = sys_kernel;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    char line[200];

    sly.write = sneaky_write;
    sys = &sly;
    sneaked = "{\"type\":\"sly\"}\n";
    struct hub_reply *r = ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"mine\"}");
    assert_string_equal(got(r, "sequence"), "3");
    assert_int_equal(r->seq, 3);
    assert_string_equal(each(ask(h, HUB_EVENTS, "ruby", "{}"), "type"), "task sly mine");
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"sly\",\"claim\":\"c\"}\n", id);
    sneaked = line;
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_CLAIM_CONFLICT", "another writer");
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "sly");
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
old_segments_go_when_nothing_needs_them(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub_options o = { .rotate_bytes = 2000, .lock_wait_ms = 50 };
    struct hub *h;
    uint64_t dropped;

    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    for (int i = 0; i < 30; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    const char *open = emit(h, "ruby", TASK);
    for (int i = 0; i < 30; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    assert_int_equal(dropped, 0); /* young */
    fake_clock(T0 + 7200 * S);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    assert_true(dropped > 0);
    struct hub_stats s;
    CHECK_OK(hub_stats(h, &s, &e), &e);
    assert_true(s.first_seq > 1 && s.signals < 61);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", open), 200); /* it waits */
    claim(h, "bob", open);
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    hub_close(h);
    remove_tree("config/signals/index.db");
    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", open), "claimed_by"), "bob");
    close_hub(h);
}

static int wire; /* to the other process */

/* Tells when it has got in line for the log's lock. */
static int
telling_flock(int fd, int op)
{
    int rc = flock(fd, op);

    if (rc == 0 && op & LOCK_SH && write(wire, "", 1) != 1)
        _exit(3);
    return rc;
}

/* Another process, since SQLite survives no fork: asks for the signal whose id it is told. */
static pid_t
start_reader(void)
{
    int ends[2];
    char id[64] = "";
    struct hub *h;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t pid = fork();
    wire = ends[pid == 0];
    close(ends[pid != 0]);
    if (pid == 0) {
        struct sys telling = *sys;
        telling.flock = telling_flock;
        sys = &telling;
        if (read(wire, id, sizeof id - 1) <= 0 || hub_open(&h, "config", NULL, &e))
            _exit(1);
        _exit(ask(h, HUB_GET, "eve", "{\"id\":\"%s\"}", id)->status == 200 ? 0 : 2);
    }
    return pid;
}

static void
rounds_share_a_commit_until_somebody_waits(void **state)
{
    int status;
    char byte;
    pid_t pid = start_reader();
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    ask(h, HUB_EMIT, "ruby", TASK);
    CHECK_REPLY(ask_on(h, HUB_EMIT, "ruby", TASK), 200);
    assert_true(hub_may_go_on(h));
    /* what a round did is there for the next one, and for a question of our own */
    CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{}"), 200);
    CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{}"), 200);
    assert_null(ask_on(h, HUB_CLAIM, "bob", "{}")->data);
    assert_false(hub_may_go_on(h)); /* nothing was written: it settled */
    const char *id = got(ask_on(h, HUB_EMIT, "ruby", TASK), "id");
    assert_true(hub_may_go_on(h));
    CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id), 200);
    assert_false(hub_may_go_on(h));

    /* another process that reads is waited for, and sees it */
    id = got(ask_on(h, HUB_EMIT, "ruby", TASK), "id");
    assert_true(hub_may_go_on(h));
    assert_int_equal(write(wire, id, strlen(id)), strlen(id));
    assert_int_equal(read(wire, &byte, 1), 1); /* it waits */
    assert_false(hub_may_go_on(h));
    hub_settle(h);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(wire);

    /* and it does not go on for ever */
    ask_on(h, HUB_EMIT, "ruby", TASK);
    assert_true(hub_may_go_on(h));
    fake_clock(T0 + S / 10);
    assert_false(hub_may_go_on(h));
    close_hub(h);
}

/* Whoever reads the index alone, and waits for nobody: does it show the signal? */
static bool
is_shown(struct hub *reader, const char *id)
{
    struct arena a = { 0 };
    struct json *args = json_new(&a, JSON_OBJECT);
    struct hub_reply r = { 0 };

    json_set(args, "id", json_new_str(&a, id, strlen(id)));
    bool is_it = hub_try_read(
        reader, &(struct hub_request){ .op = HUB_GET, .identity = "eve", .args = args }, &a, &r);
    arena_release(&a);
    return is_it && r.status == 200;
}

static void
rounds_that_go_on_are_committed_meanwhile(void **state)
{
    struct hub_options o = { .never_waits = true };
    struct hub *h = open_hub(), *reader;
    uint64_t problems;

    (void)state;
    fake_clock(T0);
    emit(h, "ruby", TASK);
    CHECK_OK(hub_open(&reader, "config", &o, &e), &e);
    const char *id = got(ask_on(h, HUB_EMIT, "ruby", TASK), "id");
    assert_false(is_shown(reader, id));
    fake_clock(T0 + S / 50);
    id = got(ask_on(h, HUB_EMIT, "ruby", TASK), "id");
    assert_true(hub_may_go_on(h)); /* and has the lock and a transaction of its own */
    UNTIL(is_shown(reader, id), 5000);
    for (int i = 0; i < 100; i++) {
        CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{}"), 200);
        id = got(ask_on(h, HUB_EMIT, "ruby", "{\"signal_type\":\"note\"}"), "id");
        fake_clock(T0 + S / 50 + i * S / 1000);
        forget_answers();
    }
    hub_close(reader);
    hub_settle(h);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
a_commit_that_fails_meanwhile_costs_nobody_an_answer(void **state)
{
    struct rlimit before, tight;
    uint64_t problems;
    struct hub *h = open_hub();
    struct stat st;

    (void)state;
    fake_clock(T0);
    emit(h, "ruby", TASK);
    assert_int_equal(stat("config/signals/index.db", &st), 0);
    assert_true(st.st_size > 4 * hub_log_end(h)); /* so the log has room, and the index has none */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)hub_log_end(h) * 8;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int i = 0; i < 6; i++) {
        fake_clock(T0 + i * S / 50);
        CHECK_REPLY(ask_on(h, HUB_EMIT, "ruby", TASK), 200);
    }
    hub_settle(h);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    fake_clock(T0 + S);
    for (int i = 0; i < 7; i++)
        assert_non_null(ask(h, HUB_CLAIM, "bob", "{}")->data);
    assert_null(ask(h, HUB_CLAIM, "bob", "{}")->data);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
a_signal_may_have_the_names_of_the_seal_within_its_members(void **state)
{
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    const struct hub_reply *r = ask(
        h, HUB_EMIT, "ruby",
        "{\"signal_type\":\"note\",\"content\":\",\\\"seq\\\":1,\\\"crc\\\":\\\"00000000\\\"}\","
        "\"metadata\":{\"of\":2,\"nth\":3},\"payload\":{\"seq\":7,\"crc\":\"00000000\"}}");
    CHECK_REPLY(r, 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"note\",\"seq\":7}"), 400);
    CHECK_OK(hub_rebuild(h, &e), &e); /* from the log alone */
    r = ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", got(r, "id"));
    CHECK_REPLY(r, 200);
    assert_true(json_eq(json_get(json_get(r->data, "payload"), "crc"), "00000000"));
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    assert_int_equal(hub_last_seq(h), 1);
    close_hub(h);
}

/* n requests as a server has them: rows are added later. */
static void
emit_round(struct hub *h, size_t n)
{
    struct arena a = { 0 };
    struct hub_request r[70];
    struct hub_reply replies[70];
    struct json *args;

    assert_true(n <= 70 && json_parse(&a, TASK, strlen(TASK), &args, NULL));
    for (size_t i = 0; i < n; i++)
        r[i] = (struct hub_request){ .op = HUB_EMIT, .identity = "ruby", .args = args };
    submit_on(h, r, n, &a, replies);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(replies[i].status, 200);
    arena_release(&a);
}

static void
rows_wait_until_they_are_many_and_are_there_for_whoever_asks(void **state)
{
    uint64_t problems;
    size_t sum = 0;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    for (size_t n = 1; n <= 70; n += 3) {
        emit_round(h, n);
        sum += n;
        if (n % 5 == 0) /* reads what waits, too */
            CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{}"), 200);
        forget_answers();
    }
    assert_true(hub_may_go_on(h));
    hub_settle(h);
    assert_true(hub_last_seq(h) > sum); /* claims have lines, too */
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
what_a_failed_round_took_back_from_the_index_is_brought_again(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();

    CHECK_REPLY(ask_on(h, HUB_EMIT, "ruby", TASK), 200);
    assert_true(hub_may_go_on(h));
    fault_always("write", ENOSPC);
    CHECK_REPLY(ask_on(h, HUB_EMIT, "ruby", TASK), 503);
    assert_int_equal(hub_last_seq(h), 0); /* the first one is in the log alone */
    assert_non_null(strstr(hub_trouble(h), "append to events.jsonl"));
    assert_int_equal(hub_fold_in_ms(h), 100);
    CHECK_REPLY(ask_on(h, HUB_EMIT, "ruby", TASK), 503);
    assert_int_equal(hub_fold_in_ms(h), 100); /* that puts off nothing */
    fake_clock(T0 + S / 10);
    assert_int_equal(hub_fold_in_ms(h), 0);
    hub_submit(h, NULL, 0, NULL, NULL); /* needs no room in the log */
    assert_int_equal(hub_last_seq(h), 1);
    assert_null(hub_trouble(h));
    assert_int_equal(hub_fold_in_ms(h), -1);
    fault_off(NULL);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
    assert_int_equal(hub_last_seq(h), 2);
    assert_null(hub_trouble(h));
    close_hub(h);
}

/* Of a thread that may not wait. */
static bool
try_emit(struct hub *h)
{
    struct arena a = { 0 };
    struct json *args;
    struct hub_reply reply;

    assert_true(json_parse(&a, TASK, sizeof TASK - 1, &args, NULL));
    struct hub_request r = { .op = HUB_EMIT, .identity = "ruby", .is_admin = true, .args = args };
    bool is_done = hub_round_begin(h, false);
    if (is_done) {
        hub_round_decide(h, &r, 1, &a, &reply);
        hub_round_end(h, &r, 1, &a, &reply);
        CHECK_REPLY(&reply, 200);
    }
    arena_release(&a);
    return is_done;
}

/* Requests that are decided one by one are one write and one sync, or none of them is. */
static void
a_round_in_steps_is_written_at_its_end(void **state)
{
    struct arena a = { 0 };
    struct json *args;
    struct hub_reply replies[3];
    struct hub_request r[3];
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
    assert_true(json_parse(&a, TASK, sizeof TASK - 1, &args, NULL));
    for (int i = 0; i < 3; i++)
        r[i] = (struct hub_request){
            .op = HUB_EMIT, .identity = "ruby", .is_admin = true, .args = args
        };
    for (int fails = 0; fails < 2; fails++) {
        unsigned writes = fault_count("write"), syncs = fault_count("fdatasync");
        int64_t end = hub_log_end(h);
        assert_true(hub_round_begin(h, false));
        for (int i = 0; i < 3; i++)
            hub_round_decide(h, r + i, 1, &a, replies + i);
        assert_int_equal(fault_count("write"), writes);
        assert_int_equal(hub_log_end(h), end);
        if (fails)
            fault_always("write", ENOSPC);
        hub_round_end(h, r, 3, &a, replies);
        for (int i = 0; i < 3; i++)
            CHECK_REPLY(&replies[i], fails ? 503 : 200);
        assert_int_equal(fault_count("write"), writes + 1);
        assert_int_equal(fault_count("fdatasync"), syncs + !fails);
        hub_settle(h);
        assert_int_equal(hub_last_seq(h), 4);
    }
    fault_off(NULL);
    arena_release(&a);
    close_hub(h);
}

static void
who_may_not_wait_is_refused_where_it_would(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub(), *other = open_hub();
    int64_t due_ms;

    assert_true(try_emit(h));
    assert_true(hub_may_go_on(h)); /* the lock is kept */
    assert_true(try_emit(h));
    hub_settle(h);
    assert_true(hub_knows_due(h, &due_ms));
    assert_int_equal(due_ms, -1);

    /* others have the lock */
    ask_on(other, HUB_EMIT, "ruby", TASK);
    assert_false(try_emit(h));
    hub_settle(other);
    /* they have written: that is folded first */
    assert_false(try_emit(h));
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
    assert_true(try_emit(h));
    /* something is due */
    hub_settle(h);
    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"lease_seconds\":5}"), 200);
    assert_true(try_emit(h));
    hub_settle(h);
    assert_true(hub_knows_due(h, &due_ms));
    assert_int_equal(due_ms, 5000);
    fake_clock(T0 + 5 * S);
    assert_false(try_emit(h));
    close_hub(h);
    hub_close(other);
}

static void
a_task_claimed_by_its_id_is_not_the_next_one(void **state)
{
    char ids[20][64];
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    for (int i = 0; i < 20; i++)
        snprintf(ids[i], sizeof ids[i], "%s", got(ask_on(h, HUB_EMIT, "ruby", TASK), "id"));
    for (int i = 0; i < 20; i += 2) { /* in one transaction */
        if (i + 3 < 20)
            CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", ids[i + 3]), 200);
        assert_string_equal(got(ask_on(h, HUB_CLAIM, "bob", "{}"), "id"), ids[i]);
        if (i == 0)
            assert_string_equal(got(ask_on(h, HUB_CLAIM, "bob", "{}"), "id"), ids[1]);
    }
    assert_null(ask_on(h, HUB_CLAIM, "bob", "{}")->data);
    close_hub(h);
}

static void
tasks_between_those_that_were_taken_stay(void **state)
{
    char ids[9][64];
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    for (int i = 0; i < 9; i++)
        snprintf(
            ids[i], sizeof ids[i], "%s",
            got(ask_on(h, HUB_EMIT, "ruby", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}"),
                "id"));
    hub_settle(h);
    for (int i = 1; i < 8; i += 2) { /* in one transaction, and in their order */
        CHECK_REPLY(ask_on(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", ids[i]), 200);
        CHECK_REPLY(ask_on(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", ids[i]), 200);
    }
    hub_settle(h);
    assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    for (int i = 0; i < 9; i += 2)
        assert_string_equal(got(ask_on(h, HUB_CLAIM, "bob", "{}"), "id"), ids[i]);
    close_hub(h);
}

/* What was claimed stays in memory over the commit: as the log has it, whoever wrote there. */
static void
a_claim_that_others_ended_is_over(void **state)
{
    (void)state;
    struct hub *a = open_hub(), *b = open_hub();
    const char *acked = emit(a, "ruby", TASK), *released = emit(a, "ruby", TASK),
               *taken = emit(a, "ruby", TASK), *ended = emit(a, "ruby", TASK);
    const char *ids[] = { acked, released, taken, ended }, *claims[4];
    uint64_t problems;

    for (int i = 0; i < 4; i++)
        claims[i] = got(ask_on(a, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", ids[i]), "claim_id");
    hub_settle(a);
    CHECK_REPLY(ask(b, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", acked), 200);
    CHECK_REPLY(ask(b, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", released), 200);
    CHECK_REPLY(ask(b, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", taken), 200);
    claim(b, "eve", taken);
    struct hub_reply *r =
        ask_on(a, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", acked, claims[0]);
    CHECK_REPLY(r, 200);
    assert_int_equal(r->seq, 0); /* said again, and not written */
    CHECK_REFUSED(ask_on(a, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", released,
                         claims[1]),
                  409, "SIGNAL_LEASE_LOST", "is no longer the claim");
    CHECK_REFUSED(ask_on(a, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", taken), 409,
                  "SIGNAL_CLAIM_CONFLICT", "is claimed by eve");
    r = ask_on(a, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", ended, claims[3]);
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "delivery_state"), "acked");
    hub_settle(a);
    assert_int_equal(hub_check(a, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    hub_close(b);
    close_hub(a);
}

/* More than the hand holds, and than stay in it. */
static void
claims_of_any_number_are_acked_after_the_commit(void **state)
{
    enum { N = 700 };
    static char ids[N][64], claims[N][64];
    uint64_t problems;

    (void)state;
    struct hub *h = open_hub();
    for (int i = 0; i < N; i++)
        snprintf(ids[i], sizeof ids[i], "%s", got(ask_on(h, HUB_EMIT, "ruby", TASK), "id"));
    for (int i = 0; i < N; i++) {
        struct hub_reply *r = ask_on(h, HUB_CLAIM, "bob", "{}");
        assert_string_equal(got(r, "id"), ids[i]);
        snprintf(claims[i], sizeof claims[i], "%s", got(r, "claim_id"));
        forget_answers();
    }
    hub_settle(h);
    for (int i = N - 1; i >= 0; i--) {
        struct hub_reply *r = ask_on(
            h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", ids[i], claims[i]);
        CHECK_REPLY(r, 200);
        assert_string_equal(got(r, "content"), "x");
        assert_string_equal(got(r, "delivery_state"), "acked");
        forget_answers();
    }
    hub_settle(h);
    assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    close_hub(h);
}

/* What leaves the lists is queued with what comes into them, and both may wait for one commit: the
 * hand is full at the 501st claim, nothing that follows has to look into the index, tasks that were
 * claimed before are released, and the round ends with a commit. */
static void
what_leaves_the_lists_and_comes_back_is_in_them(void **state)
{
    enum { CLAIMS = 503, BACK = 490, RELEASES = 5, N = CLAIMS + RELEASES };
    static struct hub_request r[N];
    static struct hub_reply replies[N];
    static char ids[CLAIMS][64];
    struct arena a = { 0 };
    uint64_t problems;
    struct hub_options o = { .never_waits = true };
    struct hub *h = open_hub(), *reader;

    (void)state;
    fake_clock(T0);
    for (int i = 0; i < CLAIMS; i++)
        snprintf(ids[i], sizeof *ids, "%s",
                 got(ask_on(h, HUB_EMIT, "ruby", "{\"signal_type\":\"task\",\"to_role\":\"dev\"}"),
                     "id"));
    for (int i = 0; i < N; i++) {
        struct json *args = json_new(&a, JSON_OBJECT);
        const char *id = i < CLAIMS ? NULL : ids[BACK + i - CLAIMS];
        if (id)
            json_set(args, "signal_id", json_new_str(&a, id, strlen(id)));
        else
            json_set(args, "role", json_new_str(&a, "dev", 3));
        r[i] = (struct hub_request){
            .op = id ? HUB_RELEASE : HUB_CLAIM, .identity = "root", .is_admin = true, .args = args
        };
    }
    CHECK_OK(hub_open(&reader, "config", &o, &e), &e);
    fake_clock(T0 + S / 20);
    submit_on(h, r, N, &a, replies);
    for (int i = 0; i < N; i++) {
        CHECK_REPLY(&replies[i], 200);
        assert_string_equal(got(&replies[i], "id"), ids[i < CLAIMS ? i : BACK + i - CLAIMS]);
    }
    arena_release(&a);
    UNTIL(is_shown(reader, ids[0]), 5000); /* the commit did not fail */
    hub_close(reader);
    hub_settle(h);
    assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    for (int i = BACK; i < BACK + RELEASES; i++)
        assert_string_equal(got(ask_on(h, HUB_CLAIM, "!root", "{\"role\":\"dev\"}"), "id"), ids[i]);
    close_hub(h);
}

/* Whether anything was matched is remembered, and asked for when something acked is written: in a
 * round with both, just before the first match is. */
static void
the_first_match_of_all_is_seen_by_its_ack(void **state)
{
    struct arena a = { 0 };
    struct hub_request r[2];
    struct hub_reply replies[2];
    struct json *args[2];
    char ack[128];
    static const char note[] = "{\"signal_type\":\"note\"}";
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "ruby", "{\"pattern\":\"note\"}"), 200);
    snprintf(ack, sizeof ack, "{\"signal_id\":\"%s\"}",
             emit(h, "bob", "{\"signal_type\":\"pulse\",\"to_identity\":\"bob\"}"));
    assert_true(json_parse(&a, ack, strlen(ack), &args[0], NULL));
    assert_true(json_parse(&a, note, sizeof note - 1, &args[1], NULL));
    r[0] = (struct hub_request){ .op = HUB_ACK, .identity = "bob", .args = args[0] };
    r[1] = (struct hub_request){ .op = HUB_EMIT, .identity = "bob", .args = args[1] };
    submit_on(h, r, 2, &a, replies);
    CHECK_REPLY(&replies[0], 200);
    CHECK_REPLY(&replies[1], 200);
    CHECK_REPLY(ask_on(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", got(&replies[1], "id")), 200);
    hub_settle(h);
    assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    arena_release(&a);
    close_hub(h);
}

/* Somebody reads the index for long: what is written meanwhile makes its write-ahead log long. A
 * full disk gets that back, whether the reader is still there (then the index goes) or not. */
static void
an_index_that_has_filled_the_disk_gives_it_back(void **state)
{
    static const char db[] = "config/signals/index.db";

    (void)state;
    for (int reads_on = 0; reads_on < 2; reads_on++) {
        struct hub *h = open_hub(), *reader = open_hub();
        struct index_place place;
        struct stat before, after;
        uint64_t problems;

        emit(h, "ruby", TASK);
        CHECK_OK(hub_begin_read(reader, &e), &e);
        assert_true(index_get_place(reader->ix, &place));
        while (!index_is_swollen(db)) {
            emit(h, "ruby", TASK);
            forget_answers();
        }
        if (!reads_on)
            hub_end_read(reader);
        assert_int_equal(stat(db, &before), 0);
        fault_always("write", ENOSPC);
        CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 503);
        fault_off(NULL);
        assert_false(index_is_swollen(db));
        CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
        assert_int_equal(stat(db, &after), 0);
        assert_int_equal(after.st_ino != before.st_ino, reads_on);
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        if (reads_on)
            hub_end_read(reader);
        close_hub(reader);
        close_hub(h);
    }
}

/* A task as it should be, in a_task_is_claimed_in_its_turn_whatever_happened_before. */
struct model {
    char id[64], claim[64];
    int urgency, type; /* tenths; "task" or "job" */
    enum { READY, HELD, GONE } state;
};

enum { MODEL_MAX = 600 };

static void
add_task(struct hub *h, struct model *m)
{
    static const char *const to[] = { "", ",\"to_role\":\"dev\"", ",\"to_identity\":\"bob\"" };

    *m = (struct model){ .urgency = (int)some(4), .type = (int)some(2) };
    struct hub_reply *r = ask_on(
        h, HUB_EMIT, "bob", "{\"signal_type\":\"%s\",\"task_status\":\"open\",\"urgency\":0.%d%s}",
        m->type ? "job" : "task", m->urgency, to[some(3)]);
    CHECK_REPLY(r, 200);
    snprintf(m->id, sizeof m->id, "%s", got(r, "id"));
}

/* The one that is to be claimed next; type -1: any. */
static struct model *
next_of(struct model *m, size_t n, int type)
{
    struct model *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (m[i].state == READY && (type < 0 || m[i].type == type) &&
            (!best || m[i].urgency > best->urgency))
            best = &m[i];
    return best;
}

static void
claim_next(struct hub *h, struct model *m, size_t n)
{
    static const char *const types[] = { "{}", "{\"types\":[\"task\"]}",
                                         "{\"types\":[\"x\",\"job\"]}" };
    int type = (int)some(3) - 1;
    struct model *want = next_of(m, n, type);
    struct hub_reply *r = ask_on(h, HUB_CLAIM, "bob", "%s", types[type + 1]);

    CHECK_REPLY(r, 200);
    assert_string_equal(r->data ? got(r, "id") : "", want ? want->id : "");
    if (!want)
        return;
    want->state = HELD;
    snprintf(want->claim, sizeof want->claim, "%s", got(r, "claim_id"));
}

static void
do_something(struct hub *h, struct model *m)
{
    static const enum hub_op ends[] = { HUB_ACK, HUB_ACK, HUB_RELEASE, HUB_EXTEND };
    enum hub_op op = m->state == HELD ? ends[some(4)] : some(3) ? HUB_CLAIM : HUB_STATUS;
    struct hub_reply *r =
        op == HUB_CLAIM ? ask_on(h, op, "bob", "{\"signal_id\":\"%s\"}", m->id)
        : op == HUB_STATUS
            ? ask_on(h, op, "bob", "{\"signal_id\":\"%s\",\"task_status\":\"cancelled\"}", m->id)
            : ask_on(h, op, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", m->id, m->claim);

    if (m->state == GONE)
        return; /* refused, or said again */
    CHECK_REPLY(r, 200);
    if (op == HUB_CLAIM)
        snprintf(m->claim, sizeof m->claim, "%s", got(r, "claim_id"));
    m->state = op == HUB_RELEASE ? READY : op == HUB_CLAIM || op == HUB_EXTEND ? HELD : GONE;
}

static void
a_task_is_claimed_in_its_turn_whatever_happened_before(void **state)
{
    static struct model m[MODEL_MAX];
    uint64_t problems;
    size_t n = 0;
    struct hub *h = open_hub(), *other = open_hub();

    (void)state;
    fake_clock(T0);
    ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\"}");
    ask(h, HUB_FILL, "!root", "{\"identity\":\"bob\",\"role\":\"dev\"}");
    for (int i = 0; i < 3000; i++) {
        unsigned what = some(100);
        if (what < 20 && n < MODEL_MAX) {
            add_task(h, &m[n++]);
        } else if (what < 60) {
            claim_next(h, m, n);
        } else if (what < 97 && n) {
            do_something(h, &m[some((unsigned)n)]);
        } else if (what < 99) {
            hub_settle(h);
            claim_next(other, m, n); /* another writer, between our rounds */
            hub_settle(other);
        } else {
            hub_settle(h);
            assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
            assert_int_equal(problems, 0);
        }
        forget_answers();
    }
    hub_settle(h);
    assert_int_equal(hub_check(h, NULL, NULL, &problems, &e), ST_OK);
    assert_int_equal(problems, 0);
    close_hub(other);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_a_failed_round_took_back_from_the_index_is_brought_again),
        CASE(a_round_in_steps_is_written_at_its_end),
        CASE(who_may_not_wait_is_refused_where_it_would),
        CASE(a_claim_that_others_ended_is_over),
        CASE(claims_of_any_number_are_acked_after_the_commit),
        CASE(what_leaves_the_lists_and_comes_back_is_in_them),
        CASE(the_first_match_of_all_is_seen_by_its_ack),
        CASE(an_index_that_has_filled_the_disk_gives_it_back),
        CASE(an_emitted_signal_comes_back_as_it_was_sent),
        CASE(what_is_wrong_is_refused_with_its_name_and_nothing_is_stored),
        CASE(types_and_patterns_with_stars_in_an_old_log_are_folded),
        CASE(arguments_are_as_the_table_says),
        CASE(a_broadcast_is_acked_by_its_sender_alone),
        CASE(one_task_has_one_winner),
        CASE(the_next_task_is_the_most_urgent_then_the_oldest),
        CASE(a_conflict_is_told_before_a_lack_of_permission),
        CASE(a_lease_ends_by_its_time_and_the_task_is_open_again),
        CASE(a_lease_does_not_end_a_part_of_a_millisecond_early),
        CASE(a_clock_that_is_set_moves_no_lease),
        CASE(what_fails_comes_back_later_each_time_and_then_is_a_dead_letter),
        CASE(five_lost_leases_make_a_dead_letter),
        CASE(leases_end_exactly_while_the_clock_is_set_to_and_fro),
        CASE(delayed_signals_come_once_while_the_clock_is_set_to_and_fro),
        CASE(a_released_task_is_free_at_once),
        CASE(a_task_goes_its_way_step_by_step),
        CASE(a_retry_with_the_same_key_is_the_same_signal),
        CASE(a_batch_is_all_or_nothing),
        CASE(requests_of_one_round_see_each_other),
        CASE(a_thread_is_found_from_any_of_its_members),
        CASE(an_inbox_shows_what_is_for_it_by_every_filter),
        CASE(a_rings_signal_is_for_members_its_sender_and_admins),
        CASE(receipts_are_each_identitys_own),
        CASE(pages_follow_each_other_without_gap_or_repeat),
        CASE(broadcasts_reach_subscribers_but_never_their_sender),
        CASE(a_delayed_signal_comes_at_its_time_never_early),
        CASE(two_hubs_on_one_store_are_one),
        CASE(foreign_lines_count_and_invalid_ones_change_nothing),
        CASE(an_index_that_is_lost_or_damaged_is_made_again),
        CASE(an_index_of_many_signals_is_made_as_it_was_lived),
        CASE(an_index_is_made_by_two_threads_as_it_was_lived),
        CASE(others_write_rotate_and_compact_while_it_is_checked),
        CASE(an_index_that_does_not_fit_on_the_disk_is_told_and_leaves_nothing),
        CASE(a_damaged_page_is_noticed_and_mended),
        CASE(a_hub_stays_where_it_was_opened),
        CASE(a_log_cut_short_is_what_counts),
        CASE(segments_are_one_log),
        CASE(a_key_opens_until_it_is_revoked),
        CASE(a_role_must_be_held_to_speak_for_it),
        CASE(what_is_too_large_is_refused_alone),
        CASE(a_failed_write_or_sync_is_told_and_changes_nothing),
        CASE(a_store_whose_sync_failed_is_mended_but_not_hammered),
        CASE(a_full_disk_is_trouble_until_there_is_room),
        CASE(many_processes_claim_each_task_once),
        CASE(a_killed_writer_loses_nothing_that_it_was_told),
        CASE(a_line_that_slips_in_before_ours_counts_first),
        CASE(old_segments_go_when_nothing_needs_them),
        CASE(rounds_share_a_commit_until_somebody_waits),
        CASE(rounds_that_go_on_are_committed_meanwhile),
        CASE(a_commit_that_fails_meanwhile_costs_nobody_an_answer),
        CASE(rows_wait_until_they_are_many_and_are_there_for_whoever_asks),
        CASE(a_signal_may_have_the_names_of_the_seal_within_its_members),
        CASE(a_task_claimed_by_its_id_is_not_the_next_one),
        CASE(tasks_between_those_that_were_taken_stay),
        CASE(a_task_is_claimed_in_its_turn_whatever_happened_before),
    };

    return cmocka_run_group_tests_name("hub store", tests, NULL, NULL);
}
