#include "serve/revoke.h"

#include "serve/auth.h"
#include "serve/claim_waiters.h"
#include "serve/intake.h"

/* A round that begins now folds it; one that is under way may not. */
static void
on_revoked(void *ctx, const char *key)
{
    struct serve *s = ctx;

    if (!*key)
        return; /* a line that is none of ours: "" is whoever came without a key */
    intake_revoke(s, key);
    auth_forget(s, key);
    streams_revoke(s->streams, key);
    claim_waiters_revoke(s, key);
    s->revoked_until = s->news.commits + 2;
    s->wants_look = true;
}

void
revoke_check(struct serve *s)
{
    revoke_watch_look(&s->revoke_watch, on_revoked, s);
}

void
revoke_forget(struct serve *s)
{
    if (s->revoke_watch.first && s->news.commits >= s->revoked_until &&
        s->news.log_end >= s->revoke_watch.at)
        revoke_watch_forget(&s->revoke_watch);
}
