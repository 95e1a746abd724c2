/* writer - the append path of a log: lock, check the tail, one write, one sync. */
#define _GNU_SOURCE
#include "base/path.h"
#include "base/sys.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/presync.h"
#include "log/seal.h"
#include "log/segment.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 10000, REOPEN_TRIES = 1000, REPAIR_BYTES = 4096 };

static enum status
open_file(struct log *l, struct err *e)
{
    int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = SYS_RETRY(sys->openat(l->dir, l->name, flags, 0600));
    enum status s = ST_OK;
    char told[PATH_MAX];
    struct stat st;

    if (fd < 0) { /* ENOENT: the directory was removed (O_CREAT creates the file) */
        const char *path = path_told(l->dir, l->name, told);
        return errno == ENOENT ? err_sys(e, "open %s", path)
                               : path_open_failed(l->dir, l->name, path, e);
    }
    if (sys->fstat(fd, &st) != 0)
        s = err_sys(e, "look at %s", l->name);
    else if (!S_ISREG(st.st_mode))
        s = path_check_regular(&st, path_told(l->dir, l->name, told), e);
    if (s) {
        close(fd);
        return s;
    }
    l->fd = fd;
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    l->is_known = l->has_unsynced = false;
    l->segment[0] = '\0';
    l->segment_end = 0;
    return ST_OK;
}

/* Closes the file; keeps l->lines. */
static void
close_file(struct log *l)
{
    if (l->fd >= 0)
        close(l->fd); /* releases the lock too */
    l->fd = -1;
    l->is_locked = l->is_known = false;
}

void
log_use_presync(struct log *l, size_t bytes)
{
    off_t end = l->fd < 0 || l->is_refusing ? -1 : sys->lseek(l->fd, 0, SEEK_END);

    assert(l->o.is_durable);
    if (!l->o.ahead_name || l->presync || end < 0)
        return;
    l->presync = presync_open(l->dir, l->o.ahead_name, l->o.boot, bytes, l->fd);
    if (l->presync)
        presync_begin(l->presync, l->fd, l->ino, end);
}

void
log_go_last(struct log *l)
{
    l->is_last = true;
}

/* *is_ours: the open file still has the log's name. */
static enum status
check_name(struct log *l, bool *is_ours, struct err *e)
{
    struct stat st;

    *is_ours = false;
    if (sys->fstatat(l->dir, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        *is_ours = st.st_ino == l->ino && st.st_dev == l->dev;
    else if (errno != ENOENT)
        return err_sys(e, "look at %s", l->name);
    return ST_OK;
}

/* Recovers from the pre-sync file. If the log's file was replaced meanwhile, by this or another
 * process, opens the new file and checks again. */
static enum status
recover(struct log *l, struct err *e)
{
    bool is_old, is_ours, is_replaced = false;
    enum status s;

    while (!(s = presync_is_old(l, &is_old, e)) && is_old) {
        s = lock_take_queued(l->fd, l->dir, l->name, l->o.lock_wait_ms, e);
        if (s)
            return s;
        s = check_name(l, &is_ours, e);
        if (!s && is_ours)
            s = presync_recover(l, &is_replaced, e);
        lock_drop(l->fd);
        if (s || (is_ours && !is_replaced))
            return s;
        close_file(l);
        s = open_file(l, e);
        if (s)
            return s;
    }
    return s;
}

enum status
log_open(struct log *l, int dir, const char *name, const struct log_options *o, struct err *e)
{
    *l = (struct log){ .o = *o, .dir = dir, .fd = -1 };
    if (!l->o.lock_wait_ms)
        l->o.lock_wait_ms = LOCK_WAIT_MS;
    if (strlen(name) >= sizeof l->name)
        return err_set(e, ST_INVALID, "log name too long: %s", name);
    strcpy(l->name, name);
    enum status s = open_file(l, e);
    if (!s && l->o.ahead_name)
        s = recover(l, e);
    if (!s && l->o.ahead_bytes)
        log_use_presync(l, l->o.ahead_bytes);
    return s;
}

/* Syncs the log if the pre-sync file still has lines for it, then removes that file. A segment was
 * synced when it was finished. */
static void
close_presync(struct log *l)
{
    bool is_void = !l->is_refusing && (l->fd < 0 || presync_first(l->presync, l->ino, -1) < 0 ||
                                       SYS_RETRY(sys->fdatasync(l->fd)) == 0);

    if (is_void)
        presync_remove(l->presync);
    presync_close(l->presync);
    l->presync = NULL;
}

void
log_close(struct log *l)
{
    if (l->presync)
        close_presync(l);
    close_file(l);
    buf_release(&l->lines);
}

/* ---- under the lock: the tail ---- */

/* Counts the lines from byte `at`, whose number is `next`, up to byte `to`, as readers do.
 * *is_ending: a rotate line is among them. */
static enum status
count_lines(struct log *l, off_t at, uint64_t next, off_t to, bool *is_ending, struct err *e)
{
    struct log_reader r;
    struct log_record rec;

    log_reader_init(&r, l->fd, at);
    r.is_sequenced = true;
    r.next_seq = next;
    while (r.at < to && log_next(&r, &rec))
        ;
    l->next_seq = r.next_seq;
    *is_ending = r.is_rotated;
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    return s;
}

/* Finds the last line whose number is certain: sealed, not inside a group, and not directly behind
 * a foreign line, which may have taken its number. *seq 0: none. In a finished segment, ignores all
 * lines behind the rotate line. */
static enum status
find_anchor(const struct log *l, bool is_finished, off_t *at, uint64_t *seq, struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    struct seal seal;

    *at = 0;
    *seq = 0;
    log_reader_init(&r, l->fd, 0);
    r.is_sequenced = true;
    while (log_prev(&r, &rec)) {
        bool is_end = rec.seq && json_eq(json_get(rec.json, "op"), "rotate");
        if (is_finished && !is_end)
            continue;
        is_finished = false;
        if (rec.seq && *seq && !is_end)
            break;
        *at = 0;
        *seq = 0;
        if (rec.seq && seal_read(rec.text, rec.len, rec.json, &seal) && !seal.nth) {
            *at = rec.at;
            *seq = seal.seq;
        }
    }
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    return s;
}

static enum status
count_file(struct log *l, bool is_finished, off_t to, bool *is_ending, struct err *e);

enum status
segment_number_after(const struct log *l, uint64_t *next, struct err *e)
{
    char name[SEGMENT_NAME_SIZE];
    struct log_options o = l->o;
    struct log old;
    bool is_ending;
    enum status s = segment_find(l->dir, l->name, UINT64_MAX, name, NULL, e);

    *next = 0;
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    o.ahead_name = NULL;
    s = log_open(&old, l->dir, name, &o, e);
    if (!s)
        s = count_file(&old, true, INT64_MAX, &is_ending, e);
    if (!s)
        *next = old.next_seq;
    log_close(&old);
    return s;
}

/* Finds the number of the next line in a file that was not counted before. */
static enum status
count_file(struct log *l, bool is_finished, off_t to, bool *is_ending, struct err *e)
{
    off_t at;
    uint64_t seq;
    enum status s = find_anchor(l, is_finished, &at, &seq, e);

    if (!s && !seq) {
        s = segment_number_after(l, &seq, e);
        seq = seq ? seq : 1;
    }
    return s ? s : count_lines(l, at, seq, to, is_ending, e);
}

/* Ends a torn tail with '\n', so that readers count it: it may be a whole record without its '\n'.
 */
static enum status
seal_tail(struct log *l, off_t *size, struct err *e)
{
    if (SYS_RETRY(sys->write(l->fd, "\n", 1)) != 1)
        return err_sys(e, "append to %s", l->name);
    ++*size;
    l->is_torn = false;
    return ST_OK;
}

/* Updates end, is_torn and next_seq. The lock is held, and the open file has the log's name. */
static enum status
look_at_tail(struct log *l, bool *is_ending, struct err *e)
{
    off_t size = sys->lseek(l->fd, 0, SEEK_END);
    bool is_grown = l->is_known && size > l->end;
    enum status s = ST_OK;
    char last = '\n';

    *is_ending = false;
    if (size < 0)
        return err_sys(e, "look at the end of %s", l->name);
    if (l->is_known && size == l->end)
        return ST_OK;
    l->is_known = false;
    if (size > 0 && SYS_RETRY(sys->pread(l->fd, &last, 1, size - 1)) != 1)
        return err_sys(e, "read the end of %s", l->name);
    l->is_torn = last != '\n';
    if (l->o.is_sequenced) {
        if (l->is_torn)
            s = seal_tail(l, &size, e);
        if (!s && is_grown)
            s = count_lines(l, l->end, l->next_seq, size, is_ending, e);
        else if (!s)
            s = count_file(l, false, size, is_ending, e);
    }
    if (s)
        return s;
    l->end = size;
    l->is_known = !l->is_torn && !*is_ending; /* after a rotate line, check again next time */
    return ST_OK;
}

static enum status
lock_current(struct log *l, unsigned wait_ms, struct err *e)
{
    for (int i = 0; i < REOPEN_TRIES; i++) {
        bool is_ours, is_ending;
        enum status s = l->fd < 0 ? open_file(l, e) : ST_OK;
        if (!s)
            s = l->o.is_durable ? lock_take_queued(l->fd, l->dir, l->name, wait_ms, e)
                                : lock_take_brief(l->fd, l->name, wait_ms, e);
        if (s)
            return s;
        l->is_locked = true;
        s = check_name(l, &is_ours, e);
        if (!s && is_ours) {
            s = look_at_tail(l, &is_ending, e);
            if (s || !is_ending)
                return s;
            s = segment_finish(l, e); /* finishes a rotation after a crash */
        }
        if (!s && l->o.is_one_file)
            s = err_set(e, ST_FAILED, "%s was removed or replaced by another program", l->name);
        if (s)
            return s;
        close_file(l); /* rotated or replaced while we waited: open the file with that name */
    }
    return err_set(e, ST_IO, "%s was replaced %d times while it was being locked", l->name,
                   REOPEN_TRIES);
}

static void
unlock(struct log *l)
{
    l->is_locked = false;
    lock_drop(l->fd);
}

static enum status
lock_within(struct log *l, unsigned wait_ms, struct err *e)
{
    enum status s;

    assert(!l->is_locked);
    if (l->is_refusing)
        return err_set(e, ST_IO,
                       "%s: a sync failed earlier, so writes are refused until it is opened again",
                       l->name);
    s = lock_current(l, wait_ms, e);
    if (!s && l->o.is_sequenced && l->o.rotate_bytes)
        s = segment_carry(l, e);
    if (s && l->is_locked)
        unlock(l);
    return s;
}

enum status
log_lock(struct log *l, struct err *e)
{
    return lock_within(l, l->o.lock_wait_ms, e);
}

enum status
log_try_lock(struct log *l, struct err *e)
{
    return lock_within(l, 0, e);
}

enum status
log_look(struct log *l, bool *is_current, struct err *e)
{
    bool is_ending = false;
    enum status s = check_name(l, is_current, e);

    assert(l->is_locked);
    if (!s && *is_current)
        s = look_at_tail(l, &is_ending, e);
    *is_current = !s && *is_current && !is_ending;
    return s;
}

void
log_unlock(struct log *l)
{
    if (!l->is_locked)
        return;
    if (l->o.is_sequenced && l->o.rotate_bytes && l->end >= (off_t)l->o.rotate_bytes &&
        l->is_known && !l->is_refusing) {
        segment_rotate(l, NULL); /* if it fails, the next writer tries again */
        buf_release(&l->lines);
        l->is_known = false;
        if (!l->is_refusing) { /* log_repair needs the open file */
            close_file(l);
            return;
        }
    }
    unlock(l);
}

/* ---- under the lock: writing ---- */

bool
log_has_room(const struct log *l, size_t bytes)
{
    off_t end = l->fd < 0 ? -1 : sys->lseek(l->fd, 0, SEEK_END);
    struct rlimit most;

    if (end < 0 || (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
                    most.rlim_cur < (rlim_t)end + bytes))
        return false;
    int rc = SYS_RETRY(fallocate(l->fd, FALLOC_FL_KEEP_SIZE, end, (off_t)bytes));
    return rc == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Writes everything in one write, or nothing. */
static enum status
write_all(struct log *l, const struct buf *lines, struct err *e)
{
    ssize_t n = SYS_RETRY(sys->write(l->fd, lines->p, lines->len));
    struct stat st;

    if (n == (ssize_t)lines->len)
        return ST_OK;
    if (n < 0)
        return err_sys(e, "append to %s", l->name);
    /* Undo the short write, unless a foreign writer appended behind it. */
    l->is_known = false;
    if (sys->fstat(l->fd, &st) == 0 && st.st_size == l->end + n)
        SYS_RETRY(sys->ftruncate(l->fd, l->end));
    return err_set(e, ST_IO, "append to %s: only %zd of %zu bytes could be written (disk full?)",
                   l->name, n, lines->len);
}

/* Syncs l->lines, which end at `end`, through the pre-sync file. Everything before is synced. */
static bool
sync_in_presync(struct log *l, off_t end)
{
    return l->presync && presync_put(l->presync, l->fd, l->ino, end - (off_t)l->lines.len,
                                     l->lines.p, l->lines.len);
}

/* Syncs the bytes from l->end to `end`, and earlier unsynced ones. */
static enum status
sync_written(struct log *l, off_t end, struct err *e)
{
    bool is_all = !l->has_unsynced;

    if (!l->has_unsynced)
        l->unsynced_from = l->end;
    l->unsynced_to = end;
    l->has_unsynced = true;
    if (!l->o.is_durable)
        return ST_OK;
    if (l->o.meanwhile && !l->presync) /* starts the write; the sync reports errors */
        sync_file_range(l->fd, l->end, (off_t)l->lines.len, SYNC_FILE_RANGE_WRITE);
    if (l->o.meanwhile)
        l->o.meanwhile(l->o.ctx);
    if (is_all && !l->is_last && sync_in_presync(l, end)) {
        l->has_unsynced = false;
        return ST_OK;
    }
    if (SYS_RETRY(sys->fdatasync(l->fd)) == 0 &&
        (l->end > 0 ||
         SYS_RETRY(sys->fsync(l->dir)) == 0)) { /* the first line: sync the name too */
        l->has_unsynced = false;
        if (l->presync)
            presync_begin(l->presync, l->fd, l->ino, end);
        return ST_OK;
    }
    if (l->presync)
        l->unsynced_from = presync_first(l->presync, l->ino, l->unsynced_from);
    l->is_refusing = true;
    return err_sys(e, "sync %s: the record may or may not survive a crash", l->name);
}

static enum status
check_record(const struct log *l, const struct log_text *rec, struct err *e)
{
    if (rec->len + 1 > LOG_LINE_MAX)
        return err_set(e, ST_INVALID,
                       "%s: a record of %zu bytes is over the limit of %zu bytes a line", l->name,
                       rec->len, LOG_LINE_MAX - 1);
    size_t len = rec->len;
    while (len > 0 &&
           (rec->p[len - 1] == ' ' || rec->p[len - 1] == '\t' || rec->p[len - 1] == '\r'))
        len--;
    if (len < 2 || rec->p[0] != '{' || rec->p[len - 1] != '}' || memchr(rec->p, '\n', rec->len))
        return err_set(e, ST_INVALID, "%s: a record must be one JSON object on one line", l->name);
    if (l->o.is_sequenced && !l->o.never_clashes && seal_clashes(rec->p, rec->len))
        return err_set(e, ST_INVALID,
                       "%s: a record may not have seq, crc, of or nth: the log writes them",
                       l->name);
    return ST_OK;
}

static enum status
compose(const struct log *l, const struct log_text *records, size_t n, struct buf *to,
        struct err *e)
{
    if (l->o.is_sequenced && l->next_seq > INT64_MAX - n)
        return err_set(e, ST_FAILED, "%s: the last line has the highest possible sequence number",
                       l->name);
    if (l->is_torn)
        buf_addc(to, '\n');
    for (size_t i = 0; i < n; i++) {
        enum status s = check_record(l, &records[i], e);
        if (s)
            return s;
        size_t start = to->len;
        if (l->o.is_sequenced) {
            seal_write(to, records[i].p, records[i].len, i + 1, n, l->next_seq + i);
            if (to->len - start > LOG_LINE_MAX)
                return err_set(e, ST_INVALID, "%s: a record is over the limit of %zu bytes a line",
                               l->name, LOG_LINE_MAX - 1);
        } else {
            buf_add(to, records[i].p, records[i].len);
            buf_addc(to, '\n');
        }
    }
    return buf_status(to, "the batch", e);
}

/* Does a torn line end at `start`? */
static bool
is_torn_at(const struct log *l, off_t start)
{
    char before = '\n';

    return start > 0 && SYS_RETRY(sys->pread(l->fd, &before, 1, start - 1)) == 1 && before != '\n';
}

/* The lines were written at l->end, as expected. */
static enum status
accept_written(struct log *l, size_t n, struct err *e)
{
    enum status s = sync_written(l, l->end + (off_t)l->lines.len, e);

    l->next_seq += n;
    l->end += (off_t)l->lines.len;
    l->is_torn = false;
    l->is_known = true;
    return s;
}

/* Composes the lines unless is_composed, and writes them. */
static enum status
put(struct log *l, const struct log_text *records, size_t n, bool is_composed, struct err *e)
{
    for (int tries = 0; tries < 3; tries++) {
        bool is_ending;
        enum status s = ST_OK;
        if (!is_composed || l->is_torn || tries > 0) {
            buf_reset(&l->lines);
            s = compose(l, records, n, &l->lines, e);
        }
        if (!s)
            s = write_all(l, &l->lines, e);
        if (s)
            return s;
        off_t end = sys->lseek(l->fd, 0, SEEK_CUR), start = end - (off_t)l->lines.len;
        if (end < 0 || start == l->end)
            return accept_written(l, n, e);
        /* A foreign writer appended without the lock, so end and next_seq are wrong: count again.
         * If its line was torn, our first line was joined to it: write again. */
        bool is_joined = is_torn_at(l, start);
        s = is_joined ? ST_OK : sync_written(l, end, e);
        if (!s && l->o.is_sequenced)
            s = count_lines(l, l->end, l->next_seq, end, &is_ending, e);
        l->end = end;
        l->is_torn = false;
        l->is_known = !s;
        if (s || !is_joined)
            return s;
    }
    return err_set(e, ST_IO, "append to %s: another program writes torn lines without the lock",
                   l->name);
}

enum status
log_put(struct log *l, const struct log_text *records, size_t n, struct err *e)
{
    assert(l->is_locked && n > 0 && n <= LOG_BATCH_MAX);
    return put(l, records, n, false, e);
}

enum status
log_append(struct log *l, const struct log_text *records, size_t n, struct err *e)
{
    bool is_composed = !l->o.is_sequenced;
    enum status s = ST_OK;

    assert(n > 0 && n <= LOG_BATCH_MAX);
    if (is_composed) { /* before the lock, to hold it for a shorter time */
        l->is_torn = false;
        buf_reset(&l->lines);
        s = compose(l, records, n, &l->lines, e);
    }
    if (!s)
        s = log_lock(l, e);
    if (!s)
        s = put(l, records, n, is_composed, e);
    log_unlock(l);
    return s;
}

/* ---- after a failed sync ---- */

/* Reads the bytes and writes them again in place, up to the end of the file. */
static enum status
write_again(struct log *l, off_t from, off_t to, struct err *e)
{
    char bytes[REPAIR_BYTES];

    for (ssize_t n; from < to; from += n) {
        size_t want = to - from < REPAIR_BYTES ? (size_t)(to - from) : REPAIR_BYTES;
        n = SYS_RETRY(sys->pread(l->fd, bytes, want, from));
        if (n < 0)
            return err_sys(e, "read %s", l->name);
        if (n == 0)
            break;
        if (sys->lseek(l->fd, from, SEEK_SET) != from)
            return err_sys(e, "seek in %s", l->name);
        n = SYS_RETRY(sys->write(l->fd, bytes, (size_t)n));
        if (n <= 0)
            return err_sys(e, "write %s again", l->name);
    }
    return ST_OK;
}

/* Starts one page before the unsynced bytes: even if those were truncated, the sync then has
 * something to write and shows whether the disk works. */
static enum status
repair_locked(struct log *l, struct err *e)
{
    enum status s = l->presync ? presync_restore(l, e) : ST_OK;
    int flags = fcntl(l->fd, F_GETFL);
    off_t from = l->unsynced_from > REPAIR_BYTES ? l->unsynced_from - REPAIR_BYTES : 0;

    if (s)
        return s;
    if (flags < 0 || fcntl(l->fd, F_SETFL, flags & ~O_APPEND) != 0)
        return err_sys(e, "write %s again", l->name);
    s = write_again(l, from, l->unsynced_to, e);
    fcntl(l->fd, F_SETFL, flags);
    if (!s && SYS_RETRY(sys->fdatasync(l->fd)) != 0)
        s = err_sys(e, "sync %s", l->name);
    if (!s && from == 0 && SYS_RETRY(sys->fsync(l->dir)) != 0)
        s = err_sys(e, "sync the directory of %s", l->name);
    return s;
}

enum status
log_repair(struct log *l, struct err *e)
{
    assert(!l->is_locked);
    if (!l->is_refusing)
        return ST_OK;
    enum status s = lock_take_queued(l->fd, l->dir, l->name, l->o.lock_wait_ms, e);
    if (s)
        return s;
    s = repair_locked(l, e);
    lock_drop(l->fd);
    if (s)
        return s;
    close_file(l);
    l->is_refusing = false;
    return ST_OK;
}
