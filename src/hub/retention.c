/*
 * retention - drops old segments, and keeps what is still in force of them.
 *
 * hub_compact, with the log's lock:
 *
 *     1  writes and syncs events-kept.tmp: the events of the old segments that are still in force
 *     2  makes index.db.new from that and from the segments that stay
 *     3  removes index.db: a process that comes now makes one from the log as it is
 *     4  renames events-kept.tmp to events-kept-5001.jsonl: now the log has changed (log/segment.h)
 *     5  renames index.db.new to index.db
 *     6  removes the old segments
 *
 * 3 and 4 are synced before the next step. A crash before 4 changes nothing; a crash after it loses
 * nothing, and the next run removes what is left. Readers use the old index up to 3.
 *
 * In force are identities, roles, rings, keys, subscriptions, schedules and how far agents were
 * woken. Of the dropped lines those stay that made them: folded alone they give the same rows. A
 * key that was revoked, a schedule that was delivered, cancelled or replaced, and a subscription
 * that ended leave nothing behind. The lines are written unchanged, each sealed with its old
 * number. The last line is
 *
 *     {"op":"kept","at":1775215175000,"seq":5000,"crc":"1c291ca3"}
 *
 * with the number of the last dropped line; `at` is the latest time in them, which later lines
 * without a time take.
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "log/seal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char TEMP_NAME[] = "events-kept.tmp";

/* ---- events in force ---- */

enum { WRITE_BYTES = 64 << 10 };

/* Which events with a name are in force: all, the last one, or those since the subscription. */
enum in_force { NONE, ALL, LAST, SINCE };

/* Which of these the event is, and the name it is about. */
static enum in_force
classify(const struct hub_event *ev, const char **name)
{
    *name = ev->id;
    switch (ev->kind) {
    case EV_IDENTITY:
    case EV_ROLE:
    case EV_RING:
    case EV_FILL:
    case EV_JOIN:
        return ALL;
    case EV_KEY:
    case EV_SCHEDULE:
        return LAST;
    case EV_WOKEN:
        *name = ev->identity;
        return LAST;
    case EV_SUBSCRIBE:
        *name = ev->by;
        return SINCE;
    default:
        return NONE;
    }
}

/* Does it change signals only, or nothing? */
static bool
is_of_signals(enum hub_event_kind kind)
{
    return kind < EV_SUBSCRIBE || kind == EV_KEPT;
}

/* The event as a line without a seal: the record's own text, if that has all of it. */
static enum status
write_line(struct buf *to, const struct hub_event *ev, const struct log_record *rec, bool is_whole,
           struct err *e)
{
    size_t n = is_whole ? seal_strip(rec->text, rec->len) : 0;

    buf_reset(to);
    if (n) {
        buf_add(to, rec->text, n);
        buf_addc(to, '}');
    } else {
        hub_event_write(to, ev);
    }
    return buf_status(to, "a retained line", e);
}

/* Folds a line that is not only about signals, and notes it if it may be in force. */
static enum status
take(struct fold *f, const struct log_record *rec, struct arena *a, struct buf *line, struct err *e)
{
    struct hub_event ev;
    const char *name;

    if (!hub_event_read(&ev, rec->json, a))
        return ST_OK;
    bool is_whole = ev.at != 0;
    if (!is_whole)
        ev.at = f->place.last_ms;
    if (is_of_signals(ev.kind)) {
        f->place.last_ms = ev.at > f->place.last_ms ? ev.at : f->place.last_ms;
        return ST_OK;
    }
    enum status s = write_line(line, &ev, rec, is_whole, e);
    if (s)
        return s;
    bool is_valid = fold_apply(f, &ev, line->p, rec->seq);
    enum in_force which = classify(&ev, &name);
    if (is_valid && which != NONE)
        index_do(f->ix, "INSERT OR REPLACE INTO lines VALUES(?, ?, ?, ?, ?, ?)", "isisis",
                 (int64_t)ev.kind, name ? name : "", which == LAST ? 0 : (int64_t)rec->seq,
                 ev.pattern, (int64_t)rec->seq, line->p);
    return index_status(f->ix, e);
}

static enum status
take_file(struct fold *f, const struct log_snapshot_file *file, struct err *e)
{
    struct arena a = { 0 };
    struct buf line = { 0 };
    struct log_reader r;
    struct log_record rec;
    enum status s = ST_OK;

    log_reader_init(&r, file->fd, 0);
    r.is_sequenced = true;
    r.next_seq = file->first;
    while (!s && log_next(&r, &rec)) {
        arena_reset(&a);
        s = take(f, &rec, &a, &line, e);
    }
    if (!s)
        s = log_reader_status(&r, e);
    log_reader_release(&r);
    buf_release(&line);
    arena_release(&a);
    return s;
}

static enum status
write_out(int fd, struct buf *b, struct err *e)
{
    enum status s = buf_status(b, "the retained lines", e);

    for (size_t at = 0; !s && at < b->len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, b->p + at, b->len - at));
        if (n <= 0)
            s = err_sys(e, "write %s", TEMP_NAME);
        else
            at += (size_t)n;
    }
    buf_reset(b);
    return s;
}

static enum status
add_line(int fd, struct buf *b, const char *line, uint64_t seq, struct err *e)
{
    size_t start = b->len;

    seal_write(b, line, strlen(line), 1, 1, seq);
    if (b->len - start > LOG_LINE_MAX)
        return err_set(e, ST_INVALID, "line %" PRIu64 " is too long to be retained with its number",
                       seq);
    return b->len < WRITE_BYTES ? ST_OK : write_out(fd, b, e);
}

/* Writes the noted lines that are still in force. */
static enum status
write_lines(int fd, struct fold *f, uint64_t before, struct err *e)
{
    struct hub_event end = { .kind = EV_KEPT, .at = f->place.last_ms };
    struct buf b = { 0 }, line = { 0 };
    enum status s = ST_OK;
    struct row *r =
        index_run(f->ix,
                  "SELECT seq, line FROM lines l WHERE CASE kind"
                  " WHEN ?1 THEN name IN (SELECT id FROM keys)"
                  " WHEN ?2 THEN name IN (SELECT id FROM delayed)"
                  " WHEN ?3 THEN EXISTS(SELECT 1 FROM subscriptions u WHERE u.identity = l.name"
                  " AND u.pattern = l.pattern AND u.seq <= l.seq)"
                  " ELSE 1 END ORDER BY seq",
                  "iii", (int64_t)EV_KEY, (int64_t)EV_SCHEDULE, (int64_t)EV_SUBSCRIBE);

    while (!s && index_next(f->ix, r))
        s = add_line(fd, &b, row_text(r, 1), (uint64_t)row_int(r, 0), e);
    if (!s)
        s = index_status(f->ix, e);
    hub_event_write(&line, &end);
    if (!s)
        s = buf_status(&line, "a retained line", e);
    if (!s)
        s = add_line(fd, &b, line.p, before - 1, e);
    if (!s)
        s = write_out(fd, &b, e);
    buf_release(&line);
    buf_release(&b);
    return s;
}

/* Reads the files up to the line `before`, where one of them begins, and writes what is in force of
 * them to fd. */
static enum status
write_retained(int fd, const struct log_snapshot *files, uint64_t before, const char *boot,
               struct err *e)
{
    struct fold f = { 0 };
    enum status s = index_create(&f.ix, NULL, boot, e);

    if (s)
        return s;
    fold_use(&f, f.ix);
    s = index_begin(f.ix, true, e);
    index_do(f.ix,
             "CREATE TABLE lines(kind INT, name TEXT, nth INT, pattern TEXT, seq INT, line TEXT,"
             " PRIMARY KEY(kind, name, nth)) WITHOUT ROWID",
             "");
    for (size_t i = 0; !s && i + 1 < files->n && files->list[i].first < before; i++)
        s = take_file(&f, &files->list[i], e);
    if (!s)
        s = write_lines(fd, &f, before, e);
    index_rollback(f.ix);
    index_close(f.ix);
    fold_release(&f);
    return s;
}

/* ---- dropping ---- */

/* May all lines up to `last` be dropped? A segment stays, with all after it, while it has a waiting
 * signal, a request that may still be retried, a subscription, or a lease of files. */
static bool
is_droppable(struct hub *h, uint64_t last, int64_t now_ms, int64_t older_than_ms)
{
    struct row *r =
        index_run(h->ix,
                  "SELECT EXISTS(SELECT 1" SIGNAL_ROW_FROM " WHERE s.seq <= ?1 AND (s.created >= ?2"
                  " OR w.state IN (1, 3) OR (coalesce(w.state, 0) = 0"
                  " AND (s.addr IS NOT NULL OR coalesce(w.work, s.task) = 1))))"
                  " OR EXISTS(SELECT 1 FROM dedup WHERE seq <= ?1 AND at > ?3)"
                  " OR EXISTS(SELECT 1 FROM subscriptions WHERE seq <= ?1)"
                  " OR EXISTS(SELECT 1 FROM file_leases WHERE seq <= ?1)",
                  "iii", (int64_t)last, now_ms - older_than_ms, now_ms - HUB_DEDUP_MS);

    return index_next(h->ix, r) && row_int(r, 0) == 0;
}

/* The line before which all can be dropped; 0: nothing can. The newest finished segment stays, as
 * it tells the next number. */
static uint64_t
find_end(struct hub *h, const struct log_snapshot *files, int64_t older_than_ms)
{
    int64_t now_ms = hub_clock_ms(CLOCK_REALTIME);
    size_t oldest = files->list[0].is_kept ? 1 : 0;
    uint64_t end = 0;

    for (size_t i = oldest + 1; i + 1 < files->n; i++) {
        if (!is_droppable(h, files->list[i].first - 1, now_ms, older_than_ms))
            break;
        end = files->list[i].first;
    }
    return end;
}

/* In a transaction that shows the whole log. */
static enum status
look(struct hub *h, const struct log_snapshot *files, int64_t older_than_ms, uint64_t *end,
     struct err *e)
{
    *end = find_end(h, files, older_than_ms);
    hub_refresh_delayed_file(h);
    fold_leave(&h->fold);
    enum status s = index_commit(h->ix, e);
    fold_forget(&h->fold);
    return s;
}

static enum status
sync_dir(struct hub *h, struct err *e)
{
    return SYS_RETRY(sys->fsync(h->dir)) == 0 ? ST_OK : err_sys(e, "sync %s", h->path);
}

/* Step 1; `files` become those of the log afterwards. */
static enum status
make_retained(struct hub *h, struct log_snapshot *files, uint64_t end, struct err *e)
{
    int fd = SYS_RETRY(
        sys->openat(h->dir, TEMP_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd < 0)
        return err_sys(e, "open %s", TEMP_NAME);
    enum status s = write_retained(fd, files, end, h->boot, e);
    if (!s && SYS_RETRY(sys->fsync(fd)) != 0)
        s = err_sys(e, "sync %s", TEMP_NAME);
    if (!s)
        return log_snapshot_drop(files, end, fd, TEMP_NAME, e);
    close(fd);
    return s;
}

/* Step 4. After a failed sync either name may be on disk: the old one is restored. */
static enum status
name_retained(struct hub *h, uint64_t end, struct err *e)
{
    char name[SEGMENT_NAME_SIZE];

    segment_kept_name(name, HUB_EVENTS_NAME, end);
    if (sys->renameat(h->dir, TEMP_NAME, h->dir, name) != 0)
        return err_sys(e, "rename %s to %s", TEMP_NAME, name);
    enum status s = sync_dir(h, e);
    if (s)
        unlinkat(h->dir, name, 0);
    return s;
}

static enum status
drop_before(struct hub *h, struct log_snapshot *files, uint64_t end, struct err *e)
{
    enum status s = make_retained(h, files, end, e);

    if (!s)
        s = hub_make_new_index(h, files, e);
    if (s) {
        unlinkat(h->dir, TEMP_NAME, 0);
        return s;
    }
    s = index_remove(h->index_path, e);
    if (!s)
        s = sync_dir(h, e);
    if (!s)
        s = name_retained(h, end, e);
    if (!s)
        return hub_take_new_index(h, e);
    hub_forget_new_index(h);
    unlinkat(h->dir, TEMP_NAME, 0);
    return s;
}

static enum status
compact(struct hub *h, int64_t older_than_ms, uint64_t *dropped_bytes, struct err *e)
{
    struct log_snapshot files;
    uint64_t end = 0;
    enum status s = hub_begin(h, e);

    if (s)
        return s;
    s = log_snapshot_open(&files, &h->log, e);
    if (s) {
        index_rollback(h->ix);
        fold_forget(&h->fold);
        return s;
    }
    s = look(h, &files, older_than_ms, &end, e);
    unlinkat(h->dir, TEMP_NAME, 0); /* a crash may have left it */
    if (!s && end)
        s = drop_before(h, &files, end, e);
    log_snapshot_close(&files);
    if (!s && end)
        hub_write_delayed_file(h, NULL); /* the new index does not know the file's state */
    return s ? s : segment_sweep(h->dir, HUB_EVENTS_NAME, dropped_bytes, e);
}

enum status
hub_compact(struct hub *h, int64_t older_than_ms, uint64_t *dropped_bytes, struct err *e)
{
    *dropped_bytes = 0;
    enum status s = h->is_read_only ? readonly_refuse(h, e) : hub_lock(h, e);

    if (s)
        return s;
    s = compact(h, older_than_ms, dropped_bytes, e);
    log_unlock(&h->log);
    return s;
}
