/*
 * spending - what models use while a run goes on: the ledger hears it, and the budgets of the phase
 * and of the run are looked at. What budget.c decides is done here: one warning from 80 % on, the
 * escalation, and the stop of those that spend.
 */
#include "run/run_loop.h"

#include "run/budget.h"
#include "run/subrun.h"

static const struct budget *
budget_of(const struct run *r, size_t phase)
{
    return phase < r->p->team.n_phases ? &run_loop_phase(r, phase)->budget : &r->p->team.budget;
}

/* phase n_phases: of the run. */
static struct usage
used_by(const struct run *r, size_t phase)
{
    return phase < r->p->team.n_phases ? ledger_phase_usage(&r->ledger, phase)
                                       : ledger_total(&r->ledger);
}

/* "budget of phase develop: $1.20 of $1.00" */
static void
say_budget(const struct run *r, size_t phase, const struct usage *u, struct buf *to)
{
    if (phase < r->p->team.n_phases)
        buf_addf(to, "budget of phase %s: ", run_loop_phase(r, phase)->name);
    else
        buf_adds(to, "budget of the run: ");
    budget_show(to, budget_of(r, phase), u);
}

static void
note(struct run *r, size_t phase, const struct buf *text)
{
    bool is_phase = phase < r->p->team.n_phases;

    if (!buf_failed(text))
        progress_event(r->progress, "note", is_phase ? phase : SIZE_MAX,
                       is_phase ? sched_phase(r->sched, phase) : NULL, text->p);
}

static void
warn_near(struct run *r, size_t phase, const struct usage *u)
{
    struct buf text = { 0 };

    say_budget(r, phase, u, &text);
    buf_adds(&text, " used, 80 % or more: the run escalates when it is exceeded");
    note(r, phase, &text);
    buf_release(&text);
}

/* The first phase whose cost is not known: the phase itself, or one of the run's. */
static size_t
first_unpriced(const struct run *r, size_t phase)
{
    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        struct usage u = ledger_phase_usage(&r->ledger, i);
        if ((i == phase || phase == r->p->team.n_phases) && !usage_is_zero(&u) && !u.has_cost)
            return i;
    }
    return phase;
}

static void
warn_blind(struct run *r, size_t phase)
{
    size_t at = first_unpriced(r, phase);
    struct usage u = used_by(r, at), all = used_by(r, phase);
    struct buf text = { 0 };

    buf_adds(&text, phase < r->p->team.n_phases ? "the usd of this phase's budget"
                                                : "the usd of the run's budget");
    buf_addf(&text, " cannot be checked%s: ", all.cost_usd > 0 ? " in full" : "");
    if (u.model)
        buf_addf(&text,
                 "the price of what %s used is not known: cliq settings prices.%s "
                 "'{\"input\":1.25,\"output\":10}' sets one, in US dollars for a million tokens",
                 u.model, u.model);
    else if (at < r->p->team.n_phases)
        buf_addf(&text,
                 "the agent of phase %s does not say which model it used: name one with `model` of "
                 "the phase",
                 run_loop_phase(r, at)->name);
    else
        buf_adds(&text, "the models that were used are not known");
    note(r, phase, &text);
    buf_release(&text);
}

/* The attempt spends, or may: it told of a model. */
static bool
spends(const struct run *r, size_t phase)
{
    bool is_team = r->kids && r->kids[phase] && subrun_is_open(r->kids[phase]);

    return (r->attempts[phase] || is_team) && !usage_is_zero(&r->ledger.phases[phase].now);
}

/* Ends the attempts that spend from this budget. */
static void
stop_spending(struct run *r, size_t phase, const char *why)
{
    for (size_t i = 0; i < r->p->team.n_phases; i++) {
        if ((i != phase && phase != r->p->team.n_phases))
            continue;
        if (r->kids && r->kids[i] && subrun_is_open(r->kids[i])) {
            subrun_escalate(r->kids[i], why); /* it may begin to spend */
            stop_spending(r->kids[i], r->kids[i]->p->team.n_phases, why);
        } else if (spends(r, i) && r->attempts[i]) {
            attempt_end(r->attempts[i], why);
        }
    }
}

/* The run escalates with the figures; first, so that they are its reason. */
static void
exceed(struct run *r, size_t phase, const struct usage *u)
{
    struct buf text = { 0 };

    say_budget(r, phase, u, &text);
    buf_adds(&text, " used; to go on, raise it in team.yml, then cliq assemble and cliq retry");
    if (r->sub)
        r->sub->is_hopeless = true;
    if (!r->spending[phase].is_over && !buf_failed(&text))
        run_loop_feed(r, (struct sched_event){ .kind = EV_ESCALATE, .text = text.p });
    r->spending[phase].is_over = true;
    stop_spending(r, phase, buf_failed(&text) ? "its budget is used up" : text.p);
    buf_release(&text);
}

/* Looks at one budget. */
static void
look(struct run *r, size_t phase)
{
    struct usage u = used_by(r, phase);
    struct spending *told = &r->spending[phase];
    enum budget_level level = budget_judge(budget_of(r, phase), &u);

    if (budget_is_blind(budget_of(r, phase), &u) && !told->is_blind) {
        told->is_blind = true;
        warn_blind(r, phase);
    }
    if (level == BUDGET_NEAR && !told->is_near) {
        told->is_near = true;
        warn_near(r, phase, &u);
    }
    if (level == BUDGET_EXCEEDED)
        exceed(r, phase, &u);
}

/* What a team phase uses counts for the phase, and for the run above, as it goes on. */
void
spending_pass_on(struct run *r)
{
    for (; r->sub; r = r->sub->above) {
        struct run *above = r->sub->above;
        struct usage u = ledger_total(&r->ledger);
        if (usage_is_zero(&u))
            return;
        ledger_report(&above->ledger, r->sub->phase, &u);
        look(above, r->sub->phase);
        look(above, above->p->team.n_phases);
    }
}

void
spending_report(struct run *r, struct attempt *l, const struct json *usage)
{
    size_t phase = attempt_id_of(l)->phase;
    struct arena a = { 0 };
    struct usage u;

    if (json_is(usage, JSON_OBJECT) && (usage_read(&a, usage, &u) || u.session_id)) {
        usage_price(&u, settings_get(&r->p->settings, "prices"));
        ledger_report(&r->ledger, phase, &u);
        look(r, phase);
        look(r, r->p->team.n_phases);
        spending_pass_on(r);
    }
    arena_release(&a);
}

bool
spending_forbids(struct run *r, size_t phase)
{
    size_t both[] = { phase, r->p->team.n_phases };
    bool is_over = false;

    for (size_t i = 0; i < 2; i++) {
        struct usage u = used_by(r, both[i]);
        if (budget_judge(budget_of(r, both[i]), &u) == BUDGET_EXCEEDED) {
            exceed(r, both[i], &u);
            is_over = true;
        }
    }
    return is_over || (r->sub && spending_forbids(r->sub->above, r->sub->phase));
}
