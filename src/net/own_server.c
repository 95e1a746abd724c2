#define _GNU_SOURCE
#include "net/own_server.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ACCEPT_POLL_MS = 2, MISSED_MAX = 20, TABLE_MAX = 64 << 20, ROW_ADDRESS = 48 };

union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

/* ---- the file ---- */

static enum status
file_path(struct buf *to, const char *config, const char *name, struct err *e)
{
    buf_addf(to, "%s/%s", config, name);
    return buf_status(to, "the path", e);
}

static enum status
write_file(const char *path, const struct buf *text, struct err *e)
{
    struct buf temp = { 0 };
    enum status s = ST_OK;

    buf_addf(&temp, "%s.%d.tmp", path, (int)getpid());
    s = buf_status(&temp, "the path", e);
    int fd =
        s ? -1
          : SYS_RETRY(sys->openat(AT_FDCWD, temp.p,
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!s && (fd < 0 || SYS_RETRY(sys->write(fd, text->p, text->len)) != (ssize_t)text->len))
        s = err_sys(e, "write %s", temp.p);
    if (fd >= 0)
        close(fd);
    if (!s && sys->renameat(AT_FDCWD, temp.p, AT_FDCWD, path) != 0)
        s = err_sys(e, "rename %s", temp.p);
    if (s && temp.p)
        unlink(temp.p);
    buf_release(&temp);
    return s;
}

enum status
own_server_announce(const char *config, const char *const *names, size_t n, struct err *e)
{
    struct buf path = { 0 }, text = { 0 };
    enum status s = file_path(&path, config, OWN_SERVER_FILE, e);

    json_open(&text, '{');
    json_key_int(&text, "pid", getpid());
    json_key(&text, "listen");
    json_open(&text, '[');
    for (size_t i = 0; i < n; i++) {
        char whole[PATH_MAX];
        bool is_unix = strncmp(names[i], "unix:", 5) == 0;
        struct buf name = { 0 };
        buf_addf(&name, "%s%s", is_unix ? "unix:" : "",
                 is_unix && realpath(names[i] + 5, whole) ? whole : names[i] + (is_unix ? 5 : 0));
        json_sep(&text);
        json_write_str(&text, name.p ? name.p : "", name.len);
        buf_release(&name);
    }
    json_close(&text, ']');
    json_close(&text, '}');
    buf_addc(&text, '\n');
    if (!s)
        s = buf_status(&text, "the addresses", e);
    if (!s)
        s = write_file(path.p, &text, e);
    buf_release(&path);
    buf_release(&text);
    return s;
}

/* The file as a tree; NULL: there is none, or it makes no sense. */
static struct json *
read_file(const char *config, struct arena *a)
{
    struct buf path = { 0 }, text = { 0 };
    struct json *v = NULL;

    if (!file_path(&path, config, OWN_SERVER_FILE, NULL) &&
        !path_read_file(AT_FDCWD, path.p, &text, NULL)) {
        const char *copy = arena_dup(a, text.p ? text.p : "", text.len);
        if (!copy || !json_parse(a, copy, text.len, &v, NULL))
            v = NULL;
    }
    buf_release(&path);
    buf_release(&text);
    return v;
}

enum status
own_server_url(const char *config, struct buf *to, struct err *e)
{
    struct arena a = { 0 };
    struct json *doc = read_file(config, &a);
    enum status s = ST_NOT_FOUND;

    json_each (v, json_get(doc, "listen")) {
        const char *name = json_is(v, JSON_STRING) ? json_dup_text(&a, v) : NULL;
        if (!name || strncmp(name, "unix:", 5) == 0)
            continue;
        bool is_any = strncmp(name, "0.0.0.0:", 8) == 0 || strncmp(name, "[::]:", 5) == 0;
        buf_addf(to, "http://%s%s", is_any ? "127.0.0.1" : name, is_any ? strrchr(name, ':') : "");
        s = buf_status(to, "the URL", e);
        break;
    }
    arena_release(&a);
    if (s == ST_NOT_FOUND)
        s = err_set(e, ST_NOT_FOUND, "no server of %s listens on a TCP address", config);
    return s;
}

void
own_server_withdraw(const char *config)
{
    struct arena a = { 0 };
    struct buf path = { 0 };
    int64_t pid = 0;

    if (json_int(json_get(read_file(config, &a), "pid"), &pid) && pid == getpid() &&
        !file_path(&path, config, OWN_SERVER_FILE, NULL))
        unlink(path.p);
    buf_release(&path);
    arena_release(&a);
}

/* ---- the address of the other end ---- */

/* As struct listener names it; "": unknown. */
static void
name_peer(int fd, const struct transport_place *at, char to[PATH_MAX + 8], unsigned *port)
{
    union socket_address a = { 0 };
    socklen_t len = sizeof a;
    char text[INET6_ADDRSTRLEN] = "", whole[PATH_MAX];

    *to = '\0';
    *port = 0;
    if (at->unix_path[0]) {
        if (realpath(at->unix_path, whole))
            snprintf(to, PATH_MAX + 8, "unix:%s", whole);
    } else if (getpeername(fd, &a.any, &len) == 0 && a.any.sa_family == AF_INET) {
        *port = ntohs(a.v4.sin_port);
        inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof text);
        snprintf(to, PATH_MAX + 8, "%s:%u", text, *port);
    } else if (a.any.sa_family == AF_INET6) {
        *port = ntohs(a.v6.sin6_port);
        inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof text);
        snprintf(to, PATH_MAX + 8, "[%s]:%u", text, *port);
    }
}

/* Does the server listen there? Also on all addresses, with that port. */
static bool
is_listed(const char *config, const char *name, unsigned port)
{
    struct arena a = { 0 };
    char v4[32], v6[32];
    bool is_there = false;

    snprintf(v4, sizeof v4, "0.0.0.0:%u", port);
    snprintf(v6, sizeof v6, "[::]:%u", port);
    json_each (v, json_get(read_file(config, &a), "listen"))
        is_there =
            is_there || (*name && json_eq(v, name)) || (port && (json_eq(v, v4) || json_eq(v, v6)));
    arena_release(&a);
    return is_there;
}

/* ---- the owner of the other end ---- */

bool
own_server_find_row(const char *table, const char *local, const char *remote, unsigned *uid,
                    unsigned long *inode)
{
    char here[ROW_ADDRESS], there[ROW_ADDRESS];

    for (const char *line = table; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, " %*u: %47[0-9A-F:] %47[0-9A-F:] %*x %*x:%*x %*x:%*x %*x %u %*d %lu", here,
                   there, uid, inode) == 4 &&
            strcmp(here, local) == 0 && strcmp(there, remote) == 0)
            return true;
    }
    return false;
}

/* As the kernel prints it; is_mapped: an IPv4 address among IPv6 ones. */
static void
row_address(const union socket_address *a, bool is_mapped, char to[ROW_ADDRESS])
{
    uint32_t words[4];

    if (a->any.sa_family == AF_INET) {
        snprintf(to, ROW_ADDRESS, "%s%08X:%04X", is_mapped ? "0000000000000000FFFF0000" : "",
                 a->v4.sin_addr.s_addr, ntohs(a->v4.sin_port));
        return;
    }
    memcpy(words, &a->v6.sin6_addr, sizeof words);
    snprintf(to, ROW_ADDRESS, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(a->v6.sin6_port));
}

static bool
look_up(const char *file, const union socket_address *server, const union socket_address *us,
        bool is_mapped, unsigned *uid, unsigned long *inode)
{
    char local[ROW_ADDRESS], remote[ROW_ADDRESS];
    struct buf table = BUF_MAX(TABLE_MAX);

    row_address(server, is_mapped, local);
    row_address(us, is_mapped, remote);
    bool is_there = !path_read_file(AT_FDCWD, file, &table, NULL) && table.p &&
                    own_server_find_row(table.p, local, remote, uid, inode);
    buf_release(&table);
    return is_there;
}

/* Waits until the server has accepted the connection: only then the row is the server's. */
static enum status
tcp_owner(int fd, int64_t until_ms, unsigned *uid, struct err *e)
{
    union socket_address server = { 0 }, us = { 0 };
    socklen_t len = sizeof server, our_len = sizeof us;

    if (getpeername(fd, &server.any, &len) != 0 || getsockname(fd, &us.any, &our_len) != 0)
        return err_sys(e, "look at the connection");
    for (int missed = 0;;) {
        unsigned long inode = 0;
        bool is_v4 = server.any.sa_family == AF_INET;
        bool is_there =
            look_up(is_v4 ? "/proc/net/tcp" : "/proc/net/tcp6", &server, &us, false, uid, &inode) ||
            (is_v4 && look_up("/proc/net/tcp6", &server, &us, true, uid, &inode));
        if (is_there && inode)
            return ST_OK;
        if (!is_there && ++missed == MISSED_MAX) /* rows move while the file is read */
            return err_set(e, ST_REFUSED, "its process cannot be found in /proc/net/tcp");
        if (clock_mono_ms() >= until_ms)
            return err_set(e, ST_TIMEOUT, "the server does not accept the connection");
        wait_fd(-1, 0, wait_until(ACCEPT_POLL_MS), NULL, NULL);
    }
}

static enum status
peer_owner(int fd, const struct transport_place *at, int64_t until_ms, unsigned *uid, struct err *e)
{
    struct ucred who;
    socklen_t len = sizeof who;

    if (!at->unix_path[0])
        return tcp_owner(fd, until_ms, uid, e);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
        return err_sys(e, "look at the connection");
    *uid = who.uid;
    return ST_OK;
}

/* ---- the check ---- */

#define ADVICE "set CLIQ_KEY to a key from its admin (cliq key create)"

enum status
own_server_check(const struct transport *w, const struct transport_place *at, int64_t until_ms,
                 struct err *e)
{
    char name[PATH_MAX + 8];
    unsigned port, uid = 0;
    struct buf path = { 0 };
    struct stat st;
    struct err why;
    const char *url = at->unix_path[0] ? at->unix_path : at->authority;

    enum status s = file_path(&path, at->own_config, OWN_SERVER_KEY, e);
    if (!s && sys->fstatat(AT_FDCWD, path.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
        s = err_sys(e, "look at %s", path.p);
    buf_release(&path);
    if (s)
        return s;
    name_peer(w->fd, at, name, &port);
    if (!is_listed(at->own_config, name, port))
        return err_set(e, ST_REFUSED,
                       "no key for %s: it is not the server of %s, whose admin key is for that "
                       "server alone; " ADVICE,
                       url, at->own_config);
    s = peer_owner(w->fd, at, until_ms, &uid, &why);
    if (s) {
        err_say(e, s == ST_REFUSED ? "no key for %s: %s; " ADVICE : "%s: %s", url, why.text);
        return s;
    }
    if (uid != st.st_uid)
        return err_set(e, ST_REFUSED,
                       "no key for %s: the server there belongs to user %u, %s/" OWN_SERVER_KEY
                       " to user %u; " ADVICE,
                       url, uid, at->own_config, (unsigned)st.st_uid);
    return ST_OK;
}
