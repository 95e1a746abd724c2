#include "hub/retained_events.h"

#include "base/sys.h"
#include "hub/index/fold.h"
#include "log/seal.h"

#include <inttypes.h>
#include <string.h>

enum { WRITE_BYTES = 64 << 10 };

/* Which of the lines with a name last: all of them, the last one, or those since it was begun. */
enum lasting { NONE, ALL, LAST, SINCE };

/* The events that are kept, and what they are about. */
static enum lasting
look_at(const struct hub_event *ev, const char **name)
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

/* Does it change nothing but signals, or nothing at all? */
static bool
is_of_signals(enum hub_event_kind kind)
{
    return kind < EV_SUBSCRIBE || kind == EV_KEPT;
}

/* The event as a line, without a seal: its own, if that tells all. */
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
    return buf_status(to, "a line that is kept", e);
}

/* Folds a line, if it is one that others than signals depend on, and notes it. */
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
    enum lasting lasts = look_at(&ev, &name);
    if (is_valid && lasts != NONE)
        index_do(f->ix, "INSERT OR REPLACE INTO lines VALUES(?, ?, ?, ?, ?, ?)", "isisis",
                 (int64_t)ev.kind, name ? name : "", lasts == LAST ? 0 : (int64_t)rec->seq,
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

/* ---- writing ---- */

static enum status
write_out(int fd, struct buf *b, struct err *e)
{
    enum status s = buf_status(b, "what is kept of the log", e);

    for (size_t at = 0; !s && at < b->len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, b->p + at, b->len - at));
        if (n <= 0)
            s = err_sys(e, "write what is kept of the log");
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
        return err_set(e, ST_INVALID, "line %" PRIu64 " is too long to be kept with a number", seq);
    return b->len < WRITE_BYTES ? ST_OK : write_out(fd, b, e);
}

/* What was taken, as far as it is still there. */
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
        s = buf_status(&line, "a line that is kept", e);
    if (!s)
        s = add_line(fd, &b, line.p, before - 1, e);
    if (!s)
        s = write_out(fd, &b, e);
    buf_release(&line);
    buf_release(&b);
    return s;
}

enum status
retained_events_write(int fd, const struct log_snapshot *files, uint64_t before, const char *boot,
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
