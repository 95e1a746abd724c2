/* Tests base/crc32c: the vectors of RFC 3720, and the table computed again. */
#include "test.h"

#include "base/crc32c.h"

/* The definition: bit by bit, reflected polynomial 0x82F63B78. */
static uint32_t
truth(const void *p, size_t n)
{
    const unsigned char *at = p;
    uint32_t c = 0xFFFFFFFFu;

    for (size_t i = 0; i < n; i++) {
        c ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
    }
    return ~c;
}

static void
the_check_value_is_e3069283(void **state)
{
    (void)state;
    assert_int_equal(crc32c("123456789", 9), 0xE3069283u);
}

static void
the_checksum_of_no_bytes_is_zero(void **state)
{
    (void)state;
    assert_int_equal(crc32c("", 0), 0);
    assert_int_equal(crc32c(NULL, 0), 0);
}

static void
the_vectors_of_RFC_3720_hold(void **state)
{
    unsigned char b[32];

    (void)state;
    memset(b, 0, sizeof b);
    assert_int_equal(crc32c(b, 32), 0x8A9136AAu);
    memset(b, 0xFF, sizeof b);
    assert_int_equal(crc32c(b, 32), 0x62A8AB43u);
    for (unsigned char i = 0; i < 32; i++)
        b[i] = i;
    assert_int_equal(crc32c(b, 32), 0x46DD794Eu);
    for (unsigned char i = 0; i < 32; i++)
        b[i] = (unsigned char)(31 - i);
    assert_int_equal(crc32c(b, 32), 0x113FDB5Cu);
}

static void
each_entry_of_the_table_is_its_eight_shifts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        unsigned char byte = (unsigned char)i;
        assert_int_equal(crc32c(&byte, 1), truth(&byte, 1));
    }
}

static void
any_length_and_alignment_agrees_with_the_definition(void **state)
{
    unsigned char b[300];

    (void)state;
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (unsigned char)(i * 167 + 13);
    for (size_t at = 0; at < 16; at++)
        for (size_t n = 0; n < 280; n++) {
            assert_int_equal(crc32c(b + at, n), truth(b + at, n));
            assert_int_equal(crc32c_by_tables(b + at, n), truth(b + at, n));
        }
}

static void
one_bit_changed_anywhere_changes_it(void **state)
{
    unsigned char b[64] = "the quick brown fox";

    (void)state;
    uint32_t sum = crc32c(b, sizeof b);
    for (size_t bit = 0; bit < sizeof b * 8; bit++) {
        b[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(crc32c(b, sizeof b), sum);
        b[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_check_value_is_e3069283),
        CASE(the_checksum_of_no_bytes_is_zero),
        CASE(the_vectors_of_RFC_3720_hold),
        CASE(each_entry_of_the_table_is_its_eight_shifts),
        CASE(any_length_and_alignment_agrees_with_the_definition),
        CASE(one_bit_changed_anywhere_changes_it),
    };

    return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
