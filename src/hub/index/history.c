#include "hub/index/history.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 8, BYTES_MAX = 4096, NUMBER_MAX = 20 };

/* The digits of n, and a blank, before `end`. */
static char *
put_number(char *end, uint64_t n)
{
    *--end = ' ';
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

const char *
history_add(struct arena *a, const char *lines, uint64_t seq, const char *body)
{
    size_t before = lines ? strlen(lines) : 0, len = strlen(body);
    char number[NUMBER_MAX + 1], *digits = put_number(number + sizeof number, seq);
    size_t n = (size_t)(number + sizeof number - digits);
    char *to = arena_alloc(a, before + n + len + 2);

    if (!to)
        return NULL;
    if (before)
        memcpy(to, lines, before);
    memcpy(to + before, digits, n);
    memcpy(to + before + n, body, len);
    memcpy(to + before + n + len, "\n", 2);
    return to;
}

bool
history_is_full(const char *lines)
{
    size_t n = 0;

    for (const char *p = lines; (p = strchr(p, '\n')); p++)
        n++;
    return n >= LINES_MAX || strlen(lines) >= BYTES_MAX;
}

bool
history_next(const char **at, uint64_t *seq, const char **body, size_t *len)
{
    const char *end = *at ? strchr(*at, '\n') : NULL;
    char *blank;

    if (!end)
        return false;
    *seq = strtoull(*at, &blank, 10);
    *body = blank + (*blank == ' ');
    *len = (size_t)(end - *body);
    *at = end + 1;
    return true;
}
