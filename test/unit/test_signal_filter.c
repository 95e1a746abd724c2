/* What must be true of hub/model/signal_filter: which signals a subscriber wants. */
#include "hub/model/signal_filter.h"

#include "test.h"

#define SIGNAL                                                                                     \
    "{\"signal_type\":\"build:web:done\",\"urgency\":0.7,\"tags\":[\"ci\",\"web\"],"               \
    "\"from_role\":\"builder\",\"to_role\":\"reviewer\",\"to_ring\":\"core\"}"
#define BROADCAST "{\"id\":\"signal:x\",\"type\":\"build:web:done\",\"source\":\"ci\"}"

static bool
wants(const struct signal_filter *f, const char *text)
{
    struct arena a = { 0 };
    struct json *signal = NULL;

    assert_true(json_parse(&a, text, strlen(text), &signal, NULL));
    bool is_wanted = signal_filter_wants(f, signal);
    arena_release(&a);
    return is_wanted;
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const char *const[]){ __VA_ARGS__ },                                                      \
            sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)                               \
    }

static void
each_part_must_fit(void **state)
{
    const struct {
        struct signal_filter f;
        bool is_wanted;
    } rows[] = {
        { { .role = NULL }, true },
        { { .types = LIST("alert", "build:web:done") }, true },
        { { .types = LIST("alert", "build:web") }, false },
        { { .patterns = LIST("a:*", "build:*:done") }, true },
        { { .patterns = LIST("build:*") }, false },
        { { .tags = LIST("docs", "web") }, true },
        { { .tags = LIST("docs") }, false },
        { { .rings = LIST("core", "outer") }, true },
        { { .rings = LIST("outer") }, false },
        { { .role = "builder" }, true },
        { { .role = "reviewer" }, true },
        { { .role = "cook" }, false },
        { { .min_urgency = 0.7 }, true },
        { { .min_urgency = 0.71 }, false },
        { { .types = LIST("build:web:done"), .role = "cook" }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(wants(&rows[i].f, SIGNAL), rows[i].is_wanted);
        assert_int_equal(signal_filter_is_empty(&rows[i].f), i == 0);
    }
}

static void
a_broadcast_is_judged_by_its_type(void **state)
{
    (void)state;
    assert_true(wants(&(struct signal_filter){ .patterns = LIST("build:*:done") }, BROADCAST));
    assert_false(wants(&(struct signal_filter){ .patterns = LIST("test:*:done") }, BROADCAST));
    assert_false(wants(&(struct signal_filter){ .tags = LIST("ci") }, BROADCAST));
}

static void
what_has_no_urgency_is_half_urgent_and_what_has_no_type_is_not_wanted(void **state)
{
    (void)state;
    assert_true(wants(&(struct signal_filter){ .min_urgency = 0.5 }, "{\"signal_type\":\"a\"}"));
    assert_false(wants(&(struct signal_filter){ .min_urgency = 0.6 }, "{\"signal_type\":\"a\"}"));
    assert_false(wants(&(struct signal_filter){ .role = NULL }, "{\"urgency\":1}"));
    assert_false(
        wants(&(struct signal_filter){ .role = NULL }, "{\"signal_type\":1,\"type\":\"a\"}"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_part_must_fit),
        CASE(a_broadcast_is_judged_by_its_type),
        CASE(what_has_no_urgency_is_half_urgent_and_what_has_no_type_is_not_wanted),
    };

    return cmocka_run_group_tests_name("signal_filter", tests, NULL, NULL);
}
