/*
 * answer - the text of an HTTP answer, into a buf. Pure; net/server sends it.
 *
 * response_head writes the status line, Date, nosniff, Connection where it is needed, and the
 * caller's lines; response_body ends the head and adds the body. For a body that is not known
 * yet the caller adds its own last lines.
 *
 * Tests: test/unit/test_server*.c
 */
#ifndef CLIQ_NET_RESPONSE_H
#define CLIQ_NET_RESPONSE_H

#include "base/buf.h"

#include <stdint.h>

#define ANSWER_DATE_SIZE 40
/* "Mon, 16 Nov 2026 01:52:21 GMT" */
void response_date(char to[ANSWER_DATE_SIZE], int64_t wall_s);

/* headers: whole lines, or NULL. minor: of the request, HTTP/1.minor. */
void response_head(struct buf *b, int status, const char *date, int minor, bool keeps,
                   const char *headers);
/* is_head: the request was HEAD, so only the length is told. */
void response_body(struct buf *b, int status, const void *body, size_t len, bool is_head);

/* Adds a line; ST_INVALID when name or value could not be one. */
enum status
http_add_header(struct buf *headers, const char *name, const char *value, struct err *e);

#endif
