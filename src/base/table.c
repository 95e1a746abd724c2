#include "base/table.h"

#include "base/term.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

static size_t
char_width(const char *p, size_t n)
{
    int w = utf8proc_charwidth((utf8proc_int32_t)utf8_decode(p, n));

    return w > 0 ? (size_t)w : 0;
}

size_t
table_text_width(const char *p, size_t len)
{
    size_t width = 0;

    for (size_t i = 0, n; i < len && (n = utf8_char(p + i, len - i)); i += n)
        width += char_width(p + i, n);
    return width;
}

void
table_cell(struct table *t, const char *p, size_t len)
{
    assert(t->columns > 0 && t->columns <= TABLE_COLUMNS_MAX);
    size_t start = t->text.len, column = t->cells % t->columns;

    term_escape(&t->text, p, len, false);
    if (buf_failed(&t->text))
        return;
    size_t width =
        t->text.len > start ? table_text_width(t->text.p + start, t->text.len - start) : 0;
    if (width > t->widths[column])
        t->widths[column] = width;
    buf_add(&t->text, "", 1);
    t->cells++;
}

/* Writes the cell, truncated with an ellipsis when it is wider than `width`. */
static void
write_cut(struct buf *out, const char *cell, size_t width)
{
    size_t len = strlen(cell), used = 0, i = 0, n;

    if (table_text_width(cell, len) <= width) {
        buf_add(out, cell, len);
        return;
    }
    for (; i < len && (n = utf8_char(cell + i, len - i)); i += n) {
        used += char_width(cell + i, n);
        if (used > width - 1)
            break;
    }
    buf_add(out, cell, i);
    buf_adds(out, "…");
}

enum { GAP = 2, NARROWEST = 6, NARROW = 12 };

/* The widths of the columns in a terminal of `width`: the widest ones give way. */
static void
fit(const struct table *t, unsigned width, size_t widths[TABLE_COLUMNS_MAX])
{
    size_t all = 0;

    memcpy(widths, t->widths, sizeof t->widths);
    for (unsigned c = 0; c < t->columns; c++)
        all += widths[c] + (c ? GAP : 0);
    while (width >= NARROW && all > width) { /* better wrapped than unreadable */
        unsigned widest = 0;
        for (unsigned c = 1; c < t->columns; c++)
            if (!widest || widths[c] >= widths[widest])
                widest = c;
        if (!widest || widths[widest] <= NARROWEST)
            return; /* the rows are wrapped */
        widths[widest]--;
        all--;
    }
}

void
table_write(const struct table *t, struct buf *out, unsigned width, bool has_color)
{
    size_t widths[TABLE_COLUMNS_MAX];
    const char *cell = t->text.p;

    if (buf_failed(&t->text)) {
        out->is_starved = out->is_starved || t->text.is_starved;
        out->is_over = out->is_over || t->text.is_over;
        return;
    }
    fit(t, width, widths);
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        unsigned c = (unsigned)(i % t->columns);
        bool is_head = i < t->columns, is_last = c + 1 == t->columns;
        if (is_head && has_color && c == 0)
            buf_adds(out, "\033[1m");
        size_t start = out->len;
        write_cut(out, cell, widths[c]);
        if (is_last) {
            buf_adds(out, is_head && has_color ? "\033[0m\n" : "\n");
            continue;
        }
        size_t shown = out->len > start ? table_text_width(out->p + start, out->len - start) : 0;
        size_t pad = widths[c] + GAP - shown;
        buf_addf(out, "%*s", (int)pad, "");
    }
}

void
table_release(struct table *t)
{
    buf_release(&t->text);
    *t = (struct table){ .columns = t->columns };
}
