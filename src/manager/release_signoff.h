/*
 * release_signoff - asks the roles that must approve a release, once every room has passed.
 *
 * The setting release.require_signoffs lists roles. Each is asked in every room that has it: the
 * message `release`, with the release notes, starts its command or agent as in room_actor.h, and
 * `VERDICT: APPROVED` (or a gate's PASS) becomes its message `signoff`. Anything else is a refusal:
 * another verdict, none, an error, a crash, silence until the time limit. A role that people play
 * signs with cliq room signoff, and is a refusal until then.
 *
 * A refusal is told, and asked again by the next cliq room run. After kill -9 the next one takes
 * over the process that still runs, and what one has answered meanwhile counts: nobody is asked
 * twice. The file `answered` of an attempt says that its answer was taken.
 *
 * Tests: test/scenario/room_signoff.bats
 */
#ifndef CLIQ_MANAGER_RELEASE_SIGNOFF_H
#define CLIQ_MANAGER_RELEASE_SIGNOFF_H

#include "manager/room_actor.h"

/* Asks, with a loop of its own, one role after the other; returns how many have not signed.
 * *is_stopped: by SIGINT or SIGTERM. */
size_t release_signoff_ask(const struct rooms *r, struct players *players,
                           struct manager_voice *voice, bool *is_stopped);

#endif
