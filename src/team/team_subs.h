/*
 * team_subs - the teams that a team's team phases run, and theirs, down to the last.
 *
 *     team: ./teams/research     a directory below teams/ of the team that names it
 *     team: @acme/review@1.2     an installed team; its version may be left out, "review" is
 *                                @local/review
 *
 * In a project (workflow.yml) they stand where `cliq assemble` put them: frames/<phase>/.
 *
 * Loading validates each of them, what a phase gives to its team (unknown inputs, missing ones),
 * and what others read of its handoff (team_outputs.h). A team that comes to itself again is an
 * error, with the way: @local/a → @local/b → @local/a. At most TEAM_DEPTH_MAX teams are in each
 * other, below the first.
 *
 * Ownership: the caller releases; `of` has one pointer a phase, NULL where no team could be loaded.
 *
 * Tests: test/scenario/pipeline_teams.bats
 */
#ifndef CLIQ_TEAM_TEAM_SUBS_H
#define CLIQ_TEAM_TEAM_SUBS_H

#include "team/team.h"

#define TEAM_DEPTH_MAX 8
/* Of all levels together: teams in teams grow faster than their files. */
#define TEAM_TREE_PHASES_MAX 10000

struct team_subs {
    struct team_sub **of; /* NULL: no phase runs a team */
    size_t n;
};

struct team_sub {
    struct team team;
    int dir; /* where its team.yml is */
    bool is_installed;
    struct team_subs subs;
};

/* `dir` is the directory of the team t. Problems are added to p: ST_OK although there are some. */
enum status team_subs_load(struct team_subs *out, const struct team *t, int dir,
                           const char *state_dir, struct problems *p, struct err *e);
void team_subs_release(struct team_subs *subs); /* zero is fine */

/* One of them, at any depth, comes from <config>/teams. */
bool team_subs_have_installed(const struct team_subs *subs);

#endif
