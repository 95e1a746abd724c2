#include "run/run_signals.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096 }; /* bytes of a reason or message; the rest is in the logs */

enum status
run_signals_init(struct run_signals *t, const struct plan *p, struct err *e)
{
    *t = (struct run_signals){ .plan = p };
    t->is_up = calloc(p->team.n_phases + 1, sizeof *t->is_up);
    return t->is_up ? ST_OK : err_nomem(e);
}

void
run_signals_release(struct run_signals *t)
{
    free(t->is_up);
    *t = (struct run_signals){ 0 };
}

/* ---- a request ---- {"type":…,"source":…,"dedup_key":…,"data":{ … }} */

static void
begin(struct buf *to, const char *what, const char *id, const char *phase, const char *verb)
{
    json_open(to, '{');
    buf_addf(to, "\"type\":\"%s:%s:%s%s%s\"", what, id, phase ? phase : "", phase ? ":" : "", verb);
    json_key_str(to, "source", "system");
}

static void
add_text(struct buf *to, const char *key, const char *text)
{
    if (text)
        json_key_strn(to, key, text, utf8_cut(text, strlen(text), TEXT_MAX));
}

static void
finish(const struct run_signals *t, struct buf *b)
{
    json_close(b, '}');
    json_close(b, '}');
    t->tell(t->ctx, b);
    buf_release(b);
}

static void
begin_phase(const struct run_signals *t, struct buf *to, size_t phase, unsigned attempt,
            const char *verb)
{
    struct buf path = { 0 };

    plan_phase_path(t->plan, phase, &path);
    const char *name = buf_failed(&path) ? t->plan->team.phases[phase].name : path.p;
    begin(to, "phase", t->plan->instance_id, name, verb);
    json_key(to, "data");
    json_open(to, '{');
    json_key_str(to, "pipelineId", t->plan->instance_id);
    json_key_str(to, "runId", t->run_id);
    json_key_str(to, "phase", name);
    buf_release(&path);
    json_key_str(to, "agent", t->plan->agents[phase].name);
    json_key_int(to, "attempt", attempt);
}

/* Behind the data: what it is about. */
static void
finish_phase(const struct run_signals *t, struct buf *b, size_t phase, unsigned attempt,
             const char *kind, unsigned k)
{
    json_close(b, '}');
    json_key(b, "dedup_key");
    buf_addf(b, "\"%s/%s/%s.%u.%u\"", t->run_id, kind, t->plan->team.phases[phase].name, attempt,
             k);
    json_close(b, '}');
    t->tell(t->ctx, b);
    buf_release(b);
}

/* ---- agents ---- */

/* Does another phase keep this one's agent awake? */
static bool
is_busy_elsewhere(const struct run_signals *t, size_t phase)
{
    const char *name = t->plan->agents[phase].name;

    for (size_t i = 0; i < t->plan->team.n_phases; i++)
        if (i != phase && t->is_up[i] && strcmp(t->plan->agents[i].name, name) == 0)
            return true;
    return false;
}

static void
tell_agent(const struct run_signals *t, size_t phase, unsigned attempt, const char *state)
{
    struct buf b = { 0 };
    const char *name = t->plan->agents[phase].name;

    begin(&b, "agent", name, NULL, state);
    json_key(&b, "dedup_key");
    buf_addf(&b, "\"%s/%s/%s.%u\"", t->run_id, state, t->plan->team.phases[phase].name, attempt);
    json_key(&b, "data");
    json_open(&b, '{');
    json_key_str(&b, "agentId", name);
    json_key_str(&b, "state", state);
    finish(t, &b);
}

static void
agent_up(struct run_signals *t, const struct sched_event *ev)
{
    bool was_up = t->is_up[ev->phase];

    if (plan_sub(t->plan, ev->phase))
        return; /* no agent of its own */
    t->is_up[ev->phase] = true;
    if (!was_up && !is_busy_elsewhere(t, ev->phase))
        tell_agent(t, ev->phase, ev->attempt, "wake");
}

static void
agent_gone(struct run_signals *t, const struct sched_event *ev)
{
    bool was_up = t->is_up[ev->phase];

    t->is_up[ev->phase] = false;
    if (was_up && !is_busy_elsewhere(t, ev->phase))
        tell_agent(t, ev->phase, ev->attempt, "sleep");
}

/* ---- phases ---- */

static void
add_iteration(const struct run_signals *t, struct buf *to, size_t phase, unsigned iteration)
{
    if (t->plan->team.phases[phase].type == PHASE_GATE)
        json_key_int(to, "iteration", iteration);
}

static void
tell_started(const struct run_signals *t, const struct sched_phase *ph,
             const struct sched_event *ev)
{
    struct buf b = { 0 };

    begin_phase(t, &b, ev->phase, ev->attempt, "started");
    add_iteration(t, &b, ev->phase, ph->iteration);
    if (ph->is_routed)
        json_key_bool(&b, "routed", true);
    finish_phase(t, &b, ev->phase, ev->attempt, "started", 0);
}

static void
tell_skipped(const struct run_signals *t, const struct sched_phase *ph,
             const struct sched_event *ev)
{
    struct buf b = { 0 };

    begin_phase(t, &b, ev->phase, ph->attempt, "completed");
    json_key_bool(&b, "skipped", true);
    finish_phase(t, &b, ev->phase, ph->attempt, "skipped", ph->iteration);
}

static void
tell_result(const struct run_signals *t, const struct sched_phase *ph, const struct sched_event *ev)
{
    static const char *const verdicts[] = { NULL, "PASS", "ROUTE", "ESCALATE" };
    static const char *const outcomes[] = { NULL, "error", "crash", "timeout" };
    const char *verb = ph->state == PS_DONE      ? "completed"
                       : ph->state == PS_ROUTING ? "routed"
                                                 : "error";
    const struct team *team = &t->plan->team;
    struct buf b = { 0 };

    begin_phase(t, &b, ev->phase, ev->attempt, verb);
    add_iteration(t, &b, ev->phase, ph->iteration);
    json_key_str(&b, "verdict", verdicts[ev->verdict]);
    if (ev->verdict == VERDICT_ROUTE && ev->target < team->n_phases)
        json_key_str(&b, "target", team->phases[ev->target].name);
    json_key_str(&b, "outcome", sched_was_stopped(ph, ev) ? "stopped" : outcomes[ev->outcome]);
    add_text(&b, "reason", ev->text);
    if (strcmp(verb, "error") == 0)
        json_key_bool(&b, "willRetry", ph->state == PS_BACKOFF);
    finish_phase(t, &b, ev->phase, ev->attempt, "result", 0);
}

void
run_signals_progress(struct run_signals *t, size_t phase, unsigned attempt, unsigned k,
                     const char *message)
{
    struct buf b = { 0 };

    if (!t->tell)
        return;
    begin_phase(t, &b, phase, attempt, "progress");
    add_text(&b, "message", message);
    finish_phase(t, &b, phase, attempt, "progress", k);
}

/* ---- the run ---- */

/* A run that is retried begins and ends again: the attempts so far tell which time it was. */
static void
tell_run(const struct run_signals *t, const struct sched *s, const char *verb, const char *status,
         const char *reason)
{
    const struct plan *p = t->plan;
    unsigned attempts = 0;
    struct buf b = { 0 };

    if (p->above)
        return; /* a phase of a run, which tells of it */

    for (size_t i = 0; i < p->team.n_phases; i++)
        attempts += sched_phase(s, i)->attempt;
    begin(&b, "pipeline", p->instance_id, NULL, verb);
    json_key(&b, "dedup_key");
    buf_addf(&b, "\"%s/%s.%u\"", t->run_id, verb, attempts);
    json_key(&b, "data");
    json_open(&b, '{');
    json_key_str(&b, "pipelineId", p->instance_id);
    json_key_str(&b, "runId", t->run_id);
    json_key_str(&b, "team", p->team.name);
    json_key_str(&b, "projectDir", p->state.project_dir);
    json_key_str(&b, "status", status);
    add_text(&b, "reason", reason);
    finish(t, &b);
}

void
run_signals_end(struct run_signals *t, const struct sched *s, enum run_status status,
                const char *reason)
{
    static const char *const verbs[] = {
        [RUN_COMPLETED] = "completed",
        [RUN_ESCALATED] = "escalated",
        [RUN_FAILED] = "failed",
        [RUN_CANCELLED] = "cancelled",
    };

    if (t->tell && status != RUN_ACTIVE)
        tell_run(t, s, verbs[status], run_status_name(status), reason);
}

void
run_signals_event(struct run_signals *t, const struct sched *s, const struct sched_event *ev)
{
    if (!t->tell)
        return;
    switch (ev->kind) {
    case EV_BEGIN:
    case EV_RERUN:
        tell_run(t, s, "started", NULL, NULL);
        break;
    case EV_STARTED:
        agent_up(t, ev);
        tell_started(t, sched_phase(s, ev->phase), ev);
        break;
    case EV_RESULT:
        tell_result(t, sched_phase(s, ev->phase), ev);
        break;
    case EV_SKIP:
        tell_skipped(t, sched_phase(s, ev->phase), ev);
        break;
    case EV_GONE:
        agent_gone(t, ev);
        break;
    default:
        break;
    }
}
