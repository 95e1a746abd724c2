#include "base/clock.h"

#include "base/sys.h"

int64_t
clock_wall_ns(void)
{
    struct timespec t = { 0 };

    sys->clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
clock_mono_ns(void)
{
    struct timespec ts = { 0 };

    sys->clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t
clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000;
}

/* n digits, and what separates them from the next. */
static char *
put(char *to, int v, int n, char after)
{
    for (int i = n; i-- > 0; v /= 10)
        to[i] = (char)('0' + v % 10);
    to[n] = after;
    return to + n + 1;
}

static char *
write_iso(char to[CLOCK_ISO_SIZE], int64_t ms, int is_ms)
{
    time_t sec = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm tm = { 0 };

    gmtime_r(&sec, &tm);
    int year = tm.tm_year + 1900;
    char *p = put(to, year < 0 ? 0 : year > 9999 ? 9999 : year, 4, '-');
    p = put(p, tm.tm_mon + 1, 2, '-');
    p = put(p, tm.tm_mday, 2, 'T');
    p = put(p, tm.tm_hour, 2, ':');
    p = put(p, tm.tm_min, 2, ':');
    p = put(p, tm.tm_sec, 2, is_ms ? '.' : 'Z');
    if (is_ms)
        p = put(p, (int)(ms - (int64_t)sec * 1000), 3, 'Z');
    *p = '\0';
    return to;
}

char *
clock_iso(char to[CLOCK_ISO_SIZE], int64_t wall_ns, int is_ms)
{
    /* Rounded down, before 1970 too. */
    return write_iso(to, wall_ns / 1000000 - (wall_ns % 1000000 < 0), is_ms);
}

char *
clock_iso_ms(char to[CLOCK_ISO_SIZE], int64_t wall_ms)
{
    return write_iso(to, wall_ms, 1);
}
