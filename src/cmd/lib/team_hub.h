/*
 * team_hub - the hub of teams, asked over HTTP: the server of the setting hub.url, with the key in
 * CLIQ_KEY or, without that, the setting hub.token.
 *
 * Tests: test/scenario/team_hub.bats
 */
#ifndef CLIQ_CMD_LIB_TEAM_HUB_H
#define CLIQ_CMD_LIB_TEAM_HUB_H

#include "base/json.h"
#include "team/team_ref.h"

/* The data of the answer to GET `path`, in the arena. */
enum status
team_hub_get(struct arena *a, const char *path, const struct json **data, struct err *e);
/* The newest version of each team; `words` NULL: of all. */
enum status
team_hub_list(struct arena *a, const char *words, const struct json **teams, struct err *e);
/* The versions of a team, newest first. */
enum status team_hub_versions(struct arena *a, const struct team_ref *r,
                              const struct json **versions, struct err *e);
/* Appends the newest package whose version fits. ST_REFUSED: it has not the SHA-256 that the hub
 * says. */
enum status team_hub_download(const struct team_ref *r, struct buf *package, struct err *e);
/* *team is what the hub says of it. */
enum status team_hub_publish(struct arena *a, const struct buf *package, const struct json **team,
                             struct err *e);

#endif
