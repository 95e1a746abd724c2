#include "run/run_picture.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/frames.h"
#include "context/status_line.h"
#include "run/file_conflicts.h"
#include "run/history.h"
#include "run/lockfile.h"
#include "run/next_step.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls fn with the lines of the latest attempt of a phase, the last one first, until it returns
 * true. */
static void
read_lines(const struct run_picture *p, size_t phase,
           bool (*fn)(void *ctx, const struct status_line *line), void *ctx)
{
    char path[TEAM_PHASE_NAME_MAX + 32];
    struct log_reader r;
    struct log_record rec;
    struct arena a = { 0 };
    bool is_over = false;

    if (!p->replay.started_ms[phase])
        return; /* an earlier attempt said it */
    snprintf(path, sizeof path, "signals/%s.jsonl", p->workflow.team.phases[phase].name);
    int fd = SYS_RETRY(
        sys->openat(p->state->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
    if (fd < 0)
        return;
    log_reader_init(&r, fd, 0);
    while (!is_over && log_prev(&r, &rec)) {
        struct status_line line = status_line_read(&a, rec.json);
        is_over = line.status != LINE_UNKNOWN && fn(ctx, &line);
        arena_reset(&a);
    }
    log_reader_release(&r);
    arena_release(&a);
    close(fd);
}

struct report {
    struct run_picture *p;
    size_t phase;
};

static bool
take_usage(void *ctx, const struct status_line *line)
{
    const struct json *v = json_get(line->result, "usage");
    const struct report *r = ctx;
    struct arena a = { 0 };
    struct usage u;
    bool is_it = v && usage_read(&a, v, &u);

    if (is_it) {
        usage_price(&u, settings_get(&r->p->settings, "prices"));
        ledger_report(&r->p->replay.ledger, r->phase, &u);
    }
    arena_release(&a);
    return is_it;
}

/* The journal has what an attempt used once it has its result: until then its own lines have it, or
 * the run of its team. */
static void
read_usage(struct run_picture *p)
{
    for (size_t i = 0; i < p->workflow.team.n_phases; i++) {
        if (!p->replay.started_ms[i] || p->replay.ended_ms[i])
            continue;
        if (run_picture_sub(p, i)) {
            struct usage u = run_picture_usage(run_picture_sub(p, i));
            ledger_report(&p->replay.ledger, i, &u);
        } else {
            read_lines(p, i, take_usage, &(struct report){ p, i });
        }
    }
}

/* ---- runs of team phases ---- */

struct run_picture *
run_picture_sub(const struct run_picture *p, size_t phase)
{
    return p->subs ? p->subs[phase] : NULL;
}

/* Is it of the phase's latest attempt? An earlier run, or an earlier attempt, left one there, too.
 */
static bool
is_of(const struct run_picture *sub, const struct run_picture *p, size_t phase)
{
    const char *above = sub->replay.head.above;
    struct buf name = { 0 };

    buf_addf(&name, "%s/%s.%u", p->replay.head.run_id ? p->replay.head.run_id : "",
             p->workflow.team.phases[phase].name, replay_phase(&p->replay, phase)->attempt);
    bool is_it = above && !buf_failed(&name) && strcmp(above, name.p) == 0;
    buf_release(&name);
    return is_it;
}

static void load_subs(struct run_picture *p);

/* What cannot be read of it is not shown: the run above is, all the same. */
static bool
load_sub(struct run_picture *sub, const struct run_picture *p, size_t phase)
{
    int dir = -1;

    *sub = (struct run_picture){ .frame.dir = -1,
                                 .is_driven = p->is_driven,
                                 .is_asleep = p->is_asleep,
                                 .settings = p->settings,
                                 .now_ms = p->now_ms };
    sub->state = &sub->frame;
    if (frame_open(&sub->frame, p->state, p->workflow.team.phases[phase].name, false, NULL) ||
        workflow_load(&sub->workflow, &sub->frame, NULL) ||
        path_open_dir_at(sub->frame.dir, "run", false, &dir, NULL))
        return false;
    enum status s = replay_look(&sub->replay, dir, &sub->workflow.team, NULL);
    close(dir);
    if (s || !is_of(sub, p, phase))
        return false;
    load_subs(sub);
    read_usage(sub);
    return true;
}

static void
load_subs(struct run_picture *p)
{
    size_t n = p->workflow.team.n_phases;

    for (size_t i = 0; i < n; i++) {
        if (p->workflow.team.phases[i].type != PHASE_TEAM || !p->replay.started_ms[i])
            continue;
        if (!p->subs && !(p->subs = calloc(n, sizeof(struct run_picture *))))
            return;
        struct run_picture *sub = malloc(sizeof *sub);
        if (sub && load_sub(sub, p, i)) {
            p->subs[i] = sub;
        } else if (sub) {
            run_picture_release(sub);
            free(sub);
        }
    }
}

static void
load_settings(struct run_picture *p)
{
    struct err ignored;

    if (settings_load(&p->settings, p->state->state_dir, &ignored) != ST_OK)
        p->settings.merged = NULL; /* no price of the settings, then */
}

enum status
run_picture_load(struct run_picture *p, const struct state_dir *f, struct err *e)
{
    int dir = -1;

    *p = (struct run_picture){ .state = f, .frame.dir = -1 };
    bool was_driven = lockfile_is_held(f); /* before we read, in case it ends meanwhile */
    enum status s = workflow_load(&p->workflow, f, e);

    if (!s && path_open_dir_at(f->dir, "run", false, &dir, e) != ST_OK)
        s = err_set(e, ST_NOT_FOUND, "nothing has run here yet: cliq run");
    if (!s) {
        s = replay_look(&p->replay, dir, &p->workflow.team, e);
        if (s == ST_NOT_FOUND)
            err_say(e, "nothing has run here yet: cliq run");
        /* a journal that does not fit: perhaps because the workflow is broken by now */
        if ((s == ST_INVALID || p->replay.bad_line) && workflow_check(&p->workflow, f, e))
            s = ST_FAILED;
    }
    p->is_asleep = sleeping_read(f, &p->sleep);
    p->is_driven = was_driven || p->is_asleep || lockfile_is_held(f);
    p->now_ms = clock_wall_ns() / 1000000;
    if (!s) {
        load_settings(p);
        load_subs(p);
        read_usage(p);
    }
    if (dir >= 0)
        close(dir);
    return s;
}

void
run_picture_release(struct run_picture *p)
{
    for (size_t i = 0; p->subs && i < p->workflow.team.n_phases; i++)
        if (p->subs[i]) {
            run_picture_release(p->subs[i]);
            free(p->subs[i]);
        }
    free(p->subs);
    replay_release(&p->replay);
    if (p->state != &p->frame) /* else they are those of the run above */
        settings_release(&p->settings);
    workflow_release(&p->workflow);
    if (p->state == &p->frame)
        state_dir_close(&p->frame);
}

const char *
run_picture_state(const struct run_picture *p)
{
    if (p->replay.head.has_end)
        return run_status_name(p->replay.head.end);
    return p->is_asleep ? "ASLEEP" : p->is_driven ? "RUNNING" : "INTERRUPTED";
}

const char *
run_picture_phase_state(const struct run_picture *p, size_t phase)
{
    const struct sched_phase *st = replay_phase(&p->replay, phase);
    bool is_cancelled = p->replay.head.has_end && p->replay.head.end == RUN_CANCELLED;
    bool is_open = st->state != PS_DONE && st->state != PS_SKIPPED && st->state != PS_FAILED;

    return is_cancelled && is_open && st->attempt > st->skips ? "cancelled"
                                                              : phase_state_name(st->state);
}

const char *
run_picture_agent(const struct run_picture *p, size_t phase)
{
    const struct phase *ph = &p->workflow.team.phases[phase];
    const char *agent = p->replay.words[phase].agent;

    if (!agent)
        agent = ph->agent ? ph->agent : ph->type == PHASE_TEAM ? "team" : p->replay.head.agent;
    return agent;
}

int64_t
run_picture_ms(const struct run_picture *p)
{
    return replay_duration(&p->replay, p->is_driven ? p->now_ms : p->replay.last_ms);
}

int64_t
run_picture_phase_ms(const struct run_picture *p, size_t phase)
{
    const struct replay *r = &p->replay;
    int64_t end = r->ended_ms[phase];

    if (!r->started_ms[phase])
        return -1;
    if (!end)
        end = r->head.has_end ? r->head.end_ms : p->is_driven ? p->now_ms : r->last_ms;
    return end > r->started_ms[phase] ? end - r->started_ms[phase] : 0;
}

static bool
take_progress(void *ctx, const struct status_line *line)
{
    bool is_it = line->status == LINE_PROGRESS && line->message && *line->message;

    if (is_it)
        buf_adds(ctx, line->message);
    return is_it;
}

void
run_picture_progress(const struct run_picture *p, size_t phase, struct buf *to)
{
    const struct run_picture *sub = run_picture_sub(p, phase);
    size_t n = 0;

    for (size_t i = 0; sub && i < sub->workflow.team.n_main; i++)
        n += replay_phase(&sub->replay, i)->state == PS_DONE ||
             replay_phase(&sub->replay, i)->state == PS_SKIPPED;
    if (sub) {
        buf_addf(to, "%zu of %zu phases done", n, sub->workflow.team.n_main);
        return;
    }
    read_lines(p, phase, take_progress, to);
}

static int64_t
changed_ms(const struct state_dir *f, const char *path)
{
    struct stat st;
    struct err ignored;
    int fd = -1;

    if (state_dir_open_file(f, path, &fd, &st, &ignored) != ST_OK)
        return 0;
    close(fd);
    return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

int64_t
run_picture_heard_ms(const struct run_picture *p, size_t phase)
{
    const char *name = p->workflow.team.phases[phase].name;
    int64_t heard = p->replay.started_ms[phase];
    char path[TEAM_PHASE_NAME_MAX + 48];

    if (!heard || p->replay.ended_ms[phase] || p->replay.head.has_end || !p->is_driven)
        return 0;
    snprintf(path, sizeof path, "signals/%.64s.jsonl", name);
    int64_t line = changed_ms(p->state, path);
    snprintf(path, sizeof path, "run/logs/%.64s.%jd.log", name,
             (intmax_t)replay_phase(&p->replay, phase)->attempt);
    int64_t log = changed_ms(p->state, path);
    heard = line > heard ? line : heard;
    return log > heard ? log : heard;
}

const char *
run_picture_files_holder(const struct run_picture *p, size_t phase)
{
    const struct team *t = &p->workflow.team;
    const struct phase *ph = &t->phases[phase];

    if (replay_phase(&p->replay, phase)->state != PS_WAITING || !p->is_driven ||
        p->replay.head.has_end)
        return NULL;
    for (size_t i = 0; i < ph->n_depends_on; i++) {
        enum phase_state s =
            ph->deps[i] < t->n_phases ? replay_phase(&p->replay, ph->deps[i])->state : PS_DONE;
        if (s != PS_DONE && s != PS_SKIPPED)
            return NULL;
    }
    for (size_t i = 0; i < t->n_phases; i++) {
        const struct sched_phase *st = replay_phase(&p->replay, i);
        bool is_at_work = st->state == PS_RUNNING || st->state == PS_STARTING || st->is_there;
        if (i != phase && is_at_work && file_conflicts_between(ph, &t->phases[i]))
            return t->phases[i].name;
    }
    return NULL;
}

struct usage
run_picture_phase_usage(const struct run_picture *p, size_t phase)
{
    return ledger_phase_usage(&p->replay.ledger, phase);
}

struct usage
run_picture_usage(const struct run_picture *p)
{
    return ledger_total(&p->replay.ledger);
}

/* False: out of memory. */
static bool
make_step(const struct run_picture *p, const char *way, struct arena *a, struct next_step *out)
{
    size_t n = p->workflow.team.n_phases;
    struct sched_phase *phases = arena_alloc(a, (n + 1) * sizeof *phases);

    *out = (struct next_step){ .team = &p->workflow.team, .phases = phases, .way = way };
    for (size_t i = 0; phases && i < n; i++)
        phases[i] = *replay_phase(&p->replay, i);
    if (!p->subs || !phases)
        return phases;
    out->subs = arena_alloc(a, n * sizeof *out->subs);
    for (size_t i = 0; out->subs && i < n; i++) {
        struct buf below = { 0 };
        out->subs[i] = NULL;
        if (!p->subs[i])
            continue;
        buf_addf(&below, "%s%s/", way, p->workflow.team.phases[i].name);
        const char *kept = buf_failed(&below) ? NULL : arena_dup(a, below.p, below.len);
        struct next_step *sub = kept ? arena_alloc(a, sizeof *sub) : NULL;
        buf_release(&below);
        if (!sub || !make_step(p->subs[i], kept, a, sub))
            return false;
        out->subs[i] = sub;
    }
    return out->subs;
}

void
run_picture_next(const struct run_picture *p, struct buf *to)
{
    struct arena a = { 0 };
    struct dag *dag = dag_new(&p->workflow.team);
    struct next_step next;

    if (!history_is_earlier(p->state) && (p->replay.head.has_end || !p->is_driven) &&
        make_step(p, "", &a, &next)) {
        next.dag = dag;
        next.status = p->replay.head.has_end ? p->replay.head.end : RUN_ACTIVE;
        next.is_damaged = p->replay.bad_line != 0;
        next_step_write(to, &next);
    }
    dag_free(dag);
    arena_release(&a);
}
