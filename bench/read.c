/*
 * bench/read - `cliq channel read --room R --last 1 --type done` on a room of
 * 1,000,000 messages, beside the same on a room of 1,000.
 *
 * Both rooms have messages of about 250 bytes. Every tenth is of type done; the
 * last of them is at the same distance from the end in both. The rooms are in
 * the page cache.
 *
 * The two reads take turns of BATCH processes; each number is the median of
 * ROUNDS turns. The output is compared with the last message written.
 *
 * The note shows the worst case: no message matches, so the whole file is read
 * and parsed.
 *
 * Usage: read CLIQ, in an empty directory
 */
#include "bench.h"
#include "room/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 15, BATCH = 20, LARGE = 1000000, SMALL = 1000, DONE_EVERY = 10, LAST_DONE = 5 };

static char *cliq;
static char last_done[2][MESSAGE_ID_SIZE]; /* the id that a read must find, by room */
static const char *const rooms[2] = { "small", "large" };
enum { IN_SMALL, IN_LARGE };

/* Fills a room in batches, one write each, and syncs at the end. */
static void
fill(int room, size_t n)
{
    struct channel c;
    struct err e;
    struct buf lines[100] = { 0 };
    struct log_text records[100];
    char body[100], id[MESSAGE_ID_SIZE];

    memset(body, 'x', sizeof body);
    errno = 0;
    if (channel_open(&c, rooms[room], false, &e))
        die("%s", e.text);
    for (size_t i = 0; i < n; i++) {
        size_t k = i % 100;
        bool is_done = (n - 1 - i) % DONE_EVERY == LAST_DONE;
        struct message m = { "engineer", "qa", is_done ? "done" : "review",
                             "EPIC-001", body, sizeof body };
        buf_reset(&lines[k]);
        message_id(&m, id);
        message_write(&lines[k], &m, c.max_body, id);
        if (is_done)
            memcpy(last_done[room], id, sizeof id);
        records[k] = (struct log_text){ lines[k].p, lines[k].len };
        if (k == 99 && log_append(&c.log, records, 100, &e))
            die("%s", e.text);
    }
    for (size_t k = 0; k < 100; k++)
        buf_release(&lines[k]);
    if (fdatasync(c.log.fd) != 0)
        die("sync");
    channel_close(&c);
}

/* Milliseconds per read in one turn. */
static double
turn(int room, char *type, int n)
{
    char *argv[] = { cliq,     "channel", "read",   "--room", (char *)rooms[room],
                     "--last", "1",       "--type", type,     NULL };
    int64_t start_ns = now_ns();

    for (int i = 0; i < n; i++)
        finish(start(argv, -1), "cliq channel read");
    return (double)(now_ns() - start_ns) / 1e6 / n;
}

/* Checks that the read prints the expected message. */
static void
check(int room)
{
    char *argv[] = { cliq,     "channel", "read",   "--room", (char *)rooms[room],
                     "--last", "1",       "--type", "done",   NULL };
    char out[1024];
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        die("make a pipe");
    pid_t pid = start(argv, fds[1]);
    close(fds[1]);
    ssize_t n = read(fds[0], out, sizeof out - 1);
    out[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    finish(pid, "cliq channel read");
    errno = 0;
    if (!strstr(out, last_done[room]))
        die("read the wrong message of %s: %s", rooms[room], out);
}

int
main(int argc, char **argv)
{
    double large[ROUNDS], small[ROUNDS];

    begin(argc, 1, "read CLIQ");
    cliq = argv[1];
    unsetenv("WARROOMS_DIR");
    setenv("CLIQ_HOME", "no-settings", 1);
    if (mkdir(".war-rooms", 0700) != 0)
        die("create .war-rooms");
    fill(IN_SMALL, SMALL);
    fill(IN_LARGE, LARGE);
    check(IN_SMALL);
    check(IN_LARGE);
    for (int i = 0; i < ROUNDS; i++) {
        large[i] = turn(IN_LARGE, "done", BATCH);
        small[i] = turn(IN_SMALL, "done", BATCH);
    }
    double x = median(large, ROUNDS), y = median(small, ROUNDS);
    row("channel read --last 1, 1,000,000 messages", text("%.2f ms", x), text("%.2f ms", y), x / y,
        AT_MOST, 1.3, "x");
    note("when none of the 1,000,000 matches, all are read: %.0f ms", turn(IN_LARGE, "pass", 1));
    return 0;
}
