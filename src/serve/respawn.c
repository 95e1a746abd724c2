#include "serve/respawn.h"

#include "base/clock.h"
#include "proc/proc.h"
#include "serve/presence.h"
#include "wake/wake.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SOON_MS = 200, /* one that was just started has the lock by then */
    REST_MS = 1000,
    REST_MAX_MS = 60000,
    CALM_MS = 60000, /* after a life that long, deaths are counted from 0 */
};

/* One identity whose supervisor lives or lived. */
struct respawn {
    struct respawn *next;
    struct serve *s;
    int fd;                    /* its supervisor, while we watch; else -1 */
    struct loop_source *watch; /* of that */
    struct loop_source *rest;  /* until we look again */
    bool is_dead;              /* it rests after a death: none is started meanwhile */
    int64_t since_ms;          /* it is watched */
    unsigned deaths;           /* in a row */
    char identity[];
};

int64_t
respawn_rest_ms(unsigned deaths)
{
    if (deaths <= 1)
        return SOON_MS;
    return deaths > 7 ? REST_MAX_MS : REST_MS << (deaths - 2);
}

static struct respawn *
find(const struct serve *s, const char *identity)
{
    struct respawn *g = s->respawns;

    while (g && strcmp(g->identity, identity) != 0)
        g = g->next;
    return g;
}

static void
let_be(struct respawn *g)
{
    loop_drop(g->watch);
    loop_drop(g->rest);
    if (g->fd >= 0)
        close(g->fd);
    g->watch = g->rest = NULL;
    g->fd = -1;
}

static void
drop(struct respawn *g)
{
    struct respawn **at = &g->s->respawns;

    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    let_be(g);
    free(g);
}

static void on_end(void *ctx);
static void on_rested(void *ctx);

/* Without memory the next writer starts a supervisor, as without a server. */
static void
rest(struct respawn *g, int64_t ms, bool is_dead)
{
    let_be(g);
    g->is_dead = is_dead;
    g->rest = loop_after(g->s->loop, (uint64_t)ms, on_rested, g, NULL);
    if (!g->rest)
        drop(g);
}

/* False: it is gone already, or cannot be watched. */
static bool
watch(struct respawn *g, pid_t pid)
{
    struct proc_id id;

    let_be(g);
    g->since_ms = clock_mono_ms();
    if (proc_identify(pid, &id, NULL) != ST_OK || proc_alive(&id) != PROC_ALIVE)
        return false;
    g->fd = proc_pidfd(&id);
    g->watch = g->fd >= 0 ? loop_on_readable(g->s->loop, g->fd, on_end, g, NULL) : NULL;
    return g->watch != NULL;
}

/* The supervisor ended. Which process has the lock now? */
static void
on_end(void *ctx)
{
    struct respawn *g = ctx;
    pid_t pid = wake_holder(g->s->o->config, g->identity);

    if (clock_mono_ms() - g->since_ms >= CALM_MS)
        g->deaths = 0;
    if (pid == getpid())
        drop(g); /* a stream of ours */
    else if (!pid)
        rest(g, SOON_MS, false); /* released; or the next one is about to take it */
    else if (!watch(g, pid))
        rest(g, respawn_rest_ms(++g->deaths), true);
}

static void
on_rested(void *ctx)
{
    struct respawn *g = ctx;
    struct serve *s = g->s;
    pid_t pid = wake_holder(s->o->config, g->identity);

    loop_drop(g->rest);
    g->rest = NULL;
    if (pid && pid != getpid() && watch(g, pid))
        return;
    if (g->is_dead) { /* respawn_attended, if there is anything to attend to */
        char identity[65];
        snprintf(identity, sizeof identity, "%s", g->identity);
        presence_look(s);
        g = find(s, identity);
    }
    if (g && !g->watch && !g->rest)
        drop(g);
}

void
respawn_attended(void *ctx, const char *identity, pid_t pid)
{
    struct serve *s = ctx;
    struct respawn *g = find(s, identity);
    size_t n = strlen(identity) + 1;

    if (g && g->watch)
        return;
    if (!g) {
        g = calloc(1, sizeof *g + n);
        if (!g)
            return;
        *g = (struct respawn){ .next = s->respawns, .s = s, .fd = -1 };
        memcpy(g->identity, identity, n);
        s->respawns = g;
    }
    if (!watch(g, pid))
        on_end(g);
}

bool
respawn_is_resting(const struct serve *s, const char *identity)
{
    const struct respawn *g = find(s, identity);

    return g && g->rest && g->is_dead;
}

void
respawn_free(struct serve *s)
{
    while (s->respawns)
        drop(s->respawns);
}
