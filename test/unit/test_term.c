/* Tests base/term: no control sequence reaches the terminal. */
#include "test.h"

#include "base/term.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>

static struct buf b;

static const char *
escaped(const char *p, size_t len, bool is_multiline)
{
    buf_reset(&b);
    buf_adds(&b, "");
    term_escape(&b, p, len, is_multiline);
    assert_false(buf_failed(&b));
    return b.p;
}

#define ESCAPED(text) escaped(text, sizeof(text) - 1, false)

static int
leave(void **state)
{
    buf_release(&b);
    return case_leave(state);
}
#define TERM_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static void
plain_text_in_any_language_stays(void **state)
{
    (void)state;
    assert_string_equal(ESCAPED("plain ~ text"), "plain ~ text");
    assert_string_equal(ESCAPED("grüße 你好 😀"), "grüße 你好 😀");
    assert_string_equal(ESCAPED(""), "");
}

static void
every_C0_control_and_DEL_is_written_out(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x20; c++) {
        char in = (char)c, want[8];
        if (c == '\n' || c == '\t')
            continue;
        snprintf(want, sizeof want, "\\x%02x", c);
        assert_string_equal(escaped(&in, 1, true), want);
        assert_string_equal(escaped(&in, 1, false), want);
    }
    assert_string_equal(ESCAPED("\x7F"), "\\x7f");
    assert_string_equal(ESCAPED("\x1b[2J\a"), "\\x1b[2J\\x07");
}

static void
every_C1_control_is_written_out(void **state)
{
    (void)state;
    for (unsigned c = 0x80; c < 0xA0; c++) {
        char in[4], want[8];
        size_t n = utf8_encode(in, c);
        snprintf(want, sizeof want, "\\x%02x", c);
        assert_string_equal(escaped(in, n, true), want);
    }
    assert_string_equal(ESCAPED("\xC2\xA0"), "\xC2\xA0"); /* a no-break space is no control */
}

static void
bidi_controls_are_written_out(void **state)
{
    static const unsigned turns[] = { 0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D,
                                      0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x2028, 0x2029 };

    (void)state;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        char in[4], want[8];
        size_t n = utf8_encode(in, turns[i]);
        snprintf(want, sizeof want, "\\u%04x", turns[i]);
        assert_string_equal(escaped(in, n, true), want);
    }
}

static void
bytes_that_are_not_UTF_8_are_written_out_one_by_one(void **state)
{
    (void)state;
    assert_string_equal(ESCAPED("a\xFFz"), "a\\xffz");
    assert_string_equal(ESCAPED("\x9B"), "\\x9b"); /* the one-byte CSI of old terminals */
    assert_string_equal(ESCAPED("\xE2\x82"), "\\xe2\\x82");
    assert_string_equal(ESCAPED("\xC0\x9B"), "\\xc0\\x9b");
}

static void
a_NUL_does_not_end_the_text(void **state)
{
    (void)state;
    assert_string_equal(ESCAPED("a\0b"), "a\\x00b");
}

static void
line_breaks_and_tabs_stay_in_texts_of_several_lines_only(void **state)
{
    (void)state;
    assert_string_equal(escaped("a\n\tb", 4, true), "a\n\tb");
    assert_string_equal(escaped("a\n\tb", 4, false), "a  b");
    assert_string_equal(escaped("a\r\n", 3, true), "a\\x0d\n");
}

static void
no_input_produces_a_control_sequence(void **state)
{
    char in[3];

    (void)state;
    for (unsigned two = 0; two <= 0xFFFF; two++) {
        in[0] = (char)(two >> 8);
        in[1] = (char)two;
        in[2] = '\x80';
        const char *out = escaped(in, 3, false);
        size_t n = strlen(out);
        assert_int_equal(utf8_valid_len(out, n), n);
        for (size_t i = 0; i < n; i++)
            assert_true((unsigned char)out[i] >= 0x20 && out[i] != 0x7F);
    }
}

static void
a_file_is_no_terminal(void **state)
{
    (void)state;
    write_file("f", "");
    int fd = open("f", O_RDONLY | O_CLOEXEC);
    assert_false(term_is_tty(fd));
    assert_false(term_is_tty(-1));
    close(fd);
}

static void
colour_follows_NO_COLOR_then_force_then_the_terminal(void **state)
{
    int master, slave;

    (void)state;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    unsetenv("FORCE_COLOR");
    setenv("TERM", "xterm", 1);
    assert_true(term_is_tty(slave));
    assert_true(term_has_color(slave));
    assert_false(term_has_color(here()));
    setenv("TERM", "dumb", 1);
    assert_false(term_has_color(slave));
    setenv("FORCE_COLOR", "1", 1);
    assert_true(term_has_color(here()));
    setenv("NO_COLOR", "1", 1);
    assert_false(term_has_color(here()));
    assert_false(term_has_color(slave));
    setenv("NO_COLOR", "", 1); /* an empty value does not count */
    assert_true(term_has_color(here()));
    unsetenv("NO_COLOR");
    unsetenv("FORCE_COLOR");
    close(master);
    close(slave);
}

static void
the_width_is_the_terminals_else_COLUMNS_else_80(void **state)
{
    struct winsize w = { .ws_col = 132, .ws_row = 40 };
    int master, slave;

    (void)state;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &w), 0);
    unsetenv("COLUMNS");
    assert_int_equal(term_width(slave), 132);
    assert_int_equal(term_width(here()), 80);
    setenv("COLUMNS", "100", 1);
    assert_int_equal(term_width(slave), 132);
    assert_int_equal(term_width(here()), 100);
    setenv("COLUMNS", "-5", 1);
    assert_int_equal(term_width(here()), 80);
    unsetenv("COLUMNS");
    close(master);
    close(slave);
}

static void
the_last_line_is_what_a_terminal_shows_of_it(void **state)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        { "", "" },
        { "\n \n\t\n", "" },
        { "one\ntwo", "two" },
        { "one\ntwo\n\n  \n", "two" },
        { "  \033[1;31merror:\033[0m no\tway  \n\033[K\n", "error: no way" },
        { "\033]0;title\aready\n", "ready" },
        { " 10%\r 99%\r", "99%" },
        { "x: bad option\nTry 'x --help' for more.\n", "x: bad option" },
        { "Try 'again'\n", "Try 'again'" },
        { "panicked at:\nboom\nnote: run with `RUST_BACKTRACE=1` environment\n", "boom" },
        { "npm error no tests\nnpm error A complete log of this run can be found in: /x\n",
          "npm error no tests" },
        { "a.js:1\n  f();\n  ^\n\nError: no file\n    at f (a.js:1:2)\n    at b:2 {\n  errno: "
          "-2\n}\n\nNode.js v20.1.0\n",
          "Error: no file" },
        { "a.js:1\nthrow 'abc'\n^\nabc\n(Use `node --trace-uncaught ...` to show where)\n\nNode.js "
          "v20.1.0\n",
          "abc" },
        { "Exception: bad\n\tat a.b.C(D.java:1)\n\tat a.b.E(F.java:2)\n", "Exception: bad" },
        { "    at f (a.js:1:2)\n    at g (a.js:3:4)\n", "at g (a.js:3:4)" },
        { "Node.js v20.1.0\n", "Node.js v20.1.0" },
        { "Try 'x --help'\n", "Try 'x --help'" },
        { "bad \xff\x01 byte\033", "bad  byte" },
        { "12345678901234567890123456789", "12345678901234567890…" },
        { "gr\xc3\xbc\xc3\x9f"
          "e\n",
          "gr\xc3\xbc\xc3\x9f"
          "e" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf line = { 0 };
        term_last_line(&line, cases[i].text, strlen(cases[i].text), 20);
        assert_string_equal(line.p ? line.p : "", cases[i].line);
        buf_release(&line);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TERM_CASE(plain_text_in_any_language_stays),
        TERM_CASE(every_C0_control_and_DEL_is_written_out),
        TERM_CASE(every_C1_control_is_written_out),
        TERM_CASE(bidi_controls_are_written_out),
        TERM_CASE(bytes_that_are_not_UTF_8_are_written_out_one_by_one),
        TERM_CASE(a_NUL_does_not_end_the_text),
        TERM_CASE(line_breaks_and_tabs_stay_in_texts_of_several_lines_only),
        TERM_CASE(no_input_produces_a_control_sequence),
        TERM_CASE(the_last_line_is_what_a_terminal_shows_of_it),
        TERM_CASE(a_file_is_no_terminal),
        TERM_CASE(colour_follows_NO_COLOR_then_force_then_the_terminal),
        TERM_CASE(the_width_is_the_terminals_else_COLUMNS_else_80),
    };

    return cmocka_run_group_tests_name("term", tests, NULL, NULL);
}
