/*
 * review_task - a review as tasks in the hub, one for each reviewer, so that it stands in inboxes.
 *
 * A task is from the agent's name to the reviewer's identity, with the tags `review` and the gate's
 * name; its metadata names review, run and project. The answer makes the reviewer's task done, the
 * end of the review cancels the others. Trouble with the hub is told on standard error and is no
 * trouble of the review.
 *
 * Tests: test/scenario/review.bats
 */
#ifndef CLIQ_AGENTS_REVIEW_REVIEW_TASK_H
#define CLIQ_AGENTS_REVIEW_REVIEW_TASK_H

#include "context/context.h"

/* Makes the tasks that the review does not have yet, and notes them in it. */
void review_task_open(struct context *c, const struct json *doc);
/* Ends them: done for reviewers that answered, cancelled for the others. `sender` is the agent that
 * made them. */
void review_task_close(const char *sender, const struct json *doc);
/* Cancels the open reviews of a run that has ended, and the tasks of all that were cancelled. */
void review_task_cancel_all(const struct state_dir *f, const char *sender);

#endif
