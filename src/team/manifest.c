#include "team/manifest.h"

#include "base/path.h"
#include "base/suggest.h"
#include "cliq.h"
#include "team/runner.h"
#include "team/schema.h"
#include "team/version.h"

#include <fcntl.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 20 };

const char *
manifest_takes(enum manifest_shape shape)
{
    static const char *const takes[] = {
        [MANIFEST_TEXT] = "a text",
        [MANIFEST_TEXTS] = "a list of texts",
        [MANIFEST_KEYS] = "a list of texts or objects with a key",
        [MANIFEST_OBJECT] = "an object",
        [MANIFEST_BOOL] = "true or false",
        [MANIFEST_LIST] = "a list",
        [MANIFEST_ANY] = "any value",
    };

    return takes[shape];
}

const struct manifest_field manifest_fields[] = {
    { "name", MANIFEST_TEXT,
      "the agent's name: as in team.yml, or as its directory when installed" },
    { "version", MANIFEST_TEXT, "the agent's version, like 1.2.3" },
    { "min_cliq_version", MANIFEST_TEXT, "the oldest cliq that can run it, like 0.1.0; enforced" },
    { "description", MANIFEST_TEXT, "what it does, for lists" },
    { "entry", MANIFEST_TEXT,
      "of an installed agent, required: its program, relative to the "
      "manifest" },
    { "role", MANIFEST_TEXT, "required, optional or none: does it need a role text?" },
    { "capabilities", MANIFEST_TEXTS, "the messages that it answers" },
    { "binaries", MANIFEST_TEXTS, "programs that must be on PATH; it is not started without them" },
    { "env", MANIFEST_TEXTS, "names of variables of your environment that it gets" },
    { "settings", MANIFEST_OBJECT, "the keys of agents.<name> in the settings that it gets" },
    { "schema", MANIFEST_OBJECT,
      "the fields that its phases may have besides the common ones: checked, and delivered in "
      "payload.phase_config" },
    { "output", MANIFEST_OBJECT,
      "describes the data of its handoffs; not checked by this version" },
    { 0 },
};

const struct manifest_field manifest_settings[] = {
    { "required", MANIFEST_KEYS, "it does not work without these" },
    { "optional", MANIFEST_KEYS, "it has a default for these" },
    { 0 },
};

const struct manifest_field manifest_schema[] = {
    { "type", MANIFEST_TEXT,
      "string, integer, number, boolean, list or object; without it any value fits" },
    { "required", MANIFEST_BOOL, "a phase without it is refused" },
    { "enum", MANIFEST_LIST, "the values that are allowed; of a list, the elements" },
    { "default", MANIFEST_ANY, "the value when the phase gives none" },
    { "description", MANIFEST_TEXT, "what it means, for people" },
    { 0 },
};

const struct manifest_field manifest_capabilities[] = {
    { "phase:standard", MANIFEST_TEXT, "runs phases of type standard" },
    { "phase:gate", MANIFEST_TEXT, "decides gates" },
    { "phase:team", MANIFEST_TEXT, "runs phases of type team" },
    { "notify", MANIFEST_TEXT, "receives notifications and the signals that wake it" },
    { "test", MANIFEST_TEXT, "tests its own connection" },
    { 0 },
};

/* The manifest that is being checked. */
struct manifest_look {
    const char *text, *file;
    size_t len;
    const struct json *root;
    struct problems *problems;
};

static struct problem_at
place(const struct manifest_look *l, const struct json *v)
{
    struct problem_at at = { .file = l->file };

    json_place(l->text, l->len, l->root, v, &at.line, &at.column);
    return at;
}

static bool
fits(const struct json *v, enum manifest_shape shape)
{
    if (shape == MANIFEST_TEXT)
        return json_is(v, JSON_STRING);
    if (shape == MANIFEST_OBJECT)
        return json_is(v, JSON_OBJECT);
    if (shape == MANIFEST_BOOL)
        return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE);
    if (shape == MANIFEST_ANY)
        return true;
    if (shape == MANIFEST_LIST || !json_is(v, JSON_ARRAY))
        return json_is(v, JSON_ARRAY);
    json_each (m, v)
        if (!json_is(m, JSON_STRING) &&
            !(shape == MANIFEST_KEYS && json_is(json_get(m, "key"), JSON_STRING)))
            return false;
    return true;
}

/* Copies a text of the document into `to`, for suggest_try; "" when it is longer than any known
 * key. */
static const char *
word(char to[64], const char *p, size_t len)
{
    if (len >= 64)
        len = 0;
    memcpy(to, p, len);
    to[len] = '\0';
    return to;
}

static void
check_members(const struct manifest_look *l, const struct json *object,
              const struct manifest_field *known, const char *prefix)
{
    char key[64];

    json_each (m, object) {
        const struct manifest_field *k = known;
        struct suggest near = { .word = word(key, m->key, m->key_len) };
        while (k->key && strcmp(k->key, key) != 0)
            suggest_try(&near, k++->key);
        if (k->key && !fits(m, k->shape) && !json_is(m, JSON_NULL))
            problem_error(l->problems, place(l, m), "%s%s must be %s", prefix, k->key,
                          manifest_takes(k->shape));
        else if (!k->key && near.best)
            problem_warn(l->problems, place(l, m), "unknown key \"%s%s\" (did you mean \"%s%s\"?)",
                         prefix, key, prefix, near.best);
    }
}

static void
check_capabilities(const struct manifest_look *l)
{
    char name[64];

    json_each (v, json_get(l->root, "capabilities")) {
        struct suggest near = { .word = name };
        const struct manifest_field *known = manifest_capabilities;
        if (!json_is(v, JSON_STRING))
            continue;
        word(name, v->text.p, v->text.len);
        while (known->key && strcmp(known->key, name) != 0)
            suggest_try(&near, known++->key);
        if (!known->key)
            problem_warn(l->problems, place(l, v),
                         "unknown capability \"%.*s\"%s%s%s: there are phase:standard, phase:gate, "
                         "phase:team, notify and test",
                         (int)(v->text.len < 80 ? v->text.len : 80), v->text.p,
                         near.best ? " (did you mean \"" : "", near.best ? near.best : "",
                         near.best ? "\"?)" : "");
    }
}

/* Checks one field of the schema: its members, and that its default fits. */
static void
check_field(const struct manifest_look *l, const struct json *field)
{
    const struct json *type = json_get(field, "type"), *value = json_get(field, "default");
    const struct json *choices = json_get(field, "enum");
    struct arena a = { 0 };
    struct err why = { "" };
    struct buf prefix = { 0 };

    buf_addf(&prefix, "schema.%.*s.", (int)(field->key_len < 64 ? field->key_len : 64), field->key);
    if (buf_failed(&prefix))
        return;
    if (!field->key_len) {
        problem_error(l->problems, place(l, field), "schema has a field without a name");
    } else if (json_is(field, JSON_OBJECT)) {
        check_members(l, field, manifest_schema, prefix.p);
        if (json_is(type, JSON_STRING) && !schema_type_of(field))
            problem_error(l->problems, place(l, type),
                          "%stype must be string, integer, number, boolean, list or object, not "
                          "\"%.*s\"",
                          prefix.p, (int)(type->text.len < 80 ? type->text.len : 80), type->text.p);
        else if (choices && json_is(choices, JSON_ARRAY) && !json_first(choices))
            problem_error(l->problems, place(l, choices), "%senum is empty: no value fits",
                          prefix.p);
        else if (value && !json_is(value, JSON_NULL) && !schema_take(&a, field, value, &why))
            problem_error(l->problems, place(l, value), "%sdefault %s", prefix.p, why.text);
    } else {
        problem_error(l->problems, place(l, field),
                      "%.*s must be an object that describes a phase's field: {\"type\": "
                      "\"string\"}",
                      (int)prefix.len - 1, prefix.p);
    }
    buf_release(&prefix);
    arena_release(&a);
}

static void
check_schema(const struct manifest_look *l, const struct json *schema)
{
    if (!json_is(schema, JSON_OBJECT))
        return; /* reported as a member of the manifest */
    if (json_eq(json_get(schema, "type"), "object") &&
        json_is(json_get(schema, "properties"), JSON_OBJECT)) {
        problem_error(l->problems, place(l, schema),
                      "schema is a JSON Schema: write what its properties hold as schema itself, "
                      "{\"depth\": {\"type\": \"integer\", \"required\": true}}");
        return;
    }
    json_each (field, schema)
        check_field(l, field);
}

/* Is this cliq new enough for the agent? */
static void
check_min_version(const struct manifest_look *l)
{
    const struct json *min = json_get(l->root, "min_cliq_version");
    struct version least, own;
    char want[64];

    if (!json_is(min, JSON_STRING))
        return; /* reported as a member of the manifest */
    if (!version_parse(word(want, min->text.p, min->text.len), &least))
        problem_error(l->problems, place(l, min), "min_cliq_version must be a version like 1.2.3");
    else if (version_parse(CLIQ_VERSION, &own) && version_compare(&least, &own) > 0)
        problem_error(l->problems, place(l, min),
                      "the agent needs cliq %s or newer; this is cliq %s", want, CLIQ_VERSION);
}

static void
check(const struct manifest_look *l)
{
    if (!json_is(l->root, JSON_OBJECT)) {
        struct problem_at at = { .file = l->file, .line = 1, .column = 1 };
        problem_error(l->problems, at, "a manifest must be an object");
        return;
    }
    check_members(l, l->root, manifest_fields, "");
    check_members(l, json_get(l->root, "settings"), manifest_settings, "settings.");
    check_min_version(l);
    check_capabilities(l);
    check_schema(l, json_get(l->root, "schema"));
}

enum status
manifest_load(struct arena *a, int dir, const char *path, const char *shown,
              const struct json **out, struct problems *p, struct err *e)
{
    struct buf text = BUF_MAX(MANIFEST_MAX);
    struct json *doc = NULL;
    struct json_fault fault;
    enum status s = path_read_file(dir, path, &text, e);

    *out = NULL;
    if (!s) {
        /* The tree borrows its text, so the arena keeps that too. */
        char *kept = arena_dup(a, text.p ? text.p : "", text.len);
        if (!kept || (!json_parse(a, kept, text.len, &doc, &fault) && fault.is_starved)) {
            s = err_nomem(e);
        } else if (!doc) {
            struct problem_at at = { .file = shown, .line = fault.line, .column = fault.column };
            problem_error(p, at, "not JSON: %s", fault.what);
        } else {
            check(&(struct manifest_look){ kept, shown, text.len, doc, p });
            *out = doc;
        }
    }
    buf_release(&text);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

/* ---- a manifest that must be valid ---- */

/* The first problem, as one sentence. */
static enum status
first_problem(struct problems *p, struct err *e)
{
    for (const struct problem *one = p->first; one; one = one->next)
        if (!one->is_warning)
            return err_set(e, ST_INVALID, "%s:%u:%u: %s", one->file, one->line, one->column,
                           one->text);
    return p->errors ? err_nomem(e) : ST_OK;
}

enum status
manifest_read(struct arena *a, const char *dir, const struct json **out, struct err *e)
{
    struct buf path = { 0 };
    struct problems problems = { 0 };
    const struct json *doc = NULL;

    *out = NULL;
    buf_addf(&path, "%s/manifest.json", dir);
    enum status s = buf_status(&path, "the manifest's path", e);
    if (!s)
        s = manifest_load(a, AT_FDCWD, path.p, path.p, &doc, &problems, e);
    if (!s)
        s = first_problem(&problems, e);
    if (!s)
        *out = doc;
    problems_release(&problems);
    buf_release(&path);
    return s;
}

/* Is one of the programs of "agent|cursor-agent" on PATH? */
static bool
has_binary(struct arena *a, const char *names)
{
    for (size_t n; *names; names += n + (names[n] == '|')) {
        n = strcspn(names, "|");
        const char *one = arena_dup(a, names, n);
        if (n && one && runner_has(one))
            return true;
    }
    return false;
}

const char *
manifest_lacks(struct arena *a, const struct json *manifest)
{
    json_each (v, json_get(manifest, "binaries")) {
        const char *names = json_dup_text(a, v);
        if (names && *names && !has_binary(a, names))
            return names;
    }
    return NULL;
}

bool
manifest_can(const struct json *manifest, const char *capability)
{
    const struct json *list = json_get(manifest, "capabilities");

    if (!json_is(list, JSON_ARRAY))
        return true;
    json_each (v, list)
        if (json_eq(v, capability))
            return true;
    return false;
}
