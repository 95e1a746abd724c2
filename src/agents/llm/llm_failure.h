/*
 * llm_failure - what an error of a model's API means, and whether asking again can help. Pure.
 *
 * The APIs agree in little: {"error":{"message","type","code","status"}} (as the element of a list,
 * too), {"error":"text"}, {"message"} or {"detail"}. The kind is decided by the HTTP status, and
 * where that says too little by the words of code, type and message.
 *
 * Tests: test/unit/test_llm.c test/fuzz/fuzz_llm.c
 */
#ifndef CLIQ_AGENTS_LLM_LLM_FAILURE_H
#define CLIQ_AGENTS_LLM_LLM_FAILURE_H

#include "base/json.h"

enum llm_failure_kind {
    LLM_BAD_REQUEST, /* none of the others */
    LLM_BAD_KEY,
    LLM_NO_CREDIT,
    LLM_NO_MODEL,
    LLM_NO_SUCH_PATH, /* probably the base URL is wrong */
    LLM_TOO_LONG,     /* the prompt */
    LLM_LIMITED,      /* too many requests: ask later */
    LLM_OVERLOADED,   /* the server has no capacity: ask later */
    LLM_SERVER_ERROR, /* ask again */
};

struct llm_failure {
    enum llm_failure_kind kind;
    int status;        /* of HTTP; 0: an event of a stream */
    int64_t after_ms;  /* the answer says when to ask again; 0: it does not */
    char message[400]; /* the server's words, safe for a terminal; "": none */
};

/* doc: the body; NULL: it is no JSON. */
void llm_failure_read(struct llm_failure *f, int status, const struct json *doc);
/* The same from the bytes of a body: a text that is no JSON is the message. */
void llm_failure_read_body(struct llm_failure *f, int status, const char *p, size_t n);

/* Is it worth asking again? Later: as often as time allows; else: a few times. */
bool llm_failure_is_temporary(const struct llm_failure *f);
bool llm_failure_is_for_later(const struct llm_failure *f);

#endif
