/*
 * fuzz_match - compares the index of hub/model/match with its rule, on any set of patterns.
 *
 * The input is lines. "-N" removes the pattern that was added N-th, "?TYPE" matches a type, any
 * other line is a pattern to add. At the end everything is matched once more and removed.
 */

#include "fuzz.h"

#include "hub/model/match.h"

enum { MAX = 256 };

struct line {
    char *p; /* a copy of its own, so that ASan detects a read past the end */
    size_t len;
    bool is_in, is_type;
};

static struct line lines[MAX];
static size_t n_lines;
static size_t visited;
static uint64_t last;
static const struct line *asked;

static void
visit(void *context, uint64_t id)
{
    MUST(context == lines && id < n_lines && lines[id].is_in);
    MUST(!visited++ || id > last); /* every id has one pattern */
    last = id;
    MUST(match_pattern(lines[id].p, lines[id].len, asked->p, asked->len));
}

static void
ask(struct matcher *m, const struct line *type)
{
    size_t want = 0;

    for (size_t i = 0; i < n_lines; i++)
        want += lines[i].is_in && match_pattern(lines[i].p, lines[i].len, type->p, type->len);
    visited = 0;
    asked = type;
    MUST(matcher_match(m, type->p, type->len, visit, lines) == want && visited == want);
    MUST(matcher_steps(m) <= matcher_nodes(m));
}

static void
take_out(struct matcher *m, size_t i)
{
    if (i < n_lines) {
        MUST(matcher_remove(m, lines[i].p, lines[i].len, i) == lines[i].is_in);
        lines[i].is_in = false;
    }
}

static void
obey(struct matcher *m, const char *p, size_t len)
{
    struct line *l = &lines[n_lines];
    bool is_type = len && *p == '?';
    size_t index = 0;

    if (len && *p == '-') {
        for (size_t i = 1; i < len && i < 4; i++)
            index = index * 10 + (unsigned char)(p[i] - '0');
        take_out(m, index);
        return;
    }
    *l = (struct line){ .len = len - is_type, .is_type = is_type };
    MUST(l->p = malloc(l->len + 1));
    memcpy(l->p, p + is_type, l->len);
    l->p = realloc(l->p, l->len ? l->len : 1);
    n_lines++;
    if (is_type) {
        ask(m, l);
        return;
    }
    struct err e = { "" };
    enum status s = matcher_add(m, l->p, l->len, n_lines - 1, &e);
    MUST(!s || (s == ST_INVALID && e.text[0]));
    l->is_in = !s;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *p = (const char *)data, *end = p + len;
    struct matcher *m;

    MUST(!matcher_new(&m, NULL));
    n_lines = 0;
    while (p < end && n_lines < MAX) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        obey(m, p, (size_t)(stop - p));
        p = stop + (stop < end);
    }
    for (size_t i = 0; i < n_lines; i++) /* patterns as types too */
        ask(m, &lines[i]);
    for (size_t i = 0; i < n_lines; i++)
        take_out(m, i);
    MUST(matcher_count(m) == 0 && matcher_nodes(m) == 0);
    matcher_free(m);
    for (size_t i = 0; i < n_lines; i++)
        free(lines[i].p);
    return 0;
}
