/*
 * acp - a phase done by a program that speaks the Agent Client Protocol: opens a session, asks, and
 * closes it. For the agent acp, and for agents that can be driven this way, too.
 *
 * Tests: test/scenario/acp.bats test/scenario/cli_agents.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_H
#define CLIQ_AGENTS_ACP_ACP_H

#include "context/context.h"

/* argv starts the program; it must live until the return. Ends the phase as model_agent_work. */
enum status acp_work(struct context *c, const char *const *argv, struct err *e);

#endif
