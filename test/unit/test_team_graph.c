/*
 * Tests team/validate_graph: unknown names, cycles, support phases; and teams of ten thousand
 * phases, which are checked quickly.
 */
#include "teams.h"

/* ---- dependencies ---- */

static void
unknown_dependencies_suggest_the_nearest(void **state)
{
    (void)state;
    says(
        HEAD EXEC("design") "  - { name: build, depends_on: [desing] }\n",
        "5:33: error: depends on unknown phase \"desing\" (did you mean \"design\"?) (phase build, "
        "field depends_on)");
    says(HEAD EXEC("design") "  - name: build\n    depends_on:\n      - design\n      - other\n",
         "8:9: error: depends on unknown phase \"other\" (phase build, field depends_on)");
    says(HEAD EXEC("design") "  - { name: build, depends_on: 'design, other' }\n",
         "5:32: error: depends on unknown phase \"other\" (phase build, field depends_on)");
    says(HEAD EXEC("a") "  - { name: b, depends_on: [[x], nobody] }\n",
         "5:34: error: depends on unknown phase \"nobody\" (phase b, field depends_on)");
}

static void
a_phase_cannot_depend_on_itself(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("a") "  - { name: b, depends_on: [a, b] }\n");

    must_say(&f, "team.yml:5:32: error: depends on itself (phase b, field depends_on)\n");
    assert_int_equal(f.problems.errors, 1);
    done(&f);
}

static void
cycles_are_written_out(void **state)
{
    (void)state;
    says(HEAD EXEC("r") "  - { name: a, depends_on: [b, r] }\n  - { name: b, depends_on: [a] }\n",
         "5:28: error: phases depend on each other in a cycle: a → b → a (phase a, field "
         "depends_on)");
    says(HEAD EXEC("r") "  - { name: a, depends_on: [c] }\n  - { name: b, depends_on: [a] }\n"
                        "  - { name: c, depends_on: [b, r] }\n",
         "5:28: error: phases depend on each other in a cycle: a → c → b → a (phase a, field "
         "depends_on)");
}

static void
a_cycle_of_all_phases_has_no_root(void **state)
{
    (void)state;
    struct fixture f =
        opened(HEAD "  - { name: a, depends_on: [b] }\n  - { name: b, depends_on: [a] }\n");

    must_say(&f, "team.yml:4:3: error: no phase can start: each one depends on another (field "
                 "phases)\n");
    must_say(&f, "cycle: a → b → a (");
    assert_int_equal(f.problems.errors, 2);
    done(&f);
}

static void
diamonds_are_no_cycles(void **state)
{
    (void)state;
    clean(HEAD EXEC("a") "  - { name: b, depends_on: [a] }\n  - { name: c, depends_on: [a] }\n"
                         "  - { name: d, depends_on: [b, c, a] }\n");
}

static void
cycles_that_share_a_phase_are_reported_separately(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("r") "  - { name: a, depends_on: [b, c] }\n"
                                             "  - { name: b, depends_on: [a] }\n"
                                             "  - { name: c, depends_on: [a] }\n");

    must_say(&f, "a → b → a (");
    must_say(&f, "a → c → a (");
    assert_int_equal(f.problems.errors, 2);
    done(&f);
}

static void
a_dependency_named_twice_is_a_warning(void **state)
{
    (void)state;
    says(HEAD EXEC("a") "  - { name: b, depends_on: [a, a] }\n",
         "5:32: warning: depends on \"a\" twice (phase b, field depends_on)");
}

static void
support_phases_are_outside_the_graph(void **state)
{
    (void)state;
    says("name: t\nphases:\n" EXEC("a") "support:\n  - { name: s, depends_on: [a] }\n",
         "5:28: error: a support phase cannot depend on others: it runs when a gate routes to it "
         "(phase s, field depends_on)");
    says(
        "name: t\nphases:\n  - { name: a, depends_on: [s] }\nsupport:\n" EXEC("s"),
        "3:29: error: depends on the support phase \"s\", which only runs when a gate routes to it "
        "(phase a, field depends_on)");
    clean("name: t\ndescription: d\nphases:\n" EXEC("a") "support:\n" EXEC("s"));
}

/* ---- hostile teams ---- */

static void
a_chain_of_ten_thousand_phases_is_checked_quickly(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD "  - { name: p0 }\n");
    for (int i = 1; i < 10000; i++)
        buf_addf(&b, "  - { name: p%d, depends_on: [p%d] }\n", i, i - 1);
    ends_soon(&b);
    buf_adds(&b, "  - { name: p0 }\n");
    ends_soon(&b);
    buf_release(&b);
}

static void
a_cycle_of_ten_thousand_phases_is_checked_quickly(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 10000; i++)
        buf_addf(&b, "  - { name: p%d, depends_on: [p%d] }\n", i, (i + 1) % 10000);
    struct fixture f = opened(b.p);
    must_say(&f, "(9980 more) → p0 (");
    done(&f);
    buf_release(&b);
}

static void
many_unknown_names_are_checked_quickly(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 3000; i++)
        buf_addf(&b, "  - { name: phase-with-a-long-name-%d }\n", i);
    buf_adds(&b, "  - name: last\n    depends_on:\n");
    for (int i = 0; i < 15000; i++)
        buf_addf(&b, "      - phase-with-a-long-mane-%d\n", i);
    ends_soon(&b);
    buf_reset(&b);
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "descripton-%d: x\n", i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, HEAD "  - name: a\n    env:\n");
    for (int i = 0; i < 20000; i++)
        buf_addf(&b, "      K%d: $(inputs.nobody-%d)\n", i, i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, "agents:\n");
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "  a%d: { entry: agents/x }\n", i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, "inputs:\n");
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "  - { name: i%d }\n", i);
    ends_soon(&b);
    buf_release(&b);
}

static void
many_cycles_are_checked_quickly(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 200; i++) {
        buf_addf(&b, "  - name: p%d\n    depends_on: [", i);
        for (int k = 0; k < 200; k++)
            buf_addf(&b, "%sp%d", k ? "," : "", k);
        buf_adds(&b, "]\n");
    }
    ends_soon(&b);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(unknown_dependencies_suggest_the_nearest),
        CASE(a_phase_cannot_depend_on_itself),
        CASE(cycles_are_written_out),
        CASE(a_cycle_of_all_phases_has_no_root),
        CASE(diamonds_are_no_cycles),
        CASE(cycles_that_share_a_phase_are_reported_separately),
        CASE(a_dependency_named_twice_is_a_warning),
        CASE(support_phases_are_outside_the_graph),
        CASE(a_chain_of_ten_thousand_phases_is_checked_quickly),
        CASE(a_cycle_of_ten_thousand_phases_is_checked_quickly),
        CASE(many_unknown_names_are_checked_quickly),
        CASE(many_cycles_are_checked_quickly),
    };

    return cmocka_run_group_tests_name("team graph", tests, NULL, NULL);
}
