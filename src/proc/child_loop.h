/*
 * child_loop - steps a child (proc/child.h) from an event loop.
 *
 *     s = child_start(&a->child, &spec, e);
 *     if (!s)
 *         s = child_watch(&a->watch, &a->child, loop, on_change, a, e);
 *     ...
 *     child_watch_stop(&a->watch);     // a person cancelled
 *     ...
 *     on_change: child.has_exited, then child.state == CHILD_GONE
 *     child_unwatch(&a->watch);        // before child_release, in the callback too
 *
 * The callback comes once when the process ended and once when the child is GONE (or once for
 * both), never inside a call of this header, and may free everything. An owner that reaps calls
 * child_reaped() and then child_watch_look(). In a file of its own: programs that only block link
 * no libuv.
 *
 * Tests: test/unit/test_child.c
 */
#ifndef CLIQ_PROC_CHILD_LOOP_H
#define CLIQ_PROC_CHILD_LOOP_H

#include "base/loop.h"
#include "proc/child.h"

struct child_watch {
    struct child *child;
    struct loop *loop;
    loop_fn *fn;
    void *ctx;
    struct loop_source *end, *output, *timer;
    bool has_told_exit;
};

enum status child_watch(struct child_watch *w, struct child *c, struct loop *l, loop_fn *fn,
                        void *ctx, struct err *e);
void child_unwatch(struct child_watch *w); /* safe on a zeroed struct, and twice */

void child_watch_stop(struct child_watch *w);   /* child_stop */
void child_watch_hangup(struct child_watch *w); /* child_hangup */
void child_watch_kill(struct child_watch *w);   /* child_kill */
/* Something may have changed that no descriptor tells: the child is stepped soon. */
void child_watch_look(struct child_watch *w);

#endif
