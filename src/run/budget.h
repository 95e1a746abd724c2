/*
 * budget - how much of a budget (`budget: {usd, tokens}` of team.yml) is used. Pure.
 *
 *     FINE ---- 80 % of either limit ----> NEAR ---- more than a limit ----> EXCEEDED
 *
 * A cost that is not known counts as nothing, so only a limit of tokens can hold then:
 * budget_is_blind says that a limit of US dollars cannot be checked.
 *
 * Tests: test/unit/test_budget.c
 */
#ifndef CLIQ_RUN_BUDGET_H
#define CLIQ_RUN_BUDGET_H

#include "context/usage.h"
#include "team/team.h"

enum budget_level { BUDGET_FINE, BUDGET_NEAR, BUDGET_EXCEEDED };

enum budget_level budget_judge(const struct budget *b, const struct usage *used);
/* Tokens were used, and there is a limit of dollars, but no price. */
bool budget_is_blind(const struct budget *b, const struct usage *used);

/* Appends the limit that is closest, or exceeded: "$1.20 of $1.00", "12000 of 10000 tokens". */
void budget_show(struct buf *to, const struct budget *b, const struct usage *used);

#endif
