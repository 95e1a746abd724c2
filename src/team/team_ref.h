/*
 * team_ref - what a person writes for a team. Pure, but for a look whether a path is there.
 *
 *     ./team  /srv/team  team        a directory: what looks like a path, or is one
 *     ./team.tgz                     a package
 *     @scope/name  name  @s/n@1.2    an installed team; name alone is @local/name
 *     hub://@scope/name[@version]    a team of the hub
 *     https://host/team.git[#branch] a git repository, also ssh://, git://, file://, git@host:path
 *
 * A version is exact (1.2.3) or the beginning of one (1.2, 1).
 *
 * Tests: test/unit/test_team_ref.c
 */
#ifndef CLIQ_TEAM_TEAM_REF_H
#define CLIQ_TEAM_TEAM_REF_H

#include "base/buf.h"

enum team_ref_kind {
    TEAM_REF_DIR,
    TEAM_REF_PACKAGE,
    TEAM_REF_NAME,
    TEAM_REF_HUB,
    TEAM_REF_GIT,
};

struct team_ref {
    enum team_ref_kind kind;
    struct buf at; /* the path, the full name (@scope/name) or the URL */
    struct buf
        version; /* of a name; the branch or tag of a repository; len 0: none was asked for */
};

/* ST_INVALID: it is none of these. team_ref_release is safe after any outcome. */
enum status team_ref_parse(struct team_ref *r, const char *text, struct err *e);
/* The same for a text that can only be the name of an installed team. */
enum status team_ref_parse_name(struct team_ref *r, const char *text, struct err *e);
void team_ref_release(struct team_ref *r);

/* Is `version` the wanted one, or does it begin with it? Any is, if nothing is wanted. */
bool team_ref_fits(const struct team_ref *r, const char *version);

#endif
