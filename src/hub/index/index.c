#include "hub/index/index_impl.h"

#include "base/sys.h"
#include "hub/index/dirty_signals.h"
#include "hub/model/sight.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Another number: another schema, and the index is made again. */
enum {
    SCHEMA = 10,
    BUSY_MS = 10000,
    OPEN_TRIES = 3,
    CHECKPOINT_PAGES = 100,  /* of the write-ahead log, before they go into the file */
    WAL_BYTES_MAX = 4 << 20, /* what that log keeps when it begins again */
    WAL_SWOLLEN_BYTES = 8 << 20,
};

/* signals: what was emitted; a row never changes. addr: whom it is for, "@ruby", "=dev" a role,
 * "+ops" a ring, NULL everyone. thread is NULL when it is the signal's own id. task: the work that
 * it begins with (enum work). body is the line without its seal.
 * states: a signal's state; no row: it had no transition yet. lines: the latest lines that changed
 * it (dirty_signals.h). history: the lines before those; seq is the number of the last of them.
 * waiting: signals that were not acked, in the order of inboxes: by address, and by '~' and the
 * identity for each identity that has it in `matches`. ready: tasks that can be claimed; those for
 * everyone have the address ''. expiring: signals with a time after which they expire, until they
 * are settled. file_leases: file_leases.h. */
static const char schema[] =
    "CREATE TABLE place(one INTEGER PRIMARY KEY, seq INT, dev INT, ino INT, at INT, \"end\" INT,"
    " last_ms INT, subscriptions INT, delayed INT, shown INT, view INT, bad INT, cut INT, tail "
    "TEXT,"
    " boot TEXT);"
    "CREATE TABLE signals(seq INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, created "
    "INT,"
    " sender TEXT, from_role TEXT, addr TEXT, thread TEXT, urgency REAL, tags TEXT,"
    " task INT NOT NULL, body TEXT);"
    "CREATE UNIQUE INDEX signals_id ON signals(id);"
    "CREATE INDEX signals_addr ON signals(addr, seq) WHERE addr IS NOT NULL;"
    "CREATE INDEX signals_thread ON signals(thread, seq) WHERE thread IS NOT NULL;"
    "CREATE TABLE states(signal INTEGER PRIMARY KEY, state INT NOT NULL, work INT NOT NULL,"
    " count INT NOT NULL, claimed_by TEXT, claim TEXT, claimed_at INT, until INT, boot_until INT,"
    " boot TEXT, last INT, last_by TEXT, last_claim TEXT, lines TEXT);"
    "CREATE INDEX states_open ON states(state, signal) WHERE state <> 2;"
    "CREATE INDEX states_due ON states(boot, boot_until, until) WHERE until IS NOT NULL;"
    "CREATE TABLE waiting(addr TEXT, urgency REAL, signal INT,"
    " PRIMARY KEY(addr, urgency DESC, signal)) WITHOUT ROWID;"
    "CREATE TABLE ready(addr TEXT, urgency REAL, signal INT, type TEXT,"
    " PRIMARY KEY(addr, urgency DESC, signal)) WITHOUT ROWID;"
    "CREATE TABLE history(signal INT, seq INT, lines TEXT, PRIMARY KEY(signal, seq))"
    " WITHOUT ROWID;"
    "CREATE TABLE receipts(identity TEXT, signal INT, state TEXT, until INT, at INT,"
    " PRIMARY KEY(identity, signal)) WITHOUT ROWID;"
    "CREATE TABLE subscriptions(seq INTEGER PRIMARY KEY, identity TEXT, pattern TEXT, silent INT,"
    " created INT, updated INT, loud INT, UNIQUE(identity, pattern));"
    "CREATE TABLE matches(identity TEXT, signal INT, pattern TEXT,"
    " PRIMARY KEY(identity, signal, pattern)) WITHOUT ROWID;"
    "CREATE INDEX matches_signal ON matches(signal);"
    "CREATE TABLE woken(identity TEXT PRIMARY KEY, upto INT, at INT) WITHOUT ROWID;"
    "CREATE TABLE delayed(id TEXT PRIMARY KEY, type TEXT, at INT, repeat_key TEXT, created INT,"
    " body TEXT) WITHOUT ROWID;"
    "CREATE INDEX delayed_at ON delayed(at, type, id);"
    "CREATE INDEX delayed_key ON delayed(repeat_key) WHERE repeat_key IS NOT NULL;"
    "CREATE TABLE expiring(signal INTEGER PRIMARY KEY, at INT);"
    "CREATE INDEX expiring_at ON expiring(at);"
    "CREATE TABLE identities(id TEXT PRIMARY KEY, name TEXT, kind TEXT, agent TEXT, dir TEXT,"
    " created INT) WITHOUT ROWID;"
    "CREATE TABLE roles(id TEXT PRIMARY KEY, name TEXT, purpose TEXT, created INT) WITHOUT ROWID;"
    "CREATE TABLE rings(id TEXT PRIMARY KEY, name TEXT, purpose TEXT, created INT) WITHOUT ROWID;"
    "CREATE TABLE fills(identity TEXT, role TEXT, created INT, PRIMARY KEY(identity, role))"
    " WITHOUT ROWID;"
    "CREATE TABLE joins(identity TEXT, ring TEXT, created INT, PRIMARY KEY(identity, ring))"
    " WITHOUT ROWID;"
    "CREATE TABLE keys(id TEXT PRIMARY KEY, identity TEXT, hash TEXT, scopes INT, created INT,"
    " by TEXT, until INT) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX keys_hash ON keys(hash);"
    "CREATE TABLE dedup(identity TEXT, key TEXT, hash TEXT, at INT, seq INT, lines INT,"
    " signal INT, PRIMARY KEY(identity, key)) WITHOUT ROWID;"
    "CREATE INDEX dedup_at ON dedup(identity, at);"
    "CREATE TABLE file_leases(project TEXT, holder TEXT, path TEXT, id TEXT, taken INT, reason "
    "TEXT,"
    " until INT, boot_until INT, boot TEXT, seq INT, PRIMARY KEY(project, holder, path))"
    " WITHOUT ROWID;"
    "CREATE INDEX file_leases_id ON file_leases(id);";

static const char *const tables[] = { "signals", "states",     "waiting",       "ready",
                                      "history", "receipts",   "subscriptions", "matches",
                                      "delayed", "identities", "roles",         "rings",
                                      "fills",   "joins",      "keys",          "dedup",
                                      "woken",   "expiring",   "file_leases",   NULL };

const char *
index_table(size_t i)
{
    return tables[i];
}

/* ---- failures ---- */

void
index_fail(struct index *ix, int rc)
{
    if (ix->failed || rc == SQLITE_OK)
        return;
    const char *path = ix->path[0] ? ix->path : "in memory";
    errno = rc == SQLITE_CANTOPEN ? sqlite3_system_errno(ix->db) : 0;
    if (errno)
        err_say_errno(&ix->why, "index %s", path);
    else
        err_say(&ix->why, "index %s: %s", path, sqlite3_errmsg(ix->db));
    ix->failed = rc;
}

bool
index_is_damaged(const struct index *ix)
{
    int rc = ix->failed & 0xff;

    /* SQLITE_ERROR: a table is not what we made. A short read: the file was cut. */
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_ERROR ||
           rc == SQLITE_MISMATCH || ix->failed == SQLITE_IOERR_SHORT_READ;
}

enum status
index_status(const struct index *ix, struct err *e)
{
    return ix->failed ? err_set(e, ST_IO, "%s", ix->why.text) : ST_OK;
}

/* ---- statements ---- */

sqlite3_stmt *
index_prepare(struct index *ix, const char *sql, unsigned flags)
{
    sqlite3_stmt *st = NULL;

    index_fail(ix, sqlite3_prepare_v3(ix->db, sql, -1, flags, &st, NULL));
    return st;
}

static sqlite3_stmt *
cached(struct index *ix, const char *sql)
{
    size_t slot = ((uintptr_t)sql >> 3) % INDEX_STATEMENTS;
    struct cached_statement *k = &ix->cache[slot];

    for (size_t i = 0; k->sql && k->sql != sql; i++) {
        assert(i < INDEX_STATEMENTS); /* or the code has more statements */
        slot = (slot + 1) % INDEX_STATEMENTS;
        k = &ix->cache[slot];
    }
    if (k->sql) {
        sqlite3_reset(k->st);
    } else {
        k->st = index_prepare(ix, sql, SQLITE_PREPARE_PERSISTENT);
        if (!k->st)
            return NULL;
        k->sql = sql;
    }
    if (!k->is_used) {
        k->is_used = true;
        k->next = ix->used;
        ix->used = k;
    }
    return k->st;
}

int
index_bind(sqlite3_stmt *st, int i, const struct value *v, sqlite3_destructor_type how)
{
    if (v->type == 'i')
        return sqlite3_bind_int64(st, i, v->i);
    if (v->type == 'd')
        return sqlite3_bind_double(st, i, v->d);
    return v->s ? sqlite3_bind_text(st, i, v->s, v->len ? (int)v->len : -1, how)
                : sqlite3_bind_null(st, i);
}

void
index_set_cache(struct index *ix, struct dirty_signals *dirty)
{
    ix->dirty = dirty;
}

void
index_out_of_memory(struct index *ix)
{
    row_queue_wait(&ix->queue);
    if (!ix->failed)
        err_say(&ix->why, "out of memory");
    ix->failed = SQLITE_NOMEM;
}

/* ---- running ---- */

/* Writes all rows that are not in the database yet: those of the cache, then the queue. */
static void
write_pending(struct index *ix)
{
    if (ix->dirty)
        dirty_signals_write(ix->dirty, ix);
    row_queue_flush(&ix->queue);
}

static sqlite3_stmt *
run(struct index *ix, const char *sql, const char *types, va_list *ap, sqlite3_destructor_type how)
{
    sqlite3_stmt *st = ix->failed ? NULL : cached(ix, sql);

    for (int i = 1; st && types[i - 1]; i++) {
        struct value v = value_take(types[i - 1], ap);
        index_fail(ix, index_bind(st, i, &v, how));
    }
    return st;
}

struct row *
index_run(struct index *ix, const char *literal, const char *types, ...)
{
    va_list ap;

    write_pending(ix);
    va_start(ap, types);
    sqlite3_stmt *st = run(ix, literal, types, &ap, SQLITE_TRANSIENT);
    va_end(ap);
    return (struct row *)st;
}

struct row *
index_peek(struct index *ix, const char *literal, const char *types, ...)
{
    va_list ap;

    row_queue_wait(&ix->queue);
    if (row_queue_has_other(&ix->queue, ROWS_HISTORY))
        row_queue_flush(&ix->queue);
    va_start(ap, types);
    sqlite3_stmt *st = run(ix, literal, types, &ap, SQLITE_TRANSIENT);
    va_end(ap);
    return (struct row *)st;
}

struct row *
index_run_text(struct index *ix, const char *sql, const struct value *values, size_t n)
{
    write_pending(ix);
    sqlite3_stmt *st = ix->failed ? NULL : index_prepare(ix, sql, 0);

    for (size_t i = 0; st && i < n; i++)
        index_fail(ix, index_bind(st, (int)i + 1, &values[i], SQLITE_TRANSIENT));
    return (struct row *)st;
}

void
index_again(struct index *ix, struct row *r, int nth, int64_t value)
{
    sqlite3_stmt *st = (sqlite3_stmt *)r;

    if (!st || ix->failed)
        return;
    sqlite3_reset(st);
    index_fail(ix, sqlite3_bind_int64(st, nth, value));
}

void
index_end(struct row *r)
{
    sqlite3_finalize((sqlite3_stmt *)r);
}

bool
index_next(struct index *ix, struct row *r)
{
    sqlite3_stmt *st = (sqlite3_stmt *)r;

    if (!st || ix->failed)
        return false;
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        index_fail(ix, rc);
    sqlite3_reset(st);
    return false;
}

int
index_do(struct index *ix, const char *literal, const char *types, ...)
{
    va_list ap;

    write_pending(ix);
    va_start(ap, types);
    sqlite3_stmt *st = run(ix, literal, types, &ap, SQLITE_STATIC);
    va_end(ap);
    if (!st || ix->failed)
        return 0;
    int rc = sqlite3_step(st);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        index_fail(ix, rc);
    sqlite3_reset(st);
    return ix->failed ? 0 : sqlite3_changes(ix->db);
}

int64_t
row_int(struct row *r, int column)
{
    return sqlite3_column_int64((sqlite3_stmt *)r, column);
}

double
row_double(struct row *r, int column)
{
    return sqlite3_column_double((sqlite3_stmt *)r, column);
}

const char *
row_text(struct row *r, int column)
{
    return (const char *)sqlite3_column_text((sqlite3_stmt *)r, column);
}

const char *
row_dup(struct row *r, int column, struct arena *a)
{
    const char *text = row_text(r, column);

    return text ? arena_dup(a, text, (size_t)sqlite3_column_bytes((sqlite3_stmt *)r, column))
                : NULL;
}

bool
row_is_null(struct row *r, int column)
{
    return sqlite3_column_type((sqlite3_stmt *)r, column) == SQLITE_NULL;
}

int
row_columns(struct row *r)
{
    return sqlite3_column_count((sqlite3_stmt *)r);
}

/* ---- transactions ---- */

static void
exec(struct index *ix, const char *sql)
{
    write_pending(ix);
    if (!ix->failed)
        index_fail(ix, sqlite3_exec(ix->db, sql, NULL, NULL, NULL));
}

/* Ends statements whose loops were left early: they would still read. */
static void
reset_all(struct index *ix)
{
    for (struct cached_statement *k = ix->used; k; k = k->next) {
        sqlite3_reset(k->st);
        k->is_used = false;
    }
    ix->used = NULL;
}

enum status
index_begin(struct index *ix, bool is_write, struct err *e)
{
    ix->failed = 0;
    if (is_write)
        index_do(ix, "BEGIN IMMEDIATE", "");
    else
        index_do(ix, "BEGIN", "");
    ix->is_open = !ix->failed;
    return index_status(ix, e);
}

/* SQLite forgets how much of the write-ahead log was copied when the last process closes it. So a
 * command leaves an empty log, or the next command would copy all of it again. While someone reads
 * from it, a later command does it. */
void
index_empty_log(struct index *ix)
{
    sqlite3_busy_timeout(ix->db, 0);
    sqlite3_wal_checkpoint_v2(ix->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(ix->db, BUSY_MS);
    ix->wal_pages = 0;
}

enum status
index_commit(struct index *ix, struct err *e)
{
    reset_all(ix);
    index_do(ix, "COMMIT", "");
    enum status s = index_status(ix, e);
    if (s)
        index_rollback(ix);
    ix->is_open = false;
    if (ix->wal_pages >= CHECKPOINT_PAGES)
        index_empty_log(ix);
    return s;
}

/* By the thread that has the database. */
static void
write_place(struct index *ix, const struct index_place *p)
{
    const int64_t numbers[] = { (int64_t)p->seq,
                                p->dev,
                                p->ino,
                                p->at,
                                p->end,
                                p->last_ms,
                                (int64_t)p->subscriptions,
                                (int64_t)p->delayed,
                                (int64_t)p->shown,
                                p->view,
                                (int64_t)p->bad,
                                (int64_t)p->cut };
    const int n = sizeof numbers / sizeof *numbers;

    if (!ix->placing && !ix->failed)
        ix->placing =
            index_prepare(ix,
                          "UPDATE place SET seq = ?, dev = ?, ino = ?, at = ?, \"end\" = ?,"
                          " last_ms = ?, subscriptions = ?, delayed = ?, shown = ?, view = ?,"
                          " bad = ?, cut = ?, tail = ?",
                          SQLITE_PREPARE_PERSISTENT);
    if (ix->failed)
        return;
    for (int i = 0; i < n; i++)
        index_fail(ix, sqlite3_bind_int64(ix->placing, i + 1, numbers[i]));
    index_fail(ix, sqlite3_bind_text(ix->placing, n + 1, p->tail, -1, SQLITE_STATIC));
    int rc = sqlite3_step(ix->placing);
    if (rc != SQLITE_DONE)
        index_fail(ix, rc);
    sqlite3_reset(ix->placing);
}

void
index_commit_behind(struct index *ix, const struct index_place *p)
{
    write_place(ix, p);
    if (!ix->failed)
        index_fail(ix, sqlite3_exec(ix->db, "COMMIT; BEGIN IMMEDIATE", NULL, NULL, NULL));
}

bool
index_commit_later(struct index *ix, const struct index_place *p)
{
    if (ix->dirty)
        dirty_signals_write(ix->dirty, ix);
    if (ix->used) { /* statements that may not have ended */
        row_queue_wait(&ix->queue);
        reset_all(ix);
    }
    return !ix->failed && row_queue_commit(&ix->queue, p);
}

void
index_rollback(struct index *ix)
{
    if (ix->dirty)
        dirty_signals_drop(ix->dirty);
    row_queue_drop(&ix->queue);
    reset_all(ix);
    ix->failed = 0;
    if (!sqlite3_get_autocommit(ix->db))
        index_do(ix, "ROLLBACK", "");
    ix->is_open = false;
    ix->failed = 0;
}

void
index_savepoint(struct index *ix)
{
    index_do(ix, "SAVEPOINT mark", "");
}

void
index_end_savepoint(struct index *ix, bool is_good)
{
    if (!is_good)
        index_do(ix, "ROLLBACK TO mark", "");
    index_do(ix, "RELEASE mark", "");
}

/* ---- opening ---- */

static bool lives_long;

void
index_own_process(void)
{
    lives_long = true;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static int
on_wal(void *ctx, sqlite3 *db, const char *name, int pages)
{
    struct index *ix = ctx;

    (void)db;
    (void)name;
    ix->wal_pages = pages;
    return SQLITE_OK;
}

bool
index_is_current(const struct index *ix)
{
    struct stat st;

    return !ix->path[0] || (sys->fstatat(AT_FDCWD, ix->path, &st, 0) == 0 && st.st_ino == ix->ino &&
                            st.st_dev == ix->dev);
}

static bool
is_sound(struct index *ix, const char *boot)
{
    struct row *r = index_run_text(ix, "PRAGMA quick_check(1)", NULL, 0);
    bool is_good = index_next(ix, r) && strcmp(row_text(r, 0), "ok") == 0;

    index_end(r);
    index_do(ix, "UPDATE place SET boot = ?", "s", boot);
    return is_good && !ix->failed;
}

static void
make_tables(struct index *ix, const char *boot)
{
    char version[64];

    exec(ix, "BEGIN IMMEDIATE");
    exec(ix, schema);
    snprintf(version, sizeof version, "PRAGMA user_version = %d", SCHEMA);
    exec(ix, version);
    index_do(ix, "INSERT INTO place VALUES(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', ?)", "s",
             boot);
    exec(ix, "COMMIT");
}

/* may_read(identity, sender, addr, is_member): hub/model/sight.h for queries. */
static void
may_read(sqlite3_context *c, int n, sqlite3_value **v)
{
    const char *identity = (const char *)sqlite3_value_text(v[0]);

    (void)n;
    sqlite3_result_int(c, identity && sight_allows(identity, (const char *)sqlite3_value_text(v[1]),
                                                   (const char *)sqlite3_value_text(v[2]),
                                                   sqlite3_value_int(v[3]) != 0));
}

/* A new file needs no write-ahead log: it is thrown away when making it fails. */
static void
configure(struct index *ix, bool is_new)
{
    char text[80];

    sqlite3_busy_timeout(ix->db, BUSY_MS);
    sqlite3_db_config(ix->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(ix->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_extended_result_codes(ix->db, 1);
    index_fail(ix,
               sqlite3_create_function_v2(ix->db, "may_read", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, may_read, NULL, NULL, NULL));
    if (is_new)
        exec(ix, "PRAGMA page_size=8192"); /* half as many writes as with 4096 */
    else
        exec(ix, "PRAGMA journal_mode=WAL");
    exec(ix, "PRAGMA synchronous=OFF");
    exec(ix, "PRAGMA secure_delete=OFF"); /* on in some builds; the log has it all anyway */
    exec(ix, "PRAGMA temp_store=MEMORY");
    exec(ix, "PRAGMA cache_size=-32000");
    snprintf(text, sizeof text, "PRAGMA journal_size_limit=%d", WAL_BYTES_MAX);
    exec(ix, text);
    snprintf(text, sizeof text, "PRAGMA wal_autocheckpoint=%d", CHECKPOINT_PAGES);
    exec(ix, text);
    if (!lives_long)
        sqlite3_wal_hook(ix->db, on_wal, ix);
}

/* Opens the database, without looking at its tables. A new file is made here, with mode 0600:
 * SQLite would use the umask, and the mode of the file for -wal and -shm. */
static enum status
open_database(struct index **out, const char *path, bool is_new, struct err *e)
{
    struct index *ix = *out = calloc(1, sizeof *ix);
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (is_new ? O_CREAT | O_EXCL : 0);
    struct stat st = { 0 };

    if (!ix)
        return err_nomem(e);
    ix->queue.ix = ix;
    if (path) {
        if (snprintf(ix->path, sizeof ix->path, "%s", path) >= (int)sizeof ix->path)
            return err_set(e, ST_INVALID, "path too long: %s", path);
        int fd = SYS_RETRY(sys->openat(AT_FDCWD, path, flags, 0600));
        if (fd < 0 && errno == ENOENT && !is_new)
            return err_set(e, ST_FAILED, "%s is not there", path);
        if (fd < 0)
            return err_sys(e, "open %s", path);
        enum status s = sys->fstat(fd, &st) == 0 ? ST_OK : err_sys(e, "look at %s", path);
        close(fd);
        if (s)
            return s;
    }
    ix->dev = st.st_dev;
    ix->ino = st.st_ino;
    index_fail(
        ix, sqlite3_open_v2(path ? path : ":memory:", &ix->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                            NULL));
    return ST_OK;
}

/* The result of opening it; after a failure it is closed. */
static enum status
opened(struct index **ix, enum status s, struct err *e)
{
    if (!s && (*ix)->failed)
        s = err_set(e, index_is_damaged(*ix) ? ST_FAILED : ST_IO, "%s", (*ix)->why.text);
    if (s) {
        index_close(*ix);
        *ix = NULL;
    }
    return s;
}

enum status
index_create(struct index **out, const char *path, const char *boot, struct err *e)
{
    enum status s = open_database(out, path, true, e);

    if (!s && !(*out)->failed)
        configure(*out, true);
    if (!s)
        make_tables(*out, boot);
    return opened(out, s, e);
}

/* Could a read have failed? */
static bool
is_unread(const struct index *ix)
{
    return index_is_damaged(ix) || (ix->failed & 0xff) == SQLITE_IOERR;
}

/* Is it what we would have made, and can it be read? After another boot the file, which is never
 * synced, may hold anything. */
static bool
is_good(struct index *ix, const char *boot, bool may_write)
{
    configure(ix, false);
    struct row *r = index_run(ix, "SELECT user_version, boot FROM pragma_user_version, place", "");
    bool is_ours = index_next(ix, r) && row_int(r, 0) == SCHEMA;
    bool is_of_boot = is_ours && row_text(r, 1) && strcmp(row_text(r, 1), boot) == 0;
    reset_all(ix);
    return is_of_boot || (is_ours && may_write && is_sound(ix, boot));
}

enum status
index_open(struct index **out, const char *path, const char *boot, bool may_write, struct err *e)
{
    enum status s = open_database(out, path, false, e);
    struct index *ix = *out;
    bool is_open = !s && !ix->failed, is_it = false;

    /* On a disk whose reads fail now and then, the next try goes on with the pages that it has. */
    for (int i = 0; is_open && !is_it && i < OPEN_TRIES && (!i || is_unread(ix)); i++) {
        index_rollback(ix);
        is_it = is_good(ix, boot, may_write);
    }
    if (!s && !is_it && !ix->failed)
        s = err_set(e, ST_FAILED, "%s is damaged or of another version", path);
    return opened(out, s, e);
}

void
index_close(struct index *ix)
{
    if (!ix)
        return;
    row_queue_release(&ix->queue);
    for (size_t i = 0; i < INDEX_STATEMENTS; i++)
        sqlite3_finalize(ix->cache[i].st);
    sqlite3_finalize(ix->placing);
    sqlite3_close(ix->db);
    free(ix);
}

bool
index_is_swollen(const char *path)
{
    char name[PATH_MAX];
    struct stat st;

    snprintf(name, sizeof name, "%s-wal", path);
    return sys->fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_size > WAL_SWOLLEN_BYTES;
}

enum status
index_remove(const char *path, struct err *e)
{
    /* The file first: a process that opens it now must not find it without its log. */
    static const char *const ends[] = { "", "-wal", "-shm" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[PATH_MAX];
        if (snprintf(name, sizeof name, "%s%s", path, ends[i]) >= (int)sizeof name)
            return err_set(e, ST_INVALID, "path too long: %s", path);
        if (unlink(name) != 0 && errno != ENOENT)
            return err_sys(e, "remove %s", name);
    }
    return ST_OK;
}

void
index_clear(struct index *ix)
{
    exec(ix, "PRAGMA secure_delete=ON"); /* retention may have dropped it from the log */
    for (size_t i = 0; tables[i]; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i]);
        exec(ix, sql);
    }
    exec(ix, "PRAGMA secure_delete=OFF");
    index_do(
        ix,
        "UPDATE place SET seq = 0, dev = 0, ino = 0, at = 0, \"end\" = 0, last_ms = 0,"
        " subscriptions = subscriptions + 1, delayed = delayed + 1, bad = 0, cut = 0, tail = ''",
        "");
}

void
index_begin_bulk(struct index *ix)
{
    ix->may_repeat = true;
    ix->has_repeats = false;
    row_queue_begin_bulk(&ix->queue);
}

void
index_end_bulk(struct index *ix)
{
    write_pending(ix);
    row_queue_end_bulk(&ix->queue);
    if (ix->has_repeats)
        exec(ix, "DELETE FROM waiting WHERE signal NOT IN (SELECT seq FROM signals);"
                 "DELETE FROM ready WHERE signal NOT IN (SELECT seq FROM signals);"
                 "DELETE FROM expiring WHERE signal NOT IN (SELECT seq FROM signals);");
    ix->may_repeat = false;
}

/* ---- the place ---- */

bool
index_get_place(struct index *ix, struct index_place *p)
{
    struct row *r = index_run(ix,
                              "SELECT seq, dev, ino, at, \"end\", last_ms, subscriptions, delayed, "
                              "shown, view, bad, cut, tail FROM place",
                              "");

    *p = (struct index_place){ 0 };
    if (!index_next(ix, r)) {
        index_fail(ix, SQLITE_CORRUPT);
        return false;
    }
    p->seq = (uint64_t)row_int(r, 0);
    p->dev = row_int(r, 1);
    p->ino = row_int(r, 2);
    p->at = row_int(r, 3);
    p->end = row_int(r, 4);
    p->last_ms = row_int(r, 5);
    p->subscriptions = (uint64_t)row_int(r, 6);
    p->delayed = (uint64_t)row_int(r, 7);
    p->shown = (uint64_t)row_int(r, 8);
    p->view = row_int(r, 9);
    p->bad = (uint64_t)row_int(r, 10);
    p->cut = (uint64_t)row_int(r, 11);
    snprintf(p->tail, sizeof p->tail, "%s", row_text(r, 12) ? row_text(r, 12) : "");
    sqlite3_reset((sqlite3_stmt *)r);
    return true;
}

void
index_set_place(struct index *ix, const struct index_place *p)
{
    write_pending(ix);
    write_place(ix, p);
}
