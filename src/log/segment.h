/*
 * segment - a sequenced log that grew too large goes on in a new file.
 *
 *     events-1.jsonl      lines 1 to 5000, the last one {"op":"rotate",...}
 *     events-5001.jsonl   lines 5001 to 9999, likewise
 *     events.jsonl        from line 10000 on: the one that is written to
 *
 * Under the log's lock: the rotate line is written and synced, the file is
 * renamed to <stem>-<first seq>.jsonl, a new file is created, the directory is
 * synced. A writer that finds a rotate line in the current file (a crash in
 * between) finishes the job.
 *
 * A foreign writer that still holds the old file open may append behind the
 * rotate line. Readers do not look there; the next writer carries such lines
 * over: they go into the current file in one group with a line
 * {"op":"carry","segment":NAME,"from":BYTE,"to":BYTE}, then the old segment gets
 * its rotate line once more, behind them: what stands before its last rotate
 * line is dealt with. The carry line tells a writer after a crash in between
 * that it was done. Nothing is cut, so no byte of a segment ever has a second
 * meaning.
 *
 *     events-kept-5001.jsonl   what lasts of the lines before 5001
 *
 * Old segments may be dropped: what of them is still needed is written, line by line with
 * the numbers they had, into a file that is synced and then gets such a name. With the name
 * it is done: segments that begin before its number are no part of the log any more, nor
 * are older files of this kind, whether they were removed already or not. Its last line is
 * {"op":"kept",...} with the number before its own.
 *
 * Tests: test/unit/test_log_segment.c
 */
#ifndef CLIQ_LOG_SEGMENT_H
#define CLIQ_LOG_SEGMENT_H

#include "log/log.h"

#define SEGMENT_NAME_SIZE (NAME_MAX + 1)

/* The segment of `name` with the largest first line <= seq (UINT64_MAX: the newest).
 * ST_NOT_FOUND when there is none. Its name and, if wanted, first line. */
enum status segment_find(int dir, const char *name, uint64_t seq, char to[SEGMENT_NAME_SIZE],
                         uint64_t *first, struct err *e);

/* The first line that is still there: 1 until old segments were dropped. */
uint64_t segment_oldest(int dir, const char *name);

/* What lasts of dropped segments is in the file with this number; *first 0: none were dropped. */
enum status segment_find_kept(int dir, const char *name, uint64_t *first, struct err *e);
void segment_kept_name(char to[SEGMENT_NAME_SIZE], const char *name, uint64_t first);

/* All with the lock held, on a sequenced log. */

/* One more than the newest finished segment holds; 0 when there is none. (In writer.c.) */
enum status segment_number_after(const struct log *l, uint64_t *next, struct err *e);

/* The file is full: ends it. The log must be closed or locked again after this. */
enum status segment_rotate(struct log *l, struct err *e);
/* The second half of that: the file's last line is a rotate line. */
enum status segment_finish(struct log *l, struct err *e);
/* Fetches strays from the newest finished segment. */
enum status segment_carry(struct log *l, struct err *e);
/* Removes what was dropped. How many bytes that were, also after a failure. */
enum status segment_sweep(int dir, const char *name, uint64_t *bytes, struct err *e);

#endif
