/*
 * fuzz_path_glob - compares path_glob_overlap with a slow rule: every path of a few characters, and
 * a matcher that tries everything.
 *
 * The input is two patterns, a line each. A path that both cover means that they overlap; the other
 * way round holds only for patterns whose shortest common path is short, so it is not asked.
 */

#include "fuzz.h"

#include "base/path_glob.h"
#include "base/utf8.h"

enum { STEPS = 200000, LETTERS = 5, DEPTH = 5 };

static const char alphabet[LETTERS] = { 'a', 'b', '/', '.', '-' };
static long steps;

/* Does the set at p (behind its '[', up to its ']') hold the character? */
static bool
in_set(const char *p, const char *end, unsigned char c)
{
    bool is_not = *p == '!' || *p == '^', is_in = false;

    for (p += is_not; p < end;) {
        uint32_t from, to;
        p += *p == '\\' && p + 1 < end;
        size_t n = utf8_char(p, (size_t)(end - p));
        from = to = utf8_decode(p, n);
        p += n;
        if (end - p >= 2 && *p == '-') {
            p++;
            p += *p == '\\' && p + 1 < end;
            n = utf8_char(p, (size_t)(end - p));
            to = utf8_decode(p, n);
            p += n;
        }
        is_in = is_in || (c >= from && c <= to);
    }
    return is_in != is_not;
}

/* Does the pattern match the path? */
static bool
covers(const char *p, const char *path, bool is_start)
{
    if (++steps > STEPS)
        return false;
    if (is_start && p[0] == '*' && p[1] == '*' && (p[2] == '/' || !p[2])) {
        if (!p[2])
            return true;
        if (covers(p + 3, path, true))
            return true;
        const char *slash = strchr(path, '/');
        return slash && covers(p, slash + 1, true);
    }
    if (!*p)
        return !*path;
    if (*p == '*')
        return covers(p + 1, path, false) || (*path && *path != '/' && covers(p, path + 1, false));
    if (*p == '/') /* "a/(two stars)" covers a itself */
        return (*path == '/' && covers(p + 1, path + 1, true)) || (!*path && strcmp(p, "/**") == 0);
    if (!*path || *path == '/')
        return false;
    if (*p == '?')
        return covers(p + 1, path + 1, false);
    if (*p == '[') {
        const char *end = p + 1;
        end += *end == '!' || *end == '^';
        for (const char *first = end; *end != ']' || end == first; end++)
            end += *end == '\\' && end[1] != '/' && end[1];
        return in_set(p + 1, end, (unsigned char)*path) && covers(end + 1, path + 1, false);
    }
    p += *p == '\\';
    return *p == *path && covers(p + 1, path + 1, false);
}

static void
try_paths(const char *a, const char *b, char *path, size_t len, bool overlap)
{
    path[len] = '\0';
    if (len && path[len - 1] != '/' && covers(a, path, true) && covers(b, path, true))
        MUST(overlap);
    if (len == DEPTH || steps > STEPS)
        return;
    for (int i = 0; i < LETTERS; i++) {
        if (alphabet[i] == '/' && (!len || path[len - 1] == '/'))
            continue;
        path[len] = alphabet[i];
        try_paths(a, b, path, len + 1, overlap);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[DEPTH + 1];
    struct err e = { "" };
    struct buf plain = { 0 };

    char *a = malloc(len + 1);
    MUST(a);
    memcpy(a, data, len);
    a[len] = '\0';
    char *b = strchr(a, '\n');
    if (b)
        *b++ = '\0';
    else
        b = a;
    enum status s = path_glob_check(a, &e);
    MUST(!s || (s == ST_INVALID && e.text[0]));
    s = s ? s : path_glob_check(b, &e);
    MUST(!s || (s == ST_INVALID && e.text[0]));
    if (!s) {
        bool overlap = path_glob_overlap(a, b);
        MUST(overlap == path_glob_overlap(b, a));
        MUST(path_glob_overlap(a, "**"));
        steps = 0;
        try_paths(a, b, path, 0, overlap);
        path_glob_escape(&plain, a);
        if (plain.len && !path_glob_check(plain.p, NULL))
            MUST(path_glob_overlap(plain.p, plain.p));
    }
    buf_release(&plain);
    free(a);
    return 0;
}
