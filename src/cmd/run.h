/* run - shared by `cliq run` and `cliq retry`. */
#ifndef CLIQ_CMD_RUN_H
#define CLIQ_CMD_RUN_H

#include "run/run.h"

/* Plans and runs; how the run ended is the outcome. */
enum status run_with(const struct run_options *o, struct err *e);

#endif
