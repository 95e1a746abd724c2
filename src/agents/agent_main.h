/*
 * agent - the frame that every built-in agent stands in: one AgentMessage on standard
 * input, an ack, the handler, a terminal line, exit code 0 or 1.
 */
#ifndef CLIQ_AGENTS_AGENT_MAIN_H
#define CLIQ_AGENTS_AGENT_MAIN_H

#include "base/opt.h"
#include "context/context.h"

/* Does the phase's work and ends it (context_finalize_*), or fails with a sentence. The
 * context is open; who needs the phase's files calls context_read first. */
typedef enum status agent_fn(struct context *c, struct err *e);

extern const struct opt agent_no_opts[]; /* of `cliq agent NAME` */

/* The body of `cliq agent NAME`. The outcome is ST_OK or ST_FAILED: agents have no other. */
enum status agent_run(agent_fn *handle, struct err *e);
/* The same for one that calls context_ack itself, when its work goes on for longer than a moment;
 * else the ack comes with its last line. */
enum status agent_run_at_once(agent_fn *handle, struct err *e);

#endif
