/*
 * fuzz_sse - net/sse and the head of an answer (net/http_client) on any bytes.
 *
 * For every input:
 *   - events are the same whether the bytes come at once, one by one, or split in two
 *   - no event is without its empty line; ids have no NUL and no line end
 *   - a head is complete or not; bytes after it change nothing, and a prefix of a good one
 *     is never an error
 */

#include "fuzz.h"

#include "net/http_client.h"
#include "net/sse.h"

static void
feed(struct sse *s, const char *p, size_t n, struct buf *told)
{
    enum sse_result r;
    size_t used;

    do {
        r = sse_feed(s, p, n, &used);
        MUST(used <= n && r != SSE_FULL);
        p += used;
        n -= used;
        if (r == SSE_EVENT) {
            MUST(!memchr(sse_text(&s->id), '\0', s->id.len));
            MUST(strcspn(sse_text(&s->id), "\r\n") == s->id.len);
            buf_addf(told, "%zu %zu %zu\n", s->type.len, s->id.len, s->data.len);
            buf_add(told, sse_text(&s->type), s->type.len);
            buf_add(told, sse_text(&s->id), s->id.len);
            buf_add(told, sse_text(&s->data), s->data.len);
        }
    } while (r == SSE_EVENT);
    MUST(n == 0);
}

static void
stream(const char *p, size_t n)
{
    struct buf told[3] = { { 0 }, { 0 }, { 0 } };
    struct sse s[3] = { { 0 }, { 0 }, { 0 } };
    size_t cut = n ? (unsigned char)p[0] % n : 0;

    feed(&s[0], p, n, &told[0]);
    for (size_t i = 0; i < n; i++)
        feed(&s[1], p + i, 1, &told[1]);
    feed(&s[2], p, cut, &told[2]);
    feed(&s[2], p + cut, n - cut, &told[2]);
    for (int i = 1; i < 3; i++) {
        MUST(told[i].len == told[0].len && s[i].id.len == s[0].id.len);
        MUST(!told[0].len || memcmp(told[i].p, told[0].p, told[0].len) == 0);
        MUST(s[i].retry_ms == s[0].retry_ms);
    }
    for (int i = 0; i < 3; i++) {
        sse_restart(&s[i]);
        sse_release(&s[i]);
        buf_release(&told[i]);
    }
}

static void
head(const char *p, size_t n)
{
    struct http_client_reply r, half;
    int len = http_client_parse(&r, p, n);

    if (len <= 0)
        return;
    MUST((size_t)len <= n && memcmp(p + len - 4, "\r\n\r\n", 4) == 0);
    MUST(r.status >= 100 && r.status <= 999 && !(r.is_chunked && r.has_length));
    MUST(strlen(r.location) < sizeof r.location);
    MUST(http_client_parse(&half, p, (size_t)len) == len && half.status == r.status);
    for (int i = 1; i < len; i += 1 + len / 64)
        MUST(http_client_parse(&half, p, (size_t)i) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);

    stream(text, len);
    head(text, len);
    free(text);
    return 0;
}
