#include "run/panes.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/sys.h"
#include "base/watch.h"
#include "proc/proc_spec.h"
#include "proc/tmux.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    START_TRIES = 10, /* while the server of an orchestrator that died goes away */
    POLL_MS = 20,
    END_MS = 1000,  /* for a server that was told to end; then it is killed */
    LOOK_MS = 1000, /* for one to answer who only asks */
};

struct panes {
    struct panes_host host;
    struct tmux tmux;
    struct proc_id server;
    struct watch watch; /* of run/panes */
    struct loop_source *news;
    char dir[4096]; /* its path, or as much as there is room for: then nothing starts */
    bool is_started, is_given_up, has_dir;
    bool is_deaf; /* the server did not answer in time */
};

static const char DIR_NAME[] = "run/panes", SOCKET_FILE[] = "run/tmux";

/* The first line of a small file, and what follows it. False: there is none. */
static bool
read_word(const struct state_dir *f, const char *name, char *to, size_t size, struct buf *rest)
{
    bool is_there = state_dir_read(f, name, rest, NULL) == ST_OK && rest->len > 0;
    size_t n = is_there ? strcspn(rest->p, "\n/") : 0;

    snprintf(to, size, "%.*s", (int)n, is_there ? rest->p : "");
    buf_drop(rest, n + (n < rest->len));
    return n > 0;
}

/* The one that was chosen for this directory; SOCKET_FILE says for which. */
static bool
find_socket(const struct state_dir *f, char *to, size_t size)
{
    struct buf dir = { 0 };
    bool is_ours = read_word(f, SOCKET_FILE, to, size, &dir) && strcmp(dir.p, f->state_dir) == 0;

    buf_release(&dir);
    return is_ours;
}

/* The socket is called as the project is. A copy of the project has the same id: while there is a
 * server of that name that is not ours, ours has another one. */
static void
choose_socket(const struct state_dir *f, char *to, size_t size)
{
    struct tmux t = { .wait_ms = LOOK_MS };
    struct buf text = { 0 };

    if (find_socket(f, to, size))
        return;
    bool has_id = read_word(f, "cliq.id", t.socket, sizeof t.socket, &text);
    if (has_id && !tmux_is_there(&t))
        snprintf(to, size, "%s", t.socket);
    else
        snprintf(to, size, "cliq-%08x", (unsigned)crc32c(f->state_dir, strlen(f->state_dir)));
    buf_reset(&text);
    buf_addf(&text, "%s\n%s", to, f->state_dir);
    if (!buf_failed(&text))
        state_dir_replace(f, SOCKET_FILE, text.p, text.len, NULL);
    buf_release(&text);
}

static void
say_attach(const char *socket, char *to, size_t size)
{
    snprintf(to, size, "%stmux -L %s attach", getenv("TMUX") ? "TMUX= " : "", socket);
}

struct panes *
panes_new(const struct panes_host *host)
{
    struct panes *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->host = *host;
    p->watch.fd = -1;
    snprintf(p->dir, sizeof p->dir, "%s/%s", host->plan->state.state_dir, DIR_NAME);
    return p;
}

bool
panes_are_open(const struct panes *p)
{
    return p && !p->is_given_up;
}

pid_t
panes_server(const struct panes *p)
{
    return p && p->is_started ? p->server.pid : 0;
}

void
panes_give_up(struct panes *p, const char *why)
{
    struct buf text = { 0 };

    if (p->is_given_up)
        return;
    p->is_given_up = true;
    buf_addf(&text, "agents run as plain processes from here on: %s", why);
    p->host.on_note(p->host.ctx, buf_failed(&text) ? "agents run as plain processes" : text.p);
    buf_release(&text);
}

/* ---- the server ---- */

static void
on_news(void *ctx)
{
    struct panes *p = ctx;

    watch_drain(&p->watch);
    p->host.on_said(p->host.ctx);
}

static enum status
listen_in(struct panes *p, struct err *e)
{
    enum status s = state_dir_mkdir(&p->host.plan->state, DIR_NAME, e);

    p->has_dir = !s;
    if (!s)
        s = watch_open(&p->watch, p->dir, e);
    if (!s)
        p->news = loop_on_readable(p->host.loop, p->watch.fd, on_news, p, e);
    return s || p->news ? s : ST_IO;
}

/* The session's first pane shows the log of the run. */
static enum status
start_server(struct panes *p, struct err *e)
{
    struct arena a = { 0 };
    const char *argv[] = { agent_self(&a), "log", "--follow", NULL };
    char socket[TMUX_NAME_MAX + 1], text[160];
    enum status s = argv[0] ? listen_in(p, e) : err_set(e, ST_IO, "out of memory");

    choose_socket(&p->host.plan->state, socket, sizeof socket);
    for (int tries = 1; !s; tries++) {
        s = tmux_start(&p->tmux, "run", socket, argv, e);
        if (s != ST_FAILED || tries == START_TRIES)
            break;
        tmux_kill_server(&p->tmux, NULL); /* one that was left is in the way */
        poll(NULL, 0, POLL_MS);
        s = ST_OK;
    }
    p->is_started = p->tmux.socket[0] != '\0'; /* also when we cannot tell: it is ended then */
    if (!s)
        s = proc_identify(p->tmux.server_pid, &p->server, e);
    arena_release(&a);
    if (s)
        return s;
    snprintf(text, sizeof text, "to watch the agents: ");
    say_attach(socket, text + strlen(text), sizeof text - strlen(text));
    p->host.on_note(p->host.ctx, text);
    return ST_OK;
}

/* It has a moment to end by itself. */
static void
end_server(struct panes *p)
{
    int64_t until = clock_mono_ms() + END_MS;
    int signo = p->is_deaf || tmux_kill_server(&p->tmux, NULL) != ST_OK ? SIGKILL : 0;

    while (p->server.pid && proc_alive(&p->server) == PROC_ALIVE) {
        if (signo || clock_mono_ms() >= until)
            kill(p->server.pid, SIGKILL); /* our child, not yet waited for */
        poll(NULL, 0, 1);
    }
    tmux_sweep(&p->tmux);
}

static void
remove_dir(const struct state_dir *f)
{
    int fd;

    if (state_dir_open_dir(f, DIR_NAME, false, &fd, NULL))
        return;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *x; (x = readdir(d));)
        unlinkat(dirfd(d), x->d_name, 0);
    closedir(d);
    unlinkat(f->dir, DIR_NAME, AT_REMOVEDIR);
    unlinkat(f->dir, SOCKET_FILE, 0);
}

void
panes_free(struct panes *p)
{
    if (!p)
        return;
    if (p->is_started)
        end_server(p);
    loop_drop(p->news);
    watch_close(&p->watch);
    if (p->has_dir)
        remove_dir(&p->host.plan->state);
    free(p);
}

void
panes_end_left(const struct state_dir *f)
{
    struct tmux t = { 0 };
    struct stat st;

    if (sys->fstatat(f->dir, DIR_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    int64_t until = clock_mono_ms() + END_MS;
    if (find_socket(f, t.socket, sizeof t.socket) && tmux_kill_server(&t, NULL) == ST_OK)
        while (!tmux_sweep(&t) && clock_mono_ms() < until) /* it is no child of ours */
            poll(NULL, 0, 1);
    remove_dir(f);
}

bool
panes_are_there(const struct state_dir *f, char *attach, size_t size)
{
    struct tmux t = { .wait_ms = LOOK_MS };
    struct stat st;

    if (sys->fstatat(f->dir, DIR_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !find_socket(f, t.socket, sizeof t.socket))
        return false;
    say_attach(t.socket, attach, size);
    return tmux_is_there(&t);
}

/* ---- attempts ---- */

static const char *
name_of(const struct proc_spec *spec)
{
    return strrchr(spec->attempt_file, '/') + 1; /* attempt_files.h: always below run/attempts */
}

static enum status
spawn(struct panes *p, const struct proc_spec *spec, const char *path, struct tmux_pane *pane,
      struct err *e)
{
    struct arena a = { 0 };
    const char *argv[] = { agent_self(&a), "_exec", "--view", path, NULL };
    enum status s = proc_spec_write(path, spec, e);

    if (s) {
        s = ST_FAILED; /* nobody was asked to start it */
    } else if (!argv[0]) {
        s = err_set(e, ST_FAILED, "out of memory");
    } else {
        s = tmux_spawn(&p->tmux, argv, pane, e);
        p->is_deaf = s && s != ST_FAILED;
    }
    if (s)
        unlink(path);
    arena_release(&a);
    return s;
}

enum status
panes_spawn(struct panes *p, const struct proc_spec *spec, struct proc_id *viewer, struct err *e)
{
    struct tmux_pane pane;
    struct buf path = { 0 };
    enum status s = p->is_started ? ST_OK : start_server(p, e);

    memset(viewer, 0, sizeof *viewer);
    if (s) {
        panes_give_up(p, e->text);
        return ST_FAILED; /* no server, no attempt */
    }
    buf_addf(&path, "%s/%s.json", p->dir, name_of(spec));
    s = buf_status(&path, "the path", e) ? ST_FAILED : spawn(p, spec, path.p, &pane, e);
    if (s)
        panes_give_up(p, e->text);
    else if (proc_identify(pane.pid, viewer, NULL))
        viewer->pid = 0;
    buf_release(&path);
    return s;
}

void
panes_show(struct panes *p, const struct proc_spec *spec)
{
    struct arena a = { 0 };
    struct tmux_pane pane;
    struct err e;
    const char *argv[] = {
        agent_self(&a), "_exec", "--watch", spec->out, spec->attempt_file, NULL
    };
    enum status s = p->is_started ? ST_OK : start_server(p, &e);

    if (!s && argv[0] && spec->out) {
        s = tmux_spawn(&p->tmux, argv, &pane, &e);
        p->is_deaf = s && s != ST_FAILED;
    }
    if (s)
        panes_give_up(p, e.text);
    arena_release(&a);
}

enum status
panes_said(struct panes *p, const struct proc_spec *spec, struct err *e)
{
    static const char failed[] = "failed ";
    struct buf path = { 0 }, text = BUF_MAX(64 << 10);
    enum status s = ST_NOT_FOUND;

    buf_addf(&path, "%s/%s.json.said", DIR_NAME, name_of(spec));
    if (!buf_failed(&path) && state_dir_read(&p->host.plan->state, path.p, &text, NULL) == ST_OK) {
        buf_addc(&text, '\0');
        if (buf_failed(&text))
            s = err_set(e, ST_FAILED, "%s cannot be read", path.p);
        else if (strcmp(text.p, "started") == 0)
            s = ST_OK;
        else if (strcmp(text.p, "taken") == 0)
            s = ST_CONFLICT;
        else
            s = err_set(e, ST_FAILED, "%s",
                        text.p + (strncmp(text.p, failed, strlen(failed)) ? 0 : strlen(failed)));
        state_dir_remove(&p->host.plan->state, path.p, NULL);
    }
    buf_release(&path);
    buf_release(&text);
    return s;
}
