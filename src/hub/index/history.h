/*
 * told - what the log tells about a signal: the lines that changed it, in their order.
 *
 *     41 {"op":"claim",...}\n57 {"op":"ack",...}\n
 *
 * The newest of them stand in the signal's row of `states`, which changes with every line anyway:
 * most signals need no other. When they are many, or long (history_is_full), they become one row of
 * `history`, and the next line begins anew: so where a line is kept depends on the log alone.
 *
 * Pure code: no file, no clock.
 */
#ifndef CLIQ_HUB_INDEX_HISTORY_H
#define CLIQ_HUB_INDEX_HISTORY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* One line more; lines may be NULL. NULL without memory. */
const char *history_add(struct arena *a, const char *lines, uint64_t seq, const char *body);
bool history_is_full(const char *lines);

/* The line at *at, which moves on; its body is not NUL-ended. False: there is none. */
bool history_next(const char **at, uint64_t *seq, const char **body, size_t *len);

#endif
