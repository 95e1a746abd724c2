/*
 * read - requests that do not write, answered from the index without the lock.
 *
 * If the log is longer than the index, hub_begin_read takes the lock and folds first. An index that
 * cannot be read three times in a row is deleted (hub_doubt_index): SQLite calls it damage, too,
 * when the disk fails to read a page once.
 *
 * Tests: test/unit/test_hub_*.c test/fault/test_hub.c
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "hub/api_key.h"
#include "hub/hub_writer.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
    WAIT_MAX_MS = 60000, /* a clock that was set is noticed after this */
    DOUBTS_MAX = 3,      /* in a row */
};

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

/* Another query reads other pages: only the query that failed can clear the doubt. */
void
hub_trust_index(struct hub *h, struct index_probe by)
{
    if (h->doubted_by.sql == by.sql && h->doubted_by.nth == by.nth)
        h->n_doubts = 0;
}

/* Opens the index that has the name now. Without the lock the file may be replaced meanwhile; then
 * its -wal file belongs to another index, so index_is_current is asked once more. */
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
    hub_look_at_clock(h);
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

/* The index may have been deleted, or made again by another process. */
bool
hub_is_ready(struct hub *h)
{
    if (h->ix && index_is_current(h->ix))
        return true;
    if (hub_begin_read(h, NULL))
        return false;
    hub_end_read(h);
    return true;
}

enum status
hub_catch_up(struct hub *h, struct err *e)
{
    enum status s = hub_begin_read(h, e);

    hub_end_read(h);
    return s;
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
            hub_answer(h, r, a, reply);
            s = index_status(h->ix, &e);
        }
        bool is_damaged = s && h->ix && index_is_damaged(h->ix);
        hub_end_read(h);
        if (!is_damaged)
            break;
        hub_drop_index(h);
    }
    if (s)
        hub_reply_unavailable(reply, &e, a);
}

bool
hub_try_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply)
{
    bool is_answered = false;

    assert(!hub_ops[r->op].writes);
    if (!h->ix || !index_is_current(h->ix) || index_begin(h->ix, false, NULL))
        return false;
    if (!is_behind(h)) {
        hub_look_at_clock(h);
        hub_answer(h, r, a, reply);
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
    struct row *r = index_run(
        h->ix, "SELECT identity, scopes, hash, until FROM keys WHERE hash = ?", "s", hash);
    bool is_expired = false;
    if (api_key_is(key) && index_next(h->ix, r)) {
        snprintf(stored, sizeof stored, "%s", row_text(r, 2));
        is_expired = row_int(r, 3) && row_int(r, 3) <= h->now.wall_ms;
        if (!is_expired && api_key_same(stored, hash)) {
            *identity = row_dup(r, 0, a);
            *scopes = (unsigned)row_int(r, 1);
        }
    }
    s = index_status(h->ix, e);
    hub_end_read(h);
    if (s)
        return s;
    return *identity    ? ST_OK
           : is_expired ? err_set(e, ST_NOT_FOUND, HUB_KEY_EXPIRED)
                        : err_set(e, ST_NOT_FOUND, "the key is unknown or was revoked");
}

/* -1: nothing is due. At most WAIT_MAX_MS, so that a clock that was set is noticed. */
static int64_t
within_limits(int64_t in_ms)
{
    return in_ms == INT64_MAX ? -1 : in_ms < 0 ? 0 : in_ms > WAIT_MAX_MS ? WAIT_MAX_MS : in_ms;
}

bool
hub_knows_due(struct hub *h, int64_t *in_ms)
{
    hub_look_at_clock(h);
    hub_is_nothing_due(h, in_ms);
    *in_ms = within_limits(*in_ms);
    return h->due_is_of == h->fold.timers + 1;
}

int64_t
hub_due_in_ms(struct hub *h)
{
    int64_t in_ms;

    hub_look_at_clock(h);
    if (!hub_is_nothing_due(h, &in_ms) || !hub_is_untouched(h)) {
        if (hub_begin_read(h, NULL))
            return 0;
        hub_look_up_due(h);
        hub_end_read(h);
        hub_is_nothing_due(h, &in_ms);
    }
    return within_limits(in_ms);
}
