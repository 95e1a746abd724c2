/*
 * command_results - runs the commands of a phase in order and records their results: in
 * signals/<phase>_command_results.json, and in the handoff of an exec phase.
 *
 *     [{"name":"test","pass":false,"exit_code":1,"duration_ms":812,"output":"…"}]
 *
 * A command that was stopped at its time limit also has "timed_out":true. In a gate the limit ends
 * before the gate's own, so that a check that hangs is a failed check. A command that fails is told
 * at once: in a progress line, and in the log.
 */
#ifndef CLIQ_AGENTS_COMMAND_RESULTS_H
#define CLIQ_AGENTS_COMMAND_RESULTS_H

#include "context/context.h"

struct command_results {
    struct json *list; /* the list above, in the context's arena */
    size_t total, failed;
    const char *escalated; /* how the first command with escalate_on_fail failed; NULL: none did */
    struct buf failures;   /* how the first commands failed: "lint timed out after 120 s; …" */
    struct buf summary;    /* "2 of 3 commands passed: lint timed out after 120 s" */
    struct buf text;       /* text: a heading, a line for each command, the summary */
};

/* Runs payload.commands, each {name,run,timeout_ms?,escalate_on_fail?}, and writes the results
 * file. A failing command is a result. */
enum status command_results_run(struct context *c, struct command_results *r, struct err *e);
void command_results_release(struct command_results *r);

/* {results[]{name,pass,exit_code,duration_ms},all_passed,total,failed} */
struct json *command_results_data(struct context *c, const struct command_results *r);

#endif
