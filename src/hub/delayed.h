/*
 * delayed - signals that wait for their time. Pure: no clock, no file, no log.
 *
 * The queue gives what is due in the order of (deliverAt, type, id). An id is in it once,
 * and so is a pair of type and repeatKey: scheduling the same pair again replaces the older
 * one. Adding, cancelling and taking cost O(log n).
 *
 * Delivery is at least once: what is taken stays in the queue, set aside, until the caller
 * knows whether it was delivered.
 *
 *     while ((item = delayed_take_due(&q, now_ms)))
 *         ... add it to what is going to be written ...
 *     s = ... write ...
 *     delayed_settle(&q, !s);         delivered: they are gone; not: they are due again
 *
 * The view (delayed_view.c) is what <config>/signals/delayed.json holds, sorted like the
 * queue, two spaces a level, ended by '\n':
 *
 *     version      1
 *     events       a list of
 *       id         of the delayed signal; trimmed, not empty
 *       type       trimmed, not empty
 *       deliverAt  milliseconds since 1970, 0 to WHEN_MAX_MS
 *       source     hub/source.h
 *       data       any JSON, may be missing; nested DELAYED_DATA_DEPTH deep at most
 *       repeatKey  trimmed, not empty, may be missing
 *       createdAt, updatedAt   like deliverAt
 *
 * Reading is strict. A key that is not named here, a value of another kind, a pair that is
 * there twice, a torn or empty file: ST_INVALID, with the place. A damaged file is never taken
 * for an empty one, or the next write would make it one.
 *
 * Ownership: what is added is copied. Items that are handed out live until they are removed
 * or settled. Zero is an empty queue; release is safe on any state.
 */
#ifndef CLIQ_HUB_DELAYED_H
#define CLIQ_HUB_DELAYED_H

#include "base/json.h"
#include "hub/source.h"
#include "hub/text.h"

#include <stdint.h>

#define DELAYED_DATA_DEPTH (JSON_MAX_DEPTH - 3) /* the view puts three levels around it */
#define DELAYED_WAIT_MS    60000                /* a clock that was set is noticed after this */

struct delayed_item {
    struct text id, type;
    struct text repeat_key; /* length 0: none */
    int64_t deliver_at_ms, created_at_ms, updated_at_ms;
    struct source source;
    struct text data; /* JSON; length 0: none */
};

struct delayed {
    struct delayed_entry **list; /* a heap of n_timed, then those set aside */
    size_t n_timed, n, cap;
    void *by_id, *by_key; /* trees of search.h */
};

void delayed_release(struct delayed *q);

/* Replaces what has the same type and repeatKey. ST_INVALID: the item breaks a rule above;
 * ST_CONFLICT: the id is in the queue already. Nothing has changed then. */
enum status delayed_add(struct delayed *q, const struct delayed_item *item, struct err *e);

/* Was it there? */
bool delayed_cancel(struct delayed *q, struct text id);
/* All with this key, of this type or (type.p NULL) of any. *removed says how many. */
enum status delayed_cancel_key(struct delayed *q, struct text type, struct text repeat_key,
                               size_t *removed, struct err *e);

const struct delayed_item *delayed_find(const struct delayed *q, struct text id); /* or NULL */
/* The earliest that is not set aside, due or not; NULL when there is none. */
const struct delayed_item *delayed_next(const struct delayed *q);
/* How long to wait for it, at most DELAYED_WAIT_MS; 0: it is due; -1: there is none. */
int64_t delayed_wait_ms(const struct delayed *q, int64_t now_ms);

/* The earliest, if its time has come: it is set aside. Else NULL. */
const struct delayed_item *delayed_take_due(struct delayed *q, int64_t now_ms);
/* What was set aside is removed, or back in its place. */
void delayed_settle(struct delayed *q, bool is_delivered);

/* Every item, also those set aside, in order: q->n pointers in the arena. NULL: no memory. */
const struct delayed_item **delayed_sorted(const struct delayed *q, struct arena *a);

/* The view; check the buf afterwards. ST_IO: no memory. */
enum status delayed_write(const struct delayed *q, struct buf *to, struct err *e);
/* The queue must be empty and is after a failure. `name` stands before the place in sentences. */
enum status
delayed_read(struct delayed *q, const char *name, const char *text, size_t len, struct err *e);

#endif
