/*
 * acp_command - which program an ACP phase starts.
 *
 * The first of these that is given: the phase's `command`, the setting agents.<name>.acp, which
 * for a named agent of agents.def is its row (team/agent.c). Either is a list of words, or a text
 * that is split at blanks as a shell would: quotes and backslashes keep blanks. No shell runs it,
 * so what only a shell can do (variables, pipes, patterns) is an error and not passed on as a word.
 *
 * The phase's or setting's list `args` comes behind it.
 *
 * Tests: test/unit/test_acp_policy.c test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_COMMAND_H
#define CLIQ_AGENTS_ACP_ACP_COMMAND_H

#include "context/context.h"

/* NULL-ended, in the context's arena. ST_INVALID: none is given, or it cannot be used. */
enum status acp_command(const struct context *c, const char *const **argv, struct err *e);
enum status
acp_command_split(struct arena *a, const char *text, const char *const **argv, struct err *e);

#endif
