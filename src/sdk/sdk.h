/*
 * sdk - shared by the files of the SDK: struct cliq_context, and the conversion of enum status to
 * cliq_status. context/context.h has the logic.
 */
#ifndef CLIQ_SDK_SDK_H
#define CLIQ_SDK_SDK_H

#include "cliq.h"

#include "context/context.h"

#include <string.h>

struct cliq_context {
    struct arena arena;
    struct agent_message msg;
    struct context c;
    const char *speaker; /* cliq_agent_run: prefix of lines on standard error; NULL: print none */
};

_Static_assert(sizeof((struct err){ "" }).text == sizeof((cliq_error){ 0 }).text, "they fit");

static inline cliq_status
sdk_outcome(enum status s, const struct err *from, cliq_error *to)
{
    if (to && to->size >= sizeof *to) {
        if (s)
            memcpy(to->text, from->text, sizeof to->text);
        else
            to->text[0] = '\0'; /* no text of an earlier call */
    }
    return (cliq_status)status_exit(s);
}

/* An error in the caller's arguments. */
static inline cliq_status
sdk_invalid(cliq_error *to, const char *what)
{
    struct err e;

    return sdk_outcome(err_set(&e, ST_INVALID, "%s", what), &e, to);
}

/* Ends a test with the result {"passed":…,"message":…}. */
enum status sdk_test_result(struct context *c, bool passed, const char *message, struct err *e);

/* Prints "NAME: TEXT" on standard error, escaped. */
void agent_say(const char *name, const char *text);

#endif
