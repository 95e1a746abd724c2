/* Tests net/server on real sockets: deferred answers, and streams. */
#define _GNU_SOURCE
#include "servers.h"

#include <fcntl.h>
#include <sys/socket.h>

static struct err e;

/* ---- deferred answers ---- */

static void
an_answer_may_come_later_and_the_order_stays(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial(), other = dial();
    say(fd, "GET /later" HOST "\r\nGET /after" HOST "\r\n");
    say(other, "GET /other" HOST "\r\n");
    hear_until(other, &got, "\r\n\r\n/other");
    assert_int_equal(seen.n, 1);
    assert_int_equal(count(&seen.log, "/after"), 0);
    assert_false(is_readable(fd, 0));
    http_answer(seen.conns[0], 201, NULL, "at last", 7);
    buf_reset(&got);
    hear_until(fd, &got, "/after");
    CHECK_HAS(got, "HTTP/1.1 201 Created\r\n");
    CHECK_HAS(got, "at lastHTTP/1.1 200 OK\r\n");
    close(fd);
    close(other);
    buf_release(&got);
}

static void
the_requests_of_a_round_may_be_answered_together(void **state)
{
    struct buf got = { 0 };
    int fds[10];

    (void)state;
    begin_server();
    for (int i = 0; i < 10; i++) {
        fds[i] = dial();
        say(fds[i], "GET /a" HOST "\r\n");
        hear_until(fds[i], &got, "\r\n\r\n/a");
        buf_reset(&got);
    }
    seen.rounds = 0;
    for (int i = 0; i < 10; i++)
        say(fds[i], "GET /grouped" HOST "\r\n");
    for (int i = 0; i < 10; i++) {
        buf_reset(&got);
        hear_until(fds[i], &got, "\r\n\r\ngrouped");
    }
    assert_int_equal(seen.rounds, 1);

    /* On one connection answers come in order, and those of a round leave in one write. */
    buf_reset(&got);
    for (int i = 0; i < 5; i++)
        buf_adds(&got, "GET /grouped" HOST "\r\n");
    say(fds[0], got.p);
    buf_reset(&got);
    assert_true(hear_some(fds[0], &got));
    assert_int_equal(count(&got, "\r\n\r\ngrouped"), 5);
    for (int i = 0; i < 10; i++)
        close(fds[i]);
    buf_release(&got);
}

static void
pipelined_requests_wait_for_their_turn(void **state)
{
    struct buf got = { 0 }, text = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    buf_adds(&text, "GET /later" HOST "\r\n");
    for (int i = 0; i < 8000; i++)
        buf_adds(&text, "GET /x" HOST "\r\n");
    buf_adds(&text, "GET /end" HOST "\r\n");
    size_t sent = 0;
    for (int quiet = 0; sent < text.len && quiet < 100; quiet++) {
        ssize_t n = send(fd, text.p + sent, text.len - sent, MSG_NOSIGNAL);
        quiet = n > 0 ? 0 : quiet;
        sent += n > 0 ? (size_t)n : 0;
        run_for(0);
    }
    RUN_UNTIL(seen.n == 1);
    run_for(5);
    assert_int_equal(count(&seen.log, "/x"), 0);
    http_answer(seen.conns[0], 200, NULL, "", 0);
    while (sent < text.len) {
        ssize_t n = send(fd, text.p + sent, text.len - sent, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        if (is_readable(fd, 0))
            hear_some(fd, &got);
        run_for(0);
    }
    hear_until(fd, &got, "\r\n\r\n/end");
    assert_int_equal(count(&seen.log, "/x"), 8000);
    assert_int_equal(count(&got, "HTTP/1.1 200 OK"), 8002);
    close(fd);
    buf_release(&got);
    buf_release(&text);
}

static void
a_watcher_is_called_when_the_client_disconnects(void **state)
{
    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /watched" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    assert_false(http_conn_is_gone(seen.conns[0]));
    close(fd);
    CHECK_OK(loop_run(loop, &e), &e); /* on_news stops the loop */
    assert_string_equal(seen.news.p, "gone");
    RUN_UNTIL(http_server_stats(server).open == 0);
    assert_true(http_conn_is_gone(seen.conns[0]));             /* the handle is still valid */
    http_answer(seen.conns[0], 200, NULL, "nobody reads", 12); /* until it is ended */
}

static void
a_half_closed_client_gets_its_answers(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /later" HOST "\r\nGET /two" HOST "\r\nGET /thr");
    shutdown(fd, SHUT_WR);
    RUN_UNTIL(seen.n == 1);
    run_for(5);
    http_answer(seen.conns[0], 200, NULL, "here", 4);
    hear_end(fd, &got);
    CHECK_HAS(got, "\r\n\r\nhere");
    CHECK_HAS(got, "\r\n\r\n/two");
    assert_int_equal(count(&seen.log, "\n"), 2);
    close(fd);
    buf_release(&got);
    RUN_UNTIL(http_server_stats(server).open == 0);
}

static void
a_reset_is_noticed_without_a_watcher(void **state)
{
    struct linger hard = { 1, 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /later" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    RUN_UNTIL(http_conn_is_gone(seen.conns[0]));
    http_answer(seen.conns[0], 200, NULL, "", 0);
}

static void
unanswered_requests_are_freed_with_the_server(void **state)
{
    (void)state;
    begin_server();
    int fd = dial(), other = dial(), third = dial();
    say(fd, "GET /watched" HOST "\r\n");
    say(other, "GET /later" HOST "\r\n");
    say(third, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 3);
    close(fd);
    RUN_UNTIL(seen.news.len);
    assert_string_equal(seen.news.p, "gone");
    http_server_free(server);
    server = NULL;
    assert_string_equal(seen.news.p, "gone gone");
    close(other);
    close(third);
}

/* ---- streams ---- */

static void
a_stream_is_chunks_that_end(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /stream" HOST "\r\nGET /after" HOST "\r\n");
    hear_until(fd, &got, "\r\n6\r\nhello\n\r\n");
    CHECK_HAS(got, "Content-Type: text/event-stream\r\n");
    CHECK_HAS(got, "Transfer-Encoding: chunked\r\n");
    assert_int_equal(count(&got, "Content-Length"), 0);
    assert_true(http_stream_write(seen.conns[0], "0123456789abcdef0", 17));
    assert_true(http_stream_write(seen.conns[0], "", 0)); /* an empty chunk would end the stream */
    hear_until(fd, &got, "\r\n11\r\n0123456789abcdef0\r\n");
    assert_int_equal(http_stream_queued(seen.conns[0]), 0);
    assert_int_equal(count(&seen.log, "/after"), 0);
    http_stream_end(seen.conns[0]);
    hear_until(fd, &got, "/after");
    CHECK_HAS(got, "\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_string_equal(seen.news.p, "");
    close(fd);
    buf_release(&got);
}

static void
old_clients_and_head_get_streams_too(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /stream HTTP/1.0\r\n\r\n");
    hear_until(fd, &got, "\r\n\r\nhello\n");
    CHECK_HAS(got, "Connection: close\r\n");
    assert_int_equal(count(&got, "chunked"), 0);
    http_stream_end(seen.conns[0]);
    hear_end(fd, &got);
    close(fd);
    buf_reset(&got);
    fd = dial();
    say(fd, "HEAD /stream" HOST "\r\nGET /after" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n");
    http_stream_end(seen.conns[1]);
    hear_until(fd, &got, "/after");
    assert_int_equal(count(&got, "hello"), 0);
    assert_int_equal(count(&got, "chunked"), 0);
    close(fd);
    buf_release(&got);
}

static void
a_stream_has_a_bound_and_reports_when_there_is_room(void **state)
{
    static char block[10000];
    struct buf got = { 0 };

    (void)state;
    o.stream_max = 100000;
    begin_server();
    int fd = dial(), small = 262144;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /stream" HOST "\r\n");
    hear_until(fd, &got, "hello\n");
    memset(block, 'b', sizeof block);
    int taken = 0;
    for (int full = 0; full < 3 && taken < 10000;) {
        while (http_stream_write(seen.conns[0], block, sizeof block))
            taken++;
        assert_true(http_stream_queued(seen.conns[0]) <= o.stream_max + 1000);
        run_for(1); /* the kernel buffers some, until it is full too */
        full = http_stream_queued(seen.conns[0]) > 50000 ? full + 1 : 0;
    }
    assert_true(taken < 10000);
    buf_reset(&seen.news);
    size_t want = (size_t)taken * sizeof block;
    for (size_t n = 0; n < want;) {
        buf_reset(&got);
        assert_true(hear_some(fd, &got));
        n += count(&got, "b");
    }
    RUN_UNTIL(seen.news.len);
    assert_string_equal(seen.news.p, "drained");
    assert_true(http_stream_write(seen.conns[0], "more\n", 5));
    hear_until(fd, &got, "more\n");
    close(fd);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_string_equal(seen.news.p, "drained gone");
    assert_false(http_stream_write(seen.conns[0], "x", 1));
    http_stream_end(seen.conns[0]);
    buf_release(&got);
}

static void
one_event_larger_than_the_bound_is_accepted_alone(void **state)
{
    struct buf got = { 0 };
    static char block[16 << 20]; /* more than the kernel buffers */

    (void)state;
    o.stream_max = 1000;
    begin_server();
    int fd = dial();
    say(fd, "GET /stream" HOST "\r\n");
    hear_until(fd, &got, "hello\n");
    run_for(0);
    memset(block, 'b', sizeof block);
    assert_true(http_stream_write(seen.conns[0], block, sizeof block));
    assert_false(http_stream_write(seen.conns[0], "x", 1));
    while (got.len < sizeof block)
        assert_true(hear_some(fd, &got));
    http_stream_end(seen.conns[0]);
    hear_until(fd, &got, "\r\n0\r\n\r\n");
    close(fd);
    buf_release(&got);
}

static void
a_stalled_stream_is_closed(void **state)
{
    static char block[1 << 20];

    (void)state;
    o.stall_ms = 60;
    begin_server();
    int fd = dial(), small = 262144;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    for (int i = 0; i < 20; i++) {
        http_stream_write(seen.conns[0], block, sizeof block);
        run_for(1);
    }
    while (seen.news.len < 4 || strcmp(seen.news.p + seen.news.len - 4, "gone") != 0)
        CHECK_OK(loop_run(loop, &e), &e);
    http_stream_end(seen.conns[0]);
    close(fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_CASE(an_answer_may_come_later_and_the_order_stays),
        SERVER_CASE(the_requests_of_a_round_may_be_answered_together),
        SERVER_CASE(pipelined_requests_wait_for_their_turn),
        SERVER_CASE(a_watcher_is_called_when_the_client_disconnects),
        SERVER_CASE(a_half_closed_client_gets_its_answers),
        SERVER_CASE(a_reset_is_noticed_without_a_watcher),
        SERVER_CASE(unanswered_requests_are_freed_with_the_server),
        SERVER_CASE(a_stream_is_chunks_that_end),
        SERVER_CASE(old_clients_and_head_get_streams_too),
        SERVER_CASE(a_stream_has_a_bound_and_reports_when_there_is_room),
        SERVER_CASE(one_event_larger_than_the_bound_is_accepted_alone),
        SERVER_CASE(a_stalled_stream_is_closed),
    };
    loop_free(loop_new(&e)); /* opens the signal pipe that libuv keeps for the whole process */
    return cmocka_run_group_tests_name("server streams", tests, NULL, NULL);
}
