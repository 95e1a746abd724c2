/*
 * broadcast (run) - a run's signals on their way to the hub, by a thread of their own.
 *
 * The loop of a run must never wait for the store: opening it, its lock and its sync are the
 * thread's. What the loop adds is gathered for PUBLISHER_GATHER_MS, then goes in one round:
 * one lock, one write, one sync. When the store cannot be written (locked, full, broken) what
 * waits is tried again later; a run neither fails nor waits for it.
 *
 *     b = hub_publisher_new(config, e);          at once: the thread opens the store
 *     hub_publisher_add(b, &request);            held back ...
 *     hub_publisher_go(b);                       ... until it may be told: the journal has it
 *     hub_publisher_end(b, e);                   what waits is written, PUBLISHER_END_MS at most
 *
 * Every request carries a dedup_key, so one that is sent again (a failed sync means "perhaps",
 * a resumed run tells its past again) is written once.
 *
 * Ownership: what is added is copied. hub_publisher_end frees it, or leaves it to the thread.
 */
#ifndef CLIQ_RUN_HUB_PUBLISHER_H
#define CLIQ_RUN_HUB_PUBLISHER_H

#include "base/buf.h"

#define PUBLISHER_GATHER_MS   100
#define PUBLISHER_ROUND_MAX   1000
#define PUBLISHER_WAITING_MAX 20000 /* more are dropped, and that is told at the end */
#define PUBLISHER_END_MS      2000

struct hub_publisher;

/* `config` is the directory that has signals/ in it. NULL: no memory or no thread. */
struct hub_publisher *hub_publisher_new(const char *config, struct err *e);

/* One request of `signal generate`, as JSON: type, source, data, dedup_key. */
void hub_publisher_add(struct hub_publisher *b, const struct buf *request); /* NULL b: nothing */
void hub_publisher_go(struct hub_publisher *b);

/* ST_OK: all of it is on disk. Else a sentence: why, and how many are not. NULL is fine. */
enum status hub_publisher_end(struct hub_publisher *b, struct err *e);

#endif
