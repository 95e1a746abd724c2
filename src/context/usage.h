/*
 * usage - what an agent's model used: tokens, money, turns.
 *
 * An agent reports it in `result.usage` of its status lines: of progress lines while it works (the
 * last one counts), and of its terminal line. CLI and LLM agents also put it into their handoff, as
 * data.usage.
 *
 *     {"model":"claude-sonnet-4-5","input_tokens":5210,"output_tokens":830,"cached_tokens":4000,
 *      "cost_usd":0.017,"turns":4,"duration_ms":61200,"session_id":"…"}
 *
 * usage_fields describes them. A member that is not known is absent; in particular a
 * cost is never guessed: it is what the agent's program says, or tokens times a known price
 * (prices.def, or the setting prices.<model>). Where only a part of it is known, that is
 * cost_usd_min.
 *
 * Tests: test/unit/test_usage.c
 */
#ifndef CLIQ_CONTEXT_USAGE_H
#define CLIQ_CONTEXT_USAGE_H

#include "base/field.h"
#include "base/json.h"

/* The members, in the order in which they are written; the last row has a NULL key. */
extern const struct field usage_fields[];

struct usage {
    const char *model;      /* NULL: not known */
    const char *session_id; /* NULL: none */
    int64_t input_tokens, output_tokens;
    int64_t cached_tokens;  /* of input_tokens, those read from the vendor's cache */
    int64_t written_tokens; /* of input_tokens, those written to it: cache_write_tokens */
    int64_t turns, duration_ms;
    double cost_usd; /* has_cost false: it is this or more */
    bool has_cost;
};

/* Reads an object; wrong members are left out. False: v is no object, or holds neither tokens nor
 * a cost. Texts go into the arena. */
bool usage_read(struct arena *a, const struct json *v, struct usage *out);
struct json *usage_json(struct arena *a, const struct usage *u); /* NULL: out of memory */
/* Appends it as a member of an object, unless it is zero. */
void usage_key_json(struct buf *to, const char *key, const struct usage *u);

/* Adds what another attempt or phase used. The cost of the sum is known only when both are, else
 * cost_usd is the part that is; a sum that is zero has none to know. model and session_id become
 * NULL unless they are the same. */
void usage_add(struct usage *sum, const struct usage *u);
bool usage_is_zero(const struct usage *u);

/* Sets the cost from the price of its model, unless it is known. prices: the setting `prices`, or
 * NULL. Where the price depends on the length of a request, usage_price only knows what it is at
 * least; usage_price_request, for the usage of one request, knows it. */
void usage_price(struct usage *u, const struct json *prices);
void usage_price_request(struct usage *u, const struct json *prices);

/* Appends "5.2k in, 830 out, $0.017" for people; "$0.017 or more" when only a part is known. */
void usage_show(struct buf *to, const struct usage *u);
/* Appends the cost, or where it is not known the tokens: "$0.0170", "6.0k tokens"; "$0.0170+"
 * when only a part is known. Nothing: none were used. */
void usage_show_short(struct buf *to, const struct usage *u);

#endif
