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

/* Both return the status they were given (err_sys: ST_IO), so that a
 * failing function can say `return err_set(...)`. */
enum status
err_set(struct err *e, enum status s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
enum status err_vset(struct err *e, enum status s, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* The sentence, then ": " and what errno means. */
enum status err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int status_exit(enum status s);
int status_http(enum status s);
int status_rpc(enum status s);
const char *status_name(enum status s); /* "NOT_FOUND" */
const char *status_text(enum status s); /* "not found" */

#endif
