/* presync_recover - recovery: restores lines that only the pre-sync file has (log/presync.h). */
#define _GNU_SOURCE
#include "base/path.h"
#include "base/sys.h"
#include "log/log.h"
#include "log/presync.h"
#include "log/segment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { COPY_BYTES = 64 << 10 };

/* A chain, and the log's content from the chain's beginning on. */
struct recovery {
    struct log *l;
    struct presync_chain chain;
    struct buf lines, present;
    size_t same; /* length of the whole lines that both have */
};

/* ---- files ---- */

static enum status
write_whole(int fd, const char *p, size_t n, const char *name, struct err *e)
{
    while (n > 0) {
        ssize_t k = SYS_RETRY(sys->write(fd, p, n));
        if (k <= 0)
            return k < 0 ? err_sys(e, "write %s", name)
                         : err_set(e, ST_IO, "write %s: no byte was written", name);
        p += k;
        n -= (size_t)k;
    }
    return ST_OK;
}

/* Appends the log's bytes from `at` up to `to`, or up to its end, to b. */
static enum status
read_log(const struct log *l, off_t at, off_t to, struct buf *b, struct err *e)
{
    while (at < to) {
        size_t want = to - at < COPY_BYTES ? (size_t)(to - at) : COPY_BYTES;
        char *room = buf_room(b, want);
        ssize_t n = room ? SYS_RETRY(sys->pread(l->fd, room, want, at)) : 0;
        if (n < 0)
            return err_sys(e, "read %s", l->name);
        if (n == 0)
            break;
        buf_grew(b, (size_t)n);
        at += n;
    }
    return buf_status(b, "the end of the log", e);
}

/* ---- foreign lines ---- */

static bool
is_object(const char *p, size_t len)
{
    struct arena a = { 0 };
    struct json *v;
    char *text = arena_dup(&a, p, len);
    bool is_one = !text || (json_parse(&a, text, len, &v, NULL) && v->type == JSON_OBJECT);

    arena_release(&a);
    return is_one;
}

/* Is it a line of the chain, or a part of one? A part is not a whole JSON object. */
static bool
is_ours(const char *ours, size_t n, const char *p, size_t len)
{
    const char *hit = memmem(ours, n, p, len);
    bool is_line = hit && (hit == ours || hit[-1] == '\n') && hit[len] == '\n';

    return hit && (is_line || !is_object(p, len));
}

/* The part of a line that a foreign writer appended in the place of the chain's lines; 0 bytes:
 * none. If a torn line of the chain precedes the foreign text, it is cut off. */
static struct log_text
foreign_part(const struct recovery *k, const char *p, size_t len)
{
    const char *ours = k->lines.p + k->same;
    size_t rest = k->lines.len - k->same, torn = 0;

    for (; len > 0 && *p == '\0'; p++)
        len--;
    if (len == 0 || memchr(p, '\0', len) || is_ours(ours, rest, p, len))
        return (struct log_text){ p, 0 };
    while (torn < len && torn < rest && p[torn] == ours[torn])
        torn++;
    return torn < len && p[torn] == '{' ? (struct log_text){ p + torn, len - torn }
                                        : (struct log_text){ p, len };
}

/* Appends the foreign lines in p to `to` (may be NULL). True: there are any. */
static bool
take_foreign(const struct recovery *k, const char *p, size_t n, struct buf *to)
{
    bool is_any = false;

    for (size_t len; n > 0; p += len, n -= len) {
        const char *end = memchr(p, '\n', n);
        size_t text = end ? (size_t)(end - p) : n;
        struct log_text part = foreign_part(k, p, text);
        len = text + (end != NULL);
        is_any = is_any || part.len > 0;
        if (to && part.len > 0) {
            buf_add(to, part.p, part.len);
            buf_addc(to, '\n');
        }
    }
    return is_any;
}

/* ---- restoring ---- */

/* Writes the missing lines at their offset, over the present bytes. */
static enum status
write_in_place(const struct recovery *k, struct err *e)
{
    const struct log *l = k->l;
    off_t at = k->chain.at + (off_t)k->same;
    int fd = SYS_RETRY(sys->openat(l->dir, l->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0));

    if (fd < 0)
        return err_sys(e, "open %s", l->name);
    enum status s = sys->lseek(fd, at, SEEK_SET) == at ? ST_OK : err_sys(e, "seek in %s", l->name);
    if (!s)
        s = write_whole(fd, k->lines.p + k->same, k->lines.len - k->same, l->name, e);
    close(fd);
    return s;
}

static enum status
copy_head(const struct recovery *k, int to, off_t end, struct err *e)
{
    struct buf b = { 0 };
    enum status s = ST_OK;

    for (off_t at = 0; !s && at < end; at += COPY_BYTES) {
        buf_reset(&b);
        s = read_log(k->l, at, end - at < COPY_BYTES ? end : at + COPY_BYTES, &b, e);
        if (!s)
            s = write_whole(to, b.p, b.len, "the log's copy", e);
    }
    buf_release(&b);
    return s;
}

/* Replaces the log by a new file: the log up to the chain, the missing lines, the foreign lines. */
static enum status
rebuild(const struct recovery *k, off_t size, struct err *e)
{
    const struct log *l = k->l;
    struct buf rest = BUF_MAX(PRESYNC_MAX), after = { 0 };
    off_t from = k->chain.at + (off_t)k->same;
    char name[NAME_MAX + 1];
    struct stat st;

    if (snprintf(name, sizeof name, "%s.mending", l->name) >= (int)sizeof name)
        return err_set(e, ST_INVALID, "log name too long: %s", l->name);
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    int fd = SYS_RETRY(sys->openat(l->dir, name, flags, 0600));
    if (fd < 0)
        return err_sys(e, "create %s", name);
    bool is_good = sys->fstat(l->fd, &st) == 0 &&
                   (geteuid() != 0 || fchown(fd, st.st_uid, st.st_gid) == 0) &&
                   fchmod(fd, st.st_mode & 07777) == 0;
    enum status s = is_good ? ST_OK : err_sys(e, "create %s", name);
    if (!s)
        s = read_log(l, from, size, &rest, e);
    if (!s) {
        take_foreign(k, rest.p, rest.len, &after);
        s = buf_status(&after, "the foreign lines", e);
    }
    if (!s)
        s = copy_head(k, fd, from, e);
    if (!s)
        s = write_whole(fd, k->lines.p + k->same, k->lines.len - k->same, name, e);
    if (!s)
        s = write_whole(fd, after.p, after.len, name, e);
    if (!s && SYS_RETRY(sys->fsync(fd)) != 0)
        s = err_sys(e, "sync %s", name);
    if (!s && sys->renameat(l->dir, name, l->dir, l->name) != 0)
        s = err_sys(e, "rename %s to %s", name, l->name);
    if (s)
        unlinkat(l->dir, name, 0);
    if (!s && SYS_RETRY(sys->fsync(l->dir)) != 0)
        s = err_sys(e, "sync the directory of %s", l->name);
    close(fd);
    buf_release(&rest);
    buf_release(&after);
    return s;
}

/* Length of the common prefix of whole lines. */
static size_t
count_same(const struct buf *lines, const struct buf *present)
{
    size_t n = 0;

    while (n < lines->len && n < present->len && lines->p[n] == present->p[n])
        n++;
    while (n > 0 && lines->p[n - 1] != '\n')
        n--;
    return n;
}

/* Was the chain written for this file? */
static bool
is_of_log(const struct recovery *k, off_t size)
{
    uint64_t born = presync_born(k->l->fd);

    return k->chain.ino == k->l->ino && size >= k->chain.at &&
           (born == k->chain.born || !born || !k->chain.born);
}

/* Was the chain written for the newest finished segment? A segment is synced before its rename. */
static bool
is_of_segment(const struct recovery *k)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat st;

    return segment_find(k->l->dir, k->l->name, UINT64_MAX, name, NULL, NULL) == ST_OK &&
           sys->fstatat(k->l->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_ino == k->chain.ino;
}

static enum status
set_aside(const struct recovery *k, const char *why, bool *is_aside, struct err *e)
{
    const struct log *l = k->l;
    char name[NAME_MAX + 1], text[4 * NAME_MAX];

    if (snprintf(name, sizeof name, "%s-%016" PRIx64, l->o.ahead_name, k->chain.generation) >=
        (int)sizeof name)
        return err_set(e, ST_INVALID, "name too long: %s", l->o.ahead_name);
    if (sys->renameat(l->dir, l->o.ahead_name, l->dir, name) != 0)
        return err_sys(e, "rename %s to %s", l->o.ahead_name, name);
    *is_aside = true;
    snprintf(text, sizeof text, "%s has lines for %s that %s: kept as %s", l->o.ahead_name, l->name,
             why, name);
    if (l->o.note)
        l->o.note(l->o.note_ctx, text);
    return SYS_RETRY(sys->fsync(l->dir)) == 0 ? ST_OK : err_sys(e, "sync the directory");
}

/* The action that a chain requires. */
enum recovery_plan { HAS_ALL, IN_PLACE, BEFORE_OTHERS, ELSEWHERE };

static enum status
compare(struct recovery *k, enum recovery_plan *plan, off_t *size, struct err *e)
{
    const struct log *l = k->l;
    off_t end = k->chain.at + (off_t)k->lines.len;

    *plan = HAS_ALL;
    *size = sys->lseek(l->fd, 0, SEEK_END);
    if (*size < 0)
        return err_sys(e, "look at the end of %s", l->name);
    enum status s = read_log(l, k->chain.at, *size < end ? *size : end, &k->present, e);
    if (s)
        return s;
    k->same = count_same(&k->lines, &k->present);
    if (k->same == k->lines.len)
        return ST_OK;
    if (!is_of_log(k, *size))
        *plan = is_of_segment(k) ? HAS_ALL : ELSEWHERE;
    else if (k->present.len == k->same ||
             !take_foreign(k, k->present.p + k->same, k->present.len - k->same, NULL))
        *plan = IN_PLACE;
    else
        *plan = BEFORE_OTHERS;
    return ST_OK;
}

static enum status
restore(struct recovery *k, bool *is_replaced, bool *is_aside, struct err *e)
{
    enum recovery_plan plan;
    off_t size;
    enum status s = compare(k, &plan, &size, e);

    if (s || plan == HAS_ALL)
        return s;
    if (plan == IN_PLACE)
        return write_in_place(k, e);
    if (plan == ELSEWHERE)
        return set_aside(k, "belong to another file (the log was replaced, copied or truncated)",
                         is_aside, e);
    *is_replaced = true;
    return rebuild(k, size, e);
}

static void
recovery_release(struct recovery *k)
{
    buf_release(&k->lines);
    buf_release(&k->present);
}

/* ---- the pre-sync file ---- */

/* how: O_RDONLY, or O_RDWR | O_DSYNC for recovery. *fd -1: no such file. */
static enum status
open_presync(const struct log *l, int how, int *fd, struct err *e)
{
    int flags = how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    char told[PATH_MAX];
    struct stat st;

    *fd = SYS_RETRY(sys->openat(l->dir, l->o.ahead_name, flags, 0));
    if (*fd < 0)
        return errno == ENOENT ? ST_OK
                               : path_open_failed(l->dir, l->o.ahead_name,
                                                  path_told(l->dir, l->o.ahead_name, told), e);
    enum status s = sys->fstatat(*fd, "", &st, AT_EMPTY_PATH) == 0
                        ? path_check_regular(&st, path_told(l->dir, l->o.ahead_name, told), e)
                        : err_sys(e, "look at %s", l->o.ahead_name);
    if (s) {
        close(*fd);
        *fd = -1;
    }
    return s;
}

/* Is there a chain of another boot? */
static enum status
check_boot(const struct log *l, int fd, bool *is_old, struct err *e)
{
    char head[PRESYNC_HEAD];
    struct presync_chain c;
    ssize_t n = SYS_RETRY(sys->pread(fd, head, sizeof head, 0));

    *is_old = n > 0 && presync_read_head(head, (size_t)n, &c) && strcmp(c.boot, l->o.boot) != 0;
    return n < 0 ? err_sys(e, "read %s", l->o.ahead_name) : ST_OK;
}

static enum status
read_chain(struct recovery *k, int fd, bool *is_there, struct err *e)
{
    struct buf image = BUF_MAX(PRESYNC_MAX);
    enum status s = path_read_fd(fd, k->l->o.ahead_name, &image, e);

    if (!s) {
        *is_there = presync_read(image.p, image.len, &k->chain, &k->lines);
        s = buf_status(&k->lines, k->l->o.ahead_name, e);
    }
    buf_release(&image);
    return s;
}

static enum status
empty(const struct log *l, int fd, struct err *e)
{
    static const char zeros[PRESYNC_BLOCK];

    if (sys->lseek(fd, 0, SEEK_SET) != 0)
        return err_sys(e, "seek in %s", l->o.ahead_name);
    return write_whole(fd, zeros, sizeof zeros, l->o.ahead_name, e);
}

static enum status
recover(struct log *l, int fd, bool *is_replaced, struct err *e)
{
    struct recovery k = { .l = l, .lines = BUF_MAX(PRESYNC_MAX), .present = BUF_MAX(PRESYNC_MAX) };
    bool is_old, is_there = false, is_aside = false;
    enum status s = check_boot(l, fd, &is_old, e); /* another process may have recovered */

    if (s || !is_old || SYS_RETRY(sys->flock(fd, LOCK_EX | LOCK_NB)) != 0)
        return s; /* a live process uses the file, so it is of this boot */
    s = read_chain(&k, fd, &is_there, e);
    if (!s && is_there)
        s = restore(&k, is_replaced, &is_aside, e);
    if (!s && SYS_RETRY(sys->fdatasync(l->fd)) != 0)
        s = err_sys(e, "sync %s", l->name);
    if (!s && !is_aside && k.chain.is_broken)
        s = set_aside(&k, "are damaged; the lines before them were restored", &is_aside, e);
    if (!s && !is_aside)
        s = empty(l, fd, e);
    recovery_release(&k);
    return s;
}

enum status
presync_is_old(const struct log *l, bool *is_old, struct err *e)
{
    int fd;
    enum status s = open_presync(l, O_RDONLY, &fd, e);

    *is_old = false;
    if (s || fd < 0)
        return s;
    s = check_boot(l, fd, is_old, e);
    close(fd);
    return s;
}

enum status
presync_recover(struct log *l, bool *is_replaced, struct err *e)
{
    int fd;
    enum status s = open_presync(l, O_RDWR | O_DSYNC, &fd, e);

    *is_replaced = false;
    if (s || fd < 0)
        return s;
    s = recover(l, fd, is_replaced, e);
    close(fd);
    return s;
}

/* Reads the chain before the log, so that lines restored meanwhile by another process are found. */
static enum status
look(struct recovery *k, int fd, struct presync_finding *out, struct err *e)
{
    bool is_there = false;
    enum recovery_plan plan = HAS_ALL;
    off_t size;
    enum status s = read_chain(k, fd, &is_there, e);

    if (!s && is_there)
        s = compare(k, &plan, &size, e);
    out->is_broken = !s && k->chain.is_broken;
    if (s || !is_there)
        return s;
    if (plan == ELSEWHERE)
        out->step = PRESYNC_SET_ASIDE;
    if (plan == ELSEWHERE || plan == HAS_ALL)
        return ST_OK;
    out->step = PRESYNC_PUT_BACK;
    out->at = k->chain.at + (off_t)k->same;
    out->end = k->chain.at + (off_t)k->lines.len;
    for (size_t i = k->same; i < k->lines.len; i++)
        out->lines += k->lines.p[i] == '\n';
    return ST_OK;
}

enum status
presync_look(struct log *l, struct presync_finding *out, struct err *e)
{
    struct recovery k = { .l = l, .lines = BUF_MAX(PRESYNC_MAX), .present = BUF_MAX(PRESYNC_MAX) };
    bool is_old = false;
    int fd;
    enum status s = open_presync(l, O_RDONLY, &fd, e);

    *out = (struct presync_finding){ 0 };
    if (s || fd < 0)
        return s;
    s = check_boot(l, fd, &is_old, e);
    if (!s && is_old)
        s = look(&k, fd, out, e);
    close(fd);
    recovery_release(&k);
    return s;
}

enum status
presync_restore(struct log *l, struct err *e)
{
    struct recovery k = { .l = l, .lines = BUF_MAX(PRESYNC_MAX), .present = BUF_MAX(PRESYNC_MAX) };
    bool is_there = false, is_replaced, is_aside;
    int fd;
    enum status s = open_presync(l, O_RDWR | O_DSYNC, &fd, e);

    if (s || fd < 0)
        return s;
    s = read_chain(&k, fd, &is_there, e);
    if (!s && is_there && is_of_log(&k, sys->lseek(l->fd, 0, SEEK_END)))
        s = restore(&k, &is_replaced, &is_aside, e);
    close(fd);
    recovery_release(&k);
    return s;
}
