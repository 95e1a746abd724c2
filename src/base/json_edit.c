#include "base/json_edit.h"

#include <stdlib.h>
#include <string.h>

/*
 * All positions are found in a copy of the text in which comments, trailing commas and the byte
 * order mark are spaces. It is strict JSON of the same length, so the parser of base/json.h judges
 * it, and a position there is one in the text.
 */

enum { PATH_MAX_KEYS = 8, INDENT_MAX = 64 };

/* ---- the plain copy ---- */

static size_t
skip_string(const char *p, size_t len, size_t at)
{
    for (at++; at < len && p[at] != '"'; at++)
        if (p[at] == '\\')
            at++;
    return at < len ? at + 1 : len;
}

/* The end of the comment that begins at `at`; `at`: none does. A block without an end is none, and
 * the parser says so. */
static size_t
skip_comment(const char *p, size_t len, size_t at)
{
    if (at + 1 >= len || p[at] != '/')
        return at;
    if (p[at + 1] == '/') {
        while (at < len && p[at] != '\n' && p[at] != '\r')
            at++;
        return at;
    }
    if (p[at + 1] == '*')
        for (size_t end = at + 2; end + 1 < len; end++)
            if (p[end] == '*' && p[end + 1] == '/')
                return end + 2;
    return at;
}

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
blank(char *p, size_t from, size_t to)
{
    for (; from < to; from++)
        if (p[from] != '\n' && p[from] != '\r')
            p[from] = ' ';
}

/* The caller frees it; NULL: no memory. */
static char *
plain_copy(const struct buf *text)
{
    char *p = malloc(text->len + 1);
    size_t comma = SIZE_MAX; /* the last token, if it is a comma behind a value */
    char before = '{';       /* the token before that */

    if (!p)
        return NULL;
    if (text->len)
        memcpy(p, text->p, text->len);
    p[text->len] = '\0';
    if (text->len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        blank(p, 0, 3);
    for (size_t at = 0; at < text->len;) {
        size_t end = skip_comment(p, text->len, at);
        if (end > at) {
            blank(p, at, end);
            at = end;
        } else if (p[at] == '"') {
            at = skip_string(p, text->len, at);
            comma = SIZE_MAX;
            before = '"';
        } else if (is_space(p[at])) {
            at++;
        } else {
            if ((p[at] == '}' || p[at] == ']') && comma != SIZE_MAX)
                p[comma] = ' ';
            comma = p[at] == ',' && !strchr("{[,:", before) ? at : SIZE_MAX;
            before = p[at++];
        }
    }
    return p;
}

static bool
is_blank(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_space(p[i]))
            return false;
    return true;
}

enum status
json_edit_read(struct arena *a, const char *name, const struct buf *text, struct json **out,
               struct err *e)
{
    char *plain = plain_copy(text);
    const char *kept = plain ? arena_dup(a, plain, text->len) : NULL;
    enum status s = ST_OK;

    free(plain);
    if (!kept)
        return err_nomem(e);
    if (is_blank(kept, text->len)) {
        *out = json_new(a, JSON_OBJECT);
        return *out ? ST_OK : err_nomem(e);
    }
    s = json_parse_named(a, name, kept, text->len, out, e);
    if (!s && (*out)->type != JSON_OBJECT) {
        size_t at = 0;
        unsigned line = 1, column = 1;
        for (; is_space(kept[at]); at++, column++)
            if (kept[at] == '\n') {
                line++;
                column = 0;
            }
        s = err_set(e, ST_INVALID, "%s:%u:%u: an object { } is expected here", name, line, column);
    }
    return s;
}

/* ---- places in the plain copy, which is valid ---- */

static size_t
skip_space(const char *p, size_t len, size_t at)
{
    while (at < len && is_space(p[at]))
        at++;
    return at;
}

static size_t
skip_value(const char *p, size_t len, size_t at)
{
    size_t depth = 0;

    do {
        at = skip_space(p, len, at);
        if (at >= len)
            return len;
        if (p[at] == '"') {
            at = skip_string(p, len, at);
        } else if (p[at] == '{' || p[at] == '[') {
            depth++;
            at++;
        } else if (p[at] == '}' || p[at] == ']') {
            depth--;
            at++;
        } else if (p[at] == ',' || p[at] == ':') {
            at++;
        } else {
            while (at < len && !is_space(p[at]) && !strchr(",]}", p[at]))
                at++;
        }
    } while (depth);
    return at;
}

/* A member or an element. */
struct place {
    size_t from;          /* of its key, or of the element */
    size_t value, end;    /* of the value */
    size_t before, after; /* the end of the one before it (0: it is the first), and the start of the
                           * one behind it (0: it is the last) */
};

/* The next of a container: at is behind its bracket, or behind the one before. False: none. */
static bool
next_place(const char *p, size_t len, bool is_object, size_t *at, struct place *to)
{
    size_t n = skip_space(p, len, *at);

    if (n < len && p[n] == ',')
        n = skip_space(p, len, n + 1);
    if (n >= len || p[n] == '}' || p[n] == ']')
        return false;
    to->from = to->value = n;
    if (is_object) {
        n = skip_space(p, len, skip_string(p, len, n));
        to->value = skip_space(p, len, n + 1);
    }
    to->end = *at = skip_value(p, len, to->value);
    return true;
}

/* Its member `key`, or its element `index` when key is NULL. */
static bool
find_place(const char *p, size_t len, size_t container, const char *key, size_t index,
           struct place *to)
{
    size_t at = container + 1, before = 0, n = key ? strlen(key) : 0;
    struct place next;

    for (size_t i = 0; next_place(p, len, key != NULL, &at, to); i++) {
        bool is_it =
            key ? memcmp(p + to->from + 1, key, n) == 0 && p[to->from + 1 + n] == '"' : i == index;
        to->before = before;
        before = to->end;
        if (!is_it)
            continue;
        to->after = next_place(p, len, key != NULL, &at, &next) ? next.from : 0;
        return true;
    }
    return false;
}

/* ---- how the file is written ---- */

struct style {
    const char *newline;
    char unit[INDENT_MAX + 1]; /* of one level */
};

static void
find_style(const struct buf *text, struct style *to)
{
    const char *p = text->p ? text->p : "", *lf = text->len ? memchr(p, '\n', text->len) : NULL;
    size_t n = 0;

    to->newline = lf && lf > p && lf[-1] == '\r' ? "\r\n" : "\n";
    strcpy(to->unit, "  ");
    for (; lf; lf = memchr(lf + 1, '\n', text->len - (size_t)(lf + 1 - p))) {
        const char *q = lf + 1;
        size_t left = text->len - (size_t)(q - p);
        for (n = 0; n < left && n < INDENT_MAX && (q[n] == ' ' || q[n] == '\t'); n++)
            ;
        if (n && n < left && !is_space(q[n]) && q[n] != '*' && q[n] != '/') {
            memcpy(to->unit, q, n);
            to->unit[n] = '\0';
            return;
        }
    }
}

/* The white space that the line of `at` begins with. */
static size_t
indent_of(const struct buf *text, size_t at, char to[INDENT_MAX + 1])
{
    size_t from = at, n = 0;

    while (from > 0 && text->p[from - 1] != '\n')
        from--;
    while (n < INDENT_MAX && from + n < at &&
           (text->p[from + n] == ' ' || text->p[from + n] == '\t'))
        n++;
    memcpy(to, text->p + from, n);
    to[n] = '\0';
    return n;
}

/* Compact JSON, laid out as the file is. */
static void
write_value(struct buf *to, const char *value, const struct style *style, const char *indent,
            bool is_flat)
{
    size_t depth = 0, len = strlen(value);

    for (size_t at = 0; at < len;) {
        char c = value[at];
        if (c == '"') {
            size_t end = skip_string(value, len, at);
            buf_add(to, value + at, end - at);
            at = end;
            continue;
        }
        bool is_open = c == '{' || c == '[', is_close = c == '}' || c == ']';
        bool is_empty = is_open && strchr("}]", value[at + 1]);
        if (is_close)
            depth--;
        if (is_close && !is_flat) {
            buf_addf(to, "%s%s", style->newline, indent);
            for (size_t i = 0; i < depth; i++)
                buf_adds(to, style->unit);
        }
        buf_addc(to, c);
        at++;
        if (is_empty) {
            buf_addc(to, value[at++]);
            continue;
        }
        if (is_open)
            depth++;
        if ((is_open || c == ',') && !is_flat) {
            buf_addf(to, "%s%s", style->newline, indent);
            for (size_t i = 0; i < depth; i++)
                buf_adds(to, style->unit);
        } else if (c == ',' || c == ':') {
            buf_addc(to, ' ');
        }
    }
}

/* ---- changes ---- */

/* Replaces the text by `to`, if that was made; releases `to`. */
static enum status
put(struct buf *text, struct buf *to, struct err *e)
{
    enum status s = buf_status(to, "the file", e);

    if (!s) {
        buf_reset(text);
        buf_add(text, to->p, to->len);
        s = buf_status(text, "the file", e);
    }
    buf_release(to);
    return s;
}

/* Adds `item` ("key": value, or an element) to the end of the container at `at`. */
static enum status
add_last(struct buf *text, const char *p, size_t at, const char *key, const char *value,
         struct err *e)
{
    struct buf out = { 0 };
    struct style style;
    struct place place = { 0 };
    size_t next = at + 1, last = 0, close = skip_value(p, text->len, at) - 1, first = 0;
    char indent[2 * INDENT_MAX + 1];
    bool is_object = p[at] == '{';

    while (next_place(p, text->len, is_object, &next, &place)) {
        first = first ? first : place.from;
        last = place.end;
    }
    find_style(text, &style);
    size_t root = skip_space(p, text->len, 0);
    bool is_flat =
        first ? !memchr(text->p + at, '\n', first - at)
              : at != root && !memchr(text->p + root, '\n', skip_value(p, text->len, root) - root);
    if (first && !is_flat)
        indent_of(text, first, indent);
    else
        strcpy(indent + indent_of(text, at, indent), style.unit);
    /* The last byte before the bracket that is no space, comments included. */
    size_t end = close;
    while (end > at + 1 && is_space(text->p[end - 1]))
        end--;
    bool has_comma = false; /* one that JSONC allows behind the last */
    for (size_t i = last; last && i < close && !has_comma; i++) {
        size_t behind = skip_comment(text->p, close, i);
        has_comma = behind == i && text->p[i] == ',';
        i = behind > i ? behind - 1 : i;
    }
    if (last) {
        buf_add(&out, text->p, last);
        buf_adds(&out, has_comma ? "" : ",");
        buf_add(&out, text->p + last, end - last);
    } else {
        buf_add(&out, text->p, end);
    }
    if (is_flat)
        buf_adds(&out, last ? " " : "");
    else
        buf_addf(&out, "%s%s", style.newline, indent);
    if (key) {
        json_write_str(&out, key, strlen(key));
        buf_adds(&out, ": ");
    }
    write_value(&out, value, &style, indent, is_flat);
    buf_adds(&out, has_comma ? "," : ""); /* as the file has it */
    bool is_on_line = memchr(text->p + end, '\n', close - end) != NULL;
    if (!is_flat && !is_on_line) {
        indent_of(text, at, indent);
        buf_addf(&out, "%s%s", style.newline, indent);
    } else {
        buf_add(&out, text->p + end, close - end);
    }
    buf_add(&out, text->p + close, text->len - close);
    return put(text, &out, e);
}

/* The value that the first n keys of the path lead to; *n: how many of them are there. */
static size_t
descend(const char *p, size_t len, const char *const *path, size_t *n)
{
    struct place place;
    size_t at = skip_space(p, len, 0), i = 0;

    for (; i < *n; i++) {
        bool is_index = p[at] == '[' && *path[i] == '#';
        if ((p[at] != '{' && !is_index) ||
            !find_place(p, len, at, is_index ? NULL : path[i],
                        is_index ? (size_t)strtoul(path[i] + 1, NULL, 10) : 0, &place))
            break;
        at = place.value;
    }
    *n = i;
    return at;
}

static size_t
length_of(const char *const *path)
{
    size_t n = 0;

    while (path[n])
        n++;
    return n < PATH_MAX_KEYS ? n : PATH_MAX_KEYS;
}

/* The value inside objects for the keys behind `from`: {"b":{"c":VALUE}}. */
static void
wrap(struct buf *to, const char *const *path, size_t from, size_t n, bool is_list,
     const char *value)
{
    for (size_t i = from; i < n; i++) {
        buf_addc(to, '{');
        json_write_str(to, path[i], strlen(path[i]));
        buf_addc(to, ':');
    }
    buf_addf(to, "%s%s%s", is_list ? "[" : "", value, is_list ? "]" : "");
    for (size_t i = from; i < n; i++)
        buf_addc(to, '}');
}

/* An empty text becomes an empty object. */
static enum status
begin(struct buf *text, char **plain, struct err *e)
{
    if (is_blank(text->p ? text->p : "", text->len)) {
        buf_reset(text);
        buf_adds(text, "{}\n");
    }
    *plain = plain_copy(text);
    if (*plain && is_blank(*plain, text->len)) {
        free(*plain);
        *plain = NULL;
        return err_set(e, ST_CONFLICT, "it has comments and no object { }");
    }
    return *plain ? buf_status(text, "the file", e) : err_nomem(e);
}

static enum status
add(struct buf *text, const char *const *path, const char *value, bool is_list, struct err *e)
{
    struct buf wrapped = { 0 };
    char *plain = NULL;
    size_t n = length_of(path), found = n;
    enum status s = begin(text, &plain, e);

    if (!s) {
        size_t at = descend(plain, text->len, path, &found);
        if (found == n && is_list && plain[at] == '[') {
            s = add_last(text, plain, at, NULL, value, e);
        } else if (found == n) {
            s = err_set(e, ST_CONFLICT,
                        is_list ? "\"%s\" is no list [ ]" : "\"%s\" is there already", path[n - 1]);
        } else if (plain[at] != '{') {
            s = err_set(e, ST_CONFLICT, "\"%s\" is no object { }", found ? path[found - 1] : "");
        } else {
            wrap(&wrapped, path, found + 1, n, is_list, value);
            s = buf_status(&wrapped, "the member", e);
            if (!s)
                s = add_last(text, plain, at, path[found], wrapped.p, e);
        }
    }
    buf_release(&wrapped);
    free(plain);
    return s;
}

enum status
json_edit_add(struct buf *text, const char *const *path, const char *value, struct err *e)
{
    return add(text, path, value, false, e);
}

enum status
json_edit_append(struct buf *text, const char *const *path, const char *value, struct err *e)
{
    return add(text, path, value, true, e);
}

/* Cuts a member or an element out, with one comma and the lines that it leaves empty. */
static enum status
cut_out(struct buf *text, const char *p, const struct place *place, struct err *e)
{
    struct buf out = { 0 };
    size_t from = place->from, to = place->end, comma = 0;

    if (place->after) { /* its comma */
        to = skip_space(p, text->len, to) + 1;
    } else {
        /* A comma behind the last goes with it; without one the comma before it does. */
        size_t next = to;
        for (size_t behind; next<text->len; next = behind> next ? behind : next + 1) {
            behind = skip_comment(text->p, text->len, next);
            if (behind == next && !is_space(text->p[next]))
                break;
        }
        if (next < text->len && text->p[next] == ',') {
            bool is_next_to = is_blank(text->p + to, next - to);
            to = is_next_to ? next + 1 : to;
            comma = is_next_to ? 0 : next;
        } else if (place->before) {
            comma = skip_space(p, text->len, place->before);
        }
    }
    /* The rest of its line, when nothing else stands there. */
    size_t line = from, rest = to;
    while (line > 0 && (text->p[line - 1] == ' ' || text->p[line - 1] == '\t'))
        line--;
    while (rest < text->len && (text->p[rest] == ' ' || text->p[rest] == '\t'))
        rest++;
    bool begins = line > 0 && text->p[line - 1] == '\n';
    bool ends = rest < text->len && (text->p[rest] == '\n' || text->p[rest] == '\r');
    if (begins && (ends || strchr("}]", p[rest]))) {
        from = line - 1;
        if (from > 0 && text->p[from - 1] == '\r')
            from--;
        to = rest;
    } else if (place->after) {
        to = rest;
    } else {
        from = place->before ? line : from;
    }
    if (comma && comma < from) {
        buf_add(&out, text->p, comma);
        buf_add(&out, text->p + comma + 1, from - comma - 1);
    } else {
        buf_add(&out, text->p, from);
    }
    if (comma > to) {
        buf_add(&out, text->p + to, comma - to);
        to = comma + 1;
    }
    buf_add(&out, text->p + to, text->len - to);
    return put(text, &out, e);
}

/* A container without anything in it, comments counted, becomes {} or []. */
static bool
is_empty_container(const struct buf *text, const char *p, size_t at)
{
    size_t end = skip_value(p, text->len, at);

    return (p[at] == '{' || p[at] == '[') && is_blank(text->p + at + 1, end - at - 2);
}

/* Removes what the path names if it is empty, and so on upwards. */
static enum status
remove_empty(struct buf *text, const char *const *path, size_t n, struct err *e)
{
    enum status s = ST_OK;

    for (; !s && n > 0; n--) {
        char *plain = plain_copy(text);
        size_t found = n - 1;
        struct place place;
        if (!plain)
            return err_nomem(e);
        size_t at = descend(plain, text->len, path, &found);
        bool is_empty = found == n - 1 && plain[at] == '{' && *path[n - 1] != '#' &&
                        find_place(plain, text->len, at, path[n - 1], 0, &place) &&
                        is_empty_container(text, plain, place.value);
        if (is_empty)
            s = cut_out(text, plain, &place, e);
        free(plain);
        if (!is_empty)
            return s;
    }
    if (!s) { /* the root */
        char *plain = plain_copy(text);
        size_t at = plain ? skip_space(plain, text->len, 0) : 0;
        if (!plain)
            return err_nomem(e);
        if (plain[at] == '{' && is_empty_container(text, plain, at)) {
            size_t end = skip_value(plain, text->len, at);
            struct buf out = { 0 };
            buf_add(&out, text->p, at + 1);
            buf_add(&out, text->p + end - 1, text->len - end + 1);
            s = put(text, &out, e);
        }
        free(plain);
    }
    return s;
}

/* key NULL: the element `index` of the list. */
static enum status
remove_at(struct buf *text, const char *const *path, bool is_list, size_t index, struct err *e)
{
    size_t n = length_of(path), want = is_list ? n : n - 1, found = want;
    char *plain = plain_copy(text);
    struct place place;
    enum status s = ST_OK;

    if (!plain)
        return err_nomem(e);
    size_t at = is_blank(plain, text->len) ? 0 : descend(plain, text->len, path, &found);
    bool is_there = !is_blank(plain, text->len) && found == want &&
                    plain[at] == (is_list ? '[' : '{') &&
                    find_place(plain, text->len, at, is_list ? NULL : path[n - 1], index, &place);
    if (is_there)
        s = cut_out(text, plain, &place, e);
    free(plain);
    return s || !is_there ? s : remove_empty(text, path, want, e);
}

enum status
json_edit_remove(struct buf *text, const char *const *path, struct err *e)
{
    return remove_at(text, path, false, 0, e);
}

enum status
json_edit_remove_nth(struct buf *text, const char *const *path, size_t index, struct err *e)
{
    return remove_at(text, path, true, index, e);
}
