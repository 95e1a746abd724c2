#include "run/progress.h"

#include "base/clock.h"
#include "base/sys.h"
#include "base/table.h"
#include "base/term.h"

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

struct row {
    enum phase_state state;
    unsigned attempt, iteration;
    int64_t began_ms, ended_ms; /* monotonic; 0: not yet */
    char last[160];             /* the last thing said of it, escaped */
};

struct progress {
    const struct plan *p;
    enum progress_form form;
    struct row *rows;
    size_t n;
    int log;                    /* orchestrator.log */
    int64_t began_ms, ended_ms; /* monotonic; ended_ms 0: not yet */
    unsigned drawn;             /* lines on the screen to be drawn over */
    bool has_color;
    struct buf out, logged;  /* not yet written to the terminal, to the log */
    struct async_out screen; /* standard output */
};

struct progress *
progress_new(const struct plan *p, enum progress_form form, struct loop *l, struct err *e)
{
    struct progress *v = calloc(1, sizeof *v);
    size_t n = p->team.n_phases;

    if (v)
        v->rows = calloc(n ? n : 1, sizeof *v->rows);
    if (!v || !v->rows) {
        free(v);
        err_say(e, "out of memory");
        return NULL;
    }
    v->p = p;
    v->n = n;
    v->form = form;
    v->began_ms = clock_mono_ms();
    async_out_open(&v->screen, STDOUT_FILENO, UNREAD_MAX, l);
    v->has_color = term_has_color(STDOUT_FILENO);
    v->log = openat(p->state.dir, "orchestrator.log",
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
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
    free(v->rows);
    free(v);
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

/* ---- standard output ---- */
static void
show(struct progress *v)
{
    if (!buf_failed(&v->out) && v->out.len)
        async_out_write(&v->screen, v->out.p, v->out.len);
    buf_reset(&v->out);
}

void
progress_elapsed(struct buf *to, int64_t ms)
{
    if (ms < 1000)
        buf_addf(to, "%" PRId64 " ms", ms);
    else if (ms < 120000)
        buf_addf(to, "%.1f s", (double)ms / 1000);
    else
        buf_addf(to, "%" PRId64 " min %" PRId64 " s", ms / 60000, ms / 1000 % 60);
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
        buf_addf(to, "%-16s %-9s", ph->name, event);
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
        json_key_str(to, "phase", ph->name);
        json_key_str(to, "agent", v->p->agents[phase].name);
        if (st) {
            json_key_str(to, "state", phase_state_name(st->state));
            json_key_int(to, "attempt", st->attempt);
            if (ph->type == PHASE_GATE)
                json_key_int(to, "iteration", st->iteration);
        }
    }
    json_key_str(to, "text", text);
    json_close(to, '}');
    buf_addc(to, '\n');
}

/* ---- the live picture ---- */

static const char *
mark_of(enum phase_state s)
{
    static const char *const marks[PS_STATES] = {
        [PS_WAITING] = "·", [PS_STARTING] = "▸", [PS_RUNNING] = "▸", [PS_BACKOFF] = "↻",
        [PS_ROUTING] = "↩", [PS_DONE] = "✓",     [PS_SKIPPED] = "–", [PS_FAILED] = "✗",
    };

    return marks[s];
}

static const char *
color_of(enum phase_state s)
{
    switch (s) {
    case PS_DONE:
        return "\033[32m";
    case PS_FAILED:
        return "\033[31m";
    case PS_RUNNING:
    case PS_STARTING:
        return "\033[36m";
    case PS_ROUTING:
    case PS_BACKOFF:
        return "\033[33m";
    default:
        return "";
    }
}

static void
draw_row(struct progress *v, size_t i, unsigned width)
{
    const struct row *r = &v->rows[i];
    const struct phase *ph = &v->p->team.phases[i];
    struct buf line = { 0 };
    int64_t now = clock_mono_ms();

    buf_addf(&line, "%-16s %-9s %-10s ", ph->name, phase_state_name(r->state),
             v->p->agents[i].name);
    if (r->began_ms) {
        struct buf t = { 0 };
        progress_elapsed(&t, (r->ended_ms ? r->ended_ms : now) - r->began_ms);
        buf_addf(&line, "%-9s ", t.p ? t.p : "");
        buf_release(&t);
    }
    if (ph->type == PHASE_GATE && r->iteration)
        buf_addf(&line, "%u/%u ", r->iteration, ph->max_iterations);
    buf_adds(&line, r->last);
    size_t len = line.len;
    while (len > 0 && table_text_width(line.p, len) + 3 > width) {
        do
            len--;
        while (len > 0 && ((unsigned char)line.p[len] & 0xC0) == 0x80);
    }
    buf_addf(&v->out, "%s%s%s %.*s\033[K\n", v->has_color ? color_of(r->state) : "",
             mark_of(r->state), v->has_color ? "\033[0m" : "", (int)len, line.p ? line.p : "");
    buf_release(&line);
}

static void
draw(struct progress *v)
{
    unsigned width = term_width(STDOUT_FILENO);

    if (!async_out_flush(&v->screen))
        return; /* a terminal that was halted (Ctrl-S): one picture is enough */
    if (v->drawn)
        buf_addf(&v->out, "\033[%uA", v->drawn);
    v->drawn = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (v->p->team.phases[i].is_support && !v->rows[i].attempt)
            continue;
        draw_row(v, i, width);
        v->drawn++;
    }
    show(v);
}

/* A line that stays, where the picture began; that is drawn again below it. */
static void
say_above(struct progress *v, const char *text)
{
    if (v->drawn)
        buf_addf(&v->out, "\033[%uA", v->drawn);
    v->drawn = 0;
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
    struct buf line = { 0 };

    if (phase < v->n)
        keep(v, event, phase, st, text);
    add_line(v, &line, event, phase, st, text);
    if (v->form == PROGRESS_LINES && !buf_failed(&line))
        buf_add(&v->out, line.p, line.len);
    if (v->log >= 0 && !buf_failed(&line))
        buf_add(&v->logged, line.p, line.len);
    buf_release(&line);
    if (v->form == PROGRESS_JSON)
        add_json(v, &v->out, event, phase, st, text);
    if (v->form == PROGRESS_LIVE && phase >= v->n && text && strcmp(event, "note") == 0)
        say_above(v, text);
    if (v->form == PROGRESS_LIVE)
        draw(v);
    if (v->out.len > HELD_MAX || v->logged.len > HELD_MAX)
        progress_flush(v);
}

void
progress_flush(struct progress *v)
{
    if (v->logged.len)
        emit(v->log, &v->logged);
    if (v->form != PROGRESS_LIVE)
        show(v);
}

void
progress_tick(struct progress *v)
{
    if (v->form == PROGRESS_LIVE)
        draw(v);
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
end_json(struct progress *v, const struct sched *s, enum run_status status, const char *reason)
{
    json_open(&v->out, '{');
    json_key_str(&v->out, "event", "end");
    json_key_str(&v->out, "status", run_status_name(status));
    json_key_str(&v->out, "reason", reason);
    add_names(v, s, "failed", is_failed);
    add_names(v, s, "untried", sched_is_untried);
    json_close(&v->out, '}');
    buf_addc(&v->out, '\n');
    progress_flush(v);
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
    buf_addf(to, "%zu skipped of %zu phases\n", counts[PS_SKIPPED], v->n);
}

static void
add_next(struct buf *to, const struct phase *ph, const struct sched_phase *st)
{
    if (is_failed(st))
        buf_addf(to,
                 "Next: cliq log %s shows what it said; mend the cause (or its incoming "
                 "handoff.json), then cliq retry %s\n",
                 ph->name, ph->name);
    else if (sched_is_untried(st))
        buf_addf(to, "Next: cliq log %s shows what it said; it is tried again %s\n", ph->name,
                 ph->is_support ? "when its gate sends work to it"
                                : "with whatever phase is retried");
}

/* The last words, for people. */
static void
add_end(struct progress *v, const struct sched *s, enum run_status status, const char *reason,
        struct buf *to)
{
    const char *state = v->p->state.state_dir;

    buf_addf(to, "\n%s in ", run_status_name(status));
    progress_elapsed(to, (v->ended_ms ? v->ended_ms : clock_mono_ms()) - v->began_ms);
    buf_adds(to, ": ");
    add_counts(v, s, to);
    if (reason) {
        buf_adds(to, "Why: ");
        term_escape(to, reason, strlen(reason), false);
        buf_addc(to, '\n');
    }
    buf_addf(to, "Files: handoffs in %s/channels, logs in %s/run/logs\n", state, state);
    for (size_t i = 0; status == RUN_ESCALATED && i < v->n; i++)
        add_next(to, &v->p->team.phases[i], sched_phase(s, i));
    if (status == RUN_FAILED)
        buf_adds(to, "Next: mend the cause; then cliq run --resume goes on, or, where that only "
                     "tells this again, cliq retry PHASE\n");
    if (status == RUN_CANCELLED)
        buf_adds(to, "Next: cliq run starts anew; cliq run --from PHASE keeps what is done\n");
}

void
progress_end(struct progress *v, const struct sched *s, enum run_status status, const char *reason)
{
    struct buf words = { 0 };

    progress_event(v, status == RUN_COMPLETED ? "completed" : "ended", SIZE_MAX, NULL,
                   reason ? reason : run_status_name(status));
    add_end(v, s, status, reason, &words);
    if (v->form == PROGRESS_JSON)
        end_json(v, s, status, reason);
    else if (!buf_failed(&words) && (v->form != PROGRESS_QUIET || v->log < 0))
        buf_add(&v->out, words.p, words.len);
    if (!buf_failed(&words) && v->log >= 0)
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
