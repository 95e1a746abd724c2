#include "net/query.h"

#include "base/utf8.h"
#include "net/http.h"

#include <string.h>

enum { NAME_SHOWN = 64 }; /* bytes of a parameter's name in a message */

/* Decodes into `to`, which has room for len bytes and a NUL. NULL: valid, else the reason. */
static const char *
decode(char *to, size_t *to_len, const char *p, size_t len, bool is_plus_space)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        char c = p[i];
        if (c == '%') {
            int high = len - i > 2 ? http_hex(p[i + 1]) : -1;
            int low = len - i > 2 ? http_hex(p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return "has a % that is not followed by two hexadecimal digits";
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && is_plus_space) {
            c = ' ';
        }
        if (c == '\0')
            return "holds a NUL byte";
        to[n++] = c;
    }
    to[n] = '\0';
    *to_len = n;
    return utf8_valid_len(to, n) == n ? NULL : "is not UTF-8";
}

/* A parameter's name for a message: short, and only visible ASCII. */
static const char *
shown(char to[NAME_SHOWN + 4], const char *p, size_t len)
{
    size_t n = len < NAME_SHOWN ? len : NAME_SHOWN;

    for (size_t i = 0; i < n; i++)
        to[i] = p[i] > ' ' && p[i] < 0x7F ? p[i] : '?';
    memcpy(to + n, len > n ? "..." : "", len > n ? 4 : 1);
    return to;
}

enum status
url_decode(struct arena *a, const char *p, size_t len, const char *what, const char **to,
           struct err *e)
{
    char *plain = arena_alloc(a, len + 1);
    size_t n;

    if (!plain)
        return err_nomem(e);
    const char *why = decode(plain, &n, p, len, false);
    if (why)
        return err_set(e, ST_INVALID, "%s %s", what, why);
    *to = plain;
    return ST_OK;
}

static enum status
parse_pair(struct query_pair *pair, struct arena *a, const char *p, size_t len, struct err *e)
{
    const char *eq = memchr(p, '=', len);
    size_t name_len = eq ? (size_t)(eq - p) : len;
    size_t value_at = eq ? name_len + 1 : len;
    char *name = arena_alloc(a, len + 2), text[NAME_SHOWN + 4];

    if (!name)
        return err_nomem(e);
    const char *why = decode(name, &pair->name_len, p, name_len, true);
    if (why)
        return err_set(e, ST_INVALID, "the name of the query parameter %s %s",
                       shown(text, p, name_len), why);
    char *value = name + name_len + 1;
    why = decode(value, &pair->value_len, p + value_at, len - value_at, true);
    if (why)
        return err_set(e, ST_INVALID, "the query parameter %s %s",
                       shown(text, name, pair->name_len), why);
    pair->name = name;
    pair->value = value;
    return ST_OK;
}

enum status
query_parse(struct query *q, struct arena *a, const char *p, size_t len, struct err *e)
{
    enum status s = ST_OK;
    size_t most = len > 0;

    *q = (struct query){ 0 };
    for (size_t i = 0; i < len; i++)
        most += p[i] == '&';
    if (most == 0)
        return ST_OK;
    if (most > QUERY_PAIRS)
        most = QUERY_PAIRS;
    q->pairs = arena_alloc(a, most * sizeof *q->pairs);
    if (!q->pairs)
        return err_nomem(e);
    for (size_t at = 0; at < len && !s;) {
        const char *end = memchr(p + at, '&', len - at);
        size_t n = end ? (size_t)(end - (p + at)) : len - at;
        if (n > 0 && p[at] != '=') {
            if (q->n == QUERY_PAIRS)
                return err_set(e, ST_INVALID, "more than %d query parameters", QUERY_PAIRS);
            s = parse_pair(&q->pairs[q->n], a, p + at, n, e);
            q->n += !s;
        }
        at += n + 1;
    }
    return s;
}

const char *
query_get(const struct query *q, const char *name)
{
    for (size_t i = 0; i < q->n; i++)
        if (strcmp(q->pairs[i].name, name) == 0)
            return q->pairs[i].value;
    return NULL;
}

size_t
query_count(const struct query *q, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++)
        n += strcmp(q->pairs[i].name, name) == 0;
    return n;
}

enum status
query_one(const struct query *q, const char *name, const char **to, struct err *e)
{
    *to = query_get(q, name);
    if (query_count(q, name) > 1)
        return err_set(e, ST_INVALID, "the query parameter %s is given more than once", name);
    return ST_OK;
}

enum status
query_unsigned(const struct query *q, const char *name, uint64_t least, uint64_t most,
               uint64_t otherwise, uint64_t *to, struct err *e)
{
    const char *text;
    enum status s = query_one(q, name, &text, e);
    uint64_t n = 0;
    bool is_bad = false;

    *to = otherwise;
    if (s || !text)
        return s;
    for (const char *c = text; *c && !is_bad; c++)
        is_bad = *c < '0' || *c > '9' || __builtin_mul_overflow(n, 10u, &n) ||
                 __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n);
    if (is_bad || !*text || n < least || n > most)
        return err_set(e, ST_INVALID,
                       "the query parameter %s must be a whole number from %ju to %ju", name,
                       (uintmax_t)least, (uintmax_t)most);
    *to = n;
    return ST_OK;
}
