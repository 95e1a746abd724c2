/* log_copy - prints what a log has from an offset on, for commands that follow a file. */
#ifndef CLIQ_CMD_LOG_COPY_H
#define CLIQ_CMD_LOG_COPY_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Copies what is there from *at on to standard output, escaped on a terminal, and moves *at. */
enum status log_copy(int fd, off_t *at, bool is_tty, struct err *e);

#endif
