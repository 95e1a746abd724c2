/* What must be true of hub/model/scope: words and bits of a key's scopes agree. */
#include "hub/model/scope.h"

#include "hub/hub.h"
#include "test.h"

static void
every_word_has_its_bit_and_comes_back(void **state)
{
    struct arena a = { 0 };
    struct buf text = { 0 };

    (void)state;
    for (unsigned bits = 0; bits < 2 * SCOPE_REVIEW; bits++)
        assert_int_equal(scope_bits(scope_list(&a, bits)), bits);
    json_write(&text, scope_list(&a, SCOPE_DEFAULT));
    assert_string_equal(text.p,
                        "[\"emit\",\"claim\",\"ack\",\"inbox\",\"stream\",\"teams\",\"review\"]");
    buf_release(&text);
    arena_release(&a);
}

/* The index stores them. */
static void
the_bits_stay_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(SCOPE_EMIT, 1);
    assert_int_equal(SCOPE_CLAIM, 2);
    assert_int_equal(SCOPE_ACK, 4);
    assert_int_equal(SCOPE_INBOX, 8);
    assert_int_equal(SCOPE_STREAM, 16);
    assert_int_equal(SCOPE_ADMIN, 32);
    assert_int_equal(SCOPE_AUDIT, 64);
    assert_int_equal(SCOPE_TEAMS, 128);
    assert_int_equal(SCOPE_REVIEW, 256);
    assert_int_equal(SCOPE_DEFAULT, 415);
}

static void
unknown_words_count_nothing(void **state)
{
    static const char text[] = "[\"emit\",\"fly\",1,null,\"admin\"]";
    struct arena a = { 0 };
    struct json *words = NULL;

    (void)state;
    assert_true(json_parse(&a, text, strlen(text), &words, NULL));
    assert_int_equal(scope_bits(words), SCOPE_EMIT | SCOPE_ADMIN);
    assert_int_equal(scope_bits(NULL), SCOPE_NONE);
    arena_release(&a);
}

static void
the_operation_that_makes_keys_takes_these_words(void **state)
{
    const char *words = NULL;

    (void)state;
    for (const struct hub_arg *arg = hub_op_args(HUB_KEY_CREATE); arg->name; arg++)
        if (strcmp(arg->name, "scopes") == 0)
            words = arg->words;
    assert_string_equal(words, "emit claim ack inbox stream admin audit teams review");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_word_has_its_bit_and_comes_back),
        CASE(the_bits_stay_what_they_are),
        CASE(unknown_words_count_nothing),
        CASE(the_operation_that_makes_keys_takes_these_words),
    };

    return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
