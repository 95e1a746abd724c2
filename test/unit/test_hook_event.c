/* Tests hook/hook_event: events of three clients, the files of their tools, answers. */
#include "test.h"

#include "hook/hook_event.h"

static struct arena arena;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define HOOK_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static struct hook_event
read_event(const char *text)
{
    struct hook_event ev;
    struct err e = { "" };

    if (hook_event_read(&arena, text, strlen(text), NULL, &ev, &e))
        fail_msg("%s: %s", text, e.text);
    return ev;
}

static void
the_client_is_known_by_its_event(void **state)
{
    (void)state;
    static const struct {
        const char *text, *client;
        enum hook_kind kind;
    } cases[] = {
        { "{\"hook_event_name\":\"Stop\",\"transcript_path\":\"/h/.claude/p/x.jsonl\"}", "claude",
          HOOK_STOP },
        { "{\"hook_event_name\":\"Stop\",\"turn_id\":\"t\"}", "codex", HOOK_STOP },
        { "{\"hook_event_name\":\"SessionStart\",\"transcript_path\":\"/h/s/rollout-1.jsonl\"}",
          "codex", HOOK_START },
        { "{\"hook_event_name\":\"SessionEnd\",\"transcript_path\":\"/h/.gemini/tmp/x\"}", "gemini",
          HOOK_END },
        { "{\"hook_event_name\":\"BeforeTool\"}", "gemini", HOOK_BEFORE },
        { "{\"hook_event_name\":\"AfterAgent\"}", "gemini", HOOK_STOP },
        { "{\"hook_event_name\":\"BeforeModel\"}", "gemini", HOOK_OTHER },
        { "{\"hook_event_name\":\"SubagentStop\",\"cwd\":\"a\"}", "claude", HOOK_OTHER },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hook_event ev = read_event(cases[i].text);
        assert_string_equal(ev.client->id, cases[i].client);
        assert_int_equal(ev.kind, cases[i].kind);
        assert_null(ev.cwd);
    }
}

static void
a_patch_names_its_files(void **state)
{
    (void)state;
    struct hook_event ev = read_event("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"shell\","
                                      "\"tool_input\":{\"command\":[\"bash\",\"-c\","
                                      "\"x\\n*** Begin Patch\\r\\n*** Add File: a b.c\\n+*** Add "
                                      "File: no\\n*** Delete File: d/e\\n*** Move to: f\"]}}");

    assert_int_equal(ev.n_files, 3);
    assert_string_equal(ev.files[0], "a b.c");
    assert_string_equal(ev.files[1], "d/e");
    assert_string_equal(ev.files[2], "f");
    ev = read_event(
        "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":"
        "\"echo '*** Add File: x'\"}}");
    assert_int_equal(ev.n_files, 0);
}

static void
an_answer_has_its_clients_form(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "Stop", "{\"decision\":\"block\",\"reason\":\"a\\\"b\"}\n" },
        { "AfterAgent", "{\"decision\":\"deny\",\"reason\":\"a\\\"b\"}\n" },
        { "BeforeTool", "{\"decision\":\"deny\",\"reason\":\"a\\\"b\"}\n" },
        { "PreToolUse",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"a\\\"b\"}}\n" },
        { "BeforeAgent",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"BeforeAgent\",\"additionalContext\":"
          "\"a\\\"b\"}}\n" },
    };
    char text[100];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = { 0 };
        snprintf(text, sizeof text, "{\"hook_event_name\":\"%s\"}", cases[i][0]);
        struct hook_event ev = read_event(text);
        hook_answer_write(&out, &ev, "a\"b");
        assert_string_equal(out.p, cases[i][1]);
        buf_release(&out);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        HOOK_CASE(the_client_is_known_by_its_event),
        HOOK_CASE(a_patch_names_its_files),
        HOOK_CASE(an_answer_has_its_clients_form),
    };

    return cmocka_run_group_tests_name("hook_event", tests, NULL, NULL);
}
