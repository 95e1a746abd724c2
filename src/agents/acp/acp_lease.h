/*
 * acp_lease - may the agent write this file? Asks the hub for leases of other identities than the
 * phase. A hub that cannot be asked forbids nothing.
 *
 * Tests: test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_LEASE_H
#define CLIQ_AGENTS_ACP_ACP_LEASE_H

#include "base/buf.h"
#include "context/context.h"

#include <stdbool.h>

/* True: it may not, and *says tells the agent who has it, and until when. */
bool acp_lease_forbids(const struct context *c, const char *path, struct buf *says);

#endif
