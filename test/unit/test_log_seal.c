/* Tests log/seal: a sealed line is read back, a changed one is detected. */
#include "test.h"

#include "base/crc32c.h"
#include "log/seal.h"

static struct buf line;
static struct arena arena;

static int
leave(void **state)
{
    buf_release(&line);
    arena_release(&arena);
    return case_leave(state);
}
#define SEAL_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static const char *
sealed(const char *text, size_t nth, size_t of, uint64_t seq)
{
    buf_reset(&line);
    seal_write(&line, text, strlen(text), nth, of, seq);
    assert_false(buf_failed(&line));
    return line.p;
}

/* Parses a line and reads its seal. False: it is not JSON or its seal is wrong. */
static bool
opened(const char *p, size_t len, struct seal *seal)
{
    struct json *v;

    arena_reset(&arena);
    return json_parse(&arena, p, len, &v, NULL) && seal_read(p, len, v, seal);
}

static void
a_line_ends_in_its_number_and_its_checksum(void **state)
{
    char want[200];

    (void)state;
    sealed("{\"id\":\"x\"}", 1, 1, 41);
    snprintf(want, sizeof want, "{\"id\":\"x\",\"seq\":41,\"crc\":\"%08x\"}\n",
             crc32c("{\"id\":\"x\",\"seq\":41", 18));
    assert_string_equal(line.p, want);
}

static void
the_checksum_of_a_known_line_never_changes(void **state)
{
    (void)state;
    assert_string_equal(sealed("{\"k\":1}", 1, 1, 1), "{\"k\":1,\"seq\":1,\"crc\":\"1d1492af\"}\n");
}

static void
a_sealed_line_is_read_back(void **state)
{
    static const uint64_t numbers[] = { 1, 2, 999, 4294967296, INT64_MAX };
    struct seal seal;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        sealed("{\"a\":[1,{\"seq\":9}]}", 1, 1, numbers[i]);
        assert_true(opened(line.p, line.len - 1, &seal));
        assert_true(seal.seq == numbers[i]);
        assert_int_equal(seal.of, 0);
        assert_int_equal(seal.nth, 0);
    }
}

static void
the_first_line_of_a_group_has_its_length(void **state)
{
    struct seal seal;

    (void)state;
    assert_non_null(strstr(sealed("{\"k\":1}", 1, 3, 7), ",\"of\":3,\"seq\":7,"));
    assert_true(opened(line.p, line.len - 1, &seal));
    assert_int_equal(seal.of, 3);
    assert_int_equal(seal.nth, 0);
}

static void
the_other_lines_of_a_group_have_their_index(void **state)
{
    struct seal seal;

    (void)state;
    assert_non_null(strstr(sealed("{\"k\":1}", 2, 3, 8), ",\"nth\":2,\"seq\":8,"));
    assert_true(opened(line.p, line.len - 1, &seal));
    assert_int_equal(seal.of, 0);
    assert_int_equal(seal.nth, 2);
}

static void
an_empty_object_can_be_sealed(void **state)
{
    static const char *const texts[] = { "{}", "{ }", "{\t \t}", "{}  " };
    struct seal seal;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        sealed(texts[i], 1, 1, 5);
        assert_true(opened(line.p, line.len - 1, &seal));
        assert_int_equal(seal.seq, 5);
    }
}

static void
spaces_in_and_around_the_object_are_allowed(void **state)
{
    static const char *const texts[] = { "{\"k\": 1 }", "{\"k\":1}  ", "{ \"k\" : { } }\t",
                                         "{\"k\":1}\r" };
    struct seal seal;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        sealed(texts[i], 1, 1, 5);
        assert_true(opened(line.p, line.len - 1, &seal));
        assert_int_equal(seal.seq, 5);
    }
}

static void
a_carriage_return_after_a_sealed_line_is_allowed(void **state)
{
    struct seal seal;

    (void)state;
    sealed("{\"k\":1}", 1, 1, 5);
    line.p[line.len - 1] = '\r';
    assert_true(opened(line.p, line.len, &seal));
    assert_int_equal(seal.seq, 5);
}

static void
a_line_without_a_checksum_is_foreign(void **state)
{
    static const char *const texts[] = { "{}", "{\"k\":1}", "{\"seq\":7}", "{\"of\":7,\"nth\":1}",
                                         "{\"k\":{\"crc\":\"00000000\"}}" };
    struct seal seal;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_true(opened(texts[i], strlen(texts[i]), &seal));
        assert_int_equal(seal.seq, 0);
    }
}

static void
a_checksum_that_is_not_the_last_member_is_wrong(void **state)
{
    struct seal seal;

    (void)state;
    sealed("{\"k\":1}", 1, 1, 5);
    buf_cut(&line, line.len - 2);
    buf_adds(&line, ",\"x\":1}");
    assert_false(opened(line.p, line.len, &seal));
}

/* Lines with a valid checksum over a wrong seal. */
static void
invalid_sequence_numbers_are_wrong(void **state)
{
    static const char *const texts[] = {
        "{\"k\":1",                     /* not a number */
        "{\"k\":1,\"seq\":0",           /* numbers start at 1 */
        "{\"k\":1,\"seq\":-1",          /**/
        "{\"k\":1,\"seq\":1.5",         /**/
        "{\"k\":1,\"seq\":\"1\"",       /**/
        "{\"k\":1,\"seq\":1e99",        /**/
        "{\"k\":1,\"of\":1,\"seq\":1",  /* a group of one does not exist */
        "{\"k\":1,\"of\":-2,\"seq\":1", /**/
        "{\"k\":1,\"nth\":1,\"seq\":1", /* the first line has no index */
        "{\"k\":1,\"nth\":\"2\",\"seq\":1",
    };
    struct seal seal;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_reset(&line);
        buf_addf(&line, "%s,\"crc\":\"%08x\"}", texts[i], crc32c(texts[i], strlen(texts[i])));
        if (opened(line.p, line.len, &seal))
            fail_msg("%s was taken", line.p);
    }
}

static void
a_checksum_in_capitals_or_of_another_length_is_wrong(void **state)
{
    struct seal seal;

    (void)state;
    sealed("{\"k\":1}", 1, 1, 1);
    char *b = strstr(line.p, "1d1492af");
    assert_non_null(b);
    b[1] = 'D';
    assert_false(opened(line.p, line.len - 1, &seal));
    buf_reset(&line);
    buf_adds(&line, "{\"k\":1,\"seq\":1,\"crc\":\"01d1492af\"}");
    assert_false(opened(line.p, line.len, &seal));
    buf_reset(&line);
    buf_adds(&line, "{\"crc\":\"0\"}");
    assert_false(opened(line.p, line.len, &seal));
}

/* Only damage to the checksum's own key is not detected; then the line counts as foreign, and
 * its content is unchanged. */
static void
any_changed_byte_is_detected(void **state)
{
    static const unsigned char flips[] = { 0x01, 0x02, 0x20, 0x80, 0xFF };
    struct seal seal;

    (void)state;
    sealed("{\"id\":\"a-1\",\"data\":{\"n\":[1,2,3],\"s\":\"text\"}}", 2, 4, 1234567);
    const char *name = strstr(line.p, "crc\"");
    assert_non_null(name);
    for (size_t i = 0; i < line.len - 1; i++)
        for (size_t f = 0; f < sizeof flips; f++) {
            line.p[i] ^= (char)flips[f];
            if (opened(line.p, line.len - 1, &seal)) {
                assert_int_equal(seal.seq, 0);
                assert_true(line.p + i >= name && line.p + i < name + 3);
            }
            line.p[i] ^= (char)flips[f];
        }
    assert_true(opened(line.p, line.len - 1, &seal));
}

static void
any_missing_byte_is_detected(void **state)
{
    struct seal seal;
    char cut[300];

    (void)state;
    sealed("{\"id\":\"a-1\",\"data\":{\"n\":[1,2,3],\"s\":\"text\"}}", 1, 1, 77);
    const char *name = strstr(line.p, "crc\"");
    for (size_t i = 0; i < line.len - 1; i++) {
        memcpy(cut, line.p, i);
        memcpy(cut + i, line.p + i + 1, line.len - 1 - i);
        if (opened(cut, line.len - 2, &seal)) {
            assert_int_equal(seal.seq, 0);
            assert_true(line.p + i >= name && line.p + i < name + 3);
        }
    }
}

static void
every_truncated_line_is_detected(void **state)
{
    struct seal seal;

    (void)state;
    sealed("{\"id\":\"a-1\",\"data\":{}}", 1, 1, 77);
    for (size_t n = 0; n < line.len - 1; n++)
        assert_false(opened(line.p, n, &seal));
}

static void
without_its_seal_a_line_is_the_record(void **state)
{
    static const char *const records[] = { "{\"id\":\"a\"}", "{\"x\":12}", "{\"data\":{\"of\":3}}",
                                           "{\"data\":[{\"seq\":4}]}" };

    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        size_t len = strlen(records[i]) - 1;
        for (size_t nth = 1; nth <= 3; nth++) {
            sealed(records[i], nth, nth == 1 ? 1 + i % 2 : 3, 1000 + i);
            assert_int_equal(seal_strip(line.p, line.len - 1), len);
            assert_memory_equal(line.p, records[i], len);
        }
        assert_int_equal(seal_strip(records[i], len + 1), 0);
    }
    assert_int_equal(seal_strip("", 0), 0);
    assert_int_equal(seal_strip("{\"crc\":\"12345678\"}", 18), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SEAL_CASE(a_line_ends_in_its_number_and_its_checksum),
        SEAL_CASE(the_checksum_of_a_known_line_never_changes),
        SEAL_CASE(a_sealed_line_is_read_back),
        SEAL_CASE(the_first_line_of_a_group_has_its_length),
        SEAL_CASE(the_other_lines_of_a_group_have_their_index),
        SEAL_CASE(an_empty_object_can_be_sealed),
        SEAL_CASE(spaces_in_and_around_the_object_are_allowed),
        SEAL_CASE(a_carriage_return_after_a_sealed_line_is_allowed),
        SEAL_CASE(a_line_without_a_checksum_is_foreign),
        SEAL_CASE(a_checksum_that_is_not_the_last_member_is_wrong),
        SEAL_CASE(invalid_sequence_numbers_are_wrong),
        SEAL_CASE(a_checksum_in_capitals_or_of_another_length_is_wrong),
        SEAL_CASE(any_changed_byte_is_detected),
        SEAL_CASE(any_missing_byte_is_detected),
        SEAL_CASE(every_truncated_line_is_detected),
        SEAL_CASE(without_its_seal_a_line_is_the_record),
    };

    return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
