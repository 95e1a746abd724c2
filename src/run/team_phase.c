#include "run/team_phase.h"

#include "context/handoff.h"
#include "run/phase_scope.h"
#include "team/input.h"

#include <stdio.h>
#include <string.h>

static const struct phase *
phase_of(const struct plan *sub)
{
    return &sub->above->team.phases[sub->above_phase];
}

/* ---- before ---- */

/* The text expanded, in the sub-plan's arena. */
static enum status
expand(struct plan *sub, struct phase_scope *scope, const char *field, const char *text,
       const char **out, struct err *e)
{
    struct buf b = { 0 };
    struct err why = { "" };
    enum status s = template_expand(&b, text, &scope->scope, &why);

    if (!s)
        s = buf_status(&b, field, &why);
    if (s)
        err_say(e, "phase %s, %s: %s", phase_of(sub)->name, field, phase_scope_why(scope, &why));
    else if (!(*out = arena_dup(&sub->arena, b.p ? b.p : "", b.len)))
        s = err_nomem(e);
    buf_release(&b);
    return s;
}

static const struct team_input *
find_input(const struct team *t, const char *name)
{
    for (size_t i = 0; i < t->n_inputs; i++)
        if (strcmp(t->inputs[i].name, name) == 0)
            return &t->inputs[i];
    return NULL;
}

static enum status
set_input(struct plan *sub, struct json *inputs, const char *name, const char *value, struct err *e)
{
    return json_set(inputs, name, json_new_str(&sub->arena, value, strlen(value))) ? ST_OK
                                                                                   : err_nomem(e);
}

/* What the phase does not give has its default, or is empty. */
static enum status
fill_inputs(struct plan *sub, struct json *inputs, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < sub->team.n_inputs; i++) {
        const struct team_input *in = &sub->team.inputs[i];
        if (!json_get(inputs, in->name))
            s = set_input(sub, inputs, in->name, in->fallback ? in->fallback : "", e);
    }
    return s;
}

static enum status
make_inputs(struct plan *sub, struct phase_scope *scope, struct err *e)
{
    const struct phase *ph = phase_of(sub);
    struct json *inputs = json_new(&sub->arena, JSON_OBJECT);
    enum status s = inputs ? ST_OK : err_nomem(e);

    for (size_t i = 0; !s && i < ph->n_inputs; i++) {
        const struct team_input *in = find_input(&sub->team, ph->inputs[i].key);
        const char *value = NULL;
        struct err why;
        s = expand(sub, scope, "inputs", ph->inputs[i].value, &value, e);
        if (!s && in && (s = input_check_choice(in, value, &why)) != ST_OK)
            err_say(e, "phase %s, inputs: %s", ph->name, why.text);
        if (!s)
            s = set_input(sub, inputs, ph->inputs[i].key, value, e);
    }
    if (!s)
        s = fill_inputs(sub, inputs, e);
    if (!s)
        sub->inputs = inputs;
    return s;
}

static enum status
read_role(struct plan *sub, struct phase_scope *scope, const char **out, struct err *e)
{
    struct buf text = { 0 };
    char path[TEAM_PHASE_NAME_MAX + 16];

    *out = "";
    snprintf(path, sizeof path, "roles/%s.md", phase_of(sub)->name);
    enum status s = state_dir_read(&sub->above->state, path, &text, e);
    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s)
        s = expand(sub, scope, path, text.p ? text.p : "", out, e);
    buf_release(&text);
    return s;
}

enum status
team_phase_prepare(struct plan *sub, const char *run_id, const char **requirement, struct err *e)
{
    struct arena a = { 0 };
    struct phase_scope scope;

    phase_scope_init(&scope, sub->above, sub->above_phase, run_id, &a);
    enum status s = make_inputs(sub, &scope, e);
    if (!s)
        s = read_role(sub, &scope, requirement, e);
    arena_release(&a);
    return s;
}

enum status
team_phase_preview(struct plan *sub, const bool *runs, struct err *e)
{
    const struct phase *ph = phase_of(sub);
    struct json *inputs = json_new(&sub->arena, JSON_OBJECT);
    struct arena a = { 0 };
    struct phase_scope scope;
    enum status s = inputs ? ST_OK : err_nomem(e);

    phase_scope_init(&scope, sub->above, sub->above_phase, NULL, &a);
    scope.runs = runs;
    for (size_t i = 0; !s && i < ph->n_inputs; i++) {
        const char *value = NULL;
        if (expand(sub, &scope, "inputs", ph->inputs[i].value, &value, NULL) != ST_OK)
            value = ph->inputs[i].value;
        s = set_input(sub, inputs, ph->inputs[i].key, value, e);
    }
    if (!s)
        s = fill_inputs(sub, inputs, e);
    sub->inputs = inputs;
    arena_release(&a);
    return s;
}

/* The envelope's data, so that it can stand in another tree; null: it has none. */
static struct json *
data_of(struct arena *a, const struct handoff *h)
{
    struct json *copy = json_new(a, JSON_NULL);

    if (copy && h->data) {
        *copy = *h->data;
        copy->next = NULL;
    }
    return copy;
}

/* One envelope of all that stands in the phase's incoming channels: its dependencies, and gates
 * that sent work back. */
static enum status
gather_given(const struct plan *sub, struct arena *a, struct json *data, struct buf *text,
             struct err *e)
{
    const struct plan *p = sub->above;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < p->team.n_phases; i++) {
        const char *from = p->team.phases[i].name;
        char channel[2 * TEAM_PHASE_NAME_MAX + 16];
        struct buf path = { 0 };
        struct handoff h;
        snprintf(channel, sizeof channel, "channels/%s--%s", from, phase_of(sub)->name);
        state_dir_path(&p->state, &path, channel);
        s = buf_status(&path, "the path", e);
        enum status got = s ? s : handoff_read(a, path.p, &h, e);
        if (!s && got == ST_OK) {
            struct json *copy = data_of(a, &h);
            if (!copy || !json_set(data, from, copy))
                s = err_nomem(e);
            if (h.text_len) {
                buf_addf(text, "%s## %s\n\n", text->len ? "\n" : "", from);
                buf_add(text, h.text, h.text_len);
                buf_adds(text, h.text[h.text_len - 1] == '\n' ? "" : "\n");
            }
        } else if (!s && got != ST_NOT_FOUND) {
            s = got;
        }
        buf_release(&path);
    }
    return s ? s : buf_status(text, "the handoffs", e);
}

/* The envelope for one channel of that plan. */
static enum status
write_to(const struct plan *p, const char *from, const char *to, const struct handoff *h,
         struct err *e)
{
    char channel[2 * TEAM_PHASE_NAME_MAX + 16];
    struct buf path = { 0 };

    snprintf(channel, sizeof channel, "channels/%s--%s", from, to);
    state_dir_path(&p->state, &path, channel);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = handoff_write(path.p, h, e);
    buf_release(&path);
    return s;
}

static enum status
hand_in(const struct plan *sub, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *data = json_new(&a, JSON_OBJECT);
    enum status s = data ? gather_given(sub, &a, data, &text, e) : err_nomem(e);
    bool has_any = json_first(data) || text.len;
    struct handoff h = { "team", PLAN_IN, "team", data, text.p, text.len };

    for (size_t i = 0; !s && has_any && i < sub->team.n_phases; i++)
        if (plan_is_root(sub, i))
            s = write_to(sub, PLAN_IN, sub->team.phases[i].name, &h, e);
    buf_release(&text);
    arena_release(&a);
    return s;
}

enum status
team_phase_lay_out(const struct plan *sub, const char *requirement, struct err *e)
{
    struct buf text = { 0 };

    json_write(&text, sub->inputs);
    buf_addc(&text, '\n');
    enum status s = buf_status(&text, "inputs.json", e);
    if (!s)
        s = state_dir_replace(&sub->state, "inputs.json", text.p, text.len, e);
    if (!s)
        s = state_dir_replace(&sub->state, "req_spec.md", requirement, strlen(requirement), e);
    if (!s)
        s = hand_in(sub, e);
    buf_release(&text);
    return s;
}

/* ---- after ---- */

/* The data of each leaf, and their texts: that of the only one as it is. */
static enum status
gather_outputs(const struct plan *sub, struct arena *a, struct json *outputs, struct buf *text,
               struct err *e)
{
    size_t n_leaves = 0;
    enum status s = ST_OK;

    for (size_t i = 0; i < sub->team.n_phases; i++)
        n_leaves += plan_is_leaf(sub, i);
    for (size_t i = 0; !s && i < sub->team.n_phases; i++) {
        const char *leaf = sub->team.phases[i].name;
        char channel[TEAM_PHASE_NAME_MAX + 24];
        struct buf path = { 0 };
        struct handoff h;
        if (!plan_is_leaf(sub, i))
            continue;
        snprintf(channel, sizeof channel, "channels/%s--" PLAN_OUT, leaf);
        state_dir_path(&sub->state, &path, channel);
        s = buf_status(&path, "the path", e);
        enum status got = s ? s : handoff_read(a, path.p, &h, e);
        buf_release(&path);
        if (s || got == ST_NOT_FOUND) /* it was skipped, or hands nothing over */
            continue;
        if (got)
            return got;
        struct json *copy = data_of(a, &h);
        if (!copy || !json_set(outputs, leaf, copy))
            return err_nomem(e);
        if (n_leaves > 1 && h.text_len)
            buf_addf(text, "%s## %s\n\n", text->len ? "\n" : "", leaf);
        if (h.text_len)
            buf_add(text, h.text, h.text_len);
        if (n_leaves > 1 && h.text_len && h.text[h.text_len - 1] != '\n')
            buf_addc(text, '\n');
    }
    return s ? s : buf_status(text, "the handoffs", e);
}

/* Into every channel that an agent of the phase would write: to its successors; of a support phase
 * to the gates; of the last phase of a team that is a phase itself, out. */
static enum status
hand_out(const struct plan *p, size_t phase, const struct handoff *h, struct err *e)
{
    const struct team *t = &p->team;
    const struct dag *d = p->dag;
    const char *from = t->phases[phase].name;
    enum status s = ST_OK;

    for (uint32_t k = d->first[phase]; !s && k < d->first[phase + 1]; k++)
        s = write_to(p, from, t->phases[d->succ[k]].name, h, e);
    for (size_t i = 0; !s && t->phases[phase].is_support && i < t->n_phases; i++)
        if (t->phases[i].type == PHASE_GATE)
            s = write_to(p, from, t->phases[i].name, h, e);
    if (!s && plan_is_leaf(p, phase))
        s = write_to(p, from, PLAN_OUT, h, e);
    return s;
}

enum status
team_phase_hand_over(const struct plan *sub, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *data = json_new(&a, JSON_OBJECT), *outputs = json_new(&a, JSON_OBJECT);
    const char *status = run_status_name(RUN_COMPLETED);
    bool is_made = data && outputs &&
                   json_set(data, "status", json_new_str(&a, status, strlen(status))) &&
                   json_set(data, "outputs", outputs);
    enum status s = is_made ? gather_outputs(sub, &a, outputs, &text, e) : err_nomem(e);
    struct handoff h = { "team", phase_of(sub)->name, "team", data, text.p, text.len };

    if (!s)
        s = hand_out(sub->above, sub->above_phase, &h, e);
    buf_release(&text);
    arena_release(&a);
    return s;
}
