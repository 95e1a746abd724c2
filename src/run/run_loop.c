/*
 * run_loop - the loop of a run: events come in, sched decides, the journal records, and the loop
 * performs the actions.
 *
 * One rule orders everything: what an event leads to is journalled with it, in one
 * write and one sync, before a process is started for it. So a run that dies at any
 * moment is found again by replaying the journal: an attempt whose start is written
 * either left its attempt file, or can be made impossible.
 */
#include "run/run_loop.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "run/lockfile.h"
#include "run/sleeping.h"
#include "run/subrun.h"
#include "run/verdict.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_TIMEOUT_MS ((int64_t)3650 * 24 * 60 * 60 * 1000) /* of agents that wait for people */

enum {
    FILES_OWN = 64,  /* that a run has open for itself, and a few to spare */
    FILES_PHASE = 4, /* and for a phase that runs */
    FILES_TEAM = 8,  /* and for a team that is a phase */
    TICK_MS = 1000,
    DRAIN_MS = 1000,    /* for the reader of a cancelled run's output */
    PROGRESS_MAX = 100, /* lines of a phase that are told in a second */
};

const struct phase *
run_loop_phase(const struct run *r, size_t i)
{
    return &r->p->team.phases[i];
}

int64_t
run_loop_timeout(const struct run *r, size_t i)
{
    int64_t ms = plan_timeout_ms(r->p, i);

    return ms ? ms : NO_TIMEOUT_MS;
}

const struct usage *
run_loop_session(const struct run *r, size_t phase)
{
    return ledger_session(&r->ledger, phase, r->p->agents[phase].name);
}

void
run_loop_abort(struct run *r, enum status s, const struct err *why)
{
    if (r->failed)
        return;
    r->failed = s;
    r->why = *why;
    run_loop_feed(r, (struct sched_event){ .kind = EV_ABORT, .text = why->text });
}

void
run_loop_each(struct run *r, void (*fn)(void *ctx, struct run *r), void *ctx)
{
    if (r->notifier) /* one that could not begin has nothing */
        fn(ctx, r);
    for (size_t i = 0; r->kids && i < r->p->team.n_phases; i++)
        for (struct run *kid = r->kids[i]; kid; kid = kid->sub->older)
            run_loop_each(kid, fn, ctx);
}

/* ---- actions ---- */

void
run_loop_give_up(struct run *r, size_t phase, unsigned attempt)
{
    attempt_free(r->attempts[phase]);
    r->attempts[phase] = NULL;
    subrun_drop(r, phase);
    run_loop_feed(r, (struct sched_event){ .kind = EV_GONE, .phase = phase, .attempt = attempt });
}

/* Writes the start error to the attempt's log, so that `cliq log` shows it. Ignored when it cannot
 * be written: the same stands in the journal. */
static void
log_unstarted(struct run *r, size_t phase, unsigned attempt, const char *why)
{
    struct attempt_id a = { .phase = phase, .n = attempt, .stage = STAGE_AGENT };
    struct buf path = { 0 }, text = { 0 };

    buf_adds(&path, "run/logs/");
    attempt_id_name(r->p, &a, &path);
    buf_adds(&path, ".log");
    buf_addf(&text, "cliq: not started: %s\n", why);
    if (!buf_failed(&path) && !buf_failed(&text))
        state_dir_replace(&r->p->state, path.p, text.p, text.len, NULL);
    buf_release(&path);
    buf_release(&text);
}

void
run_loop_fail(struct run *r, size_t phase, unsigned attempt, const char *why)
{
    attempt_free(r->attempts[phase]);
    r->attempts[phase] = NULL;
    subrun_drop(r, phase);
    log_unstarted(r, phase, attempt, why);
    run_loop_feed(r, (struct sched_event){ .kind = EV_RESULT,
                                           .phase = phase,
                                           .attempt = attempt,
                                           .outcome = OUT_ERROR,
                                           .text = why });
    run_loop_feed(r, (struct sched_event){ .kind = EV_GONE, .phase = phase, .attempt = attempt });
}

/* What it needs could not be made, and it has no live attempt. */
static void
fail_to_prepare(struct run *r, const struct attempt_id *a, enum status s, const struct err *e)
{
    if (s == ST_IO) { /* ours, not its */
        run_loop_abort(r, s, e);
        run_loop_give_up(r, a->phase, a->n);
    } else {
        run_loop_fail(r, a->phase, a->n, e->text);
    }
}

/* Who comes after a phase that was left out hears nothing of it, not what it said the last time. */
static enum status
forget_handoffs(struct run *r, size_t phase, struct err *e)
{
    const struct dag *d = r->p->dag;
    char path[2 * TEAM_PHASE_NAME_MAX + 40];
    enum status s = ST_OK;

    snprintf(path, sizeof path, "channels/%s--" PLAN_OUT "/handoff.json",
             run_loop_phase(r, phase)->name);
    if (plan_is_leaf(r->p, phase))
        s = state_dir_remove(&r->p->state, path, e);
    for (uint32_t k = d->first[phase]; !s && k < d->first[phase + 1]; k++) {
        snprintf(path, sizeof path, "channels/%s--%s/handoff.json", run_loop_phase(r, phase)->name,
                 run_loop_phase(r, d->succ[k])->name);
        s = state_dir_remove(&r->p->state, path, e);
    }
    return s;
}

/* ---- one limit for all levels ---- */

static void
count_at_work(void *ctx, struct run *r)
{
    size_t *n = ctx;

    for (size_t i = 0; r->sched && i < r->p->team.n_phases; i++)
        *n += r->attempts[i] && sched_phase(r->sched, i)->state == PS_RUNNING;
}

/* The scheduler of each level starts --jobs phases, of which team phases are no work themselves; so
 * all levels together may want to start more. */
static bool
is_full(const struct run *r)
{
    size_t n = 0;

    if (!r->root->now.jobs || !r->root->p->subs)
        return false;
    run_loop_each(r->root, count_at_work, &n);
    return n >= r->root->now.jobs;
}

/* False: out of memory. */
static bool
defer(struct run *r, const struct action *act)
{
    struct run *root = r->root;

    if (root->n_late == root->cap_late) {
        size_t cap = root->cap_late ? 2 * root->cap_late : 16;
        struct deferred *late = realloc(root->late, cap * sizeof *late);
        if (!late)
            return false;
        root->late = late;
        root->cap_late = cap;
    }
    root->late[root->n_late++] = (struct deferred){ r, *act };
    return true;
}

static void begin_attempt(struct run *r, const struct action *act);

/* Starts what has waited, as far as there is room; what waits in a run that ends is dropped. */
static bool
start_late(struct run *root)
{
    bool is_news = false;

    for (size_t i = 0; i < root->n_late;) {
        struct deferred d = root->late[i];
        bool is_ending = sched_reason(d.run->sched) != NULL;
        if (!is_ending && is_full(root)) {
            i++;
            continue;
        }
        root->n_late--;
        memmove(root->late + i, root->late + i + 1, (root->n_late - i) * sizeof d);
        if (is_ending)
            run_loop_give_up(d.run, d.act.phase, d.act.attempt);
        else
            begin_attempt(d.run, &d.act);
        is_news = true;
    }
    return is_news;
}

void
run_loop_start(struct run *r, const struct action *act)
{
    bool is_late = !plan_sub(r->p, act->phase) && (r->root->n_late || is_full(r));

    if (!is_late || !defer(r, act))
        begin_attempt(r, act);
}

static void
begin_attempt(struct run *r, const struct action *act)
{
    struct attempt_id a = { .phase = act->phase,
                            .n = act->attempt,
                            .iteration = act->iteration,
                            .is_routed = act->is_routed,
                            .session = run_loop_session(r, act->phase),
                            .stage = attempt_files_has_checks(r->p, act->phase) ? STAGE_CHECKS
                                                                                : STAGE_AGENT };
    struct sched_event ev = { .kind = EV_STARTED,
                              .phase = act->phase,
                              .attempt = act->attempt,
                              .agent = r->p->agents[act->phase].name };
    struct err e;
    bool is_true = true;
    enum status s = attempt_files_when(r->p, act->phase, r->run_id, &is_true, &e);

    r->is_stopped[act->phase] = false;
    r->n_notified[act->phase] = r->n_progress[act->phase] = 0;
    if (spending_forbids(r, act->phase)) {
        run_loop_give_up(r, act->phase, act->attempt);
        return;
    }
    if (!s && !is_true)
        s = forget_handoffs(r, act->phase, &e);
    if (!s && !is_true) {
        ev.kind = EV_SKIP;
        ev.text = run_loop_phase(r, act->phase)->when;
        run_loop_feed(r, ev);
        return;
    }
    bool is_team = plan_sub(r->p, act->phase) != NULL;
    if (!s && is_team)
        s = subrun_prepare(r, act->phase, act->attempt, &e);
    else if (!s)
        s = attempt_new(&r->attempts[act->phase], &r->host, &a, &e);
    if (s) {
        fail_to_prepare(r, &a, s, &e);
    } else {
        if (!is_team)
            r->fresh[r->n_fresh++] = r->attempts[act->phase];
        run_loop_feed(r, ev);
    }
}

static void
on_due(void *ctx)
{
    struct backoff *w = ctx;

    loop_drop(w->timer);
    w->timer = NULL;
    run_loop_feed(w->run, (struct sched_event){ .kind = EV_DUE, .phase = w->phase });
    run_loop_settle(w->run);
}

/* Marks the target as routed to; the verdict stands there already. */
static void
route(struct run *r, const struct action *act)
{
    char path[TEAM_PHASE_NAME_MAX + 32];
    struct err e;

    snprintf(path, sizeof path, "signals/%s_routed", run_loop_phase(r, act->target)->name);
    if (state_dir_replace(&r->p->state, path, "", 0, &e))
        run_loop_abort(r, ST_IO, &e);
    progress_event(r->progress, "routed", act->phase, sched_phase(r->sched, act->phase),
                   run_loop_phase(r, act->target)->name);
}

/* How it ended is told when the journal has it: see finish.c. */
void
run_loop_end(struct run *r, const struct action *act)
{
    r->is_over = true;
    if (act->status == RUN_ESCALATED)
        run_notices_untried(r);
    if (!r->sub) /* else the settle that follows tells the run above */
        loop_stop(r->loop);
}

void
run_loop_perform(struct run *r, const struct action *act)
{
    struct err e;

    switch (act->kind) {
    case ACT_START:
        run_loop_start(r, act);
        break;
    case ACT_STOP:
        r->is_stopped[act->phase] = true; /* also if it is not begun, or has another stage */
        if (r->attempts[act->phase])
            attempt_stop(r->attempts[act->phase]);
        if (r->kids && r->kids[act->phase])
            subrun_stop(r->kids[act->phase]);
        break;
    case ACT_WAIT:
        progress_event(r->progress, "retry", act->phase, sched_phase(r->sched, act->phase), NULL);
        r->waits[act->phase] = (struct backoff){ .run = r, .phase = act->phase };
        r->waits[act->phase].timer =
            loop_after(r->loop, (uint64_t)act->ms, on_due, &r->waits[act->phase], &e);
        if (!r->waits[act->phase].timer)
            run_loop_abort(r, ST_IO, &e);
        break;
    case ACT_ROUTE:
        route(r, act);
        break;
    case ACT_END:
        run_loop_end(r, act);
        break;
    }
}

/* ---- events ---- */

static bool
remember(struct run *r, struct sched_event ev)
{
    if (r->n_batch == r->cap_batch) {
        size_t cap = r->cap_batch ? r->cap_batch * 2 : 64;
        struct sched_event *bigger = realloc(r->batch, cap * sizeof *bigger);
        if (!bigger)
            return false;
        r->batch = bigger;
        r->cap_batch = cap;
    }
    if (ev.text)
        ev.text = arena_dup(&r->texts, ev.text, strlen(ev.text));
    struct usage *used = ev.usage ? arena_alloc(&r->texts, sizeof *used) : NULL;
    if (used)
        *used = *ev.usage; /* its texts are the ledger's */
    ev.usage = used;
    r->batch[r->n_batch++] = ev;
    if (ev.kind != EV_GONE)
        r->is_urgent = true;
    return true;
}

void
run_loop_feed(struct run *r, struct sched_event ev)
{
    struct actions acts = { 0 };

    if (!sched_apply(r->sched, &ev, &acts)) {
        actions_release(&acts);
        if (sched_status(r->sched) != RUN_ACTIVE && !r->is_over) /* it had no memory */
            run_loop_end(r, &(struct action){ .kind = ACT_END, .status = sched_status(r->sched) });
        return;
    }
    if (ev.kind == EV_RESULT)
        ev.is_final = sched_phase(r->sched, ev.phase)->state == PS_FAILED;
    struct usage used = { 0 };
    if (ev.kind == EV_RESULT)
        used = r->ledger.phases[ev.phase].now; /* ledger_take clears it */
    if (!usage_is_zero(&used) || used.session_id)
        ev.usage = &used;
    ledger_take(&r->ledger, &ev);
    if (!remember(r, ev)) {
        struct err e;
        r->is_mute = true;
        run_loop_abort(r, err_nomem(&e), &e);
    }
    run_notices_event(r, &ev);
    run_signals_event(&r->signals, r->sched, &ev);
    phase_leases_event(&r->leases, &ev, r->publisher);
    for (size_t i = 0; i < acts.n; i++)
        run_loop_perform(r, &acts.a[i]);
    actions_release(&acts);
}

void
run_loop_forget(struct run *r)
{
    r->n_batch = 0;
    r->is_urgent = false;
    arena_reset(&r->texts);
}

/* Journals the batch: one write, one sync. */
static void
write_journal(struct run *r)
{
    struct err e;
    enum status s = r->is_mute ? ST_OK : journal_write(&r->journal, r->batch, r->n_batch, &e);

    run_loop_forget(r);
    if (s) {
        r->is_mute = true;
        run_loop_abort(r, s, &e);
        run_loop_forget(r);
    }
}

/* While the journal is on its way to the disk: what is no start yet. What fails here is tried
 * again, and told, when it is started. */
static void
on_sync(void *ctx)
{
    struct run *r = ctx;

    for (size_t i = 0; i < r->n_fresh; i++)
        if (!r->is_stopped[attempt_id_of(r->fresh[i])->phase])
            attempt_lay_out(r->fresh[i], NULL);
}

/* More may become ready to be started meanwhile: that waits for the journal. */
static void
start_fresh(struct run *r)
{
    size_t n = r->n_fresh;

    for (size_t i = 0; i < n; i++) {
        struct attempt *l = r->fresh[i];
        struct attempt_id a = *attempt_id_of(l);
        struct err e;
        enum status s = r->is_stopped[a.phase] ? ST_OK : attempt_lay_out(l, &e);
        if (s == ST_IO) /* ours, not its */
            run_loop_abort(r, s, &e);
        if (r->is_stopped[a.phase] || s == ST_IO)
            run_loop_give_up(r, a.phase, a.n);
        else if (attempt_start(l, run_loop_timeout(r, a.phase), &e) != ST_OK)
            run_loop_fail(r, a.phase, a.n, e.text);
    }
    r->n_fresh -= n;
    memmove(r->fresh, r->fresh + n, r->n_fresh * sizeof *r->fresh);
}

void
run_loop_lay_out_ahead(struct run *r)
{
    journal_meanwhile(&r->journal, on_sync, r);
}

static void on_note(void *ctx, size_t phase, const char *text);

/* Leases that another identity has, a line each; the run goes on without them. */
static void
tell_refused(struct run *r, struct buf *says)
{
    buf_addc(says, '\0');
    for (char *p = buf_failed(says) ? NULL : says->p, *end; p && (end = strchr(p, '\n'));
         p = end + 1) {
        *end = '\0';
        on_note(r, SIZE_MAX, p);
    }
    buf_reset(says);
}

/* The run and those below it, from the top down: what a run above begins, its journal has first.
 * True: something was done, which may have led to more. */
static bool
settle(struct run *r)
{
    bool is_news = r->is_urgent || r->n_fresh;

    if (r->is_urgent && !(r->sub && r->is_over)) /* its last lines go with its end */
        write_journal(r);
    start_fresh(r);
    for (size_t i = 0; i < r->n_dead; i++)
        attempt_free(r->dead[i]);
    r->n_dead = 0;
    for (size_t i = 0; r->kids && i < r->p->team.n_phases; i++) {
        if (r->kids[i])
            is_news |= subrun_begin(r->kids[i]);
        if (r->kids[i] && subrun_is_open(r->kids[i]))
            is_news |= settle(r->kids[i]);
    }
    return (r->sub && r->is_over && subrun_close(r)) || is_news;
}

static void
pump(void *ctx, struct run *r)
{
    (void)ctx;
    notifier_pump(r->notifier);
}

void
run_loop_settle(struct run *r)
{
    struct buf refused = { 0 };
    bool is_news;

    r = r->root;
    do {
        is_news = settle(r);
        is_news |= start_late(r);
    } while (is_news || r->is_urgent || r->n_fresh);
    hub_publisher_go(r->publisher);
    hub_publisher_refused(r->publisher, &refused);
    if (refused.len)
        tell_refused(r, &refused);
    buf_release(&refused);
    run_loop_each(r, pump, NULL);
    run_sleep_try(r);
    progress_flush(r->progress);
}

/* ---- what attempts tell ---- */

/* An agent may repeat itself without end: the rest of a flood stands in its own file only. */
static void
tell_progress(struct run *r, size_t phase, unsigned attempt, const char *message)
{
    unsigned k = ++r->n_progress[phase];
    uint64_t held;

    if (!flood_lets(&r->floods[phase], PROGRESS_MAX, clock_mono_ms(), &held)) {
        progress_tick(r->progress);
        return;
    }
    if (held) {
        char text[80];
        snprintf(text, sizeof text, "(%" PRIu64 " more lines of progress in signals/)", held);
        progress_event(r->progress, "note", phase, sched_phase(r->sched, phase), text);
    }
    progress_event(r->progress, "progress", phase, sched_phase(r->sched, phase), message);
    run_signals_progress(&r->signals, phase, attempt, k, message);
}

static void
on_line(void *ctx, struct attempt *l, const struct status_line *line)
{
    struct run *r = ctx;
    size_t phase = attempt_id_of(l)->phase;

    if (line->status == LINE_PROGRESS && !line->message) {
        progress_tick(r->progress); /* its cost */
    } else if (line->status == LINE_PROGRESS) {
        tell_progress(r, phase, attempt_id_of(l)->n, line->message);
    } else {
        notifier_line(r->notifier, phase, attempt_id_of(l)->n, ++r->n_notified[phase],
                      line->result);
    }
    if (line->status == LINE_PROGRESS)
        spending_report(r, l, json_get(line->result, "usage"));
}

static void
on_note(void *ctx, size_t phase, const char *text)
{
    struct run *r = ctx;
    bool is_phase = phase < r->p->team.n_phases;

    progress_event(r->progress, "note", phase, is_phase ? sched_phase(r->sched, phase) : NULL,
                   text);
}

/* People look for it in cliq status, which reads the journal. */
static void
on_notify_failure(void *ctx, size_t phase, const char *text)
{
    struct run *r = ctx;
    struct err e;

    on_note(ctx, phase, text);
    if (!r->root->is_mute && journal_note(&r->root->journal, text, &e) != ST_OK)
        on_note(ctx, SIZE_MAX, e.text);
}

/* The commands of a gate have run: now its agent judges. */
static void
second_stage(struct run *r, struct attempt *checks)
{
    struct attempt_id a = *attempt_id_of(checks);
    struct err e;

    a.stage = STAGE_AGENT;
    a.redo = 0;
    /* the checks' own is freed elsewhere */
    enum status s = attempt_new(&r->attempts[a.phase], &r->host, &a, &e);
    if (s)
        fail_to_prepare(r, &a, s, &e);
    else
        r->fresh[r->n_fresh++] = r->attempts[a.phase];
}

/* What an agent wrote by the path that it was told came to nobody then. */
static bool
is_moved(const struct state_dir *f)
{
    struct stat then, now;

    return sys->fstat(f->dir, &then) == 0 &&
           (sys->fstatat(AT_FDCWD, f->state_dir, &now, 0) != 0 || now.st_ino != then.st_ino ||
            now.st_dev != then.st_dev);
}

static void
feed_crash(struct run *r, struct sched_event ev)
{
    struct buf text = { 0 };

    if (sched_phase(r->sched, ev.phase)->is_stopped) {
        ev.text = sched_stop_reason(r->sched); /* how it died says nothing: we stopped it */
    } else if (is_moved(&r->p->state)) {
        buf_addf(&text,
                 "%s; %s was moved or removed during the run, and agents find their files by that "
                 "path: put it back, then cliq retry",
                 ev.text, r->p->state.state_dir);
        if (!buf_failed(&text))
            ev.text = text.p;
    }
    run_loop_feed(r, ev);
    buf_release(&text);
}

static void
on_result(void *ctx, struct attempt *l, enum outcome outcome, const struct status_line *line,
          const char *text)
{
    struct run *r = ctx;
    const struct attempt_id *at = attempt_id_of(l);
    struct arena a = { 0 };
    struct sched_event ev = {
        .kind = EV_RESULT,
        .phase = at->phase,
        .attempt = at->n,
        .outcome = outcome,
        .text = text,
        .is_final = attempt_was_ended(l), /* a person, or its budget, ended it: not tried again */
    };

    if (attempt_was_ended(l) && r->sub)
        r->sub->is_hopeless = true;
    if (line)
        spending_report(r, l, json_get(line->result, "usage"));
    if (at->stage == STAGE_CHECKS && outcome == OUT_COMPLETE)
        return; /* on_gone brings the second stage */
    if (outcome == OUT_COMPLETE && run_loop_phase(r, at->phase)->type == PHASE_GATE) {
        struct err e;
        verdict_read(&r->p->team, line->result, &a, &ev);
        if (*verdict_name(ev.verdict))
            attempt_set_verdict(l, verdict_name(ev.verdict));
        bool is_public =
            ev.verdict == VERDICT_PASS || (ev.verdict == VERDICT_ROUTE && ev.target != SIZE_MAX &&
                                           dag_may_route(r->p->dag, at->phase, ev.target));
        if (is_public && verdict_publish(r->p, at, &ev, &r->published[at->phase], &e) != ST_OK)
            run_loop_abort(r, ST_IO, &e);
    } else if (outcome == OUT_COMPLETE) {
        ev.text = json_dup_text(&a, json_get(line->result, "summary"));
    }
    if (outcome == OUT_CRASH)
        feed_crash(r, ev);
    else
        run_loop_feed(r, ev);
    arena_release(&a);
}

static void
on_gone(void *ctx, struct attempt *l)
{
    struct run *r = ctx;
    const struct attempt_id *at = attempt_id_of(l);

    r->dead[r->n_dead++] = l;
    if (at->stage == STAGE_CHECKS && attempt_completed(l) && !r->is_stopped[at->phase] &&
        sched_phase(r->sched, at->phase)->state == PS_RUNNING) {
        second_stage(r, l);
        return;
    }
    if (r->attempts[at->phase] == l)
        r->attempts[at->phase] = NULL;
    run_loop_feed(r, (struct sched_event){ .kind = EV_GONE, .phase = at->phase, .attempt = at->n });
}

static void
count_pids(void *ctx, struct run *r)
{
    size_t *most = ctx;

    *most += r->p->team.n_phases + notifier_count(r->notifier);
}

struct pids {
    pid_t *to;
    size_t n;
};

static void
add_pids(void *ctx, struct run *r)
{
    struct pids *all = ctx;

    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i] && attempt_pid(r->attempts[i]))
            all->to[all->n++] = attempt_pid(r->attempts[i]);
    all->n += notifier_pids(r->notifier, all->to + all->n);
}

static const pid_t *
known(void *ctx, size_t *n)
{
    struct run *r = ((struct run *)ctx)->root;
    size_t most = r->n_relatives + 2;

    run_loop_each(r, count_pids, &most);
    pid_t *pids = realloc(r->pids, most * sizeof *pids);
    *n = 0;
    if (!pids)
        return NULL; /* out of memory: /proc is searched instead */
    r->pids = pids;
    struct pids all = { .to = pids };
    run_loop_each(r, add_pids, &all);
    for (size_t i = 0; i < r->n_relatives; i++)
        pids[all.n++] = r->relatives[i];
    if (panes_server(r->panes))
        pids[all.n++] = panes_server(r->panes);
    *n = all.n;
    return pids;
}

static void
on_settle(void *ctx)
{
    run_loop_settle(ctx);
}

static void
on_pane_note(void *ctx, const char *text)
{
    on_note(ctx, SIZE_MAX, text);
    progress_flush(((struct run *)ctx)->progress);
}

/* ---- what the loop tells ---- */

void
run_loop_cancel(struct run *r)
{
    struct err e;

    r->is_cancelled = true;
    if (state_dir_replace(&r->p->state, "signals/_pipeline_status", "CANCELLED", 9, &e) != ST_OK)
        progress_event(r->progress, "note", SIZE_MAX, NULL, e.text);
    run_loop_feed(r, (struct sched_event){ .kind = EV_CANCEL });
}

/* Anybody may cancel by writing the status file. */
static bool
is_cancelled_outside(const struct run *r)
{
    char text[16] = "";
    int fd = SYS_RETRY(sys->openat(r->p->state.dir, "signals/_pipeline_status",
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    if (fd < 0)
        return false;
    ssize_t n = SYS_RETRY(sys->pread(fd, text, sizeof text - 1, 0));
    close(fd);
    return n >= 9 && memcmp(text, "CANCELLED", 9) == 0;
}

/* A file of signals/; NULL: any. */
static void
on_written(void *ctx, const char *name)
{
    struct run *r = ctx;

    if ((!name || strcmp(name, "_pipeline_status") == 0) && !r->is_over && !r->is_cancelled &&
        is_cancelled_outside(r))
        run_loop_cancel(r);
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i] && (!name || attempt_writes(r->attempts[i], name)))
            attempt_look(r->attempts[i]);
}

static void
on_signals(void *ctx)
{
    struct run *r = ctx;

    watch_drain_names(&r->watch, on_written, r);
    run_loop_settle(r);
}

static void
look_review(void *ctx, struct run *r)
{
    const char *name = ctx;

    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_look_review(r->attempts[i], name);
}

/* A file of reviews/; NULL: any. */
static void
on_review(void *ctx, const char *name)
{
    run_loop_each(ctx, look_review, (void *)(uintptr_t)name);
}

static void
on_reviews(void *ctx)
{
    struct run *r = ctx;

    watch_drain_names(&r->reviews, on_review, r);
    run_loop_settle(r);
}

static bool
watch_reviews(void *ctx)
{
    struct run *r = ((struct run *)ctx)->root;
    struct buf path = { 0 };
    struct err e;
    bool is_watched = r->reviews.fd >= 0;

    state_dir_path(&r->p->state, &path, "reviews");
    if (!is_watched && !buf_failed(&path))
        is_watched = watch_open_writes(&r->reviews, path.p, &e) == ST_OK &&
                     loop_on_readable(r->loop, r->reviews.fd, on_reviews, r, &e);
    buf_release(&path);
    return is_watched;
}

/* A child that was reaped. */
struct reaped {
    pid_t pid;
    int wait_status;
    bool is_taken;
};

static void
take_reaped(void *ctx, struct run *r)
{
    struct reaped *x = ctx;

    for (size_t i = 0; !x->is_taken && i < r->p->team.n_phases; i++)
        if (r->attempts[i] && attempt_owns(r->attempts[i], x->pid)) {
            x->is_taken = true;
            attempt_reaped(r->attempts[i], x->wait_status);
        }
    if (!x->is_taken)
        x->is_taken = notifier_exited(r->notifier, x->pid, x->wait_status);
}

static void
on_reaped(void *ctx, pid_t pid, int wait_status)
{
    run_loop_each(ctx, take_reaped, &(struct reaped){ .pid = pid, .wait_status = wait_status });
}

static void
check_gone(void *ctx, struct run *r)
{
    (void)ctx;
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_check_gone(r->attempts[i]);
}

static void
on_child(void *ctx)
{
    struct run *r = ctx;

    proc_reap(on_reaped, r);
    run_loop_each(r, check_gone, NULL);
    run_loop_settle(r);
}

static void
on_cancel(void *ctx)
{
    struct run *r = ctx;

    if (r->is_over)
        r->late_at_ms = clock_mono_ms(); /* only notifiers are waited for */
    else if (!r->is_cancelled)
        run_loop_cancel(r);
    run_loop_settle(r);
}

static void
kill_attempts(void *ctx, struct run *r)
{
    (void)ctx;
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (r->attempts[i])
            attempt_kill(r->attempts[i]);
}

/* A second signal ends the grace period. */
static void
on_interrupt(void *ctx)
{
    struct run *r = ctx;

    if (r->is_cancelled)
        run_loop_each(r, kill_attempts, NULL);
    on_cancel(ctx);
}

static void
on_tick(void *ctx)
{
    struct run *r = ctx;

    progress_tick(r->progress);
    loop_drop(r->tick);
    r->tick = loop_after(r->loop, TICK_MS, on_tick, r, NULL);
}

static void
on_resize(void *ctx)
{
    progress_tick(((struct run *)ctx)->progress);
}

/* ---- a run, from its lock to its last line ---- */

/* Children from before the run: a program that called exec may have left some. */
static void
find_relatives(struct run *r)
{
    struct buf text = { 0 };
    char *end;

    r->knows_relatives =
        path_read_file(AT_FDCWD, "/proc/thread-self/children", &text, NULL) == ST_OK;
    r->relatives = calloc(text.len / 2 + 1, sizeof *r->relatives);
    if (!r->relatives)
        r->knows_relatives = false;
    for (const char *at = text.p ? text.p : ""; r->knows_relatives; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || pid <= 0)
            break;
        r->relatives[r->n_relatives++] = (pid_t)pid;
    }
    buf_release(&text);
}

static void
on_transition(void *ctx, const struct buf *request)
{
    hub_publisher_add(((struct run *)ctx)->publisher, request);
}

/* Transitions become signals of the user's hub. A run needs no hub: without one it says so. */
static enum status
begin_telling(struct run *r, struct err *e)
{
    struct buf config = { 0 };
    struct err why;
    enum status s = run_signals_init(&r->signals, r->p, e);

    if (!s)
        s = phase_leases_init(&r->leases, r->p, e);
    if (s)
        return s;
    if (r->sub)
        r->publisher = r->root->publisher;
    else if (path_config(&config, &why) == ST_OK)
        r->publisher = hub_publisher_new(config.p, &why);
    buf_release(&config);
    if (!r->publisher && !r->sub)
        on_note(r, SIZE_MAX, why.text);
    r->signals.run_id = r->run_id;
    r->signals.ctx = r;
    r->signals.tell = r->publisher ? on_transition : NULL;
    return ST_OK;
}

/* Publishes the rest of the signals, for a short while. */
static void
end_telling(struct run *r)
{
    struct buf refused = { 0 };
    struct err why;

    hub_publisher_go(r->publisher);
    if (hub_publisher_end(r->publisher, &refused, &why) != ST_OK)
        on_note(r, SIZE_MAX, why.text);
    tell_refused(r, &refused);
    buf_release(&refused);
    r->publisher = NULL;
    r->signals.tell = NULL;
}

/* Those of all levels; *n_teams counts the teams that are phases. */
static size_t
count_phases(const struct plan *p, size_t *n_teams)
{
    size_t n = p->team.n_phases;

    for (size_t i = 0; p->subs && i < p->team.n_phases; i++)
        if (p->subs[i]) {
            ++*n_teams;
            n += count_phases(p->subs[i], n_teams);
        }
    return n;
}

/* Without files a run can neither go on nor be stopped: it is not begun. */
static enum status
take_files(const struct plan *p, const struct run_options *o, struct err *e)
{
    size_t n_teams = 0, n = count_phases(p, &n_teams);
    size_t most = o->jobs && (size_t)o->jobs < n ? (size_t)o->jobs : n;
    size_t wanted = FILES_OWN + FILES_PHASE * most + FILES_TEAM * n_teams;
    size_t has = proc_raise_files(wanted);

    if (has >= wanted || (o->is_resume && has >= FILES_OWN + FILES_PHASE))
        return ST_OK;
    if (has < FILES_OWN + FILES_PHASE)
        return err_set(e, ST_FAILED, "a run opens up to %d files, and may open %zu: ulimit -n %zu",
                       FILES_OWN + FILES_PHASE, has, wanted);
    return err_set(
        e, ST_FAILED,
        "%zu phases may run at a time, which takes %zu open files, and the limit is %zu: "
        "say --jobs %zu, or ulimit -n %zu",
        most, wanted, has, (has - FILES_OWN) / FILES_PHASE, wanted);
}

static bool
make_lists(struct run *r)
{
    size_t n = r->p->team.n_phases + 1;

    r->attempts = calloc(n, sizeof *r->attempts);
    r->fresh = calloc(2 * n, sizeof *r->fresh);
    r->dead = calloc(2 * n, sizeof *r->dead);
    r->waits = calloc(n, sizeof *r->waits);
    r->is_stopped = calloc(n, sizeof *r->is_stopped);
    r->n_notified = calloc(n, sizeof *r->n_notified);
    r->n_progress = calloc(n, sizeof *r->n_progress);
    r->floods = calloc(n, sizeof *r->floods);
    r->published = calloc(n, sizeof *r->published);
    r->spending = calloc(n, sizeof *r->spending);
    if (r->p->subs)
        r->kids = calloc(n, sizeof(struct run *));
    return r->attempts && r->fresh && r->dead && r->waits && r->is_stopped && r->n_notified &&
           r->n_progress && r->floods && r->published && r->spending && (r->kids || !r->p->subs) &&
           ledger_init(&r->ledger, r->p->team.n_phases);
}

enum status
run_loop_setup(struct run *r, struct err *e)
{
    struct run *root = r->root;
    struct buf signals = { 0 };

    if (!make_lists(r) ||
        !(r->notifier = notifier_new(&(struct notifier_host){ .ctx = r,
                                                              .plan = r->p,
                                                              .mask = &root->mask,
                                                              .run_id = r->run_id,
                                                              .on_note = on_note,
                                                              .on_failure = on_notify_failure })))
        return err_nomem(e);
    progress_ledger(r->progress, &r->ledger);
    r->loop = root->loop;
    r->host = (struct attempt_host){ .ctx = r,
                                     .plan = r->p,
                                     .reviews = &root->p->state,
                                     .loop = r->loop,
                                     .run_id = r->run_id,
                                     .panes = root->panes,
                                     .mask = &root->mask,
                                     .on_line = on_line,
                                     .on_result = on_result,
                                     .on_note = on_note,
                                     .on_gone = on_gone,
                                     .settle = on_settle,
                                     .watch_reviews = watch_reviews,
                                     .known = known };
    enum status s = state_dir_mkdir(&r->p->state, "signals", e);
    state_dir_path(&r->p->state, &signals, "signals");
    if (!s)
        s = buf_status(&signals, "the path", e);
    if (!s)
        s = watch_open_writes(&r->watch, signals.p, e);
    buf_release(&signals);
    if (!s && !(r->watching = loop_on_readable(r->loop, r->watch.fd, on_signals, r, e)))
        s = ST_IO;
    return s ? s : begin_telling(r, e);
}

/* What all runs of the tree share. */
static enum status
setup(struct run *r, struct plan *p, const struct run_options *o, struct err *e)
{
    bool is_live = term_is_tty(STDOUT_FILENO) && !o->is_json && !o->is_headless && !o->on_begun;

    r->root = r;
    r->p = p;
    r->o = o;
    settings_add_secrets(&r->mask, settings_get(&p->settings, "agents"), "agents");
    enum status s = mask_build(&r->mask, e);
    if (s)
        return s;
    r->loop = loop_new(e);
    if (!r->loop)
        return ST_IO;
    if (o->is_tmux && !(r->panes = panes_new(&(struct panes_host){
                            .ctx = r, .plan = p, .loop = r->loop, .on_note = on_pane_note })))
        return err_nomem(e);
    r->progress = progress_new(p,
                               o->on_begun  ? PROGRESS_QUIET
                               : o->is_json ? PROGRESS_JSON
                               : is_live    ? PROGRESS_LIVE
                                            : PROGRESS_LINES,
                               r->loop, e);
    if (!r->progress)
        return ST_IO;
    if (!loop_on_signal(r->loop, SIGCHLD, on_child, r, e) ||
        !loop_on_signal(r->loop, SIGINT, on_interrupt, r, e) ||
        !loop_on_signal(r->loop, SIGTERM, on_cancel, r, e) ||
        !loop_on_signal(r->loop, SIGHUP, on_cancel, r, e))
        s = ST_IO;
    if (!s && is_live)
        r->tick = loop_after(r->loop, TICK_MS, on_tick, r, e);
    if (!s && is_live && !loop_on_signal(r->loop, SIGWINCH, on_resize, r, e))
        s = ST_IO;
    signal(SIGPIPE, SIG_IGN); /* the reader of our output may be gone */
    find_relatives(r);
    proc_be_subreaper();
    return s ? s : run_loop_setup(r, e);
}

void
run_loop_teardown(struct run *r)
{
    for (size_t i = 0; r->attempts && i < r->p->team.n_phases; i++)
        attempt_free(r->attempts[i]);
    for (size_t i = 0; i < r->n_dead; i++)
        attempt_free(r->dead[i]);
    for (size_t i = 0; r->kids && i < r->p->team.n_phases; i++)
        subrun_free(r->kids[i]);
    if (r->sub && r->loop) {
        loop_drop(r->sub->deadline);
        loop_drop(r->watching);
    }
    notifier_free(r->notifier);
    if (!r->sub) {
        panes_free(r->panes);
        progress_free(r->progress);
        loop_free(r->loop);
        mask_release(&r->mask);
    }
    watch_close(&r->watch);
    watch_close(&r->reviews);
    sched_free(r->sched);
    journal_close(&r->journal);
    free(r->attempts);
    free(r->fresh);
    free(r->dead);
    free(r->waits);
    free(r->is_stopped);
    free(r->n_notified);
    free(r->n_progress);
    free(r->floods);
    free(r->published);
    free(r->spending);
    free(r->kids);
    free(r->late);
    ledger_release(&r->ledger);
    run_signals_release(&r->signals);
    phase_leases_release(&r->leases);
    free(r->pids);
    free(r->relatives);
    free(r->batch);
    arena_release(&r->texts);
    if (r->dir >= 0)
        close(r->dir);
}

static void
tell_end(struct run *r, enum run_status status)
{
    struct buf next = { 0 };

    run_notices_next(r, status, &next);
    progress_end(r->progress, r->sched,
                 &(struct progress_end){ .status = status,
                                         .reason = finish_reason(r),
                                         .next = next.p && !buf_failed(&next) ? next.p : "" });
    buf_release(&next);
}

enum status
run_pipeline(struct plan *p, const struct run_options *o, enum run_status *end_status,
             struct err *e)
{
    struct run r = { .journal.log.fd = -1, .watch.fd = -1, .reviews.fd = -1, .dir = -1 };
    int lock = -1;
    struct lock_holder holder;
    enum status s = take_files(p, o, e);

    if (!s)
        s = lockfile_take(&p->state, "run", &lock, &holder, e);
    if (s)
        return s;
    *end_status = RUN_ACTIVE;
    s = path_open_dir_at(p->state.dir, "run", false, &r.dir, e);
    if (!s)
        s = setup(&r, p, o, e);
    if (!s)
        s = start_run(&r, r.dir, end_status, e);
    if (!s)
        sleeping_end(&p->state);
    if (!s && *end_status == RUN_ACTIVE) {
        run_loop_settle(&r);
        if (o->on_begun && !r.is_mute)
            o->on_begun(o->ctx, r.run_id);
        while (!s && !r.is_over && !r.is_asleep)
            s = loop_run(r.loop, e);
        watch_stop(&r.watch);
        if (!s && !r.is_asleep)
            s = finish_run(&r, end_status, e);
    } else if (!s) {
        finish_again(&r, *end_status);
        progress_unlog(r.progress);
    }
    if (!s && !r.is_asleep)
        tell_end(&r, *end_status);
    if (!s && *end_status == RUN_FAILED)
        err_say(e, "%s%s", finish_reason(&r),
                r.is_mute && r.failed == ST_IO ? ": cliq run --resume goes on when that is mended"
                                               : "");
    journal_close(&r.journal);
    if (lock >= 0)
        close(lock); /* before the end is printed: its reader may start the next run */
    if (!s && r.is_asleep)
        run_sleep_done(&r);
    end_telling(&r);
    if (r.progress)
        progress_drain(r.progress, r.is_cancelled ? DRAIN_MS : -1);
    if (r.p)
        run_loop_teardown(&r);
    return s;
}
