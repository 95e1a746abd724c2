#include "base/err.h"

#include <assert.h>
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

/* A text that did not fit says so, at a character boundary. */
static void
mark_cut(struct err *e)
{
    size_t at = sizeof e->text - 4;

    while (at > 0 && ((unsigned char)e->text[at] & 0xC0) == 0x80)
        at--;
    memcpy(e->text + at, "...", 4);
}

enum status
err_vset(struct err *e, enum status s, const char *fmt, va_list ap)
{
    assert(s != ST_OK);
    if (e && vsnprintf(e->text, sizeof e->text, fmt, ap) >= (int)sizeof e->text)
        mark_cut(e);
    return s;
}

enum status
err_set(struct err *e, enum status s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, s, fmt, ap);
    va_end(ap);
    return s;
}

enum status
err_sys(struct err *e, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, ST_IO, fmt, ap);
    va_end(ap);
    if (e) {
        size_t n = strlen(e->text);
        if (snprintf(e->text + n, sizeof e->text - n, ": %s", strerror(saved)) >=
            (int)(sizeof e->text - n))
            mark_cut(e);
    }
    errno = saved;
    return ST_IO;
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
