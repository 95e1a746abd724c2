#include "serve/presence.h"

#include "serve/respawn.h"
#include "serve/rounds.h"
#include "wake/wake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One identity that listens. */
struct presence {
    struct presence *next;
    int lock; /* -1: not ours: a supervisor lives, or the identity has no agent */
    char identity[];
};

static void
take_lock(struct serve *s, struct presence *w)
{
    int dir;

    if (w->lock >= 0 || !hub_has_agent(s->reader, w->identity) ||
        wake_open_dir(s->o->config, w->identity, &dir, NULL))
        return;
    wake_lock(dir, &w->lock, NULL);
    close(dir);
}

static void
end(struct presence *w)
{
    if (w->lock >= 0)
        wake_unlock(w->lock);
    free(w);
}

void
presence_change(void *ctx, const char *identity, bool is_there)
{
    struct serve *s = ctx;
    size_t n = strlen(identity) + 1;

    if (is_there) {
        struct presence *w = malloc(sizeof *w + n);
        if (!w)
            return; /* without memory its agent is started although it listens */
        w->lock = -1;
        memcpy(w->identity, identity, n);
        w->next = s->presence;
        s->presence = w;
        take_lock(s, w);
        return;
    }
    for (struct presence **at = &s->presence; *at; at = &(*at)->next) {
        if (strcmp((*at)->identity, identity) == 0) {
            struct presence *w = *at;
            *at = w->next;
            end(w);
            break;
        }
    }
    s->wants_look = true; /* for signals that came since and were not told */
}

/* Records in the next round that the identity was told up to that signal. */
static void
note_told(struct serve *s, const char *identity, uint64_t upto)
{
    struct buf args = { 0 };

    buf_addf(&args, "{\"identity\":\"%s\",\"upto\":%" PRIu64 "}", identity, upto);
    rounds_add_own(s,
                   &(struct hub_request){
                       .op = HUB_WOKEN, .identity = "cliq", .is_admin = true, .is_system = true },
                   &args); /* without memory the signals are told again */
    buf_release(&args);
}

static bool
is_awake(void *ctx, const char *identity, uint64_t upto)
{
    struct serve *s = ctx;
    struct presence *w = s->presence;

    while (w && strcmp(w->identity, identity) != 0)
        w = w->next;
    if (!w)
        return respawn_is_resting(s, identity);
    take_lock(s, w);
    if (w->lock < 0)
        return true; /* its agent runs: the supervisor tells it */
    note_told(s, identity, upto);
    return true;
}

void
presence_look(struct serve *s)
{
    if (!s->is_stopping)
        wake_agents(s->reader, &(struct wake_watcher){ s, is_awake, respawn_attended });
}

void
presence_free(struct serve *s)
{
    while (s->presence) {
        struct presence *w = s->presence;
        s->presence = w->next;
        end(w);
    }
}
