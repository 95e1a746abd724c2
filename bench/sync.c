/*
 * bench/sync - one process appends and syncs each line.
 *
 * ours  log_append to a durable log
 * bare  flock, write, fdatasync, unlock
 *
 * Both append lines of 256 bytes to their own file, in turns of BATCH lines,
 * because a disk's speed varies over longer times. Each number is the median of
 * ROUNDS turns.
 */
#include "bench.h"
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum { ROUNDS = 41, BATCH = 50 };

static char line[LINE_SIZE];
static struct log ours;
static int bare;

static void
append_ours(void)
{
    struct err e;

    errno = 0;
    if (log_append(&ours, &(struct log_text){ line, LINE_SIZE - 1 }, 1, &e))
        die("%s", e.text);
}

static void
append_bare(void)
{
    if (flock(bare, LOCK_EX) || write(bare, line, LINE_SIZE) != LINE_SIZE || fdatasync(bare) ||
        flock(bare, LOCK_UN))
        die("append and sync");
}

/* Lines per second in one turn. */
static double
turn(void (*append)(void))
{
    int64_t start_ns = now_ns();

    for (int i = 0; i < BATCH; i++)
        append();
    return BATCH / ((double)(now_ns() - start_ns) / 1e9);
}

int
main(int argc, char **argv)
{
    double us[ROUNDS], them[ROUNDS];
    struct err e;
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)argv;
    begin(argc, 0, "sync");
    fill_line(line);
    bare = open_new("bare.jsonl");
    if (log_open(&ours, dir, "ours.jsonl", &(struct log_options){ .is_durable = true }, &e))
        die("%s", e.text);
    append_ours(); /* the first line of a new file costs more: the name is synced too */
    append_bare();
    for (int i = 0; i < ROUNDS; i++) {
        us[i] = turn(append_ours);
        them[i] = turn(append_bare);
    }
    double x = median(us, ROUNDS), y = median(them, ROUNDS);
    row("append, synced, 1 process, beside bare C", text("%.0f /s", x), text("%.0f /s", y), x / y,
        AT_LEAST, 0.9, "x");
    log_close(&ours);
    return 0;
}
