/*
 * auth - the caller of a request: found by its key, or by a ticket that was made with a key.
 *
 * Found keys are cached until any key changes. A ticket opens one stream, within a minute; another
 * kind hands the key that it was made with to a browser, once (serve/sign_in.h). Neither does the
 * other's work: a stream's ticket never becomes a key.
 *
 * A revoked key must not be accepted from then on, no matter which process revoked it, and the
 * index learns of it a little later. So auth_check_revoked reads the new lines of the log
 * (revoke_watch.h; one fstat if there are none) before a key is accepted, before a round is done
 * and before streams are told of new lines. It ends what the key has: its cache entry, tickets,
 * streams, waiting claims and requests in the round that gathers.
 *
 * Tests: test/unit/test_revoke_watch.c test/scenario/serve*.bats
 */
#ifndef CLIQ_SERVE_AUTH_H
#define CLIQ_SERVE_AUTH_H

#include "serve/serve_impl.h"

struct caller {
    const char *identity;
    const char *key;            /* the key's id; "": none */
    struct admission_text text; /* of the key, in the request */
    unsigned scopes;
    bool is_admin;
    bool reads_all;       /* the scope audit */
    uint64_t who;         /* the key in `rates`; 0: unknown */
    int64_t key_until_ms; /* when the key expires; 0: never */
};

/* By the key or ticket that admission found; a refusal goes into the verdict. */
void auth_by_key(struct serve *s, const struct route *route, struct arena *a,
                 struct admission_verdict *v, struct caller *by);
/* The caller uses up the ticket when the request is admitted. */
struct ticket *auth_by_ticket(struct serve *s, struct admission_verdict *v, struct caller *by);
/* ST_CONFLICT: the caller has too many. */
enum status auth_make_ticket(struct serve *s, const struct caller *by, bool hands_key,
                             struct ticket **out, struct err *e);
/* Uses up a ticket that hands over a key. False: there is no such ticket. */
bool auth_take_key(struct serve *s, const char *ticket, char key[SERVE_KEY_SIZE]);

void auth_forget_keys(struct serve *s); /* empties the cache */

void auth_check_revoked(struct serve *s);
/* After a commit: forgets revoked keys that the index no longer has. */
void auth_forget_revoked(struct serve *s);

#endif
