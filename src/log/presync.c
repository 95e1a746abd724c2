#define _GNU_SOURCE
#include "log/presync.h"

#include "base/crc32c.h"
#include "base/sys.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char MAGIC[8] = { 'c', 'l', 'i', 'q', 'a', 'h', 'd', '1' };

enum {
    AT_CRC = 8,
    AT_LEN = 12,
    AT_GENERATION = 16,
    AT_OFFSET = 24,
    AT_INO = 32,
    AT_BORN = 40,
    AT_BOOT = 48,
    /* Unsynced bytes of the log after which the kernel is asked to write them. With fewer, the last
     * block is written repeatedly; with more, the final sync takes long. */
    WRITEBACK_BYTES = 256 << 10,
};

struct presync {
    int dir, fd; /* dir is borrowed */
    char name[NAME_MAX + 1];
    ino_t self; /* of the pre-sync file */
    char boot[PRESYNC_BOOT];
    uint64_t generation;
    uint64_t ino, born; /* of the log */
    off_t from, next;   /* range of the log that the chain covers */
    off_t written;      /* the kernel was asked to write the log up to here */
    size_t size, used;  /* bytes of the file */
    bool is_given_up;   /* a write failed: presync_put always returns false */
    char *record;       /* buffer of `size` bytes, aligned for O_DIRECT */
};

/* ---- little-endian numbers ---- */

static void
put_number(char *to, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(v >> 8 * i);
}

static uint64_t
get_number(const char *from, size_t n)
{
    uint64_t v = 0;

    for (size_t i = n; i-- > 0;)
        v = v << 8 | (unsigned char)from[i];
    return v;
}

static size_t
whole_blocks(size_t n)
{
    return (n + PRESYNC_BLOCK - 1) / PRESYNC_BLOCK * PRESYNC_BLOCK;
}

uint64_t
presync_born(int fd)
{
#ifdef STATX_BTIME
    struct statx x;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 && x.stx_mask & STATX_BTIME)
        return (uint64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
#else
    (void)fd;
#endif
    return 0;
}

/* ---- writing ---- */

/* If root creates the file, gives it to the directory's owner, who must be able to read it. */
static bool
give_to_owner(const struct presync *a)
{
    struct stat st;

    return geteuid() != 0 || (sys->fstat(a->dir, &st) == 0 &&
                              (st.st_uid == 0 || fchown(a->fd, st.st_uid, st.st_gid) == 0));
}

/* Allocates the file's blocks and syncs its name, once. Later writes change only the content. */
static bool
fill(struct presync *a)
{
    struct stat st;

    if (sys->fstat(a->fd, &st) != 0 || !S_ISREG(st.st_mode) || !give_to_owner(a))
        return false;
    a->self = st.st_ino;
    if (st.st_size >= (off_t)a->size)
        return true;
    return sys->lseek(a->fd, 0, SEEK_SET) == 0 &&
           SYS_RETRY(sys->write(a->fd, a->record, a->size)) == (ssize_t)a->size &&
           SYS_RETRY(sys->fsync(a->dir)) == 0 && sys->lseek(a->fd, 0, SEEK_SET) == 0;
}

static int
open_direct(int dir, const char *name)
{
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_DSYNC;
    int fd = SYS_RETRY(sys->openat(dir, name, flags | O_DIRECT, 0600));

    return fd >= 0 || errno != EINVAL ? fd : SYS_RETRY(sys->openat(dir, name, flags, 0600));
}

struct presync *
presync_open(int dir, const char *name, const char *boot, size_t bytes, int log_fd)
{
    struct presync *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    assert(bytes >= 2 * PRESYNC_BLOCK && bytes % PRESYNC_BLOCK == 0);
    a->dir = dir;
    a->fd = -1;
    a->size = bytes;
    snprintf(a->name, sizeof a->name, "%s", name);
    a->record = aligned_alloc(PRESYNC_BLOCK, bytes);
    if (a->record && boot[0] && strlen(boot) < PRESYNC_BOOT) {
        memset(a->record, 0, bytes);
        strcpy(a->boot, boot);
        a->fd = open_direct(dir, name);
    }
    bool is_ours = a->fd >= 0 && SYS_RETRY(sys->flock(a->fd, LOCK_EX | LOCK_NB)) == 0;
    /* Sync after the lock: its last holder may have written until then. */
    bool is_void = is_ours && SYS_RETRY(sys->fdatasync(log_fd)) == 0;
    if (is_void && fill(a) &&
        sys->getrandom(&a->generation, sizeof a->generation, 0) == (ssize_t)sizeof a->generation)
        return a;
    if (is_void)
        unlinkat(dir, name, 0); /* a partial file is useless and takes disk space */
    presync_close(a);
    return NULL;
}

/* Zeroes the first block: no chain. */
static bool
write_void(const struct presync *a)
{
    memset(a->record, 0, PRESYNC_BLOCK);
    return sys->lseek(a->fd, 0, SEEK_SET) == 0 &&
           SYS_RETRY(sys->write(a->fd, a->record, PRESYNC_BLOCK)) == PRESYNC_BLOCK;
}

void
presync_begin(struct presync *a, int log_fd, uint64_t ino, off_t end)
{
    bool is_other = ino != a->ino;

    a->ino = ino;
    a->from = a->next = a->written = end;
    a->used = 0;
    a->generation++;
    if (is_other)
        a->born = presync_born(log_fd);
    if (!a->is_given_up)
        a->is_given_up = (is_other && !write_void(a)) || sys->lseek(a->fd, 0, SEEK_SET) != 0;
}

/* Builds the record in a->record; returns its size in whole blocks. */
static size_t
compose(const struct presync *a, off_t at, const void *lines, size_t len)
{
    char *r = a->record;
    size_t size = whole_blocks(PRESYNC_HEAD + len);

    memcpy(r, MAGIC, sizeof MAGIC);
    put_number(r + AT_LEN, len, 4);
    put_number(r + AT_GENERATION, a->generation, 8);
    put_number(r + AT_OFFSET, (uint64_t)at, 8);
    put_number(r + AT_INO, a->ino, 8);
    put_number(r + AT_BORN, a->born, 8);
    memcpy(r + AT_BOOT, a->boot, PRESYNC_BOOT);
    memcpy(r + PRESYNC_HEAD, lines, len);
    memset(r + PRESYNC_HEAD + len, 0, size - PRESYNC_HEAD - len);
    put_number(r + AT_CRC, crc32c(r + AT_LEN, PRESYNC_HEAD - AT_LEN + len), 4);
    return size;
}

/* Does the file still have its name? Recovery would not find a deleted or renamed file. */
static bool
is_there(const struct presync *a)
{
    struct stat st;

    return sys->fstatat(a->dir, a->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == a->self;
}

bool
presync_put(struct presync *a, int log_fd, uint64_t ino, off_t at, const void *lines, size_t len)
{
    if (a->is_given_up || ino != a->ino || at != a->next || at == 0 ||
        len > a->size - PRESYNC_BLOCK || whole_blocks(PRESYNC_HEAD + len) > a->size - a->used)
        return false;
    size_t size = compose(a, at, lines, len);
    if (!is_there(a) || SYS_RETRY(sys->write(a->fd, a->record, size)) != (ssize_t)size) {
        a->is_given_up = true;
        return false;
    }
    a->used += size;
    a->next += (off_t)len;
    if (a->next - a->written >= WRITEBACK_BYTES) {
        sync_file_range(log_fd, a->written, a->next - a->written, SYNC_FILE_RANGE_WRITE);
        a->written = a->next;
    }
    return true;
}

off_t
presync_first(const struct presync *a, uint64_t ino, off_t none)
{
    return ino == a->ino && a->next > a->from ? a->from : none;
}

void
presync_remove(const struct presync *a)
{
    if (is_there(a))
        unlinkat(a->dir, a->name, 0);
}

void
presync_close(struct presync *a)
{
    if (!a)
        return;
    if (a->fd >= 0)
        close(a->fd);
    free(a->record);
    free(a);
}

/* ---- reading ---- */

bool
presync_read_head(const char *image, size_t n, struct presync_chain *c)
{
    if (n < PRESYNC_HEAD || memcmp(image, MAGIC, sizeof MAGIC) != 0 ||
        image[PRESYNC_HEAD - 1] != '\0')
        return false;
    uint64_t at = get_number(image + AT_OFFSET, 8);
    *c = (struct presync_chain){ .generation = get_number(image + AT_GENERATION, 8),
                                 .ino = get_number(image + AT_INO, 8),
                                 .born = get_number(image + AT_BORN, 8),
                                 .at = (off_t)at };
    memcpy(c->boot, image + AT_BOOT, PRESYNC_BOOT);
    return at <= INT64_MAX - PRESYNC_MAX;
}

/* Length of the lines of the record at the beginning of image; 0: not a whole record. */
static size_t
lines_of(const char *image, size_t n, struct presync_chain *c)
{
    if (!presync_read_head(image, n, c))
        return 0;
    size_t len = get_number(image + AT_LEN, 4);
    if (len > n - PRESYNC_HEAD ||
        crc32c(image + AT_LEN, PRESYNC_HEAD - AT_LEN + len) != get_number(image + AT_CRC, 4))
        return 0;
    return len;
}

/* Each record is on disk before the next is written. So a record of the same generation behind the
 * chain's end proves that a record in between was lost. */
static bool
has_more(const char *image, size_t n, const struct presync_chain *c, off_t end)
{
    struct presync_chain other;

    for (size_t at = PRESYNC_BLOCK; at < n; at += PRESYNC_BLOCK)
        if (lines_of(image + at, n - at, &other) && other.generation == c->generation &&
            other.at > end)
            return true;
    return false;
}

bool
presync_read(const char *image, size_t n, struct presync_chain *c, struct buf *lines)
{
    struct presync_chain next;
    bool has_head = presync_read_head(image, n, c);
    size_t len = has_head ? lines_of(image, n, c) : 0, start = lines->len;

    next = *c;
    for (size_t used = 0; len > 0;) {
        if (next.generation != c->generation || next.ino != c->ino ||
            next.at != c->at + (off_t)(lines->len - start))
            break;
        buf_add(lines, image + used + PRESYNC_HEAD, len);
        used += whole_blocks(PRESYNC_HEAD + len);
        len = used < n ? lines_of(image + used, n - used, &next) : 0;
    }
    c->is_broken = has_head && has_more(image, n, c, c->at + (off_t)(lines->len - start));
    return lines->len > start;
}
