/*
 * presync - a small preallocated file that is synced in place of the log.
 *
 * fdatasync of a file that grew also writes its inode (or the file system's journal); of a file
 * whose blocks exist it does not. So a process that writes for a long time appends lines to the
 * log, where readers and `tail -f` see them at once, and then writes the same lines to the pre-sync
 * file, with O_DIRECT and O_DSYNC if possible. When that write returns, the lines are on disk. When
 * the file is full, the log itself is synced, and writing starts again at byte 0.
 *
 *     signals/events.ahead      1 MiB, for the hub's events.jsonl
 *
 * Its name is the log's, with .ahead for .jsonl. The process that uses it creates it, in its full
 * size, and removes it when it closes the log. Records begin at multiples of 4096:
 *
 *     bytes     content of a record, numbers little-endian
 *     0 - 7     "cliqahd1"
 *     8 - 11    CRC-32C of bytes 12 up to the end of the lines
 *     12 - 15   length of the lines in bytes
 *     16 - 23   generation: a new number each time writing starts at byte 0
 *     24 - 31   offset of the lines in the log
 *     32 - 39   inode of the log
 *     40 - 47   creation time of that inode, ns since 1970; 0: unknown
 *     48 - 87   boot id, text, padded with NUL
 *     88 -      the lines, then NUL up to the next multiple of 4096
 *
 * The chain is the record at 0 and the records behind it that have the same generation and each
 * continue the log where the one before ended. The log is synced up to the chain's beginning. Lines
 * that cannot continue the chain (after a foreign line, another writer or a rotation, or because
 * they are too long) are synced in the log itself, and a new chain begins. A last record with a
 * wrong checksum was never acknowledged: the chain ends before it.
 *
 * Recovery: after a crash of the process, none is needed, because the kernel has the log. After a
 * crash of the machine (another boot id) the first process that opens the log restores the missing
 * lines: presync_recover.
 *
 * presync.c writes and reads the file; presync_recover.c restores the log.
 *
 * Tests: test/unit/test_log_presync*.c test/fuzz/fuzz_presync.c
 */
#ifndef CLIQ_LOG_PRESYNC_H
#define CLIQ_LOG_PRESYNC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PRESYNC_MAX = 64 << 20, /* bytes that recovery reads at most; cliq's own files are smaller */
    PRESYNC_BLOCK = 4096,   /* records begin at multiples of it */
    PRESYNC_HEAD = 88,      /* bytes before the lines */
    PRESYNC_BOOT = 40,      /* bytes of the boot id, NUL included */
};

struct log;
struct presync;

/* ---- writing ---- */

/* Opens or creates `name` in `dir` (borrowed) with `bytes` and locks it. Syncs the log, so that the
 * old content is obsolete. NULL: another process has it, or disk, memory or permission is missing;
 * the caller then syncs the log itself. */
struct presync *presync_open(int dir, const char *name, const char *boot, size_t bytes, int log_fd);

/* Begins a new chain at byte `end`; the log is synced up to there. */
void presync_begin(struct presync *a, int log_fd, uint64_t ino, off_t end);

/* Writes the lines that are in the log at byte `at`. True: they are on disk. False: the caller must
 * sync the log and call presync_begin. Any thread may call it, one at a time. */
bool
presync_put(struct presync *a, int log_fd, uint64_t ino, off_t at, const void *lines, size_t len);

/* Offset in the log of the first line that may be on disk only here; `none`: no such line. */
off_t presync_first(const struct presync *a, uint64_t ino, off_t none);

/* Removes the file, unless another file has its name by now. Call only when the log is synced. */
void presync_remove(const struct presync *a);
void presync_close(struct presync *a); /* the file stays; NULL is fine */

/* ---- reading ---- */

struct presync_chain {
    uint64_t generation, ino, born;
    off_t at; /* offset in the log of its first line */
    char boot[PRESYNC_BOOT];
    bool is_broken; /* by presync_read: a record before the last one is damaged */
};

/* Reads the header of the first record; `n` may be too small for its lines. False: no header. */
bool presync_read_head(const char *image, size_t n, struct presync_chain *c);
/* Reads the whole chain and appends its lines to `lines`. False: no chain. */
bool presync_read(const char *image, size_t n, struct presync_chain *c, struct buf *lines);

/* Creation time of fd's inode, ns since 1970; 0: unknown. */
uint64_t presync_born(int fd);

/* ---- recovery ---- */

/* Was the pre-sync file of the log's options written in an earlier boot of the machine? */
enum status presync_is_old(const struct log *l, bool *is_it, struct err *e);

/*
 * Restores the lines that the log lacks, syncs the log, and empties the pre-sync file. Call it
 * after presync_is_old, with the log's lock held and l->fd the file that has the log's name.
 *
 *     the log has all lines            nothing
 *     it ends before, or has NULs      the lines are written in place
 *     it has lines appended later      a new file with the restored lines and then the later ones
 *                                      replaces the log: *is_replaced
 *     it is another file, or shorter   the pre-sync file is renamed, and `note` of the log's
 * options is called
 *
 * If a record is damaged, the lines before it are restored, and the file is renamed too.
 *
 * A crash during recovery leaves the pre-sync file unchanged; the next recovery starts again.
 */
enum status presync_recover(struct log *l, bool *is_replaced, struct err *e);

/* The action of a recovery. */
enum presync_step {
    PRESYNC_NOTHING,
    PRESYNC_PUT_BACK,  /* the log lacks lines */
    PRESYNC_SET_ASIDE, /* the file belongs to another log */
};

struct presync_finding {
    enum presync_step step;
    off_t at, end;  /* PRESYNC_PUT_BACK: place of the missing lines in the log */
    size_t lines;   /* number of missing lines */
    bool is_broken; /* further lines are damaged: the file is renamed */
};

/* Finds what presync_recover would do; changes nothing and takes no lock. Uses dir, fd, name, ino
 * of `l` and the options ahead_name and boot. */
enum status presync_look(struct log *l, struct presync_finding *out, struct err *e);

/* Restores lines after a failed sync, in the process that uses the pre-sync file, with the log's
 * lock held: the kernel may have dropped pages that it could not write. */
enum status presync_restore(struct log *l, struct err *e);

#endif
