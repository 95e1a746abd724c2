/* run - carries the work through the phases. */
#define _GNU_SOURCE
#include "run/run.h"
#include "agents/review/review_task.h"
#include "base/sys.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/plan_show.h"
#include "cmd/run_options.h"
#include "proc/tmux.h"
#include "run/assembled.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct opt opts[] = {
    RUN_OPTS,
    { "resume", OPT_FLAG, NULL, "go on with an unfinished run" },
    { "from", OPT_TEXT, "PHASE", "run this phase and all downstream of it, keep the rest",
      .choose = "phases" },
    { "force", OPT_FLAG, NULL, "start anew although an unfinished run exists" },
    { 0 },
};

static enum status
find_extent(const struct plan *p, const struct run_options *o, struct plan_extent *x, struct err *e)
{
    size_t n = p->team.n_phases;
    enum status s = ST_OK;

    *x = (struct plan_extent){ .runs = calloc(n + 1, sizeof *x->runs), .ended = RUN_ACTIVE };
    if (!x->runs)
        return err_nomem(e);
    if (o->is_resume || o->from)
        s = run_preview(p, o, x->runs, &x->ended, e);
    else
        memset(x->runs, true, n * sizeof *x->runs);
    for (size_t i = 0; i < n; i++)
        x->n += x->runs[i];
    return s;
}

/* A plan whose programs are missing is shown, too; then the first one is the error. */
static enum status
dry_run(const struct plan *p, const struct run_options *o, struct err *e)
{
    struct buf out = { 0 };
    struct plan_extent x;
    enum status s = find_extent(p, o, &x, e);

    if (!s)
        s = plan_show(p, &x, o->is_json, &out, e);
    if (!s)
        s = cmd_print(&out, e);
    if (!s)
        s = plan_check_tools(p, e);
    if (!s)
        s = run_check_agents(p, x.runs, e);
    buf_release(&out);
    free(x.runs);
    return s;
}

enum status
run_outcome(enum run_status end)
{
    switch (end) {
    case RUN_COMPLETED:
        return ST_OK;
    case RUN_ESCALATED:
        return ST_ESCALATED;
    case RUN_CANCELLED:
        return ST_CANCELLED;
    default:
        return ST_FAILED;
    }
}

/* Agents in tmux's panes where people look on and there is a tmux, plain processes elsewhere;
 * $CLIQ_EXECUTOR decides otherwise. Says so when tmux is missing. */
static enum status
choose_executor(struct run_options *o, bool is_headless, struct err *e)
{
    const char *wanted = getenv("CLIQ_EXECUTOR");
    bool is_given = wanted && *wanted;

    if (is_given && strcmp(wanted, "tmux") != 0 && strcmp(wanted, "process") != 0)
        return err_set(e, ST_INVALID, "CLIQ_EXECUTOR is \"%.100s\": it may be tmux or process",
                       wanted);
    if (is_headless || (is_given && strcmp(wanted, "process") == 0))
        return ST_OK;
    if (!is_given && (o->is_json || !term_is_tty(STDOUT_FILENO)))
        return ST_OK;
    o->is_tmux = tmux_available();
    if (!o->is_tmux)
        fputs("cliq: tmux (3.0 or later) is not installed: agents run as plain processes; install "
              "tmux to watch each in a pane\n",
              stderr);
    return ST_OK;
}

struct run_options
run_options_of(const struct args *a)
{
    size_t n_inputs;
    const char *const *inputs = args_many(a, "input", &n_inputs);

    return (struct run_options){
        .agent = args_text(a, "agent"),
        .jobs = (unsigned)args_number(a, "jobs", 0),
        .has_jobs = args_has(a, "jobs"),
        .is_fail_fast = args_has(a, "fail-fast"),
        .is_headless = args_has(a, "headless"),
        .is_json = args_has(a, "json"),
        .is_dry = args_has(a, "dry-run"),
        .inputs = inputs,
        .n_inputs = n_inputs,
    };
}

static enum status
run_here(struct plan *p, const struct run_options *o, struct err *e)
{
    enum run_status end = RUN_FAILED;
    enum status s = run_pipeline(p, o, &end, e);

    if (!s && end == RUN_ACTIVE) /* it sleeps */
        return ST_OK;
    if (!s) /* gates that were stopped, or still asked when it ended */
        review_task_cancel_all(&p->state, "hug");
    if (!s && (s = run_outcome(end)) && end != RUN_FAILED)
        err_say(e, "%s", ""); /* the view said it all */
    return s;
}

/* ---- in the background ---- */

/* The background process reports through a pipe: that the run has begun, or why it will not.
 */
struct begin_report {
    bool has_begun;
    enum status status;
    char run_id[64];
    struct err why;
};

struct background {
    const struct plan *plan;
    int report; /* -1: the report was sent */
};

static void
send_report(struct background *b, const struct begin_report *r)
{
    if (b->report < 0)
        return;
    ssize_t n = SYS_RETRY(sys->write(b->report, r, sizeof *r));
    (void)n; /* a command that was killed reads no report */
    close(b->report);
    b->report = -1;
}

/* From here on the terminal is not used any more: it may go. */
static void
on_begun(void *ctx, const char *run_id)
{
    struct background *b = ctx;
    struct begin_report r = { .has_begun = true };
    int log = openat(b->plan->state.dir, "orchestrator.log",
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(null, STDOUT_FILENO);
    dup2(log >= 0 ? log : null, STDERR_FILENO);
    if (log >= 0)
        close(log);
    if (null > STDERR_FILENO)
        close(null);
    snprintf(r.run_id, sizeof r.run_id, "%s", run_id);
    send_report(b, &r);
}

static _Noreturn void
be_background(struct plan *p, const struct run_options *o, int report)
{
    struct background b = { .plan = p, .report = report };
    struct run_options own = *o;
    struct begin_report r = { .has_begun = false };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setsid();
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    own.on_begun = on_begun;
    own.ctx = &b;
    r.status = run_here(p, &own, &r.why);
    send_report(&b, &r);
    _exit(status_exit(r.status));
}

static enum status
print_begun(const struct begin_report *r, pid_t pid, bool is_json, struct err *e)
{
    struct buf out = { 0 };

    if (is_json) {
        json_open(&out, '{');
        json_key_str(&out, "run", r->run_id);
        json_key_int(&out, "pid", pid);
        json_close(&out, '}');
        buf_addc(&out, '\n');
    } else {
        buf_addf(&out,
                 "%s runs in the background (pid %d)\n"
                 "To look: cliq attach, cliq status; to end it: cliq cancel\n",
                 r->run_id, (int)pid);
    }
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    if (s) {
        struct err why = e ? *e : (struct err){ "" };
        err_say(e, "%s; the run %s has begun all the same: cliq attach shows it", why.text,
                r->run_id);
    }
    return s;
}

/* The run in a process and session of its own, which outlives the terminal. Returns when it has
 * begun. */
static enum status
run_detached(struct plan *p, const struct run_options *o, struct err *e)
{
    struct begin_report r;
    size_t got = 0;
    ssize_t n;
    int ends[2];

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_sys(e, "make a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_background(p, o, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_sys(e, "make a process");
    }
    while (got < sizeof r &&
           (n = SYS_RETRY(sys->read(ends[0], (char *)&r + got, sizeof r - got))) > 0)
        got += (size_t)n;
    close(ends[0]);
    if (got < sizeof r)
        r = (struct begin_report){ .status = ST_IO,
                                   .why = { "the run's process died at its start" } };
    if (r.has_begun)
        return print_begun(&r, pid, o->is_json, e);
    SYS_RETRY(waitpid(pid, NULL, 0));
    err_say(e, "%s", r.why.text);
    return r.status;
}

/* Shortens a path below the working directory: "./team/team.yml". */
static const char *
from_here(const struct buf *path)
{
    char *here = getcwd(NULL, 0);
    size_t n = here ? strlen(here) : 0;
    bool is_below = n > 1 && strncmp(path->p, here, n) == 0 && (path->p[n] == '/' || !path->p[n]);

    free(here);
    if (!is_below)
        return path->p;
    if (!path->p[n])
        return ".";
    path->p[n - 1] = '.';
    return path->p + n - 1;
}

/* Somebody who edits a team between two runs means to run what was edited. */
static void
note_change(const struct plan *p)
{
    struct buf path = { 0 }, dir = { 0 };

    if (assembled_find_change(&p->state, &path, &dir))
        cmd_note("%s was changed after the team was assembled, and the copy in .cliq/ runs: cliq "
                 "assemble %s",
                 from_here(&path), from_here(&dir));
    buf_release(&path);
    buf_release(&dir);
}

enum status
run_with(struct run_options *o, const struct args *a, struct err *e)
{
    struct plan p;
    enum status s = o->is_dry ? ST_OK : choose_executor(o, args_has(a, "headless"), e);

    if (!s)
        s = plan_load(&p, o, e);
    if (s)
        return s;
    if (p.note)
        cmd_note("%s", p.note);
    note_change(&p);
    s = o->is_dry               ? dry_run(&p, o, e)
        : args_has(a, "detach") ? run_detached(&p, o, e)
                                : run_here(&p, o, e);
    plan_release(&p);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct run_options o = run_options_of(a);

    o.is_resume = args_has(a, "resume");
    o.from = args_text(a, "from");
    o.is_forced = args_has(a, "force");
    if (o.is_resume + (o.from != NULL) + o.is_forced > 1)
        return err_set(e, ST_INVALID, "choose one of --resume, --from and --force");
    if (o.is_resume && o.n_inputs)
        return err_set(e, ST_INVALID,
                       "--input: --resume goes on as the run began; give it with --from PHASE, or "
                       "with a new run");
    return run_with(&o, a, e);
}

const struct cmd cmd_run = {
    .name = "run",
    .brief = "run the assembled team",
    .about =
        "Each phase starts the moment its last dependency is done. What a phase tells the next\n"
        "stands in .cliq/channels/<from>--<to>/handoff.json; what an agent printed in\n"
        ".cliq/run/logs/. A run survives the death of anything: after kill -9 of cliq itself,\n"
        "--resume goes on with the agents that still run, and repeats nothing that is done.\n"
        "\n"
        "--agent is the agent of phases that name none; where every phase names its own, a note\n"
        "says that it changes nothing.\n"
        "\n"
        "--agent, --jobs and --fail-fast are part of a run: --resume, --from and cliq retry keep\n"
        "them. --from and retry take others from that phase on (--jobs 0 takes the limit away);\n"
        "--resume refuses another --agent, and goes on with the rest as it was. With --resume and\n"
        "--from the agents must be there of those phases only that will run, or may: a gate can\n"
        "send work back. --input writes .cliq/inputs.json when the run begins, as cliq req does;\n"
        "--resume refuses it.\n"
        "\n"
        "--dry-run shows each phase that would run: its agent and commands, the value of each\n"
        "template variable as far as it is known, what its when gives, where a gate may route to.\n"
        "With --resume or --from it shows what would run if all went well. A plan whose agents or\n"
        "tools are missing is shown all the same, with what is missing; the exit code is 4 then.\n"
        "\n"
        "On a terminal each agent has a pane in tmux, where there is one: cliq run says how to\n"
        "attach. A pane shows the agent's log. Closing the pane of an agent that runs, or killing\n"
        "the pane's viewer, ends that agent: its processes get SIGHUP, SIGTERM, then SIGKILL, and\n"
        "the phase escalates at once. Losing the whole tmux server ends nothing. Without a\n"
        "terminal, with --headless or --json, or without tmux, there are no panes; all else is "
        "the\n"
        "same. $CLIQ_EXECUTOR, tmux or process, decides otherwise. On a terminal cliq run draws "
        "the\n"
        "phases in place, as many as fit; with --headless it prints a line for each event.\n"
        "\n"
        "A run uses the team as it was assembled. When a file of the team was changed since, in "
        "the\n"
        "directory that it was assembled from, a note says so.\n"
        "\n"
        "The run before this one moves to .cliq/runs/ (see cliq runs). A run that did not "
        "complete\n"
        "ends with a line Next: and the command to run next.\n"
        "\n"
        "--detach starts the run in the background, where it outlives the terminal: the command\n"
        "returns once the run has begun, and what goes wrong before that is its own error. cliq\n"
        "attach shows the run again; what happens stands in .cliq/orchestrator.log.\n"
        "\n"
        "Every transition is also a signal of the hub (cliq signal): pipeline:ID:started, "
        "completed,\n"
        "escalated, failed or cancelled; phase:ID:PHASE:started, progress, completed, error or\n"
        "routed; agent:NAME:wake and sleep. ID is the project's, in .cliq/cliq.id.\n"
        "\n"
        "The exit code is 0 for COMPLETED, 3 for ESCALATED (a person is needed), 1 for FAILED,\n"
        "130 for CANCELLED, 5 when a run is active or an unfinished one exists. A run whose\n"
        "journal cannot be written, on a full disk say, is FAILED: --resume goes on when there is\n"
        "room; where it was another file, cliq retry PHASE does. Of a run that has ended --resume\n"
        "tells the outcome again, and writes .cliq/signals/_pipeline_status when that is missing.",
    .examples = "cliq run\n"
                "cliq run --dry-run\n"
                "cliq run --input environment=staging\n"
                "cliq run --dry-run --from review\n"
                "cliq run --headless --jobs 4\n"
                "cliq run --detach\n"
                "cliq run --resume",
    .opts = opts,
    .run = run,
};
