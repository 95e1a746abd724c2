/*
 * compact - dropping what is old.
 *
 *     1  events-kept.tmp is written and synced: what lasts of the segments that go
 * (retained_events.h) 2  index.db.new is made of that and of what stays 3  index.db is removed:
 * whoever comes now makes one of what the log is then 4  events-kept.tmp becomes
 * events-kept-5001.jsonl: now the log is another one (log/segment.h) 5  index.db.new becomes
 * index.db 6  the segments are removed
 *
 * 3 and 4 are on disk before the next begins. So whoever is killed before 4 has changed nothing,
 * and behind it nothing is missing: what is left to remove goes the next time. All with the log's
 * lock; others read the old index up to 3.
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "hub/retained_events.h"

#include <fcntl.h>
#include <unistd.h>

static const char TEMP_NAME[] = "events-kept.tmp";

/* Is everything in the lines up to `last` over? Signals that wait, requests that may still be
 * retried, and subscriptions keep their segment and all after it. */
static bool
is_over(struct hub *h, uint64_t last, int64_t now_ms, int64_t older_than_ms)
{
    struct row *r =
        index_run(h->ix,
                  "SELECT EXISTS(SELECT 1" SIGNAL_ROW_FROM " WHERE s.seq <= ?1 AND (s.created >= ?2"
                  " OR w.state IN (1, 3) OR (coalesce(w.state, 0) = 0"
                  " AND (s.addr IS NOT NULL OR coalesce(w.work, s.task) = 1))))"
                  " OR EXISTS(SELECT 1 FROM dedup WHERE seq <= ?1 AND at > ?3)"
                  " OR EXISTS(SELECT 1 FROM subscriptions WHERE seq <= ?1)",
                  "iii", (int64_t)last, now_ms - older_than_ms, now_ms - HUB_DEDUP_MS);

    return index_next(h->ix, r) && row_int(r, 0) == 0;
}

/* The line before which everything can go; 0: nothing can. The newest finished segment stays, as it
 * tells the number that comes next. */
static uint64_t
find_end(struct hub *h, const struct log_snapshot *files, int64_t older_than_ms)
{
    int64_t now_ms = hub_clock_ms(CLOCK_REALTIME);
    size_t oldest = files->list[0].is_kept ? 1 : 0;
    uint64_t end = 0;

    for (size_t i = oldest + 1; i + 1 < files->n; i++) {
        if (!is_over(h, files->list[i].first - 1, now_ms, older_than_ms))
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

/* The files as they will be. */
static enum status
keep_lines(struct hub *h, struct log_snapshot *files, uint64_t end, struct err *e)
{
    int fd = SYS_RETRY(
        sys->openat(h->dir, TEMP_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd < 0)
        return err_sys(e, "open %s", TEMP_NAME);
    enum status s = retained_events_write(fd, files, end, h->boot, e);
    if (!s && SYS_RETRY(sys->fsync(fd)) != 0)
        s = err_sys(e, "sync %s", TEMP_NAME);
    if (!s)
        return log_snapshot_drop(files, end, fd, TEMP_NAME, e);
    close(fd);
    return s;
}

/* After a failed sync nobody knows which name is on disk: then it is as it was. */
static enum status
name_kept(struct hub *h, uint64_t end, struct err *e)
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
    enum status s = keep_lines(h, files, end, e);

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
        s = name_kept(h, end, e);
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
    unlinkat(h->dir, TEMP_NAME, 0); /* of somebody who was killed */
    if (!s && end)
        s = drop_before(h, &files, end, e);
    log_snapshot_close(&files);
    if (!s && end)
        hub_write_delayed_file(h, NULL); /* the new index does not know that it is there */
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
