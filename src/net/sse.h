/*
 * sse - a parser of event streams (HTML standard, "server-sent events"), without I/O.
 *
 *     struct sse s = { 0 };
 *     while (sse_feed(&s, p, n, &used) == SSE_EVENT)
 *         ... s.type, s.data, s.id; then p += used, n -= used ...
 *     sse_release(&s);
 *
 * The split of the bytes into calls does not change the events. Lines end with \n, \r\n or \r. A
 * byte order mark at the beginning is skipped. An event without data is not returned, but its id
 * counts; an id with a NUL is ignored. An event without its final empty line is not returned. The
 * id stays until the next one: send it as Last-Event-ID.
 *
 * SSE_FULL: an event exceeds SSE_EVENT_MAX, or memory is out. The parser cannot go on: reconnect.
 *
 * Tests: test/unit/test_sse.c test/fuzz/fuzz_sse.c
 */
#ifndef CLIQ_NET_SSE_H
#define CLIQ_NET_SSE_H

#include "base/buf.h"

#include <stdint.h>

#define SSE_EVENT_MAX ((size_t)16 << 20)

enum sse_result { SSE_MORE, SSE_EVENT, SSE_FULL };

struct sse {
    struct buf type, data, id; /* of the current event; use sse_text: p may be NULL */
    int64_t retry_ms;          /* from the server's "retry"; 0: none */
    /* the parser's state */
    struct buf line, next_id;
    bool is_told, has_cr, has_begun;
};

enum sse_result sse_feed(struct sse *s, const char *p, size_t n, size_t *used);
/* For a new connection: drops an incomplete event, keeps the id. */
void sse_restart(struct sse *s);
void sse_release(struct sse *s);

static inline const char *
sse_text(const struct buf *b)
{
    return b->len ? b->p : "";
}

#endif
