/*
 * match - which patterns a signal's type matches.
 *
 * A pattern and a type are trimmed and split on ':'. They match when they have
 * the same number of segments and each pair of segments is equal, byte by byte;
 * a segment of the pattern that is '*' and nothing else matches any one segment,
 * an empty one too. There is no '**' and no "b*". An empty side matches nothing.
 *
 *     a:*:c   matches a:b:c and a::c      not a:c, not a:b:c:d
 *
 * A matcher holds subscriptions, (pattern, id) pairs, and finds those that match
 * without looking at the others: a trie for each number of segments, one step a
 * segment, with at most two ways on from each node: the child of that name, found
 * by hash, and the child '*'.
 *
 *     matcher_new(&m, e);
 *     matcher_add(m, pattern, len, id, e);
 *     matcher_match(m, type, len, deliver, context);    deliver(context, id), ids ascending
 *     matcher_free(m);
 *
 * The cost of hostile patterns is bounded. A node exists only while a pattern below it does
 * (remove prunes), so a level of the trie has no more nodes than there are patterns of that many
 * segments, and a match visits each node at most once: it costs at most as much as the stored
 * patterns. A lone "*:*:*:..." costs one node a segment. Patterns are limited in bytes and
 * segments, all nodes together in bytes. Names are hashed with a secret key, so that collisions
 * cannot be chosen.
 *
 * Ownership: the pattern is copied. The visitor must not change the matcher; matching
 * allocates nothing and cannot fail. Not for two threads at a time.
 *
 * Tests: test/unit/test_match.c test/fuzz/fuzz_match.c
 */
#ifndef CLIQ_HUB_MODEL_MATCH_H
#define CLIQ_HUB_MODEL_MATCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCH_PATTERN_MAX  65536 /* bytes: as long as the longest type */
#define MATCH_SEGMENTS_MAX 1000  /* a type with more matches no pattern of a matcher */
#define MATCH_BYTES_MAX    ((size_t)256 << 20) /* of all nodes: two million ordinary ones */

/* Checks of users' input. The rule below knows only whole segments, so a pattern with "**" or "b*"
 * would never match, and a type with a '*' would look like a pattern. Logs may hold both; the rule
 * applies to them. */
bool match_is_pattern(const char *pattern, size_t len); /* each '*' is a segment of its own */
bool match_is_type(const char *type, size_t len);       /* no '*' */
#define MATCH_PATTERN_SAYS "must have each * alone between colons, where it is one segment"
#define MATCH_TYPE_SAYS    "must be segments without a *, which is for patterns"

/* The rule itself, for one pattern. No limits. */
bool match_pattern(const char *pattern, size_t pattern_len, const char *type, size_t type_len);

struct matcher;

enum status matcher_new(struct matcher **out, struct err *e);
void matcher_free(struct matcher *m); /* NULL is fine */

/* Adding the same pair again changes nothing. ST_INVALID: empty or over a limit. */
enum status
matcher_add(struct matcher *m, const char *pattern, size_t len, uint64_t id, struct err *e);
/* Was it there? */
bool matcher_remove(struct matcher *m, const char *pattern, size_t len, uint64_t id);

typedef void matcher_visit(void *context, uint64_t id);
/* Visits every subscription that matches, ids ascending; an id that was added with several
 * matching patterns once for each. Returns how many. */
size_t
matcher_match(struct matcher *m, const char *type, size_t len, matcher_visit *visit, void *context);

size_t matcher_count(const struct matcher *m); /* subscriptions */
size_t matcher_nodes(const struct matcher *m); /* of the trie */
size_t matcher_steps(const struct matcher *m); /* nodes that the last match visited */

#endif
