/*
 * found - a signal as the index has it: what was emitted, and what became of it.
 */
#ifndef CLIQ_HUB_INDEX_SIGNAL_ROW_H
#define CLIQ_HUB_INDEX_SIGNAL_ROW_H

#include "hub/index/index.h"
#include "hub/model/decide.h"

/* Texts may be NULL. head and tail, if somebody made them: how it is shown in JSON, but for what
 * became of it, which stands between them (render_text_of). */
struct signal_row {
    struct item it; /* what became of it */
    const char *type, *sender, *addr, *thread, *body, *head, *tail;
    const char *lines; /* that changed it, the newest of them (history.h) */
    double urgency;
};

/* A statement for signal_row_read: FOUND "FROM signals s" INDEX_STATES " WHERE ..." */
#define FOUND                                                                                      \
    "SELECT s.seq, s.id, s.type, s.sender, s.addr, s.thread, s.urgency, s.body, s.task, w.state,"  \
    " w.work, w.count, w.claimed_by, w.claim, w.claimed_at, w.until, w.boot_until, w.boot,"        \
    " w.last, w.last_by, w.last_claim, w.lines "

/* The next row; texts in the arena. False: no more, or no memory. */
bool signal_row_read(struct index *ix, struct row *r, struct arena *a, struct signal_row *x);
/* Copies the texts. False without memory. */
bool signal_row_dup(struct signal_row *to, const struct signal_row *x, struct arena *a);

bool signal_row_is_waiting(const struct signal_row *x); /* has an address, and was not acked */
bool signal_row_is_ready(const struct signal_row *x);   /* a task that can be claimed */
const char *
signal_row_list(const struct signal_row *x); /* its address in `ready`: everyone's is '' */

#endif
