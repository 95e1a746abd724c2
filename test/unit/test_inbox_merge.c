/*
 * An inbox is the same whichever way it is read: page by page along the index's lists, or as one
 * plain query over all signals, sorted, which is what this file does.
 */
#include "fault.h"
#include "hubs.h"

#include <inttypes.h>
#include <sqlite3.h>

enum { HOUR_S = 3600, SIGNALS = 90, QUERIES = 120, ROUNDS = 5 };

/* ---- chance that can be repeated ---- */

static uint64_t chance_state;

static unsigned
chance(unsigned below)
{
    chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(chance_state >> 33) % below;
}

#define PICK(list) ((list)[chance(sizeof(list) / sizeof *(list))])

static const char *const people[] = { "ruby", "bob", "kim", "zoe" };
static const char *const types[] = { "task", "alert", "build:web:done", "build:api:done", "note" };
static const char *const patterns[] = { "build:*:done", "build:web:*", "task", "alert", "*" };
static const char *const states[] = { "pending", "leased", "acked", "failed", "dead_letter" };

/* ---- a store in which everything happened ---- */

static const char *ids[ROUNDS * SIGNALS + 1];
static size_t n_ids;

static void
emit_one(struct hub *h)
{
    static const char *const to[] = { "",
                                      "\"to_identity\":\"bob\",",
                                      "\"to_identity\":\"kim\",",
                                      "\"to_role\":\"dev\",",
                                      "\"to_role\":\"ops\",",
                                      "\"to_ring\":\"inner\",",
                                      "\"to_ring\":\"outer\"," };
    static const char *const urgencies[] = { "0", "0.1", "0.5", "0.5", "0.5", "0.9", "1" };
    struct hub_reply *r = ask(h, HUB_EMIT, PICK(people),
                              "{\"signal_type\":\"%s\",%s\"urgency\":%s,\"tags\":[\"%s\"]%s}",
                              PICK(types), PICK(to), PICK(urgencies), chance(2) ? "red" : "blue",
                              chance(2) ? ",\"task_status\":\"open\"" : "");

    CHECK_REPLY(r, 200);
    ids[n_ids++] = strdup(got(r, "id"));
}

/* Whatever may happen to a signal; much of it is refused. */
static void
change_one(struct hub *h)
{
    const char *id = ids[chance((unsigned)n_ids)], *who = PICK(people);
    static const enum hub_op ops[] = {
        HUB_CLAIM,         HUB_ACK,          HUB_FAIL,          HUB_REQUEUE, HUB_INBOX_ACKNOWLEDGE,
        HUB_INBOX_RESOLVE, HUB_INBOX_SNOOZE, HUB_INBOX_UNSNOOZE
    };
    enum hub_op op = PICK(ops);

    ask(h, op, who, "{\"signal_id\":\"%s\"%s}", id,
        op == HUB_INBOX_SNOOZE ? ",\"until\":\"+7200s\"" : "");
}

static void
change_who(struct hub *h)
{
    const char *who = PICK(people);

    switch (chance(4)) {
    case 0:
        ask(h, HUB_UNSUBSCRIBE, who, "{\"pattern\":\"%s\"}", PICK(patterns));
        break;
    case 1:
        ask(h, HUB_FILL, "!admin", "{\"identity\":\"%s\",\"role\":\"%s\"}", who,
            chance(2) ? "dev" : "ops");
        break;
    case 2:
        ask(h, HUB_JOIN, "!admin", "{\"identity\":\"%s\",\"ring\":\"%s\"}", who,
            chance(2) ? "inner" : "outer");
        break;
    default:
        ask(h, HUB_SUBSCRIBE, who, "{\"pattern\":\"%s\"}", PICK(patterns));
    }
}

static void
live(struct hub *h)
{
    for (int i = 0; i < SIGNALS; i++) {
        emit_one(h);
        for (unsigned n = chance(4); n > 0; n--)
            change_one(h);
        if (chance(8) == 0)
            change_who(h);
    }
}

/* ---- the plain way ---- */

/* What is asked. */
struct asked {
    const char *target, *who, *view, *receipt, *type, *state, *state2, *tag;
    bool is_admin, wants_snoozed, wants_resolved;
    double min_urgency;
    int limit;
};

static bool
is_view(const struct asked *q, const char *name)
{
    return strcmp(q->view, name) == 0;
}

static void
say_whose(struct buf *sql, const struct asked *q)
{
    const char *who = q->target + 1;

    if (*q->target != '@')
        buf_addf(sql, " s.addr = '=%s'", q->target);
    else
        buf_addf(sql,
                 " s.seq IN (SELECT seq FROM signals WHERE addr = '@%s' UNION SELECT s.seq FROM"
                 " signals s, fills WHERE identity = '%s' AND addr = '=' || role UNION SELECT"
                 " s.seq FROM signals s, joins WHERE identity = '%s' AND addr = '+' || ring UNION"
                 " SELECT m.signal FROM matches m, subscriptions b WHERE m.identity = b.identity"
                 " AND m.pattern = b.pattern AND m.identity = '%s')",
                 who, who, who, who);
}

static void
say_filters(struct buf *sql, const struct asked *q, int64_t now)
{
    if (!q->is_admin)
        buf_addf(sql,
                 " AND (s.addr IS NULL OR substr(s.addr, 1, 1) = '=' OR s.sender = '%s' OR s.addr"
                 " IN (SELECT '+' || ring FROM joins WHERE identity = '%s' UNION SELECT '@%s'))",
                 q->who, q->who, q->who);
    if (q->type)
        buf_addf(sql, " AND s.type IN ('%s', 'other')", q->type);
    if (q->tag)
        buf_addf(sql, " AND instr(s.tags, char(31) || '%s' || char(31))", q->tag);
    if (q->min_urgency >= 0)
        buf_addf(sql, " AND s.urgency >= %g", q->min_urgency);
    if (q->receipt && strcmp(q->receipt, "unread") == 0)
        buf_addf(sql, " AND (r.state IS NULL OR (r.state = 'snoozed' AND r.until <= %" PRId64 "))",
                 now);
    else if (q->receipt && strcmp(q->receipt, "snoozed") == 0)
        buf_addf(sql, " AND r.state = 'snoozed' AND r.until > %" PRId64, now);
    else if (q->receipt)
        buf_addf(sql, " AND r.state = '%s'", q->receipt);
}

static void
say_view(struct buf *sql, const struct asked *q, int64_t now)
{
    bool is_now = is_view(q, "now"), is_stale = is_view(q, "stale");

    if (q->state)
        buf_addf(sql,
                 " AND CASE coalesce(w.state, 0) WHEN 0 THEN 'pending' WHEN 1 THEN 'leased' WHEN 2"
                 " THEN 'acked' WHEN 3 THEN 'failed' ELSE 'dead_letter' END IN ('%s', '%s')",
                 q->state, q->state2);
    else if (is_now)
        buf_adds(sql, " AND coalesce(w.state, 0) <> 2");
    if ((is_now || is_stale) && !q->receipt && !q->wants_resolved)
        buf_adds(sql, " AND coalesce(r.state, '') <> 'resolved'");
    if (is_now && !q->receipt && !q->wants_snoozed)
        buf_addf(sql, " AND NOT (coalesce(r.state, '') = 'snoozed' AND r.until > %" PRId64 ")",
                 now);
    if (is_view(q, "recent"))
        buf_addf(sql, " AND s.created > %" PRId64, now - INT64_C(24) * HOUR_S * 1000);
    if (is_stale)
        buf_addf(sql, " AND s.created < %" PRId64, now - INT64_C(72) * HOUR_S * 1000);
    buf_adds(sql, is_now     ? " ORDER BY +s.urgency DESC, +s.seq"
                  : is_stale ? " ORDER BY +s.seq"
                             : " ORDER BY +s.seq DESC");
}

/* The numbers of all that is in it, in order, each with a blank behind it. */
static void
read_plainly(struct buf *to, const struct asked *q, int64_t now)
{
    struct buf sql = { 0 };
    sqlite3 *db;
    sqlite3_stmt *st;

    buf_addf(&sql,
             "SELECT s.seq FROM signals s LEFT JOIN states w ON w.signal = s.seq LEFT JOIN receipts"
             " r ON r.signal = s.seq AND r.identity = '%s' WHERE",
             *q->target == '@' ? q->target + 1 : q->who);
    say_whose(&sql, q);
    say_filters(&sql, q, now);
    say_view(&sql, q, now);
    assert_int_equal(sqlite3_open("config/signals/index.db", &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql.p, -1, &st, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sqlite3_errmsg(db), sql.p);
    buf_adds(to, "");
    while (sqlite3_step(st) == SQLITE_ROW)
        buf_addf(to, "%lld ", sqlite3_column_int64(st, 0));
    sqlite3_finalize(st);
    sqlite3_close(db);
    buf_release(&sql);
}

/* ---- the same through the hub, page by page ---- */

static void
say_question(struct buf *to, const struct asked *q, const char *after)
{
    buf_addf(to, "{\"target\":\"%s\",\"view\":\"%s\",\"limit\":%d", q->target, q->view, q->limit);
    if (q->receipt)
        buf_addf(to, ",\"receipt_state\":\"%s\"", q->receipt);
    if (q->type)
        buf_addf(to, ",\"type\":[\"%s\",\"other\"]", q->type);
    if (q->state)
        buf_addf(to, ",\"delivery_state\":[\"%s\",\"%s\"]", q->state, q->state2);
    if (q->tag)
        buf_addf(to, ",\"project_tag\":\"%s\"", q->tag);
    if (q->min_urgency >= 0)
        buf_addf(to, ",\"min_urgency\":%g", q->min_urgency);
    if (q->wants_snoozed)
        buf_adds(to, ",\"include_snoozed\":true");
    if (q->wants_resolved)
        buf_adds(to, ",\"include_resolved\":true");
    if (after)
        buf_addf(to, ",\"after\":\"%s\"", after);
    buf_adds(to, "}");
}

/* Every page is full but the last, and only the last has no cursor. */
static void
read_pages(struct buf *to, struct hub *h, const struct asked *q)
{
    struct buf text = { 0 };
    const char *after = NULL;

    buf_adds(to, "");
    do {
        buf_reset(&text);
        say_question(&text, q, after);
        char who[20];
        snprintf(who, sizeof who, "%s%s", q->is_admin ? "!" : "", q->who);
        struct hub_reply *r = ask(h, HUB_INBOX, who, "%s", text.p);
        CHECK_REPLY(r, 200);
        json_each (v, r->data) {
            int64_t seq;
            assert_true(json_int(json_get(v, "sequence"), &seq));
            buf_addf(to, "%" PRId64 " ", seq);
        }
        after = r->cursor;
        if (after)
            assert_int_equal(r->data->kids.count, q->limit);
        else
            assert_true(r->data->kids.count <= (size_t)q->limit);
    } while (after);
    buf_release(&text);
}

static struct asked
some_question(void)
{
    static const char *const targets[] = { "@bob", "@kim", "@ruby", "@zoe", "@nobody", "dev" };
    static const char *const views[] = { "now", "now", "recent", "history", "stale" };
    static const char *const receipts[] = { "unread", "acknowledged", "resolved", "snoozed" };
    static const int limits[] = { 2, 7, 20, 100 };
    static const double urgencies[] = { 0, 0.1, 0.5, 0.9 };

    return (struct asked){ .target = PICK(targets),
                           .who = PICK(people),
                           .is_admin = chance(3) == 0,
                           .view = PICK(views),
                           .receipt = chance(5) ? NULL : PICK(receipts),
                           .type = chance(4) ? NULL : PICK(types),
                           .state = chance(3) ? NULL : PICK(states),
                           .state2 = PICK(states),
                           .tag = chance(5) ? NULL : "red",
                           .min_urgency = chance(5) ? -1 : PICK(urgencies),
                           .wants_snoozed = chance(4) == 0,
                           .wants_resolved = chance(4) == 0,
                           .limit = PICK(limits) };
}

static void
compare(struct hub *h, int64_t now)
{
    for (int i = 0; i < QUERIES; i++) {
        struct asked q = some_question();
        struct buf want = { 0 }, have = { 0 }, text = { 0 };
        read_pages(&have, h, &q); /* which brings the index up to date */
        read_plainly(&want, &q, now);
        if (strcmp(want.p, have.p) != 0) {
            say_question(&text, &q, NULL);
            fail_msg("%s asks %s:\nwant %s\nhave %s", q.who, text.p, want.p, have.p);
        }
        buf_release(&want);
        buf_release(&have);
        forget_answers();
    }
}

static void
pages_are_what_a_plain_query_finds(void **state)
{
    (void)state;
    struct err e;

    for (unsigned seed = 1; seed <= 2; seed++) {
        chance_state = seed;
        empty_dir();
        struct hub *h = open_hub();
        int64_t at = T0;
        for (int round = 0; round < ROUNDS; round++, at += 20 * HOUR_S * S) {
            fake_clock(at);
            live(h);
            compare(h, at / (S / 1000));
        }
        uint64_t problems = 1;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        CHECK_OK(hub_rebuild(h, &e), &e); /* and the lists that a rebuild makes */
        compare(h, (at - 20 * HOUR_S * S) / (S / 1000));
        close_hub(h);
        while (n_ids)
            free((char *)ids[--n_ids]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(pages_are_what_a_plain_query_finds),
    };
    return cmocka_run_group_tests_name("hub_inbox", tests, NULL, NULL);
}
