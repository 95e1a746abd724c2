/*
 * files - all files of a sequenced log, open, as they are at one moment.
 *
 * With the log's lock they are opened; without it they can then be read for as long as it takes, up
 * to where each ended, though others append, rotate and drop segments meanwhile.
 *
 * Tests: test/unit/test_log_segment.c
 */
#ifndef CLIQ_LOG_LOG_SNAPSHOT_H
#define CLIQ_LOG_LOG_SNAPSHOT_H

#include "log/segment.h"

#include <sys/stat.h>

struct log_snapshot_file {
    int fd;
    uint64_t first; /* its first line; 0: the file that is written to */
    bool is_kept;   /* it has what lasts of the lines from there to the next file */
    struct stat st; /* st_size: up to there */
    char name[SEGMENT_NAME_SIZE];
};

struct log_snapshot {
    struct log_snapshot_file *list; /* oldest first; the last one is written to */
    size_t n;
};

/* After a failure there is nothing to close. */
enum status log_snapshot_open(struct log_snapshot *f, const struct log *l, struct err *e);
void log_snapshot_close(struct log_snapshot *f); /* safe on a zeroed struct */

/* As if what is before line `first`, of which there must be a segment, had been dropped, and the
 * open file `fd` called `name` had what lasts of it. Takes fd, also when it fails. */
enum status
log_snapshot_drop(struct log_snapshot *f, uint64_t first, int fd, const char *name, struct err *e);

/* The place of the segment with the largest first line <= seq, else of the last file. */
size_t log_snapshot_find(const struct log_snapshot *f, uint64_t seq);
const struct log_snapshot_file *log_snapshot_last(const struct log_snapshot *f);

#endif
