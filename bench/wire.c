#include "wire.h"
#include "bench.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void
wire_fill_body(char body[BODY_SIZE])
{
    static const char head[] = "{\"signal_type\":\"task\",\"to_role\":\"worker\",\"content\":\"";

    memset(body, 'x', BODY_SIZE);
    memcpy(body, head, sizeof head - 1);
    memcpy(body + BODY_SIZE - 2, "\"}", 2);
}

void
out_add(struct text_out *o, const void *p, size_t n)
{
    if (o->len + n > o->size) {
        o->size = (o->len + n) * 2;
        o->p = realloc(o->p, o->size);
        if (!o->p)
            die("no memory for a request");
    }
    memcpy(o->p + o->len, p, n);
    o->len += n;
}

void
out_addf(struct text_out *o, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    errno = 0;
    if (n < 0 || (size_t)n >= sizeof line)
        die("a line of a request is longer than %zu bytes", sizeof line);
    out_add(o, line, (size_t)n);
}

/* ---- requests ---- */

void
http_ask(struct text_out *o, const struct http_to *to, const char *path, const char *body,
         size_t len)
{
    out_addf(o, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", body ? "POST" : "GET", path, to->port);
    if (to->key && *to->key)
        out_addf(o, "Authorization: Bearer %s\r\n", to->key);
    if (body)
        out_addf(o, "Content-Type: application/json\r\nContent-Length: %zu\r\n", len);
    out_add(o, "\r\n", 2);
    if (body)
        out_add(o, body, len);
}

void
resp_ask(struct text_out *o, const char *const *words, size_t n, const void *last, size_t len)
{
    out_addf(o, "*%zu\r\n", n + (last ? 1 : 0));
    for (size_t i = 0; i < n; i++)
        out_addf(o, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    if (last) {
        out_addf(o, "$%zu\r\n", len);
        out_add(o, last, len);
        out_add(o, "\r\n", 2);
    }
}

/* ---- replies ---- */

static void
refused(const char *p, size_t n)
{
    errno = 0;
    die("the server replied: %.*s", (int)(n < 600 ? n : 600), p);
}

size_t
http_reply(const char *p, size_t n)
{
    static const char name[] = "Content-Length:";
    size_t length = SIZE_MAX;

    for (const char *at = p, *end; (end = memchr(at, '\n', n - (size_t)(at - p))); at = end + 1) {
        if (at == p && (n < 12 || memcmp(p, "HTTP/1.1 2", 10) != 0))
            refused(p, n);
        if ((*at == 'C' || *at == 'c') && strncasecmp(at, name, sizeof name - 1) == 0)
            length = strtoul(at + sizeof name - 1, NULL, 10);
        if (end != at + 1)
            continue;
        if (length == SIZE_MAX)
            refused(p, n); /* no Content-Length */
        size_t whole = (size_t)(end + 1 - p) + length;
        return n >= whole ? whole : 0;
    }
    return 0;
}

/* The end of the line that begins at p, behind its "\r\n"; NULL: not there yet. */
static const char *
line_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));

    return nl ? nl + 1 : NULL;
}

static const char *
resp_value(const char *p, const char *end)
{
    const char *next = p < end ? line_end(p, end) : NULL;

    if (!next)
        return NULL;
    long n = strtol(p + 1, NULL, 10);
    switch (*p) {
    case '+':
    case ':':
        return next;
    case '$':
        return n < 0 ? next : end - next >= n + 2 ? next + n + 2 : NULL;
    case '*':
        for (long i = 0; next && i < n; i++)
            next = resp_value(next, end);
        return next;
    default:
        refused(p, (size_t)(end - p));
        return NULL;
    }
}

size_t
resp_reply(const char *p, size_t n)
{
    const char *end = resp_value(p, p + n);

    return end ? (size_t)(end - p) : 0;
}

size_t
beanstalk_reply(const char *p, size_t n)
{
    const char *end = line_end(p, p + n);
    unsigned long id;
    size_t bytes = 0;

    if (!end)
        return 0;
    if (sscanf(p, "RESERVED %lu %zu", &id, &bytes) == 2)
        end += bytes + 2;
    else if (!isupper((unsigned char)*p) || strncmp(p, "OUT_OF", 6) == 0 ||
             strncmp(p, "NOT_FOUND", 9) == 0)
        refused(p, n);
    return end <= p + n ? (size_t)(end - p) : 0;
}

/* ---- connections ---- */

int
wire_connect(unsigned port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
        die("connect to 127.0.0.1:%u", port);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

void
wire_send(int fd, const void *p, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        ssize_t k = send(fd, (const char *)p + sent, n - sent, MSG_NOSIGNAL);
        if (k > 0)
            sent += (size_t)k;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
        else
            die("send a request");
    }
}

size_t
wire_recv(int fd, char *p, size_t room)
{
    ssize_t k = recv(fd, p, room, 0);

    if (k > 0)
        return (size_t)k;
    if (k < 0 && errno == EAGAIN)
        return 0;
    errno = k ? errno : 0;
    die("the server closed a connection");
}

/* ---- the command line ---- */

const char *
wire_arg(char **argv, const char *name, const char *otherwise)
{
    size_t n = strlen(name);

    for (char **a = argv + 1; *a; a++)
        if (strncmp(*a, name, n) == 0 && (*a)[n] == '=')
            return *a + n + 1;
    errno = 0;
    if (!otherwise)
        die("%s: %s=... is missing", argv[0], name);
    return otherwise;
}

unsigned
wire_number(char **argv, const char *name, const char *otherwise)
{
    const char *text = wire_arg(argv, name, otherwise);
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    errno = 0;
    if (!isdigit((unsigned char)*text) || *end || n > UINT32_MAX)
        die("%s: %s=%s is not a number", argv[0], name, text);
    return (unsigned)n;
}

void
wire_key(char *to, size_t size, const char *file)
{
    FILE *f = *file ? fopen(file, "re") : NULL;

    *to = '\0';
    if (*file && (!f || !fgets(to, (int)size, f)))
        die("read a key from %s", file);
    to[strcspn(to, "\n")] = '\0';
    if (f)
        fclose(f);
}
