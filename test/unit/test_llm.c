/* Tests agents/llm_reply and agents/llm_failure: streams and errors of models' APIs, without a
 * server. */
#include "test.h"

#include "agents/llm/llm_reply.h"

static struct llm_reply r;
static struct llm_failure f;

/* An API for these tests: say, think, stop, model, in, error. */
static void
event(struct llm_reply *to, const struct json *ev)
{
    llm_say(to, json_get(ev, "say"));
    llm_think(to, json_get(ev, "think"));
    llm_stop(to, json_get(ev, "stop"));
    llm_model(to, json_get(ev, "model"));
    llm_count(&to->input_tokens, json_get(ev, "in"));
    if (json_get(ev, "error"))
        llm_fail(to, ev);
}

/* Reads a stream in pieces of n bytes. */
static bool
read_stream(const char *text, bool is_lines, size_t n)
{
    struct llm_stream in = { .event = event, .is_lines = is_lines };
    bool is_good = true;

    llm_reply_release(&r);
    r = (struct llm_reply){ 0 };
    for (size_t i = 0, len = strlen(text); is_good && i < len; i += n)
        is_good = llm_stream_feed(&in, &r, text + i, n < len - i ? n : len - i);
    llm_stream_end(&in, &r);
    llm_stream_release(&in);
    return is_good;
}

static void
check_text(const char *want)
{
    assert_string_equal(r.text.p ? r.text.p : "", want);
}

static void
the_split_of_the_bytes_changes_nothing(void **state)
{
    static const char events[] =
        "\xEF\xBB\xBF: hi\r\n\r\nevent: x\r\ndata: {\"say\":\"w\xC3\xB6\"}\r\n\r\n"
        "data: {\"say\":\"rld\",\"in\":7,\r\ndata: \"model\":\"m\"}\n\n"
        "data: {\"stop\":\"end_turn\"}\n\n";
    static const char lines[] =
        "{\"say\":\"w\xC3\xB6\"}\n\n{\"say\":\"rld\",\"in\":7,\"model\":\"m\"}\r\n"
        "{\"stop\":\"STOP\"}"; /* no '\n' at the end */

    (void)state;
    for (size_t n = 1; n < sizeof events; n++) {
        assert_true(read_stream(n % 2 ? events : lines, n % 2 == 0, n));
        check_text("w\xC3\xB6rld");
        assert_int_equal(r.input_tokens, 7);
        assert_string_equal(r.model, "m");
        assert_true(llm_reply_is_whole(&r));
        assert_int_equal(r.stop, LLM_END);
    }
    llm_reply_release(&r);
}

static void
a_stream_without_its_end_is_not_whole(void **state)
{
    (void)state;
    assert_true(read_stream("data: {\"say\":\"a\"}\n\ndata: {\"stop\":\"end_turn\"}", false, 9));
    check_text("a"); /* the last event lacks its empty line */
    assert_false(llm_reply_is_whole(&r));
    assert_true(read_stream("data: {\"say\":\"a\"}\n\ndata: [DONE]\n\n", false, 9));
    assert_true(llm_reply_is_whole(&r));
    assert_true(read_stream("data: [DONE]\n\n", false, 9));
    assert_false(llm_reply_is_whole(&r));
    llm_reply_release(&r);
}

static void
a_document_instead_of_a_stream_is_one_event(void **state)
{
    (void)state;
    assert_true(read_stream(" \n{\"say\":\"a\",\n\n\"stop\":\"stop\"}\n", false, 4));
    check_text("a");
    assert_true(llm_reply_is_whole(&r));
    assert_true(read_stream("{\"say\":\"a\"", false, 4));
    assert_string_equal(r.broken, "an event is not JSON");
    llm_reply_release(&r);
}

static void
an_event_that_is_no_json_breaks_the_stream(void **state)
{
    (void)state;
    assert_false(read_stream("data: {\"say\":\"a\"}\n\ndata: {\"say\n\ndata: {\"say\":\"b\"}\n\n",
                             false, 5));
    check_text("a");
    assert_string_equal(r.broken, "an event is not JSON");
    assert_false(read_stream("<html>\n{\"say\":\"b\"}\n", true, 5));
    assert_string_equal(r.broken, "an event is not JSON");
    llm_reply_release(&r);
}

static void
an_error_event_ends_the_stream(void **state)
{
    (void)state;
    assert_false(
        read_stream("data: {\"say\":\"a\"}\n\ndata: {\"error\":{\"type\":\"overloaded_error\","
                    "\"message\":\"Overloaded\"}}\n\ndata: {\"stop\":\"stop\"}\n\n",
                    false, 6));
    assert_true(r.has_failed);
    assert_false(llm_reply_is_whole(&r));
    assert_int_equal(r.failure.kind, LLM_OVERLOADED);
    assert_int_equal(r.failure.status, 0);
    llm_reply_release(&r);
}

static void
the_words_of_all_vendors_say_why_an_answer_ended(void **state)
{
    static const struct {
        const char *word;
        enum llm_stop stop;
    } table[] = {
        { "end_turn", LLM_END },
        { "stop", LLM_END },
        { "STOP", LLM_END },
        { "max_tokens", LLM_LENGTH },
        { "MAX_TOKENS", LLM_LENGTH },
        { "length", LLM_LENGTH },
        { "refusal", LLM_REFUSED },
        { "SAFETY", LLM_REFUSED },
        { "content_filter", LLM_REFUSED },
        { "tool_calls", LLM_ODD },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"stop\":\"%s\"}\n{\"stop\":null}\n", table[i].word);
        assert_true(read_stream(text, true, 7));
        assert_int_equal(r.stop, table[i].stop);
        assert_string_equal(r.stop_word, table[i].word);
    }
    assert_true(read_stream("{\"stop\":\"refusal\"}\n{\"stop\":\"stop\"}\n", true, 7));
    assert_int_equal(r.stop, LLM_REFUSED);
}

static void
foreign_members_are_harmless(void **state)
{
    (void)state;
    assert_true(
        read_stream("[]\n1\nnull\n{\"say\":[1],\"think\":{},\"stop\":3,\"model\":[],\"in\":-4}\n"
                    "{\"in\":1.5,\"think\":\"hm\"}\n{\"in\":\"9\"}\n",
                    true, 7));
    check_text("");
    assert_int_equal(r.input_tokens, 0);
    assert_int_equal(r.n_thought, 2);
    assert_string_equal(r.model, "");
    assert_int_equal(r.stop, LLM_OPEN);
}

static enum llm_failure_kind
failure(int status, const char *body)
{
    llm_failure_read_body(&f, status, body, strlen(body));
    return f.kind;
}

static void
errors_are_told_apart(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum llm_failure_kind kind;
    } table[] = {
        { 401, "{}", LLM_BAD_KEY },
        { 403, "", LLM_BAD_KEY },
        { 400,
          "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API "
          "key.\",\"status\":\"INVALID_ARGUMENT\"}}",
          LLM_BAD_KEY },
        { 402, "{}", LLM_NO_CREDIT },
        { 400,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your "
          "credit balance is too low to access the Anthropic API.\"}}",
          LLM_NO_CREDIT },
        { 429,
          "{\"error\":{\"message\":\"You exceeded your current "
          "quota\",\"type\":\"insufficient_quota\"}}",
          LLM_NO_CREDIT },
        { 429, "{\"error\":{\"message\":\"context window rate\",\"type\":\"tokens\"}}",
          LLM_LIMITED },
        { 429,
          "{\"error\":{\"message\":\"Request too large for gpt-4o in organization org-1 on tokens "
          "per min (TPM): Limit 30000, Requested 44000.\",\"type\":\"tokens\",\"code\":"
          "\"rate_limit_exceeded\"}}",
          LLM_TOO_LONG },
        { 404, "{\"error\":\"model 'x' not found\"}", LLM_NO_MODEL },
        { 404,
          "{\"error\":{\"message\":\"models/x is not found for API version "
          "v1beta\",\"status\":\"NOT_FOUND\"}}",
          LLM_NO_MODEL },
        { 404, "<html>not here</html>", LLM_NO_SUCH_PATH },
        { 400,
          "{\"error\":{\"message\":\"This model's maximum context length is 8192 "
          "tokens.\",\"code\":\"context_length_exceeded\"}}",
          LLM_TOO_LONG },
        { 400, "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}",
          LLM_TOO_LONG },
        { 400,
          "[{\"error\":{\"message\":\"The input token count (1) exceeds the maximum number of "
          "tokens allowed (0).\"}}]",
          LLM_TOO_LONG },
        { 413, "", LLM_TOO_LONG },
        { 500, "{\"error\":{\"message\":\"prompt is too long\"}}", LLM_SERVER_ERROR },
        { 504, "", LLM_SERVER_ERROR },
        { 503, "", LLM_OVERLOADED },
        { 529, "", LLM_OVERLOADED },
        { 0, "{\"error\":{\"code\":502,\"message\":\"provider\"}}", LLM_SERVER_ERROR },
        { 0, "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}",
          LLM_LIMITED },
        { 400, "{\"detail\":\"bad\"}", LLM_BAD_REQUEST },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (failure(table[i].status, table[i].body) != table[i].kind)
            fail_msg("%d %s: kind %d", table[i].status, table[i].body, f.kind);
}

static void
the_servers_words_are_short_and_safe(void **state)
{
    static char body[2000];

    (void)state;
    failure(500, "{\"detail\":\"bad \\u001b[31mnews\"}");
    assert_string_equal(f.message, "bad \\x1b[31mnews");
    failure(500, "  \n");
    assert_string_equal(f.message, "");
    memset(body, 'x', sizeof body - 1);
    failure(500, body);
    assert_true(strlen(f.message) < sizeof f.message);
    assert_string_equal(f.message + strlen(f.message) - 4, " \xE2\x80\xA6");
    memset(body, '\001', sizeof body - 1); /* each byte becomes four */
    failure(500, body);
    assert_true(strlen(f.message) < sizeof f.message);
}

static void
googles_delay_is_read(void **state)
{
    (void)state;
    failure(429, "{\"error\":{\"message\":\"x\",\"details\":[{\"@type\":\"a\"},{\"retryDelay\":\"1."
                 "5s\"}]}}");
    assert_int_equal(f.after_ms, 1500);
    assert_true(llm_failure_is_for_later(&f));
    failure(429, "{\"error\":{\"message\":\"x\",\"details\":[{\"retryDelay\":\"soon\"},{"
                 "\"retryDelay\":7}]}}");
    assert_int_equal(f.after_ms, 0);
    failure(500, "");
    assert_true(llm_failure_is_temporary(&f) && !llm_failure_is_for_later(&f));
    failure(400, "");
    assert_false(llm_failure_is_temporary(&f));
}

int
main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(the_split_of_the_bytes_changes_nothing),
        CASE(a_stream_without_its_end_is_not_whole),
        CASE(a_document_instead_of_a_stream_is_one_event),
        CASE(an_event_that_is_no_json_breaks_the_stream),
        CASE(an_error_event_ends_the_stream),
        CASE(the_words_of_all_vendors_say_why_an_answer_ended),
        CASE(foreign_members_are_harmless),
        CASE(errors_are_told_apart),
        CASE(the_servers_words_are_short_and_safe),
        CASE(googles_delay_is_read),
    };

    return cmocka_run_group_tests_name("llm", cases, NULL, NULL);
}
