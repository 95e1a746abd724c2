/*
 * err - how a function says that it failed, and why.
 *
 * Every fallible function returns `enum status` (ST_OK is zero) and, when it
 * fails, fills a `struct err` with one sentence for people: what was being
 * done, to what, what went wrong and, where we know it, what to do. Libraries
 * never print and never exit; the edges (main, HTTP, MCP) do, with the codes
 * that status.def gives each outcome.
 *
 * A NULL err is allowed everywhere: the caller wants only the status.
 * Bugs are not outcomes: those are asserts, and the asserts stay in.
 */
#ifndef CLIQ_BASE_ERR_H
#define CLIQ_BASE_ERR_H

#include <stdarg.h>

enum status {
#define STATUS(name, exit, http, rpc, text) ST_##name,
#include "base/status.def"
#undef STATUS
    ST_COUNT
};

struct err {
    char text[1024]; /* a longer sentence ends in "..." */
};

/*
 * Both give the status they were told (err_sys: ST_IO), so that a failing
 * function can say `return err_set(e, ST_INVALID, "bad name %s", name)`. err_sys
 * adds ": " and what errno means. Macros, so that compilers and analysers see
 * that a failure is never ST_OK.
 */
#define err_set(e, status, ...)                                                                    \
    ({                                                                                             \
        err_say((e), __VA_ARGS__);                                                                 \
        (status);                                                                                  \
    })
#define err_sys(e, ...)                                                                            \
    ({                                                                                             \
        err_say_errno((e), __VA_ARGS__);                                                           \
        ST_IO;                                                                                     \
    })

void err_say(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_say_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_vsay(struct err *e, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

int status_exit(enum status s);
int status_http(enum status s);
int status_rpc(enum status s);
const char *status_name(enum status s); /* "NOT_FOUND" */
const char *status_text(enum status s); /* "not found" */

#endif
