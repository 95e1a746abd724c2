/*
 * found - a signal as the index has it: what was emitted, and what became of it.
 */
#ifndef CLIQ_HUB_FOUND_H
#define CLIQ_HUB_FOUND_H

#include "hub/decide.h"
#include "hub/index.h"

/* Texts may be NULL. head and tail, if somebody made them: how it is shown in JSON, but for what
 * became of it, which stands between them (show_text_of). */
struct found {
    struct item it; /* what became of it */
    const char *type, *sender, *addr, *thread, *body, *head, *tail;
    const char *lines; /* that changed it, the newest of them (told.h) */
    double urgency;
};

/* A statement for found_read: FOUND "FROM signals s" INDEX_STATES " WHERE ..." */
#define FOUND                                                                                      \
    "SELECT s.seq, s.id, s.type, s.sender, s.addr, s.thread, s.urgency, s.body, s.task, w.state,"  \
    " w.work, w.count, w.claimed_by, w.claim, w.claimed_at, w.until, w.boot_until, w.boot,"        \
    " w.last, w.last_by, w.last_claim, w.lines "

/* The next row; texts in the arena. False: no more, or no memory. */
bool found_read(struct index *ix, struct row *r, struct arena *a, struct found *x);
/* Copies the texts. False without memory. */
bool found_dup(struct found *to, const struct found *x, struct arena *a);

bool found_is_waiting(const struct found *x);  /* has an address, and was not acked */
bool found_is_ready(const struct found *x);    /* a task that can be claimed */
const char *found_list(const struct found *x); /* its address in `ready`: everyone's is '' */

#endif
