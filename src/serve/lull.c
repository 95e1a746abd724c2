#include "serve/lull.h"

#include "serve/presence.h"

enum { LULL_MS = 5 };

static void
look(struct serve *s)
{
    if (s->wants_awake)
        presence_look(s);
    s->wants_awake = false;
}

static void on_time(void *ctx);

static void
wait(struct serve *s)
{
    s->has_given = false;
    s->lull = loop_after(s->loop, LULL_MS, on_time, s, NULL);
    if (!s->lull) /* no memory: then it is on all the time */
        loop_resume(s->watching);
}

static void
on_time(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->lull);
    s->lull = NULL;
    look(s);
    bool is_over = !s->has_given && worker_is_idle(s->worker);
    if (is_over)
        loop_resume(s->watching);
    else
        wait(s);
    s->on_lull(s, is_over);
}

void
lull_begin(struct serve *s, lull_fn *fn)
{
    s->on_lull = fn;
    if (!s->lull) {
        loop_pause(s->watching);
        wait(s);
    }
    s->has_given = true;
}

void
lull_news(struct serve *s)
{
    s->wants_awake = true;
    if (!s->lull)
        look(s);
}

void
lull_end(struct serve *s)
{
    look(s);
}
