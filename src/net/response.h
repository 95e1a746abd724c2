/*
 * response - the text of an HTTP response in a buf. Pure; net/server sends it.
 *
 * response_head writes the status line, Date, nosniff, Connection if needed, and the caller's
 * lines. response_body ends the head and adds the body. If the body is not known yet (a stream),
 * the caller ends the head itself.
 *
 * Tests: test/unit/test_server*.c
 */
#ifndef CLIQ_NET_RESPONSE_H
#define CLIQ_NET_RESPONSE_H

#include "base/buf.h"

#include <stdint.h>

#define RESPONSE_DATE_SIZE 40
/* "Mon, 16 Nov 2026 01:52:21 GMT" */
void response_date(char to[RESPONSE_DATE_SIZE], int64_t wall_s);

/* headers: whole lines, or NULL. minor: of the request, HTTP/1.minor. */
void response_head(struct buf *b, int status, const char *date, int minor, bool keeps,
                   const char *headers);
/* is_head: the request was HEAD, so only Content-Length is written. */
void response_body(struct buf *b, int status, const void *body, size_t len, bool is_head);

/* Adds a header line; ST_INVALID: a bad name or value. */
enum status
http_add_header(struct buf *headers, const char *name, const char *value, struct err *e);

#endif
