/*
 * bench/sse - delivery of emits to many streaming clients of one server.
 *
 *     sse kind=http|redis port=P clients=N [key=FILE]
 *
 * http: GET /signals/stream and POST /emit, to ours and to bench/bare_http. redis: SUBSCRIBE and
 * PUBLISH. It prints "ready" when every client is subscribed, and then executes the commands on
 * standard input:
 *
 *     rate MS       emits for MS, OUTSTANDING at a time; prints "DELIVERIES-PER-SECOND EMITS"
 *     last COUNT    COUNT emits, one at a time; prints "P50 P99" in microseconds, from the
 *                   first byte of an emit to its arrival at the last client
 *
 * An emit is outstanding until the reply and all its deliveries have arrived. So a server's backlog
 * is never counted as speed. One process does everything, so its own cost is the same for every
 * server. At the end, every client must have received every emit exactly once.
 */
#include "bench.h"
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { OUTSTANDING = 64, CHUNK = 1 << 17, MARK_MAX = 16, STUCK_MS = 20000, LAST_MAX = 100000 };

struct kind {
    const char *name;
    const char *ready; /* text in the reply to a subscription */
    const char *event; /* text that is exactly once in every delivery */
    size_t (*reply)(const char *p, size_t n);
};

static const struct kind kinds[] = {
    { "http", "HTTP/1.1 200", "\ndata: {", http_reply },
    { "redis", "subscribe\r\n", "\r\nmessage\r\n", resp_reply },
};

/* A connection that listens or emits. */
struct conn {
    int fd;
    bool is_emitter;
    uint64_t heard;
    char tail[MARK_MAX]; /* a mark may be split over two reads */
    size_t tail_len;
    char *in; /* of an emitter: the reply so far */
    size_t in_len;
};

struct fan {
    const struct kind *kind;
    const char *mark;
    int epoll;
    struct conn *clients, emitters[OUTSTANDING];
    struct conn *idle[OUTSTANDING];
    size_t n, n_emitters, n_idle;
    unsigned port;
    uint64_t emitted, delivered;
    struct text_out emit, listen;
};

static void
watch(struct fan *f, struct conn *c)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

    c->fd = wire_connect(f->port);
    if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, c->fd, &e))
        die("watch a connection");
}

/* As memmem, for a mark whose first byte is rare (a line's end): memchr skips long lines fast, so
 * that events of 750 bytes are counted as fast as those of 256. */
static char *
find_mark(char *p, size_t n, const char *mark, size_t len)
{
    for (char *end = p + n; (p = memchr(p, mark[0], (size_t)(end - p))); p++)
        if ((size_t)(end - p) >= len && memcmp(p, mark, len) == 0)
            return p;
    return NULL;
}

/* Receives data and counts the marks in it. */
static uint64_t
count_marks(struct conn *c, const char *mark)
{
    static char chunk[MARK_MAX + CHUNK];
    size_t len = strlen(mark), n;
    uint64_t found = 0;
    char *from = chunk;

    memcpy(chunk, c->tail, c->tail_len);
    n = c->tail_len + wire_recv(c->fd, chunk + c->tail_len, CHUNK);
    for (char *at; (at = find_mark(from, n - (size_t)(from - chunk), mark, len)); from = at + len)
        found++;
    size_t left = n - (size_t)(from - chunk);
    c->tail_len = left < len ? left : len - 1;
    memcpy(c->tail, chunk + n - c->tail_len, c->tail_len);
    return found;
}

static void
hear(struct fan *f, struct conn *c)
{
    if (!c->is_emitter) {
        uint64_t n = count_marks(c, f->mark);
        errno = 0;
        if (f->mark == f->kind->ready && !n && !c->heard)
            die("the server rejects subscriptions; is the key right?");
        c->heard += n;
        f->delivered += n;
        return;
    }
    c->in_len += wire_recv(c->fd, c->in + c->in_len, CHUNK - c->in_len);
    if (!c->in_len || !f->kind->reply(c->in, c->in_len))
        return;
    c->in_len = 0;
    f->idle[f->n_idle++] = c;
}

static void
wait_some(struct fan *f)
{
    struct epoll_event events[256];
    int k = epoll_wait(f->epoll, events, 256, STUCK_MS);

    errno = 0;
    if (k == 0)
        die("no data for %d s: %ju of %ju deliveries", STUCK_MS / 1000, (uintmax_t)f->delivered,
            (uintmax_t)(f->emitted * f->n));
    for (int i = 0; i < k; i++)
        hear(f, events[i].data.ptr);
}

static void
emit_one(struct fan *f)
{
    struct conn *c = f->idle[--f->n_idle];

    wire_send(c->fd, f->emit.p, f->emit.len);
    f->emitted++;
}

/* Have all replies and deliveries arrived? */
static bool
is_settled(const struct fan *f)
{
    return f->n_idle == f->n_emitters && f->delivered >= f->emitted * f->n;
}

/* Opens connections for one measurement, because a server closes idle ones. */
static void
open_emitters(struct fan *f, size_t n)
{
    for (f->n_emitters = f->n_idle = 0; f->n_emitters < n; f->n_emitters++) {
        struct conn *c = f->idle[f->n_idle++] = &f->emitters[f->n_emitters];
        *c = (struct conn){ .is_emitter = true, .in = malloc(CHUNK) };
        if (!c->in)
            die("no memory for replies");
        watch(f, c);
    }
}

static void
close_emitters(struct fan *f)
{
    for (size_t i = 0; i < f->n_emitters; i++) {
        close(f->emitters[i].fd);
        free(f->emitters[i].in);
    }
    f->n_emitters = f->n_idle = 0;
}

static void
check(const struct fan *f)
{
    errno = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->clients[i].heard != f->emitted)
            die("client %zu received %ju of %ju emits", i, (uintmax_t)f->clients[i].heard,
                (uintmax_t)f->emitted);
}

static void
measure_rate(struct fan *f, unsigned ms)
{
    uint64_t emitted = f->emitted, delivered = f->delivered;

    open_emitters(f, OUTSTANDING);
    int64_t start = now_ns(), end = start + (int64_t)ms * 1000000;

    while (now_ns() < end) {
        while (f->n_idle && f->emitted - f->delivered / f->n < OUTSTANDING)
            emit_one(f);
        wait_some(f);
    }
    while (!is_settled(f))
        wait_some(f);
    double s = (double)(now_ns() - start) / 1e9;
    close_emitters(f);
    check(f);
    printf("%.1f %ju\n", (double)(f->delivered - delivered) / s, (uintmax_t)(f->emitted - emitted));
}

static void
measure_last(struct fan *f, unsigned count)
{
    double *took = malloc(count * sizeof *took);

    if (!took)
        die("no memory for %u samples", count);
    open_emitters(f, 1);
    for (unsigned i = 0; i < count; i++) {
        int64_t start = now_ns();
        emit_one(f);
        while (f->delivered < f->emitted * f->n)
            wait_some(f);
        took[i] = (double)(now_ns() - start) / 1000;
        while (!is_settled(f))
            wait_some(f);
    }
    close_emitters(f);
    check(f);
    double p99 = percentile(took, count, 99);
    printf("%.1f %.1f\n", median(took, count), p99);
    free(took);
}

static void
write_requests(struct fan *f, const char *key)
{
    char body[BODY_SIZE];
    struct http_to to = { f->port, key };

    wire_fill_body(body);
    if (f->kind->reply == http_reply) {
        http_ask(&f->listen, &to, "/signals/stream", NULL, 0);
        http_ask(&f->emit, &to, "/emit", body, sizeof body);
    } else {
        resp_ask(&f->listen, (const char *[]){ "SUBSCRIBE", "c" }, 2, NULL, 0);
        resp_ask(&f->emit, (const char *[]){ "PUBLISH", "c" }, 2, body, sizeof body);
    }
}

static void
gather(struct fan *f)
{
    f->mark = f->kind->ready;
    for (size_t i = 0; i < f->n; i++) {
        watch(f, &f->clients[i]);
        wire_send(f->clients[i].fd, f->listen.p, f->listen.len);
    }
    while (f->delivered < f->n)
        wait_some(f);
    for (size_t i = 0; i < f->n; i++) {
        f->clients[i].heard = 0;
        f->clients[i].tail_len = 0;
    }
    f->delivered = 0;
    f->mark = f->kind->event;
}

static const struct kind *
find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    errno = 0;
    die("sse: unknown kind=%s; use http or redis", name);
}

int
main(int argc, char **argv)
{
    static struct fan f;
    char key[128], line[64];
    unsigned n;

    (void)argc;
    alarm(TIME_LIMIT_S); /* a limit for the start and for each measurement, not for the wait between
                            them */
    f.kind = find_kind(wire_arg(argv, "kind", NULL));
    f.port = wire_number(argv, "port", NULL);
    f.n = wire_number(argv, "clients", NULL);
    wire_key(key, sizeof key, wire_arg(argv, "key", ""));
    write_requests(&f, key);
    f.epoll = epoll_create1(EPOLL_CLOEXEC);
    f.clients = calloc(f.n, sizeof *f.clients);
    errno = 0;
    if (f.n == 0 || !f.clients)
        die("sse: clients=%zu: must be at least 1 and fit into memory", f.n);
    gather(&f);
    puts("ready");
    for (fflush(stdout); alarm(0), fgets(line, sizeof line, stdin); fflush(stdout)) {
        alarm(TIME_LIMIT_S);
        if (sscanf(line, "rate %u", &n) == 1 && n > 0)
            measure_rate(&f, n);
        else if (sscanf(line, "last %u", &n) == 1 && n > 0 && n <= LAST_MAX)
            measure_last(&f, n);
        else
            die("sse: unknown command: %s", line);
    }
    return 0;
}
