/*
 * hub - signals that provably arrive: one store, many doors.
 *
 * Everybody who wants something of the hub (the CLI on files, the server for its clients,
 * the C library) makes a request: who asks, which operation, and its arguments as JSON, the
 * same JSON that the HTTP body or query holds. hub_submit answers all requests of a round:
 *
 *     lock -> fold what others appended -> decide each (decide.h, pure) and apply its events
 *     to the index -> one write of all lines -> one sync -> commit the index -> unlock
 *
 * The truth is <config>/signals/events.jsonl (docs/formats/events.md), a sequenced log
 * (log/log.h). The index, <config>/signals/index.db (SQLite), is a fold of it: delete it and
 * it is made again. An answer with `status` below 300 to a request that writes means: on
 * disk. Lines that were written by others are folded first, whoever wrote them.
 *
 * Readers (hub_read) take no lock unless the log is longer than the index: then they fold
 * first, which does.
 *
 * Files, in reading order:
 *   model/    ops.def operations · events.def, hub_event.c lines of the log · decide.c the life of
 * a signal (pure) · args.c arguments · match.c patterns · time_arg.c times request/  emit.c,
 * write_ops.c, query_ops.c the operations · inbox_merge.c inboxes · timers.c leases, retries and
 * delayed signals that are due · render.c signals in JSON index/    fold.c log to index · index.c
 * SQLite · row_queue.c, row_thread.c rows written in batches · dirty_signals.c, ready_cache.c
 * caches · signal_row.c a signal's row .         open.c the store · round.c, round_lines.c a round
 * · write_retry.c lock and back-off · follow.c streams · readonly.c stores that may not be written
 * · verify.c statistics and checks · retention.c old segments · delayed_file.c delayed.json ·
 * waiting_agents.c agents to wake · api_key.c keys
 */
#ifndef CLIQ_HUB_HUB_H
#define CLIQ_HUB_HUB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "hub/model/scope.h"

#include <stdbool.h>
#include <stdint.h>

#define HUB_LIMIT_MAX      100
#define HUB_BATCH_MAX      1000 /* signals in one emit/batch; lines in one round */
#define HUB_LEASE_S        300
#define HUB_LEASE_MAX_S    (7 * 86400)
#define HUB_WAIT_MAX_S     60 /* of a claim */
#define HUB_MAX_DELIVERIES 5

enum hub_op {
#define OP(id, ...) HUB_##id,
#include "hub/model/ops.def"
    HUB_N_OPS
};

struct hub_op_info {
    const char *name;   /* "emit" */
    const char *method; /* "POST" */
    const char *path;   /* "/inbox/:target": `:x` becomes the argument x; NULL: no route */
    unsigned scope;
    bool writes;
    const char *answer; /* "Signal[]": see ops.def */
    const char *brief;
};
extern const struct hub_op_info hub_ops[HUB_N_OPS];

/* What an argument may be. A query has only texts: there "20" is a number, "a,b" a list. */
enum hub_arg_kind {
    ARG_TEXT,           /* 1 to 4,096 bytes, no NUL */
    ARG_STRING,         /* any text */
    ARG_TRIMMED,        /* a text that is not empty without the blanks around it */
    ARG_NAME,           /* 1 to 64 of A-Z a-z 0-9 . _ -, also with @ before it */
    ARG_ID,             /* of a signal, with or without "signal:" */
    ARG_INT,            /* min to max */
    ARG_NUMBER,         /* min to max */
    ARG_FLAG,           /* true or false */
    ARG_TIME,           /* hub/model/time_arg.h */
    ARG_WORD,           /* one of words */
    ARG_WORDS,          /* a list of them */
    ARG_TEXTS,          /* a list of texts */
    ARG_LIST,           /* any list */
    ARG_OBJECT,         /* any object */
    ARG_TEXT_OR_OBJECT, /* either */
    ARG_SOURCE,         /* hub/model/hub_event.h, or its type alone */
    ARG_SIGNALS,        /* a list of what emit takes */
    ARG_ANY,
};

/* An argument of an operation; the list ends with name NULL. */
struct hub_arg {
    const char *name;
    enum hub_arg_kind kind;
    double min, max;
    const char *words; /* "now recent": with one blank between them */
    bool is_required;
    const char *brief;
};
const struct hub_arg *hub_op_args(enum hub_op op);

/* For tables of them. */
#define A_TEXT           .kind = ARG_TEXT
#define A_STRING         .kind = ARG_STRING
#define A_TRIMMED        .kind = ARG_TRIMMED
#define A_NAME           .kind = ARG_NAME
#define A_ID             .kind = ARG_ID
#define A_INT(lo, hi)    .kind = ARG_INT, .min = (lo), .max = (hi)
#define A_NUMBER(lo, hi) .kind = ARG_NUMBER, .min = (lo), .max = (hi)
#define A_FLAG           .kind = ARG_FLAG
#define A_TIME           .kind = ARG_TIME
#define A_WORD(list)     .kind = ARG_WORD, .words = list
#define A_WORDS(list)    .kind = ARG_WORDS, .words = list
#define A_TEXTS          .kind = ARG_TEXTS
#define A_LIST           .kind = ARG_LIST
#define A_OBJECT         .kind = ARG_OBJECT
#define A_TEXT_OR_OBJECT .kind = ARG_TEXT_OR_OBJECT
#define A_SOURCE         .kind = ARG_SOURCE
#define A_SIGNALS        .kind = ARG_SIGNALS
#define A_ANY            .kind = ARG_ANY

struct hub_request {
    enum hub_op op;
    const char *identity;    /* who asks */
    bool is_admin;           /* an admin key, or the files themselves */
    bool is_file;            /* the files themselves: from_role may be one nobody made yet */
    bool is_system;          /* cliq itself: only then a source may be "system" */
    const char *about;       /* is_system: whom the signal is about; it does not receive it */
    const struct json *args; /* an object */
    const char *dedup_key;   /* Idempotency-Key, or NULL */
    const char *new_key;     /* is_system, to make a key: which one it is; NULL: a new one */
};

/* In the arena given. status is HTTP's: 200, 400 …; below 300 code is NULL. */
struct hub_reply {
    int status;
    const char *code, *message; /* "SIGNAL_CLAIM_CONFLICT", a sentence naming the field */
    const char *text;           /* the answer in JSON; NULL: null */
    const char *details;        /* of a refusal, in JSON, or NULL */
    const struct json *data;    /* the answer as a tree: set by hubclient_call, not by the hub */
    const char *cursor;         /* meta.cursor of lists; NULL: null or no list */
    bool has_cursor;            /* meta.cursor is to be shown, also when null */
    uint64_t seq;               /* of the last line it wrote; 0: none */
};

/* The answer as a tree; NULL: null, or no memory. */
const struct json *hub_reply_data(const struct hub_reply *r, struct arena *a);

struct hub;

struct hub_options {
    uint64_t rotate_bytes; /* of events.jsonl; 0: 256 MiB */
    unsigned lock_wait_ms; /* 0: 10 s */
    /* A store that may not be written is opened to be read: the log is folded in memory, and
     * what would write is refused (STORE_READ_ONLY). Else opening it fails. */
    bool may_be_read_only;
    /* For a thread that may not wait: it reads what others fold, and never locks the log or makes
     * an index. Without one it finds nothing (hub_is_ready), until somebody has made it. */
    bool never_waits;
    /* Told while the index is made again, every 50,000 events; may be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes);
    void *ctx;
    /* It is open for long and writes much: rounds are synced in a file of its own, which costs
     * less (log/presync.h). One such hub a store; others may write beside it as ever. */
    bool is_lasting;
    /* Told, while it is opened, what people should know; may be NULL. */
    void (*note)(void *ctx, const char *text);
    /* Called at the end of each hub_submit that did not fail, when the rows are committed and the
     * lock is free; may be NULL. Signals may have come for agents that sleep: wake_on_round
     * (wake/wake.h) starts them, so that no writer has to remember it. A server leaves it NULL: its
     * loop looks after every change of the log, its own or another's (serve/presence.h). */
    void (*on_round)(void *ctx, struct hub *h);
};

/* Said to whom it fails meanwhile. */
#define HUB_NO_INDEX "the index of the store is being made; try again soon"

/* Before the first hub_open, in a program that is ours alone and holds a store for long: SQLite
 * then does without the lock around every piece of memory. */
void hub_own_process(void);

/* Opens or makes <config>/signals (0700). An index that is missing, damaged or of another
 * version is made again. */
enum status
hub_open(struct hub **out, const char *config, const struct hub_options *o, struct err *e);
void hub_close(struct hub *h);
const char *hub_config(const struct hub *h); /* the directory it was opened in */

/* Answers all, in order; replies and what they point to live in the arena. A failed write or
 * sync answers all that wrote with 503 STORE_UNAVAILABLE. Blocks for the lock: not for a
 * loop's thread. Delayed signals, leases and retries that are due are done with it. */
void hub_submit(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                struct hub_reply *replies);

/* The same, for rounds that follow each other; on_disk is called, from this thread, when all is
 * written and synced. From then on requests, arena and replies are the caller's again. It is not
 * called when nothing was written, or when that failed.
 *
 * The lock and the index's transaction may be kept for the next round, which costs half of what
 * it would cost by itself: until hub_settle, which commits, or the next call that needs it so.
 * Others wait that long. hub_may_go_on: one more round, or is it time to settle? */
void hub_submit_then(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                     struct hub_reply *replies, void (*on_disk)(void *ctx), void *ctx);
bool hub_may_go_on(const struct hub *h);
/* The next round waited for so long already: it waits for the lock for so much less. */
void hub_has_waited(struct hub *h, int64_t ms);
void hub_settle(struct hub *h);

/* The same in steps, for a thread that may not wait: hub_try_begin only if nobody else has the lock
 * or wants it, nobody else wrote, and nothing is due; false: nothing was done. Then hub_try_decide,
 * as often as requests come, and hub_try_end with all of them: only now the replies count. In
 * between nothing else may be asked of this hub. */
bool hub_try_begin(struct hub *h);
void hub_try_decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                    struct hub_reply *replies);
void hub_try_end(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                 struct hub_reply *replies);

/* Between rounds that follow each other at once: lets others have the lock who wait for it. */
void hub_make_way(const struct hub *h);

/* After a failed sync everything that writes is refused until the log was mended, which hub_submit
 * (with n = 0, too) tries when it is time: hub_write_retry_in_ms. So it looks at a disk that was
 * full. When the index could not be written, what is in the log is missing in it until hub_submit
 * tries again: hub_fold_in_ms. -1: all is well. hub_trouble: why, NULL when all is well. */
const char *hub_trouble(const struct hub *h);
int64_t hub_write_retry_in_ms(const struct hub *h);
int64_t hub_fold_in_ms(const struct hub *h);
/* When hub_submit is to write delayed.json, which one that is lasting does not always do; -1: it is
 * up to date. */
int64_t hub_delayed_file_in_ms(const struct hub *h);

/* The same as hub_submit for one that does not write; may be called from one other thread than
 * hub_submit's with a hub of its own. */
void hub_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply);

/* The same, but it waits for nobody; false: the index is behind the log, ask hub_read. */
bool
hub_try_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply);

/* When something is due by the wall clock (a delayed signal, a lease, a retry), in ms from
 * now; -1: nothing is. hub_submit with n = 0 does it. */
int64_t hub_due_in_ms(struct hub *h);
/* The same without a look at the store; false: that would be needed. */
bool hub_knows_due(struct hub *h, int64_t *in_ms);

/* ---- following ---- all from the index: what is there is on disk */

/* The first signal behind the line `after`, as the hub shows it. ST_NOT_FOUND: none yet;
 * ST_IO: nobody knows, ask again later. */
enum status hub_next_signal(struct hub *h, uint64_t after, struct arena *a, uint64_t *seq,
                            const struct json **signal);
/* Folds what others appended; waits for the lock when there is something. */
enum status hub_catch_up(struct hub *h, struct err *e);
/* A signal as the broadcast door shows it: {id, type, source, data?, createdAt}. Here, and in what
 * follows: ST_NOT_FOUND: none, no; ST_IO: nobody can tell now. */
enum status
hub_broadcast_json(struct hub *h, uint64_t seq, struct arena *a, const struct json **signal);
/* Addressed to it, to its roles or its rings, or matched by a subscription of its. */
enum status hub_is_in_inbox(struct hub *h, const char *identity, uint64_t seq);
enum status hub_is_member(struct hub *h, const char *identity, const char *ring);
enum status hub_has_ring(struct hub *h, const char *ring);
/* The last line that was folded; 0: none, or it cannot be told. */
uint64_t hub_last_seq(struct hub *h);
/* The first line that hub_compact left. */
uint64_t hub_oldest_seq(struct hub *h);
/* As hub_check_key, of the keys that were folded: waits for nobody. */
enum status hub_find_key(struct hub *h, const char *key, struct arena *a, const char **id,
                         const char **identity, unsigned *scopes);
/* Is there an index? One that was deleted is made again, unless this hub never waits. */
bool hub_is_ready(struct hub *h);
/* Of the last round: how long the log was, its last line, and how often keys changed so far. */
int64_t hub_log_end(const struct hub *h);
uint64_t hub_log_seq(const struct hub *h); /* of its last line */
uint64_t hub_key_changes(const struct hub *h);
/* Goes up when one who found nothing to claim may find something. */
uint64_t hub_claim_epoch(const struct hub *h);

/* Whose key is it? ST_NOT_FOUND: nobody's, or revoked. Compared in constant time. */
enum status hub_check_key(struct hub *h, const char *key, struct arena *a, const char **identity,
                          unsigned *scopes, struct err *e);

/* ---- waking (SPEC 7) ---- */

/* A subscription that is not silent wakes: what it matches waits for the identity's agent
 * until HUB_WOKEN {identity, upto} notes that the agent was given it. What came before the
 * subscription was loud, or before there was an agent, wakes nobody; what it does not match
 * any more, neither. */

/* Identities that have an agent and a signal waiting; how many, in the arena. Of what was
 * folded, as hub_submit leaves it: waits for nobody. */
size_t hub_agents_to_wake(struct hub *h, struct arena *a, const char *const **ids);
/* Has it an agent? Of what was folded: waits for nobody. */
bool hub_has_agent(struct hub *h, const char *identity);

struct hub_batch {
    const char *agent, *dir; /* NULL: it has none */
    const struct json *list; /* of {event:"signal", channel:null, pattern, sequence, signal} */
    size_t n;
    uint64_t upto;
};
/* What waits for an identity, oldest first: HUB_BATCH_MAX of them at most, 8 MiB or one; up to the
 * signal `last`, 0: all. */
enum status hub_waiting(struct hub *h, const char *identity, uint64_t last, struct arena *a,
                        struct hub_batch *b, struct err *e);

/* ---- keeping it ---- */

struct hub_stats {
    uint64_t signals, events, pending, leased, acked, failed, dead_letter, delayed, subscriptions;
    uint64_t first_seq, last_seq, log_bytes, index_bytes;
};
enum status hub_stats(struct hub *h, struct hub_stats *s, struct err *e);
enum status hub_rebuild(struct hub *h, struct err *e);

/* Something that hub_check found. */
struct hub_finding {
    const char *file; /* a bad line of it; NULL: index and log differ */
    uint64_t line;
    const char *reason;
    bool is_note; /* what a crash left behind: no problem */
};
/* Reads every line of the log, then folds it anew beside the index and compares; tells what is
 * wrong with either. Nothing is changed, and the lock is had for a moment only: it is about log and
 * index as they were when it began. *problems: findings that are more than notes. */
enum status hub_check(struct hub *h, void (*tell)(void *ctx, const struct hub_finding *f),
                      void *ctx, uint64_t *problems, struct err *e);
/* Drops finished segments whose signals are all older than that and that nothing needs; keeps the
 * events of them that are still in force (retention.c), and makes the index anew. */
enum status
hub_compact(struct hub *h, int64_t older_than_ms, uint64_t *dropped_bytes, struct err *e);

#endif
