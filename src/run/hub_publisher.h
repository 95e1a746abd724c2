/*
 * hub_publisher - a thread that writes a run's signals to the hub.
 *
 * The loop of a run must never wait for the store. So this thread opens the store, waits for its
 * lock, and syncs. It collects requests for PUBLISHER_GATHER_MS and writes them in one round: one
 * lock, one write, one sync. If the store cannot be written (locked, full, broken), the thread
 * tries again later; the run neither fails nor waits.
 *
 *     b = hub_publisher_new(config, e);    returns at once: the thread opens the store
 *     hub_publisher_add(b, &request);      keeps a copy ...
 *     hub_publisher_go(b);                 ... until the journal is synced: now it may be written
 *     hub_publisher_end(b, e);             writes the rest, for at most PUBLISHER_END_MS
 *
 * Every request has a dedup_key. A request that is sent twice (after a failed sync, or by a resumed
 * run, which publishes its past again) is written once.
 *
 * Ownership: requests are copied. hub_publisher_end frees the publisher, or leaves it to the
 * thread.
 */
#ifndef CLIQ_RUN_HUB_PUBLISHER_H
#define CLIQ_RUN_HUB_PUBLISHER_H

#include "base/buf.h"
#include "hub/hub.h"

#define PUBLISHER_GATHER_MS   100
#define PUBLISHER_ROUND_MAX   1000
#define PUBLISHER_WAITING_MAX 20000 /* more are dropped, and that is told at the end */
#define PUBLISHER_END_MS      2000

struct hub_publisher;

/* `config` is the directory that has signals/ in it. NULL: no memory or no thread. */
struct hub_publisher *hub_publisher_new(const char *config, struct err *e);

/* One request of `signal generate`, as JSON: type, source, data, dedup_key. */
void hub_publisher_add(struct hub_publisher *b, const struct buf *request); /* NULL b: nothing */
/* A request of another operation, by that identity. What the hub answers to it is lost, but for a
 * refusal: hub_publisher_refused. */
void hub_publisher_ask(struct hub_publisher *b, enum hub_op op, const char *who,
                       const struct buf *request);
/* Takes the sentences of refusals since the last call, a line each; nothing: none. */
void hub_publisher_refused(struct hub_publisher *b, struct buf *to);
void hub_publisher_go(struct hub_publisher *b);

/* ST_OK: all of it is on disk. Else a sentence: why, and how many are not. NULL is fine. `refused`:
 * as hub_publisher_refused, of the last requests; may be NULL. */
enum status hub_publisher_end(struct hub_publisher *b, struct buf *refused, struct err *e);

#endif
