/*
 * bench/door - the agents' door: `cliq mcp` on standard input and output, and `cliq hook`.
 *
 * emit    ours  a tools/call of emit to a running `cliq mcp`, until its answer; the line of the hub
 * is synced peer  append the same line in this program and fdatasync it note  the peer with its
 * answer over two pipes: a child reads a line, appends, syncs, answers start   ours  start `cliq
 * mcp`, and take the answer to initialize, and to the tool inbox peer  start /bin/true and wait for
 * it memory  of the `cliq mcp` that took all emits: the most that was resident hook    ours  start
 * `cliq hook` with Claude Code's event Stop, of an agent for which nothing waits peer  start
 * /bin/true and wait for it tools   the list that a model reads, in bytes
 *
 * Ours and the peer run in turns; each number is the median of ROUNDS turns.
 * The signals in the store are counted at the end, and each answer is looked at.
 *
 * Usage: door CLIQ, in an empty directory
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 21, BATCH = 30, STARTS = 51, ANSWER_MAX = 1 << 16 };

static const char handshake[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
static const char inbox[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                            "call\",\"params\":{\"name\":\"inbox\",\"arguments\":{}}}\n";
static const char emit[] =
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"emit\",\"arguments\":"
    "{\"signal_type\":\"sense\",\"content\":\"Implemented the login flow and its tests.\"}}}\n";
static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\"}\n";
static const char stop[] = "{\"session_id\":\"s\",\"cwd\":\"/"
                           "\",\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}\n";

extern char **environ;
static char *cliq;
static char answer[ANSWER_MAX];
static int bare;
static char line[1024];
static size_t line_len;

/* ---- a program on two pipes ---- */

struct server {
    pid_t pid;
    int in, out;
};

/* input < 0: a pipe. */
static pid_t
spawn(char *const argv[], int in, int out)
{
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    errno = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    if (errno)
        die("start %s", argv[0]);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static void
make_pipes(int to[2], int from[2])
{
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        die("make a pipe");
}

static struct server
start_mcp(void)
{
    char *argv[] = { cliq, "mcp", "--as", "bench", NULL };
    int to[2], from[2];

    make_pipes(to, from);
    struct server s = { spawn(argv, to[0], from[1]), to[1], from[0] };
    close(to[0]);
    close(from[1]);
    return s;
}

static void
end(struct server *s, const char *name)
{
    close(s->in);
    close(s->out);
    finish(s->pid, name);
}

/* Sends a line, and takes one; its length. */
static size_t
ask(const struct server *s, const char *request, size_t len)
{
    size_t got = 0;

    write_all(s->in, request, len);
    do {
        ssize_t n = read(s->out, answer + got, sizeof answer - 1 - got);
        if (n <= 0) {
            errno = n ? errno : 0;
            die("no answer to %.*s", (int)len, request);
        }
        got += (size_t)n;
    } while (answer[got - 1] != '\n' && got < sizeof answer - 1);
    answer[got] = '\0';
    return got;
}

static void
ask_for(const struct server *s, const char *request, const char *has)
{
    ask(s, request, strlen(request));
    errno = 0;
    if (!strstr(answer, has))
        die("the answer to %s has no %s: %.200s", request, has, answer);
}

/* ---- emit ---- */

static void
append(void)
{
    if (write(bare, line, line_len) != (ssize_t)line_len || fdatasync(bare))
        die("append and sync");
}

/* The peer behind pipes: for each line that it reads. */
static struct server
start_bare(void)
{
    int to[2], from[2];
    char got[1024];
    struct server s;

    make_pipes(to, from);
    s = (struct server){ fork(), to[1], from[0] };
    if (s.pid < 0)
        die("fork");
    if (!s.pid) {
        close(to[1]);
        close(from[0]);
        while (read(to[0], got, sizeof got) > 0) {
            append();
            write_all(from[1], "{}\n", 3);
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    return s;
}

/* The peers write a copy of our last line, with its '\n'. */
static void
copy_line(const char *file)
{
    static char whole[1 << 16];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, whole, sizeof whole - 1);

    if (n <= 1)
        die("read %s", file);
    close(fd);
    char *last = whole + n - 1;
    while (last > whole && last[-1] != '\n')
        last--;
    line_len = (size_t)(whole + n - last);
    if (line_len > sizeof line)
        die("a line of %zu bytes", line_len);
    memcpy(line, last, line_len);
}

static double
rate_of(int64_t since_ns)
{
    return BATCH / ((double)(now_ns() - since_ns) / 1e9);
}

/* The most memory that was resident, in kB. */
static long
most_memory(pid_t pid)
{
    char text[4096];
    int fd = open((snprintf(text, sizeof text, "/proc/%d/status", (int)pid), text), O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n <= 0)
        die("read /proc/%d/status", (int)pid);
    close(fd);
    text[n] = '\0';
    const char *at = strstr(text, "VmHWM:");
    return at ? strtol(at + 6, NULL, 10) : 0;
}

static void
measure_emit(void)
{
    static const char events[] = "home/signals/events.jsonl";
    double us[ROUNDS], them[ROUNDS], piped[ROUNDS];
    struct server mcp = start_mcp(), other;

    ask_for(&mcp, handshake, "\"serverInfo\"");
    ask_for(&mcp, emit, "\\\"signal_type\\\":\\\"sense\\\"");
    copy_line(events);
    bare = open_new("bare.jsonl");
    append(); /* the first line of a new file costs more */
    other = start_bare();
    for (int i = 0; i < ROUNDS; i++) {
        int64_t since = now_ns();
        for (int n = 0; n < BATCH; n++)
            ask_for(&mcp, emit, "\\\"signal_type\\\":\\\"sense\\\"");
        us[i] = rate_of(since);
        since = now_ns();
        for (int n = 0; n < BATCH; n++)
            append();
        them[i] = rate_of(since);
        since = now_ns();
        for (int n = 0; n < BATCH; n++)
            ask(&other, line, line_len);
        piped[i] = rate_of(since);
    }
    size_t tools = 0;
    ask(&mcp, list, sizeof list - 1);
    const char *from = strstr(answer, "\"tools\":"), *over = strrchr(answer, ']');
    errno = 0;
    if (!from || !over)
        die("no list of tools: %.200s", answer);
    tools = (size_t)(over + 1 - (from + 8));
    long kb = most_memory(mcp.pid);
    end(&other, "the bare server"); /* first: it has copies of the other pipes */
    end(&mcp, "cliq mcp");
    errno = 0;
    if (count_lines(events) < ROUNDS * BATCH + 1)
        die("%ju lines in %s", (uintmax_t)count_lines(events), events);
    double x = median(us, ROUNDS), y = median(them, ROUNDS), z = median(piped, ROUNDS);
    row("tools/call emit over stdio, durable", text("%.0f /s", x), text("%.0f /s", y), x / y,
        AT_LEAST, 0.7, "x");
    note("the bare append behind two pipes, as ours is: %.0f /s; ours is %.2f x that", z, x / z);
    row("memory of cliq mcp", text("%.1f MB", (double)kb / 1024), "-", (double)kb / 1024, AT_MOST,
        8, "MB");
    row("the tool list", text("%zu B", tools), "-", (double)tools / 1000, AT_MOST, 10, "kB");
}

/* ---- start ---- */

static double
ms_since(int64_t ns)
{
    return (double)(now_ns() - ns) / 1e6;
}

static double
start_true(void)
{
    char *argv[] = { "/bin/true", NULL };
    int64_t since = now_ns();

    finish(start(argv, -1), "/bin/true");
    return ms_since(since);
}

static void
measure_start(void)
{
    double first[STARTS], tool[STARTS], least[STARTS];

    for (int i = 0; i < STARTS; i++) {
        int64_t since = now_ns();
        struct server mcp = start_mcp();
        ask_for(&mcp, handshake, "\"serverInfo\"");
        first[i] = ms_since(since);
        ask_for(&mcp, inbox, "\\\"signals\\\"");
        tool[i] = ms_since(since);
        end(&mcp, "cliq mcp");
        least[i] = start_true();
    }
    double x = median(first, STARTS), y = median(least, STARTS);
    row("cliq mcp, start to first answer", text("%.2f ms", x), text("%.2f ms", y), x, AT_MOST, 15,
        "ms");
    note("to the answer of the tool inbox: %.2f ms, p99 %.2f; p99 of the first answer %.2f ms",
         median(tool, STARTS), percentile(tool, STARTS, 99), percentile(first, STARTS, 99));
}

/* ---- hook ---- */

static void
measure_hook(void)
{
    char *argv[] = { cliq, "hook", "--client", "claude", "--as", "nobody", "--limit", "60s", NULL };
    double us[STARTS], them[STARTS];
    int event = open_new("event.json"), out = open_new("answers");

    write_all(event, stop, sizeof stop - 1);
    for (int i = 0; i < STARTS; i++) {
        if (lseek(event, 0, SEEK_SET) != 0)
            die("rewind the event");
        int64_t since = now_ns();
        finish(spawn(argv, event, out), "cliq hook");
        us[i] = ms_since(since);
        them[i] = start_true();
    }
    errno = 0;
    if (lseek(out, 0, SEEK_END) != 0)
        die("cliq hook answered, although nothing waits");
    close(event);
    close(out);
    double x = median(us, STARTS), y = median(them, STARTS);
    row("cliq hook with an empty inbox", text("%.2f ms", x), text("%.2f ms", y), x - y, AT_MOST, 5,
        "ms");
    note("p99: %.2f ms, /bin/true %.2f ms", percentile(us, STARTS, 99),
         percentile(them, STARTS, 99));
}

int
main(int argc, char **argv)
{
    begin(argc, 1, "door CLIQ");
    cliq = argv[1];
    unsetenv("CLIQ_URL");
    unsetenv("CLIQ_IDENTITY");
    unsetenv("CLIQ_PHASE");
    setenv("CLIQ_HOME", "home", 1);
    measure_emit();
    measure_start();
    measure_hook();
    return 0;
}
