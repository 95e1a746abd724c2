/*
 * run_json - a run as JSON, by its id: for callers that show it and do nothing else with it.
 *
 * Tests: test/scenario/pipeline_status.bats test/scenario/mcp.bats
 */
#ifndef CLIQ_RUN_RUN_JSON_H
#define CLIQ_RUN_RUN_JSON_H

#include "context/state_dir.h"

/* Appends the run whose id begins with `id` (NULL: the present one) as `cliq status --json` prints
 * it, without the line end. ST_NOT_FOUND: nothing has run there. */
enum status
run_json(const struct state_dir *project, const char *id, struct buf *to, struct err *e);

#endif
