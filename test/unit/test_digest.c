/* The vectors are those of RFC 4231 (HMAC), FIPS 180-4 (SHA-256) and RFC 4648 (base64). */
#include "base/digest.h"
#include "test.h"

static void
sha256_is_the_standard_one(void **state)
{
    char hex[DIGEST_HEX_SIZE];

    (void)state;
    assert_string_equal(digest_sha256_hex(hex, "abc", 3),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(digest_sha256_hex(hex, "", 0),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void
hmac_takes_keys_of_any_length(void **state)
{
    static const char says[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    unsigned char digest[DIGEST_BYTES];
    char hex[DIGEST_HEX_SIZE], key[131];

    (void)state;
    digest_hmac_sha256(digest, "Jefe", 4, "what do ya want for nothing?", 28);
    assert_string_equal(digest_hex(hex, digest),
                        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    digest_hmac_sha256(digest, key, sizeof key, says, sizeof says - 1);
    assert_string_equal(digest_hex(hex, digest),
                        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void
base64_goes_there_and_back(void **state)
{
    static const struct {
        const char *bytes, *text;
    } pairs[] = { { "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
                  { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xfb\xff", "+/8=" } };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct buf b = { 0 };
        buf_adds(&b, ">");
        digest_base64(&b, pairs[i].bytes, strlen(pairs[i].bytes));
        assert_string_equal(b.p + 1, pairs[i].text);
        buf_reset(&b);
        assert_true(digest_from_base64(&b, pairs[i].text, strlen(pairs[i].text)));
        assert_int_equal(b.len, strlen(pairs[i].bytes));
        assert_memory_equal(b.p ? b.p : "", pairs[i].bytes, b.len);
        buf_release(&b);
    }
}

static void
what_is_not_base64_is_refused(void **state)
{
    static const char *const bad[] = { "Z", "Zm9v!", "Zm 9v", "_-8=" };
    struct buf b = { 0 };

    (void)state;
    assert_true(digest_from_base64(&b, "Zg", 2)); /* padding may be left away */
    buf_reset(&b);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(digest_from_base64(&b, bad[i], strlen(bad[i])));
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

static void
the_alphabet_of_urls_has_no_padding(void **state)
{
    struct buf b = { 0 };

    (void)state;
    digest_base64url(&b, "\xfb\xff\xfe?", 4);
    assert_string_equal(b.p, "-__-Pw");
    buf_release(&b);
}

static void
a_part_of_a_file_has_the_hash_of_its_bytes(void **state)
{
    char want[DIGEST_HEX_SIZE], got[DIGEST_HEX_SIZE];
    struct err e;
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    fputs("before abc behind", file);
    fflush(file);
    digest_sha256_hex(want, "abc", 3);
    CHECK_OK(digest_sha256_file(got, fileno(file), 7, 3, &e), &e);
    assert_string_equal(got, want);
    CHECK_FAILS_WITH(digest_sha256_file(got, fileno(file), 7, 30, &e), ST_FAILED, &e, "shorter");
    fclose(file);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(sha256_is_the_standard_one),          CASE(hmac_takes_keys_of_any_length),
        CASE(base64_goes_there_and_back),          CASE(what_is_not_base64_is_refused),
        CASE(the_alphabet_of_urls_has_no_padding), CASE(a_part_of_a_file_has_the_hash_of_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
