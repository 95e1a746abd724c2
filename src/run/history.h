/*
 * history - the runs of a project: the present one in .cliq/, those before it in .cliq/runs/<id>/.
 *
 *     runs/<id>/workflow.yml           as the run read it
 *     runs/<id>/run/{journal.jsonl,logs/,prompts/,checks/}
 *     runs/<id>/{signals/,channels/<a>--<b>/handoff.json,gates/<gate>/gate_context.md,reviews/}
 *     runs/<id>/orchestrator.log
 *
 *     runs/<id>/frames/<phase>/        of a team phase: the same again, and runs/ of its attempts
 *                                      before the latest
 *
 * So the directory of a run has the layout of .cliq/ and is opened as a state_dir, and the commands
 * that show a run show any run. The files are hard links, or copies where links cannot be made.
 *
 * A run moves there when the next one begins. The directory is built under another name
 * (.new-<id>) and renamed when it is whole; only then are the files in .cliq/ removed, the journal
 * first. So a process that dies at any moment leaves the run in .cliq/, in runs/, or in both (then
 * it is listed once). Names that begin with a dot are leftovers; the next history_keep removes
 * them.
 *
 * Tests: test/scenario/pipeline_history.bats test/fault/history.bats
 */
#ifndef CLIQ_RUN_HISTORY_H
#define CLIQ_RUN_HISTORY_H

#include "context/state_dir.h"

#define HISTORY_KEEP     20                 /* runs, unless the setting runs.keep says otherwise */
#define HISTORY_WORKFLOW "run/workflow.yml" /* the workflow of the present run */
#define HISTORY_ID_SIZE  64

/* Moves the present run to runs/<id>/ and removes all but the latest `keep` runs there; keep 0:
 * only removes. Without a run in .cliq/ nothing happens. The caller holds the lock, and nothing of
 * the run is alive. After an error the run is still in .cliq/. */
enum status history_keep(const struct state_dir *f, unsigned keep, struct err *e);

struct history_run {
    char id[HISTORY_ID_SIZE];
    bool is_present; /* in .cliq/ itself */
};
struct history {
    struct history_run *runs; /* newest first */
    size_t n;
};
/* All runs; n is 0 when nothing has run. */
enum status history_list(const struct state_dir *f, struct history *h, struct err *e);
void history_release(struct history *h);

/* Opens the run whose id begins with `prefix`; the project's part of the id (cliq-a1b2c3-) may be
 * left out. NULL: the present run. ST_NOT_FOUND: there is none; ST_INVALID: more than one, which
 * the error names. *is_present tells whether *out is .cliq/ itself. */
enum status history_open(const struct state_dir *f, const char *prefix, struct state_dir *out,
                         bool *is_present, struct err *e);
/* Whether f is the directory of an earlier run. */
bool history_is_earlier(const struct state_dir *f);

#endif
