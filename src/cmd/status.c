/* status - how far the run is. */
#include "base/clock.h"
#include "base/path.h"
#include "base/table.h"
#include "base/term.h"
#include "base/watch.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow.h"
#include "run/dag.h"
#include "run/lockfile.h"
#include "run/panes.h"
#include "run/replay.h"
#include "run/run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { "watch", OPT_FLAG, NULL, "show it again at each change, until the run ends" },
    { 0 },
};

/* What the journal says, folded. */
struct status_picture {
    struct workflow workflow;
    struct replay replay;
    bool is_driven;   /* an orchestrator lives */
    char attach[128]; /* how to watch its agents in tmux; empty: there is nothing to watch */
};

static void
release(struct status_picture *p)
{
    replay_release(&p->replay);
    workflow_release(&p->workflow);
}

static enum status
look(const struct state_dir *f, struct status_picture *p, struct err *e)
{
    int dir = -1;
    bool was_driven = lockfile_is_held(f); /* before we read, in case it ends meanwhile */
    enum status s = workflow_load(&p->workflow, f, e);

    if (!s && path_open_dir_at(f->dir, "run", false, &dir, e) != ST_OK)
        s = err_set(e, ST_NOT_FOUND, "nothing has run here yet: cliq run");
    if (!s) {
        s = replay_look(&p->replay, dir, &p->workflow.team, e);
        if (s == ST_NOT_FOUND)
            err_say(e, "nothing has run here yet: cliq run");
        /* a journal that does not fit: perhaps because the workflow is broken by now */
        if ((s == ST_INVALID || p->replay.bad_line) && workflow_check(&p->workflow, f, e))
            s = ST_FAILED;
    }
    p->is_driven = was_driven || lockfile_is_held(f);
    if (s || !panes_are_there(f, p->attach, sizeof p->attach))
        p->attach[0] = '\0';
    if (dir >= 0)
        close(dir);
    return s;
}

/* What is shown is not all: which line is missing, and what to do. */
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

static const char *
state_of(const struct status_picture *p)
{
    if (p->replay.head.has_end)
        return run_status_name(p->replay.head.end);
    return p->is_driven ? "RUNNING" : "INTERRUPTED";
}

static void
write_json(const struct status_picture *p, struct buf *out)
{
    json_open(out, '{');
    json_key_str(out, "run", p->replay.head.run_id);
    json_key_str(out, "team", p->replay.head.team);
    json_key_str(out, "status", state_of(p));
    json_key_str(out, "reason", replay_reason(&p->replay));
    if (*p->attach)
        json_key_str(out, "attach", p->attach);
    json_key(out, "phases");
    json_open(out, '[');
    for (size_t i = 0; i < p->workflow.team.n_phases; i++) {
        const struct sched_phase *ph = replay_phase(&p->replay, i);
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "phase", p->workflow.team.phases[i].name);
        json_key_str(out, "type", phase_type_name(p->workflow.team.phases[i].type));
        json_key_str(out, "state", phase_state_name(ph->state));
        json_key_int(out, "attempts", ph->attempt - ph->skips);
        if (sched_is_untried(ph))
            json_key_bool(out, "is_untried", true);
        if (p->workflow.team.phases[i].type == PHASE_GATE) {
            json_key_int(out, "iteration", ph->iteration);
            json_key_int(out, "max_iterations", p->workflow.team.phases[i].max_iterations);
        }
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    buf_addc(out, '\n');
}

/* "failed", or of a phase with retries left "waiting (failed 1 of 3)". */
static void
add_state(struct table *t, const struct phase *ph, const struct sched_phase *st)
{
    const char *name = phase_state_name(st->state);
    char text[64];
    int len = sched_is_untried(st) ? snprintf(text, sizeof text, "%s (failed %u of %u)", name,
                                              st->failures, ph->retries + 1)
                                   : snprintf(text, sizeof text, "%s", name);

    table_cell(t, text, (size_t)len);
}

static void
write_text(const struct status_picture *p, struct buf *out)
{
    struct table t = { .columns = 5 };
    static const char *const head[] = { "PHASE", "TYPE", "STATE", "ATTEMPTS", "ITERATION" };
    char n[32];

    for (size_t i = 0; i < 5; i++)
        table_cell(&t, head[i], strlen(head[i]));
    for (size_t i = 0; i < p->workflow.team.n_phases; i++) {
        const struct phase *ph = &p->workflow.team.phases[i];
        const struct sched_phase *st = replay_phase(&p->replay, i);
        table_cell(&t, ph->name, strlen(ph->name));
        table_cell(&t, phase_type_name(ph->type), strlen(phase_type_name(ph->type)));
        add_state(&t, ph, st);
        table_cell(&t, n, (size_t)snprintf(n, sizeof n, "%u", st->attempt - st->skips));
        int len = ph->type == PHASE_GATE
                      ? snprintf(n, sizeof n, "%u of %u", st->iteration, ph->max_iterations)
                      : 0;
        table_cell(&t, n, (size_t)len);
    }
    const char *id = p->replay.head.run_id;
    buf_addf(out, "%s  %s\n", state_of(p), id ? id : "(a run without a name)");
    table_write(&t, out, 0, term_has_color(STDOUT_FILENO));
    const char *why = replay_reason(&p->replay);
    if (why) {
        buf_adds(out, "Why: ");
        term_escape(out, why, strlen(why), false);
        buf_addc(out, '\n');
    }
    if (!p->replay.head.has_end && !p->is_driven)
        buf_adds(out, "No orchestrator runs: cliq run --resume goes on, cliq cancel ends it\n");
    if (*p->attach)
        buf_addf(out, "To watch the agents: %s%s\n", p->attach,
                 p->is_driven
                     ? ""
                     : " (of the orchestrator that died; --resume and cancel end that server)");
    table_release(&t);
}

/* What was shown, from one look to the next. */
struct status_shown {
    bool is_json, is_over, is_warned;
    struct buf last;
};

/* Prints it, unless it is what stands there already. */
static enum status
show(const struct state_dir *f, struct status_shown *shown, struct err *e)
{
    struct status_picture p = { 0 };
    struct buf out = { 0 };
    enum status s = look(f, &p, e);

    if (!s)
        (shown->is_json ? write_json : write_text)(&p, &out);
    bool is_same = out.len && out.len == shown->last.len && !buf_failed(&out) &&
                   memcmp(out.p, shown->last.p, out.len) == 0;
    if (!s && !is_same)
        s = cmd_print(&out, e);
    if (!s && !shown->is_warned)
        warn(&p.replay);
    shown->is_warned = true;
    shown->is_over = p.replay.head.has_end;
    buf_release(&shown->last);
    shown->last = out;
    release(&p);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct watch w = { .fd = -1 };
    struct buf path = { 0 };
    struct status_shown shown = { .is_json = args_has(a, "json") };
    enum status s = state_dir_find(&f, e);

    if (!s && args_has(a, "watch")) {
        state_dir_path(&f, &path, "run");
        s = watch_open(&w, path.p, e);
    }
    if (!s)
        s = show(&f, &shown, e);
    while (!s && args_has(a, "watch") && !shown.is_over) {
        struct pollfd p = { .fd = w.fd, .events = POLLIN };
        poll(&p, 1, -1);
        watch_drain(&w);
        s = show(&f, &shown, e);
    }
    watch_close(&w);
    state_dir_close(&f);
    buf_release(&path);
    buf_release(&shown.last);
    return s;
}

const struct cmd cmd_status = {
    .name = "status",
    .brief = "show the state of the run and its phases",
    .about =
        "RUNNING while cliq run goes on, INTERRUPTED when it died, else how the run ended. Where\n"
        "agents have panes in tmux it says how to attach, also when cliq run died and left them; "
        "cliq\n"
        "attach shows the run wherever it runs.\n"
        "\n"
        "waiting (failed 1 of 3) is a phase with retries left; where the run has ended, it is\n"
        "tried again with whatever phase is retried. --json has is_untried for it.\n"
        "\n"
        "A line of run/journal.jsonl that cannot be used is named on standard error, and the rest\n"
        "is shown without it; cliq run --resume refuses such a journal.",
    .examples = "cliq status\n"
                "cliq status --json",
    .opts = opts,
    .run = run,
};
