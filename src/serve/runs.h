/*
 * runs - the routes below /runs: the runs of all projects that this user ran, read and acted on.
 *
 * Reading needs the scope audit, because prompts, logs and handoffs are shown as they are; acting
 * needs admin. A run is found by its id, whose first part names the project (run/project_list.h).
 * Cancel, retry and resume are the commands of that name, run in the project's directory, so they
 * refuse what the commands refuse.
 *
 * Tests: test/scenario/serve_runs.bats test/scenario/openapi.bats
 */
#ifndef CLIQ_SERVE_RUNS_H
#define CLIQ_SERVE_RUNS_H

#include "serve/file_route.h"

extern const struct file_route runs_routes[];

#endif
