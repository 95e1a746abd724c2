/*
 * Rounds: requests that share a write, a sync and a commit of the index; rows that are added
 * later; callers that may not wait.
 */
#include "fault.h"
#include "hubs.h"

#include "base/sys.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err e;

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
    assert_false(is_in_index(reader, id));
    fake_clock(T0 + S / 50);
    id = got(ask_on(h, HUB_EMIT, "ruby", TASK), "id");
    assert_true(hub_may_go_on(h)); /* and has the lock and a transaction of its own */
    UNTIL(is_in_index(reader, id), 5000);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_a_failed_round_took_back_from_the_index_is_brought_again),
        CASE(a_round_in_steps_is_written_at_its_end),
        CASE(who_may_not_wait_is_refused_where_it_would),
        CASE(rounds_share_a_commit_until_somebody_waits),
        CASE(rounds_that_go_on_are_committed_meanwhile),
        CASE(a_commit_that_fails_meanwhile_costs_nobody_an_answer),
        CASE(rows_wait_until_they_are_many_and_are_there_for_whoever_asks),
    };

    return cmocka_run_group_tests_name("hub round", tests, NULL, NULL);
}
