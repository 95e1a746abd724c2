/*
 * hand - signals at work: what becomes of them, in memory until the index has to know.
 *
 * A claim and its ack mostly come within one transaction. So an event changes the signal that is
 * in the hand, and the index gets one row of `states` and one change of each list, however much
 * has happened: before the commit, and before any statement that might look (index_keep).
 *
 * What is claimed then stays, as the index has it: its ack comes soon, and need not look it up. So
 * whoever finds that others wrote into the index drops the hand.
 *
 * Zero is an empty hand. Texts of what is in it live until dirty_signals_write or
 * dirty_signals_drop.
 */
#ifndef CLIQ_HUB_INDEX_DIRTY_SIGNALS_H
#define CLIQ_HUB_INDEX_DIRTY_SIGNALS_H

#include "hub/index/signal_row.h"

struct dirty_signal {
    struct signal_row x;
    bool was_waiting, was_ready, was_acked; /* in the lists of the index */
    bool is_changed;
};

struct dirty_signals {
    struct hand_room *room; /* from the first signal on */
};

/* NULL: it is not in the hand. */
struct dirty_signal *dirty_signals_find(const struct dirty_signals *h, const char *id);
/* A signal as the index has it, which may be written to make room. NULL without memory. */
struct dirty_signal *
dirty_signals_take(struct dirty_signals *h, struct index *ix, const struct signal_row *x);
/* What became of it by a line; texts are copied. False without memory. */
bool dirty_signals_change(struct dirty_signals *h, struct index *ix, struct dirty_signal *held,
                          const struct item *it, uint64_t seq, const char *body);

void dirty_signals_write(struct dirty_signals *h,
                         struct index *ix);       /* and it has nothing more to write */
void dirty_signals_drop(struct dirty_signals *h); /* the transaction is lost, and so is this */
void dirty_signals_note_match(
    struct dirty_signals *h); /* the index has one, of a signal and a subscription */
void dirty_signals_release(struct dirty_signals *h);

#endif
