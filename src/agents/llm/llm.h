/*
 * llm - the frame of the agents that ask a model over HTTP: claude-api, openai-api, gemini-api,
 * ollama. model_agent makes the handoff or verdict of the answers.
 *
 * An API is a table: where it is, how it is asked, and a function that reads its events. The frame
 * does the rest: options, the conversation, the streaming request, retries, progress, usage, and
 * sentences for people. The text of the answer goes to standard output as it arrives, which is the
 * attempt's log.
 *
 *     static const struct llm_api api = { .agent = "claude-api", …, .event = event };
 *     static enum status
 *     run(const struct args *a, struct err *e)
 *     {
 *         return llm_serve(&api, e);
 *     }
 *
 * Asked again are:
 *   - limits and overload (429, 503, 529): when the server says, else after a pause that doubles,
 *     for at most LLM_LATER_MS; the phase's timeout ends it earlier
 *   - errors of the server, lost connections, silence, and answers that were cut: LLM_REPEATS times
 * An answer is never put together from two tries. The tokens of all tries are counted.
 *
 * The key never gets into an error or a progress line, even when the server repeats it.
 *
 * Tests: test/unit/test_llm.c test/scenario/llm.bats
 */
#ifndef CLIQ_AGENTS_LLM_LLM_H
#define CLIQ_AGENTS_LLM_LLM_H

#include "agents/llm/llm_reply.h"
#include "base/mask.h"
#include "context/context.h"
#include "net/fetch.h"

#define LLM_REPEATS    2
#define LLM_LATER_MS   (INT64_C(60) * 60 * 1000)
#define LLM_SILENCE_MS (INT64_C(5) * 60 * 1000) /* the setting `timeout` overrides it */
#define LLM_TURNS      3                        /* question, answer, question */

struct llm_turn {
    bool is_model; /* else the user */
    const char *text;
    size_t len;
};

/* The parts of a request. */
struct llm {
    struct context *c;
    const struct llm_api *api;
    const char *base_url;    /* as .base leaves it */
    const char *key, *model; /* key NULL: none */
    const char *temperature; /* a JSON number; NULL: the vendor's default */
    int64_t max_tokens;      /* 0: the vendor's default */
    bool is_official;        /* base_url is the vendor's own */
    bool is_responses;       /* openai-api: the responses API */
    struct buf system;       /* the system prompt */
    const char *proxy;       /* NULL: none */
    int64_t silence_ms;      /* without a byte for so long a request is given up */
    struct mask secrets;     /* the key, hidden in what people read */
    struct llm_turn turns[LLM_TURNS];
    size_t n_turns;
};

struct llm_api {
    const char *agent;                   /* "claude-api" */
    const char *base_url, *url_env;      /* the default; the variable that overrides it */
    const char *key_env;                 /* NULL: it has no keys */
    const char *key_header, *key_prefix; /* "Authorization", "Bearer " */
    const char *extra_header[2];         /* name and value; NULL: none */
    const char *model;                   /* the default; NULL: the only one that the server has */
    const char *pull;                    /* a command that gets a model; NULL: there is none */
    const char *start;                   /* a command that starts the server; NULL: there is none */
    bool is_lines; /* it streams a JSON document a line, not server-sent events */
    const char *models_path, *models_key; /* the list of models: GET path; the list's member */
    void (*base)(struct buf *to, const char *url); /* the base URL from what people write */
    void (*path)(const struct llm *l, struct buf *to);
    void (*body)(const struct llm *l, struct buf *to);
    llm_event_fn *event;
};

/* The body of `cliq agent NAME`. Returns ST_OK or ST_FAILED. */
enum status llm_serve(const struct llm_api *api, struct err *e);
/* Its answer to a test message. */
enum status llm_test(struct context *c, const struct llm_api *api, struct buf *says, struct err *e);

/* ---- for the bodies ---- */

/* "messages":[{"role":"user","content":…},…]; with the system prompt as the first one. */
void llm_write_turns(const struct llm *l, struct buf *to, const char *key, bool with_system);
/* "max_tokens":… and "temperature":…, when they are given. */
void llm_write_max(const struct llm *l, struct buf *to, const char *key);
void llm_write_temperature(const struct llm *l, struct buf *to);

/* ---- the parts of the frame ---- */

/* Reads the options. ST_INVALID names a wrong one. llm_close whatever it returned. */
enum status llm_open(struct llm *l, struct context *c, const struct llm_api *api, struct err *e);
void llm_close(struct llm *l);
/* Sets l->model: the phase's, the setting's, the vendor's default, else the server's only one. */
enum status llm_choose_model(struct llm *l, struct err *e);

#define LLM_HEADERS 4
/* Sets the headers of a request in `to`; their texts go into the arena. */
enum status llm_set_headers(const struct llm *l, struct fetch_header to[LLM_HEADERS],
                            struct fetch_request *q, struct err *e);

/* Fills the sentence of a failure, with what to do. Never ST_OK. */
enum status llm_explain(const struct llm *l, const struct llm_failure *f, struct err *e);
/* Hides the key in a text in an array of n bytes. */
void llm_hide(const struct llm *l, char *text, size_t n);

#endif
