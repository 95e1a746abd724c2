/* check_verdict - a gate's verdict from the results of its commands alone. */
#ifndef CLIQ_AGENTS_CHECK_VERDICT_H
#define CLIQ_AGENTS_CHECK_VERDICT_H

#include "agents/command_results.h"

/* PASS when all passed; otherwise ROUTE to the first target, or ESCALATE when there is no
 * target. */
enum status verdict_from_results(struct context *c, const struct command_results *r, struct err *e);

#endif
