/*
 * agent_main - the main function of every built-in agent: reads one AgentMessage from standard
 * input, writes the ack, calls the handler, writes the terminal line, exits with 0 or 1.
 */
#ifndef CLIQ_AGENTS_AGENT_MAIN_H
#define CLIQ_AGENTS_AGENT_MAIN_H

#include "base/opt.h"
#include "context/context.h"

/* Does the phase's work and ends it (context_finalize_*), or fails with a sentence. The context
 * is open; a handler that needs the phase's files calls context_read first. */
typedef enum status agent_fn(struct context *c, struct err *e);

/* Looks whether the agent can work here: its program, its keys, its service. Writes one line about
 * what it found ("claude 2.1.0"). An error is the answer no, with its sentence. */
typedef enum status agent_test_fn(struct context *c, struct buf *says, struct err *e);

/* The messages that an agent handles; NULL: it has no handler. Without a test handler the answer
 * to a test is yes. */
struct agent_handlers {
    agent_fn *phase, *notify;
    agent_test_fn *test;
};

extern const struct opt agent_no_opts[]; /* of `cliq agent NAME` */

/* The body of `cliq agent NAME`. Returns ST_OK or ST_FAILED. */
enum status agent_serve(const struct agent_handlers *h, struct err *e);
/* agent_serve of an agent that handles phases only. */
enum status agent_run(agent_fn *handle, struct err *e);
/* agent_run for an agent that calls context_ack itself when its work takes longer than a moment.
 * Otherwise the ack is written together with the terminal line. */
enum status agent_run_at_once(agent_fn *handle, struct err *e);

#endif
