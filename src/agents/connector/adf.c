#include "agents/connector/adf.h"

#include <string.h>

static void
write_node(struct buf *to, const char *type)
{
    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "type", type);
}

/* The lines of one paragraph. */
static void
write_paragraph(struct buf *to, const char *p, const char *end)
{
    write_node(to, "paragraph");
    json_key(to, "content");
    json_open(to, '[');
    for (const char *line = p; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line);
        size_t shown = n && line[n - 1] == '\r' ? n - 1 : n;
        if (line > p) {
            write_node(to, "hardBreak");
            json_close(to, '}');
        }
        if (shown) { /* an empty text is refused */
            write_node(to, "text");
            json_key_strn(to, "text", line, shown);
            json_close(to, '}');
        }
        line += n + 1;
    }
    json_close(to, ']');
    json_close(to, '}');
}

/* Where the paragraph at p ends: at an empty line, or at the end. */
static const char *
paragraph_end(const char *p, const char *end)
{
    for (const char *line = p; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        if (strspn(line, " \t\r") >= (size_t)(stop - line))
            return line;
        line = stop + 1;
    }
    return end;
}

static bool
is_document(const char *text, size_t len)
{
    struct arena a = { 0 };
    struct json *doc;
    bool is = json_parse(&a, text, len, &doc, NULL) && json_eq(json_get(doc, "type"), "doc");

    arena_release(&a);
    return is;
}

void
adf_write(struct buf *to, const char *text, size_t len)
{
    const char *end = text + len;

    if (is_document(text, len)) {
        buf_add(to, text, len);
        return;
    }
    json_open(to, '{');
    json_key_str(to, "type", "doc");
    json_key_int(to, "version", 1);
    json_key(to, "content");
    json_open(to, '[');
    for (const char *p = text; p < end;) {
        const char *stop = paragraph_end(p, end);
        const char *last = stop > p && stop[-1] == '\n' ? stop - 1 : stop;
        if (last > p)
            write_paragraph(to, p, last);
        const char *line = stop < end ? memchr(stop, '\n', (size_t)(end - stop)) : NULL;
        p = line ? line + 1 : end;
    }
    json_close(to, ']');
    json_close(to, '}');
}

static bool
is_block(const struct json *node)
{
    static const char *const blocks[] = { "paragraph", "heading", "codeBlock", "listItem",
                                          "tableRow",  "rule",    "blockquote" };

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (json_eq(json_get(node, "type"), blocks[i]))
            return true;
    return false;
}

static void
end_line(struct buf *to)
{
    bool is_begun = to->len > 1 && to->p[to->len - 1] == ' ' && to->p[to->len - 2] == '-';

    if (to->len && to->p[to->len - 1] != '\n' && !is_begun)
        buf_addc(to, '\n');
}

void
adf_text(struct buf *to, const struct json *node)
{
    const struct json *text = json_get(node, "text"), *mention = json_path(node, "attrs.text");

    if (is_block(node))
        end_line(to);
    if (json_eq(json_get(node, "type"), "listItem"))
        buf_adds(to, "- ");
    if (json_eq(json_get(node, "type"), "hardBreak"))
        buf_addc(to, '\n');
    if (json_is(text, JSON_STRING))
        buf_add(to, text->text.p, text->text.len);
    else if (json_is(mention, JSON_STRING))
        buf_add(to, mention->text.p, mention->text.len);
    json_each (child, json_get(node, "content"))
        adf_text(to, child);
    if (is_block(node))
        end_line(to);
}
