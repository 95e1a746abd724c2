/* log - what the orchestrator, or a phase, said. */
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "base/watch.h"
#include "cmd/cmd.h"
#include "cmd/lib/log_copy.h"
#include "cmd/lib/workflow_tell.h"
#include "context/frames.h"
#include "run/history.h"
#include "run/phase_way.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "follow", OPT_FLAG, NULL, "go on printing what comes, until interrupted", .letter = 'f' },
    { "raw", OPT_FLAG, NULL, "of a CLI agent: the stream of its program, as it came" },
    { "attempt", OPT_NUMBER, "N", "this attempt of the phase, from 1; not the latest" },
    { "run", OPT_TEXT, "ID", "of an earlier run: the begin of its id in cliq runs",
      .choose = "runs" },
    { 0 },
};

/* A team phase has no output of its own. */
static enum status
name_phases(const struct state_dir *f, const char *phase, struct err *e)
{
    struct state_dir frame = { .dir = -1 };
    struct workflow w = { 0 };
    struct buf names = { 0 };
    const char *first = "PHASE";

    if (frame_open(&frame, f, phase, false, NULL) == ST_OK &&
        workflow_load(&w, &frame, NULL) == ST_OK)
        for (size_t i = 0; i < w.team.n_phases; i++) {
            first = i ? first : w.team.phases[i].name;
            buf_addf(&names, "%s%s", i ? ", " : "; its phases are ", w.team.phases[i].name);
        }
    enum status s =
        err_set(e, ST_NOT_FOUND, "phase %s is a team: cliq log %s/%s shows a phase of it%s", phase,
                phase, first, names.p ? names.p : "");
    workflow_release(&w);
    state_dir_close(&frame);
    buf_release(&names);
    return s;
}

/* It has no log: why not? */
static enum status
unknown_phase(const struct state_dir *f, const char *phase, struct err *e)
{
    struct workflow w;
    size_t i;
    enum status s = workflow_load(&w, f, e);

    if (!s)
        s = team_find_phase(&w.team, phase, &i, e);
    if (!s && w.team.phases[i].type == PHASE_TEAM)
        s = name_phases(f, phase, e);
    else if (!s)
        s = err_set(e, ST_NOT_FOUND, "no log of phase %s: it has not run yet", phase);
    workflow_tell(&w);
    workflow_release(&w);
    return s;
}

/* The path of the latest (or that) attempt's log, below the frame. attempt 0: the latest. */
static enum status
find_log(const struct state_dir *f, const char *phase, uint64_t attempt, struct buf *path,
         struct err *e)
{
    struct buf dir = { 0 };
    uint64_t best = 0, latest = 0;
    char name[NAME_MAX + 1] = "";

    if (!state_dir_is_phase_name(phase))
        return unknown_phase(f, phase, e);
    state_dir_path(f, &dir, "run/logs");
    DIR *d = buf_failed(&dir) ? NULL : opendir(dir.p);
    size_t n = strlen(phase);
    for (struct dirent *x; d && (x = readdir(d));) {
        const char *dot = strrchr(x->d_name, '.');
        if (strncmp(x->d_name, phase, n) != 0 || x->d_name[n] != '.' || strcmp(dot, ".log") != 0)
            continue;
        uint64_t k = strtoull(x->d_name + n + 1, NULL, 10);
        latest = k > latest ? k : latest;
        /* of one attempt, the agent's own log comes after that of its checks */
        bool is_checks = strstr(x->d_name + n, ".checks") != NULL;
        if (k == 0 || (attempt && k != attempt) || k < best || (k == best && is_checks))
            continue;
        best = k;
        snprintf(name, sizeof name, "%s", x->d_name);
    }
    if (d)
        closedir(d);
    buf_release(&dir);
    if (!latest)
        return unknown_phase(f, phase, e);
    if (!best)
        return err_set(e, ST_NOT_FOUND,
                       "no log of attempt %" PRIu64 " of phase %s; its latest attempt is %" PRIu64,
                       attempt, phase, latest);
    buf_addf(path, "run/logs/%s", name);
    return buf_status(path, "the path", e);
}

/* "run/logs/build.1.log" -> "run/logs/build.1.raw" */
static enum status
find_raw(const struct state_dir *f, const char *phase, struct buf *path, struct err *e)
{
    struct stat st;

    buf_cut(path, path->len - strlen(".log"));
    buf_adds(path, ".raw");
    if (buf_status(path, "the path", e))
        return ST_IO;
    return sys->fstatat(f->dir, path->p, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? ST_OK
               : err_set(
                     e, ST_NOT_FOUND,
                     "phase %s has no raw stream (%s): its agent's output is all in cliq log %s",
                     phase, path->p, phase);
}

static int
open_log(const struct state_dir *f, const char *path)
{
    return SYS_RETRY(sys->openat(f->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
}

/* The next run begins with a log of its own: follows that one, from its beginning. */
static void
follow_next(const struct state_dir *f, const char *path, int *fd, off_t *at)
{
    struct stat then, now;

    if (sys->fstat(*fd, &then) != 0 || sys->fstatat(f->dir, path, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
        then.st_ino == now.st_ino || !S_ISREG(now.st_mode))
        return;
    int next = open_log(f, path);
    if (next < 0)
        return;
    close(*fd);
    *fd = next;
    *at = 0;
}

static enum status
show(const struct state_dir *f, const char *path, bool is_following, struct err *e)
{
    struct watch w = { .fd = -1 };
    struct buf full = { 0 };
    bool is_tty = term_is_tty(STDOUT_FILENO);
    off_t at = 0;
    enum status s = ST_OK;
    struct stat st;
    int fd = open_log(f, path);

    if (fd < 0)
        return errno == ENOENT ? err_set(e, ST_NOT_FOUND, "nothing has run here yet")
                               : err_sys(e, "open %s", path);
    if (sys->fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, ST_FAILED, "%s is not a regular file", path);
    }
    state_dir_path(f, &full, path);
    if (is_following && !buf_failed(&full)) {
        *strrchr(full.p, '/') = '\0';
        s = watch_open(&w, full.p, e);
    }
    if (!s)
        s = log_copy(fd, &at, is_tty, e);
    while (!s && is_following) {
        struct pollfd p = { .fd = w.fd, .events = POLLIN };
        poll(&p, 1, -1);
        watch_drain(&w);
        s = log_copy(fd, &at, is_tty, e);
        if (!s)
            follow_next(f, path, &fd, &at);
        if (!s && at == 0)
            s = log_copy(fd, &at, is_tty, e);
    }
    watch_close(&w);
    buf_release(&full);
    close(fd);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir project = { .dir = -1 }, f = { .dir = -1 };
    struct buf path = { 0 };
    bool is_present = true;
    enum status s = state_dir_find(&project, e);

    if (!s)
        s = history_open(&project, args_text(a, "run"), &f, &is_present, e);
    if (!s && args_has(a, "attempt") && !a->n_words)
        s = err_set(e, ST_INVALID, "--attempt needs the PHASE it is of");
    if (!s && args_has(a, "attempt") && args_number(a, "attempt", 0) == 0)
        s = err_set(e, ST_INVALID,
                    "--attempt must be 1 or more: attempts are counted from 1; without it the "
                    "latest is shown");
    if (!s && args_has(a, "raw") && !a->n_words)
        s = err_set(e, ST_INVALID, "--raw needs the PHASE whose agent's stream is wanted");
    const char *phase = a->n_words ? a->words[0] : NULL;
    if (!s && phase)
        s = phase_way_enter(&f, &phase, e);
    if (!s && phase)
        s = find_log(&f, phase, args_number(a, "attempt", 0), &path, e);
    if (!s && args_has(a, "raw"))
        s = find_raw(&f, phase, &path, e);
    if (!s)
        s = show(&f, a->n_words ? path.p : "orchestrator.log", args_has(a, "follow") && is_present,
                 e);
    state_dir_close(&f);
    state_dir_close(&project);
    buf_release(&path);
    return s;
}

const struct cmd cmd_log = {
    .name = "log",
    .words = "[PHASE]",
    .choose = "phases",
    .max_words = 1,
    .brief = "print the log of the run, or the output of a phase",
    .about =
        "Without PHASE: .cliq/orchestrator.log, what happened in the present run and when (UTC; a\n"
        "line with the date stands before the first event of a day). With PHASE: what the agent "
        "of\n"
        "its latest attempt printed: of a CLI agent (claude-code, codex, …) each step as a line, "
        "and\n"
        "with --raw the stream of its program as it came. A phase of a team that is a phase is\n"
        "build/test. --run ID: of an earlier run; --follow then ends at its end.",
    .examples = "cliq log\n"
                "cliq log developer\n"
                "cliq log developer -f\n"
                "cliq log developer --raw\n"
                "cliq log build/test\n"
                "cliq log developer --run 18af03d2",
    .opts = opts,
    .run = run,
};
