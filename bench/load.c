/*
 * bench/load - a load generator: N connections to a server, one open request on each.
 *
 * The same program measures ours and every peer, so that its own cost is equal. A `struct work`
 * makes the requests and interprets the replies; the rest is shared. A constant request is composed
 * once.
 *
 *     load work=W port=P conns=N [n=COUNT] [ms=TIME] [key=FILE] [path=PATH]
 *
 * It ends after COUNT operations, after TIME, or when a claim finds no task, and prints
 *
 *     RATE<SPACE>P50<SPACE>P99<SPACE>COUNT
 *
 * RATE is per second, P50 and P99 are in microseconds. The rate is measured from the first request
 * to the last reply: requests that are open when the time is up are awaited and counted. An
 * operation of two requests (claim and ack) counts once, with the time of both.
 */
#include "bench.h"
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SAMPLES_MAX = 1 << 21, BATCH = 1000 };

struct conn {
    int fd;
    bool is_second;   /* the second request of the operation is open */
    int64_t begun_ns; /* time of the first request */
    char id[64], claim[64];
    struct text_out out;
    char *in;
    size_t in_len, in_size;
};

/* The meaning of a reply: the operation is done; its second request follows; there was no task. */
enum taken { DONE, HALF, EMPTY };

struct work {
    const char *name;
    void (*ask)(struct conn *c);
    size_t (*reply)(const char *p, size_t n);
    enum taken (*take)(struct conn *c, const char *p, size_t n); /* NULL: always DONE */
    bool differs; /* first requests differ from each other */
};

static struct http_to to;
static char key[128], body[BODY_SIZE];
static const char *path;
static struct text_out batch;
static unsigned asked; /* number of requests, used in patterns */

/* ---- HTTP ---- */

static void
emit(struct conn *c)
{
    http_ask(&c->out, &to, "/emit", body, sizeof body);
}

static void
emit_batch(struct conn *c)
{
    if (!batch.len) {
        out_addf(&batch, "{\"signals\":[");
        for (int i = 0; i < BATCH; i++) {
            out_add(&batch, ",", i > 0);
            out_add(&batch, body, sizeof body);
        }
        out_addf(&batch, "]}");
    }
    http_ask(&c->out, &to, "/emit/batch", batch.p, batch.len);
}

static void
get(struct conn *c)
{
    http_ask(&c->out, &to, path, NULL, 0);
}

/* Every request subscribes to another pattern; the first one matches the broadcasts. */
static void
subscribe(struct conn *c)
{
    const char *b = text("{\"pattern\":\"build:p%u:*\"}", asked);

    http_ask(&c->out, &to, "/v1/engine/signals/subscribe", b, strlen(b));
}

/* A broadcast of the same length as an emit. */
static void
broadcast(struct conn *c)
{
    static const char head[] = "{\"type\":\"build:p0:done\",\"data\":{\"log\":\"";
    char b[BODY_SIZE];

    memset(b, 'x', sizeof b);
    memcpy(b, head, sizeof head - 1);
    memcpy(b + sizeof b - 3, "\"}}", 3);
    http_ask(&c->out, &to, "/v1/engine/signals/generate", b, sizeof b);
}

static void
claim(struct conn *c)
{
    static const char next[] = "{\"role\":\"worker\"}";
    char ack[192];

    if (!c->is_second) {
        http_ask(&c->out, &to, "/claim", next, sizeof next - 1);
        return;
    }
    int n =
        snprintf(ack, sizeof ack, "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", c->id, c->claim);
    http_ask(&c->out, &to, "/ack", ack, (size_t)n);
}

/* Copies the text between `mark` and the next quote. */
static bool
cut(char to_text[64], const char *p, size_t n, const char *mark)
{
    const char *at = memmem(p, n, mark, strlen(mark));
    const char *from = at ? at + strlen(mark) : NULL;
    const char *end = from ? memchr(from, '"', n - (size_t)(from - p)) : NULL;

    if (!end || end - from >= 64)
        return false;
    memcpy(to_text, from, (size_t)(end - from));
    to_text[end - from] = '\0';
    return true;
}

static enum taken
take_claim(struct conn *c, const char *p, size_t n)
{
    if (c->is_second)
        return DONE;
    const char *data = memmem(p, n, "\r\n\r\n", 4);
    errno = 0;
    if (data && strncmp(data + 4, "{\"data\":null", 12) == 0)
        return EMPTY;
    if (!cut(c->id, p, n, "\"id\":\"") || !cut(c->claim, p, n, "\"claim_id\":\""))
        die("a claim without its id: %.*s", (int)n, p);
    return HALF;
}

/* ---- RESP ---- */

static void
xadd(struct conn *c)
{
    resp_ask(&c->out, (const char *[]){ "XADD", "s", "*", "d" }, 4, body, sizeof body);
}

static void
xgroup(struct conn *c)
{
    resp_ask(&c->out, (const char *[]){ "XGROUP", "CREATE", "s", "g", "0", "MKSTREAM" }, 6, NULL,
             0);
}

static void
xread(struct conn *c)
{
    if (c->is_second)
        resp_ask(&c->out, (const char *[]){ "XACK", "s", "g", c->id }, 4, NULL, 0);
    else
        resp_ask(
            &c->out,
            (const char *[]){ "XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">" },
            9, NULL, 0);
}

/* *1 *2 $1 s *1 *2 $len id ... */
static enum taken
take_xread(struct conn *c, const char *p, size_t n)
{
    static const char head[] = "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$";

    if (c->is_second)
        return DONE;
    if (p[1] == '-')
        return EMPTY;
    errno = 0;
    if (n < sizeof head || memcmp(p, head, sizeof head - 1) != 0 ||
        sscanf(p + sizeof head - 1, "%*u\r\n%63[0-9-]", c->id) != 1)
        die("an entry without its id: %.*s", (int)n, p);
    return HALF;
}

/* ---- beanstalkd ---- */

static void
put(struct conn *c)
{
    out_addf(&c->out, "put 1024 0 300 %zu\r\n", sizeof body);
    out_add(&c->out, body, sizeof body);
    out_add(&c->out, "\r\n", 2);
}

static void
reserve(struct conn *c)
{
    if (c->is_second)
        out_addf(&c->out, "delete %s\r\n", c->id);
    else
        out_addf(&c->out, "reserve-with-timeout 0\r\n");
}

static enum taken
take_reserve(struct conn *c, const char *p, size_t n)
{
    if (c->is_second)
        return DONE;
    if (strncmp(p, "TIMED_OUT", 9) == 0)
        return EMPTY;
    errno = 0;
    if (sscanf(p, "RESERVED %63[0-9]", c->id) != 1)
        die("a job without its id: %.*s", (int)n, p);
    return HALF;
}

static const struct work works[] = {
    { .name = "emit", .ask = emit, .reply = http_reply },
    { .name = "batch", .ask = emit_batch, .reply = http_reply }, /* BATCH signals per request */
    { .name = "claim", .ask = claim, .reply = http_reply, .take = take_claim },
    { .name = "get", .ask = get, .reply = http_reply },
    { .name = "broadcast", .ask = broadcast, .reply = http_reply },
    { .name = "subscribe", .ask = subscribe, .reply = http_reply, .differs = true },
    { .name = "redis-add", .ask = xadd, .reply = resp_reply },
    { .name = "redis-group", .ask = xgroup, .reply = resp_reply },
    { .name = "redis-claim", .ask = xread, .reply = resp_reply, .take = take_xread },
    { .name = "beanstalk-put", .ask = put, .reply = beanstalk_reply },
    { .name = "beanstalk-claim", .ask = reserve, .reply = beanstalk_reply, .take = take_reserve },
};

static const struct work *
find_work(const char *name)
{
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    errno = 0;
    die("load: unknown work=%s; see the list in bench/load.c", name);
}

/* ---- the load ---- */

struct load {
    const struct work *work;
    struct text_out first; /* the constant first request of an operation */
    int epoll;
    unsigned begun, done, limit, outstanding;
    bool is_over;
    int64_t end_ns, first_ns, last_ns;
    double *took_us;
};

static void
send_next(struct load *l, struct conn *c, int64_t now)
{
    if (!c->is_second) {
        if (l->is_over || l->begun == l->limit)
            return;
        l->begun++;
        l->outstanding++;
        c->begun_ns = now;
    }
    bool is_first = !c->is_second && !l->work->differs;
    asked++;
    if (!is_first || !l->first.len) {
        c->out.len = 0;
        l->work->ask(c);
    }
    if (is_first && !l->first.len)
        out_add(&l->first, c->out.p, c->out.len);
    const struct text_out *o = is_first ? &l->first : &c->out;
    wire_send(c->fd, o->p, o->len);
}

static void
take(struct load *l, struct conn *c, size_t n, int64_t now)
{
    enum taken t = l->work->take ? l->work->take(c, c->in, n) : DONE;

    c->is_second = t == HALF;
    if (t == HALF)
        return;
    l->outstanding--;
    if (t == EMPTY) {
        l->is_over = true;
        return;
    }
    if (l->done < SAMPLES_MAX)
        l->took_us[l->done] = (double)(now - c->begun_ns) / 1000;
    l->done++;
    l->last_ns = now;
}

static void
hear(struct load *l, struct conn *c)
{
    if (c->in_size - c->in_len < 16384) {
        c->in_size = c->in_size * 2 + 32768;
        c->in = realloc(c->in, c->in_size);
        if (!c->in)
            die("no memory for a reply");
    }
    c->in_len += wire_recv(c->fd, c->in + c->in_len, c->in_size - c->in_len);
    size_t n = c->in_len ? l->work->reply(c->in, c->in_len) : 0;
    if (!n)
        return;
    int64_t now = now_ns();
    errno = 0;
    if (n != c->in_len)
        die("a reply without a request: %.*s", (int)(c->in_len - n), c->in + n);
    if (now >= l->end_ns)
        l->is_over = true;
    take(l, c, n, now);
    c->in_len = 0;
    send_next(l, c, now);
}

static void
run(struct load *l, struct conn *conns, unsigned n, unsigned port)
{
    struct epoll_event events[256];

    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < n; i++) {
        conns[i].fd = wire_connect(port);
        struct epoll_event e = { .events = EPOLLIN, .data.ptr = &conns[i] };
        if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, conns[i].fd, &e))
            die("watch a connection");
    }
    l->first_ns = l->last_ns = now_ns();
    l->end_ns += l->first_ns;
    for (unsigned i = 0; i < n; i++)
        send_next(l, &conns[i], l->first_ns);
    while (l->outstanding) {
        int k = epoll_wait(l->epoll, events, 256, -1);
        for (int i = 0; i < k; i++)
            hear(l, events[i].data.ptr);
    }
}

int
main(int argc, char **argv)
{
    struct load l = { .work = find_work(wire_arg(argv, "work", NULL)) };
    unsigned port = wire_number(argv, "port", NULL), n = wire_number(argv, "conns", NULL);
    unsigned ms = wire_number(argv, "ms", "0");

    (void)argc;
    alarm(TIME_LIMIT_S);
    wire_key(key, sizeof key, wire_arg(argv, "key", ""));
    wire_fill_body(body);
    path = wire_arg(argv, "path", "/");
    to = (struct http_to){ port, key };
    l.limit = wire_number(argv, "n", "4294967295");
    l.end_ns = ms ? (int64_t)ms * 1000000 : (int64_t)TIME_LIMIT_S * 1000000000;
    l.took_us = malloc(SAMPLES_MAX * sizeof *l.took_us);
    struct conn *conns = calloc(n, sizeof *conns);
    if (!l.took_us || !conns)
        die("no memory for %u connections", n);
    run(&l, conns, n, port);
    errno = 0;
    if (!l.done)
        die("no operation was completed");
    size_t samples = l.done < SAMPLES_MAX ? l.done : SAMPLES_MAX;
    double p99 = percentile(l.took_us, samples, 99);
    printf("%.1f %.1f %.1f %u\n", l.done / ((double)(l.last_ns - l.first_ns) / 1e9),
           median(l.took_us, samples), p99, l.done);
    return 0;
}
