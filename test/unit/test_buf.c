/* Tests base/buf: text that grows up to its limit, and not a byte further. */
#include "test.h"

static void
a_zeroed_buf_is_empty_and_can_be_released(void **state)
{
    struct buf b = { 0 };

    (void)state;
    assert_int_equal(b.len, 0);
    assert_false(buf_failed(&b));
    assert_int_equal(buf_status(&b, "it", NULL), ST_OK);
    buf_release(&b);
    buf_release(&b);
}

static void
text_is_nul_ended_after_every_call(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_adds(&b, "one");
    assert_string_equal(b.p, "one");
    buf_addc(&b, ' ');
    buf_addf(&b, "%d", 2);
    assert_string_equal(b.p, "one 2");
    buf_add(&b, "\0x", 2);
    assert_int_equal(b.len, 7);
    assert_int_equal(b.p[7], '\0');
    buf_cut(&b, 3);
    assert_string_equal(b.p, "one");
    buf_release(&b);
}

static void
adding_zero_bytes_makes_an_empty_text(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_add(&b, NULL, 0);
    assert_non_null(b.p);
    assert_string_equal(b.p, "");
    buf_release(&b);
}

static void
grows_through_many_sizes_without_losing_a_byte(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_addc(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 100000);
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.p[i], 'a' + i % 26);
    buf_release(&b);
}

static void
the_ceiling_itself_still_fits(void **state)
{
    struct buf b = BUF_MAX(10);

    (void)state;
    buf_adds(&b, "0123456789");
    assert_false(buf_failed(&b));
    assert_int_equal(b.len, 10);
    buf_release(&b);
}

static void
one_byte_over_the_ceiling_fails(void **state)
{
    struct buf b = BUF_MAX(10);

    (void)state;
    buf_adds(&b, "0123456789a");
    assert_true(b.is_over);
    buf_release(&b);
}

/* The first piece allocates more than the limit; the second must not use it. */
static void
the_ceiling_holds_although_memory_was_allocated(void **state)
{
    struct buf b = BUF_MAX(10);

    (void)state;
    buf_adds(&b, "01234");
    buf_adds(&b, "56789a");
    assert_true(b.is_over);
    assert_string_equal(b.p, "01234");
    buf_release(&b);
}

static void
the_ceiling_holds_byte_by_byte_at_any_size(void **state)
{
    static const size_t sizes[] = { 1, 2, 126, 127, 128, 129, 255, 256, 257, 4095, 4096, 5000 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct buf b = BUF_MAX(sizes[i]);
        for (size_t n = 0; n < sizes[i]; n++)
            buf_addc(&b, 'x');
        assert_false(buf_failed(&b));
        assert_int_equal(b.len, sizes[i]);
        buf_addc(&b, 'x');
        assert_true(b.is_over);
        assert_int_equal(b.len, sizes[i]);
        buf_release(&b);
    }
}

static void
the_ceiling_holds_after_a_reset(void **state)
{
    struct buf b = BUF_MAX(200);

    (void)state;
    for (int round = 0; round < 3; round++) {
        buf_addf(&b, "%200s", "");
        assert_false(buf_failed(&b));
        buf_addc(&b, 'x');
        assert_true(b.is_over);
        buf_reset(&b);
        assert_false(buf_failed(&b));
        assert_int_equal(b.len, 0);
    }
    buf_release(&b);
}

static void
after_a_failure_nothing_more_is_added(void **state)
{
    struct buf b = BUF_MAX(4);

    (void)state;
    buf_adds(&b, "ab");
    buf_adds(&b, "too long");
    buf_adds(&b, "c");
    buf_addc(&b, 'd');
    buf_addf(&b, "%d", 5);
    assert_string_equal(b.p, "ab");
    assert_null(buf_room(&b, 1));
    buf_release(&b);
}

static void
the_first_failure_is_the_one_reported(void **state)
{
    struct buf b = BUF_MAX(4);
    struct err e;

    (void)state;
    buf_adds(&b, "too long");
    b.max = 0; /* even when there is room again */
    buf_adds(&b, "x");
    b.max = 4;
    CHECK_FAILS(buf_status(&b, "the list", &e), ST_INVALID, &e, "the list is larger than 4 bytes");
    buf_release(&b);
}

static void
a_starved_buf_says_out_of_memory(void **state)
{
    struct buf b = { .is_starved = true };
    struct err e;

    (void)state;
    CHECK_FAILS(buf_status(&b, "the list", &e), ST_IO, &e, "out of memory for the list");
}

static void
the_default_ceiling_is_named_in_the_sentence(void **state)
{
    struct buf b = { .is_over = true };
    struct err e;

    (void)state;
    CHECK_FAILS(buf_status(&b, "the batch", &e), ST_INVALID, &e,
                "the batch is larger than 67108864 bytes");
}

static void
the_default_ceiling_is_64_MiB(void **state)
{
    struct buf b = { 0 };

    (void)state;
    assert_non_null(buf_room(&b, BUF_DEFAULT_MAX));
    assert_null(buf_room(&b, BUF_DEFAULT_MAX + 1));
    assert_true(b.is_over);
    buf_release(&b);
}

static void
dropping_removes_from_the_front(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_drop(&b, 0);
    buf_adds(&b, "head and tail");
    buf_drop(&b, 9);
    assert_string_equal(b.p, "tail");
    buf_drop(&b, 4);
    assert_string_equal(b.p, "");
    buf_release(&b);
}

static void
releasing_keeps_the_ceiling(void **state)
{
    struct buf b = BUF_MAX(3);

    (void)state;
    buf_adds(&b, "abc");
    buf_release(&b);
    buf_adds(&b, "abcd");
    assert_true(b.is_over);
    buf_release(&b);
}

static void
room_is_filled_and_counted(void **state)
{
    struct buf b = { 0 };

    (void)state;
    char *to = buf_room(&b, 5);
    assert_non_null(to);
    memcpy(to, "hello", 5);
    buf_grew(&b, 5);
    assert_string_equal(b.p, "hello");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_zeroed_buf_is_empty_and_can_be_released),
        CASE(text_is_nul_ended_after_every_call),
        CASE(adding_zero_bytes_makes_an_empty_text),
        CASE(grows_through_many_sizes_without_losing_a_byte),
        CASE(the_ceiling_itself_still_fits),
        CASE(one_byte_over_the_ceiling_fails),
        CASE(the_ceiling_holds_although_memory_was_allocated),
        CASE(the_ceiling_holds_byte_by_byte_at_any_size),
        CASE(the_ceiling_holds_after_a_reset),
        CASE(after_a_failure_nothing_more_is_added),
        CASE(the_first_failure_is_the_one_reported),
        CASE(a_starved_buf_says_out_of_memory),
        CASE(the_default_ceiling_is_named_in_the_sentence),
        CASE(the_default_ceiling_is_64_MiB),
        CASE(dropping_removes_from_the_front),
        CASE(releasing_keeps_the_ceiling),
        CASE(room_is_filled_and_counted),
    };

    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
