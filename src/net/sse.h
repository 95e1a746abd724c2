/*
 * sse - the bytes of an event stream (HTML, "server-sent events"), the side that listens. No I/O.
 *
 *     struct sse s = { 0 };
 *     while (sse_feed(&s, p, n, &used) == SSE_EVENT)
 *         ... s.type, s.data, s.id; then p += used, n -= used ...
 *     sse_release(&s);
 *
 * However the bytes are cut into calls, the events are the same. Lines end with \n, \r\n or \r; a
 * byte order mark at the beginning is passed over; an event without data is none, but its id
 * counts; an id with a NUL does not count, and what follows the last empty line is never told.
 * The id stays from one event to the next: it is what Last-Event-ID is to say.
 *
 * SSE_FULL: an event larger than SSE_EVENT_MAX, or no memory. There is no way on: connect again.
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
    struct buf type, data, id; /* of the event just told; NULL-able, see sse_text */
    int64_t retry_ms;          /* what the server asked for; 0: nothing */
    /* where we are */
    struct buf line, next_id;
    bool is_told, has_cr, has_begun;
};

enum sse_result sse_feed(struct sse *s, const char *p, size_t n, size_t *used);
/* For a new connection: forgets what was half read, and keeps the id. */
void sse_restart(struct sse *s);
void sse_release(struct sse *s);

static inline const char *
sse_text(const struct buf *b)
{
    return b->len ? b->p : "";
}

#endif
