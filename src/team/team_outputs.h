/*
 * team_outputs - what the handoff of a team phase has: do others read only that of it?
 *
 *     $(handoff.build.status)              COMPLETED
 *     $(handoff.build.outputs.LEAF…)       the data of each last phase of its team
 *     $(handoff.build.text) (…data)        all of it
 *
 * A misspelt LEAF would only be found when the team has run.
 *
 * Tests: test/scenario/pipeline_teams.bats
 */
#ifndef CLIQ_TEAM_TEAM_OUTPUTS_H
#define CLIQ_TEAM_TEAM_OUTPUTS_H

#include "team/team.h"

/* Checks all texts of the team t, in the directory `dir`, that read the handoff of its phase ph,
 * which runs the team sub. */
void team_outputs_check(const struct team *t, int dir, const struct phase *ph,
                        const struct team *sub, struct problems *p);

#endif
