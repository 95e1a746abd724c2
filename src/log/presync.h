/*
 * ahead - a small recycled file in front of a log, which is synced in its place.
 *
 * A sync of a log that grew has to write the inode (or the file system's journal), too; one of a
 * file whose blocks are there and written does not. So a process that writes for long appends to
 * the log as everybody does, where readers and `tail -f` see it at once, and then writes the same
 * bytes once more into this file, with O_DIRECT and O_DSYNC where they are to be had: when that
 * returns, the lines are on disk. When the file is full the log itself is synced, and it begins
 * again at its first byte.
 *
 *     signals/events.ahead      1 MiB, for the hub's events.jsonl
 *
 * Its name is the log's, with .ahead for .jsonl. It is made when the log is opened, never longer,
 * and goes when the log is closed. Records are at multiples of 4096:
 *
 *     bytes     of a record, numbers little-endian
 *     0 - 7     "cliqahd1"
 *     8 - 11    CRC-32C of everything behind it, up to the end of the lines
 *     12 - 15   how many bytes of lines follow
 *     16 - 23   the generation: all records since the file last began at 0 have the same
 *     24 - 31   where in the log the lines begin
 *     32 - 39   the log's inode
 *     40 - 47   when that was made, in ns since 1970; 0: not known
 *     48 - 87   the boot id, as text, padded with NUL
 *     88 -      the lines, then NUL up to the next multiple of 4096
 *
 * The chain: the record at 0, and those behind it of the same generation that go on in the log
 * where the one before ended. Up to its beginning the log was synced. What does not fit this (a
 * foreign line in between, another writer, a rotation, lines that are too many) is synced in the
 * log itself, and a new chain begins.
 *
 * After a crash of the process there is nothing to do: the kernel has the log. After one of the
 * machine, which the boot id tells, whoever opens the log first puts back what it lacks: see
 * presync_recover. A last record whose checksum is wrong was never acknowledged: the chain ends
 * before it.
 *
 * Files: presync.c writing and reading the file · presync_recover.c putting back.
 */
#ifndef CLIQ_LOG_PRESYNC_H
#define CLIQ_LOG_PRESYNC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PRESYNC_MAX = 64 << 20, /* no more is read of one that somebody else made */
    PRESYNC_BLOCK = 4096,   /* records begin at multiples of it */
    PRESYNC_HEAD = 88,      /* bytes before the lines */
    PRESYNC_BOOT = 40,      /* bytes of the boot id, NUL included */
};

struct log;
struct presync;

/* ---- writing ---- */

/* Opens or makes `name` in `dir`, which stays the caller's, of so many bytes, for this process
 * alone. Then the log is synced: what the file held is void. NULL: somebody else has it, there is
 * no room, no memory, or no way; the log is synced itself then. */
struct presync *presync_open(int dir, const char *name, const char *boot, size_t bytes, int log_fd);

/* The log is on disk up to byte `end`: a new chain begins there. */
void presync_begin(struct presync *a, int log_fd, uint64_t ino, off_t end);

/* Lines that were written to the log at byte `at`. True: they are on disk. False: it is for the
 * log itself to be synced, and presync_begin. Uses nothing but what it is given, so that any thread
 * may call it, one at a time. */
bool
presync_put(struct presync *a, int log_fd, uint64_t ino, off_t at, const void *lines, size_t len);

/* Where the lines begin that are on disk here, but perhaps not in the log; `none` without any. */
off_t presync_first(const struct presync *a, uint64_t ino, off_t none);

/* Nobody needs what it holds: the file goes, unless the name is another's by now. */
void presync_remove(const struct presync *a);
void presync_close(struct presync *a); /* the file stays; NULL is fine */

/* ---- reading ---- */

struct presync_chain {
    uint64_t generation, ino, born;
    off_t at; /* where in the log it begins */
    char boot[PRESYNC_BOOT];
    bool
        is_broken; /* by presync_read: records behind its end, or its bad beginning, belong to it */
};

/* What the first record says of itself; `n` may be too small for its lines, which are not looked
 * at. False: there is none. */
bool presync_read_head(const char *image, size_t n, struct presync_chain *c);
/* The whole chain; its lines are appended to `lines`. False: it has none. */
bool presync_read(const char *image, size_t n, struct presync_chain *c, struct buf *lines);

/* When the inode of fd was made, in ns since 1970; 0: not known. */
uint64_t presync_born(int fd);

/* ---- putting back ---- */

/* Was the file that the log's options name written before the machine was started last? */
enum status presync_is_old(const struct log *l, bool *is_it, struct err *e);

/*
 * Then, with the log's lock, and the log's name that of the file that is open: puts back what the
 * log lacks, syncs, and empties the file.
 *
 *     the log has the lines            nothing to do
 *     it ends before, or has NULs      they are written where they belong
 *     somebody appended meanwhile      a new file with the lines, and what was appended behind
 *                                      them, takes the log's name: *is_replaced
 *     it is another log, or cut short  the file is set aside, and the log's `note` is told
 *
 * So it is, too, when one of its records was lost: what came before that is put back.
 *
 * A crash in it leaves the file as it is, and the next one does the same.
 */
enum status presync_recover(struct log *l, bool *is_replaced, struct err *e);

/* What the next one to open a log would do about its file ahead. */
enum presync_step {
    PRESYNC_NOTHING,
    PRESYNC_PUT_BACK,  /* the log lacks lines of it */
    PRESYNC_SET_ASIDE, /* it is of another file than the log */
};

struct presync_finding {
    enum presync_step step;
    off_t at, end;  /* PRESYNC_PUT_BACK: where in the log they belong */
    size_t lines;   /* how many */
    bool is_broken; /* others, behind them, are damaged: set aside, too */
};

/* The same look as presync_recover's, which changes nothing and takes no lock. Of `l` it uses dir,
 * fd, name, ino and the options ahead_name and boot. */
enum status presync_look(struct log *l, struct presync_finding *out, struct err *e);

/* As presync_recover, for a log whose sync failed, by the process that has the file, with the lock:
 * the kernel may have dropped what it could not write. */
enum status presync_restore(struct log *l, struct err *e);

#endif
