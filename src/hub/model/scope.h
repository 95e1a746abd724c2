/*
 * scope - what a key allows: one bit and one word each. Admin implies all. audit reads: every
 * operation that only reads signals, and every signal (hub/model/sight.h). A process that can
 * open the files below <config> is an admin.
 *
 * Tests: test/unit/test_scope.c
 */
#ifndef CLIQ_HUB_MODEL_SCOPE_H
#define CLIQ_HUB_MODEL_SCOPE_H

#include "base/json.h"

/* The index stores the bits, the log the words: add new ones at the end of both. */
enum hub_scope {
    SCOPE_NONE = 0, /* needs no key */
    SCOPE_EMIT = 1,
    SCOPE_CLAIM = 2,
    SCOPE_ACK = 4,
    SCOPE_INBOX = 8,
    SCOPE_STREAM = 16,
    SCOPE_ADMIN = 32,
    SCOPE_AUDIT = 64,
    SCOPE_TEAMS = 128,   /* of packages: serve/teams.h */
    SCOPE_REVIEW = 256,  /* of reviews: serve/reviews.h */
    SCOPE_DEFAULT = 415, /* all but audit and admin */
};
#define SCOPE_WORDS                                                                                \
    "emit claim ack inbox stream admin audit teams review" /* of 1 << 0, 1 << 1, ... */

/* The word of 1 << number, which is not NUL-ended; NULL: there is none. */
const char *scope_word(unsigned number, size_t *len);
/* The bits of a list of words; others count nothing. */
unsigned scope_bits(const struct json *words);
/* The list of words, in the arena; NULL without memory. */
struct json *scope_list(struct arena *a, unsigned bits);

#endif
