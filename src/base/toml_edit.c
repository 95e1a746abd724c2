#include "base/toml_edit.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct toml_reader {
    struct arena *arena;
    const char *p; /* ended by NUL */
    size_t len, at;
    unsigned depth;
    const char *why; /* a fault; it is at `at` */
    bool is_starved;
};

static bool
fault(struct toml_reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static bool
is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static void
skip_blanks(struct toml_reader *r)
{
    while (r->p[r->at] == ' ' || r->p[r->at] == '\t')
        r->at++;
}

static bool
is_line_end(const struct toml_reader *r)
{
    const char *p = r->p + r->at;

    return r->at >= r->len || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static bool
skip_comment(struct toml_reader *r)
{
    if (r->p[r->at] == '#')
        while (!is_line_end(r)) {
            unsigned char c = (unsigned char)r->p[r->at];
            if ((c < 0x20 && c != '\t') || c == 0x7F)
                return fault(r, "a control character");
            r->at++;
        }
    return true;
}

/* White space, line ends and comments. */
static bool
skip_lines(struct toml_reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (!skip_comment(r))
            return false;
        if (r->at >= r->len || !is_line_end(r))
            return true;
        r->at += r->p[r->at] == '\r' ? 2 : 1;
    }
}

/* ---- strings ---- */

static bool
take_escape(struct toml_reader *r, bool is_multi)
{
    char c = r->p[++r->at];
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;

    if (is_multi && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
        skip_blanks(r);
        if (!is_line_end(r) || r->at >= r->len)
            return fault(r, "a \\ that ends no line");
        return true;
    }
    if (!digits && !(c && strchr("btnfr\"\\e", c)))
        return fault(r, "an unknown escape");
    r->at++;
    for (size_t i = 0; i < digits; i++, r->at++)
        if (!r->p[r->at] || !strchr("0123456789abcdefABCDEF", r->p[r->at]))
            return fault(r, "an escape without its digits");
    return true;
}

static bool
take_string(struct toml_reader *r)
{
    char quote = r->p[r->at];
    bool is_multi = r->p[r->at + 1] == quote && r->p[r->at + 2] == quote;
    size_t begin = r->at;

    r->at += is_multi ? 3 : 1;
    while (r->at < r->len) {
        const char *p = r->p + r->at;
        unsigned char c = (unsigned char)*p;
        if (c == (unsigned char)quote && (!is_multi || (p[1] == quote && p[2] == quote))) {
            r->at += is_multi ? 3 : 1;
            for (int i = 0; is_multi && i < 2 && r->p[r->at] == quote; i++)
                r->at++; /* quotes before the closing ones */
            return true;
        }
        if (!is_multi && (c == '\n' || c == '\r'))
            return fault(r, "a text that does not end on its line");
        if ((c < 0x20 && c != '\t' && c != '\n' && !(c == '\r' && p[1] == '\n')) || c == 0x7F)
            return fault(r, "a control character in a text");
        if (quote == '"' && c == '\\') {
            if (!take_escape(r, is_multi))
                return false;
            continue;
        }
        size_t n = utf8_char(p, r->len - r->at);
        if (!n)
            return fault(r, "bytes that are not UTF-8");
        r->at += n;
    }
    r->at = begin;
    return fault(r, "a text that does not end");
}

/* ---- keys ---- */

/* Escapes in a key are kept as they are: no key that is looked for has one. */
static bool
take_key_part(struct toml_reader *r, const char **out)
{
    size_t from = r->at, to;

    if (r->p[from] == '"' || r->p[from] == '\'') {
        if (r->p[from + 1] == r->p[from] && r->p[from + 2] == r->p[from])
            return fault(r, "a key of several lines");
        if (!take_string(r))
            return false;
        to = r->at - 1;
        from++;
    } else {
        while (is_bare(r->p[r->at]))
            r->at++;
        to = r->at;
        if (from == to)
            return fault(r, "a key is expected");
    }
    *out = arena_dup(r->arena, r->p + from, to - from);
    r->is_starved = r->is_starved || !*out;
    return *out != NULL;
}

static bool
take_key(struct toml_reader *r, struct toml_item *item)
{
    const char *part = NULL;

    for (;;) {
        skip_blanks(r);
        if (!take_key_part(r, &part))
            return false;
        if (item->n_keys < TOML_KEYS_MAX)
            item->keys[item->n_keys++] = part;
        skip_blanks(r);
        if (r->p[r->at] != '.')
            return true;
        r->at++;
    }
}

/* ---- values ---- */

static bool take_value(struct toml_reader *r);

static bool
take_list(struct toml_reader *r)
{
    for (r->at++;;) {
        if (!skip_lines(r))
            return false;
        if (r->p[r->at] == ']')
            break;
        if (!take_value(r) || !skip_lines(r))
            return false;
        if (r->p[r->at] == ',')
            r->at++;
        else if (r->p[r->at] != ']')
            return fault(r,
                         r->at < r->len ? "a comma or ] is expected" : "a list that does not end");
    }
    r->at++;
    return true;
}

static bool
take_inline_table(struct toml_reader *r)
{
    struct toml_item item;

    r->at++;
    skip_blanks(r);
    if (r->p[r->at] == '}')
        return r->at++, true;
    for (;;) {
        item = (struct toml_item){ 0 };
        if (!take_key(r, &item))
            return false;
        if (r->p[r->at] != '=')
            return fault(r, "= is expected");
        r->at++;
        skip_blanks(r);
        if (!take_value(r))
            return false;
        skip_blanks(r);
        if (r->p[r->at] == '}')
            return r->at++, true;
        if (r->p[r->at] != ',')
            return fault(r, "a comma or } is expected");
        r->at++;
    }
}

/* Numbers, dates and words, by their characters. */
static bool
take_word(struct toml_reader *r)
{
    static const char *const words[] = { "true", "false", "inf",  "nan",
                                         "+inf", "-inf",  "+nan", "-nan" };
    size_t from = r->at, n;
    const char *p = r->p + from;

    while (is_bare(r->p[r->at]) || (r->p[r->at] && strchr("+.:", r->p[r->at])))
        r->at++;
    n = r->at - from;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], p, n) == 0)
            return true;
    bool is_signed = *p == '+' || *p == '-';
    if (n > (is_signed ? 1 : 0) && p[is_signed] >= '0' && p[is_signed] <= '9') {
        const char *q = r->p + r->at; /* a date, a space, a time */
        if (n == 10 && p[4] == '-' && *q == ' ' && q[1] >= '0' && q[1] <= '9') {
            r->at++;
            while (is_bare(r->p[r->at]) || (r->p[r->at] && strchr("+.:", r->p[r->at])))
                r->at++;
        }
        return true;
    }
    r->at = from;
    return fault(r, "a value is expected: a text in quotes, a number, true, false, [ ] or { }");
}

static bool
take_value(struct toml_reader *r)
{
    char c = r->p[r->at];
    bool is_good;

    if (++r->depth > DEPTH_MAX)
        return fault(r, "nested too deep");
    if (c == '"' || c == '\'')
        is_good = take_string(r);
    else if (c == '[')
        is_good = take_list(r);
    else if (c == '{')
        is_good = take_inline_table(r);
    else
        is_good = take_word(r);
    r->depth--;
    return is_good;
}

/* ---- the file ---- */

static bool
take_header(struct toml_reader *r, struct toml_item *item)
{
    item->is_header = true;
    r->at++;
    item->is_list = r->p[r->at] == '[';
    r->at += item->is_list;
    if (!take_key(r, item))
        return false;
    if (r->p[r->at] != ']' || (item->is_list && r->p[r->at + 1] != ']'))
        return fault(r, item->is_list ? "]] is expected" : "] is expected");
    r->at += item->is_list ? 2 : 1;
    return true;
}

static bool
take_pair(struct toml_reader *r, const struct toml_item *table, struct toml_item *item)
{
    for (size_t i = 0; table && i < table->n_keys; i++)
        item->keys[item->n_keys++] = table->keys[i];
    if (!take_key(r, item))
        return false;
    if (r->p[r->at] != '=')
        return fault(r, "= is expected");
    r->at++;
    skip_blanks(r);
    item->value = r->at;
    if (!take_value(r))
        return false;
    item->over = r->at;
    return true;
}

static bool
read_items(struct toml_reader *r, struct toml_doc *out)
{
    struct toml_item **end = &out->first;
    const struct toml_item *table = NULL;

    while (skip_lines(r) && r->at < r->len) {
        struct toml_item *item = arena_alloc(r->arena, sizeof *item);
        if (!item) {
            r->is_starved = true;
            return false;
        }
        *item = (struct toml_item){ .from = r->at, .line = 1 };
        bool is_good = r->p[r->at] == '[' ? take_header(r, item) : take_pair(r, table, item);
        if (!is_good)
            return false;
        skip_blanks(r);
        if (!skip_comment(r))
            return false;
        if (!is_line_end(r))
            return fault(r, "the end of the line is expected");
        item->end = r->at;
        for (size_t i = 0; i < item->from; i++)
            item->line += r->p[i] == '\n';
        if (item->is_header)
            table = item;
        *end = item;
        end = &item->next;
    }
    return !r->why && !r->is_starved;
}

enum status
toml_edit_read(struct arena *a, const char *name, const struct buf *text, struct toml_doc *out,
               struct err *e)
{
    const char *kept = arena_dup(a, text->p ? text->p : "", text->len);
    struct toml_reader r = { .arena = a, .p = kept, .len = text->len };

    *out = (struct toml_doc){ 0 };
    if (!kept)
        return err_nomem(e);
    const char *nul = memchr(kept, '\0', text->len);
    if (text->len >= 3 && memcmp(kept, "\xEF\xBB\xBF", 3) == 0)
        r.at = 3;
    if (nul) {
        r.at = (size_t)(nul - kept);
        fault(&r, "a NUL");
    }
    if (!r.why && read_items(&r, out))
        return ST_OK;
    if (r.is_starved || !r.why)
        return err_nomem(e);
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < r.at && i < r.len; i++) {
        bool is_lf = kept[i] == '\n';
        line += is_lf;
        column = is_lf ? 1 : column + (((unsigned char)kept[i] & 0xC0) != 0x80);
    }
    return err_set(e, ST_INVALID, "%s:%u:%u: %s", name, line, column, r.why);
}

/* ---- paths ---- */

static bool
begins_with(const struct toml_item *item, const char *const *path, size_t *n)
{
    for (*n = 0; path[*n]; ++*n)
        if (*n >= item->n_keys || strcmp(item->keys[*n], path[*n]) != 0)
            return false;
    return true;
}

const struct toml_item *
toml_edit_find(const struct toml_doc *doc, const char *const *path)
{
    size_t n;

    for (const struct toml_item *i = doc->first; i; i = i->next)
        if (begins_with(i, path, &n))
            return i;
    return NULL;
}

/* ---- changes ---- */

static const char *
newline_of(const struct buf *text)
{
    const char *lf = text->len ? memchr(text->p, '\n', text->len) : NULL;

    return lf && lf > text->p && lf[-1] == '\r' ? "\r\n" : "\n";
}

enum status
toml_edit_add(struct buf *text, const char *lines, struct err *e)
{
    struct buf out = { 0 };
    const char *newline = newline_of(text);

    if (text->len)
        buf_add(&out, text->p, text->len);
    if (text->len && text->p[text->len - 1] != '\n')
        buf_adds(&out, newline);
    if (text->len)
        buf_adds(&out, newline);
    for (const char *p = lines; *p; p++)
        if (*p == '\n')
            buf_adds(&out, newline);
        else
            buf_addc(&out, *p);
    enum status s = buf_status(&out, "the file", e);
    if (!s) {
        buf_reset(text);
        buf_add(text, out.p, out.len);
        s = buf_status(text, "the file", e);
    }
    buf_release(&out);
    return s;
}

/* The start of the next line. */
static size_t
next_line(const struct buf *text, size_t at)
{
    const char *lf = at < text->len ? memchr(text->p + at, '\n', text->len - at) : NULL;

    return lf ? (size_t)(lf - text->p) + 1 : text->len;
}

/* Where the lines of a table begin when it is removed: an empty line before it goes, too. */
static size_t
begin_of(const struct buf *text, size_t from)
{
    while (from > 0 && text->p[from - 1] != '\n')
        from--;
    size_t at = from;
    if (at > 0)
        at--; /* the line end */
    if (at > 0 && text->p[at - 1] == '\r')
        at--;
    return from > 0 && (at == 0 || text->p[at - 1] == '\n') ? at : from;
}

enum status
toml_edit_remove(struct buf *text, const struct toml_doc *doc, const char *const *path,
                 struct err *e)
{
    struct buf out = { 0 };
    size_t kept = 0, n;

    for (const struct toml_item *i = doc->first; i;) {
        const struct toml_item *last = i, *next = i->next;
        if (!i->is_header || !begins_with(i, path, &n)) {
            i = next;
            continue;
        }
        for (; next && !next->is_header; next = next->next)
            last = next;
        size_t from = begin_of(text, i->from);
        if (from > kept)
            buf_add(&out, text->p + kept, from - kept);
        kept = next_line(text, last->end);
        i = next;
    }
    buf_add(&out, text->p + kept, text->len - kept);
    enum status s = buf_status(&out, "the file", e);
    if (!s) {
        buf_reset(text);
        buf_add(text, out.p ? out.p : "", out.len);
        s = buf_status(text, "the file", e);
    }
    buf_release(&out);
    return s;
}
