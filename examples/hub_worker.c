/*
 * A worker: claims tasks for a role, runs a command for each, and reports the result.
 *
 *     cc hub_worker.c $(pkg-config --cflags --libs cliq) -o worker
 *     ./worker reviewer 'wc -w'
 *     cliq emit task "Review PR 42" --to-role reviewer
 *
 * The command gets the task's content on standard input and its id in CLIQ_TASK. Exit code 0 acks
 * the task. 75 (EX_TEMPFAIL) releases it for another worker. Any other code fails it: the task is
 * retried later, and becomes a dead letter after the last retry. The worker extends the lease while
 * the command runs, so the command may take long. When a worker dies, its lease expires and another
 * worker can claim the task.
 *
 * Works on the files, or with CLIQ_URL and CLIQ_KEY through a server. On SIGINT or SIGTERM it
 * finishes its current task and ends.
 */
#define _GNU_SOURCE
#include <cliq.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEASE_S = 30, EXTEND_MS = 10000, GIVE_BACK = 75 };

static cliq_hub *hub;

static void
stop(int sig)
{
    (void)sig;
    cliq_hub_stop(hub);
}

/* Starts the command; its process id, or -1. */
static pid_t
begin(const char *command, const cliq_signal_info *task)
{
    const char *content = task->content ? task->content : "";
    FILE *in = tmpfile();

    if (!in || fputs(content, in) == EOF || fflush(in) != 0 ||
        lseek(fileno(in), 0, SEEK_SET) != 0) {
        perror("worker: cannot hand over the content");
        if (in)
            fclose(in);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(in), STDIN_FILENO);
        setenv("CLIQ_TASK", task->id, 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    fclose(in);
    return pid;
}

/* Waits for the command and extends the lease meanwhile. If the lease is lost, another worker
 * has the task: the command gets SIGTERM. */
static int
finish(pid_t pid, const cliq_signal_info *task)
{
    cliq_error err = CLIQ_ERROR_INIT;
    int status = 0;
    struct pollfd end = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };

    while (end.fd >= 0 && poll(&end, 1, EXTEND_MS) <= 0)
        if (cliq_extend(hub, task->id, task->claim_id, LEASE_S, &err) == CLIQ_CONFLICT)
            kill(pid, SIGTERM);
    if (end.fd >= 0)
        close(end.fd);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static cliq_status
work(const char *command, const cliq_signal_info *task, cliq_error *err)
{
    char why[64];
    pid_t pid = begin(command, task);
    int code = pid < 0 ? GIVE_BACK : finish(pid, task);
    cliq_status s;

    snprintf(why, sizeof why, "exit code %d", code);
    if (code == 0)
        s = cliq_ack(hub, task->id, task->claim_id, err);
    else if (code == GIVE_BACK)
        s = cliq_release(hub, task->id, task->claim_id, err);
    else
        s = cliq_fail(hub, task->id, task->claim_id, why, -1, err);
    fprintf(stderr, "worker: %s %s\n", task->id, code == 0 ? "done" : why);
    if (s == CLIQ_CONFLICT) { /* the lease expired, and another worker has the task */
        fprintf(stderr, "worker: %s\n", err->text);
        s = CLIQ_OK;
    }
    return s;
}

int
main(int argc, char **argv)
{
    struct sigaction act = { .sa_handler = stop };
    cliq_error err = CLIQ_ERROR_INIT;
    cliq_claim_options next = CLIQ_CLAIM_OPTIONS_INIT;
    cliq_signal_info task = CLIQ_SIGNAL_INFO_INIT;

    if (argc != 3) {
        fprintf(stderr, "usage: %s ROLE COMMAND\n", argv[0]);
        return CLIQ_INVALID;
    }
    next.role = argv[1];
    next.lease_s = LEASE_S;
    next.wait_ms = -1;
    cliq_status s = cliq_hub_open(&hub, NULL, &err);
    if (!s) {
        sigaction(SIGINT, &act, NULL);
        sigaction(SIGTERM, &act, NULL);
    }
    while (!s && !(s = cliq_claim(hub, &next, &task, &err)))
        s = work(argv[2], &task, &err);
    if (s && s != CLIQ_CANCELLED)
        fprintf(stderr, "worker: %s\n", err.text);
    cliq_hub_close(hub);
    return s == CLIQ_CANCELLED ? CLIQ_OK : (int)s;
}
