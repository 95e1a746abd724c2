#include "room/review_verdict.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define MARK "VERDICT:"

struct lines {
    const char *at, *end;
};

static bool
next_line(struct lines *l, const char **p, size_t *len)
{
    if (l->at >= l->end)
        return false;
    const char *nl = memchr(l->at, '\n', (size_t)(l->end - l->at));
    *p = l->at;
    *len = (size_t)((nl ? nl : l->end) - l->at);
    l->at = nl ? nl + 1 : l->end;
    return true;
}

static bool
is_decoration(char c)
{
    return c && strchr(" \t\r*_`#>", c);
}

static void
skip_decoration(const char **p, size_t *len)
{
    while (*len && is_decoration(**p))
        ++*p, --*len;
}

/* The word at the beginning; *rest: what follows it. */
static size_t
word_at(const char *p, size_t len, const char *const *words, size_t n, size_t *rest)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = strlen(words[i]);
        if (k > len || strncasecmp(p, words[i], k) != 0)
            continue;
        char next = k < len ? p[k] : '\0';
        /* "PASSED" is PASS; "PASS|FAIL" is a template. */
        if (next == '|' || next == '/')
            return SIZE_MAX;
        *rest = len - k;
        return i;
    }
    return SIZE_MAX;
}

static size_t
after_mark(const char *p, size_t len, const char *const *words, size_t n)
{
    size_t rest;

    p += sizeof MARK - 1;
    len -= sizeof MARK - 1;
    skip_decoration(&p, &len);
    return word_at(p, len, words, n, &rest);
}

static bool
has_mark(const char *p, size_t len)
{
    return len >= sizeof MARK - 1 && strncasecmp(p, MARK, sizeof MARK - 1) == 0;
}

size_t
review_verdict(const char *text, size_t len, const char *const *words, size_t n)
{
    struct lines l = { text, text + len };
    size_t begins = SIZE_MAX, anywhere = SIZE_MAX, bare = SIZE_MAX, line = 0, n_line;
    const char *p;

    while (next_line(&l, &p, &n_line)) {
        skip_decoration(&p, &n_line);
        if (has_mark(p, n_line)) {
            size_t v = after_mark(p, n_line, words, n);
            begins = v != SIZE_MAX ? v : begins;
        }
        for (size_t i = 1; i < n_line; i++)
            if (has_mark(p + i, n_line - i)) {
                size_t v = after_mark(p + i, n_line - i, words, n);
                anywhere = v != SIZE_MAX ? v : anywhere;
            }
        size_t rest = 0, v = word_at(p, n_line, words, n, &rest);
        while (rest && (is_decoration(p[n_line - rest]) || strchr(".!", p[n_line - rest])))
            rest--;
        if (line++ < REVIEW_VERDICT_LINES && v != SIZE_MAX && rest == 0 && bare == SIZE_MAX)
            bare = v;
    }
    return begins != SIZE_MAX ? begins : anywhere != SIZE_MAX ? anywhere : bare;
}
