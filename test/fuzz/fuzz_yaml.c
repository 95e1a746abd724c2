/*
 * fuzz_yaml - base/yaml and team/load on any bytes.
 *
 * For every input, each in a function of its own:
 *   - a refusal has a message and a position inside the text
 *   - a tree has every count, key and text that its header promises, is no deeper and
 *     no larger than allowed, and becomes JSON that reads back the same
 *   - a team is loaded and validated, its problems can be written, and loading succeeds
 *     only when there are no errors
 *   - a parse that runs out of memory reports only that
 */
#include "fuzz.h"

#include "base/utf8.h"
#include "base/yaml.h"
#include "team/team.h"

static size_t
walk(const struct yaml *v, const struct yaml *parent, unsigned depth)
{
    size_t n = 1, kids = 0;

    MUST(depth <= YAML_MAX_DEPTH + 1);
    MUST(v->line > 0 && v->column > 0);
    MUST(!parent || (v->key != NULL) == (parent->type == YAML_MAP));
    MUST(!v->key || utf8_valid_len(v->key, strlen(v->key)) == strlen(v->key));
    MUST((v->text != NULL) == (v->type == YAML_SCALAR));
    MUST(!v->text || utf8_valid_len(v->text, strlen(v->text)) == strlen(v->text));
    MUST(v->type != YAML_SCALAR || !v->first);
    yaml_each (m, v) {
        n += walk(m, v, depth + 1);
        kids++;
        MUST(!m->key || yaml_get(v, m->key) == m);
    }
    MUST(kids == v->count);
    return n;
}

static void
becomes_json(struct arena *a, const struct yaml *doc)
{
    struct buf b = { 0 };
    struct json *j = yaml_to_json(a, doc), *again;

    MUST(j);
    json_write(&b, j);
    MUST(!buf_failed(&b));
    MUST(json_parse(a, b.p, b.len, &again, NULL) && json_same(j, again));
    buf_release(&b);
}

static void
is_refused_somewhere(const struct yaml_fault *f, const char *p, size_t len)
{
    size_t lines = 1;

    for (size_t i = 0; i < len; i++)
        lines += p[i] == '\n' || p[i] == '\r' || (unsigned char)p[i] >= 0x80;
    MUST(f->what[0] && strlen(f->what) < sizeof f->what);
    MUST(f->line > 0 && f->line <= lines + 1 && f->column > 0 && f->column <= len + 2);
    MUST(strcmp(f->what, "out of memory") != 0);
}

static void
starving_is_harmless(const char *p, size_t len, bool is_good)
{
    struct arena small = { .max = 4096 + len };
    struct yaml_fault f;
    struct yaml *doc;

    if (yaml_parse(&small, p, len, &doc, &f))
        MUST(is_good);
    else
        MUST(!is_good || strcmp(f.what, "out of memory") == 0);
    arena_release(&small);
}

static void
is_a_team_or_says_why_not(const char *p, size_t len, bool is_yaml)
{
    struct problems problems = { 0 };
    struct team t;
    struct err e;
    struct buf said = { 0 };
    struct arena a = { 0 };
    struct json *list;

    enum status s = team_load(&t, "team.yml", p, len, &problems, &e);
    MUST(s == ST_OK || s == ST_INVALID);
    MUST((s == ST_INVALID) == (problems.errors > 0));
    MUST(is_yaml || s == ST_INVALID);
    for (size_t i = 0; i < t.n_phases; i++)
        for (size_t k = 0; k < t.phases[i].n_depends_on; k++)
            MUST(t.phases[i].deps[k] == SIZE_MAX || t.phases[i].deps[k] < t.n_phases);
    team_validate(&t, -1, NULL, &problems);
    team_release(&t);
    problems_write(&said, &problems);
    buf_reset(&said);
    problems_write_json(&said, &problems);
    MUST(json_parse(&a, said.p, said.len, &list, NULL));
    MUST(list->kids.count == problems.errors + problems.warnings);
    arena_release(&a);
    buf_release(&said);
    problems_release(&problems);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *p = (const char *)data;
    struct arena a = { 0 };
    struct yaml_fault f;
    struct yaml *doc;
    bool is_good = yaml_parse(&a, p, len, &doc, &f);

    if (is_good && doc) {
        MUST(walk(doc, NULL, 1) <= YAML_MAX_NODES);
        becomes_json(&a, doc);
    } else if (!is_good) {
        for (const struct yaml_fault *x = &f; x; x = x->next)
            is_refused_somewhere(x, p, len);
    }
    starving_is_harmless(p, len, is_good);
    is_a_team_or_says_why_not(p, len, is_good);
    arena_release(&a);
    return 0;
}
