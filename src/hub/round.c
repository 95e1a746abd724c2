/*
 * submit - the door of the hub: every request comes in here.
 *
 *     lock -> fold what others appended -> what is due -> decide each request and apply its
 *     events -> one write of all lines -> one sync -> commit the index -> unlock
 *
 * If the write or the sync fails, the index is rolled back and all who wrote are told 503. After a
 * failed sync nobody knows what is on disk: the log is mended first (hub_lock), and what of the
 * round is there then is folded as if others had written it. If the commit fails, the lines are on
 * disk all the same: the next fold brings them, and hub_fold_in_ms tells when it is time for one.
 *
 * A server whose rounds follow each other commits and unlocks after several of them (h->is_kept):
 * what a round adds to the index lies in pages that the next one changes again. Every SAVE_MS the
 * index's helper commits while they go on (index_commit_later); if that fails, the next round finds
 * it so, settles, and folds again what the log has. Who reads with another handle sees by the log's
 * size that the index is behind, and waits for the lock.
 */
#include "hub/hub_impl.h"

#include "base/path.h"
#include "base/sys.h"
#include "hub/api_key.h"
#include "hub/model/signal_id.h"
#include "log/lock.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUT_BYTES_MAX = 32 << 20,
    WAIT_MAX_MS = 60000,   /* a clock that was set is noticed after this */
    SAVE_MS = 20,          /* rounds without a commit, */
    KEEP_MS = 100,         /* and with commits that nobody is told of */
    DOUBTS_MAX = 3,        /* in a row */
    LOCK_LEAST_MS = 100,   /* for who waited long enough for others */
    ANSWER_MAX = 1 << 30,  /* bytes of an answer */
    ANSWER_KEPT = 1 << 20, /* bytes of memory that the next answer uses again */
};

/* ---- the time ---- */

int64_t
hub_clock_ms(clockid_t id)
{
    struct timespec t = { 0 };

    sys->clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t
clock_up_ms(clockid_t id)
{
    struct timespec t = { 0 };

    sys->clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + (t.tv_nsec + 999999) / 1000000;
}

static void
look_at_clock(struct hub *h)
{
    h->now.boot_ms = hub_clock_ms(CLOCK_BOOTTIME); /* in this order: see struct hub_now */
    h->now.wall_ms = hub_clock_ms(CLOCK_REALTIME);
    h->now.boot_up_ms = clock_up_ms(CLOCK_BOOTTIME);
    h->now.boot = h->boot;
}

/* ---- replies ---- */

static void
reply_refusal(struct op *t)
{
    struct hub_reply *r = t->reply;
    const char *message = arena_dup(t->a, t->refusal.message, strlen(t->refusal.message));

    *r = (struct hub_reply){ .status = t->refusal.status,
                             .code = t->refusal.code,
                             .message = message ? message : "out of memory",
                             .details = r->details };
}

static void
reply_unavailable(struct hub_reply *r, const struct err *e, struct arena *a)
{
    const char *message = arena_dup(a, e->text, strlen(e->text));

    *r = (struct hub_reply){ .status = 503,
                             .code = "STORE_UNAVAILABLE",
                             .message = message ? message : "out of memory" };
}

static void
reply_read_only(const struct hub *h, struct hub_reply *r, struct arena *a)
{
    struct err e;
    bool is_ours = readonly_refuse(h, &e) == ST_REFUSED;

    reply_unavailable(r, &e, a);
    r->status = is_ours ? 403 : 503;
    r->code = "STORE_READ_ONLY";
}

/* What the operation wrote; NULL: nothing. */
static const char *
take_answer(struct hub *h, struct arena *a)
{
    struct buf *b = &h->answer;
    const char *text = b->len && !buf_failed(b) ? arena_dup(a, b->p, b->len) : NULL;

    if (b->cap > ANSWER_KEPT)
        buf_release(b);
    return text;
}

static bool (*const operations[HUB_N_OPS])(struct op *) = {
    [HUB_EMIT] = op_emit,
    [HUB_EMIT_BATCH] = op_emit_batch,
    [HUB_GENERATE] = op_generate,
    [HUB_SCHEDULE] = op_schedule,
    [HUB_CANCEL] = op_cancel,
    [HUB_CLAIM] = op_claim,
    [HUB_ACK] = op_act,
    [HUB_EXTEND] = op_act,
    [HUB_RELEASE] = op_act,
    [HUB_FAIL] = op_act,
    [HUB_STATUS] = op_act,
    [HUB_REQUEUE] = op_act,
    [HUB_INBOX_ACKNOWLEDGE] = op_receipt,
    [HUB_INBOX_RESOLVE] = op_receipt,
    [HUB_INBOX_SNOOZE] = op_receipt,
    [HUB_INBOX_UNSNOOZE] = op_receipt,
    [HUB_SUBSCRIBE] = op_subscription,
    [HUB_UNSUBSCRIBE] = op_subscription,
    [HUB_WOKEN] = op_woken,
    [HUB_ROLE_ADD] = op_define,
    [HUB_RING_ADD] = op_define,
    [HUB_IDENTITY_ADD] = op_define,
    [HUB_FILL] = op_join,
    [HUB_JOIN] = op_join,
    [HUB_KEY_CREATE] = op_key_create,
    [HUB_KEY_REVOKE] = op_key_revoke,
    [HUB_INBOX] = op_inbox,
    [HUB_LIST] = op_list,
    [HUB_THREAD] = op_thread,
    [HUB_GET] = op_get,
    [HUB_HISTORY] = op_history,
    [HUB_ROLES] = op_people,
    [HUB_RINGS] = op_people,
    [HUB_IDENTITIES] = op_people,
    [HUB_KEYS] = op_people,
    [HUB_SUBSCRIPTIONS] = op_subscriptions,
    [HUB_DELAYED] = op_delayed,
    [HUB_EVENTS] = op_events,
};

static void
answer(struct hub *h, const struct hub_request *req, struct arena *a, struct hub_reply *reply)
{
    struct op t = { .h = h, .req = req, .a = a, .reply = reply, .out = &h->answer };
    bool writes = hub_ops[req->op].writes;

    t.in = (struct args_in){ .object = req->args,
                             .known = hub_op_args(req->op),
                             .is_query = !writes,
                             .prefix = "",
                             .now_ms = h->now.wall_ms,
                             .arena = a,
                             .refusal = &t.refusal };
    *reply = (struct hub_reply){ .status = 200 };
    buf_reset(&h->answer);
    h->answer.max = ANSWER_MAX;
    bool is_good;
    if (!req->identity || !path_is_name(req->identity))
        is_good = refuse(&t.refusal, 400, "VALIDATION_INVALID_TYPE",
                         "identity must be a name of 1 to 64 of A-Z a-z 0-9 . _ -, not \"%.80s\"",
                         req->identity ? req->identity : "");
    else if (hub_ops[req->op].scope == SCOPE_ADMIN && !req->is_admin)
        is_good =
            refuse(&t.refusal, 403, "AUTH_FORBIDDEN", "%s needs an admin key, and %s has none",
                   hub_ops[req->op].name, req->identity);
    else if (req->args && req->args->type != JSON_OBJECT)
        is_good =
            refuse(&t.refusal, 400, "VALIDATION_INVALID_TYPE", "the body must be a JSON object");
    else /* emit has codes of its own, also for what is not known */
        is_good = (req->op == HUB_EMIT || args_known(&t.in, hub_ops[req->op].name)) &&
                  operations[req->op](&t);
    if (is_good && !writes && buf_failed(t.out))
        is_good = refuse(&t.refusal, 503, "STORE_UNAVAILABLE", "out of memory");
    if (is_good)
        reply->text = take_answer(h, a);
    else
        reply_refusal(&t);
}

/* ---- a round ---- */

static void
give_up(struct hub *h)
{
    if (h->ix)
        index_rollback(h->ix);
    fold_forget(&h->fold);
    h->is_kept = false;
}

/* Lines from `from` on that go in one write: whole units, within the log's limits. */
static size_t
chunk(const struct hub *h, size_t from)
{
    size_t end = from, bytes = 0;

    for (size_t i = from; i < h->n_lines;) {
        size_t k = i;
        while (k < h->n_lines && h->lines[k].unit == h->lines[i].unit)
            bytes += h->lines[k++].len;
        if (end > from && (k - from > LOG_BATCH_MAX || bytes > PUT_BYTES_MAX))
            break;
        end = i = k;
    }
    return end - from;
}

static enum status
put_lines(struct hub *h, struct err *e)
{
    size_t most = h->n_lines < LOG_BATCH_MAX ? h->n_lines : LOG_BATCH_MAX;
    struct log_text *texts = calloc(most, sizeof *texts);
    bool is_first = h->log.end == 0; /* then the name has to be synced, too */
    struct err why;
    enum status s = texts ? ST_OK : err_set(&why, ST_IO, "out of memory");

    for (size_t from = 0; !s && from < h->n_lines;) {
        size_t n = chunk(h, from);
        assert(n <= LOG_BATCH_MAX);
        for (size_t i = 0; i < n; i++)
            texts[i] =
                (struct log_text){ h->text.p + h->lines[from + i].at, h->lines[from + i].len };
        /* One sync for all: the last. */
        h->log.o.is_durable = is_first || from + n == h->n_lines;
        s = log_put(&h->log, texts, n, &why);
        from += n;
    }
    h->log.o.is_durable = true;
    free(texts);
    if (h->log.is_refusing)
        hub_note_trouble(h, &why);
    else if (s == ST_IO)
        hub_note_full(h, &why);
    else if (!s)
        hub_note_room(h);
    if (s)
        err_say(e, "%s", why.text);
    return s;
}

/* Is the claim that was answered the one that the log has? */
static void
check_claim(struct hub *h, struct arena *a, struct hub_reply *reply)
{
    const struct json *data = hub_reply_data(reply, a), *id = json_get(data, "id");
    const char *text = id ? arena_dup(a, id->text.p, id->text.len) : NULL;
    struct signal_row x;

    if (text && fold_find(&h->fold, hub_event_bare_id(text), a, &x) && x.it.claim &&
        json_eq(json_get(data, "claim_id"), x.it.claim))
        return;
    *reply = (struct hub_reply){ .status = 409,
                                 .code = "SIGNAL_CLAIM_CONFLICT",
                                 .message = "signal_id: it was claimed by another writer" };
}

/* Somebody without the lock wrote between our lines, so that their numbers, or even what they
 * do, are others than we thought: the log has the last word. */
static void
fold_again(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
           struct hub_reply *replies, uint64_t shift)
{
    index_rollback(h->ix);
    fold_forget(&h->fold);
    if (index_begin(h->ix, true, NULL))
        return;
    fold_enter(&h->fold);
    if (fold_log(&h->fold, &h->log, NULL))
        return;
    for (size_t i = 0; i < n; i++) {
        if (!replies[i].seq || replies[i].status >= 300)
            continue;
        replies[i].seq += shift;
        if (r[i].op == HUB_EMIT) {
            struct op t = { .h = h, .a = a, .out = &h->answer };
            buf_reset(&h->answer);
            op_render_at(&t, replies[i].seq);
            replies[i].text = take_answer(h, a);
        }
        if (r[i].op == HUB_CLAIM)
            check_claim(h, a, &replies[i]);
    }
}

/* With the lock and an open transaction. */
static enum status
begin_round(struct hub *h, struct err *e)
{
    struct arena scratch = { 0 };

    buf_reset(&h->text);
    h->n_lines = h->unit = 0;
    h->next_seq = h->log.next_seq;
    look_at_clock(h);
    signal_ids_begin();
    bool is_good = hub_do_due(h, &scratch);
    arena_release(&scratch);
    return is_good ? ST_OK : index_status(h->ix, e);
}

static enum status
decide_all(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
           struct hub_reply *replies, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        h->unit++;
        answer(h, &r[i], a, &replies[i]);
        s = index_status(h->ix, e);
    }
    return s;
}

/* What was decided goes to the disk. lends: the index's rows are added by another thread meanwhile.
 */
static enum status
put_round(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
          struct hub_reply *replies, bool lends, struct err *e)
{
    uint64_t first = h->log.next_seq;

    if (!h->n_lines)
        return ST_OK;
    if (lends)
        index_flush_behind(h->ix);
    enum status s = put_lines(h, e);
    if (s)
        return s;
    if (h->log.next_seq == first + h->n_lines)
        fold_put(&h->fold, &h->log);
    else
        fold_again(h, r, n, a, replies, h->log.next_seq - first - h->n_lines);
    return ST_OK;
}

static void
commit(struct hub *h)
{
    struct err why;

    hub_refresh_delayed_file(h);
    fold_leave(&h->fold);
    if (index_commit(h->ix, &why)) {
        fold_forget(&h->fold); /* on disk it is; the next fold brings it */
        hub_note_behind(h, &why);
    } else {
        hub_note_level(h);
    }
}

void
hub_settle(struct hub *h)
{
    if (!h->is_kept)
        return;
    h->is_kept = false;
    if (h->due_is_of != h->fold.timers + 1)
        hub_look_up_due(h); /* while it is all there */
    commit(h);
    log_unlock(&h->log);
}

bool
hub_may_go_on(const struct hub *h)
{
    return h->is_kept && hub_clock_ms(CLOCK_BOOTTIME) - h->kept_ms < KEEP_MS &&
           !hub_is_delayed_file_due(h) && !lock_is_wanted(h->dir);
}

void
hub_has_waited(struct hub *h, int64_t ms)
{
    int64_t left = h->o.lock_wait_ms - ms;

    h->log.o.lock_wait_ms = (unsigned)(left > LOCK_LEAST_MS ? left : LOCK_LEAST_MS);
}

/* The lock, and a transaction in which the whole log is folded: those of the round before, if
 * they were kept and the log is still that file. Who may not wait for the lock is told
 * ST_CONFLICT. */
static enum status
enter(struct hub *h, bool may_wait, struct err *e)
{
    bool is_current = false;
    enum status s = ST_OK;

    if (h->is_kept &&
        (index_status(h->ix, NULL) || log_look(&h->log, &is_current, NULL) || !is_current))
        hub_settle(h);
    if (!h->is_kept && !h->log.is_locked)
        s = may_wait ? hub_lock(h, e) : log_try_lock(&h->log, NULL);
    if (s)
        return s;
    if (h->log.next_seq != h->left_at) { /* others wrote, and may have folded it for us */
        h->fold.keys++;
        h->fold.timers++;
        h->fold.claim_epoch++;
    }
    if (!h->is_kept)
        return hub_begin(h, e);
    h->is_changed = true;
    return fold_log(&h->fold, &h->log, e);
}

/* How a round is done. */
struct how {
    bool keeps;                 /* lock and transaction, for the next round */
    void (*on_disk)(void *ctx); /* is called when it is there; NULL: none */
    void *ctx;
};

/* A round that was answered: told, and committed, now or with the next one. */
static void
leave(struct hub *h, const struct how *how)
{
    if (h->n_lines && how->on_disk)
        how->on_disk(how->ctx);
    if (how->keeps && h->n_lines) {
        if (!h->is_kept)
            h->kept_ms = h->saved_ms = h->now.boot_ms;
        h->is_kept = true;
        if (h->now.boot_ms - h->saved_ms >= SAVE_MS && index_commit_later(h->ix, &h->fold.place))
            h->saved_ms = h->now.boot_ms;
        else if (how->on_disk)
            index_flush_batches(h->ix); /* while others answer */
        return;
    }
    h->is_kept = false;
    if (h->n_lines || h->is_changed || hub_is_delayed_file_due(h))
        commit(h);
    else
        index_rollback(h->ix); /* nothing happened */
}

/* False: somebody has the lock, and nothing was done. What else goes wrong finish() tells. */
static bool
begin(struct hub *h, bool may_wait)
{
    struct hub_turn *t = &h->turn;

    *t = (struct hub_turn){ 0 };
    t->s = enter(h, may_wait, &t->e);
    if (t->s == ST_CONFLICT && !may_wait)
        return false;
    t->is_behind = t->s || h->is_changed; /* if it is rolled back */
    t->is_begun = !t->s || h->log.is_locked;
    if (!t->is_behind)
        hub_note_level(h);
    else if (!t->is_begun && h->is_behind)
        hub_note_behind(h, &t->e);
    t->first = h->log.next_seq;
    if (!t->s)
        t->s = begin_round(h, &t->e);
    return true;
}

static void
decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
       struct hub_reply *replies)
{
    if (!h->turn.s)
        h->turn.s = decide_all(h, r, n, a, replies, &h->turn.e);
}

/* True: the index was found damaged, and is gone. */
static bool
finish(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
       struct hub_reply *replies, const struct how *how)
{
    struct hub_turn *t = &h->turn;

    if (!t->is_begun)
        return false;
    if (!t->s)
        t->s = put_round(h, r, n, a, replies, how->keeps && !how->on_disk, &t->e);
    bool is_damaged = t->s && h->ix && index_is_damaged(h->ix) && h->log.next_seq == t->first;
    if (t->s && (t->is_behind || is_damaged))
        hub_note_behind(h, &t->e);
    if (t->s)
        give_up(h);
    else
        leave(h, how);
    if (t->s && !is_damaged)
        hub_free_room(h);
    if (is_damaged) {
        hub_close_index(h);
        index_remove(h->index_path, NULL);
    }
    h->left_at = h->log.next_seq;
    if (!h->is_kept)
        log_unlock(&h->log);
    return is_damaged;
}

/* A round that failed has failed for all. */
static void
tell_failure(struct hub *h, size_t n, struct arena *a, struct hub_reply *replies)
{
    if (h->turn.s)
        hub_postpone_delayed_file(h);
    for (size_t i = 0; h->turn.s && i < n; i++)
        reply_unavailable(&replies[i], &h->turn.e, a);
}

static void
submit(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
       struct hub_reply *replies, const struct how *how)
{
    for (size_t i = 0; h->is_read_only && i < n; i++)
        reply_read_only(h, &replies[i], a);
    if (h->is_read_only)
        return;
    for (int tries = 0; tries < 2; tries++) {
        begin(h, true);
        decide(h, r, n, a, replies);
        if (!finish(h, r, n, a, replies, how))
            break;
    }
    tell_failure(h, n, a, replies);
}

void
hub_submit(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
           struct hub_reply *replies)
{
    submit(h, r, n, a, replies, &(struct how){ 0 });
    if (h->o.on_round && !h->is_read_only && !h->turn.s)
        h->o.on_round(h->o.ctx, h);
}

void
hub_submit_then(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                struct hub_reply *replies, void (*on_disk)(void *ctx), void *ctx)
{
    submit(h, r, n, a, replies, &(struct how){ .keeps = true, .on_disk = on_disk, .ctx = ctx });
}

/* Has nobody written since our last round? */
static bool
is_untouched(const struct hub *h)
{
    const struct index_place *p = &h->fold.place;
    struct stat st;

    return sys->fstatat(h->dir, HUB_EVENTS_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           p->ino == (int64_t)st.st_ino && p->dev == (int64_t)st.st_dev && p->end == st.st_size;
}

/* Is something due, as far as we know? */
static bool
has_due(struct hub *h)
{
    int64_t in_ms;

    return hub_knows_due(h, &in_ms) && in_ms == 0;
}

bool
hub_try_begin(struct hub *h)
{
    bool is_free = h->is_kept
                       ? hub_may_go_on(h)
                       : !h->is_read_only && h->ix && index_is_current(h->ix) && is_untouched(h) &&
                             !has_due(h) && !lock_is_wanted(h->dir) && !log_try_lock(&h->log, NULL);

    return is_free && begin(h, false);
}

void
hub_try_decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
               struct hub_reply *replies)
{
    decide(h, r, n, a, replies);
    if (!h->turn.s)
        index_flush_behind(h->ix); /* clients are still asking: it need not wait for the sync */
}

void
hub_try_end(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
            struct hub_reply *replies)
{
    finish(h, r, n, a, replies, &(struct how){ .keeps = true });
    tell_failure(h, n, a, replies);
}

void
hub_make_way(const struct hub *h)
{
    enum { WAY_NS = 1000000 };

    if (lock_is_wanted(h->dir))
        nanosleep(&(struct timespec){ 0, WAY_NS }, NULL);
}

/* ---- reading ---- */

/* Is the log longer than the index, or another one? In an open transaction. */
static bool
is_behind(struct hub *h)
{
    struct index_place p;
    struct stat st;

    if (!index_get_place(h->ix, &p) ||
        sys->fstatat(h->dir, HUB_EVENTS_NAME, &st, AT_SYMLINK_NOFOLLOW))
        return true;
    h->is_delayed_file_old = p.shown != p.delayed;
    return p.ino != (int64_t)st.st_ino || p.dev != (int64_t)st.st_dev || p.end != st.st_size;
}

/* SQLite calls it damage, too, when a disk fails to read a page. So only an index that cannot be
 * read again and again goes: it is made anew by whoever may. */
void
hub_doubt_index(struct hub *h, struct index_probe by)
{
    struct stat st;

    if (sys->fstatat(AT_FDCWD, h->index_path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    h->n_doubts = h->doubted == st.st_ino ? h->n_doubts + 1 : 1;
    h->doubted = st.st_ino;
    h->doubted_by = by;
    if (h->n_doubts >= DOUBTS_MAX)
        index_remove(h->index_path, NULL);
}

/* Others read other pages: that these are good says nothing of the one that was not. */
void
hub_trust_index(struct hub *h, struct index_probe by)
{
    if (h->doubted_by.sql == by.sql && h->doubted_by.nth == by.nth)
        h->n_doubts = 0;
}

/* The index that has the name now, if there is a good one. Without the lock it may lose its name
 * while it is opened: then what lies beside it is of another. */
static enum status
open_again(struct hub *h, struct err *e)
{
    struct index *ix;

    hub_close_index(h);
    enum status s = index_open(&ix, h->index_path, h->boot, false, e);
    if (s == ST_FAILED)
        hub_doubt_index(h, (struct index_probe){ 0 });
    if (s)
        return ST_IO;
    hub_trust_index(h, (struct index_probe){ 0 });
    hub_use_index(h, ix);
    if (index_is_current(ix))
        return ST_OK;
    hub_close_index(h);
    return err_set(e, ST_IO, "the index %s is being made", h->index_path);
}

/* Opens a transaction that shows all there is in the log. */
enum status
hub_begin_read(struct hub *h, struct err *e)
{
    enum status s = ST_OK;

    hub_settle(h);
    if (!h->ix || !index_is_current(h->ix)) {
        s = h->is_read_only ? ST_IO : open_again(h, e);
        if (s && !h->o.never_waits)
            s = hub_fold_others(h, e);
    }
    if (!s && !h->is_ahead)
        s = index_begin(h->ix, false, e);
    if (!s && !h->is_ahead && !h->o.never_waits && is_behind(h)) {
        index_rollback(h->ix);
        s = hub_fold_others(h, e);
        if (!s && !h->is_ahead)
            s = index_begin(h->ix, false, e);
    }
    look_at_clock(h);
    return s;
}

void
hub_end_read(struct hub *h)
{
    if (h->ix)
        index_rollback(h->ix);
    if (!h->is_ahead)
        return;
    fold_forget(&h->fold);
    h->is_ahead = false;
    log_unlock(&h->log);
}

void
hub_drop_index(struct hub *h)
{
    if (hub_lock(h, NULL))
        return;
    hub_close_index(h);
    index_remove(h->index_path, NULL);
    log_unlock(&h->log);
}

void
hub_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply)
{
    struct err e = { "" };
    enum status s = ST_OK;

    assert(!hub_ops[r->op].writes);
    for (int tries = 0; tries < 2; tries++) {
        s = hub_begin_read(h, &e);
        if (!s) {
            answer(h, r, a, reply);
            s = index_status(h->ix, &e);
        }
        bool is_damaged = s && h->ix && index_is_damaged(h->ix);
        hub_end_read(h);
        if (!is_damaged)
            break;
        hub_drop_index(h);
    }
    if (s)
        reply_unavailable(reply, &e, a);
}

bool
hub_try_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply)
{
    bool is_answered = false;

    assert(!hub_ops[r->op].writes);
    if (!h->ix || !index_is_current(h->ix) || index_begin(h->ix, false, NULL))
        return false;
    if (!is_behind(h)) {
        look_at_clock(h);
        answer(h, r, a, reply);
        is_answered = index_status(h->ix, NULL) == ST_OK;
    }
    index_rollback(h->ix);
    return is_answered;
}

enum status
hub_check_key(struct hub *h, const char *key, struct arena *a, const char **identity,
              unsigned *scopes, struct err *e)
{
    char hash[SECRET_HASH_SIZE], stored[SECRET_HASH_SIZE] = "";

    *identity = NULL;
    *scopes = 0;
    api_key_hash(hash, key, strlen(key));
    enum status s = hub_begin_read(h, e);
    if (s)
        return s;
    struct row *r =
        index_run(h->ix, "SELECT identity, scopes, hash FROM keys WHERE hash = ?", "s", hash);
    if (api_key_is(key) && index_next(h->ix, r)) {
        snprintf(stored, sizeof stored, "%s", row_text(r, 2));
        if (api_key_same(stored, hash)) {
            *identity = row_dup(r, 0, a);
            *scopes = (unsigned)row_int(r, 1);
        }
    }
    s = index_status(h->ix, e);
    hub_end_read(h);
    if (s)
        return s;
    return *identity ? ST_OK : err_set(e, ST_NOT_FOUND, "the key is unknown or was revoked");
}

/* -1: there is nothing. A clock that was set is noticed in time. */
static int64_t
within_limits(int64_t in_ms)
{
    return in_ms == INT64_MAX ? -1 : in_ms < 0 ? 0 : in_ms > WAIT_MAX_MS ? WAIT_MAX_MS : in_ms;
}

bool
hub_knows_due(struct hub *h, int64_t *in_ms)
{
    look_at_clock(h);
    hub_is_nothing_due(h, in_ms);
    *in_ms = within_limits(*in_ms);
    return h->due_is_of == h->fold.timers + 1;
}

int64_t
hub_due_in_ms(struct hub *h)
{
    int64_t in_ms;

    look_at_clock(h);
    if (!hub_is_nothing_due(h, &in_ms) || !is_untouched(h)) {
        if (hub_begin_read(h, NULL))
            return 0;
        hub_look_up_due(h);
        hub_end_read(h);
        hub_is_nothing_due(h, &in_ms);
    }
    return within_limits(in_ms);
}
