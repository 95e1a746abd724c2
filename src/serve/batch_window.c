#include "serve/batch_window.h"

enum {
    BATCH_WINDOW_NS = 250000,
    EARLY_NS = 100000, /* a request that comes sooner did not wait for that answer */
    REST_MIN = 8,
    REST_MAX = 64,
};

bool
batch_window_waits(struct batch_window *g, size_t n, int64_t now_ns)
{
    int64_t since_ns = now_ns - g->answered_ns;

    if (!g->expected) {
        g->is_trial = !g->rest && since_ns < EARLY_NS;
        g->expected = g->answered + (g->is_trial ? n : 0);
    }
    return n < g->expected && since_ns < BATCH_WINDOW_NS;
}

int64_t
batch_window_left_ns(const struct batch_window *g, int64_t now_ns)
{
    return g->answered_ns + BATCH_WINDOW_NS - now_ns;
}

void
batch_window_answered(struct batch_window *g, size_t n, int64_t now_ns)
{
    if (g->rest)
        g->rest--;
    if (g->is_trial && n > g->answered)
        g->patience = REST_MIN;
    else if (g->is_trial)
        g->patience = g->patience < REST_MAX / 2 ? 2 * g->patience + REST_MIN : REST_MAX;
    if (g->is_trial)
        g->rest = g->patience;
    g->answered_ns = now_ns;
    g->answered = n;
    g->expected = 0;
    g->is_trial = false;
}
