/*
 * err - the result of a fallible function: a status and an error message.
 *
 * Every fallible function returns `enum status` (ST_OK is zero). On failure it
 * also fills a `struct err` with one sentence for people: the operation, its
 * object, the cause and, if known, the remedy. Only main, the HTTP server and
 * the MCP server print or exit, with the codes of status.def.
 *
 * `e` may be NULL everywhere: the caller wants only the status.
 * Bugs are asserts, not statuses, and release builds keep the asserts.
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
    char text[1024]; /* a longer message is truncated and ends in "..." */
};

/* The status of a failed system call, by its errno; the only such mapping. Never ST_OK, and inline
 * so that analysers see that. */
static inline enum status
status_of_errno(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return ST_REFUSED; /* a permission is missing: a retry does not help */
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
        return ST_INVALID; /* the path is wrong */
    default:
        return ST_IO;
    }
}

/*
 * Both fill `e` and evaluate to a status, for `return err_set(e, ST_INVALID, "bad name %s", name)`.
 * err_set evaluates to its argument. err_sys evaluates to status_of_errno(errno) and appends ": "
 * and strerror(errno) to the message. They are macros so that compilers and analysers see that the
 * status is never ST_OK.
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
