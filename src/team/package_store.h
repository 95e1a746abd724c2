/*
 * package_store - puts packages into <config>/teams, whole or not at all.
 *
 *     <config>/teams/.lock                    held by the one process that changes something
 *     <config>/teams/.new-<random>/           where a package is unpacked and checked
 *     <config>/teams/@scope/name/             the team: renamed to there, or exchanged with the old
 *     <config>/teams/@scope/name/.source.json where it came from
 *
 * Killed at any moment, the old team or the new one is there. What is left behind in .new-… goes
 * with the next change. A reader takes no lock; it has files of one version when it opens the
 * team's directory first.
 *
 *     {"v":1,"from":"hub://@acme/review","version":"1.2.0","sha256":"…","installed_at":"…Z"}
 *
 * Nothing of a package is executed here.
 *
 *     struct package_place p;
 *     s = package_place_open(&p, &bytes, e);          unpacked in .new-…, p.path
 *     if (!s)
 *         s = package_place_install(&p, …);           or use p.path, as assemble does
 *     package_place_close(&p);                        removes what is still there
 *
 * Tests: test/cli/team_install.bats test/scenario/team_hostile.bats test/fault/team_install.bats
 */
#ifndef CLIQ_TEAM_PACKAGE_STORE_H
#define CLIQ_TEAM_PACKAGE_STORE_H

#include "base/arena.h"
#include "base/digest.h"
#include "team/team.h"

struct package_place {
    int teams, lock, dir; /* open: <config>/teams, its lock, the unpacked team; -1: not */
    char name[32];        /* ".new-…" */
    struct buf path;      /* of the unpacked team */
    size_t base_len;      /* of <config>/teams/ in it */
    struct team team;     /* loaded and validated */
    struct problems problems;
    char sha256[DIGEST_HEX_SIZE];
};

/* Unpacks, loads and validates. ST_FAILED: the team has errors, see `problems`. */
enum status package_place_open(struct package_place *p, const struct buf *package, struct err *e);
void package_place_close(struct package_place *p); /* safe whatever open returned */

/* Installs what was unpacked. `from` is where it came from, for team update. ST_CONFLICT: this
 * version is installed, and is_forced is false. *was, in the arena, is the version before; NULL:
 * none. */
enum status package_place_install(struct package_place *p, const char *from, bool is_forced,
                                  struct arena *a, const char **was, struct err *e);

/* Removes an installed team; `ref` is @scope/name. */
enum status package_store_remove(const char *ref, struct err *e);

/* Where the team in the directory came from. */
struct package_source {
    const char *from, *version, *sha256; /* in the arena; version NULL: the team has none */
};
/* ST_NOT_FOUND: it was not installed by cliq. */
enum status
package_source_read(struct arena *a, const char *dir, struct package_source *out, struct err *e);

#endif
