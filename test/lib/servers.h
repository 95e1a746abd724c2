/*
 * servers - what the tests of net/server share: a server whose handler does what the path says, and
 * a client. Both are one thread: a client that waits for bytes runs the loop until they are there.
 */
#ifndef CLIQ_TEST_SERVERS_H
#define CLIQ_TEST_SERVERS_H

#include "base/loop.h"
#include "net/server.h"

#include "test.h"

#include <netinet/in.h>

enum { PATIENCE_MS = 10000, KEPT = 64 };
extern struct loop *loop;
extern struct http_server *server;
extern struct http_options o; /* a case changes them before begin_server */
extern struct sockaddr_in at; /* where the server listens */
extern unsigned stopped;      /* calls of on_stopped */

/* What the handler kept for later, and what it heard. */
struct seen {
    struct http_conn *conns[KEPT];
    size_t n;
    struct http_conn *grouped[KEPT]; /* on_round answers these */
    size_t n_grouped;
    struct buf log; /* a line per request */
    struct buf news;
    unsigned rounds;
    bool is_watching, ends_on_stop, is_flooding;
    size_t flooded;
};
extern struct seen seen;

void on_stopped(void *ctx);
void begin_server(void);
int server_enter(void **state);
int server_leave(void **state);

#define SERVER_CASE(fact) cmocka_unit_test_setup_teardown(fact, server_enter, server_leave)

int dial(void);
void say_bytes(int fd, const void *p, size_t n);
void say(int fd, const char *text);

/* Runs the loop until the descriptor is readable; false after ms. */
bool run_until_readable(int fd, uint64_t ms);

/* Runs the loop for a while: one round at least. */
void run_for(uint64_t ms);

/* Runs the loop until something is so. */
#define RUN_UNTIL(fact)                                                                            \
    do {                                                                                           \
        for (int ms_ = 0; !(fact); ms_++) {                                                        \
            if (ms_ > PATIENCE_MS)                                                                 \
                fail_msg("never so: %s", #fact);                                                   \
            run_for(1);                                                                            \
        }                                                                                          \
    } while (0)

/* Adds what comes next; false at the end of the connection. */
bool hear_some(int fd, struct buf *to);

/* Everything until this text is in it. */
void hear_until(int fd, struct buf *to, const char *text);
void hear_end(int fd, struct buf *to);
size_t count(const struct buf *b, const char *text);

#define CHECK_HAS(b, text)                                                                         \
    do {                                                                                           \
        if (!strstr((b).p, text))                                                                  \
            fail_msg("no \"%s\" in \"%s\"", text, (b).p);                                          \
    } while (0)

#define HOST " HTTP/1.1\r\nHost: x\r\n"

#endif
