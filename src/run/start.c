/*
 * How a run comes to its first event: anew, or from the journal of the run before.
 *
 * Resuming is that journal through the scheduler again (replay.h), then one look at each phase:
 * what was to be started is started, what ran is listened to, what waited waits.
 */
#include "run/run_loop.h"

#include "base/clock.h"
#include "base/sys.h"
#include "run/history.h"
#include "run/project_list.h"
#include "run/replay.h"
#include "run/subrun.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETELL_MS = 23 * 3600 * 1000 }; /* the hub knows keys of the last 24 h */

static void
tell_nobody(void *ctx, const struct buf *request)
{
    (void)ctx;
    (void)request;
}

/* A gate with checks is in its second stage once the agent's attempt file can exist. */
static enum stage
stage_of(const struct run *r, size_t phase, unsigned attempt)
{
    struct attempt_id a = { .phase = phase, .n = attempt };
    struct buf path = { 0 };
    struct stat st;

    if (!attempt_files_has_checks(r->p, phase))
        return STAGE_AGENT;
    buf_adds(&path, "run/attempts/");
    attempt_id_name(r->p, &a, &path);
    bool is_there =
        !buf_failed(&path) && sys->fstatat(r->p->state.dir, path.p, &st, AT_SYMLINK_NOFOLLOW) == 0;
    buf_release(&path);
    return is_there ? STAGE_AGENT : STAGE_CHECKS;
}

/* Takes a phase up where the journal left it: `ph` is how that was. (Those that were taken
 * up before it may have led to more since.) */
static void
resume_phase(struct run *r, size_t i, const struct sched_phase *ph, int64_t started_ms)
{
    struct attempt_id a = { .phase = i,
                            .n = ph->attempt,
                            .iteration = ph->iteration,
                            .is_routed = ph->is_routed,
                            .session = run_loop_session(r, i) };
    struct err e;
    enum status s;

    if (ph->state == PS_STARTING && sched_reason(r->sched)) {
        run_loop_give_up(r, i, ph->attempt); /* the run is ending: it is not begun any more */
        return;
    }
    if (ph->state == PS_STARTING) {
        struct action act = { .kind = ACT_START,
                              .phase = i,
                              .attempt = ph->attempt,
                              .iteration = ph->iteration,
                              .is_routed = ph->is_routed };
        run_loop_start(r, &act);
        return;
    }
    if (ph->state == PS_BACKOFF) {
        struct action act = { .kind = ACT_WAIT, .phase = i, .ms = 500 };
        run_loop_perform(r, &act);
    }
    if (plan_sub(r->p, i)) {
        if (ph->state == PS_RUNNING || ph->is_there)
            subrun_resume(r, i, ph, started_ms);
        return;
    }
    if (ph->state != PS_RUNNING && !ph->is_there)
        return;
    a.stage = stage_of(r, i, ph->attempt);
    s = attempt_new(&r->attempts[i], &r->host, &a, &e);
    if (!s && ph->state == PS_RUNNING) {
        int64_t limit = run_loop_timeout(r, i);
        progress_event(r->progress, "resumed", i, ph, NULL);
        s = attempt_resume(r->attempts[i], limit, limit - (clock_wall_ns() / 1000000 - started_ms),
                           &e);
    } else if (!s) {
        s = attempt_resume_rest(r->attempts[i], &e);
    }
    if (s) {
        run_loop_abort(r, s, &e);
        run_loop_give_up(r, i, ph->attempt);
    } else if (r->is_stopped[i] && r->attempts[i]) {
        attempt_stop(r->attempts[i]);
    } else if (r->attempts[i]) {
        attempt_show(r->attempts[i]);
    }
}

/* Restores the state that the replayed journal describes. */
static enum status
resume_all(struct run *r, const struct replay *replay, struct err *e)
{
    size_t n = r->p->team.n_phases;
    struct sched_phase *then = calloc(n + 1, sizeof *then);
    bool is_stopping =
        replay->is_cancelled || (sched_reason(r->sched) && replay->head.options.is_fail_fast);

    if (!then)
        return err_nomem(e);
    r->is_cancelled = replay->is_cancelled;
    for (size_t i = 0; i < n; i++) {
        then[i] = *sched_phase(r->sched, i);
        r->is_stopped[i] = is_stopping;
    }
    notifier_adopt(r->notifier);
    for (size_t i = 0; i < n; i++)
        resume_phase(r, i, &then[i], replay->started_ms[i]);
    free(then);
    return ST_OK;
}

/* What was told of this run before it was cut off, told again: what the hub has is not written
 * twice, what it has not is not lost. It knows what it has for 24 h. */
struct retelling {
    struct run_signals *to;
    struct replay replay;
    int64_t since_ms;
};

static bool
retell(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    struct retelling *t = ctx;
    bool is_late = t->replay.head.has_end && ev->kind != EV_RERUN;

    if (!replay_take(&t->replay, ev, at_ms))
        return false;
    void (*tell)(void *, const struct buf *) = t->to->tell;
    if (at_ms < t->since_ms || is_late)
        t->to->tell = tell_nobody;
    run_signals_event(t->to, t->replay.sched, ev);
    t->to->tell = tell;
    return true;
}

static void
retell_all(struct run *r, int dir)
{
    struct retelling t = { .to = &r->signals,
                           .replay.team = &r->p->team,
                           .since_ms = clock_wall_ns() / 1000000 - RETELL_MS };

    if (r->signals.tell)
        journal_replay(dir, t.replay.team, retell, &t, &t.replay.head, NULL);
    replay_release(&t.replay);
}

static struct sched_options
sched_options(const struct run_options *o)
{
    return (struct sched_options){ .jobs = o->jobs, .is_fail_fast = o->is_fail_fast };
}

/* The workflow as this run reads it: .cliq/workflow.yml may be another one when somebody looks. */
static enum status
save_workflow(const struct run *r, struct err *e)
{
    struct buf text = { 0 };
    enum status s = state_dir_read(&r->p->state, "workflow.yml", &text, e);

    if (!s)
        s = state_dir_create(&r->p->state, HISTORY_WORKFLOW, text.p ? text.p : "", text.len, e);
    buf_release(&text);
    return s;
}

/* The run before this one is kept. */
static enum status
keep_past(const struct run *r, struct err *e)
{
    int64_t keep = HISTORY_KEEP;
    struct err why;

    json_int(settings_get(&r->p->settings, "runs.keep"), &keep);
    enum status s = history_keep(&r->p->state, (unsigned)keep, &why);
    if (s)
        err_say(
            e,
            "the run before this one cannot be kept in %s/runs: %s. Mend that, or cliq settings "
            "runs.keep 0 starts without keeping runs",
            r->p->state.state_dir, why.text);
    return s == ST_INVALID ? ST_FAILED : s; /* the files are wrong, not the arguments */
}

/* No two of this process are the same, however fast they begin. */
static void
make_run_id(struct run *r)
{
    uint64_t id = (uint64_t)clock_wall_ns();

    if (id <= r->root->last_id)
        id = r->root->last_id + 1;
    r->root->last_id = id;
    snprintf(r->run_id, sizeof r->run_id, "%.24s-%" PRIx64, r->p->instance_id, id);
}

static enum status
begin_fresh(struct run *r, int dir, struct err *e)
{
    struct journal_head head = { .run_id = r->run_id,
                                 .team = r->p->team.name ? r->p->team.name : "",
                                 .workflow = r->p->workflow_hash,
                                 .above = r->sub ? r->sub->name : NULL,
                                 .agent = r->p->agent,
                                 .options = r->root->now };
    struct err why;
    enum status s = keep_past(r, e);

    if (!s)
        s = plan_make_room(r->p, true, e);
    if (!s)
        s = save_workflow(r, e);
    if (!s && !r->sub && project_list_note(&r->p->state, r->p->instance_id, &why) != ST_OK)
        progress_warn(r->progress, why.text);
    if (!s && !r->sub)
        progress_open_log(r->progress); /* the pane of the run reads it */
    make_run_id(r);
    if (!s)
        s = journal_open(&r->journal, dir, &r->p->team, &head, e);
    if (!s && !(r->sched = sched_new(&r->p->team, &head.options)))
        s = err_nomem(e);
    if (!s)
        run_loop_lay_out_ahead(r);
    return s;
}

/* "build", or "build/test": *below is "test" then, else NULL. */
static enum status
find_phase(const struct plan *p, const char *name, size_t *out, const char **below, struct err *e)
{
    char first[TEAM_PHASE_NAME_MAX + 16];
    const char *slash = strchr(name, '/'), *deeper;
    size_t ignored;

    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "/"), name);
    *below = slash ? slash + 1 : NULL;
    enum status s = team_find_phase(&p->team, first, out, e);
    if (!s && p->team.phases[*out].is_support)
        s = err_set(e, ST_INVALID, "%s is a support phase: only a gate that routes to it runs it",
                    first);
    if (!s && *below && !plan_sub(p, *out))
        s = err_set(e, ST_NOT_FOUND, "phase %s%s runs no team, so there is no phase %s in it",
                    p->way, first, *below);
    return s || !*below ? s : find_phase(plan_sub(p, *out), *below, &ignored, &deeper, e);
}

static void
take_ledger(struct run *r, struct replay *replay)
{
    ledger_release(&r->ledger);
    r->ledger = replay->ledger;
    replay->ledger = (struct ledger){ 0 };
}

/* The progress output starts with the run as it was left, and its time since it began. */
static void
show_past(struct run *r, const struct replay *replay, const struct sched *sched)
{
    progress_clock(r->progress, replay->began_ms, replay->head.has_end ? replay->head.end_ms : 0);
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        progress_phase(r->progress, i, sched_phase(sched, i), replay->started_ms[i],
                       replay->ended_ms[i]);
}

/* It runs all the same: no handoff is not an error, but seldom what was meant. */
static void
warn_missing(struct run *r, size_t from, size_t to)
{
    const struct team *t = &r->p->team;
    struct buf path = { 0 }, text = { 0 };
    struct stat st;

    buf_addf(&path, "channels/%s--%s/handoff.json", t->phases[from].name, t->phases[to].name);
    if (!buf_failed(&path) && sys->fstatat(r->p->state.dir, path.p, &st, 0) != 0 &&
        errno == ENOENT) {
        buf_addf(&text,
                 "%s/%s is missing: %s%s runs without what %s hands over (cliq retry %s%s runs "
                 "both)",
                 r->p->state.state_dir, path.p, r->p->way, t->phases[to].name, t->phases[from].name,
                 r->p->way, t->phases[from].name);
        progress_warn(r->progress, buf_failed(&text) ? path.p : text.p);
    }
    buf_release(&path);
    buf_release(&text);
}

/* Every handoff that is kept and will be read again by what runs again. */
static void
check_handoffs(struct run *r, size_t from)
{
    const struct team *t = &r->p->team;
    uint64_t *again = calloc(dag_words(t->n_phases) + 1, sizeof *again);

    if (!again)
        return; /* out of memory: a later call reports it */
    dag_successors(r->p->dag, from, again);
    bit_add(again, from);
    for (size_t i = 0; i < t->n_main; i++) {
        const struct phase *ph = &t->phases[i];
        for (size_t d = 0; bit_has(again, i) && d < ph->n_depends_on; d++)
            if (!bit_has(again, ph->deps[d]) &&
                sched_phase(r->sched, ph->deps[d])->state == PS_DONE)
                warn_missing(r, ph->deps[d], i);
    }
    free(again);
}

/* What runs again, and has not begun, waits. The options of the run are kept, but for those that
 * were given now. */
static void
rerun(struct run *r, size_t from, const struct sched_options *before)
{
    int64_t now_ms = clock_wall_ns() / 1000000;

    r->options = *before;
    if (r->o->has_jobs)
        r->options.jobs = r->o->jobs;
    r->options.is_fail_fast = before->is_fail_fast || r->o->is_fail_fast;
    r->now = r->options;
    progress_clock(r->progress, now_ms, 0);
    r->below_phase = from;
    r->below_attempt = sched_phase(r->sched, from)->attempt + 1;
    run_loop_feed(r,
                  (struct sched_event){
                      .kind = EV_RERUN, .phase = from, .text = r->below, .options = &r->options });
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (sched_phase(r->sched, i)->state == PS_WAITING)
            progress_phase(r->progress, i, sched_phase(r->sched, i), 0, 0);
    r->is_over = false; /* what was left of the old end is gone */
    r->is_cancelled = false;
}

/* Where the latest rerun was to go on in a team phase, if that has not begun yet. */
static enum status
take_below(struct run *r, const struct replay *replay, struct err *e)
{
    if (!replay->below)
        return ST_OK;
    r->below = arena_dup(&r->p->arena, replay->below, strlen(replay->below));
    r->below_phase = replay->below_phase;
    r->below_attempt = replay->below_attempt;
    return r->below ? ST_OK : err_nomem(e);
}

/* Goes on with the run of `past`, from a phase when `from` is not SIZE_MAX; there from r->below. */
static enum status
go_on(struct run *r, int dir, struct replay *replay, size_t from, struct err *e)
{
    enum status s = plan_make_room(r->p, false, e);

    r->is_resumed = true;
    snprintf(r->run_id, sizeof r->run_id, "%s", replay->head.run_id);
    if (!r->sub) {
        r->now = replay->head.options;
        panes_end_left(&r->p->state); /* agents that still run go on without */
    }
    if (!s && from == SIZE_MAX)
        s = take_below(r, replay, e);
    if (!s)
        s = state_dir_remove(&r->p->state, "signals/_pipeline_status", e); /* how it ended before */
    if (!s)
        s = journal_open(&r->journal, dir, &r->p->team, NULL, e);
    if (s)
        return s;
    run_loop_lay_out_ahead(r);
    r->journal.workflow = r->p->workflow_hash;
    r->journal.agent = r->p->agent;
    r->journal.above = r->sub ? r->sub->name : NULL;
    if (!replay->head.has_end)
        retell_all(r, dir);
    r->sched = replay->sched;
    replay->sched = NULL;
    take_ledger(r, replay);
    if (r->sub)
        spending_pass_on(r);
    show_past(r, replay, r->sched);
    if (from != SIZE_MAX)
        check_handoffs(r, from);
    if (from != SIZE_MAX)
        s = save_workflow(r, e);
    if (s)
        return s;
    s = resume_all(r, replay, e);
    if (!s && from != SIZE_MAX)
        rerun(r, from, &replay->head.options);
    if (!s && sched_status(r->sched) != RUN_ACTIVE && !r->is_over) /* only its end was not told */
        run_loop_end(r, &(struct action){ .kind = ACT_END, .status = sched_status(r->sched) });
    return s;
}

static enum status
begin_anew(struct run *r, int dir, const struct replay *replay, bool is_open, struct err *e)
{
    enum status s = is_open ? run_stop_leftovers(&r->p->state, replay->head.run_id, e) : ST_OK;

    r->now = sched_options(r->o);
    if (!s)
        s = begin_fresh(r, dir, e);
    if (!s)
        run_loop_feed(r, (struct sched_event){ .kind = EV_BEGIN });
    return s;
}

/* The workflow is not the one that the run began with. What ended can be gone on with, from a
 * phase, when its journal fits: every event of it is one that this workflow leads to, and nothing
 * that ran would have gone on at its end. What is unfinished may have agents that run by the old
 * one. */
static enum status
check_mended(const struct replay *replay, bool is_open, struct err *e)
{
    if (is_open)
        return err_set(e, ST_INVALID,
                       "the workflow was changed since this run began, and it is unfinished: undo "
                       "that, or end it with cliq cancel and go on with cliq retry PHASE; cliq run "
                       "--force starts anew");
    if (replay->leads_on)
        return err_set(e, ST_INVALID,
                       "the workflow was changed since this run: by the new one it would not have "
                       "ended where it did, so nothing can be kept of it; undo that, or start anew "
                       "with cliq run");
    return ST_OK;
}

/* The plan was made before we had the lock: it is of this run when its --agent is. */
static enum status
check_agent(const struct plan *p, const struct run_options *o, const struct replay *replay,
            struct err *e)
{
    const char *ours = p->agent ? p->agent : "";
    const char *its = replay->head.agent ? replay->head.agent : "";

    return o->agent || strcmp(ours, its) == 0
               ? ST_OK
               : err_set(e, ST_CONFLICT,
                         "another run was begun here meanwhile: look at cliq "
                         "status, then try again");
}

enum status
start_choose(struct run_start *b, const struct plan *p, const struct run_options *o,
             const struct replay *replay, enum status s, struct err *e)
{
    bool is_anew = !o->is_resume && !o->from;

    *b = (struct run_start){ .from = SIZE_MAX };
    b->is_open = s != ST_NOT_FOUND && !replay->head.has_end;
    if (!s && (b->is_open || o->from) && strcmp(replay->head.workflow, p->workflow_hash) != 0)
        s = check_mended(replay, b->is_open, e);
    if (o->is_forced || (is_anew && !b->is_open && (!s || s == ST_INVALID)) ||
        (s == ST_NOT_FOUND && !o->from)) {
        b->way = START_ANEW;
        return ST_OK;
    }
    if (s == ST_NOT_FOUND)
        return err_set(e, ST_NOT_FOUND, "nothing has run here yet: cliq run");
    if (!s && b->is_open && !o->is_resume)
        return err_set(e, ST_CONFLICT,
                       "an unfinished run exists here: cliq run --resume goes on with it, cliq run "
                       "--force starts anew");
    b->way = !b->is_open && o->is_resume ? START_ENDED : START_ON;
    if (!s && b->way == START_ON)
        s = check_agent(p, o, replay, e);
    if (!s && o->from)
        s = find_phase(p, o->from, &b->from, &b->below, e);
    if (!s && b->below)
        s = subrun_check_past(p, b->from, replay->head.run_id, e);
    return s;
}

enum status
start_run(struct run *r, int dir, enum run_status *ended, struct err *e)
{
    struct replay replay;
    struct run_start b;
    enum status s = replay_load(&replay, dir, &r->p->team, e);

    *ended = RUN_ACTIVE;
    s = start_choose(&b, r->p, r->o, &replay, s, e);
    if (!s)
        s = agent_check(r->p, &b, dir, e);
    if (!s && b.way == START_ON)
        s = subrun_check(r->p, &replay, e);
    if (!s && b.way != START_ENDED)
        s = plan_write_inputs(r->p, e);
    if (!s && b.way == START_ANEW) {
        s = begin_anew(r, dir, &replay, b.is_open, e);
    } else if (!s && b.way == START_ENDED) {
        take_ledger(r, &replay);
        show_past(r, &replay, replay.sched);
        r->sched = replay.sched;
        replay.sched = NULL;
        *ended = replay.head.end;
    } else if (!s) {
        r->below = b.below;
        s = go_on(r, dir, &replay, b.from, e);
    }
    replay_release(&replay);
    return s;
}

/* What an earlier run in the frame left alive is stopped first: the run above has ended it. */
enum status
start_sub(struct run *r, struct err *e)
{
    struct run_latest latest;
    bool is_there = run_latest(&r->p->state, &latest, NULL) == ST_OK;
    enum status s =
        is_there && !latest.has_end ? run_stop_leftovers(&r->p->state, latest.id, e) : ST_OK;

    return s ? s : begin_fresh(r, r->dir, e);
}

enum status
start_sub_on(struct run *r, struct replay *replay, struct err *e)
{
    return go_on(r, r->dir, replay, SIZE_MAX, e);
}

enum status
start_sub_from(struct run *r, struct replay *replay, const char *from, struct err *e)
{
    size_t phase;
    enum status s = find_phase(r->p, from, &phase, &r->below, e);

    if (!s && replay->leads_on)
        s = check_mended(replay, false, e);
    return s ? s : go_on(r, r->dir, replay, phase, e);
}
