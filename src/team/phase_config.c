#include "team/phase_config.h"

#include "base/suggest.h"
#include "team/load.h"
#include "team/schema.h"
#include "team/template.h"

#include <string.h>

bool
phase_config_is_common(const char *key)
{
    const struct load_field *f = phase_fields;

    while (f->key && strcmp(f->key, key) != 0)
        f++;
    return f->key != NULL;
}

/* ---- checking ---- */

static bool
has_templates(struct arena *a, const struct json *v)
{
    size_t n = 0;

    if (json_is(v, JSON_STRING)) {
        const char *text = json_dup_text(a, v);
        if (text)
            template_uses(a, text, &n);
        return n > 0;
    }
    json_each (m, v)
        if (has_templates(a, m))
            return true;
    return false;
}

bool
phase_config_fits(const struct json *field, const struct yaml *value, struct err *why)
{
    struct arena a = { 0 };
    const struct json *v = yaml_to_json(&a, value);
    bool is_good = !v || (has_templates(&a, v) ? schema_may_take(field, v, why)
                                               : schema_take(&a, field, v, why) != NULL);

    arena_release(&a);
    return is_good;
}

static struct problem_at
place(const struct team *t, const struct phase *ph, const char *field, const struct yaml *v)
{
    return (struct problem_at){ t->file, v ? v->line : ph->line, v ? v->column : ph->column,
                                ph->name, field };
}

/* The value in the phase; NULL: absent or null. */
static const struct yaml *
given(const struct phase *ph, const char *key)
{
    const struct yaml *v = yaml_get(ph->node, key);

    return load_is_null(v) ? NULL : v;
}

static bool
has_default(const struct json *field)
{
    const struct json *v = json_get(field, "default");

    return v && !json_is(v, JSON_NULL);
}

static void
check_field(const struct team *t, const struct phase *ph, const char *agent,
            const struct json *field, struct problems *p)
{
    const char *key = arena_dup(&p->arena, field->key, field->key_len);
    const struct yaml *v = key ? given(ph, key) : NULL;
    const struct json *says = json_get(field, "description");
    struct err why = { "" };

    if (v && !phase_config_fits(field, v, &why))
        problem_error(p, place(t, ph, key, v), "%.80s %s (agent %.80s)", key, why.text, agent);
    else if (key && !v && json_is(json_get(field, "required"), JSON_TRUE) && !has_default(field))
        problem_error(
            p, place(t, ph, key, NULL), "the agent %.80s needs %.80s%s%.*s", agent, key,
            json_is(says, JSON_STRING) ? ": " : "",
            json_is(says, JSON_STRING) ? (int)(says->text.len < 200 ? says->text.len : 200) : 0,
            json_is(says, JSON_STRING) ? says->text.p : "");
}

void
phase_config_unknown(const struct team *t, const struct phase *ph, const struct yaml *m,
                     const struct json *schema, bool is_certain, struct problems *p)
{
    struct load l = { .file = t->file, .problems = p, .phase = ph->name };
    struct suggest near = { .word = m->key };

    if (p->errors + p->warnings < TEAM_GUESSES_MAX) {
        for (const struct load_field *f = phase_fields; f->key; f++)
            suggest_try(&near, f->key);
        json_each (field, schema) {
            const char *key = arena_dup(&p->arena, field->key, field->key_len);
            if (key)
                suggest_try(&near, key);
        }
    }
    if (is_certain || near.best || strcmp(m->key, "<<") == 0)
        load_unknown(&l, m, ph->is_support ? "a support phase" : "a phase", near.best);
}

void
phase_config_check(const struct team *t, const struct phase *ph, const char *agent,
                   const struct json *schema, struct problems *p)
{
    json_each (field, schema)
        if (field->key)
            check_field(t, ph, agent, field, p);
    yaml_each (m, ph->node)
        if (m->key && !phase_config_is_common(m->key) && !json_get(schema, m->key))
            phase_config_unknown(t, ph, m, schema, true, p);
}

/* ---- delivering ---- */

/* Are the templates in it expanded? In common keys only where they always are. */
static bool
is_expanded(const char *key)
{
    const struct field *at = template_places;

    if (!phase_config_is_common(key))
        return true;
    while (at->key && strcmp(at->key, key) != 0)
        at++;
    return at->key != NULL;
}

/* The value of a field: the phase's, else the default; *out NULL: neither. */
static enum status
take(struct arena *a, const struct phase *ph, const char *key, const struct json *field,
     phase_config_expand *expand, void *ctx, const struct json **out, struct err *e)
{
    const struct yaml *written = given(ph, key);
    const struct json *v = json_get(field, "default");
    struct err why = { "" };
    enum status s = ST_OK;

    if (written) {
        struct json *own = yaml_to_json(a, written);
        s = !own ? err_nomem(e) : is_expanded(key) ? expand(ctx, key, own, &own, e) : ST_OK;
        v = own;
    }
    *out = NULL;
    if (s || !v || (!written && json_is(v, JSON_NULL)) || (*out = schema_take(a, field, v, &why)))
        return s;
    return err_set(e, ST_INVALID, "phase %s: %.80s %s", ph->name, key, why.text);
}

enum status
phase_config_make(struct arena *a, const struct phase *ph, const struct json *schema,
                  phase_config_expand *expand, void *ctx, struct json **out, struct err *e)
{
    struct json *config = json_new(a, JSON_OBJECT);
    enum status s = config ? ST_OK : err_nomem(e);

    json_each (field, schema) {
        const char *key = field->key ? arena_dup(a, field->key, field->key_len) : NULL;
        const struct json *v = NULL;
        if (!s && key && strcmp(key, "commands") != 0)
            s = take(a, ph, key, field, expand, ctx, &v, e);
        struct json *copy = s || !v ? NULL : json_new(a, v->type);
        if (!copy)
            continue;
        *copy = *v;
        copy->next = NULL;
        json_set(config, key, copy);
    }
    *out = config;
    return s;
}
