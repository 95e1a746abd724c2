/*
 * signal_row - a signal as the index has it: one row of `signals` joined with its row of `states`.
 *
 * Tests: test/unit/test_hub_query.c
 */
#ifndef CLIQ_HUB_INDEX_SIGNAL_ROW_H
#define CLIQ_HUB_INDEX_SIGNAL_ROW_H

#include "hub/index/index.h"
#include "hub/model/decide.h"

/* Texts may be NULL. */
struct signal_row {
    struct item it;                                   /* its state */
    const char *type, *sender, *addr, *thread, *body; /* body: the line without its seal */
    const char *lines;                                /* its latest transitions (history.h) */
    double urgency;
};

/* The columns of signal_row_read; SIGNAL_ROW_COLUMNS of them: a query may select more behind them.
 *     "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE ..." */
#define SIGNAL_ROW                                                                                 \
    "s.seq, s.id, s.type, s.sender, s.addr, s.thread, s.urgency, s.body, s.task, w.state,"         \
    " w.work, w.count, w.claimed_by, w.claim, w.claimed_at, w.until, w.boot_until, w.boot,"        \
    " w.last, w.last_by, w.last_claim, w.lines"
#define SIGNAL_ROW_FROM " FROM signals s" INDEX_STATES
enum { SIGNAL_ROW_COLUMNS = 22 };
/* May an identity, an expression that is used twice, read the signal (hub/model/sight.h)? */
#define SIGNAL_ROW_MAY_READ(who)                                                                   \
    "may_read(" who ", s.sender, s.addr, EXISTS(SELECT 1 FROM joins j WHERE j.identity = " who     \
    " AND j.ring = substr(s.addr, 2)))"

/* The present row; texts in the arena. False: no memory. */
bool signal_row_read(struct row *r, struct arena *a, struct signal_row *x);
/* Copies the texts. False without memory. */
bool signal_row_dup(struct signal_row *to, const struct signal_row *x, struct arena *a);

bool signal_row_is_waiting(const struct signal_row *x); /* has an address, and is not settled */
bool signal_row_is_ready(const struct signal_row *x);   /* a task that can be claimed */
/* Its address in `ready`, where tasks for everyone have ''. */
const char *signal_row_list(const struct signal_row *x);

#endif
