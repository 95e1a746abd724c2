/* Tests room/epics: a plan in Markdown becomes epics, and a bad one is told by line. */
#include "test.h"

#include "room/epics.h"

static struct err e;
static struct arena arena;
static struct epic *v;
static size_t n;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}
#define EPICS_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static enum status
parse(const char *text)
{
    return epics_parse(&arena, "plan.md", text, strlen(text), &v, &n, &e);
}

static void
epics_have_criteria_dependencies_and_roles(void **state)
{
    (void)state;
    CHECK_OK(parse("# The plan\nwords\n"
                   "## EPIC-001 - Sign in\n"
                   "**Roles:** @engineer -> qa\n"
                   "Text of the first.\n"
                   "### Acceptance Criteria\n"
                   "- [ ] a wrong password is refused\n"
                   "* [x] a right one is not\n"
                   "### Definition of Done\n"
                   "1. documented\n"
                   "### Notes\n"
                   "- no criterion\n"
                   "```\n## EPIC-009 in code\n```\n"
                   "## Epic: EPIC-002 \xe2\x80\x94 Sign out\n"
                   "depends_on: [EPIC-001]\n"
                   "## Appendix\nEPIC-003\n"),
             &e);
    assert_int_equal(n, 2);
    assert_string_equal(v[0].ref, "EPIC-001");
    assert_string_equal(v[0].room, "room-001");
    assert_string_equal(v[0].title, "Sign in");
    assert_int_equal(v[0].line, 3);
    assert_int_equal(v[0].roles.n, 2);
    assert_string_equal(v[0].roles.v[0], "engineer");
    assert_int_equal(v[0].criteria.n, 2);
    assert_string_equal(v[0].criteria.v[1], "a right one is not");
    assert_int_equal(v[0].done.n, 1);
    assert_non_null(strstr(v[0].text, "EPIC-009 in code"));
    assert_string_equal(v[1].title, "Sign out");
    assert_int_equal(v[1].depends_on.n, 1);
    assert_string_equal(v[1].depends_on.v[0], "EPIC-001");
    assert_null(strstr(v[1].text, "Appendix"));
}

static void
refused(const char *text, const char *part)
{
    assert_int_equal(parse(text), ST_INVALID);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" lacks \"%s\"", e.text, part);
}

static void
a_bad_plan_is_told_by_line(void **state)
{
    (void)state;
    refused("# nothing\n", "plan.md: no epic");
    refused("## EPIC-1\n\n## EPIC-1\n", "plan.md:3: EPIC-1 is there already, in line 1");
    refused("## EPIC-1\nDepends on: EPIC-7\n", "plan.md:1: EPIC-1 depends on EPIC-7");
    refused("## EPIC-1\nDepends on: EPIC-2\n## EPIC-2\nDepends on: EPIC-1\n",
            "EPIC-1 -> EPIC-2 -> EPIC-1");
    refused("## EPIC-1 \xff\n", "not UTF-8");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        EPICS_CASE(epics_have_criteria_dependencies_and_roles),
        EPICS_CASE(a_bad_plan_is_told_by_line),
    };

    return cmocka_run_group_tests_name("epics", tests, NULL, NULL);
}
