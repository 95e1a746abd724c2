/*
 * Streams of a real store, on real sockets: what a client is told when the past is gone, and what
 * becomes of one that does not read. Client and server are one thread: a client that waits runs
 * the loop.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "hubs.h"

#include "serve/stream.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>

enum { PATIENCE_MS = 20000, QUEUE = 64 << 10, BODY = 10000 };

static struct err e;
static struct loop *loop;
static struct http_server *server;
static struct streams *streams;
static struct hub *reader;
static struct http_conn *last; /* the latest stream */
static const char *last_id, *wants;
static struct sockaddr_in at;

static void
on_request(void *ctx, struct http_conn *c, const struct http_request *r)
{
    struct arena a = { 0 };
    struct json *args;
    const char *code;
    int status;

    (void)ctx;
    (void)r;
    assert_true(json_parse(&a, wants, strlen(wants), &args, NULL));
    if (streams_add(streams, c, &(struct stream_caller){ "bob", "", true }, args, &a, last_id,
                    false, NULL, "r1", &status, &code, &e))
        last = c;
    else
        http_answer(c, status, NULL, e.text, strlen(e.text));
    arena_release(&a);
}

static void
begin(unsigned slow_ms)
{
    struct listener l;
    struct http_options o = { .on_request = on_request, .stream_max = QUEUE };

    wants = "{}";
    last_id = NULL;
    CHECK_OK(hub_open(&reader, "config", NULL, &e), &e);
    loop = loop_new(&e);
    server = http_server_new(loop, &o, &e);
    streams = streams_new(loop, reader, &(struct streams_options){ .slow_ms = slow_ms }, &e);
    assert_true(loop && server && streams);
    CHECK_OK(listener_tcp(&l, "127.0.0.1:0", &e), &e);
    at = (struct sockaddr_in){ .sin_family = AF_INET,
                               .sin_port = htons((uint16_t)l.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CHECK_OK(http_server_add(server, &l, &e), &e);
}

static void
finish(void)
{
    http_server_free(server);
    streams_free(streams);
    loop_free(loop);
    hub_close(reader);
}

static void
on_time(void *ctx)
{
    *(bool *)ctx = true;
    loop_stop(loop);
}

static void
run_for(uint64_t ms)
{
    bool is_over = false;

    assert_non_null(loop_after(loop, ms, on_time, &is_over, &e));
    while (!is_over)
        CHECK_OK(loop_run(loop, &e), &e);
}

/* A client with small buffers that has asked for the stream. */
static int
dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    static const char ask_for[] = "GET / HTTP/1.0\r\n\r\n";

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(send(fd, ask_for, sizeof ask_for - 1, MSG_NOSIGNAL), sizeof ask_for - 1);
    return fd;
}

/* Reads until the text is there (NULL: until the end); false: the end came first. */
static bool
hear(int fd, struct buf *to, const char *text)
{
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        ssize_t n;
        do {
            char *room = buf_room(to, 65536);
            n = recv(fd, room, 65536, MSG_DONTWAIT);
            if (n > 0)
                buf_grew(to, (size_t)n);
        } while (n > 0);
        if (text && to->len && memmem(to->p, to->len, text, strlen(text)))
            return true;
        if (n == 0)
            return text == NULL;
        run_for(1);
    }
    fail_msg("nothing more came; so far: %.2000s", to->p ? to->p : "");
    return false;
}

/* What was said behind the greeting, which tells where the stream begins. */
static const char *
events(const struct buf *b)
{
    static const char greeting[] = ": connected\nid: ";
    const char *p = strstr(b->p, greeting);

    assert_non_null(p);
    return p + sizeof greeting - 1;
}

/* The numbers behind "\nid: ", in order, each one more than the one before; the last. */
static uint64_t
check_ids(const struct buf *b, uint64_t after, size_t *n)
{
    for (const char *p = events(b); (p = strstr(p, "\nid: ")); (*n)++) {
        uint64_t id = strtoull(p += 5, NULL, 10);
        if (id != after + 1)
            fail_msg("%" PRIu64 " came behind %" PRIu64, id, after);
        after = id;
    }
    return after;
}

static void
who_asks_for_what_is_gone_is_told_the_oldest_there_is(void **state)
{
    struct hub_options small = { .rotate_bytes = 2000 };
    struct hub *h;
    struct hub_stats st;
    uint64_t dropped;
    struct buf heard = { 0 };
    char text[100], since[40];
    size_t n = 0;

    (void)state;
    fake_clock(T0);
    CHECK_OK(hub_open(&h, "config", &small, &e), &e);
    for (int i = 0; i < 60; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    fake_clock(T0 + 7200 * S);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    CHECK_OK(hub_stats(h, &st, &e), &e);
    assert_true(dropped > 0 && st.first_seq > 1 && st.signals > 0);
    begin(0);

    wants = "{\"since\":\"0\"}";
    int fd = dial();
    snprintf(text, sizeof text, "\nid: %" PRIu64 "\n", st.last_seq);
    assert_true(hear(fd, &heard, text));
    snprintf(text, sizeof text, "id: %" PRIu64 "\nevent: reset\ndata: {\"oldest\":%" PRIu64 "}\n\n",
             st.first_seq - 1, st.first_seq);
    assert_non_null(strstr(heard.p, text));
    const char *first = strstr(events(&heard), "\nid: ");
    assert_memory_equal(first + 1, text, strlen(text)); /* before anything else */
    for (const char *p = heard.p; (p = strstr(p, "event: a:b")); p++)
        n++;
    assert_int_equal(n, st.signals);
    close(fd);

    /* Who has seen everything up to there misses nothing. */
    buf_reset(&heard);
    snprintf(since, sizeof since, "%" PRIu64, st.first_seq - 1);
    wants = "{}";
    last_id = since;
    fd = dial();
    snprintf(text, sizeof text, "\nid: %" PRIu64 "\n", st.last_seq);
    assert_true(hear(fd, &heard, text));
    assert_null(strstr(heard.p, "event: reset"));
    close(fd);

    /* Dropped while the server runs, too. */
    for (int i = 0; i < 60; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    fake_clock(T0 + 14400 * S);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    assert_true(dropped > 0);
    buf_reset(&heard);
    fd = dial();
    assert_true(hear(fd, &heard, "event: reset\n"));
    close(fd);
    run_for(1);
    buf_release(&heard);
    finish();
    close_hub(h);
}

static void
a_client_that_does_not_read_is_bounded_and_let_go_and_can_come_back(void **state)
{
    struct hub *h = open_hub();
    struct buf heard = { 0 };
    char *body = calloc(1, BODY + 1), id[40];
    enum { N = 300 };
    size_t n = 0;

    (void)state;
    memset(body, 'b', BODY);
    begin(400);
    int fd = dial(), other = dial();
    for (int ms = 0; ms < PATIENCE_MS && streams_count(streams) < 2; ms++)
        run_for(1);
    assert_int_equal(streams_count(streams), 2);
    struct http_conn *idle = last; /* either will do: both are asked about below */
    size_t most = 0;
    struct buf well = { 0 };
    for (int i = 0; i < N; i++) {
        CHECK_REPLY(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"s\",\"content\":\"%s\"}", body),
                    200);
        forget_answers();
        streams_written(streams, (uint64_t)i + 1);
        streams_look(streams);
        if (streams_count(streams) == 2 && http_stream_queued(idle) > most)
            most = http_stream_queued(idle);
        char *room = buf_room(&well, 65536); /* the other one reads all the time */
        run_for(0);
        ssize_t got_now = recv(other, room, 65536, MSG_DONTWAIT);
        if (got_now > 0)
            buf_grew(&well, (size_t)got_now);
    }
    assert_true(most <= QUEUE + 2 * BODY); /* however much there is to tell */
    snprintf(id, sizeof id, "\nid: %d\n", N);
    assert_true(hear(other, &well, id));
    for (int ms = 0; ms < PATIENCE_MS && streams_count(streams) == 2; ms++)
        run_for(1);
    assert_int_equal(streams_count(streams), 1); /* it was let go, */
    assert_int_equal(streams_dropped(streams), 1);
    assert_true(hear(fd, &heard, NULL));
    static const char comment[] = ": you read too slowly; come back with Last-Event-ID\n\n";
    assert_non_null(strstr(heard.p, comment)); /* is told so when it reads at last, */
    assert_string_equal(heard.p + heard.len - strlen(comment), comment);
    uint64_t seen = check_ids(&heard, 0, &n);
    assert_true(n > 0 && n < N);
    close(fd);
    buf_reset(&heard);
    snprintf(id, sizeof id, "%" PRIu64, seen);
    last_id = id;
    fd = dial(); /* comes back, and has missed nothing */
    char end[40];
    snprintf(end, sizeof end, "\nid: %d\n", N);
    assert_true(hear(fd, &heard, end));
    assert_int_equal(check_ids(&heard, seen, &n), N);
    assert_int_equal(n, N);
    n = 0;
    assert_int_equal(check_ids(&well, 0, &n), N);
    close(fd);
    close(other);
    run_for(1);
    free(body);
    buf_release(&heard);
    buf_release(&well);
    finish();
    close_hub(h);
}

static void
filters_of_any_length_hold(void **state)
{
    struct hub *h = open_hub();
    char word[40], asked[400], event[60];

    (void)state;
    begin(0);
    for (int len = 1; len < 40; len++) {
        struct buf heard = { 0 };
        memset(word, 'w', sizeof word);
        word[len] = '\0';
        snprintf(asked, sizeof asked,
                 "{\"type\":\"%s\",\"pattern\":\"%s\",\"tags\":\"%s\",\"role\":\"%s\"}", word, word,
                 word, word);
        wants = asked;
        int fd = dial();
        assert_true(hear(fd, &heard, ": connected\n"));
        for (int differs = 0; differs < 5; differs++) /* in one of the four, the last in none */
            CHECK_REPLY(ask(h, HUB_EMIT, "ruby",
                            "{\"signal_type\":\"%s%s\",\"tags\":[\"%s%s\"],\"to_role\":\"%s%s\"}",
                            word, differs < 2 ? "x" : "", word, differs == 2 ? "x" : "", word,
                            differs == 3 ? "x" : ""),
                        200);
        streams_written(streams, (uint64_t)len * 5);
        streams_look(streams);
        snprintf(event, sizeof event, "\nid: %d\nevent: %s\n", len * 5, word);
        assert_true(hear(fd, &heard, event));
        assert_memory_equal(strstr(events(&heard), "\nid: "), event, strlen(event)); /* alone */
        close(fd);
        buf_release(&heard);
        forget_answers();
    }
    run_for(1);
    finish();
    close_hub(h);
}

/* A signal that is on disk, and told to whoever emitted it, but not in the index. */
static void
emit_uncommitted(struct hub *h)
{
    struct arena a = { 0 };
    struct json *args;
    struct hub_reply reply;
    static const char text[] = "{\"signal_type\":\"s\"}";

    assert_true(json_parse(&a, text, sizeof text - 1, &args, NULL));
    struct hub_request r = { .op = HUB_EMIT, .identity = "ruby", .is_admin = true, .args = args };
    submit_on(h, &r, 1, &a, &reply);
    assert_int_equal(reply.status, 200);
    assert_true(hub_may_go_on(h)); /* it was kept */
    arena_release(&a);
}

static void
who_comes_after_an_answer_is_not_told_of_it_though_the_index_has_it_later(void **state)
{
    struct hub *h = open_hub();
    struct buf heard = { 0 }, other = { 0 };

    (void)state;
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"s\"}"), 200);
    begin(0);
    wants = "{}";
    last_id = NULL;
    int early = dial();
    assert_true(hear(early, &other, ": connected\n"));
    emit_uncommitted(h); /* 2 */
    streams_written(streams, 2);
    int fd = dial();
    assert_true(hear(fd, &heard, ": connected\nid: 2\n"));
    emit_uncommitted(h); /* 3 */
    hub_settle(h);
    streams_written(streams, 3);
    streams_look(streams);
    assert_true(hear(fd, &heard, "\nid: 3\n"));
    assert_true(hear(early, &other, "\nid: 3\n"));
    assert_null(strstr(events(&heard), "\nid: 2\n"));
    assert_non_null(strstr(events(&other), "\nid: 2\n"));
    close(fd);
    close(early);
    run_for(1);
    buf_release(&heard);
    buf_release(&other);
    finish();
    forget_answers();
    close_hub(h);
}

static void
a_client_that_asks_for_it_hears_each_second_that_the_server_is_there(void **state)
{
    struct hub *h = open_hub();
    struct buf heard = { 0 }, other = { 0 };

    (void)state;
    begin(0);
    wants = "{\"keepalive\":\"1\"}";
    int quick = dial();
    assert_true(hear(quick, &heard, ": connected\n"));
    wants = "{}";
    int slow = dial();
    assert_true(hear(slow, &other, ": connected\n"));
    for (int i = 0; i < 2; i++) {
        buf_reset(&heard);
        assert_true(hear(quick, &heard, ": keepalive\n\n"));
    }
    assert_false(memmem(other.p, other.len, "keepalive", 9));
    wants = "{\"keepalive\":\"0\"}";
    int bad = dial();
    buf_reset(&heard);
    assert_true(hear(bad, &heard, "keepalive"));
    assert_non_null(strstr(heard.p, " 400 "));
    close(quick);
    close(slow);
    close(bad);
    run_for(1);
    buf_release(&heard);
    buf_release(&other);
    finish();
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(who_asks_for_what_is_gone_is_told_the_oldest_there_is),
        CASE(a_client_that_does_not_read_is_bounded_and_let_go_and_can_come_back),
        CASE(filters_of_any_length_hold),
        CASE(a_client_that_asks_for_it_hears_each_second_that_the_server_is_there),
        CASE(who_comes_after_an_answer_is_not_told_of_it_though_the_index_has_it_later),
    };

    loop_free(loop_new(&e)); /* libuv opens a pipe for signals once, and keeps it */
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
