#define _GNU_SOURCE
#include "serve/serve.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "net/own_server.h"
#include "proc/proc.h"
#include "run/sleeping.h"
#include "serve/admin_key.h"
#include "serve/dispatch.h"
#include "serve/file_answer.h"
#include "serve/job.h"
#include "serve/presence.h"
#include "serve/reply.h"
#include "serve/respawn.h"
#include "serve/rounds.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    STOP_MS = 5000,
    CONNS_MAX = 8192,
    CONNS_LEAST = 16,
    FILES_WANTED = 65536, /* as many as the hard limit allows up to that */
    FILES_STORE = 40,     /* for segments, SQLite, agents that are started */
    RESERVE_MAX = 32,     /* connections for /health and admins */
    REFUSED_MAX = 64,     /* connections that are told that there are too many */
    ACCESS_MAX = 1 << 20, /* bytes of the access log that wait for its reader */
    LISTEN_FDS_START = 3,
    STREAM_MAX = 256 << 10,            /* bytes that wait for one client */
    STALL_MS = STREAM_SLOW_MS + 30000, /* a slow client can still read why its stream ended */
};

/* ---- accepted host names ---- */

static void
add_host(struct serve *s, const char *name, unsigned port)
{
    if (s->n_hosts + 1 >= SERVE_HOSTS)
        return;
    char *to = s->host_texts[s->n_hosts];
    if (port)
        snprintf(to, sizeof s->host_texts[0], "%s:%u", name, port);
    else
        snprintf(to, sizeof s->host_texts[0], "%s", name);
    s->hosts[s->n_hosts++] = to;
}

static void
add_hosts(struct serve *s, const struct listener *l)
{
    if (l->is_unix)
        return;
    add_host(s, l->name, 0);
    if (l->is_loopback) {
        add_host(s, "localhost", l->port);
        add_host(s, "127.0.0.1", l->port);
        add_host(s, "[::1]", l->port);
    }
    for (const char *const *h = s->o->extra_hosts; h && *h; h++) {
        add_host(s, *h, l->port);
        add_host(s, *h, 0);
    }
}

/* ---- listening ---- */

static enum status
check_elsewhere(const struct serve *s, const char *name, bool is_here, struct err *e)
{
    if (is_here || s->o->allows_elsewhere)
        return ST_OK;
    return err_set(e, ST_REFUSED,
                   "%s can be reached from elsewhere, without TLS: put a reverse proxy before "
                   "a loopback address, or say --allow-elsewhere",
                   name);
}

/* Before the store is opened. */
static enum status
check_addresses(const struct serve *s, struct err *e)
{
    enum status st = ST_OK;
    bool is_here;

    for (const char *const *p = s->o->listen; !st && p && *p; p++) {
        st = listener_check(*p, &is_here, e);
        if (!st)
            st = check_elsewhere(s, *p, is_here, e);
    }
    return st;
}

static enum status
add_listener(struct serve *s, struct listener *l, struct err *e)
{
    enum status st = check_elsewhere(s, l->name, l->is_loopback, e); /* systemd's, too */

    if (st) {
        listener_release(l);
        return st;
    }
    if (!l->is_loopback)
        fprintf(stderr, "cliq: warning: %s can be reached from elsewhere, and is not encrypted\n",
                l->name);
    add_hosts(s, l);
    if (s->n_listening < SERVE_LISTENERS)
        memcpy(s->listening[s->n_listening++], l->name, sizeof l->name);
    return http_server_add(s->http, l, e);
}

/* When nothing else can fail. */
static void
tell_addresses(const struct serve *s)
{
    for (size_t i = 0; i < s->n_listening; i++)
        printf("listening on %s%s\n", strncmp(s->listening[i], "unix:", 5) == 0 ? "" : "http://",
               s->listening[i]);
    fflush(stdout);
}

/* For commands that use the admin key. */
static enum status
announce(const struct serve *s, struct err *e)
{
    const char *names[SERVE_LISTENERS];

    for (size_t i = 0; i < s->n_listening; i++)
        names[i] = s->listening[i];
    return own_server_announce(s->o->config, names, s->n_listening, e);
}

/* Sockets that systemd passed. */
static enum status
add_inherited(struct serve *s, size_t *n, struct err *e)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    enum status st = ST_OK;

    *n = 0;
    if (!pid || !fds || atol(pid) != (long)getpid())
        return ST_OK;
    for (int i = 0; !st && i < atoi(fds); i++) {
        struct listener l = LISTENER_NONE;
        fcntl(LISTEN_FDS_START + i, F_SETFD, FD_CLOEXEC);
        st = listener_fd(&l, LISTEN_FDS_START + i, e);
        if (!st)
            st = add_listener(s, &l, e);
        ++*n;
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    return st;
}

static enum status
listen_all(struct serve *s, struct err *e)
{
    static const char *const usual[] = { LISTENER_ADDRESS, NULL };
    size_t n_inherited;
    enum status st = add_inherited(s, &n_inherited, e);
    const char *const *tcp = s->o->listen;

    if (!tcp && !s->o->unix_paths && !n_inherited)
        tcp = usual;
    for (; !st && tcp && *tcp; tcp++) {
        struct listener l = LISTENER_NONE;
        st = listener_tcp(&l, *tcp, e);
        if (!st)
            st = add_listener(s, &l, e);
    }
    for (const char *const *p = s->o->unix_paths; !st && p && *p; p++) {
        struct listener l = LISTENER_NONE;
        st = listener_unix(&l, *p, e);
        if (!st)
            st = add_listener(s, &l, e);
    }
    return st;
}

/* Sends "READY=1" to systemd, if it asked for it. */
static void
tell_systemd(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    if (!path || strlen(path) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, strlen(path));
    if (to.sun_path[0] == '@')
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(fd);
}

/* ---- life ---- */

static void
on_child(void *ctx)
{
    (void)ctx;
    proc_reap(NULL, NULL); /* supervisors of agents, which live on their own */
}

static void
on_stopped(void *ctx)
{
    loop_stop(((struct serve *)ctx)->loop);
}

static void
on_stop(void *ctx)
{
    struct serve *s = ctx;

    if (s->is_stopping) {
        loop_stop(s->loop); /* the second signal: do not wait for clients */
        return;
    }
    rounds_stop(s);
    s->is_stopping = true;
    tell_systemd("STOPPING=1");
    http_server_stop(s->http, STOP_MS, on_stopped, s);
}

static enum status
open_access(struct serve *s, struct err *e)
{
    if (!s->o->access_log)
        return ST_OK;
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
    int fd =
        strcmp(s->o->access_log, "-") == 0 ? STDERR_FILENO : open(s->o->access_log, flags, 0666);
    if (fd < 0)
        return err_sys(e, "open %s", s->o->access_log);
    async_out_open(&s->access, fd, ACCESS_MAX, s->loop);
    s->has_access = true;
    return ST_OK;
}

static void
close_access(struct serve *s)
{
    if (!s->has_access)
        return;
    async_out_drain(&s->access, 0);
    if (s->access.lost)
        fprintf(stderr,
                "cliq: warning: %zu bytes of the access log were lost: its reader was too slow\n",
                s->access.lost);
    if (s->access.fd != STDERR_FILENO)
        close(s->access.fd);
    async_out_close(&s->access);
}

static void
on_note(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "cliq: warning: %s\n", text);
}

/* ---- open files ---- */

static void
on_full(void *ctx, unsigned max_conns)
{
    const struct serve *s = ctx;

    fprintf(
        stderr,
        "cliq: warning: %u connections are open, as many as the limit of open files (%zu) allows "
        "or we take: others get 503; /health and admin keys are still answered\n",
        max_conns, s->files);
}

static unsigned
least(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* How many descriptors are open. */
static size_t
count_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Divides the descriptors that are left among connections. */
static enum status
share_files(struct serve *s, struct http_options *o, struct err *e)
{
    s->files = proc_raise_files(FILES_WANTED);
    size_t taken = count_files() + FILES_STORE, left = s->files > taken ? s->files - taken : 0;

    if (left < CONNS_LEAST)
        return err_set(e, ST_INVALID,
                       "the limit of open files is %zu, too few for a server: raise it to %zu or "
                       "more (ulimit -n 1024)",
                       s->files, taken + CONNS_LEAST);
    o->reserve = least(left / 8, RESERVE_MAX);
    o->refused = least(left / 8, REFUSED_MAX);
    o->max_conns = least(left - o->reserve - o->refused, CONNS_MAX);
    return ST_OK;
}

/* Delayed signals may be due now. */
static void
on_clock_set(void *ctx)
{
    struct serve *s = ctx;

    clock_watch_again(s->clock);
    rounds_look(s);
}

static enum status
setup(struct serve *s, struct err *e)
{
    struct http_options o = { .ctx = s,
                              .on_request = dispatch_request,
                              .body_max = dispatch_body_max,
                              .on_round = rounds_turn,
                              .fault = reply_fault,
                              .on_full = on_full,
                              .stall_ms = STALL_MS,
                              .stream_max = STREAM_MAX };
    struct streams_options so = { .keepalive_ms = s->o->keepalive_ms,
                                  .per_key = s->o->streams_per_key,
                                  .on_lost = rounds_look,
                                  .ctx = s };
    struct buf dir = { 0 };
    unsigned char random[4];
    enum status st = check_addresses(s, e);

    hub_own_process();
    if (!st)
        st = hub_open(&s->writer, s->o->config,
                      &(struct hub_options){ .is_lasting = true, .note = on_note }, e);
    if (!st)
        st = hub_open(&s->reader, s->o->config, &(struct hub_options){ .never_waits = true }, e);
    if (st)
        return st;
    if (sys->getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(e, "get random bytes");
    snprintf(s->id_prefix, sizeof s->id_prefix, "%02x%02x%02x%02x", random[0], random[1], random[2],
             random[3]);
    s->rules = (struct admission_rules){ .hosts = s->hosts,
                                         .proxied = s->o->extra_hosts,
                                         .allows_token = !s->o->refuses_tokens };
    s->rate = (struct rate_rule){ s->o->rate, s->o->burst ? s->o->burst : s->o->rate };
    s->loop = loop_new(e);
    st = s->loop ? open_access(s, e) : ST_IO;
    if (!st)
        st = share_files(s, &o, e);
    if (st)
        return st;
    s->http = s->loop ? http_server_new(s->loop, &o, e) : NULL;
    s->streams = s->http ? streams_new(s->loop, s->reader, &so, e) : NULL;
    s->worker = s->streams ? worker_new(s->writer, e) : NULL;
    if (!s->worker)
        return ST_IO;
    streams_on_identity(s->streams, presence_change, s);
    buf_addf(&dir, "%s/signals", s->o->config);
    st = buf_status(&dir, "the path", e);
    if (!st)
        st = watch_open_file(&s->watch, dir.p, "events.jsonl", e);
    if (!st)
        st = path_open_dir(dir.p, false, &s->log_dir, e);
    buf_release(&dir);
    if (!st)
        revoke_watch_init(&s->revoke_watch, s->log_dir);
    if (!st)
        s->watching = loop_on_readable(s->loop, s->watch.fd, rounds_on_changed, s, e);
    s->clock = clock_watch_open();
    if (!st && s->clock >= 0 && !loop_on_readable(s->loop, s->clock, on_clock_set, s, e))
        st = ST_IO;
    if (!st &&
        (!s->watching || !loop_on_readable(s->loop, worker_fd(s->worker), rounds_on_done, s, e) ||
         !loop_on_signal(s->loop, SIGCHLD, on_child, s, e) ||
         !loop_on_signal(s->loop, SIGTERM, on_stop, s, e) ||
         !loop_on_signal(s->loop, SIGINT, on_stop, s, e)))
        st = ST_IO;
    if (!st)
        st = listen_all(s, e); /* before keys are made: a port in use leaves no new key behind */
    if (!st)
        st = admin_key_make(s->writer, s->o->config, e);
    return st ? st : announce(s, e);
}

enum status
serve_run(const struct serve_options *o, struct err *e)
{
    struct serve *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->o = o;
    s->watch.fd = s->log_dir = s->clock = s->revoke_watch.fd = -1;
    s->keys = calloc(SERVE_KEYS, sizeof *s->keys);
    enum status st = s->keys && reply_init(s) ? setup(s, e) : err_nomem(e);
    if (!st) {
        tell_addresses(s);
        tell_systemd("READY=1");
        if (o->on_ready)
            o->on_ready();
        s->wants_look = true;
        rounds_turn(s);
        rounds_begin_retention(s);
        sleeping_alarm_start(o->config); /* a machine that was started anew has none */
        st = loop_run(s->loop, e);
    }
    own_server_withdraw(o->config);
    file_answer_stop(s);
    http_server_free(s->http);
    close_access(s);
    rounds_free(s);
    job_end(s);
    reply_release(s);
    streams_free(s->streams);
    presence_free(s);
    respawn_free(s);
    watch_close(&s->watch);
    revoke_watch_release(&s->revoke_watch);
    if (s->log_dir >= 0)
        close(s->log_dir);
    free(s->keys);
    rates_release(&s->rates);
    loop_free(s->loop);
    if (s->clock >= 0)
        close(s->clock);
    hub_close(s->reader);
    hub_close(s->writer);
    free(s);
    return st;
}
