/*
 * mail - a mail as it goes over the wire: headers, then the same text twice, plain and as HTML
 * (multipart/alternative). Pure.
 *
 * The lines end in \r\n and are shorter than 78 bytes where the format allows it. Header values
 * that are not plain ASCII become encoded words (RFC 2047), bodies are quoted-printable (RFC 2045).
 * No text can add a header: values hold no line ends, whatever was given.
 *
 * Tests: test/unit/test_mail.c test/scenario/notify_email.bats
 */
#ifndef CLIQ_AGENTS_NOTIFY_MAIL_H
#define CLIQ_AGENTS_NOTIFY_MAIL_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdint.h>

/* "Build <build@example.org>" or "build@example.org". */
struct mail_address {
    const char *name;    /* NULL: none */
    const char *address; /* "build@example.org" */
};

struct mail {
    struct mail_address from;
    const struct mail_address *to;
    size_t n_to;
    const char *subject;
    const char *id; /* hex; with the sender's domain the Message-ID */
    int64_t at_s;   /* seconds since 1970 */
    const char *text, *html;
};

/* False: it is no address that cliq can write to: one @, ASCII, no spaces. In the arena. */
bool mail_address_parse(struct arena *a, const char *text, struct mail_address *out);

void mail_write(struct buf *to, const struct mail *m);

#endif
