/* Tests hub/model/time_arg: the times that people and programs give. */
#include "hub/model/time_arg.h"

#include "base/clock.h"
#include "test.h"

#define NOW INT64_C(1775215174499)

static void
times_are_read_in_every_form(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        { "0", 0 },
        { "1775215174499", NOW },
        { "253402300799999", WHEN_MAX_MS },
        { "2026-04-03T11:19:34Z", 1775215174000 },
        { "2026-04-03T11:19:34.499Z", NOW },
        { "2026-04-03t11:19:34.4999999z", NOW },
        { "2026-04-03T11:19:34.4Z", 1775215174400 },
        { "2026-04-03T11:19:34,04Z", 1775215174040 },
        { "2026-04-03 11:19:34+00:00", 1775215174000 },
        { "2026-04-03T13:19:34+02:00", 1775215174000 },
        { "2026-04-03T13:19:34+0200", 1775215174000 },
        { "2026-04-03T13:19:34+02", 1775215174000 },
        { "2026-04-03T05:49:34-05:30", 1775215174000 },
        { "2026-04-04T00:19:34+13:00", 1775215174000 },
        { "2026-04-03T11:19Z", 1775215140000 },
        { "1970-01-01T00:00:00Z", 0 },
        { "2024-02-29T00:00:00Z", 1709164800000 },
        { "9999-12-31T23:59:59.999Z", WHEN_MAX_MS },
        { "+0s", NOW },
        { "+300ms", NOW + 300 },
        { "+30s", NOW + 30000 },
        { "+5m", NOW + 300000 },
        { "+2h", NOW + 7200000 },
        { "+1d", NOW + 86400000 },
        { "+365d", NOW + INT64_C(31536000000) },
    };
    struct err e;
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_OK(time_arg_parse(good[i].text, NOW, &ms, &e), &e);
        if (ms != good[i].ms)
            fail_msg("%s is read as %jd", good[i].text, (intmax_t)ms);
    }
}

static void
the_time_zone_of_the_machine_does_not_matter(void **state)
{
    struct err e;
    int64_t ms;

    (void)state;
    setenv("TZ", "Asia/Kathmandu", 1);
    CHECK_OK(time_arg_parse("2026-04-03T11:19:34Z", NOW, &ms, &e), &e);
    unsetenv("TZ");
    assert_int_equal(ms, 1775215174000);
}

#define NO_TIME                                                                                    \
    " is no time: give milliseconds since 1970 (1775215174000), an ISO 8601 time "                 \
    "(2026-04-03T11:19:34Z) or a delay (+300ms, +30s, +5m, +2h, +1d)"
#define NO_ZONE  " has no time zone: end it in Z or in an offset such as +02:00"
#define NO_UNIT  " has no unit: end it in ms, s, m, h or d"
#define NO_SUCH  " is a time that does not exist"
#define NO_RANGE " is not between the years 1970 and 9999"

static void
an_invalid_time_is_refused_with_the_reason(void **state)
{
    static const char *const bad[][2] = {
        { "", NO_TIME },
        { "tomorrow", NO_TIME },
        { " 5", NO_TIME },
        { "5 ", NO_TIME },
        { "1.5", NO_TIME },
        { "30s", NO_TIME },
        { "+", NO_TIME },
        { "+s", NO_TIME },
        { "+5mss", NO_TIME },
        { "+ms", NO_TIME },
        { "+-5s", NO_TIME },
        { "+1.5h", NO_TIME },
        { "+5w", NO_TIME },
        { "+1h30m", NO_TIME },
        { "2026-04-03", NO_TIME },
        { "2026-4-3T11:19:34Z", NO_TIME },
        { "2026-04-03T11Z", NO_TIME },
        { "2026-04-03T11:19:Z", NO_TIME },
        { "2026-04-03T11:19:34.Z", NO_TIME },
        { "2026-04-03T11:19:34Zulu", NO_TIME },
        { "2026-04-03T11:19:34+2", NO_TIME },
        { "2026-04-03T11:19:34+02:", NO_TIME },
        { "2026-04-03T11:19:34+02:0", NO_TIME },
        { "2026-04-03T11:19:34 UTC", NO_TIME },
        { "-2026-04-03T11:19:34Z", NO_TIME },
        { "2026-04-03T11:19:34", NO_ZONE },
        { "2026-04-03 11:19", NO_ZONE },
        { "+30", NO_UNIT },
        { "2026-13-03T11:19:34Z", NO_SUCH },
        { "2026-00-03T11:19:34Z", NO_SUCH },
        { "2026-02-29T11:19:34Z", NO_SUCH },
        { "2100-02-29T11:19:34Z", NO_SUCH },
        { "2026-04-00T11:19:34Z", NO_SUCH },
        { "2026-04-31T11:19:34Z", NO_SUCH },
        { "2026-04-03T24:00:00Z", NO_SUCH },
        { "2026-04-03T11:60:34Z", NO_SUCH },
        { "2026-04-03T11:19:60Z", NO_SUCH },
        { "2026-04-03T11:19:34+24:00", NO_SUCH },
        { "2026-04-03T11:19:34+02:60", NO_SUCH },
        { "-1", NO_RANGE },
        { "1969-12-31T23:59:59Z", NO_RANGE },
        { "1970-01-01T00:00:00+01:00", NO_RANGE },
        { "9999-12-31T23:59:59-01:00", NO_RANGE },
        { "253402300800000", NO_RANGE },
        { "99999999999999999999999999", NO_RANGE },
        { "+99999999999999999999999999d", NO_RANGE },
        { "+9223372036854775807s", NO_RANGE },
    };
    struct err e;
    char want[512];
    int64_t ms = 4711;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(want, sizeof want, "\"%s\"%s", bad[i][0], bad[i][1]);
        CHECK_FAILS(time_arg_parse(bad[i][0], NOW, &ms, &e), ST_INVALID, &e, want);
    }
    assert_int_equal(ms, 4711);
}

static void
a_written_time_is_read_back(void **state)
{
    static const int64_t times[] = { 0, 1, 999, NOW, INT64_C(9223372036855), WHEN_MAX_MS };
    char iso[CLOCK_ISO_SIZE];
    struct err e;
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        CHECK_OK(time_arg_parse(clock_iso_ms(iso, times[i]), NOW, &ms, &e), &e);
        assert_int_equal(ms, times[i]);
    }
    assert_string_equal(clock_iso_ms(iso, WHEN_MAX_MS), "9999-12-31T23:59:59.999Z");
}

static enum status
from_json(const char *text, int64_t *ms, struct err *e)
{
    struct arena a = { 0 };
    struct json *v = NULL;

    assert_true(!text || json_parse(&a, text, strlen(text), &v, NULL));
    enum status s = time_arg_from_json(v, ms, e);
    arena_release(&a);
    return s;
}

static void
deliverAt_is_a_finite_number_not_negative_and_floored(void **state)
{
    static const char *const endless[] = { NULL, "null", "\"5\"", "1e400", "1e16", "[]", "true" };
    struct err e;
    int64_t ms;

    (void)state;
    CHECK_OK(from_json("1775215174499.9", &ms, &e), &e);
    assert_int_equal(ms, NOW);
    CHECK_OK(from_json("0", &ms, &e), &e);
    assert_int_equal(ms, 0);
    CHECK_OK(from_json("1e3", &ms, &e), &e);
    assert_int_equal(ms, 1000);
    CHECK_OK(from_json("253402300799999", &ms, &e), &e);
    assert_int_equal(ms, WHEN_MAX_MS);
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        CHECK_FAILS(from_json(endless[i], &ms, &e), ST_INVALID, &e,
                    "Delayed signal deliverAt must be a finite unix timestamp");
    CHECK_FAILS(from_json("-1", &ms, &e), ST_INVALID, &e,
                "Delayed signal deliverAt must be positive");
    CHECK_FAILS(from_json("-0.5", &ms, &e), ST_INVALID, &e,
                "Delayed signal deliverAt must be positive");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(times_are_read_in_every_form),
        CASE(the_time_zone_of_the_machine_does_not_matter),
        CASE(an_invalid_time_is_refused_with_the_reason),
        CASE(a_written_time_is_read_back),
        CASE(deliverAt_is_a_finite_number_not_negative_and_floored),
    };
    return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
