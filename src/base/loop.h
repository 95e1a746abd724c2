/*
 * loop - an event loop for descriptors, timers and signals.
 *
 * A thin layer over libuv that hides its handles and their closing rules.
 * Callbacks run on the thread that calls loop_run, and must not block.
 *
 * Ownership: loop_free frees the loop with all its sources. loop_drop frees one
 * source; its own callback may call it.
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

/* Add a source; NULL on failure. loop_on_readable watches a descriptor, which stays the caller's.
 * The timer of loop_after fires once. */
struct loop_source *loop_on_readable(struct loop *l, int fd, loop_fn *fn, void *ctx, struct err *e);
struct loop_source *loop_after(struct loop *l, uint64_t ms, loop_fn *fn, void *ctx, struct err *e);
struct loop_source *
loop_on_signal(struct loop *l, int signo, loop_fn *fn, void *ctx, struct err *e);
void loop_drop(struct loop_source *s); /* NULL is fine */
/* Suspends and resumes the callback of a descriptor's source. If the descriptor is readable at
 * loop_resume, the callback runs. */
void loop_pause(struct loop_source *s);
void loop_resume(struct loop_source *s);

/* Runs `work` on a thread of the pool, then `done` on the loop's thread. loop_free waits for work
 * that has begun and calls its `done`. */
enum status loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *ctx, struct err *e);

/* Runs callbacks until loop_stop is called. */
enum status loop_run(struct loop *l, struct err *e);
void loop_stop(struct loop *l);
/* In a callback: sleeps until a source is ready (true) or ns have passed (false). For waits below
 * 1 ms, the resolution of timers. */
bool loop_nap(struct loop *l, int64_t ns);

/* For net/server only, which uses libuv's streams. */
struct uv_loop_s;
struct uv_loop_s *loop_uv(struct loop *l);

#endif
