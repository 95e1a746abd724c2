/*
 * teams - answers /teams: publish, list, search, versions, download.
 *
 * Not operations of the hub: a package is no line of the log, and no round waits for it. Reads are
 * answered at once from team/published_teams.h. A package is checked and written by a thread of its
 * own, one at a time, so that the loop never waits for it; who comes meanwhile gets 503.
 *
 * Order of calls: teams_answer any number of times, teams_end after the loop has ended.
 *
 * Tests: test/scenario/team_hub.bats test/scenario/openapi.bats
 */
#ifndef CLIQ_SERVE_TEAMS_H
#define CLIQ_SERVE_TEAMS_H

#include "serve/auth.h"
#include "serve/reply.h"

/* The parameters and answers of a route, for /openapi.json; NULL: it is none of ours. */
const struct hub_arg *teams_args(enum route_kind kind);
const char *teams_schema(enum route_kind kind); /* of JSON answers; NULL also for the package */

/* Ends the request, now or later. */
void teams_answer(const struct reply_to *to, const struct http_request *r, struct arena *a,
                  const struct caller *by);
void teams_end(struct serve *s); /* waits for the thread */

#endif
