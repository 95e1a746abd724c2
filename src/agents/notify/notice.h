/*
 * notice - what one notification says to people: what happened where, why, and what to do. Pure.
 *
 *     @local/article: phase review needs a person
 *
 *     The article waits for you.                      the sender's own message
 *
 *     Project: /home/eve/article
 *     Phase: review
 *     Why: agent error: no disk
 *
 *     What to do, in /home/eve/article:
 *       cliq retry review (mend the cause first: cliq log review shows what it said)
 *       cliq status
 *
 * A notification is an element of payload.notifications: {event, channel, phase_name?, outcome?,
 * reason?, next?, message?, subject?, review_id?, …}. Other members with a scalar value become
 * rows, too. A woken agent gets {event: "signal", signal: {type, data}} instead: the signal's type
 * is the event, and the members of its data are told.
 *
 * Texts are UTF-8 without control characters (base/term.h), of limited length; title, labels and
 * commands are one line. Ownership: everything lives in the arena, or is borrowed.
 *
 * Tests: test/unit/test_notice.c
 */
#ifndef CLIQ_AGENTS_NOTIFY_NOTICE_H
#define CLIQ_AGENTS_NOTIFY_NOTICE_H

#include "context/agent_message.h"

enum {
    NOTICE_ROWS = 10,
    NOTICE_COMMANDS = 4,
    NOTICE_TITLE_MAX = 150, /* bytes */
    NOTICE_TEXT_MAX = 2500, /* of the message or a row's value */
};

struct notice_row {
    const char *label, *value; /* "Why", "agent error: no disk" */
};

struct notice {
    const struct json *source;   /* the notification */
    const struct json *told;     /* the object with the members above: it, or a signal's data */
    const char *event, *channel; /* channel NULL: none was named */
    const char *team, *project;  /* "": not known */
    const char *run;             /* its id; NULL: not known */
    const char *title, *message; /* message NULL: none */
    struct notice_row rows[NOTICE_ROWS];
    size_t n_rows;
    const char *commands[NOTICE_COMMANDS]; /* "cliq retry build"; an explanation may follow */
    size_t n_commands;
};

/* The notification `v` of a message. run NULL: not known. ST_IO: out of memory. */
enum status notice_read(struct notice *n, struct arena *a, const struct agent_message *m,
                        const char *run, const struct json *v, struct err *e);

/* Appends all of it as plain text, as above. */
void notice_write(struct buf *to, const struct notice *n);

#endif
