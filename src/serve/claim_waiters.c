#include "serve/claim_waiters.h"

#include "base/clock.h"
#include "serve/rounds.h"

#include <string.h>

/* Half of a round: the rest is for requests that come meanwhile. */
enum { TRIED_MAX = ROUND_MAX / 2 };

static void
take_out(struct job *j)
{
    struct claim_waiters *p = &j->s->claim_waiters;

    *(j->prev ? &j->prev->next : &p->first) = j->next;
    *(j->next ? &j->next->prev : &p->last) = j->prev;
    j->next = j->prev = NULL;
    j->is_waiting = false;
    p->n--;
}

static void
put_last(struct job *j)
{
    struct claim_waiters *p = &j->s->claim_waiters;

    j->prev = p->last;
    *(p->last ? &p->last->next : &p->first) = j;
    p->last = j;
    j->is_waiting = true;
    p->n++;
}

static void
give_up(struct job *j)
{
    take_out(j);
    job_tell(j, &(struct hub_reply){ .status = 200 });
    job_free(j);
}

static void
on_news(void *ctx, struct http_conn *c, enum http_news news)
{
    struct job *j = ctx;

    (void)c;
    if (j->is_waiting && news != HTTP_DRAINED)
        give_up(j); /* else it is in a round, which answers it */
}

void
claim_waiters_watch(struct job *j)
{
    http_watch(j->conn, on_news, j);
}

static void on_time(void *ctx);

static void
set_timer(struct job *j)
{
    int64_t left_ms = j->wait_until_ms - clock_mono_ms();

    j->timer = loop_after(j->s->loop, left_ms > 0 ? (uint64_t)left_ms : 0, on_time, j, NULL);
    if (!j->timer)
        give_up(j);
}

static void
on_time(void *ctx)
{
    struct job *j = ctx;

    loop_drop(j->timer);
    j->timer = NULL;
    if (!j->is_waiting)
        return; /* it is in a round, which looks at the time */
    if (clock_mono_ms() < j->wait_until_ms)
        set_timer(j); /* the loop's clock rounds differently */
    else
        give_up(j);
}

void
claim_waiters_add(struct job *j)
{
    put_last(j);
    if (!j->timer)
        set_timer(j);
}

bool
claim_waiters_try(struct serve *s)
{
    struct job *j;

    while ((j = s->claim_waiters.first) && j->claim_epoch != s->news.claim_epoch) {
        if ((s->round && s->round->n >= TRIED_MAX) || !rounds_add(s, j))
            return false;
        take_out(j);
    }
    return true;
}

void
claim_waiters_revoke(struct serve *s, const char *key)
{
    for (struct job *j = s->claim_waiters.first, *next; j; j = next) {
        next = j->next;
        if (strcmp(j->key, key) == 0) {
            take_out(j);
            job_refuse(j);
        }
    }
}

void
claim_waiters_free(struct serve *s)
{
    while (s->claim_waiters.first) {
        struct job *j = s->claim_waiters.first;
        take_out(j);
        job_free(j);
    }
}
