/*
 * caller - whom a request is from: by its key, or by a ticket that was made with one.
 *
 * Keys that were looked up are remembered, until any key changes; a ticket is good for one stream,
 * for a minute. Keys that were revoked must be known before (revoke.h).
 */
#ifndef CLIQ_SERVE_AUTH_H
#define CLIQ_SERVE_AUTH_H

#include "serve/serve_impl.h"

struct caller {
    const char *identity;
    const char *key; /* its id; "": none */
    bool is_admin;
    uint64_t who; /* which key, in `rates`; 0: none that we know */
};

/* By the key or the ticket that the gate found; what is wrong with it goes into the verdict. */
void auth_by_key(struct serve *s, const struct route *route, struct arena *a,
                 struct admission_verdict *v, struct caller *by);
/* The ticket is used up only when the request is let in, by who calls this. */
struct ticket *auth_by_ticket(struct serve *s, struct admission_verdict *v, struct caller *by);
bool auth_make_ticket(struct serve *s, const struct caller *by, struct ticket **out);

void auth_forget(struct serve *s, const char *key); /* the key of that id, and its tickets */
void auth_forget_keys(struct serve *s);             /* what was looked up, of all */

#endif
