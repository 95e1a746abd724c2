/* Tests agents/cli_turn and the vendors' parsers with recorded streams (test/unit/streams). */
#define _GNU_SOURCE /* tzset */
#include "test.h"

#include "agents/cli/cli.h"

#include <limits.h>
#include <time.h>

static char root[PATH_MAX]; /* of the sources */
static struct turn t;
static struct arena arena;

static int
leave(void **state)
{
    turn_release(&t);
    arena_release(&arena);
    return case_leave(state);
}

#define STREAM_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static char *all_said, *all_log;

/* What people see of one line goes behind what they saw before. */
static void
take(struct buf *said, struct buf *log)
{
    for (size_t i = 0; i < t.said.len; i++)
        buf_addc(said, t.said.p[i] ? t.said.p[i] : '\n');
    buf_add(log, t.log.p, t.log.len);
    buf_reset(&t.said);
    buf_reset(&t.log);
}

static void
feed(const struct cli_vendor *v, const char *text)
{
    struct buf said = { 0 }, log = { 0 };
    char *copy = strdup(text);

    turn_release(&t);
    t = (struct turn){ 0 };
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
        struct json *doc;
        arena_reset(&arena);
        t.arena = &arena;
        if (json_parse(&arena, line, strlen(line), &doc, NULL))
            v->line(&t, doc);
        take(&said, &log);
    }
    buf_addc(&said, '\0');
    buf_addc(&log, '\0');
    free(copy);
    free(all_said);
    free(all_log);
    all_said = said.p;
    all_log = log.p;
}

static void
replay(const struct cli_vendor *v, const char *name)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/test/unit/streams/%s.jsonl", root, name);
    char *text = read_file(path, NULL);
    feed(v, text);
    free(text);
}

#define SAYS(text, part)                                                                           \
    do {                                                                                           \
        if (!strstr((text) ? (text) : "", part))                                                   \
            fail_msg("missing: %s\nin: %s", part, text);                                           \
    } while (0)

/* ---- claude-code ---- */

static void
claude_code_tells_tools_answer_usage_and_cost(void **state)
{
    (void)state;
    replay(&cli_claude_code, "claude_code_writes");
    assert_true(t.is_done);
    assert_false(t.is_failed);
    SAYS(t.answer.p, "Done.\n\n```json");
    SAYS(all_said, "Write /home/ann/proj/hello.txt\nDone.\n"); /* without the block */
    SAYS(all_log, "* Write /home/ann/proj/hello.txt");
    assert_int_equal(t.usage.input_tokens, 20);
    assert_int_equal(t.usage.output_tokens, 10);
    assert_int_equal(t.usage.turns, 2);
    assert_true(t.usage.has_cost);
    assert_string_equal(t.model, "claude-opus-5-5");
    assert_int_equal(strlen(t.session), 36);
}

static void
claude_code_gives_up_at_the_first_refused_key(void **state)
{
    (void)state;
    replay(&cli_claude_code, "claude_code_bad_key");
    assert_true(t.is_hopeless);
    assert_int_equal(t.trouble, TROUBLE_KEY);
}

static void
claude_code_fails_by_is_error_although_subtype_says_success(void **state)
{
    (void)state;
    replay(&cli_claude_code, "claude_code_too_long");
    assert_true(t.is_failed);
    assert_false(t.is_done);
    assert_int_equal(t.trouble, TROUBLE_CONTEXT);
}

static void
claude_code_tells_denied_tools_once_each(void **state)
{
    (void)state;
    feed(&cli_claude_code,
         "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"no\","
         "\"permission_denials\":[{\"tool_name\":\"Bash\"},{\"tool_name\":\"Bash\"},"
         "{\"tool_name\":\"WebFetch\"}]}\n");
    assert_int_equal(t.n_denied, 3);
    assert_string_equal(t.denied.p, "Bash, WebFetch");
    SAYS(all_said, "denied: Bash");
}

static void
claude_code_knows_when_a_rate_limit_ends(void **state)
{
    (void)state;
    feed(&cli_claude_code,
         "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\","
         "\"resetsAt\":1795030000}}\n"
         "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":429,"
         "\"result\":\"API Error: Rate limit reached\"}\n");
    assert_int_equal(t.trouble, TROUBLE_RATE);
    assert_int_equal(t.resets_s, 1795030000);
}

/* ---- codex ---- */

static void
codex_tells_commands_answer_and_usage(void **state)
{
    (void)state;
    replay(&cli_codex, "codex_writes");
    assert_true(t.is_done);
    SAYS(all_said, "$ /bin/bash -lc");
    SAYS(t.answer.p, "Done.");
    assert_int_equal(t.usage.input_tokens, 20);
    assert_int_equal(strlen(t.session), 36);
    assert_int_equal(t.trouble, TROUBLE_NONE); /* its item of type error is harmless */
    SAYS(all_log, "Model metadata for `fake-model` not found");
}

static void
codex_gives_up_at_the_first_refused_key(void **state)
{
    (void)state;
    feed(&cli_codex, "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (unexpected status 401 "
                     "Unauthorized: bad)\"}\n");
    assert_true(t.is_hopeless);
    replay(&cli_codex, "codex_bad_key");
    assert_int_equal(t.trouble, TROUBLE_KEY);
    SAYS(t.error.p, "the API key is not valid");
}

static void
codex_goes_on_after_a_rate_limit_and_tells_it(void **state)
{
    (void)state;
    replay(&cli_codex, "codex_rate_limit");
    assert_true(t.is_done);
    SAYS(all_said, "rate limit: Reconnecting... 1/5");
    assert_string_equal(t.answer.p, "fine");
    assert_int_equal(t.trouble, TROUBLE_NONE); /* it is over */
}

static void
codex_fails_after_a_cut_stream_and_a_long_prompt(void **state)
{
    (void)state;
    replay(&cli_codex, "codex_cut");
    assert_true(t.is_failed);
    SAYS(t.error.p, "stream disconnected before completion");
    turn_release(&t);
    replay(&cli_codex, "codex_too_long");
    assert_int_equal(t.trouble, TROUBLE_CONTEXT);
    assert_string_equal(t.error.p, "prompt is too long: 250000 tokens > 200000 maximum");
}

static void
codex_tells_changed_files(void **state)
{
    (void)state;
    feed(&cli_codex, "{\"type\":\"item.completed\",\"item\":{\"type\":\"file_change\",\"changes\":"
                     "[{\"path\":\"src/a.c\",\"kind\":\"add\"},{\"path\":\"b.c\",\"kind\":"
                     "\"update\"}],\"status\":\"completed\"}}\n");
    assert_string_equal(all_said, "add src/a.c\nupdate b.c\n");
}

/* ---- gemini ---- */

static void
gemini_tells_tools_denials_answer_and_usage(void **state)
{
    (void)state;
    replay(&cli_gemini, "gemini_denied");
    assert_true(t.is_done);
    SAYS(all_said, "write_file /home/ann/proj/hellog.txt");
    assert_string_equal(t.denied.p, "write_file");
    SAYS(t.answer.p, "Done.");
    assert_int_equal(t.usage.output_tokens, 10);
    assert_string_equal(t.model, "gemini-2.5-flash");
}

static void
gemini_joins_the_pieces_of_a_message(void **state)
{
    (void)state;
    feed(&cli_gemini,
         "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"first\",\"delta\":true}\n"
         "{\"type\":\"tool_use\",\"tool_name\":\"ls\",\"parameters\":{}}\n"
         "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"All \",\"delta\":true}\n"
         "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"good\",\"delta\":true}\n"
         "{\"type\":\"result\",\"status\":\"success\",\"stats\":{}}\n");
    assert_string_equal(t.answer.p, "All good");
    assert_true(t.is_done);
}

static void
gemini_tells_what_the_api_said(void **state)
{
    (void)state;
    replay(&cli_gemini, "gemini_bad_key");
    assert_int_equal(t.trouble, TROUBLE_KEY);
    assert_string_equal(t.error.p, "the API key is not valid");
    turn_release(&t);
    replay(&cli_gemini, "gemini_cut");
    assert_true(t.is_failed);
    assert_int_equal(t.trouble, TROUBLE_OTHER);
}

static void
gemini_that_stops_the_model_has_no_answer(void **state)
{
    static const char loop[] =
        "{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"Loop detected, stopping "
        "execution\"}\n";
    static const char end[] = "{\"type\":\"result\",\"status\":\"success\",\"stats\":{}}\n";
    char text[1000];

    (void)state;
    snprintf(text, sizeof text,
             "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"I look.\"}\n%s%s", loop,
             end);
    feed(&cli_gemini, text);
    assert_true(t.is_failed);
    assert_false(t.is_done);
    assert_string_equal(t.error.p, "Loop detected, stopping execution");
    turn_release(&t);
    snprintf(text, sizeof text, /* it went on */
             "%s{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Done.\"}\n%s", loop,
             end);
    feed(&cli_gemini, text);
    assert_true(t.is_done);
}

/* Of its stream's counts only the total has what the model thought, and that is paid for. */
static void
gemini_thoughts_are_output(void **state)
{
    (void)state;
    feed(&cli_gemini,
         "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"total_tokens\":1700,"
         "\"input_tokens\":1000,\"output_tokens\":100,\"cached\":800}}\n");
    assert_int_equal(t.usage.input_tokens, 1000);
    assert_int_equal(t.usage.cached_tokens, 800);
    assert_int_equal(t.usage.output_tokens, 700);
}

static void
gemini_tells_a_retry_without_its_stack_trace(void **state)
{
    static const struct {
        const char *line;
        bool is_told;
    } lines[] = {
        { "    at a frame of nothing", false },
        { "Attempt 1 failed with status 500. Retrying with backoff... _ApiError: "
          "{\"error\":{\"code\":500,\"message\":\"boom\",\"status\":\"INTERNAL\"}}",
          true },
        { "    at throwErrorIfNotOK (file:///gemini.js:267833:24)", true },
        { "    at async Turn.run (file:///gemini.js:333001:24) {", true },
        { "  status: 500", true },
        { "}", true },
        { "Error when talking to Gemini API", false },
        { "}", false },
    };

    (void)state;
    t = (struct turn){ .arena = &arena };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(cli_gemini.error_line(&t, lines[i].line, strlen(lines[i].line)),
                         lines[i].is_told);
    assert_string_equal(t.said.p, "error: boom; the program tries again");
}

static void
gemini_exit_codes_have_words(void **state)
{
    (void)state;
    t = (struct turn){ 0 };
    cli_gemini.exited(&t, 41);
    assert_int_equal(t.trouble, TROUBLE_KEY);
    turn_release(&t);
    t = (struct turn){ 0 };
    cli_gemini.exited(&t, 429 % 256);
    assert_int_equal(t.trouble, TROUBLE_RATE);
    turn_release(&t);
    t = (struct turn){ 0 };
    cli_gemini.exited(&t, 0);
    assert_false(t.is_failed);
}

/* ---- opencode ---- */

static void
opencode_is_done_with_its_last_step(void **state)
{
    (void)state;
    replay(&cli_opencode, "opencode_answers");
    assert_true(t.is_done);
    assert_string_equal(t.answer.p, "fine");
    assert_int_equal(t.usage.input_tokens, 10);
    assert_false(t.usage.has_cost); /* a cost of 0 is not known */
    assert_int_equal(memcmp(t.session, "ses_", 4), 0);
}

static void
opencode_tells_denied_tools(void **state)
{
    (void)state;
    replay(&cli_opencode, "opencode_denied");
    assert_string_equal(t.denied.p, "write");
    assert_false(t.is_done); /* its step ended with a tool call */
}

static void
opencode_errors_end_it(void **state)
{
    (void)state;
    replay(&cli_opencode, "opencode_bad_key");
    assert_int_equal(t.trouble, TROUBLE_KEY);
    turn_release(&t);
    replay(&cli_opencode, "opencode_too_long");
    assert_int_equal(t.trouble, TROUBLE_CONTEXT);
    assert_true(t.is_hopeless); /* it would never end */
}

static void
opencode_is_given_up_when_its_stream_is_cut_again_and_again(void **state)
{
    struct buf many = { 0 };

    (void)state;
    replay(&cli_opencode, "opencode_cut");
    SAYS(all_said, "the stream of the model's answer was cut");
    assert_false(t.is_hopeless);
    turn_release(&t);
    for (int i = 0; i < 7; i++)
        buf_adds(&many, "{\"type\":\"step_start\",\"part\":{}}\n");
    feed(&cli_opencode, many.p);
    buf_release(&many);
    assert_true(t.is_hopeless);
}

static void
opencode_tells_from_its_log_why_it_tries_again(void **state)
{
    static const char *const lines[] = {
        "timestamp=2026-11-19T22:43:55.775Z level=ERROR run=4db64dfe message=\"stream error\" "
        "providerID=x modelID=m session.id=ses_1 small=false agent=build mode=primary "
        "error.error=\"AI_APICallError: Rate limit reached\"",
        "timestamp=2026-11-19T22:43:55.775Z level=ERROR run=4db64dfe message=\"stream error\" "
        "providerID=x modelID=m session.id=ses_1 small=true agent=title mode=primary "
        "error.error=\"AI_APICallError: boom\"",
        "timestamp=2026-11-19T22:43:54.724Z level=ERROR run=4db64dfe message=\"Failed to fetch "
        "models.dev\"",
    };

    (void)state;
    t = (struct turn){ 0 };
    assert_true(cli_opencode.error_line(&t, lines[0], strlen(lines[0])));
    assert_string_equal(t.said.p, "rate limit: AI_APICallError: Rate limit reached");
    buf_reset(&t.said);
    assert_true(cli_opencode.error_line(&t, lines[1], strlen(lines[1]))); /* of a title */
    assert_int_equal(t.said.len, 0);
    assert_false(cli_opencode.error_line(&t, lines[2], strlen(lines[2])));
    assert_false(t.is_failed);
}

static void
codex_tells_when_its_usage_limit_ends(void **state)
{
    static const int64_t now = 1795128000; /* 2026-11-19 22:40:00 UTC */

    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(codex_resets_s("You've hit your usage limit. Upgrade to Pro or try again at "
                                    "11:49 PM.",
                                    now),
                     now + 69 * 60 + 59);
    assert_int_equal(codex_resets_s("or try again at Nov 21st, 2026 1:05 AM.", now),
                     now + 86400 + 2 * 3600 + 25 * 60 + 59);
    assert_int_equal(codex_resets_s("or try again at Nov 2nd, 2027 12:40 PM.", now) % 60, 59);
    assert_int_equal(codex_resets_s("try again at ", now), 0);
    assert_int_equal(codex_resets_s("try again at Nov", now), 0);
    assert_int_equal(codex_resets_s("try again at Nov 3", now), 0);
    assert_int_equal(codex_resets_s("try again later", now), 0);
}

/* ---- what they write down ---- */

/* Feeds lines of the program's own file of the conversation. */
static void
feed_journal(const struct cli_vendor *v, const char *text)
{
    struct cli_vendor as_stream = *v;

    as_stream.line = v->journal_line;
    feed(&as_stream, text);
}

static void
codex_writes_down_its_model_and_the_usage_of_the_thread(void **state)
{
    (void)state;
    replay(&(struct cli_vendor){ .line = cli_codex.journal_line }, "codex_journal");
    assert_string_equal(t.model, "gpt-5");
    assert_int_equal(t.usage.input_tokens, 4000);
    assert_int_equal(t.usage.output_tokens, 400);
    assert_true(t.has_new_usage);
    assert_false(t.is_done);
    turn_release(&t);
    feed_journal(&cli_codex, /* a rate limit's event */
                 "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":null}}\n");
    assert_false(t.has_new_usage);
}

static void
gemini_writes_down_each_message_of_the_model(void **state)
{
    (void)state;
    replay(&(struct cli_vendor){ .line = cli_gemini.journal_line }, "gemini_journal");
    assert_int_equal(t.usage.input_tokens, 4000); /* each was written twice */
    assert_int_equal(t.usage.output_tokens, 400);
    assert_true(t.has_new_usage);
}

/* ---- cursor ---- */

static void
cursor_tells_tools_denials_and_the_last_message(void **state)
{
    (void)state;
    replay(&cli_cursor, "cursor_writes");
    assert_true(t.is_done);
    assert_string_equal(t.answer.p, "Done! I've created the summary in summary.txt");
    SAYS(all_said, "read README.md\n");
    SAYS(all_said, "write summary.txt\n");
    assert_string_equal(t.denied.p, "shell");
    assert_int_equal(t.usage.duration_ms, 5234);
    assert_true(usage_is_zero(&t.usage)); /* it tells no tokens */
}

/* ---- all ---- */

static void
damaged_lines_change_nothing(void **state)
{
    static const struct cli_vendor *const all[] = { &cli_claude_code, &cli_codex, &cli_gemini,
                                                    &cli_cursor, &cli_opencode };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        feed(all[i], "{}\n[]\n{\"type\":7}\n{\"type\":\"result\"\n{\"type\":\"assistant\","
                     "\"message\":[]}\n{\"type\":\"item.completed\",\"item\":null}\n"
                     "{\"type\":\"text\",\"part\":1}\n{\"type\":\"tool_call\"}\n"
                     "{\"type\":\"message\",\"role\":\"assistant\"}\n{\"type\":\"tool_use\"}\n");
        assert_false(t.is_done);
        assert_int_equal(t.answer.len, 0);
        turn_release(&t);
    }
    t = (struct turn){ 0 };
}

static void
an_event_behind_the_last_one_means_that_it_goes_on(void **state)
{
    (void)state;
    feed(&cli_claude_code, "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
                           "\"result\":\"a\"}\n"
                           "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\","
                           "\"text\":\"b\"}]}}\n");
    assert_false(t.is_done);
}

static void
progress_is_one_short_line(void **state)
{
    struct json text = { .type = JSON_STRING };
    char words[1000];

    (void)state;
    memset(words, 'x', sizeof words);
    memcpy(words, "one\ntwo\n\n  three\t", 17);
    text.text.p = words;
    text.text.len = sizeof words;
    t = (struct turn){ 0 };
    turn_text(&t, &text);
    assert_memory_equal(t.said.p, "one two three x", 15);
    assert_true(strlen(t.said.p) < TURN_SHORT + 10);
    assert_int_equal(t.answer.len, sizeof words);
}

static void
words_of_an_error_tell_what_to_do(void **state)
{
    static const struct {
        const char *words;
        int64_t status;
        enum model_trouble trouble;
    } cases[] = {
        { "Invalid API key", 0, TROUBLE_KEY },
        { "x", 401, TROUBLE_KEY },
        { "Not logged in \xC2\xB7 Please run /login", 0, TROUBLE_KEY },
        { "prompt is too long: 250000 tokens > 200000 maximum", 400, TROUBLE_CONTEXT },
        { "This model's maximum context length is 8192 tokens", 400, TROUBLE_CONTEXT },
        { "Rate limit reached for requests", 0, TROUBLE_RATE },
        { "slow down", 429, TROUBLE_RATE },
        { "You exceeded your current quota (insufficient_quota)", 429, TROUBLE_OTHER },
        { "No conversation found with session ID: x", 0, TROUBLE_SESSION },
        { "overloaded", 529, TROUBLE_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(model_trouble_of(cases[i].words, strlen(cases[i].words), cases[i].status),
                         cases[i].trouble);
}

static void
usage_of_a_continued_thread_is_what_came_on_top(void **state)
{
    struct usage total = {
        .input_tokens = 300, .output_tokens = 30, .cached_tokens = 50, .written_tokens = 9
    };
    struct usage before = {
        .input_tokens = 100, .output_tokens = 10, .cached_tokens = 20, .written_tokens = 4
    };
    struct usage u = cli_usage_since(&cli_codex, &total, &before);

    (void)state;
    assert_int_equal(u.input_tokens, 200);
    assert_int_equal(u.output_tokens, 20);
    assert_int_equal(u.cached_tokens, 30);
    assert_int_equal(u.written_tokens, 5);
    u = cli_usage_since(&cli_codex, &before, &total); /* a new thread: no sum */
    assert_int_equal(u.input_tokens, 100);
}

/* Claude Code, 2.1.327: tokens are those of the turn, the cost is that of the conversation. */
static void
the_cost_of_a_continued_conversation_is_what_came_on_top(void **state)
{
    struct usage total = { .input_tokens = 300, .cost_usd = 0.018, .has_cost = true };
    struct usage before = { .input_tokens = 100, .cost_usd = 0.0135, .has_cost = true };
    struct usage u = cli_usage_since(&cli_claude_code, &total, &before);

    (void)state;
    assert_int_equal(u.input_tokens, 300);
    assert_float_equal(u.cost_usd, 0.0045, 1e-9);
    u = cli_usage_since(&cli_claude_code, &before, &total);
    assert_float_equal(u.cost_usd, 0.0135, 1e-9);
    u = cli_usage_since(&cli_opencode, &total, &before);
    assert_float_equal(u.cost_usd, 0.018, 1e-9);
}

static void
advice_says_which_setting(void **state)
{
    struct buf b = { 0 };

    (void)state;
    t = (struct turn){ 0 };
    turn_fail(&t, "the key is not valid.", 21, 401);
    cli_advise(&b, &cli_claude_code, &t);
    SAYS(b.p, "claude-code: the key is not valid: check the key (cliq settings "
              "agents.claude-code.api_key -");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest cases[] = {
        STREAM_CASE(claude_code_tells_tools_answer_usage_and_cost),
        STREAM_CASE(claude_code_gives_up_at_the_first_refused_key),
        STREAM_CASE(claude_code_fails_by_is_error_although_subtype_says_success),
        STREAM_CASE(claude_code_tells_denied_tools_once_each),
        STREAM_CASE(claude_code_knows_when_a_rate_limit_ends),
        STREAM_CASE(codex_tells_commands_answer_and_usage),
        STREAM_CASE(codex_gives_up_at_the_first_refused_key),
        STREAM_CASE(codex_goes_on_after_a_rate_limit_and_tells_it),
        STREAM_CASE(codex_fails_after_a_cut_stream_and_a_long_prompt),
        STREAM_CASE(codex_tells_changed_files),
        STREAM_CASE(gemini_tells_tools_denials_answer_and_usage),
        STREAM_CASE(gemini_joins_the_pieces_of_a_message),
        STREAM_CASE(gemini_tells_what_the_api_said),
        STREAM_CASE(gemini_that_stops_the_model_has_no_answer),
        STREAM_CASE(gemini_thoughts_are_output),
        STREAM_CASE(gemini_tells_a_retry_without_its_stack_trace),
        STREAM_CASE(gemini_exit_codes_have_words),
        STREAM_CASE(opencode_is_done_with_its_last_step),
        STREAM_CASE(opencode_tells_denied_tools),
        STREAM_CASE(opencode_errors_end_it),
        STREAM_CASE(opencode_is_given_up_when_its_stream_is_cut_again_and_again),
        STREAM_CASE(opencode_tells_from_its_log_why_it_tries_again),
        STREAM_CASE(codex_tells_when_its_usage_limit_ends),
        STREAM_CASE(codex_writes_down_its_model_and_the_usage_of_the_thread),
        STREAM_CASE(gemini_writes_down_each_message_of_the_model),
        STREAM_CASE(cursor_tells_tools_denials_and_the_last_message),
        STREAM_CASE(damaged_lines_change_nothing),
        STREAM_CASE(an_event_behind_the_last_one_means_that_it_goes_on),
        STREAM_CASE(progress_is_one_short_line),
        STREAM_CASE(words_of_an_error_tell_what_to_do),
        STREAM_CASE(usage_of_a_continued_thread_is_what_came_on_top),
        STREAM_CASE(the_cost_of_a_continued_conversation_is_what_came_on_top),
        STREAM_CASE(advice_says_which_setting),
    };

    if (!getcwd(root, sizeof root))
        return 1;
    int rc = cmocka_run_group_tests_name("cli streams", cases, NULL, NULL);
    free(all_said);
    free(all_log);
    return rc;
}
