/* What must be true of hub/model/sight: who may read a signal, by its address. */
#include "hub/model/sight.h"

#include "test.h"

static void
an_address_decides_who_reads(void **state)
{
    static const struct {
        const char *identity, *sender, *addr;
        bool is_member, may;
    } cases[] = {
        /* for everyone, and for a role: every identity */
        { "eve", "ruby", NULL, false, true },
        { "eve", "ruby", "=dev", false, true },
        { "eve", NULL, NULL, false, true },
        /* for an identity: that one, and the sender */
        { "bob", "ruby", "@bob", false, true },
        { "ruby", "ruby", "@bob", false, true },
        { "eve", "ruby", "@bob", true, false },
        { "bo", "ruby", "@bob", false, false },
        { "eve", NULL, "@bob", false, false },
        /* for a ring: its members, and the sender */
        { "bob", "ruby", "+ops", true, true },
        { "ruby", "ruby", "+ops", false, true },
        { "eve", "ruby", "+ops", false, false },
        { "ops", "ruby", "+ops", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sight_allows(cases[i].identity, cases[i].sender, cases[i].addr, cases[i].is_member) !=
            cases[i].may)
            fail_msg("case %zu: %s reads %s", i, cases[i].identity,
                     cases[i].addr ? cases[i].addr : "everyone's");
    assert_true(sight_asks_ring("+ops"));
    assert_false(sight_asks_ring("@ops") || sight_asks_ring("=ops") || sight_asks_ring(NULL));
}

int
main(void)
{
    const struct CMUnitTest tests[] = { CASE(an_address_decides_who_reads) };

    return cmocka_run_group_tests_name("sight", tests, NULL, NULL);
}
