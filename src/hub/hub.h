/*
 * hub - the signal store: requests in, answers out.
 *
 * A caller (the CLI on files, the server, the C library) makes a request: an identity, an operation
 * and its arguments as JSON, the same JSON that an HTTP body or query holds. hub_submit answers all
 * requests of a round:
 *
 *     lock -> fold what others appended -> decide each request (model/decide.h, pure) and apply its
 *     events to the index -> one write of all lines -> one fdatasync -> commit the index -> unlock
 *
 * The truth is <config>/signals/events.jsonl (docs/formats/events.md), a sequenced log (log/log.h).
 * The index, <config>/signals/index.db (SQLite), is a fold of it: delete it and the next call makes
 * it again. An answer with `status` below 300 to a request that writes means: on disk.
 *
 * hub_read takes no lock, unless the log is longer than the index: then it folds first.
 *
 * Files, in reading order:
 *
 *     model/    ops.def the operations, events.def the lines, decide.c what a command does to a
 *               signal; pure
 *     open.c    opens log and index            round.c        one round, see hub_writer.h
 *     read.c    requests that do not write     write_retry.c  the lock; back-off after failures
 *     follow.c  signals in order               request/       each operation, timers, JSON answers
 *     index/    SQLite and its caches; fold.c applies lines to it
 *     verify.c  stats, check, rebuild          retention.c    deletes old segments
 *     live_keys.c is the caller's key still in force?
 *     store_guard.c may others write the store?
 *     readonly.c, delayed_file.c (delayed.json), waiting_agents.c, api_key.c
 *
 * Tests: test/unit/test_hub_*.c test/fault/test_hub.c test/scenario/hub_*.bats
 */
#ifndef CLIQ_HUB_HUB_H
#define CLIQ_HUB_HUB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "hub/model/arg.h"
#include "hub/model/scope.h"

#include <stdbool.h>
#include <stdint.h>

#define HUB_LIMIT_MAX      100
#define HUB_BATCH_MAX      1000 /* signals in one emit/batch; lines in one round */
#define HUB_LEASE_S        300
#define HUB_FILE_LEASE_S   1800
#define HUB_LEASE_MAX_S    (7 * 86400)
#define HUB_KEY_TTL_MAX_S  (10 * 366 * 86400)
#define HUB_WAIT_MAX_S     60 /* of a claim */
#define HUB_MAX_DELIVERIES 5
#define HUB_NAME_MAX       64 /* bytes of the name of an identity, a role or a ring */

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

const struct hub_arg *hub_op_args(enum hub_op op);

struct hub_request {
    enum hub_op op;
    const char *identity; /* the caller */
    const char *key;      /* the id of the key it came with, which must be in force; NULL: none */
    bool is_admin;        /* an admin key, or the files themselves */
    bool reads_all;       /* the scope audit: every signal may be read */
    bool is_file;         /* the files themselves: from_role need not exist */
    bool is_system;       /* cliq itself: only then a source may be "system" */
    const char *about;    /* is_system: the identity it is about, which does not receive it */
    const struct json *args; /* an object */
    const char *dedup_key;   /* Idempotency-Key, or NULL */
    const char *new_key;     /* is_system, HUB_KEY_CREATE: the key; NULL: a random one */
};

/* In the arena given. status is HTTP's: 200, 400 …; below 300 code is NULL. */
#define HUB_WARNINGS 10 /* of one reply */
struct hub_reply {
    int status;
    const char *code, *message;  /* "SIGNAL_CLAIM_CONFLICT", a sentence naming the field */
    const char *text;            /* the answer in JSON; NULL: null */
    const char *details;         /* of a refusal, in JSON, or NULL */
    const struct json *data;     /* the answer as a tree: set by hubclient_call, not by the hub */
    const char *cursor;          /* meta.cursor of lists; NULL: null or no list */
    bool has_cursor;             /* meta.cursor is to be shown, also when null */
    const char *const *warnings; /* meta.warnings: the request was done, but is odd */
    size_t n_warnings;
    uint64_t seq; /* of the last line it wrote; 0: none */
};

/* The data, parsed if the answer is text; NULL: null, or out of memory. */
const struct json *hub_reply_data(const struct hub_reply *r, struct arena *a);

struct hub;

struct hub_options {
    uint64_t rotate_bytes; /* of events.jsonl; 0: 256 MiB */
    unsigned lock_wait_ms; /* 0: 10 s */
    /* A store without write permission is opened for reading: the log is folded in memory, and
     * requests that write are refused (STORE_READ_ONLY). Otherwise opening it fails. */
    bool may_be_read_only;
    /* For a thread that must not wait: reads what others fold, and never locks the log or makes an
     * index. Until another hub has made one it finds nothing (hub_is_ready). */
    bool never_waits;
    /* Called while the index is made again, every 50,000 events; may be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes);
    void *ctx;
    /* The process stays and writes much: rounds are synced in a pre-sync file, which costs less
     * (log/presync.h). One such hub per store; other processes may write beside it. */
    bool is_lasting;
    /* Called with warnings for people: during hub_open, and when lines of the log are gone; may be
     * NULL. */
    void (*note)(void *ctx, const char *text);
    /* Called at the end of each hub_submit that did not fail, when the rows are committed and the
     * lock is free; may be NULL. Signals may have come for agents that sleep: wake_on_round
     * (wake/wake.h) starts them, so that no writer has to remember it. A server leaves it NULL: its
     * loop looks after every change of the log, its own or another's (serve/presence.h). */
    void (*on_round)(void *ctx, struct hub *h);
};

/* The message of a failure while the index is being made. */
#define HUB_NO_INDEX "the index of the store is being made; try again soon"

/* Opens or makes <config>/signals (0700). An index that is missing, damaged or of another version
 * is made again. */
enum status
hub_open(struct hub **out, const char *config, const struct hub_options *o, struct err *e);
void hub_close(struct hub *h);
const char *hub_config(const struct hub *h); /* the directory it was opened in */

/* Answers all requests of one round, in order; replies and what they point to live in the arena.
 * After a failed write or sync all replies are 503 STORE_UNAVAILABLE. Blocks for the lock and the
 * disk. Also does what is due: delayed signals, leases, retries; with n = 0 only that. */
void hub_submit(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                struct hub_reply *replies);

/* Answers a request that does not write. Another thread needs a hub of its own. */
void hub_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply);

/* The same without waiting. False: the index is behind the log; call hub_read. */
bool
hub_try_read(struct hub *h, const struct hub_request *r, struct arena *a, struct hub_reply *reply);

/* Milliseconds until something is due (a delayed signal, a lease, a retry); -1: nothing is.
 * hub_submit with n = 0 does it. */
int64_t hub_due_in_ms(struct hub *h);

/* ---- following ---- from the index, so only lines that are on disk */

/* The first signal after the line `after`, as the hub shows it. ST_NOT_FOUND: none yet;
 * ST_IO: the index cannot be read now; try later. */
enum status hub_next_signal(struct hub *h, uint64_t after, struct arena *a, uint64_t *seq,
                            const struct json **signal);
/* Folds what others appended; waits for the lock if there is something to fold. */
enum status hub_catch_up(struct hub *h, struct err *e);
/* A signal as the broadcast API shows it: {id, type, source, data?, createdAt}. Here and below
 * ST_NOT_FOUND means none, or no; ST_IO: the index cannot be read now. */
enum status
hub_broadcast_json(struct hub *h, uint64_t seq, struct arena *a, const struct json **signal);
/* Is it addressed to the identity, its roles or its rings, or matched by its subscriptions? */
enum status hub_is_in_inbox(struct hub *h, const char *identity, uint64_t seq);
enum status hub_is_member(struct hub *h, const char *identity, const char *ring);
/* Number of the last folded line; 0: none, or the index cannot be read. */
uint64_t hub_last_seq(struct hub *h);
/* Number of the last line that tells of lost ones (`cut`, docs/formats/events.md): a reader that
 * followed the log up to a line before it may know signals that are gone. 0: none. */
uint64_t hub_last_cut(struct hub *h);
/* How many bad lines of the log every reader passes over: damage, not what crashes leave. */
uint64_t hub_bad_lines(struct hub *h);
/* For people; needs the number, and "s" unless it is 1. */
#define HUB_BAD_LINES_SAYS                                                                         \
    "%" PRIu64 " bad line%s in events.jsonl passed over; cliq hub check tells which"
/* Number of the oldest line that hub_compact left. */
uint64_t hub_oldest_seq(struct hub *h);
/* A key that was found. Texts live in the arena given. */
struct hub_key {
    const char *id, *identity;
    unsigned scopes;
    int64_t until_ms; /* by the wall clock; 0: for ever */
};
#define HUB_KEY_EXPIRED "the key has expired; an admin makes a new one (cliq key create)"
/* As hub_check_key, among the folded keys only: never waits. Finds keys that have expired, too. */
enum status hub_find_key(struct hub *h, const char *key, struct arena *a, struct hub_key *out);
/* Is there an index? A deleted one is made again, unless this hub never waits. */
bool hub_is_ready(struct hub *h);
/* Finds the identity of a key. ST_NOT_FOUND: unknown, revoked or expired. Compared in constant
 * time. */
enum status hub_check_key(struct hub *h, const char *key, struct arena *a, const char **identity,
                          unsigned *scopes, struct err *e);

/* ---- waking (SPEC 7) ---- */

/* A subscription that is not silent wakes: signals that it matches wait for the identity's agent
 * until HUB_WOKEN {identity, upto} records that the agent got them. Signals older than the
 * subscription, or than the agent, wake no agent; signals that it no longer matches neither. */

/* Identities that have an agent and a waiting signal, in the arena; returns how many. Reads folded
 * lines only: never waits. */
size_t hub_agents_to_wake(struct hub *h, struct arena *a, const char *const **ids);
/* Has the identity an agent? Never waits. */
bool hub_has_agent(struct hub *h, const char *identity);

/* Of one that waits: which, from whom, and what it is. */
struct hub_waiting_signal {
    uint64_t seq;
    const char *sender; /* an identity; NULL: none */
    bool is_task;
    bool is_life;        /* it tells of the sender's life: agent:<sender>:… */
    bool is_cliqs_alert; /* of the end of a chain (wake/wake_chain.h) */
};

struct hub_batch {
    const char *agent, *dir; /* NULL: the identity has no agent */
    const struct json *list; /* of {event:"signal", channel:null, pattern, sequence, signal} */
    struct hub_waiting_signal *signals; /* the same ones */
    size_t n;
    uint64_t upto;
};
/* The signals that wait for an identity, oldest first, up to the signal `last` (0: all); at most
 * HUB_BATCH_MAX, and 8 MiB unless a single one is larger. */
enum status hub_waiting(struct hub *h, const char *identity, uint64_t last, struct arena *a,
                        struct hub_batch *b, struct err *e);

/* ---- maintenance ---- */

struct hub_stats {
    uint64_t signals, events, pending, leased, acked, failed, dead_letter, expired, delayed,
        subscriptions;
    uint64_t first_seq, last_seq, log_bytes, index_bytes, bad_lines;
};
enum status hub_stats(struct hub *h, struct hub_stats *s, struct err *e);
enum status hub_rebuild(struct hub *h, struct err *e);

/* One finding of hub_check. */
struct hub_finding {
    const char *file; /* with a bad line; NULL: index and log differ */
    uint64_t line;
    const char *reason;
    bool is_note; /* left by a crash: no problem */
};
/* Reads every line of the log, folds it into a second index, compares the two, and tells each
 * finding. Changes nothing and holds the lock for a moment only: it checks log and index as they
 * were when it began. *problems: findings that are not notes. */
enum status hub_check(struct hub *h, void (*tell)(void *ctx, const struct hub_finding *f),
                      void *ctx, uint64_t *problems, struct err *e);
/* Deletes finished segments whose signals are all older and no longer needed, after copying the
 * events still in force (hub/retention.c), and makes the index again. */
enum status
hub_compact(struct hub *h, int64_t older_than_ms, uint64_t *dropped_bytes, struct err *e);

#endif
