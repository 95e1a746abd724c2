#include "base/clock.h"

#include "base/sys.h"

#include <stdio.h>

int64_t
clock_wall_ns(void)
{
    struct timespec t = { 0 };

    sys->clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
clock_mono_ms(void)
{
    struct timespec t = { 0 };

    sys->clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *
write_iso(char to[CLOCK_ISO_SIZE], int64_t ms, int is_ms)
{
    time_t sec = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm tm;

    gmtime_r(&sec, &tm);
    size_t n = strftime(to, CLOCK_ISO_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    if (is_ms)
        snprintf(to + n, CLOCK_ISO_SIZE - n, ".%03dZ", (int)(ms - (int64_t)sec * 1000));
    else
        snprintf(to + n, CLOCK_ISO_SIZE - n, "Z");
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
