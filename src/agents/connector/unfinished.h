/*
 * unfinished - an upload in parts that must not be left behind in a store, unseen and paid for.
 *
 *     s = unfinished_begin(x, names, e);      after the store began it, before the first part
 *     … parts …
 *     if (s)
 *         abort it                            x->stop is NULL again
 *     unfinished_end(x, s, e);
 *
 * From begin to end SIGTERM, SIGINT and SIGHUP end the request that goes on (x->stop) and not the
 * process: a phase that is cancelled or timed out has seconds left to abort its upload. And
 * run/uploads/<phase>.json holds the upload's names, so that the next attempt aborts what a killed
 * one left (unfinished_take). A phase has one process and one upload at a time.
 *
 * Tests: test/scenario/s3.bats
 */
#ifndef CLIQ_AGENTS_CONNECTOR_UNFINISHED_H
#define CLIQ_AGENTS_CONNECTOR_UNFINISHED_H

#include "agents/connector/connection.h"

/* Takes names over; "base_url" is added. */
enum status unfinished_begin(struct connection *x, struct json *names, struct err *e);
/* The signals have their default again. */
void unfinished_stop_listening(struct connection *x);
/* Forgets the upload. When a signal came, *s becomes an error that says so, or the signal is raised
 * again if the upload was whole. */
enum status unfinished_end(struct connection *x, enum status s, struct err *e);

/* The names of an upload that a killed attempt of this phase left at this base_url, and forgets it;
 * NULL: there is none. */
const struct json *unfinished_take(struct connection *x);

#endif
