#include "cmd/lib/scdoc.h"

#include <ctype.h>
#include <string.h>

/* ---- writing ---- */

void
scdoc_text(struct buf *to, const char *text)
{
    for (bool is_start = true; *text; text++) {
        bool is_inside = *text == '\n' && !is_start && text[1] && text[1] != '\n';
        if (strchr("\\*_<>~", *text) || (is_start && strchr("#|[]-.;:`", *text)))
            buf_addc(to, '\\');
        buf_addc(to, is_inside ? ' ' : *text);
        is_start = *text == '\n' && !is_inside;
    }
}

void
scdoc_item(struct buf *to, const char *name, const char *value, const char *says)
{
    buf_adds(to, "*");
    scdoc_text(to, name);
    buf_adds(to, "*");
    if (value) {
        buf_adds(to, " _");
        scdoc_text(to, value);
        buf_adds(to, "_");
    }
    buf_adds(to, "\n\t");
    scdoc_text(to, says);
    buf_adds(to, "\n\n");
}

/* ---- rendering ---- */

enum { MARGIN = 2, LITERAL = 4, DEFINITION = 6 }; /* columns */

/* A paragraph while its lines are collected. */
struct paragraph {
    struct buf text;
    size_t first, rest; /* spaces before its first line, and before the others */
};

static bool
is_word(char c)
{
    return isalnum((unsigned char)c);
}

/* Adds a line without its markup. As in scdoc, an underscore inside a word is a letter. */
static void
add_plain(struct buf *to, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_inside =
            p[i] == '_' && i > 0 && i + 1 < len && is_word(p[i - 1]) && is_word(p[i + 1]);
        if (p[i] == '\\' && i + 1 < len)
            buf_addc(to, p[++i]);
        else if (is_inside || (p[i] != '*' && p[i] != '_'))
            buf_addc(to, p[i]);
    }
}

static void
add_spaces(struct buf *to, size_t n)
{
    while (n--)
        buf_addc(to, ' ');
}

/* Writes the paragraph, its lines broken between words, and empties it. */
static void
flush(struct buf *to, struct paragraph *p, size_t width)
{
    const char *s = p->text.p ? p->text.p : "";
    size_t indent = p->first, column = 0, n;

    for (s += strspn(s, " "); *s; s += n, s += strspn(s, " ")) {
        n = strcspn(s, " ");
        if (column && column + 1 + n > width) {
            buf_addc(to, '\n');
            column = 0;
        }
        add_spaces(to, column ? 1 : indent);
        column += column ? 1 : indent;
        indent = p->rest;
        buf_add(to, s, n);
        column += n;
    }
    if (column)
        buf_addc(to, '\n');
    buf_reset(&p->text);
}

/* Adds a line of text to its paragraph. */
static void
collect(struct buf *to, struct paragraph *p, const char *line, size_t n, size_t width)
{
    bool is_item = strncmp(line, "- ", 2) == 0, is_definition = *line == '\t';

    if (is_item || is_definition != (p->first == DEFINITION))
        flush(to, p, width);
    if (p->text.len) {
        buf_addc(&p->text, ' ');
    } else {
        p->first = is_definition ? DEFINITION : MARGIN;
        p->rest = is_definition ? DEFINITION : is_item ? MARGIN + 2 : MARGIN;
    }
    add_plain(&p->text, line + is_definition, n - is_definition);
}

void
scdoc_render(struct buf *to, const char *page, size_t width)
{
    struct paragraph p = { .first = MARGIN, .rest = MARGIN };
    bool is_literal = false;

    for (size_t n; *page; page += n + (page[n] == '\n')) {
        n = strcspn(page, "\n");
        if (n == 3 && strncmp(page, "```", 3) == 0) {
            flush(to, &p, width);
            is_literal = !is_literal;
        } else if (is_literal) {
            add_spaces(to, n ? LITERAL : 0);
            buf_add(to, page, n);
            buf_addc(to, '\n');
        } else if (n == 0) {
            flush(to, &p, width);
            if (to->len < 2 || memcmp(to->p + to->len - 2, "\n\n", 2) != 0)
                buf_addc(to, '\n');
        } else if (*page == '#') {
            size_t marks = strspn(page, "# ");
            add_plain(to, page + marks, n - marks);
            buf_addc(to, '\n');
        } else {
            collect(to, &p, page, n, width);
        }
    }
    flush(to, &p, width);
    buf_release(&p.text);
}
