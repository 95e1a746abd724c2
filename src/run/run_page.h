/*
 * run_page - all that there is to read of a run, as JSON, for the routes below /runs: the run, its
 * journal, a phase, a log. And a handoff that a person replaces.
 *
 * A phase:
 *
 *     {"phase":"build","role":"…","prompt":"…","checks":{…},"logs":["build.1.log"],
 *      "in":[{"from":"plan","handoff":{…}}],"out":[{"to":"review","handoff":null}]}
 *
 * Each text is that of the latest attempt, at most RUN_PAGE_TEXT_MAX bytes of it: "is_cut" lists
 * the members that are longer. A member whose file is not there is absent. A handoff that is no
 * JSON is its text.
 *
 * Tests: test/scenario/serve_runs.bats
 */
#ifndef CLIQ_RUN_RUN_PAGE_H
#define CLIQ_RUN_RUN_PAGE_H

#include "base/json.h"
#include "context/state_dir.h"

#define RUN_PAGE_TEXT_MAX   ((size_t)512 << 10)
#define RUN_PAGE_EVENTS_MAX 5000

/* The run with its phases, as `cliq status --json`. */
enum status run_page_show(const struct state_dir *f, struct buf *to, struct err *e);

/* The lines of its journal as a list: the first RUN_PAGE_EVENTS_MAX that are whole. */
enum status run_page_journal(const struct state_dir *f, struct buf *to, struct err *e);

/* A phase. `f` is of the run, `project` of its project, which has the roles. ST_NOT_FOUND: the team
 * has no such phase. */
enum status run_page_phase(const struct state_dir *f, const struct state_dir *project,
                           const char *phase, struct buf *to, struct err *e);

/* Replaces the handoff of a channel by a person's text, which must be an envelope. ST_INVALID, with
 * line and column: it is not. ST_NOT_FOUND: there is no such channel. */
enum status run_page_edit(const struct state_dir *f, const char *from, const char *to,
                          const char *text, size_t len, struct err *e);

/* Appends the log of the phase's attempt (0: the latest) from byte `after` on, whole characters, at
 * most RUN_PAGE_TEXT_MAX; *next is where to go on. phase NULL: orchestrator.log. */
enum status run_page_log(const struct state_dir *f, const char *phase, int64_t attempt,
                         int64_t after, struct buf *text, int64_t *next, struct err *e);

#endif
