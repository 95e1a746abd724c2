#include "team/manifest.h"

#include "base/path.h"
#include "base/suggest.h"
#include "cliq.h"
#include "team/runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 20 };

enum shape { TEXT, TEXTS, KEYS, OBJECT };

static const char *const shape_says[] = {
    [TEXT] = "a text",
    [TEXTS] = "a list of texts",
    [KEYS] = "a list of texts or objects with a key",
    [OBJECT] = "an object",
};

struct manifest_field {
    const char *key;
    enum shape shape;
};

static const struct manifest_field members[] = {
    { "name", TEXT },
    { "version", TEXT },
    { "min_cliq_version", TEXT },
    { "description", TEXT },
    { "entry", TEXT },
    { "role", TEXT },
    { "capabilities", TEXTS },
    { "binaries", TEXTS },
    { "env", TEXTS },
    { "settings", OBJECT },
    { "schema", OBJECT },
    { "output", OBJECT },
    { NULL, TEXT },
};

static const struct manifest_field settings[] = {
    { "required", KEYS },
    { "optional", KEYS },
    { NULL, TEXT },
};

static const char *const capabilities[] = { "phase:standard", "phase:gate", "phase:team", "notify",
                                            "test" };

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
fits(const struct json *v, enum shape shape)
{
    if (shape == TEXT)
        return json_is(v, JSON_STRING);
    if (shape == OBJECT)
        return json_is(v, JSON_OBJECT);
    if (!json_is(v, JSON_ARRAY))
        return false;
    json_each (m, v)
        if (!json_is(m, JSON_STRING) &&
            !(shape == KEYS && json_is(json_get(m, "key"), JSON_STRING)))
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
                          shape_says[k->shape]);
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
        size_t i = 0, n = sizeof capabilities / sizeof *capabilities;
        if (!json_is(v, JSON_STRING))
            continue;
        word(name, v->text.p, v->text.len);
        while (i < n && strcmp(capabilities[i], name) != 0)
            suggest_try(&near, capabilities[i++]);
        if (i == n)
            problem_warn(l->problems, place(l, v),
                         "unknown capability \"%.*s\"%s%s%s: there are phase:standard, phase:gate, "
                         "phase:team, notify and test",
                         (int)(v->text.len < 80 ? v->text.len : 80), v->text.p,
                         near.best ? " (did you mean \"" : "", near.best ? near.best : "",
                         near.best ? "\"?)" : "");
    }
}

static void
check(const struct manifest_look *l)
{
    if (!json_is(l->root, JSON_OBJECT)) {
        struct problem_at at = { .file = l->file, .line = 1, .column = 1 };
        problem_error(l->problems, at, "a manifest must be an object");
        return;
    }
    check_members(l, l->root, members, "");
    check_members(l, json_get(l->root, "settings"), settings, "settings.");
    check_capabilities(l);
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

/* 1.2.3 as a number that can be compared; -1: not a version. */
static long
version_number(const char *s)
{
    unsigned v[3];
    char end;

    if (sscanf(s, "%u.%u.%u%c", &v[0], &v[1], &v[2], &end) < 3)
        return -1;
    return (long)v[0] * 1000000 + (long)v[1] * 1000 + (long)v[2];
}

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

/* Is this cliq new enough for the agent? */
static enum status
check_version(struct arena *a, const struct json *doc, const char *path, const char *name,
              struct err *e)
{
    const struct json *min = json_get(doc, "min_cliq_version");

    if (!json_is(min, JSON_STRING))
        return ST_OK;
    const char *want = arena_dup(a, min->text.p, min->text.len);
    long n = want ? version_number(want) : -1;
    if (n < 0)
        return err_set(e, ST_INVALID, "%s: min_cliq_version is not a version like 1.2.3", path);
    return n > version_number(CLIQ_VERSION)
               ? err_set(e, ST_INVALID, "agent %s needs cliq %s or newer; this is %s", name, want,
                         CLIQ_VERSION)
               : ST_OK;
}

enum status
manifest_read(struct arena *a, const char *dir, const char *name, const struct json **out,
              struct err *e)
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
        s = check_version(a, doc, path.p, name, e);
    if (!s)
        *out = doc;
    problems_release(&problems);
    buf_release(&path);
    return s;
}

const char *
manifest_lacks(struct arena *a, const struct json *manifest)
{
    json_each (v, json_get(manifest, "binaries")) {
        const char *name = json_dup_text(a, v);
        if (name && *name && !runner_has(name))
            return name;
    }
    return NULL;
}
