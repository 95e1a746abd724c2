/*
 * review_copy - what a review keeps of the work, as it was: artifacts, and the project's changes.
 *
 *     .cliq/reviews/<id>/files/<path>    copies of the artifacts
 *     .cliq/reviews/<id>/changes.diff    what changed in a git repository since the run began
 *
 * Artifacts are the regular files in the working directory that match one of review.artifacts: `*`,
 * `?` and `[...]` within a name, ** for any directories; a directory stands for all that is in it.
 * No symbolic link is followed. One larger than REVIEW_FILE_MAX is listed and not copied, and so
 * are those beyond REVIEW_BYTES_MAX; those beyond REVIEW_FILES are only counted.
 *
 * The changes are those of `git diff` from the commit that HEAD was at when the run began, with
 * files that git does not know yet, without .cliq/, cut at REVIEW_DIFF_MAX.
 *
 * Tests: test/scenario/review.bats
 */
#ifndef CLIQ_AGENTS_REVIEW_REVIEW_COPY_H
#define CLIQ_AGENTS_REVIEW_REVIEW_COPY_H

#include "context/context.h"

#define REVIEW_FILES     200
#define REVIEW_FILE_MAX  ((int64_t)16 << 20)
#define REVIEW_BYTES_MAX ((int64_t)128 << 20) /* of all copies */
#define REVIEW_DIFF_MAX  ((size_t)1 << 20)

/* Sets artifacts (and unmatched, left_out) of the document. */
enum status review_copy_artifacts(struct context *c, const char *id, const struct json *patterns,
                                  struct json *doc, struct err *e);
/* Sets diff of the document; nothing where there is no git, or no repository with a commit. */
enum status review_copy_changes(struct context *c, const char *id, struct json *doc, struct err *e);

#endif
