/*
 * review_line - the reviews of a run in one line each, for `cliq status` and `cliq review`.
 *
 *     Review a-1-3fa9c2: waits for elan since 12:00:00, until 14:00:00: cliq review show a-1-3fa9c2
 *     Review a-1-3fa9c2: changes by elan
 *
 * Tests: test/scenario/review.bats
 */
#ifndef CLIQ_RUN_REVIEW_LINE_H
#define CLIQ_RUN_REVIEW_LINE_H

#include "run/review.h"

/* The state of a review: an open one of a run that has ended is cancelled. In the arena. */
const char *review_line_state(struct arena *a, const struct json *doc, bool has_ended);
/* "elan, ops": who is asked. */
void review_line_names(struct arena *a, const struct json *doc, struct buf *to);
/* Appends a line for each review in the run's directory. */
void review_line_write(const struct state_dir *f, bool has_ended, int64_t now_ms, struct buf *to);
/* Appends the member "reviews" of an object: id, gate, state, reviewers, awaits (those of
 * them who have not answered an open one), since, until; nothing when there is no review. */
void review_line_json(const struct state_dir *f, bool has_ended, struct buf *to);

#endif
