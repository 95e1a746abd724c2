#define _GNU_SOURCE
#include "run/crew.h"

#include "base/sys.h"
#include "run/member.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    IDLE_MAX = 16,   /* that wait for work; more are not needed soon */
    NUDGE_MS = 1000, /* until one who does not answer is told to go on */
    ARGS_MAX = 8,    /* words of an agent's command line */
};

enum state {
    AT_WORK,
    AT_END,  /* of its attempt: the terminal line is there */
    DONE,    /* said so; its attempt may have left something */
    IDLE,    /* waits for the next */
    LEAVING, /* our end is closed */
};

struct member {
    struct crew *crew;
    struct member *next;
    const char *argv[ARGS_MAX + 3]; /* copies; the last two are "--crew" and the descriptor */
    size_t n_args;                  /* without those */
    char number[12];
    struct proc_id id;
    int fd; /* our end */
    struct loop_source *source;
    enum state state;
    loop_fn *on_done;
    void *ctx;
};

struct crew {
    struct loop *loop;
    loop_fn *settle;
    void *ctx;
    struct member *members;
    size_t n, n_idle;
};

struct crew *
crew_new(struct loop *loop, loop_fn *settle, void *ctx)
{
    struct crew *c = calloc(1, sizeof *c);

    if (c)
        *c = (struct crew){ .loop = loop, .settle = settle, .ctx = ctx };
    return c;
}

static void
set_state(struct member *m, enum state state)
{
    m->crew->n_idle += (state == IDLE);
    m->crew->n_idle -= (m->state == IDLE);
    m->state = state;
}

static void
hang_up(struct member *m)
{
    loop_drop(m->source);
    m->source = NULL;
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
    set_state(m, LEAVING);
}

static void
forget(struct member *m)
{
    struct member **at = &m->crew->members;

    hang_up(m);
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    m->crew->n--;
    cgroup_remove(m->id.cgroup);
    for (size_t i = 0; i < m->n_args; i++)
        free((void *)(uintptr_t)m->argv[i]);
    free(m);
}

void
crew_end(struct crew *c)
{
    for (struct member *m = c->members, *next; m; m = next) {
        next = m->next;
        if (m->state == IDLE) {
            kill(m->id.pid, SIGKILL); /* it does nothing, and is our child */
            SYS_RETRY(waitpid(m->id.pid, NULL, 0));
            forget(m);
        }
    }
}

void
crew_free(struct crew *c)
{
    if (!c)
        return;
    crew_end(c);
    while (c->members)
        forget(c->members);
    free(c);
}

/* ---- what members say ---- */

static void
listen_to(struct member *m)
{
    char word;
    ssize_t n = SYS_RETRY(recv(m->fd, &word, 1, MSG_DONTWAIT));

    if (n < 0 && errno == EAGAIN)
        return;
    if (n == 1 && (m->state == AT_WORK || m->state == AT_END)) {
        set_state(m, DONE);
        m->on_done(m->ctx);
    } else {
        hang_up(m); /* it is ending: its death tells */
    }
}

static void
on_readable(void *ctx)
{
    struct member *m = ctx;
    struct crew *c = m->crew;

    listen_to(m);
    c->settle(c->ctx);
}

void
crew_expect(struct member *m)
{
    if (m->state == AT_WORK)
        set_state(m, AT_END);
}

void
crew_rest(struct member *m)
{
    if (m->state != DONE)
        return;
    if (m->crew->n_idle < IDLE_MAX)
        set_state(m, IDLE);
    else
        hang_up(m);
}

void
crew_dismiss(struct member *m)
{
    if (m)
        hang_up(m);
}

void
crew_exited(struct crew *c, pid_t pid)
{
    for (struct member *m = c->members; m; m = m->next)
        if (m->id.pid == pid) {
            forget(m);
            return;
        }
}

size_t
crew_count(const struct crew *c)
{
    return c->n;
}

void
crew_pids(const struct crew *c, pid_t *to)
{
    for (const struct member *m = c->members; m; m = m->next)
        *to++ = m->id.pid;
}

/* ---- an attempt for one who waits ---- */

static bool
is_of(const struct member *m, const struct proc_spec *spec)
{
    size_t i = 0;

    while (i < m->n_args && spec->argv[i] && strcmp(m->argv[i], spec->argv[i]) == 0)
        i++;
    return i == m->n_args && !spec->argv[i];
}

/* Who has written its last line may be done meanwhile. */
static struct member *
find_idle(struct crew *c, const struct proc_spec *spec)
{
    for (struct member *m = c->members; m; m = m->next)
        if (m->state == AT_END && is_of(m, spec))
            listen_to(m);
    for (struct member *m = c->members; m; m = m->next)
        if (m->state == IDLE && is_of(m, spec))
            return m;
    return NULL;
}

/* Gives it to one who waits; NULL: there is none. One who is gone is forgotten when it is reaped.
 */
static struct member *
give(struct crew *c, const struct proc_spec *spec)
{
    struct buf packet = { 0 };
    struct member *m = find_idle(c, spec);
    struct proc_spec own = *spec;
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;

    if (m)
        own.cgroup = m->id.cgroup;
    if (m && !member_pack(&packet, &own))
        m = NULL; /* it goes on waiting */
    if (m && SYS_RETRY(send(m->fd, packet.p, packet.len, flags)) != (ssize_t)packet.len) {
        hang_up(m);
        m = NULL;
    }
    buf_release(&packet);
    return m;
}

/* What it says of the attempt; false when it ended without a word. One that somebody stopped is
 * told to go on. */
static bool
hear_report(const struct member *m, struct proc_report *r)
{
    struct pollfd p = { .fd = m->fd, .events = POLLIN };

    while (SYS_RETRY(poll(&p, 1, NUDGE_MS)) == 0)
        kill(m->id.pid, SIGCONT);
    return SYS_RETRY(recv(m->fd, r, sizeof *r, MSG_DONTWAIT)) == (ssize_t)sizeof *r;
}

static enum status
hear(struct member *m, const struct proc_spec *spec, struct err *e)
{
    struct proc_report r;
    enum status s = hear_report(m, &r)
                        ? proc_reported(spec, &r, e)
                        : err_set(e, ST_CONFLICT, "start %s: its process ended when it was told",
                                  spec->argv[0]);

    if (s)
        hang_up(m);
    sched_yield(); /* on one CPU it goes first: we only keep the books */
    return s;
}

/* ---- a new one ---- */

static struct member *
hire(struct crew *c, const struct proc_spec *spec)
{
    struct member *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->crew = c;
    m->fd = -1;
    for (const char *const *v = spec->argv; *v && m->n_args < ARGS_MAX; v++)
        if ((m->argv[m->n_args] = strdup(*v)))
            m->n_args++;
    m->next = c->members;
    c->members = m;
    c->n++;
    if (is_of(m, spec))
        return m;
    forget(m);
    return NULL;
}

static enum status
spawn(struct member *m, const struct proc_spec *spec, struct err *e)
{
    struct proc_spec own = *spec;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return err_sys(e, "start %s: make a socket", spec->argv[0]);
    snprintf(m->number, sizeof m->number, "%d", ends[1]);
    m->argv[m->n_args] = "--crew";
    m->argv[m->n_args + 1] = m->number;
    own.argv = m->argv;
    own.keep = ends[1];
    m->fd = ends[0];
    m->source = loop_on_readable(m->crew->loop, m->fd, on_readable, m, e);
    enum status s = m->source ? proc_spawn(&own, &m->id, e) : ST_IO;
    close(ends[1]);
    return s;
}

/* Without the means to keep it, it is one that does not stay. */
static enum status
start_new(struct crew *c, const struct proc_spec *spec, struct member **out, struct proc_id *id,
          struct err *e)
{
    struct member *m = hire(c, spec);

    *out = NULL;
    if (!m)
        return proc_spawn(spec, id, e);
    enum status s = spawn(m, spec, e);
    *id = m->id;
    if (s)
        forget(m);
    else
        *out = m;
    return s;
}

enum status
crew_start(struct crew *c, const struct proc_spec *spec, loop_fn *on_done, void *ctx,
           struct member **out, struct proc_id *id, struct err *e)
{
    struct member *m = give(c, spec);
    enum status s;

    *out = NULL;
    if (m) {
        *id = m->id;
        s = hear(m, spec, e);
    } else {
        s = start_new(c, spec, &m, id, e);
    }
    if (s || !m)
        return s;
    set_state(m, AT_WORK);
    m->on_done = on_done;
    m->ctx = ctx;
    *out = m;
    return ST_OK;
}
