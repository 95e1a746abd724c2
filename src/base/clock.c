#include "base/clock.h"

#include "base/sys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

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

/* Writes v with n digits, then the separator `after`. */
static char *
put(char *to, int v, int n, char after)
{
    for (int i = n; i-- > 0; v /= 10)
        to[i] = (char)('0' + v % 10);
    to[n] = after;
    return to + n + 1;
}

enum { DAY_MS = 24 * 3600 * 1000 };

/* Converts days since 1970 to a Gregorian date. The computation uses years that begin in March, so
 * that the leap day is the last day of its year, and eras of 400 years, which all have the same
 * number of days. Years are clamped to 0..9999. gmtime_r takes four times as long. */
static void
read_days(int64_t days, int *year, int *month, int *day)
{
    enum { ERA_DAYS = 146097, TO_MARCH_OF_YEAR_0 = 719468 };

    days += TO_MARCH_OF_YEAR_0;
    int64_t era = (days >= 0 ? days : days - ERA_DAYS + 1) / ERA_DAYS;
    int of_era = (int)(days - era * ERA_DAYS);
    int y = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    int of_year = of_era - (365 * y + y / 4 - y / 100);
    int m = (5 * of_year + 2) / 153; /* 0: March */
    int64_t all = y + era * 400 + (m >= 10);

    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = all < 0 ? 0 : all > 9999 ? 9999 : (int)all;
}

static char *
write_iso(char to[CLOCK_ISO_SIZE], int64_t ms, int is_ms)
{
    int64_t days = ms / DAY_MS - (ms % DAY_MS < 0);
    int rest = (int)(ms - days * DAY_MS), year, month, day;

    read_days(days, &year, &month, &day);
    char *p = put(to, year, 4, '-');
    p = put(p, month, 2, '-');
    p = put(p, day, 2, 'T');
    p = put(p, rest / 3600000, 2, ':');
    p = put(p, rest / 60000 % 60, 2, ':');
    p = put(p, rest / 1000 % 60, 2, is_ms ? '.' : 'Z');
    if (is_ms)
        p = put(p, rest % 1000, 3, 'Z');
    *p = '\0';
    return to;
}

char *
clock_iso(char to[CLOCK_ISO_SIZE], int64_t wall_ns, int is_ms)
{
    /* Rounds down, also before 1970. */
    return write_iso(to, wall_ns / 1000000 - (wall_ns % 1000000 < 0), is_ms);
}

char *
clock_iso_ms(char to[CLOCK_ISO_SIZE], int64_t wall_ms)
{
    return write_iso(to, wall_ms, 1);
}

char *
clock_near(char to[CLOCK_ISO_SIZE], int64_t wall_ms, int64_t now_ms)
{
    static const struct {
        int64_t s;
        const char *name;
    } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
    enum { WEEK_S = 7 * 86400, NOW_S = 2 };
    int64_t ahead = wall_ms - now_ms, s = (ahead < 0 ? -ahead : ahead) / 1000;
    size_t i = 0;

    if (s >= WEEK_S) {
        clock_iso_ms(to, wall_ms)[10] = '\0';
        return to;
    }
    if (s < NOW_S)
        return strcpy(to, "just now");
    while (s < units[i].s)
        i++;
    if (ahead > 0) /* an hour and 59 minutes are nearly two hours, which is what was set */
        s += units[i].s / 2;
    snprintf(to, CLOCK_ISO_SIZE, ahead < 0 ? "%d %s ago" : "in %d %s", (int)(s / units[i].s),
             units[i].name);
    return to;
}

/* ---- changes of the wall clock ---- */

/* Arms a timer that never expires. The kernel cancels it when the clock is set. */
static bool
arm(int fd)
{
    struct itimerspec never = { .it_value.tv_sec = INT64_MAX / 1000000000 };

    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0;
}

int
clock_watch_open(void)
{
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd >= 0 && !arm(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

void
clock_watch_again(int fd)
{
    uint64_t n;

    if (read(fd, &n, sizeof n) != 0) /* ECANCELED when the clock was set */
        arm(fd);
}
