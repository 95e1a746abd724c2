/*
 * review_desk - the reviews of all projects of this user: listed, read, answered. The one place for
 * `cliq review`, HTTP and the tools of MCP.
 *
 * A review is a file of its project (run/review.h); its tasks in the hub name the project. Any key
 * may emit such a task, so one is believed only when the review names it, too
 * (`reviewers[].task`). Those of another machine, and those that a later run moved away, are not
 * found.
 *
 * An answer is on disk when review_desk_answer returns. An orchestrator that runs takes it; one of
 * a run that sleeps (run/sleeping.h) is started again; where one died, `cliq run --resume` takes
 * it.
 *
 * Every function reads files and may wait for a lock: a loop calls them on another thread.
 * Documents and texts live in the caller's arena.
 *
 * Tests: test/scenario/review_http.bats test/scenario/review_sleep.bats
 */
#ifndef CLIQ_AGENTS_REVIEW_REVIEW_DESK_H
#define CLIQ_AGENTS_REVIEW_REVIEW_DESK_H

#include "context/state_dir.h"
#include "run/review.h"

struct review_asker {
    const char *config;   /* of the hub; NULL: $CLIQ_HOME, else ~/.cliqrc */
    const char *identity; /* whose reviews */
    bool reads_all;       /* admins: those of others, too */
};

/* What follows an answer. */
enum review_next {
    REVIEW_NEXT_OTHERS,  /* the other reviewers have to answer, too */
    REVIEW_NEXT_RUNS,    /* its orchestrator goes on */
    REVIEW_NEXT_STARTED, /* the run slept, and was started again */
    REVIEW_NEXT_RESUME,  /* no orchestrator runs: cliq run --resume */
};
const char *review_next_name(enum review_next n); /* "started" */

/* The state as people see it: an open one of a run that has ended is cancelled. */
const char *review_desk_state(const struct state_dir *f, struct arena *a, const struct json *doc);

/* The reviews in that state (NULL: any) in projects that the hub knows, newest first: an array of
 * {id, gate, team, project, run, state, require, reviewers, iteration, max_iterations, since,
 * until}. */
enum status review_desk_list(const struct review_asker *by, const char *state, struct arena *a,
                             struct json **list, struct err *e);
/* That review, with its project opened and `project` and `state` set. ST_NOT_FOUND; ST_REFUSED: the
 * asker is no reviewer. */
enum status review_desk_find(const struct review_asker *by, const char *id, struct arena *a,
                             struct state_dir *project, struct json **doc, struct err *e);
/* Marks artifacts that changed since: sets their member `change`, "changed" or "gone". */
void review_desk_compare(const struct state_dir *f, struct arena *a, struct json *doc);
/* Appends the artifact `path` to `to`, or, when that is NULL, what changed in the repository: as
 * they were when the review was made. ST_NOT_FOUND: it has none, or did not keep it. */
enum status review_desk_read(const struct state_dir *f, struct arena *a, const struct json *doc,
                             const char *path, struct buf *to, struct err *e);
/* *doc is the review then. */
enum status review_desk_answer(const struct state_dir *f, const char *config, struct arena *a,
                               const char *id, struct review_answer *given, struct json **doc,
                               enum review_next *next, struct err *e);

#endif
