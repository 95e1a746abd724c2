/* Tests net/server on real sockets: slow clients, too many clients, and how the server stops. */
#define _GNU_SOURCE
#include "servers.h"

#include <fcntl.h>
#include <sys/socket.h>

static struct err e;

/* ---- slow clients ---- */

static void
a_slow_request_head_is_cut_off(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.head_ms = 60;
    begin_server();
    int fd = dial(), silent = dial();
    for (int i = 0; i < 200 && !is_readable(fd, 0); i++) {
        send(fd, i ? "a" : "GET /", i ? 1 : 5, MSG_NOSIGNAL); /* byte by byte, no end */
        run_for(5);
    }
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 408 Request Timeout\r\n");
    buf_reset(&got);
    hear_end(silent, &got); /* sent nothing, gets nothing */
    assert_int_equal(got.len, 0);
    close(fd);
    close(silent);
    buf_release(&got);
}

static void
a_slow_body_is_cut_off(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.body_ms = 40;
    o.body_rate = 100000;
    begin_server();
    int fd = dial();
    say(fd, "POST /echo" HOST "Content-Length: 100000\r\n\r\n");
    for (int i = 0; i < 200 && !is_readable(fd, 0); i++) {
        send(fd, "abc", 3, MSG_NOSIGNAL);
        run_for(5);
    }
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 408 Request Timeout\r\n");
    assert_string_equal(seen.log.p, "");
    close(fd);
    buf_release(&got);
}

static void
an_idle_connection_is_closed_and_a_waiting_one_is_not(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.idle_ms = 50;
    begin_server();
    int fd = dial(), waiting = dial();
    say(waiting, "GET /later" HOST "\r\n");
    say(fd, "GET /a" HOST "\r\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "\r\n\r\n/a");
    assert_false(is_readable(waiting, 0));
    http_answer(seen.conns[0], 200, NULL, "patience", 8);
    hear_until(waiting, &got, "patience");
    close(fd);
    close(waiting);
    buf_release(&got);
}

/* The loop did not run meanwhile: the client did nothing wrong. */
static void
requests_that_arrived_while_the_server_stood_still_are_answered(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.head_ms = o.idle_ms = o.body_ms = 60;
    begin_server();
    int first = dial(), begun = dial(), second = dial();
    say(begun, "GET /b");
    say(second, "GET /c" HOST "\r\n");
    hear_until(second, &got, "\r\n\r\n/c");
    say(first, "GET /a" HOST "\r\n");
    say(begun, HOST "\r\n");
    say(second, "GET /d" HOST "\r\n");
    usleep(200 * 1000);
    hear_until(first, &got, "\r\n\r\n/a");
    hear_until(begun, &got, "\r\n\r\n/b");
    hear_until(second, &got, "\r\n\r\n/d");
    close(first);
    close(begun);
    close(second);
    buf_release(&got);
}

static void
a_connection_over_the_limit_is_refused(void **state)
{
    struct buf got = { 0 };
    int fds[3];

    (void)state;
    o.max_conns = 2;
    begin_server();
    for (int i = 0; i < 2; i++) {
        fds[i] = dial();
        say(fds[i], "GET /a" HOST "\r\n");
        hear_until(fds[i], &got, "/a");
        buf_reset(&got);
    }
    fds[2] = dial();
    hear_end(fds[2], &got);
    CHECK_HAS(got, "HTTP/1.1 503 Service Unavailable\r\n");
    CHECK_HAS(got, "Retry-After: 1\r\n");
    CHECK_HAS(got, "too many connections");
    close(fds[0]);
    close(fds[2]);
    RUN_UNTIL(http_server_stats(server).open == 1);
    fds[0] = dial();
    buf_reset(&got);
    say(fds[0], "GET /again" HOST "\r\n");
    hear_until(fds[0], &got, "\r\n\r\n/again");
    assert_int_equal(http_server_stats(server).turned_away, 1);
    close(fds[0]);
    close(fds[1]);
    buf_release(&got);
}

/* ---- stopping ---- */

static void
stopping_answers_open_requests_and_accepts_no_new_ones(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int idle = dial(), owed = dial(), half = dial(), stream = dial();
    say(idle, "GET /a" HOST "\r\n");
    hear_until(idle, &got, "\r\n\r\n/a");
    say(owed, "GET /later" HOST "\r\nGET /never" HOST "\r\n");
    say(half, "GET /half HTTP/1.1\r\nHo");
    RUN_UNTIL(seen.n == 1);
    for (int i = 0; i < 10; i++)
        run_for(0); /* a round each, so that the half request was read too */
    say(stream, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 2);
    struct http_conn *later = seen.conns[0];
    seen.ends_on_stop = true;
    http_server_stop(server, PATIENCE_MS, on_stopped, &seen);
    assert_string_equal(seen.news.p, "stopping");

    buf_reset(&got);
    hear_end(idle, &got);
    assert_int_equal(got.len, 0);
    int late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(late, (struct sockaddr *)&at, sizeof at), -1);
    hear_end(stream, &got);
    CHECK_HAS(got, "4\r\nbye\n\r\n0\r\n\r\n");
    assert_int_equal(stopped, 0);
    buf_reset(&got);
    say(half, "st: x\r\n\r\n");
    hear_end(half, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    CHECK_HAS(got, "\r\n\r\n/half");
    buf_reset(&got);
    http_answer(later, 200, NULL, "done", 4);
    hear_end(owed, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    CHECK_HAS(got, "\r\n\r\ndone");
    assert_int_equal(count(&seen.log, "/never"), 0);
    close(idle);
    close(owed);
    close(half);
    close(stream);
    close(late);
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(stopped, 1);
    buf_release(&got);
}

static void
stopping_has_a_deadline(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /watched" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    http_server_stop(server, 50, on_stopped, &seen);
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
    assert_string_equal(seen.news.p, "stopping gone");
    http_answer(seen.conns[0], 200, NULL, "", 0);
    close(fd);
    buf_release(&got);
}

static void
a_server_without_connections_stops_at_once(void **state)
{
    (void)state;
    begin_server();
    http_server_stop(server, PATIENCE_MS, on_stopped, &seen);
    assert_int_equal(stopped, 0); /* not before the loop runs */
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_CASE(a_slow_request_head_is_cut_off),
        SERVER_CASE(a_slow_body_is_cut_off),
        SERVER_CASE(an_idle_connection_is_closed_and_a_waiting_one_is_not),
        SERVER_CASE(requests_that_arrived_while_the_server_stood_still_are_answered),
        SERVER_CASE(a_connection_over_the_limit_is_refused),
        SERVER_CASE(stopping_answers_open_requests_and_accepts_no_new_ones),
        SERVER_CASE(stopping_has_a_deadline),
        SERVER_CASE(a_server_without_connections_stops_at_once),
    };
    loop_free(loop_new(&e)); /* opens the signal pipe that libuv keeps for the whole process */
    return cmocka_run_group_tests_name("server limits", tests, NULL, NULL);
}
