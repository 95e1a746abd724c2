/*
 * dirty_signals - write-back cache of signals that changed.
 *
 * A claim and its ack usually share a transaction. So events change the signal in this cache, and
 * the index gets one row of `states` and one change of each list, however many events there were:
 * before the commit, and before every statement that could read those rows (index_set_cache). That
 * is a third of the cost of a claim.
 *
 * Claimed signals stay after they are written, clean: their ack comes soon and needs no look-up.
 * When another process has written the index, the cache must be dropped.
 *
 * Zero is an empty cache. Texts of its signals live until dirty_signals_write or
 * dirty_signals_drop.
 */
#ifndef CLIQ_HUB_INDEX_DIRTY_SIGNALS_H
#define CLIQ_HUB_INDEX_DIRTY_SIGNALS_H

#include "hub/index/signal_row.h"

struct dirty_signal {
    struct signal_row x;
    bool was_waiting, was_ready, was_settled; /* as the index has it */
    bool is_changed;
};

struct dirty_signals {
    struct dirty_room *room; /* from the first signal on */
};

/* NULL: it is not in the cache. */
struct dirty_signal *dirty_signals_find(const struct dirty_signals *h, const char *id);
/* Adds a signal as the index has it; writes the others if there is no room. NULL without memory. */
struct dirty_signal *
dirty_signals_take(struct dirty_signals *h, struct index *ix, const struct signal_row *x);
/* Its new state, and the line that changed it; texts are copied. False without memory. */
bool dirty_signals_change(struct dirty_signals *h, struct index *ix, struct dirty_signal *one,
                          const struct item *it, uint64_t seq, const char *body);

void dirty_signals_write(struct dirty_signals *h, struct index *ix);
void dirty_signals_drop(struct dirty_signals *h);       /* the transaction is rolled back */
void dirty_signals_note_match(struct dirty_signals *h); /* the index has a row in `matches` */
void dirty_signals_release(struct dirty_signals *h);

/* The history of a signal is the lines that changed it, packed:
 *
 *     41 {"op":"claim",...}\n57 {"op":"ack",...}\n
 *
 * The latest lines stand in the signal's row of `states`, which every line changes anyway: most
 * signals need no other. When they are many, or long, they become one row of `history`, and the
 * next line starts anew; so where a line stands depends on the log alone.
 *
 * history_next takes the line at *at, which moves on; its body is not NUL-ended. False: no more. */
bool history_next(const char **at, uint64_t *seq, const char **body, size_t *len);
/* All rows of lines of the signal ?1, oldest first. */
#define HISTORY_LINES                                                                              \
    "SELECT lines FROM (SELECT seq, lines FROM history WHERE signal = ?1 UNION ALL"                \
    " SELECT 9223372036854775807, lines FROM states WHERE signal = ?1) ORDER BY seq"

#endif
