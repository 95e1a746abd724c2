/*
 * acp_request - the answers to what an ACP agent asks of us.
 *
 *     session/request_permission   by the policy (acp_permission.h), or by a person
 *     fs/write_text_file           written (work_file.h), if the policy lets it
 *     terminal/create and others   commands, run by us (acp_terminal.h), if the policy lets them
 *     anything else                refused: we offered nothing else
 *
 * A question that a person decides stays open while the turn goes on; several may be open.
 *
 * Tests: test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_REQUEST_H
#define CLIQ_AGENTS_ACP_ACP_REQUEST_H

#include "agents/acp/acp_session.h"

enum { ACP_CANCELLED = -32800 }; /* the error of a request that was taken back */

void acp_request(struct acp_session *s, const struct jsonrpc_message *m);
/* Gives the agent the answers that people gave meanwhile. */
void acp_request_hear(struct acp_session *s);
/* The agent no longer asks the request with this id; NULL: all requests end, as the
 * turn is cancelled or over. */
void acp_request_take_back(struct acp_session *s, const struct json *id);

#endif
