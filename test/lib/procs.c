#define _GNU_SOURCE
#include "procs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

char self_path[PATH_MAX];
const char *pids_file;

static void
sign_in(void)
{
    struct procfs p;
    char line[64];
    int fd = open(pids_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || procfs_read(&p, 0) != 0)
        _exit(9);
    int n = snprintf(line, sizeof line, "%d %ju\n", (int)p.pid, (uintmax_t)p.start);
    if (write(fd, line, (size_t)n) != n)
        _exit(9);
    close(fd);
}

static _Noreturn void
sit(void)
{
    sign_in();
    for (;;)
        pause();
}

/* A child that does fn; the parent goes on. */
static pid_t
child(void (*fn)(void))
{
    pid_t pid = fork();

    if (pid < 0)
        _exit(8);
    if (pid == 0) {
        fn();
        _exit(0);
    }
    return pid;
}

static void
child_of_child(void)
{
    child(sit);
    sit();
}

/* The parent ends, so the child belongs to the reaper. */
static void
twice_forked(void)
{
    waitpid(child(child_of_child), NULL, WNOHANG);
    _exit(0);
}

static void
in_new_session(void)
{
    setsid();
    sit();
}

static void
daemonized(void)
{
    setsid();
    child(in_new_session);
    _exit(0);
}

static void
deaf(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sit();
}

static void
stopped(void)
{
    sign_in();
    raise(SIGSTOP);
    for (;;)
        pause();
}

static void
renamed(void)
{
    prctl(PR_SET_NAME, "a) S 1 1 (x y");
    child(sit);
    sit();
}

/* Its environment is empty, and its arguments say nothing. */
static void
without_environment(void)
{
    char *argv[] = { self_path, (char *)"hostile", (char *)"sit", (char *)(uintptr_t)pids_file,
                     NULL };
    char *env[] = { NULL };

    setsid();
    execve(self_path, argv, env);
    _exit(7);
}

static void *
sit_in_thread(void *arg)
{
    (void)arg;
    sit();
}

void
without_main_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, sit_in_thread, NULL) != 0)
        _exit(6);
    pthread_exit(NULL);
}

/* Forks on and on (40 times): each child lives for ever, deaf. */
static void
forking_on(void)
{
    signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 40; i++)
        child(deaf);
    sit();
}

const struct kind kinds[KINDS] = {
    { "child_of_child", child_of_child, 2, false },
    { "twice_forked", twice_forked, 2, false },
    { "in_new_session", in_new_session, 1, false },
    { "daemonized", daemonized, 1, false },
    { "deaf", deaf, 1, false },
    { "stopped", stopped, 1, false },
    { "renamed", renamed, 2, false },
    { "without_environment", without_environment, 1, false },
    { "without_main_thread", without_main_thread, 1, false },
    { "forking_on", forking_on, 41, false },
    { "left_behind", child_of_child, 2, true },
    { "left_daemons", daemonized, 1, true },
};

/* A program that shows what it ignores. */
static int
start_one(void)
{
    const char *argv[] = { "/bin/sed", "-n", "s/^SigIgn:.//p", "/proc/self/status", NULL };
    const char *env[] = { NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct proc_id id;
    int status = 0;

    signal(SIGCHLD, SIG_DFL); /* else it cannot be waited for */
    if (proc_spawn(&spec, &id, NULL) != ST_OK || waitpid(id.pid, &status, 0) != id.pid)
        return 4;
    return status;
}

bool
is_agent(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof self_path - 1);

    if (n > 0)
        self_path[n] = '\0';
    return argc == 4 && strcmp(argv[1], "hostile") == 0;
}

int
hostile_main(const char *name, const char *file)
{
    pids_file = file;
    if (strcmp(name, "sit") == 0)
        sit();
    if (strcmp(name, "start") == 0)
        return start_one();
    if (strcmp(name, "fds") == 0) { /* which are open? */
        for (int fd = 0; fd < 1024; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                dprintf(STDOUT_FILENO, "%d ", fd);
        return 0;
    }
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            child(kinds[i].make);
            if (kinds[i].is_left)
                return 0;
            sit();
        }
    return 5;
}

const char *const base_env[2] = { "PATH=/usr/bin:/bin", NULL };

struct proc_spec
shell(const char *script)
{
    static const char *argv[4] = { "sh", "-c", NULL, NULL };

    argv[2] = script;
    return (struct proc_spec){ .argv = argv, .env = base_env, .out = "log" };
}

struct proc_id
sleeper(void)
{
    struct proc_spec spec = shell("exec sleep 1000");
    struct proc_id id;
    struct err e;

    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    return id;
}

void
kill_and_reap(const struct proc_id *id)
{
    kill(id->pid, SIGKILL);
    waitpid(id->pid, NULL, 0);
}

int
sweep_cgroups(void **state)
{
    (void)state;
    cgroup_sweep();
    return 0;
}
