/* Tests agents/model_agent: what becomes of a model's answers. The driver is a list of answers. */
#include "test.h"

#include "agents/model_agent.h"

static struct arena arena;
static struct agent_message m;
static struct context c;
static struct err e;
static char cwd[4096], asked[2][8192];
static const char *const *answers;
static const struct json *driver_data;
static size_t n_asked;

static int
enter(void **state)
{
    arena = (struct arena){ 0 };
    c = (struct context){ .signal_dir = -1, .state = { .dir = -1 } };
    n_asked = 0;
    if (case_enter(state) || !getcwd(cwd, sizeof cwd))
        return -1;
    make_dirs(".cliq/signals");
    make_dirs(".cliq/channels/develop--test");
    make_dirs(".cliq/channels/review--develop");
    make_dirs(".cliq/channels/review--ship");
    return 0;
}

static int
leave(void **state)
{
    context_release(&c);
    arena_release(&arena);
    return case_leave(state);
}

#define MODEL_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static enum status
ask(void *ctx, const char *prompt, struct buf *answer, struct err *why)
{
    const char *text = answers[n_asked];

    (void)ctx;
    assert_true(n_asked < 2);
    snprintf(asked[n_asked++], sizeof *asked, "%s", prompt);
    if (!text)
        return err_set(why, ST_FAILED, "the key is wrong");
    struct usage u = { .model = "m-1", .input_tokens = 10, .output_tokens = (int64_t)n_asked };
    enum status s = context_usage(&c, &u, NULL, why);
    buf_adds(answer, text);
    return s;
}

/* Lets the phase be done with these answers; `payload` follows its name. */
static enum status
work(const char *phase, const char *payload, const char *targets, const char *const *texts)
{
    struct buf b = { 0 }, dirs = { 0 };
    char list[128];

    snprintf(list, sizeof list, "%s", targets);
    for (char *t = strtok(list, " "); t; t = strtok(NULL, " "))
        buf_addf(&dirs, "%s\"%s/.cliq/channels/%s\"", dirs.len ? "," : "", cwd, t);
    buf_addf(&b,
             "{\"version\":1,\"type\":\"phase\",\"agent\":\"claude-code\",\"team_name\":\"t\","
             "\"project_dir\":\"%s\",\"signal_dir\":\"%s/.cliq/signals\",\"settings\":{\"model\":"
             "\"of-settings\",\"max_tokens\":5},\"handoff_dirs\":[%s],\"payload\":{\"phase\":"
             "\"%s\"%s}}",
             cwd, cwd, dirs.p, phase, payload);
    char *text = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    buf_release(&dirs);
    CHECK_OK(agent_message_parse(&arena, text, strlen(text), &m, &e), &e);
    CHECK_OK(context_open(&arena, &m, &c, &e), &e);
    answers = texts;
    return model_agent_work(&c, &(struct model_driver){ .ask = ask, .data = driver_data }, &e);
}

static enum status
develop(const char *payload, const char *const *texts)
{
    return work("develop", payload, "develop--test", texts);
}

static enum status
review(const char *const *texts)
{
    return work("review",
                ",\"phase_type\":\"gate\",\"route_targets\":[\"develop\"],\"iteration\":1,"
                "\"max_iterations\":3",
                "review--ship review--develop", texts);
}

/* A member of a handoff, as JSON. */
static const char *
handoff(const char *channel, const char *path)
{
    struct buf b = { 0 };
    struct json *v;
    char name[256];
    size_t len;

    snprintf(name, sizeof name, ".cliq/channels/%s/handoff.json", channel);
    char *text = read_file(name, &len);
    const char *kept = arena_dup(&arena, text, len);
    free(text);
    assert_true(json_parse(&arena, kept, len, &v, NULL));
    json_write(&b, json_path(v, path));
    const char *shown = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    return shown;
}

#define ANSWERS(...) ((const char *const[]){ __VA_ARGS__ })

static void
the_last_block_is_data_and_the_words_before_it_text(void **state)
{
    (void)state;
    CHECK_OK(develop("", ANSWERS("It works.\n\n```json\n{\"files\":[\"a.c\"]}\n```\n")), &e);
    assert_string_equal(handoff("develop--test", "text"), "\"It works.\\n\\n\"");
    assert_string_equal(handoff("develop--test", "data.files"), "[\"a.c\"]");
    assert_string_equal(handoff("develop--test", "data.usage"),
                        "{\"model\":\"m-1\",\"input_tokens\":10,\"output_tokens\":1}");
    assert_int_equal(n_asked, 1);
}

static void
an_answer_without_a_block_is_text(void **state)
{
    (void)state;
    CHECK_OK(develop("", ANSWERS("Only words.")), &e);
    assert_string_equal(handoff("develop--test", "text"), "\"Only words.\"");
    assert_string_equal(handoff("develop--test", "data.usage.output_tokens"), "1");
}

static void
a_block_that_is_no_object_is_a_result(void **state)
{
    (void)state;
    CHECK_OK(develop("", ANSWERS("```json\n[1,2]\n```")), &e);
    assert_string_equal(handoff("develop--test", "data.result"), "[1,2]");
    assert_string_equal(handoff("develop--test", "text"), "\"```json\\n[1,2]\\n```\"");
}

static void
a_damaged_block_stays_in_the_text(void **state)
{
    (void)state;
    CHECK_OK(develop("", ANSWERS("Done.\n```json\n{\"a\":\n```\n")), &e);
    assert_string_equal(handoff("develop--test", "text"),
                        "\"Done.\\n```json\\n{\\\"a\\\":\\n```\\n\"");
}

static void
commands_of_a_phase_are_checks_behind_the_answer(void **state)
{
    (void)state;
    CHECK_OK(develop(",\"commands\":[{\"name\":\"good\",\"run\":\"true\"},{\"name\":\"bad\","
                     "\"run\":\"exit 3\"}]",
                     ANSWERS("Done.")),
             &e);
    assert_string_equal(handoff("develop--test", "data.checks[1].exit_code"), "3");
    assert_non_null(strstr(handoff("develop--test", "text"), "1 of 2 commands passed"));
}

static void
what_the_driver_adds_stands_in_data_and_summary(void **state)
{
    size_t len;
    struct json *doc;

    (void)state;
    assert_true(json_parse(&arena, "{\"denied\":\"Bash\"}", 17, &doc, NULL));
    driver_data = doc;
    CHECK_OK(develop("", ANSWERS("Done.")), &e);
    driver_data = NULL;
    assert_string_equal(handoff("develop--test", "data.denied"), "\"Bash\"");
    char *lines = read_file(".cliq/signals/develop.jsonl", &len);
    assert_non_null(strstr(lines, "\"summary\":\"tools were denied: Bash\""));
    free(lines);
}

static void
no_answer_and_errors_of_the_driver_fail_the_phase(void **state)
{
    (void)state;
    assert_int_equal(develop("", ANSWERS(" \n")), ST_FAILED);
    assert_string_equal(e.text, "claude-code: the model gave no answer");
    context_release(&c);
    n_asked = 0;
    assert_int_equal(develop("", ANSWERS(NULL)), ST_FAILED);
    assert_string_equal(e.text, "the key is wrong");
    assert_false(file_exists(".cliq/channels/develop--test/handoff.json"));
}

static void
a_gate_ends_with_the_verdict_of_the_last_block(void **state)
{
    (void)state;
    CHECK_OK(review(ANSWERS("Not yet.\n```json\n{\"verdict\":{\"outcome\":\"route\",\"target\":"
                            "\"develop\"},\"comment\":\"add a test\"}\n```")),
             &e);
    assert_string_equal(handoff("review--develop", "data.verdict"),
                        "{\"outcome\":\"ROUTE\",\"target\":\"develop\",\"reason\":\"add a test\"}");
    assert_string_equal(handoff("review--develop", "data.usage.input_tokens"), "10");
}

static void
a_verdict_without_a_comment_takes_the_words_before_it(void **state)
{
    (void)state;
    CHECK_OK(review(ANSWERS("All good.\n```json\n{\"verdict\":\"PASS\"}\n```")), &e);
    assert_string_equal(handoff("review--ship", "data.verdict.reason"), "\"All good.\\n\"");
}

static void
an_unusable_verdict_is_asked_for_once_more(void **state)
{
    (void)state;
    CHECK_OK(
        review(ANSWERS("```json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"ship\"}}"
                       "\n```",
                       "```json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"ok\"}\n```")),
        &e);
    assert_int_equal(n_asked, 2);
    assert_non_null(strstr(asked[1], "ROUTE to \"ship\" is not possible: the route targets are "
                                     "develop"));
    assert_string_equal(handoff("review--ship", "data.verdict.outcome"), "\"PASS\"");
}

static void
two_unusable_verdicts_escalate_with_what_was_said(void **state)
{
    size_t len;

    (void)state;
    CHECK_OK(review(ANSWERS("Looks fine to me!", "I said it looks fine.")), &e);
    char *lines = read_file(".cliq/signals/review.jsonl", &len);
    assert_non_null(strstr(lines, "\"outcome\":\"ESCALATE\""));
    assert_non_null(strstr(lines, "It said: I said it looks fine."));
    free(lines);
}

static void
the_phase_goes_before_the_settings(void **state)
{
    struct usage used;

    (void)state;
    CHECK_OK(
        develop(",\"model\":\"of-phase\",\"phase_config\":{\"max_tokens\":7,\"args\":[\"-x\"]},"
                "\"session\":{\"id\":\"s-1\",\"usage\":{\"input_tokens\":40}}",
                ANSWERS("x")),
        &e);
    assert_string_equal(model_agent_model(&c), "of-phase");
    assert_string_equal(model_agent_text(&c, "max_tokens"), "7");
    assert_true(json_is(model_agent_option(&c, "args"), JSON_ARRAY));
    assert_null(model_agent_text(&c, "temperature"));
    assert_string_equal(model_agent_session(&c, &used), "s-1");
    assert_int_equal(used.input_tokens, 40);
}

int
main(void)
{
    const struct CMUnitTest cases[] = {
        MODEL_CASE(the_last_block_is_data_and_the_words_before_it_text),
        MODEL_CASE(an_answer_without_a_block_is_text),
        MODEL_CASE(a_block_that_is_no_object_is_a_result),
        MODEL_CASE(a_damaged_block_stays_in_the_text),
        MODEL_CASE(commands_of_a_phase_are_checks_behind_the_answer),
        MODEL_CASE(what_the_driver_adds_stands_in_data_and_summary),
        MODEL_CASE(no_answer_and_errors_of_the_driver_fail_the_phase),
        MODEL_CASE(a_gate_ends_with_the_verdict_of_the_last_block),
        MODEL_CASE(a_verdict_without_a_comment_takes_the_words_before_it),
        MODEL_CASE(an_unusable_verdict_is_asked_for_once_more),
        MODEL_CASE(two_unusable_verdicts_escalate_with_what_was_said),
        MODEL_CASE(the_phase_goes_before_the_settings),
    };

    return cmocka_run_group_tests_name("model agent", cases, NULL, NULL);
}
