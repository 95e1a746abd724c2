/*
 * results - the commands of a phase, run in order, and what came of them:
 * signals/<phase>_command_results.json, and the handoff of an exec phase.
 *
 *     [{"name":"test","pass":false,"exit_code":1,"duration_ms":812,"output":"…"}]
 */
#ifndef CLIQ_AGENTS_RESULTS_H
#define CLIQ_AGENTS_RESULTS_H

#include "run/context.h"

struct results {
    struct json *list; /* as above, in the context's arena */
    size_t total, failed;
    const char *escalated; /* the first failed command that says escalate_on_fail; NULL */
    struct buf text;       /* a heading, a line a command, a summary */
};

/* Runs payload.commands and writes the results file. A failing command is a result. */
enum status results_run(struct context *c, struct results *r, struct err *e);
void results_release(struct results *r);

/* {results[]{name,pass,exit_code,duration_ms},all_passed,total,failed} */
struct json *results_data(struct context *c, const struct results *r);

#endif
