/* Tests the channel calls of cliq.h. */
#include "cliq.h"
#include "test.h"

#include <string.h>

static void
a_success_clears_the_text_of_the_failure(void **state)
{
    cliq_error err = CLIQ_ERROR_INIT;
    cliq_channel_options o = CLIQ_CHANNEL_OPTIONS_INIT;
    cliq_message m = CLIQ_MESSAGE_INIT;
    cliq_channel *c = NULL;

    (void)state;
    setenv("WARROOMS_DIR", "rooms", 1);
    assert_int_equal(cliq_channel_open(&c, &o, &err), CLIQ_INVALID);
    assert_string_not_equal(err.text, "");
    o.room = "room-001";
    o.from_start = 1;
    assert_int_equal(cliq_channel_open(&c, &o, &err), CLIQ_OK);
    assert_string_equal(err.text, "");
    assert_int_equal(cliq_channel_next(c, &m, &err), CLIQ_NOT_FOUND);
    assert_string_not_equal(err.text, "");
    m.from = "engineer", m.to = "qa", m.type = "done", m.ref = "EPIC-001", m.body = "b";
    assert_int_equal(cliq_channel_post(c, &m, &err), CLIQ_OK);
    assert_string_equal(err.text, "");
    m.type = "no such type";
    assert_int_equal(cliq_channel_post(c, &m, &err), CLIQ_INVALID);
    assert_int_equal(cliq_channel_next(c, &m, &err), CLIQ_OK);
    assert_string_equal(err.text, "");
    cliq_channel_close(c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_success_clears_the_text_of_the_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
