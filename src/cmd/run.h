/* run - shared by `cliq run` and `cliq retry`. */
#ifndef CLIQ_CMD_RUN_H
#define CLIQ_CMD_RUN_H

#include "run/run.h"

/* In which executor: agents in tmux's panes where people look on and there is a tmux, plain
 * processes elsewhere; $CLIQ_EXECUTOR decides otherwise. Says so when tmux is missing. */
enum status run_choose_executor(struct run_options *o, bool is_headless, struct err *e);
/* Plans and runs; how the run ended is the outcome. */
enum status run_with(const struct run_options *o, struct err *e);

#endif
