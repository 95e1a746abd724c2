/*
 * team_phase - what a team phase gives to the team that it runs, and takes from it: files of its
 * frame, frames/<phase>/, which has the layout of .cliq/.
 *
 *     before   inputs.json                      the phase's inputs, templates replaced
 *              req_spec.md                      the phase's role text, templates replaced
 *              channels/in--<root>/handoff.json what the phase was handed over: data by phase
 *     after    channels/<leaf>--out/handoff.json, by each leaf, become one envelope for the phase's
 *              successors: {"status":"COMPLETED","outputs":{"<leaf>":<its data>}}
 *
 * Order of calls for an attempt of the phase: team_phase_prepare, team_phase_lay_out when the run
 * in the frame is new, team_phase_hand_over when it is COMPLETED.
 *
 * Tests: test/scenario/pipeline_teams.bats
 */
#ifndef CLIQ_RUN_TEAM_PHASE_H
#define CLIQ_RUN_TEAM_PHASE_H

#include "run/run.h"

/* Sets the inputs of the team, and *requirement, in the sub-plan's arena. ST_INVALID: a template
 * cannot be resolved, or an input cannot have that value. run_id: of the run above. */
enum status
team_phase_prepare(struct plan *sub, const char *run_id, const char **requirement, struct err *e);
/* For showing only: the inputs that are known before the run; the others are as in the file. */
enum status team_phase_preview(struct plan *sub, const bool *runs, struct err *e);

enum status team_phase_lay_out(const struct plan *sub, const char *requirement, struct err *e);
enum status team_phase_hand_over(const struct plan *sub, struct err *e);

#endif
