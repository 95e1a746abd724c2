/*
 * bench/wait - the time from an append to its arrival at a waiting process.
 *
 * Two measurements, each beside a floor of bare inotify:
 *
 * process  `cliq channel wait` in its own process; measured when its line arrives
 *          in this program through a pipe
 *    floor a process that blocks in read(2) of an inotify descriptor, reads the
 *          new line and writes it to the same kind of pipe
 * library  a process that follows the log with log_tail_next and poll; measured
 *          there, when it has the record
 *    floor a process that blocks in read(2) of an inotify descriptor and reads
 *          the new line; measured there
 *
 * The clock starts in a third process, the poster, right before log_append of a
 * durable log, as in `cliq channel post`. It is the same for all four.
 *
 * The waiter must be waiting when the poster starts: /proc/PID/syscall must show
 * that it is inside the blocking call.
 *
 * The four take turns; p50 and p99 are over SAMPLES of each.
 *
 * Usage: wait CLIQ, in an empty directory
 */
#include "bench.h"
#include "room/room.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SAMPLES = 600, READY_MS = 10000 };

static const char room_dir[] = ".war-rooms/bench";
static const char channel_path[] = ".war-rooms/bench/channel.jsonl";

/* ---- the poster: for each byte read, one append; it writes the time before the append ---- */

static int to_poster, from_poster;

static void
post_on_command(int in, int out)
{
    struct message m = { "engineer", "qa", "done", "EPIC-001", "It works.", 9 };
    struct channel c;
    struct err e;
    char go, id[MESSAGE_ID_SIZE];
    bool is_cut;

    if (channel_open(&c, "bench", true, &e))
        die("%s", e.text);
    while (read(in, &go, 1) == 1) {
        int64_t start_ns = now_ns();
        if (channel_post(&c, &m, id, &is_cut, &e))
            die("%s", e.text);
        write_all(out, &start_ns, sizeof start_ns);
    }
    _exit(0);
}

static void
start_poster(void)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        die("make pipes");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        close(in[1]);
        post_on_command(in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    to_poster = in[1];
    from_poster = out[0];
}

static void
post(void)
{
    write_all(to_poster, "!", 1);
}

/* Waits for the end of the append; returns the time of its start. */
static int64_t
posted_ns(void)
{
    int64_t start_ns;

    read_all(from_poster, &start_ns, sizeof start_ns);
    return start_ns;
}

/* ---- is it waiting? ---- */

static bool
is_wait_call(long call)
{
    static const long calls[] = {
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
#ifdef SYS_poll
        SYS_poll,
#endif
        SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll, SYS_read,
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* The number of the system call that the process sleeps in; -1: it runs. */
static long
call_of(pid_t pid, unsigned long *first)
{
    char said[256];
    int fd = open(text("/proc/%d/syscall", (int)pid), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, said, sizeof said - 1);
    long call = -1;

    if (fd >= 0)
        close(fd);
    if (n < 0)
        die("read the system call of process %d", (int)pid);
    said[n] = '\0';
    return sscanf(said, "%ld %lx", &call, first) == 2 ? call : -1;
}

/* Is descriptor fd of the process its inotify or epoll instance? */
static bool
is_event_fd(pid_t pid, unsigned long fd)
{
    char to[64];
    ssize_t n = readlink(text("/proc/%d/fd/%lu", (int)pid, fd), to, sizeof to - 1);

    to[n > 0 ? n : 0] = '\0';
    return strcmp(to, "anon_inode:inotify") == 0;
}

/* Returns when the process sleeps in a call that waits for an event. A read(2)
 * counts only on inotify: reading a file is not waiting. */
static void
until_waiting(pid_t pid)
{
    int64_t end_ns = now_ns() + (int64_t)READY_MS * 1000000;

    while (now_ns() < end_ns) {
        unsigned long first = 0;
        long call = call_of(pid, &first);
        if (is_wait_call(call) && (call != SYS_read || is_event_fd(pid, first)))
            return;
        usleep(50); /* polls until the condition is true */
    }
    errno = 0;
    die("process %d does not begin to wait", (int)pid);
}

/* ---- the waiters ---- */

/* A waiter writes its line, or the time when it got it. */
enum tells { TELLS_LINE, TELLS_TIME };

/* A bare inotify reader; ends after one event. */
static void
wait_bare(int out, enum tells tells)
{
    char events[4096], line[4096];
    int watch = inotify_init1(IN_CLOEXEC);
    int fd = open(channel_path, O_RDONLY | O_CLOEXEC);

    if (watch < 0 || fd < 0 || inotify_add_watch(watch, channel_path, IN_MODIFY) < 0 ||
        lseek(fd, 0, SEEK_END) < 0)
        die("watch %s", channel_path);
    if (read(watch, events, sizeof events) <= 0)
        die("wait for %s", channel_path);
    ssize_t n = read(fd, line, sizeof line);
    int64_t end_ns = now_ns();
    errno = 0;
    if (n <= 0 || line[n - 1] != '\n')
        die("the event came without a line");
    if (tells == TELLS_TIME)
        write_all(out, &end_ns, sizeof end_ns);
    else
        write_all(out, line, (size_t)n);
    _exit(0);
}

/* The library's tail; ends after one record. */
static void
wait_tail(int out)
{
    struct log_tail t;
    struct log_record rec;
    struct err e;

    if (log_tail_open(&t, room_dir, ROOM_CHANNEL, false, LOG_FROM_END, &e))
        die("%s", e.text);
    while (!log_tail_next(&t, &rec))
        if (poll(&(struct pollfd){ .fd = log_tail_fd(&t), .events = POLLIN }, 1, -1) < 0)
            die("poll");
    int64_t end_ns = now_ns();
    write_all(out, &end_ns, sizeof end_ns);
    _exit(0);
}

enum waiter { PROCESS, PROCESS_FLOOR, LIBRARY, LIBRARY_FLOOR, N_WAITERS };

static pid_t
start_waiter(enum waiter w, char *cliq, int out)
{
    char *argv[] = { cliq,     "channel", "wait",      "--room", "bench",
                     "--type", "done",    "--timeout", "60",     NULL };

    if (w == PROCESS)
        return start(argv, out);
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        if (w == LIBRARY)
            wait_tail(out);
        wait_bare(out, w == PROCESS_FLOOR ? TELLS_LINE : TELLS_TIME);
    }
    return pid;
}

/* Microseconds from the append to its arrival at the waiter. */
static double
sample(enum waiter w, char *cliq)
{
    char line[4096];
    int64_t end_ns;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        die("make a pipe");
    pid_t pid = start_waiter(w, cliq, fds[1]);
    close(fds[1]);
    until_waiting(pid);
    post();
    if (w == LIBRARY || w == LIBRARY_FLOOR) {
        read_all(fds[0], &end_ns, sizeof end_ns);
    } else {
        ssize_t n = read(fds[0], line, sizeof line);
        end_ns = now_ns();
        errno = n < 0 ? errno : 0;
        if (n <= 0 || line[n - 1] != '\n')
            die("the waiter wrote no line");
    }
    double us = (double)(end_ns - posted_ns()) / 1000;
    finish(pid, "a waiter");
    close(fds[0]);
    return us;
}

int
main(int argc, char **argv)
{
    static double us[N_WAITERS][SAMPLES];
    double p50[N_WAITERS], p99[N_WAITERS];

    begin(argc, 1, "wait CLIQ");
    unsetenv("WARROOMS_DIR");
    setenv("CLIQ_HOME", "no-settings", 1);
    if (mkdir(".war-rooms", 0700) != 0)
        die("create .war-rooms");
    start_poster();
    post(); /* makes the room and its channel */
    posted_ns();
    for (int i = 0; i < SAMPLES; i++)
        for (int w = 0; w < N_WAITERS; w++)
            us[w][i] = sample((enum waiter)w, argv[1]);
    for (int w = 0; w < N_WAITERS; w++) {
        p50[w] = median(us[w], SAMPLES);
        p99[w] = percentile(us[w], SAMPLES, 99);
    }
    row("channel wait: append to output, p99", text("%.2f ms", p99[PROCESS] / 1000),
        text("%.2f ms", p99[PROCESS_FLOOR] / 1000), p99[PROCESS] / 1000, AT_MOST, 3, "ms");
    note("p50 %.0f us, bare inotify process %.0f us; %d samples each", p50[PROCESS],
         p50[PROCESS_FLOOR], SAMPLES);
    row("log_tail: append to record, p99", text("%.2f ms", p99[LIBRARY] / 1000),
        text("%.2f ms", p99[LIBRARY_FLOOR] / 1000), p99[LIBRARY] / 1000, AT_MOST, 3, "ms");
    note("p50 %.0f us, bare inotify read %.0f us; %d samples each", p50[LIBRARY],
         p50[LIBRARY_FLOOR], SAMPLES);
    return 0;
}
