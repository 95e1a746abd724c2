/*
 * What must be true of a tree of processes: it is stopped to the last descendant and nobody else.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "procs.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct tree {
    const struct kind *kind;
    struct proc_id id;
    char token[32], pids[32];
};

/* The processes that signed in, as identities. */
static int
members(const struct tree *t, struct proc_id ids[64])
{
    FILE *f = fopen(t->pids, "re");
    uintmax_t start;
    int n = 0, pid;

    while (f && n < 64 && fscanf(f, "%d %ju\n", &pid, &start) == 2) {
        ids[n] = t->id; /* the boot */
        ids[n].pid = pid;
        ids[n++].start = start;
    }
    if (f)
        fclose(f);
    return n;
}

static int
count_live(const struct tree *t)
{
    struct proc_id ids[64];
    int n = members(t, ids), live = 0;

    for (int i = 0; i < n; i++)
        live += proc_alive(&ids[i]) == PROC_ALIVE;
    return live;
}

static void
plant(struct tree *t, int number)
{
    char attempt[64];
    const char *argv[] = { self_path, "hostile", NULL, t->pids, NULL };
    const char *env[] = { "PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0", attempt, NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct err e;

    t->kind = &kinds[number % KINDS];
    argv[2] = t->kind->name;
    snprintf(t->token, sizeof t->token, "run7/t.%d", number);
    snprintf(t->pids, sizeof t->pids, "pids.%d", number);
    snprintf(attempt, sizeof attempt, "CLIQ_ATTEMPT=%s", t->token);
    CHECK_OK(proc_spawn(&spec, &t->id, &e), &e);
}

/* It stands when all have signed in (and an agent that leaves has left). */
static bool
stands(const struct tree *t)
{
    struct proc_id ids[64];

    if (members(t, ids) < t->kind->members + !t->kind->is_left)
        return false;
    return !t->kind->is_left || proc_alive(&t->id) == PROC_DEAD;
}

static void
reaped(void *ctx, pid_t pid, int wait_status)
{
    (void)pid;
    (void)wait_status;
    ++*(int *)ctx;
}

static bool
is_gone(const struct tree *t, int signo)
{
    int n, dead = 0;

    proc_reap(reaped, &dead);
    n = proc_signal_tree(&t->id, t->token, signo);
    assert_true(n >= 0);
    return n == 0;
}

static void
hostile_trees_end_to_the_last_process_and_nobody_else(void **state)
{
    enum { TREES = 200, BATCH = 25 };
    struct tree t[BATCH];
    int64_t longest = 0;

    (void)state;
    proc_be_subreaper();
    struct proc_id sibling = sleeper();
    pid_t brother = fork(); /* the same name and program as the trees have */
    if (brother == 0)
        for (;;)
            pause();
    for (int first = 0; first < TREES; first += BATCH) {
        for (int i = 0; i < BATCH; i++)
            plant(&t[i], first + i);
        for (int i = 0; i < BATCH; i++)
            UNTIL(stands(&t[i]), 20000);
        for (int i = 0; i < BATCH; i++) {
            int next = i + 1 < BATCH ? count_live(&t[i + 1]) : 0;
            int64_t began = test_now_ms();
            is_gone(&t[i], SIGTERM);
            int64_t grace = test_now_ms() + 20; /* those that obey are gone long before */
            while (test_now_ms() < grace && !is_gone(&t[i], 0))
                test_poll();
            UNTIL(is_gone(&t[i], SIGKILL), 2000);
            if (test_now_ms() - began > longest)
                longest = test_now_ms() - began;
            UNTIL(count_live(&t[i]) == 0, 2000);
            if (i + 1 < BATCH) /* the neighbour did not feel it */
                assert_int_equal(count_live(&t[i + 1]), next);
        }
    }
    print_message("longest stop of a tree: %d ms, grace of 20 ms included\n", (int)longest);
    assert_int_equal(proc_alive(&sibling), PROC_ALIVE);
    assert_int_equal(waitpid(brother, NULL, WNOHANG), 0);
    kill_and_reap(&sibling);
    kill(brother, SIGKILL);
    waitpid(brother, NULL, 0);
    int dead = 0;
    proc_reap(reaped, &dead);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child of any kind is left */
}

static void
a_stopped_process_acts_on_sigterm(void **state)
{
    struct proc_spec spec =
        shell("trap 'echo bye; exit 0' TERM; kill -STOP $$; while :; do :; done");
    struct proc_id id;
    struct procfs p;
    struct err e;

    (void)state;
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    UNTIL(procfs_read(&p, id.pid) == 0 && p.state == 'T', 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGTERM), 1);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("log", "bye\n");
}

static void
sigterm_reaches_a_child_that_is_forked_meanwhile(void **state)
{
    enum { TIMES = 5 };

    (void)state;
    proc_be_subreaper();
    for (int i = 0; i < TIMES; i++) {
        struct proc_spec spec = shell("n=0; while [ $n -lt 2000 ]; do sleep 1000 & n=$((n + 1)); "
                                      "[ $n != 5 ] || echo five; done; wait");
        struct proc_id id;
        struct stat st;
        struct err e;
        int dead = 0;

        unlink("log");
        CHECK_OK(proc_spawn(&spec, &id, &e), &e);
        UNTIL(stat("log", &st) == 0 && st.st_size == 5, 20000);
        assert_true(proc_signal_tree(&id, "no/such.1", SIGTERM) > 0);
        UNTIL((proc_reap(reaped, &dead), proc_signal_tree(&id, "no/such.1", 0) == 0), 5000);
        UNTIL((proc_reap(reaped, &dead), waitpid(-1, NULL, WNOHANG) == -1), 5000);
    }
}

static void
signal_zero_only_counts(void **state)
{
    struct proc_id id = sleeper();

    (void)state;
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 1);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    kill(id.pid, SIGKILL);
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 0); /* zombies do not count */
    waitpid(id.pid, NULL, 0);
}

static void
a_token_is_matched_whole(void **state)
{
    const char *const values[] = { "run7/t.1", "run7/t.11", "run7/t.", "xrun7/t.1" };
    struct proc_id ids[4], void_id = { 0 };
    struct err e;

    (void)state;
    for (int i = 0; i < 4; i++) {
        char var[64];
        const char *argv[] = { "sleep", "1000", NULL },
                   *env[] = { "A=CLIQ_ATTEMPT=run7/t.1", var, "Z=1", NULL };
        struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
        snprintf(var, sizeof var, "CLIQ_ATTEMPT=%s", values[i]);
        CHECK_OK(proc_spawn(&spec, &ids[i], &e), &e);
    }
    memcpy(void_id.boot_id, ids[0].boot_id, sizeof void_id.boot_id); /* only the token is known */
    assert_int_equal(proc_signal_tree(&void_id, "run7/t.1", SIGKILL), 1);
    UNTIL(proc_alive(&ids[0]) == PROC_DEAD, 2000);
    for (int i = 1; i < 4; i++)
        assert_int_equal(proc_alive(&ids[i]), PROC_ALIVE);
    for (int i = 0; i < 4; i++)
        kill_and_reap(&ids[i]);
}

static void
we_are_never_signalled(void **state)
{
    struct proc_id self;
    struct err e;

    (void)state;
    CHECK_OK(proc_identify(getpid(), &self, &e), &e);
    assert_int_equal(proc_signal_tree(&self, "no/such.1", SIGKILL), 0);
}

/* Environment cleared, session new, parent dead: nothing tells whose it was, but it is ours. */
static void
strays_come_to_us_and_can_be_stopped(void **state)
{
    struct proc_spec spec =
        shell("env -i setsid sh -c 'sleep 1000 & echo $! > stray' & wait; exec sleep 1000");
    struct proc_id id, stray;
    struct err e;
    int pid = 0;

    (void)state;
    proc_be_subreaper();
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    UNTIL(file_exists("stray") && file_size("stray") > 1, 5000);
    char *text = read_file("stray", NULL);
    assert_int_equal(sscanf(text, "%d", &pid), 1);
    free(text);
    CHECK_OK(proc_identify(pid, &stray, &e), &e);
    struct procfs p;
    UNTIL(procfs_read(&p, pid) == 0 && p.ppid == getpid(), 5000);
    assert_int_equal(proc_signal_strays(&id.pid, 1, 0), 1);
    assert_int_equal(proc_signal_strays(&id.pid, 1, SIGKILL), 1);
    UNTIL(proc_alive(&stray) == PROC_DEAD, 2000);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    kill_and_reap(&id);
    int dead = 0;
    proc_reap(reaped, &dead);
    assert_int_equal(dead, 1);
}

static void
the_cheap_question_is_never_wrong_to_the_quiet_side(void **state)
{
    struct proc_id id, known = { 0 };
    struct procfs self;
    struct err e;

    (void)state;
    proc_be_subreaper();
    known = sleeper();
    assert_int_equal(procfs_read(&self, 0), 0);
    id = sleeper();
    assert_true(proc_may_have_left(&id, &known.pid, 1)); /* it lives */
    kill_and_reap(&id);
    assert_false(proc_may_have_left(&id, &known.pid, 1));
    assert_true(proc_may_have_left(&id, NULL, 0)); /* a child that nobody knows */
    struct proc_id older = id;
    older.start = self.start - 1; /* its orphans went elsewhere */
    assert_true(proc_may_have_left(&older, &known.pid, 1));
    fault_always("openat", EMFILE);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    fault_off(NULL);

    /* An orphan of it comes to us, and is seen. */
    struct proc_spec spec = shell("setsid sleep 1000 & exit 0");
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    wait_child(id.pid);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    UNTIL((proc_reap(NULL, NULL), proc_signal_strays(&known.pid, 1, SIGKILL) == 0), 2000);
    proc_reap(NULL, NULL);
    assert_false(proc_may_have_left(&id, &known.pid, 1));
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0L), 0);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    kill_and_reap(&known);
}

static void
reaping_tells_each_child_once(void **state)
{
    int n = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct proc_spec spec = shell("exit 3");
        struct proc_id id;
        struct err e;
        CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    }
    UNTIL((proc_reap(reaped, &n), n == 5), 5000);
    proc_reap(reaped, &n);
    assert_int_equal(n, 5);
}

int
main(int argc, char **argv)
{
    if (is_agent(argc, argv))
        return hostile_main(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        CASE(hostile_trees_end_to_the_last_process_and_nobody_else),
        CASE(a_stopped_process_acts_on_sigterm),
        CASE(sigterm_reaches_a_child_that_is_forked_meanwhile),
        CASE(signal_zero_only_counts),
        CASE(a_token_is_matched_whole),
        CASE(we_are_never_signalled),
        CASE(strays_come_to_us_and_can_be_stopped),
        CASE(the_cheap_question_is_never_wrong_to_the_quiet_side),
        CASE(reaping_tells_each_child_once),
    };

    return cmocka_run_group_tests_name("proc tree", tests, NULL, sweep_cgroups);
}
