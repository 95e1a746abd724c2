#include "team/version.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

/* The versions from `from` on, below `to`. */
struct interval {
    struct version from, to;
};

static const struct version everything = { .n = { 999999999, 999999999, 999999999 } };

/* ---- versions ---- */

bool
version_parse(const char *s, struct version *out)
{
    *out = (struct version){ 0 };
    for (int i = 0; i < 3; i++) {
        size_t n = strspn(s, "0123456789");
        if (n == 0 || n > DIGITS_MAX || (n > 1 && *s == '0') || (i < 2 && s[n] != '.'))
            return false;
        out->n[i] = (unsigned)strtoul(s, NULL, 10);
        s += n + (i < 2);
    }
    out->is_pre = *s == '-';
    return !*s || ((*s == '-' || *s == '+') && s[1] &&
                   !s[1 + strspn(s + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                        "0123456789.+-")]);
}

int
version_compare(const struct version *a, const struct version *b)
{
    for (int i = 0; i < 3; i++)
        if (a->n[i] != b->n[i])
            return a->n[i] < b->n[i] ? -1 : 1;
    return 0;
}

/* The first version in which the number i is larger. */
static struct version
next(const struct version *v, int i)
{
    struct version to = { 0 };

    memcpy(to.n, v->n, (size_t)(i + 1) * sizeof *to.n);
    to.n[i]++;
    return to;
}

struct version
version_bump(const struct version *v, enum version_part part)
{
    bool is_ahead = v->is_pre;

    for (int i = (int)part + 1; i < 3; i++)
        is_ahead = is_ahead && v->n[i] == 0;
    return is_ahead ? (struct version){ .n = { v->n[0], v->n[1], v->n[2] } } : next(v, (int)part);
}

/* ---- ranges ---- */

/* A version that may be shorter ("1.2", "1.x", "*"): all that begin with it. *n numbers are given.
 * NULL: it is none; else what follows it. */
static const char *
parse_partial(const char *s, struct interval *out, int *n)
{
    bool is_open = false;

    *out = (struct interval){ .to = everything };
    *n = 0;
    s += *s == 'v' || *s == '=';
    for (int i = 0; i < 3; i++) {
        size_t len = strspn(s, "0123456789");
        bool is_any = *s == 'x' || *s == 'X' || *s == '*';
        if (len > DIGITS_MAX || (len == 0 && !is_any) || (is_open && len))
            return NULL;
        is_open = is_open || is_any;
        if (!is_any) {
            out->from.n[i] = (unsigned)strtoul(s, NULL, 10);
            *n = i + 1;
        }
        s += is_any ? 1 : len;
        if (*s != '.')
            break;
        s++;
    }
    if (*n)
        out->to = next(&out->from, *n - 1);
    if (*s == '-' || *s == '+')
        s += 1 + strcspn(s + 1, " ,|");
    return !*s || strchr(" ,|", *s) ? s : NULL;
}

static void
apply(char op, bool is_equal, int n, struct interval *x)
{
    const struct version zero = { 0 };
    int kept = 0;

    switch (op) {
    case '>':
        if (!is_equal)
            x->from = x->to;
        x->to = everything;
        break;
    case '<':
        if (!is_equal)
            x->to = x->from;
        x->from = zero;
        break;
    case '^':
        while (kept < n - 1 && x->from.n[kept] == 0)
            kept++;
        if (n)
            x->to = next(&x->from, kept);
        break;
    case '~':
        if (n)
            x->to = next(&x->from, n > 1 ? 1 : 0);
        break;
    default:
        break;
    }
}

static const char *
skip(const char *s)
{
    return s + strspn(s, " ,\t\n");
}

/* One condition, with its operator, or "1.2 - 1.4". NULL: it cannot be read; else what follows. */
static const char *
parse_condition(const char *s, struct interval *out)
{
    struct interval last;
    char op = strchr("<>^~", *s) ? *s : '\0';
    int n;

    s += op != '\0';
    bool is_equal = op && *s == '=';
    s = skip(s + is_equal);
    if (!(s = parse_partial(s, out, &n)))
        return NULL;
    apply(op, is_equal, n, out);
    if (op || strncmp(skip(s), "- ", 2) != 0)
        return s;
    s = parse_partial(skip(skip(s) + 1), &last, &n);
    out->to = last.to;
    return s;
}

static bool
contains(const struct interval *x, const struct version *v)
{
    return version_compare(v, &x->from) >= 0 && version_compare(v, &x->to) < 0;
}

enum status
version_in_range(const struct version *v, const char *range, bool *is_in, struct err *e)
{
    const char *s = skip(range);
    bool holds = true;

    *is_in = false;
    for (;;) {
        struct interval x;
        if (!*s || strncmp(s, "||", 2) == 0) {
            *is_in = *is_in || holds;
            if (!*s)
                return ST_OK;
            s = skip(s + 2);
            holds = true;
            continue;
        }
        if (!(s = parse_condition(s, &x)))
            return err_set(e, ST_INVALID,
                           "\"%.80s\" is not a range of versions: write it like \">=0.1 <2\", "
                           "\"^0.1.0\", \"~1.2\" or \"1.x\"",
                           range);
        holds = holds && contains(&x, v);
        s = skip(s);
    }
}
