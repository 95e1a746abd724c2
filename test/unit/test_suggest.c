/* Tests base/suggest: it suggests the word that was probably meant, or none. */
#include "test.h"

#include "base/suggest.h"

static const char *const words[] = { "task",     "done", "review", "plan-review",
                                     "escalate", "post", NULL };

static const char *
nearest(const char *word)
{
    struct suggest n = { .word = word };

    for (const char *const *w = words; *w; w++)
        suggest_try(&n, *w);
    return n.best ? n.best : "nothing";
}

static void
a_letter_too_many_too_few_or_wrong_is_forgiven(void **state)
{
    (void)state;
    assert_string_equal(nearest("dones"), "done");
    assert_string_equal(nearest("don"), "done");
    assert_string_equal(nearest("dome"), "done");
    assert_string_equal(nearest("escallate"), "escalate");
}

static void
two_swapped_letters_count_as_one_error(void **state)
{
    (void)state;
    assert_string_equal(nearest("tsak"), "task");
    assert_string_equal(nearest("opst"), "post");

    struct suggest near = { .word = "rfom" };
    suggest_try(&near, "room");
    suggest_try(&near, "from");
    assert_string_equal(near.best, "from");
}

static void
the_beginning_of_a_word_is_enough(void **state)
{
    (void)state;
    assert_string_equal(nearest("esc"), "escalate");
    assert_string_equal(nearest("pl"), "plan-review");
}

static void
of_several_that_begin_with_it_the_first_wins(void **state)
{
    struct suggest near = { .word = "claude" };

    (void)state;
    suggest_try(&near, "claude-code");
    suggest_try(&near, "claude-api");
    assert_string_equal(near.best, "claude-code");
}

static void
a_known_word_with_another_behind_it_is_that_word(void **state)
{
    (void)state;
    assert_string_equal(nearest("task-agent"), "task");
    assert_string_equal(nearest("review-cli"), "review");
}

static void
the_closest_of_several_wins(void **state)
{
    (void)state;
    assert_string_equal(nearest("revew"), "review");
    assert_string_equal(nearest("plan-revew"), "plan-review");
}

static void
a_word_unlike_any_other_has_no_suggestion(void **state)
{
    (void)state;
    assert_string_equal(nearest("zzzzzz"), "nothing");
    assert_string_equal(nearest("x"), "nothing");
    assert_string_equal(nearest(""), "nothing");
}

static void
words_of_any_length_are_handled(void **state)
{
    char word[200];

    (void)state;
    for (size_t n = 0; n < sizeof word; n++) {
        memset(word, 'd', n);
        word[n] = '\0';
        struct suggest near = { .word = word };
        suggest_try(&near, "done");
        suggest_try(&near, word);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_letter_too_many_too_few_or_wrong_is_forgiven),
        CASE(two_swapped_letters_count_as_one_error),
        CASE(the_beginning_of_a_word_is_enough),
        CASE(of_several_that_begin_with_it_the_first_wins),
        CASE(a_known_word_with_another_behind_it_is_that_word),
        CASE(the_closest_of_several_wins),
        CASE(a_word_unlike_any_other_has_no_suggestion),
        CASE(words_of_any_length_are_handled),
    };

    return cmocka_run_group_tests_name("near", tests, NULL, NULL);
}
