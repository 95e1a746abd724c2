/*
 * team_find - the file and directory of the team that a command was told about.
 *
 * A word may name a directory (its team.yml, else its workflow.yml, else its
 * .cliq/workflow.yml) or one of these files; without a word it is this directory. A word that is
 * neither may be the name of an installed team: name, or @scope/name. A package (.tgz) is unpacked
 * until team_find_release; its problems name the files in it.
 *
 * Tests: test/cli/team.bats test/cli/team_list.bats test/cli/team_install.bats
 */
#ifndef CLIQ_CMD_LIB_TEAM_FIND_H
#define CLIQ_CMD_LIB_TEAM_FIND_H

#include "base/opt.h"
#include "team/package_store.h"
#include "team/team_subs.h"

struct found_team {
    struct team team;
    struct team_subs subs; /* the teams of its team phases */
    struct problems problems;
    struct buf file; /* its path */
    int dir;         /* open: where roles/ and agents/ are; -1: none */
    bool is_package;
    struct package_place place; /* where it is unpacked */
};

/* Finds, loads and validates. ST_OK although there are problems: look at problems.errors.
 * team_find_release is safe after any outcome. */
enum status team_find(struct found_team *f, const struct args *a, struct err *e);
/* The same for a team that is to be changed: only a team.yml, which must be readable as YAML. */
enum status team_find_own(struct found_team *f, const char *where, struct err *e);
/* The same for a team that is to be published: a team.yml, or a package. */
enum status team_find_published(struct found_team *f, const char *where, struct err *e);
/* Tells the problems on standard error. ST_FAILED: there are errors; "nothing was <done>". */
enum status team_find_tell(struct found_team *f, const char *done, struct err *e);
void team_find_release(struct found_team *f);

#endif
