#include "run/replay.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the whole of it ---- */

static bool
is_busy(enum phase_state s)
{
    return s == PS_STARTING || s == PS_RUNNING;
}

static bool
make_room(struct replay *p)
{
    ledger_release(&p->ledger);
    p->sched = sched_new(p->team, &p->head.options);
    p->started_ms = calloc(p->team->n_phases + 1, sizeof *p->started_ms);
    p->ended_ms = calloc(p->team->n_phases + 1, sizeof *p->ended_ms);
    p->words = calloc(p->team->n_phases + 1, sizeof *p->words);
    return ledger_init(&p->ledger, p->team->n_phases) && p->sched && p->started_ms && p->ended_ms &&
           p->words;
}

static const char *
keep_text(struct replay *p, const char *text)
{
    return text ? arena_dup(&p->head.arena, text, strlen(text)) : NULL;
}

static void
keep_words(struct replay *p, const struct sched_event *ev)
{
    struct replay_words *w = &p->words[ev->phase];

    if (ev->kind == EV_STARTED) {
        *w = (struct replay_words){ .agent = keep_text(p, ev->agent) };
    } else if (ev->kind == EV_SKIP) {
        *w = (struct replay_words){ 0 };
    } else if (ev->kind == EV_RESULT) {
        w->text = keep_text(p, ev->text);
        w->is_good = ev->outcome == OUT_COMPLETE &&
                     (ev->verdict == VERDICT_NONE || ev->verdict == VERDICT_PASS);
    }
}

static void
keep_times(struct replay *p, const struct sched_event *ev, int64_t at_ms)
{
    p->last_ms = at_ms > p->last_ms ? at_ms : p->last_ms;
    switch (ev->kind) {
    case EV_RERUN:
        if (p->head.has_end && p->head.end_ms > p->began_ms)
            p->spent_ms += p->head.end_ms - p->began_ms;
        p->began_ms = at_ms;
        break;
    case EV_BEGIN:
        p->began_ms = at_ms;
        break;
    case EV_STARTED:
        p->started_ms[ev->phase] = at_ms;
        p->ended_ms[ev->phase] = 0;
        break;
    case EV_RESULT:
    case EV_SKIP:
        p->ended_ms[ev->phase] = at_ms;
        break;
    default:
        break;
    }
}

/* Nothing of a run is there after its end. Who ends it from outside (cancel.c) knows no phases,
 * and writes no line for each. */
static void
close_all(struct replay *p)
{
    for (size_t i = 0; i < p->team->n_phases; i++) {
        const struct sched_phase *ph = sched_phase(p->sched, i);
        if (is_busy(ph->state) || ph->is_there)
            sched_apply(
                p->sched,
                &(struct sched_event){ .kind = EV_GONE, .phase = i, .attempt = ph->attempt }, NULL);
    }
}

/* The run ended here. With the workflow that it ran with, the scheduler says so, too, unless it was
 * stopped from outside. */
static void
take_end(struct replay *p)
{
    if (!p->is_cancelled && !sched_close(p->sched, p->head.end))
        p->leads_on = true;
    close_all(p);
}

bool
replay_take(struct replay *p, const struct sched_event *ev, int64_t at_ms)
{
    if (!p->sched && !make_room(p)) /* the first event: the head is known now */
        return false;
    if (p->head.has_end) {
        take_end(p);
        if (ev->kind == EV_RESULT || ev->kind == EV_GONE)
            return true; /* told late of what the end ended */
    }
    keep_times(p, ev, at_ms);
    keep_words(p, ev);
    ledger_take(&p->ledger, ev);
    if (ev->kind == EV_RERUN) {
        p->below = keep_text(p, ev->text);
        p->below_phase = ev->phase;
        p->below_attempt = sched_phase(p->sched, ev->phase)->attempt + 1;
    }
    bool is_stop = ev->kind == EV_CANCEL || ev->kind == EV_ABORT;
    if (is_stop)
        p->is_cancelled = true;
    if (ev->kind == EV_RERUN)
        p->is_cancelled = false;
    /* a cancel is never out of place: it may be the second, or come when all was done */
    return sched_apply(p->sched, ev, NULL) || is_stop;
}

static bool
take(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    return replay_take(ctx, ev, at_ms);
}

/* A journal that does not fit the team tells nothing else, but whether it ended. */
static bool
is_ended(int dir)
{
    struct log_reader r;
    struct log_record rec;
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK; /* it may be anything */
    int fd = SYS_RETRY(sys->openat(dir, JOURNAL_NAME, flags, 0));

    if (fd < 0)
        return false;
    log_reader_init(&r, fd, 0);
    bool is_it = log_prev(&r, &rec) && json_eq(json_get(rec.json, "ev"), "end");
    log_reader_release(&r);
    close(fd);
    return is_it;
}

enum status
replay_load(struct replay *p, int dir, const struct team *t, struct err *e)
{
    *p = (struct replay){ .team = t };
    enum status s = journal_replay(dir, t, take, p, &p->head, e);
    if (s == ST_INVALID)
        p->head.has_end = is_ended(dir);
    else if (!s && p->head.has_end)
        take_end(p);
    return s;
}

/* ---- as much of it as can be read ---- */

/* It began, so what it waited for was over, whatever line of that is missing. */
static void
sketch_start(struct replay *p, size_t phase)
{
    const struct phase *ph = &p->team->phases[phase];

    for (size_t d = 0; p->dag && d < ph->n_depends_on; d++) {
        struct sched_phase *before = &p->sketch[ph->deps[d]];
        if (is_busy(before->state) || before->state == PS_WAITING)
            before->state = PS_DONE;
    }
    p->sketch[phase].state = PS_RUNNING;
}

static enum phase_state
state_after(const struct replay *p, const struct sched_event *ev)
{
    const struct phase *ph = &p->team->phases[ev->phase];

    if (ev->outcome != OUT_COMPLETE)
        return PS_FAILED;
    if (ph->type != PHASE_GATE || ev->verdict == VERDICT_PASS)
        return PS_DONE;
    return ev->verdict == VERDICT_ROUTE && p->sketch[ev->phase].iteration < ph->max_iterations
               ? PS_ROUTING
               : PS_FAILED;
}

static void
sketch_rerun(struct replay *p, size_t phase)
{
    uint64_t *set = calloc(dag_words(p->team->n_phases) + 1, sizeof *set);

    if (set && p->dag)
        dag_successors(p->dag, phase, set);
    for (size_t i = 0; i < p->team->n_phases; i++) {
        if (i == phase || (set && bit_has(set, i))) {
            p->sketch[i].state = PS_WAITING;
            p->sketch[i].iteration = 1;
        }
    }
    free(set);
}

static bool
sketch(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    struct replay *p = ctx;
    struct sched_phase *ph = &p->sketch[ev->phase];

    keep_times(p, ev, at_ms);
    keep_words(p, ev);
    ledger_take(&p->ledger, ev);
    if (ev->kind == EV_STARTED) {
        sketch_start(p, ev->phase);
        ph->attempt = ev->attempt;
    } else if (ev->kind == EV_RESULT) {
        ph->state = state_after(p, ev);
        ph->iteration += ph->state == PS_ROUTING;
    } else if (ev->kind == EV_SKIP) {
        ph->state = PS_SKIPPED;
        ph->attempt++;
        ph->skips++;
    } else if (ev->kind == EV_DUE || (ev->kind == EV_GONE && ph->state == PS_RUNNING)) {
        ph->state = PS_WAITING;
    } else if (ev->kind == EV_RERUN) {
        sketch_rerun(p, ev->phase);
    }
    return true;
}

static void
count_bad(void *ctx, uint64_t line, const char *problem)
{
    struct replay *p = ctx;

    (void)line, (void)problem; /* of the first one replay_load told */
    p->n_bad++;
}

static enum status
look_again(struct replay *p, int dir, struct err *e)
{
    size_t n = p->team->n_phases;
    struct journal_taker taker = { .event = sketch, .bad = count_bad, .ctx = p };

    p->bad_line = p->head.bad_line;
    snprintf(p->problem, sizeof p->problem, "%s", p->head.problem);
    journal_head_release(&p->head);
    p->dag = dag_new(p->team);
    p->sketch = calloc(n + 1, sizeof *p->sketch);
    p->spent_ms = p->began_ms = p->last_ms = 0;
    if (!p->sketch || (!p->sched && !make_room(p)) || !p->words)
        return err_nomem(e);
    memset(p->started_ms, 0, n * sizeof *p->started_ms);
    memset(p->ended_ms, 0, n * sizeof *p->ended_ms);
    memset(p->words, 0, n * sizeof *p->words); /* they were in the arena of the head */
    ledger_release(&p->ledger);
    if (!ledger_init(&p->ledger, n))
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        p->sketch[i].iteration = 1;
    enum status s = journal_look(dir, p->team, &taker, &p->head, e);
    for (size_t i = 0; !s && p->head.has_end && i < n; i++)
        if (p->sketch[i].state == PS_RUNNING)
            p->sketch[i].state = PS_WAITING;
    return s;
}

enum status
replay_look(struct replay *p, int dir, const struct team *t, struct err *e)
{
    struct err again;
    enum status s = replay_load(p, dir, t, e);

    if (s != ST_INVALID || !p->head.bad_line)
        return s;
    /* nothing at all to be read: what was said first stands */
    return look_again(p, dir, &again) ? ST_INVALID : ST_OK;
}

int64_t
replay_duration(const struct replay *p, int64_t now_ms)
{
    int64_t end = p->head.has_end ? p->head.end_ms : now_ms;

    return p->spent_ms + (end > p->began_ms ? end - p->began_ms : 0);
}

const struct sched_phase *
replay_phase(const struct replay *p, size_t phase)
{
    return p->sketch ? &p->sketch[phase] : sched_phase(p->sched, phase);
}

const char *
replay_reason(const struct replay *p)
{
    /* the reason given then: the workflow may have been corrected since */
    bool is_told = p->sketch || (p->head.has_end && p->head.reason);

    return is_told ? p->head.reason : sched_reason(p->sched);
}

void
replay_release(struct replay *p)
{
    sched_free(p->sched);
    dag_free(p->dag);
    free(p->sketch);
    free(p->started_ms);
    free(p->ended_ms);
    free(p->words);
    ledger_release(&p->ledger);
    journal_head_release(&p->head);
    *p = (struct replay){ 0 };
}
