/* What must be true of the front's malloc. It is included under names of its own: the test and what
 * it stands on keep the C library's. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *lean_malloc(size_t n);
void *lean_calloc(size_t n, size_t each);
void *lean_realloc(void *p, size_t n);
void lean_free(void *p);

#define malloc  lean_malloc
#define calloc  lean_calloc
#define realloc lean_realloc
#define free    lean_free
#include "lean_heap.c"
#undef malloc
#undef calloc
#undef realloc
#undef free

static void
what_was_given_last_grows_in_place_and_comes_back(void **state)
{
    (void)state;
    char *a = lean_malloc(10), *b = lean_malloc(10);
    assert_ptr_equal(lean_realloc(b, 500), b);
    lean_free(b);
    char *c = lean_malloc(20);
    assert_ptr_equal(c, b);
    lean_free(c);
    lean_free(a);
    lean_free(NULL);
}

static void
what_was_freed_before_comes_back_with_the_last(void **state)
{
    (void)state;
    char *a = lean_malloc(10), *b = lean_malloc(10), *c = lean_malloc(10);
    lean_free(b);
    char *d = lean_malloc(10);
    assert_ptr_not_equal(d, b); /* c lies behind it */
    lean_free(d);
    lean_free(c);
    d = lean_malloc(10);
    assert_ptr_equal(d, b);
    lean_free(d);
    lean_free(a);
}

/* As an agent does that stays: more in all than the room has, little at a time. */
static void
the_room_does_not_wear_out(void **state)
{
    (void)state;
    char *kept = lean_malloc(10);
    for (int i = 0; i < 10000; i++) {
        char *a = lean_malloc(100), *b = lean_malloc(100);
        assert_true(is_in_room(head_of(a)) && is_in_room(head_of(b)));
        lean_free(a);
        lean_free(b);
    }
    lean_free(kept);
}

static void
zeroed_memory_is_zero_also_where_something_was(void **state)
{
    (void)state;
    char *a = lean_malloc(100);
    memset(a, 'x', 100);
    lean_free(a);
    char *b = lean_calloc(10, 10);
    assert_ptr_equal(a, b);
    for (int i = 0; i < 100; i++)
        assert_int_equal(b[i], 0);
    lean_free(b);
}

static void
what_cannot_be_is_refused(void **state)
{
    char *a = lean_malloc(8);

    (void)state;
    memcpy(a, "kept", 5);
    size_t huge = SIZE_MAX;
    assert_null(lean_malloc(huge));
    assert_null(lean_malloc(huge / 2));
    assert_null(lean_calloc(huge / 2, 3));
    errno = 0;
    assert_null(lean_realloc(a, huge - 8));
    assert_int_equal(errno, ENOMEM);
    assert_string_equal(a, "kept");
    lean_free(a);
}

/* Blocks of all sizes, in and beside the room, grown and freed in any order: none touches another,
 * each keeps what it holds and is aligned for anything. */
static void
blocks_keep_what_they_hold(void **state)
{
    enum { N = 64 };
    unsigned char *p[N] = { NULL };
    size_t len[N] = { 0 };
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        seed = seed * 1103515245 + 12345;
        size_t i = (seed >> 8) % N, n = (seed >> 16) % ((seed & 64) ? 9000 : 90);
        for (size_t k = 0; k < len[i]; k++)
            assert_int_equal(p[i][k], (unsigned char)(i * 31 + k));
        if (seed & 128) {
            lean_free(p[i]);
            p[i] = NULL;
            len[i] = 0;
            continue;
        }
        size_t kept = len[i] < n ? len[i] : n;
        p[i] = lean_realloc(p[i], n);
        assert_non_null(p[i]);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        for (size_t k = 0; k < kept; k++)
            assert_int_equal(p[i][k], (unsigned char)(i * 31 + k));
        for (size_t k = 0; k < n; k++)
            p[i][k] = (unsigned char)(i * 31 + k);
        len[i] = n;
    }
    for (size_t i = 0; i < N; i++)
        lean_free(p[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_last_grows_in_place_and_comes_back),
        cmocka_unit_test(what_was_freed_before_comes_back_with_the_last),
        cmocka_unit_test(the_room_does_not_wear_out),
        cmocka_unit_test(zeroed_memory_is_zero_also_where_something_was),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(blocks_keep_what_they_hold),
    };

    return cmocka_run_group_tests_name("lean_heap", tests, NULL, NULL);
}
