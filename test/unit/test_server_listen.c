/* net/server on real sockets: where it listens. */
#define _GNU_SOURCE
#include "servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct err e;

static int
dial_unix(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(to.sun_path, path);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static void
a_unix_socket_is_ours_alone(void **state)
{
    struct listener l, other;
    struct buf got = { 0 };

    (void)state;
    server = http_server_new(loop, &o, &e);
    umask(0);
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    umask(077);
    assert_int_equal(file_mode("sock") & 0777, 0600);
    assert_string_equal(l.name, "unix:sock");
    assert_true(l.is_loopback && l.is_unix);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int fd = dial_unix("sock");
    say(fd, "GET /a" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n/a");
    CHECK_FAILS(listener_unix(&other, "sock", &e), ST_CONFLICT, &e,
                "sock is in use: another server listens there");
    assert_true(file_exists("sock"));
    http_server_free(server);
    server = NULL;
    assert_false(file_exists("sock"));
    close(fd);
    buf_release(&got);
}

static void
a_stale_socket_is_replaced_and_another_file_is_not(void **state)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "sock" };
    struct listener l;
    char longer[200];

    (void)state;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(fd); /* died, and left its file */
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    assert_int_equal(unlink("sock"), 0);
    write_file("sock", "mine");
    listener_release(&l); /* another file stands there: it stays */
    CHECK_FILE("sock", "mine");
    CHECK_FAILS(listener_unix(&l, "sock", &e), ST_CONFLICT, &e, "sock exists and is not a socket");
    CHECK_FILE("sock", "mine");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK_FAILS_WITH(listener_unix(&l, longer, &e), ST_INVALID, &e, "from 1 to 107 bytes");
    CHECK_FAILS_WITH(listener_unix(&l, "no/such/sock", &e), ST_IO, &e, "no/such");
    listener_release(&l);
}

static void
several_addresses_are_served_together(void **state)
{
    struct listener l;
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct buf got = { 0 };
    char peer[HTTP_PEER_SIZE];

    (void)state;
    begin_server();
    if (listener_tcp(&l, "[::1]:0", &e) != ST_OK)
        skip(); /* no IPv6 here */
    assert_true(l.is_loopback);
    assert_int_equal(strncmp(l.name, "[::1]:", 6), 0);
    six.sin6_port = htons((uint16_t)l.port);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int fds[] = { dial(), socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), dial_unix("sock") };
    assert_int_equal(connect(fds[1], (struct sockaddr *)&six, sizeof six), 0);
    static const char *const peers[] = { "127.0.0.1:", "[::1]:", "unix" };
    for (size_t i = 0; i < 3; i++) {
        seen.n = 0;
        say(fds[i], "GET /later" HOST "\r\n");
        RUN_UNTIL(seen.n == 1);
        assert_int_equal(strncmp(http_conn_peer(seen.conns[0], peer), peers[i], strlen(peers[i])),
                         0);
        assert_int_equal(http_conn_is_unix(seen.conns[0]), i == 2);
        http_answer(seen.conns[0], 200, NULL, "ok", 2);
        buf_reset(&got);
        hear_until(fds[i], &got, "\r\n\r\nok");
        close(fds[i]);
    }
    buf_release(&got);
}

static void
an_open_socket_can_be_given(void **state)
{
    struct listener l;
    struct buf got = { 0 };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0), pipes[2];

    (void)state;
    at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(listen(fd, 5), 0);
    server = http_server_new(loop, &o, &e);
    CHECK_OK(listener_fd(&l, fd, &e), &e);
    assert_int_equal(l.port, ntohs(at.sin_port));
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int client = dial();
    say(client, "GET /given" HOST "\r\n");
    hear_until(client, &got, "\r\n\r\n/given");
    close(client);
    buf_release(&got);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    CHECK_FAILS_WITH(listener_fd(&l, pipes[0], &e), ST_INVALID, &e, "not a listening socket");
    close(pipes[1]);
    CHECK_FAILS_WITH(listener_fd(&l, socket(AF_INET, SOCK_STREAM, 0), &e), ST_INVALID, &e,
                     "not a listening socket");
}

static void
what_systemd_gives_is_counted_once_and_only_for_us(void **state)
{
    char pid[32];

    (void)state;
    assert_int_equal(listener_given(), 0);
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "2", 1);
    assert_int_equal(listener_given(), 2);
    assert_null(getenv("LISTEN_FDS"));
    assert_int_equal(listener_given(), 0);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "2", 1);
    assert_int_equal(listener_given(), 0);
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "many", 1);
    assert_int_equal(listener_given(), 0);
    assert_null(getenv("LISTEN_PID"));
}

static void
addresses_are_read_strictly(void **state)
{
    static const char *const bad[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:70000",
        "127.0.0.1:-1",
        "127.0.0.1: 1",
        "example.org:80",
        "::1:80",
        "[::1:80",
        "[::g]:80",
        "1.2.3:80",
        "[]:1",
        "0000000000000000000000000000000000000000000000000000000:80"
    };
    struct listener l, other;
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(listener_tcp(&l, bad[i], &e), ST_INVALID);
        assert_true(e.text[0]);
    }
    CHECK_OK(listener_tcp(&l, "localhost:0", &e), &e);
    assert_true(l.port && l.is_loopback);
    snprintf(name, sizeof name, "127.0.0.1:%u", l.port);
    assert_string_equal(l.name, name);
    CHECK_FAILS_WITH(listener_tcp(&other, name, &e), ST_CONFLICT, &e, "is in use: ss -ltnp shows");
    listener_release(&l);
    CHECK_OK(listener_tcp(&l, ":0", &e), &e);
    listener_release(&l);
    CHECK_OK(listener_tcp(&l, "0.0.0.0:0", &e), &e);
    assert_false(l.is_loopback);
    listener_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_CASE(a_unix_socket_is_ours_alone),
        SERVER_CASE(a_stale_socket_is_replaced_and_another_file_is_not),
        SERVER_CASE(several_addresses_are_served_together),
        SERVER_CASE(an_open_socket_can_be_given),
        CASE(what_systemd_gives_is_counted_once_and_only_for_us),
        SERVER_CASE(addresses_are_read_strictly),
    };
    loop_free(loop_new(&e)); /* libuv opens a pipe for signals once, and keeps it */
    return cmocka_run_group_tests_name("server listen", tests, NULL, NULL);
}
