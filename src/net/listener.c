#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 511 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un path;
    struct sockaddr_storage room;
};

static bool
is_loopback(const union address *a)
{
    return a->any.sa_family == AF_INET ? (ntohl(a->v4.sin_addr.s_addr) >> 24) == 127
                                       : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

/* Fills name, port and is_loopback from getsockname. */
static enum status
describe(struct listener *l, struct err *e)
{
    union address a = { 0 };
    socklen_t len = sizeof a;
    char text[INET6_ADDRSTRLEN] = "";

    if (getsockname(l->fd, &a.any, &len) != 0)
        return err_sys(e, "read the address of a listening socket");
    switch (a.any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof text);
        l->port = ntohs(a.v4.sin_port);
        l->is_loopback = is_loopback(&a);
        snprintf(l->name, sizeof l->name, "%s:%u", text, l->port);
        return ST_OK;
    case AF_INET6:
        inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof text);
        l->port = ntohs(a.v6.sin6_port);
        l->is_loopback = is_loopback(&a);
        snprintf(l->name, sizeof l->name, "[%s]:%u", text, l->port);
        return ST_OK;
    case AF_UNIX:
        l->is_unix = l->is_loopback = true;
        snprintf(l->name, sizeof l->name, "unix:%.*s", (int)sizeof a.path.sun_path,
                 a.path.sun_path);
        return ST_OK;
    default:
        return err_set(e, ST_INVALID, "only TCP and Unix sockets can be served");
    }
}

/* ---- TCP ---- */

static enum status
parse_address(const char *text, union address *a, socklen_t *len, struct err *e)
{
    char host[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    unsigned long port = colon && colon[1] ? strtoul(colon + 1, &end, 10) : 65536;

    if (!colon || n >= sizeof host || port > 65535 || *end || colon[1] < '0' || colon[1] > '9')
        return err_set(e, ST_INVALID, "%s is not HOST:PORT, such as %s", text, LISTENER_ADDRESS);
    memcpy(host, text, n);
    host[n] = '\0';
    if (n == 0 || strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    *a = (union address){ 0 };
    if (host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
        *len = sizeof a->v6;
        if (inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1)
            return ST_OK;
    } else {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons((uint16_t)port);
        *len = sizeof a->v4;
        if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1)
            return ST_OK;
    }
    return err_set(e, ST_INVALID, "%s: the host must be an IP address, as in %s or [::1]:3000",
                   text, LISTENER_ADDRESS);
}

enum status
listener_check(const char *address, bool *is_here, struct err *e)
{
    union address a;
    socklen_t len;
    enum status s = parse_address(address, &a, &len, e);

    *is_here = !s && is_loopback(&a);
    return s;
}

enum status
listener_tcp(struct listener *l, const char *address, struct err *e)
{
    union address a;
    socklen_t len;
    int yes = 1;

    *l = (struct listener)LISTENER_NONE;
    enum status s = parse_address(address, &a, &len, e);
    if (s)
        return s;
    l->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return err_sys(e, "open a socket for %s", address);
    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (a.any.sa_family == AF_INET6)
        setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(l->fd, &a.any, len) != 0 || listen(l->fd, BACKLOG) != 0) {
        s = errno == EADDRINUSE
                ? err_set(e, ST_CONFLICT,
                          "%s is in use: ss -ltnp shows the process that listens on the port, ss "
                          "-tanp a connection that uses it as its local port",
                          address)
                : err_sys(e, "listen on %s", address);
        listener_release(l);
        return s;
    }
    s = describe(l, e);
    if (s)
        listener_release(l);
    return s;
}

/* ---- Unix ---- */

/* Removes an existing socket file if no process listens on it. */
static enum status
remove_stale(const char *path, const union address *a, struct err *e)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? ST_OK : err_sys(e, "look at %s", path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, ST_CONFLICT, "%s exists and is not a socket", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(e, "open a socket for %s", path);
    int rc = connect(fd, &a->any, sizeof a->path);
    int why = rc == 0 ? 0 : errno;
    close(fd);
    if (why == 0 || why == EAGAIN) /* EAGAIN: its backlog is full */
        return err_set(e, ST_CONFLICT, "%s is in use: another server listens there", path);
    errno = why;
    if (why != ECONNREFUSED)
        return err_sys(e, "check whether a process listens on %s", path);
    if (unlink(path) != 0 && errno != ENOENT)
        return err_sys(e, "remove the stale socket %s", path);
    return ST_OK;
}

/* The directory's lock is held, so no other server does the same now. */
static enum status
bind_unix(struct listener *l, const char *path, const union address *a, struct err *e)
{
    enum status s = remove_stale(path, a, e);
    struct stat st;

    if (s)
        return s;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return err_sys(e, "open a socket for %s", path);
    /* fchmod before bind: the file never exists with another mode. */
    if (fchmod(l->fd, 0600) != 0 || bind(l->fd, &a->any, sizeof a->path) != 0 ||
        listen(l->fd, BACKLOG) != 0 || lstat(path, &st) != 0)
        return err_sys(e, "listen on %s", path);
    strcpy(l->path, a->path.sun_path);
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    return describe(l, e);
}

enum status
listener_unix(struct listener *l, const char *path, struct err *e)
{
    union address a = { .path = { .sun_family = AF_UNIX } };
    char dir[sizeof a.path.sun_path];

    *l = (struct listener)LISTENER_NONE;
    if (!*path || strlen(path) >= sizeof a.path.sun_path)
        return err_set(e, ST_INVALID, "the path of a socket has from 1 to %zu bytes: %s",
                       sizeof a.path.sun_path - 1, path);
    strcpy(a.path.sun_path, path);
    strcpy(dir, path);
    const char *parent = dirname(dir);
    int lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        enum status s = err_sys(e, "lock %s", parent);
        if (lock >= 0)
            close(lock);
        return s;
    }
    enum status s = bind_unix(l, path, &a, e);
    close(lock);
    if (s)
        listener_release(l);
    return s;
}

/* ---- socket activation ---- */

enum status
listener_fd(struct listener *l, int fd, struct err *e)
{
    int type = 0, is_listening = 0;
    socklen_t len = sizeof type;

    *l = (struct listener){ .fd = fd };
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_STREAM ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len) != 0 || !is_listening) {
        listener_release(l);
        return err_set(e, ST_INVALID, "descriptor %d is not a listening socket", fd);
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    enum status s = describe(l, e);
    if (s)
        listener_release(l);
    return s;
}

unsigned
listener_given(void)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    char *pid_end = NULL, *fds_end = NULL;
    unsigned long n = 0;

    if (pid && fds && strtol(pid, &pid_end, 10) == getpid() && !*pid_end) {
        n = strtoul(fds, &fds_end, 10);
        if (fds_end == fds || *fds_end || n > 1024)
            n = 0;
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return (unsigned)n;
}

void
listener_release(struct listener *l)
{
    struct stat st;

    if (l->path[0] && lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
        unlink(l->path);
    l->path[0] = '\0';
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
