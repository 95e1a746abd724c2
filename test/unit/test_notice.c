/* Tests agents/notice: who, why and what to do, of any notification. */
#include "agents/notify/notice.h"
#include "test.h"

static struct arena arena;

static void
read_one(struct notice *n, const char *team, const char *text)
{
    struct agent_message m = { .team_name = team, .project_dir = *team ? "/p" : NULL };
    struct json *v = NULL;
    struct err e;

    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    CHECK_OK(notice_read(n, &arena, &m, "r1", v, &e), &e);
}

static void
says(const char *notification, const char *want)
{
    struct notice n;
    struct buf b = { 0 };

    read_one(&n, "@local/x", notification);
    notice_write(&b, &n);
    assert_string_equal(b.p, want);
    buf_release(&b);
    arena_release(&arena);
}

static void
a_phase_that_failed_says_why_and_what_to_do(void **state)
{
    (void)state;
    says("{\"event\":\"on_fail\",\"channel\":\"ops\",\"phase_name\":\"build\",\"phase_type\":"
         "\"gate\",\"iteration\":2,\"reason\":\"no disk\"}",
         "@local/x: phase build failed\n\nProject: /p\nRun: r1\nPhase: build\nIteration: 2\n"
         "Why: no disk\n\nWhat to do, in /p:\n  cliq log build\n  cliq status\n");
}

static void
the_end_of_a_run_has_its_next_command(void **state)
{
    (void)state;
    says("{\"event\":\"on_escalate\",\"outcome\":\"ESCALATED\",\"reason\":\"r\",\"next\":"
         "\"cliq retry build (mend it)\"}",
         "@local/x: the run needs a person\n\nProject: /p\nRun: r1\nOutcome: ESCALATED\nWhy: r\n\n"
         "What to do, in /p:\n  cliq retry build (mend it)\n  cliq status\n");
}

static void
a_review_has_the_commands_that_answer_it(void **state)
{
    (void)state;
    says("{\"event\":\"hug_review\",\"phase_name\":\"sign\",\"review_id\":\"a1\"}",
         "@local/x: phase sign waits for your review\n\nProject: /p\nRun: r1\nPhase: sign\n"
         "review_id: a1\n\nWhat to do, in /p:\n  cliq review show a1\n  cliq review approve a1\n"
         "  cliq review changes a1 -m \"what to change\"\n  cliq status\n");
}

/* A command is pasted into a shell: only a safe word becomes part of it. */
static void
no_text_becomes_part_of_a_command(void **state)
{
    struct notice n;

    (void)state;
    read_one(&n, "@local/x",
             "{\"event\":\"on_fail\",\"phase_name\":\"a; rm -rf ~\",\"review_id\":\"$(id)\"}");
    assert_int_equal(n.n_commands, 1);
    assert_string_equal(n.commands[0], "cliq status");
    arena_release(&arena);
}

static void
an_event_of_an_agent_keeps_its_name_and_members(void **state)
{
    struct notice n;

    (void)state;
    read_one(&n, "@local/x",
             "{\"event\":\"deployed\",\"phase_name\":\"ship\",\"message\":\"a\\nb\\u0007\","
             "\"url\":\"https://x\",\"ok\":true,\"n\":1.50,\"deep\":{\"x\":1}}");
    assert_string_equal(n.title, "@local/x: phase ship: deployed");
    assert_string_equal(n.message, "a\nb\\x07");
    assert_int_equal(n.n_rows, 6);
    assert_string_equal(n.rows[3].label, "url");
    assert_string_equal(n.rows[4].value, "yes");
    assert_string_equal(n.rows[5].value, "1.50");
    arena_release(&arena);
}

static void
a_signal_that_woke_the_agent_is_the_event(void **state)
{
    struct notice n;

    (void)state;
    read_one(&n, "",
             "{\"event\":\"signal\",\"channel\":null,\"sequence\":3,\"signal\":{\"id\":\"s1\","
             "\"type\":\"build:web:done\",\"data\":{\"text\":\"all green\",\"ok\":true}}}");
    assert_string_equal(n.title, "build:web:done");
    assert_string_equal(n.event, "build:web:done");
    assert_string_equal(n.message, "all green");
    assert_null(n.channel);
    assert_int_equal(n.n_rows, 2); /* the run, and ok */
    assert_string_equal(n.rows[1].label, "ok");
    assert_int_equal(n.n_commands, 0);
    arena_release(&arena);
}

static void
a_title_is_one_short_line_of_whole_characters(void **state)
{
    struct notice n;
    struct buf text = { 0 };

    (void)state;
    buf_adds(&text, "{\"event\":\"x\",\"subject\":\"a\\nb\\r\\tc ");
    for (int i = 0; i < 200; i++)
        buf_adds(&text, "\xc3\xa9");
    buf_adds(&text, "\"}");
    read_one(&n, "@local/x", text.p);
    assert_true(strlen(n.title) <= NOTICE_TITLE_MAX);
    assert_null(strpbrk(n.title, "\r\n\t"));
    assert_string_equal(n.title + strlen(n.title) - 5, "\xc3\xa9...");
    buf_release(&text);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_phase_that_failed_says_why_and_what_to_do),
        CASE(the_end_of_a_run_has_its_next_command),
        CASE(a_review_has_the_commands_that_answer_it),
        CASE(no_text_becomes_part_of_a_command),
        CASE(an_event_of_an_agent_keeps_its_name_and_members),
        CASE(a_signal_that_woke_the_agent_is_the_event),
        CASE(a_title_is_one_short_line_of_whole_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
