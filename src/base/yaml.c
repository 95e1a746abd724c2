/*
 * yaml - the YAML parser: libyaml's events to a tree.
 *
 * An alias copies the top node of its anchor and shares the children. Each
 * anchor keeps its size and height, so the limits count what a walk over the
 * tree would visit, and an alias bomb is rejected before it is built.
 *
 * Quadratic time on hostile text: libyaml searches all open flow brackets for
 * every token, and all %TAG lines for every %TAG line. YAML_MAX_DEPTH bounds the
 * first, DIRECTIVES_MAX the second. yaml_duplicates.c finds duplicate keys by
 * sorting each map once.
 */
#include "base/yaml.h"

#include "base/utf8.h"
#include "base/yaml_duplicates.h"

#include <yaml.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIRECTIVES_MAX = 16,
    ANCHORS_MAX = 1000, /* every alias searches them linearly */
    SHOWN_MAX = 60,     /* bytes of a key or a tag in a message */
};

struct anchor {
    const char *name;
    const struct yaml *node;
    size_t size;     /* nodes, including itself and those behind aliases */
    unsigned height; /* 0: a scalar */
    bool is_open;    /* its list or map is not closed yet */
};

/* A list or map that is not closed yet. */
struct open {
    struct yaml *node, **tail;
    const char *key; /* of the next value; NULL: the next event is a key */
    yaml_mark_t key_mark;
    size_t size, anchor; /* anchor: its index, SIZE_MAX: none */
    unsigned height;
};

struct reader {
    struct arena *arena;
    yaml_parser_t parser;
    struct yaml_fault *where;
    struct yaml *root;
    struct open open[YAML_MAX_DEPTH];
    unsigned depth;
    struct anchor *anchors;
    size_t n_anchors, nodes, documents;
    struct yaml_duplicates twins;
    bool is_starved;
};

static bool fault_at(struct yaml_fault *where, size_t line, size_t column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* line and column count from 0 here, as libyaml's do. */
static bool
fault_at(struct yaml_fault *where, size_t line, size_t column, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(where->what, sizeof where->what, fmt, ap);
    va_end(ap);
    where->line = (unsigned)line + 1;
    where->column = (unsigned)column + 1;
    where->next = NULL;
    return false;
}

#define fault(r, mark, ...) fault_at((r)->where, (mark).line, (mark).column, __VA_ARGS__)

static bool
starved(struct reader *r)
{
    r->is_starved = true;
    return fault_at(r->where, r->parser.mark.line, r->parser.mark.column, "out of memory");
}

/* Bytes of a text that a message shows. */
static int
shown(const char *text)
{
    size_t n = strlen(text);

    return (int)(n > SHOWN_MAX ? utf8_cut(text, n, SHOWN_MAX) : n);
}

/* ---- errors of libyaml ---- */

/* For libyaml's reader errors, which have only a byte offset. */
static bool
fault_at_offset(struct yaml_fault *where, const char *text, size_t offset, const char *what)
{
    size_t line = 0, column = 0;

    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            column = 0;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    return fault_at(where, line, column, "%s", what);
}

/* The byte at a mark, or NUL at the end. */
static char
byte_at(const char *text, size_t len, yaml_mark_t mark)
{
    size_t i = 0;

    for (size_t n = 0; n < mark.index && i < len; n++) /* index counts characters */
        for (i++; i < len && ((unsigned char)text[i] & 0xC0) == 0x80; i++)
            ;
    return i < len ? text[i] : '\0';
}

/* Advice for users, by a part of libyaml's message. */
static const struct fix {
    const char *part, *says;
    bool is_far; /* the mistake is at the start of libyaml's context, not at the mark */
} fixes[] = {
    { "cannot start any token", "put the value in quotes", false },
    { "mapping values are not allowed",
      "put a value with \": \" in it in quotes, and the keys of one map in one column", false },
    { "expected '-' indicator",
      "begin each item of the list with \"- \" in the same column, and put its keys below its "
      "first "
      "key",
      false },
    { "did not find expected key",
      "put the keys of one map in one column, and a value that goes on behind a quote or bracket "
      "in "
      "quotes",
      false },
    { "expected ',' or ']'", "close the list with ]", true },
    { "expected ',' or '}'", "close the map with }", true },
    { "unexpected end of stream", "close the quote", true },
    { "unknown escape character", "write \\\\ for a backslash, or use single quotes", false },
    { "expected comment or line break", "the text of a | or > begins in the next line", false },
    { "alphabetic or numeric character", "put a value that begins with & or * in quotes", false },
    { NULL, NULL, false },
};

static const struct fix *
fix_of(const char *problem)
{
    const struct fix *f = fixes;

    while (f->part && !strstr(problem, f->part))
        f++;
    return f;
}

static bool
refused(struct reader *r, const char *text, size_t len)
{
    const yaml_parser_t *p = &r->parser;

    if (p->error == YAML_MEMORY_ERROR)
        return starved(r);
    if (p->error == YAML_READER_ERROR) { /* has no mark */
        size_t offset = p->problem_offset < len ? p->problem_offset : len;
        size_t good = utf8_valid_len(text, len);
        if (good <= offset && good < len) /* the offset may be inside the character */
            return fault_at_offset(r->where, text, good, "not UTF-8");
        return fault_at_offset(r->where, text, offset,
                               offset < len && text[offset] ? "a control character" : "a NUL byte");
    }
    if (byte_at(text, len, p->problem_mark) == '\t')
        return fault(r, p->problem_mark, "a tab: YAML is indented with spaces");
    const char *problem = p->problem ? p->problem : "not YAML";
    const struct fix *fix = fix_of(problem);
    if (fix->is_far)
        return fault(r, p->problem_mark, "%s: %s, which begins in line %zu", problem, fix->says,
                     p->context_mark.line + 1);
    if (fix->says)
        return fault(r, p->problem_mark, "%s: %s", problem, fix->says);
    if (p->context)
        return fault(r, p->problem_mark, "%s: %s", p->context, problem);
    return fault(r, p->problem_mark, "%s", problem);
}

/* ---- nodes ---- */

/* Links a node into the innermost open container. */
static void
hang(struct reader *r, struct yaml *node)
{
    if (r->depth == 0) {
        r->root = node;
        return;
    }
    struct open *o = &r->open[r->depth - 1];
    if (o->node->type == YAML_MAP) {
        node->key = o->key;
        node->key_line = (unsigned)o->key_mark.line + 1;
        node->key_column = (unsigned)o->key_mark.column + 1;
        o->key = NULL;
    }
    *o->tail = node;
    o->tail = &node->next;
    o->node->count++;
}

/* Adds a value's size and height to those of the innermost open container. */
static void
weigh(struct reader *r, size_t size, unsigned height)
{
    if (r->depth == 0)
        return;
    struct open *o = &r->open[r->depth - 1];
    o->size += size;
    if (o->height < height + 1)
        o->height = height + 1;
}

static struct yaml *
new_node(struct reader *r, enum yaml_type type, yaml_mark_t mark)
{
    struct yaml *node = arena_alloc(r->arena, sizeof *node);

    if (!node) {
        starved(r);
        return NULL;
    }
    *node = (struct yaml){ .type = type,
                           .line = (unsigned)mark.line + 1,
                           .column = (unsigned)mark.column + 1 };
    return node;
}

static bool
spend(struct reader *r, yaml_mark_t mark, size_t nodes)
{
    r->nodes += nodes;
    return r->nodes <= YAML_MAX_NODES || fault(r, mark, "more than %d values%s", YAML_MAX_NODES,
                                               nodes > 1 ? " with this alias" : "");
}

static bool
is_at_key(const struct reader *r)
{
    const struct open *o = r->depth ? &r->open[r->depth - 1] : NULL;

    return o && o->node->type == YAML_MAP && !o->key;
}

/* ---- anchors and tags ---- */

static bool
set_anchor(struct reader *r, const yaml_char_t *name, yaml_mark_t mark, const struct yaml *node,
           bool is_open, size_t *index)
{
    *index = SIZE_MAX;
    if (!name)
        return true;
    if (r->n_anchors == ANCHORS_MAX)
        return fault(r, mark, "more than %d anchors", ANCHORS_MAX);
    if (!r->anchors)
        r->anchors = arena_alloc(r->arena, ANCHORS_MAX * sizeof *r->anchors);
    const char *copy = arena_dup(r->arena, (const char *)name, strlen((const char *)name));
    if (!r->anchors || !copy)
        return starved(r);
    r->anchors[r->n_anchors] = (struct anchor){ copy, node, 1, 0, is_open };
    *index = r->n_anchors++;
    return true;
}

static bool
on_alias(struct reader *r, const yaml_event_t *ev)
{
    const char *name = (const char *)ev->data.alias.anchor;
    const struct anchor *a = NULL;

    if (is_at_key(r))
        return fault(r, ev->start_mark, "a key must be plain text, not an alias");
    for (size_t i = r->n_anchors; i-- > 0 && !a;) /* the latest of that name */
        if (strcmp(r->anchors[i].name, name) == 0)
            a = &r->anchors[i];
    if (!a)
        return fault(r, ev->start_mark,
                     "no anchor &%.*s before this alias: put a value that begins with * in quotes",
                     shown(name), name);
    if (a->is_open)
        return fault(r, ev->start_mark, "the alias *%.*s is inside what it names", shown(name),
                     name);
    if (r->depth + a->height > YAML_MAX_DEPTH)
        return fault(r, ev->start_mark, "nested deeper than %d", YAML_MAX_DEPTH);
    struct yaml *node = new_node(r, a->node->type, ev->start_mark);
    if (!node || !spend(r, ev->start_mark, a->size))
        return false;
    node->is_quoted = a->node->is_quoted;
    node->text = a->node->text;
    node->first = a->node->first;
    node->count = a->node->count;
    hang(r, node);
    weigh(r, a->size, a->height);
    return true;
}

static bool
check_tag(struct reader *r, const yaml_event_t *ev, const yaml_char_t *tag, const char *allowed)
{
    const char *t = (const char *)tag;

    return !t || strcmp(t, allowed) == 0 ||
           fault(r, ev->start_mark,
                 "the tag %.*s has no meaning here: put a value that begins with ! in quotes",
                 shown(t), t);
}

/* ---- events ---- */

static bool
on_scalar(struct reader *r, const yaml_event_t *ev)
{
    const char *text = (const char *)ev->data.scalar.value;
    size_t len = ev->data.scalar.length, anchor;
    yaml_mark_t mark = ev->start_mark;

    if (!check_tag(r, ev, ev->data.scalar.tag, YAML_STR_TAG))
        return false;
    if (memchr(text, '\0', len))
        return fault(r, mark, "a NUL character (\\0)");
    bool is_key = is_at_key(r);
    struct yaml *node = new_node(r, YAML_SCALAR, mark);
    if (!node || !(node->text = arena_dup(r->arena, text, len)))
        return starved(r);
    node->is_quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || ev->data.scalar.tag;
    if (!set_anchor(r, ev->data.scalar.anchor, mark, node, false, &anchor))
        return false;
    if (is_key) {
        r->open[r->depth - 1].key = node->text;
        r->open[r->depth - 1].key_mark = mark;
        return true;
    }
    hang(r, node);
    weigh(r, 1, 0);
    return spend(r, mark, 1);
}

static bool
on_open(struct reader *r, const yaml_event_t *ev, enum yaml_type type, const yaml_char_t *name)
{
    struct yaml *node;
    size_t anchor;

    if (is_at_key(r))
        return fault(r, ev->start_mark,
                     "a key must be plain text, not a list or a map: put a value that begins with "
                     "{{ or {[ in quotes");
    if (r->depth == YAML_MAX_DEPTH)
        return fault(r, ev->start_mark, "nested deeper than %d", YAML_MAX_DEPTH);
    if (!(node = new_node(r, type, ev->start_mark)) || !spend(r, ev->start_mark, 1) ||
        !set_anchor(r, name, ev->start_mark, node, true, &anchor))
        return false;
    hang(r, node);
    r->open[r->depth++] =
        (struct open){ .node = node, .tail = &node->first, .size = 1, .anchor = anchor };
    return true;
}

static bool
on_close(struct reader *r)
{
    struct open *o = &r->open[--r->depth];
    unsigned height = o->height ? o->height : 1;

    if (o->anchor != SIZE_MAX) {
        r->anchors[o->anchor].is_open = false;
        r->anchors[o->anchor].size = o->size;
        r->anchors[o->anchor].height = height;
    }
    weigh(r, o->size, height);
    return o->node->type != YAML_MAP || yaml_duplicates_find(&r->twins, o->node) || starved(r);
}

static bool
on_event(struct reader *r, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->documents++ == 0 ||
               fault(r, ev->start_mark, "a second document: one file holds one");
    case YAML_ALIAS_EVENT:
        return on_alias(r, ev);
    case YAML_SCALAR_EVENT:
        return on_scalar(r, ev);
    case YAML_SEQUENCE_START_EVENT:
        return check_tag(r, ev, ev->data.sequence_start.tag, YAML_SEQ_TAG) &&
               on_open(r, ev, YAML_LIST, ev->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return check_tag(r, ev, ev->data.mapping_start.tag, YAML_MAP_TAG) &&
               on_open(r, ev, YAML_MAP, ev->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_close(r);
    default:
        return true;
    }
}

/* ---- duplicate keys ---- */

static void
tell_twin(struct yaml_fault *to, const struct yaml_duplicate *t, size_t more)
{
    char rest[60] = "";

    if (more > 0)
        snprintf(rest, sizeof rest, "; %zu more duplicate key%s not shown", more,
                 more == 1 ? " is" : "s are");
    fault_at(to, t->key->key_line - 1, t->key->key_column - 1,
             "duplicate key \"%.*s\": the first is in line %u, column %u%s", shown(t->key->key),
             t->key->key, t->first->key_line, t->first->key_column, rest);
}

/* Fills the list of errors: the duplicate keys, then the error that ended parsing, if any. */
static bool
tell_twins(struct reader *r, bool is_good)
{
    const struct yaml_duplicates *t = &r->twins;
    struct yaml_fault last = *r->where, *to = r->where;

    for (size_t i = 0; i < t->count; i++) {
        bool is_last = i + 1 == t->count;
        tell_twin(to, &t->twin[i], is_last ? t->found - t->count : 0);
        if (is_last && is_good)
            break;
        if (!(to->next = arena_alloc(r->arena, sizeof *to)))
            return starved(r);
        to = to->next;
    }
    if (!is_good)
        *to = last;
    return false;
}

/* After parsing ended: true if it succeeded and no map has a duplicate key. */
static bool
check_keys(struct reader *r, bool is_good)
{
    if (r->is_starved)
        return false;
    while (r->depth > 0) { /* an error left these containers open */
        const struct yaml *node = r->open[--r->depth].node;
        if (node->type == YAML_MAP && !yaml_duplicates_find(&r->twins, node))
            return starved(r);
    }
    return r->twins.found == 0 ? is_good : tell_twins(r, is_good);
}

/* Bounds the %TAG lines: libyaml compares each with all before it. */
static bool
check_directives(const char *text, size_t len, struct yaml_fault *where)
{
    unsigned n = 0;
    size_t line = 0;

    for (const char *p = text, *end = text + len; p && p < end; line++) {
        if (*p == '%' && ++n > DIRECTIVES_MAX)
            return fault_at(where, line, 0, "more than %d lines that begin with %%",
                            DIRECTIVES_MAX);
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return true;
}

bool
yaml_parse(struct arena *a, const char *text, size_t len, struct yaml **out,
           struct yaml_fault *where)
{
    struct yaml_fault unheard = { 0 };
    struct reader r = { .arena = a, .where = where ? where : &unheard };
    bool is_good = true, is_over = false;

    *out = NULL;
    if (len > YAML_MAX_BYTES)
        return fault_at(r.where, 0, 0, "larger than %zu bytes", YAML_MAX_BYTES);
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        len -= 3;
    }
    if (!check_directives(text, len, r.where))
        return false;
    if (!yaml_parser_initialize(&r.parser))
        return fault_at(r.where, 0, 0, "out of memory");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    while (is_good && !is_over) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&r.parser, &ev)) {
            is_good = refused(&r, text, len);
            break;
        }
        is_good = on_event(&r, &ev);
        is_over = ev.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&ev);
    }
    is_good = check_keys(&r, is_good);
    yaml_parser_delete(&r.parser);
    if (!is_good)
        return false;
    bool is_empty = r.root && r.root->type == YAML_SCALAR && !r.root->is_quoted &&
                    r.root->text[0] == '\0'; /* "---" alone */
    *out = is_empty ? NULL : r.root;
    return true;
}

const struct yaml *
yaml_get(const struct yaml *map, const char *key)
{
    if (map && map->type == YAML_MAP)
        yaml_each (m, map)
            if (strcmp(m->key, key) == 0)
                return m;
    return NULL;
}
