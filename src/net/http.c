/*
 * http - the parser of a request's head: a state machine that reads each byte once.
 *
 *     START -> METHOD -> TARGET -> VERSION -> LINE_LF
 *                                               |
 *          .------------------------------------'
 *          v
 *     FIELD -> NAME -> BLANK -> VALUE -> FIELD_LF
 *       | ^                                 |
 *       | `---------------------------------'
 *       `-> END_LF -> (http_body.c)
 *
 * A byte that its state does not allow is a fault at once. Checks that need a whole line or
 * head run at its end. The parser never looks ahead, so it works on any split of the bytes.
 */
#include "net/http.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum {
    START,
    START_LF,
    FIRST,
    METHOD,
    TARGET,
    VERSION,
    LINE_LF,
    FIELD,
    NAME,
    BLANK,
    VALUE,
    FIELD_LF,
    END_LF
};
_Static_assert((int)END_LF < HTTP_STEP_BODY, "the steps of the head come first");
_Static_assert(HTTP_HEAD_MAX <= UINT16_MAX, "a span reaches every byte of a head");

static bool
is(char c, enum http_kind kind)
{
    return http_kinds[(unsigned char)c] & kind;
}

enum http_event
http_fault(struct http *h, int status, const char *reason)
{
    h->status = status;
    h->reason = reason;
    return HTTP_FAULT;
}

void
http_next(struct http *h)
{
    /* Clears all but the fields array; n_fields is its length. */
    size_t fields = offsetof(struct http_request, fields);

    memset(&h->request, 0, fields);
    memset((char *)h + sizeof h->request, 0, sizeof *h - sizeof h->request);
    h->body_max = HTTP_BODY_MAX;
}

void
http_init(struct http *h)
{
    http_next(h);
}

bool
http_is_begun(const struct http *h)
{
    return h->at > 0;
}

static struct http_span
span(size_t from, size_t to)
{
    return (struct http_span){ (uint16_t)from, (uint16_t)(to - from) };
}

/* ---- the request line ---- */

static enum http_method
method_of(const char *p, size_t n)
{
    static const struct {
        const char *name;
        enum http_method method;
    } known[] = {
        { "GET", METHOD_GET },         { "POST", METHOD_POST },   { "HEAD", METHOD_HEAD },
        { "PUT", METHOD_PUT },         { "PATCH", METHOD_PATCH }, { "DELETE", METHOD_DELETE },
        { "OPTIONS", METHOD_OPTIONS },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, p, n) == 0)
            return known[i].method;
    return METHOD_OTHER;
}

/* uri-host [ ":" port ] of RFC 3986; may be empty. */
static bool
is_host(const char *p, size_t n)
{
    size_t i = 0;

    if (n && p[0] == '[') {
        for (i = 1; i < n && (http_hex(p[i]) >= 0 || p[i] == ':' || p[i] == '.'); i++)
            ;
        if (i < 3 || i == n || p[i++] != ']')
            return false;
    } else {
        for (; i < n && is(p[i], HTTP_REG); i++)
            if (p[i] == '%' && (n - i < 3 || http_hex(p[i + 1]) < 0 || http_hex(p[i + 2]) < 0))
                return false;
        if (i == 0 && n > 0)
            return false;
    }
    if (i < n && p[i] == ':')
        for (i++; i < n && p[i] >= '0' && p[i] <= '9'; i++)
            ;
    return i == n;
}

/* Checks a path with escapes; NULL: valid, else the reason. */
static const char *
escaped_path_fault(const char *p, size_t n)
{
    char plain[HTTP_TARGET_MAX];
    size_t len = 0, segment = 0; /* where the current segment began in plain */
    bool is_ascii = true;

    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)p[i];
        if (!is(p[i], HTTP_PATH))
            return "a byte in the path that must be escaped";
        if (c == '%') {
            int high = n - i > 2 ? http_hex(p[i + 1]) : -1;
            int low = n - i > 2 ? http_hex(p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return "a bad %-escape in the path";
            c = high << 4 | low;
            if (c < 0x20 || c == 0x7F)
                return "an escaped control byte in the path";
            is_ascii = is_ascii && c < 0x80;
            i += 2;
        }
        plain[len++] = (char)c;
        if (c == '/')
            segment = len;
        else if (len - segment == 2 && plain[segment] == '.' && c == '.' &&
                 (i + 1 == n || p[i + 1] == '/' ||
                  (n - i > 3 && p[i + 1] == '%' && p[i + 2] == '2' && (p[i + 3] | 32) == 'f')))
            return "a \"..\" segment in the path";
    }
    return is_ascii || utf8_valid_len(plain, len) == len ? NULL : "a path that is not UTF-8";
}

/* The fast path: most paths have no escapes. */
static const char *
path_fault(const char *p, size_t n)
{
    if (memchr(p, '%', n))
        return escaped_path_fault(p, n);
    for (size_t i = 0; i < n; i++) {
        if (!is(p[i], HTTP_PATH))
            return "a byte in the path that must be escaped";
        if (p[i] == '.' && n - i > 1 && p[i + 1] == '.' && (i == 0 || p[i - 1] == '/') &&
            (n - i == 2 || p[i + 2] == '/'))
            return "a \"..\" segment in the path";
    }
    return NULL;
}

/* Splits the target into its parts; NULL: valid, else the reason. */
static const char *
target_fault(struct http_request *r, const char *p)
{
    size_t at = r->target.at, end = at + r->target.len;

    if (r->target.len == 1 && p[at] == '*') {
        r->is_star = true;
        r->path = r->target;
        return r->method == METHOD_OPTIONS ? NULL : "the target * is for OPTIONS";
    }
    if (p[at] != '/') {
        size_t scheme = r->target.len > 7 && strncasecmp(p + at, "http://", 7) == 0    ? 7
                        : r->target.len > 8 && strncasecmp(p + at, "https://", 8) == 0 ? 8
                                                                                       : 0;
        if (!scheme)
            return "a target that is neither a path nor an http URL";
        at += scheme;
        size_t from = at;
        while (at < end && p[at] != '/' && p[at] != '?')
            at++;
        if (at == from || !is_host(p + from, at - from))
            return "a bad host in the target";
        r->authority = span(from, at);
        r->is_absolute = true;
    }
    const char *mark = memchr(p + at, '?', end - at);
    size_t path_end = mark ? (size_t)(mark - p) : end;
    r->path = span(at, path_end);
    r->has_query = mark != NULL;
    if (mark)
        r->query = span(path_end + 1, end);
    return path_fault(p + at, path_end - at);
}

static enum http_event
judge_line(struct http *h, const char *p, size_t end)
{
    struct http_request *r = &h->request;
    const char *v = p + h->mark, *why;

    if (end - h->mark != 8 || memcmp(v, "HTTP/", 5) != 0 || v[5] < '0' || v[5] > '9' ||
        v[6] != '.' || v[7] < '0' || v[7] > '9')
        return http_fault(h, 400, "a request line without an HTTP version");
    if (v[5] != '1' || v[7] > '1')
        return http_fault(h, 505, "only HTTP/1.1 and HTTP/1.0 are supported");
    r->minor = (unsigned char)(v[7] - '0');
    why = target_fault(r, p);
    return why ? http_fault(h, 400, why) : HTTP_MORE;
}

/* ---- fields ---- */

static const char *
judge_length(struct http_request *r, struct http_text t)
{
    uint64_t n = 0;

    if (r->has_length)
        return "two Content-Length headers";
    if (t.len == 0 || t.len > 18) /* 18 digits always fit */
        return "a bad Content-Length";
    for (size_t i = 0; i < t.len; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return "a bad Content-Length";
        n = n * 10 + (uint64_t)(t.p[i] - '0');
    }
    r->has_length = true;
    r->content_length = n;
    return NULL;
}

static void
judge_connection(struct http *h, struct http_text t)
{
    for (size_t i = 0; i < t.len;) {
        size_t from = i;
        while (i < t.len && is(t.p[i], HTTP_TOKEN))
            i++;
        struct http_text word = { t.p + from, i - from };
        h->wants_close = h->wants_close || http_text_is_like(word, "close");
        h->wants_keep_alive = h->wants_keep_alive || http_text_is_like(word, "keep-alive");
        i += i == from;
    }
}

/* Stores a complete header line, and evaluates those that determine framing and security. */
static enum http_event
judge_field(struct http *h, const char *p)
{
    struct http_request *r = &h->request;
    struct http_span value = span(h->mark, h->text_end);
    struct http_text name = { p + h->name.at, h->name.len }, t = { p + value.at, value.len };
    const char *why = NULL;

    if (r->n_fields == HTTP_FIELDS)
        return http_fault(h, 431, "too many headers");
    r->fields[r->n_fields++] = (struct http_field){ h->name, value };
    switch (name.len) {
    case 4:
        if (!http_text_is_like(name, "Host"))
            break;
        if (h->has_host)
            why = "two Host headers";
        else if (!is_host(t.p, t.len))
            why = "a bad Host header";
        h->has_host = true;
        h->host = value;
        break;
    case 6:
        if (http_text_is_like(name, "Expect")) {
            h->has_expect = true;
            h->has_bad_expect = h->has_bad_expect || !http_text_is_like(t, "100-continue");
        }
        break;
    case 10:
        if (http_text_is_like(name, "Connection"))
            judge_connection(h, t);
        break;
    case 13: /* a proxy may have checked another one of two than we would use */
        if (!http_text_is_like(name, "Authorization"))
            break;
        if (h->has_authorization)
            why = "two Authorization headers";
        h->has_authorization = true;
        break;
    case 14:
        if (http_text_is_like(name, "Content-Length"))
            why = judge_length(r, t);
        break;
    case 17:
        if (!http_text_is_like(name, "Transfer-Encoding"))
            break;
        if (h->has_coding)
            why = "two Transfer-Encoding headers";
        h->has_coding = true;
        h->has_bad_coding = !http_text_is_like(t, "chunked");
        break;
    default:
        break;
    }
    return why ? http_fault(h, 400, why) : HTTP_MORE;
}

static enum http_event
judge_head(struct http *h, const char *p, size_t end)
{
    struct http_request *r = &h->request;

    if (r->minor >= 1 && !h->has_host)
        return http_fault(h, 400, "no Host header");
    if (r->is_absolute && h->has_host &&
        (h->host.len != r->authority.len ||
         strncasecmp(p + h->host.at, p + r->authority.at, h->host.len) != 0))
        return http_fault(h, 400, "the target and the Host header name different hosts");
    if (h->has_coding && r->has_length)
        return http_fault(h, 400, "Content-Length beside Transfer-Encoding");
    if (h->has_coding && r->minor == 0)
        return http_fault(h, 400, "Transfer-Encoding in HTTP/1.0");
    if (h->has_bad_coding)
        return http_fault(h, 501, "the only supported transfer coding is chunked");
    if (r->minor >= 1 && h->has_bad_expect)
        return http_fault(h, 417, "the only supported expectation is 100-continue");
    r->is_chunked = h->has_coding;
    r->expects_continue = r->minor >= 1 && h->has_expect;
    r->keep_alive = !h->wants_close && (r->minor >= 1 || h->wants_keep_alive);
    r->head_len = end;
    r->base = p;
    return HTTP_HEAD;
}

/* ---- the bytes ---- */

/* The fault of an unexpected byte: a line break that is not CR LF, a control byte, or another. */
static enum http_event
misfit(struct http *h, char c, const char *otherwise)
{
    unsigned char u = (unsigned char)c;

    if (c == '\n')
        return http_fault(h, 400, "a line that ends in LF without CR");
    if (c == '\r')
        return http_fault(h, 400, "a CR without LF");
    if (u < 0x20 || u == 0x7F)
        return http_fault(h, 400, "a control byte in the head");
    return http_fault(h, 400, otherwise);
}

/* The same where a part of the line is missing before its CR LF. */
static enum http_event
cut_short(struct http *h, char c, const char *lacks, const char *otherwise)
{
    return c == '\r' ? http_fault(h, 400, lacks) : misfit(h, c, otherwise);
}

static size_t
skip(const char *p, size_t i, size_t n, enum http_kind kind)
{
    while (i < n && is(p[i], kind))
        i++;
    return i;
}

/* Reads one byte or one run of the request line at p[*at]. */
static enum http_event
feed_line(struct http *h, const char *p, size_t *at, size_t n)
{
    size_t i = *at;
    char c = p[i];

    switch (h->step) {
    case START:
        if (c == '\r') {
            h->step = START_LF;
            break;
        }
        /* fall through */
    case FIRST:
        if (!is(c, HTTP_TOKEN))
            return cut_short(h, c, "more than one empty line before a request",
                             "a request that does not begin with a method");
        h->mark = i;
        h->step = METHOD;
        return HTTP_MORE;
    case START_LF:
        if (c != '\n')
            return misfit(h, '\r', "");
        h->step = FIRST;
        break;
    case METHOD:
        i = skip(p, i, n < h->mark + HTTP_METHOD_MAX ? n : h->mark + HTTP_METHOD_MAX, HTTP_TOKEN);
        *at = i;
        if (i == n)
            return HTTP_MORE;
        if (is(p[i], HTTP_TOKEN))
            return http_fault(h, 501, "a method of more than 32 letters");
        if (p[i] != ' ')
            return cut_short(h, p[i], "a request line without a target",
                             "a bad byte in the method");
        h->request.method_name = span(h->mark, i);
        h->request.method = method_of(p + h->mark, i - h->mark);
        if (http_text_is((struct http_text){ p + h->mark, i - h->mark }, "CONNECT"))
            return http_fault(h, 501, "this is not a proxy");
        h->mark = i + 1;
        h->step = TARGET;
        break;
    case TARGET:
        i = skip(p, i, n < h->mark + HTTP_TARGET_MAX ? n : h->mark + HTTP_TARGET_MAX, HTTP_QUERY);
        *at = i;
        if (i == n)
            return HTTP_MORE;
        if (is(p[i], HTTP_QUERY))
            return http_fault(h, 414, "a target of more than 8192 bytes");
        if (p[i] != ' ' || i == h->mark)
            return cut_short(h, p[i],
                             i == h->mark ? "a request line without a target"
                                          : "a request line without an HTTP version",
                             p[i] == '#' ? "a fragment in the target" : "a bad byte in the target");
        h->request.target = span(h->mark, i);
        h->mark = i + 1;
        h->step = VERSION;
        break;
    case VERSION:
        if (c == '\r') {
            h->text_end = i;
            h->step = LINE_LF;
            break;
        }
        if (i - h->mark == 8 || !is(c, HTTP_QUERY))
            return misfit(h, c, "a request line without an HTTP version");
        break;
    case LINE_LF:
        if (c != '\n')
            return misfit(h, '\r', "");
        h->fields_at = i + 1;
        h->step = FIELD;
        *at = i + 1;
        return judge_line(h, p, h->text_end);
    default:
        break;
    }
    *at = i + 1;
    return HTTP_MORE;
}

/* Reads one byte or one run of the header lines at p[*at]. */
static enum http_event
feed_field(struct http *h, const char *p, size_t *at, size_t n)
{
    size_t i = *at;
    char c = p[i];

    switch (h->step) {
    case FIELD:
        if (c == '\r') {
            h->step = END_LF;
            break;
        }
        if (c == ' ' || c == '\t')
            return http_fault(h, 400,
                              h->request.n_fields ? "a folded header line"
                                                  : "white space before the first header");
        if (!is(c, HTTP_TOKEN))
            return misfit(h, c, "a bad byte in a header's name");
        h->mark = i;
        h->step = NAME;
        return HTTP_MORE;
    case NAME:
        i = skip(p, i, n, HTTP_TOKEN);
        *at = i;
        if (i == n)
            return HTTP_MORE;
        if (p[i] == ' ' || p[i] == '\t')
            return http_fault(h, 400, "white space before a header's colon");
        if (p[i] != ':')
            return cut_short(h, p[i], "a header without a colon", "a bad byte in a header's name");
        h->name = span(h->mark, i);
        h->step = BLANK;
        break;
    case BLANK:
        if (c == ' ' || c == '\t')
            break;
        h->mark = h->text_end = i;
        h->step = VALUE;
        return HTTP_MORE;
    case VALUE:
        i = skip(p, i, n, HTTP_VALUE);
        for (size_t end = i; end > *at; end--)
            if (p[end - 1] != ' ' && p[end - 1] != '\t') {
                h->text_end = end;
                break;
            }
        *at = i;
        if (i == n)
            return HTTP_MORE;
        if (p[i] != '\r')
            return misfit(h, p[i], "");
        h->step = FIELD_LF;
        break;
    case FIELD_LF:
        if (c != '\n')
            return misfit(h, '\r', "");
        h->step = FIELD;
        *at = i + 1;
        return judge_field(h, p);
    case END_LF:
        if (c != '\n')
            return misfit(h, '\r', "");
        h->step = HTTP_STEP_BODY;
        *at = i + 1;
        return judge_head(h, p, i + 1);
    default:
        break;
    }
    *at = i + 1;
    return HTTP_MORE;
}

enum http_event
http_feed(struct http *h, const char *p, size_t n, size_t *used)
{
    enum http_event ev = h->status ? HTTP_FAULT : HTTP_MORE;

    *used = 0;
    if (!h->status && h->step >= HTTP_STEP_BODY)
        return http_feed_body(h, p, n, used);
    while (ev == HTTP_MORE && h->at < n && h->step < FIELD)
        ev = feed_line(h, p, &h->at, n);
    if (ev != HTTP_MORE || h->step < FIELD)
        return ev;
    /* The first byte over the limit is a fault; no byte behind it is read. */
    size_t stop = h->fields_at + HTTP_FIELDS_MAX < n ? h->fields_at + HTTP_FIELDS_MAX : n;
    while (ev == HTTP_MORE && h->at < stop)
        ev = feed_field(h, p, &h->at, stop);
    if (ev == HTTP_MORE && h->at < n)
        ev = http_fault(h, 431, "more than 16384 bytes of headers");
    if (ev == HTTP_HEAD)
        *used = h->at;
    return ev;
}
