/*
 * command_agent - the frame of the agents whose work is the phase's commands (exec, checks): runs
 * them, writes their results, and ends the phase.
 */
#ifndef CLIQ_AGENTS_COMMAND_AGENT_H
#define CLIQ_AGENTS_COMMAND_AGENT_H

#include "agents/command_results.h"

/* Ends a phase that is not a gate. */
typedef enum status command_end(struct context *c, const struct command_results *r, struct err *e);

/* With payload.checks_only the results are all that is asked for. At a gate they are the verdict:
 * PASS when all passed, else ROUTE to the first target, or ESCALATE when there is none. */
enum status command_agent(struct context *c, command_end *end, struct err *e);

#endif
