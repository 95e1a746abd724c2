#include "room/epics.h"

#include "base/path.h"
#include "base/text.h"
#include "base/utf8.h"
#include "room/room_graph.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EPIC "EPIC-"

struct plan_reader {
    struct arena *a;
    const char *name;
    struct epic *v;
    size_t n;
    unsigned level;          /* of the open epic's heading; 0: none is open */
    struct epic_list *items; /* where list items go; NULL: nowhere */
    const char *begin;       /* of the open epic's section */
    unsigned line;
    bool is_code;
};

static bool
add(struct plan_reader *r, struct epic_list *l, const char *p, size_t len)
{
    if (!l->v)
        l->v = arena_alloc(r->a, EPIC_LISTS_MAX * sizeof *l->v);
    return l->v && l->n < EPIC_LISTS_MAX && (l->v[l->n++] = arena_dup(r->a, p, len));
}

static bool
has_word(struct text t, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= t.len; i++)
        if (strncasecmp(t.p + i, word, n) == 0)
            return true;
    return false;
}

/* The '#' of a heading; 0: the line is none. */
static unsigned
heading(struct text *t)
{
    unsigned level = 0;

    while (level < t->len && t->p[level] == '#')
        level++;
    if (!level || level > 6 || level == t->len || t->p[level] != ' ')
        return 0;
    *t = text_trim((struct text){ t->p + level, t->len - level });
    return level;
}

static bool
is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The EPIC-… in the text; len 0: there is none. */
static struct text
find_ref(struct text t)
{
    size_t n = sizeof EPIC - 1;

    for (size_t i = 0; i + n < t.len; i++) {
        if (memcmp(t.p + i, EPIC, n) != 0 || (i && is_name_char(t.p[i - 1])))
            continue;
        size_t end = i + n;
        while (end < t.len && is_name_char(t.p[end]))
            end++;
        while (end > i + n && !isalnum((unsigned char)t.p[end - 1]))
            end--;
        if (end > i + n)
            return (struct text){ t.p + i, end - i };
    }
    return (struct text){ 0 };
}

static void
close_epic(struct plan_reader *r, const char *end)
{
    if (!r->level)
        return;
    while (end > r->begin && strchr(" \t\r\n", end[-1]))
        end--;
    r->v[r->n - 1].text = arena_dup(r->a, r->begin, (size_t)(end - r->begin));
    r->level = 0;
    r->items = NULL;
}

static enum status
open_epic(struct plan_reader *r, struct text title, struct text ref, unsigned level,
          const char *begin, struct err *e)
{
    char room[PATH_NAME_MAX + 16];

    if (r->n == EPICS_MAX)
        return err_set(e, ST_INVALID, "%s:%u: more than %d epics", r->name, r->line, EPICS_MAX);
    if (ref.len > PATH_NAME_MAX)
        return err_set(e, ST_INVALID, "%s:%u: the name of the epic is longer than %d bytes",
                       r->name, r->line, PATH_NAME_MAX);
    struct epic *x = &r->v[r->n++];
    size_t skip = (size_t)(ref.p + ref.len - title.p);
    struct text rest = { title.p + skip, title.len - skip };
    while (rest.len && !isalnum((unsigned char)*rest.p) && (unsigned char)*rest.p < 0x80)
        rest.p++, rest.len--;
    if (rest.len > 3 && memcmp(rest.p, "\xe2\x80\x94", 3) == 0) /* an em dash */
        rest = text_trim((struct text){ rest.p + 3, rest.len - 3 });
    snprintf(room, sizeof room, "room-%.*s", (int)(ref.len - (sizeof EPIC - 1)),
             ref.p + sizeof EPIC - 1);
    *x = (struct epic){ .ref = arena_dup(r->a, ref.p, ref.len),
                        .room = arena_dup(r->a, room, strlen(room)),
                        .title = arena_dup(r->a, rest.p, rest.len),
                        .text = "",
                        .line = r->line };
    if (!x->ref || !x->room || !x->title)
        return err_nomem(e);
    if (!path_is_name(x->room))
        return err_set(e, ST_INVALID, "%s:%u: %s gives no name of a room", r->name, r->line,
                       x->ref);
    r->begin = begin;
    r->level = level;
    return ST_OK;
}

/* "Depends on: …": what stands behind the colon; len 0: another line. */
static bool
is_field(struct text t, const char *a, const char *b, struct text *value)
{
    while (t.len && strchr("-*+> \t`_", *t.p))
        t.p++, t.len--;
    const char *colon = memchr(t.p, ':', t.len);
    size_t n = colon ? (size_t)(colon - t.p) : 0;
    while (n && strchr("*_` ", t.p[n - 1]))
        n--;
    if (!n || !((strlen(a) == n && strncasecmp(t.p, a, n) == 0) ||
                (strlen(b) == n && strncasecmp(t.p, b, n) == 0)))
        return false;
    *value = text_trim((struct text){ colon + 1, t.len - (size_t)(colon + 1 - t.p) });
    return true;
}

static bool
add_refs(struct plan_reader *r, struct epic *x, struct text t)
{
    struct text ref;

    while ((ref = find_ref(t)).len) {
        if (!add(r, &x->depends_on, ref.p, ref.len))
            return false;
        t.len -= (size_t)(ref.p + ref.len - t.p);
        t.p = ref.p + ref.len;
    }
    return true;
}

static bool
add_roles(struct plan_reader *r, struct epic *x, struct text t)
{
    for (size_t i = 0; i < t.len;) {
        size_t end = i;
        while (end < t.len && (is_name_char(t.p[end]) || t.p[end] == ':') &&
               !(t.p[end] == '-' && end + 1 < t.len && t.p[end + 1] == '>'))
            end++;
        if (end > i && !add(r, &x->roles, t.p + i, end - i))
            return false;
        i = end > i ? end : i + 1;
    }
    return true;
}

/* "- [ ] text" or "1. text": the text; len 0: no list item. */
static struct text
list_item(struct text t)
{
    size_t i = 0;

    while (i < t.len && isdigit((unsigned char)t.p[i]))
        i++;
    bool is_item =
        i > 0 ? i < t.len && (t.p[i] == '.' || t.p[i] == ')') : t.len > 1 && strchr("-*+", t.p[0]);
    if (!is_item)
        return (struct text){ 0 };
    t = text_trim((struct text){ t.p + i + 1, t.len - i - 1 });
    if (t.len >= 3 && t.p[0] == '[' && t.p[2] == ']')
        t = text_trim((struct text){ t.p + 3, t.len - 3 });
    return t;
}

static enum status
take_line(struct plan_reader *r, const char *p, size_t len, struct err *e)
{
    struct text t = text_trim((struct text){ p, len }), value, item;
    bool is_good = true;

    if (t.len >= 3 && (memcmp(t.p, "```", 3) == 0 || memcmp(t.p, "~~~", 3) == 0))
        r->is_code = !r->is_code;
    else if (!r->is_code && t.len) {
        unsigned level = heading(&t);
        struct text ref = level ? find_ref(t) : (struct text){ 0 };
        if (level && (!r->level || level <= r->level)) {
            close_epic(r, p);
            if (ref.len)
                return open_epic(r, t, ref, level, p, e);
        } else if (r->level && level) {
            struct epic *x = &r->v[r->n - 1];
            r->items = has_word(t, "acceptance")           ? &x->criteria
                       : has_word(t, "definition of done") ? &x->done
                                                           : NULL;
        } else if (r->level) {
            struct epic *x = &r->v[r->n - 1];
            if (is_field(t, "depends on", "depends_on", &value))
                is_good = add_refs(r, x, value);
            else if (is_field(t, "roles", "role", &value))
                is_good = add_roles(r, x, value);
            else if (r->items && (item = list_item(t)).len)
                is_good = add(r, r->items, item.p, item.len);
        }
    }
    return is_good ? ST_OK
                   : err_set(e, ST_INVALID, "%s:%u: a list of the epic is longer than %d", r->name,
                             r->line, EPIC_LISTS_MAX);
}

static const struct epic *
find_epic(const struct plan_reader *r, const char *ref)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->v[i].ref, ref) == 0)
            return &r->v[i];
    return NULL;
}

static enum status
check(const struct plan_reader *r, struct err *e)
{
    struct room_node *nodes = arena_alloc(r->a, (r->n + 1) * sizeof *nodes);
    struct buf circle = { 0 };
    enum status s = ST_OK;

    if (!nodes)
        return err_nomem(e);
    if (!r->n)
        return err_set(e, ST_INVALID,
                       "%s: no epic: a heading such as \"## EPIC-001 - Title\" begins one",
                       r->name);
    for (size_t i = 0; i < r->n; i++) {
        const struct epic *x = &r->v[i], *first = find_epic(r, x->ref);
        if (!x->text)
            return err_nomem(e);
        if (first != x)
            return err_set(e, ST_INVALID, "%s:%u: %s is there already, in line %u", r->name,
                           x->line, x->ref, first->line);
        for (size_t k = 0; k < x->depends_on.n; k++)
            if (!find_epic(r, x->depends_on.v[k]))
                return err_set(e, ST_INVALID, "%s:%u: %s depends on %s, which is not in the plan",
                               r->name, x->line, x->ref, x->depends_on.v[k]);
        nodes[i] = (struct room_node){ x->ref, x->depends_on.v, x->depends_on.n };
    }
    if (room_graph_cycle(nodes, r->n, &circle))
        s = err_set(e, ST_INVALID, "%s: the epics depend on each other in a circle: %s", r->name,
                    circle.p ? circle.p : "");
    else if (circle.is_starved)
        s = err_nomem(e);
    buf_release(&circle);
    return s;
}

enum status
epics_parse(struct arena *a, const char *name, const char *text, size_t len, struct epic **epics,
            size_t *n, struct err *e)
{
    struct plan_reader r = { .a = a, .name = name };
    enum status s = ST_OK;
    size_t good = utf8_valid_len(text, len);

    if (good != len)
        return err_set(e, ST_INVALID, "%s is not UTF-8 text: byte %zu is 0x%02x", name, good + 1,
                       (unsigned char)text[good]);
    if (memchr(text, '\0', len))
        return err_set(e, ST_INVALID, "%s holds a NUL byte", name);
    r.v = arena_alloc(a, EPICS_MAX * sizeof *r.v);
    if (!r.v)
        return err_nomem(e);
    for (size_t i = 0; !s && i < len;) {
        const char *nl = memchr(text + i, '\n', len - i);
        size_t end = nl ? (size_t)(nl - text) : len;
        r.line++;
        s = take_line(&r, text + i, end - i, e);
        i = end + 1;
    }
    close_epic(&r, text + len);
    if (!s)
        s = check(&r, e);
    *epics = r.v;
    *n = r.n;
    return s;
}
