/* Tests base/arena: aligned memory, freed all at once, under a ceiling. */
#include "test.h"

#include "base/arena.h"

static void
a_zeroed_arena_can_be_reset_and_released(void **state)
{
    struct arena a = { 0 };

    (void)state;
    arena_reset(&a);
    arena_release(&a);
    arena_release(&a);
}

static void
every_result_is_aligned_for_any_type(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (size_t n = 1; n < 300; n++) {
        char *p = arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0xA5, n);
    }
    arena_release(&a);
}

static void
results_do_not_overlap(void **state)
{
    struct arena a = { 0 };
    unsigned char *p[500];

    (void)state;
    for (size_t i = 1; i < 500; i++) {
        p[i] = arena_alloc(&a, i);
        memset(p[i], (int)(i & 0xFF), i);
    }
    for (size_t i = 1; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(p[i][k], i & 0xFF);
    arena_release(&a);
}

static void
an_allocation_larger_than_a_block_gets_its_own_block(void **state)
{
    struct arena a = { 0 };

    (void)state;
    char *p = arena_alloc(&a, 5 << 20);
    assert_non_null(p);
    memset(p, 'x', 5 << 20);
    char *q = arena_alloc(&a, 10);
    assert_non_null(q);
    assert_true(q < p || q >= p + (5 << 20));
    arena_release(&a);
}

static void
a_copy_is_nul_ended(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_string_equal(arena_dup(&a, "hello there", 5), "hello");
    assert_string_equal(arena_dup(&a, NULL, 0), "");
    arena_release(&a);
}

static void
impossible_sizes_are_refused(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_null(arena_alloc(&a, SIZE_MAX / 2));
    assert_null(arena_dup(&a, "", SIZE_MAX));
    assert_non_null(arena_alloc(&a, 1));
    arena_release(&a);
}

static void
the_limit_is_never_exceeded(void **state)
{
    struct arena a = { .max = 100000 };
    size_t given = 0;

    (void)state;
    while (arena_alloc(&a, 1000))
        given += 1000;
    assert_true(given <= 100000);
    assert_true(given > 50000);
    arena_release(&a);
}

static void
a_limit_below_one_block_still_allows_small_allocations(void **state)
{
    struct arena a = { .max = 256 };

    (void)state;
    assert_non_null(arena_alloc(&a, 100));
    assert_non_null(arena_alloc(&a, 100));
    assert_null(arena_alloc(&a, 100));
    arena_release(&a);
}

static void
a_refused_allocation_changes_nothing(void **state)
{
    struct arena a = { .max = 8192 };

    (void)state;
    char *p = arena_dup(&a, "kept", 4);
    assert_null(arena_alloc(&a, 10000));
    assert_non_null(arena_alloc(&a, 100));
    assert_string_equal(p, "kept");
    arena_release(&a);
}

static void
a_reset_reuses_the_same_memory(void **state)
{
    struct arena a = { 0 };

    (void)state;
    char *first = arena_alloc(&a, 64);
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 64), first);
    arena_release(&a);
}

static void
a_reset_keeps_the_newest_block(void **state)
{
    struct arena a = { 0 };

    (void)state;
    arena_alloc(&a, 100);
    char *large = arena_alloc(&a, 5 << 20);
    assert_non_null(large);
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 5 << 20), large);
    arena_release(&a);
}

static void
a_loop_of_resets_does_not_grow(void **state)
{
    struct arena a = { 0 };
    size_t used = 0;

    (void)state;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 100; i++)
            assert_non_null(arena_alloc(&a, 333));
        arena_reset(&a);
        if (round == 10)
            used = a.used;
    }
    assert_int_equal(a.used, used);
    arena_release(&a);
}

static void
releasing_keeps_the_ceiling(void **state)
{
    struct arena a = { .max = 4096 };

    (void)state;
    assert_non_null(arena_alloc(&a, 4096));
    arena_release(&a);
    assert_int_equal(a.max, 4096);
    assert_null(arena_alloc(&a, 4097));
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_zeroed_arena_can_be_reset_and_released),
        CASE(every_result_is_aligned_for_any_type),
        CASE(results_do_not_overlap),
        CASE(an_allocation_larger_than_a_block_gets_its_own_block),
        CASE(a_copy_is_nul_ended),
        CASE(impossible_sizes_are_refused),
        CASE(the_limit_is_never_exceeded),
        CASE(a_limit_below_one_block_still_allows_small_allocations),
        CASE(a_refused_allocation_changes_nothing),
        CASE(a_reset_reuses_the_same_memory),
        CASE(a_reset_keeps_the_newest_block),
        CASE(a_loop_of_resets_does_not_grow),
        CASE(releasing_keeps_the_ceiling),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
