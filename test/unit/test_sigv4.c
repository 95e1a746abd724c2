/* Tests net/sigv4 with the examples of AWS's own description of Signature Version 4. */
#include "test.h"

#include "net/sigv4.h"

static struct arena a;
static struct err e;
static struct fetch_header headers[SIGV4_HEADERS];
static size_t n;

#define SECRET "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

static const struct sigv4_key key = { "AKIAIOSFODNN7EXAMPLE", SECRET, NULL, "us-east-1", "s3" };

static enum status
sign(const struct sigv4_key *k, const char *url)
{
    char hash[DIGEST_HEX_SIZE];

    digest_sha256_hex(hash, "", 0);
    return sigv4_sign(&a, headers, &n, k, "GET", url, hash, 1369353600, &e); /* 2013-05-24 */
}

static void
signs_as_the_examples_of_aws(void **state)
{
    (void)state;
    assert_int_equal(sign(&key, "https://examplebucket.s3.amazonaws.com/?lifecycle"), ST_OK);
    assert_int_equal(n, 3);
    assert_string_equal(headers[0].name, "Authorization");
    assert_string_equal(
        headers[0].value,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
        "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    assert_string_equal(headers[1].value, "20130524T000000Z");
    assert_string_equal(headers[2].value,
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_int_equal(sign(&key, "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"),
                     ST_OK);
    assert_non_null(
        strstr(headers[0].value,
               "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
    arena_release(&a);
}

static void
the_order_of_the_query_and_the_default_port_do_not_matter(void **state)
{
    (void)state;
    assert_int_equal(sign(&key, "https://h/b?b=2&a=1&a-b=&c"), ST_OK);
    const char *first = headers[0].value;
    assert_int_equal(sign(&key, "https://h:443/b?c=&a-b&a=1&b=2"), ST_OK);
    assert_string_equal(headers[0].value, first);
    assert_int_equal(sign(&key, "https://h:444/b?c=&a-b&a=1&b=2"), ST_OK);
    assert_string_not_equal(headers[0].value, first);
    arena_release(&a);
}

static void
a_session_token_is_signed(void **state)
{
    struct sigv4_key with = key;

    (void)state;
    with.token = "token";
    assert_int_equal(sign(&with, "https://h/b"), ST_OK);
    assert_int_equal(n, 4);
    assert_string_equal(headers[3].name, "x-amz-security-token");
    assert_string_equal(headers[3].value, "token");
    assert_non_null(strstr(headers[0].value, ";x-amz-date;x-amz-security-token,"));
    arena_release(&a);
}

static void
a_url_without_a_host_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sign(&key, "/bucket"), ST_INVALID);
    assert_int_equal(sign(&key, "https:///bucket"), ST_INVALID);
    assert_int_equal(n, 0);
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(signs_as_the_examples_of_aws),
        CASE(the_order_of_the_query_and_the_default_port_do_not_matter),
        CASE(a_session_token_is_signed),
        CASE(a_url_without_a_host_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
