/*
 * hub_impl - what the files of the hub share: the store that is open, and a request that is
 * being answered.
 */
#ifndef CLIQ_HUB_HUB_IMPL_H
#define CLIQ_HUB_HUB_IMPL_H

#include "base/boot_id.h"
#include "hub/hub.h"
#include "hub/index/fold.h"
#include "hub/model/args.h"
#include "hub/request/render.h"

#include <limits.h>
#include <time.h>

/* A line of this round, in h->text. Lines of one unit go in one write. */
struct hub_line {
    size_t at, len, unit;
};

/* A question to the index: the statement's text, and the number that it asks for. */
struct index_probe {
    const char *sql;
    uint64_t nth;
};

/* How a round goes. */
struct hub_turn {
    enum status s;  /* what went wrong, and */
    struct err e;   /* why */
    bool is_begun;  /* we have the lock */
    bool is_behind; /* the index lacks what the log has, if nothing is committed */
    uint64_t first; /* the next line's number then */
};

struct hub {
    int dir;
    char config[PATH_MAX], path[PATH_MAX], index_path[PATH_MAX];
    struct hub_options o;
    struct log log;
    struct index *ix;
    struct fold fold;
    char boot[BOOT_ID_SIZE];
    struct hub_turn turn; /* of this round, */
    struct hub_now now;   /* and this, too */
    /* what this round writes */
    struct buf text;
    struct hub_line *lines;
    size_t n_lines, cap_lines, unit;
    uint64_t next_seq;
    uint64_t left_at;         /* the number of the next line when we let the lock go */
    bool is_delayed_file_old; /* delayed.json shows another queue, when the index was last looked at
                               */
    int64_t delayed_file_at_ms; /* not written before, by the clock of this boot */
    bool is_changed;            /* the transaction holds what others wrote, or rounds before */
    bool is_kept;               /* the lock and the transaction, for the next round */
    int64_t kept_ms;            /* since then, by the clock of this boot */
    int64_t saved_ms;           /* and a commit was begun last */
    bool is_read_only, is_disk_read_only;
    uint64_t oldest, oldest_is_of; /* hub_oldest_seq, and the state of the index it is of */
    bool is_full;                  /* the last append failed */
    int64_t retry_wait_ms,
        retry_at_ms;    /* after that, or a failed sync, by the clock of this boot */
    struct err trouble; /* why it is to be mended */
    bool is_behind;     /* the index lacks what the log has, and nobody else brings it */
    int64_t fold_wait_ms, fold_at_ms; /* then: when it is tried again, by the same clock */
    struct err behind;                /* and why */
    struct buf answer;                /* in JSON, while an operation writes it */
    struct hub_time due; /* next, when due_is_of is fold.timers plus 1; see fold.soonest */
    uint64_t due_is_of;
    ino_t doubted;                 /* an index that could not be read, */
    struct index_probe doubted_by; /* by whom last, */
    int n_doubts;                  /* and how often */
    bool is_ahead; /* a read has the lock and what could not be written (hub_end_read) */
};

/* ---- write_retry.c ---- */

/* The log's lock. After a failed sync it mends the log first, or says why not, and not too often.
 */
enum status hub_lock(struct hub *h, struct err *e);
void hub_note_trouble(struct hub *h, const struct err *why); /* a sync failed */
void hub_note_full(struct hub *h, const struct err *why);    /* an append failed */
void hub_note_room(struct hub *h);                           /* one did not */
void hub_note_behind(struct hub *h, const struct err *why);  /* the index could not be written */
void hub_note_level(struct hub *h);                          /* it has the whole log */

/* ---- delayed_file.c ---- */
/* In a transaction that is committed next: writes delayed.json if it is time. */
void hub_refresh_delayed_file(struct hub *h);
/* Is it? */
bool hub_is_delayed_file_due(const struct hub *h);
/* With the lock, without a transaction: writes it in any case. */
enum status hub_write_delayed_file(struct hub *h, struct err *e);
void hub_postpone_delayed_file(struct hub *h); /* nothing can be written now */

#define HUB_EVENTS_NAME "events.jsonl"

/* ---- open.c ---- */

void hub_use_index(struct hub *h, struct index *ix); /* NULL: none */
void hub_close_index(struct hub *h);
/* If the index has filled the disk, which a failed round may come from, it gives that back: it is a
 * view of the log, and made again when there is room. With the lock, outside a transaction. */
void hub_free_room(struct hub *h);
/* Brings the index up to date. If it cannot be written (a full disk), what is in the log can be
 * read all the same, from the open transaction: then it stays open, and the lock is kept, until
 * hub_end_read. */
enum status hub_fold_others(struct hub *h, struct err *e);
/* A damaged index goes, and is made again by whoever needs it next. Without the lock. */
void hub_drop_index(struct hub *h);
/* With the log's lock: makes the index anew, and opens it. */
enum status hub_make_index(struct hub *h, struct err *e);
/* The same in steps. It is made beside the old one, which others may read meanwhile; the old one is
 * removed (index_remove); the new one gets its name, and is opened. files: of the log, NULL: as
 * they are. */
enum status hub_make_new_index(struct hub *h, const struct log_snapshot *files, struct err *e);
enum status hub_take_new_index(struct hub *h, struct err *e);
void hub_forget_new_index(const struct hub *h); /* instead of that */
/* With the log's lock: opens a transaction in which the whole log is folded. */
enum status hub_begin(struct hub *h, struct err *e);

/* ---- round_lines.c ---- */

int64_t hub_clock_ms(clockid_t id);

/* Without it: opens one to read, which shows the whole log. After ST_OK, hub_end_read. */
enum status hub_begin_read(struct hub *h, struct err *e);
void hub_end_read(struct hub *h);
/* The index seems to be damaged, or this look at it went well. Takes no lock. */
void hub_doubt_index(struct hub *h, struct index_probe by);
void hub_trust_index(struct hub *h, struct index_probe by);

/* ---- readonly.c ---- */

/* May the store be read, but not written? */
bool readonly_is(struct hub *h);
enum status readonly_refuse(const struct hub *h, struct err *e); /* why; never ST_OK */
/* The index in memory as the log is now. */
enum status readonly_catch_up(struct hub *h, struct err *e);

struct op {
    struct hub *h;
    const struct hub_request *req;
    struct arena *a;
    struct hub_reply *reply;
    struct buf *out; /* the answer in JSON; empty: null */
    struct refusal refusal;
    struct args_in in;
};

/* ---- operations ---- each checks its arguments, writes its events (op_event) and its answer
 * (op.out); false: refused, op.refusal says why. round.c has the table of them. */
bool op_emit(struct op *t); /* emit.c: what brings signals */
bool op_emit_batch(struct op *t);
bool op_generate(struct op *t);
bool op_schedule(struct op *t);
bool op_cancel(struct op *t);
bool op_claim(struct op *t); /* write_ops.c: what changes them, and everything else */
bool op_act(struct op *t);
bool op_receipt(struct op *t);
bool op_subscription(struct op *t);
bool op_woken(struct op *t);
bool op_define(struct op *t);
bool op_join(struct op *t);
bool op_key_create(struct op *t);
bool op_key_revoke(struct op *t);
bool op_inbox(struct op *t); /* query_ops.c: what only reads */
bool op_list(struct op *t);
bool op_thread(struct op *t);
bool op_get(struct op *t);
bool op_history(struct op *t);
bool op_people(struct op *t);
bool op_subscriptions(struct op *t);
bool op_delayed(struct op *t);
bool op_events(struct op *t);

/* ---- round_lines.c ---- */
/* Writes an event into the round and applies it. False: too long, or no memory. */
bool hub_add_line(struct hub *h, const struct hub_event *ev, struct refusal *r);
bool op_event(struct op *t, const struct hub_event *ev);

/* ---- timers.c ---- */
/* Is it certain that nothing is due? Then *in_ms is the time until something may be; INT64_MAX:
 * never. */
bool hub_is_nothing_due(const struct hub *h, int64_t *in_ms);
/* In a transaction: looks up what is due next. */
void hub_look_up_due(struct hub *h);
/* Expiries, retries and delayed signals that are due. False: the index failed. */
bool hub_do_due(struct hub *h, struct arena *a);

/* ---- emit.c ---- */
#define HUB_DEDUP_MS INT64_C(86400000) /* how long an idempotency key is remembered */
/* The idempotency key of this request, or NULL; what the client calls it. */
bool op_find_key(struct op *t, const char **key);
const char *op_key_name(const struct op *t);
bool op_dedup(struct op *t, const char *key, char hash[65], bool *is_done);
/* Renders the signal with that number, if there is one. */
bool op_render_at(struct op *t, uint64_t seq);

#endif
