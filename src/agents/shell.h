/*
 * shell - runs one command of a phase, `sh -c TEXT`, within a time limit; its output is shown and
 * captured.
 *
 * The command's output is copied to our standard output (the attempt's log) as it arrives, and its
 * last SHELL_KEEP bytes are captured for the results. At the time limit the command and every
 * process that it started are stopped (proc/child.h): SIGTERM, then SIGKILL 2 s later. Values reach
 * the command through the environment only.
 */
#ifndef CLIQ_AGENTS_SHELL_H
#define CLIQ_AGENTS_SHELL_H

#include "base/buf.h"

#include <stdint.h>

#define SHELL_LIMIT_MS  (2 * 60 * 1000)
#define SHELL_MOMENT_MS 10
#define SHELL_KEEP      ((size_t)32 << 10)

struct shell_result {
    int exit_code; /* 128 + n for a signal; 124 at the time limit */
    bool is_timeout;
    int64_t duration_ms;
    struct buf output; /* the captured end of its output; is_cut: there was more */
    bool is_cut;
};

struct shell_options {
    const char *input; /* its standard input; NULL: /dev/null */
    size_t input_len;
    int64_t limit_ms;             /* 0: SHELL_LIMIT_MS */
    size_t keep;                  /* 0: SHELL_KEEP */
    bool is_err_apart;            /* capture standard output only; standard error is just shown */
    void (*meanwhile)(void *ctx); /* called once while the command runs; must be quick; or NULL */
    void (*later)(void *ctx);     /* called when it has run for SHELL_MOMENT_MS; or NULL */
    void *ctx;
};

/* ST_IO: the command cannot be started. A command that fails is a result, not an error. */
enum status
shell_run(const char *text, const struct shell_options *o, struct shell_result *r, struct err *e);
void shell_result_release(struct shell_result *r);

#endif
