/* _exec - an attempt from a file: become the agent, or start it and show what it prints. */
#define _GNU_SOURCE
#include "base/sys.h"
#include "base/term.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "proc/proc.h"
#include "proc/proc_spec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POLL_MS = 250,       /* where there is no inotify */
    TAIL_MAX = 64 << 10, /* of a log that is there already, about what a pane keeps */
};

static const struct opt opts[] = {
    { .name = "view", .kind = OPT_FLAG, .help = "start it and show its log until it ends" },
    { .name = "watch",
      .kind = OPT_TEXT,
      .value = "LOG",
      .help = "it runs already, FILE is its attempt file: only show LOG until it ends" },
    { 0 },
};

/* Shows what was appended to the log since the last look; a character that is not yet whole
 * waits for its rest. False when nobody can see it any more. */
static bool
show_news(int log, struct buf *held)
{
    char piece[16384];
    ssize_t n;
    bool is_seen = true;

    while (is_seen && (n = SYS_RETRY(sys->read(log, piece, sizeof piece))) > 0) {
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

static void
swallow(int fd)
{
    char events[4096];

    while (fd >= 0 && read(fd, events, sizeof events) > 0)
        ;
}

/* Until the agent ends. The log is read from where it stood before. */
static void
view(const struct proc_id *id, const char *path, int log)
{
    struct buf held = BUF_MAX(1 << 20);
    int news = sys->inotify_init(IN_NONBLOCK | IN_CLOEXEC);
    int pidfd = proc_pidfd(id); /* -1: it is dead already, or will be asked for */
    struct pollfd p[2] = { { .fd = news, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };

    bool is_told = news >= 0 && sys->inotify_add(news, path, IN_MODIFY) >= 0;
    for (bool is_seen = true, is_over = false; is_seen && !is_over;) {
        is_over = pidfd >= 0 ? p[1].revents != 0 : proc_alive(id) == PROC_DEAD;
        swallow(news);
        is_seen = show_news(log, &held); /* after it is known to be over: its last words too */
        if (is_seen && !is_over)
            poll(p, 2, is_told && pidfd >= 0 ? -1 : POLL_MS);
    }
    if (news >= 0)
        close(news);
    if (pidfd >= 0)
        close(pidfd);
    buf_release(&held);
}

/* The title of the pane: the name of the attempt. */
static void
set_title(const char *attempt_file)
{
    struct buf out = { 0 };
    const char *slash = attempt_file ? strrchr(attempt_file, '/') : NULL;

    if (!attempt_file || !term_is_tty(STDOUT_FILENO))
        return;
    buf_adds(&out, "\033]2;");
    term_escape(&out, slash ? slash + 1 : attempt_file, strlen(slash ? slash + 1 : attempt_file),
                false);
    buf_adds(&out, "\033\\");
    cmd_print(&out, NULL);
    buf_release(&out);
}

/* The last line of the pane. The agent stays unwaited for: when we end, the orchestrator
 * inherits it and how it ended. */
static enum status
report_end(const struct proc_id *id, struct err *e)
{
    struct buf out = { 0 };
    siginfo_t end = { 0 };

    SYS_RETRY(waitid(P_PID, (id_t)id->pid, &end, WEXITED | WNOWAIT));
    if (end.si_code == CLD_EXITED)
        buf_addf(&out, "[ended with exit code %d]\n", end.si_status);
    else
        buf_addf(&out, "[ended by signal %d (%s)]\n", end.si_status, strsignal(end.si_status));
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

/* The orchestrator sees no pane: it reads the log. */
static void
say_in_log(const char *path, const struct err *why)
{
    struct buf line = { 0 };
    int fd =
        path ? SYS_RETRY(sys->openat(AT_FDCWD, path,
                                     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600))
             : -1;

    if (fd < 0)
        return;
    buf_addf(&line, "cliq: %s\n", why->text);
    if (!buf_failed(&line))
        SYS_RETRY(sys->write(fd, line.p, line.len));
    close(fd);
    buf_release(&line);
}

/* FILE.said: the orchestrator learns whether it began (run/panes.h). */
static void
say_start(const char *path, enum status s, const struct err *why)
{
    struct buf said = { 0 }, part = { 0 }, text = { 0 };

    buf_addf(&said, "%s.said", path);
    buf_addf(&part, "%s.part", path);
    if (!s || s == ST_CONFLICT)
        buf_adds(&text, s ? "taken" : "started");
    else
        buf_addf(&text, "failed %s", why->text);
    if (!buf_failed(&said) && !buf_failed(&part) && !buf_failed(&text)) {
        int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
        int fd = SYS_RETRY(sys->openat(AT_FDCWD, part.p, flags, 0600));
        bool is_whole = fd >= 0 && SYS_RETRY(sys->write(fd, text.p, text.len)) == (ssize_t)text.len;
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && (!is_whole || rename(part.p, said.p) != 0))
            unlink(part.p); /* then our end tells it */
    }
    buf_release(&said);
    buf_release(&part);
    buf_release(&text);
}

/* Keys typed in the pane are not for the agent, nor for its viewer. */
static void
ignore_keys(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
}

static enum status
start_and_view(const struct proc_spec *spec, const char *path, struct err *e)
{
    struct proc_id id;
    int log = -1;

    ignore_keys();
    if (spec->out) {
        log = SYS_RETRY(
            sys->openat(AT_FDCWD, spec->out, O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
        if (log >= 0)
            sys->lseek(log, 0, SEEK_END);
    }
    enum status s = proc_spawn(spec, &id, e);
    say_start(path, s, e);
    set_title(spec->attempt_file);
    if (!s) {
        if (log >= 0)
            view(&id, spec->out, log);
        s = report_end(&id, e);
    }
    if (log >= 0)
        close(log);
    return s;
}

/* From the last lines on. False: nobody can see it. */
static bool
seek_tail(int log)
{
    char c = '\n';
    off_t end = sys->lseek(log, 0, SEEK_END);

    if (end <= TAIL_MAX)
        return sys->lseek(log, 0, SEEK_SET) == 0;
    sys->lseek(log, end - TAIL_MAX - 1, SEEK_SET);
    while (SYS_RETRY(sys->read(log, &c, 1)) == 1 && c != '\n')
        ;
    return true;
}

/* It runs, and is no child of ours: how it ends the orchestrator tells. */
static enum status
watch(const char *attempt_file, const char *path, struct err *e)
{
    struct proc_id id;
    struct buf out = { 0 };
    enum status s = proc_read_id(attempt_file, &id, e);
    int log = s ? -1 : SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0));

    if (!s && log < 0)
        s = err_sys(e, "open %s", path);
    if (!s) {
        ignore_keys();
        set_title(attempt_file);
        if (seek_tail(log))
            view(&id, path, log);
        buf_adds(&out, "[ended]\n");
        s = cmd_print(&out, e);
    }
    if (log >= 0)
        close(log);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *args, struct err *e)
{
    const char *path = args->words[0];
    struct arena a = { 0 };
    struct proc_spec spec;
    struct err why = { "" };

    if (args_has(args, "watch"))
        return watch(path, args_text(args, "watch"), e);
    enum status s = proc_spec_read(path, &a, &spec, e);
    if (!s) {
        unlink(path); /* it may hold secrets, and serves once */
        s = args_has(args, "view") ? start_and_view(&spec, path, &why) : proc_become(&spec, &why);
        if (s) {
            if (s != ST_CONFLICT) /* else the log is another's */
                say_in_log(spec.out, &why);
            err_say(e, "%s", why.text);
        }
    }
    arena_release(&a);
    return s;
}

const struct cmd cmd_exec_attempt = {
    .name = "_exec",
    .words = "FILE",
    .min_words = 1,
    .max_words = 1,
    .brief = "run the attempt that FILE describes (for tmux panes)",
    .about =
        "FILE holds the program, its environment, directory, input and output as JSON, and\n"
        "is removed. Without --view this process becomes the program. With --watch FILE is an\n"
        "attempt file of a program that runs.",
    .opts = opts,
    .is_hidden = true,
    .run = run,
};
