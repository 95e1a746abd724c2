/*
 * acp_update - what session/update tells: the agent's words, tools, plans, use.
 *
 *     agent_message_chunk            words: to the answer, and to standard output
 *     tool_call, tool_call_update    progress when one begins, fails, or has changed a file
 *     plan                           progress when what is done now changes
 *     usage_update                   the cost of the conversation
 *     anything else                  passed over
 *
 * Tests: test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_UPDATE_H
#define CLIQ_AGENTS_ACP_ACP_UPDATE_H

#include "agents/acp/acp_session.h"
#include "base/text.h"

void acp_update(struct acp_session *s, const struct json *update);
/* Tells what a tool does, once its title is known. */
struct acp_tool *acp_update_tool(struct acp_session *s, const struct json *call);
/* The use of the turn, from the result of session/prompt. */
void acp_update_usage(struct acp_session *s, const struct json *result);
/* The words to answer with: those behind the last tool call, unless they are blank or an earlier
 * part has the fenced json block. */
struct text acp_update_answer(const struct acp_session *s);

/* To a log. One that cannot be written does not matter: the answer still counts. */
void acp_write(int fd, const char *p, size_t n);
/* To the attempt's log, without secrets; p NULL: also what was held back. */
void acp_show(struct acp_session *s, const char *p, size_t n);
/* A progress line: one line, without control characters, cut. */
void acp_note(struct acp_session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
