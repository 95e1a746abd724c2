/* http_text - character classes, accessors of a request's texts, and reason phrases. */
#include "net/http.h"

#include <string.h>
#include <strings.h>

#define T HTTP_TOKEN
#define P HTTP_PATH
#define Q HTTP_QUERY
#define V HTTP_VALUE
#define R HTTP_REG
const unsigned char http_kinds[256] = {
    ['\t'] = V,
    [' '] = V,
    ['!'] = T | P | Q | V | R,
    ['"'] = V,
    ['#'] = T | V,
    ['$'] = T | P | Q | V | R,
    ['%'] = T | P | Q | V | R,
    ['&'] = T | P | Q | V | R,
    ['\''] = T | P | Q | V | R,
    ['('] = P | Q | V | R,
    [')'] = P | Q | V | R,
    ['*'] = T | P | Q | V | R,
    ['+'] = T | P | Q | V | R,
    [','] = P | Q | V | R,
    ['-'] = T | P | Q | V | R,
    ['.'] = T | P | Q | V | R,
    ['/'] = P | Q | V,
    ['0' ... '9'] = T | P | Q | V | R,
    [':'] = P | Q | V,
    [';'] = P | Q | V | R,
    ['<'] = V,
    ['='] = P | Q | V | R,
    ['>'] = V,
    ['?'] = Q | V,
    ['@'] = P | Q | V,
    ['A' ... 'Z'] = T | P | Q | V | R,
    ['['] = Q | V,
    ['\\'] = Q | V,
    [']'] = Q | V,
    ['^'] = T | Q | V,
    ['_'] = T | P | Q | V | R,
    ['`'] = T | Q | V,
    ['a' ... 'z'] = T | P | Q | V | R,
    ['{'] = Q | V,
    ['|'] = T | Q | V,
    ['}'] = Q | V,
    ['~'] = T | P | Q | V | R,
    [0x80 ... 0xFF] = V,
};
#undef T
#undef P
#undef Q
#undef V
#undef R

int
http_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
http_text_is(struct http_text t, const char *s)
{
    return t.p && strlen(s) == t.len && memcmp(t.p, s, t.len) == 0;
}

bool
http_text_is_like(struct http_text t, const char *s)
{
    return t.p && strlen(s) == t.len && strncasecmp(t.p, s, t.len) == 0;
}

struct http_text
http_path(const struct http_request *r)
{
    return r->path.len ? http_text(r, r->path) : (struct http_text){ "/", 1 };
}

struct http_text
http_query(const struct http_request *r)
{
    return r->has_query ? http_text(r, r->query) : (struct http_text){ NULL, 0 };
}

struct http_text
http_header(const struct http_request *r, const char *name)
{
    size_t len = strlen(name);

    for (const struct http_field *f = r->fields, *end = f + r->n_fields; f < end; f++)
        if (f->name.len == len && strncasecmp(r->base + f->name.at, name, len) == 0)
            return http_text(r, f->value);
    return (struct http_text){ NULL, 0 };
}

size_t
http_header_count(const struct http_request *r, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_fields; i++)
        n += http_text_is_like(http_text(r, r->fields[i].name), name);
    return n;
}

const char *
http_reason(int status)
{
    switch (status) {
#define REASON(code, text)                                                                         \
    case code:                                                                                     \
        return text;
        REASON(100, "Continue")
        REASON(200, "OK")
        REASON(201, "Created")
        REASON(202, "Accepted")
        REASON(204, "No Content")
        REASON(301, "Moved Permanently")
        REASON(302, "Found")
        REASON(303, "See Other")
        REASON(304, "Not Modified")
        REASON(307, "Temporary Redirect")
        REASON(308, "Permanent Redirect")
        REASON(400, "Bad Request")
        REASON(401, "Unauthorized")
        REASON(403, "Forbidden")
        REASON(404, "Not Found")
        REASON(405, "Method Not Allowed")
        REASON(406, "Not Acceptable")
        REASON(408, "Request Timeout")
        REASON(409, "Conflict")
        REASON(410, "Gone")
        REASON(411, "Length Required")
        REASON(412, "Precondition Failed")
        REASON(413, "Content Too Large")
        REASON(414, "URI Too Long")
        REASON(415, "Unsupported Media Type")
        REASON(417, "Expectation Failed")
        REASON(421, "Misdirected Request")
        REASON(422, "Unprocessable Content")
        REASON(429, "Too Many Requests")
        REASON(431, "Request Header Fields Too Large")
        REASON(499, "Client Closed Request")
        REASON(500, "Internal Server Error")
        REASON(501, "Not Implemented")
        REASON(503, "Service Unavailable")
        REASON(504, "Gateway Timeout")
        REASON(505, "HTTP Version Not Supported")
#undef REASON
    default:
        return "Unknown";
    }
}
