/*
 * loop - one place where a process waits: descriptors, timers, signals.
 *
 * A thin coat over libuv, so that the rest of the tree does not meet its
 * handles and their closing rules. Callbacks run on the thread that calls
 * loop_run; nothing in them may block.
 *
 * Ownership: loop_new gives a loop, loop_free takes it with every source in
 * it. A source may be freed alone with loop_drop, in its own callback too.
 *
 * Tests: test/unit/test_loop.c
 */
#ifndef CLIQ_BASE_LOOP_H
#define CLIQ_BASE_LOOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_source;
typedef void loop_fn(void *ctx);

struct loop *loop_new(struct err *e);
void loop_free(struct loop *l); /* NULL is fine */

/* Each returns NULL (with the sentence) when it cannot be had. The descriptor is
 * watched for reading and stays the caller's; the timer fires once. */
struct loop_source *loop_on_readable(struct loop *l, int fd, loop_fn *fn, void *ctx, struct err *e);
struct loop_source *loop_after(struct loop *l, uint64_t ms, loop_fn *fn, void *ctx, struct err *e);
struct loop_source *
loop_on_signal(struct loop *l, int signo, loop_fn *fn, void *ctx, struct err *e);
void loop_drop(struct loop_source *s); /* NULL is fine */
/* A descriptor's source calls no more, until it is resumed; what came meanwhile calls then. */
void loop_pause(struct loop_source *s);
void loop_resume(struct loop_source *s);

/* Runs callbacks until loop_stop is called. */
enum status loop_run(struct loop *l, struct err *e);
void loop_stop(struct loop *l);
/* In a callback: sleeps until something is ready, or the time is up (false). For times below a ms,
 * which timers do not know. */
bool loop_nap(struct loop *l, int64_t ns);

/* For net/server, whose streams are libuv's own; nobody else needs it. */
struct uv_loop_s;
struct uv_loop_s *loop_uv(struct loop *l);

#endif
