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

#include "run/subrun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TIMEOUT_MS ((int64_t)3650 * 24 * 60 * 60 * 1000) /* of agents that wait for people */

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

void
run_loop_fail_to_prepare(struct run *r, const struct attempt_id *a, enum status s,
                         const struct err *e)
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
        run_loop_fail_to_prepare(r, &a, s, &e);
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

void
run_loop_tell_refused(struct run *r, struct buf *says)
{
    buf_addc(says, '\0');
    for (char *p = buf_failed(says) ? NULL : says->p, *end; p && (end = strchr(p, '\n'));
         p = end + 1) {
        *end = '\0';
        run_events_note(r, SIZE_MAX, p);
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
        run_loop_tell_refused(r, &refused);
    buf_release(&refused);
    run_loop_each(r, pump, NULL);
    run_sleep_try(r);
    progress_flush(r->progress);
}

void
run_loop_cancel(struct run *r)
{
    struct err e;

    r->is_cancelled = true;
    if (state_dir_replace(&r->p->state, "signals/_pipeline_status", "CANCELLED", 9, &e) != ST_OK)
        progress_event(r->progress, "note", SIZE_MAX, NULL, e.text);
    run_loop_feed(r, (struct sched_event){ .kind = EV_CANCEL });
}
