/*
 * template_suggest - finds text that looks like a variable and is none: "$(input.who)",
 * "$(Team-Name)".
 *
 * Expansion leaves such text alone. In a command it may be a command substitution, so only a close
 * misspelling is reported there; elsewhere it can only be a misspelt variable.
 */
#include "base/suggest.h"
#include "team/template_form.h"

#include <stdio.h>
#include <string.h>

enum { ROOT_MAX = 32 }; /* longer than any variable, even misspelt */

/* "input" of "$(input.who)": in lower case, with - as _. 0: this is no name. */
static size_t
root_of(const char *name, char root[ROOT_MAX])
{
    size_t n = 0;

    for (; n < ROOT_MAX - 1; n++) {
        char c = name[n];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (!(c >= 'a' && c <= 'z') && !(n && c >= '0' && c <= '9') && c != '_' && !(n && c == '-'))
            break;
        root[n] = c == '-' ? '_' : c;
    }
    root[n] = '\0';
    return n;
}

/* The closest variable without a group, or the closest group, in the arena; NULL: none is close. */
static const char *
nearest(struct arena *a, const char *root, bool is_group, bool is_shell)
{
    struct suggest near = { .word = root };

    for (const struct field *v = template_variables; v->key; v++) {
        size_t n;
        if (template_is_grouped(v, &n) != is_group)
            continue;
        const char *name = is_group ? arena_dup(a, v->key, n) : v->key;
        if (name)
            suggest_try(&near, name);
    }
    /* $(data) may be a command, but "date" is one letter away: report it */
    if (is_shell && near.best && near.distance > (strlen(near.best) < 6 ? 1 : 2))
        return NULL;
    return near.best;
}

/* The variable that root and rest probably mean, in the arena; "": none. */
static const char *
meant_by(struct arena *a, const char *root, const char *rest, size_t rest_len, bool is_shell)
{
    const char *best;
    char name[ROOT_MAX + 8];

    if (rest_len > 1) {
        best = nearest(a, root, true, is_shell);
        char *text = best ? arena_alloc(a, ROOT_MAX + rest_len) : NULL;
        if (text)
            snprintf(text, ROOT_MAX + rest_len, "%s.%.*s", best, (int)(rest_len - 1), rest + 1);
        return text ? text : "";
    }
    best = nearest(a, root, false, is_shell);
    if (best)
        return best;
    /* "dirs" is a command of bash, and "dir" a common one */
    best = nearest(a, root, true, is_shell);
    if (!best || (is_shell && strcmp(best, "dirs") == 0))
        return "";
    snprintf(name, sizeof name, "%s.NAME", best);
    return arena_dup(a, name, strlen(name));
}

/* The misspelt variable at p, a "$("; false: none. last: the last ')' of the text, or NULL. */
static bool
miss_at(struct arena *a, const char *p, const char *last, bool is_shell, struct template_miss *m)
{
    char root[ROOT_MAX];
    const char *name = p + 2;
    size_t n = root_of(name, root), len = n;

    if (!n || template_form(p).kind != FORM_NONE)
        return false;
    if (name[n] == '.' || name[n] == '[')
        len += strcspn(name + n, " \t\r\n()$`'\"\\;|&<>{}");
    *m = (struct template_miss){ .is_open = name[len] != ')' };
    /* "$(date +%F)" is shell, a bare "$(date" is a mistake */
    if (m->is_open && ((last && last > name) || name[len] == '('))
        return false;
    m->name = arena_dup(a, name, len);
    m->meant = meant_by(a, root, name + n, len - n, is_shell);
    if (m->meant && !*m->meant)
        m->meant = NULL;
    return m->name && (m->meant || (!is_shell && !m->is_open));
}

struct template_miss *
template_misses(struct arena *a, const char *text, bool is_shell, size_t *n)
{
    size_t count = 0;
    struct template_miss *all;
    const char *last = strrchr(text, ')');

    *n = 0;
    for (const char *p = text; (p = strstr(p, "$(")); p += 2)
        count++;
    if (!count || !(all = arena_alloc(a, count * sizeof *all)))
        return NULL;
    for (const char *p = text; (p = strstr(p, "$(")); p += 2) {
        bool is_escaped = is_shell && p > text && (p[-1] == '\\' || p[-1] == '$');
        if (!is_escaped && miss_at(a, p, last, is_shell, &all[*n]))
            all[(*n)++].offset = (size_t)(p - text);
    }
    return all;
}
