/*
 * http_body - the parser of a body: none, Content-Length, or chunks.
 *
 *     BEGIN -> DATA -> END                                     Content-Length, or nothing
 *     BEGIN -> SIZE -> [EXT] -> SIZE_LF -> DATA -> DATA_CR -> DATA_LF -> SIZE ...
 *                                 | (size 0)
 *                                 `-> LINE -> NAME -> TEXT -> TEXT_LF -> LINE ... -> LAST_LF -> END
 *
 * Data is not copied: h->body points into the caller's bytes.
 */
#include "net/http.h"

#include <string.h>
#include <strings.h>

enum {
    BEGIN = HTTP_STEP_BODY,
    DATA,
    END,
    SIZE,
    EXT,
    SIZE_LF,
    DATA_CR,
    DATA_LF,
    LINE,
    NAME,
    TEXT,
    TEXT_LF,
    LAST_LF
};

static bool
is(char c, enum http_kind kind)
{
    return http_kinds[(unsigned char)c] & kind;
}

static enum http_event
chunk_fault(struct http *h)
{
    return http_fault(h, 400, "a bad chunk in the body");
}

/* Checks a chunk's size; extensions may follow in the line. */
static enum http_event
judge_size(struct http *h)
{
    if (h->line_len == 0)
        return chunk_fault(h);
    if (h->left > h->body_max - h->total)
        return http_fault(h, 413, "the body is larger than this request allows");
    h->total += h->left;
    h->line_len = 0; /* now counts the extensions */
    return HTTP_MORE;
}

/* Trailers are dropped, but these are forbidden: they can only be an attack. */
static enum http_event
judge_trailer(struct http *h)
{
    static const char *const never[] = { "host",       "content-length", "transfer-encoding",
                                         "connection", "expect",         "authorization" };

    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (h->line_len == strlen(never[i]) && strncasecmp(h->trailer, never[i], h->line_len) == 0)
            return http_fault(h, 400, "a header that is forbidden in a trailer");
    return HTTP_MORE;
}

static enum http_event
feed_size(struct http *h, char c)
{
    int digit = http_hex(c);

    switch (h->step) {
    case SIZE:
        if (digit >= 0) {
            if (h->line_len++ == 15) /* 15 digits always fit */
                return http_fault(h, 400, "a chunk size of more than 15 digits");
            h->left = h->left << 4 | (unsigned)digit;
            return HTTP_MORE;
        }
        if (c != '\r' && c != ';')
            return chunk_fault(h);
        h->step = c == ';' ? EXT : SIZE_LF;
        return judge_size(h);
    case EXT:
        if (c == '\r') {
            h->step = SIZE_LF;
            return HTTP_MORE;
        }
        if (!is(c, HTTP_VALUE))
            return chunk_fault(h);
        if (h->line_len++ == HTTP_EXT_MAX || h->exts_len++ == HTTP_EXTS_MAX)
            return http_fault(h, 400, "too long chunk extensions");
        return HTTP_MORE;
    default: /* SIZE_LF */
        if (c != '\n')
            return chunk_fault(h);
        h->line_len = 0;
        h->step = h->left ? DATA : LINE;
        return HTTP_MORE;
    }
}

static enum http_event
feed_trailer(struct http *h, char c)
{
    if (h->trailer_len++ == HTTP_TRAILER_MAX)
        return http_fault(h, 431, "more than 4096 bytes of trailers");
    switch (h->step) {
    case LINE:
        if (c == '\r') {
            h->step = LAST_LF;
            return HTTP_MORE;
        }
        h->line_len = 0;
        h->step = NAME;
        /* fall through */
    case NAME:
        if (c == ':' && h->line_len) {
            h->step = TEXT;
            return judge_trailer(h);
        }
        if (!is(c, HTTP_TOKEN))
            break;
        if (h->line_len < sizeof h->trailer)
            h->trailer[h->line_len] = c;
        h->line_len++;
        return HTTP_MORE;
    case TEXT:
        if (c == '\r')
            h->step = TEXT_LF;
        else if (!is(c, HTTP_VALUE))
            break;
        return HTTP_MORE;
    case TEXT_LF:
        if (c != '\n')
            break;
        h->step = LINE;
        return HTTP_MORE;
    default: /* LAST_LF */
        if (c != '\n')
            break;
        h->step = END;
        return HTTP_MORE;
    }
    return http_fault(h, 400, "a bad trailer");
}

static enum http_event
feed_data(struct http *h, const char *p, size_t n)
{
    h->body = p;
    h->body_len = n < h->left ? n : (size_t)h->left;
    h->left -= h->body_len;
    if (h->left == 0)
        h->step = h->request.is_chunked ? DATA_CR : END;
    return HTTP_BODY;
}

enum http_event
http_feed_body(struct http *h, const char *p, size_t n, size_t *used)
{
    enum http_event ev = HTTP_MORE;
    size_t i = 0;

    if (h->step == BEGIN && h->request.is_chunked) {
        h->step = SIZE;
    } else if (h->step == BEGIN) {
        if (h->request.content_length > h->body_max)
            return http_fault(h, 413, "the body is larger than this request allows");
        h->left = h->request.content_length;
        h->step = h->left ? DATA : END;
    }
    while (ev == HTTP_MORE && h->step != END && i < n) {
        switch (h->step) {
        case DATA:
            ev = feed_data(h, p + i, n - i);
            i += h->body_len;
            break;
        case DATA_CR:
        case DATA_LF:
            if (p[i] != (h->step == DATA_CR ? '\r' : '\n'))
                return chunk_fault(h);
            h->step = h->step == DATA_CR ? DATA_LF : SIZE;
            i++;
            break;
        case SIZE:
        case EXT:
        case SIZE_LF:
            ev = feed_size(h, p[i++]);
            break;
        default:
            ev = feed_trailer(h, p[i++]);
            break;
        }
    }
    *used = i;
    return ev == HTTP_MORE && h->step == END ? HTTP_DONE : ev;
}
