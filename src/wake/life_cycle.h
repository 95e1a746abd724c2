/*
 * life_cycle - the signals that tell of an agent's life: agent:<id>:wake when it starts,
 * agent:<id>:sleep when it ends, and agent:<id>:idle LIFE_CYCLE_IDLE_MS later, unless it wakes
 * before. Their source is cliq itself ("system"), their data {agentId, state}.
 *
 * They are told for agents that signals start (wake_supervisor.h), and for agents in other
 * programs, by their hooks (hook/hook.h).
 *
 * Tests: test/scenario/wake.bats test/cli/hook.bats
 */
#ifndef CLIQ_WAKE_LIFE_CYCLE_H
#define CLIQ_WAKE_LIFE_CYCLE_H

#include "hub/hub.h"

#define LIFE_CYCLE_IDLE_MS 60000
#define LIFE_CYCLE_MAX     2 /* requests */

/* A request of cliq itself about an identity. `json`: its arguments, which must be valid. Both
 * texts live as long as the arena. */
struct hub_request
life_cycle_request(struct arena *a, const char *identity, enum hub_op op, const char *json);

/* Each fills requests, which belong into one round, and returns how many. */
size_t life_cycle_wake(struct arena *a, const char *identity, struct hub_request *to);
size_t life_cycle_sleep(struct arena *a, const char *identity, struct hub_request *to);

#endif
