/* attach - shows the run that goes on here, from any terminal. */
#include "base/sys.h"
#include "base/term.h"
#include "base/watch.h"
#include "cmd/cmd.h"
#include "cmd/lib/log_copy.h"
#include "cmd/run_options.h"
#include "proc/proc.h"
#include "run/journal.h"
#include "run/lockfile.h"
#include "run/panes.h"
#include "run/sleeping.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "no-tmux", OPT_FLAG, NULL, "print what happens, also where the run has panes in tmux" },
    { "json", OPT_FLAG, NULL, "print the lines of its journal, from its first one on" },
    { 0 },
};

/* Where this run begins in orchestrator.log, which has those of earlier runs, too: behind all of
 * them while its first line is still to come. */
static off_t
find_begin(int fd, const char *run_id)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *in = own < 0 ? NULL : fdopen(own, "r");
    char *line = NULL;
    size_t cap = 0;
    off_t at = 0, begin = -1;

    if (!in && own >= 0)
        close(own);
    for (ssize_t n; in && (n = getline(&line, &cap, in)) > 0; at += n)
        if (strstr(line, " run ") && strstr(line, " started ") && strstr(line, run_id))
            begin = at;
    free(line);
    if (in)
        fclose(in);
    return begin < 0 ? at : begin;
}

/* Until its orchestrator ends. */
static enum status
follow(const struct state_dir *f, const char *path, const char *run_id, int pidfd, struct err *e)
{
    struct watch w = { .fd = -1 };
    struct buf dir = { 0 };
    const char *slash = strrchr(path, '/');
    bool is_tty = term_is_tty(STDOUT_FILENO), is_over = pidfd < 0;
    int fd =
        SYS_RETRY(sys->openat(f->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    if (fd < 0)
        return err_sys(e, "open %s/%s", f->state_dir, path);
    state_dir_path(f, &dir, slash ? "run" : "");
    enum status s = buf_status(&dir, "the path", e);
    if (!s)
        s = watch_open_file(&w, dir.p, slash ? slash + 1 : path, e);
    off_t at = run_id ? find_begin(fd, run_id) : 0;
    if (!s)
        s = log_copy(fd, &at, is_tty, e);
    while (!s && !is_over) {
        struct pollfd p[] = { { .fd = w.fd, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };
        poll(p, 2, -1);
        is_over = p[1].revents != 0;
        watch_drain(&w);
        s = log_copy(fd, &at, is_tty, e);
    }
    watch_close(&w);
    buf_release(&dir);
    close(fd);
    return s;
}

/* Of the orchestrator; -1: none lives. */
static int
open_orchestrator(const struct state_dir *f)
{
    struct proc_id id;
    pid_t pid = lockfile_runner(f);

    return pid > 0 && proc_identify(pid, &id, NULL) == ST_OK ? proc_pidfd(&id) : -1;
}

static const char *
way_on(const struct run_latest *run)
{
    return run->is_damaged ? "its journal is damaged, cliq status tells more"
                           : "cliq run --resume goes on with it";
}

/* No process is there to follow: what happened so far. */
static enum status
show_asleep(const struct state_dir *f, const struct run_latest *run, bool is_json, struct err *e)
{
    enum status s = is_json ? follow(f, "run/" JOURNAL_NAME, NULL, -1, e)
                            : follow(f, "orchestrator.log", run->id, -1, e);

    if (!s)
        cmd_note(
            "the run sleeps until people answer (cliq review); cliq status --watch shows how it "
            "goes on");
    return s;
}

static enum status
show(const struct state_dir *f, const struct args *a, struct err *e)
{
    bool is_json = args_has(a, "json");
    int pidfd = open_orchestrator(f); /* before we look whether it has ended */
    struct run_latest run;
    struct sleeping sleep;
    enum status s = run_latest(f, &run, e);
    char attach[128];

    if (!s && pidfd < 0 && !run.has_end && sleeping_read(f, &sleep))
        return show_asleep(f, &run, is_json, e);
    if (!s && pidfd < 0 && !run.has_end)
        s = err_set(e, ST_NOT_FOUND, "no run is active here: the last one was cut off; %s",
                    way_on(&run));
    if (!s && pidfd >= 0 && !is_json && !args_has(a, "no-tmux") && term_is_tty(STDIN_FILENO) &&
        term_is_tty(STDOUT_FILENO)) {
        struct err why;
        enum status shown = panes_attach(f, &why);
        if (shown == ST_OK && panes_are_there(f, attach, sizeof attach)) {
            puts("the run goes on: cliq attach shows it again");
            close(pidfd);
            return ST_OK;
        }
        if (shown && shown != ST_NOT_FOUND)
            cmd_warn("%s", why.text);
    }
    if (!s)
        s = is_json ? follow(f, "run/" JOURNAL_NAME, NULL, pidfd, e)
                    : follow(f, "orchestrator.log", run.id, pidfd, e);
    if (pidfd >= 0)
        close(pidfd);
    if (!s)
        s = run_latest(f, &run, e);
    if (s)
        return s;
    if (!run.has_end && sleeping_read(f, &sleep)) {
        cmd_note("the run sleeps from now on, until people answer (cliq review)");
        return ST_OK;
    }
    if (!run.has_end)
        return err_set(e, ST_FAILED, "the run was cut off: %s", way_on(&run));
    err_say(e, "%s", ""); /* the log said it all */
    return run_outcome(run.end);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    enum status s = state_dir_find(&f, e);

    if (!s)
        s = show(&f, a, e);
    state_dir_close(&f);
    return s;
}

const struct cmd cmd_attach = {
    .name = "attach",
    .brief = "show the active run again",
    .about =
        "Where the run has panes in tmux, and this is a terminal, its session is shown; C-b d "
        "leaves\n"
        "it. Else what happens is printed, from the run's begin on, until it ends; Ctrl-C leaves. "
        "The\n"
        "run goes on either way.\n"
        "\n"
        "The exit code is that of cliq run when the run ends meanwhile, or has ended before; 0 "
        "when\n"
        "tmux was left; 4 when nothing has run here, or the run was cut off; 1 when it is cut off\n"
        "meanwhile. Ctrl-C ends attach itself by SIGINT, which a shell reports as 130.",
    .examples = "cliq run --detach\n"
                "cliq attach\n"
                "cliq attach --no-tmux",
    .opts = opts,
    .run = run,
};
