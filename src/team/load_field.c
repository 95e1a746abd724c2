/* load_field - load_map reads a map by its table; the readers check the shape of one value. */
#include "team/load.h"

#include "base/opt.h"
#include "base/suggest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_DIGITS = 15 };
#define AMOUNT_MAX  1e9
#define TIME_MAX_MS (INT64_C(30) * 24 * 3600 * 1000) /* a longer one is taken for a mistake */

bool
load_is_null(const struct yaml *v)
{
    return !v || (v->type == YAML_SCALAR && !v->is_quoted &&
                  (!*v->text || strcmp(v->text, "~") == 0 || strcmp(v->text, "null") == 0));
}

struct problem_at
load_at(const struct load *l, const struct load_field *f, const struct yaml *v)
{
    return (struct problem_at){ l->file, v->line, v->column, l->phase, f ? f->key : NULL };
}

void *
load_alloc(struct load *l, size_t n, size_t size)
{
    void *p = arena_alloc(l->arena, (n ? n : 1) * size);

    if (p)
        memset(p, 0, (n ? n : 1) * size);
    else
        l->is_starved = true;
    return p;
}

static const char *
shape(const struct yaml *v)
{
    static const char *const names[] = {
        [YAML_SCALAR] = "a text", [YAML_LIST] = "a list", [YAML_MAP] = "a map"
    };

    return names[v->type];
}

static void
wrong(struct load *l, const struct load_field *f, const struct yaml *v, const char *wanted)
{
    if (v->type == YAML_SCALAR)
        problem_error(l->problems, load_at(l, f, v), "%s must be %s, not \"%.80s\"", f->key, wanted,
                      v->text);
    else
        problem_error(l->problems, load_at(l, f, v), "%s must be %s, not %s", f->key, wanted,
                      shape(v));
}

/* ---- a map ---- */

void
load_unknown(struct load *l, const struct yaml *v, const char *what, const char *meant)
{
    struct problem_at at = { l->file, v->key_line, v->key_column, l->phase, NULL };

    if (strcmp(v->key, "<<") == 0)
        problem_warn(l->problems, at, "merge keys (<<) have no meaning here");
    else if (meant)
        problem_warn(l->problems, at, "unknown key \"%.80s\" in %s (did you mean \"%s\"?)", v->key,
                     what, meant);
    else
        problem_warn(l->problems, at, "unknown key \"%.80s\" in %s", v->key, what);
}

static void
unknown_key(struct load *l, const struct yaml *v, const char *what, const struct load_field *fields)
{
    struct suggest near = { .word = v->key };

    if (l->problems->errors + l->problems->warnings < TEAM_GUESSES_MAX)
        for (const struct load_field *f = fields; f->key; f++)
            suggest_try(&near, f->key);
    load_unknown(l, v, what, near.best);
}

static void
read_map(struct load *l, const struct yaml *v, const char *what, const struct load_field *fields,
         bool is_whole, void *to)
{
    if (v->type != YAML_MAP) {
        problem_error(l->problems, load_at(l, NULL, v), "%s must be a map, not %s", what, shape(v));
        return;
    }
    yaml_each (m, v) {
        const struct load_field *f = fields;
        while (f->key && strcmp(f->key, m->key) != 0)
            f++;
        if (!f->key && is_whole)
            unknown_key(l, m, what, fields);
        else if (f->key && !load_is_null(m))
            f->read(l, f, m, to);
    }
}

void
load_map(struct load *l, const struct yaml *v, const char *what, const struct load_field *fields,
         void *to)
{
    read_map(l, v, what, fields, true, to);
}

void
load_known(struct load *l, const struct yaml *v, const char *what, const struct load_field *fields,
           void *to)
{
    read_map(l, v, what, fields, false, to);
}

void
load_open_map(struct load *l, const struct yaml *v, const char *what,
              const struct load_field *fields)
{
    yaml_each (m, v && v->type == YAML_MAP ? v : NULL) {
        struct suggest near = { .word = m->key };
        bool is_known = false;
        for (const struct load_field *f = fields; f->key; f++) {
            is_known |= strcmp(f->key, m->key) == 0;
            suggest_try(&near, f->key);
        }
        if (!is_known && near.best && near.distance <= 1)
            unknown_key(l, m, what, fields);
    }
}

struct field
load_describe(struct arena *a, const struct load_field *f)
{
    static const struct {
        void (*read)(struct load *, const struct load_field *, const struct yaml *, void *);
        const char *takes;
    } readers[] = {
        { load_text, "a text" },
        { load_bool, "true or false" },
        { load_time, "a time like 90s, 20m or 2h" },
        { load_texts, "a list of texts" },
        { load_texts_or_commas, "a list of texts, or one text with commas" },
        { load_pairs, "a map of texts" },
        { load_json_list, "a list" },
        { load_json_map, "a map" },
    };
    struct field row = { f->key, f->takes, f->otherwise, f->says };
    char range[64];

    if (!row.takes && f->read == load_number) {
        int n = snprintf(range, sizeof range, "a whole number from %u to %u", f->min, f->max);
        row.takes = arena_dup(a, range, (size_t)n);
    }
    for (size_t i = 0; !row.takes && i < sizeof readers / sizeof *readers; i++)
        if (f->read == readers[i].read)
            row.takes = readers[i].takes;
    return row;
}

/* ---- values ---- */

#define MEMBER(type, to, offset) ((type *)(void *)((char *)(to) + (offset)))

void
load_text(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    if (v->type == YAML_SCALAR)
        *MEMBER(const char *, to, f->at) = v->text;
    else
        wrong(l, f, v, "a text");
}

void
load_bool(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    bool is_true = v->type == YAML_SCALAR && !v->is_quoted && strcmp(v->text, "true") == 0;

    if (is_true || (v->type == YAML_SCALAR && !v->is_quoted && strcmp(v->text, "false") == 0))
        *MEMBER(bool, to, f->at) = is_true;
    else
        wrong(l, f, v, "true or false");
}

void
load_number(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    const char *s = v->type == YAML_SCALAR ? v->text : "";
    size_t n = strspn(s, "0123456789");
    unsigned long value = n > 0 && n < 10 ? strtoul(s, NULL, 10) : ULONG_MAX;

    if (n > 0 && s[n] == '\0' && value >= f->min && value <= f->max)
        *MEMBER(unsigned, to, f->at) = (unsigned)value;
    else
        problem_error(l->problems, load_at(l, f, v),
                      "%s must be a whole number from %u to %u, not %s%.80s%s", f->key, f->min,
                      f->max, *s ? "\"" : "", *s ? s : shape(v), *s ? "\"" : "");
}

/* An amount of money, like 2.50. */
void
load_amount(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    const char *s = v->type == YAML_SCALAR ? v->text : "";
    size_t whole = strspn(s, "0123456789"), part = s[whole] == '.' ? whole + 1 : whole;
    double value = strtod(s, NULL);

    part += strspn(s + part, "0123456789");
    if (whole && !s[part] && value > 0 && value < AMOUNT_MAX)
        *MEMBER(double, to, f->at) = value;
    else
        wrong(l, f, v, f->takes);
}

void
load_count(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    const char *s = v->type == YAML_SCALAR ? v->text : "";
    size_t n = strspn(s, "0123456789");
    long long value = n && !s[n] && n <= COUNT_DIGITS ? strtoll(s, NULL, 10) : 0;

    if (value > 0)
        *MEMBER(int64_t, to, f->at) = value;
    else
        wrong(l, f, v, f->takes);
}

void
load_time(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    int64_t ms;

    if (v->type != YAML_SCALAR || !opt_parse_ms(v->text, &ms))
        wrong(l, f, v, "a time like 90s, 20m or 2h");
    else if (ms < 1 || ms > TIME_MAX_MS)
        problem_error(l->problems, load_at(l, f, v),
                      "%s must be more than 0 and at most 720h, not \"%.80s\"", f->key, v->text);
    else
        *MEMBER(int64_t, to, f->at) = ms;
}

bool
load_is_list(struct load *l, const struct load_field *f, const struct yaml *v)
{
    if (v->type == YAML_LIST)
        return true;
    wrong(l, f, v, "a list");
    return false;
}

void
load_texts(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    size_t n = 0;

    if (!load_is_list(l, f, v))
        return;
    const char **texts = load_alloc(l, v->count, sizeof *texts);
    if (!texts)
        return;
    yaml_each (m, v) {
        if (m->type == YAML_SCALAR && !load_is_null(m))
            texts[n++] = m->text;
        else
            problem_error(l->problems, load_at(l, f, m), "%s must be a list of texts: this is %s",
                          f->key, load_is_null(m) ? "nothing" : shape(m));
    }
    *MEMBER(const char **, to, f->at) = texts;
    *MEMBER(size_t, to, f->n_at) = n;
}

void
load_texts_or_commas(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    if (v->type != YAML_SCALAR) {
        load_texts(l, f, v, to);
        return;
    }
    size_t n = 1;
    for (const char *s = v->text; (s = strchr(s, ',')); s++)
        n++;
    const char **texts = load_alloc(l, n, sizeof *texts);
    if (!texts)
        return;
    n = 0;
    for (const char *s = v->text; s;) {
        s += strspn(s, " \t\n");
        size_t len = strcspn(s, ",");
        const char *next = s[len] ? s + len + 1 : NULL;
        while (len > 0 && strchr(" \t\n", s[len - 1]))
            len--;
        if (len > 0 && !(texts[n++] = arena_dup(l->arena, s, len))) {
            l->is_starved = true;
            return;
        }
        s = next;
    }
    *MEMBER(const char **, to, f->at) = texts;
    *MEMBER(size_t, to, f->n_at) = n;
}

void
load_pairs(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    size_t n = 0;

    if (v->type != YAML_MAP) {
        wrong(l, f, v, "a map");
        return;
    }
    struct pair *pairs = load_alloc(l, v->count, sizeof *pairs);
    if (!pairs)
        return;
    yaml_each (m, v) {
        if (m->type == YAML_SCALAR)
            pairs[n++] =
                (struct pair){ m->key, load_is_null(m) ? "" : m->text, m->line, m->column };
        else
            problem_error(l->problems, load_at(l, f, m), "%s.%.80s must be a text, not %s", f->key,
                          m->key, shape(m));
    }
    *MEMBER(struct pair *, to, f->at) = pairs;
    *MEMBER(size_t, to, f->n_at) = n;
}

static void
read_json(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct json *j = yaml_to_json(l->arena, v);

    if (!j)
        l->is_starved = true;
    *MEMBER(const struct json *, to, f->at) = j;
}

void
load_json_list(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    if (load_is_list(l, f, v))
        read_json(l, f, v, to);
}

void
load_json_map(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    if (v->type == YAML_MAP)
        read_json(l, f, v, to);
    else
        wrong(l, f, v, "a map");
}

void
load_nothing(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    (void)l, (void)f, (void)v, (void)to;
}
