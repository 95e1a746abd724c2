/* Tests base/utf8: exactly RFC 3629, no byte more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

/* The reference: a code point's bytes by arithmetic, or 0 for none. */
static size_t
truth(char to[4], uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0x00, 0xC0, 0xE0, 0xF0 };
    for (size_t i = len; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(lead[len] | c);
    return len;
}

static void
every_code_point_is_encoded_and_decoded_back(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char want[4], got[4];
        size_t len = truth(want, c);
        if (!len)
            continue;
        assert_int_equal(utf8_encode(got, c), len);
        assert_memory_equal(got, want, len);
        assert_int_equal(utf8_char(got, len), len);
        assert_int_equal(utf8_decode(got, len), c);
    }
}

/* All 2^16 beginnings, ended in three ways: well-formed when and only when the
 * arithmetic reading gives the same bytes back. */
static void
nothing_but_shortest_forms_is_well_formed(void **state)
{
    static const char ends[3][2] = { { '\x80', '\x80' }, { '\xBF', '\xBF' }, { 'a', 'b' } };

    (void)state;
    for (unsigned two = 0; two <= 0xFFFF; two++)
        for (size_t i = 0; i < 3; i++) {
            char p[4] = { (char)(two >> 8), (char)two, ends[i][0], ends[i][1] }, again[4];
            unsigned char lead = (unsigned char)p[0];
            size_t len = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
            size_t n = truth(again, utf8_decode(p, len));
            bool is_good = n == len && !memcmp(p, again, n);
            assert_int_equal(utf8_char(p, 4), is_good ? len : 0);
        }
}

static void
refuses_overlong_forms(void **state)
{
    (void)state;
    assert_int_equal(utf8_char("\xC0\x80", 2), 0);
    assert_int_equal(utf8_char("\xC1\xBF", 2), 0);
    assert_int_equal(utf8_char("\xE0\x9F\xBF", 3), 0);
    assert_int_equal(utf8_char("\xF0\x8F\xBF\xBF", 4), 0);
}

static void
refuses_surrogates(void **state)
{
    (void)state;
    assert_int_equal(utf8_char("\xED\xA0\x80", 3), 0);
    assert_int_equal(utf8_char("\xED\xBF\xBF", 3), 0);
    assert_int_equal(utf8_char("\xED\x9F\xBF", 3), 3);
    assert_int_equal(utf8_char("\xEE\x80\x80", 3), 3);
}

static void
refuses_code_points_above_10FFFF(void **state)
{
    (void)state;
    assert_int_equal(utf8_char("\xF4\x8F\xBF\xBF", 4), 4);
    assert_int_equal(utf8_char("\xF4\x90\x80\x80", 4), 0);
    assert_int_equal(utf8_char("\xF5\x80\x80\x80", 4), 0);
    assert_int_equal(utf8_char("\xFF", 1), 0);
}

static void
a_character_cut_short_is_not_well_formed(void **state)
{
    static const char snowman[] = "\xE2\x98\x83", rocket[] = "\xF0\x9F\x9A\x80";

    (void)state;
    for (size_t n = 1; n < 3; n++)
        assert_int_equal(utf8_char(snowman, n), 0);
    for (size_t n = 1; n < 4; n++)
        assert_int_equal(utf8_char(rocket, n), 0);
}

static void
NUL_is_a_character_of_one_byte(void **state)
{
    (void)state;
    assert_int_equal(utf8_char("", 1), 1);
    assert_int_equal(utf8_decode("", 1), 0);
    assert_int_equal(utf8_valid_len("a\0b", 3), 3);
}

/* begun(n bytes) must mean: some well-formed character starts with them and is longer. */
static void
every_proper_beginning_of_a_character_is_begun(void **state)
{
    char p[4];

    (void)state;
    for (uint32_t c = 0x80; c <= 0x10FFFF; c += c < 0x11000 ? 1 : 61) {
        size_t len = truth(p, c);
        for (size_t n = 1; n < len; n++)
            assert_true(utf8_is_begun(p, n));
        if (len)
            assert_false(utf8_is_begun(p, len));
    }
}

static void
a_prefix_that_no_byte_can_complete_is_not_begun(void **state)
{
    (void)state;
    assert_false(utf8_is_begun("a", 1));
    assert_false(utf8_is_begun("\x80", 1));
    assert_false(utf8_is_begun("\xC0", 1));
    assert_false(utf8_is_begun("\xF5", 1));
    assert_false(utf8_is_begun("\xE0\x80", 2));
    assert_false(utf8_is_begun("\xED\xA0", 2));
    assert_false(utf8_is_begun("\xF0\x8F", 2));
    assert_false(utf8_is_begun("\xF4\x90", 2));
    assert_false(utf8_is_begun("\xE2\x98x", 3));
    assert_false(utf8_is_begun("\xC3x", 2));
}

static void
valid_len_stops_at_the_first_bad_byte(void **state)
{
    (void)state;
    for (size_t at = 0; at < 40; at++) {
        char text[40];
        memset(text, 'x', sizeof text);
        assert_int_equal(utf8_valid_len(text, sizeof text), sizeof text);
        text[at] = '\xFF';
        assert_int_equal(utf8_valid_len(text, sizeof text), at);
    }
}

static void
valid_len_takes_characters_across_word_borders(void **state)
{
    (void)state;
    for (size_t at = 0; at <= 20; at++) {
        char text[24];
        memset(text, 'x', sizeof text);
        memcpy(text + at, "\xF0\x9F\x9A\x80", 4);
        assert_int_equal(utf8_valid_len(text, sizeof text), sizeof text);
        assert_int_equal(utf8_valid_len(text, at + 3), at);
    }
}

static void
valid_len_of_no_bytes_is_zero(void **state)
{
    (void)state;
    assert_int_equal(utf8_valid_len("", 0), 0);
}

static void
truncation_never_splits_a_character(void **state)
{
    static const char text[] = "a\xC3\xA9\xE2\x98\x83\xF0\x9F\x9A\x80z"; /* a é ☃ 🚀 z */
    static const size_t want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11 };

    (void)state;
    for (size_t max = 0; max < sizeof want / sizeof *want; max++)
        assert_int_equal(utf8_cut(text, sizeof text - 1, max), want[max]);
}

static void
truncation_keeps_all_of_a_short_text(void **state)
{
    (void)state;
    assert_int_equal(utf8_cut("\xC3\xA9", 2, 2), 2);
    assert_int_equal(utf8_cut("", 0, 100), 0);
}

static void
the_rest_of_a_cut_character_is_counted(void **state)
{
    (void)state;
    assert_int_equal(utf8_half("", 0), 0);
    assert_int_equal(utf8_half("a", 1), 0);
    assert_int_equal(utf8_half("\xA9"
                               "a",
                               2),
                     1);
    assert_int_equal(utf8_half("\x9F\x98\x80", 3), 3);
    assert_int_equal(utf8_half("\x9F\x98\x80\x80", 4), 3);
    assert_int_equal(utf8_half("\x9F\x98\x80", 1), 1);
    assert_int_equal(utf8_half("\xC3\xA9", 2), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_encoded_and_decoded_back),
        cmocka_unit_test(nothing_but_shortest_forms_is_well_formed),
        cmocka_unit_test(refuses_overlong_forms),
        cmocka_unit_test(refuses_surrogates),
        cmocka_unit_test(refuses_code_points_above_10FFFF),
        cmocka_unit_test(a_character_cut_short_is_not_well_formed),
        cmocka_unit_test(the_rest_of_a_cut_character_is_counted),
        cmocka_unit_test(NUL_is_a_character_of_one_byte),
        cmocka_unit_test(every_proper_beginning_of_a_character_is_begun),
        cmocka_unit_test(a_prefix_that_no_byte_can_complete_is_not_begun),
        cmocka_unit_test(valid_len_stops_at_the_first_bad_byte),
        cmocka_unit_test(valid_len_takes_characters_across_word_borders),
        cmocka_unit_test(valid_len_of_no_bytes_is_zero),
        cmocka_unit_test(truncation_never_splits_a_character),
        cmocka_unit_test(truncation_keeps_all_of_a_short_text),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
