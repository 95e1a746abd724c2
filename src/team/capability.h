/*
 * capability - which phases an agent can run, by the capabilities of its manifest.
 *
 * An agent without a manifest, or with one that lists none, can do all.
 *
 * Tests: test/unit/test_team_phases.c test/cli/requirements.bats
 */
#ifndef CLIQ_TEAM_CAPABILITY_H
#define CLIQ_TEAM_CAPABILITY_H

#include "team/team.h"

/* Reports a phase of a type that the agent cannot run. manifest: the agent's; NULL: none. */
void capability_check(const struct team *t, const struct phase *ph, const char *agent,
                      const struct json *manifest, struct problems *p);

#endif
