/*
 * bench/append - eight processes append to one log, without sync.
 *
 * ours   log_append of a ready line of 256 bytes
 * bare   flock, write, unlock of the same line: the kernel's limit
 * Python the writer that the channel page documents: open, flock, json.dumps and
 *        write, unlock, close, for each message (bench/append.py)
 *
 * In a round, eight processes open the file, report ready, start together,
 * write for ROUND_MS and report the number of lines. The rate is the number of
 * all lines over the time until the last report. The lines in the file are
 * counted afterwards: a lost line ends the benchmark. The writers take turns;
 * each number is the median of ROUNDS rounds.
 *
 * The notes show three variants: ours with the message built each time (as
 * json.dumps does for Python), ours with several lines per append, and a Python
 * script that opens the file once.
 *
 * Usage: append PYTHON APPEND.PY
 */
#include "bench.h"
#include "log/log.h"
#include "room/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PROCESSES = 8, ROUNDS = 7, ROUND_MS = 400, LOOK_EVERY = 16, BATCH = 16 };

static const char name[] = "append.jsonl";
static const char *python, *script;

/* ---- in the child: end of standard input starts it; reports go to standard output ---- */

static int64_t
ready(void)
{
    char c;

    write_all(STDOUT_FILENO, &(uint64_t){ 0 }, sizeof(uint64_t));
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    return now_ns() + (int64_t)ROUND_MS * 1000000;
}

static void
report(uint64_t lines)
{
    write_all(STDOUT_FILENO, &lines, sizeof lines);
}

static void
open_log(struct log *l)
{
    struct err e;
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        die("open the working directory");
    if (log_open(l, dir, name, &(struct log_options){ .is_durable = false }, &e))
        die("%s", e.text);
}

static void
write_ours(void)
{
    char line[LINE_SIZE];
    struct log l;
    struct err e;
    uint64_t n = 0;

    fill_line(line);
    open_log(&l);
    for (int64_t end = ready(); n % LOOK_EVERY || now_ns() < end; n++)
        if (log_append(&l, &(struct log_text){ line, LINE_SIZE - 1 }, 1, &e))
            die("%s", e.text);
    report(n);
}

static void
write_ours_built(void)
{
    char filler[LINE_SIZE], id[MESSAGE_ID_SIZE];
    struct message m = { "engineer", "qa", "done", "EPIC-001", filler, 96 };
    struct buf line = { 0 };
    struct log l;
    struct err e;
    uint64_t n = 0;

    memset(filler, 'x', sizeof filler);
    open_log(&l);
    for (int64_t end = ready(); n % LOOK_EVERY || now_ns() < end; n++) {
        buf_reset(&line);
        message_id(&m, id);
        message_write(&line, &m, MESSAGE_BODY_MAX, id);
        if (log_append(&l, &(struct log_text){ line.p, line.len }, 1, &e))
            die("%s", e.text);
    }
    report(n);
}

static void
write_ours_batched(void)
{
    struct log_text records[BATCH];
    char line[LINE_SIZE];
    struct log l;
    struct err e;
    uint64_t n = 0;

    fill_line(line);
    for (int i = 0; i < BATCH; i++)
        records[i] = (struct log_text){ line, LINE_SIZE - 1 };
    open_log(&l);
    for (int64_t end = ready(); now_ns() < end; n += BATCH)
        if (log_append(&l, records, BATCH, &e))
            die("%s", e.text);
    report(n);
}

static void
write_bare(void)
{
    char line[LINE_SIZE];
    int fd = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
    uint64_t n = 0;

    fill_line(line);
    for (int64_t end = ready(); n % LOOK_EVERY || now_ns() < end; n++)
        if (flock(fd, LOCK_EX) || write(fd, line, LINE_SIZE) != LINE_SIZE || flock(fd, LOCK_UN))
            die("append to %s", name);
    report(n);
}

static void
become_python(const char *form)
{
    execlp(python, python, script, name, text("%d", ROUND_MS), form, (char *)NULL);
    die("start %s", python);
}

static void
write_python(void)
{
    become_python("open-once");
}

static void
write_python_opening(void)
{
    become_python("open-each");
}

/* ---- the rounds ---- */

struct writer {
    void (*write)(void);
    double rates[ROUNDS];
};

/* Lines per second of one round. */
static double
run_round(const struct writer *w)
{
    int gate[2], reports[2];
    pid_t pids[PROCESSES];
    uint64_t lines = 0, n;

    close(open_new(name));
    if (pipe2(gate, O_CLOEXEC) || pipe2(reports, O_CLOEXEC))
        die("make pipes");
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            die("fork");
        if (pids[i] == 0) {
            dup2(gate[0], STDIN_FILENO);
            dup2(reports[1], STDOUT_FILENO);
            close(gate[1]);
            w->write();
            _exit(0);
        }
    }
    close(gate[0]);
    close(reports[1]);
    for (int i = 0; i < PROCESSES; i++)
        read_all(reports[0], &n, sizeof n);
    int64_t start_ns = now_ns();
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++, lines += n)
        read_all(reports[0], &n, sizeof n);
    int64_t took_ns = now_ns() - start_ns;
    close(reports[0]);
    for (int i = 0; i < PROCESSES; i++)
        finish(pids[i], "a writer");
    errno = 0;
    if (count_lines(name) != lines)
        die("%ju lines were written and %ju are there", (uintmax_t)lines,
            (uintmax_t)count_lines(name));
    unlink(name);
    return (double)lines / ((double)took_ns / 1e9);
}

int
main(int argc, char **argv)
{
    enum { OURS, BARE, BUILT, BATCHED, PYTHON, OPENING, N_WRITERS };
    static struct writer writers[N_WRITERS] = {
        [OURS] = { .write = write_ours },        [BARE] = { .write = write_bare },
        [BUILT] = { .write = write_ours_built }, [BATCHED] = { .write = write_ours_batched },
        [PYTHON] = { .write = write_python },    [OPENING] = { .write = write_python_opening },
    };
    double rate[N_WRITERS];

    begin(argc, 2, "append PYTHON APPEND.PY");
    python = argv[1];
    script = argv[2];
    for (int i = 0; i < ROUNDS; i++)
        for (int w = 0; w < N_WRITERS; w++)
            writers[w].rates[i] = run_round(&writers[w]);
    for (int w = 0; w < N_WRITERS; w++)
        rate[w] = median(writers[w].rates, ROUNDS) / 1000;

    row("append, 8 processes, beside bare C", text("%.0f k/s", rate[OURS]),
        text("%.0f k/s", rate[BARE]), rate[OURS] / rate[BARE], AT_LEAST, 0.6, "x");
    row("append, 8 processes, beside Python", text("%.0f k/s", rate[OURS]),
        text("%.0f k/s", rate[OPENING]), rate[OURS] / rate[OPENING], AT_LEAST, 10, "x");
    note("the message built for each append too: %.0f k/s, %.1f x Python", rate[BUILT],
         rate[BUILT] / rate[OPENING]);
    note("%d lines an append: %.0f k/s, %.1f x Python", BATCH, rate[BATCHED],
         rate[BATCHED] / rate[OPENING]);
    note("Python that opens the file once: %.0f k/s; ours is %.1f x that", rate[PYTHON],
         rate[OURS] / rate[PYTHON]);
    return 0;
}
