/*
 * llm_reply - the answer of a model, as it arrives: bytes of a stream in, text, usage and the
 * reason of its end out. Pure: no I/O, no clock.
 *
 *     bytes -> events (server-sent events, or a JSON document a line) -> api's function -> reply
 *
 *     struct llm_reply r = { 0 };
 *     struct llm_stream in = { .event = event, .is_lines = false };
 *     while (llm_stream_feed(&in, &r, p, n)) ...   false: reading on is of no use
 *     llm_stream_end(&in, &r);
 *     if (r.has_failed) ... r.failure ...
 *     else if (llm_reply_is_whole(&r)) ... r.text, r.stop ...
 *     else ... r.broken says why, or the stream ended in the middle ...
 *     llm_stream_release(&in), llm_reply_release(&r);
 *
 * The split of the bytes into calls does not change the reply. A server that does not stream and
 * sends one JSON document is understood, too, if the api's function reads such a document.
 *
 * The function of an api gets one event, a JSON document, and tells what is in it with the calls
 * below. Absent and foreign members are harmless to all of them.
 *
 * Tests: test/unit/test_llm.c test/fuzz/fuzz_llm.c
 */
#ifndef CLIQ_AGENTS_LLM_LLM_REPLY_H
#define CLIQ_AGENTS_LLM_LLM_REPLY_H

#include "agents/llm/llm_failure.h"
#include "base/json.h"
#include "net/sse.h"

enum llm_stop {
    LLM_OPEN,    /* the answer has not ended */
    LLM_END,     /* it is complete */
    LLM_LENGTH,  /* a limit cut it */
    LLM_REFUSED, /* the model or a filter refused */
    LLM_ODD,     /* another reason: stop_word */
};

struct llm_reply {
    struct buf text;
    enum llm_stop stop;
    char stop_word[64]; /* the reason as the vendor calls it */
    char model[128];    /* "": not told */
    int64_t input_tokens, output_tokens, cached_tokens,
        written_tokens; /* as struct usage has them */
    size_t n_thought;   /* bytes of the model's thoughts */
    bool has_failed;    /* the server reported an error */
    struct llm_failure failure;
    const char *broken; /* why the stream cannot be read; NULL: it can */
};

bool llm_reply_is_whole(const struct llm_reply *r);
void llm_reply_release(struct llm_reply *r);

/* ---- what an event says ---- */

typedef void llm_event_fn(struct llm_reply *r, const struct json *event);

void llm_say(struct llm_reply *r, const struct json *text);   /* a piece of the answer */
void llm_think(struct llm_reply *r, const struct json *text); /* a piece of its thoughts */
void llm_model(struct llm_reply *r, const struct json *name);
void llm_count(int64_t *to, const struct json *n); /* a number of tokens; replaces the one before */
/* The reason of the end, as a word; null and absent: the answer goes on. */
void llm_stop(struct llm_reply *r, const struct json *word);
void llm_fail(struct llm_reply *r, const struct json *error);

/* ---- the stream ---- */

struct llm_stream {
    llm_event_fn *event;
    bool is_lines; /* a JSON document a line; else server-sent events */
    /* the state */
    struct sse sse;
    struct buf line; /* an incomplete line; a whole document */
    struct arena arena;
    bool has_begun, is_document;
};

bool llm_stream_feed(struct llm_stream *s, struct llm_reply *r, const char *p, size_t n);
void llm_stream_end(struct llm_stream *s, struct llm_reply *r);
void llm_stream_release(struct llm_stream *s);

#endif
