/* Tests agents/connectors: the connectors and the list of agents say the same. */
#include "test.h"

#include "agents/connector/connectors.h"
#include "team/builtin_agents.h"

/* The actions of a connector, as agents.def writes them. */
static const char *
actions_of(const struct connector *kind, struct buf *to)
{
    for (const struct connector_action *a = kind->actions; a->name; a++)
        buf_addf(to, "%s%s", to->len ? " " : "", a->name);
    return to->p;
}

static void
agents_def_lists_the_actions_of_every_connector(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct builtin *b = builtins; b->name; b++) {
        const struct connector *kind = connector_find(b->name);
        struct buf text = { 0 };
        assert_true(kind || b->kind != AGENT_CONNECTOR || !b->is_here);
        if (!kind)
            continue;
        assert_string_equal(actions_of(kind, &text), b->actions);
        buf_release(&text);
        n++;
    }
    assert_true(n > 1);
}

static void
an_action_is_known_by_its_whole_name(void **state)
{
    const struct builtin *curl = builtin_find("curl"), *exec = builtin_find("exec");

    (void)state;
    assert_true(builtin_knows_action(curl, "get"));
    assert_true(builtin_knows_action(curl, "put"));
    assert_false(builtin_knows_action(curl, "ge"));
    assert_false(builtin_knows_action(curl, "get put"));
    assert_true(builtin_knows_action(exec, "any"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(agents_def_lists_the_actions_of_every_connector),
        CASE(an_action_is_known_by_its_whole_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
