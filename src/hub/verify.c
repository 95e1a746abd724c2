/*
 * verify - statistics of a store, rebuilding its index, and comparing the index with the log.
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "log/segment.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t
size_of(int dir, const char *name)
{
    struct stat st;

    return sys->fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* Did a damaged index fail? Then drops it, so that the next try makes a new one. */
static bool
may_try_again(struct hub *h)
{
    if (!h->ix || !index_is_damaged(h->ix))
        return false;
    index_rollback(h->ix);
    hub_drop_index(h);
    return true;
}

/* Every signal has at most one row of states, none while it is pending; most are acked in the end,
 * and the index states_open leaves those out. So three counts do, and no signal is looked up: a
 * million takes 25 ms instead of 190. */
static void
count_signals(struct hub *h, struct hub_stats *s, uint64_t *const by_state[DELIVERIES])
{
    uint64_t states = 0, not_acked = 0;
    struct row *r = index_run(
        h->ix, "SELECT (SELECT count(*) FROM signals), (SELECT count(*) FROM states)", "");

    if (index_next(h->ix, r)) {
        s->signals = (uint64_t)row_int(r, 0);
        states = (uint64_t)row_int(r, 1);
    }
    r = index_run(h->ix, "SELECT state, count(*) FROM states WHERE state <> 2 GROUP BY state", "");
    while (index_next(h->ix, r)) {
        int64_t state = row_int(r, 0);
        not_acked += (uint64_t)row_int(r, 1);
        if (state >= 0 && state < DELIVERIES)
            *by_state[state] = (uint64_t)row_int(r, 1);
    }
    s->pending += s->signals - states;
    s->acked = states - not_acked;
}

static enum status
count(struct hub *h, struct hub_stats *s, struct err *e)
{
    uint64_t *const by_state[DELIVERIES] = { &s->pending, &s->leased,      &s->acked,
                                             &s->failed,  &s->dead_letter, &s->expired };
    struct log_snapshot files;

    *s = (struct hub_stats){ 0 };
    enum status st = hub_begin_read(h, e);
    if (st)
        return st;
    count_signals(h, s, by_state);
    struct row *r =
        index_run(h->ix,
                  "SELECT (SELECT count(*) FROM delayed), (SELECT count(*) FROM subscriptions),"
                  " seq, bad FROM place",
                  "");
    if (index_next(h->ix, r)) {
        s->delayed = (uint64_t)row_int(r, 0);
        s->subscriptions = (uint64_t)row_int(r, 1);
        s->last_seq = (uint64_t)row_int(r, 2);
        s->bad_lines = (uint64_t)row_int(r, 3);
    }
    st = index_status(h->ix, e);
    if (st)
        return st;
    hub_end_read(h);
    s->first_seq = s->last_seq ? segment_oldest(h->dir, HUB_EVENTS_NAME) : 0;
    if (!st)
        st = log_snapshot_open(&files, &h->log, e);
    for (size_t i = 0; !st && i < files.n; i++)
        s->log_bytes += (uint64_t)files.list[i].st.st_size;
    if (!st)
        log_snapshot_close(&files);
    s->events = s->last_seq ? s->last_seq - s->first_seq + 1 : 0;
    s->index_bytes = size_of(h->dir, "index.db") + size_of(h->dir, "index.db-wal");
    return st;
}

enum status
hub_stats(struct hub *h, struct hub_stats *s, struct err *e)
{
    enum status st = count(h, s, e);

    return st && may_try_again(h) ? count(h, s, e) : st;
}

void
hub_free_room(struct hub *h)
{
    if (h->ix && index_is_swollen(h->index_path))
        index_empty_log(h->ix);
    if (!index_is_swollen(h->index_path))
        return;
    hub_close_index(h);
    index_remove(h->index_path, NULL);
}

enum status
hub_rebuild(struct hub *h, struct err *e)
{
    enum status s = h->is_read_only ? readonly_refuse(h, e) : hub_lock(h, e);

    if (s)
        return s;
    h->fold.done = 0;
    hub_free_room(h);
    s = hub_make_index(h, e);
    if (!s)
        s = hub_write_delayed_file(h, e);
    log_unlock(&h->log);
    return s;
}

/* ---- comparing ---- */

/* A row as text, for comparison and for people. */
static void
row_line(struct row *r, struct buf *b)
{
    buf_reset(b);
    for (int i = 0; i < row_columns(r); i++) {
        const char *text = row_text(r, i);
        buf_addf(b, "%s%s", i ? "|" : "", text ? text : "");
    }
    buf_adds(b, "");
}

struct comparison {
    struct index *ours, *fresh;
    void (*tell)(void *ctx, const struct hub_finding *f);
    void *ctx;
    uint64_t problems;
    const char *file; /* whose lines are read */
};

static void
found(struct comparison *c, const struct hub_finding *f)
{
    c->problems += !f->is_note;
    if (c->tell)
        c->tell(c->ctx, f);
}

/* ---- lines ---- */

static void
on_line(void *ctx, const struct log_record *rec, bool is_note)
{
    struct comparison *c = ctx;

    found(c, &(struct hub_finding){ c->file, rec->line, rec->problem, is_note });
}

/* The file of retained lines ends with a line of its own (retention.c), whose number is the one
 * before the next file's. */
static enum status
check_end(struct comparison *c, const struct log_snapshot_file *kept, uint64_t lines, struct err *e)
{
    uint64_t next = kept[1].first; /* 0: the file that is written to does not tell */
    struct log_reader r;
    struct log_record rec;

    log_reader_init(&r, kept->fd, 0);
    r.is_sequenced = true;
    bool is_whole = log_prev(&r, &rec) && json_eq(json_get(rec.json, "op"), "kept") &&
                    (!next || rec.seq + 1 == next);
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    if (!s && !is_whole)
        found(c, &(struct hub_finding){ kept->name, lines + 1,
                                        "the last line is missing: the file was cut short" });
    return s;
}

static enum status
check_lines(struct comparison *c, const struct log_snapshot *files, struct err *e)
{
    struct log_report report;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < files->n; i++) {
        const struct log_snapshot_file *f = &files->list[i];
        c->file = f->name;
        s = log_fsck(f->fd, f->st.st_size, &report, on_line, c, e);
        if (!s && f->is_kept)
            s = check_end(c, f, report.lines, e);
    }
    return s;
}

/* ---- rows ---- */

static void
problem(struct comparison *c, const char *table, const char *what, const struct buf *row)
{
    char text[400];

    snprintf(text, sizeof text, "%s: %s: %.300s", table, what, row->p ? row->p : "");
    found(c, &(struct hub_finding){ .reason = text });
}

static void
compare_table(struct comparison *c, const char *table)
{
    struct buf a = { 0 }, b = { 0 };
    char sql[80];

    bool is_narrow = strcmp(table, "expiring") == 0; /* no third column to sort by */
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2%s", table, is_narrow ? "" : ", 3");
    struct row *ours = index_run_text(c->ours, sql, NULL, 0);
    struct row *fresh = index_run_text(c->fresh, sql, NULL, 0);
    for (bool has_ours = true, has_fresh = true;;) { /* behind its end a statement begins again */
        has_ours = has_ours && index_next(c->ours, ours);
        has_fresh = has_fresh && index_next(c->fresh, fresh);
        if ((!has_ours && !has_fresh) || index_status(c->ours, NULL) ||
            index_status(c->fresh, NULL))
            break;
        if (has_ours)
            row_line(ours, &a);
        if (has_fresh)
            row_line(fresh, &b);
        if (!has_fresh) {
            problem(c, table, "in the index, but not in the log", &a);
        } else if (!has_ours) {
            problem(c, table, "in the log, but not in the index", &b);
        } else if (strcmp(a.p ? a.p : "", b.p ? b.p : "") != 0) {
            problem(c, table, "the index has", &a);
            problem(c, table, "the log says", &b);
            break; /* the rows after it would only be shifted */
        }
    }
    index_end(ours);
    index_end(fresh);
    buf_release(&a);
    buf_release(&b);
}

/* Folds the files beside the index, and compares. */
static enum status
check_rows(struct hub *h, struct comparison *c, const struct log_snapshot *files, struct err *e)
{
    struct fold fresh = { .progress = h->o.progress, .ctx = h->o.ctx };
    enum status s = index_create(&fresh.ix, NULL, h->boot, e);

    if (s)
        return s;
    fold_use(&fresh, fresh.ix);
    s = index_begin(fresh.ix, true, e);
    if (!s)
        s = fold_files(&fresh, files, e);
    if (!s) {
        c->ours = h->ix;
        c->fresh = fresh.ix;
        for (size_t i = 0; index_table(i); i++)
            compare_table(c, index_table(i));
        s = index_status(h->ix, e);
    }
    index_rollback(fresh.ix);
    index_close(fresh.ix);
    fold_release(&fresh);
    return s;
}

/* Takes a snapshot of files and index: the index in a transaction that shows what was folded of
 * these files. After that the lock is not needed any more. */
static enum status
take_snapshot(struct hub *h, struct log_snapshot *files, struct err *e)
{
    struct index_place place;
    enum status s = hub_lock(h, e);

    if (s)
        return s;
    s = hub_begin(h, e);
    if (!s) {
        fold_leave(&h->fold);
        s = index_commit(h->ix, e);
    }
    if (!s)
        s = index_begin(h->ix, false, e);
    if (!s && !index_get_place(h->ix, &place)) /* it begins with the first look */
        s = index_status(h->ix, e);
    if (!s)
        s = log_snapshot_open(files, &h->log, e);
    fold_forget(&h->fold);
    log_unlock(&h->log);
    return s;
}

static enum status
check(struct hub *h, struct comparison *c, struct err *e)
{
    struct log_snapshot files = { 0 };
    enum status s =
        h->is_read_only ? log_snapshot_open(&files, &h->log, e) : take_snapshot(h, &files, e);

    if (!s && !c->file) /* not when it is done again */
        s = check_lines(c, &files, e);
    if (!s && !h->is_read_only) /* there our index is no file that could be wrong */
        s = check_rows(h, c, &files, e);
    log_snapshot_close(&files);
    return s;
}

enum status
hub_check(struct hub *h, void (*tell)(void *ctx, const struct hub_finding *f), void *ctx,
          uint64_t *problems, struct err *e)
{
    struct comparison c = { .tell = tell, .ctx = ctx };
    enum status s = check(h, &c, e);

    if (s && may_try_again(h)) {
        found(&c, &(struct hub_finding){ .reason = "it was damaged, and is made anew",
                                         .is_note = true });
        s = check(h, &c, e);
    }
    if (h->ix)
        index_rollback(h->ix);
    *problems = c.problems;
    return s;
}
