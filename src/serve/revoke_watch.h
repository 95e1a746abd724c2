/*
 * revoked - keys that somebody else has just revoked.
 *
 * A key that a command revokes must not be taken by a running server from then on. The server folds
 * what others wrote some milliseconds later, in its worker, since the loop never waits for the
 * store's lock. So before a request with a key or a ticket is answered, or a round of them is done,
 * when the log's directory changed, or streams are to be told something, the loop looks whether the
 * log has become longer (one fstat), and reads the new lines for those that revoke. Their ids are
 * kept until the worker has folded them, for the index may still have the key.
 *
 *     request with a key -> revoke_watch_look -> `tell` each id: forget what is remembered of it,
 * its round of them                         tickets too, and end its streams, its claims that wait
 *                                           and its requests in that round
 *                        -> a key that is looked up now: revoke_watch_has? then it is none
 *     the worker has folded that far -> revoke_watch_forget
 *
 * The server's own lines are read, too: they are new bytes like any other, and most are passed over
 * by how they begin.
 */
#ifndef CLIQ_SERVE_REVOKE_WATCH_H
#define CLIQ_SERVE_REVOKE_WATCH_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

struct revoke_watch_id;

struct revoke_watch {
    int dir, fd; /* of the log; dir is borrowed; fd -1: it cannot be opened */
    dev_t dev;
    ino_t ino;
    off_t at;        /* lines before it were read */
    off_t size;      /* of the file, then */
    bool is_ending;  /* its last line was read: the name is soon another file's */
    size_t window;   /* bytes that are read at once */
    struct buf text; /* of them */
    struct arena arena;
    struct revoke_watch_id *first;
};

/* The log in `dir` as it is now was folded already. */
void revoke_watch_init(struct revoke_watch *r, int dir);
void revoke_watch_release(struct revoke_watch *r); /* safe on a zeroed struct with fd -1 */

void revoke_watch_look(struct revoke_watch *r, void (*tell)(void *ctx, const char *id), void *ctx);
bool revoke_watch_has(const struct revoke_watch *r, const char *id);
void revoke_watch_forget(struct revoke_watch *r);

#endif
