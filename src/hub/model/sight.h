/*
 * sight - who may read a signal. Pure. Every way to a signal asks it: inbox, list, thread, history,
 * get, events, streams, and agents that a subscription wakes. The index offers it to queries as
 * may_read(identity, sender, addr, is_member).
 *
 *     addressed to        readers
 *     an identity         that identity, the sender
 *     a ring              its members, the sender
 *     a role, everyone    every identity
 *
 * Admins and keys with the scope audit read everything: their callers do not ask.
 *
 * Tests: test/unit/test_sight.c test/scenario/serve_sight.bats
 */
#ifndef CLIQ_HUB_MODEL_SIGHT_H
#define CLIQ_HUB_MODEL_SIGHT_H

#include <stdbool.h>

/* sender: NULL: unknown. addr, as the index has it: "@ruby" an identity, "=dev" a role, "+ops" a
 * ring, NULL everyone. is_member: of that ring; no other address needs it. */
bool sight_allows(const char *identity, const char *sender, const char *addr, bool is_member);

/* Does it depend on is_member? */
bool sight_asks_ring(const char *addr);

#endif
