/*
 * smtp - hands a mail to a mail server, over libcurl (net/libcurl.h).
 *
 * The connection is encrypted as the server's `tls` says, or it fails: with SMTP_STARTTLS nothing
 * but EHLO is said before. Certificates are checked. libcurl doubles leading dots of the mail.
 *
 * A receiver that the server refuses does not keep the mail from the others.
 *
 * One call is one try; *is_temporary tells that a later one may succeed: no connection, or an
 * answer 4xx. Errors never contain the user or the password.
 *
 * Tests: test/scenario/notify_email.bats
 */
#ifndef CLIQ_NET_SMTP_H
#define CLIQ_NET_SMTP_H

#include "base/buf.h"

#include <stdint.h>

enum smtp_tls { SMTP_PLAIN, SMTP_STARTTLS, SMTP_TLS };

struct smtp_server {
    const char *host;
    unsigned port;
    enum smtp_tls tls;
    const char *user, *password; /* NULL: no AUTH */
    const char *ca_file;         /* certificates to trust, PEM; NULL: those of the system */
    int64_t timeout_ms;          /* for all of it */
};

struct smtp_mail {
    const char *from;      /* an address, without <> */
    const char *const *to; /* addresses */
    size_t n_to;
    const char *text; /* the mail with its headers; lines end in \r\n */
    size_t len;
};

/* ST_FAILED: the server refused. ST_IO, ST_TIMEOUT: no connection, or a broken one. */
enum status smtp_send(const struct smtp_server *s, const struct smtp_mail *mail, bool *is_temporary,
                      struct err *e);
/* Connects, encrypts and logs in, and sends nothing. */
enum status smtp_greet(const struct smtp_server *s, struct err *e);

#endif
