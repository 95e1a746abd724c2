/*
 * log - an append-only file of JSON objects, one a line, each ended by '\n'.
 *
 * The log is the truth: channels, phase signals, run journals and the hub's
 * events are all this module, and everything else is a view of such lines.
 * docs/formats/log.md has the format with examples.
 *
 * Writers, from any number of processes, hold an exclusive flock(2) over the
 * check of the tail, one write(2) and, where the log is durable, fdatasync(2).
 * Nothing is reported as written before that. A tail without '\n' (a crash, a
 * full disk, a foreign writer) is sealed with '\n' first, so the fragment
 * becomes a bad line of its own. A short write of ours is undone. After a
 * failed sync the log refuses to write until it is opened again, or mended:
 * what the kernel then holds is "perhaps".
 *
 * Readers take no lock. They see whole lines only, skip blank and bad lines
 * and count them. Whatever JSON object a foreign writer appends is welcome.
 *
 * A sequenced log (the hub's events.jsonl) numbers its lines and guards each
 * with a checksum: see log/seal.h. It may rotate into segments: log/segment.h.
 * A process that writes for long may sync a file in front of it: log/presync.h.
 *
 * Files: writer.c the writer · lock.c waiting for the lock · seal.c numbers and
 * checksums · segment.c rotation · presync.c a file in front · presync_recover.c what it
 * has and the log lacks · reader.c reading, forward and backward · log_snapshot.c all
 * of them at one moment · tail.c following · fsck.c what is wrong with a file.
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

#define LOG_LINE_MAX  ((size_t)1 << 20) /* bytes of a line with its '\n'; larger is refused */
#define LOG_BATCH_MAX 1000              /* lines that stand or fall together */

/* ---- writing ---------------------------------------------------------- */

struct log_options {
    bool is_durable;    /* fdatasync before an append returns */
    bool is_sequenced;  /* lines get a number and a checksum */
    bool is_one_file;   /* whose name becomes another file's is not written any more: ST_FAILED */
    bool never_clashes; /* whose records never have a member that a seal has: not looked for */
    unsigned lock_wait_ms; /* give up on the lock after this long; 0: 10 s */
    uint64_t rotate_bytes; /* sequenced only: start a new segment past this size; 0: never */
    /* durable only: called with `ctx` when the lines are on their way to the disk, before they
     * are waited for: what it does costs no time. NULL: none. */
    void (*meanwhile)(void *ctx);
    void *ctx;
    /* NULL: none. A file of this name is looked at when the log is opened, and what it has and the
     * log lacks is put back; see log/presync.h. `boot` (borrowed) tells this start of the machine
     * from others. `note` is told what people should know; may be NULL. */
    const char *ahead_name, *boot;
    size_t ahead_bytes; /* not 0: log_use_presync, at once */
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
    bool is_torn;     /* under the lock: the last byte is not '\n' */
    bool is_known;    /* end and next_seq describe this inode */
    bool is_refusing; /* a sync failed */
    bool is_last;     /* see log_go_last */
    bool is_doubtful; /* bytes from doubt_from to doubt_to were written and not synced */
    off_t doubt_from, doubt_to;
    off_t end;             /* under the lock: the file's size; else where it was */
    uint64_t next_seq;     /* under the lock: the number of the next line */
    struct buf lines;      /* being written */
    struct presync *ahead; /* NULL: the log itself is synced */
    /* the newest finished segment, and where its rotate line ends; see log/segment.h */
    char segment[NAME_MAX + 1];
    off_t segment_end;
};

/* One record: the text of a JSON object, no '\n' in it. */
struct log_text {
    const char *p;
    size_t len;
};

/* Opens or creates (0600) `name` in the open directory `dir`, which must stay open
 * until log_close. Links are not followed. */
enum status
log_open(struct log *l, int dir, const char *name, const struct log_options *o, struct err *e);
void log_close(struct log *l); /* safe on a zeroed struct with fd -1, and twice */

/* Durable logs with an ahead_name: from now on this process writes that file, if no other one does,
 * and makes it so large, whole blocks of it. That takes a millisecond or two. */
void log_use_presync(struct log *l, size_t bytes);
/* What is appended next is the last of it: it is synced in the log itself, which has to be done
 * before the file ahead may go. */
void log_go_last(struct log *l);

/* Lock, write all n records in one write, sync once, unlock. All or none. */
enum status log_append(struct log *l, const struct log_text *records, size_t n, struct err *e);

/* The same in steps, for those who must look before they write. After log_lock,
 * `end` and `next_seq` are true until log_unlock. ST_IO when the lock cannot be
 * had in time; the sentence names the holder. Not for a loop's thread. */
enum status log_lock(struct log *l, struct err *e);
/* Does not wait: ST_CONFLICT, without a sentence, when somebody has it. */
enum status log_try_lock(struct log *l, struct err *e);
/* With the lock, before another look: counts what somebody without it wrote. *is_current false:
 * the name is that of another file now, or this one is to be ended: log_unlock, and log_lock. */
enum status log_look(struct log *l, bool *is_current, struct err *e);
enum status log_put(struct log *l, const struct log_text *records, size_t n, struct err *e);
void log_unlock(struct log *l);
/* Would so many bytes more fit, as far as the system tells? For one whose append failed. */
bool log_has_room(const struct log *l, size_t bytes);

/* After a failed sync: writes what is in doubt once more, as it is read now, and syncs it; a kernel
 * that failed to write a page may hold it as written for ever, so that another sync alone would
 * tell nothing. ST_OK: the file as everybody sees it is on disk, and the log is opened anew by the
 * next log_lock, which looks at its tail. Else it goes on refusing. */
enum status log_repair(struct log *l, struct err *e);

/* ---- reading ---------------------------------------------------------- */

enum log_verdict {
    LOG_GOOD,
    LOG_FRAGMENT,  /* the beginning of a record: a torn line, sealed later */
    LOG_BAD,       /* not a JSON object, or its checksum is wrong */
    LOG_TOO_LONG,  /* over LOG_LINE_MAX: comes without its text */
    LOG_UNGROUPED, /* good in itself, but part of an incomplete group */
};

struct log_record {
    const char *text; /* without '\n'; valid until the next call on the reader */
    size_t len;
    off_t at, end;           /* its bytes in the file, '\n' included */
    uint64_t line;           /* from 1; 0 when reading backward */
    uint64_t seq;            /* sequenced logs; else 0 */
    const struct json *json; /* the object; NULL unless the verdict is good or ungrouped */
    enum log_verdict verdict;
    const char *problem; /* a constant; why it is not good */
    unsigned column;     /* where in the line, from 1; 0 unknown */
};

struct log_reader {
    int fd; /* borrowed */
    bool is_sequenced;
    bool wants_bad; /* deliver lines that are not good, too */
    /* the window: bytes of the file that are in memory */
    struct buf window;
    off_t window_at;
    /* forward: the next line starts here and has this number */
    off_t at;
    uint64_t line;
    uint64_t next_seq;
    size_t group_left;       /* lines of a complete group still to deliver */
    struct log_ahead *ahead; /* those of them that are judged already */
    struct arena group;      /* what they take */
    size_t orphans;          /* lines of an incomplete group still to pass over */
    bool is_rotated;         /* the segment's last line was read: go on in the next one */
    /* backward: the previous line ends here; -1: not started */
    off_t back;
    struct arena arena;
    uint64_t bad; /* lines passed over because they were not good (blank ones do not count) */
    struct err failed_why;
    enum status failed;
};

/* Reads fd, which stays the caller's, from byte `at` (the beginning of a line). */
void log_reader_init(struct log_reader *r, int fd, off_t at);
void log_reader_release(struct log_reader *r);

/* The next (previous) good record; false at the end, or after a failure that
 * log_reader_status tells. At the end of the file one may try again later. */
bool log_next(struct log_reader *r, struct log_record *rec);
bool log_prev(struct log_reader *r, struct log_record *rec);
enum status log_reader_status(const struct log_reader *r, struct err *e);

/* ---- following -------------------------------------------------------- */

enum log_from { LOG_FROM_START, LOG_FROM_END };

struct log_tail {
    char *path, *name; /* of the directory; of the file in it */
    bool is_sequenced;
    int dir, fd; /* -1 while there is none */
    dev_t dev;
    ino_t ino;
    struct watch watch;
    struct log_reader reader;
    enum log_from from; /* where the first file is entered */
    bool is_counting;   /* the reader's next_seq tells which segment comes next */
    bool is_leaving;    /* the name has another file: finish this one */
};

/*
 * Follows `name` in the directory `path`; neither needs to exist yet. Records
 * come from log_tail_next until it returns false: then wait until log_tail_fd
 * is readable and go on. Truncation starts again at the top; when the file is
 * replaced or rotated, the old one is read to its end first. The start of a
 * sequenced log is its line 1, in whatever segment that is now.
 */
enum status log_tail_open(struct log_tail *t, const char *path, const char *name, bool is_sequenced,
                          enum log_from from, struct err *e);
bool log_tail_next(struct log_tail *t, struct log_record *rec);
int log_tail_fd(const struct log_tail *t);
enum status log_tail_status(const struct log_tail *t, struct err *e);
void log_tail_close(struct log_tail *t);

/* ---- checking --------------------------------------------------------- */

struct log_report {
    uint64_t lines, good; /* blank lines are lines, but neither good nor bad */
    uint64_t notes;       /* sealed fragments, an unsealed tail, incomplete groups */
    uint64_t problems;    /* everything else that is not good */
};

typedef void log_finding_fn(void *ctx, const struct log_record *rec, bool is_note);

/* Reads the file up to byte `to` (-1: its end) and calls `finding` for each line that is not good.
 */
enum status log_fsck(int fd, off_t to, struct log_report *report, log_finding_fn *finding,
                     void *ctx, struct err *e);
/* Of the log `name` in `dir`, open as fd: what waits in its file ahead (log/presync.h) since the
 * machine was started last, as a note without a line number, added to the report. */
enum status
log_fsck_presync(int dir, const char *name, int fd, const char *boot, struct log_report *report,
                 log_finding_fn *finding, void *ctx, struct err *e);

#endif
