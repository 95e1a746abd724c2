/*
 * bench/post - `cliq channel post`, one process per message, durable.
 *
 * ours  start `cliq channel post ...` and wait for it
 * peer  start /bin/true and wait for it; then append a line of the same length
 *       in this program and fdatasync it
 *
 * Both run in turns of BATCH messages; each number is the median of ROUNDS turns.
 * The messages in the room are counted at the end.
 *
 * The note shows the time of the smallest possible program, started the same
 * way: bench/least.c, which opens the file, locks, writes, syncs and ends.
 *
 * Usage: post CLIQ LEAST, in an empty directory
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 15, BATCH = 50 };

static const char channel[] = ".war-rooms/bench/channel.jsonl";
static char *cliq, *least;
static char line[LINE_SIZE];
static int bare;

static void
post_ours(void)
{
    char *argv[] = { cliq,       "channel", "post",
                     "--room",   "bench",   "--from",
                     "engineer", "--to",    "qa",
                     "--type",   "done",    "--ref",
                     "EPIC-001", "--body",  "Implemented the login flow and its tests.",
                     NULL };

    finish(start(argv, -1), "cliq channel post");
}

static void
post_peer(void)
{
    char *argv[] = { "/bin/true", NULL };

    finish(start(argv, -1), "/bin/true");
    if (write(bare, line, strlen(line)) != (ssize_t)strlen(line) || fdatasync(bare))
        die("append and sync");
}

static void
post_least(void)
{
    char *argv[] = { least, "least.jsonl", line, NULL };

    finish(start(argv, -1), "least");
}

/* Milliseconds per message in one turn. */
static double
turn(void (*post)(void))
{
    int64_t start_ns = now_ns();

    for (int i = 0; i < BATCH; i++)
        post();
    return (double)(now_ns() - start_ns) / 1e6 / BATCH;
}

/* The peers write a copy of our message, with its '\n'. */
static void
copy_line(void)
{
    int fd = open(channel, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);

    if (n <= 0)
        die("read %s", channel);
    line[n] = '\0';
    close(fd);
}

int
main(int argc, char **argv)
{
    double us[ROUNDS], them[ROUNDS], floor[ROUNDS];

    begin(argc, 2, "post CLIQ LEAST");
    cliq = argv[1];
    least = argv[2];
    unsetenv("WARROOMS_DIR");
    setenv("CLIQ_HOME", "no-settings", 1);
    if (mkdir(".war-rooms", 0700) != 0)
        die("create .war-rooms");
    post_ours();
    copy_line();
    bare = open_new("bare.jsonl");
    close(open_new("least.jsonl"));
    for (int i = 0; i < ROUNDS; i++) {
        us[i] = turn(post_ours);
        them[i] = turn(post_peer);
        floor[i] = turn(post_least);
    }
    errno = 0;
    if (count_lines(channel) != ROUNDS * BATCH + 1)
        die("%ju messages in the room", (uintmax_t)count_lines(channel));
    double x = median(us, ROUNDS), y = median(them, ROUNDS), z = median(floor, ROUNDS);
    row("channel post, a process each, durable", text("%.2f ms", x), text("%.2f ms", y), x / y,
        AT_MOST, 1.6, "x");
    note("the least static program that appends and syncs: %.2f ms; ours is %.2f x that", z, x / z);
    return 0;
}
