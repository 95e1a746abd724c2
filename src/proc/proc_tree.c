/*
 * Whether an attempt's process lives, and what belongs to it.
 *
 * One pass over /proc gives a picture of all processes; no picture is exact, because they
 * go on forking while it is taken. So members are stopped before they are killed, and the
 * caller looks again until nothing is seen. Each signal goes through a pidfd whose process
 * was compared with the picture once more, so it never meets a stranger with an old pid.
 */
#define _GNU_SOURCE
#include "proc/proc.h"

#include "base/boot_id.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"
#include "proc/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one process ---- */

enum status
proc_identify(pid_t pid, struct proc_id *id, struct err *e)
{
    struct procfs p;
    enum status s = boot_id_read(id->boot_id, e);

    if (s)
        return s;
    if (procfs_read(&p, pid) != 0)
        return errno == ENOENT || errno == ESRCH
                   ? err_set(e, ST_NOT_FOUND, "there is no process %d", (int)pid)
                   : err_sys(e, "read /proc/%d/stat", (int)pid);
    id->pid = pid;
    id->start = p.start;
    return ST_OK;
}

enum proc_alive
proc_alive(const struct proc_id *id)
{
    char boot_id[BOOT_ID_SIZE];
    struct procfs p;

    if (id->pid <= 0 || !id->boot_id[0] || boot_id_read(boot_id, NULL))
        return PROC_UNKNOWN;
    if (strcmp(boot_id, id->boot_id) != 0)
        return PROC_DEAD;
    if (procfs_read(&p, id->pid) == 0)
        return p.start == id->start && procfs_is_live(&p) ? PROC_ALIVE : PROC_DEAD;
    /* An unreadable file proves nothing; a pid that does not exist does. */
    return kill(id->pid, 0) != 0 && errno == ESRCH ? PROC_DEAD : PROC_UNKNOWN;
}

bool
proc_how_died(const struct proc_id *id, int *wait_status)
{
    struct procfs p;

    if (procfs_read(&p, id->pid) != 0 || p.start != id->start || procfs_is_live(&p))
        return false;
    *wait_status = p.exit_status;
    return p.state == 'Z';
}

int
proc_pidfd(const struct proc_id *id)
{
    if (id->pid <= 0)
        return -1;
    int fd = (int)syscall(SYS_pidfd_open, id->pid, 0U);
    if (fd >= 0 && proc_alive(id) != PROC_ALIVE) { /* it held another process, or a dead one */
        close(fd);
        fd = -1;
    }
    return fd;
}

void
proc_be_subreaper(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

void
proc_reap(void (*fn)(void *ctx, pid_t pid, int wait_status), void *ctx)
{
    pid_t pid;
    int wait_status;

    while ((pid = SYS_RETRY(waitpid(-1, &wait_status, WNOHANG))) > 0)
        if (fn)
            fn(ctx, pid, wait_status);
}

/* ---- the picture ---- */

struct tree_member {
    struct procfs p;
    bool is_in;      /* belongs to what we look for */
    bool is_stopped; /* SIGSTOP was sent to it */
};

struct proc_snapshot {
    struct tree_member *all; /* in the order of /proc: by pid */
    size_t n, cap;
};

/* The tree that is searched for. */
struct quarry {
    const struct proc_id *id; /* NULL: strays */
    const char *name, *token; /* a variable in the environment, "NAME=" and value; NULL: none */
    struct proc_seen *seen;   /* the members of earlier calls; NULL: none */
    const pid_t *known;       /* strays: children that are none */
    size_t n_known;
    bool is_led;               /* the picture shows the process of id itself, perhaps as a zombie */
    struct cgroup_pids inside; /* its cgroup, none where that tells us nothing */
};

static bool
add_process(struct proc_snapshot *pic, pid_t pid)
{
    struct procfs p;

    if (procfs_read(&p, pid) != 0)
        return true; /* it ended meanwhile, or is hidden from us */
    if (pic->n == pic->cap) {
        size_t cap = pic->cap ? pic->cap * 2 : 256;
        struct tree_member *all = realloc(pic->all, cap * sizeof *all);
        if (!all)
            return false;
        pic->all = all;
        pic->cap = cap;
    }
    pic->all[pic->n++] = (struct tree_member){ .p = p };
    return true;
}

/* False when it cannot be trusted: /proc is not there, or shows others than us. */
static bool
take_picture(struct proc_snapshot *pic)
{
    bool has_us = false, is_whole = true;
    DIR *d = opendir("/proc");

    pic->n = 0;
    if (!d)
        return false;
    while (is_whole) {
        errno = 0;
        struct dirent *f = readdir(d);
        if (!f) {
            is_whole = errno == 0;
            break;
        }
        char *end;
        long pid = f->d_name[0] >= '1' && f->d_name[0] <= '9' ? strtol(f->d_name, &end, 10) : 0;
        if (pid <= 0 || *end)
            continue;
        is_whole = add_process(pic, (pid_t)pid);
        has_us = has_us || pid == getpid();
    }
    closedir(d);
    return is_whole && has_us;
}

static int
by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct tree_member *)a)->p.pid, y = ((const struct tree_member *)b)->p.pid;

    return (x > y) - (x < y);
}

static struct tree_member *
find(const struct proc_snapshot *pic, pid_t pid)
{
    struct tree_member key = { .p.pid = pid };

    return pic->n ? bsearch(&key, pic->all, pic->n, sizeof key, by_pid) : NULL;
}

/*
 * Does its environment hold NAME=<value>? With value NULL: any. Read in pieces: an environment
 * may be larger than any buffer we would like. `at` counts how much of the text was met since
 * the last NUL, -1 when this variable is another one.
 */
static bool
carries(pid_t pid, const char *name, const char *value)
{
    const size_t name_len = strlen(name), len = name_len + (value ? strlen(value) : 0);
    char path[40], piece[16384];
    ssize_t at = 0, n;
    bool is_found = false;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
    if (fd < 0)
        return false;
    while (!is_found && (n = SYS_RETRY(sys->read(fd, piece, sizeof piece))) > 0)
        for (const char *c = piece; c < piece + n && !is_found; c++) {
            if (*c == '\0') {
                is_found = at == (ssize_t)len;
                at = 0;
            } else if (at >= 0) {
                size_t i = (size_t)at;
                bool is_same = i < len && *c == (i < name_len ? name[i] : value[i - name_len]);
                at = is_same ? at + 1 : -1;
                is_found = !value && at == (ssize_t)len;
            }
        }
    close(fd);
    return is_found || at == (ssize_t)len;
}

/* An agent that a signal woke (wake/wake.h), and whatever it starts: it may come to us as an
 * orphan, when an agent of ours wrote the signal, but is no part of our trees. The supervisor of
 * that agent, and what the agent starts, has the same CLIQ_WAKE: there it is. */
static bool
is_woken(pid_t pid)
{
    const char *ours = getenv("CLIQ_WAKE");

    return carries(pid, "CLIQ_WAKE=", NULL) && !(ours && carries(pid, "CLIQ_WAKE=", ours));
}

static bool
was_seen(const struct proc_seen *seen, const struct procfs *p)
{
    for (size_t i = 0; seen && i < seen->n; i++)
        if (seen->v[i].pid == p->pid && seen->v[i].start == p->start)
            return true;
    return false;
}

/* Without memory the earlier members stay. */
static void
remember(struct proc_seen *seen, const struct proc_snapshot *pic, size_t n)
{
    struct proc_member *v = n ? realloc(seen->v, n * sizeof *v) : NULL;

    if (!v)
        return;
    *seen = (struct proc_seen){ .v = v };
    for (size_t i = 0; i < pic->n && seen->n < n; i++)
        if (pic->all[i].is_in)
            v[seen->n++] = (struct proc_member){ pic->all[i].p.pid, pic->all[i].p.start };
}

static bool
is_seed(const struct quarry *q, const struct procfs *p)
{
    if (!q->id) {
        bool is_stray = p->ppid == getpid();
        for (size_t i = 0; i < q->n_known && is_stray; i++)
            is_stray = p->pid != q->known[i];
        return is_stray;
    }
    if (p->start < q->id->start) /* it is older than the attempt */
        return false;
    if (p->pid == q->id->pid)
        return p->start == q->id->start;
    if (cgroup_has(&q->inside, p->pid) || was_seen(q->seen, p))
        return true;
    /* While any process is in the session its number is no new process's pid. But a number
     * that no process leads may have been used again since: then it wants a second witness. */
    if (q->id->pid > 1 && (p->session == q->id->pid || p->pgrp == q->id->pid) &&
        (q->is_led || p->ppid == getpid()))
        return true;
    return q->token && carries(p->pid, q->name, q->token);
}

/* Marks the members: seeds, then whose parent is one, until nothing changes. */
static void
mark(struct proc_snapshot *pic, struct quarry *q)
{
    const struct tree_member *lead = q->id ? find(pic, q->id->pid) : NULL;
    bool has_more = true;

    q->is_led = lead && lead->p.start == q->id->start;
    for (size_t i = 0; i < pic->n; i++)
        pic->all[i].is_in = is_seed(q, &pic->all[i].p) && !is_woken(pic->all[i].p.pid);
    while (has_more) {
        has_more = false;
        for (size_t i = 0; i < pic->n; i++) {
            struct tree_member *m = &pic->all[i], *parent = m->is_in ? NULL : find(pic, m->p.ppid);
            if (parent && parent->is_in && parent->p.start <= m->p.start && !is_woken(m->p.pid))
                m->is_in = has_more = true;
        }
    }
    for (size_t i = 0; i < pic->n; i++) {
        struct tree_member *m = &pic->all[i];
        if (m->p.pid == 1 || m->p.pid == getpid() || !procfs_is_live(&m->p))
            m->is_in = false;
    }
}

/* ---- signals ---- */

static void
send_signal(const struct tree_member *m, int signo, int then)
{
    struct procfs now;
    int fd = (int)syscall(SYS_pidfd_open, m->p.pid, 0U);

    if (fd < 0)
        return;
    if (procfs_read(&now, m->p.pid) == 0 && now.start == m->p.start) {
        syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0U);
        if (then)
            syscall(SYS_pidfd_send_signal, fd, then, NULL, 0U);
    }
    close(fd);
}

/*
 * Who is in its cgroup, after the picture was taken: so who has a pid in both is one and the same,
 * or is not the one of the picture any more, which is seen before a signal is sent. Where we are
 * in it ourselves it is not the attempt's alone, and tells nothing.
 */
static bool
look_inside(struct quarry *q)
{
    if (!q->id)
        return true;
    if (!cgroup_list(q->id->cgroup, &q->inside))
        return false;
    if (cgroup_has(&q->inside, getpid()))
        q->inside.n = 0;
    return true;
}

/* Made since the picture was, so that the next one will have it. A 0 is out of our reach. */
static bool
is_unseen(const struct proc_snapshot *pic, pid_t pid)
{
    return pid > 0 && !find(pic, pid) && !is_woken(pid);
}

static int
look(struct proc_snapshot *pic, struct quarry *q)
{
    int n = 0;

    if (!take_picture(pic) || pic->n == 0) /* not even we are there: it cannot be read */
        return -1;
    if (!look_inside(q))
        return -1;
    qsort(pic->all, pic->n, sizeof *pic->all, by_pid);
    mark(pic, q);
    for (size_t i = 0; i < pic->n; i++)
        n += pic->all[i].is_in;
    if (q->seen)
        remember(q->seen, pic, (size_t)n);
    for (size_t i = 0; i < q->inside.n; i++)
        n += is_unseen(pic, q->inside.v[i]);
    return n;
}

/* May all in its cgroup be killed at once? Not where one is who belongs to no attempt. */
static bool
is_all_its(const struct proc_snapshot *pic, const struct quarry *q)
{
    for (size_t i = 0; i < q->inside.n; i++) {
        const struct tree_member *m = find(pic, q->inside.v[i]);
        if (m ? !m->is_in && procfs_is_live(&m->p) : !is_unseen(pic, q->inside.v[i]))
            return false;
    }
    return q->inside.n > 0;
}

/*
 * Stops every member before one is signalled: a process that dies leaves children whose parent is
 * no longer visible, and one that is forked while the picture is taken would not get the signal. A
 * fork that SIGSTOP meets is finished first, so only a picture that shows all members stopped has
 * every process that got away. Bounded: a process may wait in the kernel, and another one may send
 * SIGCONT against us.
 */
static int
hold(struct proc_snapshot *pic, struct quarry *q, int n)
{
    enum { ROUNDS = 20 };
    struct proc_snapshot held = { 0 };

    for (int round = 0; round < ROUNDS && n > 0; round++) {
        bool is_held = true;
        for (size_t i = 0; i < pic->n; i++) {
            struct tree_member *m = &pic->all[i];
            if (!m->is_in)
                continue;
            const struct tree_member *old = find(&held, m->p.pid);
            is_held = is_held && procfs_is_stopped(&m->p);
            m->is_stopped = old && old->is_stopped && old->p.start == m->p.start;
            if (!m->is_stopped)
                send_signal(m, SIGSTOP, 0);
            m->is_stopped = true;
        }
        if (is_held)
            break;
        sched_yield(); /* to those that have not stopped yet */
        struct proc_snapshot swap = held;
        held = *pic;
        *pic = swap;
        int seen = look(pic, q);
        if (seen < 0) { /* continue those that we stopped */
            swap = held;
            held = *pic;
            *pic = swap;
            break;
        }
        n = seen;
    }
    free(held.all);
    return n;
}

static int
youngest_first(const void *a, const void *b)
{
    const struct procfs *x = &((const struct tree_member *)a)->p,
                        *y = &((const struct tree_member *)b)->p;

    return x->start != y->start ? (x->start < y->start) - (x->start > y->start)
                                : (x->pid < y->pid) - (x->pid > y->pid);
}

/* The youngest go on first: the kernel sends SIGHUP to a stopped process whose group loses its last
 * parent outside. */
static void
send_all(struct proc_snapshot *pic, int signo)
{
    qsort(pic->all, pic->n, sizeof *pic->all, youngest_first);
    for (size_t i = 0; i < pic->n; i++)
        if (pic->all[i].is_in)
            send_signal(&pic->all[i], signo, signo == SIGKILL || signo == SIGSTOP ? 0 : SIGCONT);
    qsort(pic->all, pic->n, sizeof *pic->all, by_pid);
}

static int
signal_all(struct quarry *q, int signo)
{
    struct proc_snapshot pic = { 0 };
    int n = look(&pic, q);

    if ((signo == SIGKILL || signo == SIGTERM) && n > 0)
        n = hold(&pic, q, n);
    if (signo && n > 0)
        send_all(&pic, signo);
    if (signo == SIGKILL && n > 0 && is_all_its(&pic, q))
        cgroup_kill(q->id->cgroup); /* processes that forked away meanwhile */
    free(pic.all);
    free(q->inside.v);
    return n;
}

int
proc_signal_marked(const struct proc_id *id, const char *name, const char *token,
                   struct proc_seen *seen, int signo)
{
    char boot_id[BOOT_ID_SIZE];
    struct quarry q = { .id = id, .name = name, .token = token, .seen = seen };

    if (boot_id_read(boot_id, NULL))
        return -1;
    if (id->boot_id[0] && strcmp(boot_id, id->boot_id) != 0)
        return 0; /* nothing lives through a boot */
    return signal_all(&q, signo);
}

int
proc_signal_tree(const struct proc_id *id, const char *token, int signo)
{
    return proc_signal_marked(id, "CLIQ_ATTEMPT=", token, NULL, signo);
}

int
proc_signal_strays(const pid_t *known, size_t n, int signo)
{
    struct quarry q = { .known = known, .n_known = n };

    return signal_all(&q, signo);
}

/* ---- the cheap question ---- */

/* Is it younger than we are? Then we are its ancestor: one orchestrator at a time holds the run's
 * lock, so what is younger was started by us. What began within the same tick as we did
 * cannot be told apart. */
static bool
is_younger(const struct proc_id *id)
{
    static struct procfs self; /* when we began does not change */

    return (self.pid == getpid() || procfs_read(&self, 0) == 0) && self.start < id->start;
}

/* Do orphans of our descendants come to us? */
static bool
is_heir(void)
{
    int is_subreaper = 0;

    return prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0L, 0L, 0L) == 0 && is_subreaper;
}

/* The children of one thread, from a text like "12 17 4 ". */
static bool
are_known(const char *text, const pid_t *known, size_t n)
{
    char *end;

    for (long pid; (pid = strtol(text, &end, 10)) > 0 && end != text; text = end) {
        bool is_known = false;
        for (size_t i = 0; i < n && !is_known; i++)
            is_known = known[i] == pid;
        if (!is_known)
            return false;
    }
    return true;
}

/* Our main thread's list: orphans come to that thread, and it starts the agents. It is exact:
 * only our own waiting takes a child from it. False also when there is no such file
 * (CONFIG_PROC_CHILDREN). */
static bool
has_only_known_children(const pid_t *known, size_t n)
{
    struct buf text = BUF_MAX(1 << 20);
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    bool is_sure = path_read_file(AT_FDCWD, path, &text, NULL) == ST_OK &&
                   (text.len == 0 || are_known(text.p, known, n));
    buf_release(&text);
    return is_sure;
}

/* The cgroup need not be asked: its processes descend from us, so they are among the descendants
 * of the attempt's process, or our children. */
bool
proc_may_have_left(const struct proc_id *id, const pid_t *known, size_t n)
{
    return proc_alive(id) != PROC_DEAD || !is_younger(id) || !is_heir() ||
           !has_only_known_children(known, n);
}
