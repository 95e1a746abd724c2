/* Tests room/review_verdict: where a verdict is found, and what is none. */
#include "test.h"

#include "room/review_verdict.h"

static const char *
verdict(const char *text)
{
    static const char *const words[] = { "PASS", "FAIL", "ESCALATE" };
    size_t i = review_verdict(text, strlen(text), words, 3);

    return i == SIZE_MAX ? "none" : words[i];
}

static void
a_line_that_begins_with_verdict_wins(void **state)
{
    (void)state;
    assert_string_equal(verdict("PASS\nmore\nVERDICT: FAIL\n"), "FAIL");
    assert_string_equal(verdict("see VERDICT: PASS\nVERDICT: FAIL\n"), "FAIL");
    assert_string_equal(verdict("  ## **VERDICT: PASS**"), "PASS");
    assert_string_equal(verdict("verdict: passed, all of it"), "PASS");
    assert_string_equal(verdict("VERDICT: **ESCALATE**"), "ESCALATE");
}

static void
the_last_of_several_is_the_verdict(void **state)
{
    (void)state;
    assert_string_equal(verdict("VERDICT: PASS\nno, wait\nVERDICT: FAIL"), "FAIL");
}

static void
verdict_in_a_line_counts_before_a_bare_word(void **state)
{
    (void)state;
    assert_string_equal(verdict("PASS\nSo I say VERDICT: FAIL."), "FAIL");
}

static void
a_bare_word_counts_in_the_first_20_lines(void **state)
{
    char late[200] = "";

    (void)state;
    assert_string_equal(verdict("fine\n**PASS**\n"), "PASS");
    for (int i = 0; i < 20; i++)
        strcat(late, "line\n");
    strcat(late, "FAIL\n");
    assert_string_equal(verdict(late), "none");
    assert_string_equal(verdict("All tests PASS here\n"), "none");
}

static void
a_copied_template_or_silence_is_none(void **state)
{
    (void)state;
    assert_string_equal(verdict(""), "none");
    assert_string_equal(verdict("VERDICT: PASS|FAIL"), "none");
    assert_string_equal(verdict("VERDICT: perhaps"), "none");
    assert_string_equal(verdict("VERDICT:"), "none");
    assert_string_equal(verdict("VERDICT: PASS|FAIL\nVERDICT: PASS"), "PASS");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_line_that_begins_with_verdict_wins),
        CASE(the_last_of_several_is_the_verdict),
        CASE(verdict_in_a_line_counts_before_a_bare_word),
        CASE(a_bare_word_counts_in_the_first_20_lines),
        CASE(a_copied_template_or_silence_is_none),
    };

    return cmocka_run_group_tests_name("review_verdict", tests, NULL, NULL);
}
