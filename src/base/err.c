#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int exit, http, rpc;
    const char *text;
} table[ST_COUNT] = {
#define STATUS(name, exit, http, rpc, text) [ST_##name] = { #name, exit, http, rpc, text },
#include "base/status.def"
#undef STATUS
};

/* Ends a truncated text in "...", at a character boundary. */
static void
mark_cut(struct err *e)
{
    size_t at = sizeof e->text - 4;

    while (at > 0 && ((unsigned char)e->text[at] & 0xC0) == 0x80)
        at--;
    memcpy(e->text + at, "...", 4);
}

void
err_vsay(struct err *e, const char *fmt, va_list ap)
{
    if (e && vsnprintf(e->text, sizeof e->text, fmt, ap) >= (int)sizeof e->text)
        mark_cut(e);
}

void
err_say(struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vsay(e, fmt, ap);
    va_end(ap);
}

void
err_say_errno(struct err *e, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(e, fmt, ap);
    va_end(ap);
    if (e) {
        size_t n = strlen(e->text);
        const char *fix = saved == EMFILE ? " (raise the limit with ulimit -n)" : "";
        if (snprintf(e->text + n, sizeof e->text - n, ": %s%s", strerror(saved), fix) >=
            (int)(sizeof e->text - n))
            mark_cut(e);
    }
    errno = saved;
}

int
status_exit(enum status s)
{
    return table[s].exit;
}

int
status_http(enum status s)
{
    return table[s].http;
}

int
status_rpc(enum status s)
{
    return table[s].rpc;
}

const char *
status_name(enum status s)
{
    return table[s].name;
}

const char *
status_text(enum status s)
{
    return table[s].text;
}
