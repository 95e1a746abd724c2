/*
 * decide - the life of a signal: what a command does to it, and whether it may.
 *
 *          claim            ack, done, cancelled
 *   pending -----> leased ----------------------> acked
 *    ^  ^  ^---------'| |                           ^
 *    |  |  release,   | | fail                      | ack by an addressee
 *    |  |  expire     | v                           |
 *    |  '---------- failed        (pending ---------')
 *    |     retry      | | the fifth time
 *    '---------- dead_letter
 *       requeue
 *
 *   A pending or failed signal whose expires_at has passed lapses: it is expired. A leased one does
 *   so when its lease has ended.
 *
 *   task_status: open -> claimed -> in_progress <-> blocked -> done | cancelled
 *   (release, expire, fail and requeue: open again; cancelled from every state but done)
 *
 * Pure: state, command and time in; an event or a refusal out. item_apply is the one place where an
 * event changes a signal, for our lines and for foreign ones: an event that the present state does
 * not allow changes nothing (the first valid one wins). It reads no clock, so every reader of the
 * log arrives at the same state.
 *
 * Tests: test/unit/test_hub_decide.c
 */
#ifndef CLIQ_HUB_MODEL_DECIDE_H
#define CLIQ_HUB_MODEL_DECIDE_H

#include "hub/hub.h"
#include "hub/model/hub_event.h"

enum delivery { D_PENDING, D_LEASED, D_ACKED, D_FAILED, D_DEAD_LETTER, D_EXPIRED, DELIVERIES };
enum work { W_NONE, W_OPEN, W_CLAIMED, W_IN_PROGRESS, W_BLOCKED, W_DONE, W_CANCELLED, WORKS };

extern const char *const delivery_names[DELIVERIES]; /* "pending" */
extern const char *const work_names[WORKS + 1];      /* NULL, "open", …, NULL */
int delivery_find(const char *name);                 /* -1: no such */
int work_find(const char *name);

/* The part of a signal that changes. Texts are borrowed. */
struct item {
    uint64_t seq;
    const char *id; /* bare */
    enum delivery state;
    enum work work; /* W_NONE: not a task */
    int64_t count;  /* deliveries that came to nothing */
    /* the claim, if any; after an ack it stays, without a time */
    const char *claimed_by, *claim;
    int64_t claimed_at;
    /* when the lease ends, or the retry comes: wall ms, and ms since the boot called `boot` */
    int64_t until, boot_until;
    const char *boot;
    /* what ended the last claim, and whose it was: recognises repeated commands */
    enum hub_event_kind last;
    const char *last_by, *last_claim;
};

/* Is nothing left to be done: acked or expired? */
static inline bool
item_is_settled(const struct item *it)
{
    return it->state == D_ACKED || it->state == D_EXPIRED;
}

/* Applies a bookkeeping event; false: not valid in this state, nothing changed. */
bool item_apply(struct item *it, const struct hub_event *ev);

/* A time by both clocks; INT64_MAX: never. */
struct hub_time {
    int64_t wall_ms, boot_ms;
};

/* Clocks are cut to milliseconds. A lease that is checked against boot_ms starts at boot_up_ms, so
 * it never ends early; nor by the wall times in the log, as boot_ms is read before wall_ms, and
 * boot_up_ms after it. */
struct hub_now {
    int64_t wall_ms, boot_ms;
    int64_t boot_up_ms; /* rounded up */
    const char *boot;   /* "": unknown, then wall time alone counts */
};
/* Is the time over? By the clock of this boot if it was set in this boot, else by the wall. */
bool is_due(const struct hub_now *now, int64_t until, int64_t boot_until, const char *boot);

/* Who sent the command. */
struct asker {
    const char *identity;
    bool is_admin;
    bool is_addressee; /* the signal is for them, or for everyone */
    bool is_sender;    /* of the signal */
    bool is_everyones; /* the signal has no addressee */
};

/* The command's arguments. */
struct order {
    const char *claim;     /* claim_id, or NULL */
    const char *new_claim; /* for a claim: its id */
    int64_t lease_ms;
    int64_t retry_ms; /* of a fail; -1: by back-off */
    const struct json *error;
    enum work work;
};

struct refusal {
    int status;
    const char *code; /* a constant */
    char message[512];
};
/* Fills it and returns false. */
bool refuse(struct refusal *r, int status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* For want of memory. */
bool refuse_starved(struct refusal *r);

enum decision {
    DECIDE_REFUSED,
    DECIDE_EVENT,  /* *out is to be written */
    DECIDE_REPEAT, /* it was done before: nothing to write, and no failure */
};

/* For claim, ack, extend, release, fail, status and requeue. */
enum decision
decide_item(enum hub_op op, const struct item *it, const struct order *o, const struct asker *who,
            const struct hub_now *now, struct hub_event *out, struct refusal *r);

/* 1 s doubled with every failure, at most 5 min. */
int64_t decide_backoff_ms(int64_t failures);

#endif
