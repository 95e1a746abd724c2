/* Tests agents/mail: the bytes of a mail. */
#include "agents/notify/mail.h"
#include "test.h"

static struct arena arena;

static void
write_one(struct buf *to, const char *from, const char *subject, const char *text)
{
    struct mail_address one;
    struct mail m = { .to = &one,
                      .n_to = 1,
                      .subject = subject,
                      .id = "ab12",
                      .at_s = 1780034654,
                      .text = text,
                      .html = "<p>" };

    assert_true(mail_address_parse(&arena, "eve@example.org", &one));
    assert_true(mail_address_parse(&arena, from, &m.from));
    mail_write(to, &m);
    assert_false(buf_failed(to));
}

static void
a_mail_is_headers_and_two_texts(void **state)
{
    struct buf b = { 0 };

    (void)state;
    write_one(&b, "cliq <cliq@example.org>", "all is well", "a=b \n.\nend");
    assert_string_equal(
        b.p, "Date: Fri, 29 May 2026 06:04:14 +0000\r\n"
             "From: \"cliq\"\r\n <cliq@example.org>\r\nTo: eve@example.org\r\n"
             "Subject: all is well\r\nMessage-ID: <ab12@example.org>\r\n"
             "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
             "Content-Type: multipart/alternative;\r\n boundary=\"=_ab12\"\r\n\r\n"
             "--=_ab12\r\nContent-Type: text/plain; charset=utf-8\r\n"
             "Content-Transfer-Encoding: quoted-printable\r\n\r\na=3Db=20\r\n.\r\nend\r\n"
             "--=_ab12\r\nContent-Type: text/html; charset=utf-8\r\n"
             "Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>\r\n--=_ab12--\r\n");
    buf_release(&b);
    arena_release(&arena);
}

/* RFC 2047: at most 75 bytes a word, no character split over two. */
static void
a_subject_that_is_not_ascii_becomes_encoded_words(void **state)
{
    struct buf b = { 0 };
    char subject[101] = "";

    (void)state;
    for (int i = 0; i < 50; i++)
        strcat(subject, "\xc3\xa9");
    write_one(&b, "cliq@example.org", subject, "x");
    const char *at = strstr(b.p, "Subject: ");
    size_t n_words = 0;
    for (const char *word = at; (word = strstr(word, "=?UTF-8?B?")); word++, n_words++) {
        size_t len = strcspn(word, "\r");
        assert_true(len <= 75);
        assert_memory_equal(word + len - 2, "?=", 2);
        assert_int_equal((len - 12) % 4, 0);
    }
    assert_int_equal(n_words, 3); /* 42, 42 and 16 bytes */
    buf_release(&b);
    arena_release(&arena);
}

static void
no_value_can_begin_another_header(void **state)
{
    struct buf b = { 0 };

    (void)state;
    write_one(&b, "a\r\nBcc: x@y <cliq@example.org>", "s\r\nBcc: x@y", "t");
    assert_null(strstr(b.p, "Bcc"));
    buf_release(&b);
    arena_release(&arena);
}

static void
lines_stay_short_and_blanks_at_their_end_are_kept(void **state)
{
    struct buf b = { 0 };
    char text[301];

    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    memcpy(text + 74, "\xc3\xa9", 2);
    write_one(&b, "cliq@example.org", "s", text);
    for (const char *line = b.p; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\r") <= 76);
    assert_non_null(strstr(b.p, "=C3"));
    buf_release(&b);
    arena_release(&arena);
}

static void
only_plain_addresses_are_accepted(void **state)
{
    static const char *const bad[] = {
        "",     "eve",  "@x",    "eve@",       "a@b@c",  "a b@c",    "a@b\r\nc@d", "a@b>,<c@d",
        "<a@b", "-a@b", "a,b@c", "\xc3\xa9@x", "Eve <>", "a@b; c@d", "\"a\"@b",
    };
    struct mail_address a;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mail_address_parse(&arena, bad[i], &a))
            fail_msg("%s is accepted", bad[i]);
    assert_true(mail_address_parse(&arena, " \"Eve B.\" <eve.b+x@mail.example.org> ", &a));
    assert_string_equal(a.name, "Eve B.");
    assert_string_equal(a.address, "eve.b+x@mail.example.org");
    assert_true(mail_address_parse(&arena, "<eve@x>", &a));
    assert_null(a.name);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_mail_is_headers_and_two_texts),
        CASE(a_subject_that_is_not_ascii_becomes_encoded_words),
        CASE(no_value_can_begin_another_header),
        CASE(lines_stay_short_and_blanks_at_their_end_are_kept),
        CASE(only_plain_addresses_are_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
