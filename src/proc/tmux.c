#define _GNU_SOURCE
#include "proc/tmux.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"
#include "proc/child.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    ARGS_MAX = 64,         /* of one tmux command line */
    ENV_MAX = 256,         /* variables that we pass on */
    SAID_MAX = 64 << 10,   /* bytes of an answer */
    HISTORY_LIMIT = 50000, /* lines a pane keeps */
    PANES_MAX = 9,         /* of a window: more would be too small to read */
};

/* ---- one call of tmux ---- */

/* A command line being put together; text that must be changed first lives in the arena. */
struct tmux_line {
    char *argv[ARGS_MAX + 1];
    size_t n;
    struct arena arena;
    bool is_broken; /* too long, or no memory */
};

static void
add(struct tmux_line *l, const char *arg)
{
    if (l->n == ARGS_MAX)
        l->is_broken = true;
    else
        l->argv[l->n++] = (char *)(uintptr_t)arg;
}

/* A last ';' would end the command: tmux wants it as "\;". */
static void
add_quoted(struct tmux_line *l, const char *arg)
{
    size_t n = strlen(arg);

    if (n == 0 || arg[n - 1] != ';') {
        add(l, arg);
        return;
    }
    char *own = arena_alloc(&l->arena, n + 2);
    if (!own) {
        l->is_broken = true;
        return;
    }
    memcpy(own, arg, n - 1);
    memcpy(own + n - 1, "\\;", 3);
    add(l, own);
}

static void
add_all(struct tmux_line *l, const char *const *args)
{
    for (; *args; args++)
        add(l, *args);
}

/* The command of a pane. A single word would be given to a shell; env executes it. */
static void
add_command(struct tmux_line *l, const char *const *argv)
{
    assert(argv[0]);
    add(l, "--");
    if (!argv[1])
        add(l, "/usr/bin/env");
    for (; *argv; argv++)
        add_quoted(l, *argv);
}

/* The server keeps the environment that started it, so it is given a small one. */
static void
pick_env(char *to[ENV_MAX + 1])
{
    static const char *const names[] = { "PATH=", "HOME=",  "LANG=",        "LC_",   "TERM=",
                                         "USER=", "SHELL=", "TMUX_TMPDIR=", "CLIQ_", "TMPDIR=" };
    size_t n = 0;

    for (char **v = environ; *v && n < ENV_MAX; v++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(*v, names[i], strlen(names[i])) == 0) {
                to[n++] = *v;
                break;
            }
    to[n] = NULL;
}

/* Cuts what was said to its first line. False when that is no text for people. */
static bool
is_sentence(struct buf *said)
{
    size_t n = strcspn(said->p, "\n");

    said->p[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)said->p[i]))
            return false;
    return n <= 1000 && utf8_valid_len(said->p, n) == n;
}

/* Runs it; `said`, which is empty, receives its output. The three outcomes of tmux.h. Its session
 * is its own: an interrupt at the keyboard is for us, not for a half done call. */
static enum status
call(const struct tmux *t, struct tmux_line *l, struct buf *said, struct err *e)
{
    const char *name = l->n > 6 ? l->argv[6] : "-V"; /* behind "tmux -u -f /dev/null -L socket" */
    char *env[ENV_MAX + 1];
    struct child c;

    if (l->is_broken)
        return err_set(e, ST_IO, "tmux %s: too many arguments, or no memory", name);
    l->argv[l->n] = NULL;
    pick_env(env);
    struct child_spec spec = { .proc = { .argv = (const char *const *)l->argv,
                                         .env = (const char *const *)env },
                               .keep = SAID_MAX,
                               .limit_ms = t->wait_ms ? t->wait_ms : TMUX_WAIT_MS,
                               .kill_ms = TMUX_WAIT_MS };
    enum status s = child_run(&c, &spec, e);
    if (s)
        return s;
    int code = child_exit_code(&c);
    *said = c.output;
    c.output = (struct buf){ 0 };
    buf_addc(said, '\0'); /* so that it is a string, empty too */
    if (c.is_timeout)
        s = err_set(e, ST_IO, "tmux %s: no answer in %g s", name, (double)spec.limit_ms / 1000);
    else if (c.is_cut || buf_failed(said) || !is_sentence(said))
        s = err_set(e, ST_IO, "tmux %s: not an answer of tmux", name);
    else if (code < 0 || WIFSIGNALED(c.wait_status))
        s = err_set(e, ST_IO, "tmux %s: killed by signal %d", name, WTERMSIG(c.wait_status));
    else if (code == 1 && said->p[0])
        s = err_set(e, ST_FAILED, "tmux %s: %s", name, said->p);
    else if (code != 0)
        s = err_set(e, ST_IO, "tmux %s: exit code %d%s%s", name, code, said->p[0] ? ": " : "",
                    said->p);
    child_release(&c);
    return s;
}

static struct tmux_line
line_to(const struct tmux *t)
{
    struct tmux_line l = { 0 };

    add_all(&l, (const char *const[]){ "tmux", "-u", "-f", "/dev/null", "-L", NULL });
    add(&l, t->socket);
    return l;
}

/* ---- what we want of it ---- */

bool
tmux_available(void)
{
    struct tmux t = { 0 };
    struct tmux_line l = { 0 };
    struct buf said = { 0 };
    int major = 0;

    add_all(&l, (const char *const[]){ "tmux", "-V", NULL });
    bool is_there =
        call(&t, &l, &said, NULL) == ST_OK &&
        (sscanf(said.p, "tmux %d.", &major) == 1 || sscanf(said.p, "tmux next-%d.", &major) == 1) &&
        major >= 3;
    buf_release(&said);
    return is_there;
}

static const char pane_format[] = "#{pane_id} #{pane_pid} #{window_id} #{window_panes} #{pid}";

/* An answer in that format, "%4 4711 @1 3 4700"; anything else is garbled. */
static bool
parse_pane(const char *said, struct tmux *t, struct tmux_pane *pane)
{
    struct tmux got = *t;
    int end = 0, pid;

    if (sscanf(said, "%15s %d %15s %u %d%n", pane->id, &pid, got.window, &got.panes,
               &got.server_pid, &end) != 5 ||
        said[end] || pane->id[0] != '%' || got.window[0] != '@' || pid <= 0 || got.server_pid <= 0)
        return false;
    pane->pid = pid;
    *t = got;
    return true;
}

/* Runs the line, whose answer is a pane in the format above. Where it is, the pane was made,
 * whatever became of the layout behind it. */
static enum status
call_for_pane(struct tmux *t, struct tmux_line *l, struct tmux_pane *pane, struct err *e)
{
    struct buf said = { 0 };
    enum status s = call(t, l, &said, e);

    if (s == ST_FAILED && parse_pane(said.p, t, pane))
        s = ST_OK;
    else if (!s && !parse_pane(said.p, t, pane))
        s = err_set(e, ST_IO, "tmux: not the answer we asked for: \"%.200s\"", said.p);
    buf_release(&said);
    arena_release(&l->arena);
    return s;
}

enum status
tmux_start(struct tmux *t, const char *session, const char *socket, const char *const *argv,
           struct err *e)
{
    char history[16];
    struct tmux_pane pane;
    enum status s = path_check_name("tmux socket", socket, e);

    if (!s)
        s = path_check_name("tmux session", session, e);
    if (!s && strchr(session, '.'))
        s = err_set(e, ST_INVALID, "bad tmux session \"%s\": it must not hold a dot", session);
    if (s)
        return s;
    snprintf(t->socket, sizeof t->socket, "%s", socket);
    snprintf(t->session, sizeof t->session, "=%s", session);
    t->window[0] = '\0';
    t->panes = 0;
    t->server_pid = 0;
    snprintf(history, sizeof history, "%d", HISTORY_LIMIT);

    /* One call: the options stand before the first pane can end. */
    struct tmux_line l = line_to(t);
    add_all(&l, (const char *const[]){ "start-server",
                                       ";",
                                       "set-option",
                                       "-g",
                                       "history-limit",
                                       history,
                                       ";",
                                       "set-option",
                                       "-g",
                                       "remain-on-exit",
                                       "on",
                                       ";",
                                       "set-option",
                                       "-g",
                                       "pane-border-status",
                                       "top",
                                       ";",
                                       "set-option",
                                       "-g",
                                       "pane-border-format",
                                       " #{pane_title} ",
                                       ";",
                                       "new-session",
                                       "-d",
                                       "-s",
                                       session,
                                       "-x",
                                       "200",
                                       "-y",
                                       "50",
                                       "-P",
                                       "-F",
                                       pane_format,
                                       NULL });
    add_command(&l, argv);
    add_all(&l, (const char *const[]){ ";", "select-pane", "-T", session, NULL });
    return call_for_pane(t, &l, &pane, e);
}

enum status
tmux_split(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e)
{
    struct tmux_line l = line_to(t);

    if (t->panes >= PANES_MAX)
        return err_set(e, ST_FAILED, "a window has at most %d panes", PANES_MAX);
    add_all(&l, (const char *const[]){ "split-window", "-d", "-t", t->window, "-P", "-F",
                                       pane_format, NULL });
    add_command(&l, argv);
    add_all(&l, (const char *const[]){ ";", "select-layout", "-t", t->window, "tiled", NULL });
    return call_for_pane(t, &l, pane, e);
}

enum status
tmux_new_window(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e)
{
    struct tmux_line l = line_to(t);

    add_all(&l, (const char *const[]){ "new-window", "-d", "-P", "-F", pane_format, NULL });
    add_command(&l, argv);
    return call_for_pane(t, &l, pane, e);
}

enum status
tmux_respawn(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e)
{
    struct tmux_line l = line_to(t);
    char id[sizeof pane->id];

    memcpy(id, pane->id, sizeof id);
    add_all(&l, (const char *const[]){ "respawn-pane", "-k", "-t", id, NULL });
    add_command(&l, argv);
    add_all(&l, (const char *const[]){ ";", "clear-history", "-t", id, ";", "display-message", "-p",
                                       "-t", id, pane_format, NULL });
    return call_for_pane(t, &l, pane, e);
}

enum tmux_fate
tmux_fate_of(struct tmux *t, const struct tmux_pane *pane, struct err *e)
{
    struct tmux_line l = line_to(t);
    struct buf said = BUF_MAX(64 << 10);
    enum tmux_fate fate = TMUX_LOST;

    add_all(&l, (const char *const[]){
                    "has-session", "-t", t->session, ";", "display-message", "-p", "-t", pane->id,
                    "#{pane_id}/#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}", NULL });
    enum status s = call(t, &l, &said, e);
    size_t n = strlen(pane->id);
    if (s == ST_FAILED && strstr(said.p, "can't find pane"))
        fate = TMUX_CLOSED;
    else if (!s && (strncmp(said.p, pane->id, n) != 0 || said.p[n] != '/'))
        fate = TMUX_CLOSED; /* some versions answer for no pane */
    else if (!s && (strncmp(said.p + n, "/1/", 3) != 0 || strcmp(said.p + n, "/1//") == 0))
        fate = TMUX_UNSEEN; /* its terminal may be closed before tmux has waited for its command */
    else if (!s)
        fate = said.p[n + 3] == '/' ? TMUX_CLOSED /* a signal */ : TMUX_ENDED;
    buf_release(&said);
    arena_release(&l.arena);
    return fate;
}

enum status
tmux_kill_server(struct tmux *t, struct err *e)
{
    static const char *const gone[] = { "no server running", "error connecting" };
    struct tmux_line l = line_to(t);
    struct buf said = BUF_MAX(64 << 10);

    add(&l, "kill-server");
    enum status s = call(t, &l, &said, e);
    for (size_t i = 0; s == ST_FAILED && i < sizeof gone / sizeof *gone; i++)
        if (strstr(said.p, gone[i]))
            s = ST_OK;
    buf_release(&said);
    arena_release(&l.arena);
    return s;
}

/* ---- the socket ---- */

/* The directory in which tmux keeps the sockets of this user; -1: none, or it is not ours. */
static int
open_sockets(void)
{
    const char *base = getenv("TMUX_TMPDIR");
    struct buf path = { 0 };
    struct stat st;

    buf_addf(&path, "%s/tmux-%u", base && *base ? base : "/tmp", (unsigned)getuid());
    int dir =
        buf_failed(&path) ? -1 : open(path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    buf_release(&path);
    if (dir >= 0 && (fstat(dir, &st) != 0 || st.st_uid != getuid())) {
        close(dir);
        return -1;
    }
    return dir;
}

/* Is it a socket without a listener? */
static bool
is_dead(int dir, const char *name)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct stat st;

    /* By way of the open directory: its own path may be too long for a socket's. */
    int n = snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof at.sun_path ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_refused =
        fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) != 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return is_refused;
}

bool
tmux_sweep(const struct tmux *t)
{
    char lock_name[TMUX_NAME_MAX + 8];
    int dir = open_sockets();

    if (dir < 0)
        return true;
    snprintf(lock_name, sizeof lock_name, "%s.lock", t->socket);
    /* A process that starts a server there holds this lock from its look at the socket until
     * the server listens, and waits for it while we hold it. */
    if (is_dead(dir, t->socket)) {
        int lock = openat(dir, lock_name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
            if (is_dead(dir, t->socket))
                unlinkat(dir, t->socket, 0);
            unlinkat(dir, lock_name, 0);
        }
        if (lock >= 0)
            close(lock);
    }
    bool is_gone = faccessat(dir, t->socket, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    close(dir);
    return is_gone;
}

/* No socket, no server, and no need to ask. */
static bool
has_socket(const struct tmux *t)
{
    int dir = open_sockets();
    struct stat st;
    bool has_it = dir >= 0 && fstatat(dir, t->socket, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (dir >= 0)
        close(dir);
    return has_it;
}

bool
tmux_is_there(struct tmux *t)
{
    if (!has_socket(t))
        return false;
    struct tmux_line l = line_to(t);
    struct buf said = { 0 };

    add(&l, "has-session");
    bool is_there = call(t, &l, &said, NULL) == ST_OK;
    buf_release(&said);
    arena_release(&l.arena);
    return is_there;
}

enum status
tmux_attach(const struct tmux *t, struct err *e)
{
    struct tmux_line l = line_to(t);
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    int wait_status = 0;
    pid_t pid;

    add(&l, "attach-session");
    unsetenv("TMUX"); /* also inside another server: that one is not ours */
    int rc = posix_spawnp(&pid, "tmux", NULL, NULL, l.argv, environ);
    if (!rc)
        SYS_RETRY(waitpid(pid, &wait_status, 0));
    signal(SIGINT, before);
    arena_release(&l.arena);
    errno = rc;
    if (rc)
        return err_sys(e, "run tmux");
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0
               ? ST_OK
               : err_set(e, ST_FAILED, "tmux could not attach to the run's session");
}
