#include "proc/child_loop.h"

static void on_timer(void *ctx);

static void
drop(struct loop_source **source)
{
    loop_drop(*source);
    *source = NULL;
}

/* One timer, for whatever is next. Without memory the descriptors still tell. */
static void
set_timer(struct child_watch *w, int64_t ms)
{
    drop(&w->timer);
    if (ms >= 0)
        w->timer = loop_after(w->loop, (uint64_t)ms, on_timer, w, NULL);
}

/* The callback is last: it may free w. */
static void
step(struct child_watch *w)
{
    struct child *c = w->child;
    bool is_gone = child_step(c) == CHILD_GONE;

    if (c->has_exited || is_gone)
        drop(&w->end); /* it would tell for ever */
    if (is_gone)
        drop(&w->output);
    set_timer(w, child_due_ms(c));
    if (is_gone || (c->has_exited && !w->has_told_exit)) {
        w->has_told_exit = true;
        w->fn(w->ctx);
    }
}

static void
on_event(void *ctx)
{
    step(ctx);
}

static void
on_timer(void *ctx)
{
    struct child_watch *w = ctx;

    drop(&w->timer);
    step(w);
}

enum status
child_watch(struct child_watch *w, struct child *c, struct loop *l, loop_fn *fn, void *ctx,
            struct err *e)
{
    *w = (struct child_watch){ .child = c, .loop = l, .fn = fn, .ctx = ctx };
    if (c->pidfd >= 0)
        w->end = loop_on_readable(l, c->pidfd, on_event, w, e);
    if (c->out >= 0)
        w->output = loop_on_readable(l, c->out, on_event, w, e);
    w->timer = loop_after(l, 0, on_timer, w, e); /* it may have ended already */
    if (!w->timer || (c->pidfd >= 0 && !w->end) || (c->out >= 0 && !w->output)) {
        child_unwatch(w);
        return ST_IO;
    }
    return ST_OK;
}

void
child_unwatch(struct child_watch *w)
{
    drop(&w->end);
    drop(&w->output);
    drop(&w->timer);
}

void
child_watch_look(struct child_watch *w)
{
    if (w->child->state != CHILD_GONE)
        set_timer(w, 0);
}

void
child_watch_stop(struct child_watch *w)
{
    child_stop(w->child);
    child_watch_look(w);
}

void
child_watch_hangup(struct child_watch *w)
{
    child_hangup(w->child);
    child_watch_look(w);
}

void
child_watch_kill(struct child_watch *w)
{
    child_kill(w->child);
    child_watch_look(w);
}
