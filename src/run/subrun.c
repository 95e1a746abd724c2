#include "run/subrun.h"

#include "base/clock.h"
#include "base/path.h"
#include "run/live_view.h"
#include "run/replay.h"
#include "run/team_phase.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_TOLD = 5 }; /* phases at work, in one text */

bool
subrun_is_open(const struct run *r)
{
    return r->sub->state == SUBRUN_OPEN;
}

/* ---- making ---- */

static void
name_attempt(char *to, size_t size, const char *run_id, const struct plan *p, size_t phase,
             unsigned attempt)
{
    snprintf(to, size, "%s/%s.%u", run_id, p->team.phases[phase].name, attempt);
}

/* In place of the one of the attempt before. */
static enum status
make(struct run **out, struct run *above, size_t phase, unsigned attempt, struct err *e)
{
    struct run *r = calloc(1, sizeof *r);

    *out = NULL;
    if (!r || !(r->sub = calloc(1, sizeof *r->sub))) {
        free(r);
        return err_nomem(e);
    }
    r->journal.log.fd = r->watch.fd = r->reviews.fd = r->dir = -1;
    r->root = above->root;
    r->p = plan_sub(above->p, phase);
    r->o = above->o;
    *r->sub = (struct subrun){
        .above = above, .phase = phase, .attempt = attempt, .older = above->kids[phase]
    };
    name_attempt(r->sub->name, sizeof r->sub->name, above->run_id, above->p, phase, attempt);
    above->kids[phase] = *out = r;
    r->progress = progress_below(above->progress, phase, r->p);
    return r->progress ? ST_OK : err_nomem(e);
}

/* Its inputs; or, of a rerun within it, where it goes on. */
static enum status
prepare(struct run *r, struct err *e)
{
    const struct run *above = r->sub->above;

    if (above->below && above->below_phase == r->sub->phase &&
        above->below_attempt == r->sub->attempt) {
        r->sub->from = above->below;
        return ST_OK;
    }
    return team_phase_prepare(r->p, above->run_id, &r->sub->requirement, e);
}

enum status
subrun_prepare(struct run *above, size_t phase, unsigned attempt, struct err *e)
{
    struct run *r;
    enum status s = make(&r, above, phase, attempt, e);

    return s ? s : prepare(r, e);
}

void
subrun_free(struct run *r)
{
    while (r) {
        struct run *older = r->sub->older;
        run_pipeline_teardown(r);
        free(r->sub);
        free(r);
        r = older;
    }
}

void
subrun_drop(struct run *above, size_t phase)
{
    struct run *r = above->kids ? above->kids[phase] : NULL;

    if (r && r->sub->state == SUBRUN_NEW)
        r->sub->state = SUBRUN_CLOSED;
}

/* ---- its time ---- */

/* "no end after 2.0 s; at work: one, two" */
static void
say_late(const struct run *r, int64_t limit_ms, struct buf *to)
{
    size_t n = 0;

    buf_adds(to, "no end after ");
    live_view_elapsed(to, limit_ms);
    for (size_t i = 0; i < r->p->team.n_phases; i++)
        if (sched_phase(r->sched, i)->state == PS_RUNNING && n++ < NAMES_TOLD)
            buf_addf(to, "%s%s", n == 1 ? "; at work: " : ", ", run_loop_phase(r, i)->name);
    if (n > NAMES_TOLD)
        buf_addf(to, " and %zu more", n - NAMES_TOLD);
}

static void
on_timeout(void *ctx)
{
    struct run *r = ctx;
    struct run *above = r->sub->above;
    struct buf text = { 0 };

    loop_drop(r->sub->deadline);
    r->sub->deadline = NULL;
    if (r->sub->state != SUBRUN_OPEN || r->is_over || r->sub->has_answered)
        return;
    say_late(r, run_loop_timeout(above, r->sub->phase), &text);
    r->sub->has_answered = true;
    run_loop_feed(above, (struct sched_event){ .kind = EV_RESULT,
                                               .phase = r->sub->phase,
                                               .attempt = r->sub->attempt,
                                               .outcome = OUT_TIMEOUT,
                                               .text = buf_failed(&text) ? NULL : text.p });
    buf_release(&text);
    subrun_stop(r);
    run_loop_settle(r);
}

static void
set_deadline(struct run *r, int64_t left_ms)
{
    r->sub->due_ms = clock_wall_ns() / 1000000 + left_ms;
    r->sub->deadline =
        loop_after(r->loop, left_ms > 0 ? (uint64_t)left_ms : 0, on_timeout, r, NULL);
}

int64_t
subrun_due_ms(const struct run *r)
{
    return r->sub->deadline ? r->sub->due_ms : INT64_MAX;
}

/* ---- beginning ---- */

static enum status
open_run_dir(struct run *r, struct err *e)
{
    return r->dir >= 0 ? ST_OK : state_dir_open_dir(&r->p->state, "run", true, &r->dir, e);
}

/* What was begun is taken back: above hears of it as of an attempt that could not start. */
static void
fail(struct run *r, enum status s, const struct err *e)
{
    struct run *above = r->sub->above;

    r->sub->state = SUBRUN_CLOSED;
    if (s == ST_IO) {
        run_loop_abort(r->root, s, e);
        run_loop_give_up(above, r->sub->phase, r->sub->attempt);
    } else {
        run_loop_fail(above, r->sub->phase, r->sub->attempt, e->text);
    }
}

static enum status
begin_anew(struct run *r, struct err *e)
{
    enum status s = start_sub(r, e);

    if (!s)
        s = team_phase_lay_out(r->p, r->sub->requirement, e);
    if (!s)
        run_loop_feed(r, (struct sched_event){ .kind = EV_BEGIN });
    return s;
}

/* The run that ended in the frame, of any attempt of the phase in that run above. */
static enum status
load_past(struct replay *replay, const struct plan *p, const char *run_id, struct err *e)
{
    char name[sizeof((struct subrun *)0)->name];
    int dir;
    enum status s = state_dir_open_dir(&p->state, "run", false, &dir, e);

    *replay = (struct replay){ 0 };
    if (s)
        return s;
    s = replay_load(replay, dir, &p->team, e);
    close(dir);
    int n =
        snprintf(name, sizeof name, "%s/%s.", run_id, p->above->team.phases[p->above_phase].name);
    if (!s && (!replay->head.above || strncmp(replay->head.above, name, (size_t)n) != 0 ||
               !replay->head.has_end))
        s = err_set(e, ST_NOT_FOUND, "the team of phase %s has not run",
                    p->above->team.phases[p->above_phase].name);
    return s;
}

enum status
subrun_check_past(const struct plan *p, size_t phase, const char *run_id, struct err *e)
{
    const char *name = p->team.phases[phase].name;
    struct replay past;
    struct err why;
    enum status s = load_past(&past, plan_sub(p, phase), run_id, &why);

    if (s == ST_NOT_FOUND)
        err_say(e, "the team of phase %s has not run to an end in this run: cliq retry %s runs it",
                name, name);
    else if (s)
        err_say(e, "phase %s: %s", name, why.text);
    replay_release(&past);
    return s;
}

/* A team further down that has not run is begun anew. */
static enum status
begin_from(struct run *r, struct err *e)
{
    struct replay past;
    enum status s = load_past(&past, r->p, r->sub->above->run_id, e);

    if (!s) {
        s = start_sub_from(r, &past, r->sub->from, e);
    } else if (s == ST_NOT_FOUND) {
        s = team_phase_prepare(r->p, r->sub->above->run_id, &r->sub->requirement, e);
        if (!s)
            s = begin_anew(r, e);
    }
    replay_release(&past);
    return s;
}

bool
subrun_begin(struct run *r)
{
    struct run *above = r->sub->above;
    struct err e;

    if (r->sub->state != SUBRUN_NEW)
        return false;
    if (above->is_stopped[r->sub->phase]) {
        run_loop_give_up(above, r->sub->phase, r->sub->attempt);
        return true;
    }
    r->sub->state = SUBRUN_OPEN;
    enum status s = open_run_dir(r, &e);
    if (!s)
        s = run_pipeline_setup(r, &e);
    if (!s)
        s = r->sub->from ? begin_from(r, &e) : begin_anew(r, &e);
    if (s)
        fail(r, s, &e);
    else
        set_deadline(r, run_loop_timeout(above, r->sub->phase));
    return true;
}

/* ---- resuming ---- */

/* The journal below, when it is of that attempt. ST_NOT_FOUND: it has none. */
static enum status
load(struct replay *replay, const struct plan *p, const char *name, struct err *e)
{
    int dir;
    enum status s = state_dir_open_dir(&p->state, "run", false, &dir, e);

    *replay = (struct replay){ 0 };
    if (s)
        return s;
    s = replay_load(replay, dir, &p->team, e);
    close(dir);
    bool is_ours = replay->head.above && strcmp(replay->head.above, name) == 0;
    struct err why = *e;
    if (s == ST_INVALID && (is_ours || !replay->head.above))
        err_say(e, "phase %.*s: %s", (int)(strlen(p->way) - 1), p->way, why.text);
    else if (s != ST_IO && !is_ours)
        s = ST_NOT_FOUND;
    return s;
}

enum status
subrun_check(const struct plan *p, const struct replay *replay, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && p->subs && i < p->team.n_phases; i++) {
        const struct sched_phase *ph = sched_phase(replay->sched, i);
        char name[sizeof((struct subrun *)0)->name];
        struct replay below;
        if (!p->subs[i] || (ph->state != PS_RUNNING && !ph->is_there))
            continue;
        name_attempt(name, sizeof name, replay->head.run_id, p, i, ph->attempt);
        s = load(&below, p->subs[i], name, e);
        if (!s && !below.head.has_end)
            s = subrun_check(p->subs[i], &below, e);
        else if (s == ST_NOT_FOUND)
            s = ST_OK;
        replay_release(&below);
    }
    return s;
}

/* It has ended below: only above does not know it. */
static void
take_end(struct run *r, struct replay *replay)
{
    snprintf(r->run_id, sizeof r->run_id, "%s", replay->head.run_id);
    r->sched = replay->sched;
    replay->sched = NULL;
    ledger_release(&r->ledger);
    r->ledger = replay->ledger;
    replay->ledger = (struct ledger){ 0 };
    r->is_over = r->sub->was_over = true;
    r->sub->state = SUBRUN_OPEN;
    spending_pass_on(r);
}

static enum status
go_on(struct run *r, struct replay *replay, struct err *e)
{
    enum status s = open_run_dir(r, e);

    if (!s)
        s = run_pipeline_setup(r, e);
    if (s)
        return s;
    r->sub->state = SUBRUN_OPEN;
    if (replay->head.has_end)
        take_end(r, replay);
    else
        s = start_sub_on(r, replay, e);
    return s;
}

void
subrun_resume(struct run *above, size_t phase, const struct sched_phase *ph, int64_t started_ms)
{
    struct run *r = NULL;
    struct replay replay = { 0 };
    struct err e;
    int64_t limit_ms = run_loop_timeout(above, phase);
    enum status s = make(&r, above, phase, ph->attempt, &e);

    if (!s)
        s = load(&replay, r->p, r->sub->name, &e);
    if (s == ST_NOT_FOUND && ph->state != PS_RUNNING) {
        run_loop_give_up(above, phase, ph->attempt); /* it never was */
    } else if (s == ST_NOT_FOUND) {
        s = prepare(r, &e);
        if (s)
            fail(r, s, &e);
    } else if (!s) {
        r->sub->has_answered = ph->state != PS_RUNNING;
        progress_event(above->progress, "resumed", phase, ph, NULL);
        s = go_on(r, &replay, &e);
        if (!s && !r->is_over)
            set_deadline(r, limit_ms - (clock_wall_ns() / 1000000 - started_ms));
    }
    if (s && r && r->sub->state != SUBRUN_CLOSED) {
        r->sub->state = SUBRUN_CLOSED;
        run_loop_abort(above->root, s, &e);
        run_loop_give_up(above, phase, ph->attempt);
    } else if (s && !r) {
        run_loop_abort(above->root, s, &e);
        run_loop_give_up(above, phase, ph->attempt);
    } else if (r && (above->is_stopped[phase] || r->sub->has_answered)) {
        subrun_stop(r);
    }
    replay_release(&replay);
}

/* ---- ending ---- */

void
subrun_stop(struct run *r)
{
    if (r->sub->state == SUBRUN_OPEN && !r->is_over && !r->is_cancelled)
        run_loop_cancel(r);
}

void
subrun_escalate(struct run *r, const char *why)
{
    if (r->sub->state != SUBRUN_OPEN || r->is_over)
        return;
    r->sub->is_hopeless = true;
    run_loop_feed(r, (struct sched_event){ .kind = EV_ESCALATE, .text = why });
}

/* The end of its journal, then the file for those who look on. */
static enum status
write_end(struct run *r, enum run_status how, struct err *e)
{
    enum status s = r->is_mute ? ST_IO : ST_OK;

    if (s)
        *e = r->why;
    if (!s)
        s = journal_add(&r->journal, r->batch, r->n_batch, e);
    if (!s)
        s = journal_end(&r->journal, how, sched_reason(r->sched), e);
    run_loop_forget(r);
    if (!s)
        finish_status(r, how);
    return s;
}

/* What above hears of it, once. */
static void
answer(struct run *r, enum run_status how)
{
    struct run *above = r->sub->above;
    size_t phase = r->sub->phase;
    bool was_stopped = above->is_stopped[phase] && how == RUN_CANCELLED;
    struct sched_event ev = { .kind = EV_RESULT,
                              .phase = phase,
                              .attempt = r->sub->attempt,
                              .outcome = how == RUN_COMPLETED ? OUT_COMPLETE : OUT_ERROR,
                              .text = how == RUN_COMPLETED   ? NULL
                                      : how == RUN_CANCELLED ? "its run was cancelled"
                                                             : sched_reason(r->sched),
                              .is_final = r->sub->is_hopeless || how == RUN_CANCELLED };

    if (!r->sub->has_answered && !was_stopped)
        run_loop_feed(above, ev);
    r->sub->has_answered = true;
    run_loop_feed(
        above, (struct sched_event){ .kind = EV_GONE, .phase = phase, .attempt = r->sub->attempt });
}

/* A watch that was stopped is closed some time later, when that takes no time (base/watch.h); not
 * at the end of the run, since a user has few of them. */
static void
forget_watch(struct run *r)
{
    struct run *root = r->root;
    struct watch **oldest = &root->stopped[root->n_stopped++ % RUN_STOPPED_WATCHES];

    watch_stop(&r->watch);
    if (*oldest)
        watch_close(*oldest);
    *oldest = &r->watch;
}

bool
subrun_close(struct run *r)
{
    enum run_status how = sched_status(r->sched);
    struct err e;
    enum status s = ST_OK;

    if (r->sub->state == SUBRUN_CLOSED)
        return false;
    r->sub->state = SUBRUN_CLOSED;
    loop_drop(r->sub->deadline);
    r->sub->deadline = NULL;
    loop_drop(r->watching);
    r->watching = NULL;
    forget_watch(r);
    if (!r->sub->was_over)
        s = write_end(r, how, &e);
    journal_close(&r->journal);
    if (!s && how == RUN_COMPLETED && !r->sub->has_answered)
        s = team_phase_hand_over(r->p, &e);
    if (!s && how == RUN_FAILED && r->failed == ST_IO) {
        s = ST_IO;
        e = r->why;
    }
    if (s) {
        run_loop_abort(r->root, s, &e);
        r->sub->has_answered = true; /* what it said is not written down: it is asked again */
    }
    answer(r, how);
    return true;
}
