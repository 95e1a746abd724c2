/*
 * What may be sent to the hub, and how it comes back: arguments, limits, keys against repetition,
 * batches, threads.
 */
#include "fault.h"
#include "hubs.h"

#include "hub/hub_impl.h"

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
          "tags must be a list of texts, none of them empty, not [1]" },
        { HUB_EMIT, "{\"signal_type\":\"t\",\"tags\":[\"\"]}", 400, "SIGNAL_EMIT_VALIDATION_FAILED",
          "none of them empty, not [\"\"]" },
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
        { HUB_CANCEL, "{}", 400, "VALIDATION_FIELD_REQUIRED", "id, repeatKey or type" },
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
    case ARG_TEXTS:
        return "[\"x\"]";
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
    assert_null(r[2].text);
    assert_int_equal(r[2].status, 200);
    assert_int_equal(r[3].status, 400);
    assert_int_equal(r[1].seq, 2);
    arena_release(&a);
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

static void
numbers_that_other_languages_die_of_are_refused(void **state)
{
    struct hub *h = open_hub();
    char nines[5001];

    (void)state;
    memset(nines, '9', 5000);
    nines[5000] = '\0';
    const char *forms[] = { "%s", "-%s", "0.%s", "1e%s", "[{\"deep\":[1.5E%s]}]" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char number[5100];
        snprintf(number, sizeof number, forms[i], nines);
        CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"x\",\"payload\":%s}", number),
                      400, "VALIDATION_INVALID_TYPE", "payload has a number of 500");
    }
    CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"x\",\"metadata\":{\"a\":-1e400}}"),
                  400, "VALIDATION_INVALID_TYPE", "metadata has the number -1e400");
    CHECK_REFUSED(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"x\",\"data\":[%.309s]}", nines), 400,
                  "VALIDATION_INVALID_TYPE", "outside the range of a double");
    CHECK_REFUSED(ask(h, HUB_SCHEDULE, "ruby", "{\"type\":\"x\",\"deliverAt\":1,\"data\":1E309}"),
                  400, "VALIDATION_INVALID_TYPE", "data has the number");
    CHECK_REFUSED(
        ask(h, HUB_EMIT_BATCH, "ruby",
            "{\"signals\":[{\"signal_type\":\"x\"},{\"signal_type\":\"x\",\"payload\":1e999}]}"),
        400, "VALIDATION_INVALID_TYPE", "signals has the number 1e999");
    assert_int_equal(hub_last_seq(h), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby",
                    "{\"signal_type\":\"x\",\"payload\":[1e308,1e-400,%.300s]}", nines),
                200);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_emitted_signal_comes_back_as_it_was_sent),
        CASE(what_is_wrong_is_refused_with_its_name_and_nothing_is_stored),
        CASE(arguments_are_as_the_table_says),
        CASE(a_retry_with_the_same_key_is_the_same_signal),
        CASE(a_batch_is_all_or_nothing),
        CASE(requests_of_one_round_see_each_other),
        CASE(what_is_too_large_is_refused_alone),
        CASE(a_signal_may_have_the_names_of_the_seal_within_its_members),
        CASE(numbers_that_other_languages_die_of_are_refused),
    };

    return cmocka_run_group_tests_name("hub emit", tests, NULL, NULL);
}
