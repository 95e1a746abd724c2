/*
 * claim_thread - a tools/call of claim that waits for a task, in a thread with a hub client of its
 * own, so that the server hears its cancellation and answers other requests meanwhile.
 *
 *     claim_thread_begin --> its fd becomes readable --> claim_thread_end
 *                                ^
 *     claim_thread_cancel -------'
 *
 * A cancelled claim is not answered. When it had just got a task, that claim is released, so the
 * task is not lost to others until the lease ends.
 *
 * Ownership: the thread has its own copy of the request. claim_thread_end waits for it and frees
 * it.
 *
 * Tests: test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_CLAIM_THREAD_H
#define CLIQ_MCP_CLAIM_THREAD_H

#include "hubclient/hubclient.h"
#include "mcp/rpc.h"

struct claim_thread;

/* `text` is the message, which asks for a claim that waits. */
enum status
claim_thread_begin(struct claim_thread **out, const struct hubclient_options *o,
                   const struct mcp_offer *offer, const char *text, size_t len, struct err *e);
/* Readable when it has ended. */
int claim_thread_fd(const struct claim_thread *t);
bool claim_thread_is(const struct claim_thread *t, const struct json *id);
void claim_thread_cancel(struct claim_thread *t);
/* When progress is due, on clock_mono_ms; INT64_MAX: none is wanted. */
int64_t claim_thread_progress_at(const struct claim_thread *t);
void claim_thread_tell_progress(struct claim_thread *t, struct buf *out);
/* Appends its answer. */
void claim_thread_end(struct claim_thread *t, struct buf *out);

#endif
