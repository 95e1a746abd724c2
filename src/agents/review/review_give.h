/*
 * review_give - a person's or an agent's answer to a review, and what follows: the tasks in the
 * inboxes end, unless the gate's agent lives and does it.
 *
 * Tests: test/scenario/review.bats test/scenario/mcp.bats
 */
#ifndef CLIQ_AGENTS_REVIEW_REVIEW_GIVE_H
#define CLIQ_AGENTS_REVIEW_REVIEW_GIVE_H

#include "run/review.h"

/* Can it still be answered? Not when its run is over; then open reviews count as cancelled. */
bool review_is_over(const struct state_dir *f, const struct json *doc);
/* Answers the review whose id begins with `prefix`; *doc is the review then. ST_CONFLICT: it was
 * answered, or is over. */
enum status review_give(const struct state_dir *f, struct arena *a, const char *prefix,
                        struct review_answer *given, struct json **doc, struct err *e);

#endif
