/* _pane - the command of an agent's pane: shows the attempt's log until the orchestrator tells how
 * it ended (run/panes.h), then keeps the last screen. It reads files only: the agent does not
 * depend on it. */
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "base/utf8.h"
#include "base/watch.h"
#include "cmd/cmd.h"
#include "proc/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TAIL_MAX = 64 << 10, /* of a log that is there already, about what a pane keeps */
};

static const struct opt opts[] = { { 0 } };

/* Shows what was appended to the log since the last look; a character that is not yet whole
 * waits for its rest. False when the terminal is gone. */
static bool
show_news(int log, struct buf *held)
{
    char piece[16384];
    ssize_t n;
    bool is_seen = true;

    while (is_seen && log >= 0 && (n = SYS_RETRY(sys->read(log, piece, sizeof piece))) > 0) {
        struct buf out = { 0 };
        buf_add(held, piece, (size_t)n);
        size_t whole = buf_failed(held) ? 0 : held->len;
        for (size_t back = 1; back <= 3 && back <= whole; back++)
            if (utf8_is_begun(held->p + held->len - back, back)) {
                whole = held->len - back;
                break;
            }
        term_escape(&out, held->p, whole, true);
        is_seen = out.len == 0 || cmd_print(&out, NULL) == ST_OK;
        buf_drop(held, whole);
        buf_release(&out);
    }
    return is_seen;
}

static const char *
name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The title of the pane: the attempt and its state. */
static void
set_title(const char *attempt, const char *state)
{
    struct buf out = { 0 };

    if (!term_is_tty(STDOUT_FILENO))
        return;
    buf_adds(&out, "\033]2;");
    term_escape(&out, attempt, strlen(attempt), false);
    buf_addc(&out, ' ');
    term_escape(&out, state, strlen(state), false);
    buf_adds(&out, "\033\\");
    cmd_print(&out, NULL);
    buf_release(&out);
}

/* Opens the log at its last lines. One that cannot be opened is no reason to end: the end of this
 * process would be taken for a closed pane. */
static int
open_log(const char *path)
{
    char c = '\n';
    int log = SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0));

    if (log < 0) {
        cmd_warn("cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    off_t end = sys->lseek(log, 0, SEEK_END);
    sys->lseek(log, end > TAIL_MAX ? end - TAIL_MAX - 1 : 0, SEEK_SET);
    while (end > TAIL_MAX && SYS_RETRY(sys->read(log, &c, 1)) == 1 && c != '\n')
        ;
    return log;
}

/* The directory of a path, and its last component, are watched. */
static enum status
watch_path(struct watch *w, const char *path, struct err *e)
{
    struct buf dir = { 0 };

    buf_add(&dir, path, (size_t)(name_of(path) - path));
    enum status s = buf_status(&dir, "the path", e);
    if (!s)
        s = watch_open_file(w, dir.p, name_of(path), e);
    buf_release(&dir);
    return s;
}

/* Until how it ended stands in the file `end`: *how then. */
static enum status
follow(int log, const char *log_path, const char *attempt_file, const char *end, struct buf *how,
       struct err *e)
{
    struct buf held = BUF_MAX(1 << 20);
    struct watch news = { .fd = -1 }, over = { .fd = -1 };
    struct proc_id id;
    int pidfd = proc_read_id(attempt_file, &id, NULL) == ST_OK ? proc_pidfd(&id) : -1;
    enum status s = watch_path(&news, log_path, e);
    bool is_seen = true;

    if (!s)
        s = watch_path(&over, end, e);
    while (!s && is_seen) {
        struct pollfd p[] = { { .fd = news.fd, .events = POLLIN },
                              { .fd = over.fd, .events = POLLIN },
                              { .fd = pidfd, .events = POLLIN } };
        bool is_over = path_read_file(AT_FDCWD, end, how, NULL) == ST_OK && how->len > 0;
        is_seen = show_news(log, &held); /* after it is known to be over: its last words too */
        if (is_over || !is_seen)
            break;
        poll(p, 3, -1);
        watch_drain(&news);
        watch_drain(&over);
        if (p[2].revents) { /* the orchestrator, if it lives, tells more */
            set_title(name_of(attempt_file), "ended");
            close(pidfd);
            pidfd = -1;
        }
    }
    watch_close(&news);
    watch_close(&over);
    if (pidfd >= 0)
        close(pidfd);
    buf_release(&held);
    return s;
}

/* tmux scrolls the screen when a pane's command ends, so the command stays: closing the pane, or
 * its successor, ends it. */
static _Noreturn void
wait_for_end(void)
{
    for (;;)
        pause();
}

static enum status
run(const struct args *args, struct err *e)
{
    const char *log_path = args->words[0], *attempt_file = args->words[1], *end = args->words[2];
    struct buf how = BUF_MAX(4096), out = { 0 };
    enum status s;

    signal(SIGINT, SIG_IGN); /* keys typed in the pane are not for the agent, nor for us */
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    set_title(name_of(attempt_file), "running");
    int log = open_log(log_path);
    s = follow(log, log_path, attempt_file, end, &how, e);
    if (!s && how.len) {
        set_title(name_of(attempt_file), how.p);
        buf_addc(&out, '[');
        term_escape(&out, how.p, how.len, false);
        buf_adds(&out, "]\n");
        s = cmd_print(&out, e);
        unlink(end);
        if (!s)
            wait_for_end();
    }
    if (log >= 0)
        close(log);
    buf_release(&how);
    buf_release(&out);
    return s;
}

const struct cmd cmd_pane = {
    .name = "_pane",
    .words = "LOG ATTEMPT END",
    .min_words = 3,
    .max_words = 3,
    .brief = "show an agent's log in a pane (for cliq run)",
    .about =
        "Shows LOG, and what is appended to it, until the file END tells how the attempt of the\n"
        "attempt file ATTEMPT ended. Then keeps the screen until it is killed.",
    .opts = opts,
    .is_hidden = true,
    .run = run,
};
