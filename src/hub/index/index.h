/*
 * index - the projection of events.jsonl in SQLite: <config>/signals/index.db.
 *
 * Not the truth: it is made again whenever it is missing, damaged, of another version, or
 * does not fit the log. So it is not synced (the log holds the promise), and the place in the
 * log up to which it was folded is committed with what was folded.
 *
 * All writes and checkpoints happen under the log's lock: SQLite 3.40 has a rare fault when
 * two connections checkpoint at once. Readers take no lock.
 *
 * The first failure is kept: calls after it do nothing and find nothing, and index_status,
 * asked before a commit, tells it. index_rollback forgets it.
 *
 *     struct row *r = index_run(ix, "SELECT id FROM roles WHERE name = ?", "s", name);
 *     while (index_next(ix, r))
 *         ... row_text(r, 0) ...
 *
 * Texts of statements must be literals: they are prepared once and found by their address, so
 * a statement cannot be used inside its own loop.
 */
#ifndef CLIQ_HUB_INDEX_INDEX_H
#define CLIQ_HUB_INDEX_INDEX_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct index;
struct row;

/* Behind "FROM signals s": each signal's state, if it has one (index.c describes the tables). */
#define INDEX_STATES " LEFT JOIN states w ON w.signal = s.seq"

/* Up to where the log is folded, and what changed with it. */
struct index_place {
    uint64_t seq;                    /* of the last line folded; 0: none */
    int64_t dev, ino;                /* of the file it was in */
    int64_t at, end;                 /* the byte after it; the file's size then */
    int64_t last_ms;                 /* the latest time in a line */
    uint64_t subscriptions, delayed; /* count changes of these tables */
    uint64_t shown;                  /* `delayed` as it was when delayed.json was written, */
    int64_t view;                    /* and a mark of that file as it was then */
    uint64_t bad;                    /* bad lines that were passed over */
    uint64_t cut;                    /* the last line that tells of lost lines; 0: none */
    char tail[65]; /* hex: the last bytes before `at`, by which the file is recognised */
};

/* Before anything else, in a program of our own: turns off SQLite's memory statistics, which take a
 * lock for every allocation. */
void index_own_process(void);

/* A new one, where none is; path NULL: in memory. In a file it has a name of its own until it is
 * whole: then it is closed, and gets the name that others open. */
enum status index_create(struct index **out, const char *path, const char *boot, struct err *e);
/* ST_FAILED: it is not there, damaged, or of another version, and has to be made. may_write, with
 * the log's lock: checks what was last written before this boot; without it such an index is
 * ST_FAILED, too. */
enum status
index_open(struct index **out, const char *path, const char *boot, bool may_write, struct err *e);
void index_close(struct index *ix); /* NULL is fine */
enum status index_remove(const char *path, struct err *e);
/* Has its write-ahead log become much longer than it should? A long read keeps it from starting
 * over, and it may fill the disk. */
bool index_is_swollen(const char *path);
/* Copies that log into the file and empties it, if no reader uses it and there is room. With the
 * lock, outside a transaction. */
void index_empty_log(struct index *ix);
/* Is the file that we have open still the one with the name? */
bool index_is_current(const struct index *ix);

/* Empties all tables, in the open transaction. */
void index_clear(struct index *ix);
/* Around index_add of many signals, whose ids may be taken: the first has the id, and the others
 * are in no list. The row thread writes meanwhile. */
void index_begin_bulk(struct index *ix);
void index_end_bulk(struct index *ix);

enum status index_begin(struct index *ix, bool is_write, struct err *e);
enum status index_commit(struct index *ix, struct err *e);
void index_rollback(struct index *ix);
void index_savepoint(struct index *ix);
void index_end_savepoint(struct index *ix, bool is_good); /* not good: rolls back to it */
enum status index_status(const struct index *ix, struct err *e);
bool index_is_damaged(const struct index *ix); /* the failure kept is of that kind */

/* In a transaction: the row thread commits it, with this place, while we go on in the next one.
 * What is run meanwhile waits for that, and index_status tells when it failed. False: there is no
 * such thread, and nothing was done. */
bool index_commit_later(struct index *ix, const struct index_place *p);
bool index_get_place(struct index *ix, struct index_place *p);
void index_set_place(struct index *ix, const struct index_place *p);

/* types: one letter for each value bound: s text (NULL: null), i int64_t, z one whose 0 is null,
 * d double. */
struct row *index_run(struct index *ix, const char *literal, const char *types, ...);
/* The same for a statement that reads neither history nor a table that the cache of dirty signals
 * may change: the cache need not be written. */
struct row *index_peek(struct index *ix, const char *literal, const char *types, ...);
/* The same with a text made for the occasion; values as an array. Ends with index_end. */
struct value {
    char type;
    uint32_t len; /* of s; 0: up to its NUL */
    union {
        const char *s;
        int64_t i;
        double d;
    };
};
struct row *index_run_text(struct index *ix, const char *sql, const struct value *values, size_t n);
/* From its beginning, with another value for the nth (from 1) of them. */
void index_again(struct index *ix, struct row *r, int nth, int64_t value);
void index_end(struct row *r);
bool index_next(struct index *ix, struct row *r);
/* Runs a statement that gives no rows; how many rows it changed. */
int index_do(struct index *ix, const char *literal, const char *types, ...);

/* Adds a row, later and together with others (row_queue.c). Every statement that follows finds it:
 * index_run writes the queue first. That such a row is there already is a failure, except between
 * index_begin_bulk and index_end_bulk. A row of states replaces the one before.
 *
 * NOT_WAITING and NOT_READY remove rows ("sdii": the list, urgency, signal, and whether a row that
 * stays may stand between it and the one before). In the order of their numbers such rows are
 * mostly neighbours: then one statement removes them all, at a third of the cost. */
enum index_rows {
    ROWS_SIGNALS,
    ROWS_WAITING,
    ROWS_READY,
    ROWS_STATES,
    ROWS_HISTORY,
    ROWS_NOT_WAITING, /* from here on: written last, as the row may be in the same buffer */
    ROWS_NOT_READY,
    INDEX_ROWS
};
void index_add(struct index *ix, enum index_rows rows, const char *types, ...);
/* Writes the queue in the row thread, if it is idle and there are many rows. */
void index_flush_behind(struct index *ix);

/* The cache of signals that changed (dirty_signals.h): it is written before every statement but
 * those of index_peek, and dropped by index_rollback. NULL: none. */
struct dirty_signals;
void index_set_cache(struct index *ix, struct dirty_signals *dirty);
void index_out_of_memory(struct index *ix); /* fails with that */

int64_t row_int(struct row *r, int column);
double row_double(struct row *r, int column);
/* NULL for null; valid until the next row. */
const char *row_text(struct row *r, int column);
/* The same, copied. */
const char *row_dup(struct row *r, int column, struct arena *a);
bool row_is_null(struct row *r, int column);
int row_columns(struct row *r);

/* The tables and the columns that order them, for comparisons. NULL: no more. */
const char *index_table(size_t i);

#endif
