#include "serve/expel.h"

#include "serve/caller.h"
#include "serve/intake.h"
#include "serve/parked.h"

/* A round that begins now folds it; one that is under way may not. */
static void
on_revoked(void *ctx, const char *key)
{
    struct serve *s = ctx;

    if (!*key)
        return; /* a line that is none of ours: "" is whoever came without a key */
    intake_expel(s, key);
    caller_forget(s, key);
    streams_revoke(s->streams, key);
    parked_expel(s, key);
    s->revoked_until = s->news.commits + 2;
    s->wants_look = true;
}

void
expel_look(struct serve *s)
{
    revoked_look(&s->revoked, on_revoked, s);
}

void
expel_forget(struct serve *s)
{
    if (s->revoked.first && s->news.commits >= s->revoked_until && s->news.log_end >= s->revoked.at)
        revoked_forget(&s->revoked);
}
