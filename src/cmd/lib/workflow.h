/*
 * workflow - .cliq/workflow.yml for commands that look at it: status, graph, log, req.
 *
 * What is wrong with it is said as `cliq run` and `cliq team validate` say it, one line a
 * problem on standard error: FILE:LINE:COLUMN: error: MESSAGE.
 *
 * Order of calls: workflow_load, workflow_check when the team cannot be used after all,
 * workflow_release at the end whatever they returned.
 */
#ifndef CLIQ_CMD_LIB_WORKFLOW_H
#define CLIQ_CMD_LIB_WORKFLOW_H

#include "context/state_dir.h"
#include "team/team.h"

struct workflow {
    struct team team;
    struct problems problems;
};

/* ST_NOT_FOUND: nothing is assembled. A workflow that is no team, or has phases without
 * names: as workflow_check. One
 * that could be looked at but not run (a role is missing) is loaded: runs check it. */
enum status workflow_load(struct workflow *w, const struct state_dir *f, struct err *e);
/* Checks it as a run would. ST_FAILED when there are errors, which are on standard error
 * then; else ST_OK, and nothing was said. */
enum status workflow_check(struct workflow *w, const struct state_dir *f, struct err *e);
void workflow_release(struct workflow *w);

#endif
