/*
 * Tests run/sched in random and in large runs: the rules hold for any order of events.
 */
#include "scheds.h"

#include "run/dag.h"
#include "run/sched.h"

enum { MAX = 1100 };

/* ---- random runs ---- */

static uint64_t seed;

static unsigned
roll(unsigned n) /* 0 to n - 1 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed >> 11) % n);
}

enum { P_MAX = 30, EVENTS_MAX = 1 << 18 };

struct route {
    size_t gate, target;
    bool set[P_MAX];
    unsigned attempts[P_MAX]; /* when the work was sent back */
};

struct world {
    struct team t;
    struct sched_options o;
    struct sched *s;
    bool reach[P_MAX][P_MAX]; /* from before to, by brute force */
    unsigned last[P_MAX];     /* attempt */
    bool is_busy[P_MAX], is_there[P_MAX], is_told_to_stop[P_MAX];
    struct route routes[P_MAX]; /* of the gate with that number */
    bool has_route[P_MAX];
    bool is_over;
    unsigned p_fail, p_route, p_skip, p_noise, p_cancel, p_crash; /* of 1000 */
    struct sched_event *events;
    size_t n_events;
    struct actions acts;
    unsigned long n_starts, n_routes, n_ends[5];
};

static void
random_team(struct world *w)
{
    size_t n = 2 + roll(P_MAX - 4), support = roll(3);
    unsigned density = 1 + roll(4);

    team_alloc(&w->t, n + support);
    w->t.n_main = n;
    w->t.n_phases = n + support;
    memset(w->reach, 0, sizeof w->reach);
    for (size_t i = 0; i < n + support; i++) {
        struct phase *p = &w->t.phases[i];
        char name[8];
        p->name = keep_name(&w->t, name, (size_t)snprintf(name, sizeof name, "p%zu", i));
        p->is_support = i >= n;
        p->type = roll(p->is_support ? 12 : 3) == 0 ? PHASE_GATE : PHASE_STANDARD;
        p->max_iterations = 1 + roll(5);
        p->retries = roll(3);
        for (unsigned k = 0; !p->is_support && i > 0 && k < density; k++) {
            size_t dep = roll((unsigned)i);
            if (w->reach[dep][i] && dag_is_edge(&(struct dag){ .team = &w->t }, dep, i))
                continue;
            if (roll(4) == 0)
                continue;
            add_dep(&w->t, p, dep, 8);
            w->reach[dep][i] = true;
            for (size_t j = 0; j < i; j++)
                w->reach[j][i] |= w->reach[j][dep];
        }
    }
}

static bool
is_finished(const struct world *w, size_t p)
{
    enum phase_state s = sched_phase(w->s, p)->state;
    return s == PS_DONE || s == PS_SKIPPED;
}

/* Are all dependencies done? With a set, only those in it count. */
static bool
has_deps(const struct world *w, size_t p, const bool *set)
{
    const struct phase *ph = &w->t.phases[p];

    for (size_t k = 0; k < ph->n_depends_on; k++)
        if ((!set || set[ph->deps[k]]) && !is_finished(w, ph->deps[k]))
            return false;
    return true;
}

static void
check_start(struct world *w, const struct action *a)
{
    size_t p = a->phase, busy = 0;
    bool is_allowed = has_deps(w, p, NULL) && !w->t.phases[p].is_support;

    assert_false(w->is_over);
    assert_null(sched_reason(w->s));
    assert_int_equal(a->attempt, w->last[p] + 1);
    assert_false(w->is_busy[p] || w->is_there[p]);
    for (size_t i = 0; i < w->t.n_phases; i++)
        busy += w->is_busy[i];
    assert_true(w->o.jobs == 0 || busy < w->o.jobs);
    for (size_t g = 0; g < w->t.n_phases && !is_allowed; g++)
        is_allowed = a->is_routed && w->has_route[g] && w->routes[g].set[p] &&
                     has_deps(w, p, w->routes[g].set);
    assert_true(is_allowed);
    if (w->t.phases[p].type == PHASE_GATE) {
        assert_in_range(a->iteration, 1, w->t.phases[p].max_iterations);
        if (w->has_route[p])
            for (size_t i = 0; i < w->t.n_phases; i++)
                if (w->routes[p].set[i])
                    assert_true(w->last[i] > w->routes[p].attempts[i]);
        w->has_route[p] = false;
    }
    w->last[p] = a->attempt;
    w->is_busy[p] = true;
    w->is_told_to_stop[p] = false;
    w->n_starts++;
}

static void
check_route(struct world *w, const struct action *a)
{
    struct route *r = &w->routes[a->phase];

    assert_true(w->reach[a->target][a->phase] || w->t.phases[a->target].is_support);
    *r = (struct route){ .gate = a->phase, .target = a->target };
    for (size_t i = 0; i < w->t.n_phases; i++) {
        r->set[i] = i == a->target || (w->reach[a->target][i] && w->reach[i][a->phase]);
        r->attempts[i] = w->last[i];
    }
    w->has_route[a->phase] = true;
    w->n_routes++;
}

static void
check_end(struct world *w, const struct action *a)
{
    size_t done = 0;

    assert_false(w->is_over);
    w->is_over = true;
    for (size_t i = 0; i < w->t.n_phases; i++) {
        assert_false(w->is_busy[i] || w->is_there[i]);
        assert_int_not_equal(sched_phase(w->s, i)->state, PS_BACKOFF);
    }
    for (size_t i = 0; i < w->t.n_main; i++)
        done += is_finished(w, i);
    assert_true(a->status != RUN_COMPLETED || done == w->t.n_main);
    assert_true((a->status == RUN_COMPLETED) == (a->text == NULL));
    assert_int_equal(a->status, sched_status(w->s));
    if (a->status == RUN_ESCALATED) { /* must not be idle while a phase could start */
        bool has_support_gate = false;
        for (size_t i = w->t.n_main; i < w->t.n_phases; i++)
            has_support_gate |= w->t.phases[i].type == PHASE_GATE;
        assert_null(strstr(a->text, "no phase is left"));
        assert_true(has_support_gate || !strstr(a->text, "waits for that gate"));
    }
    w->n_ends[a->status]++;
}

static bool
feed(struct world *w, struct sched_event ev)
{
    bool was_started = ev.kind == EV_STARTED;
    enum phase_state before = sched_phase(w->s, ev.phase)->state;

    w->acts.n = 0;
    if (!sched_apply(w->s, &ev, &w->acts)) {
        assert_int_equal(w->acts.n, 0);
        return false;
    }
    assert_true(w->n_events < EVENTS_MAX);
    if (ev.kind == EV_RESULT)
        ev.is_final = sched_phase(w->s, ev.phase)->state == PS_FAILED;
    w->events[w->n_events++] = ev;
    /* the world after the event, before its actions */
    if (was_started)
        w->is_there[ev.phase] = true;
    if (ev.kind == EV_GONE)
        w->is_there[ev.phase] = false;
    if (ev.kind == EV_RESULT || ev.kind == EV_SKIP ||
        (ev.kind == EV_GONE && (before == PS_STARTING || w->is_told_to_stop[ev.phase])))
        w->is_busy[ev.phase] = false;
    if (ev.kind == EV_RERUN)
        for (size_t i = 0; i < w->t.n_phases; i++)
            if (i == ev.phase || w->reach[ev.phase][i])
                w->has_route[i] = false;
    for (size_t i = 0; i < w->acts.n; i++) {
        const struct action *a = &w->acts.a[i];
        if (a->kind == ACT_START)
            check_start(w, a);
        else if (a->kind == ACT_ROUTE)
            check_route(w, a);
        else if (a->kind == ACT_END)
            check_end(w, a);
        else if (a->kind == ACT_STOP)
            w->is_told_to_stop[a->phase] = true;
        else
            assert_true(a->ms >= 500 && a->ms <= 16000);
    }
    return true;
}

static size_t
random_target(struct world *w, size_t gate)
{
    for (unsigned k = 0; k < 20; k++) {
        size_t p = roll((unsigned)w->t.n_phases);
        assert_true(sched_may_route(w->s, gate, p) ==
                    (w->reach[p][gate] || (w->t.phases[p].is_support && p != gate)));
        if (sched_may_route(w->s, gate, p))
            return p;
    }
    return roll((unsigned)w->t.n_phases);
}

static struct sched_event
random_result(struct world *w, size_t p)
{
    struct sched_event ev = { .kind = EV_RESULT, .phase = p, .attempt = w->last[p] };

    if (w->is_told_to_stop[p] && roll(2))
        ev.outcome = OUT_CRASH;
    else if (roll(1000) < w->p_fail)
        ev.outcome = (enum outcome)(OUT_ERROR + roll(3));
    else if (w->t.phases[p].type == PHASE_GATE) {
        bool is_last = sched_phase(w->s, p)->iteration == w->t.phases[p].max_iterations;
        ev.verdict =
            roll(1000) < w->p_route && (!is_last || roll(20) == 0) ? VERDICT_ROUTE : VERDICT_PASS;
        if (roll(1000) < w->p_fail)
            ev.verdict = roll(2) ? VERDICT_ESCALATE : VERDICT_NONE;
        if (ev.verdict == VERDICT_ROUTE) {
            ev.target = random_target(w, p);
            if (!sched_may_route(w->s, p, ev.target) && roll(50))
                ev.verdict = VERDICT_PASS;
        }
    }
    ev.text = ev.outcome ? "it broke" : NULL;
    return ev;
}

/* Makes one event happen to one phase; false when none is possible. */
static bool
happen(struct world *w, size_t p)
{
    const struct sched_phase *ph = sched_phase(w->s, p);
    struct sched_event ev = { .phase = p, .attempt = ph->attempt };

    assert_int_equal(ph->attempt, w->last[p]);
    assert_int_equal(ph->is_there, w->is_there[p]);
    if (w->is_there[p] && (ph->state != PS_RUNNING || w->is_told_to_stop[p]) && roll(2)) {
        ev.kind = EV_GONE;
    } else if (ph->state == PS_STARTING) {
        ev.kind = roll(1000) < w->p_skip ? EV_SKIP : EV_STARTED;
        if (roll(1000) < w->p_fail) {
            ev.kind = EV_RESULT;
            ev.outcome = OUT_ERROR;
        } else if (sched_reason(w->s) && roll(4) == 0) {
            ev.kind = EV_GONE;
        }
    } else if (ph->state == PS_RUNNING) {
        ev = random_result(w, p);
    } else if (ph->state == PS_BACKOFF) {
        ev.kind = EV_DUE;
    } else {
        return w->is_there[p]; /* another time */
    }
    assert_true(feed(w, ev));
    return true;
}

/* Events that must not matter: late, repeated or foreign ones. */
static void
make_noise(struct world *w)
{
    size_t p = roll((unsigned)w->t.n_phases);
    struct sched_event ev = { .kind = (enum sched_event_kind)roll(EVENT_KINDS), .phase = p };

    ev.attempt = w->last[p] ? w->last[p] - 1 : 99;
    if (ev.kind == EV_CANCEL || ev.kind == EV_ABORT || ev.kind == EV_RERUN || ev.kind == EV_DUE ||
        ev.kind == EV_SKIP || ev.kind == EV_ESCALATE)
        return;
    assert_false(feed(w, ev));
}

static void
check_same(const struct world *w, const struct sched *a, const struct sched *b)
{
    assert_int_equal(sched_status(a), sched_status(b));
    if (sched_reason(a))
        assert_string_equal(sched_reason(a), sched_reason(b));
    else
        assert_null(sched_reason(b));
    for (size_t i = 0; i < w->t.n_phases; i++) {
        const struct sched_phase *p = sched_phase(a, i), *q = sched_phase(b, i);
        assert_int_equal(p->state, q->state);
        assert_int_equal(p->attempt, q->attempt);
        assert_int_equal(p->failures, q->failures);
        assert_int_equal(p->iteration, q->iteration);
        assert_int_equal(p->is_there, q->is_there);
        assert_int_equal(p->is_routed, q->is_routed);
        assert_int_equal(p->is_stopped, q->is_stopped);
    }
}

/* More, or fewer, retries and iterations for all phases. */
static void
change_budgets(struct world *w, int by)
{
    for (size_t i = 0; i < w->t.n_phases; i++) {
        w->t.phases[i].retries = (unsigned)((int)w->t.phases[i].retries + by);
        w->t.phases[i].max_iterations = (unsigned)((int)w->t.phases[i].max_iterations + by);
    }
}

/* Restarts the orchestrator, which has only the journal. More retries and iterations do not
 * change earlier events. */
static void
crash_and_resume(struct world *w)
{
    struct sched *again = sched_new(&w->t, &w->o);
    bool with_actions = roll(2);
    int more = (int)roll(3);

    assert_non_null(again);
    change_budgets(w, more);
    for (size_t i = 0; i < w->n_events; i++) {
        w->acts.n = 0;
        assert_true(sched_apply(again, &w->events[i], with_actions ? &w->acts : NULL));
    }
    change_budgets(w, -more);
    check_same(w, w->s, again);
    sched_free(w->s);
    w->s = again;
}

static void
live_once(struct world *w)
{
    unsigned lives = 1 + (roll(4) == 0) + (roll(8) == 0);

    w->o.jobs = roll(3) ? roll(5) : 0;
    w->o.is_fail_fast = roll(4) == 0;
    w->p_fail = (unsigned[]){ 0, 0, 5, 100 }[roll(4)];
    w->p_route = (unsigned[]){ 50, 200, 400, 700 }[roll(4)];
    w->p_skip = roll(2) ? 0 : 100;
    w->p_noise = roll(2) ? 0 : 100;
    w->p_cancel = roll(6) ? 0 : 10;
    w->p_crash = roll(3) ? 0 : 10;
    w->n_events = 0;
    w->is_over = false;
    random_team(w);
    memset(w->last, 0, sizeof w->last);
    memset(w->is_busy, 0, sizeof w->is_busy);
    memset(w->is_there, 0, sizeof w->is_there);
    memset(w->is_told_to_stop, 0, sizeof w->is_told_to_stop);
    memset(w->has_route, 0, sizeof w->has_route);
    w->s = sched_new(&w->t, &w->o);
    assert_non_null(w->s);

    assert_true(feed(w, (struct sched_event){ .kind = EV_BEGIN }));
    while (lives--) {
        while (!w->is_over) {
            size_t from = roll((unsigned)w->t.n_phases), k = 0;
            while (k < w->t.n_phases && !happen(w, (from + k) % w->t.n_phases))
                k++;
            assert_true(k < w->t.n_phases); /* else the run would never end */
            if (roll(1000) < w->p_noise)
                make_noise(w);
            if (roll(1000) < w->p_crash)
                crash_and_resume(w);
            if (roll(1000) < w->p_cancel && !w->is_over)
                feed(w, (struct sched_event){ .kind = roll(4)   ? EV_CANCEL
                                                      : roll(2) ? EV_ESCALATE
                                                                : EV_ABORT });
        }
        if (roll(8) == 0)
            crash_and_resume(w);
        if (lives) {
            struct sched_event ev = { .kind = EV_RERUN, .phase = roll((unsigned)w->t.n_main) };
            w->is_over = false;
            assert_true(feed(w, ev));
        }
    }
    crash_and_resume(w);
    sched_free(w->s);
    team_drop(&w->t);
}

static void
the_rules_hold_for_any_sequence_of_events(void **state)
{
    const char *want = getenv("SCHED_RUNS");
    unsigned runs = want ? (unsigned)atoi(want) : 25000;
    struct world w = { .events = malloc(EVENTS_MAX * sizeof *w.events) };

    (void)state;
    assert_non_null(w.events);
    for (unsigned i = 1; i <= runs; i++) {
        seed = i * UINT64_C(0x9E3779B97F4A7C15);
        roll(2);
        live_once(&w);
    }
    print_message("%u runs: %lu starts, %lu routes; %lu completed, %lu escalated, %lu failed, %lu "
                  "cancelled\n",
                  runs, w.n_starts, w.n_routes, w.n_ends[RUN_COMPLETED], w.n_ends[RUN_ESCALATED],
                  w.n_ends[RUN_FAILED], w.n_ends[RUN_CANCELLED]);
    assert_true(want || (w.n_ends[RUN_COMPLETED] > 5000 && w.n_ends[RUN_ESCALATED] > 5000 &&
                         w.n_ends[RUN_FAILED] > 100 && w.n_ends[RUN_CANCELLED] > 100));
    actions_release(&w.acts);
    free(w.events);
}

/* ---- scale ---- */

static void
wide_or_long(bool is_chain, unsigned jobs)
{
    struct team t;
    struct actions acts = { 0 };
    size_t started = 0, most = 0, running = 0;
    bool is_over = false;
    static size_t queue[MAX];

    team_alloc(&t, 1000);
    t.n_phases = t.n_main = 1000;
    for (size_t i = 0; i < 1000; i++) {
        char name[8];
        t.phases[i].name = keep_name(&t, name, (size_t)snprintf(name, sizeof name, "p%zu", i));
        if (is_chain && i > 0)
            add_dep(&t, &t.phases[i], i - 1, 1);
    }
    struct sched *s = sched_new(&t, &(struct sched_options){ .jobs = jobs });
    assert_non_null(s);
    assert_true(sched_apply(s, &(struct sched_event){ .kind = EV_BEGIN }, &acts));
    for (size_t done = 0; !is_over; done++) {
        for (size_t i = 0; i < acts.n; i++) {
            if (acts.a[i].kind == ACT_START) {
                queue[started++] = acts.a[i].phase;
                running++;
            }
            is_over |= acts.a[i].kind == ACT_END;
        }
        acts.n = 0;
        if (running > most)
            most = running;
        if (is_over)
            break;
        assert_true(done < started);
        struct sched_event ev = { .kind = EV_STARTED, .phase = queue[done], .attempt = 1 };
        assert_true(sched_apply(s, &ev, &acts));
        ev.kind = EV_RESULT;
        assert_true(sched_apply(s, &ev, &acts));
        ev.kind = EV_GONE;
        assert_true(sched_apply(s, &ev, &acts));
        running--;
    }
    assert_int_equal(started, 1000);
    assert_int_equal(most, is_chain ? 1 : jobs ? jobs : 1000);
    assert_int_equal(sched_status(s), RUN_COMPLETED);
    sched_free(s);
    actions_release(&acts);
    team_drop(&t);
}

static void
a_thousand_in_a_chain_complete(void **state)
{
    (void)state;
    wide_or_long(true, 0);
}

static void
a_thousand_in_parallel_complete(void **state)
{
    (void)state;
    wide_or_long(false, 0);
    wide_or_long(false, 8);
}

static void
five_hundred_gates_take_turns_on_one_phase(void **state)
{
    enum { GATES = 500 };
    struct team t;
    struct actions acts = { 0 };
    size_t runs = 0, judged = 0;

    (void)state;
    team_alloc(&t, GATES + 1);
    t.n_phases = t.n_main = GATES + 1;
    for (size_t i = 0; i <= GATES; i++) {
        char name[8];
        t.phases[i].name = keep_name(&t, name, (size_t)snprintf(name, sizeof name, "p%zu", i));
        t.phases[i].max_iterations = 2;
        if (i > 0) {
            t.phases[i].type = PHASE_GATE;
            add_dep(&t, &t.phases[i], 0, 1);
        }
    }
    struct sched *s = sched_new(&t, &(struct sched_options){ 0 });
    assert_true(sched_apply(s, &(struct sched_event){ .kind = EV_BEGIN }, &acts));
    for (size_t i = 0; i < acts.n; i++) { /* the list grows during the loop */
        struct action a = acts.a[i];
        struct sched_event ev = { .kind = EV_STARTED, .phase = a.phase, .attempt = a.attempt };
        if (a.kind != ACT_START)
            continue;
        assert_true(sched_apply(s, &ev, &acts));
        ev.kind = EV_RESULT;
        ev.verdict = a.iteration == 1 ? VERDICT_ROUTE : VERDICT_PASS;
        a.phase == 0 ? runs++ : judged++;
        assert_true(sched_apply(s, &ev, &acts));
        ev.kind = EV_GONE;
        assert_true(sched_apply(s, &ev, &acts));
    }
    assert_int_equal(runs, 1 + GATES);
    assert_int_equal(judged, 2 * GATES);
    assert_int_equal(sched_status(s), RUN_COMPLETED);
    sched_free(s);
    actions_release(&acts);
    team_drop(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_hold_for_any_sequence_of_events),
        cmocka_unit_test(a_thousand_in_a_chain_complete),
        cmocka_unit_test(a_thousand_in_parallel_complete),
        cmocka_unit_test(five_hundred_gates_take_turns_on_one_phase),
    };

    return cmocka_run_group_tests_name("sched random", tests, NULL, NULL);
}
