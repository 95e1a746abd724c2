/*
 * base_url - the base URL of a model's API as each client wants it, however it was written: those
 * of OpenAI's API end in a version, /v1, those of others do not. So a URL that was copied from one
 * setting into another works, and no version is doubled.
 *
 * Tests: test/scenario/llm.bats test/scenario/cli_agents.bats
 */
#ifndef CLIQ_AGENTS_BASE_URL_H
#define CLIQ_AGENTS_BASE_URL_H

#include "base/buf.h"

/* Appends the URL without slashes at its end, and without the first of these endings (NULL ends the
 * list) that it has. */
void base_url_without(struct buf *to, const char *url, const char *const *endings);
/* Of an API compatible with OpenAI's: a URL with a path is complete, as the vendors' own libraries
 * take it; one without gets /v1. */
void base_url_openai(struct buf *to, const char *url);

#endif
