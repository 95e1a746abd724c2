/* Tests serve/revoke_watch: no revocation line is missed, wherever a read ends. */
#include "serve/revoke_watch.h"

#include "log/log.h"

#include "fault.h"
#include "test.h"

#include <fcntl.h>

#define LOG  "events.jsonl"
#define LINE "{\"op\":\"revoke\",\"id\":\"%s\",\"by\":\"admin\"}\n"

static char told[400];

static void
tell(void *ctx, const char *id)
{
    (void)ctx;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s ", id);
}

/* The result of a scan. */
static const char *
look(struct revoke_watch *r)
{
    told[0] = '\0';
    revoke_watch_look(r, tell, NULL);
    return told;
}

static void
append_line(const char *id)
{
    char text[200];

    snprintf(text, sizeof text, LINE, id);
    append_file(LOG, text);
}

static void
revocation_lines_are_found_and_others_skipped(void **state)
{
    struct revoke_watch r;

    (void)state;
    append_line("old");
    revoke_watch_init(&r, here());
    assert_string_equal(look(&r), "");
    append_file(LOG,
                "{\"type\":\"note\",\"content\":\"revoke\",\"id\":\"x\"}\nnot json, revoke\n\n");
    append_line("a");
    append_file(LOG, "{ \"id\" : \"b\" , \"op\" : \"revoke\" }\n{\"op\":\"revoke\"}\n");
    assert_string_equal(look(&r), "a b ");
    assert_true(revoke_watch_has(&r, "a") && revoke_watch_has(&r, "b"));
    assert_false(revoke_watch_has(&r, "old") || revoke_watch_has(&r, "x"));
    assert_string_equal(look(&r), "");
    revoke_watch_forget(&r);
    assert_false(revoke_watch_has(&r, "a"));
    revoke_watch_release(&r);
}

static void
a_line_is_read_when_it_is_whole(void **state)
{
    struct revoke_watch r;

    (void)state;
    write_file(LOG, "");
    revoke_watch_init(&r, here());
    append_file(LOG, "{\"op\":\"rev");
    assert_string_equal(look(&r), "");
    append_file(LOG, "oke\",\"id\":\"a\"}");
    assert_string_equal(look(&r), "");
    append_file(LOG, "\n");
    assert_string_equal(look(&r), "a ");
    revoke_watch_release(&r);
}

static void
a_line_that_could_not_be_read_is_read_by_the_next_scan(void **state)
{
    struct revoke_watch r;

    (void)state;
    write_file(LOG, "");
    revoke_watch_init(&r, here());
    append_line("a");
    fault_always("pread", EIO);
    assert_string_equal(look(&r), "");
    fault_off(NULL);
    assert_string_equal(look(&r), "a ");
    revoke_watch_release(&r);
}

static void
lines_of_any_length_may_precede_a_revocation(void **state)
{
    static const size_t sizes[] = {
        100,           65535,         65536,         65537,   200000,
        (1 << 20) - 3, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + 70000,
        3 << 20
    };
    struct revoke_watch r;

    (void)state;
    write_file(LOG, "");
    revoke_watch_init(&r, here());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = malloc(sizes[i] + 2), id[20], want[24];
        memset(text, 'x', sizes[i]);
        strcpy(text + sizes[i], "\n");
        append_file(LOG, text);
        free(text);
        snprintf(id, sizeof id, "k%zu", sizes[i]);
        snprintf(want, sizeof want, "%s ", id);
        append_line(id);
        assert_string_equal(look(&r), want);
    }
    revoke_watch_release(&r);
}

static void
the_end_of_a_segment_and_the_next_one_are_read(void **state)
{
    struct revoke_watch r;

    (void)state;
    append_line("old");
    revoke_watch_init(&r, here());
    append_line("a");
    append_file(LOG, "{\"op\":\"rotate\"}\n");
    assert_string_equal(look(&r), "a ");
    assert_string_equal(look(&r), ""); /* not renamed yet */
    assert_int_equal(rename(LOG, "events-1.jsonl"), 0);
    assert_string_equal(look(&r), "");
    append_line("b");
    assert_string_equal(look(&r), "b ");
    append_line("c");
    append_file(LOG, "{\"op\":\"rotate\"}\n");
    assert_int_equal(rename(LOG, "events-5.jsonl"), 0);
    append_line("d"); /* all of that since the last scan */
    assert_string_equal(look(&r), "c d ");
    revoke_watch_release(&r);
}

static void
a_replaced_file_is_read_from_its_start(void **state)
{
    struct revoke_watch r;

    (void)state;
    revoke_watch_init(&r, here()); /* not there yet */
    assert_string_equal(look(&r), "");
    append_line("a");
    assert_string_equal(look(&r), "a ");
    write_file("other", "{\"op\":\"revoke\",\"id\":\"b\"}\n");
    assert_int_equal(rename("other", LOG), 0);
    assert_string_equal(look(&r), "b ");
    assert_int_equal(truncate(LOG, 0), 0);
    assert_string_equal(look(&r), "");
    append_line("c");
    assert_string_equal(look(&r), "c ");
    revoke_watch_release(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(revocation_lines_are_found_and_others_skipped),
        CASE(a_line_is_read_when_it_is_whole),
        CASE(a_line_that_could_not_be_read_is_read_by_the_next_scan),
        CASE(lines_of_any_length_may_precede_a_revocation),
        CASE(the_end_of_a_segment_and_the_next_one_are_read),
        CASE(a_replaced_file_is_read_from_its_start),
    };
    return cmocka_run_group_tests_name("revoked", tests, NULL, NULL);
}
