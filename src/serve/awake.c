#include "serve/awake.h"

#include "run/wake.h"
#include "serve/guard.h"
#include "serve/intake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One identity that listens. */
struct awake {
    struct awake *next;
    int lock; /* -1: not ours yet: a supervisor lives, or it has no agent */
    char identity[];
};

static void
take_lock(struct serve *s, struct awake *w)
{
    int dir;

    if (w->lock >= 0 || !hub_has_agent(s->reader, w->identity) ||
        wake_open_dir(s->o->config, w->identity, &dir, NULL))
        return;
    wake_lock(dir, &w->lock, NULL);
    close(dir);
}

static void
end(struct awake *w)
{
    if (w->lock >= 0)
        wake_unlock(w->lock);
    free(w);
}

void
awake_change(void *ctx, const char *identity, bool is_there)
{
    struct serve *s = ctx;
    size_t n = strlen(identity) + 1;

    if (is_there) {
        struct awake *w = malloc(sizeof *w + n);
        if (!w)
            return; /* then its agent is started beside it */
        w->lock = -1;
        memcpy(w->identity, identity, n);
        w->next = s->awake;
        s->awake = w;
        take_lock(s, w);
        return;
    }
    for (struct awake **at = &s->awake; *at; at = &(*at)->next) {
        if (strcmp((*at)->identity, identity) == 0) {
            struct awake *w = *at;
            *at = w->next;
            end(w);
            break;
        }
    }
    s->wants_look = true; /* what came since, and was not told */
}

/* An identity was told so far by its stream: that is noted with the next round. */
static void
note_told(struct serve *s, const char *identity, uint64_t upto)
{
    struct buf args = { 0 };

    buf_addf(&args, "{\"identity\":\"%s\",\"upto\":%" PRIu64 "}", identity, upto);
    intake_add_own(s,
                   &(struct hub_request){
                       .op = HUB_WOKEN, .identity = "cliq", .is_admin = true, .is_system = true },
                   &args); /* or it is told again, then */
    buf_release(&args);
}

static bool
is_awake(void *ctx, const char *identity, uint64_t upto)
{
    struct serve *s = ctx;
    struct awake *w = s->awake;

    while (w && strcmp(w->identity, identity) != 0)
        w = w->next;
    if (!w)
        return guard_is_resting(s, identity);
    take_lock(s, w);
    if (w->lock < 0)
        return true; /* its agent runs, and will be told by its supervisor */
    note_told(s, identity, upto);
    return true;
}

void
awake_look(struct serve *s)
{
    if (!s->is_stopping)
        wake_sleepers(s->reader, s->o->config,
                      &(struct wake_watcher){ s, is_awake, guard_attended });
}

void
awake_free(struct serve *s)
{
    while (s->awake) {
        struct awake *w = s->awake;
        s->awake = w->next;
        end(w);
    }
}
