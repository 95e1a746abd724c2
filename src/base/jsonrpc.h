/*
 * jsonrpc - JSON-RPC 2.0, one message a line: what is read and written, without a descriptor.
 *
 *     {"jsonrpc":"2.0","id":1,"method":"session/new","params":{…}}     JSONRPC_REQUEST
 *     {"jsonrpc":"2.0","method":"session/cancel","params":{…}}         JSONRPC_NOTIFICATION
 *     {"jsonrpc":"2.0","id":1,"result":{…}}                            JSONRPC_RESULT
 *     {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"…"}}   JSONRPC_ERROR
 *
 * An id is a text or a whole number and is given back as it was written. Batches (a list) are
 * refused: the protocols that use this module have none. A message without "jsonrpc":"2.0" is
 * refused, too.
 *
 * The lines of a stream:
 *
 *     jsonrpc_feed(&in, p, n);                        any piece of it
 *     while ((got = jsonrpc_line(&in, &line, &len)) != JSONRPC_MORE)
 *         got == JSONRPC_LINE: s = jsonrpc_parse(&arena, line, len, &m, e);
 *     jsonrpc_rest(&in);                              bytes of a line without an end
 *     jsonrpc_lines_release(&in);
 *
 * Ownership: a line is valid until the next jsonrpc_feed or jsonrpc_line, a message as long as its
 * arena and line. Zero is an empty stream with the limit JSONRPC_LINE_MAX.
 *
 * Tests: test/unit/test_jsonrpc.c test/fuzz/fuzz_jsonrpc.c
 */
#ifndef CLIQ_BASE_JSONRPC_H
#define CLIQ_BASE_JSONRPC_H

#include "base/json.h"

#define JSONRPC_LINE_MAX ((size_t)16 << 20) /* a file that an agent writes is one message */

enum jsonrpc_code {
    JSONRPC_PARSE_ERROR = -32700,
    JSONRPC_INVALID_REQUEST = -32600,
    JSONRPC_NO_METHOD = -32601,
    JSONRPC_INVALID_PARAMS = -32602,
    JSONRPC_INTERNAL = -32603,
};

enum jsonrpc_kind { JSONRPC_REQUEST, JSONRPC_NOTIFICATION, JSONRPC_RESULT, JSONRPC_ERROR };

struct jsonrpc_message {
    enum jsonrpc_kind kind;
    const char *method;        /* of a request or notification */
    const struct json *id;     /* NULL: none, or null */
    const struct json *params; /* an object or a list; NULL: none */
    const struct json *result;
    int64_t code;            /* of an error */
    const char *message;     /* of an error; "" when it says nothing */
    const struct json *data; /* of an error; NULL: none */
};

/* ST_INVALID: it is no message; m->code is the error to answer with, m->id whom (NULL: null).
 * ST_IO: out of memory. */
enum status jsonrpc_parse(struct arena *a, const char *line, size_t n, struct jsonrpc_message *m,
                          struct err *e);

/* Each appends one line with its '\n'. params and result are JSON without a line end; params NULL:
 * none; result NULL: null. id NULL: null. data: of an error, JSON; NULL: none. */
void jsonrpc_write_request(struct buf *to, int64_t id, const char *method, const char *params);
void jsonrpc_write_notification(struct buf *to, const char *method, const char *params);
void jsonrpc_write_result(struct buf *to, const struct json *id, const char *result);
void jsonrpc_write_error(struct buf *to, const struct json *id, int64_t code, const char *message,
                         const char *data);

/* ---- lines ---- */

struct jsonrpc_lines {
    struct buf bytes;
    size_t at;        /* bytes of earlier lines */
    size_t searched;  /* without a line end; from `at` */
    size_t max;       /* bytes of a line; 0: JSONRPC_LINE_MAX */
    bool is_skipping; /* inside a line that is too long */
    size_t n_too_long;
};

enum jsonrpc_got {
    JSONRPC_MORE,     /* no whole line is there */
    JSONRPC_LINE,     /* a line without its end, not empty */
    JSONRPC_TOO_LONG, /* a line was too long: it is passed over */
};

void jsonrpc_feed(struct jsonrpc_lines *in, const char *p, size_t n);
enum jsonrpc_got jsonrpc_line(struct jsonrpc_lines *in, const char **line, size_t *len);
/* Bytes behind the last line end, after jsonrpc_line said JSONRPC_MORE. */
size_t jsonrpc_rest(const struct jsonrpc_lines *in);
/* ST_IO: memory ran out, and bytes are lost. */
enum status jsonrpc_lines_status(const struct jsonrpc_lines *in, struct err *e);
void jsonrpc_lines_release(struct jsonrpc_lines *in);

#endif
