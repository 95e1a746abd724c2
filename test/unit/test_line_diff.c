/* Tests base/line_diff: its hunks turn the old text into the new one, and are few. */
#include "test.h"

#include "base/line_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buf
text_of(const char *s)
{
    struct buf b = { 0 };

    buf_add(&b, s, strlen(s));
    return b;
}

static void
is(const char *old, const char *new, const char *want)
{
    struct buf a = text_of(old), b = text_of(new), out = { 0 };
    struct err e;

    assert_int_equal(line_diff(&out, &a, &b, &e), ST_OK);
    assert_string_equal(out.p ? out.p : "", want);
    buf_release(&a);
    buf_release(&b);
    buf_release(&out);
}

static void
hunks_are_those_of_diff(void **state)
{
    (void)state;
    is("", "", "");
    is("a\nb\n", "a\nb\n", "");
    is("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
    is("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
    is("a\nb\nc\n", "a\nx\nc\n", "@@ -2 +2 @@\n-b\n+x\n");
    is("a\nc\n", "a\nb\nc\n", "@@ -1,0 +2 @@\n+b\n");
    is("a\nb\nc\n", "a\nc\n", "@@ -2 +1,0 @@\n-b\n");
    is("a\nb\nc\nd\ne\n", "x\na\nb\nd\nE\n",
       "@@ -0,0 +1 @@\n+x\n@@ -3 +3,0 @@\n-c\n@@ -5 +5 @@\n-e\n+E\n");
    is("a", "a\nb", "@@ -1,0 +2 @@\n+b\n"); /* without an end of the last line */
    is("a\r\nb\r\n", "a\r\nc\r\n", "@@ -2 +2 @@\n-b\n+c\n");
    is("\n\n\n", "\n", "@@ -2,2 +1,0 @@\n-\n-\n");
}

/* Applies hunks; NULL when they do not fit. */
static char *
patched(const char *old, const char *hunks)
{
    struct buf out = { 0 };
    size_t at = 0; /* lines of old that are done */
    unsigned from = 0, n = 1;

    for (const char *p = hunks; *p; p = strchr(p, '\n') + 1) {
        size_t len = strcspn(p, "\n");
        if (*p == '@') {
            n = 1;
            assert_true(sscanf(p, "@@ -%u,%u", &from, &n) >= 1);
            for (size_t to = n ? from - 1 : from; at < to; at++) {
                buf_add(&out, old, strcspn(old, "\n") + 1);
                old += strcspn(old, "\n") + 1;
            }
        } else if (*p == '-') {
            assert_int_equal(strncmp(old, p + 1, len - 1), 0);
            old += len;
            at++;
        } else {
            assert_int_equal(*p, '+');
            buf_add(&out, p + 1, len);
        }
    }
    buf_adds(&out, old);
    return out.p;
}

static void
add_random(struct buf *b, unsigned lines, unsigned words)
{
    for (unsigned i = 0; i < lines; i++)
        buf_addf(b, "%c\n", 'a' + rand() % (int)words);
}

static void
hunks_turn_the_old_text_into_the_new_one(void **state)
{
    (void)state;
    srand(7);
    for (int i = 0; i < 3000; i++) {
        struct buf a = { 0 }, b = { 0 }, hunks = { 0 };
        struct err e;
        add_random(&a, (unsigned)rand() % 12, 1 + (unsigned)rand() % 4);
        add_random(&b, (unsigned)rand() % 12, 1 + (unsigned)rand() % 4);
        buf_adds(&a, "");
        buf_adds(&b, "");
        assert_int_equal(line_diff(&hunks, &a, &b, &e), ST_OK);
        buf_adds(&hunks, "");
        char *got = patched(a.p, hunks.p);
        assert_string_equal(got ? got : "", b.p);
        free(got);
        buf_release(&a);
        buf_release(&b);
        buf_release(&hunks);
    }
}

static void
texts_that_differ_in_all_are_one_hunk(void **state)
{
    struct buf a = { 0 }, b = { 0 }, hunks = { 0 };
    struct err e;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        buf_addf(&a, "%d\n", i);
        buf_addf(&b, "%d\n", i % 10 == 0 ? i : -i);
    }
    assert_int_equal(line_diff(&hunks, &a, &b, &e), ST_OK);
    assert_int_equal(strncmp(hunks.p, "@@ -2,4999 +2,4999 @@\n", 22), 0);
    char *got = patched(a.p, hunks.p);
    assert_string_equal(got, b.p);
    free(got);
    buf_release(&a);
    buf_release(&b);
    buf_release(&hunks);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hunks_are_those_of_diff),
        cmocka_unit_test(hunks_turn_the_old_text_into_the_new_one),
        cmocka_unit_test(texts_that_differ_in_all_are_one_hunk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
