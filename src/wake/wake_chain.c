#include "wake/wake_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool
wake_chain_at(const char *text, uint64_t seq, bool is_life, unsigned *depth, bool *life_only)
{
    bool is_inside = false;

    for (const char *p = text; p && *p;) {
        uint64_t at = 0;
        unsigned d = 0, l = 0;
        char kind = 0;
        int n = sscanf(p, "%c %" SCNu64 " %u %u", &kind, &at, &d, &l);
        if (n == 4 && kind == 's' && at < seq) {
            is_inside = true;
            *depth = d;
            *life_only = l != 0;
        } else if (n >= 2 && kind == 'e' && at < seq && !is_life) {
            is_inside = false;
        }
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    return is_inside;
}

struct wake_chain
wake_chain_judge(const struct hub_batch *b,
                 const char *(*read)(void *ctx, struct arena *a, const char *sender), void *ctx,
                 struct arena *a)
{
    struct wake_chain c = { .is_life = b->n > 0, .is_echo = b->n > 0 };
    bool is_outside = false;

    for (size_t i = 0; i < b->n; i++) {
        const struct hub_waiting_signal *s = &b->signals[i];
        unsigned depth = 0;
        bool life_only = false;
        bool is_inside =
            !s->is_task && s->sender &&
            wake_chain_at(read(ctx, a, s->sender), s->seq, s->is_life, &depth, &life_only);
        c.is_life = c.is_life && s->is_life;
        if (s->is_cliqs_alert || (is_inside && s->is_life && life_only))
            continue; /* an echo: it counts as no cause */
        c.is_echo = false;
        is_outside = is_outside || !is_inside;
        if (is_inside && (!c.from || depth + 1 < c.depth)) {
            c.depth = depth + 1;
            c.from = s->sender;
        }
    }
    if (is_outside || c.is_echo) {
        c.depth = 0;
        c.from = NULL;
    }
    return c;
}

void
wake_chain_add(struct buf *to, const char *text, uint64_t seq, const struct wake_chain *c)
{
    size_t n = 0;

    for (const char *p = text; p && *p; p++)
        n += *p == '\n';
    while (n >= WAKE_CHAIN_LINES && (text = strchr(text, '\n'))) {
        text++;
        n--;
    }
    buf_adds(to, text ? text : "");
    if (c)
        buf_addf(to, "s %" PRIu64 " %u %d\n", seq, c->depth, c->is_life);
    else
        buf_addf(to, "e %" PRIu64 "\n", seq);
}
