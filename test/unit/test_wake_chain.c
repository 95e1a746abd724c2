/* Tests wake/wake_chain: which signals belong to a chain, and where it ends. */
#include "test.h"

#include "wake/wake_chain.h"

static const char *const chain_of_ann = "s 10 3 0\ne 20\ns 30 16 1\ne 40\n";

static const char *
read_chain(void *ctx, struct arena *a, const char *sender)
{
    (void)ctx;
    (void)a;
    return strcmp(sender, "ann") == 0 ? chain_of_ann : NULL;
}

static void
a_signal_belongs_to_the_start_it_was_written_in(void **state)
{
    (void)state;
    unsigned depth = 0;
    bool life = false;

    assert_false(wake_chain_at(chain_of_ann, 10, false, &depth, &life));
    assert_true(wake_chain_at(chain_of_ann, 20, false, &depth, &life));
    assert_true(depth == 3 && !life);
    assert_false(wake_chain_at(chain_of_ann, 21, false, &depth, &life));
    assert_true(wake_chain_at(chain_of_ann, 99, true, &depth, &life)); /* idle comes later */
    assert_true(depth == 16 && life);
    assert_false(wake_chain_at(NULL, 99, true, &depth, &life));
    assert_false(wake_chain_at("rubbish\ns x\n\n", 99, true, &depth, &life));
}

static void
a_chain_is_as_short_as_its_shortest_cause(void **state)
{
    (void)state;
    static const struct {
        struct hub_waiting_signal s[2];
        size_t n;
        unsigned depth;
        bool is_life, is_echo, is_over;
    } cases[] = {
        { { { 15, "ann", false, false } }, 1, 4, false, false, false },
        { { { 35, "ann", false, false } }, 1, 17, false, false, true },
        { { { 35, "ann", true, false } }, 1, 0, false, false, false }, /* a task */
        { { { 35, "ann", false, false }, { 36, "eve", false, false } }, 2, 0, false, false, false },
        { { { 35, "ann", false, false }, { 15, "ann", false, false } }, 2, 4, false, false, false },
        { { { 25, "ann", false, false } }, 1, 0, false, false, false },
        { { { 15, "ann", false, true } }, 1, 4, true, false, false },
        { { { 35, "ann", false, true } }, 1, 0, true, true, true }, /* an echo */
        { { { 35, "ann", false, true }, { 15, "ann", false, true } }, 2, 4, true, false, false },
        { { { 35, "ann", false, true }, { 36, "eve", false, false } }, 2, 0, false, false, false },
        { { { 35, NULL, false, false } }, 1, 0, false, false, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hub_waiting_signal s[2] = { cases[i].s[0], cases[i].s[1] };
        struct hub_batch b = { .signals = s, .n = cases[i].n };
        struct wake_chain c = wake_chain_judge(&b, read_chain, NULL, NULL);
        if (c.depth != cases[i].depth || c.is_life != cases[i].is_life ||
            c.is_echo != cases[i].is_echo || wake_chain_is_over(&c) != cases[i].is_over)
            fail_msg("case %zu: depth %u, life %d, echo %d", i, c.depth, c.is_life, c.is_echo);
    }
}

static void
only_the_latest_lines_are_kept(void **state)
{
    (void)state;
    struct buf text = { 0 }, next = { 0 };
    const struct wake_chain c = { .depth = 2, .is_life = true };

    for (uint64_t i = 1; i <= 100; i++) {
        buf_reset(&next);
        wake_chain_add(&next, text.len ? text.p : NULL, i, i % 2 ? &c : NULL);
        buf_addc(&next, '\0');
        buf_cut(&next, next.len - 1);
        buf_reset(&text);
        buf_add(&text, next.p, next.len);
        buf_addc(&text, '\0');
        buf_cut(&text, text.len - 1);
    }
    assert_true(strncmp(text.p, "s 69 2 1\ne 70\n", 14) == 0);
    assert_string_equal(text.p + text.len - 15, "s 99 2 1\ne 100\n");
    buf_release(&text);
    buf_release(&next);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_belongs_to_the_start_it_was_written_in),
        cmocka_unit_test(a_chain_is_as_short_as_its_shortest_cause),
        cmocka_unit_test(only_the_latest_lines_are_kept),
    };

    return cmocka_run_group_tests_name("wake_chain", tests, NULL, NULL);
}
