/*
 * teams - the routes below /teams: publish, list, search, versions, download.
 *
 * They are team/published_teams.h over HTTP (file_route.h). One package is published at a time,
 * because the first publication of a name makes its owner.
 *
 * Tests: test/scenario/team_hub.bats test/scenario/openapi.bats
 */
#ifndef CLIQ_SERVE_TEAMS_H
#define CLIQ_SERVE_TEAMS_H

#include "serve/file_route.h"

extern const struct file_route teams_routes[];

#endif
