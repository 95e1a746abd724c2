/*
 * hub_writer - a round in steps, for the process that writes all the time: the server.
 *
 * hub_submit (hub.h) does all steps of a round and blocks. The server's loop does them one by one:
 * it begins only if that needs no waiting, reads more requests between two decisions, and keeps
 * lock and transaction for the next round, which costs half of what a round alone does.
 *
 *     hub_round_begin     lock the log; fold what others appended; do what is due
 *           |
 *     hub_round_decide    check each request, compose its lines, apply them to the index    <-.
 *           |                                                                                 |
 *           |------------------ more requests arrived ----------------------------------------'
 *     hub_round_end       one write, one fdatasync: from here on the replies count
 *           |
 *           |------------------ hub_may_go_on: the next hub_round_begin keeps the lock
 *     hub_settle          commit the index, unlock: other processes see it and may write
 *
 * After a failed write or sync every reply of the round is 503, the index is rolled back and
 * nothing stays locked. Between hub_round_begin and hub_round_end no other call of this hub is
 * allowed. Only one thread at a time may use a hub.
 *
 * Tests: test/unit/test_hub_*.c test/unit/test_hub_delayed_file.c test/fault/test_hub.c
 */
#ifndef CLIQ_HUB_HUB_WRITER_H
#define CLIQ_HUB_HUB_WRITER_H

#include "hub/hub.h"

/* may_wait false: begins only if the lock is free and no other process waits for it, no other
 * process wrote since, the index is there, and nothing is due. False: nothing was done. With
 * may_wait it is always true; a failure shows in the replies of hub_round_end. */
bool hub_round_begin(struct hub *h, bool may_wait);
/* May be called several times; the replies are not valid before hub_round_end. */
void hub_round_decide(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                      struct hub_reply *replies);
/* With all requests and replies of the round. Lock and transaction are kept if it wrote. False: the
 * index was damaged and is deleted; all replies are 503, and hub_submit would make a new one. */
bool hub_round_end(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
                   struct hub_reply *replies);
/* Commits and unlocks. hub_read, hub_submit and hub_close do it, too, when they need to. */
void hub_settle(struct hub *h);

/* May the next round use the kept lock? Not after 100 ms, or when another process wants it. */
bool hub_may_go_on(const struct hub *h);
/* The requests of the next round waited that long already: it waits less for the lock. */
void hub_has_waited(struct hub *h, int64_t ms);
/* Before a round that may wait: settles unless hub_may_go_on. If another process wants the lock,
 * sleeps 1 ms, too, because flock is not fair. */
void hub_make_way(struct hub *h);

/* How the store is after the last round. */
struct hub_news {
    int64_t log_end;      /* bytes of events.jsonl */
    uint64_t last_seq;    /* number of the last line on disk */
    uint64_t key_changes; /* changes whenever a key was made or revoked */
    uint64_t claim_epoch; /* changes whenever a task may have become claimable */
    uint64_t bad_lines;   /* hub_bad_lines */
    uint64_t last_cut;    /* hub_last_cut */
    bool is_stuck;        /* lines cannot be written; false: the trouble, if any, is the index's */
    const char *trouble;  /* hub_trouble, until the next call */
};
struct hub_news hub_news(const struct hub *h);
int64_t hub_log_end(const struct hub *h);

/* ---- when to call hub_submit with n = 0 ---- milliseconds from now; -1: never */

/* Writes are refused after a failed sync until the log was repaired; a full disk is tried again. */
int64_t hub_write_retry_in_ms(const struct hub *h);
/* The index could not be written and lacks lines of the log. */
int64_t hub_fold_in_ms(const struct hub *h);
/* delayed.json is old: a hub that is_lasting writes it once a second at most. */
int64_t hub_delayed_file_in_ms(const struct hub *h);
/* As hub_due_in_ms, without a look at the store. False: only that look could tell. */
bool hub_knows_due(struct hub *h, int64_t *in_ms);
/* Why writes fail, or why the index is behind; NULL: all is well. */
const char *hub_trouble(const struct hub *h);

/* ---- opening ---- */

/* Before the first hub_open, in a process that only serves the hub: SQLite then allocates without
 * a lock. */
void hub_own_process(void);

#endif
