/*
 * What must be true of proc/child and proc/child_loop: a child is heard within bounds, its end is
 * told at once, and one that is stopped leaves no process, wherever its descendants went.
 */
#define _GNU_SOURCE
#include "test.h"

#include "proc/child_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct err e;

/* A grandchild that ignores SIGTERM, in a session of its own, writes its pid to "far". */
#define FAR                                                                                        \
    "setsid sh -c 'trap \"\" TERM; echo $$ >far.part; mv far.part far; "                           \
    "while :; do sleep 1000; done' & "

static struct child_spec
shell(const char *text)
{
    static const char *argv[4] = { "sh", "-c" };

    argv[2] = text;
    return (struct child_spec){ .proc = { .argv = argv }, .keep = 4096, .kill_ms = 10000 };
}

static bool
far_is_dead(void)
{
    struct proc_id id;
    char *text = read_file("far", NULL);
    enum status s = proc_identify(atoi(text), &id, NULL);

    free(text);
    return s == ST_NOT_FOUND || proc_alive(&id) == PROC_DEAD;
}

/* ---- blocking ---- */

static void
it_is_heard_and_its_exit_code_is_told(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("echo out; echo err >&2; exit 3");
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_string_equal(c.output.p, "out\nerr\n");
    assert_int_equal(c.state, CHILD_GONE);
    assert_int_equal(child_exit_code(&c), 3);
    assert_false(c.is_timeout || c.is_cut);
    child_release(&c);
    child_release(&c);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left to reap */
}

static void
a_signal_is_128_and_its_number(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("kill -9 $$");
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_int_equal(child_exit_code(&c), 137);
    assert_null(c.output.p);
    child_release(&c);
}

static void
what_cannot_start_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    const char *const none[] = { "/no/such/program", NULL };
    struct child c;
    struct child_spec spec = {
        .proc = { .argv = none }, .keep = 100, .input = "x", .input_len = 1
    };
    CHECK_FAILS_WITH(child_run(&c, &spec, &e), ST_NOT_FOUND, &e, "/no/such/program");
    assert_int_equal(c.state, CHILD_NONE);
    assert_true(child_wait(&c, -1));
    child_stop(&c);
    child_release(&c);
    spec = shell("true");
    spec.proc.dir = "nowhere";
    CHECK_FAILS_WITH(child_run(&c, &spec, &e), ST_NOT_FOUND, &e, "nowhere");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
the_end_of_its_output_is_kept(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done");
    spec.keep = 10;
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_true(c.is_cut);
    assert_string_equal(c.output.p, "2998\n2999\n");
    child_release(&c);
    spec = shell("printf 0123456789");
    spec.keep = 10;
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_false(c.is_cut);
    assert_string_equal(c.output.p, "0123456789");
    child_release(&c);
}

static void
add(void *ctx, const char *p, size_t len)
{
    buf_add(ctx, p, len);
}

static void
every_piece_is_given_and_errors_may_stay_apart(void **state)
{
    (void)state;
    struct buf all = { 0 };
    struct child c;
    struct child_spec spec = shell("head -c 300000 /dev/zero; echo no 2>/dev/null >&2");
    spec.is_err_apart = true;
    spec.on_output = add;
    spec.ctx = &all;
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_int_equal(all.len, 300000);
    assert_int_equal(c.output.len, 4096);
    buf_release(&all);
    child_release(&c);
}

static void
input_of_any_length_arrives_whether_it_is_read_or_not(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("wc -c");
    spec.input_len = 1 << 20;
    spec.input = calloc(1, spec.input_len);
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_int_equal(atoi(c.output.p), 1 << 20);
    child_release(&c);
    static const char *ignores[] = { "true", NULL };
    spec.proc.argv = ignores;
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_int_equal(child_exit_code(&c), 0);
    child_release(&c);
    free((void *)(uintptr_t)spec.input);
}

static void
its_end_is_told_whatever_holds_its_output(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("sleep 1000 & echo $! >left; echo hi");
    int64_t began = test_now_ms();
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_true(test_now_ms() - began < 5000);
    assert_string_equal(c.output.p, "hi\n");
    char *left = read_file("left", NULL);
    assert_int_equal(kill(atoi(left), SIGKILL), 0); /* it runs on */
    free(left);
    child_release(&c);
}

static void
a_wait_ends_before_the_child(void **state)
{
    (void)state;
    struct child c;
    assert_int_equal(mkfifo("go", 0600), 0);
    struct child_spec spec = shell("read x <go; exit 4");
    CHECK_OK(child_start(&c, &spec, &e), &e);
    assert_false(child_wait(&c, 0));
    assert_false(child_wait(&c, 20));
    assert_int_equal(c.state, CHILD_RUNNING);
    write_file("go", "x\n");
    assert_true(child_wait(&c, -1));
    assert_int_equal(child_exit_code(&c), 4);
    child_release(&c);
}

static void
at_the_limit_it_gets_sigterm_and_the_grace_to_end(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("trap 'echo bye; exit 5' TERM; while :; do sleep 0.01; done");
    spec.limit_ms = 1000; /* time for the shell to set its trap */
    spec.grace_ms = 20000;
    CHECK_OK(child_run(&c, &spec, &e), &e);
    assert_true(c.is_timeout);
    assert_non_null(strstr(c.output.p, "bye\n"));
    assert_int_equal(child_exit_code(&c), 5);
    child_release(&c);
}

static void
one_that_ignores_sigterm_is_killed_after_the_grace(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("trap '' TERM; echo up; while :; do sleep 1000; done");
    spec.grace_ms = 200;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.output.len == 3), 10000);
    child_stop(&c);
    assert_int_equal(c.state, CHILD_TERM);
    assert_true(child_wait(&c, -1));
    assert_int_equal(child_exit_code(&c), 137);
    assert_false(c.is_timeout);
    child_release(&c);
}

static void
a_hangup_is_sighup_then_sigterm_then_sigkill(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec =
        shell("sh -c 'trap \"echo hup >>got\" HUP; trap \"echo term >>got\" TERM; "
              "echo up; while :; do sleep 0.01; done'");
    spec.is_whole_tree = true;
    spec.hangup_ms = spec.grace_ms = 300;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.output.len == 3), 10000);
    child_hangup(&c);
    assert_int_equal(c.state, CHILD_HUP);
    assert_true(child_wait(&c, -1));
    char *got = read_file("got", NULL);
    assert_string_equal(got, "hup\nterm\n");
    free(got);
    child_release(&c);
}

static void
one_that_hangs_up_can_be_stopped_at_once(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("trap '' HUP; echo up; while :; do sleep 0.01; done");
    spec.hangup_ms = 100000;
    spec.grace_ms = 100000;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.output.len == 3), 10000);
    child_hangup(&c);
    assert_false(child_wait(&c, 50));
    assert_int_equal(c.state, CHILD_HUP);
    child_stop(&c);
    assert_true(child_wait(&c, -1));
    assert_int_equal(child_exit_code(&c), 143);
    child_release(&c);
}

static void
the_far_grandchild_of_one_that_times_out_is_gone(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec =
        shell(FAR "while [ ! -e far ]; do sleep 0.01; done; echo up; sleep 1000");
    spec.grace_ms = 100;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.output.len == 3), 10000);
    child_stop(&c);
    assert_true(child_wait(&c, -1));
    assert_true(far_is_dead());
    child_release(&c);
}

static void
a_grandchild_without_parent_and_environment_is_known_from_before(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("env -i PATH=\"$PATH\" sh -c '" /* no token */
                                   "setsid sh -c \"trap : TERM; echo \\$\\$ >far.part; "
                                   "mv far.part far; while :; do sleep 1000; done\"' & "
                                   "while [ ! -e far ]; do sleep 0.01; done; echo up; sleep 1000");
    spec.grace_ms = 300;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.output.len == 3), 10000);
    child_stop(&c); /* its parents end, and it is nobody's */
    assert_true(child_wait(&c, -1));
    assert_true(far_is_dead());
    child_release(&c);
}

static void
a_daemon_of_one_that_ended_long_ago_is_found_by_the_token(void **state)
{
    (void)state;
    struct child c;
    struct child_spec spec = shell("(" FAR ") ; exit 0");
    spec.is_whole_tree = true;
    spec.grace_ms = 100;
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL((child_step(&c), c.has_exited), 10000);
    assert_int_equal(c.state, CHILD_RUNNING); /* its tree is not gone */
    UNTIL(file_exists("far"), 10000);
    child_stop(&c);
    assert_true(child_wait(&c, -1));
    assert_int_equal(child_exit_code(&c), 0);
    assert_true(far_is_dead());
    child_release(&c);
}

/* CLIQ_WAKE is the supervisor's own; another one's agent is no part of a tree. */
static void
a_woken_agent_is_in_the_tree_of_its_own_supervisor_only(void **state)
{
    (void)state;
    struct child c;
    struct proc_id id;
    setenv("CLIQ_WAKE", "ruby", 1);
    struct child_spec spec = shell(FAR "CLIQ_WAKE=otto sleep 1000 & echo $! >other; "
                                       "while [ ! -e far ]; do sleep 0.01; done; sleep 1000");
    CHECK_OK(child_start(&c, &spec, &e), &e);
    UNTIL(file_exists("far"), 10000);
    child_stop(&c);
    assert_true(child_wait(&c, -1));
    unsetenv("CLIQ_WAKE");
    assert_true(far_is_dead());
    char *other = read_file("other", NULL);
    CHECK_OK(proc_identify(atoi(other), &id, &e), &e);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    kill(id.pid, SIGKILL);
    free(other);
    child_release(&c);
}

static void
one_that_the_owner_reaped_and_an_adopted_one_are_gone_all_the_same(void **state)
{
    (void)state;
    struct child c, again;
    int status;
    struct child_spec spec = shell("exit 6");
    CHECK_OK(child_start(&c, &spec, &e), &e);
    assert_int_equal(waitpid(c.id.pid, &status, 0), c.id.pid);
    child_reaped(&c, status);
    assert_int_equal(child_step(&c), CHILD_GONE);
    assert_int_equal(child_exit_code(&c), 6);
    child_release(&c);

    spec = shell("exec sleep 1000");
    CHECK_OK(child_start(&c, &spec, &e), &e);
    child_adopt(&again, &(struct child_spec){ .token = "no/such.1", .grace_ms = 10000 }, &c.id);
    assert_int_equal(child_step(&again), CHILD_RUNNING);
    child_stop(&again);
    assert_true(child_wait(&again, -1));
    assert_int_equal(child_exit_code(&again), 143); /* a zombie tells */
    child_release(&again);
    assert_true(child_wait(&c, -1));
    child_release(&c);
}

static void
without_a_pidfd_its_end_is_noticed_and_it_can_be_stopped(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct child c;
        struct child_spec spec = shell("echo hi; exit 3");
        if (!forbid_call(SYS_pidfd_open, ENFILE))
            _exit(0); /* not here */
        bool is_good = child_run(&c, &spec, &e) == ST_OK && child_exit_code(&c) == 3 &&
                       strcmp(c.output.p, "hi\n") == 0;
        child_release(&c);
        spec = shell("exec sleep 1000");
        spec.limit_ms = 50;
        is_good = is_good && child_run(&c, &spec, &e) == ST_OK && c.is_timeout;
        child_release(&c);
        _exit(is_good ? 0 : 1);
    }
    assert_int_equal(wait_child(pid), 0);
}

/* ---- on a loop ---- */

struct scene {
    struct loop *loop;
    struct child child;
    struct child_watch watch;
    int n_told, n_exits;
};

static void
on_change(void *ctx)
{
    struct scene *s = ctx;

    s->n_told++;
    s->n_exits += s->child.has_exited;
    if (s->child.state == CHILD_GONE)
        loop_stop(s->loop);
}

static void
on_late(void *ctx)
{
    (void)ctx;
    fail_msg("not within 20 s");
}

static void
begin(struct scene *s, const struct child_spec *spec)
{
    *s = (struct scene){ .loop = loop_new(&e) };
    assert_non_null(s->loop);
    CHECK_OK(child_start(&s->child, spec, &e), &e);
    CHECK_OK(child_watch(&s->watch, &s->child, s->loop, on_change, s, &e), &e);
    assert_non_null(loop_after(s->loop, 20000, on_late, NULL, &e));
}

static void
finish(struct scene *s)
{
    CHECK_OK(loop_run(s->loop, &e), &e);
    assert_int_equal(s->child.state, CHILD_GONE);
    child_unwatch(&s->watch);
    child_unwatch(&s->watch);
    child_release(&s->child);
    loop_free(s->loop);
}

static void
on_a_loop_it_is_heard_and_told_once(void **state)
{
    (void)state;
    struct buf all = { 0 };
    struct scene s;
    struct child_spec spec = shell("echo one; echo two; exit 3");
    spec.on_output = add;
    spec.ctx = &all;
    begin(&s, &spec);
    finish(&s);
    assert_int_equal(s.n_told, 1);
    assert_int_equal(all.len, 8);
    buf_release(&all);
}

static void
on_a_loop_its_limit_stops_its_tree(void **state)
{
    (void)state;
    struct scene s;
    struct child_spec spec = shell(FAR "while [ ! -e far ]; do sleep 0.01; done; sleep 1000");
    spec.limit_ms = 1000;
    spec.grace_ms = 100;
    begin(&s, &spec);
    finish(&s);
    assert_true(far_is_dead());
}

static void
stop_from_timer(void *ctx)
{
    struct scene *s = ctx;

    if (file_exists("far"))
        child_watch_stop(&s->watch);
    else
        loop_after(s->loop, 5, stop_from_timer, s, NULL);
}

static void
on_a_loop_a_whole_tree_is_told_twice_its_end_and_that_it_is_gone(void **state)
{
    (void)state;
    struct scene s;
    struct child_spec spec = shell("(" FAR "); exit 0");
    spec.is_whole_tree = true;
    spec.grace_ms = 100;
    begin(&s, &spec);
    loop_after(s.loop, 5, stop_from_timer, &s, NULL);
    finish(&s);
    assert_int_equal(s.n_told, 2);
    assert_int_equal(s.n_exits, 2);
    assert_true(far_is_dead());
}

static void
kill_from_timer(void *ctx)
{
    struct scene *s = ctx;

    child_watch_stop(&s->watch);
    child_watch_kill(&s->watch);
}

static void
on_a_loop_it_can_be_killed_without_grace(void **state)
{
    (void)state;
    struct scene s;
    struct child_spec spec = shell("trap '' TERM; while :; do sleep 1000; done");
    spec.grace_ms = 100000;
    begin(&s, &spec);
    loop_after(s.loop, 5, kill_from_timer, &s, NULL);
    finish(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_is_heard_and_its_exit_code_is_told),
        CASE(a_signal_is_128_and_its_number),
        CASE(what_cannot_start_is_an_error_and_leaves_nothing),
        CASE(the_end_of_its_output_is_kept),
        CASE(every_piece_is_given_and_errors_may_stay_apart),
        CASE(input_of_any_length_arrives_whether_it_is_read_or_not),
        CASE(its_end_is_told_whatever_holds_its_output),
        CASE(a_wait_ends_before_the_child),
        CASE(at_the_limit_it_gets_sigterm_and_the_grace_to_end),
        CASE(one_that_ignores_sigterm_is_killed_after_the_grace),
        CASE(a_hangup_is_sighup_then_sigterm_then_sigkill),
        CASE(one_that_hangs_up_can_be_stopped_at_once),
        CASE(the_far_grandchild_of_one_that_times_out_is_gone),
        CASE(a_grandchild_without_parent_and_environment_is_known_from_before),
        CASE(a_daemon_of_one_that_ended_long_ago_is_found_by_the_token),
        CASE(a_woken_agent_is_in_the_tree_of_its_own_supervisor_only),
        CASE(one_that_the_owner_reaped_and_an_adopted_one_are_gone_all_the_same),
        CASE(without_a_pidfd_its_end_is_noticed_and_it_can_be_stopped),
        CASE(on_a_loop_it_is_heard_and_told_once),
        CASE(on_a_loop_its_limit_stops_its_tree),
        CASE(on_a_loop_a_whole_tree_is_told_twice_its_end_and_that_it_is_gone),
        CASE(on_a_loop_it_can_be_killed_without_grace),
    };

    loop_free(loop_new(NULL)); /* libuv opens a pipe for signals once, and keeps it */
    return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
