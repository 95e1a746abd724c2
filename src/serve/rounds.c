#include "serve/rounds.h"

#include "base/clock.h"
#include "base/sys.h"
#include "serve/auth.h"
#include "serve/claim_waiters.h"
#include "serve/intake.h"
#include "serve/lull.h"
#include "serve/revoke.h"

#include <fcntl.h>
#include <string.h>

enum {
    GATHERING_MS = 1,
    GATHERED_MAX = 8, /* requests for which the loop sleeps until there are more */
    FEW_STREAMS =
        16, /* to tell more takes longer than wake-ups, and what comes meanwhile gathers */
    SETTLE_MS = 1,
    EARLY = 24, /* requests that a worker without work gets before the loop has read the others */
};

/* ---- answers ---- */

/* The client will not hear that it has the claim: it does not. */
static void
give_back(const struct job *j, const struct hub_reply *reply)
{
    struct arena a = { 0 };
    struct buf args = { 0 };

    if (j->route.op != HUB_CLAIM || reply->status >= 300 || !reply->text)
        return;
    const struct json *data = hub_reply_data(reply, &a);
    json_open(&args, '{');
    json_key_json(&args, "signal_id", json_get(data, "id"));
    json_key_json(&args, "claim_id", json_get(data, "claim_id"));
    json_close(&args, '}');
    intake_add_own(j->s,
                   &(struct hub_request){ .op = HUB_RELEASE,
                                          .identity = j->request.identity,
                                          .is_admin = j->request.is_admin },
                   &args); /* or its lease runs out */
    buf_release(&args);
    arena_release(&a);
}

/* Does it wait on? */
static bool
is_patient(const struct job *j, const struct hub_reply *reply)
{
    return reply->status < 300 && !reply->text && j->wait_until_ms > clock_mono_ms() &&
           !j->s->is_stopping && !http_conn_is_gone(j->conn);
}

static void
answer(struct job *j, const struct hub_reply *reply)
{
    if (j->conn && is_patient(j, reply)) {
        if (revoke_watch_has(&j->s->revoke_watch, j->key))
            job_refuse(j);
        else
            claim_waiters_add(j);
        return;
    }
    if (j->conn && !job_tell(j, reply))
        give_back(j, reply);
    job_free(j);
}

static void
answer_round(const struct round *r)
{
    for (size_t i = 0; i < r->n; i++)
        answer(r->who[i], &r->replies[i]);
}

/* What is new concerns keys that are remembered, and whoever looks after the server: its clients
 * see trouble at /health. */
static void
heed_news(struct serve *s, const struct worker_news *before)
{
    const struct worker_news *now = &s->news;

    if (now->key_changes != before->key_changes)
        auth_forget_keys(s);
    if (now->trouble[0] && !before->trouble[0])
        fprintf(stderr, "cliq: the store cannot be written: %s\n", now->trouble);
    else if (!now->trouble[0] && before->trouble[0])
        fprintf(stderr, "cliq: the store can be written again\n");
}

/* ---- those that the loop does itself ---- */

static void on_settle(void *ctx);

/* After them. */
static void
settle(struct serve *s, bool awaits)
{
    if (s->settle && !awaits)
        return;
    if (!worker_settle(s->worker, awaits) && !s->settle)
        s->settle = loop_after(s->loop, SETTLE_MS, on_settle, s, NULL);
    if (!s->settle)
        worker_settle(s->worker, true); /* or no memory */
}

static void
on_settle(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->settle);
    s->settle = NULL;
    settle(s, false);
}

static void
on_gather(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->gathering);
    s->gathering = NULL;
    rounds_give(s);
}

/* How long it may take until there are more requests for the same sync; -1: do these. Of many, some
 * come while the others are read. */
static int64_t
gather_ns(struct serve *s)
{
    size_t n = s->round->n;
    int64_t now = clock_mono_ns();

    if (n > GATHERED_MAX) {
        bool has_grown = n > s->gathered;
        s->gathered = n;
        return has_grown ? 0 : -1;
    }
    return batch_window_waits(&s->window, n, now) ? batch_window_left_ns(&s->window, now) : -1;
}

/* Sleeps until more is there for the loop to read; it comes back with that. False: do it now. */
static bool
gather_more(struct serve *s)
{
    int64_t ns = s->round->n == ROUND_MAX ? -1 : gather_ns(s);

    if (ns < 0)
        return false;
    if (!s->gathering) /* if what is there is no request */
        s->gathering = loop_after(s->loop, GATHERING_MS, on_gather, s, NULL);
    return s->gathering && loop_nap(s->loop, ns);
}

/* Those that were not decided wait on, and behind them what the answers brought: claims that are
 * given back. */
static void
wait_on(struct serve *s, struct round *rest)
{
    struct round *own = s->round;

    s->round = rest;
    for (size_t i = 0; own && i < own->n; i++)
        round_add(rest, &own->requests[i], 0,
                  own->who[i]); /* no more than were answered: they fit */
    if (own)
        round_free(s->worker, own);
}

/* What was decided is written, and answered. */
static void
end_round(struct serve *s)
{
    struct worker_news before = s->news;
    struct round *r = s->round;
    size_t n = r->decided;

    worker_end(s->worker, r, &s->news);
    heed_news(s, &before);
    s->gathered = 0;
    s->round = NULL;
    streams_written(s->streams, s->news.written);
    for (size_t i = 0; i < n; i++)
        answer(r->who[i], &r->replies[i]);
    batch_window_answered(&s->window, n, clock_mono_ns());
    round_drop(r, n);
    if (r->n > 0)
        wait_on(s, r);
    else
        round_free(s->worker, r);
}

/* Requests that nobody is before. They are decided as they come: so clients that were answered can
 * make their next ones meanwhile. */
static bool
do_at_once(struct serve *s, bool awaits)
{
    struct round *r = s->round;
    bool may = streams_count(s->streams) <= FEW_STREAMS && worker_is_idle(s->worker) &&
               worker_may_do(s->worker, r);

    if (!(may && worker_decide(s->worker, r)) && !r->is_begun)
        return false;
    if (may && gather_more(s))
        return true;
    end_round(s);
    settle(s, awaits);
    return may || !s->round;
}

/* ---- to the worker ---- */

/* Does somebody wait for the commit? */
static bool
is_awaited(const struct serve *s)
{
    return s->claim_waiters.first || streams_count(s->streams) > 0;
}

static void
on_lull(void *ctx, bool is_over)
{
    if (is_over)
        rounds_on_changed(ctx);
    else
        rounds_give(ctx);
}

void
rounds_give(void *ctx)
{
    struct serve *s = ctx;

    if (!s->round && s->wants_look && worker_is_idle(s->worker)) {
        s->round = round_new(s->worker);
        s->wants_look = false;
    }
    if (!s->round || (is_awaited(s) && !worker_is_idle(s->worker)))
        return; /* who listens is told of a whole round in one write: few large ones are better */
    if (s->round->n > 0) {
        revoke_check(s); /* for all who were let in since the last round */
        lull_begin(s, on_lull);
    }
    s->round->is_awaited = is_awaited(s);
    if (do_at_once(s, is_awaited(s)))
        return;
    if (worker_give(s->worker, s->round))
        s->round = NULL;
}

/* Clients that were answered together ask again together: then the worker would have nothing to do
 * until the loop has read them all, and the loop nothing until the worker has written them all. */
void
rounds_give_early(struct serve *s)
{
    if (s->round && s->round->n >= EARLY && worker_is_idle(s->worker) && !is_awaited(s) &&
        !worker_may_do(s->worker, s->round))
        rounds_give(s);
}

void
rounds_look(void *ctx)
{
    struct serve *s = ctx;

    s->wants_look = true;
    rounds_give(s);
}

/* Is the log longer than after our last round? The index beside it changes, too. */
static bool
has_grown(const struct serve *s)
{
    struct stat st;

    return sys->fstatat(s->log_dir, "events.jsonl", &st, AT_SYMLINK_NOFOLLOW) != 0 ||
           st.st_size != s->news.log_end;
}

void
rounds_on_changed(void *ctx)
{
    struct serve *s = ctx;

    watch_drain(&s->watch);
    revoke_check(s);
    if (!worker_is_idle(s->worker))
        s->wants_check = true; /* it may be us */
    else if (has_grown(s))
        s->wants_look = true;
    rounds_give(s);
}

/* ---- and back ---- */

/* Answers what is done. Was there a look among it? */
static bool
answer_all(struct serve *s, struct round *done)
{
    bool is_look = false;

    for (struct round *r = done, *next; r; r = next) {
        next = r->next;
        r->next = NULL;
        is_look = is_look || r->n == 0;
        answer_round(r);
        round_free(s->worker, r);
    }
    return is_look;
}

void
rounds_on_done(void *ctx)
{
    struct serve *s = ctx;
    struct worker_news before = s->news;
    struct round *done = worker_take(s->worker, &s->news);

    heed_news(s, &before);
    revoke_check(s); /* before streams are told what came after that */
    streams_written(s->streams, s->news.written);
    bool is_look = answer_all(s, done);
    revoke_forget(s);
    /* Something new in the index, or somebody asked for a look. */
    if (s->news.commits != before.commits && (s->news.last_seq != s->looked_at || is_look)) {
        streams_look(s->streams);
        bool are_all_tried = claim_waiters_try(s);
        lull_news(s);
        /* What could not be written into the index yet, or be tried, is looked for again. */
        s->looked_at = s->news.trouble[0] || !are_all_tried ? 0 : s->news.last_seq;
    }
    if (s->wants_check && has_grown(s))
        s->wants_look = true;
    s->wants_check = false;
    rounds_give(s);
}

void
rounds_free(struct serve *s)
{
    if (s->round && s->round->is_begun)
        worker_end(s->worker, s->round, &s->news); /* its clients are gone */
    loop_drop(s->settle);
    loop_drop(s->gathering);
    claim_waiters_free(s);
    intake_free(s);
}
