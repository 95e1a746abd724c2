/* cancel - ending a run from outside, whether its orchestrator lives or not. */
#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/checkout.h"
#include "context/frames.h"
#include "log/lock.h"
#include "run/attempt.h"
#include "run/hub_publisher.h"
#include "run/journal.h"
#include "run/lockfile.h"
#include "run/panes.h"
#include "run/phase_leases.h"
#include "run/run.h"
#include "run/scrub.h"
#include "run/sleeping.h"
#include "run/workflow.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* grace, and the time that notifiers have */
enum { HOLDER_WAIT_MS = ATTEMPT_GRACE_MS + 20000, POLL_MS = 20, SILENT_MS = 1000 };

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
find_leftovers(const struct state_dir *f, const char *run_id, struct leftovers *all, struct err *e)
{
    struct buf path = { 0 };
    enum status s = ST_OK;

    state_dir_path(f, &path, "run/attempts");
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
            s = err_nomem(e);
    }
    if (d)
        closedir(d);
    buf_release(&path);
    return s;
}

static enum status
add_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e);

/* The same, with what runs in the frames of team phases. */
static enum status
find_all(const struct state_dir *f, const char *run_id, struct leftovers *all, struct err *e)
{
    enum status s = find_leftovers(f, run_id, all, e);

    return s ? s : frames_each(f, add_frame, all, e);
}

static enum status
add_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    struct run_latest run = { "" };

    (void)phase;
    run_latest(frame, &run, NULL);
    return find_all(frame, run.id, ctx, e);
}

/* TERM, grace, KILL, until none is left. on_wait: as of run_cancel, or NULL. */
static void
stop_them(const struct leftovers *all, void (*on_wait)(const char *what))
{
    int64_t begin_ms = clock_mono_ms();
    int left = 1;

    for (int round = 0; left > 0; round++) {
        int64_t ms = clock_mono_ms() - begin_ms;
        int signo = ms >= ATTEMPT_GRACE_MS ? SIGKILL : round == 0 ? SIGTERM : 0;
        if (on_wait && ms >= SILENT_MS) {
            on_wait("the agents that it left behind to end");
            on_wait = NULL;
        }
        left = 0;
        for (size_t i = 0; i < all->n; i++) {
            int n = proc_signal_tree(&all->v[i].id, all->v[i].token, signo);
            left += n > 0 ? n : 0;
        }
        if (left)
            poll(NULL, 0, POLL_MS);
    }
}

/* Removes files that a killed orchestrator left. */
static void
remove_cgroups(const struct leftovers *all)
{
    for (size_t i = 0; i < all->n; i++)
        cgroup_remove(all->v[i].id.cgroup);
    cgroup_sweep();
}

void
run_sweep_leftovers(const struct state_dir *f)
{
    struct leftovers all = { 0 };

    find_all(f, "", &all, NULL);
    remove_cgroups(&all);
    free(all.v);
}

static enum status
stop_leftovers(const struct state_dir *f, const char *run_id, void (*on_wait)(const char *what),
               struct err *e)
{
    struct leftovers all = { 0 };
    enum status s = find_all(f, run_id ? run_id : "", &all, e);

    if (!s) {
        stop_them(&all, on_wait);
        remove_cgroups(&all);
        scrub_leftovers(f);
    }
    panes_end_left(f);
    free(all.v);
    return s;
}

enum status
run_stop_leftovers(const struct state_dir *f, const char *run_id, struct err *e)
{
    return stop_leftovers(f, run_id, NULL, e);
}

/*
 * What the journal tells without the workflow, so that a run can be ended whatever became of the
 * workflow's file.
 */
struct trace {
    struct arena arena;
    const char *run_id; /* NULL: not known */
    bool is_there;      /* there is a journal, readable or not */
    bool is_read;       /* to its end; without that nothing below is sure */
    bool has_bad_lines;
    bool has_end;
    enum run_status end;
};

static enum run_status
status_named(const struct json *name)
{
    for (enum run_status s = RUN_COMPLETED; s <= RUN_CANCELLED; s++)
        if (json_eq(name, run_status_name(s)))
            return s;
    return RUN_FAILED;
}

/* An attempt that was to be started, but perhaps is not yet: a child that is late finds its
 * file there already. */
static void
void_intent(const struct state_dir *f, const struct json *line)
{
    static const char *const stages[] = { "", ".checks" };
    const struct json *phase = json_get(line, "phase");
    int64_t attempt = 0;
    struct buf name = { 0 };

    if (json_is(phase, JSON_STRING))
        buf_add(&name, phase->text.p, phase->text.len);
    bool is_one = !buf_failed(&name) && name.p && strlen(name.p) == name.len &&
                  state_dir_is_phase_name(name.p) && json_int(json_get(line, "attempt"), &attempt);
    for (size_t k = 0; is_one && k < 2; k++) {
        struct buf path = { 0 };
        buf_addf(&path, "%s/run/attempts/%s.%" PRId64 "%s", f->state_dir, name.p, attempt,
                 stages[k]);
        if (!buf_failed(&path))
            proc_void(path.p, NULL);
        buf_release(&path);
    }
    buf_release(&name);
}

/* Reads the journal. Voiding comes second: only when the run has not ended. */
static void
follow_trace(const struct state_dir *f, int dir, struct trace *t, bool is_voiding)
{
    struct log_reader r;
    struct log_record rec;
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct stat st;

    int fd = SYS_RETRY(sys->openat(dir, JOURNAL_NAME, flags, 0));

    t->is_there = fd >= 0 || errno != ENOENT;
    if (fd < 0)
        return;
    if (sys->fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        t->is_there = false; /* the run had not begun */
    log_reader_init(&r, fd, 0);
    r.wants_bad = true;
    while (log_next(&r, &rec)) {
        if (rec.verdict != LOG_GOOD) { /* a fragment is what a crash leaves: never acted on */
            t->has_bad_lines = t->has_bad_lines || rec.verdict != LOG_FRAGMENT;
            continue;
        }
        const struct json *ev = json_get(rec.json, "ev"), *id = json_get(rec.json, "run");
        if (json_eq(ev, "note"))
            continue;
        if (is_voiding && json_eq(ev, "started"))
            void_intent(f, rec.json);
        if (!is_voiding && json_eq(ev, "begin") && json_is(id, JSON_STRING))
            t->run_id = arena_dup(&t->arena, id->text.p, id->text.len);
        t->has_end = json_eq(ev, "end"); /* a rerun comes after it */
        t->end = t->has_end ? status_named(json_get(rec.json, "status")) : RUN_ACTIVE;
    }
    t->is_read = log_reader_status(&r, NULL) == ST_OK;
    log_reader_release(&r);
    close(fd);
}

/* The journal is what counts; when it does not tell, the status file, which is removed when a run
 * begins or goes on, tells whether it has ended. */
static void
read_status_file(const struct state_dir *f, struct trace *t)
{
    struct buf text = { 0 };

    t->has_end = false;
    if (state_dir_read(f, "signals/_pipeline_status", &text, NULL) == ST_OK) {
        for (enum run_status s = RUN_COMPLETED; s <= RUN_CANCELLED; s++) {
            if (strncmp(text.p, run_status_name(s), strlen(run_status_name(s))) == 0) {
                t->has_end = true;
                t->end = s;
            }
        }
    }
    buf_release(&text);
}

size_t
run_count_leftovers(const struct state_dir *f)
{
    struct leftovers all = { 0 };
    struct run_latest run;
    size_t n = 0;

    run_latest(f, &run, NULL);
    find_all(f, run.id, &all, NULL);
    for (size_t i = 0; i < all.n; i++) {
        int live = proc_signal_tree(&all.v[i].id, all.v[i].token, 0);
        n += live > 0 ? (size_t)live : 0;
    }
    free(all.v);
    return n;
}

/* For the next run: this one is over. What is stopped stays stopped when it fails. */
static enum status
write_end(int dir, enum run_status end, struct err *e)
{
    struct journal j;
    struct sched_event ev = { .kind = EV_CANCEL };
    bool is_cancelled = end == RUN_CANCELLED;
    enum status s = journal_open(&j, dir, NULL, NULL, e); /* neither line names a phase */

    if (!s && is_cancelled)
        s = journal_add(&j, &ev, 1, e);
    if (!s)
        s = journal_end(&j, end, is_cancelled ? "cancelled" : NULL, e);
    journal_close(&j);
    return s;
}

/* ---- the same for team phases ---- */

/* Makes impossible, in all frames, what was to be started. */
static enum status
void_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    struct trace t = { 0 };
    int dir;

    (void)phase;
    if (state_dir_open_dir(frame, "run", false, &dir, NULL) == ST_OK) {
        follow_trace(frame, dir, &t, false);
        if (t.is_there && !t.has_end)
            follow_trace(frame, dir, &t, true);
        arena_release(&t.arena);
        close(dir);
    }
    return frames_each(frame, void_frame, ctx, e);
}

/* Ends the runs in all frames, the lowest first. */
static enum status
end_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    struct trace t = { 0 };
    int dir;
    enum status s = frames_each(frame, end_frame, ctx, e);

    (void)phase;
    if (s || state_dir_open_dir(frame, "run", false, &dir, NULL) != ST_OK)
        return s;
    follow_trace(frame, dir, &t, false);
    if (t.is_there && !t.has_end) {
        s = state_dir_replace(frame, "signals/_pipeline_status", "CANCELLED", 9, e);
        if (!s)
            s = write_end(dir, RUN_CANCELLED, e);
    }
    arena_release(&t.arena);
    close(dir);
    return s;
}

/* The frames of a workflow, and the way to them. */
struct releasing {
    struct hub_publisher *to;
    const char *way;
};

static void release_files(const struct state_dir *f, const char *way, struct hub_publisher *to);

static enum status
release_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    const struct releasing *x = ctx;
    struct buf way = { 0 };

    (void)e;
    buf_addf(&way, "%s%s/", x->way, phase);
    if (!buf_failed(&way))
        release_files(frame, way.p, x->to);
    buf_release(&way);
    return ST_OK;
}

/* What the phases held: nothing of them runs any more. */
static void
release_files(const struct state_dir *f, const char *way, struct hub_publisher *to)
{
    struct workflow w;
    struct checkout here;
    struct arena a = { 0 };
    char who[PATH_NAME_MAX + 1];

    if (!workflow_load(&w, f, NULL) && !checkout_find(&here, f->project_dir, &a, NULL)) {
        for (size_t i = 0; i < w.team.n_phases; i++) {
            struct buf b = { 0 };
            if (!w.team.phases[i].n_files)
                continue;
            json_open(&b, '{');
            json_key_str(&b, "project", here.project);
            json_close(&b, '}');
            phase_leases_holder(way, w.team.phases[i].name, who);
            hub_publisher_ask(to, HUB_LEASE_RELEASE, who, &b);
            buf_release(&b);
        }
    }
    frames_each(f, release_frame, &(struct releasing){ to, way }, NULL);
    workflow_release(&w);
    arena_release(&a);
}

/* The last signal of a run whose orchestrator was killed before it could publish it. Nothing
 * waits for it. */
static void
tell_end(const struct state_dir *f, const char *run_id)
{
    struct buf b = { 0 }, id = { 0 }, config = { 0 };

    if (state_dir_read(f, "cliq.id", &id, NULL) == ST_OK && path_config(&config, NULL) == ST_OK) {
        int n = (int)strcspn(id.p, "\n");
        json_open(&b, '{');
        buf_addf(&b, "\"type\":\"pipeline:%.*s:cancelled\"", n, id.p);
        json_key_str(&b, "source", "system");
        json_key(&b, "dedup_key");
        buf_addf(&b, "\"%s/cancelled\"", run_id);
        json_key(&b, "data");
        json_open(&b, '{');
        json_key_strn(&b, "pipelineId", id.p, (size_t)n);
        json_key_str(&b, "runId", run_id);
        json_key_str(&b, "projectDir", f->project_dir);
        json_key_str(&b, "status", run_status_name(RUN_CANCELLED));
        json_close(&b, '}');
        json_close(&b, '}');
        struct hub_publisher *to = hub_publisher_new(config.p, NULL);
        hub_publisher_add(to, &b);
        release_files(f, "", to);
        hub_publisher_go(to);
        hub_publisher_end(to, NULL, NULL);
    }
    buf_release(&b);
    buf_release(&id);
    buf_release(&config);
}

/* The end, for people who read the log (cliq attach, cliq log): the orchestrator that would have
 * written it is dead. A log that cannot be written stops nothing. */
static void
log_end(const struct state_dir *f)
{
    char now[CLOCK_ISO_SIZE];
    struct buf line = { 0 };
    int fd = SYS_RETRY(sys->openat(f->dir, "orchestrator.log",
                                   O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    clock_iso(now, clock_wall_ns(), 1);
    buf_addf(&line, "%.12s  %-16s %-9s cancelled by cliq cancel\n\nCANCELLED\n", now + 11, "run",
             "ended");
    if (fd >= 0 && !buf_failed(&line)) {
        ssize_t n = SYS_RETRY(sys->write(fd, line.p, line.len));
        (void)n;
    }
    if (fd >= 0)
        close(fd);
    buf_release(&line);
}

/* We hold the lock, so no orchestrator runs: ends the run here, unless it has ended. */
static enum status
end_it(const struct state_dir *f, int dir, void (*on_wait)(const char *what),
       struct run_cancelled *c, struct err *e)
{
    struct trace t = { .end = RUN_CANCELLED };
    enum status s = ST_OK;

    follow_trace(f, dir, &t, false);
    /* Without a last line, that can be read, the outcome may be out all the same. */
    bool is_open = t.is_there && (!t.is_read || !t.has_end);
    if (is_open)
        read_status_file(f, &t);
    bool is_told = is_open && t.is_read && t.has_end; /* only its agents were not told yet */
    if (is_told && t.end != RUN_COMPLETED && t.end != RUN_ESCALATED)
        t.has_end = is_told = false; /* it was being cancelled, or its journal lacks the rest */
    if (t.has_end) {
        c->end = t.end;
        if (is_open) /* what it started is not sure to be gone */
            s = stop_leftovers(f, t.run_id, on_wait, e);
        c->is_unwritten = !s && is_told && write_end(dir, t.end, &c->why) != ST_OK;
    } else if (t.is_there || run_count_leftovers(f)) {
        c->was_active = true;
        follow_trace(f, dir, &t, true);
        s = frames_each(f, void_frame, NULL, e);
        if (!s)
            s = stop_leftovers(f, t.run_id, on_wait, e);
        if (!s)
            s = frames_each(f, end_frame, NULL, e);
        if (!s)
            s = state_dir_replace(f, "signals/_pipeline_status", "CANCELLED", 9, e);
        c->is_unwritten = !s && t.is_there && write_end(dir, RUN_CANCELLED, &c->why) != ST_OK;
        if (!s)
            log_end(f);
        if (!s && t.run_id)
            tell_end(f, t.run_id);
    }
    arena_release(&t.arena);
    return s;
}

/* The orchestrator ends the run itself: tell it, and wait until it is done. Others, who hold the
 * lock for a while, are waited for. */
static enum status
ask_holder(const struct state_dir *f, const struct lock_holder *holder,
           void (*on_wait)(const char *what), int *lock, struct err *e)
{
    *lock = SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0));
    if (*lock < 0)
        return err_sys(e, "open %s/run/lock", f->state_dir);
    if (holder->pid <= 1)
        return err_set(e, ST_INVALID, "%s/run/lock is held, but does not tell by which process",
                       f->state_dir);
    if (holder->is_run && kill(holder->pid, SIGTERM) != 0 && errno != ESRCH)
        return err_sys(e, "signal the orchestrator (pid %d)", (int)holder->pid);
    if (holder->is_run)
        kill(holder->pid, SIGCONT); /* it may be stopped */
    enum status s = lock_take(*lock, "run/lock", SILENT_MS, e);
    if (s == ST_IO) {
        on_wait(holder->is_run ? "the run's agents to end" : "the command that holds run/lock");
        s = lock_take(*lock, "run/lock", HOLDER_WAIT_MS - SILENT_MS, e);
    }
    if (!s)
        lockfile_sign(f, *lock, "cancel", NULL);
    return s;
}

enum status
run_cancel(const struct state_dir *f, void (*on_wait)(const char *what), struct run_cancelled *c,
           struct err *e)
{
    int lock, dir = -1;
    struct lock_holder holder;
    enum status s = lockfile_take(f, "cancel", &lock, &holder, e);

    *c = (struct run_cancelled){ .end = RUN_CANCELLED };
    if (s == ST_CONFLICT) {
        c->was_active = true;
        s = ask_holder(f, &holder, on_wait, &lock, e);
    }
    if (!s)
        sleeping_end(f);
    if (!s)
        s = path_open_dir_at(f->dir, "run", false, &dir, e);
    if (!s) /* it may also have died of the signal: then it is for us to end */
        s = end_it(f, dir, on_wait, c, e);
    if (dir >= 0)
        close(dir);
    if (lock >= 0)
        close(lock);
    return s;
}

enum status
run_latest(const struct state_dir *f, struct run_latest *out, struct err *e)
{
    struct trace t = { 0 };
    int dir = -1;

    *out = (struct run_latest){ 0 };
    if (path_open_dir_at(f->dir, "run", false, &dir, NULL) == ST_OK)
        follow_trace(f, dir, &t, false);
    if (dir >= 0)
        close(dir);
    snprintf(out->id, sizeof out->id, "%s", t.run_id ? t.run_id : "");
    out->has_end = t.has_end;
    out->end = t.end;
    out->is_damaged = t.has_bad_lines || !t.is_read;
    arena_release(&t.arena);
    return t.is_there ? ST_OK
                      : err_set(e, ST_NOT_FOUND,
                                "nothing has run here yet: cliq run, or cliq run "
                                "--detach");
}
