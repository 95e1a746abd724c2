/*
 * log - an append-only file of JSON objects, one per line, each ended by '\n'.
 *
 * Channels, phase signals, run journals and the hub's events are logs; all
 * other state is derived from them. docs/formats/log.md has the format with
 * examples.
 *
 * Writers, from any number of processes, hold an exclusive flock(2) while they
 * check the tail, make one write(2) and, in a durable log, one fdatasync(2).
 * Only then an append succeeds. A torn tail (no '\n': a crash, a full disk, a
 * foreign writer) gets its '\n' first, so the fragment becomes a bad line of
 * its own. A short write is undone by ftruncate. After a failed sync the
 * content of the disk is unknown, so the log rejects writes until it is opened
 * again or log_repair succeeds.
 *
 * Readers take no lock. They see whole lines only; they skip and count bad
 * lines, and skip blank ones. Foreign writers may append any JSON object.
 *
 * A sequenced log (the hub's events.jsonl) gives each line a number and a
 * checksum: log/seal.h. It may rotate into segments: log/segment.h. A process
 * that writes for a long time may use a pre-sync file: log/presync.h.
 *
 *     writer.c            append: lock, check the tail, write, sync
 *     lock.c              flock with a deadline
 *     seal.c              sequence number and checksum of a line
 *     segment.c           rotation and dropped segments
 *     presync.c           the pre-sync file; presync_recover.c its recovery
 *     reader.c            reading forward and backward
 *     log_snapshot.c      all files of a log at one moment
 *     tail.c              following a log as it grows
 *     fsck.c              checking a log
 *
 * Tests: test/unit/test_log_*.c test/fault/test_log.c test/fault/kill.bats test/fuzz/fuzz_log.c
 */
#ifndef CLIQ_LOG_LOG_H
#define CLIQ_LOG_LOG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/watch.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define LOG_LINE_MAX                                                                               \
    ((size_t)1 << 20)      /* bytes of a line with its '\n'; longer ones are rejected              \
                            */
#define LOG_BATCH_MAX 1000 /* records of one append */

/* ---- writing ---------------------------------------------------------- */

struct log_options {
    bool is_durable;       /* fdatasync before an append returns */
    bool is_sequenced;     /* lines get a number and a checksum */
    bool is_one_file;      /* if the file is replaced or removed, writes fail with ST_FAILED */
    bool never_clashes;    /* no record has a key of a seal: the check is skipped */
    unsigned lock_wait_ms; /* deadline for the lock; 0: 10 s */
    uint64_t rotate_bytes; /* sequenced only: start a new segment past this size; 0: never */
    /* durable only: called with `ctx` after the write and before the wait for the sync, so that its
     * work overlaps with the disk's. NULL: none. */
    void (*meanwhile)(void *ctx);
    void *ctx;
    /* The name of the pre-sync file; NULL: none. log_open restores lines that only this file has;
     * see log/presync.h. `boot` (borrowed) is the machine's boot id. `note` receives messages for
     * the user; may be NULL. */
    const char *ahead_name, *boot;
    size_t ahead_bytes; /* not 0: log_open calls log_use_presync */
    void (*note)(void *ctx, const char *text);
    void *note_ctx;
};

struct presync;

struct log {
    struct log_options o;
    int dir, fd; /* dir is borrowed */
    char name[NAME_MAX + 1];
    dev_t dev;
    ino_t ino;
    bool is_locked;
    bool is_torn;      /* under the lock: the last byte is not '\n' */
    bool is_known;     /* end and next_seq describe this inode */
    bool is_refusing;  /* a sync failed: writes are rejected */
    bool is_last;      /* see log_go_last */
    bool has_unsynced; /* bytes from unsynced_from to unsynced_to were written, but not synced */
    off_t unsynced_from, unsynced_to;
    off_t end;               /* under the lock: the file's size; else an earlier size */
    uint64_t next_seq;       /* under the lock: the number of the next line */
    struct buf lines;        /* being written */
    struct presync *presync; /* NULL: the log itself is synced */
    /* the newest finished segment, and the end of its rotate line; see log/segment.h */
    char segment[NAME_MAX + 1];
    off_t segment_end;
};

/* One record: the text of a JSON object without '\n'. */
struct log_text {
    const char *p;
    size_t len;
};

/* Opens or creates (0600) `name` in the open directory `dir`, which must stay open
 * until log_close. Links are not followed. */
enum status
log_open(struct log *l, int dir, const char *name, const struct log_options *o, struct err *e);
void log_close(struct log *l); /* safe on a zeroed struct with fd -1, and twice */

/* Durable logs with an ahead_name: from now on this process syncs through the pre-sync file of
 * `bytes` (whole blocks), unless another process does. Takes 1 to 2 ms. */
void log_use_presync(struct log *l, size_t bytes);
/* The next append is the last one: it syncs the log itself, because the pre-sync file may be
 * removed only after that. */
void log_go_last(struct log *l);

/* Locks, writes all n records in one write, syncs once, unlocks. All or none. */
enum status log_append(struct log *l, const struct log_text *records, size_t n, struct err *e);

/* The same in steps, for callers that read before they write. `end` and `next_seq` are valid from
 * log_lock to log_unlock. ST_IO: the deadline passed; the message names the holder. Blocks: not for
 * the thread of an event loop. */
enum status log_lock(struct log *l, struct err *e);
/* Does not wait: ST_CONFLICT without a message when another process holds the lock. */
enum status log_try_lock(struct log *l, struct err *e);
/* While holding the lock: updates `end` and `next_seq` for lines that foreign writers appended
 * without it. *is_current false: the file was replaced, or must be rotated: log_unlock, log_lock.
 */
enum status log_look(struct log *l, bool *is_current, struct err *e);
enum status log_put(struct log *l, const struct log_text *records, size_t n, struct err *e);
void log_unlock(struct log *l);
/* After a failed append: do the disk and the file size limit allow `bytes` more? */
bool log_has_room(const struct log *l, size_t bytes);

/* After a failed sync: reads the unsynced bytes, writes them again in place, and syncs. A second
 * sync alone is not enough, because the kernel may have marked the failed pages clean. ST_OK: the
 * file is on disk, and the next log_lock opens it again. Otherwise writes stay rejected. */
enum status log_repair(struct log *l, struct err *e);

/* ---- reading ---------------------------------------------------------- */

enum log_verdict {
    LOG_GOOD,
    LOG_FRAGMENT,  /* the beginning of a record: a torn line that a later writer ended */
    LOG_BAD,       /* not a JSON object, or its checksum is wrong */
    LOG_TOO_LONG,  /* over LOG_LINE_MAX: text is empty */
    LOG_UNGROUPED, /* well-formed, but part of an incomplete group */
};

struct log_record {
    const char *text; /* without '\n'; valid until the next call on the reader */
    size_t len;
    off_t at, end;           /* its bytes in the file, including '\n' */
    uint64_t line;           /* from 1; 0 when reading backward */
    uint64_t seq;            /* sequenced logs; else 0 */
    const struct json *json; /* the object; NULL unless the verdict is good or ungrouped */
    enum log_verdict verdict;
    const char *problem; /* why it is not good; a constant */
    unsigned column;     /* of the problem, from 1; 0: unknown */
};

struct log_reader {
    int fd; /* borrowed */
    bool is_sequenced;
    bool wants_bad; /* also return lines that are not good */
    /* the window: the part of the file that is in memory */
    struct buf window;
    off_t window_at;
    /* forward: the next line starts here and has this number */
    off_t at;
    uint64_t line;
    uint64_t next_seq;
    size_t group_left;               /* remaining lines of a complete group */
    struct log_lookahead *lookahead; /* those of them that are parsed already */
    struct arena group;              /* memory of the lookahead */
    size_t orphans;                  /* remaining lines of an incomplete group */
    bool is_rotated; /* the segment's last line was read: the next segment follows */
    /* backward: the previous line ends here; -1: not started */
    off_t back;
    struct arena arena;
    uint64_t bad;  /* lines skipped because they were not good (blank ones do not count), */
    uint64_t torn; /* and those of them that a crash explains: fragments, incomplete groups */
    struct err failed_why;
    enum status failed;
};

/* Reads fd, which stays the caller's, from byte `at` (the beginning of a line). */
void log_reader_init(struct log_reader *r, int fd, off_t at);
void log_reader_release(struct log_reader *r);

/* Returns the next (previous) good record. False: the end, or a failure (log_reader_status). At the
 * end the caller may try again later. */
bool log_next(struct log_reader *r, struct log_record *rec);
bool log_prev(struct log_reader *r, struct log_record *rec);
enum status log_reader_status(const struct log_reader *r, struct err *e);

/* ---- following -------------------------------------------------------- */

enum log_from { LOG_FROM_START, LOG_FROM_END };

struct log_tail {
    char *path, *name; /* of the directory; of the file in it */
    bool is_sequenced;
    int dir, fd; /* -1: not open */
    dev_t dev;
    ino_t ino;
    struct watch watch;
    struct log_reader reader;
    enum log_from from; /* where reading of the first file starts */
    bool is_counting;   /* the reader's next_seq identifies the next segment */
    bool is_leaving;    /* the file was replaced: read it to its end first */
    uint64_t cuts;      /* how often it was truncated */
};

/*
 * Follows `name` in the directory `path`; neither needs to exist yet. Call
 * log_tail_next until it returns false, then wait until log_tail_fd is readable.
 * After a truncation reading starts again at the beginning. When the file is
 * replaced or rotated, the old one is read to its end first. LOG_FROM_START of
 * a sequenced log is line 1, in the segment that has it.
 */
enum status log_tail_open(struct log_tail *t, const char *path, const char *name, bool is_sequenced,
                          enum log_from from, struct err *e);
bool log_tail_next(struct log_tail *t, struct log_record *rec);
int log_tail_fd(const struct log_tail *t);
enum status log_tail_status(const struct log_tail *t, struct err *e);
void log_tail_close(struct log_tail *t);

/* ---- checking --------------------------------------------------------- */

struct log_report {
    uint64_t lines, good; /* a blank line counts only in `lines` */
    uint64_t notes;       /* fragments, a torn tail, incomplete groups */
    uint64_t problems;    /* all other lines that are not good */
};

typedef void log_finding_fn(void *ctx, const struct log_record *rec, bool is_note);

/* Checks the file up to byte `to` (-1: its end); calls `finding` for each line that is not good. */
enum status log_fsck(int fd, off_t to, struct log_report *report, log_finding_fn *finding,
                     void *ctx, struct err *e);
/* Checks the pre-sync file (log/presync.h) of the log `name` in `dir`, which is open as fd. Lines
 * that a recovery would restore are one note without a line number. */
enum status
log_fsck_presync(int dir, const char *name, int fd, const char *boot, struct log_report *report,
                 log_finding_fn *finding, void *ctx, struct err *e);

#endif
