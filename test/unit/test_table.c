/* Tests base/table: columns that line up, in any script. */
#include "test.h"

#include "base/table.h"

static struct table t;
static struct buf out;

static int
enter(void **state)
{
    t = (struct table){ .columns = 3 };
    out = (struct buf){ 0 };
    return case_enter(state);
}

static int
leave(void **state)
{
    table_release(&t);
    buf_release(&out);
    return case_leave(state);
}
#define TABLE_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
row(const char *a, const char *b, const char *c)
{
    table_cell(&t, a, strlen(a));
    table_cell(&t, b, strlen(b));
    table_cell(&t, c, strlen(c));
}

static void
columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    row("ROOM", "TYPE", "BODY");
    row("a", "plan-review", "text");
    row("room-001", "done", "");
    table_write(&t, &out, 0, false);
    assert_string_equal(out.p, "ROOM      TYPE         BODY\n"
                               "a         plan-review  text\n"
                               "room-001  done         \n");
}

static void
an_empty_table_prints_nothing(void **state)
{
    (void)state;
    table_write(&t, &out, 80, true);
    assert_int_equal(out.len, 0);
}

static void
wide_characters_take_two_columns(void **state)
{
    (void)state;
    assert_int_equal(table_text_width("你好", strlen("你好")), 4);
    assert_int_equal(table_text_width("abc", 3), 3);
    row("A", "B", "C");
    row("你好", "x", "y");
    table_write(&t, &out, 0, false);
    assert_string_equal(out.p, "A     B  C\n"
                               "你好  x  y\n");
}

static void
combining_characters_take_none(void **state)
{
    (void)state;
    assert_int_equal(table_text_width("e\xCC\x81", 3), 1); /* e and an acute accent */
    row("NAME", "B", "C");
    row("e\xCC\x81", "x", "y");
    table_write(&t, &out, 0, false);
    assert_string_equal(out.p, "NAME  B  C\n"
                               "e\xCC\x81     x  y\n");
}

static void
a_row_that_does_not_fit_is_truncated_with_an_ellipsis(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("x", "y", "0123456789abcdef");
    table_write(&t, &out, 16, false); /* 6 for the first two, 10 for the last */
    assert_string_equal(out.p, "A  B  C\n"
                               "x  y  012345678…\n");
}

static void
a_row_that_just_fits_is_not_truncated(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("x", "y", "0123456789");
    table_write(&t, &out, 16, false);
    assert_string_equal(out.p, "A  B  C\n"
                               "x  y  0123456789\n");
}

static void
truncation_never_splits_a_wide_character(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("x", "y", "a你好你好你好");
    table_write(&t, &out, 16, false); /* 10 columns: a, four wide ones, the ellipsis */
    assert_string_equal(out.p, "A  B  C\n"
                               "x  y  a你好你好…\n");
    buf_reset(&out);
    table_write(&t, &out, 15, false); /* 9: the fourth would end in the ellipsis */
    assert_string_equal(out.p, "A  B  C\n"
                               "x  y  a你好你…\n");
}

static void
rows_are_not_truncated_for_a_very_narrow_terminal(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("x", "y", "0123456789abcdef");
    table_write(&t, &out, 10, false); /* fewer than nine columns are left: better wrapped */
    assert_string_equal(out.p, "A  B  C\n"
                               "x  y  0123456789abcdef\n");
}

static void
columns_that_cannot_all_fit_are_as_narrow_as_they_may_be(void **state)
{
    (void)state;
    row("a-first-column-stays", "a-second-one", "a-third-one");
    table_write(&t, &out, 30, false); /* 20 + 2 + 6 + 2 + 6 */
    assert_string_equal(out.p, "a-first-column-stays  a-sec…  a-thi…\n");
}

static void
cells_are_escaped_and_on_one_line(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("\x1b[2J", "a\nb", "\xFF");
    table_write(&t, &out, 0, false);
    assert_string_equal(out.p, "A        B    C\n"
                               "\\x1b[2J  a b  \\xff\n");
}

static void
colour_is_on_the_head_only(void **state)
{
    (void)state;
    row("A", "B", "C");
    row("x", "y", "z");
    table_write(&t, &out, 0, true);
    assert_string_equal(out.p, "\033[1mA  B  C\033[0m\n"
                               "x  y  z\n");
}

static void
a_table_of_one_column_is_a_list(void **state)
{
    (void)state;
    t.columns = 1;
    table_cell(&t, "HEAD", 4);
    table_cell(&t, "", 0);
    table_cell(&t, "x", 1);
    table_write(&t, &out, 20, true);
    assert_string_equal(out.p, "\033[1mHEAD\033[0m\n\nx\n");
}

static void
a_table_that_could_not_be_built_fails_its_output(void **state)
{
    struct err e;

    (void)state;
    t.text.max = 4;
    row("too", "large", "for it");
    table_write(&t, &out, 0, false);
    assert_int_equal(buf_status(&out, "the table", &e), ST_INVALID);
    assert_int_equal(out.len, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_CASE(columns_are_as_wide_as_their_widest_cell),
        TABLE_CASE(an_empty_table_prints_nothing),
        TABLE_CASE(wide_characters_take_two_columns),
        TABLE_CASE(combining_characters_take_none),
        TABLE_CASE(a_row_that_does_not_fit_is_truncated_with_an_ellipsis),
        TABLE_CASE(a_row_that_just_fits_is_not_truncated),
        TABLE_CASE(truncation_never_splits_a_wide_character),
        TABLE_CASE(rows_are_not_truncated_for_a_very_narrow_terminal),
        TABLE_CASE(columns_that_cannot_all_fit_are_as_narrow_as_they_may_be),
        TABLE_CASE(cells_are_escaped_and_on_one_line),
        TABLE_CASE(colour_is_on_the_head_only),
        TABLE_CASE(a_table_of_one_column_is_a_list),
        TABLE_CASE(a_table_that_could_not_be_built_fails_its_output),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
