/*
 * wake_chain - how long is the chain of agents that wake each other, and is it to go on?
 *
 * An agent that a signal woke writes signals that wake others, and so on. A chain of more than
 * WAKE_CHAIN_MAX wakes in which no person and no task had a part is a loop that costs money: it is
 * stopped, and told as an alert. And an agent that only life-cycle signals woke (life_cycle.h)
 * wakes no other one by its own: else two agents that listen for agent:*:sleep would start each
 * other for ever.
 *
 * <config>/wake/<id>/chain has the latest starts and ends of an agent, oldest first, a line each:
 *
 *     s 120 3 1     after line 120 of the log it was awake, at place 3 of a chain; 1: only
 *                   life-cycle signals woke it
 *     e 124         after line 124 it was not
 *
 * What it wrote between them belongs to its chain; its life-cycle signals do also later. Tasks, and
 * whatever else is written, begin a new chain.
 *
 * Tests: test/unit/test_wake_chain.c test/scenario/wake.bats
 */
#ifndef CLIQ_WAKE_WAKE_CHAIN_H
#define CLIQ_WAKE_WAKE_CHAIN_H

#include "hub/hub.h"

#define WAKE_CHAIN_MAX   16
#define WAKE_CHAIN_LINES 32 /* that are kept */

/* The place of a start in its chain. */
struct wake_chain {
    unsigned depth;   /* 0: a person, a task or another program began it */
    bool is_life;     /* only life-cycle signals woke it */
    bool is_echo;     /* nothing but life-cycle signals of agents that only such signals woke */
    const char *from; /* the agent before it; NULL: there is none */
};

/* The text of a `chain` file (NULL: none) at line `seq` of the log. False: the signal is outside
 * of any chain. is_life: it is a life-cycle signal of that agent. */
bool wake_chain_at(const char *text, uint64_t seq, bool is_life, unsigned *depth, bool *life_only);

/* What the signals of a batch mean for its agent. read: the text of a sender's file in the arena,
 * or NULL. */
struct wake_chain
wake_chain_judge(const struct hub_batch *b,
                 const char *(*read)(void *ctx, struct arena *a, const char *sender), void *ctx,
                 struct arena *a);
static inline bool
wake_chain_is_over(const struct wake_chain *c)
{
    return c->is_echo || c->depth > WAKE_CHAIN_MAX;
}

/* The file's text with one line more, and without the oldest ones. c NULL: an end. */
void wake_chain_add(struct buf *to, const char *text, uint64_t seq, const struct wake_chain *c);

#endif
