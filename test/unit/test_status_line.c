/* Tests context/status_line: the lines between an agent and the orchestrator. */
#include "test.h"

#include "context/status_line.h"
#include "fault.h"

#include <fcntl.h>

#define NOW INT64_C(1780034654222000000)

static struct status_line
line(struct arena *a, const char *text)
{
    struct json *v = NULL;

    assert_true(json_parse(a, text, strlen(text), &v, NULL));
    return status_line_read(a, v);
}

static void
lines_look_like_the_documented_ones(void **state)
{
    struct arena a = { 0 };
    struct err e;
    struct json *result;

    (void)state;
    fake_clock(NOW);
    assert_true(json_parse(&a, "{\"n\":1}", 7, &result, NULL));
    CHECK_OK(status_line_append(&(struct status_file){ here(), "dev", "phase", NULL }, LINE_OK,
                                NULL, NULL, NULL, &e),
             &e);
    CHECK_OK(status_line_append(&(struct status_file){ here(), "dev", "phase", NULL },
                                LINE_PROGRESS, "half way", NULL, NULL, &e),
             &e);
    CHECK_OK(status_line_append(&(struct status_file){ here(), "dev", "phase", NULL }, LINE_NOTIFY,
                                NULL, NULL, result, &e),
             &e);
    CHECK_OK(status_line_append(&(struct status_file){ here(), "dev", "phase", NULL }, LINE_ERROR,
                                NULL, "a \"b\"\n", NULL, &e),
             &e);
    CHECK_OK(status_line_append(&(struct status_file){ here(), "dev", "test", NULL }, LINE_COMPLETE,
                                NULL, NULL, result, &e),
             &e);
#define TS "{\"ts\":\"2026-05-29T06:04:14.222Z\",\"version\":1,"
    CHECK_FILE("dev.jsonl",
               TS "\"type\":\"phase\",\"status\":\"ok\"}\n" TS
                  "\"type\":\"phase\",\"status\":\"progress\",\"message\":\"half way\"}\n" TS
                  "\"type\":\"phase\",\"status\":\"notify\",\"result\":{\"n\":1}}\n" TS
                  "\"type\":\"phase\",\"status\":\"error\",\"error\":\"a \\\"b\\\"\\n\"}\n" TS
                  "\"type\":\"test\",\"status\":\"complete\",\"result\":{\"n\":1}}\n");
    arena_release(&a);
}

static void
a_line_has_the_attempt_id_of_its_file(void **state)
{
    const struct status_file f = { here(), "dev", "phase", "run-1/dev.2" };
    struct arena a = { 0 };
    struct json *line;
    struct err e;
    size_t len;

    (void)state;
    CHECK_OK(status_line_append_acked(&f, NOW, LINE_COMPLETE, NULL, NULL, NULL, &e), &e);
    char *text = read_file("dev.jsonl", &len), *second = strchr(text, '\n') + 1;
    assert_true(json_parse(&a, text, (size_t)(second - text), &line, NULL));
    assert_string_equal(status_line_read(&a, line).attempt_id, "run-1/dev.2");
    assert_true(json_parse(&a, second, strlen(second), &line, NULL));
    assert_string_equal(status_line_read(&a, line).attempt_id, "run-1/dev.2");
    free(text);
    arena_release(&a);
}

static void
a_torn_line_is_sealed_before_the_next(void **state)
{
    struct err e;
    size_t len;

    (void)state;
    write_file("p.jsonl", "{\"status\":");
    CHECK_OK(status_line_append(&(struct status_file){ here(), "p", "phase", NULL }, LINE_OK, NULL,
                                NULL, NULL, &e),
             &e);
    char *text = read_file("p.jsonl", &len);
    assert_ptr_equal(strstr(text, "{\"status\":\n{\"ts\""), text);
    free(text);
}

static void
every_status_is_read(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_int_equal(line(&a, "{\"version\":1,\"status\":\"ok\"}").status, LINE_OK);
    assert_int_equal(line(&a, "{\"version\":1,\"status\":\"notify\"}").status, LINE_NOTIFY);
    struct status_line s =
        line(&a, "{\"version\":1,\"status\":\"progress\",\"message\":\"h\\u00fc\"}");
    assert_int_equal(s.status, LINE_PROGRESS);
    assert_string_equal(s.message, "hü");
    s = line(&a, "{\"version\":1,\"status\":\"error\",\"error\":\"why\"}");
    assert_int_equal(s.status, LINE_ERROR);
    assert_string_equal(s.error, "why");
    s = line(&a, "{\"status\":\"error\",\"error\":{\"code\":7,\"why\":[\"a\",null]}}");
    assert_string_equal(s.error, "{\"code\":7,\"why\":[\"a\",null]}");
    s = line(&a, "{\"status\":\"error\",\"error\":42}");
    assert_string_equal(s.error, "42");
    assert_null(line(&a, "{\"status\":\"error\",\"error\":null}").error);
    s = line(&a, "{\"version\":1,\"status\":\"complete\",\"result\":{\"a\":1}}");
    assert_int_equal(s.status, LINE_COMPLETE);
    assert_true(json_is(s.result, JSON_OBJECT));
    arena_release(&a);
}

static void
a_line_written_by_a_person_may_omit_members(void **state)
{
    struct arena a = { 0 };
    struct status_line s = line(&a, "{\"status\":\"complete\",\"result\":null,\"extra\":[]}");

    (void)state;
    assert_int_equal(s.status, LINE_COMPLETE);
    assert_null(s.result);
    assert_null(s.message);
    assert_null(s.error);
    arena_release(&a);
}

static void
other_shapes_are_unknown(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "1",
        "{\"status\":\"done\"}",
        "{\"status\":1}",
        "{\"version\":2,\"status\":\"ok\"}",
        "{\"version\":\"1\",\"status\":\"ok\"}",
        "{\"version\":1,\"status\":\"OK\"}",
        "{\"version\":1,\"status\":\"ok\\u0000\"}",
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(line(&a, texts[i]).status, LINE_UNKNOWN);
    assert_int_equal(status_line_read(&a, NULL).status, LINE_UNKNOWN);
    arena_release(&a);
}

static void
names_that_leave_the_directory_are_refused(void **state)
{
    static const char *const bad[] = { "", ".", "../x", "a/b", ".hidden" };
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS_WITH(status_line_append(&(struct status_file){ here(), bad[i], "phase", NULL },
                                            LINE_OK, NULL, NULL, NULL, &e),
                         ST_INVALID, &e, "bad name");
    assert_int_equal(count_files("."), 0);
}

static void
a_line_too_long_says_to_use_a_file(void **state)
{
    struct err e;
    char *text = malloc(LOG_LINE_MAX + 1);

    (void)state;
    memset(text, 'a', LOG_LINE_MAX);
    text[LOG_LINE_MAX] = '\0';
    CHECK_FAILS_WITH(status_line_append(&(struct status_file){ here(), "p", "phase", NULL },
                                        LINE_PROGRESS, text, NULL, NULL, &e),
                     ST_INVALID, &e, "into a file");
    free(text);
    assert_int_equal(count_files("."), 0);
}

static void
an_owed_ack_is_written_with_the_next_line(void **state)
{
    struct err e;

    (void)state;
    fake_clock(NOW);
    fault_count_from_here();
    CHECK_OK(status_line_append_acked(&(struct status_file){ here(), "dev", "phase", NULL },
                                      NOW - 5000000, LINE_COMPLETE, NULL, NULL, NULL, &e),
             &e);
    assert_int_equal(fault_count("write"), 1);
    CHECK_FILE("dev.jsonl", "{\"ts\":\"2026-05-29T06:04:14.217Z\",\"version\":1,"
                            "\"type\":\"phase\",\"status\":\"ok\"}\n" TS
                            "\"type\":\"phase\",\"status\":\"complete\"}\n");
}

/* The orchestrator need not read an ack at once: it comes as a new file, or as a line when the
 * file exists. */
static void
an_ack_does_not_wake_a_watch_for_writes(void **state)
{
    struct watch w;
    struct err e;

    (void)state;
    fake_clock(NOW);
    make_dirs("signals");
    int dir = open("signals", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(watch_open_writes(&w, "signals", &e), &e);
    CHECK_OK(status_line_ack(&(struct status_file){ dir, "dev", "phase", NULL }, here(), NOW, &e),
             &e);
    assert_false(is_readable(w.fd, 0));
    assert_int_equal(file_mode("signals/dev.jsonl"), 0600);
    assert_int_equal(count_files("signals"), 1);
    CHECK_OK(status_line_append(&(struct status_file){ dir, "dev", "phase", NULL }, LINE_COMPLETE,
                                NULL, NULL, NULL, &e),
             &e);
    assert_true(is_readable(w.fd, 0));
    CHECK_OK(status_line_ack(&(struct status_file){ dir, "dev", "phase", NULL }, here(), NOW, &e),
             &e);
    CHECK_OK(status_line_ack(&(struct status_file){ dir, "other", "phase", NULL }, -1, NOW, &e),
             &e);
#define ACK TS "\"type\":\"phase\",\"status\":\"ok\"}\n"
    CHECK_FILE("signals/dev.jsonl", ACK TS "\"type\":\"phase\",\"status\":\"complete\"}\n" ACK);
    CHECK_FILE("signals/other.jsonl", ACK);
    watch_close(&w);
    close(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_look_like_the_documented_ones),
        CASE(a_line_has_the_attempt_id_of_its_file),
        CASE(a_torn_line_is_sealed_before_the_next),
        CASE(every_status_is_read),
        CASE(a_line_written_by_a_person_may_omit_members),
        CASE(other_shapes_are_unknown),
        CASE(names_that_leave_the_directory_are_refused),
        CASE(a_line_too_long_says_to_use_a_file),
        CASE(an_owed_ack_is_written_with_the_next_line),
        CASE(an_ack_does_not_wake_a_watch_for_writes),
    };
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
