#include "serve/rounds.h"

#include "base/clock.h"
#include "base/sys.h"
#include "serve/auth.h"
#include "serve/claim_waiters.h"
#include "serve/presence.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPARE_MAX = 2,
    LOOP_BYTES = 256 << 10,    /* larger rounds are the worker's: that many take a ms */
    SLOW_NS = 5000000,         /* if a sync took longer, the worker does rounds */
    SLOW_PAUSE_TIMES = 4,      /* for that many times as long, */
    SLOW_PAUSE_NS = 100000000, /* but no longer than this */
    SETTLE_MS = 1,             /* a client that was answered may ask again at once */
    NAP_MAX = 8,               /* requests for which the loop sleeps until there are more */
    NAP_END_MS = 1,            /* if nothing comes */
    WATCH_PAUSE_MS = 5,
    COMPACT_EVERY_MS = 3600000,
    STUCK_MS = 50, /* most rounds take a fiftieth of that */
};

/* ---- the round that gathers ---- */

static struct round *
round_new(struct serve *s)
{
    struct round *r = s->spare_rounds;

    if (!r)
        return calloc(1, sizeof *r);
    s->spare_rounds = r->next;
    s->n_spare_rounds--;
    r->next = NULL;
    return r;
}

static void
round_free(struct serve *s, struct round *r)
{
    arena_reset(&r->arena);
    r->n = r->bytes = r->decided = 0;
    r->is_workers = r->needs_commit = r->is_begun = r->is_kept = false;
    r->compact_ms = 0;
    if (s->n_spare_rounds == SPARE_MAX) {
        arena_release(&r->arena);
        free(r);
        return;
    }
    r->next = s->spare_rounds;
    s->spare_rounds = r;
    s->n_spare_rounds++;
}

size_t
round_sort(struct round *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct hub_request request = r->requests[i];
        struct job *job = r->jobs[i];
        if (!hub_ops[request.op].writes)
            continue;
        r->requests[i] = r->requests[n];
        r->jobs[i] = r->jobs[n];
        r->requests[n] = request;
        r->jobs[n++] = job;
    }
    return n;
}

/* May it be answered before the index is committed? Not if it changes what the loop reads there:
 * keys, members of rings. */
static bool
is_plain(enum hub_op op)
{
    return op == HUB_EMIT || op == HUB_EMIT_BATCH || op == HUB_CLAIM || op == HUB_ACK ||
           op == HUB_EXTEND || op == HUB_RELEASE || op == HUB_FAIL || op == HUB_GENERATE;
}

bool
rounds_add(struct serve *s, struct job *j)
{
    if (!s->round)
        s->round = round_new(s);
    struct round *r = s->round;
    if (!r || r->n == ROUND_MAX)
        return false;
    if (r->n == 0)
        r->begun_ns = clock_mono_ns();
    j->claim_epoch = s->news.claim_epoch; /* or older: then it is tried once too often */
    r->needs_commit = r->needs_commit || !is_plain(j->request.op);
    r->is_workers = r->is_workers || r->needs_commit || j->request.op == HUB_EMIT_BATCH;
    r->jobs[r->n] = j;
    r->requests[r->n++] = j->request;
    r->bytes += j->bytes;
    return true;
}

void
rounds_add_own(struct serve *s, const struct hub_request *r, const struct buf *args)
{
    struct job *j = job_new_own(s, r, args);

    if (j && !rounds_add(s, j))
        job_free(j);
}

void
rounds_revoke(struct serve *s, const char *key)
{
    struct round *r = s->round;
    size_t n = r ? r->decided : 0; /* those were in time */

    for (size_t i = n; r && i < r->n; i++) {
        struct job *j = r->jobs[i];
        if (j->conn && strcmp(j->key, key) == 0) {
            job_refuse(j);
        } else {
            r->jobs[n] = j;
            r->requests[n++] = r->requests[i];
        }
    }
    if (r)
        r->n = n;
}

/* ---- answers ---- */

/* The client is gone and does not learn of its claim: releases the task. */
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
    rounds_add_own(j->s,
                   &(struct hub_request){ .op = HUB_RELEASE,
                                          .identity = j->request.identity,
                                          .is_admin = j->request.is_admin },
                   &args); /* without memory for that, its lease expires */
    buf_release(&args);
    arena_release(&a);
}

/* A claim with wait_seconds that found nothing. */
static bool
waits_on(const struct job *j, const struct hub_reply *reply)
{
    return reply->status < 300 && !reply->text && j->wait_until_ms > clock_mono_ms() &&
           !j->s->is_stopping && !http_conn_is_gone(j->conn);
}

static void
answer(struct job *j, const struct hub_reply *reply)
{
    if (j->conn && waits_on(j, reply)) {
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

/* ---- after a round ---- */

/* The log's size, keys and trouble after a round. Clients see trouble at /health. */
static void
take_news(struct serve *s, bool is_committed)
{
    struct hub_news now = hub_news(s->writer);
    bool had_trouble = s->trouble[0];

    if (now.key_changes != s->news.key_changes)
        auth_forget_keys(s);
    if (is_committed) {
        s->committed_seq = now.last_seq;
        s->commits++;
    }
    s->news = now;
    s->news.trouble = NULL; /* s->trouble has the copy */
    streams_cut(s->streams, s->news.last_cut);
    if (now.bad_lines > s->bad_told)
        fprintf(stderr, "cliq: warning: " HUB_BAD_LINES_SAYS "\n", now.bad_lines,
                now.bad_lines == 1 ? "" : "s");
    s->bad_told = now.bad_lines;
    snprintf(s->trouble, sizeof s->trouble, "%s", now.trouble ? now.trouble : "");
    if (s->trouble[0] && !had_trouble)
        fprintf(stderr, "cliq: the store cannot be written: %s\n", s->trouble);
    else if (!s->trouble[0] && had_trouble)
        fprintf(stderr, "cliq: the store can be written again\n");
}

/* Starts agents that sleep, and notes what those that listen were told. */
static void
wake_agents_now(struct serve *s)
{
    if (s->wants_wake)
        presence_look(s);
    s->wants_wake = false;
}

/* The index has new lines, or was looked at: tells streams and claims that wait for it. */
static void
tell_committed(struct serve *s, bool is_look)
{
    auth_forget_revoked(s);
    if (s->committed_seq == s->looked_at && !is_look)
        return;
    streams_look(s->streams);
    bool are_all_tried = claim_waiters_try(s);
    s->wants_wake = true;
    if (!s->watch_pause)
        wake_agents_now(s); /* else at its end: to start one takes longer */
    /* After trouble, or if not all claims had room, the next commit tells again. */
    s->looked_at = s->trouble[0] || !are_all_tried ? 0 : s->committed_seq;
}

/* ---- looks at their time ---- */

static void on_look_time(void *ctx);

static void
set_look_timer(struct serve *s)
{
    int64_t in_ms = s->look_at_ms - clock_mono_ms();

    s->look_timer_ms = s->look_at_ms;
    s->look_timer = loop_after(s->loop, in_ms > 0 ? (uint64_t)in_ms : 0, on_look_time, s, NULL);
}

static void
on_look_time(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->look_timer);
    s->look_timer = NULL;
    if (clock_mono_ms() < s->look_at_ms)
        set_look_timer(s); /* that moved meanwhile */
    else
        rounds_look(s);
}

/* The next look. A timer that fires too early is set again then. */
static void
plan_look(struct serve *s, int64_t in_ms)
{
    int64_t at_ms = clock_mono_ms() + in_ms;

    if (s->look_timer && at_ms < s->look_timer_ms) {
        loop_drop(s->look_timer);
        s->look_timer = NULL;
    }
    s->look_at_ms = at_ms;
    if (!s->look_timer)
        set_look_timer(s);
}

/* ---- the loop's rounds ---- */

static void
settle(struct serve *s)
{
    s->is_unsettled = false;
    hub_settle(s->writer);
    take_news(s, true);
    plan_look(s, worker_look_in_ms(s->worker, false));
    auth_check_revoked(s); /* before streams are told of what came after that */
    streams_written(s->streams, s->news.last_seq);
    tell_committed(s, false);
}

static void on_settle_time(void *ctx);

/* Settles once there was no round for SETTLE_MS. */
static void
settle_later(struct serve *s)
{
    if (!s->settle_timer)
        s->settle_timer = loop_after(s->loop, SETTLE_MS, on_settle_time, s, NULL);
    if (!s->settle_timer) /* no memory */
        settle(s);
}

static void
on_settle_time(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->settle_timer);
    s->settle_timer = NULL;
    if (!s->is_unsettled)
        return;
    if ((s->round && s->round->is_begun) ||
        clock_mono_ns() - s->window.answered_ns < SETTLE_MS * 1000000) {
        settle_later(s);
        return;
    }
    settle(s);
    rounds_turn(s);
}

/* Commits at once if streams or claims wait for it. */
static void
after_round(struct serve *s)
{
    s->is_unsettled = true;
    if (s->claim_waiters.first || streams_count(s->streams) > 0)
        settle(s);
    else
        settle_later(s);
}

static void
on_nap_end(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->nap_end);
    s->nap_end = NULL;
    rounds_turn(s);
}

/* How long more requests may take to come for the same sync; -1: none are waited for. Of many
 * clients some ask while the others are read. */
static int64_t
nap_ns(struct serve *s)
{
    size_t n = s->round->n;
    int64_t now = clock_mono_ns();

    if (n == ROUND_MAX)
        return -1;
    if (n > NAP_MAX) {
        bool has_grown = n > s->gathered;
        s->gathered = n;
        return has_grown ? 0 : -1;
    }
    return batch_window_waits(&s->window, n, now) ? batch_window_left_ns(&s->window, now) : -1;
}

/* Sleeps until the loop has more to read, which brings it back here. False: end the round now. */
static bool
gather_more(struct serve *s)
{
    int64_t ns = nap_ns(s);

    if (ns < 0)
        return false;
    if (!s->nap_end) /* if it is no request that comes */
        s->nap_end = loop_after(s->loop, NAP_END_MS, on_nap_end, s, NULL);
    return s->nap_end && loop_nap(s->loop, ns);
}

/* Requests that were not decided stay for the next round, before those that the answers added. */
static void
keep_rest(struct serve *s, struct round *r, size_t n)
{
    struct round *added = s->round;

    r->n -= n;
    memmove(r->requests, r->requests + n, r->n * sizeof *r->requests);
    memmove(r->jobs, r->jobs + n, r->n * sizeof *r->jobs);
    r->decided = 0;
    r->is_begun = false;
    s->round = r;
    for (size_t i = 0; added && i < added->n; i++)
        rounds_add(s, added->jobs[i]); /* no more than were answered: they fit */
    if (added)
        round_free(s, added);
}

/* Writes, syncs and answers what was decided. */
static void
end_round(struct serve *s)
{
    struct round *r = s->round;
    size_t n = r->decided;
    int64_t begun_ns = clock_mono_ns();

    hub_round_end(s->writer, r->requests, n, &r->arena, r->replies);
    int64_t took_ns = clock_mono_ns() - begun_ns;
    int64_t pause_ns = SLOW_PAUSE_TIMES * took_ns;
    if (took_ns > SLOW_NS)
        s->slow_until_ns =
            begun_ns + took_ns + (pause_ns < SLOW_PAUSE_NS ? pause_ns : SLOW_PAUSE_NS);
    take_news(s, false);
    s->gathered = 0;
    s->round = NULL;
    streams_written(s->streams, s->news.last_seq);
    for (size_t i = 0; i < n; i++)
        answer(r->jobs[i], &r->replies[i]);
    batch_window_answered(&s->window, n, clock_mono_ns());
    if (r->n > n)
        keep_rest(s, r, n);
    else
        round_free(s, r);
}

/* Decides what has come so far. False: the worker must do it. */
static bool
decide(struct serve *s)
{
    struct round *r = s->round;

    if (r->n == 0 || r->bytes > LOOP_BYTES || r->is_workers || (s->wants_compact && !r->is_begun) ||
        clock_mono_ns() < s->slow_until_ns)
        return false;
    if (!r->is_begun && !hub_round_begin(s->writer, false))
        return false;
    r->is_begun = true;
    hub_round_decide(s->writer, r->requests + r->decided, r->n - r->decided, &r->arena,
                     r->replies + r->decided);
    r->decided = r->n;
    return true;
}

/* ---- the watch of the log ---- */

static void on_pause_end(void *ctx);

static void
wait_for_pause_end(struct serve *s)
{
    s->had_round = false;
    s->watch_pause = loop_after(s->loop, WATCH_PAUSE_MS, on_pause_end, s, NULL);
    if (!s->watch_pause) /* no memory: then it is never paused */
        loop_resume(s->watching);
}

static void
on_pause_end(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->watch_pause);
    s->watch_pause = NULL;
    wake_agents_now(s);
    if (s->had_round || s->given) {
        wait_for_pause_end(s);
        rounds_turn(s);
    } else {
        loop_resume(s->watching);
        rounds_on_changed(s); /* a change it missed */
    }
}

/* Before a round that may write. */
static void
pause_watch(struct serve *s)
{
    if (!s->watch_pause) {
        loop_pause(s->watching);
        wait_for_pause_end(s);
    }
    s->had_round = true;
}

/* Is the log longer than after our last round? The directory's other files change, too. */
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
    auth_check_revoked(s);
    if (s->given)
        s->wants_check = true; /* it may be the worker that writes */
    else if (has_grown(s))
        s->wants_look = true;
    rounds_turn(s);
}

/* ---- turns ---- */

void
rounds_turn(void *ctx)
{
    struct serve *s = ctx;

    while (!s->given) {
        if (!s->round && s->wants_look && (s->round = round_new(s)))
            s->wants_look = false;
        if (!s->round)
            break;
        if (s->round->n > 0) {
            auth_check_revoked(s); /* for all who were admitted since the last round */
            pause_watch(s);
        }
        bool is_loops = decide(s);
        if (is_loops && gather_more(s))
            return;
        if (s->round->is_begun) {
            end_round(s);
            after_round(s);
        } else {
            s->is_unsettled = false; /* the worker goes on with it */
            s->given = s->round;
            s->given_ms = clock_mono_ms();
            s->given->compact_ms = s->wants_compact ? s->o->retention_ms : 0;
            s->wants_compact = false;
            s->round = NULL;
            worker_give(s->worker, s->given);
        }
    }
}

void
rounds_on_done(void *ctx)
{
    struct serve *s = ctx;
    int64_t look_in_ms;
    struct round *r = worker_take(s->worker, &look_in_ms);

    if (!r)
        return;
    s->given = NULL;
    take_news(s, !r->is_kept);
    auth_check_revoked(s); /* before streams are told of what came after that */
    streams_written(s->streams, s->news.last_seq);
    for (size_t i = 0; i < r->n; i++)
        answer(r->jobs[i], &r->replies[i]);
    bool is_look = r->n == 0, is_kept = r->is_kept;
    round_free(s, r);
    if (is_kept) {
        after_round(s);
    } else {
        plan_look(s, look_in_ms);
        tell_committed(s, is_look);
    }
    if (s->wants_check && has_grown(s))
        s->wants_look = true;
    s->wants_check = false;
    rounds_turn(s);
}

bool
rounds_are_stuck(const struct serve *s)
{
    return s->given && clock_mono_ms() - s->given_ms > STUCK_MS;
}

void
rounds_look(void *ctx)
{
    struct serve *s = ctx;

    s->wants_look = true;
    rounds_turn(s);
}

/* ---- retention ---- */

static void
on_compact_time(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->compact_timer);
    rounds_begin_retention(s);
}

void
rounds_begin_retention(struct serve *s)
{
    s->compact_timer = NULL;
    if (!s->o->retention_ms)
        return;
    s->compact_timer = loop_after(s->loop, COMPACT_EVERY_MS, on_compact_time, s, NULL);
    s->wants_compact = true;
    rounds_look(s);
}

/* ---- the end ---- */

void
rounds_stop(struct serve *s)
{
    wake_agents_now(s);
}

/* With its jobs, whose clients are gone. */
static void
drop_round(struct serve *s, struct round *r)
{
    for (size_t i = 0; r && i < r->n; i++)
        job_free(r->jobs[i]);
    if (r)
        round_free(s, r);
}

void
rounds_free(struct serve *s)
{
    struct round *r = s->round;

    if (r && r->is_begun)
        hub_round_end(s->writer, r->requests, r->decided, &r->arena, r->replies);
    drop_round(s, r);
    s->round = NULL;
    drop_round(s, worker_free(s->worker));
    loop_drop(s->settle_timer);
    loop_drop(s->nap_end);
    loop_drop(s->look_timer);
    loop_drop(s->compact_timer);
    claim_waiters_free(s);
    while ((r = s->spare_rounds)) {
        s->spare_rounds = r->next;
        arena_release(&r->arena);
        free(r);
    }
}
