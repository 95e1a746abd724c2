/* Tests hub/model/signal_id: the form of ids, and that they never repeat. */
#include "hub/model/signal_id.h"

#include "fault.h"
#include "test.h"

static int
by_text(const void *l, const void *r)
{
    return strcmp(l, r);
}

static void
an_id_is_a_prefix_a_letter_and_23_letters_or_digits(void **state)
{
    char id[HUB_ID_SIZE];
    struct err e;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(hub_new_id(id, &e), &e);
        assert_int_equal(strlen(id), 31);
        assert_memory_equal(id, "signal:", 7);
        assert_in_range(id[7], 'a', 'z');
        assert_int_equal(strspn(id + 7, "abcdefghijklmnopqrstuvwxyz0123456789"), 24);
    }
}

static void
ids_do_not_repeat(void **state)
{
    static char ids[10000][HUB_ID_SIZE];
    struct err e;

    (void)state;
    for (int i = 0; i < 10000; i++)
        CHECK_OK(hub_new_id(ids[i], &e), &e);
    qsort(ids, 10000, sizeof *ids, by_text);
    for (int i = 1; i < 10000; i++)
        assert_string_not_equal(ids[i - 1], ids[i]);
}

static void
an_id_encodes_the_time_in_the_whole_alphabet(void **state)
{
    char id[HUB_ID_SIZE];
    struct err e;

    (void)state;
    fake_clock(0);
    fake_pid(1);
    signal_ids_begin();
    fake_random(0);
    CHECK_OK(hub_new_id(id, &e), &e);
    assert_string_equal(id, "signal:c00000000000000000000000");
    fake_pid(2);
    signal_ids_begin();
    fake_random(0xFF);
    CHECK_OK(hub_new_id(id, &e), &e);
    assert_memory_equal(id + 17, "zzzzzzzzzzzzzz", 15);
    sys = &sys_kernel;
}

static void
a_later_id_sorts_after_an_earlier_one(void **state)
{
    char early[HUB_ID_SIZE], late[HUB_ID_SIZE];
    struct err e;

    (void)state;
    fake_clock(1794801237363 * (int64_t)1000000);
    CHECK_OK(hub_new_id(early, &e), &e);
    fake_clock(1794801237364 * (int64_t)1000000);
    CHECK_OK(hub_new_id(late, &e), &e);
    assert_true(strcmp(early, late) < 0);
    sys = &sys_kernel;
}

static void
a_fork_has_random_bytes_of_its_own(void **state)
{
    char ours[HUB_ID_SIZE], theirs[HUB_ID_SIZE];
    struct err e;

    (void)state;
    fake_clock(0);
    fake_pid(1);
    signal_ids_begin();
    fake_random(0);
    CHECK_OK(hub_new_id(ours, &e), &e);
    fake_pid(2);
    signal_ids_begin();
    fake_random(0xFF);
    CHECK_OK(hub_new_id(theirs, &e), &e);
    assert_string_not_equal(ours, theirs);
    sys = &sys_kernel;
}

static ssize_t
no_random(void *to, size_t n, unsigned flags)
{
    (void)to, (void)n, (void)flags;
    errno = ENOSYS;
    return -1;
}

static pid_t
other_pid(void)
{
    return 4711;
}

static void
without_random_bytes_there_is_no_id(void **state)
{
    char id[HUB_ID_SIZE];
    struct err e;

    (void)state;
    struct sys mute = *sys;
    mute.getrandom = no_random;
    mute.getpid = other_pid; /* uses up the buffered bytes */
    sys = &mute;
    signal_ids_begin();
    CHECK_FAILS_WITH(hub_new_id(id, &e), ST_IO, &e, "get random bytes");
    sys = &sys_kernel;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_id_is_a_prefix_a_letter_and_23_letters_or_digits),
        CASE(ids_do_not_repeat),
        CASE(an_id_encodes_the_time_in_the_whole_alphabet),
        CASE(a_later_id_sorts_after_an_earlier_one),
        CASE(a_fork_has_random_bytes_of_its_own),
        CASE(without_random_bytes_there_is_no_id),
    };
    return cmocka_run_group_tests_name("signal_id", tests, NULL, NULL);
}
