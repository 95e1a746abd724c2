/* cancel - ending a run from outside, whether its orchestrator lives or not. */
#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "log/lock.h"
#include "run/journal.h"
#include "run/live.h"
#include "run/lockfile.h"
#include "run/panes.h"
#include "run/past.h"
#include "run/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* grace, and the time that notifiers have */
enum { HOLDER_WAIT_MS = LIVE_GRACE_MS + 20000, POLL_MS = 20 };

/* One attempt that an orchestrator left behind. */
struct leftover {
    struct proc_id id;
    char token[NAME_MAX + 128];
};

struct leftovers {
    struct leftover *v;
    size_t n, cap;
};

static bool
add_leftover(struct leftovers *all, const struct proc_id *id, const char *run_id, const char *name)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        struct leftover *v = realloc(all->v, cap * sizeof *v);
        if (!v)
            return false;
        all->v = v;
        all->cap = cap;
    }
    all->v[all->n].id = *id;
    snprintf(all->v[all->n].token, sizeof all->v[all->n].token, "%s/%s", run_id, name);
    all->n++;
    return true;
}

/* Every attempt of which something may still run, and every notifier. */
static enum status
find_leftovers(const struct frame *f, const char *run_id, struct leftovers *all, struct err *e)
{
    struct buf path = { 0 };
    enum status s = ST_OK;

    frame_path(f, &path, "run/attempts");
    size_t base = path.len;
    DIR *d = buf_failed(&path) ? NULL : opendir(path.p);
    for (struct dirent *x; d && !s && (x = readdir(d));) {
        struct proc_id id;
        if (x->d_name[0] == '.')
            continue;
        buf_cut(&path, base);
        buf_addf(&path, "/%s", x->d_name);
        if (!buf_failed(&path) && proc_read_id(path.p, &id, NULL) == ST_OK &&
            !add_leftover(all, &id, run_id, x->d_name))
            s = err_set(e, ST_IO, "out of memory");
    }
    if (d)
        closedir(d);
    buf_release(&path);
    return s;
}

/* TERM, grace, KILL, until none is left. */
static void
stop_them(const struct leftovers *all)
{
    int64_t kill_at = clock_mono_ms() + LIVE_GRACE_MS;
    int left = 1;

    for (int round = 0; left > 0; round++) {
        int signo = clock_mono_ms() >= kill_at ? SIGKILL : round == 0 ? SIGTERM : 0;
        left = 0;
        for (size_t i = 0; i < all->n; i++) {
            int n = proc_signal_tree(&all->v[i].id, all->v[i].token, signo);
            left += n > 0 ? n : 0;
        }
        if (left)
            poll(NULL, 0, POLL_MS);
    }
}

enum status
run_stop_leftovers(const struct frame *f, const char *run_id, struct err *e)
{
    struct leftovers all = { 0 };
    enum status s = find_leftovers(f, run_id ? run_id : "", &all, e);

    if (!s)
        stop_them(&all);
    panes_end_left(f);
    free(all.v);
    return s;
}

/* Attempts that were to be started, but are not yet: a child that is late finds its file
 * there already. */
static void
void_intents(const struct frame *f, const struct team *t, const struct sched *sched)
{
    static const char *const stages[] = { "", ".checks" };

    for (size_t i = 0; i < t->n_phases; i++) {
        if (sched_phase(sched, i)->state != PS_RUNNING)
            continue;
        for (size_t k = 0; k < 2; k++) {
            struct buf path = { 0 };
            buf_addf(&path, "%s/run/attempts/%s.%u%s", f->state_dir, t->phases[i].name,
                     sched_phase(sched, i)->attempt, stages[k]);
            if (!buf_failed(&path))
                proc_void(path.p, NULL);
            buf_release(&path);
        }
    }
}

/* We hold the lock, so nobody drives the run: end it here, unless it has ended. */
static enum status
end_it(const struct frame *f, int dir, struct run_cancelled *c, struct err *e)
{
    struct team t = { 0 };
    struct problems p = { 0 };
    struct past past = { 0 };
    struct journal j = { .log.fd = -1 };
    enum status s = team_load_file(&t, f->dir, "workflow.yml", &p, e);

    if (!s)
        s = past_load(&past, dir, &t, e);
    c->end = s ? RUN_CANCELLED : past.head.end;
    if (!s && !past.head.has_end) {
        c->was_active = true;
        c->end = RUN_CANCELLED;
        void_intents(f, &t, past.sched);
        s = run_stop_leftovers(f, past.head.run_id, e);
        if (!s)
            s = frame_replace(f, "signals/_pipeline_status", "CANCELLED", 9, e);
        if (!s)
            s = journal_open(&j, dir, &t, NULL, e);
        if (!s) {
            struct event ev = { .kind = EV_CANCEL };
            s = journal_write(&j, &ev, 1, e);
            if (!s)
                s = journal_end(&j, RUN_CANCELLED, "cancelled", e);
            journal_close(&j);
        }
    }
    past_release(&past);
    team_release(&t);
    problems_release(&p);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

/* The orchestrator ends the run itself: tell it, and wait until it is done. */
static enum status
ask_holder(const struct frame *f, pid_t holder, int *lock, struct err *e)
{
    *lock = SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0));
    if (*lock < 0)
        return err_sys(e, "open %s/run/lock", f->state_dir);
    if (holder <= 1 || (kill(holder, SIGTERM) != 0 && errno != ESRCH))
        return err_sys(e, "signal the orchestrator (pid %d)", (int)holder);
    return lock_take(*lock, "run/lock", HOLDER_WAIT_MS, e);
}

enum status
run_cancel(const struct frame *f, struct run_cancelled *c, struct err *e)
{
    int lock, dir = -1;
    pid_t holder;
    enum status s = lockfile_take(f, &lock, &holder, e);

    *c = (struct run_cancelled){ .end = RUN_CANCELLED };
    if (s == ST_CONFLICT) {
        c->was_active = true;
        s = ask_holder(f, holder, &lock, e);
    }
    if (!s)
        s = path_open_dir_at(f->dir, "run", false, &dir, e);
    if (!s) /* it may also have died of the signal: then it is for us to end */
        s = end_it(f, dir, c, e);
    if (dir >= 0)
        close(dir);
    if (lock >= 0)
        close(lock);
    return s;
}
