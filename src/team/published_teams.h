/*
 * published_teams - the teams that a hub hands out: plain files, and no version ever changes.
 *
 *     <config>/teams-hub/@scope/name/<version>/package.tgz
 *     <config>/teams-hub/@scope/name/<version>/info.json
 *
 * A version is made beside the others as ".new-…" and renamed: it is there whole, or not at all.
 * The identity that publishes a name first owns it: others get ST_REFUSED, admins may. A package is
 * checked as package.h says, validated, and never executed.
 *
 *     {"name":"@acme/review","version":"1.2.0","description":"…","phases":3,"bytes":812,
 *      "sha256":"…","owner":"ruby","published_by":"ruby","published_at":"2026-11-17T09:00:00Z"}
 *
 * Answers are JSON, appended to a buf.
 *
 * Tests: test/scenario/team_hub.bats
 */
#ifndef CLIQ_TEAM_PUBLISHED_TEAMS_H
#define CLIQ_TEAM_PUBLISHED_TEAMS_H

#include "base/buf.h"

struct publisher {
    const char *identity;
    bool is_admin;
};

/* Appends the info of the new version. ST_INVALID: no good package, or without a name or a version;
 * ST_CONFLICT: that version is there; ST_REFUSED: the name belongs to another. */
enum status published_teams_add(const char *config, const struct publisher *by,
                                const struct buf *package, struct buf *json, struct err *e);

/* A list with the newest version of each team, by name; `words` NULL or "": of all, else of those
 * whose name or description has them. */
enum status
published_teams_list(const char *config, const char *words, struct buf *json, struct err *e);

/* A list of the versions of one team ("@scope", "name"), newest first. ST_NOT_FOUND: none. */
enum status published_teams_versions(const char *config, const char *scope, const char *name,
                                     struct buf *json, struct err *e);

/* Appends the package. ST_NOT_FOUND: there is no such version. */
enum status published_teams_read(const char *config, const char *scope, const char *name,
                                 const char *version, struct buf *package, struct err *e);

#endif
