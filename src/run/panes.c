#include "run/panes.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/sys.h"
#include "context/frames.h"
#include "proc/tmux.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
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
    ASK_MS = 20,    /* between two questions about a pane whose end tmux has not seen */
    ASK_TRIES = 50,
};

struct pane {
    struct panes *panes;
    struct pane *next;
    struct tmux_pane at;
    char *name;         /* of its attempt */
    loop_fn *on_closed; /* NULL: the attempt is over */
    void *ctx;
    int viewer;                /* a pidfd; -1: it ended */
    struct loop_source *death; /* of the viewer, or the timer of the next question */
    unsigned asked;            /* how often tmux was asked what became of it */
};

struct panes {
    struct panes_host host;
    struct tmux tmux;
    struct proc_id server;
    struct pane *list; /* those whose attempts run; and the finished ones, oldest first */
    bool is_started, is_given_up, has_dir;
    bool is_deaf; /* the server did not answer in time */
};

static void free_pane(struct pane *pane);

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
    return p;
}

pid_t
panes_server(const struct panes *p)
{
    return p && p->is_started ? p->server.pid : 0;
}

/* Plain processes from now on. Noted once. */
static void
give_up(struct panes *p, const char *why)
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

/* The session's first pane shows how the run goes on. */
static enum status
start_server(struct panes *p, struct err *e)
{
    struct arena a = { 0 };
    const char *argv[] = { agent_self(&a), "attach", "--no-tmux", NULL };
    char socket[TMUX_NAME_MAX + 1], text[160];
    enum status s = argv[0] ? state_dir_mkdir(&p->host.plan->state, DIR_NAME, e) : err_nomem(e);

    p->has_dir = !s;
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
    /* A child that it forked for a pane, and that has not run yet, still has its socket. */
    until = clock_mono_ms() + END_MS;
    while (!tmux_sweep(&p->tmux) && clock_mono_ms() < until)
        poll(NULL, 0, 1);
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
    while (p->list)
        free_pane(p->list);
    if (p->is_started)
        end_server(p);
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

enum status
panes_attach(const struct state_dir *f, struct err *e)
{
    struct tmux t = { .wait_ms = LOOK_MS };

    if (!find_socket(f, t.socket, sizeof t.socket) || !tmux_is_there(&t))
        return err_set(e, ST_NOT_FOUND, "the run has no tmux session");
    return tmux_attach(&t, e);
}

/* ---- attempts ---- */

static void
forget_viewer(struct pane *pane)
{
    loop_drop(pane->death);
    pane->death = NULL;
    if (pane->viewer >= 0)
        close(pane->viewer);
    pane->viewer = -1;
}

static void
unlink_pane(struct pane *pane)
{
    struct pane **at = &pane->panes->list;

    while (*at != pane)
        at = &(*at)->next;
    *at = pane->next;
    pane->next = NULL;
}

static void
append_pane(struct panes *p, struct pane *pane)
{
    struct pane **at = &p->list;

    while (*at)
        at = &(*at)->next;
    *at = pane;
}

static void
free_pane(struct pane *pane)
{
    unlink_pane(pane);
    forget_viewer(pane);
    free(pane->name);
    free(pane);
}

/* Its attempt is over: it is the last to be replaced. */
static void
retire(struct pane *pane)
{
    forget_viewer(pane);
    pane->on_closed = NULL;
    unlink_pane(pane);
    append_pane(pane->panes, pane);
}

static void
on_viewer_end(void *ctx)
{
    struct pane *pane = ctx;
    struct panes *p = pane->panes;
    loop_fn *on_closed = pane->on_closed;
    struct err e;

    forget_viewer(pane);
    if (p->is_given_up)
        return;
    enum tmux_fate fate = tmux_fate_of(&p->tmux, &pane->at, &e);
    if (fate == TMUX_UNSEEN && ++pane->asked < ASK_TRIES &&
        (pane->death = loop_after(p->host.loop, ASK_MS, on_viewer_end, pane, NULL)))
        return;
    switch (fate) {
    case TMUX_LOST:
        give_up(p, e.text);
        break;
    case TMUX_ENDED:
        p->host.on_note(p->host.ctx, "the viewer of a pane ended; its agent runs on");
        break;
    case TMUX_UNSEEN: /* another command runs in it */
    case TMUX_CLOSED:
        retire(pane);
        on_closed(pane->ctx);
        break;
    }
}

/* Where there is space; else in place of the oldest finished one; else in a new window. */
static enum status
place(struct panes *p, const char *const *argv, struct tmux_pane *at, struct err *e)
{
    enum status s = tmux_split(&p->tmux, argv, at, e);

    for (struct pane *x = p->list, *next; s == ST_FAILED && x; x = next) {
        next = x->next;
        if (x->on_closed)
            continue;
        *at = x->at;
        s = tmux_respawn(&p->tmux, argv, at, e);
        free_pane(x); /* replaced, or a person has closed it */
    }
    if (s == ST_FAILED)
        s = tmux_new_window(&p->tmux, argv, at, e);
    p->is_deaf = s && s != ST_FAILED;
    return s;
}

/* "one.1" of .cliq/run/attempts/one.1, "build.one.1" of .cliq/frames/build/run/attempts/one.1; of a
 * long way the end, which tells phases apart. */
static void
add_name(const struct panes *p, const char *attempt_file, struct buf *to)
{
    enum { MOST = 200 };
    struct buf name = { 0 };
    const char *at = attempt_file + strlen(p->host.plan->state.state_dir);

    while (strncmp(at, "/" FRAMES_DIR "/", sizeof FRAMES_DIR + 1) == 0) {
        at += sizeof FRAMES_DIR + 1;
        size_t n = strcspn(at, "/");
        buf_add(&name, at, n);
        buf_addc(&name, '.');
        at += n;
    }
    buf_adds(&name, strrchr(attempt_file, '/') + 1);
    if (!buf_failed(&name))
        buf_adds(to, name.len > MOST ? name.p + name.len - MOST : name.p);
    buf_release(&name);
}

struct pane *
panes_open(struct panes *p, const struct proc_spec *spec, loop_fn *on_closed, void *ctx)
{
    struct arena a = { 0 };
    struct err e;
    struct buf end = { 0 };
    struct proc_id viewer;

    if (!p || p->is_given_up)
        return NULL;
    struct pane *pane = calloc(1, sizeof *pane);
    enum status s = p->is_started ? ST_OK : start_server(p, &e);
    buf_addf(&end, "%s/%s/", p->host.plan->state.state_dir, DIR_NAME);
    size_t at = end.len;
    add_name(p, spec->attempt_file, &end); /* attempt_files.h: run/attempts/ */
    const char *argv[] = {
        agent_self(&a), "_pane", spec->out, spec->attempt_file, end.p, NULL,
    };
    if (!s && (!pane || !argv[0] || buf_failed(&end) || !(pane->name = strdup(end.p + at))))
        s = err_nomem(&e);
    if (!s)
        s = place(p, argv, &pane->at, &e);
    buf_release(&end);
    arena_release(&a);
    if (s) {
        give_up(p, e.text);
        if (pane)
            free(pane->name);
        free(pane);
        return NULL;
    }
    pane->panes = p;
    pane->on_closed = on_closed;
    pane->ctx = ctx;
    append_pane(p, pane);
    pane->viewer = proc_identify(pane->at.pid, &viewer, NULL) == ST_OK ? proc_pidfd(&viewer) : -1;
    pane->death = pane->viewer >= 0
                      ? loop_on_readable(p->host.loop, pane->viewer, on_viewer_end, pane, NULL)
                      : loop_after(p->host.loop, 0, on_viewer_end, pane, NULL);
    return pane;
}

void
pane_finish(struct pane *pane, const char *how)
{
    char path[sizeof DIR_NAME + NAME_MAX + 1];

    if (!pane)
        return;
    struct panes *p = pane->panes;
    snprintf(path, sizeof path, "%s/%s", DIR_NAME, pane->name);
    retire(pane);
    if (!p->is_given_up)
        state_dir_replace(&p->host.plan->state, path, how, strlen(how), NULL);
}
