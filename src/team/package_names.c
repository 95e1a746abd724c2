#include "team/package_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *
component_fault(const char *p, size_t n)
{
    if (n == 0)
        return "has an empty part";
    if (n > PACKAGE_NAME_MAX)
        return "is too long";
    if ((n == 1 && p[0] == '.') || (n == 2 && memcmp(p, "..", 2) == 0))
        return "has a part . or ..";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] < ' ' || (unsigned char)p[i] > '~' || p[i] == '\\')
            return "has a character other than printable ASCII, or a backslash";
    return NULL;
}

const char *
package_names_fault(const char *path)
{
    size_t depth = 0;

    if (*path == '/')
        return "is absolute";
    if (strlen(path) > PACKAGE_PATH_MAX)
        return "is too long";
    for (;; path++) {
        size_t n = strcspn(path, "/");
        const char *fault = component_fault(path, n);
        if (fault)
            return fault;
        if (++depth > PACKAGE_DEPTH_MAX)
            return "is nested too deeply";
        path += n;
        if (!*path)
            return NULL;
    }
}

/* Letters lower-case; the slash before all others, so that a directory stands right before what is
 * in it. */
static int
fold(char c)
{
    return c == '/' ? 1 : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static int
by_fold(const void *a, const void *b)
{
    const char *p = *(const char *const *)a, *q = *(const char *const *)b;

    while (*p && fold(*p) == fold(*q)) {
        p++;
        q++;
    }
    return fold(*p) - fold(*q);
}

static bool
is_end(char c)
{
    return c == '/' || !c;
}

/* Do the paths share a component, and whatever is before it, that is written in two ways; or are
 * they the same? */
static bool
clashes(const char *p, const char *q)
{
    bool differs = false;

    for (; *p && fold(*p) == fold(*q); p++, q++) {
        if (*p == '/' && differs)
            return true;
        differs |= *p != *q;
    }
    return (is_end(*p) && is_end(*q) && differs) || (!*p && !*q);
}

const char *const *
package_names_clash(const char **paths, size_t n)
{
    if (n)
        qsort(paths, n, sizeof *paths, by_fold);
    for (size_t i = 0; i + 1 < n; i++)
        if (clashes(paths[i], paths[i + 1]))
            return (const char *const *)&paths[i];
    return NULL;
}
