/*
 * fuzz_jsonrpc - base/jsonrpc on any bytes.
 *
 * For every input:
 *   - the lines are the same whether the bytes come at once, one by one, or split in two
 *   - no line is longer than the limit, empty, or holds a line end
 *   - a message has what its kind says; one that is refused has an error code
 *   - an answer to its id can be written, and is read back as one with the same id
 */
#include "fuzz.h"

#include "base/jsonrpc.h"

enum { LIMIT = 200 };

static void
check_answer(struct arena *a, const struct json *id)
{
    struct buf line = { 0 };
    struct jsonrpc_message m;

    jsonrpc_write_error(&line, id, JSONRPC_NO_METHOD, "no", NULL);
    MUST(line.len && line.p[line.len - 1] == '\n' && !memchr(line.p, '\n', line.len - 1));
    MUST(jsonrpc_parse(a, line.p, line.len - 1, &m, NULL) == ST_OK);
    MUST(m.kind == JSONRPC_ERROR && m.code == JSONRPC_NO_METHOD);
    MUST(id ? json_same(m.id, id) : !m.id);
    buf_release(&line);
}

static void
look(const char *line, size_t n)
{
    struct arena a = { 0 };
    struct jsonrpc_message m;
    struct err e;

    if (jsonrpc_parse(&a, line, n, &m, &e))
        MUST(m.code == JSONRPC_PARSE_ERROR || m.code == JSONRPC_INVALID_REQUEST);
    else if (m.kind == JSONRPC_REQUEST || m.kind == JSONRPC_NOTIFICATION)
        MUST(m.method && !m.id == (m.kind == JSONRPC_NOTIFICATION));
    else
        MUST(!m.method && (m.kind == JSONRPC_ERROR ? m.message != NULL : m.id && m.result));
    check_answer(&a, m.id);
    arena_release(&a);
}

static void
take(struct jsonrpc_lines *in, struct buf *told, bool is_first)
{
    enum jsonrpc_got got;
    const char *line;
    size_t n;

    while ((got = jsonrpc_line(in, &line, &n)) != JSONRPC_MORE) {
        buf_addf(told, "%d ", got);
        if (got == JSONRPC_TOO_LONG)
            continue;
        MUST(n > 0 && n <= LIMIT && !memchr(line, '\n', n));
        buf_add(told, line, n);
        if (is_first)
            look(line, n);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *p = fuzz_copy(data, len);
    struct jsonrpc_lines in[3] = { { .max = LIMIT }, { .max = LIMIT }, { .max = LIMIT } };
    struct buf told[3] = { { 0 }, { 0 }, { 0 } };
    size_t cut = len ? data[0] % len : 0;

    jsonrpc_feed(&in[0], p, len);
    take(&in[0], &told[0], true);
    for (size_t i = 0; i < len; i++) {
        jsonrpc_feed(&in[1], p + i, 1);
        take(&in[1], &told[1], false);
    }
    jsonrpc_feed(&in[2], p, cut);
    take(&in[2], &told[2], false);
    jsonrpc_feed(&in[2], p + cut, len - cut);
    take(&in[2], &told[2], false);
    for (int i = 1; i < 3; i++) {
        MUST(told[i].len == told[0].len);
        MUST(!told[0].len || memcmp(told[i].p, told[0].p, told[0].len) == 0);
        MUST(jsonrpc_rest(&in[i]) == jsonrpc_rest(&in[0]));
    }
    for (int i = 0; i < 3; i++) {
        jsonrpc_lines_release(&in[i]);
        buf_release(&told[i]);
    }
    free(p);
    return 0;
}
