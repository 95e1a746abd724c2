/*
 * Tests cmd/lib/scdoc: text for man pages is escaped, and a page is rendered as plain text.
 */
#include "cmd/lib/scdoc.h"

#include "test.h"

static void
renders(const char *page, size_t width, const char *want)
{
    struct buf b = { 0 };

    scdoc_render(&b, page, width);
    assert_string_equal(b.p ? b.p : "", want);
    buf_release(&b);
}

static void
markup_is_left_out_and_escapes_are_undone(void **state)
{
    (void)state;
    renders("*bold* and _under_, but max_iterations, \\*stars\\* and \\_x\n", 80,
            "  bold and under, but max_iterations, *stars* and _x\n");
}

static void
paragraphs_are_filled_and_blank_lines_are_single(void **state)
{
    (void)state;
    renders("one\ntwo three\n\n\nfour\n", 11, "  one two\n  three\n\n  four\n");
    renders("aVeryLongWordThatDoesNotFit b\n", 10, "  aVeryLongWordThatDoesNotFit\n  b\n");
}

static void
headings_lists_and_definitions_have_their_indents(void **state)
{
    (void)state;
    renders("# FIELDS\n\n## of x\n\n*a* - b\n\tone\n\ttwo three\n\n- x y\n- z\n", 15,
            "FIELDS\n\nof x\n\n  a - b\n      one two\n      three\n\n  - x y\n  - z\n");
}

static void
literal_blocks_stay_as_they_are(void **state)
{
    (void)state;
    renders("_f_:\n\n```\na: *b*  \\n\n\n  c\n```\n", 10, "  f:\n\n    a: *b*  \\n\n\n      c\n");
}

static void
what_is_escaped_is_rendered_as_it_was(void **state)
{
    (void)state;
    static const char *const texts[] = { "a_b *c* <d> ~e \\f", "- g", ".h", "#i", "$(x.*.y)" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf page = { 0 }, want = { 0 };
        scdoc_text(&page, texts[i]);
        buf_addf(&want, "  %s\n", texts[i]);
        renders(page.p, 80, want.p);
        buf_release(&page);
        buf_release(&want);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(markup_is_left_out_and_escapes_are_undone),
        CASE(paragraphs_are_filled_and_blank_lines_are_single),
        CASE(headings_lists_and_definitions_have_their_indents),
        CASE(literal_blocks_stay_as_they_are),
        CASE(what_is_escaped_is_rendered_as_it_was),
    };

    return cmocka_run_group_tests_name("scdoc", tests, NULL, NULL);
}
