#include "cmd/lib/plan_show.h"

#include "base/term.h"
#include "base/utf8.h"
#include "run/phase_scope.h"
#include "run/team_phase.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_SHOWN = 200 }; /* bytes of a value in the text */

/* One phase, and what is known of its templates. */
struct view {
    const struct plan *p;
    size_t phase;
    const struct phase *ph;
    struct phase_value *values;
    size_t n_values;
    bool has_when, when; /* the condition could be decided: so */
    uint32_t *targets;   /* of a gate */
    size_t n_targets;
};

static enum status
look(const struct plan *p, const struct plan_extent *x, size_t phase, struct arena *a,
     struct view *v, struct err *e)
{
    struct phase_scope scope;

    *v = (struct view){ .p = p, .phase = phase, .ph = &p->team.phases[phase] };
    phase_scope_init(&scope, p, phase, NULL, a);
    scope.runs = x->runs;
    enum status s = phase_scope_values(&scope, &v->values, &v->n_values, e);
    if (!s && v->ph->when)
        v->has_when = template_when(v->ph->when, &scope.scope, &v->when, NULL) == ST_OK;
    if (!s && v->ph->type == PHASE_GATE) {
        v->targets = arena_alloc(a, (p->team.n_phases + 1) * sizeof *v->targets);
        if (!v->targets)
            return err_nomem(e);
        v->n_targets = dag_route_targets(p->dag, phase, v->targets);
    }
    return s;
}

/* ---- as text ---- */

#define INDENT "             "

static void
add_line(struct buf *out, const char *before, const char *text, size_t len)
{
    buf_addf(out, INDENT "%s", before);
    term_escape(out, text, len, false);
}

static void
add_value(struct buf *out, const struct phase_value *v)
{
    add_line(out, "$(", v->name, strlen(v->name));
    if (!v->value) {
        buf_addf(out, "): ");
        term_escape(out, v->why, strlen(v->why), false);
    } else {
        size_t len = strlen(v->value), shown = utf8_cut(v->value, len, VALUE_SHOWN);
        buf_addf(out, ") = ");
        json_write_str(out, v->value, shown);
        if (shown < len)
            buf_addf(out, "… (%zu bytes)", len);
    }
    buf_addc(out, '\n');
}

static void
add_text(const struct view *v, struct buf *out)
{
    const struct phase *ph = v->ph;
    const struct team *t = &v->p->team;

    if (ph->is_support)
        buf_adds(out, "  support  ");
    else
        buf_addf(out, "  step %-3u ", v->p->dag->step[v->phase] + 1);
    buf_addf(out, "%s%s  (%s, agent %s", v->p->way, ph->name, phase_type_name(ph->type),
             v->p->agents[v->phase].name);
    for (size_t d = 0; d < ph->n_depends_on; d++)
        buf_addf(out, "%s%s", d ? ", " : "; after ", ph->depends_on[d]);
    buf_adds(out, ")\n");
    if (v->p->lacks[v->phase].status) {
        const char *why = v->p->lacks[v->phase].why;
        add_line(out, "missing: ", why, strlen(why));
        buf_addc(out, '\n');
    }
    if (ph->when) {
        add_line(out, "when ", ph->when, strlen(ph->when));
        buf_adds(out, !v->has_when ? ": decided before it starts\n"
                      : v->when    ? ": true\n"
                                   : ": false, so it would be skipped\n");
    }
    for (size_t c = 0; c < ph->n_commands; c++) {
        add_line(out, "$ ", ph->commands[c].run, strlen(ph->commands[c].run));
        buf_addc(out, '\n');
    }
    for (size_t i = 0; i < v->n_values; i++)
        add_value(out, &v->values[i]);
    for (size_t i = 0; i < v->n_targets; i++)
        buf_addf(out, "%s%s", i ? ", " : INDENT "may route to ", t->phases[v->targets[i]].name);
    if (v->n_targets)
        buf_addc(out, '\n');
}

/* ---- as JSON ---- */

/* The phase's object is left open. */
static void
add_json(const struct view *v, struct buf *out)
{
    const struct phase *ph = v->ph;

    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "phase", ph->name);
    json_key_str(out, "type", phase_type_name(ph->type));
    json_key_str(out, "agent", v->p->agents[v->phase].name);
    json_key_str(out, "missing", v->p->lacks[v->phase].why);
    if (ph->is_support)
        json_key_bool(out, "is_support", true);
    else
        json_key_int(out, "step", v->p->dag->step[v->phase] + 1);
    json_key_strs(out, "depends_on", ph->depends_on, ph->n_depends_on);
    json_key(out, "commands");
    json_open(out, '[');
    for (size_t c = 0; c < ph->n_commands; c++) {
        json_sep(out);
        json_write_str(out, ph->commands[c].run, strlen(ph->commands[c].run));
    }
    json_close(out, ']');
    if (ph->when) {
        json_key(out, "when");
        json_open(out, '{');
        json_key_str(out, "text", ph->when);
        if (v->has_when)
            json_key_bool(out, "result", v->when);
        else
            json_key_raw(out, "result", "null", 4);
        json_close(out, '}');
    }
    json_key(out, "values");
    json_open(out, '{');
    for (size_t i = 0; i < v->n_values; i++) {
        if (v->values[i].value)
            json_key_str(out, v->values[i].name, v->values[i].value);
        else
            json_key_raw(out, v->values[i].name, "null", 4);
    }
    json_close(out, '}');
    if (ph->type == PHASE_GATE) {
        json_key(out, "route_targets");
        json_open(out, '[');
        for (size_t i = 0; i < v->n_targets; i++) {
            const char *name = v->p->team.phases[v->targets[i]].name;
            json_sep(out);
            json_write_str(out, name, strlen(name));
        }
        json_close(out, ']');
    }
}

/* ---- the whole plan ---- */

static void
add_head(const struct plan *p, const struct plan_extent *x, struct buf *out)
{
    const struct team *t = &p->team;

    buf_addf(out, "%s: ", t->name ? t->name : "(no name)");
    if (x->n < t->n_phases)
        buf_addf(out, "%zu of ", x->n);
    buf_addf(out, "%zu phases", t->n_phases);
    if (x->ended != RUN_ACTIVE)
        buf_addf(out, "; the run has ended: %s", run_status_name(x->ended));
    buf_addc(out, '\n');
}

static enum status show_phases(const struct plan *p, const struct plan_extent *x, bool is_json,
                               struct buf *out, struct err *e);

/* The team that a phase runs: all of it. */
static enum status
show_team(const struct plan *p, const struct plan_extent *x, size_t phase, bool is_json,
          struct buf *out, struct err *e)
{
    struct plan *sub = plan_sub(p, phase);
    struct plan_extent all = { .n = sub->team.n_phases, .ended = RUN_ACTIVE };
    enum status s = team_phase_preview(sub, x->runs, e);

    all.runs = malloc(all.n + 1);
    if (!s && !all.runs)
        s = err_nomem(e);
    if (all.runs)
        memset(all.runs, true, all.n);
    if (!s && is_json) {
        json_key(out, "team");
        json_open(out, '{');
        json_key_str(out, "name", sub->team.name);
        json_key(out, "phases");
        json_open(out, '[');
    }
    if (!s)
        s = show_phases(sub, &all, is_json, out, e);
    if (is_json) {
        json_close(out, ']');
        json_close(out, '}');
    }
    free(all.runs);
    return s;
}

static enum status
show_phases(const struct plan *p, const struct plan_extent *x, bool is_json, struct buf *out,
            struct err *e)
{
    struct arena a = { 0 };
    enum status s = ST_OK;

    /* The graph, then the support phases. */
    for (size_t k = 0; !s && k < 2 * p->team.n_phases; k++) {
        struct view v;
        size_t i = p->dag->order[k % p->team.n_phases];
        bool is_support = k >= p->team.n_phases;
        if (!x->runs[i] || p->team.phases[i].is_support != is_support)
            continue;
        s = look(p, x, i, &a, &v, e);
        if (!s)
            (is_json ? add_json : add_text)(&v, out);
        if (!s && plan_sub(p, i))
            s = show_team(p, x, i, is_json, out, e);
        if (is_json)
            json_close(out, '}');
        arena_reset(&a);
    }
    arena_release(&a);
    return s;
}

enum status
plan_show(const struct plan *p, const struct plan_extent *x, bool is_json, struct buf *out,
          struct err *e)
{
    if (is_json)
        json_open(out, '[');
    else
        add_head(p, x, out);
    enum status s = show_phases(p, x, is_json, out, e);
    if (is_json) {
        json_close(out, ']');
        buf_addc(out, '\n');
    }
    return s;
}
