/*
 * hub_impl - shared by the files of the hub: the open store, and a request that is being answered.
 */
#ifndef CLIQ_HUB_HUB_IMPL_H
#define CLIQ_HUB_HUB_IMPL_H

#include "base/boot_id.h"
#include "base/path.h"
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

/* Identifies a query: the statement's text, and the number it asks for. */
struct index_probe {
    const char *sql;
    uint64_t nth;
};

#define HUB_LIVE_KEYS   64
#define HUB_KEY_ID_SIZE 32
/* Ids of keys that are in force, by their hash; valid if is_of == fold.keys + 1. */
struct hub_live_keys {
    uint64_t is_of;
    char ids[HUB_LIVE_KEYS][HUB_KEY_ID_SIZE]; /* "": none */
};

/* Names of roles, rings and identities that were found; none of them ever goes. addressee.c */
enum { HUB_KNOWN_NAMES = 64 };
struct hub_known_names {
    uint64_t is_of;
    char names[HUB_KNOWN_NAMES][PATH_NAME_MAX + 2]; /* behind a letter for the kind; "": none */
};

/* The round under way. */
struct hub_round {
    enum status s;  /* the first failure, and */
    struct err e;   /* its sentence */
    bool is_begun;  /* it has the lock */
    bool is_behind; /* a rollback leaves the index behind the log */
    uint64_t first; /* number of the next line when it began */
};

struct hub {
    int dir;
    char config[PATH_MAX], path[PATH_MAX], index_path[PATH_MAX];
    struct hub_options o;
    struct log log;
    struct index *ix;
    struct fold fold;
    char boot[BOOT_ID_SIZE];
    struct hub_round round;
    struct hub_now now; /* the time of the round or the read */
    /* the lines of the round */
    struct buf text;
    struct hub_line *lines;
    size_t n_lines, cap_lines, unit;
    uint64_t next_seq;
    uint64_t left_at;           /* number of the next line when the lock was last released */
    bool is_delayed_file_old;   /* delayed.json lacks changes, when the index was last read */
    int64_t delayed_file_at_ms; /* it is not written before that boot time */
    bool is_changed;            /* the transaction holds lines of others, or of rounds before */
    bool is_kept;               /* lock and transaction are kept for the next round */
    int64_t kept_ms;            /* since that boot time */
    int64_t saved_ms;           /* boot time when the last commit began */
    bool is_read_only, is_disk_read_only;
    struct hub_live_keys live_keys;
    struct hub_known_names known_names;
    uint64_t oldest, oldest_is_of; /* hub_oldest_seq, and the state of the index it is of */
    /* write_retry.c */
    bool is_full;                       /* the last append failed */
    int64_t retry_wait_ms, retry_at_ms; /* back-off and boot time of the next write or repair */
    struct err trouble;                 /* why writes fail */
    bool is_behind;                     /* the index lacks lines of the log */
    int64_t fold_wait_ms, fold_at_ms;   /* back-off and boot time of the next fold */
    struct err behind;                  /* why the index could not be written */
    struct buf answer;                  /* in JSON, while an operation writes it */
    struct hub_time due;                /* the next timer, valid if due_is_of == fold.timers + 1 */
    uint64_t due_is_of;
    ino_t doubted;                 /* an index that could not be read, */
    struct index_probe doubted_by; /* the last query that failed on it, */
    int n_doubts;                  /* and how many did */
    bool is_ahead; /* a read holds the lock and a transaction that cannot be committed */
};

/* ---- write_retry.c ---- */

/* Takes the log's lock. After a failed sync it repairs the log first, unless it is too early. */
enum status hub_lock(struct hub *h, struct err *e);
void hub_note_trouble(struct hub *h, const struct err *why); /* a sync failed */
void hub_note_full(struct hub *h, const struct err *why);    /* an append failed */
void hub_note_room(struct hub *h);                           /* one did not */
void hub_note_behind(struct hub *h, const struct err *why);  /* the index could not be written */
void hub_note_level(struct hub *h);                          /* it has the whole log */

/* ---- delayed_file.c ---- */
/* In a transaction: is the file still the one that was written last? Else it counts as old. */
void hub_doubt_delayed_file(struct hub *h);
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
/* Deletes an index that has filled the disk, which may be why a round failed: it is made again
 * when there is room. With the lock, outside a transaction. */
void hub_free_room(struct hub *h);
/* Folds new lines into the index. If it cannot be committed (a full disk), the transaction and the
 * lock are kept until hub_end_read, so that the caller can read the whole log all the same. */
enum status hub_fold_others(struct hub *h, struct err *e);
/* With the log's lock: makes the index anew, and opens it. */
enum status hub_make_index(struct hub *h, struct err *e);
/* The same in steps: make it beside the old one, which others may read meanwhile; remove the old
 * one (index_remove); give the new one its name and open it. files: of the log; NULL: all. */
enum status hub_make_new_index(struct hub *h, const struct log_snapshot *files, struct err *e);
enum status hub_take_new_index(struct hub *h, struct err *e);
void hub_forget_new_index(const struct hub *h); /* instead of that */
/* With the log's lock: opens the index, and makes it if it is missing or damaged. */
enum status hub_open_index(struct hub *h, struct err *e);

/* ---- round.c ---- */

int64_t hub_clock_ms(clockid_t id);
void hub_look_at_clock(struct hub *h); /* sets h->now */
bool hub_is_untouched(const struct hub *h);
/* With the log's lock: opens a transaction in which the whole log is folded. */
enum status hub_begin(struct hub *h, struct err *e);
/* Answers one request within a transaction. */
void
hub_answer(struct hub *h, const struct hub_request *req, struct arena *a, struct hub_reply *reply);
void hub_reply_unavailable(struct hub_reply *r, const struct err *e, struct arena *a);
/* Writes an event into the round and applies it. False: too long, or no memory. */
bool hub_add_line(struct hub *h, const struct hub_event *ev, struct refusal *r);

/* ---- read.c ---- */

/* Without the lock: opens a transaction that shows the whole log. After ST_OK, hub_end_read. */
enum status hub_begin_read(struct hub *h, struct err *e);
void hub_end_read(struct hub *h);
/* Deletes a damaged index: the next call that needs one makes it again. Takes the lock. */
void hub_drop_index(struct hub *h);
/* A query failed, or worked: too many failures in a row delete the index. Takes no lock. */
void hub_doubt_index(struct hub *h, struct index_probe by);
void hub_trust_index(struct hub *h, struct index_probe by);

/* ---- live_keys.c ---- */

enum key_life { KEY_LIVES, KEY_GONE, KEY_EXPIRED };
/* In a transaction: is the key of the request in force? KEY_LIVES without a key. */
enum key_life hub_key_life(struct hub *h, const struct hub_request *r);

/* ---- store_guard.c ---- */

/* ST_REFUSED: others may write the store. */
enum status store_guard_check(const struct hub *h, struct err *e);

/* ---- readonly.c ---- */

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

/* Adds a warning to the reply; of many only the first HUB_WARNINGS are kept. */
void op_warn(struct op *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* May the caller read every signal, whomever it is for? */
static inline bool
op_reads_all(const struct op *t)
{
    return t->req->is_admin || t->req->reads_all;
}

/* ---- operations ---- each checks its arguments, writes its events (op_event) and its answer
 * (op.out); false: refused, op.refusal says why. round.c has the table of them. */
bool op_emit(struct op *t); /* emit.c: what brings signals */
bool op_emit_batch(struct op *t);
bool op_generate(struct op *t);
bool op_schedule(struct op *t);
bool op_cancel(struct op *t);
bool op_claim(struct op *t); /* claim_ops.c: what is done with them */
bool op_act(struct op *t);
bool op_receipt(struct op *t);
bool op_subscription(struct op *t); /* identity_ops.c */
bool op_woken(struct op *t);
bool op_define(struct op *t);
bool op_join(struct op *t);
bool op_key_create(struct op *t);
bool op_key_revoke(struct op *t);
bool op_lease_take(struct op *t); /* file_lease_ops.c */
bool op_lease_release(struct op *t);
bool op_leases(struct op *t);
bool op_inbox(struct op *t); /* query_ops.c: what only reads */
bool op_list(struct op *t);
bool op_thread(struct op *t);
bool op_get(struct op *t);
bool op_history(struct op *t);
bool op_people(struct op *t);
bool op_subscriptions(struct op *t);
bool op_delayed(struct op *t);
bool op_events(struct op *t);

/* ---- round.c ---- */
bool op_event(struct op *t, const struct hub_event *ev); /* hub_add_line for a request */

/* ---- timers.c ---- */
/* Is it certain that nothing is due? Then *in_ms is the time until something may be; INT64_MAX:
 * never. */
bool hub_is_nothing_due(const struct hub *h, int64_t *in_ms);
/* In a transaction: looks up what is due next. */
void hub_look_up_due(struct hub *h);
/* Ends signals that have expired and are not leased. */
void hub_do_lapses(struct hub *h, struct arena *a);
/* Expiries, retries and delayed signals that are due. False: the index failed. */
bool hub_do_due(struct hub *h, struct arena *a);
/* Writes the delivery of a delayed signal: the signal, and the line that ends the wait. */
bool hub_deliver(struct hub *h, const struct hub_event *was, struct refusal *r);

/* ---- file_lease_ops.c ---- */
/* Ends leases of files that are due, `most` at once; how many. */
size_t hub_do_file_leases(struct hub *h, struct arena *a, size_t most);

/* ---- addressee.c ---- */
/* Warns of a role, ring or identity that does not exist; with the argument `strict` refuses. */
bool op_check_addressee(struct op *t, const struct hub_event *ev);
/* Of a query that found nothing: warns when there is no such role or ring. */
void op_warn_unknown(struct op *t, bool is_ring, const char *key, const char *name);

/* ---- short_id.c ---- */
/* Completes an id that a person shortened to its beginning or end, of 6 characters or more, among
 * the signals that the caller may read. An id that fits none stays as it is. False: it fits
 * several; the refusal names them. `what` is the argument. */
bool op_full_id(struct op *t, const char *what, const char **id);
/* The same for what is no signal. */
enum short_id_of { SHORT_ID_KEY, SHORT_ID_DELAYED };
bool op_full_id_of(struct op *t, const char *what, enum short_id_of of, const char **id);

/* ---- emit.c ---- */
#define HUB_DEDUP_MS INT64_C(86400000) /* how long an idempotency key is remembered */
/* The idempotency key of this request, or NULL; what the client calls it. */
bool op_find_key(struct op *t, const char **key);
const char *op_key_name(const struct op *t);
bool op_dedup(struct op *t, const char *key, char hash[65], bool *is_done);
/* Renders the signal with that number, if there is one. */
bool op_render_at(struct op *t, uint64_t seq);

#endif
