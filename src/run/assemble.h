/*
 * assemble - fills .cliq/ before any run: makes it, copies a team into it, writes the task board.
 *
 * Tests: test/cli/team.bats test/scenario/pipeline_project.bats
 */
#ifndef CLIQ_RUN_ASSEMBLE_H
#define CLIQ_RUN_ASSEMBLE_H

#include "context/state_dir.h"
#include "team/team.h"

/* Makes .cliq/ below `dir`; *is_new is false when it was there. */
enum status assemble_init(const char *dir, bool *is_new, struct err *e);

/* Makes the user's own directory with empty settings, where they are not there. */
enum status assemble_config(struct err *e);

/*
 * Copies a team from the directory `from` into the frame: workflow.yml, agents.json, roles,
 * agents, a fresh task board; and the teams of its team phases into frames/<phase>/, in the same
 * way. Validates first; with errors nothing is changed and the problems say why (ST_FAILED).
 * *is_trusted: what was copied is trusted now. ASSEMBLE_TRUST_OWN trusts what is all in `from`; an
 * installed team that a phase names came from elsewhere.
 */
enum assemble_trust { ASSEMBLE_TRUST_NOTHING, ASSEMBLE_TRUST_OWN, ASSEMBLE_TRUST_ALL };
enum status assemble_team(const struct state_dir *f, const char *from, enum assemble_trust trust,
                          bool *is_trusted, struct problems *p, struct err *e);

/* Appends the task board of a new team. */
void assemble_board(const struct team *t, struct buf *to);

#endif
