/*
 * wire - the three protocols that the loaders speak: HTTP/1.1 to ours, the bare server and
 * nginx, RESP to Redis, and that of beanstalkd.
 *
 * Only what a benchmark needs: requests are written whole, and a reply is looked at for its end
 * and for whether it says yes. A reply that says no ends the benchmark with its text.
 */
#ifndef CLIQ_BENCH_WIRE_H
#define CLIQ_BENCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* What every emit carries, in every protocol: a JSON object, BODY_SIZE bytes. */
enum { BODY_SIZE = 256, TRANSPORT_BODY_MAX = 1 << 20 };
void wire_fill_body(char body[BODY_SIZE]);

/* Text that grows; released by free(p). */
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
/* n words, each a C text, but for the last: `len` bytes. */
void resp_ask(struct text_out *o, const char *const *words, size_t n, const void *last, size_t len);

/* ---- replies: the length of the first one, 0 while it is not whole ---- */

size_t http_reply(const char *p, size_t n);
size_t resp_reply(const char *p, size_t n);
size_t beanstalk_reply(const char *p, size_t n);

/* ---- connections ---- */

int wire_connect(unsigned port);                      /* 127.0.0.1; not blocking afterwards */
void transport_send(int fd, const void *p, size_t n); /* waits while the other side is full */
/* Reads behind what is there; how many bytes, 0: nothing now. The end is an error. */
size_t transport_recv(int fd, char *p, size_t room);

/* "name=value" of the command line, or `otherwise`, or the benchmark ends when that is NULL. */
const char *wire_arg(char **argv, const char *name, const char *otherwise);
unsigned wire_number(char **argv, const char *name, const char *otherwise);
/* The first line of a file, at most size - 1 bytes; "" for the name "". */
void wire_key(char *to, size_t size, const char *file);

#endif
