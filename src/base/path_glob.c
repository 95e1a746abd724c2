#include "base/path_glob.h"

#include "base/utf8.h"

#include <string.h>

enum token_kind { CHAR, ANY, SET, STAR };

/* One step of a segment: a character, or what stands for some. */
struct token {
    enum token_kind kind;
    uint32_t c;           /* CHAR */
    const char *set, *to; /* SET: between [ and ] */
};

struct range {
    uint32_t from, to;
};

enum { SEGMENT_MAX = 255, LAST_CHAR = 0x10FFFF };

/* ---- reading ---- */

/* A character, perhaps behind a backslash. The text is UTF-8, and not at its end. */
static uint32_t
read_char(const char **p, const char *end)
{
    if (**p == '\\' && *p + 1 < end)
        (*p)++;
    size_t len = utf8_char(*p, (size_t)(end - *p));
    uint32_t c = utf8_decode(*p, len);

    *p += len;
    return c;
}

/* The ']' that ends the set behind the '[' at p; NULL: none. One that comes first is a member. */
static const char *
find_set_end(const char *p, const char *end)
{
    p++;
    if (p < end && (*p == '!' || *p == '^'))
        p++;
    for (const char *first = p; p < end; p++) {
        if (*p == ']' && p > first)
            return p;
        if (*p == '\\' && p + 1 < end)
            p++;
    }
    return NULL;
}

static struct token
next_token(const char **p, const char *end)
{
    struct token t = { 0 };

    if (**p == '*') {
        t.kind = STAR;
        while (*p < end && **p == '*')
            (*p)++;
    } else if (**p == '?') {
        t.kind = ANY;
        (*p)++;
    } else if (**p == '[') {
        t.kind = SET;
        t.set = *p + 1;
        t.to = find_set_end(*p, end);
        *p = t.to + 1;
    } else {
        t.kind = CHAR;
        t.c = read_char(p, end);
    }
    return t;
}

static bool
next_range(const char **p, const char *end, struct range *r)
{
    if (*p >= end)
        return false;
    r->from = r->to = read_char(p, end);
    if (end - *p >= 2 && **p == '-') {
        (*p)++;
        r->to = read_char(p, end);
    }
    return true;
}

/* ---- checking ---- */

static enum status
check_set(const char *whole, const char *p, const char *end, struct err *e)
{
    struct range r;
    int n = 0;

    if (!end)
        return err_set(e, ST_INVALID, "\"%s\": a [ has no ] in its segment; \\[ is the character",
                       whole);
    if (*p == '!' || *p == '^')
        p++;
    while (next_range(&p, end, &r)) {
        if (r.from > r.to)
            return err_set(e, ST_INVALID, "\"%s\": a range in [] goes backwards", whole);
        if (++n > PATH_GLOB_RANGES_MAX)
            return err_set(e, ST_INVALID, "\"%s\": [] has more than %d characters and ranges",
                           whole, PATH_GLOB_RANGES_MAX);
    }
    return ST_OK;
}

static enum status
check_segment(const char *whole, const char *p, const char *end, struct err *e)
{
    enum status s = ST_OK;

    if (p == end)
        return err_set(e, ST_INVALID,
                       "\"%s\": has an empty segment; paths are relative, as in src/main.c", whole);
    if ((end - p == 1 && p[0] == '.') || (end - p == 2 && p[0] == '.' && p[1] == '.'))
        return err_set(e, ST_INVALID, "\"%s\": has a segment . or ..", whole);
    if (end - p > SEGMENT_MAX)
        return err_set(e, ST_INVALID, "\"%.80s...\": a segment is longer than %d bytes", whole,
                       SEGMENT_MAX);
    if (end[-1] == '\\') {
        size_t n = 0;
        while (n < (size_t)(end - p) && end[-1 - (ptrdiff_t)n] == '\\')
            n++;
        if (n % 2)
            return err_set(e, ST_INVALID, "\"%s\": a \\ stands at the end of a segment", whole);
    }
    while (!s && p < end) {
        if (*p == '[')
            s = check_set(whole, p + 1, find_set_end(p, end), e);
        if (!s)
            next_token(&p, end);
    }
    return s;
}

enum status
path_glob_check(const char *pattern, struct err *e)
{
    size_t len = strlen(pattern), n = 0;
    enum status s = ST_OK;

    if (!len)
        return err_set(e, ST_INVALID, "a path is empty");
    if (utf8_valid_len(pattern, len) != len)
        return err_set(e, ST_INVALID, "a path is not UTF-8");
    if (len > PATH_GLOB_MAX)
        return err_set(e, ST_INVALID, "\"%.80s...\": is longer than %d bytes", pattern,
                       PATH_GLOB_MAX);
    for (const char *p = pattern; !s; p++) {
        size_t segment = strcspn(p, "/");
        s = check_segment(pattern, p, p + segment, e);
        if (!s && ++n > PATH_GLOB_SEGMENTS_MAX)
            s = err_set(e, ST_INVALID, "\"%.80s...\": has more than %d segments", pattern,
                        PATH_GLOB_SEGMENTS_MAX);
        p += segment;
        if (!*p)
            break;
    }
    return s;
}

/* ---- one segment ---- */

/* Sorted ranges that do not touch, also for [!...]; n of them. */
static size_t
set_ranges(const struct token *t, struct range to[PATH_GLOB_RANGES_MAX + 1])
{
    struct range all[PATH_GLOB_RANGES_MAX], r;
    const char *p = t->set;
    bool is_not = *p == '!' || *p == '^';
    size_t n = 0, k = 0;

    p += is_not;
    while (n < PATH_GLOB_RANGES_MAX && next_range(&p, t->to, &r)) {
        size_t i = n++;
        for (; i && all[i - 1].from > r.from; i--)
            all[i] = all[i - 1];
        all[i] = r;
    }
    if (!is_not) {
        memcpy(to, all, n * sizeof *all);
        return n;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].from > next)
            to[k++] = (struct range){ next, all[i].from - 1 };
        if (all[i].to + 1 > next)
            next = all[i].to + 1;
    }
    if (next <= LAST_CHAR)
        to[k++] = (struct range){ next, LAST_CHAR };
    return k;
}

static size_t
token_ranges(const struct token *t, struct range to[PATH_GLOB_RANGES_MAX + 1])
{
    if (t->kind == SET)
        return set_ranges(t, to);
    to[0] = t->kind == CHAR ? (struct range){ t->c, t->c } : (struct range){ 0, LAST_CHAR };
    return 1;
}

/* Is there a character that both stand for? */
static bool
tokens_meet(const struct token *a, const struct token *b)
{
    struct range ra[PATH_GLOB_RANGES_MAX + 1], rb[PATH_GLOB_RANGES_MAX + 1];

    if (a->kind == CHAR && b->kind == CHAR)
        return a->c == b->c;
    size_t na = token_ranges(a, ra), nb = token_ranges(b, rb);
    for (size_t i = 0; i < na; i++)
        for (size_t k = 0; k < nb; k++)
            if (ra[i].from <= rb[k].to && rb[k].from <= ra[i].to)
                return true;
    return false;
}

static size_t
read_tokens(const char *p, size_t len, struct token to[SEGMENT_MAX])
{
    const char *end = p + len;
    size_t n = 0;

    while (p < end && n < SEGMENT_MAX)
        to[n++] = next_token(&p, end);
    return n;
}

/* Is there a name that both segments match? From the ends: can[k] says whether the tokens of a
 * from i on and those of b from k on have a text in common. */
static bool
segments_meet(const char *pa, size_t len_a, const char *pb, size_t len_b)
{
    struct token a[SEGMENT_MAX], b[SEGMENT_MAX];
    bool rows[2][SEGMENT_MAX + 1];
    size_t n = read_tokens(pa, len_a, a), m = read_tokens(pb, len_b, b);

    for (size_t i = n + 1; i-- > 0;) {
        bool *can = rows[i % 2], *after = rows[(i + 1) % 2];
        for (size_t k = m + 1; k-- > 0;) {
            if (i == n && k == m)
                can[k] = true;
            else if (i < n && a[i].kind == STAR)
                can[k] = after[k] || (k < m && can[k + 1]);
            else if (k < m && b[k].kind == STAR)
                can[k] = can[k + 1] || (i < n && after[k]);
            else
                can[k] = i < n && k < m && after[k + 1] && tokens_meet(&a[i], &b[k]);
        }
    }
    return rows[0][0];
}

/* ---- whole patterns ---- */

struct segment {
    const char *p;
    size_t len;
    bool is_any_depth; /* two stars */
};

static size_t
split(const char *p, struct segment to[PATH_GLOB_SEGMENTS_MAX])
{
    size_t n = 0;

    while (n < PATH_GLOB_SEGMENTS_MAX) {
        size_t len = strcspn(p, "/");
        to[n++] = (struct segment){ p, len, len == 2 && memcmp(p, "**", 2) == 0 };
        if (!p[len])
            break;
        p += len + 1;
    }
    return n;
}

/* From the ends, as segments_meet. */
bool
path_glob_overlap(const char *pattern_a, const char *pattern_b)
{
    struct segment a[PATH_GLOB_SEGMENTS_MAX], b[PATH_GLOB_SEGMENTS_MAX];
    bool rows[2][PATH_GLOB_SEGMENTS_MAX + 1];
    size_t n = split(pattern_a, a), m = split(pattern_b, b);

    for (size_t i = n + 1; i-- > 0;) {
        bool *can = rows[i % 2], *after = rows[(i + 1) % 2];
        for (size_t k = m + 1; k-- > 0;) {
            if (i == n)
                can[k] = k == m || (b[k].is_any_depth && can[k + 1]);
            else if (k == m)
                can[k] = a[i].is_any_depth && after[k];
            else if (a[i].is_any_depth)
                can[k] = after[k] || can[k + 1];
            else if (b[k].is_any_depth)
                can[k] = can[k + 1] || after[k];
            else
                can[k] = after[k + 1] && segments_meet(a[i].p, a[i].len, b[k].p, b[k].len);
        }
    }
    return rows[0][0];
}

void
path_glob_escape(struct buf *to, const char *path)
{
    for (const char *p = path; *p; p++) {
        if (strchr("*?[\\", *p))
            buf_addc(to, '\\');
        buf_addc(to, *p);
    }
}
