/*
 * Tests net/http: which requests it accepts and refuses, however the bytes are split. Every row of
 * the tables is fed whole, in two parts cut at every byte, and byte by byte; each time the same
 * story must come out.
 */
#include "test.h"

#include "net/http.h"

struct row {
    const char *name;
    const char *bytes;
    size_t len;
    int status; /* status of the error; 0: accepted */
    const char *story;
};

/* ---- the parser's events for some bytes ---- */

static void
tell_request(struct buf *to, const struct http_request *r)
{
    struct http_text path = http_path(r), query = http_query(r);
    struct http_text name = http_text(r, r->method_name), host = http_header(r, "hOsT");

    buf_addf(to, "%.*s %.*s", (int)name.len, name.p, (int)path.len, path.p);
    if (query.p)
        buf_addf(to, "?%.*s", (int)query.len, query.p);
    buf_addf(to, " 1.%d host=%.*s fields=%zu%s%s%s", r->minor, (int)host.len, host.p ? host.p : "",
             r->n_fields, r->keep_alive ? "" : " close", r->is_chunked ? " chunked" : "",
             r->expects_continue ? " continue" : "");
}

/* Parses the bytes up to each cut in turn, as a connection's buffer would hold them. */
static void
tell(struct buf *to, const char *p, size_t len, const size_t *cuts, size_t n_cuts, size_t max)
{
    struct http h;
    size_t at = 0, used;

    http_init(&h);
    for (size_t i = 0; i <= n_cuts; i++) {
        size_t have = i < n_cuts ? cuts[i] : len;
        for (bool is_more = false; !is_more;) {
            enum http_event ev = http_feed(&h, p + at, have - at, &used);
            assert_true(used <= have - at);
            at += used;
            switch (ev) {
            case HTTP_MORE:
                is_more = true;
                break;
            case HTTP_HEAD:
                tell_request(to, &h.request);
                assert_int_equal(h.request.head_len, used);
                h.body_max = max;
                buf_adds(to, " [");
                break;
            case HTTP_BODY:
                assert_true(h.body_len > 0);
                assert_true(h.body >= p && h.body + h.body_len <= p + have);
                buf_add(to, h.body, h.body_len);
                break;
            case HTTP_DONE:
                buf_adds(to, "]\n");
                http_next(&h);
                is_more = at == have && i == n_cuts;
                break;
            case HTTP_FAULT:
                buf_addf(to, "%d %s", h.status, h.reason);
                assert_int_equal(http_feed(&h, p + at, have - at, &used), HTTP_FAULT);
                return;
            }
        }
    }
    if (http_is_begun(&h))
        buf_adds(to, "...");
}

enum { CUTS = 65536 };
static size_t cuts[CUTS];

static void
check_story(const struct row *row, size_t max)
{
    struct buf whole = { 0 }, parts = { 0 };
    bool is_long = row->len > 2000;

    tell(&whole, row->bytes, row->len, NULL, 0, max);
    if (row->status) {
        char want[8];
        snprintf(want, sizeof want, "%d ", row->status);
        const char *last = strrchr(whole.p, '\n');
        last = last ? last + 1 : whole.p;
        if (!strstr(last, want))
            fail_msg("%s: want %d, got \"%s\"", row->name, row->status, whole.p);
    }
    if (!row->status && !row->story &&
        (whole.len < 2 || strcmp(whole.p + whole.len - 2, "]\n") != 0))
        fail_msg("%s: want a whole request, got \"%s\"", row->name, whole.p);
    if (row->story && strcmp(whole.p, row->story) != 0)
        fail_msg("%s:\nwant \"%s\"\ngot  \"%s\"", row->name, row->story, whole.p);
    for (size_t cut = 0; cut <= row->len;
         cut += is_long && cut > 64 && row->len - cut > 64 ? 61 : 1) {
        buf_reset(&parts);
        tell(&parts, row->bytes, row->len, &cut, 1, max);
        if (strcmp(parts.p, whole.p) != 0)
            fail_msg("%s cut at %zu: \"%s\", whole: \"%s\"", row->name, cut, parts.p, whole.p);
    }
    assert_true(row->len < CUTS);
    for (size_t i = 0; i < row->len; i++)
        cuts[i] = i;
    buf_reset(&parts);
    tell(&parts, row->bytes, row->len, cuts, row->len, max);
    if (strcmp(parts.p, whole.p) != 0)
        fail_msg("%s byte by byte: \"%s\", whole: \"%s\"", row->name, parts.p, whole.p);
    buf_release(&whole);
    buf_release(&parts);
}

static void
check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_story(&rows[i], 1000);
}

#define BAD(what, status, text)                                                                    \
    {                                                                                              \
        what, text, sizeof(text) - 1, status, NULL                                                 \
    }
#define GOOD(what, text, story)                                                                    \
    {                                                                                              \
        what, text, sizeof(text) - 1, 0, story                                                     \
    }
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define H        "Host: a\r\n"

/* ---- refused requests ---- */

static void
bad_request_lines_are_refused(void **state)
{
    static const struct row rows[] = {
        BAD("leading space", 400, " GET / HTTP/1.1\r\n" H "\r\n"),
        BAD("leading tab", 400, "\tGET / HTTP/1.1\r\n" H "\r\n"),
        BAD("leading LF", 400, "\nGET / HTTP/1.1\r\n" H "\r\n"),
        BAD("two empty lines before", 400, "\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n"),
        BAD("CR alone before", 400, "\rGET / HTTP/1.1\r\n" H "\r\n"),
        BAD("space behind an empty line", 400, "\r\n GET / HTTP/1.1\r\n" H "\r\n"),
        BAD("a TLS hello", 400, "\x16\x03\x01\x02\x00\x01"),
        BAD("bare LF", 400, "GET / HTTP/1.1\n" H "\r\n"),
        BAD("bare CR", 400, "GET / HTTP/1.1\rX" H "\r\n"),
        BAD("CR in the target", 400, "GET /\rx HTTP/1.1\r\n" H "\r\n"),
        BAD("NUL in the method", 400, "G\0T / HTTP/1.1\r\n" H "\r\n"),
        BAD("NUL in the target", 400, "GET /\0 HTTP/1.1\r\n" H "\r\n"),
        BAD("a bad byte in the method", 400, "G(T / HTTP/1.1\r\n" H "\r\n"),
        BAD("a long method", 501, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n" H "\r\n"),
        BAD("CONNECT", 501, "CONNECT a:443 HTTP/1.1\r\n" H "\r\n"),
        BAD("no target", 400, "GET HTTP/1.1\r\n" H "\r\n"),
        BAD("two spaces", 400, "GET  / HTTP/1.1\r\n" H "\r\n"),
        BAD("a tab between", 400, "GET\t/ HTTP/1.1\r\n" H "\r\n"),
        BAD("two spaces before the version", 400, "GET /  HTTP/1.1\r\n" H "\r\n"),
        BAD("a space behind the version", 400, "GET / HTTP/1.1 \r\n" H "\r\n"),
        BAD("HTTP/0.9", 400, "GET /\r\n"),
        BAD("no version", 400, "GET / \r\n" H "\r\n"),
        BAD("small letters", 400, "GET / http/1.1\r\n" H "\r\n"),
        BAD("no point", 400, "GET / HTTP/11\r\n" H "\r\n"),
        BAD("two digits", 400, "GET / HTTP/1.10\r\n" H "\r\n"),
        BAD("another protocol", 400, "GET / ICAP/1.0\r\n" H "\r\n"),
        BAD("HTTP/2.0", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        BAD("HTTP/1.2", 505, "GET / HTTP/1.2\r\n" H "\r\n"),
        BAD("HTTP/3.1", 505, "GET / HTTP/3.1\r\n" H "\r\n"),
        BAD("not ASCII", 400, "GET /\xC3\xA4 HTTP/1.1\r\n" H "\r\n"),
        BAD("a fragment", 400, "GET /a#b HTTP/1.1\r\n" H "\r\n"),
        BAD("a bad byte in the path", 400, "GET /a\"b HTTP/1.1\r\n" H "\r\n"),
        BAD("a byte only queries may have", 400, "GET /a{b} HTTP/1.1\r\n" H "\r\n"),
        BAD("a backslash", 400, "GET /a\\..\\b HTTP/1.1\r\n" H "\r\n"),
        BAD("bad hex", 400, "GET /%g0 HTTP/1.1\r\n" H "\r\n"),
        BAD("a cut escape", 400, "GET /a%2 HTTP/1.1\r\n" H "\r\n"),
        BAD("a cut escape before a query", 400, "GET /a%2?x HTTP/1.1\r\n" H "\r\n"),
        BAD("%00", 400, "GET /a%00b HTTP/1.1\r\n" H "\r\n"),
        BAD("%0a", 400, "GET /a%0ab HTTP/1.1\r\n" H "\r\n"),
        BAD("escapes that are not UTF-8", 400, "GET /%ff HTTP/1.1\r\n" H "\r\n"),
        BAD("..", 400, "GET /a/../b HTTP/1.1\r\n" H "\r\n"),
        BAD(".. at the end", 400, "GET /a/.. HTTP/1.1\r\n" H "\r\n"),
        BAD(".. before a query", 400, "GET /..?x=1 HTTP/1.1\r\n" H "\r\n"),
        BAD("%2e%2e", 400, "GET /%2e%2E/x HTTP/1.1\r\n" H "\r\n"),
        BAD("half escaped", 400, "GET /a/.%2e/x HTTP/1.1\r\n" H "\r\n"),
        BAD("..%2f", 400, "GET /a%2f..%2Fx HTTP/1.1\r\n" H "\r\n"),
        BAD("* for GET", 400, "GET * HTTP/1.1\r\n" H "\r\n"),
        BAD("a name as target", 400, "GET a HTTP/1.1\r\n" H "\r\n"),
        BAD("another scheme", 400, "GET ftp://a/ HTTP/1.1\r\n" H "\r\n"),
        BAD("no host in the URL", 400, "GET http:///x HTTP/1.1\r\n" H "\r\n"),
        BAD("a user in the URL", 400, "GET http://u@a/x HTTP/1.1\r\n" H "\r\n"),
        BAD("another host in the URL", 400, "GET http://b/ HTTP/1.1\r\n" H "\r\n"),
        BAD(".. in the URL", 400, "GET http://a/../ HTTP/1.1\r\n" H "\r\n"),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

#define LINE "POST / HTTP/1.1\r\n"

static void
the_message_of_an_error_names_its_cause(void **state)
{
    static const char *const table[][2] = {
        { "GET /x\r\n", "a request line without an HTTP version" },
        { "GET \r\n", "a request line without a target" },
        { "GET\r\n", "a request line without a target" },
        { "\r\n\r\nGET / HTTP/1.1\r\n", "more than one empty line before a request" },
        { LINE H "X\r\n", "a header without a colon" },
        { "GET / HTTP/1.1\rX", "a CR without LF" },
        { "GET / HTTP/1.1\n", "a line that ends in LF without CR" },
        { LINE H "Authorization: a\r\nAuthorization: b\r\n", "two Authorization headers" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        struct http h;
        size_t used;
        http_init(&h);
        assert_int_equal(http_feed(&h, table[i][0], strlen(table[i][0]), &used), HTTP_FAULT);
        assert_int_equal(h.status, 400);
        assert_string_equal(h.reason, table[i][1]);
    }
}

static void
bad_headers_are_refused(void **state)
{
    static const struct row rows[] = {
        BAD("no Host", 400, LINE "\r\n"),
        BAD("two Hosts", 400, LINE H "X: y\r\nhost: a\r\n\r\n"),
        BAD("two Authorizations", 400, LINE H "Authorization: a\r\nauthorization: a\r\n\r\n"),
        BAD("two Hosts in HTTP/1.0", 400, "GET / HTTP/1.0\r\n" H H "\r\n"),
        BAD("a slash in Host", 400, LINE "Host: a/b\r\n\r\n"),
        BAD("a space in Host", 400, LINE "Host: a b\r\n\r\n"),
        BAD("a comma list of Hosts", 400, LINE "Host: a:1,b:2\r\n\r\n"),
        BAD("a user in Host", 400, LINE "Host: u@a\r\n\r\n"),
        BAD("a bad port", 400, LINE "Host: a:8x\r\n\r\n"),
        BAD("only a port", 400, LINE "Host: :80\r\n\r\n"),
        BAD("an open bracket", 400, LINE "Host: [::1\r\n\r\n"),
        BAD("a folded line", 400, LINE H "X: a\r\n b\r\n\r\n"),
        BAD("a folded line with a tab", 400, LINE H "X: a\r\n\tb\r\n\r\n"),
        BAD("space before the first", 400, LINE " X: a\r\n" H "\r\n"),
        BAD("space before the colon", 400, LINE H "Content-Length : 5\r\n\r\nhello"),
        BAD("tab before the colon", 400, LINE H "Content-Length\t: 5\r\n\r\nhello"),
        BAD("no colon", 400, LINE H "X\r\n\r\n"),
        BAD("no name", 400, LINE H ": x\r\n\r\n"),
        BAD("a bad byte in a name", 400, LINE H "X(y): x\r\n\r\n"),
        BAD("a name that is not ASCII", 400, LINE H "\xC3\xA4: x\r\n\r\n"),
        BAD("bare LF", 400, LINE H "X: y\n\r\n"),
        BAD("bare LF at the end", 400, LINE H "X: y\r\n\n"),
        BAD("bare CR in a value", 400, LINE H "X: a\rY: b\r\n\r\n"),
        BAD("CR CR LF", 400, LINE H "X: a\r\r\n\r\n"),
        BAD("CR at the end", 400, LINE H "\rX"),
        BAD("NUL in a value", 400, LINE H "X: a\0b\r\n\r\n"),
        BAD("NUL in a name", 400, LINE H "X\0: a\r\n\r\n"),
        BAD("a control byte in a value", 400, LINE H "X: a\x0B\r\n\r\n"),
        BAD("DEL in a value", 400, LINE H "X: a\x7F\r\n\r\n"),
        BAD("another expectation", 417, LINE H "Expect: 200-ok\r\n\r\n"),
        BAD("two expectations", 417, LINE H "Expect: 100-continue\r\nExpect: x\r\n\r\n"),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void
bodies_of_ambiguous_length_are_refused(void **state)
{
    static const struct row rows[] = {
        BAD("two lengths", 400, LINE H "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        BAD("the same length twice", 400, LINE H "Content-Length: 5\r\ncontent-length: 5\r\n\r\n"),
        BAD("a list", 400, LINE H "Content-Length: 5, 5\r\n\r\nhello"),
        BAD("a sign", 400, LINE H "Content-Length: +5\r\n\r\nhello"),
        BAD("a minus", 400, LINE H "Content-Length: -5\r\n\r\nhello"),
        BAD("hex", 400, LINE H "Content-Length: 0x5\r\n\r\nhello"),
        BAD("a space inside", 400, LINE H "Content-Length: 5 5\r\n\r\nhello"),
        BAD("nothing", 400, LINE H "Content-Length:\r\n\r\n"),
        BAD("a point", 400, LINE H "Content-Length: 5.0\r\n\r\nhello"),
        BAD("beyond 64 bits", 400, LINE H "Content-Length: 18446744073709551621\r\n\r\nhello"),
        BAD("beyond the limit", 413, LINE H "Content-Length: 1001\r\n\r\n"),
        BAD("length and chunked", 400,
            LINE H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        BAD("chunked and length", 400,
            LINE H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        BAD("chunked twice", 400,
            LINE H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        BAD("chunked and identity", 400,
            LINE H "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        BAD("chunked, chunked", 501, LINE H "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        BAD("gzip, chunked", 501, LINE H "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        BAD("xchunked", 501, LINE H "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        BAD("identity", 501, LINE H "Transfer-Encoding: identity\r\n\r\n"),
        BAD("quoted", 501, LINE H "Transfer-Encoding: \"chunked\"\r\n\r\n"),
        BAD("no coding", 501, LINE H "Transfer-Encoding:\r\n\r\n"),
        BAD("a control byte before it", 400,
            LINE H "Transfer-Encoding: \x0B"
                   "chunked\r\n\r\n"),
        BAD("chunked in HTTP/1.0", 400,
            "POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

#define CHUNKED LINE H "Transfer-Encoding: chunked\r\n\r\n"

static void
bad_chunks_are_refused(void **state)
{
    static const struct row rows[] = {
        BAD("no size", 400, CHUNKED "\r\nhello\r\n0\r\n\r\n"),
        BAD("no hex", 400, CHUNKED "g\r\nhello\r\n0\r\n\r\n"),
        BAD("0x", 400, CHUNKED "0x5\r\nhello\r\n0\r\n\r\n"),
        BAD("a sign", 400, CHUNKED "+5\r\nhello\r\n0\r\n\r\n"),
        BAD("a minus", 400, CHUNKED "-5\r\nhello\r\n0\r\n\r\n"),
        BAD("a space behind", 400, CHUNKED "5 \r\nhello\r\n0\r\n\r\n"),
        BAD("a space before", 400, CHUNKED " 5\r\nhello\r\n0\r\n\r\n"),
        BAD("bare LF behind the size", 400, CHUNKED "5\nhello\r\n0\r\n\r\n"),
        BAD("bare CR behind the size", 400, CHUNKED "5\rhello\r\n0\r\n\r\n"),
        BAD("bare LF behind the data", 400, CHUNKED "5\r\nhello\n0\r\n\r\n"),
        BAD("too short a size", 400, CHUNKED "4\r\nhello\r\n0\r\n\r\n"),
        BAD("too long a size", 400, CHUNKED "6\r\nhello\r\n0\r\n\r\n"),
        BAD("beyond 64 bits", 400, CHUNKED "10000000000000005\r\nhello\r\n0\r\n\r\n"),
        BAD("many zeros", 400, CHUNKED "0000000000000000\r\n\r\n"),
        BAD("beyond the limit", 413, CHUNKED "3e9\r\n"),
        BAD("beyond the limit in two", 413, CHUNKED "5\r\nhello\r\n3e4\r\n"),
        BAD("a huge one", 413, CHUNKED "FFFFFFFFFFFFFFF\r\n"),
        BAD("bare LF in an extension", 400, CHUNKED "5;a\nhello\r\n0\r\n\r\n"),
        BAD("a control byte in an extension", 400, CHUNKED "5;a=\x01\r\nhello\r\n0\r\n\r\n"),
        BAD("a folded trailer", 400, CHUNKED "0\r\nX: a\r\n b\r\n\r\n"),
        BAD("a trailer without a colon", 400, CHUNKED "0\r\nX\r\n\r\n"),
        BAD("a trailer without a name", 400, CHUNKED "0\r\n: a\r\n\r\n"),
        BAD("space before a trailer's colon", 400, CHUNKED "0\r\nX : a\r\n\r\n"),
        BAD("bare LF in a trailer", 400, CHUNKED "0\r\nX: a\n\r\n"),
        BAD("bare LF at the end", 400, CHUNKED "0\r\n\n"),
        BAD("NUL in a trailer", 400, CHUNKED "0\r\nX: \0\r\n\r\n"),
        BAD("a length in the trailer", 400, CHUNKED "0\r\nContent-Length: 5\r\n\r\n"),
        BAD("a coding in the trailer", 400, CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n"),
        BAD("a Host in the trailer", 400, CHUNKED "0\r\n" H "\r\n"),
        BAD("a request instead of the end", 400, CHUNKED "0\r\nGET / HTTP/1.1\r\n" H "\r\n"),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

/* Fills the row with `text`, n times the letter, and `rest`. */
static struct row
long_row(struct buf *b, const char *name, int status, const char *text, size_t n, const char *rest)
{
    buf_reset(b);
    buf_adds(b, text);
    for (size_t i = 0; i < n; i++)
        buf_addc(b, 'a');
    buf_adds(b, rest);
    return (struct row){ name, b->p, b->len, status, NULL };
}

static void
sizes_up_to_each_limit_are_accepted_and_no_larger(void **state)
{
    struct buf b = { 0 };
    struct row row;

    (void)state;
    row = long_row(&b, "target", 0, "GET /", HTTP_TARGET_MAX - 1, " HTTP/1.1\r\n" H "\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "target+1", 414, "GET /", HTTP_TARGET_MAX, " HTTP/1.1\r\n" H "\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "endless target", 414, "GET /", 30000, "");
    check_story(&row, 1000);
    row = long_row(&b, "method", 501, "", HTTP_METHOD_MAX + 1, "");
    check_story(&row, 1000);

    size_t rest = HTTP_FIELDS_MAX - strlen(H "X: \r\n\r\n");
    row = long_row(&b, "headers", 0, LINE H "X: ", rest, "\r\n\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "headers+1", 431, LINE H "X: ", rest + 1, "\r\n\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "endless name", 431, LINE H, 20000, "");
    check_story(&row, 1000);
    row = long_row(&b, "endless value", 431, LINE H "X: ", 40000, "");
    check_story(&row, 1000);

    for (int n = HTTP_FIELDS - 1; n <= HTTP_FIELDS; n++) {
        buf_reset(&b);
        buf_adds(&b, LINE H);
        for (int i = 0; i < n; i++)
            buf_adds(&b, "X: y\r\n");
        buf_adds(&b, "\r\n");
        row = (struct row){ "fields", b.p, b.len, n == HTTP_FIELDS ? 431 : 0, NULL };
        check_story(&row, 1000);
    }
    row = long_row(&b, "extension", 0, CHUNKED "1;", HTTP_EXT_MAX, "\r\nx\r\n0\r\n\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "extension+1", 400, CHUNKED "1;", HTTP_EXT_MAX + 1, "\r\nx\r\n0\r\n\r\n");
    check_story(&row, 1000);
    buf_reset(&b);
    buf_adds(&b, CHUNKED);
    for (size_t i = 0; i < HTTP_EXTS_MAX / 8 + 1; i++)
        buf_adds(&b, "1;12345678\r\nx\r\n");
    row = (struct row){ "extensions", b.p, b.len, 400, NULL };
    check_story(&row, 1000);
    row = long_row(&b, "trailer", 0, CHUNKED "0\r\nX: ", HTTP_TRAILER_MAX - 7, "\r\n\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "trailer+1", 431, CHUNKED "0\r\nX: ", HTTP_TRAILER_MAX - 6, "\r\n\r\n");
    check_story(&row, 1000);
    row = long_row(&b, "body", 0, LINE H "Content-Length: 1000\r\n\r\n", 1000, "");
    check_story(&row, 1000);
    buf_release(&b);
}

/* ---- accepted requests ---- */

static void
good_requests_are_understood(void **state)
{
    static const struct row rows[] = {
        GOOD("plain", "GET /a HTTP/1.1\r\n" H "\r\n", "GET /a 1.1 host=a fields=1 []\n"),
        GOOD("an empty line before", "\r\nGET /a HTTP/1.1\r\n" H "\r\n",
             "GET /a 1.1 host=a fields=1 []\n"),
        GOOD("a query", "GET /a?x=1&y={|}[]^`\\~ HTTP/1.1\r\n" H "\r\n",
             "GET /a?x=1&y={|}[]^`\\~ 1.1 host=a fields=1 []\n"),
        GOOD("an empty query", "GET /? HTTP/1.1\r\n" H "\r\n", "GET /? 1.1 host=a fields=1 []\n"),
        GOOD("a query with ..", "GET /a?../.. HTTP/1.1\r\n" H "\r\n",
             "GET /a?../.. 1.1 host=a fields=1 []\n"),
        GOOD("dots", "GET /a..b/...//./.c/..d HTTP/1.1\r\n" H "\r\n",
             "GET /a..b/...//./.c/..d 1.1 host=a fields=1 []\n"),
        GOOD("escapes", "GET /%41%20%C3%A4/@me:x HTTP/1.1\r\n" H "\r\n",
             "GET /%41%20%C3%A4/@me:x 1.1 host=a fields=1 []\n"),
        GOOD("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "GET / 1.0 host= fields=0 close []\n"),
        GOOD("HTTP/1.0, kept", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
             "GET / 1.0 host= fields=1 []\n"),
        GOOD("close", "GET / HTTP/1.1\r\n" H "Connection: foo ,\tCLOSE\r\n\r\n",
             "GET / 1.1 host=a fields=2 close []\n"),
        GOOD("close wins", "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
             "GET / 1.0 host= fields=2 close []\n"),
        GOOD("not a token of it", "GET / HTTP/1.1\r\n" H "Connection: closed, x-close\r\n\r\n",
             "GET / 1.1 host=a fields=2 []\n"),
        GOOD("OPTIONS *", "OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS * 1.1 host=a fields=1 []\n"),
        GOOD("a URL", "GET http://A:80/x?y HTTP/1.1\r\nHost: a:80\r\n\r\n",
             "GET /x?y 1.1 host=a:80 fields=1 []\n"),
        GOOD("a URL without a path", "GET http://a HTTP/1.1\r\n" H "\r\n",
             "GET / 1.1 host=a fields=1 []\n"),
        GOOD("a URL with a query only", "GET HTTPS://a?q HTTP/1.1\r\n" H "\r\n",
             "GET /?q 1.1 host=a fields=1 []\n"),
        GOOD("an IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:3000\r\n\r\n",
             "GET / 1.1 host=[::1]:3000 fields=1 []\n"),
        GOOD("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / 1.1 host= fields=1 []\n"),
        GOOD("an unknown method", "BREW /pot HTTP/1.1\r\n" H "\r\n",
             "BREW /pot 1.1 host=a fields=1 []\n"),
        GOOD("white space around values", "GET / HTTP/1.1\r\nHost: \t a \t \r\nX:\r\nY: \t\r\n\r\n",
             "GET / 1.1 host=a fields=3 []\n"),
        GOOD("bytes above ASCII in a value", "GET / HTTP/1.1\r\n" H "X: \xC3\xA4\r\n\r\n",
             "GET / 1.1 host=a fields=2 []\n"),
        GOOD("a body", "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello",
             "POST / 1.1 host=a fields=2 [hello]\n"),
        GOOD("no body", "POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n",
             "POST / 1.1 host=a fields=2 []\n"),
        GOOD("zeros before the length", "POST / HTTP/1.1\r\n" H "Content-Length: 005\r\n\r\nhello",
             "POST / 1.1 host=a fields=2 [hello]\n"),
        GOOD("a body that is a request",
             "POST / HTTP/1.1\r\n" H "Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n",
             "POST / 1.1 host=a fields=2 [GET / HTTP/1.1\r\n\r\n]\n"),
        GOOD("continue",
             "PUT / HTTP/1.1\r\n" H "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
             "PUT / 1.1 host=a fields=3 continue [x]\n"),
        GOOD("no expectations in HTTP/1.0", "PUT / HTTP/1.0\r\nExpect: x\r\n\r\n",
             "PUT / 1.0 host= fields=1 close []\n"),
        GOOD("chunks", CHUNKED "5\r\nhello\r\n00A\r\n, world...\r\n0\r\n\r\n",
             "POST / 1.1 host=a fields=2 chunked [hello, world...]\n"),
        GOOD("no chunks", CHUNKED "0\r\n\r\n", "POST / 1.1 host=a fields=2 chunked []\n"),
        GOOD("capitals", LINE H "TRANSFER-ENCODING: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
             "POST / 1.1 host=a fields=2 chunked [x]\n"),
        GOOD("extensions and trailers",
             CHUNKED "5;a=\"b;c\";d\r\nhello\r\n0;x\r\nX: y\r\nExpires:\r\n\r\n",
             "POST / 1.1 host=a fields=2 chunked [hello]\n"),
        GOOD("chunks with line ends in them", CHUNKED "4\r\n\r\n0\r\r\n0\r\n\r\n",
             "POST / 1.1 host=a fields=2 chunked [\r\n0\r]\n"),
        GOOD("not all of it", "GET / HTTP/1.1\r\nHo", "..."),
        GOOD("not all of the body", LINE H "Content-Length: 5\r\n\r\nhel",
             "POST / 1.1 host=a fields=2 [hel..."),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void
requests_may_follow_each_other(void **state)
{
    static const struct row rows[] = {
        GOOD("two", "GET /1 HTTP/1.1\r\n" H "\r\nGET /2 HTTP/1.1\r\n" H "\r\n",
             "GET /1 1.1 host=a fields=1 []\nGET /2 1.1 host=a fields=1 []\n"),
        GOOD("an empty line between",
             "POST /1 HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nhi\r\nGET /2 HTTP/1.1\r\n" H "\r\n",
             "POST /1 1.1 host=a fields=2 [hi]\nGET /2 1.1 host=a fields=1 []\n"),
        GOOD("chunks, then a body, then half a request",
             CHUNKED "3\r\nabc\r\n0\r\nX: y\r\n\r\n" LINE H
                     "Content-Length: 3\r\n\r\ndefGET / HTTP/1.1\r\n",
             "POST / 1.1 host=a fields=2 chunked [abc]\nPOST / 1.1 host=a fields=2 [def]\n..."),
        BAD("a good one and a bad one", 400, "GET /1 HTTP/1.1\r\n" H "\r\nGET /2 HTTP/1.1\r\n\r\n"),
        BAD("more than the length", 400, LINE H "Content-Length: 3\r\n\r\nabc\x01"),
    };

    (void)state;
    check_rows(rows, COUNT(rows));
}

static void
many_small_chunks_are_decoded(void **state)
{
    struct buf b = { 0 }, want = { 0 };

    (void)state;
    buf_adds(&b, CHUNKED);
    buf_adds(&want, "POST / 1.1 host=a fields=2 chunked [");
    for (int i = 0; i < 1000; i++) {
        buf_addf(&b, "1\r\n%c\r\n", 'a' + i % 26);
        buf_addc(&want, (char)('a' + i % 26));
    }
    buf_adds(&b, "0\r\n\r\n");
    buf_adds(&want, "]\n");
    struct row row = { "small chunks", b.p, b.len, 0, want.p };
    check_story(&row, 1000);
    row = (struct row){ "one too many", b.p, b.len, 413, NULL };
    check_story(&row, 999);
    buf_release(&b);
    buf_release(&want);
}

/* ---- what a handler gets ---- */

static void
header_names_ignore_case(void **state)
{
    static const char text[] = "GET /a?b HTTP/1.1\r\nHOST: x\r\nAccept: one\r\naccept: two\r\n"
                               "Accept-Language: de\r\nX-Empty:\r\n\r\n";
    char moved[sizeof text];
    struct http h;
    size_t used;

    (void)state;
    http_init(&h);
    assert_int_equal(http_feed(&h, text, sizeof text - 1, &used), HTTP_HEAD);
    struct http_request *r = &h.request;
    assert_int_equal(r->method, METHOD_GET);
    assert_true(http_text_is(http_header(r, "host"), "x"));
    assert_true(http_text_is(http_header(r, "ACCEPT"), "one"));
    assert_int_equal(http_header_count(r, "accept"), 2);
    assert_int_equal(http_header_count(r, "cookie"), 0);
    assert_true(http_text_is(http_header(r, "x-empty"), ""));
    assert_null(http_header(r, "x-none").p);
    assert_false(http_text_is(http_header(r, "x-none"), ""));
    assert_false(http_text_is(http_header(r, "accept"), "One"));
    assert_true(http_text_is_like(http_header(r, "accept"), "One"));

    memcpy(moved, text, sizeof text);
    r->base = moved; /* the caller's buffer moved */
    assert_ptr_equal(http_path(r).p, moved + 4);
    assert_true(http_text_is(http_query(r), "b"));
    assert_int_equal(http_feed(&h, "", 0, &used), HTTP_DONE);
}

static void
methods_are_matched_exactly(void **state)
{
    static const struct {
        const char *name;
        enum http_method method;
    } rows[] = { { "GET", METHOD_GET },         { "HEAD", METHOD_HEAD },
                 { "POST", METHOD_POST },       { "PUT", METHOD_PUT },
                 { "PATCH", METHOD_PATCH },     { "DELETE", METHOD_DELETE },
                 { "OPTIONS", METHOD_OPTIONS }, { "get", METHOD_OTHER },
                 { "TRACE", METHOD_OTHER },     { "GETS", METHOD_OTHER },
                 { "GE", METHOD_OTHER } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[100];
        struct http h;
        size_t used;
        int n = snprintf(text, sizeof text, "%s / HTTP/1.1\r\n" H "\r\n", rows[i].name);
        http_init(&h);
        assert_int_equal(http_feed(&h, text, (size_t)n, &used), HTTP_HEAD);
        assert_int_equal(h.request.method, rows[i].method);
    }
}

static void
every_status_we_send_has_a_reason_phrase(void **state)
{
    static const int ours[] = { 100, 200, 201, 204, 400, 401, 403, 404, 405, 408, 409,
                                413, 414, 417, 421, 429, 431, 500, 501, 503, 504, 505 };

    (void)state;
    for (size_t i = 0; i < COUNT(ours); i++)
        assert_string_not_equal(http_reason(ours[i]), "Unknown");
    assert_string_equal(http_reason(299), "Unknown");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bad_request_lines_are_refused),
        CASE(bad_headers_are_refused),
        CASE(the_message_of_an_error_names_its_cause),
        CASE(bodies_of_ambiguous_length_are_refused),
        CASE(bad_chunks_are_refused),
        CASE(sizes_up_to_each_limit_are_accepted_and_no_larger),
        CASE(good_requests_are_understood),
        CASE(requests_may_follow_each_other),
        CASE(many_small_chunks_are_decoded),
        CASE(header_names_ignore_case),
        CASE(methods_are_matched_exactly),
        CASE(every_status_we_send_has_a_reason_phrase),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
