/*
 * phase_way - a phase of a team that is a phase, named by its way: "build/test".
 *
 * Tests: test/scenario/pipeline_teams.bats test/scenario/serve_runs.bats
 */
#ifndef CLIQ_RUN_PHASE_WAY_H
#define CLIQ_RUN_PHASE_WAY_H

#include "context/state_dir.h"

/* "build/test": *f becomes the frame of build, and *phase the rest, "test". A name without a slash
 * changes nothing. ST_NOT_FOUND: there is no such phase, or it is no team that has run. */
enum status phase_way_enter(struct state_dir *f, const char **phase, struct err *e);

#endif
