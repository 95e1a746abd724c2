/* verdict - a gate's judgement made from the results of its commands alone. */
#ifndef CLIQ_AGENTS_CHECK_VERDICT_H
#define CLIQ_AGENTS_CHECK_VERDICT_H

#include "agents/command_results.h"

/* All passed: PASS. Else ROUTE to the first target, or ESCALATE when there is none. */
enum status verdict_from_results(struct context *c, const struct command_results *r, struct err *e);

#endif
