/*
 * acp_terminal - commands that an ACP agent lets us run, so that the phase's permissions hold for
 * each of them.
 *
 *     terminal/create         decided by acp_permission_command (or by a person), then started in
 *                             the working directory; the answer is its id
 *     terminal/output         what it printed so far, its last bytes, and how it ended
 *     terminal/wait_for_exit  answered when it has ended
 *     terminal/kill           SIGTERM, then SIGKILL, for its whole tree
 *     terminal/release        the same, and the id is forgotten
 *
 * A command with arguments is started as it is; one without is a line for /bin/sh, since agents
 * send "npm test | tail" so. Its output has the secrets hidden, for the model is told it. Progress
 * says what runs and how it ended; the end of its output stands in the attempt's log.
 *
 * Commands run while the agent works. When its turn is cancelled they are stopped, and when the
 * session ends what still runs is, too. What a command that ended left behind (a server) goes on
 * until the attempt ends.
 *
 * Ownership: the terminals are in memory of their own, freed by release and by
 * acp_terminal_end_all; texts of requests are copied.
 *
 * Tests: test/scenario/acp.bats test/agents/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_TERMINAL_H
#define CLIQ_AGENTS_ACP_ACP_TERMINAL_H

#include "base/jsonrpc.h"

#include <poll.h>

struct acp_session;

enum {
    ACP_TERMINALS_MAX = 16,                   /* at one time */
    ACP_TERMINAL_FDS = 2 * ACP_TERMINALS_MAX, /* that acp_terminal_poll writes at most */
};

/* The program and arguments of one, as a person or the log reads them; in the session's scratch
 * memory. NULL: the request names none. */
const char *acp_terminal_line(struct acp_session *s, const struct json *params);
/* Starts it and answers. params live as long as the call. */
void acp_terminal_create(struct acp_session *s, const struct json *id, const struct json *params);

/* False: the method is none of output, wait_for_exit, kill and release. */
bool acp_terminal_request(struct acp_session *s, const struct jsonrpc_message *m);

/* What must be polled, and how long at most (INT64_MAX: no limit). */
size_t acp_terminal_poll(struct acp_session *s, struct pollfd *p, int64_t *due_ms);
/* Takes output and ends; answers those that wait. Never blocks. */
void acp_terminal_step(struct acp_session *s);
/* The agent no longer waits in the request with this id. False: it is none of ours. */
bool acp_terminal_take_back(struct acp_session *s, const struct json *id);
void acp_terminal_stop_all(struct acp_session *s);
/* Stops what runs, waits for it, and frees all. */
void acp_terminal_end_all(struct acp_session *s);

#endif
