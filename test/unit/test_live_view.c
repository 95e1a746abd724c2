#include "run/live_view.h"

#include "test.h"

enum { MANY = 100 };

static const char *const names[] = { "alpha", "beta", "gamma" };

/* Rows in the states that the letters tell: d(one) r(unning) f(ailed) w(aiting) s(kipped). */
static size_t
rows_of(struct live_row *rows, const char *letters)
{
    size_t n = 0;

    for (; letters[n]; n++)
        rows[n] = (struct live_row){ .name = names[n % 3],
                                     .agent = "exec",
                                     .elapsed_ms = -1,
                                     .state = letters[n] == 'd'   ? PS_DONE
                                              : letters[n] == 'r' ? PS_RUNNING
                                              : letters[n] == 'f' ? PS_FAILED
                                              : letters[n] == 's' ? PS_SKIPPED
                                                                  : PS_WAITING };
    return n;
}

/* want: x for each that is shown. */
static void
chooses(const char *letters, unsigned lines, const char *want, const char *counted)
{
    struct live_row rows[MANY];
    bool shown[MANY];
    char got[MANY + 1] = "";
    size_t counts[PS_STATES], n = rows_of(rows, letters);
    struct buf text = { 0 };

    live_view_choose(rows, n, lines, shown, counts);
    for (size_t i = 0; i < n; i++)
        got[i] = shown[i] ? 'x' : '.';
    assert_string_equal(got, want);
    live_view_counts(&text, counts);
    assert_string_equal(text.p ? text.p : "", counted);
    buf_release(&text);
}

static void
all_are_shown_where_there_is_room(void **state)
{
    (void)state;
    chooses("ddrw", 4, "xxxx", "");
    chooses("", 4, "", "");
}

static void
those_at_work_that_failed_and_the_next_come_first(void **state)
{
    (void)state;
    chooses("ddddrwwww", 4, "....xxx..", "4 done, 2 waiting");
    chooses("fdddrdwww", 4, "x...x.x..", "4 done, 2 waiting");
    chooses("rrrrf", 3, "x...x", "3 running");
    chooses("ddddd", 3, "...xx", "3 done");
    chooses("dsr", 1, "...", "1 done, 1 skipped, 1 running");
}

static void
a_hidden_row_is_neither_shown_nor_counted(void **state)
{
    struct live_row rows[MANY];
    bool shown[MANY];
    size_t counts[PS_STATES], n = rows_of(rows, "dwww");

    (void)state;
    rows[3].is_hidden = true;
    assert_int_equal(live_view_choose(rows, n, 3, shown, counts), 0);
    assert_false(shown[3]);
    assert_int_equal(live_view_choose(rows, n, 2, shown, counts), 2);
}

static size_t
lines_in(const struct buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->len; i++)
        n += text->p[i] == '\n';
    return n;
}

static void
the_picture_fits_any_terminal(void **state)
{
    static const struct live_size sizes[] = { { 80, 24 }, { 40, 10 }, { 200, 50 },     { 1, 1 },
                                              { 2, 2 },   { 79, 1 },  { 65535, 65535 } };
    struct live_row rows[MANY];
    char letters[MANY + 1] = "";

    (void)state;
    memset(letters, 'w', MANY);
    size_t n = rows_of(rows, letters);
    for (size_t i = 0; i < n; i++) {
        rows[i].elapsed_ms = 123456;
        rows[i].last = "a long text, 한국어 too, that does not fit on any narrow terminal at all";
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct live_view v = { 0 };
        struct buf text = { 0 };
        live_view_draw(&v, &text, rows, n, UINT16_MAX, &sizes[k], false);
        assert_true(lines_in(&text) < sizes[k].height); /* of one line: nothing */
        assert_int_equal(lines_in(&text), v.n);
        for (unsigned i = 0; i < v.n; i++)
            assert_true(v.widths[i] <= sizes[k].width);
        if (sizes[k].width == 80) /* a row that is cut says so */
            assert_non_null(strstr(text.p, "…\033[K\n"));
        buf_release(&text);
    }
}

static void
a_picture_is_drawn_over_the_one_before(void **state)
{
    struct live_row rows[MANY];
    struct live_view v = { 0 };
    struct live_size size = { 80, 24 };
    struct buf text = { 0 };
    size_t n = rows_of(rows, "drw");

    (void)state;
    live_view_draw(&v, &text, rows, n, 24, &size, false);
    assert_null(strstr(text.p, "A")); /* nothing above is touched */
    assert_int_equal(v.n, 3);
    buf_reset(&text);
    live_view_draw(&v, &text, rows, n, 24, &size, false);
    assert_memory_equal(text.p, "\033[3A", 4);
    /* narrower: a line of 60 columns was wrapped into two */
    v.widths[1] = 60;
    size.width = 40;
    buf_reset(&text);
    live_view_draw(&v, &text, rows, n, 24, &size, false);
    assert_memory_equal(text.p, "\033[4A\r\033[J", 8);
    /* lower: no more than the screen has */
    size.height = 3;
    buf_reset(&text);
    live_view_draw(&v, &text, rows, n, 24, &size, false);
    assert_memory_equal(text.p, "\033[2A", 4);
    assert_int_equal(v.n, 2);
    buf_release(&text);
}

static void
a_narrow_picture_has_room_for_what_is_said(void **state)
{
    struct live_row rows[MANY];
    struct live_view v = { 0 };
    struct live_size size = { 40, 10 };
    struct buf text = { 0 };
    size_t n = rows_of(rows, "r");

    (void)state;
    rows[0].elapsed_ms = 1500;
    rows[0].last = "compiling";
    live_view_draw(&v, &text, rows, n, 10, &size, false);
    assert_non_null(strstr(text.p, "alpha            1.5 s     compiling\033[K\n"));
    buf_release(&text);
}

static void
what_models_used_stands_before_what_is_said(void **state)
{
    struct live_row rows[MANY];
    struct live_view v = { 0 };
    struct live_size size = { 80, 10 };
    struct buf text = { 0 };
    size_t n = rows_of(rows, "rr");

    (void)state;
    rows[0].elapsed_ms = rows[1].elapsed_ms = 1500;
    rows[0].used = "$0.42";
    rows[0].last = "edits main.c";
    rows[1].used = "1.2k tokens"; /* and it has said nothing */
    live_view_draw(&v, &text, rows, n, 10, &size, false);
    assert_non_null(strstr(text.p, " 1.5 s     $0.42 edits main.c\033[K\n"));
    assert_non_null(strstr(text.p, " 1.5 s     1.2k tokens\033[K\n"));
    buf_release(&text);
}

static void
elapsed(int64_t ms, const char *want)
{
    struct buf text = { 0 };

    live_view_elapsed(&text, ms);
    assert_string_equal(text.p, want);
    buf_release(&text);
}

static void
times_are_told_in_two_units(void **state)
{
    (void)state;
    elapsed(0, "0 ms");
    elapsed(999, "999 ms");
    elapsed(1234, "1.2 s");
    elapsed(200000, "3 min 20 s");
    elapsed(7500000, "2 h 5 min");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_shown_where_there_is_room),
        cmocka_unit_test(those_at_work_that_failed_and_the_next_come_first),
        cmocka_unit_test(a_hidden_row_is_neither_shown_nor_counted),
        cmocka_unit_test(the_picture_fits_any_terminal),
        cmocka_unit_test(a_picture_is_drawn_over_the_one_before),
        cmocka_unit_test(a_narrow_picture_has_room_for_what_is_said),
        cmocka_unit_test(what_models_used_stands_before_what_is_said),
        cmocka_unit_test(times_are_told_in_two_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
