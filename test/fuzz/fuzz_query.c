/*
 * fuzz_query - net/query on any bytes.
 *
 * For every input:
 *   - it is parsed, or the error says why not, in visible ASCII
 *   - pairs are UTF-8 without NUL, not longer than the text, and have names
 *   - written again, escaped, they are parsed to the same pairs
 *   - numbers agree with strtoull and strtod
 *   - a parse that runs out of memory reports only that
 */

#include "fuzz.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "net/query.h"

static void
says_why(const struct err *e)
{
    MUST(e->text[0]);
    for (const char *c = e->text; *c; c++)
        MUST(*c >= ' ' && *c < 0x7F);
}

static void
write_escaped(struct buf *to, const char *text)
{
    for (; *text; text++)
        buf_addf(to, "%%%02X", (unsigned char)*text);
}

static void
survives_another_turn(struct arena *a, const struct query *q)
{
    struct buf text = { 0 };
    struct query again;
    struct err e = { "" };

    for (size_t i = 0; i < q->n; i++) {
        buf_adds(&text, i ? "&" : "");
        write_escaped(&text, q->pairs[i].name);
        buf_addc(&text, '=');
        write_escaped(&text, q->pairs[i].value);
    }
    MUST(query_parse(&again, a, text.p, text.len, &e) == ST_OK && again.n == q->n);
    for (size_t i = 0; i < q->n; i++)
        MUST(!strcmp(again.pairs[i].name, q->pairs[i].name) &&
             !strcmp(again.pairs[i].value, q->pairs[i].value));
    buf_release(&text);
}

static void
numbers_are_right(const struct query *q, const struct query_pair *pair)
{
    struct err e = { "" };
    uint64_t n;
    char *end;

    enum status s = query_unsigned(q, pair->name, 0, UINT64_MAX, 7, &n, &e);
    MUST(query_count(q, pair->name) == 1 || s == ST_INVALID);
    if (!s)
        MUST(n == strtoull(query_get(q, pair->name), &end, 10) && !*end);
    else
        MUST(e.text[0] && n == 7);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct arena a;
    struct arena small = { .max = 4096 };
    struct query q;
    struct err e = { "" };
    const char *path;

    arena_reset(&a);
    char *text = fuzz_copy(data, len);
    enum status s = query_parse(&q, &a, text, len, &e);
    if (s) {
        MUST(s == ST_INVALID);
        says_why(&e);
    } else {
        MUST(q.n <= QUERY_PAIRS);
        for (size_t i = 0; i < q.n; i++) {
            const struct query_pair *pair = &q.pairs[i];
            MUST(pair->name_len && pair->name_len + pair->value_len <= len);
            MUST(strlen(pair->name) == pair->name_len && strlen(pair->value) == pair->value_len);
            MUST(utf8_valid_len(pair->name, pair->name_len) == pair->name_len);
            MUST(utf8_valid_len(pair->value, pair->value_len) == pair->value_len);
            numbers_are_right(&q, pair);
        }
        survives_another_turn(&a, &q);
    }
    s = query_parse(&q, &small, text, len, &e);
    MUST(s == ST_OK || s == ST_INVALID || s == ST_IO);
    s = url_decode(&a, text, len, "it", &path, &e);
    MUST(s ? s == ST_INVALID : strlen(path) <= len);
    arena_release(&small);
    free(text);
    return 0;
}
