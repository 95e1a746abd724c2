/* Tests base/opt: a command line is parsed, or the error says what is wrong with it. */
#include "test.h"

#include "base/opt.h"

static const struct opt table[] = {
    { .name = "room", .kind = OPT_TEXT, .value = "ROOM" },
    { .name = "type", .kind = OPT_TEXT, .value = "TYPE", .is_many = true },
    { .name = "last", .kind = OPT_NUMBER, .value = "N" },
    { .name = "timeout", .kind = OPT_TIME, .value = "TIME" },
    { .name = "json", .kind = OPT_FLAG },
    { 0 },
};

static const struct opt strict[] = {
    { .name = "from", .kind = OPT_TEXT, .value = "ROLE", .is_required = true },
    { .name = "json", .kind = OPT_FLAG },
    { 0 },
};

static const struct opt lettered[] = {
    { .name = "message", .kind = OPT_TEXT, .value = "TEXT", .letter = 'm' },
    { .name = "last", .kind = OPT_NUMBER, .value = "N", .letter = 'n' },
    { .name = "follow", .kind = OPT_FLAG, .letter = 'f' },
    { .name = "quiet", .kind = OPT_FLAG },
    { 0 },
};

static struct args a;
static struct err e;

/* Parses the words up to NULL, at most nine. */
static enum status
parse(const struct opt *opts, size_t min, size_t max, ...)
{
    static char *argv[16];
    int argc = 0;
    va_list ap;

    argv[argc++] = (char *)"cmd";
    va_start(ap, max);
    while ((argv[argc] = va_arg(ap, char *)))
        argc++;
    va_end(ap);
    e.text[0] = '\0';
    return args_parse(&a, opts, argc, argv, min, max, &e);
}

#define PARSE(...) parse(table, 0, 9, __VA_ARGS__, NULL)
#define REFUSED(sentence, ...)                                                                     \
    do {                                                                                           \
        CHECK_FAILS(PARSE(__VA_ARGS__), ST_INVALID, &e, sentence);                                 \
        args_release(&a);                                                                          \
    } while (0)

static void
values_follow_after_a_space_or_an_equals_sign(void **state)
{
    (void)state;
    CHECK_OK(PARSE("--room", "r1", "--last=5"), &e);
    assert_string_equal(args_text(&a, "room"), "r1");
    assert_int_equal(args_number(&a, "last", 0), 5);
    args_release(&a);
}

static void
an_empty_value_is_a_value(void **state)
{
    (void)state;
    CHECK_OK(PARSE("--room="), &e);
    assert_true(args_has(&a, "room"));
    assert_string_equal(args_text(&a, "room"), "");
    args_release(&a);
}

static void
an_omitted_option_has_its_default(void **state)
{
    size_t n;

    (void)state;
    CHECK_OK(parse(table, 0, 0, NULL), &e);
    assert_false(args_has(&a, "json"));
    assert_null(args_text(&a, "room"));
    assert_int_equal(args_number(&a, "last", 7), 7);
    assert_int_equal(args_ms(&a, "timeout", -1), -1);
    args_many(&a, "type", &n);
    assert_int_equal(n, 0);
    assert_int_equal(a.n_words, 0);
    args_release(&a);
}

static void
a_repeatable_option_keeps_all_values_in_order(void **state)
{
    size_t n;

    (void)state;
    CHECK_OK(PARSE("--type", "done", "--type=fail", "--type", "done"), &e);
    const char *const *v = args_many(&a, "type", &n);
    assert_int_equal(n, 3);
    assert_string_equal(v[0], "done");
    assert_string_equal(v[1], "fail");
    assert_string_equal(v[2], "done");
    args_release(&a);
}

static void
options_may_follow_words(void **state)
{
    (void)state;
    CHECK_OK(PARSE("one", "--json", "two", "--room", "r", "three"), &e);
    assert_true(args_has(&a, "json"));
    assert_string_equal(args_text(&a, "room"), "r");
    assert_int_equal(a.n_words, 3);
    assert_string_equal(a.words[0], "one");
    assert_string_equal(a.words[1], "two");
    assert_string_equal(a.words[2], "three");
    args_release(&a);
}

static void
everything_after_two_dashes_is_a_word(void **state)
{
    (void)state;
    CHECK_OK(PARSE("one", "--", "--json", "-h", "--"), &e);
    assert_false(args_has(&a, "json"));
    assert_false(a.wants_help);
    assert_int_equal(a.n_words, 4);
    assert_string_equal(a.words[0], "one");
    assert_string_equal(a.words[1], "--json");
    assert_string_equal(a.words[3], "--");
    args_release(&a);
}

static void
a_single_dash_is_a_word_and_a_value(void **state)
{
    (void)state;
    CHECK_OK(PARSE("-", "--room", "-"), &e);
    assert_int_equal(a.n_words, 1);
    assert_string_equal(a.words[0], "-");
    assert_string_equal(args_text(&a, "room"), "-");
    args_release(&a);
}

static void
a_value_may_begin_with_dashes(void **state)
{
    (void)state;
    CHECK_OK(PARSE("--room", "--json", "--type=--x"), &e);
    assert_string_equal(args_text(&a, "room"), "--json");
    assert_false(args_has(&a, "json"));
    args_release(&a);
}

static void
help_wins_over_everything_after_it(void **state)
{
    (void)state;
    CHECK_OK(parse(strict, 1, 1, "--help", "--nonsense", NULL), &e);
    assert_true(a.wants_help);
    args_release(&a);
    CHECK_OK(parse(strict, 1, 1, "-h", NULL), &e);
    assert_true(a.wants_help);
    args_release(&a);
}

static void
an_unknown_option_is_reported_with_a_suggestion(void **state)
{
    (void)state;
    REFUSED("unknown option --rom (did you mean --room?)", "--rom", "x");
    REFUSED("unknown option --jsno (did you mean --json?)", "--jsno");
    REFUSED("unknown option --hlep (did you mean --help?)", "--hlep");
    REFUSED("unknown option --tiemout (did you mean --timeout?)", "--tiemout=5");
}

static void
an_unknown_option_unlike_any_other_has_no_suggestion(void **state)
{
    (void)state;
    REFUSED("unknown option --colour", "--colour");
    REFUSED("unknown option -x", "-x");
    REFUSED("unknown option -x", "-xh");
}

static void
an_unknown_option_after_words_is_the_one_reported(void **state)
{
    (void)state;
    REFUSED("unknown option --colour", "one", "two", "--colour", "three");
}

static void
a_very_long_unknown_option_is_refused(void **state)
{
    char word[500];

    (void)state;
    memset(word, 'x', sizeof word);
    memcpy(word, "--", 2);
    word[sizeof word - 1] = '\0';
    CHECK_FAILS_WITH(PARSE(word), ST_INVALID, &e, "unknown option --xxx");
    args_release(&a);
}

static void
a_missing_value_is_reported_with_its_name(void **state)
{
    (void)state;
    REFUSED("--room needs a value: --room ROOM", "--room");
    REFUSED("--last needs a value: --last N", "--json", "--last");
}

static void
a_value_for_a_flag_is_refused(void **state)
{
    (void)state;
    REFUSED("--json takes no value", "--json=yes");
    REFUSED("--help takes no value", "--help=yes");
}

static void
an_option_given_twice_is_refused(void **state)
{
    (void)state;
    REFUSED("--room was given twice", "--room", "a", "--room", "b");
    REFUSED("--json was given twice", "--json", "--json");
}

static void
a_missing_required_option_is_reported(void **state)
{
    (void)state;
    CHECK_FAILS(parse(strict, 0, 0, "--json", NULL), ST_INVALID, &e, "--from ROLE is missing");
    args_release(&a);
    CHECK_OK(parse(strict, 0, 0, "--from", "x", NULL), &e);
    args_release(&a);
}

static void
a_number_is_whole_and_not_negative(void **state)
{
    (void)state;
    REFUSED("--last needs a whole number, 0 or more, not \"ten\"", "--last", "ten");
    REFUSED("--last needs a whole number, 0 or more, not \"-1\"", "--last", "-1");
    REFUSED("--last needs a whole number, 0 or more, not \"1.5\"", "--last=1.5");
    REFUSED("--last needs a whole number, 0 or more, not \"\"", "--last=");
    REFUSED("--last needs a whole number, 0 or more, not \" 1\"", "--last", " 1");
    REFUSED("--last needs a whole number, 0 or more, not \"+1\"", "--last", "+1");
    REFUSED("--last needs a whole number, 0 or more, not \"0x10\"", "--last", "0x10");
    REFUSED("--last needs a whole number, 0 or more, not \"18446744073709551616\"", "--last",
            "18446744073709551616");
}

static void
the_largest_number_is_accepted(void **state)
{
    (void)state;
    CHECK_OK(PARSE("--last", "18446744073709551615"), &e);
    assert_true(args_number(&a, "last", 0) == UINT64_MAX);
    args_release(&a);
    CHECK_OK(PARSE("--last", "007"), &e);
    assert_int_equal(args_number(&a, "last", 0), 7);
    args_release(&a);
}

static void
times_have_units_and_are_seconds_without(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        { "30", 30000 },    { "0.5", 500 },      { "90s", 90000 },      { "250ms", 250 },
        { "20m", 1200000 }, { "2h", 7200000 },   { "30d", 2592000000 }, { "0", 0 },
        { ".5s", 500 },     { "1.5h", 5400000 }, { "0.0004", 0 },       { "0.0005", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_OK(PARSE("--timeout", good[i].text), &e);
        assert_int_equal(args_ms(&a, "timeout", -1), good[i].ms);
        args_release(&a);
    }
}

static void
an_invalid_time_is_refused(void **state)
{
    static const char *const bad[] = {
        "",   "x",   "5 s", "-1",  "+1", ".",     "1.2.3",
        "5w", "nan", "inf", "0x5", "5S", "1h30m", "99999999999999999999"
    };
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (opt_parse_ms(bad[i], &ms))
            fail_msg("\"%s\" was taken for a time", bad[i]);
    REFUSED("--timeout needs a time like 30, 0.5, 90s, 250ms, 20m or 2h, not \"soon\"", "--timeout",
            "soon");
}

static void
too_many_words_are_reported_by_the_first_extra_one(void **state)
{
    (void)state;
    CHECK_FAILS(parse(table, 0, 1, "one", "two", "three", NULL), ST_INVALID, &e,
                "unexpected argument \"two\"");
    args_release(&a);
}

static void
too_few_words_are_reported(void **state)
{
    (void)state;
    CHECK_FAILS(parse(table, 1, 1, "--json", NULL), ST_INVALID, &e, "an argument is missing");
    args_release(&a);
}

static void
letters_stand_for_their_options(void **state)
{
    (void)state;
    CHECK_OK(parse(lettered, 0, 1, "-m", "hello", "word", "-n5", "-f", NULL), &e);
    assert_string_equal(args_text(&a, "message"), "hello");
    assert_int_equal(args_number(&a, "last", 0), 5);
    assert_true(args_has(&a, "follow"));
    assert_false(args_has(&a, "quiet"));
    assert_int_equal(a.n_words, 1);
    args_release(&a);
    CHECK_OK(parse(lettered, 0, 0, "-fm", "--", NULL), &e);
    assert_true(args_has(&a, "follow"));
    assert_string_equal(args_text(&a, "message"), "--");
    args_release(&a);
}

static void
letters_obey_the_rules_of_their_options(void **state)
{
    (void)state;
    CHECK_FAILS(parse(lettered, 0, 0, "-m", NULL), ST_INVALID, &e, "-m needs a value");
    args_release(&a);
    CHECK_FAILS(parse(lettered, 0, 0, "-m", "a", "--message", "b", NULL), ST_INVALID, &e,
                "--message was given twice");
    args_release(&a);
    CHECK_FAILS(parse(lettered, 0, 0, "-n", "x", NULL), ST_INVALID, &e,
                "--last needs a whole number, 0 or more, not \"x\"");
    args_release(&a);
    CHECK_FAILS(parse(lettered, 0, 0, "-q", NULL), ST_INVALID, &e, "unknown option -q");
    args_release(&a);
}

static void
parsing_again_starts_afresh(void **state)
{
    (void)state;
    assert_int_equal(PARSE("one", "--rom"), ST_INVALID);
    args_release(&a);
    CHECK_OK(PARSE("two", "--json"), &e);
    assert_int_equal(a.n_words, 1);
    assert_string_equal(a.words[0], "two");
    assert_true(args_has(&a, "json"));
    args_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(values_follow_after_a_space_or_an_equals_sign),
        CASE(an_empty_value_is_a_value),
        CASE(an_omitted_option_has_its_default),
        CASE(a_repeatable_option_keeps_all_values_in_order),
        CASE(options_may_follow_words),
        CASE(everything_after_two_dashes_is_a_word),
        CASE(a_single_dash_is_a_word_and_a_value),
        CASE(a_value_may_begin_with_dashes),
        CASE(help_wins_over_everything_after_it),
        CASE(an_unknown_option_is_reported_with_a_suggestion),
        CASE(an_unknown_option_unlike_any_other_has_no_suggestion),
        CASE(an_unknown_option_after_words_is_the_one_reported),
        CASE(a_very_long_unknown_option_is_refused),
        CASE(a_missing_value_is_reported_with_its_name),
        CASE(a_value_for_a_flag_is_refused),
        CASE(an_option_given_twice_is_refused),
        CASE(a_missing_required_option_is_reported),
        CASE(a_number_is_whole_and_not_negative),
        CASE(the_largest_number_is_accepted),
        CASE(times_have_units_and_are_seconds_without),
        CASE(an_invalid_time_is_refused),
        CASE(too_many_words_are_reported_by_the_first_extra_one),
        CASE(too_few_words_are_reported),
        CASE(letters_stand_for_their_options),
        CASE(letters_obey_the_rules_of_their_options),
        CASE(parsing_again_starts_afresh),
    };

    return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
