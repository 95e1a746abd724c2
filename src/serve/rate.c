#include "serve/rate.h"

#include <stdlib.h>

/* A token in thousandths: `per_s` of them come in a millisecond, so all numbers are whole. */
enum { TOKEN = 1000, LINES_MIN = 64 };

/* Adds the tokens that came since the last look. */
static int64_t
missing_now(const struct rate_rule *rule, const struct rate_bucket *b, int64_t now_ms)
{
    int64_t came, passed_ms = now_ms > b->at_ms ? now_ms - b->at_ms : 0;

    if (__builtin_mul_overflow(passed_ms, rule->per_s, &came) || came > b->missing)
        return 0;
    return b->missing - came;
}

bool
rate_take(const struct rate_rule *rule, struct rate_bucket *b, int64_t now_ms, int64_t *wait_ms)
{
    if (rule->per_s <= 0)
        return true;
    b->missing = missing_now(rule, b, now_ms);
    if (now_ms > b->at_ms)
        b->at_ms = now_ms;
    int64_t over = b->missing + TOKEN - rule->burst * TOKEN;
    if (over > 0) {
        *wait_ms = (over + rule->per_s - 1) / rule->per_s;
        return false;
    }
    b->missing += TOKEN;
    return true;
}

/* ---- the table ---- */

static struct rate_bucket *
line_of(struct rate_bucket *lines, size_t cap, uint64_t who)
{
    size_t i = (size_t)(who * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);

    while (lines[i].who && lines[i].who != who)
        i = (i + 1) & (cap - 1);
    return &lines[i];
}

/* Room for one more: those that are full again go; if that is not enough, a larger table. */
static bool
make_room(struct rates *r, const struct rate_rule *rule, int64_t now_ms)
{
    size_t n = 0, cap = r->cap ? r->cap : LINES_MIN;

    for (size_t i = 0; i < r->cap; i++)
        n += r->lines[i].who && missing_now(rule, &r->lines[i], now_ms) > 0;
    while (4 * (n + 1) > cap)
        cap *= 2;
    struct rate_bucket *lines = calloc(cap, sizeof *lines);
    if (!lines)
        return false;
    for (size_t i = 0; i < r->cap; i++)
        if (r->lines[i].who && missing_now(rule, &r->lines[i], now_ms) > 0)
            *line_of(lines, cap, r->lines[i].who) = r->lines[i];
    free(r->lines);
    *r = (struct rates){ .shared = r->shared, .lines = lines, .n = n, .cap = cap };
    return true;
}

struct rate_bucket *
rates_find(struct rates *r, const struct rate_rule *rule, uint64_t who, int64_t now_ms)
{
    if (!who)
        return &r->shared;
    struct rate_bucket *b = r->cap ? line_of(r->lines, r->cap, who) : NULL;
    if (b && b->who)
        return b;
    if (!b || 2 * (r->n + 1) > r->cap) {
        if (!make_room(r, rule, now_ms))
            return &r->shared;
        b = line_of(r->lines, r->cap, who);
    }
    *b = (struct rate_bucket){ .who = who, .at_ms = now_ms };
    r->n++;
    return b;
}

void
rates_release(struct rates *r)
{
    free(r->lines);
    *r = (struct rates){ 0 };
}
