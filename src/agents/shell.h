/*
 * shell - one command of a phase: `sh -c TEXT`, its output shown and kept, bounded in time.
 *
 * What the command prints goes to our standard output (the attempt's log) as it comes, and
 * its last SHELL_KEEP bytes are kept for the results. At the limit the command and every process
 * that it started are stopped (proc/child.h): SIGTERM, then SIGKILL 2 s later. Values reach the
 * command through the environment only.
 */
#ifndef CLIQ_AGENTS_SHELL_H
#define CLIQ_AGENTS_SHELL_H

#include "base/buf.h"

#include <stdint.h>

#define SHELL_LIMIT_MS  (2 * 60 * 1000)
#define SHELL_MOMENT_MS 10
#define SHELL_KEEP      ((size_t)32 << 10)

struct shell_result {
    int exit_code; /* 128 + n for a signal; 124 when the time was up */
    bool is_timeout;
    int64_t duration_ms;
    struct buf output; /* the end of what it printed; is_cut when it was more */
    bool is_cut;
};

struct shell_options {
    const char *input; /* its standard input; NULL: /dev/null */
    size_t input_len;
    int64_t limit_ms;             /* 0: SHELL_LIMIT_MS */
    size_t keep;                  /* 0: SHELL_KEEP */
    bool is_err_apart;            /* keep standard output only; errors are shown, not kept */
    void (*meanwhile)(void *ctx); /* what can be done while it runs, if it takes no time; or NULL */
    void (*later)(void *ctx);     /* when it runs for SHELL_MOMENT_MS already; or NULL */
    void *ctx;
};

/* ST_IO when it cannot be started; a command that fails is a result, not an error. */
enum status
shell_run(const char *text, const struct shell_options *o, struct shell_result *r, struct err *e);
void shell_result_release(struct shell_result *r);

#endif
