/*
 * wire - the protocols of the load generators: HTTP/1.1, RESP (Redis) and beanstalkd's.
 *
 * Only what a benchmark needs: requests are composed whole; a reply is checked for its end and for
 * success. An error reply ends the benchmark with its text.
 */
#ifndef CLIQ_BENCH_WIRE_H
#define CLIQ_BENCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* The body of every emit, in every protocol: a JSON object, BODY_SIZE bytes. */
enum { BODY_SIZE = 256 };
void wire_fill_body(char body[BODY_SIZE]);

/* A growing text; free it with free(p). */
struct text_out {
    char *p;
    size_t len, size;
};
void out_add(struct text_out *o, const void *p, size_t n);
void out_addf(struct text_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- requests ---- */

struct http_to {
    unsigned port;
    const char *key; /* NULL or "": none */
};
/* body NULL: a GET. */
void http_ask(struct text_out *o, const struct http_to *to, const char *path, const char *body,
              size_t len);
/* A command of n words, and if `last` is not NULL, an argument of `len` bytes. */
void resp_ask(struct text_out *o, const char *const *words, size_t n, const void *last, size_t len);

/* ---- replies: the length of the first one; 0: not complete yet ---- */

size_t http_reply(const char *p, size_t n);
size_t resp_reply(const char *p, size_t n);
size_t beanstalk_reply(const char *p, size_t n);

/* ---- connections ---- */

int wire_connect(unsigned port);                 /* to 127.0.0.1; non-blocking afterwards */
void wire_send(int fd, const void *p, size_t n); /* waits while the socket's buffer is full */
/* Receives bytes; 0: none now. End of the connection ends the benchmark. */
size_t wire_recv(int fd, char *p, size_t room);

/* The value of "name=value" in the command line, else `otherwise`; if that is NULL, ends. */
const char *wire_arg(char **argv, const char *name, const char *otherwise);
unsigned wire_number(char **argv, const char *name, const char *otherwise);
/* The first line of a file, at most size - 1 bytes; "" for the name "". */
void wire_key(char *to, size_t size, const char *file);

#endif
