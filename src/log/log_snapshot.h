/*
 * log_snapshot - all files of a sequenced log, open, with their sizes at one moment.
 *
 * Open the snapshot while holding the log's lock, and read it without the lock, each file up to its
 * st_size. Other processes may append, rotate and drop segments meanwhile.
 *
 * Tests: test/unit/test_log_segment.c
 */
#ifndef CLIQ_LOG_LOG_SNAPSHOT_H
#define CLIQ_LOG_LOG_SNAPSHOT_H

#include "log/segment.h"

#include <sys/stat.h>

struct log_snapshot_file {
    int fd;
    uint64_t first; /* number of its first line; 0: the current file */
    bool is_kept;   /* the kept file of dropped segments (log/segment.h) */
    struct stat st; /* at the time of the snapshot */
    char name[SEGMENT_NAME_SIZE];
};

struct log_snapshot {
    struct log_snapshot_file *list; /* oldest first; the last is the current file */
    size_t n;
};

/* After a failure no close is needed. */
enum status log_snapshot_open(struct log_snapshot *f, const struct log *l, struct err *e);
void log_snapshot_close(struct log_snapshot *f); /* safe on a zeroed struct */

/* Updates the snapshot for a drop of all segments before line `first`, where a segment must begin;
 * `fd` and `name` are the new kept file. Takes ownership of fd, also on failure. */
enum status
log_snapshot_drop(struct log_snapshot *f, uint64_t first, int fd, const char *name, struct err *e);

/* Index of the segment with the largest first line <= seq, else of the last file. */
size_t log_snapshot_find(const struct log_snapshot *f, uint64_t seq);
const struct log_snapshot_file *log_snapshot_last(const struct log_snapshot *f);

#endif
