/*
 * past - a run as its journal tells it: every event through the scheduler again.
 */
#ifndef CLIQ_RUN_PAST_H
#define CLIQ_RUN_PAST_H

#include "run/journal.h"

struct past {
    const struct team *team;
    struct journal_head head;
    struct sched *sched; /* may be taken: set it to NULL then */
    int64_t *started_ms; /* one a phase: wall time of its latest start; 0: never */
    bool is_cancelled;   /* or aborted: what still runs is to be stopped */
};

/* `dir` is run/, open. ST_NOT_FOUND: nothing has run. ST_INVALID: it is the journal of
 * another workflow; head.has_end is right even then. Release it whatever is returned. */
enum status past_load(struct past *p, int dir, const struct team *t, struct err *e);
void past_release(struct past *p);

#endif
