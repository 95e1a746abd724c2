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
 * Zero is an empty hand. Texts of what is in it live until hand_write or hand_drop.
 */
#ifndef CLIQ_HUB_HAND_H
#define CLIQ_HUB_HAND_H

#include "hub/found.h"

struct held {
    struct found x;
    bool was_waiting, was_ready, was_acked; /* in the lists of the index */
    bool is_changed;
};

struct hand {
    struct hand_room *room; /* from the first signal on */
};

/* NULL: it is not in the hand. */
struct held *hand_find(const struct hand *h, const char *id);
/* A signal as the index has it, which may be written to make room. NULL without memory. */
struct held *hand_take(struct hand *h, struct index *ix, const struct found *x);
/* What became of it by a line; texts are copied. False without memory. */
bool hand_change(struct hand *h, struct index *ix, struct held *held, const struct item *it,
                 uint64_t seq, const char *body);

void hand_write(struct hand *h, struct index *ix); /* and it has nothing more to write */
void hand_drop(struct hand *h);                    /* the transaction is lost, and so is this */
void hand_note_match(struct hand *h); /* the index has one, of a signal and a subscription */
void hand_release(struct hand *h);

#endif
