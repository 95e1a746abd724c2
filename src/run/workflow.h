/*
 * workflow - .cliq/workflow.yml for what looks at it: status, graph, log, req, the tools of MCP.
 *
 * What is wrong with it is told as `cliq run` and `cliq team validate` tell it, one line a problem
 * in `said`: FILE:LINE:COLUMN: error: MESSAGE. Commands print it (cmd/lib/workflow_tell.h).
 *
 * Order of calls: workflow_load, workflow_check when the team cannot be used after all,
 * workflow_release at the end whatever they returned.
 */
#ifndef CLIQ_RUN_WORKFLOW_H
#define CLIQ_RUN_WORKFLOW_H

#include "context/state_dir.h"
#include "team/team.h"

struct workflow {
    struct team team;
    struct problems problems;
    struct buf said; /* its errors, a line each; empty: none were looked for, or found */
};

/* ST_NOT_FOUND: nothing is assembled. A workflow that is no team, or has phases without
 * names: as workflow_check. One
 * that could be looked at but not run (a role is missing) is loaded: runs check it. */
enum status workflow_load(struct workflow *w, const struct state_dir *f, struct err *e);
/* Checks it as a run would. ST_FAILED when there are errors, which stand in `said`
 * then; else ST_OK. */
enum status workflow_check(struct workflow *w, const struct state_dir *f, struct err *e);
void workflow_release(struct workflow *w);

#endif
