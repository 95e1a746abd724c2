#define _GNU_SOURCE
#include "hub/index/fold.h"

#include "base/path.h"
#include "base/sys.h"
#include "hub/index/file_leases.h"
#include "hub/model/match.h"
#include "hub/model/scope.h"
#include "log/seal.h"
#include "log/segment.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    DEDUP_KEEP_MS = 48 * 3600 * 1000,
    PROGRESS_EVERY = 50000,
    DEDUP_CLEAN_EVERY = 64,
    TAIL_LEN = 32
};

void
fold_release(struct fold *f)
{
    if (f->matcher)
        matcher_free(f->matcher);
    dirty_signals_release(&f->dirty);
    ready_cache_release(&f->ready);
    arena_release(&f->arena);
    buf_release(&f->body);
}

void
fold_use(struct fold *f, struct index *ix)
{
    f->ix = ix;
    if (ix)
        index_set_cache(ix, &f->dirty);
}

void
fold_enter(struct fold *f)
{
    struct index_place left = f->place, *now = &f->place;

    index_get_place(f->ix, now);
    if (now->seq != left.seq || now->at != left.at || now->ino != left.ino ||
        now->dev != left.dev) { /* another process wrote the index */
        ready_cache_forget(&f->ready);
        dirty_signals_drop(&f->dirty);
        f->claim_epoch++;
        f->keys++;
        f->expiring = EXPIRING_UNKNOWN;
    }
}

void
fold_leave(struct fold *f)
{
    index_set_place(f->ix, &f->place);
}

void
fold_forget(struct fold *f)
{
    f->matcher_is_of = 0;
    f->expiring = EXPIRING_UNKNOWN;
    f->timers++;
    f->claim_epoch++;
    f->keys++;
    dirty_signals_drop(&f->dirty);
    ready_cache_forget(&f->ready);
}

/* ---- signals ---- */

bool
fold_look(struct fold *f, const char *id, struct arena *a, struct signal_row *x)
{
    const struct dirty_signal *dirty = dirty_signals_find(&f->dirty, id);

    if (dirty) {
        *x = dirty->x;
        return true;
    }
    struct row *r =
        index_peek(f->ix, "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE s.id = ?", "s", id);
    return index_next(f->ix, r) && signal_row_read(r, a, x);
}

bool
fold_find(struct fold *f, const char *id, struct arena *a, struct signal_row *x)
{
    struct signal_row its;

    return fold_look(f, id, a, &its) && signal_row_dup(x, &its, a);
}

bool
fold_find_at(struct fold *f, uint64_t seq, struct arena *a, struct signal_row *x)
{
    struct row *r = index_run(f->ix, "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE s.seq = ?", "i",
                              (int64_t)seq);

    return index_next(f->ix, r) && signal_row_read(r, a, x);
}

bool
fold_find_ready(struct fold *f, const char *addr, const char *types, struct arena *a,
                struct signal_row *x)
{
    return ready_cache_first(&f->ready, f->ix, &f->dirty, addr, types, a, x);
}

static void
note_timer(struct fold *f, const struct item *it)
{
    if (it->until && it->until < f->soonest.wall_ms)
        f->soonest.wall_ms = it->until;
    if (it->until && it->boot && it->boot[0] && it->boot_until < f->soonest.boot_ms)
        f->soonest.boot_ms = it->boot_until;
}

bool
fold_has_expiring(struct fold *f)
{
    if (f->expiring == EXPIRING_UNKNOWN) {
        struct row *r = index_peek(f->ix, "SELECT 1 FROM expiring LIMIT 1", "");
        f->expiring = index_next(f->ix, r) ? EXPIRING_SOME : EXPIRING_NONE;
        if (f->expiring == EXPIRING_SOME)
            index_next(f->ix, r); /* to its end */
    }
    return f->expiring == EXPIRING_SOME;
}

static void
note_expiry(struct fold *f, uint64_t seq, int64_t at)
{
    if (!at)
        return;
    index_do(f->ix, "INSERT OR IGNORE INTO expiring VALUES(?, ?)", "ii", (int64_t)seq, at);
    f->expiring = EXPIRING_SOME;
    if (at < f->soonest.wall_ms)
        f->soonest.wall_ms = at;
}

/* Adds a new signal, which is pending, to the lists. */
static void
list_signal(struct fold *f, const struct signal_row *x)
{
    int64_t seq = (int64_t)x->it.seq;

    if (x->addr)
        index_add(f->ix, ROWS_WAITING, "sdi", x->addr, x->urgency, seq);
    if (x->it.work != W_OPEN)
        return;
    index_add(f->ix, ROWS_READY, "sdis", signal_row_list(x), x->urgency, seq, x->type);
    ready_cache_add(&f->ready, x);
    f->claim_epoch++;
}

/* ---- applying ---- */

/* The event's line: the one given, or written into f->body. */
static const char *
body_of(struct fold *f, const struct hub_event *ev)
{
    if (f->line)
        return f->line;
    buf_reset(&f->body);
    hub_event_write(&f->body, ev);
    return f->body.p ? f->body.p : "";
}

/* The signal that an event is about, in the cache. NULL: there is none. */
static struct dirty_signal *
take_signal(struct fold *f, const char *id)
{
    struct dirty_signal *one = dirty_signals_find(&f->dirty, id);
    struct signal_row x;

    if (one)
        return one;
    if (f->known && strcmp(f->known->it.id, id) == 0)
        x = *f->known;
    else if (!fold_look(f, id, &f->arena, &x))
        return NULL;
    one = dirty_signals_take(&f->dirty, f->ix, &x);
    if (!one)
        index_out_of_memory(f->ix);
    return one;
}

/* Notes an idempotency key; signal: the number of the signal that the request changed or emitted.
 */
static void
remember_key(struct fold *f, const struct hub_event *ev, uint64_t seq, uint64_t signal)
{
    const char *by = ev->by ? ev->by : ""; /* "": cliq itself */

    if (!ev->dedup_key || !ev->dedup_hash)
        return;
    if (seq % DEDUP_CLEAN_EVERY == 0) /* depends on the log alone, so every fold does the same */
        index_do(f->ix, "DELETE FROM dedup WHERE identity = ? AND at < ?", "si", by,
                 ev->at - DEDUP_KEEP_MS);
    index_do(f->ix, "INSERT OR REPLACE INTO dedup VALUES(?, ?, ?, ?, ?, ?, ?)", "sssiiii", by,
             ev->dedup_key, ev->dedup_hash, ev->at, (int64_t)seq,
             ev->dedup_lines ? ev->dedup_lines : (int64_t)1, (int64_t)signal);
}

static bool
apply_item(struct fold *f, const struct hub_event *ev, uint64_t seq)
{
    struct dirty_signal *one = take_signal(f, ev->signal);
    struct item now;

    if (!one)
        return false;
    bool was_ready = signal_row_is_ready(&one->x);
    now = one->x.it;
    if (!item_apply(&now, ev))
        return false;
    if (!dirty_signals_change(&f->dirty, f->ix, one, &now, seq, body_of(f, ev))) {
        index_out_of_memory(f->ix);
        return false;
    }
    note_timer(f, &now);
    if (item_is_settled(&now) && fold_has_expiring(f))
        index_do(f->ix, "DELETE FROM expiring WHERE signal = ?", "i", (int64_t)now.seq);
    if (was_ready && !signal_row_is_ready(&one->x)) {
        ready_cache_take_out(&f->ready, &one->x);
    } else if (!was_ready && signal_row_is_ready(&one->x)) {
        ready_cache_bring_back(&f->ready, &one->x);
        f->claim_epoch++;
    }
    if (ev->kind == EV_CLAIM)
        remember_key(f, ev, seq, now.seq);
    return true;
}

/* "\x1fa\x1fb\x1f", so that a search finds whole tags only; NULL without tags. */
static const char *
join_tags(struct fold *f, const struct json *tags)
{
    struct buf b = { 0 };
    const char *text = NULL;

    json_each (t, tags)
        if (json_is(t, JSON_STRING)) {
            if (!b.len)
                buf_addc(&b, '\x1f');
            buf_add(&b, t->text.p, t->text.len);
            buf_addc(&b, '\x1f');
        }
    if (b.len && !buf_failed(&b))
        text = arena_dup(&f->arena, b.p, b.len);
    buf_release(&b);
    return text;
}

static const char *
address(struct fold *f, const struct hub_event *ev)
{
    const char *name = ev->to_identity ? ev->to_identity : ev->to_role ? ev->to_role : ev->to_ring;

    if (!name)
        return NULL;
    size_t len = strlen(name);
    char *text = arena_alloc(&f->arena, len + 2);
    if (text) {
        text[0] = ev->to_identity ? '@' : ev->to_role ? '=' : '+';
        memcpy(text + 1, name, len + 1);
    }
    return text;
}

static const char *
thread_of(struct fold *f, const struct hub_event *ev)
{
    const char *thread = ev->thread;

    if (!thread && ev->parent) {
        struct row *r = index_peek(f->ix, "SELECT coalesce(thread, id) FROM signals WHERE id = ?",
                                   "s", ev->parent);
        thread = index_next(f->ix, r) ? row_dup(r, 0, &f->arena) : ev->parent;
    }
    return thread && strcmp(thread, ev->id) != 0 ? thread : NULL;
}

struct matching {
    struct fold *f;
    int64_t signal;
    const char *sender;
    double urgency;
};

static void
deliver(void *context, uint64_t id)
{
    const struct matching *m = context;

    if (index_do(m->f->ix,
                 "INSERT OR IGNORE INTO matches SELECT identity, ?, pattern FROM subscriptions"
                 " WHERE seq = ? AND identity IS NOT ?",
                 "iis", m->signal, (int64_t)id, m->sender) == 1) {
        dirty_signals_note_match(&m->f->dirty); /* only now: index_do has written the cache */
        index_do(m->f->ix,
                 "INSERT OR IGNORE INTO waiting SELECT '~' || identity, ?, ? FROM subscriptions"
                 " WHERE seq = ?",
                 "dii", m->urgency, m->signal, (int64_t)id);
    }
}

static bool
add_pattern(struct fold *f, const char *pattern, uint64_t seq)
{
    if (!f->matcher && matcher_new(&f->matcher, NULL)) {
        index_out_of_memory(f->ix);
        return false;
    }
    return matcher_add(f->matcher, pattern, strlen(pattern), seq, NULL) == ST_OK;
}

/* The subscriptions; NULL: there are none. Loaded again when their table has changed. */
static struct matcher *
load_matcher(struct fold *f)
{
    if (f->matcher_is_of == f->place.subscriptions + 1)
        return f->matcher;
    if (f->matcher)
        matcher_free(f->matcher);
    f->matcher = NULL;
    struct row *r = index_run(f->ix, "SELECT pattern, seq FROM subscriptions", "");
    while (index_next(f->ix, r))
        add_pattern(f, row_text(r, 0), (uint64_t)row_int(r, 1));
    f->matcher_is_of = f->place.subscriptions + 1;
    return f->matcher;
}

/* Was its id new? The row goes through the queue when the answer is known (ours), or when nothing
 * but the row depends on it (bulk). */
static bool
insert_signal(struct fold *f, const struct hub_event *ev, const struct signal_row *x,
              const char *thread)
{
    static const char types[] = "ississssdsis";
    int64_t seq = (int64_t)x->it.seq, task = (int64_t)x->it.work;
    const char *tags = join_tags(f, ev->tags), *body = body_of(f, ev);

    bool is_silent = !ev->dedup_key && !load_matcher(f);

    if (f->is_ours || (f->is_bulk && is_silent)) {
        index_add(f->ix, ROWS_SIGNALS, types, seq, ev->id, ev->type, ev->at, ev->by, ev->from_role,
                  x->addr, thread, x->urgency, tags, task, body);
        return true;
    }
    return index_do(f->ix,
                    "INSERT OR IGNORE INTO signals VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    types, seq, ev->id, ev->type, ev->at, ev->by, ev->from_role, x->addr, thread,
                    x->urgency, tags, task, body) == 1;
}

static bool
apply_signal(struct fold *f, struct hub_event *ev, uint64_t seq)
{
    char id[EVENT_ID_LEN + 1];
    double urgency = 0.5;

    if (!ev->id) {
        hub_event_line_id(id, seq);
        ev->id = id;
        f->line = NULL;
    }
    if (!ev->by && json_eq(json_get(ev->source, "type"), "agent")) {
        const struct json *agent = json_get(ev->source, "id");
        if (json_is(agent, JSON_STRING) && agent->text.len &&
            !memchr(agent->text.p, '\0', agent->text.len))
            ev->by = arena_dup(&f->arena, agent->text.p, agent->text.len);
        f->line = NULL;
    }
    if (!json_double(ev->urgency, &urgency) || urgency < 0 || urgency > 1)
        urgency = 0.5;
    struct signal_row x = { .it = { .seq = seq, .work = hub_event_is_task(ev) ? W_OPEN : W_NONE },
                            .type = ev->type,
                            .addr = address(f, ev),
                            .urgency = urgency };
    if (!insert_signal(f, ev, &x, thread_of(f, ev)))
        return false; /* the first signal with an id has it */
    list_signal(f, &x);
    if (load_matcher(f)) {
        struct matching m = { f, (int64_t)seq, ev->by, urgency };
        matcher_match(f->matcher, ev->type, strlen(ev->type), deliver, &m);
    }
    remember_key(f, ev, seq, seq);
    note_expiry(f, seq, ev->expires_at);
    return true;
}

/* ---- everything else ---- */

static bool
apply_receipt(struct fold *f, const struct hub_event *ev)
{
    struct signal_row x;
    static const char *const states[] = { "acknowledged", "resolved", "snoozed" };

    if (!fold_find(f, ev->signal, &f->arena, &x))
        return false;
    if (strcmp(ev->state, "unread") == 0)
        return index_do(f->ix, "DELETE FROM receipts WHERE identity = ? AND signal = ?", "si",
                        ev->by, (int64_t)x.it.seq) == 1;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], ev->state) == 0)
            return index_do(f->ix, "INSERT OR REPLACE INTO receipts VALUES(?, ?, ?, ?, ?)", "sisii",
                            ev->by, (int64_t)x.it.seq, ev->state, ev->until, ev->at) == 1;
    return false;
}

static bool
apply_subscribe(struct fold *f, const struct hub_event *ev, uint64_t seq)
{
    if (index_do(f->ix,
                 "UPDATE subscriptions SET loud = CASE WHEN coalesce(?1, silent) THEN NULL"
                 " ELSE coalesce(loud, ?5) END, silent = coalesce(?1, silent), updated = ?2"
                 " WHERE identity = ?3 AND pattern = ?4",
                 "sissi",
                 ev->silent == FLAG_UNSET ? NULL
                 : ev->silent == FLAG_YES ? "1"
                                          : "0",
                 ev->at, ev->by, ev->pattern, (int64_t)seq) == 1)
        return true;
    load_matcher(f);
    if (!add_pattern(f, ev->pattern, seq))
        return false; /* over a limit of patterns */
    index_do(f->ix,
             "INSERT INTO subscriptions VALUES(?1, ?2, ?3, ?4, ?5, ?5, CASE WHEN ?4 THEN NULL ELSE"
             " ?1 END)",
             "issii", (int64_t)seq, ev->by, ev->pattern, (int64_t)(ev->silent != FLAG_NO), ev->at);
    f->matcher_is_of = ++f->place.subscriptions + 1;
    return true;
}

static bool
apply_unsubscribe(struct fold *f, const struct hub_event *ev)
{
    if (index_do(f->ix, "DELETE FROM subscriptions WHERE identity = ? AND pattern = ?", "ss",
                 ev->by, ev->pattern) != 1)
        return false;
    f->place.subscriptions++;
    f->matcher_is_of = 0;
    return true;
}

static bool
apply_schedule(struct fold *f, const struct hub_event *ev)
{
    if (ev->repeat_key)
        index_do(f->ix, "DELETE FROM delayed WHERE repeat_key = ? AND type = ? AND id <> ?", "sss",
                 ev->repeat_key, ev->type, ev->id);
    f->place.delayed++;
    return index_do(f->ix, "INSERT OR IGNORE INTO delayed VALUES(?, ?, ?, ?, ?, ?)", "ssisis",
                    ev->id, ev->type, ev->deliver_at, ev->repeat_key, ev->at, body_of(f, ev)) == 1;
}

static bool
apply_unschedule(struct fold *f, const struct hub_event *ev)
{
    f->place.delayed++;
    return index_do(f->ix, "DELETE FROM delayed WHERE id = ?", "s", ev->id) == 1;
}

static bool
apply_other(struct fold *f, const struct hub_event *ev, uint64_t seq)
{
    struct index *ix = f->ix;

    switch (ev->kind) {
    case EV_IDENTITY:
        if (ev->agent) /* earlier signals do not wake it */
            index_do(ix, "INSERT OR IGNORE INTO woken VALUES(?, ?, ?)", "sii", ev->id, (int64_t)seq,
                     ev->at);
        return index_do(ix,
                        "INSERT INTO identities VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(id) DO"
                        " UPDATE SET name = coalesce(?2, name), kind = coalesce(?3, kind),"
                        " agent = coalesce(?4, agent), dir = coalesce(?5, dir)",
                        "sssssi", ev->id, ev->name, ev->type_of, ev->agent, ev->dir, ev->at) == 1;
    case EV_ROLE:
        return index_do(ix,
                        "INSERT INTO roles VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE SET"
                        " name = coalesce(?2, name), purpose = coalesce(?3, purpose)",
                        "sssi", ev->id, ev->name, ev->purpose, ev->at) == 1;
    case EV_RING:
        return index_do(ix,
                        "INSERT INTO rings VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE SET"
                        " name = coalesce(?2, name), purpose = coalesce(?3, purpose)",
                        "sssi", ev->id, ev->name, ev->purpose, ev->at) == 1;
    case EV_FILL:
        f->claim_epoch++;
        return index_do(ix, "INSERT OR IGNORE INTO fills VALUES(?, ?, ?)", "ssi", ev->identity,
                        ev->role, ev->at) == 1;
    case EV_JOIN:
        f->claim_epoch++;
        return index_do(ix, "INSERT OR IGNORE INTO joins VALUES(?, ?, ?)", "ssi", ev->identity,
                        ev->ring, ev->at) == 1;
    case EV_KEY:
        f->keys++;
        return index_do(ix, "INSERT OR IGNORE INTO keys VALUES(?, ?, ?, ?, ?, ?, ?)", "sssiisi",
                        ev->id, ev->identity, ev->hash, (int64_t)scope_bits(ev->scopes), ev->at,
                        ev->by, ev->until) == 1;
    case EV_REVOKE:
        f->keys++;
        return index_do(ix, "DELETE FROM keys WHERE id = ?", "s", ev->id) == 1;
    case EV_CUT:
        f->place.cut = seq;
        return true;
    case EV_LEASE:
    case EV_LEASE_END:
        return file_leases_apply(ix, ev, seq, &f->arena);
    case EV_WOKEN:
        return index_do(ix, "UPDATE woken SET upto = ?2, at = ?3 WHERE identity = ?1 AND upto < ?2",
                        "sii", ev->identity, ev->upto, ev->at) == 1;
    default:
        return false;
    }
}

bool
fold_apply(struct fold *f, const struct hub_event *given, const char *line, uint64_t seq)
{
    struct hub_event ev = *given;

    arena_reset(&f->arena);
    f->line = ev.at ? line : NULL;
    /* Not for a claim, whose end note_timer notes, nor for an ack, which only removes a timer. */
    f->timers += ev.kind != EV_SIGNAL && ev.kind != EV_CLAIM && ev.kind != EV_ACK;
    if (!ev.at)
        ev.at = f->place.last_ms; /* no clock here */
    if (ev.at > f->place.last_ms)
        f->place.last_ms = ev.at;
    switch (ev.kind) {
    case EV_SIGNAL:
        return apply_signal(f, &ev, seq);
    case EV_CLAIM:
    case EV_ACK:
    case EV_EXTEND:
    case EV_RELEASE:
    case EV_FAIL:
    case EV_EXPIRE:
    case EV_RETRY:
    case EV_STATUS:
    case EV_REQUEUE:
    case EV_LAPSE:
        return apply_item(f, &ev, seq);
    case EV_RECEIPT:
        return apply_receipt(f, &ev);
    case EV_SUBSCRIBE:
        return apply_subscribe(f, &ev, seq);
    case EV_UNSUBSCRIBE:
        return apply_unsubscribe(f, &ev);
    case EV_SCHEDULE:
        return apply_schedule(f, &ev);
    case EV_CANCEL:
    case EV_DELIVER:
        return apply_unschedule(f, &ev);
    default:
        return apply_other(f, &ev, seq);
    }
}

/* ---- reading the log ---- */

static void
set_tail(struct index_place *p, const char *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        p->tail[2 * i] = hex[(unsigned char)bytes[i] >> 4];
        p->tail[2 * i + 1] = hex[bytes[i] & 15];
    }
    p->tail[2 * n] = '\0';
}

/* The bytes before `at`, as set_tail writes them. */
static bool
read_tail(int fd, off_t at, struct index_place *p)
{
    char bytes[TAIL_LEN];
    size_t n = at < TAIL_LEN ? (size_t)at : TAIL_LEN;

    if (n && SYS_RETRY(sys->pread(fd, bytes, n, at - (off_t)n)) != (ssize_t)n)
        return false;
    set_tail(p, bytes, n);
    return true;
}

/* The record without its seal, in f->body; NULL: it has none, so it is a foreign line. */
static const char *
line_of(struct fold *f, const struct log_record *rec)
{
    size_t n = seal_strip(rec->text, rec->len);

    if (!n)
        return NULL;
    buf_reset(&f->body);
    buf_add(&f->body, rec->text, n);
    buf_addc(&f->body, '}');
    return buf_failed(&f->body) ? NULL : f->body.p;
}

/* Folds a file from byte `at`, whose line has number `next`, up to byte `to`; skips numbers up to
 * place.seq. *rotated: it ends with a rotate line. */
static enum status
fold_file(struct fold *f, int fd, off_t at, uint64_t next, off_t to, bool *rotated, struct err *e)
{
    struct arena scratch = { 0 };
    struct log_reader r;
    struct log_record rec;
    struct hub_event ev;

    off_t cut = to;

    log_reader_init(&r, fd, at);
    r.is_sequenced = true;
    r.next_seq = next;
    while (r.at < to && log_next(&r, &rec)) {
        if (rec.end > to) { /* it grew meanwhile: folded next time */
            cut = rec.at < to ? rec.at : to;
            break;
        }
        if (rec.seq <= f->place.seq)
            continue;
        arena_reset(&scratch);
        if (hub_event_read(&ev, rec.json, &scratch))
            fold_apply(f, &ev, line_of(f, &rec), rec.seq);
        f->place.seq = rec.seq;
        if (f->progress && ++f->done % PROGRESS_EVERY == 0)
            f->progress(f->ctx, f->done, (uint64_t)r.at, (uint64_t)to);
    }
    enum status s = log_reader_status(&r, e);
    f->place.bad += r.bad - r.torn;
    f->place.at = r.at < cut ? r.at : cut;
    *rotated = r.is_rotated;
    log_reader_release(&r);
    arena_release(&scratch);
    if (!s && !read_tail(fd, f->place.at, &f->place))
        s = err_sys(e, "read the log");
    return s ? s : index_status(f->ix, e);
}

static int
open_segment(const struct log *l, const char *name, struct stat *st)
{
    int fd = SYS_RETRY(sys->openat(l->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));

    if (fd >= 0 && sys->fstat(fd, st) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Is `fd` the file that we have folded up to place.at? */
static bool
is_known_file(const struct fold *f, int fd, const struct stat *st)
{
    struct index_place now;

    return f->place.seq && f->place.ino == (int64_t)st->st_ino &&
           f->place.dev == (int64_t)st->st_dev && st->st_size >= f->place.at &&
           read_tail(fd, f->place.at, &now) && strcmp(now.tail, f->place.tail) == 0;
}

/* The files from the one with line `seq` on. */
static enum status
fold_from(struct fold *f, const struct log_snapshot *files, uint64_t seq, struct err *e)
{
    size_t begin = log_snapshot_find(files, seq);
    bool is_rotated;
    enum status s = ST_OK;

    for (size_t i = begin; !s && i < files->n; i++) {
        const struct log_snapshot_file *it = &files->list[i];
        if (i > begin && it->first)
            f->place.seq = it->first - 1; /* also if the file before was cut short */
        if (is_known_file(f, it->fd, &it->st))
            s = fold_file(f, it->fd, f->place.at, f->place.seq + 1, it->st.st_size, &is_rotated, e);
        else
            s = fold_file(f, it->fd, 0, it->first ? it->first : f->place.seq + 1, it->st.st_size,
                          &is_rotated, e);
    }
    return s;
}

static void
arrive(struct fold *f, const struct log *l)
{
    f->place.dev = (int64_t)l->dev;
    f->place.ino = (int64_t)l->ino;
    f->place.end = l->end;
}

enum status
fold_files(struct fold *f, const struct log_snapshot *files, struct err *e)
{
    uint64_t oldest = files->n > 1 ? files->list[0].first : 1;

    index_clear(f->ix);
    fold_forget(f);
    fold_enter(f);
    if (oldest > 1)
        f->place.seq = oldest - 1;
    index_begin_bulk(f->ix);
    f->is_bulk = true;
    enum status s = fold_from(f, files, oldest, e);
    f->is_bulk = false;
    index_end_bulk(f->ix);
    return s ? s : index_status(f->ix, e);
}

enum status
fold_all(struct fold *f, struct log *l, const struct log_snapshot *files, struct err *e)
{
    struct log_snapshot now = { 0 };
    uint64_t had = f->place.seq;
    enum status s = files ? ST_OK : log_snapshot_open(&now, l, e);

    if (s)
        return s;
    s = fold_files(f, files ? files : &now, e);
    log_snapshot_close(&now);
    if (!s && f->place.seq < had)
        f->lost = had;
    arrive(f, l);
    return s;
}

/* Folds what is new in segments that were finished since, and in the files after them. */
static enum status
fold_rotated(struct fold *f, struct log *l, struct err *e)
{
    struct log_snapshot files;
    enum status s = log_snapshot_open(&files, l, e);

    if (s)
        return s;
    s = fold_from(f, &files, f->place.seq, e);
    log_snapshot_close(&files);
    return s;
}

/* Is one of the segments the file that we know? */
static bool
was_rotated(const struct fold *f, const struct log *l)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat st;

    if (!f->place.seq || segment_find(l->dir, l->name, f->place.seq, name, NULL, NULL))
        return false;
    int fd = open_segment(l, name, &st);
    bool is_it = fd >= 0 && is_known_file(f, fd, &st);
    if (fd >= 0)
        close(fd);
    return is_it;
}

enum status
fold_log(struct fold *f, struct log *l, struct err *e)
{
    struct stat st = { .st_dev = l->dev, .st_ino = l->ino, .st_size = l->end };
    bool is_rotated;
    enum status s;

    if (f->place.ino == (int64_t)l->ino && f->place.dev == (int64_t)l->dev &&
        f->place.end == l->end)
        return ST_OK;
    if (is_known_file(f, l->fd, &st))
        s = fold_file(f, l->fd, f->place.at, f->place.seq + 1, l->end, &is_rotated, e);
    else if (was_rotated(f, l))
        s = fold_rotated(f, l, e);
    else
        return fold_all(f, l, NULL, e);
    arrive(f, l);
    return s;
}

void
fold_put(struct fold *f, const struct log *l)
{
    f->place.seq = l->next_seq - 1;
    f->place.at = l->end;
    arrive(f, l);
    if (l->lines.len >= TAIL_LEN)
        set_tail(&f->place, l->lines.p + l->lines.len - TAIL_LEN, TAIL_LEN);
}
