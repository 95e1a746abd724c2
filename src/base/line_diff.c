#include "base/line_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct diff_line {
    const char *p;
    size_t len; /* without its '\n' */
};

struct diff_text {
    struct diff_line *lines;
    bool *differs; /* of each line: not in the other text */
    size_t n;
};

/* ---- lines ---- */

static enum status
split(struct diff_text *s, const struct buf *text, struct err *e)
{
    size_t n = 0;

    for (size_t at = 0; at < text->len; n++) {
        const char *lf = memchr(text->p + at, '\n', text->len - at);
        at = lf ? (size_t)(lf - text->p) + 1 : text->len;
    }
    s->lines = calloc(n ? n : 1, sizeof *s->lines);
    s->differs = calloc(n ? n : 1, sizeof *s->differs);
    if (!s->lines || !s->differs)
        return err_nomem(e);
    for (size_t at = 0; at < text->len; s->n++) {
        const char *p = text->p + at, *lf = memchr(p, '\n', text->len - at);
        s->lines[s->n] = (struct diff_line){ p, lf ? (size_t)(lf - p) : text->len - at };
        at += s->lines[s->n].len + (lf != NULL);
    }
    return ST_OK;
}

static bool
is_same(const struct diff_line *a, const struct diff_line *b)
{
    return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

/* ---- what differs ---- */

/*
 * Lines behind us: x of a, and y = x - k of b, on diagonal k. reach[d] has, for k = -d, -d + 2 … d,
 * the largest x that d lines gone or come lead to, at index k + d.
 *
 * Does step d come down from diagonal k + 1 (a line comes), or right from k - 1 (a line goes)?
 */
static bool
is_down(const int32_t *before, int32_t d, int32_t k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* Back along the way from the end of both. */
static void
mark_way(struct diff_text *a, struct diff_text *b, size_t from, int32_t *const *reach, int32_t d,
         int32_t k)
{
    for (; d > 0; d--) {
        bool comes = is_down(reach[d - 1], d, k);
        k += comes ? 1 : -1;
        int32_t x = reach[d - 1][k + d - 1];
        if (comes)
            b->differs[from + (size_t)(x - k)] = true;
        else
            a->differs[from + (size_t)x] = true;
    }
}

/* Marks what differs among n lines of a and m of b. ST_NOT_FOUND: more than LINE_DIFF_MAX do. */
static enum status
compare(struct diff_text *a, struct diff_text *b, size_t from, int32_t n, int32_t m, struct err *e)
{
    const struct diff_line *p = a->lines + from, *q = b->lines + from;
    int32_t *reach[LINE_DIFF_MAX + 1];
    int32_t rows = 0;
    enum status s = ST_NOT_FOUND;

    for (int32_t d = 0; d <= LINE_DIFF_MAX && s == ST_NOT_FOUND; d++) {
        int32_t *now = reach[d] = malloc((2 * (size_t)d + 1) * sizeof *now);
        if (!now) {
            s = err_nomem(e);
            break;
        }
        rows++;
        for (int32_t k = -d; k <= d && s == ST_NOT_FOUND; k += 2) {
            const int32_t *before = d ? reach[d - 1] : NULL;
            int32_t x = !d                      ? 0
                        : is_down(before, d, k) ? before[k + 1 + d - 1]
                                                : before[k - 1 + d - 1] + 1;
            while (x < n && x - k < m && is_same(&p[x], &q[x - k]))
                x++;
            now[k + d] = x;
            if (x >= n && x - k >= m) {
                mark_way(a, b, from, reach, d, k);
                s = ST_OK;
            }
        }
    }
    while (rows > 0)
        free(reach[--rows]);
    return s;
}

static enum status
find_differences(struct diff_text *a, struct diff_text *b, struct err *e)
{
    size_t from = 0, n = a->n, m = b->n;

    while (from < n && from < m && is_same(&a->lines[from], &b->lines[from]))
        from++;
    while (n > from && m > from && is_same(&a->lines[n - 1], &b->lines[m - 1])) {
        n--;
        m--;
    }
    enum status s = n > INT32_MAX / 4 || m > INT32_MAX / 4
                        ? ST_NOT_FOUND
                        : compare(a, b, from, (int32_t)(n - from), (int32_t)(m - from), e);
    if (s != ST_NOT_FOUND)
        return s;
    memset(a->differs + from, true, n - from);
    memset(b->differs + from, true, m - from);
    return ST_OK;
}

/* ---- hunks ---- */

static void
add_range(struct buf *to, char sign, size_t at, size_t n)
{
    /* an empty range stands behind the line before it */
    buf_addf(to, n == 1 ? " %c%zu" : " %c%zu,%zu", sign, n ? at + 1 : at, n);
}

static void
add_lines(struct buf *to, char sign, const struct diff_line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = lines[i].len;
        buf_addc(to, sign);
        buf_add(to, lines[i].p, len && lines[i].p[len - 1] == '\r' ? len - 1 : len);
        buf_addc(to, '\n');
    }
}

static size_t
run_of(const struct diff_text *s, size_t at)
{
    size_t n = 0;

    while (at + n < s->n && s->differs[at + n])
        n++;
    return n;
}

static void
add_hunks(struct buf *to, const struct diff_text *a, const struct diff_text *b)
{
    for (size_t i = 0, j = 0; i < a->n || j < b->n; i++, j++) {
        size_t gone = run_of(a, i), come = run_of(b, j);
        if (!gone && !come)
            continue;
        buf_adds(to, "@@");
        add_range(to, '-', i, gone);
        add_range(to, '+', j, come);
        buf_adds(to, " @@\n");
        add_lines(to, '-', a->lines + i, gone);
        add_lines(to, '+', b->lines + j, come);
        i += gone;
        j += come;
    }
}

enum status
line_diff(struct buf *to, const struct buf *old, const struct buf *new, struct err *e)
{
    struct diff_text a = { 0 }, b = { 0 };
    enum status s = split(&a, old, e);

    if (!s)
        s = split(&b, new, e);
    if (!s)
        s = find_differences(&a, &b, e);
    if (!s)
        add_hunks(to, &a, &b);
    free(a.lines);
    free(a.differs);
    free(b.lines);
    free(b.differs);
    return s ? s : buf_status(to, "the lines that differ", e);
}
