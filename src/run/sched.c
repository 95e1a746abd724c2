/*
 * sched - the state machine of a run; sched.h draws it.
 *
 * An event goes through two tables: what the run is doing (run_step), then what the
 * phase is doing (phase_step). The step changes states; settle() then does what has
 * become possible: errands end and begin, phases start, the run ends. Nothing here
 * looks at all phases on each event: what is ready is a bit set, kept by refresh().
 */
#include "run/sched_impl.h"

#include "base/utf8.h"
#include "run/file_conflicts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    BACKOFF_MS = 500,         /* before the first retry; doubled for each one after */
    BACKOFF_STEPS = 10,       /* then it stays; retries end at 5 */
    REASON_TEXT_MAX = 4 << 10 /* of what an agent said; the rest is in its log */
};

const char *
phase_state_name(enum phase_state s)
{
    static const char *const names[PS_STATES] = {
        [PS_WAITING] = "waiting", [PS_STARTING] = "starting", [PS_RUNNING] = "running",
        [PS_BACKOFF] = "backoff", [PS_ROUTING] = "routing",   [PS_DONE] = "done",
        [PS_SKIPPED] = "skipped", [PS_FAILED] = "failed",
    };
    assert(s < PS_STATES);
    return names[s];
}

const char *
run_status_name(enum run_status s)
{
    static const char *const names[] = {
        [RUN_ACTIVE] = "ACTIVE", [RUN_COMPLETED] = "COMPLETED", [RUN_ESCALATED] = "ESCALATED",
        [RUN_FAILED] = "FAILED", [RUN_CANCELLED] = "CANCELLED",
    };
    assert(s < sizeof names / sizeof names[0]);
    return names[s];
}

/* ---- actions ---- */

void
actions_release(struct actions *a)
{
    free(a->a);
    *a = (struct actions){ 0 };
}

/* Room for all that one event can lead to, so that no step fails half way. */
static bool
actions_reserve(struct actions *a, size_t more)
{
    if (!a || a->cap - a->n >= more)
        return true;
    size_t cap = a->cap * 2 > a->n + more ? a->cap * 2 : a->n + more;
    struct action *grown = realloc(a->a, cap * sizeof *grown);
    if (!grown)
        return false;
    a->a = grown;
    a->cap = cap;
    return true;
}

void
sched_act(struct sched *s, struct action a)
{
    if (!s->out)
        return;
    assert(s->out->n < s->out->cap);
    s->out->a[s->out->n++] = a;
}

/* ---- the state of a phase ---- */

/* Sets the bits that say what may happen to the phase. */
static void
refresh(struct sched *s, size_t p)
{
    const struct sched_node *n = &s->nodes[p];
    bool is_support = s->team->phases[p].is_support;
    bool is_at_rest = n->ph.state == PS_WAITING || n->ph.state == PS_FAILED;

    if (n->ph.state == PS_WAITING && n->pending == 0 && !n->ph.is_there &&
        (n->owner || !is_support))
        bit_add(s->ready, s->dag->rank[p]);
    else
        bit_drop(s->ready, s->dag->rank[p]);
    if (is_done(n->ph.state) || (is_support && !n->owner && is_at_rest))
        bit_add(s->idle, p);
    else
        bit_drop(s->idle, p);
}

/* Does q, in its present activation, wait for p? */
static bool
waits_for(const struct sched *s, size_t q, size_t p)
{
    const struct errand *owner = s->nodes[q].owner;

    return !owner || bit_has(owner->set, p);
}

static void
tell_successors(struct sched *s, size_t p, bool is_now_done)
{
    for (uint32_t k = s->dag->first[p]; k < s->dag->first[p + 1]; k++) {
        size_t q = s->dag->succ[k];
        if (!waits_for(s, q, p))
            continue;
        is_now_done ? s->nodes[q].pending-- : s->nodes[q].pending++;
        refresh(s, q);
    }
}

void
sched_set_state(struct sched *s, size_t p, enum phase_state to)
{
    struct sched_node *n = &s->nodes[p];
    enum phase_state from = n->ph.state;

    s->n_busy = s->n_busy - is_busy(from) + is_busy(to);
    s->n_backoff = s->n_backoff - (from == PS_BACKOFF) + (to == PS_BACKOFF);
    n->ph.state = to;
    if (is_done(from) != is_done(to)) {
        if (p < s->team->n_main)
            s->n_main_done = s->n_main_done - is_done(from) + is_done(to);
        tell_successors(s, p, is_done(to));
        errands_count(s, p, is_done(to));
    }
    refresh(s, p);
}

void
sched_set_owner(struct sched *s, size_t p, struct errand *owner)
{
    const struct phase *ph = &s->team->phases[p];
    struct sched_node *n = &s->nodes[p];

    n->owner = owner;
    n->pending = 0;
    for (size_t k = 0; k < ph->n_depends_on; k++)
        if (waits_for(s, p, ph->deps[k]) && !is_done(s->nodes[ph->deps[k]].ph.state))
            n->pending++;
    refresh(s, p);
}

void
sched_activate(struct sched *s, size_t p, struct errand *owner, bool is_routed)
{
    struct sched_phase *ph = &s->nodes[p].ph;

    ph->failures = 0;
    ph->iteration = 1;
    ph->is_routed = is_routed;
    sched_set_state(s, p, PS_WAITING);
    sched_set_owner(s, p, owner);
}

static void
set_there(struct sched *s, size_t p, bool is_there)
{
    struct sched_phase *ph = &s->nodes[p].ph;

    s->n_there = s->n_there - ph->is_there + is_there;
    ph->is_there = is_there;
    refresh(s, p);
}

static void
start(struct sched *s, size_t p)
{
    struct sched_node *n = &s->nodes[p];

    n->ph.attempt++;
    n->ph.is_stopped = false;
    sched_set_state(s, p, PS_STARTING);
    sched_act(s, (struct action){ .kind = ACT_START,
                                  .phase = p,
                                  .attempt = n->ph.attempt,
                                  .iteration = n->ph.iteration,
                                  .is_routed = n->ph.is_routed });
}

static void
stop(struct sched *s, size_t p)
{
    struct sched_node *n = &s->nodes[p];

    if (n->ph.is_stopped)
        return;
    n->ph.is_stopped = true;
    sched_act(s, (struct action){ .kind = ACT_STOP, .phase = p, .attempt = n->ph.attempt });
}

/* ---- ending ---- */

/* "what" or "what: text". */
static void
say(struct sched *s, const char *what, const char *text)
{
    buf_reset(&s->reason_text);
    buf_adds(&s->reason_text, what);
    if (text && *text) {
        buf_adds(&s->reason_text, *what ? ": " : "");
        buf_add(&s->reason_text, text, utf8_cut(text, strlen(text), REASON_TEXT_MAX));
    }
    s->reason = buf_failed(&s->reason_text) ? "out of memory" : s->reason_text.p;
}

/* From here on nothing starts. Retries that wait are dropped: should the run be taken up
 * again, they are due. */
static void
end_with(struct sched *s, enum run_status how, bool is_stopping)
{
    s->ending = how;
    s->is_stopping |= is_stopping;
    for (size_t i = 0; i < s->n; i++) {
        const struct sched_node *n = &s->nodes[i];
        if (n->ph.state == PS_BACKOFF)
            sched_set_state(s, i, PS_WAITING);
        if (s->is_stopping && (n->ph.state == PS_RUNNING || n->ph.is_there))
            stop(s, i);
    }
}

/* The first reason stands. */
static void
escalate(struct sched *s, const char *what, const char *text)
{
    if (s->ending != RUN_ACTIVE)
        return;
    say(s, what, text);
    end_with(s, RUN_ESCALATED, s->o.is_fail_fast);
}

#define escalatef(s, text, ...)                                                                    \
    do {                                                                                           \
        struct buf what_ = { 0 };                                                                  \
        buf_addf(&what_, __VA_ARGS__);                                                             \
        escalate(s, buf_failed(&what_) ? "out of memory" : what_.p, text);                         \
        buf_release(&what_);                                                                       \
    } while (0)

/* ---- steps of a phase; false: it cannot happen ---- */

typedef bool step_fn(struct sched *s, const struct sched_event *ev);

static const char *
name_of(const struct sched *s, size_t p)
{
    return s->team->phases[p].name;
}

static bool
ignore(struct sched *s, const struct sched_event *ev)
{
    (void)s, (void)ev;
    return false;
}

static bool
started(struct sched *s, const struct sched_event *ev)
{
    sched_set_state(s, ev->phase, PS_RUNNING);
    set_there(s, ev->phase, true);
    if (s->is_stopping)
        stop(s, ev->phase);
    return true;
}

static bool
skipped(struct sched *s, const struct sched_event *ev)
{
    sched_set_state(s, ev->phase, PS_SKIPPED);
    s->nodes[ev->phase].ph.skips++;
    return true;
}

static bool
due(struct sched *s, const struct sched_event *ev)
{
    sched_set_state(s, ev->phase, PS_WAITING); /* and settle() starts it */
    return true;
}

static bool
gone(struct sched *s, const struct sched_event *ev)
{
    bool was_there = s->nodes[ev->phase].ph.is_there;

    set_there(s, ev->phase, false);
    return was_there;
}

/* Its result comes, or came and was journalled later; but what we stopped owes none. */
static bool
gone_running(struct sched *s, const struct sched_event *ev)
{
    if (!s->nodes[ev->phase].ph.is_stopped)
        return gone(s, ev);
    set_there(s, ev->phase, false);
    sched_set_state(s, ev->phase, PS_WAITING);
    return true;
}

/* The run is ending, and the driver did not begin what it was told to start. */
static bool
gone_starting(struct sched *s, const struct sched_event *ev)
{
    if (s->ending == RUN_ACTIVE)
        return false;
    sched_set_state(s, ev->phase, PS_WAITING);
    return true;
}

static int64_t
backoff_ms(unsigned failures)
{
    return (int64_t)BACKOFF_MS << (failures < BACKOFF_STEPS ? failures - 1 : BACKOFF_STEPS - 1);
}

static void
failed(struct sched *s, const struct sched_event *ev, enum outcome outcome, const char *text)
{
    size_t p = ev->phase;
    struct sched_node *n = &s->nodes[p];
    bool has_begun = n->ph.state != PS_STARTING;

    if (n->ph.is_stopped && outcome == OUT_CRASH) {
        sched_set_state(s, p, PS_WAITING); /* it did not fail: we killed it */
        return;
    }
    n->ph.failures++;
    if (!ev->is_final && n->ph.failures <= s->team->phases[p].retries) {
        bool is_ending = s->ending != RUN_ACTIVE;
        sched_set_state(s, p, is_ending ? PS_WAITING : PS_BACKOFF);
        if (!is_ending)
            sched_act(s, (struct action){ .kind = ACT_WAIT,
                                          .phase = p,
                                          .attempt = n->ph.attempt,
                                          .ms = backoff_ms(n->ph.failures) });
        return;
    }
    sched_set_state(s, p, PS_FAILED);
    if (outcome == OUT_CRASH)
        escalatef(s, text, "phase %s crashed", name_of(s, p));
    else if (outcome == OUT_TIMEOUT)
        escalatef(s, text, "phase %s timed out", name_of(s, p));
    else if (has_begun && s->team->phases[p].type == PHASE_TEAM)
        escalatef(s, text, "phase %s", name_of(s, p)); /* the text names the phase in it */
    else if (has_begun)
        escalatef(s, text, "phase %s: agent error", name_of(s, p));
    else
        escalatef(s, text, "phase %s could not be started", name_of(s, p));
}

static void
route(struct sched *s, const struct sched_event *ev)
{
    size_t gate = ev->phase;
    unsigned n = s->nodes[gate].ph.iteration;

    if (!dag_may_route(s->dag, gate, ev->target)) {
        sched_set_state(s, gate, PS_FAILED);
        escalatef(s, ev->text,
                  "gate %s may not route to %s, which is neither before it nor support",
                  name_of(s, gate), ev->target < s->n ? name_of(s, ev->target) : "that phase");
    } else if (ev->is_final || n >= s->team->phases[gate].max_iterations) {
        sched_set_state(s, gate, PS_FAILED);
        escalatef(s, ev->text, "gate %s: still not passed after %u iteration%s (max_iterations)",
                  name_of(s, gate), n, n == 1 ? "" : "s");
    } else if (!errand_queue(s, gate, ev->target)) {
        sched_set_state(s, gate, PS_FAILED);
        say(s, "out of memory", NULL);
        end_with(s, RUN_FAILED, true);
    } else {
        sched_set_state(s, gate, PS_ROUTING);
        sched_act(s, (struct action){ .kind = ACT_ROUTE,
                                      .phase = gate,
                                      .target = ev->target,
                                      .attempt = s->nodes[gate].ph.attempt,
                                      .iteration = s->nodes[gate].ph.iteration });
    }
}

static void
judged(struct sched *s, const struct sched_event *ev)
{
    switch (ev->verdict) {
    case VERDICT_PASS:
        sched_set_state(s, ev->phase, PS_DONE);
        break;
    case VERDICT_ROUTE:
        route(s, ev);
        break;
    case VERDICT_ESCALATE:
        sched_set_state(s, ev->phase, PS_FAILED);
        escalatef(s, ev->text, "gate %s escalated", name_of(s, ev->phase));
        break;
    case VERDICT_NONE:
    default:
        failed(s, ev, OUT_ERROR, "gate gave no verdict");
        break;
    }
}

static bool
result(struct sched *s, const struct sched_event *ev)
{
    if (ev->outcome != OUT_COMPLETE)
        failed(s, ev, ev->outcome, ev->text);
    else if (s->team->phases[ev->phase].type == PHASE_GATE)
        judged(s, ev);
    else
        sched_set_state(s, ev->phase, PS_DONE);
    return true;
}

/* clang-format off */
static step_fn *const phase_step[PS_STATES][EVENT_KINDS] = {
    [PS_WAITING]  = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
    [PS_STARTING] = { [EV_STARTED] = started, [EV_RESULT] = result, [EV_GONE] = gone_starting,
                      [EV_SKIP]    = skipped, [EV_DUE]    = ignore },
    [PS_RUNNING]  = { [EV_STARTED] = ignore,  [EV_RESULT] = result, [EV_GONE] = gone_running,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
    [PS_BACKOFF]  = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = due },
    [PS_ROUTING]  = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
    [PS_DONE]     = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
    [PS_SKIPPED]  = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
    [PS_FAILED]   = { [EV_STARTED] = ignore,  [EV_RESULT] = ignore, [EV_GONE] = gone,
                      [EV_SKIP]    = ignore,  [EV_DUE]    = ignore },
}; /* events of the run have no cell here; run_step has them */
/* clang-format on */

/* ---- steps of the run ---- */

static bool
phase_event(struct sched *s, const struct sched_event *ev)
{
    if (ev->phase >= s->n)
        return false;
    const struct sched_phase *ph = &s->nodes[ev->phase].ph;
    bool may_omit = ev->kind == EV_SKIP || ev->kind == EV_DUE;
    if (ev->attempt != ph->attempt && !(may_omit && ev->attempt == 0))
        return false; /* of an earlier attempt */
    step_fn *step = phase_step[ph->state][ev->kind];
    assert(step);
    return step(s, ev);
}

static bool
start_run(struct sched *s, const struct sched_event *ev)
{
    (void)ev;
    s->has_begun = true;
    return true;
}

/* A cancel beats an escalation, and so does a failure; the first of these two stands. */
static bool
cancel(struct sched *s, const struct sched_event *ev)
{
    bool is_abort = ev->kind == EV_ABORT;

    if (s->ending == RUN_CANCELLED || s->ending == RUN_FAILED)
        return false;
    if (ev->text && *ev->text)
        say(s, "", ev->text);
    else
        s->reason = is_abort ? "the orchestrator could not go on" : "cancelled";
    s->has_begun = true;
    end_with(s, is_abort ? RUN_FAILED : RUN_CANCELLED, true);
    return true;
}

static bool
give_up(struct sched *s, const struct sched_event *ev)
{
    escalate(s, ev->text && *ev->text ? ev->text : "a person is needed", NULL);
    return true;
}

static bool
rerun(struct sched *s, const struct sched_event *ev)
{
    uint64_t *set = s->scratch;

    if (ev->phase >= s->n || s->team->phases[ev->phase].is_support)
        return false;
    dag_successors(s->dag, ev->phase, set);
    bit_add(set, ev->phase);
    for (size_t i = bit_next(set, s->n, 0); i < s->n; i = bit_next(set, s->n, i + 1))
        if (is_busy(s->nodes[i].ph.state))
            return false;
    errands_drop(s, set);
    for (size_t i = bit_next(set, s->n, 0); i < s->n; i = bit_next(set, s->n, i + 1))
        sched_activate(s, i, NULL, false);
    if (ev->options)
        s->o = *ev->options;
    s->has_begun = true;
    s->is_stopping = false;
    s->status = s->ending = RUN_ACTIVE;
    s->reason = NULL;
    return true;
}

enum mode { FRESH, GOING, ENDING, OVER, MODES };

static enum mode
mode_of(const struct sched *s)
{
    return !s->has_begun             ? FRESH
           : s->status != RUN_ACTIVE ? OVER
           : s->ending != RUN_ACTIVE ? ENDING
                                     : GOING;
}

/* clang-format off */
static step_fn *const run_step[MODES][EVENT_KINDS] = {
    [FRESH]  = { [EV_BEGIN]   = start_run,   [EV_CANCEL] = cancel,      [EV_ABORT] = cancel,
                 [EV_RERUN]   = rerun,       [EV_ESCALATE] = ignore,
                 [EV_STARTED] = ignore,      [EV_RESULT] = ignore,      [EV_GONE]  = ignore,
                 [EV_SKIP]    = ignore,      [EV_DUE]    = ignore },
    [GOING]  = { [EV_BEGIN]   = ignore,      [EV_CANCEL] = cancel,      [EV_ABORT] = cancel,
                 [EV_RERUN]   = rerun,       [EV_ESCALATE] = give_up,
                 [EV_STARTED] = phase_event, [EV_RESULT] = phase_event, [EV_GONE]  = phase_event,
                 [EV_SKIP]    = phase_event, [EV_DUE]    = phase_event },
    [ENDING] = { [EV_BEGIN]   = ignore,      [EV_CANCEL] = cancel,      [EV_ABORT] = cancel,
                 [EV_RERUN]   = ignore,       [EV_ESCALATE] = ignore,
                 [EV_STARTED] = phase_event, [EV_RESULT] = phase_event, [EV_GONE]  = phase_event,
                 [EV_SKIP]    = phase_event, [EV_DUE]    = phase_event },
    [OVER]   = { [EV_BEGIN]   = ignore,      [EV_CANCEL] = ignore,      [EV_ABORT] = ignore,
                 [EV_RERUN]   = rerun,       [EV_ESCALATE] = ignore,
                 [EV_STARTED] = ignore,      [EV_RESULT] = ignore,      [EV_GONE]  = ignore,
                 [EV_SKIP]    = ignore,      [EV_DUE]    = ignore },
}; /* "ignore" is written down; an empty cell is a bug, and sched_apply() stops there */
/* clang-format on */

/* ---- what has become possible ---- */

size_t
sched_files_holder(const struct sched *s, size_t p)
{
    const uint64_t *row = s->conflicts ? s->conflicts + p * s->words : NULL;

    for (size_t q = row ? bit_next(row, s->n, 0) : s->n; q < s->n; q = bit_next(row, s->n, q + 1))
        if (is_busy(s->nodes[q].ph.state) || s->nodes[q].ph.is_there)
            return q;
    return SIZE_MAX;
}

static void
start_ready(struct sched *s)
{
    for (size_t r = bit_next(s->ready, s->n, 0); r < s->n; r = bit_next(s->ready, s->n, r + 1)) {
        if (s->o.jobs && s->n_busy >= s->o.jobs)
            return;
        if (sched_files_holder(s, s->dag->order[r]) == SIZE_MAX)
            start(s, s->dag->order[r]);
    }
}

/* Nothing runs, waits for a clock or may start: all is done, or something failed in an
 * earlier life of this run and was not asked for again. */
static void
stand_still(struct sched *s)
{
    if (s->n_main_done == s->team->n_main) {
        s->ending = RUN_COMPLETED;
        return;
    }
    for (size_t r = 0; r < s->n; r++) {
        size_t p = s->dag->order[r];
        if (s->nodes[p].ph.state == PS_FAILED) {
            escalatef(s, NULL, "phase %s failed before and was not run again", name_of(s, p));
            return;
        }
    }
    if (s->queue)
        escalatef(s, NULL, "gate %s routed to %s, which waits for that gate",
                  name_of(s, s->queue->gate), name_of(s, s->queue->target));
    else
        escalate(s, "no phase is left that could run", NULL);
}

static void
settle(struct sched *s)
{
    errands_finish(s);
    if (mode_of(s) == GOING) {
        errands_begin(s);
        start_ready(s);
        while (!s->n_busy && !s->n_backoff && !s->n_there && s->ending == RUN_ACTIVE) {
            if (s->n_main_done < s->team->n_main && errands_force(s))
                start_ready(s);
            else
                stand_still(s);
        }
    }
    if (mode_of(s) == ENDING && !s->n_busy && !s->n_there) {
        s->status = s->ending;
        sched_act(s, (struct action){ .kind = ACT_END, .status = s->status, .text = s->reason });
    }
}

bool
sched_apply(struct sched *s, const struct sched_event *ev, struct actions *out)
{
    assert(ev->kind < EVENT_KINDS);
    step_fn *step = run_step[mode_of(s)][ev->kind];
    assert(step);
    if (!actions_reserve(out, s->n + 4)) {
        /* Without actions there is no run. Nothing was changed, so a resume is possible. */
        s->has_begun = true;
        s->status = s->ending = RUN_FAILED;
        s->reason = "out of memory";
        return false;
    }
    s->out = out;
    bool is_news = step(s, ev);
    if (is_news)
        settle(s);
    s->out = NULL;
    return is_news;
}

/* ---- the end of a past run ---- */

/* It never was. */
static void
take_back_start(struct sched *s, size_t p)
{
    s->nodes[p].ph.attempt--;
    sched_set_state(s, p, PS_WAITING);
}

/* All that ever began is done, and nothing is on its way. */
static bool
is_at_rest(const struct sched *s)
{
    if (s->n_busy || s->n_there || s->n_backoff || s->queue || s->active)
        return false;
    for (size_t i = 0; i < s->team->n_main; i++)
        if (!is_done(s->nodes[i].ph.state) && s->nodes[i].ph.attempt)
            return false;
    return true;
}

bool
sched_close(struct sched *s, enum run_status how)
{
    for (size_t i = 0; s->status == RUN_ACTIVE && i < s->n; i++)
        if (s->nodes[i].ph.state == PS_STARTING)
            take_back_start(s, i);
    if (s->status == RUN_ACTIVE && s->ending != RUN_ACTIVE && !s->n_busy && !s->n_there)
        s->status = s->ending;
    if (s->status == RUN_ACTIVE && s->ending == RUN_ACTIVE && how == RUN_COMPLETED && is_at_rest(s))
        s->status = s->ending = RUN_COMPLETED;
    return s->status != RUN_ACTIVE;
}

/* ---- making and looking ---- */

struct sched *
sched_new(const struct team *t, const struct sched_options *o)
{
    struct sched *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->team = t;
    s->o = *o;
    s->n = t->n_phases;
    s->words = dag_words(s->n);
    s->dag = dag_new(t);
    s->nodes = calloc(s->n + 1, sizeof *s->nodes);
    s->ready = calloc(s->words + 1, sizeof *s->ready);
    s->idle = calloc(s->words + 1, sizeof *s->idle);
    s->scratch = calloc(s->words + 1, sizeof *s->scratch);
    if (!s->dag || !s->nodes || !s->ready || !s->idle || !s->scratch ||
        !file_conflicts_new(t, &s->conflicts)) {
        sched_free(s);
        return NULL;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->nodes[i].ph.iteration = 1;
        sched_set_owner(s, i, NULL);
    }
    return s;
}

void
sched_free(struct sched *s)
{
    if (!s)
        return;
    errands_free(s);
    dag_free(s->dag);
    free(s->nodes);
    free(s->ready);
    free(s->idle);
    free(s->scratch);
    free(s->conflicts);
    buf_release(&s->reason_text);
    free(s);
}

const struct sched_phase *
sched_phase(const struct sched *s, size_t phase)
{
    assert(phase < s->n);
    return &s->nodes[phase].ph;
}

bool
sched_is_untried(const struct sched_phase *ph)
{
    return ph->state == PS_WAITING && ph->failures > 0;
}

bool
sched_was_stopped(const struct sched_phase *ph, const struct sched_event *ev)
{
    return ev->kind == EV_RESULT && ev->outcome == OUT_CRASH && ph->is_stopped &&
           ph->state == PS_WAITING;
}

enum run_status
sched_status(const struct sched *s)
{
    return s->status;
}

const char *
sched_stop_reason(const struct sched *s)
{
    return s->ending == RUN_CANCELLED ? "the run was cancelled" : "the run is ending";
}

const char *
sched_reason(const struct sched *s)
{
    return s->reason;
}

bool
sched_may_route(const struct sched *s, size_t gate, size_t target)
{
    return dag_may_route(s->dag, gate, target);
}
