#include "log/segment.h"

#include "base/clock.h"
#include "base/sys.h"
#include "log/seal.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char SUFFIX[] = ".jsonl", KEPT[] = "-kept-";

enum { SEAL_MAX = 100 }; /* upper bound of a seal's length */

/* "events.jsonl" -> 6, the length of "events". */
static size_t
stem_len(const char *name)
{
    size_t n = strlen(name), k = sizeof SUFFIX - 1;

    return n > k && strcmp(name + n - k, SUFFIX) == 0 ? n - k : n;
}

/* The number of a file named <stem><mark><number>.jsonl; 0: another name. */
static uint64_t
number_of(const char *name, const char *mark, const char *file)
{
    size_t stem = stem_len(name), len = strlen(mark);
    char *end;

    if (strncmp(name, file, stem) != 0 || strncmp(file + stem, mark, len) != 0 ||
        file[stem + len] < '1' || file[stem + len] > '9')
        return 0;
    errno = 0;
    uint64_t n = strtoull(file + stem + len, &end, 10);
    return errno == 0 && strcmp(end, SUFFIX) == 0 ? n : 0;
}

/* The first number of the segment `file` of `name`; 0: not a segment. */
static uint64_t
segment_first(const char *name, const char *file)
{
    return number_of(name, "-", file);
}

static enum status
open_list(int dir, const char *name, DIR **d, struct err *e)
{
    int fd = SYS_RETRY(sys->openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));

    *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (*d)
        return ST_OK;
    enum status s = err_sys(e, "list the segments of %s", name);
    if (fd >= 0)
        close(fd);
    return s;
}

enum status
segment_find(int dir, const char *name, uint64_t seq, char to[SEGMENT_NAME_SIZE], uint64_t *first,
             struct err *e)
{
    uint64_t best = 0, kept = 0;
    DIR *d;
    enum status s = open_list(dir, name, &d, e);

    if (s)
        return s;
    for (struct dirent *f; (f = readdir(d));) {
        uint64_t n = segment_first(name, f->d_name), k = number_of(name, KEPT, f->d_name);
        if (n > best && n <= seq) {
            best = n;
            strcpy(to, f->d_name);
        }
        kept = k > kept ? k : kept;
    }
    closedir(d);
    if (!best || best < kept)
        return err_set(e, ST_NOT_FOUND, "%s has no older segments", name);
    if (first)
        *first = best;
    return ST_OK;
}

uint64_t
segment_oldest(int dir, const char *name)
{
    char found[SEGMENT_NAME_SIZE];
    uint64_t first = UINT64_MAX, oldest = 1;

    while (first > 1 && !segment_find(dir, name, first - 1, found, &first, NULL))
        oldest = first;
    return oldest;
}

enum status
segment_find_kept(int dir, const char *name, uint64_t *first, struct err *e)
{
    DIR *d;
    enum status s = open_list(dir, name, &d, e);

    *first = 0;
    if (s)
        return s;
    for (struct dirent *f; (f = readdir(d));) {
        uint64_t n = number_of(name, KEPT, f->d_name);
        *first = n > *first ? n : *first;
    }
    closedir(d);
    return ST_OK;
}

void
segment_kept_name(char to[SEGMENT_NAME_SIZE], const char *name, uint64_t first)
{
    snprintf(to, SEGMENT_NAME_SIZE, "%.*s%s%" PRIu64 "%s", (int)stem_len(name), name, KEPT, first,
             SUFFIX);
}

enum status
segment_sweep(int dir, const char *name, uint64_t *bytes, struct err *e)
{
    uint64_t kept;
    struct stat st;
    DIR *d;
    enum status s = segment_find_kept(dir, name, &kept, e);

    *bytes = 0;
    if (!s && kept)
        s = open_list(dir, name, &d, e);
    if (s || !kept)
        return s;
    for (struct dirent *f; !s && (f = readdir(d));) {
        uint64_t first = segment_first(name, f->d_name), k = number_of(name, KEPT, f->d_name);
        if ((!first || first >= kept) && (!k || k >= kept))
            continue;
        if (sys->fstatat(dir, f->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            s = err_sys(e, "look at %s", f->d_name);
        else if (unlinkat(dir, f->d_name, 0) != 0)
            s = err_sys(e, "remove %s", f->d_name);
        else
            *bytes += (uint64_t)st.st_size;
    }
    closedir(d);
    return s;
}

enum status
segment_rotate(struct log *l, struct err *e)
{
    char at[CLOCK_ISO_SIZE], text[80];
    int n = snprintf(text, sizeof text, "{\"op\":\"rotate\",\"at\":\"%s\"}",
                     clock_iso(at, clock_wall_ns(), 1));
    enum status s = log_put(l, &(struct log_text){ text, (size_t)n }, 1, e);

    return s ? s : segment_finish(l, e);
}

/* The number of the file's first line: one more than the last of the segment before or, if there is
 * none, by the file's own first sealed line. */
static enum status
own_first(const struct log *l, uint64_t *first, struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    struct seal seal = { 0 };
    uint64_t before = 0;
    enum status s = segment_number_after(l, first, e);

    if (s || *first)
        return s;
    log_reader_init(&r, l->fd, 0);
    while (log_next(&r, &rec)) {
        if (seal_read(rec.text, rec.len, rec.json, &seal) && seal.seq)
            break;
        before++;
    }
    s = log_reader_status(&r, e);
    log_reader_release(&r);
    *first = seal.seq > before ? seal.seq - before : 1;
    return s;
}

/* Creates the new current file, so that readers find one before the next append. If that fails, the
 * next writer creates it or reports the error. */
static void
make_next(const struct log *l)
{
    int fd = SYS_RETRY(
        sys->openat(l->dir, l->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd >= 0)
        close(fd);
}

enum status
segment_finish(struct log *l, struct err *e)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t first = 0;
    enum status s = own_first(l, &first, e);

    if (s)
        return s;
    int n = snprintf(name, sizeof name, "%.*s-%" PRIu64 "%s", (int)stem_len(l->name), l->name,
                     first, SUFFIX);
    if (n >= (int)sizeof name)
        return err_set(e, ST_INVALID, "the name of a segment of %s is too long", l->name);
    /* Some lines may be synced only in a pre-sync file, which recovers only the current file. */
    if (l->o.is_durable && SYS_RETRY(sys->fdatasync(l->fd)) != 0) {
        l->is_refusing = true; /* a second sync proves nothing: see log_repair */
        l->unsynced_from = 0;
        l->unsynced_to = l->end;
        return err_sys(e, "sync %s", l->name);
    }
    if (sys->renameat(l->dir, l->name, l->dir, name) != 0)
        return err_sys(e, "rename %s to %s", l->name, name);
    make_next(l);
    if (SYS_RETRY(sys->fsync(l->dir)) != 0)
        return err_sys(e, "sync the directory of %s", l->name);
    return ST_OK;
}

/* ---- strays: lines that a foreign writer appended behind the rotate line ---- */

/* Finds the segment's last rotate line and its end; 0: none. */
static enum status
rotate_end(int fd, off_t *end, struct buf *line, struct err *e)
{
    struct log_reader r;
    struct log_record rec;

    *end = 0;
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    while (!*end && log_prev(&r, &rec)) {
        if (rec.seq && json_eq(json_get(rec.json, "op"), "rotate")) {
            *end = rec.end;
            buf_add(line, rec.text, rec.len);
            buf_addc(line, '\n');
        }
    }
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    return s ? s : buf_status(line, "a rotate line", e);
}

/* Raises *to to the end of the strays of this segment that were carried over before a crash. */
static enum status
carried_to(const struct log *l, off_t *to, struct err *e)
{
    struct log_reader r;
    struct log_record rec;

    log_reader_init(&r, l->fd, 0);
    r.is_sequenced = true;
    while (log_next(&r, &rec)) {
        int64_t n;
        if (json_eq(json_get(rec.json, "op"), "carry") &&
            json_eq(json_get(rec.json, "segment"), l->segment) &&
            json_int(json_get(rec.json, "to"), &n) && n > *to)
            *to = (off_t)n;
    }
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    return s;
}

static bool
is_seal_key(const struct json *member)
{
    static const char *const keys[] = { "seq", "crc", "of", "nth" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (member->key_len == strlen(keys[i]) &&
            memcmp(member->key, keys[i], member->key_len) == 0)
            return true;
    return false;
}

/* The object without keys of a seal. NULL: out of memory. */
static char *
without_seal(struct arena *a, const struct json *object, size_t *len)
{
    struct buf b = { 0 };

    json_open(&b, '{');
    json_each (v, object) {
        if (!is_seal_key(v)) {
            json_sep(&b);
            json_write_str(&b, v->key, v->key_len);
            buf_addc(&b, ':');
            json_write(&b, v);
        }
    }
    json_close(&b, '}');
    *len = b.len;
    char *text = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

/* Appends the strays from byte `from` on to the log, in groups; *to is their end. */
static enum status
carry_from(struct log *l, int fd, off_t from, off_t *to, struct err *e)
{
    struct arena a = { 0 };
    struct log_text batch[LOG_BATCH_MAX];
    struct log_reader r;
    struct log_record rec;
    enum status s = ST_OK;
    bool is_more = true;

    log_reader_init(&r, fd, from);
    while (!s && is_more) {
        size_t n = 0, bytes = 0;
        arena_reset(&a);
        while (n < LOG_BATCH_MAX - 1 && bytes < LOG_LINE_MAX && (is_more = log_next(&r, &rec))) {
            const struct json *op = json_get(rec.json, "op");
            if (json_eq(op, "rotate") || json_eq(op, "carry"))
                continue; /* reserved for the log itself */
            batch[n].p = without_seal(&a, rec.json, &batch[n].len);
            if (batch[n].len > LOG_LINE_MAX - SEAL_MAX)
                continue; /* too long to be sealed: not carried over */
            bytes += batch[n++].len;
        }
        s = log_reader_status(&r, e);
        if (s || n == 0)
            break;
        char text[NAME_MAX + 120];
        batch[n].len = (size_t)snprintf(
            text, sizeof text, "{\"op\":\"carry\",\"segment\":\"%s\",\"from\":%jd,\"to\":%jd}",
            l->segment, (intmax_t)from, (intmax_t)r.at);
        batch[n++].p = text;
        for (size_t i = 0; i < n; i++)
            if (!batch[i].p)
                s = err_set(e, ST_IO, "out of memory while carrying lines over");
        if (!s)
            s = log_put(l, batch, n, e);
        from = r.at;
    }
    *to = r.at;
    log_reader_release(&r);
    arena_release(&a);
    return s;
}

/* Repeats the rotate line behind the strays that were carried over up to byte `to`. False: not
 * written exactly there; the carry lines still record what was done. */
static bool
end_again(int fd, const struct buf *line, off_t to)
{
    ssize_t n = SYS_RETRY(sys->write(fd, line->p, line->len));
    off_t end = sys->lseek(fd, 0, SEEK_CUR);
    struct stat st;

    if (n == (ssize_t)line->len && end == to + n)
        return true;
    /* A short write, or another stray came before it: undo. */
    if (n > 0 && end >= n && sys->fstat(fd, &st) == 0 && st.st_size == end)
        SYS_RETRY(sys->ftruncate(fd, end - n));
    return false;
}

static enum status
carry_strays(struct log *l, int fd, off_t size, struct err *e)
{
    struct buf line = { 0 };
    off_t from, to;
    enum status s = rotate_end(fd, &from, &line, e);

    if (!s && from > 0 && from < size) {
        if (sys->flock(fd, LOCK_EX | LOCK_NB) != 0) {
            buf_release(&line); /* a writer holds the old file: carry over next time */
            return ST_OK;
        }
        to = from;
        s = carried_to(l, &to, e);
        if (!s)
            s = carry_from(l, fd, to, &to, e);
        if (!s && to == size && end_again(fd, &line, to))
            size += (off_t)line.len;
    }
    if (!s)
        l->segment_end = size;
    buf_release(&line);
    return s;
}

enum status
segment_carry(struct log *l, struct err *e)
{
    struct stat st;

    if (l->segment_end < 0)
        return ST_OK;
    if (!l->segment[0] && segment_find(l->dir, l->name, UINT64_MAX, l->segment, NULL, NULL)) {
        l->segment_end = -1; /* no segment; a rotation opens a new inode and resets this */
        return ST_OK;
    }
    if (sys->fstatat(l->dir, l->segment, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        st.st_size == l->segment_end)
        return ST_OK;
    int fd =
        SYS_RETRY(sys->openat(l->dir, l->segment, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0));
    if (fd < 0)
        return err_sys(e, "open %s", l->segment);
    enum status s = carry_strays(l, fd, st.st_size, e);
    close(fd);
    return s;
}
