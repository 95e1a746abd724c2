/*
 * What must be true of proc/cgroup: whoever is in an attempt's group is found and stopped, whatever
 * it left behind; nobody else is; a path is not believed because it stands somewhere; and where
 * there are no groups an attempt runs as ever.
 */
#define _GNU_SOURCE
#include "test.h"

#include "proc/cgroup.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- where groups are, found without src/ ---- */

static char mount_point[PATH_MAX];

static void
find_mount(void)
{
    char line[8192];
    FILE *f = fopen("/proc/self/mountinfo", "re");

    while (f && fgets(line, sizeof line, f))
        if (strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %*s %4000s", mount_point) == 1)
            break;
    if (f)
        fclose(f);
}

/* A file of a group, or the group itself; until the next call. */
static const char *
in_group(const char *path, const char *file)
{
    static char to[PATH_MAX + CGROUP_PATH_SIZE + 64];

    snprintf(to, sizeof to, "%s%s%s%s", mount_point, path, *file ? "/" : "", file);
    return to;
}

static bool
is_there(const char *path)
{
    return access(in_group(path, ""), F_OK) == 0;
}

/* Our own, as the kernel tells it. */
static void
own_group(char to[CGROUP_PATH_SIZE])
{
    char line[1024];
    FILE *f = fopen("/proc/self/cgroup", "re");

    to[0] = '\0';
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "0::%511[^\n]", to) == 1)
            break;
    if (f)
        fclose(f);
}

static void
needs_groups(void)
{
    char path[CGROUP_PATH_SIZE];
    int dir = -1;

    find_mount();
    if (!mount_point[0] || !cgroup_make(path, &dir))
        skip();
    close(dir);
    cgroup_remove(path);
    if (is_there(path)) /* another part of it is mounted there than we think */
        fail_msg("%s was not removed", path);
}

/* ---- attempts ---- */

static const char *const env[] = { "PATH=/usr/bin:/bin", "CLIQ_ATTEMPT=run7/a.1", NULL };

static struct proc_id
start(const char *script)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log", .attempt_file = "a.1" };
    struct proc_id id;
    struct err e;

    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    return id;
}

static pid_t
read_pid(const char *name)
{
    char *text = read_file(name, NULL);
    pid_t pid = (pid_t)atoi(text);

    free(text);
    return pid;
}

static bool
is_dead(pid_t pid)
{
    return kill(pid, 0) != 0;
}

/* The status of a child that does fn, in a group of its own: 0 when all was right. */
static int
inside(int (*fn)(const char *group))
{
    char path[CGROUP_PATH_SIZE];
    int dir, status = -1;

    assert_true(cgroup_make(path, &dir));
    pid_t pid = fork();
    if (pid == 0)
        _exit(cgroup_enter(dir) ? fn(path) : 99);
    close(dir);
    waitpid(pid, &status, 0);
    cgroup_remove(path);
    assert_false(is_there(path));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
a_process_is_in_one_of_its_own_and_its_attempt_file_says_which(void **state)
{
    struct proc_id read_back;
    struct err e;
    char line[CGROUP_PATH_SIZE + 8];

    (void)state;
    needs_groups();
    struct proc_id id = start("grep ^0:: /proc/self/cgroup");
    assert_true(cgroup_is_ours(id.cgroup));
    waitpid(id.pid, NULL, 0);
    snprintf(line, sizeof line, "0::%s\n", id.cgroup);
    CHECK_FILE("log", line);
    CHECK_OK(proc_read_id("a.1", &read_back, &e), &e);
    assert_string_equal(read_back.cgroup, id.cgroup);
    assert_int_equal(read_back.pid, id.pid);
    cgroup_remove(id.cgroup);
    assert_false(is_there(id.cgroup));
    unlink("a.1");
    struct proc_id next = start(":");
    waitpid(next.pid, NULL, 0);
    assert_string_not_equal(next.cgroup, id.cgroup);
    cgroup_remove(next.cgroup);
}

/* Before Linux 5.7, and in many containers. */
static void
without_clone3_it_moves_there(void **state)
{
    (void)state;
    needs_groups();
    pid_t pid = fork();
    if (pid == 0) {
        if (!forbid_call(SYS_clone3, ENOSYS))
            _exit(0); /* not here */
        a_process_is_in_one_of_its_own_and_its_attempt_file_says_which(state);
        _exit(0);
    }
    assert_int_equal(wait_child(pid), 0);
}

static void
nothing_stays_of_what_never_ran(void **state)
{
    const char *argv[] = { "/no/such/program", NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log", .attempt_file = "a.1" };
    struct proc_id id;
    struct err e;
    char path[CGROUP_PATH_SIZE], home[CGROUP_PATH_SIZE];
    struct stat before, after;

    (void)state;
    needs_groups();
    own_group(home);
    snprintf(path, sizeof path, "%s", strcmp(home, "/") == 0 ? "" : home);
    assert_int_equal(stat(in_group(path, ""), &before), 0);
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e, "no/such/program");
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_CONFLICT, &e, "given up before");
    assert_string_equal(id.cgroup, "");
    assert_int_equal(stat(in_group(path, ""), &after), 0);
    assert_int_equal(after.st_nlink, before.st_nlink);
}

/* It is no descendant of ours, has no session, parent or word of the attempt. */
static void
who_left_all_else_behind_is_found_and_stopped(void **state)
{
    (void)state;
    needs_groups();
    struct proc_id id = start("env -i setsid setsid sh -c 'echo $$ >b; mv b pid; exec sleep 1000' &"
                              " while [ ! -e pid ]; do :; done");
    waitpid(id.pid, NULL, 0);
    pid_t pid = read_pid("pid");
    UNTIL(proc_signal_tree(&id, "run7/a.1", 0) == 1, 5000); /* those who made it are gone */
    cgroup_remove(id.cgroup); /* which does not take it from anybody */
    assert_true(is_there(id.cgroup));
    assert_int_equal(proc_signal_tree(&id, "run7/a.1", SIGTERM), 1);
    UNTIL(proc_signal_tree(&id, "run7/a.1", 0) == 0, 5000);
    assert_true(is_dead(pid) || proc_signal_tree(&id, "run7/a.1", 0) == 0);
    cgroup_remove(id.cgroup);
    assert_false(is_there(id.cgroup));
}

/* Deaf, in groups below its own. */
static void
groups_that_an_agent_makes_are_its_own_too(void **state)
{
    char script[PATH_MAX + CGROUP_PATH_SIZE];

    (void)state;
    needs_groups();
    snprintf(script, sizeof script,
             "g=%s$(sed -n s/^0:://p /proc/self/cgroup)/sub; mkdir $g $g/more;"
             "env -i setsid setsid sh -c \"trap : TERM; echo 0 >$g/more/cgroup.procs; echo \\$\\$ "
             ">b; mv b pid; while :; do sleep 1000; done\" & while [ ! -e pid ]; do :; done",
             mount_point);
    struct proc_id id = start(script);
    waitpid(id.pid, NULL, 0);
    assert_true(proc_signal_tree(&id, "run7/a.1", SIGTERM) >= 1);
    assert_true(proc_signal_tree(&id, "run7/a.1", 0) >= 1);
    UNTIL(proc_signal_tree(&id, "run7/a.1", SIGKILL) == 0, 5000);
    cgroup_remove(id.cgroup);
    assert_false(is_there(id.cgroup));
}

static void
another_boot_or_a_younger_attempt_is_another_one(void **state)
{
    (void)state;
    needs_groups();
    struct proc_id id = start("echo $$ >pid; exec sleep 1000");
    struct proc_id other = id;
    UNTIL(file_exists("pid"), 5000);
    other.start += 1000000; /* so its number is somebody else's, and who is there is older */
    assert_int_equal(proc_signal_tree(&other, "no/such.1", SIGKILL), 0);
    other = id;
    other.boot_id[0] = other.boot_id[0] == '0' ? '1' : '0';
    assert_int_equal(proc_signal_tree(&other, "no/such.1", SIGKILL), 0);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGKILL), 1);
    waitpid(id.pid, NULL, 0);
    cgroup_remove(id.cgroup);
}

/* ---- from within ---- */

static int
signal_own(const char *group)
{
    struct proc_id id;
    pid_t brother = fork(), reaped;

    if (brother == 0)
        for (;;)
            pause();
    if (proc_identify(getpid(), &id, NULL))
        return 1;
    id.pid = 1 << 30; /* an attempt whose process is gone */
    snprintf(id.cgroup, sizeof id.cgroup, "%s", group);
    int n = proc_signal_tree(&id, "no/such.1", SIGKILL);
    reaped = waitpid(brother, NULL, WNOHANG);
    kill(brother, SIGKILL);
    waitpid(brother, NULL, 0);
    return n == 0 && reaped == 0 ? 0 : 2;
}

static void
a_group_that_we_are_in_is_not_stopped(void **state)
{
    (void)state;
    needs_groups();
    assert_int_equal(inside(signal_own), 0);
}

static int
wake_one(const char *group)
{
    const char *argv[] = { "sh", "-c", "sed -n s/^0:://p /proc/self/cgroup", NULL };
    struct proc_spec spec = {
        .argv = argv, .env = env, .out = "log", .attempt_file = "w", .is_woken = true
    };
    struct proc_id id;
    char want[CGROUP_PATH_SIZE];

    if (proc_spawn(&spec, &id, NULL) || id.cgroup[0])
        return 1;
    waitpid(id.pid, NULL, 0);
    snprintf(want, sizeof want, "%.*s", (int)(strrchr(group, '/') - group), group);
    snprintf(want + strlen(want), sizeof want - strlen(want), "%s", want[0] ? "\n" : "/\n");
    char *text = read_file("log", NULL);
    int rc = strcmp(text, want) == 0 ? 0 : 2;
    free(text);
    return rc;
}

static void
who_was_woken_is_not_in_the_group_of_who_woke_it(void **state)
{
    (void)state;
    needs_groups();
    assert_int_equal(inside(wake_one), 0);
}

/* ---- where there are none ---- */

static int
spawn_without(const char *group)
{
    int fd = open(in_group(group, "cgroup.max.descendants"), O_WRONLY | O_CLOEXEC);
    const char *argv[] = { "sh", "-c", "echo ran", NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log", .attempt_file = "a.1" };
    struct proc_id id, read_back;

    if (fd < 0 || write(fd, "0", 1) != 1)
        return 1;
    if (proc_spawn(&spec, &id, NULL) || id.cgroup[0])
        return 2;
    if (proc_read_id("a.1", &read_back, NULL) || read_back.cgroup[0])
        return 3;
    waitpid(id.pid, NULL, 0);
    return proc_signal_tree(&id, "run7/a.1", SIGKILL) == 0 ? 0 : 4;
}

static void
an_attempt_runs_where_no_group_can_be_made(void **state)
{
    (void)state;
    needs_groups();
    assert_int_equal(inside(spawn_without), 0);
    CHECK_FILE("log", "ran\n");
}

/* ---- what is left ---- */

static void
only_what_the_dead_have_left_is_swept(void **state)
{
    char path[2][CGROUP_PATH_SIZE];
    int to[2], from[2], status;

    (void)state;
    needs_groups();
    for (int i = 0; i < 2; i++) { /* the first stays until it is told */
        assert_int_equal(pipe2(to, O_CLOEXEC), 0);
        assert_int_equal(pipe2(from, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (pid == 0) {
            int dir;
            char c;
            close(to[1]);
            if (!cgroup_make(path[0], &dir) || write(from[1], path[0], sizeof path[0]) < 0)
                _exit(1);
            _exit(i == 0 ? read(to[0], &c, 1) != 0 : 0);
        }
        close(from[1]);
        close(to[0]);
        assert_int_equal(read(from[0], path[i], sizeof path[i]), sizeof path[i]);
        close(from[0]);
        if (i == 1)
            waitpid(pid, &status, 0);
        cgroup_sweep();
        assert_int_equal(is_there(path[i]), i == 0);
        close(to[1]);
        if (i == 0)
            waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
    }
    cgroup_sweep();
    assert_false(is_there(path[0]));
}

static void
a_path_that_we_cannot_have_made_is_not_believed(void **state)
{
    static const char *const good[] = { "/cliq-1-2-3", "/user.slice/a b/cliq-4711-302824-12",
                                        "/cliq-1-2-3/cliq-4-5-6" };
    static const char *const bad[] = {
        "",
        "/",
        "cliq-1-2-3",
        "/cliq-1-2",
        "/cliq-1-2-3/",
        "/cliq-0-2-3",
        "/cliq-1-2-3x",
        "/cliq-01-2-3",
        "/x-1-2-3",
        "/cliq-1-2-3/sub",
        "/../cliq-1-2-3",
        "/a/../cliq-1-2-3",
        "/a/./cliq-1-2-3",
        "//cliq-1-2-3",
        "/a\n/cliq-1-2-3",
        "/cliq--1-2-3",
        "/cliq-1-2-3 ",
    };
    struct proc_id id;
    struct err e;
    char text[2 * CGROUP_PATH_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(cgroup_is_ours(good[i]));
        snprintf(text, sizeof text, "12 34 0f7c-11 %s", good[i]);
        unlink("a.1");
        assert_int_equal(symlink(text, "a.1"), 0);
        CHECK_OK(proc_read_id("a.1", &id, &e), &e);
        assert_string_equal(id.cgroup, good[i]);
        assert_string_equal(id.boot_id, "0f7c-11");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cgroup_is_ours(bad[i]));
        cgroup_remove(bad[i]);
        snprintf(text, sizeof text, "12 34 0f7c-11 %s", bad[i]);
        unlink("a.1");
        assert_int_equal(symlink(text, "a.1"), 0);
        CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_INVALID, &e, "a.1 is not an attempt file");
        assert_string_equal(id.cgroup, "");
    }
    memset(text, 'a', sizeof text);
    text[0] = '/';
    strcpy(text + CGROUP_PATH_SIZE, "/cliq-1-2-3");
    assert_false(cgroup_is_ours(text));
    unlink("a.1");
    assert_int_equal(symlink("12 34 0f7c-11", "a.1"), 0); /* by an older version */
    CHECK_OK(proc_read_id("a.1", &id, &e), &e);
    assert_string_equal(id.cgroup, "");
}

static int
sweep(void **state)
{
    (void)state;
    cgroup_sweep();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_process_is_in_one_of_its_own_and_its_attempt_file_says_which),
        CASE(without_clone3_it_moves_there),
        CASE(nothing_stays_of_what_never_ran),
        CASE(who_left_all_else_behind_is_found_and_stopped),
        CASE(groups_that_an_agent_makes_are_its_own_too),
        CASE(another_boot_or_a_younger_attempt_is_another_one),
        CASE(a_group_that_we_are_in_is_not_stopped),
        CASE(who_was_woken_is_not_in_the_group_of_who_woke_it),
        CASE(an_attempt_runs_where_no_group_can_be_made),
        CASE(only_what_the_dead_have_left_is_swept),
        CASE(a_path_that_we_cannot_have_made_is_not_believed),
    };
    return cmocka_run_group_tests_name("cgroup", tests, NULL, sweep);
}
