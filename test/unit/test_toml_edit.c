/* Tests base/toml_edit: the syntax, where tables are, and what is added and removed. */
#include "test.h"

#include "base/toml_edit.h"

static struct arena arena;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define EDIT_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static const char *const at_x[] = { "s", "x", NULL };

static enum status
read_text(const char *text, struct toml_doc *doc, struct buf *b, struct err *e)
{
    buf_reset(b);
    buf_adds(b, text);
    return toml_edit_read(&arena, "f", b, doc, e);
}

static void
a_fault_is_told_with_its_place(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "a = 1\nb == 2\n", "f:2:4: a value" },
        { "ä = 1\n", "f:1:1: a key" },
        { "\"ä\" 1\n", "f:1:5: = is" },
        { "a = \"x\n\"", "f:1:7: a text that does" },
        { "a = '''\nx", "f:1:5: a text that does" },
        { "a = \"\\u12\"", "f:1:10: an escape" },
        { "[a]]\n", "f:1:4: the end of the line" },
        { "[[a]\n", "f:1:4: ]] is" },
        { "[]\n", "f:1:2: a key" },
        { "a = [1 2]\n", "f:1:8: a comma or ]" },
        { "a = {b = 1,\n c = 2}\n", "f:1:12: a key" },
        { "a.b. = 1\n", "f:1:6: a key" },
        { "a = yes\n", "f:1:5: a value" },
        { "a = 1 # \x01\n", "f:1:9: a control" },
    };
    struct toml_doc doc;
    struct buf b = { 0 };
    struct err e;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(cases[i][0], &doc, &b, &e), ST_INVALID);
        if (strncmp(e.text, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %s, not %s", cases[i][0], e.text, cases[i][1]);
    }
    buf_release(&b);
}

static void
tables_are_found_however_they_are_written(void **state)
{
    (void)state;
    static const char *const yes[] = { "[s.x]\n",     "[s]\nx = {}\n", "s.x.command = 1\n",
                                       "[ s . 'x' ]", "[s.x.y]\n",     "[s.\"x\"]\n",
                                       "[s]\nx.y=1",  "[[s.x]]\n# end" };
    static const char *const no[] = {
        "[s.xx]\n", "a = '[s.x]'\n", "[s]\n[x]\n", "[t.s.x]\n", "a = \"\"\"\n[s.x]\n\"\"\"\n",
        "# [s.x]\n"
    };
    struct toml_doc doc;
    struct buf b = { 0 };
    struct err e = { "" };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (read_text(yes[i], &doc, &b, &e) || !toml_edit_find(&doc, at_x))
            fail_msg("%s: %s", yes[i], e.text);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (read_text(no[i], &doc, &b, &e) || toml_edit_find(&doc, at_x))
            fail_msg("%s: %s", no[i], e.text);
    }
    buf_release(&b);
}

static void
a_table_goes_with_those_below_it_and_nothing_else(void **state)
{
    (void)state;
    struct toml_doc doc;
    struct buf b = { 0 };
    struct err e = { "" };

    assert_int_equal(
        read_text("a = 1\n\n# mine\n[s.x]\nc = [\n 1,\n]\n\n[s.x.env] # e\nT = 1\n# for y\n"
                  "\n[s.y]\nd = 2\n",
                  &doc, &b, &e),
        ST_OK);
    assert_int_equal(toml_edit_remove(&b, &doc, at_x, &e), ST_OK);
    assert_string_equal(b.p, "a = 1\n\n# mine\n# for y\n\n[s.y]\nd = 2\n");
    assert_int_equal(toml_edit_add(&b, "[s.x]\nc = 1\n", &e), ST_OK);
    assert_string_equal(b.p, "a = 1\n\n# mine\n# for y\n\n[s.y]\nd = 2\n\n[s.x]\nc = 1\n");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        EDIT_CASE(a_fault_is_told_with_its_place),
        EDIT_CASE(tables_are_found_however_they_are_written),
        EDIT_CASE(a_table_goes_with_those_below_it_and_nothing_else),
    };

    return cmocka_run_group_tests_name("toml_edit", tests, NULL, NULL);
}
