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
 *
 * Tests: test/unit/test_err.c
 */
#ifndef CLIQ_BASE_ERR_H
#define CLIQ_BASE_ERR_H

#include <errno.h>
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

/* What a failed system call is to the caller, by its errno: the one place that decides.
 * Never ST_OK, and inline so that analysers see it. */
static inline enum status
status_of_errno(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return ST_REFUSED; /* somebody must be allowed more: trying again helps nobody */
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
        return ST_INVALID; /* the path that was given is of the wrong kind */
    default:
        return ST_IO;
    }
}

/*
 * Both give a status (err_set the one it is told, err_sys that of errno), so that a failing
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
        status_of_errno(errno);                                                                    \
    })

void err_say(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_say_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_vsay(struct err *e, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* The one sentence for a failed allocation, so that `return err_nomem(e)` is all a caller writes.
 * Inline for the same reason as status_of_errno. */
static inline enum status
err_nomem(struct err *e)
{
    err_say(e, "out of memory");
    return ST_IO;
}

int status_exit(enum status s);
int status_http(enum status s);
int status_rpc(enum status s);
const char *status_name(enum status s); /* "NOT_FOUND" */
const char *status_text(enum status s); /* "not found" */

#endif
