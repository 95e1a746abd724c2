/*
 * package - a team as one file: a .tgz with team.yml, roles/, agents/ and what describes them.
 *
 *     team.yml  README.md  LICENSE  CHANGELOG.md     at the top, where they exist
 *     roles/NAME.md                                   files only
 *     agents/…                                        as agent_files.h walks them
 *
 * Packing is reproducible: sorted names, one time, modes 0644 or 0755, no owners. The same team
 * gives the same bytes with the same zlib.
 *
 * Reading trusts nothing. libarchive decodes, and nothing else: a name must be as package_names.h
 * says, an entry a file, a directory or, below agents/, a link that stays inside it. Each file is
 * created anew (O_EXCL) below the open directory, no component that is a link is followed, and
 * links are made when all files are there. Devices, pipes, hard links and setuid bits are refused,
 * and anything over the limits. Nothing of a package is ever executed here.
 *
 * package_pack.c writes, package_read.c reads.
 *
 * Tests: test/cli/team_pack.bats test/scenario/team_hostile.bats
 */
#ifndef CLIQ_TEAM_PACKAGE_H
#define CLIQ_TEAM_PACKAGE_H

#include "base/buf.h"

#define PACKAGE_PACKED_MAX   ((size_t)10 << 20)
#define PACKAGE_UNPACKED_MAX ((size_t)50 << 20)
#define PACKAGE_ENTRIES_MAX  10000

/* Appends the package of the team in the directory `dir`. ST_REFUSED: over the limits, or a link or
 * a special file where none may be. */
enum status package_pack(int dir, struct buf *to, struct err *e);

/* Unpacks into the empty directory `dir`, which has only part of it after a failure. ST_REFUSED
 * names the entry that may not be; ST_INVALID: it is no package, or damaged. */
enum status package_unpack(const struct buf *package, int dir, struct err *e);

/* Checks as package_unpack does, and writes nothing; links are checked when they are made only.
 * Appends the text of team.yml. ST_INVALID: it has none at the top. */
enum status package_check(const struct buf *package, struct buf *team_yml, struct err *e);

#endif
