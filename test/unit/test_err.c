/* Tests base/err: one sentence, one status, and the documented exit codes. */
#include "test.h"

#include "base/utf8.h"

#include <errno.h>

static void
the_exit_codes_are_those_of_the_contract(void **state)
{
    (void)state;
    assert_int_equal(status_exit(ST_OK), 0);
    assert_int_equal(status_exit(ST_FAILED), 1);
    assert_int_equal(status_exit(ST_INVALID), 2);
    assert_int_equal(status_exit(ST_ESCALATED), 3);
    assert_int_equal(status_exit(ST_NOT_FOUND), 4);
    assert_int_equal(status_exit(ST_CONFLICT), 5);
    assert_int_equal(status_exit(ST_TIMEOUT), 6);
    assert_int_equal(status_exit(ST_REFUSED), 7);
    assert_int_equal(status_exit(ST_IO), 74);
    assert_int_equal(status_exit(ST_CANCELLED), 130);
    assert_int_equal(ST_COUNT, 10);
}

static void
no_two_outcomes_share_an_exit_code_or_an_rpc_code(void **state)
{
    (void)state;
    for (enum status a = 0; a < ST_COUNT; a++)
        for (enum status b = 0; b < a; b++) {
            assert_int_not_equal(status_exit(a), status_exit(b));
            assert_int_not_equal(status_rpc(a), status_rpc(b));
        }
}

static void
every_outcome_has_a_name_words_and_a_http_status(void **state)
{
    (void)state;
    for (enum status s = 0; s < ST_COUNT; s++) {
        assert_true(strlen(status_name(s)) > 0);
        assert_true(strlen(status_text(s)) > 0);
        assert_in_range(status_http(s), 200, 599);
    }
    assert_string_equal(status_name(ST_NOT_FOUND), "NOT_FOUND");
    assert_int_equal(status_http(ST_IO), 503);
    assert_int_equal(status_http(ST_NOT_FOUND), 404);
    assert_int_equal(status_http(ST_CONFLICT), 409);
    assert_int_equal(status_rpc(ST_INVALID), -32602);
}

static void
setting_returns_the_status_that_was_given(void **state)
{
    struct err e;

    (void)state;
    CHECK_FAILS(err_set(&e, ST_CONFLICT, "%s is taken by %d", "room", 7), ST_CONFLICT, &e,
                "room is taken by 7");
}

static void
an_err_may_be_NULL(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ST_NOT_FOUND, "no %s", "room"), ST_NOT_FOUND);
    errno = ENOSPC;
    assert_int_equal(err_sys(NULL, "write %s", "it"), ST_IO);
    assert_int_equal(errno, ENOSPC);
}

static void
the_status_is_derived_from_errno(void **state)
{
    static const struct {
        int error;
        enum status s;
    } cases[] = { { EACCES, ST_REFUSED },  { EPERM, ST_REFUSED }, { EISDIR, ST_INVALID },
                  { ENOTDIR, ST_INVALID }, { ELOOP, ST_INVALID }, { ENAMETOOLONG, ST_INVALID },
                  { EIO, ST_IO },          { ENOSPC, ST_IO },     { EROFS, ST_IO },
                  { EMFILE, ST_IO },       { ENOENT, ST_IO },     { 0, ST_IO } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        errno = cases[i].error;
        assert_int_equal(err_sys(NULL, "open it"), cases[i].s);
    }
}

static void
a_failed_call_is_reported_with_the_text_of_errno(void **state)
{
    struct err e;

    (void)state;
    errno = ENOSPC;
    CHECK_FAILS(err_sys(&e, "append to %s", "log"), ST_IO, &e,
                "append to log: No space left on device");
    assert_int_equal(errno, ENOSPC);
}

static void
a_sentence_that_just_fits_is_not_truncated(void **state)
{
    struct err e;
    char text[sizeof e.text];

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, ST_FAILED, "%s", text);
    assert_string_equal(e.text, text);
}

static void
a_longer_sentence_ends_in_dots(void **state)
{
    struct err e;
    char text[sizeof e.text + 1];

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, ST_FAILED, "%s", text);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_string_equal(e.text + sizeof e.text - 5, "a...");
}

/* Characters of 2, 3 and 4 bytes, shifted so that the limit falls on each of their bytes. */
static void
a_long_sentence_is_truncated_between_characters(void **state)
{
    static const char *const chars[] = { "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80" };

    (void)state;
    for (size_t c = 0; c < 3; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            struct err e;
            struct buf b = { 0 };
            for (size_t i = 0; i < shift; i++)
                buf_addc(&b, 'x');
            while (b.len < 2000)
                buf_adds(&b, chars[c]);
            err_set(&e, ST_FAILED, "%s", b.p);
            size_t n = strlen(e.text);
            assert_int_equal(utf8_valid_len(e.text, n), n);
            assert_string_equal(e.text + n - 3, "...");
            assert_true(n > sizeof e.text - 8);
            buf_release(&b);
        }
}

static void
a_long_sentence_about_a_failed_call_is_truncated_between_characters(void **state)
{
    (void)state;
    for (size_t len = 980; len < 1030; len++) {
        struct err e;
        struct buf b = { 0 };
        while (b.len < len)
            buf_adds(&b, "\xE2\x82\xAC");
        errno = EIO;
        err_sys(&e, "%s", b.p);
        size_t n = strlen(e.text);
        assert_true(n < sizeof e.text);
        assert_int_equal(utf8_valid_len(e.text, n), n);
        assert_true(strstr(e.text, "...") || strstr(e.text, ": Input/output error"));
        buf_release(&b);
    }
}

static void
a_failed_allocation_is_told_in_one_sentence(void **state)
{
    (void)state;
    struct err e;
    assert_int_equal(err_nomem(&e), ST_IO);
    assert_string_equal(e.text, "out of memory");
    assert_int_equal(err_nomem(NULL), ST_IO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_exit_codes_are_those_of_the_contract),
        CASE(no_two_outcomes_share_an_exit_code_or_an_rpc_code),
        CASE(every_outcome_has_a_name_words_and_a_http_status),
        CASE(setting_returns_the_status_that_was_given),
        CASE(an_err_may_be_NULL),
        CASE(the_status_is_derived_from_errno),
        CASE(a_failed_call_is_reported_with_the_text_of_errno),
        CASE(a_sentence_that_just_fits_is_not_truncated),
        CASE(a_longer_sentence_ends_in_dots),
        CASE(a_long_sentence_is_truncated_between_characters),
        CASE(a_long_sentence_about_a_failed_call_is_truncated_between_characters),
        CASE(a_failed_allocation_is_told_in_one_sentence),
    };

    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
