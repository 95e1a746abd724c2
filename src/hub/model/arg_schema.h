/*
 * arg_schema - the JSON Schema (2020-12) of arguments, from their table. Pure.
 *
 *     { .name = "limit", A_INT(1, 100), .brief = "how many" }
 *         {"type":"integer","minimum":1,"maximum":100,"description":"how many"}
 *
 * /openapi.json and the tools of MCP are made with it, so both say the same of an argument.
 *
 * Tests: test/unit/test_arg_schema.c test/scenario/openapi.bats
 */
#ifndef CLIQ_HUB_MODEL_ARG_SCHEMA_H
#define CLIQ_HUB_MODEL_ARG_SCHEMA_H

#include "base/buf.h"
#include "hub/model/arg.h"

/* The schemas that some kinds refer to, as JSON, and how much is told. */
struct arg_schema_refs {
    const char *source; /* of ARG_SOURCE: the object */
    const char *signal; /* of ARG_SIGNALS: what each of them is */
    bool is_short; /* without lengths, patterns and what integers are at least: models pay for them,
                    * and refusals say them */
};

/* One argument; the description is its brief. */
void arg_schema_write(struct buf *to, const struct hub_arg *a, bool is_described,
                      const struct arg_schema_refs *refs);
/* An object with these members and no others. */
void arg_schema_write_object(struct buf *to, const struct hub_arg *args,
                             const struct arg_schema_refs *refs);
/* {"type":"string","enum":["a","b"]} of words with `between` between them. */
void
arg_schema_write_words(struct buf *to, const char *words, size_t len, char between, bool or_null);

#endif
