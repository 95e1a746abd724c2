/*
 * installed_teams - the teams in <config>/teams/@scope/name/.
 *
 * A reference is @scope/name; a name alone means @local/name.
 *
 * Tests: test/cli/team_list.bats
 */
#ifndef CLIQ_TEAM_INSTALLED_TEAMS_H
#define CLIQ_TEAM_INSTALLED_TEAMS_H

#include "base/arena.h"
#include "base/buf.h"

struct installed_team {
    const char *ref; /* "@local/research" */
    const char *dir;
    const char *version, *description; /* NULL: none */
    size_t n_phases;
    const char *fault; /* why its file cannot be loaded; NULL: it can */
};

/* Sorted by reference. */
enum status
installed_teams_list(struct arena *a, struct installed_team **out, size_t *n, struct err *e);

/* Appends the directory of the team. ST_INVALID: the reference is none; ST_NOT_FOUND suggests the
 * nearest installed team. */
enum status installed_team_dir(const char *ref, struct buf *to, struct err *e);

#endif
