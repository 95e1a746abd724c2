/*
 * team_source - any reference to a team as the bytes of a package.
 *
 * A directory and a git repository are packed, so all sources are checked by the one reader of
 * packages (team/package.h). git is the system's; a clone runs no hook of the repository.
 *
 * Tests: test/cli/team_install.bats
 */
#ifndef CLIQ_CMD_LIB_TEAM_SOURCE_H
#define CLIQ_CMD_LIB_TEAM_SOURCE_H

#include "team/package_store.h"
#include "team/team_ref.h"

/* Appends the package to `to`, which has the ceiling PACKAGE_PACKED_MAX. For any kind but
 * TEAM_REF_NAME. */
enum status team_source_read(const struct team_ref *r, struct buf *to, struct err *e);

/* The same for the path of a package. */
enum status team_source_package(const char *path, struct buf *to, struct err *e);

/* A source that `team update` can read again: an absolute path, or the reference as it was given.
 */
enum status
team_source_name(const struct team_ref *r, const char *text, struct buf *to, struct err *e);

/* Reads the package, unpacks and checks it in *p; problems are printed. package_place_close is
 * safe after any outcome. */
enum status team_source_open(const struct team_ref *r, struct package_place *p, struct err *e);

#endif
