/*
 * segment - rotation of a sequenced log into segments, and retention of old ones.
 *
 *     events-1.jsonl           segment: lines 1 to 5000, the last is {"op":"rotate",...}
 *     events-5001.jsonl        segment: lines 5001 to 9999, likewise
 *     events.jsonl             the current file: from line 10000 on
 *     events-kept-5001.jsonl   the kept file: lines before 5001 that are still in force
 *
 * Rotation, under the log's lock: write the rotate line, sync, rename the file
 * to <stem>-<first seq>.jsonl, create a new current file, sync the directory.
 * After a crash the next writer finds a rotate line in the current file and
 * finishes the rotation.
 *
 * Strays: a foreign writer that still has the old file open may append behind
 * the rotate line, where readers stop. The next writer appends such lines to the
 * current file, in one group with a line
 * {"op":"carry","segment":NAME,"from":BYTE,"to":BYTE}, and then repeats the
 * rotate line in the old segment behind them. After a crash in between, the
 * carry line shows that they were carried over. A segment is never truncated, so
 * the byte offsets stay valid.
 *
 * Retention: before old segments are dropped, their lines that are still in
 * force are written, with their old numbers, into a new file. It is synced and
 * then renamed to <stem>-kept-<number>.jsonl. The rename is the drop: from then
 * on, segments that begin before the number and older kept files are not part of
 * the log, even if they still exist. The kept file's last line is
 * {"op":"kept",...} and has the number before the file's.
 *
 * Tests: test/unit/test_log_segment.c
 */
#ifndef CLIQ_LOG_SEGMENT_H
#define CLIQ_LOG_SEGMENT_H

#include "log/log.h"

#define SEGMENT_NAME_SIZE (NAME_MAX + 1)

/* Finds the segment of `name` with the largest first line <= seq (UINT64_MAX: the newest): its name
 * and first line (first may be NULL). ST_NOT_FOUND: none. */
enum status segment_find(int dir, const char *name, uint64_t seq, char to[SEGMENT_NAME_SIZE],
                         uint64_t *first, struct err *e);

/* The first line of the oldest segment: 1 until segments are dropped. */
uint64_t segment_oldest(int dir, const char *name);

/* The number of the kept file; 0: none was dropped. */
enum status segment_find_kept(int dir, const char *name, uint64_t *first, struct err *e);
void segment_kept_name(char to[SEGMENT_NAME_SIZE], const char *name, uint64_t first);

/* The rest needs a sequenced log and its lock. */

/* The number after the newest finished segment's last line; 0: no segment. (In writer.c.) */
enum status segment_number_after(const struct log *l, uint64_t *next, struct err *e);

/* Rotates the log. The caller must close it or lock it again. */
enum status segment_rotate(struct log *l, struct err *e);
/* The second half of segment_rotate: the file already ends in a rotate line. */
enum status segment_finish(struct log *l, struct err *e);
/* Carries strays over from the newest finished segment. */
enum status segment_carry(struct log *l, struct err *e);
/* Removes dropped segments and old kept files. *bytes: their size, also after a failure. */
enum status segment_sweep(int dir, const char *name, uint64_t *bytes, struct err *e);

#endif
