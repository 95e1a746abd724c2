/*
 * bench/bare_http - a minimal durable HTTP server, the peer of the hub's benchmarks.
 *
 * One thread and epoll. Each round reads every request that is ready, appends all bodies to a file
 * with one write, syncs once and responds to each. It has no JSON, keys or index, so it shows the
 * cost of the kernel and of the load generator.
 *
 * GET /signals/stream subscribes the connection: it gets every synced body as an event, those of
 * one round in one write. A subscriber that does not keep up is closed.
 *
 *     bare_http FILE        prints "listening on http://127.0.0.1:PORT"; ends on SIGTERM
 */
#include "bench.h"
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, IN_SIZE = 4096 };

struct conn {
    int fd;
    size_t len;
    char in[IN_SIZE];
};

struct server {
    int epoll, listener, file;
    struct conn *asking[EVENTS]; /* connections with a request in this round */
    size_t n_asking;
    struct conn **listening;
    size_t n_listening;
    struct text_out lines, events;
    uint64_t seq;
};

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: 15\r\n\r\n{\"data\":\"done\"}";
static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                                  ": connected\n\n";

static void
drop(struct conn *c)
{
    close(c->fd);
    free(c);
}

static void
let_in(struct server *s)
{
    int fd, on = 1;

    while ((fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct conn *c = calloc(1, sizeof *c);
        struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };
        if (!c)
            die("no memory for a connection");
        c->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e))
            die("watch a connection");
    }
}

static void
listen_for(struct server *s, struct conn *c)
{
    s->listening = realloc(s->listening, (s->n_listening + 1) * sizeof(struct conn *));
    if (!s->listening)
        die("no memory for a listener");
    s->listening[s->n_listening++] = c;
    c->len = 0;
    wire_send(c->fd, stream_head, sizeof stream_head - 1);
}

/* The body of a complete request, or NULL; *n: its length. */
static const char *
find_body(const struct conn *c, size_t *n)
{
    const char *end = memmem(c->in, c->len, "\r\n\r\n", 4);
    const char *at = end ? memmem(c->in, c->len, "Content-Length: ", 16) : NULL;

    if (!at)
        return NULL;
    *n = strtoul(at + 16, NULL, 10);
    return (size_t)(c->in + c->len - (end + 4)) >= *n ? end + 4 : NULL;
}

static bool
is_listening(const struct server *s, const struct conn *c)
{
    for (size_t i = 0; i < s->n_listening; i++)
        if (s->listening[i] == c)
            return true;
    return false;
}

static void
forget(struct server *s, struct conn *c)
{
    for (size_t i = 0; i < s->n_listening; i++)
        if (s->listening[i] == c)
            s->listening[i--] = s->listening[--s->n_listening];
    drop(c);
}

static void
hear(struct server *s, struct conn *c)
{
    ssize_t k = recv(c->fd, c->in + c->len, sizeof c->in - c->len, 0);
    const char *body;
    size_t n;

    if (k <= 0) {
        forget(s, c);
        return;
    }
    c->len += (size_t)k;
    if (c->len >= 19 && memcmp(c->in, "GET /signals/stream", 19) == 0 && !is_listening(s, c)) {
        if (memmem(c->in, c->len, "\r\n\r\n", 4))
            listen_for(s, c);
        return;
    }
    body = find_body(c, &n);
    if (!body)
        return;
    out_add(&s->lines, body, n);
    out_add(&s->lines, "\n", 1);
    s->seq++;
    if (s->n_listening) {
        out_addf(&s->events, "id: %ju\nevent: task\ndata: ", (uintmax_t)s->seq);
        out_add(&s->events, body, n);
        out_add(&s->events, "\n\n", 2);
    }
    c->len = 0;
    s->asking[s->n_asking++] = c;
}

static void
end_round(struct server *s)
{
    if (!s->n_asking)
        return;
    write_all(s->file, s->lines.p, s->lines.len);
    if (fdatasync(s->file))
        die("sync");
    for (size_t i = 0; i < s->n_asking; i++)
        wire_send(s->asking[i]->fd, answer, sizeof answer - 1);
    for (size_t i = s->events.len ? s->n_listening : 0; i-- > 0;)
        if (send(s->listening[i]->fd, s->events.p, s->events.len, MSG_NOSIGNAL) !=
            (ssize_t)s->events.len)
            forget(s, s->listening[i]);
    s->n_asking = s->lines.len = s->events.len = 0;
}

static void
open_listener(struct server *s)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    struct epoll_event e = { .events = EPOLLIN };

    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, size) ||
        listen(s->listener, 1024) || getsockname(s->listener, (struct sockaddr *)&at, &size) ||
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &e))
        die("listen on 127.0.0.1");
    printf("listening on http://127.0.0.1:%u\n", ntohs(at.sin_port));
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    static struct server s;
    struct epoll_event events[EVENTS];

    errno = 0;
    if (argc != 2)
        die("usage: bare_http FILE");
    s.file = open_new(argv[1]);
    open_listener(&s);
    for (;;) {
        int n = epoll_wait(s.epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.ptr)
                hear(&s, events[i].data.ptr);
            else
                let_in(&s);
        end_round(&s);
    }
}
