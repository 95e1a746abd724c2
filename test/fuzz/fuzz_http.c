/*
 * fuzz_http - net/http on any bytes, whole and split.
 *
 *     make build/fuzz/http
 *     build/fuzz/http -dict=test/fuzz/http.dict NEW_CORPUS test/fuzz/corpus/http
 *
 * For every input:
 *   - the events (requests, their parts, their bodies, the error and its position) are the
 *     same when the bytes come at once, in parts of random length, and one by one
 *   - each part is a copy of its own, so that ASan detects a read past the end
 *   - texts lie inside the head, a body is not larger than its limit, chunks are smaller
 *     decoded than encoded
 *   - an accepted request holds nothing that must be refused: checked here by other means
 */

#include "fuzz.h"

#include "base/buf.h"
#include "net/http.h"

enum { BODY_MAX = 300 };

static void
tell_text(struct buf *to, struct http_text t)
{
    buf_addf(to, "<%zu:", t.len);
    buf_add(to, t.p ? t.p : "", t.len);
    buf_addc(to, '>');
}

static void
is_clean(const struct http_request *r)
{
    const char *p = r->base;
    size_t n = r->head_len;

    MUST(n <= HTTP_HEAD_MAX && n >= 4 && memcmp(p + n - 4, "\r\n\r\n", 4) == 0);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        MUST((c == '\r') == (i + 1 < n && p[i + 1] == '\n')); /* CR LF only, and together */
        MUST(c >= 0x20 || c == '\t' || c == '\r' || c == '\n');
        if (c == '\n' && i > 1 && i + 1 < n)
            MUST(p[i + 1] != ' ' && p[i + 1] != '\t');
    }
    size_t hosts = http_header_count(r, "host");
    MUST(hosts == 1 || (hosts == 0 && r->minor == 0));
    size_t lengths = http_header_count(r, "content-length");
    size_t codings = http_header_count(r, "transfer-encoding");
    MUST(lengths + codings <= 1 && r->has_length == (lengths == 1) &&
         r->is_chunked == (codings == 1));
    if (codings)
        MUST(http_text_is_like(http_header(r, "transfer-encoding"), "chunked"));
    if (lengths) {
        struct http_text t = http_header(r, "content-length");
        char digits[32] = "", *end;
        MUST(t.len < sizeof digits);
        memcpy(digits, t.p, t.len);
        MUST(strtoull(digits, &end, 10) == r->content_length && !*end);
    }
    struct http_text path = http_path(r);
    MUST(r->is_star || path.p[0] == '/');
    for (size_t i = 0; i < path.len; i++)
        MUST((unsigned char)path.p[i] > ' ' && (unsigned char)path.p[i] < 0x7F &&
             path.p[i] != '#' && path.p[i] != '?');
    for (size_t i = 0; i < r->n_fields; i++) {
        struct http_text v = http_text(r, r->fields[i].value);
        MUST(r->fields[i].name.len > 0 && r->fields[i].name.at + r->fields[i].name.len < n);
        MUST((size_t)r->fields[i].value.at + v.len < n);
        MUST(!v.len || (!strchr(" \t", v.p[0]) && !strchr(" \t", v.p[v.len - 1])));
    }
}

static void
tell_head(struct buf *to, const struct http_request *r)
{
    is_clean(r);
    tell_text(to, http_text(r, r->method_name));
    tell_text(to, http_path(r));
    tell_text(to, http_query(r));
    buf_addf(to, "%d %d %d %d %d %d %ju", r->minor, r->is_chunked, r->keep_alive,
             r->expects_continue, r->is_absolute, r->is_star, (uintmax_t)r->content_length);
    for (size_t i = 0; i < r->n_fields; i++) {
        tell_text(to, http_text(r, r->fields[i].name));
        tell_text(to, http_text(r, r->fields[i].value));
    }
}

/* Feeds parts of random length, at most `most` (0: all at once). */
static void
tell(struct buf *to, const char *p, size_t len, uint32_t seed, size_t most)
{
    struct http h;
    size_t at = 0, have = 0, used, body = 0, body_from = 0;

    http_init(&h);
    do {
        seed = seed * 1664525 + 1013904223;
        size_t part = most ? 1 + (seed >> 8) % most : len;
        have = part < len - have ? have + part : len;
        for (bool is_more = false; !is_more;) {
            char *exact = malloc(have - at ? have - at : 1);
            MUST(exact);
            memcpy(exact, p + at, have - at);
            enum http_event ev = http_feed(&h, exact, have - at, &used);
            MUST(used <= have - at);
            at += used;
            switch (ev) {
            case HTTP_MORE:
                is_more = true;
                MUST(have - at <= HTTP_HEAD_MAX);
                break;
            case HTTP_HEAD:
                tell_head(to, &h.request);
                h.body_max = BODY_MAX;
                body = 0;
                body_from = at;
                break;
            case HTTP_BODY:
                MUST(h.body_len && h.body >= exact && h.body + h.body_len == exact + used);
                buf_add(to, h.body, h.body_len);
                body += h.body_len;
                MUST(body <= BODY_MAX && body <= at - body_from);
                break;
            case HTTP_DONE:
                MUST(h.request.is_chunked || body == h.request.content_length);
                buf_addf(to, "|%zu\n", at);
                http_next(&h);
                is_more = at == have;
                break;
            case HTTP_FAULT:
                MUST(h.status >= 400 && h.status <= 505 && h.reason && *h.reason);
                buf_addf(to, "%d %s", h.status, h.reason);
                free(exact);
                return;
            }
            free(exact);
        }
    } while (have < len);
    buf_addf(to, "... %zu", len - at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *p = (const char *)data;
    uint32_t seed = 2166136261u;
    static const size_t most[] = { 1, 3, 40, 1000 };
    struct buf whole = { 0 }, parts = { 0 };

    for (size_t i = 0; i < len; i++)
        seed = (seed ^ data[i]) * 16777619u;
    tell(&whole, p, len, seed, 0);
    for (size_t i = len > 1000; i < sizeof most / sizeof *most; i++) {
        buf_reset(&parts);
        tell(&parts, p, len, seed, most[i]);
        MUST(whole.len == parts.len && memcmp(whole.p, parts.p, whole.len) == 0);
    }
    buf_release(&whole);
    buf_release(&parts);
    return 0;
}
