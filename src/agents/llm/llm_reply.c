#include "agents/llm/llm_reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- what an event says ---- */

bool
llm_reply_is_whole(const struct llm_reply *r)
{
    return !r->has_failed && r->stop != LLM_OPEN;
}

void
llm_reply_release(struct llm_reply *r)
{
    buf_release(&r->text);
}

void
llm_say(struct llm_reply *r, const struct json *text)
{
    if (json_is(text, JSON_STRING))
        buf_add(&r->text, text->text.p, text->text.len);
}

void
llm_think(struct llm_reply *r, const struct json *text)
{
    if (json_is(text, JSON_STRING))
        r->n_thought += text->text.len;
}

static void
set_word(char *to, size_t size, const struct json *word)
{
    snprintf(to, size, "%.*s", (int)(word->text.len < size ? word->text.len : size - 1),
             word->text.p);
}

void
llm_model(struct llm_reply *r, const struct json *name)
{
    if (json_is(name, JSON_STRING) && name->text.len)
        set_word(r->model, sizeof r->model, name);
}

void
llm_count(int64_t *to, const struct json *n)
{
    int64_t count;

    if (json_int(n, &count) && count >= 0 && count < INT64_C(1000000000000))
        *to = count;
}

/* The words of all vendors; none has two meanings. */
static enum llm_stop
stop_of(const char *word)
{
    static const struct {
        const char *word;
        enum llm_stop stop;
    } words[] = {
        { "end_turn", LLM_END },
        { "stop_sequence", LLM_END },
        { "stop", LLM_END },
        { "completed", LLM_END },
        { "max_tokens", LLM_LENGTH },
        { "max_output_tokens", LLM_LENGTH },
        { "length", LLM_LENGTH },
        { "incomplete", LLM_LENGTH },
        { "model_context_window_exceeded", LLM_LENGTH },
        { "refusal", LLM_REFUSED },
        { "content_filter", LLM_REFUSED },
        { "safety", LLM_REFUSED },
        { "recitation", LLM_REFUSED },
        { "blocklist", LLM_REFUSED },
        { "prohibited_content", LLM_REFUSED },
        { "spii", LLM_REFUSED },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(word, words[i].word) == 0)
            return words[i].stop;
    return LLM_ODD;
}

void
llm_stop(struct llm_reply *r, const struct json *word)
{
    if (!json_is(word, JSON_STRING) || !word->text.len || r->stop == LLM_REFUSED)
        return; /* a refusal stays one, whatever the end is called */
    set_word(r->stop_word, sizeof r->stop_word, word);
    r->stop = stop_of(r->stop_word);
}

void
llm_fail(struct llm_reply *r, const struct json *error)
{
    r->has_failed = true;
    llm_failure_read(&r->failure, 0, error);
}

/* ---- the stream ---- */

/* One event; false: the stream is of no use any more. */
static bool
take(struct llm_stream *s, struct llm_reply *r, const char *p, size_t n)
{
    struct json *event;
    struct json_fault fault;

    while (n && strchr(" \t\r\n", p[n - 1]))
        n--;
    if (!n)
        return true;
    if (n == 6 && memcmp(p, "[DONE]", 6) == 0) { /* of chat completions */
        if (r->stop == LLM_OPEN && r->text.len)
            r->stop = LLM_END;
        return true;
    }
    arena_reset(&s->arena);
    if (json_parse_foreign(&s->arena, p, n, &event, &fault))
        s->event(r, event);
    else
        r->broken = fault.is_starved ? "out of memory" : "an event is not JSON";
    if (buf_failed(&r->text))
        r->broken = r->text.is_over ? "the answer is too large" : "out of memory";
    return !r->broken && !r->has_failed;
}

static bool
feed_events(struct llm_stream *s, struct llm_reply *r, const char *p, size_t n)
{
    enum sse_result got;
    size_t used;

    do {
        got = sse_feed(&s->sse, p, n, &used);
        p += used;
        n -= used;
        if (got == SSE_EVENT && !take(s, r, sse_text(&s->sse.data), s->sse.data.len))
            return false;
    } while (got == SSE_EVENT);
    if (got == SSE_FULL)
        r->broken = "an event is too large";
    return !r->broken;
}

static bool
feed_lines(struct llm_stream *s, struct llm_reply *r, const char *p, size_t n)
{
    bool is_good = true;

    while (is_good && n) {
        const char *end = memchr(p, '\n', n);
        size_t len = end ? (size_t)(end - p) : n;
        buf_add(&s->line, p, len);
        p += len + (end != NULL);
        n -= len + (end != NULL);
        if (end && !buf_failed(&s->line)) {
            is_good = take(s, r, s->line.p, s->line.len);
            buf_reset(&s->line);
        }
        if (buf_failed(&s->line)) {
            r->broken = "an event is too large";
            is_good = false;
        }
    }
    return is_good;
}

bool
llm_stream_feed(struct llm_stream *s, struct llm_reply *r, const char *p, size_t n)
{
    while (!s->has_begun && n && strchr(" \t\r\n", *p)) {
        p++;
        n--;
    }
    if (!s->has_begun && n) {
        s->has_begun = true;
        s->is_document = !s->is_lines && (*p == '{' || *p == '[');
        s->line.max = s->is_document ? 0 : SSE_EVENT_MAX;
    }
    if (r->broken || r->has_failed)
        return false;
    if (s->is_document) {
        buf_add(&s->line, p, n);
        r->broken = buf_failed(&s->line) ? "the answer is too large" : NULL;
        return !r->broken;
    }
    return s->is_lines ? feed_lines(s, r, p, n) : feed_events(s, r, p, n);
}

void
llm_stream_end(struct llm_stream *s, struct llm_reply *r)
{
    if ((s->is_document || s->is_lines) && s->line.len && !r->broken && !r->has_failed)
        take(s, r, s->line.p, s->line.len);
}

void
llm_stream_release(struct llm_stream *s)
{
    sse_release(&s->sse);
    buf_release(&s->line);
    arena_release(&s->arena);
}
