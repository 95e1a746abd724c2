#define _GNU_SOURCE /* memmem */
#include "agents/connector/xml.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *
find(const char *p, const char *end, const char *text)
{
    return p < end ? memmem(p, (size_t)(end - p), text, strlen(text)) : NULL;
}

/* Does the tag's name stand at p, behind its '<' or '</'? */
static bool
is_name(const char *p, const char *end, const char *name)
{
    size_t n = strlen(name);

    return (size_t)(end - p) > n && memcmp(p, name, n) == 0 && strchr(" \t\r\n/>", p[n]);
}

static const char *
find_end(const char *p, const char *end, const char *name)
{
    while ((p = find(p, end, "</"))) {
        if (is_name(p + 2, end, name))
            return p;
        p += 2;
    }
    return NULL;
}

bool
xml_next(const char **at, const char *end, const char *name, struct xml_part *to)
{
    const char *p = *at;

    while ((p = find(p, end, "<"))) {
        const char *tag = ++p, *close = is_name(tag, end, name) ? find(tag, end, ">") : NULL;
        if (!close)
            continue;
        bool is_empty = close[-1] == '/';
        const char *last = is_empty ? close + 1 : find_end(close + 1, end, name);
        if (!last)
            return false;
        *to = (struct xml_part){ close + 1, last };
        *at = last;
        return true;
    }
    return false;
}

/* Appends the character that the entity between & and ; stands for; false: it is none we know. */
static bool
add_entity(struct buf *to, const char *p, size_t n)
{
    static const struct {
        const char *name, *text;
    } known[] = { { "amp", "&" }, { "lt", "<" }, { "gt", ">" }, { "quot", "\"" }, { "apos", "'" } };
    char number[12] = "", utf8[4];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, p, n) == 0) {
            buf_adds(to, known[i].text);
            return true;
        }
    if (n < 2 || n >= sizeof number || p[0] != '#')
        return false;
    memcpy(number, p + 1, n - 1);
    bool is_hex = number[0] == 'x';
    char *end;
    unsigned long c = strtoul(number + is_hex, &end, is_hex ? 16 : 10);
    bool is_character = c > 0 && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
    size_t len = *end || !is_character ? 0 : utf8_encode(utf8, (uint32_t)c);
    buf_add(to, utf8, len);
    return len > 0;
}

bool
xml_text(const struct xml_part *in, const char *name, struct buf *to)
{
    struct xml_part part;
    const char *at = in->p;

    if (!xml_next(&at, in->end, name, &part))
        return false;
    buf_adds(to, "");
    for (const char *p = part.p; p < part.end; p++) {
        const char *semicolon = *p == '&' ? find(p, part.end, ";") : NULL;
        if (semicolon && add_entity(to, p + 1, (size_t)(semicolon - p - 1)))
            p = semicolon;
        else
            buf_addc(to, *p);
    }
    return true;
}

void
xml_escape(struct buf *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            buf_adds(to, "&amp;");
            break;
        case '<':
            buf_adds(to, "&lt;");
            break;
        case '>':
            buf_adds(to, "&gt;");
            break;
        default:
            buf_addc(to, *text);
        }
}
