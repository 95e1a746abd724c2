/*
 * json_foreign - JSON that programs of other makers wrote.
 *
 * Strings of JavaScript and Java are UTF-16: where one cuts a text, half a surrogate pair is left,
 * and is written as "\ud83d". RFC 8259 allows the escape, but no UTF-8 can hold what it says.
 * U+FFFD takes its place, as it does in what browsers read; its escape is as long, so the text
 * keeps its length.
 */
#include "base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The unit of the escape \uXXXX at p; 0: there is none. */
static unsigned
unit_at(const char *p, const char *end)
{
    char digits[5] = "";

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return 0;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)p[2 + i]))
            return 0;
        digits[i] = p[2 + i];
    }
    return (unsigned)strtoul(digits, NULL, 16);
}

/* Backslashes are in strings only, so that the escapes of any JSON are found without parsing it. */
static void
mend_surrogates(char *p, const char *end)
{
    while ((p = memchr(p, '\\', (size_t)(end - p)))) {
        unsigned unit = unit_at(p, end);
        bool is_pair = (unit & 0xFC00) == 0xD800 && (unit_at(p + 6, end) & 0xFC00) == 0xDC00;
        if (!is_pair && (unit & 0xF800) == 0xD800)
            memcpy(p + 2, "fffd", 4);
        p += is_pair ? 12 : unit ? 6 : 2;
        if (p >= end)
            return;
    }
}

bool
json_parse_foreign(struct arena *a, const char *text, size_t len, struct json **out,
                   struct json_fault *where)
{
    struct json_fault fault = { 0 };

    if (json_parse(a, text, len, out, &fault))
        return true;
    if (fault.what && strcmp(fault.what, "lone surrogate") == 0) {
        char *copy = arena_dup(a, text, len);
        if (copy) {
            mend_surrogates(copy, copy + len);
            return json_parse(a, copy, len, out, where);
        }
        fault = (struct json_fault){ .what = "out of memory", .is_starved = true };
    }
    if (where)
        *where = fault;
    return false;
}
