/* Leases of files in the hub: who gets them, when they end, what the log says of them. */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#define TAKE(paths) "{\"project\":\"p\",\"paths\":[" paths "]}"

static struct hub *
open_at_t0(void)
{
    fake_clock(T0);
    return open_hub();
}

static void
an_overlap_is_refused_and_names_the_holder(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();
    struct hub_reply *r =
        ask(h, HUB_LEASE_TAKE, "bob",
            "{\"project\":\"p\",\"paths\":[\"src/**\",\"a.c\"],\"reason\":\"why\"}");

    CHECK_REPLY(r, 200);
    assert_string_equal(each(r, "path"), "src/** a.c");
    assert_string_equal(got(r, "[0].holder"), "bob");
    r = ask(h, HUB_LEASE_TAKE, "eve", TAKE("\"b.c\",\"src/x.c\""));
    CHECK_REFUSED(r, 409, "FILE_LEASED", "src/x.c is leased by bob until 2026-04-03T11:49:34");
    assert_non_null(strstr(r->message, "(why), as src/**"));
    assert_non_null(strstr(r->details, "\"holder\":\"bob\""));
    /* all or none */
    assert_string_equal(each(ask(h, HUB_LEASES, "eve", "{\"project\":\"p\"}"), "holder"),
                        "bob bob");
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "eve", TAKE("\"b.c\"")), 200);
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "eve", "{\"project\":\"q\",\"paths\":[\"src\"]}"), 200);
    assert_string_equal(
        each(ask(h, HUB_LEASES, "eve", "{\"project\":\"p\",\"path\":\"src/*\"}"), "path"),
        "src/**");
    assert_string_equal(
        each(ask(h, HUB_LEASES, "eve", "{\"project\":\"p\",\"others\":true}"), "path"),
        "a.c src/**");
    close_hub(h);
}

static void
bad_paths_are_refused(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REFUSED(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"../x\"")), 400, "VALIDATION_INVALID_TYPE",
                  "paths: \"../x\"");
    CHECK_REFUSED(ask(h, HUB_LEASE_TAKE, "bob", TAKE("")), 400, "VALIDATION_FIELD_REQUIRED",
                  "paths is required");
    CHECK_REFUSED(ask(h, HUB_LEASE_TAKE, "bob", "{\"paths\":[\"a\"]}"), 400,
                  "VALIDATION_FIELD_REQUIRED", "project is required");
    CHECK_REFUSED(ask(h, HUB_LEASE_RELEASE, "bob", TAKE("\"a\"")), 404, "SIGNAL_NOT_FOUND",
                  "bob has leased none");
    close_hub(h);
}

static void
a_lease_ends_by_itself_and_its_holder_is_told(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob",
                    "{\"project\":\"p\",\"paths\":[\"a\",\"b\"],\"ttl_seconds\":10}"),
                200);
    assert_int_equal(hub_due_in_ms(h), 10000);
    fake_clock(T0 + 9 * S);
    fake_wall(T0 + 86400 * S); /* a clock that is set moves no lease */
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "eve", TAKE("\"a\"")), 409);
    fake_clock(T0 + 10 * S);
    fake_wall(T0 - 86400 * S);
    /* Nothing was written yet, but it is over. */
    assert_string_equal(data(ask(h, HUB_LEASES, "eve", "{}")), "[]");
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "eve", TAKE("\"a\"")), 200);
    assert_string_equal(each(ask(h, HUB_INBOX, "bob", "{\"target\":\"@bob\"}"), "signal_type"),
                        "lease:bob:expired");
    assert_string_equal(each(ask(h, HUB_LEASES, "eve", "{}"), "holder"), "eve");
    close_hub(h);
}

static void
taking_again_makes_it_longer_and_writes_no_signal(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"a\",\"b\"")), 200);
    uint64_t last = hub_last_seq(h);
    fake_clock(T0 + 1000 * S);
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"a\"")), 200);
    assert_int_equal(hub_last_seq(h), last + 1);
    fake_clock(T0 + 1800 * S); /* b ends, a does not */
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_LEASES, "bob", "{}"), "path"), "a");
    close_hub(h);
}

static void
a_release_ends_what_it_names(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"a\",\"b\"")), 200);
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"c\"")), 200);
    assert_string_equal(each(ask(h, HUB_LEASE_RELEASE, "bob", TAKE("\"b\"")), "path"), "b");
    assert_string_equal(each(ask(h, HUB_LEASES, "bob", "{}"), "path"), "a c");
    CHECK_REFUSED(ask(h, HUB_LEASE_RELEASE, "eve", "{\"project\":\"p\",\"holder\":\"bob\"}"), 403,
                  "AUTH_FORBIDDEN", "only an admin");
    assert_string_equal(data(ask(h, HUB_LEASE_RELEASE, "eve", "{\"project\":\"p\"}")), "[]");
    CHECK_REPLY(ask(h, HUB_LEASE_RELEASE, "!root", "{\"project\":\"p\",\"holder\":\"bob\"}"), 200);
    assert_string_equal(data(ask(h, HUB_LEASES, "bob", "{}")), "[]");
    assert_string_equal(each(ask(h, HUB_INBOX, "bob", "{\"target\":\"@bob\"}"), "signal_type"),
                        "lease:bob:released lease:bob:released");
    close_hub(h);
}

static void
subscribers_learn_that_files_are_free(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"lease:*:released\"}"), 200);
    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"a\"")), 200);
    CHECK_REPLY(ask(h, HUB_LEASE_RELEASE, "bob", "{\"project\":\"p\"}"), 200);
    struct hub_reply *r = ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}");
    assert_string_equal(each(r, "signal_type"), "lease:bob:released");
    assert_string_equal(got(r, "[0].payload.paths[0]"), "a");
    close_hub(h);
}

/* The fold: the first valid line wins, also against lines of writers that ask nothing. */
static void
a_foreign_line_takes_no_leased_file(void **state)
{
    (void)state;
    struct hub *h = open_at_t0();

    CHECK_REPLY(ask(h, HUB_LEASE_TAKE, "bob", TAKE("\"src/**\"")), 200);
    append_file(HUB_LOG, "{\"op\":\"lease\",\"id\":\"x1\",\"by\":\"eve\",\"until\":9999999999999,"
                         "\"project\":\"p\",\"paths\":[\"src/a\"]}\n"
                         "{\"op\":\"lease\",\"id\":\"x2\",\"by\":\"eve\",\"until\":9999999999999,"
                         "\"project\":\"p\",\"paths\":[\"../a\"]}\n"
                         "{\"op\":\"lease\",\"id\":\"x3\",\"by\":\"eve\",\"until\":9999999999999,"
                         "\"project\":\"p\",\"paths\":[\"doc\"]}\n"
                         "{\"op\":\"lease_end\",\"id\":\"x9\"}\n");
    assert_string_equal(each(ask(h, HUB_LEASES, "bob", "{}"), "holder"), "eve bob");
    append_file(HUB_LOG, "{\"op\":\"lease_end\",\"id\":\"x3\"}\n");
    assert_string_equal(each(ask(h, HUB_LEASES, "bob", "{}"), "holder"), "bob");
    uint64_t problems = 1;
    assert_int_equal(hub_check(h, NULL, NULL, &problems, NULL), ST_OK);
    assert_int_equal(problems, 0);
    assert_int_equal(hub_rebuild(h, NULL), ST_OK);
    assert_string_equal(each(ask(h, HUB_LEASES, "bob", "{}"), "holder"), "bob");
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_overlap_is_refused_and_names_the_holder),
        CASE(bad_paths_are_refused),
        CASE(a_lease_ends_by_itself_and_its_holder_is_told),
        CASE(taking_again_makes_it_longer_and_writes_no_signal),
        CASE(a_release_ends_what_it_names),
        CASE(subscribers_learn_that_files_are_free),
        CASE(a_foreign_line_takes_no_leased_file),
    };

    return cmocka_run_group_tests_name("hub leases", tests, NULL, NULL);
}
