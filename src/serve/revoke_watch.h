/*
 * revoke_watch - finds keys that another process just revoked.
 *
 * A running server must not accept a key after a command has revoked it. The server folds lines of
 * others some milliseconds later, in its worker, because the loop never waits for the lock. So the
 * loop looks whether the log has grown (one fstat) and reads the new lines for revocations: before
 * a request with a key or ticket is answered, before a round, when the log's directory changed, and
 * before streams are told of new lines. The ids are kept until the index has them, too.
 *
 *     auth_check_revoked -> revoke_watch_look -> `tell` for each id (auth.h says what ends)
 *     a key is looked up -> revoke_watch_has: it is refused
 *     the index is that far -> revoke_watch_forget
 *
 * The server's own lines are read, too; most are skipped by their first bytes.
 *
 * Tests: test/unit/test_revoke_watch.c
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
    bool is_ending;  /* its last line was read: the log rotates to another file */
    size_t window;   /* bytes that are read at once */
    struct buf text; /* of them */
    struct arena arena;
    struct revoke_watch_id *first;
};

/* The present lines of the log in `dir` were folded already. */
void revoke_watch_init(struct revoke_watch *r, int dir);
void revoke_watch_release(struct revoke_watch *r); /* safe on a zeroed struct with fd -1 */

void revoke_watch_look(struct revoke_watch *r, void (*tell)(void *ctx, const char *id), void *ctx);
bool revoke_watch_has(const struct revoke_watch *r, const char *id);
void revoke_watch_forget(struct revoke_watch *r);

#endif
