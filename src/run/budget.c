#include "run/budget.h"

#include <inttypes.h>

#define NEAR 0.8

static double
share_of_usd(const struct budget *b, const struct usage *u)
{
    return b->usd > 0 ? u->cost_usd / b->usd : 0;
}

static double
share_of_tokens(const struct budget *b, const struct usage *u)
{
    return b->tokens > 0 ? (double)(u->input_tokens + u->output_tokens) / (double)b->tokens : 0;
}

enum budget_level
budget_judge(const struct budget *b, const struct usage *used)
{
    double usd = share_of_usd(b, used), tokens = share_of_tokens(b, used);
    double most = usd > tokens ? usd : tokens;

    return most > 1 ? BUDGET_EXCEEDED : most >= NEAR ? BUDGET_NEAR : BUDGET_FINE;
}

bool
budget_is_blind(const struct budget *b, const struct usage *used)
{
    return b->usd > 0 && !used->has_cost && used->input_tokens + used->output_tokens > 0;
}

/* Cents, or as many digits as a small amount needs. */
static void
show_usd(struct buf *to, double usd)
{
    buf_addf(to, usd > 0 && usd < 0.1 ? "$%.4f" : "$%.2f", usd);
}

void
budget_show(struct buf *to, const struct budget *b, const struct usage *used)
{
    if (share_of_usd(b, used) >= share_of_tokens(b, used) && b->usd > 0) {
        show_usd(to, used->cost_usd);
        buf_adds(to, " of ");
        show_usd(to, b->usd);
    } else {
        buf_addf(to, "%" PRId64 " of %" PRId64 " tokens", used->input_tokens + used->output_tokens,
                 b->tokens);
    }
}
