/*
 * power_cut - what the tests of log/ahead and log/recover share.
 *
 * A power cut is made of its traces: the log is given the bytes that the disk might have had, and
 * the log is opened under another boot id.
 */
#ifndef CLIQ_TEST_POWER_CUT_H
#define CLIQ_TEST_POWER_CUT_H

#include "log/presync.h"

#include "logs.h"

#define AHEAD "events.ahead"

extern char noted[600]; /* the last note of a log */
void on_note(void *ctx, const char *text);
enum { PRESYNC_BYTES = 128 << 10 };

/* Before the power cut: a log that writes ahead. */
static const struct log_options before = { .lock_wait_ms = 50,
                                           .is_durable = true,
                                           .is_sequenced = true,
                                           .ahead_name = AHEAD,
                                           .boot = "11111111-1111-1111-1111-111111111111",
                                           .ahead_bytes = PRESYNC_BYTES,
                                           .note = on_note };

/* After the machine was started again; by one who does not write ahead. */
static const struct log_options after = { .lock_wait_ms = 50,
                                          .is_durable = true,
                                          .is_sequenced = true,
                                          .ahead_name = AHEAD,
                                          .boot = "22222222-2222-2222-2222-222222222222",
                                          .note = on_note };

/* A store whose writer was killed. */
struct world {
    char *log, *ahead; /* their bytes */
    size_t len, ahead_len;
    size_t synced; /* bytes of the log that are on disk for sure */
};

/* One record that is synced in the log, and n that are in the file ahead only. */
struct world make_world(int n);
void free_world(struct world *w);

/* The disk as the power cut left it; same inode. */
void disk_has(const void *p, size_t n);
/* n bytes, the least one first. */
void put_number(char *to, uint64_t v, size_t n);

/* The file ahead again, as if it were for the log that is there now. */
void ahead_has(const struct world *w);
void open_and_close(const struct log_options *o);
bool is_empty(const char *name);
void check_log(const char *want, size_t len);

#endif
