/*
 * round - one round of requests, from the lock to the answer. hub_writer.h draws its steps.
 *
 * If the write or the sync fails, the index is rolled back and every request gets 503. After a
 * failed sync the file's content is unknown: the next hub_lock repairs the log, and lines of the
 * failed round that did reach the disk are folded as if another process had written them. If the
 * commit of the index fails, the lines are on disk all the same: the next fold adds them to the
 * index, at the time that hub_fold_in_ms tells.
 *
 * Rounds in steps share lock and transaction (h->is_kept), because a round changes index pages
 * that the next one changes again. Every SAVE_MS the index's own thread commits while rounds go on
 * (index_commit_later); if that commit fails, the next round settles and folds the log again. A
 * reader with another handle sees by the log's size that the index is behind, and waits for the
 * lock.
 *
 * Tests: test/unit/test_hub_*.c test/fault/test_hub.c test/fault/hub_syscalls.bats
 */
#include "hub/hub_impl.h"

#include "base/path.h"
#include "base/sys.h"
#include "hub/hub_writer.h"
#include "hub/model/signal_id.h"
#include "log/lock.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUT_BYTES_MAX = 32 << 20,
    SEAL_ROOM = 100,       /* bytes that the log adds to a line */
    SAVE_MS = 20,          /* rounds without a commit, */
    KEEP_MS = 100,         /* and with the lock */
    LOCK_LEAST_MS = 100,   /* wait for the lock at least that long */
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

void
hub_look_at_clock(struct hub *h)
{
    struct timespec t = { 0 };

    h->now.boot_ms = hub_clock_ms(CLOCK_BOOTTIME); /* in this order: see struct hub_now */
    h->now.wall_ms = hub_clock_ms(CLOCK_REALTIME);
    sys->clock_gettime(CLOCK_BOOTTIME, &t);
    h->now.boot_up_ms = (int64_t)t.tv_sec * 1000 + (t.tv_nsec + 999999) / 1000000; /* rounded up */
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

void
hub_reply_unavailable(struct hub_reply *r, const struct err *e, struct arena *a)
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

    hub_reply_unavailable(r, &e, a);
    r->status = is_ours ? 403 : 503;
    r->code = "STORE_READ_ONLY";
}

/* The text that the operation wrote; NULL: none. */
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
    [HUB_LEASE_TAKE] = op_lease_take,
    [HUB_LEASE_RELEASE] = op_lease_release,
    [HUB_LEASES] = op_leases,
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

void
op_warn(struct op *t, const char *fmt, ...)
{
    struct hub_reply *r = t->reply;
    const char **list =
        r->n_warnings ? (const char **)r->warnings : arena_alloc(t->a, HUB_WARNINGS * sizeof *list);
    struct err text;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&text, fmt, ap);
    va_end(ap);
    const char *kept = arena_dup(t->a, text.text, strlen(text.text));
    if (!list || !kept || r->n_warnings == HUB_WARNINGS)
        return;
    list[r->n_warnings++] = kept;
    r->warnings = list;
}

void
hub_answer(struct hub *h, const struct hub_request *req, struct arena *a, struct hub_reply *reply)
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
    enum key_life life = hub_key_life(h, req);
    bool is_good;
    if (!req->identity || !path_is_name(req->identity))
        is_good = refuse(&t.refusal, 400, "VALIDATION_INVALID_TYPE",
                         "identity must be a name of 1 to 64 of A-Z a-z 0-9 . _ -, not \"%.80s\"",
                         req->identity ? req->identity : "");
    else if (life != KEY_LIVES)
        is_good =
            refuse(&t.refusal, 401, "AUTH_REQUIRED",
                   life == KEY_EXPIRED ? HUB_KEY_EXPIRED : "the key is not known, or was revoked");
    else if (hub_ops[req->op].scope == SCOPE_ADMIN && !req->is_admin)
        is_good =
            refuse(&t.refusal, 403, "AUTH_FORBIDDEN", "%s needs an admin key, and %s has none",
                   hub_ops[req->op].name, req->identity);
    else if (req->args && req->args->type != JSON_OBJECT)
        is_good =
            refuse(&t.refusal, 400, "VALIDATION_INVALID_TYPE", "the body must be a JSON object");
    else /* emit has codes of its own, also for what is not known */
        is_good = (!writes || args_numbers(&t.in)) &&
                  (req->op == HUB_EMIT || args_known(&t.in, hub_ops[req->op].name)) &&
                  operations[req->op](&t);
    if (is_good && !writes && buf_failed(t.out))
        is_good = refuse_starved(&t.refusal);
    if (is_good)
        reply->text = take_answer(h, a);
    else
        reply_refusal(&t);
}

/* ---- the lines of a round ---- */

bool
hub_add_line(struct hub *h, const struct hub_event *ev, struct refusal *r)
{
    size_t at = h->text.len;

    if (h->n_lines == h->cap_lines) {
        size_t cap = h->cap_lines ? 2 * h->cap_lines : 64;
        struct hub_line *p = realloc(h->lines, cap * sizeof *p);
        if (!p)
            return refuse_starved(r);
        h->lines = p;
        h->cap_lines = cap;
    }
    hub_event_write(&h->text, ev);
    size_t len = h->text.len - at;
    if (buf_failed(&h->text))
        return refuse_starved(r);
    if (len + SEAL_ROOM > LOG_LINE_MAX) {
        buf_cut(&h->text, at);
        return refuse(r, 413, "BODY_TOO_LARGE",
                      "the request makes a line of %zu bytes; the limit is %zu", len,
                      LOG_LINE_MAX - SEAL_ROOM);
    }
    h->lines[h->n_lines++] = (struct hub_line){ at, len, h->unit };
    h->fold.is_ours = true;
    bool is_valid = fold_apply(&h->fold, ev, h->text.p + at, h->next_seq++);
    h->fold.is_ours = false;
    h->fold.known = NULL;
    /* A decided event is valid unless the index failed; then the round is rolled back. */
    assert(is_valid || index_status(h->ix, NULL) || ev->kind >= EV_RECEIPT);
    return true;
}

bool
op_event(struct op *t, const struct hub_event *ev)
{
    if (!hub_add_line(t->h, ev, &t->refusal))
        return false;
    t->reply->seq = t->h->next_seq - 1;
    return true;
}

/* How many lines from `from` on go in one write: whole units, within the log's limits. */
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
    bool is_first = h->log.end == 0; /* then log_put syncs the directory, too */
    struct err why;
    enum status s = texts ? ST_OK : err_nomem(&why);

    for (size_t from = 0; !s && from < h->n_lines;) {
        size_t n = chunk(h, from);
        assert(n <= LOG_BATCH_MAX);
        for (size_t i = 0; i < n; i++)
            texts[i] =
                (struct log_text){ h->text.p + h->lines[from + i].at, h->lines[from + i].len };
        /* One sync for all writes: the last one. */
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

/* Compares the claim in the reply with the log's; a claim that another writer won is refused. */
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

/* A writer that ignores the lock appended between our lines. Their numbers, and perhaps their
 * effect, are not those that were decided: folds the log again and corrects the replies. */
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

/* ---- begin ---- */

/* Has no other process written since our last round? */
bool
hub_is_untouched(const struct hub *h)
{
    const struct index_place *p = &h->fold.place;
    struct stat st;

    return sys->fstatat(h->dir, HUB_EVENTS_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           p->ino == (int64_t)st.st_ino && p->dev == (int64_t)st.st_dev && p->end == st.st_size;
}

/* The log was cut short behind our back, or replaced by an older copy. Followers know numbers that
 * are gone, so none of them is used again: a line behind them says what was lost. */
static enum status
tell_cut(struct hub *h, struct err *e)
{
    const struct hub_event ev = { .kind = EV_CUT,
                                  .at = hub_clock_ms(CLOCK_REALTIME),
                                  .from = (int64_t)h->fold.place.seq + 1,
                                  .upto = (int64_t)h->fold.lost };
    struct buf line = { 0 };

    hub_event_write(&line, &ev);
    enum status s = buf_status(&line, "the line of a cut", e);
    h->log.next_seq = h->fold.lost + 1;
    if (!s)
        s = log_put(&h->log, &(struct log_text){ line.p, line.len }, 1, e);
    buf_release(&line);
    if (!s && h->o.note) {
        struct err text;
        err_say(&text,
                HUB_EVENTS_NAME " was cut short by another program: its lines %" PRIu64
                                " to %" PRIu64 " are gone",
                h->fold.place.seq + 1, h->fold.lost);
        h->o.note(h->o.ctx, text.text);
    }
    if (s)
        h->log.is_known = false; /* the next lock counts its lines again */
    else
        h->fold.lost = 0;
    return s ? s : fold_log(&h->fold, &h->log, e);
}

/* Folds the lines of others. */
static enum status
fold_new(struct hub *h, struct err *e)
{
    enum status s = fold_log(&h->fold, &h->log, e);

    return !s && h->fold.lost && !h->is_read_only ? tell_cut(h, e) : s;
}

enum status
hub_begin(struct hub *h, struct err *e)
{
    enum status s = ST_OK;

    for (int tries = 0; tries < 2; tries++) {
        if (!h->ix || !index_is_current(h->ix))
            s = hub_open_index(h, e);
        if (!s)
            s = index_begin(h->ix, true, e);
        if (s)
            break;
        fold_enter(&h->fold);
        struct index_place was = h->fold.place;
        s = fold_new(h, e);
        if (!s)
            s = index_status(h->ix, e);
        h->is_changed = was.seq != h->fold.place.seq || was.end != h->fold.place.end ||
                        was.ino != h->fold.place.ino || was.dev != h->fold.place.dev;
        if (!s) {
            hub_doubt_delayed_file(h);
            return ST_OK;
        }
        bool is_damaged = index_is_damaged(h->ix);
        index_rollback(h->ix);
        fold_forget(&h->fold);
        if (!is_damaged)
            break;
        hub_close_index(h);
        s = index_remove(h->index_path, e);
        if (s)
            break;
    }
    return s ? s : err_set(e, ST_IO, "the index %s cannot be made", h->index_path);
}

/* Takes the lock and opens a transaction in which the whole log is folded; or goes on with those of
 * the round before, if they were kept and the log is still that file. ST_CONFLICT: the lock is
 * taken, and may_wait is false. */
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
    return fold_new(h, e);
}

/* Can a round begin without waiting, and without folding the lines of others? Takes the lock. */
static bool
can_begin_now(struct hub *h)
{
    int64_t due_ms;

    if (h->is_kept)
        return hub_may_go_on(h);
    if (h->is_read_only || !h->ix || !index_is_current(h->ix) || !hub_is_untouched(h))
        return false;
    hub_look_at_clock(h);
    hub_is_nothing_due(h, &due_ms);
    bool has_due = h->due_is_of == h->fold.timers + 1 && due_ms <= 0;
    return !has_due && !lock_is_wanted(h->dir) && !log_try_lock(&h->log, NULL);
}

bool
hub_round_begin(struct hub *h, bool may_wait)
{
    struct hub_round *t = &h->round;
    struct arena scratch = { 0 };

    if (!may_wait && !can_begin_now(h))
        return false;
    *t = (struct hub_round){ 0 };
    t->s = enter(h, may_wait, &t->e);
    if (t->s == ST_CONFLICT && !may_wait)
        return false;
    t->is_behind = t->s || h->is_changed;
    t->is_begun = !t->s || h->log.is_locked;
    if (!t->is_behind)
        hub_note_level(h);
    else if (!t->is_begun && h->is_behind)
        hub_note_behind(h, &t->e);
    t->first = h->log.next_seq;
    if (t->s)
        return true; /* hub_round_end tells it */
    buf_reset(&h->text);
    h->n_lines = h->unit = 0;
    h->next_seq = h->log.next_seq;
    hub_look_at_clock(h);
    signal_ids_begin();
    if (!hub_do_due(h, &scratch))
        t->s = index_status(h->ix, &t->e);
    arena_release(&scratch);
    return true;
}

/* ---- decide ---- */

static void
decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
       struct hub_reply *replies)
{
    struct hub_round *t = &h->round;

    for (size_t i = 0; !t->s && i < n; i++) {
        h->unit++;
        hub_answer(h, &r[i], a, &replies[i]);
        t->s = index_status(h->ix, &t->e);
    }
}

void
hub_round_decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                 struct hub_reply *replies)
{
    decide(h, r, n, a, replies);
    if (!h->round.s)
        index_flush_behind(h->ix); /* the index's thread adds rows while more requests come */
}

/* ---- end ---- */

/* Writes and syncs what was decided. */
static enum status
put_round(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
          struct hub_reply *replies, struct err *e)
{
    uint64_t first = h->log.next_seq;

    if (!h->n_lines)
        return ST_OK;
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
        fold_forget(&h->fold); /* the lines are on disk; the next fold brings them */
        hub_note_behind(h, &why);
    } else {
        hub_note_level(h);
    }
}

/* After a round that went well: keeps the transaction for the next round, or ends it. */
static void
leave(struct hub *h, bool keeps)
{
    bool was_kept = h->is_kept;

    h->is_kept = keeps && h->n_lines;
    if (h->is_kept) {
        if (!was_kept)
            h->kept_ms = h->saved_ms = h->now.boot_ms;
        if (h->now.boot_ms - h->saved_ms >= SAVE_MS && index_commit_later(h->ix, &h->fold.place))
            h->saved_ms = h->now.boot_ms;
    } else if (h->n_lines || h->is_changed || hub_is_delayed_file_due(h)) {
        commit(h);
    } else {
        index_rollback(h->ix); /* nothing happened */
    }
}

/* After a round that failed: the index forgets it. A damaged index is deleted, and made again by
 * the next round. True: it was. */
static bool
roll_back(struct hub *h)
{
    struct hub_round *t = &h->round;
    bool is_damaged = h->ix && index_is_damaged(h->ix) && h->log.next_seq == t->first;

    if (t->is_behind || is_damaged)
        hub_note_behind(h, &t->e);
    if (h->ix)
        index_rollback(h->ix);
    fold_forget(&h->fold);
    h->is_kept = false;
    if (is_damaged) {
        hub_close_index(h);
        index_remove(h->index_path, NULL);
    } else {
        hub_free_room(h);
    }
    return is_damaged;
}

/* True: the index was damaged, and the round is worth a second try. */
static bool
end_round(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
          struct hub_reply *replies, bool keeps)
{
    struct hub_round *t = &h->round;
    bool is_damaged = false;

    if (t->is_begun) {
        if (!t->s)
            t->s = put_round(h, r, n, a, replies, &t->e);
        if (t->s)
            is_damaged = roll_back(h);
        else
            leave(h, keeps);
        h->left_at = h->log.next_seq;
        if (!h->is_kept)
            log_unlock(&h->log);
    }
    if (t->s)
        hub_postpone_delayed_file(h);
    for (size_t i = 0; t->s && i < n; i++)
        hub_reply_unavailable(&replies[i], &t->e, a);
    return is_damaged;
}

bool
hub_round_end(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
              struct hub_reply *replies)
{
    if (!h->round.s && h->n_lines)
        index_flush_behind(h->ix); /* and while the disk syncs */
    return !end_round(h, r, n, a, replies, true);
}

/* ---- settle ---- */

void
hub_settle(struct hub *h)
{
    if (!h->is_kept)
        return;
    h->is_kept = false;
    if (h->due_is_of != h->fold.timers + 1)
        hub_look_up_due(h); /* now, while the transaction is open */
    commit(h);
    log_unlock(&h->log);
}

bool
hub_may_go_on(const struct hub *h)
{
    return h->is_kept && hub_clock_ms(CLOCK_BOOTTIME) - h->kept_ms < KEEP_MS &&
           !hub_is_delayed_file_due(h) && !lock_is_wanted(h->dir);
}

/* ---- all steps ---- */

void
hub_submit(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
           struct hub_reply *replies)
{
    bool is_damaged = !h->is_read_only;

    for (size_t i = 0; h->is_read_only && i < n; i++)
        reply_read_only(h, &replies[i], a);
    for (int tries = 0; is_damaged && tries < 2; tries++) {
        hub_round_begin(h, true);
        decide(h, r, n, a, replies);
        is_damaged = end_round(h, r, n, a, replies, false);
    }
    if (h->o.on_round && !h->is_read_only && !h->round.s)
        h->o.on_round(h->o.ctx, h);
}

/* ---- what the server asks between rounds ---- */

void
hub_has_waited(struct hub *h, int64_t ms)
{
    int64_t left = h->o.lock_wait_ms - ms;

    h->log.o.lock_wait_ms = (unsigned)(left > LOCK_LEAST_MS ? left : LOCK_LEAST_MS);
}

void
hub_make_way(struct hub *h)
{
    enum { WAY_NS = 1000000 };

    bool is_wanted = lock_is_wanted(h->dir);
    if (is_wanted || !hub_may_go_on(h))
        hub_settle(h);
    if (is_wanted)
        nanosleep(&(struct timespec){ 0, WAY_NS }, NULL);
}

int64_t
hub_log_end(const struct hub *h)
{
    return h->log.end;
}

struct hub_news
hub_news(const struct hub *h)
{
    return (struct hub_news){ .log_end = h->log.end,
                              .last_seq = h->log.next_seq - 1,
                              .key_changes = h->fold.keys,
                              .claim_epoch = h->fold.claim_epoch,
                              .bad_lines = h->fold.place.bad,
                              .last_cut = h->fold.place.cut,
                              .is_stuck = h->log.is_refusing || h->is_full,
                              .trouble = hub_trouble(h) };
}
