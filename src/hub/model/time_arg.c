#include "hub/model/time_arg.h"

#include "base/utf8.h"

#include <string.h>
#include <time.h>

/* How much of a wrong text is repeated. */
static int
shown(const char *text)
{
    return (int)utf8_cut(text, strlen(text), 64);
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at *p as a number, held at INT64_MAX; *p moves behind them. */
static int64_t
read_number(const char **p)
{
    int64_t n = 0;

    for (; is_digit(**p); ++*p)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **p - '0', &n))
            n = INT64_MAX;
    return n;
}

/* Exactly `digits` digits, then. */
static bool
read_field(const char **p, int digits, int *to)
{
    for (*to = 0; digits--; ++*p) {
        if (!is_digit(**p))
            return false;
        *to = *to * 10 + (**p - '0');
    }
    return true;
}

static bool
read_char(const char **p, const char *any_of)
{
    if (!**p || !strchr(any_of, **p))
        return false;
    ++*p;
    return true;
}

static enum status
in_range(const char *text, int64_t ms, int64_t *out, struct err *e)
{
    if (ms < 0 || ms > WHEN_MAX_MS)
        return err_set(e, ST_INVALID, "\"%.*s\" is not between the years 1970 and 9999",
                       shown(text), text);
    *out = ms;
    return ST_OK;
}

static enum status
no_time(const char *text, struct err *e)
{
    return err_set(e, ST_INVALID,
                   "\"%.*s\" is no time: give milliseconds since 1970 (1775215174000), an ISO 8601 "
                   "time (2026-04-03T11:19:34Z) or a delay (+300ms, +30s, +5m, +2h, +1d)",
                   shown(text), text);
}

static enum status
parse_delay(const char *text, int64_t now_ms, int64_t *out, struct err *e)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {
        { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 },
    };
    const char *p = text + 1;

    if (!is_digit(*p))
        return no_time(text, e);
    int64_t n = read_number(&p);
    if (!*p)
        return err_set(e, ST_INVALID, "\"%.*s\" has no unit: end it in ms, s, m, h or d",
                       shown(text), text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(p, units[i].name) != 0)
            continue;
        if (__builtin_mul_overflow(n, units[i].ms, &n) || __builtin_add_overflow(n, now_ms, &n))
            n = INT64_MAX;
        return in_range(text, n, out, e);
    }
    return no_time(text, e);
}

static bool
is_date(int year, int month, int day)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && is_leap);
}

static enum status
parse_iso(const char *text, int64_t *out, struct err *e)
{
    int year, month, day, hour, minute, second = 0, ms = 0, off_hour = 0, off_minute = 0;
    const char *p = text;

    if (!read_field(&p, 4, &year) || !read_char(&p, "-") || !read_field(&p, 2, &month) ||
        !read_char(&p, "-") || !read_field(&p, 2, &day) || !read_char(&p, "Tt ") ||
        !read_field(&p, 2, &hour) || !read_char(&p, ":") || !read_field(&p, 2, &minute))
        return no_time(text, e);
    if (read_char(&p, ":")) {
        if (!read_field(&p, 2, &second))
            return no_time(text, e);
        if (read_char(&p, ".,")) {
            if (!is_digit(*p))
                return no_time(text, e);
            for (int scale = 100; is_digit(*p); p++, scale /= 10)
                ms += scale * (*p - '0');
        }
    }
    if (!*p)
        return err_set(e, ST_INVALID,
                       "\"%.*s\" has no time zone: end it in Z or in an offset such as +02:00",
                       shown(text), text);
    int sign = *p == '-' ? -1 : 1;
    if (!read_char(&p, "Zz")) {
        if (!read_char(&p, "+-") || !read_field(&p, 2, &off_hour))
            return no_time(text, e);
        if (*p && ((void)read_char(&p, ":"), !read_field(&p, 2, &off_minute)))
            return no_time(text, e);
    }
    if (*p)
        return no_time(text, e);
    if (!is_date(year, month, day) || hour > 23 || minute > 59 || second > 59 || off_hour > 23 ||
        off_minute > 59)
        return err_set(e, ST_INVALID, "\"%.*s\" is a time that does not exist", shown(text), text);

    struct tm tm = { .tm_year = year - 1900,
                     .tm_mon = month - 1,
                     .tm_mday = day,
                     .tm_hour = hour,
                     .tm_min = minute,
                     .tm_sec = second };
    int64_t off_sec = (int64_t)sign * (off_hour * 3600 + off_minute * 60);
    return in_range(text, ((int64_t)timegm(&tm) - off_sec) * 1000 + ms, out, e);
}

enum status
time_arg_parse(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e)
{
    const char *p = text + (*text == '-');

    if (*text == '+')
        return parse_delay(text, now_ms, out_ms, e);
    if (!is_digit(*p))
        return no_time(text, e);
    int64_t n = read_number(&p);
    if (!*p)
        return in_range(text, *text == '-' && n ? -1 : n, out_ms, e);
    return parse_iso(text, out_ms, e);
}

enum status
time_arg_from_json(const struct json *v, int64_t *out_ms, struct err *e)
{
    double d;

    if (!json_double(v, &d) || d > (double)WHEN_MAX_MS)
        return err_set(e, ST_INVALID, "Delayed signal deliverAt must be a finite unix timestamp");
    if (d < 0)
        return err_set(e, ST_INVALID, "Delayed signal deliverAt must be positive");
    *out_ms = (int64_t)d; /* exact: WHEN_MAX_MS has 48 bits */
    return ST_OK;
}
