/* run - shared by `cliq run` and `cliq retry`. */
#ifndef CLIQ_CMD_RUN_OPTIONS_H
#define CLIQ_CMD_RUN_OPTIONS_H

#include "base/opt.h"
#include "run/run.h"

/* The options that `run` and `retry` share. */
#define RUN_OPTS                                                                                   \
    { "agent", OPT_TEXT, "NAME", "the agent of phases that name none, for this run" },             \
        { "headless", OPT_FLAG, NULL, "plain processes, no tmux panes; a line for each event" },   \
        { "jobs", OPT_NUMBER, "N", "phases at a time; 0: as many as are ready" },                  \
        { "input", OPT_TEXT, "NAME=VALUE",                                                         \
          "the value of an input of the team, as of cliq req; may be repeated", .is_many = true }, \
        { "dry-run", OPT_FLAG, NULL,                                                               \
          "print the plan: steps, agents, commands, values, routes; run nothing" },                \
        { "json", OPT_FLAG, NULL, "print events as JSON lines" },                                  \
        { "detach", OPT_FLAG, NULL, "run in the background; cliq attach shows it" },               \
    {                                                                                              \
        "fail-fast", OPT_FLAG, NULL, "when a phase fails, stop the others at once"                 \
    }

/* These. */
struct run_options run_options_of(const struct args *a);
/* Plans and, unless that is all, runs; how the run ended is the outcome. In the background
 * (--detach): that it has begun is. */
enum status run_with(struct run_options *o, const struct args *a, struct err *e);
/* How a run ended, as an outcome of the command. */
enum status run_outcome(enum run_status end);

#endif
