/*
 * What a reader of the hub sees: inboxes, threads, pages, receipts, broadcasts; and what is not
 * for its eyes.
 */
#include "fault.h"
#include "hubs.h"

#include <unistd.h>

static struct err e;

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
    assert_string_equal(inbox(h, "eve", "\"target\":\"@bob\""), "a f"); /* what is for everyone */

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
    assert_string_equal(got(r, "scopes"),
                        "[\"emit\",\"claim\",\"ack\",\"inbox\",\"stream\",\"teams\",\"review\"]");
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

    CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", as_dev), 400, "SIGNAL_ROLE_NOT_HELD", "dev");
    CHECK_REPLY(ask(h, HUB_EMIT, "!root", as_dev), 200); /* an admin makes the role by speaking */
    CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", as_dev), 400, "SIGNAL_ROLE_NOT_HELD", "dev");
    CHECK_REPLY(ask(h, HUB_FILL, "!root", "{\"identity\":\"ruby\",\"role\":\"dev\"}"), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", as_dev), 200);
    struct hub_reply *r = ask(h, HUB_ROLES, "ruby", "{}");
    assert_string_equal(each(r, "id"), "dev");
    assert_string_equal(got(r, "[0].members"), "[\"ruby\"]");
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_broadcast_is_acked_by_its_sender_alone),
        CASE(a_thread_is_found_from_any_of_its_members),
        CASE(an_inbox_shows_what_is_for_it_by_every_filter),
        CASE(a_rings_signal_is_for_members_its_sender_and_admins),
        CASE(receipts_are_each_identitys_own),
        CASE(pages_follow_each_other_without_gap_or_repeat),
        CASE(broadcasts_reach_subscribers_but_never_their_sender),
        CASE(a_key_opens_until_it_is_revoked),
        CASE(a_role_must_be_held_to_speak_for_it),
    };

    return cmocka_run_group_tests_name("hub query", tests, NULL, NULL);
}
