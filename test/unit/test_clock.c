/* Tests base/clock and base/id: times as text, numbers that never repeat. */
#include "fault.h"
#include "test.h"

#include "base/clock.h"
#include "base/id.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static void
a_time_is_written_in_UTC(void **state)
{
    char to[CLOCK_ISO_SIZE];

    (void)state;
    assert_string_equal(clock_iso(to, 1775215174499753000, 0), "2026-04-03T11:19:34Z");
    assert_string_equal(clock_iso(to, 0, 0), "1970-01-01T00:00:00Z");
}

static void
the_time_zone_of_the_machine_does_not_matter(void **state)
{
    char to[CLOCK_ISO_SIZE];

    (void)state;
    setenv("TZ", "Asia/Kathmandu", 1);
    assert_string_equal(clock_iso(to, 1775215174499753000, 0), "2026-04-03T11:19:34Z");
    unsetenv("TZ");
}

static void
milliseconds_are_truncated_not_rounded(void **state)
{
    char to[CLOCK_ISO_SIZE];

    (void)state;
    assert_string_equal(clock_iso(to, 1775215174499753000, 1), "2026-04-03T11:19:34.499Z");
    assert_string_equal(clock_iso(to, 1775215174999999999, 1), "2026-04-03T11:19:34.999Z");
    assert_string_equal(clock_iso(to, 1775215174000999999, 1), "2026-04-03T11:19:34.000Z");
}

static void
leap_days_and_the_end_of_32_bits_are_dates(void **state)
{
    char to[CLOCK_ISO_SIZE];

    (void)state;
    assert_string_equal(clock_iso(to, 1709164800000000000, 0), "2024-02-29T00:00:00Z");
    assert_string_equal(clock_iso(to, 2147483648000000000, 0), "2038-01-19T03:14:08Z");
    assert_string_equal(clock_iso(to, INT64_MAX, 1), "2262-04-11T23:47:16.854Z");
}

static void
times_near_now_are_told_as_people_tell_them(void **state)
{
    enum { S = 1000, MIN = 60 * S, H = 60 * MIN, D = 24 * H };
    static const struct {
        int64_t ahead;
        const char *says;
    } cases[] = {
        { 0, "just now" },         { -1 * S, "just now" },  { -90 * S, "1 min ago" },
        { -2 * H + 1, "1 h ago" }, { 2 * H - 1, "in 2 h" }, { 2 * H + 5, "in 2 h" },
        { D - S, "in 24 h" },      { 7 * D - S, "in 7 d" }, { 89 * S, "in 1 min" },
        { 5 * S, "in 5 s" },       { 7 * D, "1970-01-15" }, { -6 * D, "6 d ago" },
    };
    char text[CLOCK_ISO_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(clock_near(text, 7 * (int64_t)D + cases[i].ahead, 7 * (int64_t)D),
                            cases[i].says);
}

static void
a_time_before_1970_is_written_too(void **state)
{
    char to[CLOCK_ISO_SIZE];

    (void)state;
    assert_string_equal(clock_iso(to, -1, 1), "1969-12-31T23:59:59.999Z");
    assert_string_equal(clock_iso(to, -1500000000, 1), "1969-12-31T23:59:58.500Z");
    assert_string_equal(clock_iso(to, -1000000000, 0), "1969-12-31T23:59:59Z");
}

/* Compares with gmtime_r: a week apart, at another hour each time, over all years of four
 * digits. */
static void
every_date_agrees_with_gmtime(void **state)
{
    const int64_t first_s = -62167219200, end_s = 253402300800; /* 0000-01-01, 10000-01-01 */
    char to[CLOCK_ISO_SIZE], want[80];
    struct tm tm;

    (void)state;
    for (time_t s = first_s; s < end_s; s += 7 * 86400 + 3601) {
        gmtime_r(&s, &tm);
        snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.007Z", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        assert_string_equal(clock_iso_ms(to, (int64_t)s * 1000 + 7), want);
    }
    assert_string_equal(clock_iso_ms(to, end_s * 1000), "9999-01-01T00:00:00.000Z");
    assert_string_equal(clock_iso_ms(to, first_s * 1000 - 1), "0000-12-31T23:59:59.999Z");
}

static void
the_clock_is_read_through_the_sys_table(void **state)
{
    (void)state;
    fake_clock(1775215174499753000);
    assert_int_equal(clock_wall_ns(), 1775215174499753000);
    assert_int_equal(clock_mono_ms(), 1775215174499);
}

static void
numbers_differ_while_the_clock_stands_still(void **state)
{
    (void)state;
    fake_clock(4000000000000000000);
    int64_t last = id_unique_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t n = id_unique_ns();
        assert_int_equal(n, last + 1);
        last = n;
    }
}

static void
numbers_grow_although_the_clock_is_set_back(void **state)
{
    (void)state;
    fake_clock(4100000000000000000);
    int64_t before = id_unique_ns();
    fake_clock(1);
    assert_int_equal(id_unique_ns(), before + 1);
    assert_int_equal(id_unique_ns(), before + 2);
}

static void
numbers_follow_the_clock_when_it_goes_on(void **state)
{
    (void)state;
    fake_clock(4200000000000000000);
    assert_int_equal(id_unique_ns(), 4200000000000000000);
    fake_clock(4200000000000000500);
    assert_int_equal(id_unique_ns(), 4200000000000000500);
}

enum { THREADS = 4, EACH = 5000 };

static void *
take_many(void *to)
{
    int64_t *n = to;

    for (int i = 0; i < EACH; i++)
        n[i] = id_unique_ns();
    return NULL;
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void
threads_never_get_the_same_number(void **state)
{
    static int64_t got[THREADS][EACH];
    pthread_t threads[THREADS];

    (void)state;
    fake_clock(4300000000000000000); /* a clock that stands still */
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, got[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int k = 1; k < EACH; k++)
            assert_true(got[i][k] > got[i][k - 1]);
    qsort(got, (size_t)THREADS * EACH, sizeof(int64_t), by_value);
    for (int i = 1; i < THREADS * EACH; i++)
        assert_int_not_equal((&got[0][0])[i], (&got[0][0])[i - 1]);
}

static void
the_clock_watch_is_silent_while_the_clock_is_not_set(void **state)
{
    int fd = clock_watch_open();
    struct pollfd p = { .fd = fd, .events = POLLIN };

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(poll(&p, 1, 0), 0);
    clock_watch_again(fd); /* does not block */
    assert_int_equal(poll(&p, 1, 0), 0);
    close(fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_time_is_written_in_UTC),
        CASE(the_time_zone_of_the_machine_does_not_matter),
        CASE(milliseconds_are_truncated_not_rounded),
        CASE(leap_days_and_the_end_of_32_bits_are_dates),
        CASE(times_near_now_are_told_as_people_tell_them),
        CASE(a_time_before_1970_is_written_too),
        CASE(every_date_agrees_with_gmtime),
        CASE(the_clock_is_read_through_the_sys_table),
        CASE(numbers_differ_while_the_clock_stands_still),
        CASE(numbers_grow_although_the_clock_is_set_back),
        CASE(numbers_follow_the_clock_when_it_goes_on),
        CASE(threads_never_get_the_same_number),
        CASE(the_clock_watch_is_silent_while_the_clock_is_not_set),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
