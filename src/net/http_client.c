#include "net/http_client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { READ_SIZE = 65536 };

/* ---- the head of a response ---- */

static struct http_text
trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (p < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct http_text){ p, (size_t)(end - p) };
}

/* Digits only, as RFC 9110 requires; false: bad, or too large. */
static bool
read_number(struct http_text t, uint64_t *out)
{
    *out = 0;
    if (t.len == 0 || t.len > 18)
        return false;
    for (size_t i = 0; i < t.len; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return false;
        *out = *out * 10 + (unsigned)(t.p[i] - '0');
    }
    return true;
}

static bool
begins_like(struct http_text t, const char *s)
{
    return t.len >= strlen(s) && strncasecmp(t.p, s, strlen(s)) == 0;
}

static bool
read_field(struct http_client_reply *r, struct http_text name, struct http_text v)
{
    uint64_t n;

    if (http_text_is_like(name, "Content-Length")) {
        if (!read_number(v, &n) || (r->has_length && n != r->content_length))
            return false;
        r->has_length = true;
        r->content_length = n;
    } else if (http_text_is_like(name, "Transfer-Encoding")) {
        if (r->is_chunked || !http_text_is_like(v, "chunked"))
            return false;
        r->is_chunked = true;
    } else if (http_text_is_like(name, "Connection")) {
        r->keeps_alive = http_text_is_like(v, "close")
                             ? false
                             : http_text_is_like(v, "keep-alive") || r->keeps_alive;
    } else if (http_text_is_like(name, "Content-Type")) {
        r->is_event_stream = begins_like(v, "text/event-stream");
    } else if (http_text_is_like(name, "Retry-After") && read_number(v, &n)) {
        r->retry_after_s = n < 3600 ? (int64_t)n : 3600;
    } else if (http_text_is_like(name, "Location") && v.len < sizeof r->location) {
        memcpy(r->location, v.p, v.len);
        r->location[v.len] = '\0';
    }
    return true;
}

/* "HTTP/1.1 200 OK" */
static bool
read_status(struct http_client_reply *r, const char *p, size_t n)
{
    if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || (p[7] != '0' && p[7] != '1') || p[8] != ' ' ||
        (n > 12 && p[12] != ' '))
        return false;
    r->status = 0;
    for (size_t i = 9; i < 12; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        r->status = r->status * 10 + (p[i] - '0');
    }
    r->keeps_alive = p[7] == '1';
    return r->status >= 100;
}

static bool
read_line(struct http_client_reply *r, const char *p, size_t n)
{
    const char *colon = memchr(p, ':', n);

    if (!colon || colon == p)
        return false;
    for (const char *c = p; c < colon; c++)
        if (!(http_kinds[(unsigned char)*c] & HTTP_TOKEN))
            return false;
    for (const char *c = colon + 1; c < p + n; c++)
        if (!(http_kinds[(unsigned char)*c] & HTTP_VALUE))
            return false;
    return read_field(r, (struct http_text){ p, (size_t)(colon - p) }, trimmed(colon + 1, p + n));
}

int
http_client_parse(struct http_client_reply *r, const char *p, size_t n)
{
    const char *at = p, *end = p + n, *lf;
    bool is_first = true;

    *r = (struct http_client_reply){ 0 };
    while ((lf = memchr(at, '\n', (size_t)(end - at)))) {
        size_t len = (size_t)(lf - at);
        if (len == 0 || lf[-1] != '\r')
            return -1;
        len--;
        if (len == 0 && !is_first)
            return r->is_chunked && r->has_length ? -1 : (int)(lf + 1 - p);
        if (is_first ? !read_status(r, at, len) : !read_line(r, at, len))
            return -1;
        is_first = false;
        at = lf + 1;
        if (at == end)
            break;
    }
    return n > HTTP_CLIENT_HEAD_MAX ? -1 : 0;
}

/* ---- requests ---- */

void
http_client_init(struct http_client *c, const struct transport_place *at)
{
    *c = (struct http_client){ .at = at, .wire = TRANSPORT_NONE };
}

static void
drop(struct http_client *c)
{
    transport_close(&c->wire);
    buf_reset(&c->in);
    c->used = 0;
    c->is_idle = false;
}

void
http_client_close(struct http_client *c)
{
    if (!c->at)
        return; /* never initialised */
    drop(c);
    buf_release(&c->in);
}

static enum status
not_http(struct http_client *c, struct err *e)
{
    return err_set(e, ST_IO, "the response of %s is not HTTP/1.1: is it a cliq server?",
                   c->at->authority);
}

/* Appends received bytes to c->in; *got 0: end of the connection. */
static enum status
fill(struct http_client *c, size_t *got, int64_t until_ms, struct cancel *cancel, struct err *e)
{
    if (c->used == c->in.len) {
        buf_reset(&c->in);
        c->used = 0;
    }
    char *room = buf_room(&c->in, READ_SIZE);
    if (!room)
        return buf_status(&c->in, "the answer", e);
    enum status s = transport_recv(&c->wire, room, READ_SIZE, got, until_ms, cancel, e);
    buf_grew(&c->in, *got);
    return s;
}

static enum status
send_request(struct http_client *c, const struct http_client_request *q, int64_t until_ms,
             struct cancel *cancel, struct err *e)
{
    struct buf out = { 0 };

    buf_addf(&out, "%s %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: cliq\r\n", q->method, c->at->prefix,
             q->target, c->at->authority);
    buf_adds(&out, q->headers ? q->headers : "");
    if (q->body)
        buf_addf(&out, "Content-Length: %zu\r\n", q->body_len);
    buf_adds(&out, "\r\n");
    if (q->body)
        buf_add(&out, q->body, q->body_len);
    enum status s = buf_status(&out, "the request", e);
    if (!s)
        s = transport_send(&c->wire, out.p, out.len, until_ms, cancel, e);
    buf_release(&out);
    return s;
}

static bool
has_no_body(const struct http_client_request *q, int status)
{
    return strcmp(q->method, "HEAD") == 0 || status == 204 || status == 304;
}

/* Reads the head; skips interim responses (100 Continue). *is_dead: the connection broke before the
 * response's first byte. */
static enum status
read_head(struct http_client *c, const struct http_client_request *q, bool *is_dead,
          int64_t until_ms, struct cancel *cancel, struct err *e)
{
    int len = 0;

    *is_dead = false;
    for (;;) {
        len = c->in.len > c->used
                  ? http_client_parse(&c->reply, c->in.p + c->used, c->in.len - c->used)
                  : 0;
        if (len < 0)
            return not_http(c, e);
        if (len > 0) {
            c->used += (size_t)len;
            if (c->reply.status >= 200)
                break;
            continue;
        }
        size_t got = 0;
        bool is_blank = c->used == c->in.len; /* no byte of the response yet */
        enum status s = fill(c, &got, until_ms, cancel, e);
        if (!s && got == 0)
            s = err_set(e, ST_IO, "%s closed the connection without a response", c->at->authority);
        if (s) {
            *is_dead = s == ST_IO && is_blank;
            return s;
        }
    }
    const struct http_client_reply *r = &c->reply;
    bool is_until_end = !r->is_chunked && !r->has_length;
    http_init(&c->body);
    c->body.step = HTTP_STEP_BODY;
    c->body.body_max = SIZE_MAX;
    c->body.request.is_chunked = r->is_chunked;
    c->body.request.content_length = is_until_end ? SIZE_MAX : r->content_length;
    c->is_whole = has_no_body(q, r->status);
    c->is_idle = c->is_whole && r->keeps_alive;
    return ST_OK;
}

enum status
http_client_ask(struct http_client *c, const struct http_client_request *q, int64_t until_ms,
                struct cancel *cancel, struct err *e)
{
    bool is_dead = false, is_old = c->is_idle && q->is_repeatable && c->used == c->in.len;
    enum status s = ST_OK;

    for (;;) {
        if (!is_old) {
            drop(c);
            int64_t connect_ms = wait_until(HTTP_CLIENT_CONNECT_MS);
            s = transport_open(&c->wire, c->at, until_ms < connect_ms ? until_ms : connect_ms,
                               cancel, e);
        }
        c->is_idle = false;
        if (!s)
            s = send_request(c, q, until_ms, cancel, e);
        bool is_unsent = s != ST_OK;
        if (!s)
            s = read_head(c, q, &is_dead, until_ms, cancel, e);
        if (!is_old || s != ST_IO || (!is_unsent && !is_dead))
            break;
        is_old = false; /* the server closed the idle connection: use a new one */
        s = ST_OK;
    }
    if (s)
        drop(c);
    return s;
}

enum status
http_client_read(struct http_client *c, const char **p, size_t *n, int64_t until_ms,
                 struct cancel *cancel, struct err *e)
{
    bool is_until_end = !c->reply.is_chunked && !c->reply.has_length;

    *n = 0;
    while (!c->is_whole) {
        size_t used = 0, got = 0;
        enum http_event ev =
            http_feed_body(&c->body, c->in.p + c->used, c->in.len - c->used, &used);
        c->used += used;
        if (ev == HTTP_BODY) {
            *p = c->body.body;
            *n = c->body.body_len;
            return ST_OK;
        }
        if (ev == HTTP_FAULT)
            return not_http(c, e);
        if (ev == HTTP_DONE) {
            c->is_whole = true;
            c->is_idle = c->reply.keeps_alive && c->used == c->in.len;
            break;
        }
        enum status s = fill(c, &got, until_ms, cancel, e);
        if (s)
            return s;
        if (got == 0 && !is_until_end)
            return err_set(e, ST_IO, "%s closed the connection in the middle of its response",
                           c->at->authority);
        if (got == 0)
            c->is_whole = true;
    }
    return ST_OK;
}

/* ---- whole responses, with retries ---- */

static enum status
fetch_once(struct http_client *c, const struct http_client_request *q, struct buf *body,
           int64_t until_ms, struct cancel *cancel, struct err *e)
{
    const char *p;
    size_t n = 1;
    enum status s = http_client_ask(c, q, until_ms, cancel, e);

    buf_reset(body);
    while (!s && n > 0) {
        s = http_client_read(c, &p, &n, until_ms, cancel, e);
        if (!s && n > 0)
            buf_add(body, p, n);
        if (!s)
            s = buf_status(body, "the answer", e);
    }
    if (s || !c->is_idle)
        drop(c);
    if (s == ST_TIMEOUT)
        s = err_set(e, ST_TIMEOUT, "no response from %s in time", c->at->authority);
    return s;
}

static bool
should_retry(const struct http_client *c, const struct http_client_request *q, enum status s)
{
    int status = s ? 0 : c->reply.status;

    if (s)
        return s == ST_IO && q->is_repeatable;
    return status == 429 || status == 503 ||
           (q->is_repeatable && (status == 500 || status == 502 || status == 504));
}

enum status
http_client_fetch(struct http_client *c, const struct http_client_request *q, struct buf *body,
                  int64_t timeout_ms, unsigned tries, struct cancel *cancel, struct err *e)
{
    int64_t pause_ms = HTTP_CLIENT_WAIT_MS;
    enum status s;

    for (unsigned i = 1;; i++, pause_ms *= 2) {
        s = fetch_once(c, q, body, wait_until(timeout_ms), cancel, e);
        if (i >= tries || !should_retry(c, q, s))
            return s;
        int64_t after_ms = s ? 0 : c->reply.retry_after_s * 1000;
        enum status waited =
            wait_fd(-1, 0, wait_until(after_ms ? after_ms : pause_ms), cancel, NULL);
        if (waited == ST_CANCELLED)
            return err_set(e, ST_CANCELLED, "cancelled before the response arrived");
    }
}
