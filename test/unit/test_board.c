/* Tests context/board: marks and notes on the task board. */
#include "test.h"

#include "context/board.h"

#define BOARD "# Task Board\n\n- [ ] architect\n- [x] developer\n- [ ] dev\n"

static struct board
board(const char *text)
{
    struct board b = { 0 };

    buf_adds(&b.text, text);
    return b;
}

static void
a_mark_is_set_and_cleared(void **state)
{
    struct board b = board(BOARD);

    (void)state;
    board_mark(&b, "architect", true);
    assert_true(b.is_dirty);
    assert_string_equal(b.text.p, "# Task Board\n\n- [x] architect\n- [x] developer\n- [ ] dev\n");
    board_mark(&b, "architect", false);
    assert_string_equal(b.text.p, BOARD);
    board_release(&b);
}

static void
marks_that_change_nothing_leave_the_board_clean(void **state)
{
    struct board b = board(BOARD);

    (void)state;
    board_mark(&b, "developer", true);
    board_mark(&b, "architect", false);
    board_mark(&b, "nobody", true);
    board_mark(&b, "", true);
    board_mark(&b, "develop", true);
    board_note(&b, "nobody", "hm");
    board_note(&b, "architect", " \n");
    assert_false(b.is_dirty);
    assert_string_equal(b.text.p, BOARD);
    board_release(&b);
}

static void
only_the_whole_name_counts(void **state)
{
    struct board b = board("- [ ] dev-ops\n- [ ] dev: the work\n");

    (void)state;
    board_mark(&b, "dev", true);
    assert_string_equal(b.text.p, "- [ ] dev-ops\n- [x] dev: the work\n");
    board_release(&b);
}

static void
notes_are_below_their_phase_in_order(void **state)
{
    struct board b = board(BOARD);

    (void)state;
    board_note(&b, "architect", "first");
    board_note(&b, "architect", "second\r\nwith\n- [x] dev\n");
    board_note(&b, "dev", "last");
    assert_string_equal(b.text.p, "# Task Board\n\n- [ ] architect\n  - first\n  - second\n"
                                  "    with\n    - [x] dev\n- [x] developer\n- [ ] dev\n"
                                  "  - last\n");
    board_release(&b);
}

static void
a_board_without_a_last_newline_takes_notes(void **state)
{
    struct board b = board("- [ ] a");

    (void)state;
    board_note(&b, "a", "one");
    assert_string_equal(b.text.p, "- [ ] a\n  - one\n");
    board_release(&b);
    b = board("- [ ] a\n  - zero");
    board_note(&b, "a", "one");
    assert_string_equal(b.text.p, "- [ ] a\n  - zero\n  - one\n");
    board_release(&b);
}

static void
a_board_written_by_a_person_is_understood(void **state)
{
    struct board b = board("* [X] a\r\n- [ ] b\r\n");

    (void)state;
    board_mark(&b, "a", false);
    board_mark(&b, "b", true);
    assert_string_equal(b.text.p, "* [ ] a\r\n- [x] b\r\n");
    board_release(&b);
}

static void
an_empty_board_has_no_phase_to_mark(void **state)
{
    struct board b = { 0 };

    (void)state;
    board_mark(&b, "a", true);
    board_note(&b, "a", "x");
    assert_false(b.is_dirty);
    board_release(&b);
    board_release(&b);
}

static void
a_board_can_be_replaced_even_by_a_part_of_itself(void **state)
{
    struct board b = board(BOARD);

    (void)state;
    board_replace(&b, b.text.p + 14);
    assert_true(b.is_dirty);
    assert_string_equal(b.text.p, "- [ ] architect\n- [x] developer\n- [ ] dev\n");
    board_replace(&b, "");
    assert_string_equal(b.text.p, "");
    board_release(&b);
}

static void
edits_are_applied_again_to_another_board(void **state)
{
    struct board mine = board(BOARD), now = board(BOARD);

    (void)state;
    board_mark(&mine, "architect", true);
    board_note(&mine, "architect", "done");
    board_mark(&now, "dev", true);
    board_mark(&now, "developer", false);
    board_redo(&now, &mine);
    assert_string_equal(now.text.p, "# Task Board\n\n- [x] architect\n  - done\n- [ ] developer\n"
                                    "- [x] dev\n");
    board_replace(&mine, "- [ ] new\n");
    board_mark(&mine, "new", true);
    board_redo(&now, &mine);
    assert_string_equal(now.text.p, "- [x] new\n");
    board_release(&mine);
    board_release(&now);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_mark_is_set_and_cleared),
        CASE(marks_that_change_nothing_leave_the_board_clean),
        CASE(only_the_whole_name_counts),
        CASE(notes_are_below_their_phase_in_order),
        CASE(a_board_without_a_last_newline_takes_notes),
        CASE(a_board_written_by_a_person_is_understood),
        CASE(an_empty_board_has_no_phase_to_mark),
        CASE(a_board_can_be_replaced_even_by_a_part_of_itself),
        CASE(edits_are_applied_again_to_another_board),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
