#include "run/progress.h"

#include "base/clock.h"
#include "base/sys.h"
#include "base/table.h"
#include "base/term.h"
#include "run/live_view.h"
#include "run/next_step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HELD_MAX = 64 << 10,
    UNREAD_MAX = 16 << 20, /* bytes of standard output that its reader has not read */
};

#define DAY_NS INT64_C(86400000000000)

struct row {
    enum phase_state state;
    unsigned attempt, iteration;
    int64_t began_ms, ended_ms; /* monotonic; 0: not yet */
    char last[160];             /* the last thing said of it, escaped */
    char used[24];              /* what its models used, as it is drawn */
};

struct progress {
    struct progress *top;   /* whose output it is: itself, but for a part */
    struct progress **subs; /* one a phase: of the team that it runs; NULL: no phase has one */
    const char **names;     /* one a phase: "build", "build/test" */
    struct arena arena;
    const struct plan *p;
    const struct ledger *ledger; /* NULL: not known */
    enum progress_form form;
    struct row *rows;
    size_t n;
    int log;                    /* orchestrator.log; -1: not open, or it cannot be */
    bool is_logged;             /* what happens goes to the log; opened when it is first written */
    int64_t began_ms, ended_ms; /* monotonic; ended_ms 0: not yet */
    struct live_row *live;      /* the rows as they are drawn, with those below */
    size_t n_live;
    struct live_view view;
    bool has_color;
    int64_t out_day, log_day; /* since 1970, of the last line there; -1: none yet */
    struct buf out, logged;   /* not yet written to the terminal, to the log */
    struct async_out screen;  /* standard output */
};

static int64_t
today(void)
{
    return clock_wall_ns() / DAY_NS;
}

/* The rows of a plan; what it prints to is set elsewhere. */
static struct progress *
new_rows(const struct plan *p)
{
    struct progress *v = calloc(1, sizeof *v);
    size_t n = p->team.n_phases;

    if (!v)
        return NULL;
    v->p = p;
    v->n = n;
    v->top = v;
    v->log = -1;
    v->rows = calloc(n ? n : 1, sizeof *v->rows);
    v->names = arena_alloc(&v->arena, (n + 1) * sizeof *v->names);
    for (size_t i = 0; v->names && i < n; i++) {
        struct buf path = { 0 };
        plan_phase_path(p, i, &path);
        v->names[i] = buf_failed(&path) ? NULL : arena_dup(&v->arena, path.p, path.len);
        buf_release(&path);
        if (!v->names[i])
            v->names = NULL;
    }
    if (v->rows && v->names)
        return v;
    free(v->rows);
    arena_release(&v->arena);
    free(v);
    return NULL;
}

static void
free_rows(struct progress *v)
{
    for (size_t i = 0; v->subs && i < v->n; i++)
        if (v->subs[i])
            free_rows(v->subs[i]);
    free(v->subs);
    free(v->rows);
    free(v->live);
    arena_release(&v->arena);
    free(v);
}

struct progress *
progress_below(struct progress *above, size_t phase, const struct plan *sub)
{
    if (!above->subs && !(above->subs = calloc(above->n + 1, sizeof(struct progress *))))
        return NULL;
    struct progress *v = above->subs[phase];
    if (!v && !(v = above->subs[phase] = new_rows(sub)))
        return NULL;
    v->top = above->top;
    v->ledger = NULL;
    memset(v->rows, 0, v->n * sizeof *v->rows);
    return v;
}

struct progress *
progress_new(const struct plan *p, enum progress_form form, struct loop *l, struct err *e)
{
    struct progress *v = new_rows(p);

    if (!v) {
        err_say(e, "out of memory");
        return NULL;
    }
    v->form = form;
    v->began_ms = clock_mono_ms();
    async_out_open(&v->screen, STDOUT_FILENO, UNREAD_MAX, l);
    v->has_color = term_has_color(STDOUT_FILENO);
    v->is_logged = true;
    v->out_day = today();
    v->log_day = -1;
    return v;
}

void
progress_free(struct progress *v)
{
    if (!v)
        return;
    progress_flush(v);
    async_out_close(&v->screen);
    if (v->log >= 0)
        close(v->log);
    buf_release(&v->out);
    buf_release(&v->logged);
    free_rows(v);
}

static void
emit(int fd, struct buf *b)
{
    if (!buf_failed(b) && b->len) {
        ssize_t n = SYS_RETRY(sys->write(fd, b->p, b->len));
        (void)n; /* a log that cannot be written does not stop the run */
    }
    buf_reset(b);
}

void
progress_open_log(struct progress *v)
{
    if (v->log < 0)
        v->log = openat(v->p->state.dir, "orchestrator.log",
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (v->log < 0)
        v->is_logged = false;
}

static void
write_log(struct progress *v)
{
    progress_open_log(v);
    emit(v->log, &v->logged);
}

/* ---- standard output ---- */
static void
show(struct progress *v)
{
    if (!buf_failed(&v->out) && v->out.len)
        async_out_write(&v->screen, v->out.p, v->out.len);
    buf_reset(&v->out);
}

/* "22:04:05  build      started    attempt 2 (agent script)  text" */
static void
add_line(struct progress *v, struct buf *to, const char *event, size_t phase,
         const struct sched_phase *st, const char *text)
{
    char now[CLOCK_ISO_SIZE];

    clock_iso(now, clock_wall_ns(), 1);
    buf_addf(to, "%.12s  ", now + 11);
    if (phase < v->n) {
        const struct phase *ph = &v->p->team.phases[phase];
        buf_addf(to, "%-16s %-9s", v->names[phase], event);
        if (st && strcmp(event, "started") == 0) {
            buf_addf(to, " agent %s", v->p->agents[phase].name);
            if (st->attempt > 1)
                buf_addf(to, ", attempt %u", st->attempt);
            if (ph->type == PHASE_GATE)
                buf_addf(to, ", iteration %u of %u", st->iteration, ph->max_iterations);
        }
    } else {
        buf_addf(to, "%-16s %-9s", "run", event);
    }
    if (text && *text) {
        buf_adds(to, " ");
        term_escape(to, text, strlen(text), false);
    }
    buf_addc(to, '\n');
}

/* Lines tell the time only: the date stands before the first line of a day. */
static void
add_day(struct buf *to, int64_t *day)
{
    char text[CLOCK_ISO_SIZE];

    if (*day == today())
        return;
    *day = today();
    buf_addf(to, "%.10s (UTC)\n", clock_iso(text, clock_wall_ns(), 0));
}

void
progress_ledger(struct progress *v, const struct ledger *l)
{
    v->ledger = l;
}

/* What all models of the run used; zero: nothing, or it is not known. */
static struct usage
total(const struct progress *v)
{
    return v->ledger ? ledger_total(v->ledger) : (struct usage){ 0 };
}

/* The same of a phase. */
static struct usage
used_by(const struct progress *v, size_t phase)
{
    return v->ledger ? ledger_phase_usage(v->ledger, phase) : (struct usage){ 0 };
}

static void
add_usage(struct buf *to, const struct usage *used)
{
    struct arena a = { 0 };

    if (!usage_is_zero(used))
        json_key_json(to, "usage", usage_json(&a, used));
    arena_release(&a);
}

static void
add_json(struct progress *v, struct buf *to, const char *event, size_t phase,
         const struct sched_phase *st, const char *text)
{
    char now[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_str(to, "at", clock_iso(now, clock_wall_ns(), 1));
    json_key_str(to, "event", event);
    if (phase < v->n) {
        const struct phase *ph = &v->p->team.phases[phase];
        json_key_str(to, "phase", v->names[phase]);
        json_key_str(to, "agent", v->p->agents[phase].name);
        if (st) {
            json_key_str(to, "state", phase_state_name(st->state));
            json_key_int(to, "attempt", st->attempt);
            if (ph->type == PHASE_GATE)
                json_key_int(to, "iteration", st->iteration);
        }
        struct usage used = used_by(v, phase);
        add_usage(to, &used);
    }
    json_key_str(to, "text", text);
    json_close(to, '}');
    buf_addc(to, '\n');
}

/* ---- the live picture ---- */

/* "$0.12"; NULL: its models used nothing. */
static const char *
show_used(struct progress *v, size_t phase)
{
    struct usage u = used_by(v, phase);
    struct row *r = &v->rows[phase];
    struct buf text = { 0 };

    usage_show_short(&text, &u);
    snprintf(r->used, sizeof r->used, "%s", text.p ? text.p : "");
    buf_release(&text);
    return *r->used ? r->used : NULL;
}

static size_t
count_rows(const struct progress *v)
{
    size_t n = v->n;

    for (size_t i = 0; v->subs && i < v->n; i++)
        n += v->subs[i] ? count_rows(v->subs[i]) : 0;
    return n;
}

/* The phases as they are now, in the order of the graph, those of a team phase behind it; returns
 * what comes behind the last row. */
static struct live_row *
fill_rows(struct progress *v, struct live_row *live)
{
    int64_t now = clock_mono_ms();

    for (size_t k = 0; k < v->n; k++) {
        size_t i = v->p->dag->order[k];
        const struct row *r = &v->rows[i];
        const struct phase *ph = &v->p->team.phases[i];
        *live++ = (struct live_row){
            .state = r->state,
            .name = v->names[i],
            .agent = v->p->agents[i].name,
            .used = show_used(v, i),
            .last = r->last,
            .elapsed_ms = r->began_ms ? (r->ended_ms ? r->ended_ms : now) - r->began_ms : -1,
            .iteration = r->iteration,
            .max_iterations = ph->type == PHASE_GATE ? ph->max_iterations : 0,
            .is_hidden = ph->is_support && !r->attempt,
        };
        if (v->subs && v->subs[i])
            live = fill_rows(v->subs[i], live);
    }
    return live;
}

/* False: out of memory. */
static bool
make_live(struct progress *v)
{
    size_t n = count_rows(v);

    if (n > v->n_live || !v->live) {
        struct live_row *live = realloc(v->live, (n + 1) * sizeof *live);
        if (!live)
            return false;
        v->live = live;
        v->n_live = n;
    }
    fill_rows(v, v->live);
    return true;
}

static struct live_size
size_of_screen(void)
{
    return (struct live_size){ term_width(STDOUT_FILENO), term_height(STDOUT_FILENO) };
}

/* Leaves `spare` lines of the screen free below the picture. */
static void
draw(struct progress *v, unsigned spare)
{
    struct live_size size = size_of_screen();

    if (!async_out_flush(&v->screen))
        return; /* a terminal that was halted (Ctrl-S): one picture is enough */
    if (!make_live(v))
        return;
    live_view_draw(&v->view, &v->out, v->live, count_rows(v),
                   size.height > spare + 2 ? size.height - spare - 1 : 1, &size, v->has_color);
    show(v);
}

/* A line that stays, where the picture began; that is drawn again below it. */
static void
say_above(struct progress *v, const char *text)
{
    struct live_size size = size_of_screen();

    live_view_erase(&v->view, &v->out, &size);
    term_escape(&v->out, text, strlen(text), false);
    buf_adds(&v->out, "\033[K\n");
}

static void
keep(struct progress *v, const char *event, size_t phase, const struct sched_phase *st,
     const char *text)
{
    struct row *r = &v->rows[phase];
    int64_t now = clock_mono_ms();

    if (st) {
        r->state = st->state;
        r->attempt = st->attempt;
        r->iteration = st->iteration;
    }
    if (strcmp(event, "started") == 0) {
        r->began_ms = now;
        r->ended_ms = 0;
        r->last[0] = '\0';
    } else if (st && st->state != PS_RUNNING && !r->ended_ms) {
        r->ended_ms = now;
    }
    if (text) {
        struct buf b = { 0 };
        term_escape(&b, text, strlen(text), false);
        snprintf(r->last, sizeof r->last, "%s", b.p ? b.p : "");
        buf_release(&b);
    }
}

/* A wall time as a monotonic one; a clock that was set back makes it now. */
static int64_t
mono_of(int64_t wall_ms)
{
    int64_t ago = clock_wall_ns() / 1000000 - wall_ms;

    return clock_mono_ms() - (ago > 0 ? ago : 0);
}

/* ---- the entries ---- */

void
progress_clock(struct progress *v, int64_t began_ms, int64_t ended_ms)
{
    v->began_ms = mono_of(began_ms);
    v->ended_ms = ended_ms ? mono_of(ended_ms) : 0;
}

void
progress_phase(struct progress *v, size_t phase, const struct sched_phase *st, int64_t began_ms,
               int64_t ended_ms)
{
    struct row *r = &v->rows[phase];

    r->state = st->state;
    r->attempt = st->attempt;
    r->iteration = st->iteration;
    r->began_ms = began_ms ? mono_of(began_ms) : 0;
    r->ended_ms = ended_ms ? mono_of(ended_ms) : 0;
}

void
progress_warn(struct progress *v, const char *text)
{
    struct buf line = { 0 };

    v = v->top;

    /* the live picture shows it on the same terminal: once is enough */
    if (v->form != PROGRESS_LIVE || !term_is_tty(STDERR_FILENO)) {
        buf_adds(&line, "cliq: warning: ");
        term_escape(&line, text, strlen(text), false);
        buf_addc(&line, '\n');
        emit(STDERR_FILENO, &line);
    }
    progress_event(v, "note", SIZE_MAX, NULL, text);
    progress_flush(v);
    buf_release(&line);
}

void
progress_event(struct progress *v, const char *event, size_t phase, const struct sched_phase *st,
               const char *text)
{
    struct buf line = { 0 }, json = { 0 };

    if (phase < v->n)
        keep(v, event, phase, st, text);
    add_line(v, &line, event, phase, st, text);
    if (v->top->form == PROGRESS_JSON)
        add_json(v, &json, event, phase, st, text);
    bool is_phase = phase < v->n;
    v = v->top;
    if (v->form == PROGRESS_LINES && !buf_failed(&line)) {
        add_day(&v->out, &v->out_day);
        buf_add(&v->out, line.p, line.len);
    }
    if (v->is_logged && !buf_failed(&line)) {
        add_day(&v->logged, &v->log_day);
        buf_add(&v->logged, line.p, line.len);
    }
    buf_release(&line);
    if (json.len && !buf_failed(&json))
        buf_add(&v->out, json.p, json.len);
    buf_release(&json);
    if (v->form == PROGRESS_LIVE && !is_phase && text && strcmp(event, "note") == 0)
        say_above(v, text);
    if (v->form == PROGRESS_LIVE)
        draw(v, 0);
    if (v->out.len > HELD_MAX || v->logged.len > HELD_MAX)
        progress_flush(v);
}

void
progress_flush(struct progress *v)
{
    v = v->top;
    if (v->logged.len)
        write_log(v);
    if (v->form != PROGRESS_LIVE)
        show(v);
}

void
progress_tick(struct progress *v)
{
    v = v->top;
    if (v->form == PROGRESS_LIVE)
        draw(v, 0);
}

/* ---- the last words ---- */

static bool
is_failed(const struct sched_phase *ph)
{
    return ph->state == PS_FAILED;
}

/* "failed":["build"] */
static void
add_names(struct progress *v, const struct sched *s, const char *key,
          bool (*is_one)(const struct sched_phase *))
{
    json_key(&v->out, key);
    json_open(&v->out, '[');
    for (size_t i = 0; i < v->n; i++) {
        const char *name = v->p->team.phases[i].name;
        if (!is_one(sched_phase(s, i)))
            continue;
        json_sep(&v->out);
        json_write_str(&v->out, name, strlen(name));
    }
    json_close(&v->out, ']');
}

static void
add_counts(struct progress *v, const struct sched *s, struct buf *to)
{
    size_t counts[PS_STATES] = { 0 }, n_untried = 0;

    for (size_t i = 0; i < v->n; i++) {
        counts[sched_phase(s, i)->state]++;
        n_untried += sched_is_untried(sched_phase(s, i));
    }
    buf_addf(to, "%zu done, %zu failed, ", counts[PS_DONE], counts[PS_FAILED]);
    if (n_untried)
        buf_addf(to, "%zu to be tried again, ", n_untried);
    buf_addf(to, "%zu skipped of %zu phase%s\n", counts[PS_SKIPPED], v->n, v->n == 1 ? "" : "s");
}

static void
end_json(struct progress *v, const struct sched *s, const struct progress_end *end)
{
    const char *next = end->next;

    json_open(&v->out, '{');
    json_key_str(&v->out, "event", "end");
    json_key_str(&v->out, "status", run_status_name(end->status));
    json_key_str(&v->out, "reason", end->reason);
    struct usage used = total(v);
    add_usage(&v->out, &used);
    add_names(v, s, "failed", is_failed);
    add_names(v, s, "untried", sched_is_untried);
    if (*next)
        json_key_strn(&v->out, "next", next + strlen(NEXT_STEP_WORD),
                      strlen(next) - strlen(NEXT_STEP_WORD) - 1);
    json_close(&v->out, '}');
    buf_addc(&v->out, '\n');
    progress_flush(v);
}

/* The last words, for people. */
static void
add_end(struct progress *v, const struct sched *s, const struct progress_end *end, struct buf *to)
{
    const char *state = v->p->state.state_dir;

    buf_addf(to, "\n%s in ", run_status_name(end->status));
    live_view_elapsed(to, (v->ended_ms ? v->ended_ms : clock_mono_ms()) - v->began_ms);
    buf_adds(to, ": ");
    add_counts(v, s, to);
    if (end->reason) {
        buf_adds(to, "Why: ");
        term_escape(to, end->reason, strlen(end->reason), false);
        buf_addc(to, '\n');
    }
    struct usage used = total(v);
    if (!usage_is_zero(&used)) {
        buf_adds(to, "Used: ");
        usage_show(to, &used);
        buf_addc(to, '\n');
    }
    buf_addf(to, "Files: handoffs in %s/channels, logs in %s/run/logs\n", state, state);
    buf_adds(to, end->next);
}

/* Lines that the text takes on the screen. */
static unsigned
lines_of(const struct buf *text)
{
    unsigned width = term_width(STDOUT_FILENO);
    size_t lines = 0;

    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->p + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->p) - at : text->len - at;
        size_t columns = table_text_width(text->p + at, len);
        lines += columns > width ? (columns + width - 1) / width : 1;
        at += len + 1;
    }
    return (unsigned)lines;
}

void
progress_end(struct progress *v, const struct sched *s, const struct progress_end *end)
{
    struct buf words = { 0 };

    progress_event(v, end->status == RUN_COMPLETED ? "completed" : "ended", SIZE_MAX, NULL,
                   end->reason ? end->reason : run_status_name(end->status));
    add_end(v, s, end, &words);
    if (v->form == PROGRESS_LIVE && !buf_failed(&words))
        draw(v, lines_of(&words));
    if (v->form == PROGRESS_JSON)
        end_json(v, s, end);
    else if (!buf_failed(&words) && (v->form != PROGRESS_QUIET || !v->is_logged))
        buf_add(&v->out, words.p, words.len);
    if (!buf_failed(&words) && v->is_logged)
        buf_add(&v->logged, words.p, words.len);
    buf_release(&words);
    show(v);
    progress_flush(v);
}

void
progress_unlog(struct progress *v)
{
    progress_flush(v);
    if (v->log >= 0)
        close(v->log);
    v->log = -1;
    v->is_logged = false;
}

void
progress_drain(struct progress *v, int wait_ms)
{
    struct async_out *o = &v->screen;

    if (!o->error)
        async_out_drain(o, wait_ms);
    if (o->error && o->error != EPIPE) /* a closed pipe is no failure */
        fprintf(stderr, "cliq: warning: standard output cannot be written: %s\n",
                strerror(o->error));
    else if (o->lost)
        fprintf(
            stderr,
            "cliq: warning: %zu bytes of standard output were lost: the reader did not read them\n",
            o->lost);
}
