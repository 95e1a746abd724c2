/*
 * open - opens the store: its log and its index. Makes the index again when it is missing, damaged
 * or of another version, and folds new lines of the log into it.
 *
 * Tests: test/unit/test_hub_*.c test/fault/test_hub.c
 */
#define _GNU_SOURCE
#include "hub/hub_impl.h"

#include "base/path.h"
#include "base/sys.h"
#include "hub/hub_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROTATE_BYTES = 256 << 20, PRESYNC_BYTES = 1 << 20 };

static const char PRESYNC_NAME[] = "events.ahead";

void
hub_use_index(struct hub *h, struct index *ix)
{
    h->ix = ix;
    h->oldest = 0;
    fold_use(&h->fold, ix);
    fold_forget(&h->fold);
}

void
hub_close_index(struct hub *h)
{
    index_close(h->ix);
    hub_use_index(h, NULL);
}

/* Folds the whole log into a new index file. */
static enum status
fold_into(struct hub *h, const char *path, const struct log_snapshot *files, struct err *e)
{
    struct index *ix;
    enum status s = index_create(&ix, path, h->boot, e);

    if (s)
        return s;
    hub_use_index(h, ix);
    s = index_begin(ix, true, e);
    if (!s)
        s = fold_all(&h->fold, &h->log, files, e);
    if (!s) {
        fold_leave(&h->fold);
        s = index_commit(ix, e);
    }
    hub_close_index(h);
    return s;
}

static void
new_index_path(const struct hub *h, char to[PATH_MAX + 8])
{
    snprintf(to, PATH_MAX + 8, "%s.new", h->index_path);
}

void
hub_forget_new_index(const struct hub *h)
{
    char path[PATH_MAX + 8];

    new_index_path(h, path);
    index_remove(path, NULL);
}

enum status
hub_make_new_index(struct hub *h, const struct log_snapshot *files, struct err *e)
{
    char path[PATH_MAX + 8];

    hub_close_index(h);
    new_index_path(h, path);
    enum status s = index_remove(path, e); /* left by a process that was killed */
    if (!s)
        s = fold_into(h, path, files, e);
    if (s)
        hub_forget_new_index(h);
    return s;
}

enum status
hub_take_new_index(struct hub *h, struct err *e)
{
    char path[PATH_MAX + 8];
    struct index *ix;

    new_index_path(h, path);
    if (sys->renameat(AT_FDCWD, path, AT_FDCWD, h->index_path) != 0) {
        enum status s = err_sys(e, "rename %s", path);
        hub_forget_new_index(h);
        return s;
    }
    enum status s = index_open(&ix, h->index_path, h->boot, true, e);
    if (!s)
        hub_use_index(h, ix);
    return s;
}

enum status
hub_make_index(struct hub *h, struct err *e)
{
    enum status s = hub_make_new_index(h, NULL, e);

    if (s)
        return s;
    s = index_remove(h->index_path, e);
    if (s)
        hub_forget_new_index(h);
    return s ? s : hub_take_new_index(h, e);
}

enum status
hub_open_index(struct hub *h, struct err *e)
{
    struct index *ix;

    hub_close_index(h);
    enum status s = index_open(&ix, h->index_path, h->boot, true, e);
    if (!s) {
        hub_use_index(h, ix);
    } else if (s == ST_FAILED) {
        s = hub_make_index(h, e);
    }
    return s;
}

enum status
hub_fold_others(struct hub *h, struct err *e)
{
    if (h->is_read_only)
        return readonly_catch_up(h, e);
    enum status s = hub_lock(h, e);

    if (s)
        return s;
    s = hub_begin(h, e);
    if (!s) {
        hub_refresh_delayed_file(h);
        fold_leave(&h->fold);
        s = index_commit(h->ix, e);
        if (s) {
            fold_forget(&h->fold);
            s = hub_begin(h, e);
            h->is_ahead = !s;
        }
    }
    if (!h->is_ahead)
        log_unlock(&h->log);
    return s;
}

/* SQLite opens by name: an absolute one, so that the working directory may change. */
static enum status
name_index(struct hub *h, struct err *e)
{
    char whole[PATH_MAX];

    if (!realpath(h->path, whole))
        return err_sys(e, "find %s", h->path);
    if (snprintf(h->index_path, sizeof h->index_path, "%s/index.db", whole) >=
        (int)sizeof h->index_path - 8)
        return err_set(e, ST_INVALID, "path too long: %s", whole);
    return ST_OK;
}

void
hub_own_process(void)
{
    index_own_process();
}

/* Is the log there, but it or its directory not ours to write? */
static bool
is_read_only(struct hub *h)
{
    if (faccessat(h->dir, HUB_EVENTS_NAME, R_OK, AT_EACCESS) != 0)
        return false; /* opening it tells what is wrong */
    if (faccessat(h->dir, HUB_EVENTS_NAME, W_OK, AT_EACCESS) == 0 &&
        faccessat(h->dir, ".", W_OK, AT_EACCESS) == 0)
        return false;
    h->is_disk_read_only = errno == EROFS;
    return errno == EACCES || errno == EPERM || errno == EROFS;
}

enum status
hub_open(struct hub **out, const char *config, const struct hub_options *o, struct err *e)
{
    struct hub *h = calloc(1, sizeof *h);
    int dir = -1;
    enum status s = ST_OK;

    *out = NULL;
    if (!h)
        return err_nomem(e);
    h->dir = h->log.fd = -1;
    if (o)
        h->o = *o;
    h->fold.progress = h->o.progress;
    h->fold.ctx = h->o.ctx;
    snprintf(h->config, sizeof h->config, "%s", config);
    if (snprintf(h->path, sizeof h->path, "%s/signals", config) >= (int)sizeof h->path - 16)
        s = err_set(e, ST_INVALID, "path too long: %s", config);
    if (!s)
        s = path_open_dir(config, true, &dir, e);
    if (!s)
        s = path_open_dir_at(dir, "signals", true, &h->dir, e);
    if (dir >= 0)
        close(dir);
    if (!s)
        s = name_index(h, e);
    if (!s)
        s = boot_id_read(h->boot, e);
    if (s == ST_NOT_FOUND) /* no /proc: leases then go by wall time */
        s = ST_OK;
    struct log_options lo = { .is_durable = true,
                              .is_sequenced = true,
                              .never_clashes = true, /* hub_event.c has a table of members */
                              .lock_wait_ms = h->o.lock_wait_ms,
                              .rotate_bytes = h->o.rotate_bytes ? h->o.rotate_bytes : ROTATE_BYTES,
                              .ahead_name = PRESYNC_NAME,
                              .boot = h->boot,
                              .ahead_bytes = h->o.is_lasting ? PRESYNC_BYTES : 0,
                              .note = h->o.note,
                              .note_ctx = h->o.ctx };
    h->is_read_only = !s && h->o.may_be_read_only && is_read_only(h);
    if (!s && !h->is_read_only)
        s = store_guard_check(h, e);
    if (!s && !h->is_read_only)
        s = log_open(&h->log, h->dir, HUB_EVENTS_NAME, &lo, e);
    h->o.lock_wait_ms = h->log.o.lock_wait_ms; /* the log's default, if none was given */
    if (!s) {                                  /* a good index that is up to date needs no lock */
        if (!h->is_read_only && !index_open(&h->ix, h->index_path, h->boot, false, NULL))
            fold_use(&h->fold, h->ix);
        if (!h->o.never_waits)
            s = hub_catch_up(h, e);
    }
    if (!s && h->is_delayed_file_old && !h->is_read_only && !log_try_lock(&h->log, NULL)) {
        hub_write_delayed_file(h, NULL); /* a killed server left it old */
        log_unlock(&h->log);
    }
    if (s) {
        hub_close(h);
        return s;
    }
    *out = h;
    return ST_OK;
}

const char *
hub_config(const struct hub *h)
{
    return h->config;
}

void
hub_close(struct hub *h)
{
    if (!h)
        return;
    hub_settle(h);
    if (h->is_delayed_file_old && h->o.is_lasting && !hub_lock(h, NULL)) {
        hub_write_delayed_file(h, NULL);
        log_unlock(&h->log);
    }
    index_close(h->ix);
    fold_release(&h->fold);
    log_close(&h->log);
    buf_release(&h->text);
    buf_release(&h->answer);
    free(h->lines);
    if (h->dir >= 0)
        close(h->dir);
    free(h);
}
