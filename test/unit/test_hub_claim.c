/*
 * Tasks: one winner each, the most urgent first, from claim to ack, whoever else writes and
 * whatever is still in memory.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#include <unistd.h>

static struct err e;

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
    assert_non_null(strstr(r->details, "\"claimed_by\":\"bob\""));
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
        pids[i] = fork_worker(claim_all, i, &fds[i]);
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

/* More than the cache of rows holds, and than stay in it. */
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
 * cache is full at the 501st claim, nothing that follows has to look into the index, tasks that
 * were claimed before are released, and the round ends with a commit. */
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
    UNTIL(is_in_index(reader, ids[0]), 5000); /* the commit did not fail */
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

    *m = (struct model){ .urgency = (int)random_below(4), .type = (int)random_below(2) };
    struct hub_reply *r = ask_on(
        h, HUB_EMIT, "bob", "{\"signal_type\":\"%s\",\"task_status\":\"open\",\"urgency\":0.%d%s}",
        m->type ? "job" : "task", m->urgency, to[random_below(3)]);
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
    int type = (int)random_below(3) - 1;
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
    enum hub_op op = m->state == HELD  ? ends[random_below(4)]
                     : random_below(3) ? HUB_CLAIM
                                       : HUB_STATUS;
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
        unsigned what = random_below(100);
        if (what < 20 && n < MODEL_MAX) {
            add_task(h, &m[n++]);
        } else if (what < 60) {
            claim_next(h, m, n);
        } else if (what < 97 && n) {
            do_something(h, &m[random_below((unsigned)n)]);
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

/* The cache of claimable tasks once waited for ever, when their texts had filled it. */
static void
many_large_tasks_are_claimed_one_after_the_other(void **state)
{
    enum { TASKS = 60, BYTES = 40000 };
    static char text[BYTES + 1], json[BYTES + 100];
    struct hub *h = open_hub();

    (void)state;
    alarm(60);
    memset(text, 'x', BYTES);
    snprintf(json, sizeof json, "{\"signal_type\":\"task\",\"content\":\"%s\"}", text);
    for (int i = 0; i < TASKS; i++)
        emit(h, "ruby", json);
    for (int i = 0; i < TASKS; i++)
        assert_non_null(ask(h, HUB_CLAIM, "bob", "{}")->text);
    assert_null(ask(h, HUB_CLAIM, "bob", "{}")->text);
    alarm(0);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_claim_that_others_ended_is_over),
        CASE(claims_of_any_number_are_acked_after_the_commit),
        CASE(what_leaves_the_lists_and_comes_back_is_in_them),
        CASE(the_first_match_of_all_is_seen_by_its_ack),
        CASE(one_task_has_one_winner),
        CASE(the_next_task_is_the_most_urgent_then_the_oldest),
        CASE(a_conflict_is_told_before_a_lack_of_permission),
        CASE(a_released_task_is_free_at_once),
        CASE(a_task_goes_its_way_step_by_step),
        CASE(many_processes_claim_each_task_once),
        CASE(a_task_claimed_by_its_id_is_not_the_next_one),
        CASE(tasks_between_those_that_were_taken_stay),
        CASE(a_task_is_claimed_in_its_turn_whatever_happened_before),
        CASE(many_large_tasks_are_claimed_one_after_the_other),
    };

    return cmocka_run_group_tests_name("hub claim", tests, NULL, NULL);
}
