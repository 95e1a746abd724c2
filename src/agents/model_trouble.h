/*
 * model_trouble - what an error of a model's program or API means, and what becomes of it: shared
 * by the agents that drive a program (cli/) and those that speak the Agent Client Protocol (acp/).
 *
 *     words of the error -> model_trouble_unwrap -> model_trouble_of -> model_trouble_advise
 *                                                       TROUBLE_RATE -> model_trouble_wait, then
 * again
 *
 * Tests: test/unit/test_cli_streams.c test/scenario/cli_agents.bats test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_MODEL_TROUBLE_H
#define CLIQ_AGENTS_MODEL_TROUBLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct context;

/* The remedy of an error. */
enum model_trouble {
    TROUBLE_NONE,
    TROUBLE_OTHER,
    TROUBLE_KEY,     /* the key is wrong or the sign-in is missing: only a person helps */
    TROUBLE_CONTEXT, /* too long for the model */
    TROUBLE_RATE,    /* too many requests: later */
    TROUBLE_SESSION, /* the conversation to continue does not exist any more */
};

/* Pure: what an error's words say. status 0: not known, unless they name one ("status 429"). */
enum model_trouble model_trouble_of(const char *p, size_t n, int64_t status);
/* Where an error holds the API's answer, "[API Error: {"error":{"code":401,"message":…}}]", its
 * words and its code (when *status is 0) are taken; the words may be in the arena. */
void model_trouble_unwrap(struct arena *a, const char **p, size_t *n, int64_t *status);

struct model_advice {
    const char *agent;
    const char *key_env; /* the variable that the setting api_key goes to; NULL: there is none */
    const char *sign_in; /* what a person does without a key */
};

/* Appends, behind the error's words, what a person can do: ": check the key …", or nothing. */
void
model_trouble_advise(struct buf *to, enum model_trouble trouble, const struct model_advice *who);

/* Sleeps until a rate limit is over: until resets_s (seconds since 1970; 0: not known), else longer
 * each time; *wait_ms is 0 before the first time. Tells until when. False: the phase's time limit
 * comes first, and `e`, which holds the error, says so. */
bool model_trouble_wait(struct context *c, int64_t resets_s, int64_t *wait_ms, struct err *e);

#endif
