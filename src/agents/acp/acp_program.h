/*
 * acp_program - the program of an ACP agent: its process, what it sends, what ends it.
 *
 * One loop waits for everything: messages, standard error, the end of the process, our signals, and
 * answers of people. It runs inside acp_program_ask, which sends a request and returns when its
 * answer is there; meanwhile updates and requests of the agent are taken (acp_update.h,
 * acp_request.h).
 *
 *     acp_program_start    in the working directory, with pipes
 *     acp_program_listen   SIGTERM, SIGINT and SIGHUP are ours: they cancel the turn
 *     acp_program_ask      any number of times
 *     acp_program_leave    the signals do what they do by default
 *     acp_program_end      its input is closed; after a grace its whole tree is stopped
 *
 * An agent that dies is an error with its exit code and the last line of its standard error.
 *
 * Tests: test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_PROGRAM_H
#define CLIQ_AGENTS_ACP_ACP_PROGRAM_H

#include "agents/acp/acp_session.h"

#define ACP_START_MS (120 * 1000) /* for any answer but a turn's; programs on node start slowly */

const char *acp_program_name(const struct acp_session *s); /* "goose" */
enum status acp_program_start(struct acp_session *s, struct err *e);
enum status acp_program_listen(struct acp_session *s, struct err *e);
void acp_program_leave(void);

/* Sends a request and waits for its result, which is valid until the next call; limit_ms 0: as
 * long as it takes. An error of the agent is ours, with its words. */
enum status acp_program_ask(struct acp_session *s, const char *method, const struct buf *params,
                            int64_t limit_ms, const struct json **result, struct err *e);
/* Begins params: {"sessionId":… */
void acp_program_write_id(struct acp_session *s, struct buf *to);
/* Waits until the agent has told an old conversation to its end. */
void acp_program_hear_history(struct acp_session *s);
void acp_program_end(struct acp_session *s); /* safe in every state */

#endif
