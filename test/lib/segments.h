/*
 * segments - what the tests of rotation share: logs that rotate after four records.
 */
#ifndef CLIQ_TEST_SEGMENTS_H
#define CLIQ_TEST_SEGMENTS_H

#include "logs.h"

/* Rotates once the file has 200 bytes: after four of our records. */
static const struct log_options rotating = { .lock_wait_ms = 50,
                                             .is_sequenced = true,
                                             .rotate_bytes = 200 };

#define RECORD "{\"data\":\"0123456789012345\"}"

/* Never rotates by itself, but carries strays over. */
static const struct log_options huge = { .lock_wait_ms = 50,
                                         .is_sequenced = true,
                                         .rotate_bytes = 1 << 30 };

/* Opens the log, appends n times RECORD, closes it. */
void append_many(const struct log_options *o, int n);

/* A finished segment with this many records of ours, behind which nothing is. */
void make_segment(int records);

/* Every number from 1 on is in exactly one place; returns the last. */
uint64_t check_all_numbers(void);

#endif
