#include "serve/intake.h"

#include <string.h>

bool
intake_add(struct serve *s, struct job *j)
{
    struct round *r = s->round ? s->round : round_new(s->worker);

    s->round = r;
    j->claim_epoch = s->news.claim_epoch; /* or more: it is tried in vain, but never too seldom */
    return r && round_add(r, &j->request, j->bytes, j);
}

void
intake_add_own(struct serve *s, const struct hub_request *r, const struct buf *args)
{
    struct job *j = job_new_own(s, r, args);

    if (j && !intake_add(s, j))
        job_free(j);
}

void
intake_revoke(struct serve *s, const char *key)
{
    struct round *r = s->round;
    size_t n = r ? r->decided : 0; /* those were in time */

    for (size_t i = n; r && i < r->n; i++) {
        struct job *j = r->who[i];
        if (j->conn && strcmp(j->key, key) == 0) {
            job_refuse(j);
        } else {
            r->who[n] = j;
            r->requests[n++] = r->requests[i];
        }
    }
    if (r)
        r->n = n;
}

void
intake_free(struct serve *s)
{
    for (size_t i = 0; s->round && i < s->round->n; i++)
        job_free(s->round->who[i]);
    round_free(s->worker, s->round);
    s->round = NULL;
}
