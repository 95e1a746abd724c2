/*
 * fuzz_llm - agents/llm_reply and agents/llm_failure on any bytes. The first byte chooses the
 * framing.
 *
 * For every input:
 *   - text, usage and end are the same whether the bytes come at once or in pieces
 *   - words and messages end within their arrays; a message has no control characters
 */

#include "fuzz.h"

#include "agents/llm/llm_reply.h"

static void
event(struct llm_reply *r, const struct json *ev)
{
    llm_model(r, json_get(ev, "model"));
    llm_say(r, json_path(ev, "choices[0].delta.content"));
    llm_say(r, json_get(ev, "text"));
    llm_think(r, json_get(ev, "thinking"));
    llm_count(&r->input_tokens, json_path(ev, "usage.input_tokens"));
    llm_stop(r, json_get(ev, "stop"));
    if (json_get(ev, "error"))
        llm_fail(r, ev);
}

static void
feed(struct llm_reply *r, bool is_lines, const char *p, size_t n, size_t piece)
{
    struct llm_stream in = { .event = event, .is_lines = is_lines };
    bool is_good = true;

    for (size_t i = 0; is_good && i < n; i += piece)
        is_good = llm_stream_feed(&in, r, p + i, piece < n - i ? piece : n - i);
    llm_stream_end(&in, r);
    llm_stream_release(&in);
}

static void
check_message(const struct llm_failure *f)
{
    MUST(memchr(f->message, '\0', sizeof f->message));
    for (const char *c = f->message; *c; c++)
        MUST((unsigned char)*c >= ' ');
    MUST(f->after_ms >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct llm_reply one = { 0 }, many = { 0 };
    struct llm_failure f;

    if (!len)
        return 0;
    const char *p = (const char *)data + 1;
    feed(&one, data[0] & 1, p, len - 1, len);
    feed(&many, data[0] & 1, p, len - 1, 1 + (data[0] >> 1));
    MUST(one.text.len == many.text.len && one.stop == many.stop);
    MUST(!one.text.len || memcmp(one.text.p, many.text.p, one.text.len) == 0);
    MUST(one.input_tokens == many.input_tokens && one.n_thought == many.n_thought);
    MUST(one.has_failed == many.has_failed && !one.broken == !many.broken);
    MUST(strcmp(one.model, many.model) == 0 && strcmp(one.stop_word, many.stop_word) == 0);
    check_message(&one.failure);
    llm_failure_read_body(&f, 400 + data[0], p, len - 1);
    check_message(&f);
    llm_reply_release(&one);
    llm_reply_release(&many);
    return 0;
}
