#include "run/phase_scope.h"

#include "base/clock.h"
#include "context/handoff.h"
#include "team/phase_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
phase_scope_path(const struct phase_scope *s, const char *path)
{
    struct buf b = { 0 };

    state_dir_path(&s->plan->state, &b, path);
    const char *full = buf_failed(&b) ? NULL : arena_dup(s->arena, b.p, b.len);
    buf_release(&b);
    return full;
}

/* ---- handoffs ---- */

static const struct json *
read_envelope(struct phase_scope *s, const char *from, const char *to)
{
    char path[2 * TEAM_PHASE_NAME_MAX + 16];
    struct handoff h;
    struct err e;

    snprintf(path, sizeof path, "channels/%s--%s", from, to);
    const char *dir = phase_scope_path(s, path);
    enum status st = dir ? handoff_read(s->arena, dir, &h, &e) : ST_NOT_FOUND;
    if (st && st != ST_NOT_FOUND && !s->fault.text[0])
        s->fault = e;
    return st ? NULL : handoff_json(s->arena, &h);
}

static const struct json *
find_handoff(void *ctx, const char *name)
{
    struct phase_scope *s = ctx;
    const struct team *t = &s->plan->team;
    struct dag *d = s->plan->dag;
    const struct phase *from = team_phase(t, name);
    const struct json *found = NULL;

    if (!from)
        return NULL;
    size_t x = (size_t)(from - t->phases), n_way;
    if (s->runs && s->runs[x])
        return NULL;
    if (dag_is_edge(d, x, s->phase) || !dag_is_before(d, x, s->phase))
        return read_envelope(s, name, t->phases[s->phase].name);
    uint32_t *way = calloc(t->n_phases + 1, sizeof *way);
    n_way = way ? dag_on_the_way(d, x, s->phase, way) : 0;
    for (size_t i = 0; i < n_way && !found && !s->fault.text[0]; i++)
        found = read_envelope(s, name, t->phases[way[i]].name);
    free(way);
    return found;
}

void
phase_scope_init(struct phase_scope *s, const struct plan *p, size_t phase, const char *run_id,
                 struct arena *arena)
{
    char files[TEAM_PHASE_NAME_MAX + 8];

    *s = (struct phase_scope){ .plan = p, .phase = phase, .arena = arena };
    snprintf(files, sizeof files, "files/%s", p->team.phases[phase].name);
    s->scope = (struct template_scope){
        .inputs = p->inputs,
        .handoff = find_handoff,
        .ctx = s,
        .team_name = p->team.name ? p->team.name : "",
        .phase = p->team.phases[phase].name,
        .run_id = run_id,
        .project_dir = p->state.project_dir,
        .work_dir = p->state.project_dir,
        .state_dir = p->state.state_dir,
        .files_dir = phase_scope_path(s, files),
        .now_ms = clock_wall_ns() / 1000000,
    };
}

const char *
phase_scope_why(const struct phase_scope *s, const struct err *why)
{
    return s->fault.text[0] ? s->fault.text : why->text;
}

/* ---- every value of a phase ---- */

struct values {
    struct phase_scope *s;
    struct phase_value *v;
    size_t n, cap;
    bool is_starved;
};

/* The phase whose handoff the variable reads, when that phase is still to run; NULL: none. */
static const char *
waits_for(const struct phase_scope *s, const char *name)
{
    const struct team *t = &s->plan->team;

    if (!s->runs || strncmp(name, "handoff.", 8) != 0)
        return NULL;
    for (size_t i = 0; i < t->n_phases; i++) {
        size_t n = strlen(t->phases[i].name);
        if (s->runs[i] && strncmp(name + 8, t->phases[i].name, n) == 0 && name[8 + n] == '.')
            return t->phases[i].name;
    }
    return NULL;
}

static void
resolve(struct values *all, struct phase_value *v)
{
    struct phase_scope *s = all->s;
    struct buf text = { 0 }, value = { 0 };
    struct err e = { "" };

    buf_addf(&text, "$(%s)", v->name);
    s->fault = (struct err){ "" };
    enum status st = buf_failed(&text) ? ST_IO : template_expand(&value, text.p, &s->scope, &e);
    if (!st) {
        v->value = arena_dup(s->arena, value.p ? value.p : "", value.len);
    } else {
        const char *phase = waits_for(s, v->name), *why = phase_scope_why(s, &e);
        buf_reset(&text);
        if (phase)
            buf_addf(&text, "known when %s has run", phase);
        else if (strcmp(v->name, "run_id") == 0)
            buf_adds(&text, "known when the run begins");
        else
            buf_adds(&text, why);
        v->why = buf_failed(&text) ? NULL : arena_dup(s->arena, text.p, text.len);
    }
    all->is_starved |= !v->value && !v->why;
    buf_release(&text);
    buf_release(&value);
}

static void
add_text(struct values *all, const char *text)
{
    size_t n;
    const struct template_use *uses = template_uses(all->s->arena, text, &n);

    for (size_t i = 0; uses && i < n; i++) {
        size_t k = 0;
        while (k < all->n && strcmp(all->v[k].name, uses[i].name) != 0)
            k++;
        if (k < all->n || uses[i].is_bad)
            continue;
        if (all->n == all->cap) {
            size_t cap = all->cap ? all->cap * 2 : 8;
            struct phase_value *more = arena_alloc(all->s->arena, cap * sizeof *more);
            if (!more) {
                all->is_starved = true;
                return;
            }
            if (all->n)
                memcpy(more, all->v, all->n * sizeof *more);
            all->v = more;
            all->cap = cap;
        }
        all->v[all->n] = (struct phase_value){ .name = uses[i].name };
        resolve(all, &all->v[all->n++]);
    }
}

static void
add_tree(struct values *all, const struct json *v)
{
    if (!v)
        return;
    if (v->type == JSON_STRING) {
        const char *text = json_dup_text(all->s->arena, v);
        if (text)
            add_text(all, text);
        all->is_starved |= !text;
    } else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
        json_each (kid, v)
            add_tree(all, kid);
    }
}

static enum status
add_role(struct values *all, struct err *e)
{
    const struct plan *p = all->s->plan;
    struct buf text = { 0 };
    char path[TEAM_PHASE_NAME_MAX + 16];

    snprintf(path, sizeof path, "roles/%s.md", p->team.phases[all->s->phase].name);
    enum status st = state_dir_read(&p->state, path, &text, e);
    if (!st && text.p)
        add_text(all, text.p);
    buf_release(&text);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

enum status
phase_scope_values(struct phase_scope *s, struct phase_value **out, size_t *n, struct err *e)
{
    const struct phase *ph = &s->plan->team.phases[s->phase];
    struct values all = { .s = s };

    if (ph->when)
        add_text(&all, ph->when);
    for (size_t i = 0; i < ph->n_commands; i++)
        add_text(&all, ph->commands[i].run);
    for (size_t i = 0; i < ph->n_env; i++)
        add_text(&all, ph->env[i].value);
    for (size_t i = 0; i < ph->n_inputs; i++)
        add_text(&all, ph->inputs[i].value);
    add_tree(&all, ph->sources);
    add_tree(&all, ph->target_entries);
    add_tree(&all, ph->review);
    add_tree(&all, ph->notify);
    yaml_each (m, ph->node)
        if (!phase_config_is_common(m->key))
            add_tree(&all, yaml_to_json(s->arena, m));
    enum status st = add_role(&all, e);
    *out = all.v;
    *n = all.n;
    return st ? st : all.is_starved ? err_nomem(e) : ST_OK;
}
