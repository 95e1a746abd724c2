/*
 * run_pipeline - a run from its lock to its last line: what it needs is made, the loop turns, and
 * all is let go.
 */
#include "run/run_loop.h"

#include "base/path.h"
#include "base/term.h"
#include "run/lockfile.h"
#include "run/sleeping.h"
#include "run/subrun.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FILES_OWN = 64,  /* that a run has open for itself, and a few to spare */
    FILES_PHASE = 4, /* and for a phase that runs */
    FILES_TEAM = 8,  /* and for a team that is a phase */
    DRAIN_MS = 1000, /* for the reader of a cancelled run's output */
};

/* Children from before the run: a program that called exec may have left some. */
static void
find_relatives(struct run *r)
{
    struct buf text = { 0 };
    char *end;

    r->knows_relatives =
        path_read_file(AT_FDCWD, "/proc/thread-self/children", &text, NULL) == ST_OK;
    r->relatives = calloc(text.len / 2 + 1, sizeof *r->relatives);
    if (!r->relatives)
        r->knows_relatives = false;
    for (const char *at = text.p ? text.p : ""; r->knows_relatives; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || pid <= 0)
            break;
        r->relatives[r->n_relatives++] = (pid_t)pid;
    }
    buf_release(&text);
}

static void
on_transition(void *ctx, const struct buf *request)
{
    hub_publisher_add(((struct run *)ctx)->publisher, request);
}

/* Transitions become signals of the user's hub. A run needs no hub: without one it says so. */
static enum status
begin_telling(struct run *r, struct err *e)
{
    struct buf config = { 0 };
    struct err why;
    enum status s = run_signals_init(&r->signals, r->p, e);

    if (!s)
        s = phase_leases_init(&r->leases, r->p, e);
    if (s)
        return s;
    if (r->sub)
        r->publisher = r->root->publisher;
    else if (path_config(&config, &why) == ST_OK)
        r->publisher = hub_publisher_new(config.p, &why);
    buf_release(&config);
    if (!r->publisher && !r->sub)
        run_events_note(r, SIZE_MAX, why.text);
    r->signals.run_id = r->run_id;
    r->signals.ctx = r;
    r->signals.tell = r->publisher ? on_transition : NULL;
    return ST_OK;
}

/* Publishes the rest of the signals, for a short while. */
static void
end_telling(struct run *r)
{
    struct buf refused = { 0 };
    struct err why;

    hub_publisher_go(r->publisher);
    if (hub_publisher_end(r->publisher, &refused, &why) != ST_OK)
        run_events_note(r, SIZE_MAX, why.text);
    run_loop_tell_refused(r, &refused);
    buf_release(&refused);
    r->publisher = NULL;
    r->signals.tell = NULL;
}

/* Those of all levels; *n_teams counts the teams that are phases. */
static size_t
count_phases(const struct plan *p, size_t *n_teams)
{
    size_t n = p->team.n_phases;

    for (size_t i = 0; p->subs && i < p->team.n_phases; i++)
        if (p->subs[i]) {
            ++*n_teams;
            n += count_phases(p->subs[i], n_teams);
        }
    return n;
}

/* Without files a run can neither go on nor be stopped: it is not begun. */
static enum status
take_files(const struct plan *p, const struct run_options *o, struct err *e)
{
    size_t n_teams = 0, n = count_phases(p, &n_teams);
    size_t most = o->jobs && (size_t)o->jobs < n ? (size_t)o->jobs : n;
    size_t wanted = FILES_OWN + FILES_PHASE * most + FILES_TEAM * n_teams;
    size_t has = proc_raise_files(wanted);

    if (has >= wanted || (o->is_resume && has >= FILES_OWN + FILES_PHASE))
        return ST_OK;
    if (has < FILES_OWN + FILES_PHASE)
        return err_set(e, ST_FAILED, "a run opens up to %d files, and may open %zu: ulimit -n %zu",
                       FILES_OWN + FILES_PHASE, has, wanted);
    return err_set(
        e, ST_FAILED,
        "%zu phases may run at a time, which takes %zu open files, and the limit is %zu: "
        "say --jobs %zu, or ulimit -n %zu",
        most, wanted, has, (has - FILES_OWN) / FILES_PHASE, wanted);
}

static bool
make_lists(struct run *r)
{
    size_t n = r->p->team.n_phases + 1;

    r->attempts = calloc(n, sizeof *r->attempts);
    r->fresh = calloc(2 * n, sizeof *r->fresh);
    r->dead = calloc(2 * n, sizeof *r->dead);
    r->waits = calloc(n, sizeof *r->waits);
    r->is_stopped = calloc(n, sizeof *r->is_stopped);
    r->n_notified = calloc(n, sizeof *r->n_notified);
    r->n_progress = calloc(n, sizeof *r->n_progress);
    r->floods = calloc(n, sizeof *r->floods);
    r->published = calloc(n, sizeof *r->published);
    r->spending = calloc(n, sizeof *r->spending);
    if (r->p->subs)
        r->kids = calloc(n, sizeof(struct run *));
    return r->attempts && r->fresh && r->dead && r->waits && r->is_stopped && r->n_notified &&
           r->n_progress && r->floods && r->published && r->spending && (r->kids || !r->p->subs) &&
           ledger_init(&r->ledger, r->p->team.n_phases);
}

enum status
run_pipeline_setup(struct run *r, struct err *e)
{
    if (!make_lists(r))
        return err_nomem(e);
    progress_ledger(r->progress, &r->ledger);
    r->loop = r->root->loop;
    enum status s = run_events_listen(r, e);
    return s ? s : begin_telling(r, e);
}

/* What all runs of the tree share. */
static enum status
setup(struct run *r, struct plan *p, const struct run_options *o, struct err *e)
{
    bool is_live = term_is_tty(STDOUT_FILENO) && !o->is_json && !o->is_headless && !o->on_begun;

    r->root = r;
    r->p = p;
    r->o = o;
    settings_add_secrets(&r->mask, settings_get(&p->settings, "agents"), "agents");
    enum status s = mask_build(&r->mask, e);
    if (s)
        return s;
    r->loop = loop_new(e);
    if (!r->loop)
        return ST_IO;
    if (o->is_tmux)
        s = run_events_show_panes(r, e);
    if (s)
        return s;
    r->progress = progress_new(p,
                               o->on_begun  ? PROGRESS_QUIET
                               : o->is_json ? PROGRESS_JSON
                               : is_live    ? PROGRESS_LIVE
                                            : PROGRESS_LINES,
                               r->loop, e);
    if (!r->progress)
        return ST_IO;
    s = run_events_listen_root(r, is_live, e);
    find_relatives(r);
    proc_be_subreaper();
    return s ? s : run_pipeline_setup(r, e);
}

void
run_pipeline_teardown(struct run *r)
{
    for (size_t i = 0; r->attempts && i < r->p->team.n_phases; i++)
        attempt_free(r->attempts[i]);
    for (size_t i = 0; i < r->n_dead; i++)
        attempt_free(r->dead[i]);
    for (size_t i = 0; r->kids && i < r->p->team.n_phases; i++)
        subrun_free(r->kids[i]);
    if (r->sub && r->loop) {
        loop_drop(r->sub->deadline);
        loop_drop(r->watching);
    }
    notifier_free(r->notifier);
    if (!r->sub) {
        panes_free(r->panes);
        progress_free(r->progress);
        loop_free(r->loop);
        mask_release(&r->mask);
    }
    watch_close(&r->watch);
    watch_close(&r->reviews);
    sched_free(r->sched);
    journal_close(&r->journal);
    free(r->attempts);
    free(r->fresh);
    free(r->dead);
    free(r->waits);
    free(r->is_stopped);
    free(r->n_notified);
    free(r->n_progress);
    free(r->floods);
    free(r->published);
    free(r->spending);
    free(r->kids);
    free(r->late);
    ledger_release(&r->ledger);
    run_signals_release(&r->signals);
    phase_leases_release(&r->leases);
    free(r->pids);
    free(r->relatives);
    free(r->batch);
    arena_release(&r->texts);
    if (r->dir >= 0)
        close(r->dir);
}

static void
tell_end(struct run *r, enum run_status status)
{
    struct buf next = { 0 };

    run_notices_next(r, status, &next);
    progress_end(r->progress, r->sched,
                 &(struct progress_end){ .status = status,
                                         .reason = finish_reason(r),
                                         .next = next.p && !buf_failed(&next) ? next.p : "" });
    buf_release(&next);
}

enum status
run_pipeline(struct plan *p, const struct run_options *o, enum run_status *end_status,
             struct err *e)
{
    struct run r = { .journal.log.fd = -1, .watch.fd = -1, .reviews.fd = -1, .dir = -1 };
    int lock = -1;
    struct lock_holder holder;
    enum status s = take_files(p, o, e);

    if (!s)
        s = lockfile_take(&p->state, "run", &lock, &holder, e);
    if (s)
        return s;
    *end_status = RUN_ACTIVE;
    s = path_open_dir_at(p->state.dir, "run", false, &r.dir, e);
    if (!s)
        s = setup(&r, p, o, e);
    if (!s)
        s = start_run(&r, r.dir, end_status, e);
    if (!s)
        sleeping_end(&p->state);
    if (!s && *end_status == RUN_ACTIVE) {
        run_loop_settle(&r);
        if (o->on_begun && !r.is_mute)
            o->on_begun(o->ctx, r.run_id);
        while (!s && !r.is_over && !r.is_asleep)
            s = loop_run(r.loop, e);
        watch_stop(&r.watch);
        if (!s && !r.is_asleep)
            s = finish_run(&r, end_status, e);
    } else if (!s) {
        finish_again(&r, *end_status);
        progress_unlog(r.progress);
    }
    if (!s && !r.is_asleep)
        tell_end(&r, *end_status);
    if (!s && *end_status == RUN_FAILED)
        err_say(e, "%s%s", finish_reason(&r),
                r.is_mute && r.failed == ST_IO ? ": cliq run --resume goes on when that is mended"
                                               : "");
    journal_close(&r.journal);
    if (lock >= 0)
        close(lock); /* before the end is printed: its reader may start the next run */
    if (!s && r.is_asleep)
        run_sleep_done(&r);
    end_telling(&r);
    if (r.progress)
        progress_drain(r.progress, r.is_cancelled ? DRAIN_MS : -1);
    if (r.p)
        run_pipeline_teardown(&r);
    return s;
}
