/* status - how far a run is. */
#include "base/clock.h"
#include "base/table.h"
#include "base/term.h"
#include "base/watch.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow_tell.h"
#include "cmd/run_options.h"
#include "context/frames.h"
#include "proc/proc.h"
#include "run/history.h"
#include "run/live_view.h"
#include "run/lockfile.h"
#include "run/next_step.h"
#include "run/panes.h"
#include "run/review_line.h"
#include "run/run_picture.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    AWAITED_MAX = 4, /* phases named in one line */
    TICK_MS = 1000,  /* between two pictures on a terminal, so that times move */
    GATHER_MS = 50,  /* changes on a terminal are shown together */
    DAY_MS = 86400000,
};

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { "watch", OPT_FLAG, NULL, "show it again at each change, until the run ends" },
    { "run", OPT_TEXT, "ID", "an earlier run: the begin of its id in cliq runs", .choose = "runs" },
    { 0 },
};

/* ---- times ---- */

/* "22:04:05", or with the date where the day is another one than today; UTC, as in the logs. */
static void
add_time(struct buf *to, int64_t at_ms, int64_t now_ms)
{
    char text[CLOCK_ISO_SIZE];

    clock_iso_ms(text, at_ms);
    if (at_ms / DAY_MS != now_ms / DAY_MS)
        buf_addf(to, "%.10s ", text);
    buf_addf(to, "%.8s", text + 11);
}

/* ---- who is waited for ---- */

static bool
is_busy(const struct sched_phase *st)
{
    return st->state == PS_RUNNING || st->state == PS_STARTING || st->state == PS_BACKOFF;
}

/* Processes that are left of phases count when nothing else is awaited: their end may be known
 * already, and be written down with the next event only. */
static bool
is_awaited(const struct run_picture *p, size_t phase)
{
    const struct sched_phase *st = replay_phase(&p->replay, phase);
    bool is_rest = st->is_there && !is_busy(st);

    for (size_t i = 0; is_rest && i < p->workflow.team.n_phases; i++)
        is_rest = !is_busy(replay_phase(&p->replay, i));
    return is_busy(st) || is_rest;
}

static void
add_awaited(const struct run_picture *p, size_t i, const char *way, struct buf *to)
{
    const struct sched_phase *st = replay_phase(&p->replay, i);
    const char *agent = run_picture_agent(p, i);

    buf_addf(to, "%s%s (", way, p->workflow.team.phases[i].name);
    if (st->state == PS_BACKOFF) {
        buf_adds(to, "it is tried again)");
        return;
    }
    if (st->state != PS_RUNNING && st->state != PS_STARTING)
        buf_adds(to, "its processes end, ");
    buf_addf(to, "agent %s", agent ? agent : "?");
    if (st->state == PS_RUNNING && run_picture_phase_ms(p, i) >= 0) {
        buf_adds(to, ", ");
        live_view_elapsed(to, run_picture_phase_ms(p, i));
    }
    buf_adds(to, ")");
}

/* The phases that are awaited; of a team phase that goes on those in it. `way`: before their names;
 * returns how many there are, of which the first AWAITED_MAX are written. */
static size_t
list_awaited(const struct run_picture *p, const char *way, size_t n, struct buf *out)
{
    for (size_t i = 0; i < p->workflow.team.n_phases; i++) {
        const struct run_picture *sub = run_picture_sub(p, i);
        struct buf below = { 0 };
        if (!is_awaited(p, i))
            continue;
        buf_addf(&below, "%s%s/", way, p->workflow.team.phases[i].name);
        size_t n_now = sub && !sub->replay.head.has_end && !buf_failed(&below)
                           ? list_awaited(sub, below.p, n, out)
                           : n;
        buf_release(&below);
        if (n_now > n) {
            n = n_now;
            continue;
        }
        if (n++ >= AWAITED_MAX)
            continue;
        if (n > 1)
            buf_adds(out, ", ");
        add_awaited(p, i, way, out);
    }
    return n;
}

/* "Waits for: build (agent script, 3.2 s), lint (agent exec, 1.0 s) and 3 more" */
static void
write_awaited(const struct run_picture *p, struct buf *out)
{
    if (!p->is_driven || p->replay.head.has_end)
        return;
    buf_adds(out, replay_reason(&p->replay) ? "The run is ending. It waits for: " : "Waits for: ");
    size_t n = list_awaited(p, "", 0, out);
    if (n > AWAITED_MAX)
        buf_addf(out, " and %zu more", n - AWAITED_MAX);
    buf_adds(out, n ? "\n" : "its notifiers, then it ends\n");
}

/* ---- as text ---- */

/* "failed", or of a phase with retries left "waiting (failed 1 of 3)". */
static void
add_state(struct table *t, const struct phase *ph, const struct sched_phase *st, const char *name)
{
    char text[64];
    int len = sched_is_untried(st) ? snprintf(text, sizeof text, "%s (failed %u of %u)", name,
                                              st->failures, ph->retries + 1)
                                   : snprintf(text, sizeof text, "%s", name);

    table_cell(t, text, (size_t)len);
}

/* The error, else the last words. */
static void
add_words(const struct run_picture *p, size_t i, struct table *t)
{
    const struct replay_words *words = &p->replay.words[i];
    struct buf said = { 0 };

    const char *holder = run_picture_files_holder(p, i);
    if (holder)
        buf_addf(&said, "waits for the files of %s", holder);
    else if (words->text && *words->text)
        buf_adds(&said, words->text);
    else
        run_picture_progress(p, i, &said);
    table_cell(t, said.p ? said.p : "", buf_failed(&said) ? 0 : said.len);
    buf_release(&said);
}

static void
add_phase(const struct run_picture *p, size_t i, const char *name, bool has_usage, struct table *t)
{
    struct usage used = run_picture_phase_usage(p, i);
    const struct phase *ph = &p->workflow.team.phases[i];
    const struct sched_phase *st = replay_phase(&p->replay, i);
    const char *agent = run_picture_agent(p, i);
    struct buf text = { 0 };
    char n[32];

    table_cell(t, name, strlen(name));
    add_state(t, ph, st, run_picture_phase_state(p, i));
    table_cell(t, n, (size_t)snprintf(n, sizeof n, "%u", st->attempt - st->skips));
    int len = ph->type == PHASE_GATE
                  ? snprintf(n, sizeof n, "%u of %u", st->iteration, ph->max_iterations)
                  : 0;
    table_cell(t, n, (size_t)len);
    table_cell(t, agent ? agent : "", agent ? strlen(agent) : 0);
    if (p->replay.started_ms[i])
        add_time(&text, p->replay.started_ms[i], p->now_ms);
    table_cell(t, text.p ? text.p : "", text.len);
    buf_reset(&text);
    if (run_picture_phase_ms(p, i) >= 0)
        live_view_elapsed(&text, run_picture_phase_ms(p, i));
    table_cell(t, text.p ? text.p : "", text.len);
    buf_reset(&text);
    usage_show_short(&text, &used);
    if (has_usage)
        table_cell(t, text.p ? text.p : "", text.len);
    add_words(p, i, t);
    buf_release(&text);
}

/* A line of the table: a phase of the run, or of one below it. */
struct status_row {
    const struct run_picture *p;
    size_t phase;
    const char *name; /* "build/test" */
};

struct status_rows {
    struct arena arena;
    struct status_row *rows; /* each phase, those of its team behind it */
    size_t n, cap;
    bool is_starved;
};

static void
list_rows(struct status_rows *all, const struct run_picture *p, const char *way)
{
    const struct team *team = &p->workflow.team;

    for (size_t i = 0; i < team->n_phases; i++) {
        struct buf name = { 0 };
        buf_addf(&name, "%s%s/", way, team->phases[i].name);
        char *below = buf_failed(&name) ? NULL : arena_dup(&all->arena, name.p, name.len);
        char *kept = below ? arena_dup(&all->arena, name.p, name.len - 1) : NULL;
        buf_release(&name);
        if (all->n == all->cap) {
            size_t cap = all->cap ? 2 * all->cap : team->n_phases + 1;
            struct status_row *rows = realloc(all->rows, cap * sizeof *rows);
            if (rows) {
                all->rows = rows;
                all->cap = cap;
            }
        }
        if (!kept || all->n == all->cap) {
            all->is_starved = true;
            return;
        }
        all->rows[all->n++] = (struct status_row){ p, i, kept };
        if (run_picture_sub(p, i))
            list_rows(all, run_picture_sub(p, i), below);
    }
}

/* Where there is no room for all phases: those that matter now, and a line that counts the rest. */
static void
write_phases(const struct run_picture *p, unsigned width, unsigned lines, struct buf *out)
{
    static const char *const head[] = { "PHASE",   "STATE", "ATTEMPTS", "ITERATION", "AGENT",
                                        "STARTED", "TIME",  "USED",     "SAYS" };
    enum { COLUMNS = sizeof head / sizeof *head, USED = COLUMNS - 2 };
    struct status_rows all = { 0 };
    struct usage total = run_picture_usage(p);
    bool has_usage = !usage_is_zero(&total); /* without models there is no such column */
    struct table t = { .columns = has_usage ? COLUMNS : COLUMNS - 1 };
    list_rows(&all, p, "");
    struct live_row *rows = calloc(all.n + 1, sizeof *rows);
    bool *shown = calloc(all.n + 1, sizeof *shown);
    size_t counts[PS_STATES];

    for (size_t i = 0; i < COLUMNS; i++)
        if (has_usage || i != USED)
            table_cell(&t, head[i], strlen(head[i]));
    for (size_t i = 0; rows && i < all.n; i++)
        rows[i].state = replay_phase(&all.rows[i].p->replay, all.rows[i].phase)->state;
    size_t rest = rows && shown ? live_view_choose(rows, all.n, lines, shown, counts) : 0;
    for (size_t i = 0; rows && shown && i < all.n; i++)
        if (shown[i])
            add_phase(all.rows[i].p, all.rows[i].phase, all.rows[i].name, has_usage, &t);
    out->is_starved = out->is_starved || !rows || !shown || all.is_starved;
    table_write(&t, out, width, term_has_color(STDOUT_FILENO));
    if (rest) {
        buf_addf(out, "%zu more: ", rest);
        live_view_counts(out, counts);
        buf_addc(out, '\n');
    }
    table_release(&t);
    free(rows);
    free(shown);
    free(all.rows);
    arena_release(&all.arena);
}

static void
write_head(const struct run_picture *p, struct buf *out)
{
    const char *id = p->replay.head.run_id;

    buf_addf(out, "%s  %s", run_picture_state(p), id ? id : "(a run without a name)");
    if (p->replay.head.at_ms) {
        buf_adds(out, "  began ");
        add_time(out, p->replay.head.at_ms, p->now_ms);
        buf_adds(out, ", ");
        live_view_elapsed(out, run_picture_ms(p));
    }
    buf_addc(out, '\n');
}

/* Notifications that were not delivered. */
static void
write_notes(const struct run_picture *p, struct buf *out)
{
    const struct journal_head *head = &p->replay.head;
    size_t n = head->n_notes < JOURNAL_NOTES ? head->n_notes : JOURNAL_NOTES;

    for (size_t i = 0; i < n; i++) {
        term_escape(out, head->notes[i], strlen(head->notes[i]), false);
        buf_addc(out, '\n');
    }
    if (head->n_notes > n)
        buf_addf(out, "%zu more are in orchestrator.log.\n", head->n_notes - n);
}

/* The lines below the phases. */
static void
write_rest(const struct run_picture *p, const char *attach, struct buf *out)
{
    const char *why = replay_reason(&p->replay);
    struct usage used = run_picture_usage(p);

    if (!usage_is_zero(&used)) {
        buf_adds(out, "Used: ");
        usage_show(out, &used);
        buf_addc(out, '\n');
    }
    write_awaited(p, out);
    review_line_write(p->state, p->replay.head.has_end, p->now_ms, out);
    if (why) {
        buf_adds(out, "Why: ");
        term_escape(out, why, strlen(why), false);
        buf_addc(out, '\n');
    }
    write_notes(p, out);
    if (!p->replay.head.has_end && !p->is_driven)
        buf_adds(out, "No orchestrator runs.\n");
    if (p->is_asleep) {
        buf_adds(out, "The run sleeps, without a process, since ");
        add_time(out, p->sleep.since_ms, p->now_ms);
        buf_adds(out, ". An answer starts it again, or the time: at ");
        add_time(out, p->sleep.wake_ms, p->now_ms);
        buf_adds(out, ".\n");
    }
    if (*attach)
        buf_addf(out, "To watch the agents: %s%s\n", attach,
                 p->is_driven
                     ? ""
                     : " (of the orchestrator that died; --resume and cancel end that server)");
    run_picture_next(p, out);
}

/* ---- showing ---- */

/* The picture is incomplete: says which line is missing, and what to do. */
static void
warn(const struct replay *p)
{
    char more[64] = "";

    if (p->n_bad > 1)
        snprintf(more, sizeof more, " (and %zu more)", p->n_bad - 1);
    if (p->bad_line)
        cmd_warn("run/" JOURNAL_NAME ", line %ju%s: %s; what is shown comes from its other lines. "
                 "cliq run --resume refuses as long as it is so, cliq run --force starts anew",
                 (uintmax_t)p->bad_line, more, p->problem);
}

/* The last picture, from one look to the next. */
struct status_shown {
    bool is_json, is_warned;
    bool is_redrawn;       /* on a terminal, --watch: in place of the one before */
    bool is_over, is_lost; /* the run has ended; its orchestrator died before that */
    enum run_status end;
    struct buf last;
    struct live_view view; /* what stands on the screen */
};

/* Draws the lines over those before. */
static void
redraw(struct status_shown *shown, const struct buf *text, const struct live_size *size,
       struct buf *out)
{
    live_view_erase(&shown->view, out, size);
    shown->view.width = size->width;
    for (size_t at = 0; at < text->len && shown->view.n + 1 < size->height &&
                        shown->view.n < LIVE_VIEW_LINES_MAX;) {
        const char *end = memchr(text->p + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->p) - at : text->len - at;
        size_t fit = live_view_fit(text->p + at, len, size->width - 1);
        buf_add(out, text->p + at, fit);
        buf_adds(out, "\033[K\n");
        shown->view.widths[shown->view.n++] = (unsigned short)table_text_width(text->p + at, fit);
        at += len + 1;
    }
    buf_adds(out, "\033[J");
}

static void
write_text(const struct run_picture *p, const char *attach, const struct status_shown *shown,
           const struct live_size *size, struct buf *out)
{
    struct buf rest = { 0 };
    bool is_tty = term_is_tty(STDOUT_FILENO);
    unsigned lines = UINT16_MAX, below = 0;

    write_rest(p, attach, &rest);
    for (size_t i = 0; i < rest.len; i++)
        below += rest.p[i] == '\n';
    if (shown->is_redrawn) /* a line for the head, the table's head, and the cursor */
        lines = size->height > below + 4 ? size->height - below - 3 : 1;
    write_head(p, out);
    write_phases(p, is_tty ? size->width - 1 : 0, lines, out);
    if (!buf_failed(&rest) && rest.len)
        buf_add(out, rest.p, rest.len);
    buf_release(&rest);
}

static enum status
print(struct status_shown *shown, const struct buf *text, const struct live_size *size,
      struct err *e)
{
    struct buf out = { 0 };

    if (shown->is_redrawn && !buf_failed(text))
        redraw(shown, text, size, &out);
    else if (!shown->is_json && shown->last.len) /* a block a change, a blank line between two */
        buf_addf(&out, "\n%s", text->p ? text->p : "");
    else
        buf_adds(&out, text->p ? text->p : "");
    enum status s = buf_status(text, "the output", e);
    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

/* Prints it, unless it is what stands there already. */
static enum status
show(const struct state_dir *f, struct status_shown *shown, struct err *e)
{
    struct run_picture p;
    struct buf out = { 0 };
    char attach[128] = "";
    struct live_size size = { term_width(STDOUT_FILENO), term_height(STDOUT_FILENO) };
    enum status s = run_picture_load(&p, f, e);

    workflow_tell(&p.workflow);
    if (!s && !panes_are_there(f, attach, sizeof attach))
        attach[0] = '\0';
    if (!s && shown->is_json)
        run_picture_json(&p, attach, &out);
    else if (!s)
        write_text(&p, attach, shown, &size, &out);
    bool is_same = !shown->is_redrawn && out.len && out.len == shown->last.len &&
                   !buf_failed(&out) && memcmp(out.p, shown->last.p, out.len) == 0;
    if (!s && !is_same)
        s = print(shown, &out, &size, e);
    if (!s && !shown->is_warned)
        warn(&p.replay);
    shown->is_warned = true;
    shown->is_over = p.replay.head.has_end;
    shown->is_lost = !p.is_driven && !shown->is_over;
    shown->end = p.replay.head.end;
    buf_release(&shown->last);
    shown->last = out;
    run_picture_release(&p);
    return s;
}

/* ---- watching ---- */

struct status_watch {
    struct watch journal, signals;
    struct watch log; /* what happens in team phases stands there, too; fd -1: there are none */
    int pidfd;        /* of the orchestrator; -1: none */
};

static int
open_orchestrator(const struct state_dir *f)
{
    struct proc_id id;
    pid_t pid = lockfile_runner(f);

    return pid > 0 && proc_identify(pid, &id, NULL) == ST_OK ? proc_pidfd(&id) : -1;
}

static enum status
watch_run(struct status_watch *w, const struct state_dir *f, struct err *e)
{
    struct buf run = { 0 }, signals = { 0 };

    w->pidfd = open_orchestrator(f);
    state_dir_path(f, &run, "run");
    state_dir_path(f, &signals, "signals");
    enum status s = watch_open_file(&w->journal, run.p ? run.p : "", JOURNAL_NAME, e);
    if (!s)
        s = watch_open(&w->signals, signals.p ? signals.p : "", e);
    if (!s && faccessat(f->dir, FRAMES_DIR, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        s = watch_open_file(&w->log, f->state_dir, "orchestrator.log", e);
    buf_release(&run);
    buf_release(&signals);
    return s;
}

/* Until something changes, or (on a terminal) a second has passed. */
static void
await_change(struct status_watch *w, bool is_redrawn)
{
    struct pollfd p[] = { { .fd = w->journal.fd, .events = POLLIN },
                          { .fd = w->signals.fd, .events = POLLIN },
                          { .fd = w->pidfd, .events = POLLIN },
                          { .fd = w->log.fd, .events = POLLIN } };

    int n = poll(p, 4, is_redrawn ? TICK_MS : -1);
    if (n > 0 && is_redrawn)
        poll(NULL, 0, GATHER_MS);
    watch_drain(&w->journal);
    watch_drain(&w->signals);
    if (w->log.fd >= 0)
        watch_drain(&w->log);
    if (p[2].revents) {
        close(w->pidfd);
        w->pidfd = -1;
    }
}

static enum status
watch(const struct state_dir *f, struct status_shown *shown, struct err *e)
{
    struct status_watch w = { .journal.fd = -1, .signals.fd = -1, .log.fd = -1, .pidfd = -1 };
    enum status s = watch_run(&w, f, e);

    shown->is_redrawn = !shown->is_json && term_is_tty(STDOUT_FILENO);
    if (!s)
        s = show(f, shown, e);
    while (!s && !shown->is_over && !shown->is_lost) {
        if (w.pidfd < 0) /* it slept, and was started again */
            w.pidfd = open_orchestrator(f);
        await_change(&w, shown->is_redrawn);
        s = show(f, shown, e);
    }
    watch_close(&w.journal);
    watch_close(&w.signals);
    watch_close(&w.log);
    if (w.pidfd >= 0)
        close(w.pidfd);
    if (s)
        return s;
    if (shown->is_lost)
        return err_set(e, ST_FAILED, "the run was cut off: cliq run --resume goes on with it");
    err_say(e, "%s", ""); /* the last picture said it all */
    return run_outcome(shown->end);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir project = { .dir = -1 }, f = { .dir = -1 };
    struct status_shown shown = { .is_json = args_has(a, "json") };
    bool is_present = true;
    enum status s = state_dir_find(&project, e);

    if (!s)
        s = history_open(&project, args_text(a, "run"), &f, &is_present, e);
    if (!s)
        s = args_has(a, "watch") ? watch(&f, &shown, e) : show(&f, &shown, e);
    state_dir_close(&f);
    state_dir_close(&project);
    buf_release(&shown.last);
    return s;
}

const struct cmd cmd_status = {
    .name = "status",
    .brief = "show the state of a run and its phases",
    .about =
        "RUNNING while cliq run goes on, ASLEEP while only people are awaited and a run in the\n"
        "background needs no process, INTERRUPTED when it died, else how the run ended. Of "
        "each\n"
        "phase: state, agent, when its latest attempt started and how long it took (times are "
        "UTC),\n"
        "and what went wrong, or was said last. A line names what the run waits for; of a run "
        "that\n"
        "did not complete, the line Next: has the command to run next. USED is what the models of "
        "a\n"
        "phase cost, or their tokens where the price is not known, over all its attempts; the "
        "line\n"
        "Used: is the sum. A notification that was not delivered is told with its reason. Where\n"
        "agents have panes in\n"
        "tmux it says how to attach, also when cliq run died and left them; cliq attach shows the\n"
        "run wherever it runs.\n"
        "\n"
        "--watch ends with the run, and with its exit code; 1 when cliq run dies meanwhile. On a\n"
        "terminal it draws in place, and as many phases as fit: those that failed or are at work,\n"
        "then the next ones. Elsewhere it prints the whole at each change, a blank line between\n"
        "two; with --json a line at each change.\n"
        "\n"
        "waiting (failed 1 of 3) is a phase with retries left; where the run has ended, it is\n"
        "tried again with whatever phase is retried. --json has is_untried for it.\n"
        "\n"
        "A line of run/journal.jsonl that cannot be used is named on standard error, and the rest\n"
        "is shown without it; cliq run --resume refuses such a journal.",
    .examples = "cliq status\n"
                "cliq status --watch\n"
                "cliq status --json\n"
                "cliq status --run 18af03d2",
    .opts = opts,
    .run = run,
};
