#include "net/transport.h"

#include "net/http.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- URLs ---- */

static enum status
bad_url(const char *url, const char *why, struct err *e)
{
    return err_set(e, ST_INVALID, "%s: \"%s\" (example: http://127.0.0.1:3000)", why, url);
}

static bool
is_all(const char *p, size_t n, enum http_kind kind)
{
    for (size_t i = 0; i < n; i++)
        if (!(http_kinds[(unsigned char)p[i]] & kind))
            return false;
    return true;
}

static enum status
parse_unix(struct transport_place *at, const char *url, struct err *e)
{
    const char *path = url + strlen("unix:");

    if (*path != '/')
        return bad_url(url, "the server's URL must have an absolute path behind unix:", e);
    if (strlen(path) >= sizeof at->unix_path)
        return bad_url(url, "the path of the server's socket is longer than 107 bytes", e);
    strcpy(at->unix_path, path);
    strcpy(at->authority, "localhost");
    return ST_OK;
}

/* "host", "host:port", "[::1]:port" */
static enum status
parse_authority(struct transport_place *at, const char *p, size_t n, const char *url, struct err *e)
{
    const char *end = p + n, *colon, *host = p;
    size_t host_len;

    if (memchr(p, '@', n))
        return bad_url(url, "the server's URL must have no user and no password", e);
    if (n && *p == '[') {
        const char *bracket = memchr(p, ']', n);
        host++;
        host_len = bracket ? (size_t)(bracket - host) : 0;
        if (host_len == 0 || strspn(host, "0123456789abcdefABCDEF:.") < host_len)
            return bad_url(url, "the server's URL has a bad address in brackets", e);
        colon = bracket + 1;
    } else {
        colon = memchr(p, ':', n);
        colon = colon ? colon : end;
        host_len = (size_t)(colon - p);
    }
    if (host_len == 0 || host_len >= sizeof at->host || n >= sizeof at->authority)
        return bad_url(url, "the server's URL has no host, or one that is too long", e);
    if (*p != '[' && !is_all(host, host_len, HTTP_REG))
        return bad_url(url, "the server's URL has a bad host", e);
    snprintf(at->host, sizeof at->host, "%.*s", (int)host_len, host);
    snprintf(at->authority, sizeof at->authority, "%.*s", (int)n, p);
    strcpy(at->port, at->is_tls ? "443" : "80");
    if (colon == end)
        return ST_OK;
    size_t digits = (size_t)(end - colon) - 1;
    if (*colon != ':' || digits == 0 || digits >= sizeof at->port ||
        strspn(colon + 1, "0123456789") < digits)
        return bad_url(url, "the server's URL has a bad port", e);
    snprintf(at->port, sizeof at->port, "%.*s", (int)digits, colon + 1);
    return ST_OK;
}

enum status
transport_parse(struct transport_place *at, const char *url, struct err *e)
{
    *at = (struct transport_place){ 0 };
    if (strncmp(url, "unix:", 5) == 0)
        return parse_unix(at, url, e);
    at->is_tls = strncmp(url, "https://", 8) == 0;
    const char *scheme_end = strstr(url, "://");
    if (scheme_end && !at->is_tls && strncmp(url, "http://", 7) != 0)
        return err_set(e, ST_INVALID,
                       "the server's URL must begin with http://, https:// or unix:, not \"%s\"",
                       url);
    if (strpbrk(url, "?#"))
        return err_set(e, ST_INVALID, "the server's URL must have no ? and no #: \"%s\"", url);
    const char *p = scheme_end ? scheme_end + 3 : url, *path = p + strcspn(p, "/");
    size_t n = strlen(path);
    enum status s = parse_authority(at, p, (size_t)(path - p), url, e);
    while (n && path[n - 1] == '/')
        n--;
    if (!s && (n >= sizeof at->prefix || !is_all(path, n, HTTP_PATH)))
        s = bad_url(url, "the server's URL has a bad path", e);
    if (!s)
        snprintf(at->prefix, sizeof at->prefix, "%.*s", (int)n, path);
    return s;
}

bool
transport_is_local(const struct transport_place *at)
{
    return at->unix_path[0] || strcmp(at->host, "localhost") == 0 ||
           strcmp(at->host, "127.0.0.1") == 0 || strcmp(at->host, "::1") == 0;
}

/* ---- sockets ---- */

static ssize_t
plain_send(struct transport *w, const void *p, size_t n)
{
    return send(w->fd, p, n, MSG_NOSIGNAL);
}

static ssize_t
plain_recv(struct transport *w, void *p, size_t n)
{
    return recv(w->fd, p, n, 0);
}

static void
plain_close(struct transport *w)
{
    close(w->fd);
}

static const struct transport_ops plain = { plain_send, plain_recv, plain_close };

static enum status
no_connection(const struct transport_place *at, int error, struct err *e)
{
    errno = error;
    err_say_errno(e, "connect to %s%s", at->unix_path[0] ? at->unix_path : "",
                  at->unix_path[0] ? "" : at->authority);
    return ST_IO;
}

static enum status
dial(struct transport *w, const struct transport_place *at, const struct sockaddr *to,
     socklen_t len, int64_t until_ms, struct cancel *cancel, struct err *e)
{
    int error = 0, one = 1;
    socklen_t size = sizeof error;

    w->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (w->fd < 0)
        return no_connection(at, errno, e);
    w->ops = &plain;
    enum status s = ST_OK;
    if (connect(w->fd, to, len) != 0) {
        if (errno != EINPROGRESS && errno != EINTR)
            s = no_connection(at, errno, e);
        else
            s = wait_fd(w->fd, POLLOUT, until_ms, cancel, e);
        if (s == ST_TIMEOUT)
            s = err_set(e, ST_TIMEOUT, "no connection to %s in time", at->authority);
        if (!s && getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error)
            s = no_connection(at, error, e);
    }
    if (s)
        transport_close(w);
    else if (to->sa_family != AF_UNIX)
        setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return s;
}

static enum status
dial_tcp(struct transport *w, const struct transport_place *at, int64_t until_ms,
         struct cancel *cancel, struct err *e)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *list;
    enum status s = ST_IO;
    int rc = getaddrinfo(at->host, at->port, &hints, &list);

    if (rc)
        return err_set(e, ST_IO, "find the server %s: %s", at->host, gai_strerror(rc));
    for (struct addrinfo *a = list; a && s == ST_IO; a = a->ai_next)
        s = dial(w, at, a->ai_addr, a->ai_addrlen, until_ms, cancel, e);
    freeaddrinfo(list);
    return s;
}

enum status
transport_open(struct transport *w, const struct transport_place *at, int64_t until_ms,
               struct cancel *cancel, struct err *e)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };

    *w = (struct transport)TRANSPORT_NONE;
    if (at->is_tls)
        return at->secure ? at->secure(w, at, until_ms, e)
                          : err_set(e, ST_INVALID,
                                    "https://%s: this program supports only http:// and unix:",
                                    at->authority);
    memcpy(un.sun_path, at->unix_path, sizeof un.sun_path);
    enum status s = at->unix_path[0]
                        ? dial(w, at, (struct sockaddr *)&un, sizeof un, until_ms, cancel, e)
                        : dial_tcp(w, at, until_ms, cancel, e);
    if (!s && at->check)
        s = at->check(w, at, until_ms, e);
    if (s)
        transport_close(w);
    return s;
}

enum status
transport_send(struct transport *w, const void *p, size_t n, int64_t until_ms,
               struct cancel *cancel, struct err *e)
{
    const char *at = p;
    enum status s = ST_OK;

    while (!s && n > 0) {
        ssize_t sent = w->ops->send(w, at, n);
        if (sent >= 0) {
            at += sent;
            n -= (size_t)sent;
        } else if (errno == EAGAIN) {
            s = wait_fd(w->fd, POLLOUT, until_ms, cancel, e);
        } else if (errno != EINTR) {
            err_say_errno(e, "send to the server");
            s = ST_IO;
        }
    }
    return s;
}

enum status
transport_recv(struct transport *w, void *p, size_t n, size_t *got, int64_t until_ms,
               struct cancel *cancel, struct err *e)
{
    *got = 0;
    for (;;) {
        ssize_t r = w->ops->recv(w, p, n);
        if (r >= 0) {
            *got = (size_t)r;
            return ST_OK;
        }
        if (errno == EAGAIN) {
            enum status s = wait_fd(w->fd, POLLIN, until_ms, cancel, e);
            if (s)
                return s;
        } else if (errno != EINTR) {
            err_say_errno(e, "read from the server");
            return ST_IO;
        }
    }
}

void
transport_close(struct transport *w)
{
    if (w->fd >= 0)
        w->ops->close(w);
    *w = (struct transport)TRANSPORT_NONE;
}
