/*
 * Every command in every state, and every event: tables, no files, no clock.
 */
#include "hub/model/decide.h"

#include "test.h"

#include <assert.h>

static const struct hub_now NOW = {
    .wall_ms = 1000000, .boot_ms = 5000, .boot_up_ms = 5000, .boot = "boot-1"
};

/* A signal in some state; claimed ones by bob, as c1. */
static struct item
item(enum delivery state, enum work work)
{
    struct item it = { .seq = 1, .id = "abc", .state = state, .work = work };

    if (state == D_LEASED || work == W_CLAIMED || work == W_IN_PROGRESS || work == W_BLOCKED) {
        it.claimed_by = "bob";
        it.claim = "c1";
        it.claimed_at = 7;
        it.until = 2000000;
        it.boot_until = 6000;
        it.boot = "boot-1";
    }
    return it;
}

enum who { BOB, EVE, ADMIN, SENDER, STRANGER };

static struct asker
asker(enum who w)
{
    static const char *const names[] = { "bob", "eve", "root", "ruby", "zoe" };

    return (struct asker){ .identity = names[w],
                           .is_admin = w == ADMIN,
                           .is_addressee = w == BOB || w == EVE,
                           .is_sender = w == SENDER };
}

static void
check(enum hub_op op, struct item it, struct order o, enum who w, enum decision verdict,
      const char *code)
{
    struct refusal r = { 0 };
    struct hub_event ev;
    struct asker who = asker(w);

    if (!o.new_claim)
        o.new_claim = "new";
    enum decision v = decide_item(op, &it, &o, &who, &NOW, &ev, &r);
    if (v != verdict || (v == DECIDE_REFUSED && strcmp(r.code, code) != 0))
        fail_msg("%s of %s/%s by %s: verdict %d %s %s", hub_ops[op].name, delivery_names[it.state],
                 it.work ? work_names[it.work] : "-", who.identity, v, r.code ? r.code : "",
                 r.message);
    if (v == DECIDE_REFUSED) {
        assert_true(r.status == 409 || r.status == 403);
        assert_non_null(strstr(r.message, op == HUB_STATUS ? "" : "signal:abc"));
    }
    if (v == DECIDE_EVENT)
        assert_true(item_apply(&it, &ev)); /* what is decided is valid */
}

static void
claims(void **state)
{
    static const struct {
        enum delivery state;
        enum work work;
        enum who who;
        enum decision verdict;
        const char *code;
    } t[] = {
        { D_PENDING, W_OPEN, BOB, DECIDE_EVENT, NULL },
        { D_PENDING, W_OPEN, ADMIN, DECIDE_EVENT, NULL },
        { D_PENDING, W_OPEN, STRANGER, DECIDE_REFUSED, "AUTH_FORBIDDEN" },
        { D_PENDING, W_OPEN, SENDER, DECIDE_REFUSED, "AUTH_FORBIDDEN" },
        { D_PENDING, W_NONE, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_LEASED, W_CLAIMED, EVE, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_LEASED, W_CLAIMED, STRANGER, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_LEASED, W_BLOCKED, BOB, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_ACKED, W_CLAIMED, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_ACKED, W_OPEN, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_ACKED, W_DONE, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_PENDING, W_CANCELLED, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_FAILED, W_OPEN, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
        { D_DEAD_LETTER, W_OPEN, BOB, DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check(HUB_CLAIM, item(t[i].state, t[i].work), (struct order){ .lease_ms = 1000 }, t[i].who,
              t[i].verdict, t[i].code);
}

static void
acks(void **state)
{
    static const struct {
        enum delivery state;
        enum work work;
        enum who who;
        const char *claim;
        enum decision verdict;
        const char *code;
    } t[] = {
        { D_LEASED, W_CLAIMED, BOB, NULL, DECIDE_EVENT, NULL },
        { D_LEASED, W_IN_PROGRESS, BOB, "c1", DECIDE_EVENT, NULL },
        { D_LEASED, W_CLAIMED, BOB, "c0", DECIDE_REFUSED, "SIGNAL_LEASE_LOST" },
        { D_LEASED, W_CLAIMED, EVE, NULL, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_LEASED, W_CLAIMED, EVE, "c1", DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_LEASED, W_CLAIMED, EVE, "c0", DECIDE_REFUSED, "SIGNAL_LEASE_LOST" },
        { D_LEASED, W_CLAIMED, ADMIN, NULL, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT" },
        { D_PENDING, W_NONE, BOB, NULL, DECIDE_EVENT, NULL },
        { D_PENDING, W_OPEN, BOB, NULL, DECIDE_EVENT, NULL },
        { D_PENDING, W_OPEN, BOB, "c1", DECIDE_REFUSED, "SIGNAL_LEASE_LOST" },
        { D_PENDING, W_NONE, STRANGER, NULL, DECIDE_REFUSED, "AUTH_FORBIDDEN" },
        { D_FAILED, W_OPEN, BOB, NULL, DECIDE_REFUSED, "SIGNAL_LEASE_LOST" },
        { D_DEAD_LETTER, W_OPEN, BOB, NULL, DECIDE_REFUSED, "SIGNAL_LEASE_LOST" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check(HUB_ACK, item(t[i].state, t[i].work), (struct order){ .claim = t[i].claim }, t[i].who,
              t[i].verdict, t[i].code);
    struct item it = item(D_ACKED, W_CLAIMED);
    it.last = EV_ACK;
    it.last_by = "bob";
    it.last_claim = "c1";
    check(HUB_ACK, it, (struct order){ 0 }, BOB, DECIDE_REPEAT, NULL);
    check(HUB_ACK, it, (struct order){ .claim = "c1" }, BOB, DECIDE_REPEAT, NULL);
    check(HUB_ACK, it, (struct order){ .claim = "c0" }, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
    check(HUB_ACK, it, (struct order){ 0 }, EVE, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT");
}

static void
what_only_the_holder_may(void **state)
{
    static const enum hub_op ops[] = { HUB_EXTEND, HUB_RELEASE, HUB_FAIL };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct order o = { .lease_ms = 1000, .retry_ms = -1 }, old = o, own = o;
        old.claim = "c0";
        own.claim = "c1";
        check(ops[i], item(D_LEASED, W_CLAIMED), o, BOB, DECIDE_EVENT, NULL);
        check(ops[i], item(D_LEASED, W_BLOCKED), own, BOB, DECIDE_EVENT, NULL);
        check(ops[i], item(D_LEASED, W_CLAIMED), old, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
        check(ops[i], item(D_LEASED, W_CLAIMED), o, EVE, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT");
        check(ops[i], item(D_LEASED, W_CLAIMED), o, ADMIN, DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT");
        check(ops[i], item(D_PENDING, W_OPEN), o, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
        check(ops[i], item(D_ACKED, W_CLAIMED), o, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
        check(ops[i], item(D_DEAD_LETTER, W_OPEN), o, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
        struct item it = item(D_PENDING, W_OPEN);
        it.last = ops[i] == HUB_RELEASE ? EV_RELEASE : ops[i] == HUB_FAIL ? EV_FAIL : EV_EXPIRE;
        it.last_by = "bob";
        it.last_claim = "c1";
        enum decision again = ops[i] == HUB_EXTEND ? DECIDE_REFUSED : DECIDE_REPEAT;
        check(ops[i], it, o, BOB, again, "SIGNAL_LEASE_LOST");
        check(ops[i], it, own, BOB, again, "SIGNAL_LEASE_LOST");
        check(ops[i], it, old, BOB, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
        check(ops[i], it, o, EVE, DECIDE_REFUSED, "SIGNAL_LEASE_LOST");
    }
}

static void
every_step_of_a_task(void **state)
{
    /* from (row) to (column), by the holder */
    static const char table[WORKS][WORKS + 1] = {
        [W_OPEN] = "-nnnnnY",    [W_CLAIMED] = "-nsYnnY", [W_IN_PROGRESS] = "-nnsYYY",
        [W_BLOCKED] = "-nnYsYY", [W_DONE] = "-nnnnsn",    [W_CANCELLED] = "-nnnnns",
    };

    (void)state;
    for (int from = W_OPEN; from < WORKS; from++)
        for (int to = W_OPEN; to < WORKS; to++) {
            bool is_over = from == W_DONE || from == W_CANCELLED;
            struct item it = item(from == W_OPEN ? D_PENDING
                                  : is_over      ? D_ACKED
                                                 : D_LEASED,
                                  (enum work)from);
            if (is_over) {
                it.claimed_by = it.last_by = "bob";
                it.last = EV_STATUS;
            }
            char want = table[from][to];
            check(HUB_STATUS, it, (struct order){ .work = (enum work)to }, BOB,
                  want == 'Y'   ? DECIDE_EVENT
                  : want == 's' ? DECIDE_REPEAT
                                : DECIDE_REFUSED,
                  "SIGNAL_CLAIM_CONFLICT");
        }
    check(HUB_STATUS, item(D_PENDING, W_NONE), (struct order){ .work = W_DONE }, BOB,
          DECIDE_REFUSED, "SIGNAL_NOT_CLAIMABLE");
    check(HUB_STATUS, item(D_LEASED, W_CLAIMED), (struct order){ .work = W_IN_PROGRESS }, EVE,
          DECIDE_REFUSED, "SIGNAL_CLAIM_CONFLICT");
    check(HUB_STATUS, item(D_LEASED, W_CLAIMED),
          (struct order){ .work = W_IN_PROGRESS, .claim = "c0" }, BOB, DECIDE_REFUSED,
          "SIGNAL_LEASE_LOST");
    check(HUB_STATUS, item(D_PENDING, W_OPEN), (struct order){ .work = W_CANCELLED }, STRANGER,
          DECIDE_REFUSED, "AUTH_FORBIDDEN");
    check(HUB_STATUS, item(D_PENDING, W_OPEN), (struct order){ .work = W_CANCELLED }, SENDER,
          DECIDE_EVENT, NULL);
}

static void
requeues(void **state)
{
    (void)state;
    for (int s = 0; s < DELIVERIES; s++) {
        bool may = s == D_FAILED || s == D_DEAD_LETTER;
        struct item it = item((enum delivery)s, s == D_LEASED ? W_CLAIMED : W_OPEN);
        check(HUB_REQUEUE, it, (struct order){ 0 }, BOB, may ? DECIDE_EVENT : DECIDE_REFUSED,
              "SIGNAL_NOT_CLAIMABLE");
        check(HUB_REQUEUE, it, (struct order){ 0 }, STRANGER, DECIDE_REFUSED,
              may ? "AUTH_FORBIDDEN" : "SIGNAL_NOT_CLAIMABLE");
    }
}

/* An event in a state that does not allow it leaves every bit as it was. */
static void
an_invalid_event_changes_nothing(void **state)
{
    static const struct hub_event foreign[] = {
        { .kind = EV_CLAIM, .by = "eve", .claim = "c9", .at = 1, .until = 2 },
        { .kind = EV_ACK, .by = "eve" },
        { .kind = EV_ACK, .by = "bob", .claim = "c0" },
        { .kind = EV_EXTEND, .by = "eve", .claim = "c1", .until = 9 },
        { .kind = EV_RELEASE, .by = "bob", .claim = "c0" },
        { .kind = EV_FAIL, .by = "eve", .claim = "c1" },
        { .kind = EV_EXPIRE, .claim = "c0" },
        { .kind = EV_RETRY },
        { .kind = EV_STATUS, .by = "bob", .task_status = "claimed" },
        { .kind = EV_STATUS, .by = "bob", .task_status = "nonsense" },
        { .kind = EV_STATUS, .by = "eve", .task_status = "in_progress" },
        { .kind = EV_REQUEUE, .by = "bob" },
        { .kind = EV_RECEIPT, .by = "bob", .state = "resolved" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct item it = item(D_LEASED, W_CLAIMED), before = it;
        assert_false(item_apply(&it, &foreign[i]));
        assert_memory_equal(&it, &before, sizeof it);
    }
}

static void
a_lease_is_by_the_boots_clock_while_it_is_the_same_boot(void **state)
{
    (void)state;
    assert_true(is_due(&NOW, 999999999, 5000, "boot-1"));
    assert_false(is_due(&NOW, 0, 5001, "boot-1"));
    assert_true(is_due(&NOW, 1000000, 999999, "boot-0"));
    assert_false(is_due(&NOW, 1000001, 0, "boot-0"));
    assert_false(is_due(&NOW, 1000001, 0, NULL));
    struct item it = item(D_PENDING, W_OPEN);
    assert_true(item_apply(
        &it, &(struct hub_event){ .kind = EV_CLAIM, .by = "eve", .claim = "c", .at = 5 }));
    assert_int_equal(it.until, 300005); /* a foreign claim without an end has one */
    struct hub_now unknown = { .wall_ms = 10, .boot_ms = 0, .boot = "" };
    assert_true(is_due(&unknown, 10, 99, ""));
    static const int64_t want[] = { 1000,  2000,   4000,   8000,   16000, 32000,
                                    64000, 128000, 256000, 300000, 300000 };
    for (int64_t n = 0; n < 11; n++)
        assert_int_equal(decide_backoff_ms(n), want[n]);
    assert_int_equal(decide_backoff_ms(1000000), 300000);
}

static void
a_line_is_read_as_it_was_written(void **state)
{
    static const char line[] =
        "{\"id\":\"abc\",\"type\":\"t\",\"source\":{\"type\":\"agent\",\"id\":\"ruby\"},"
        "\"data\":null,\"createdAt\":5,\"content\":\"a\\u0000b\",\"urgency\":0.30,"
        "\"from_identity\":\"ruby\",\"to_role\":\"dev\",\"tags\":[\"x\"],\"task_status\":\"open\"}";
    struct arena a = { 0 };
    struct json *v;
    struct hub_event ev;
    struct buf b = { 0 };

    (void)state;
    assert_true(json_parse(&a, line, sizeof line - 1, &v, NULL));
    assert_true(hub_event_read(&ev, v, &a));
    hub_event_write(&b, &ev);
    assert_string_equal(b.p, line);
    buf_release(&b);
    arena_release(&a);
}

/* The examples of docs/formats/events.md are lines as we write them, one of every kind. */
static void
the_documented_lines_are_ours(void **state)
{
    const char *dir = getenv("CLIQ_SOURCE");
    char path[4096];
    struct arena a = { 0 };
    bool seen[EV_KINDS] = { 0 };

    (void)state;
    snprintf(path, sizeof path, "%s/docs/formats/events.md", dir);
    char *text = read_file(path, NULL);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        struct json *v;
        struct hub_event ev;
        struct buf b = { 0 };
        if (*line != '{')
            continue;
        assert_true(json_parse(&a, line, strlen(line), &v, NULL));
        if (!hub_event_read(&ev, v, &a))
            fail_msg("not an event: %s", line);
        hub_event_write(&b, &ev);
        assert_string_equal(b.p, line);
        buf_release(&b);
        seen[ev.kind] = true;
    }
    for (int k = EV_SIGNAL; k < EV_KINDS; k++)
        if (!seen[k])
            fail_msg("no example of %s", hub_event_name((enum hub_event_kind)k));
    free(text);
    arena_release(&a);
}

int
main(void)
{
    char dir[4096];

    assert(getcwd(dir, sizeof dir)); /* tests are run from the top of the source */
    setenv("CLIQ_SOURCE", dir, 0);
    const struct CMUnitTest tests[] = {
        CASE(claims),
        CASE(acks),
        CASE(what_only_the_holder_may),
        CASE(every_step_of_a_task),
        CASE(requeues),
        CASE(an_invalid_event_changes_nothing),
        CASE(a_lease_is_by_the_boots_clock_while_it_is_the_same_boot),
        CASE(a_line_is_read_as_it_was_written),
        CASE(the_documented_lines_are_ours),
    };

    return cmocka_run_group_tests_name("hub decide", tests, NULL, NULL);
}
