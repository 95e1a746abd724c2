#include "net/response.h"

#include "net/http.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

/* Adds a string literal. */
#define ADD(b, text) buf_add((b), (text), sizeof(text) - 1)

static void
add_number(struct buf *b, uint64_t n)
{
    char text[20], *p = text + sizeof text;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    buf_add(b, p, (size_t)(text + sizeof text - p));
}

/* Own tables of days and months, because strftime depends on the locale. */
void
response_date(char to[RESPONSE_DATE_SIZE], int64_t wall_s)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t t = (time_t)wall_s;
    struct tm tm;

    gmtime_r(&t, &tm);
    snprintf(to, RESPONSE_DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
             days + 3 * tm.tm_wday, tm.tm_mday % 100, months + 3 * tm.tm_mon,
             (tm.tm_year + 1900) % 10000, tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
}

void
response_head(struct buf *b, int status, const char *date, int minor, bool keeps,
              const char *headers)
{
    assert(status >= 200 && status < 1000);
    if (status == 200) {
        ADD(b, "HTTP/1.1 200 OK\r\nDate: ");
    } else {
        ADD(b, "HTTP/1.1 ");
        add_number(b, (unsigned)status);
        buf_addc(b, ' ');
        buf_adds(b, http_reason(status));
        ADD(b, "\r\nDate: ");
    }
    buf_adds(b, date);
    ADD(b, "\r\nX-Content-Type-Options: nosniff\r\n");
    if (!keeps)
        ADD(b, "Connection: close\r\n");
    else if (minor == 0)
        ADD(b, "Connection: keep-alive\r\n");
    if (headers)
        buf_adds(b, headers);
}

void
response_body(struct buf *b, int status, const void *body, size_t len, bool is_head)
{
    bool has_length = status != 204 && status != 304;

    if (has_length) {
        ADD(b, "Content-Length: ");
        add_number(b, len);
        ADD(b, "\r\n");
    }
    ADD(b, "\r\n");
    if (has_length && !is_head)
        buf_add(b, body, len);
}

enum status
http_add_header(struct buf *headers, const char *name, const char *value, struct err *e)
{
    bool is_good = *name != '\0';

    for (const char *p = name; *p; p++)
        is_good = is_good && http_kinds[(unsigned char)*p] & HTTP_TOKEN;
    for (const char *p = value; *p; p++)
        is_good = is_good && http_kinds[(unsigned char)*p] & HTTP_VALUE;
    if (!is_good)
        return err_set(e, ST_INVALID, "a header with a control byte or a bad name");
    buf_adds(headers, name);
    buf_adds(headers, ": ");
    buf_adds(headers, value);
    buf_adds(headers, "\r\n");
    return buf_status(headers, "the headers of a response", e);
}
