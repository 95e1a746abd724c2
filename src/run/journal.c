#define _GNU_SOURCE
#include "run/journal.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 256 }; /* of an event with a long name and no text */

/* What a kind of event is called, and which members its line has. */
static const struct line_shape {
    const char *name;
    bool has_phase, has_attempt, has_result, has_text;
} shapes[EVENT_KINDS] = {
    [EV_BEGIN] = { "begin", false, false, false, false },
    [EV_STARTED] = { "started", true, true, false, false },
    [EV_RESULT] = { "result", true, true, true, true },
    [EV_GONE] = { "gone", true, true, false, false },
    [EV_SKIP] = { "skip", true, false, false, false },
    [EV_DUE] = { "due", true, false, false, false },
    [EV_CANCEL] = { "cancel", false, false, false, true },
    [EV_ESCALATE] = { "escalate", false, false, false, true },
    [EV_ABORT] = { "abort", false, false, false, true },
    [EV_RERUN] = { "rerun", true, false, false, false },
};

static const char *const outcomes[] = {
    [OUT_COMPLETE] = "complete",
    [OUT_ERROR] = "error",
    [OUT_CRASH] = "crash",
    [OUT_TIMEOUT] = "timeout",
};
static const char *const verdicts[] = {
    [VERDICT_NONE] = "",
    [VERDICT_PASS] = "PASS",
    [VERDICT_ROUTE] = "ROUTE",
    [VERDICT_ESCALATE] = "ESCALATE",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- writing ---- */

static void
open_line(struct buf *b, const char *ev)
{
    char now[CLOCK_ISO_SIZE];

    json_open(b, '{');
    json_key_str(b, "at", clock_iso(now, clock_wall_ns(), 1));
    json_key_str(b, "ev", ev);
}

static void
write_text(struct buf *b, const char *key, const char *text)
{
    if (text)
        json_key_strn(b, key, text, utf8_cut(text, strlen(text), JOURNAL_TEXT_MAX));
}

static void
write_options(struct buf *b, const struct sched_options *o)
{
    json_key_int(b, "jobs", o->jobs);
    json_key_bool(b, "fail_fast", o->is_fail_fast);
}

static void
write_usage(struct buf *b, const struct usage *u)
{
    struct arena a = { 0 };

    if (u)
        json_key_json(b, "usage", usage_json(&a, u));
    arena_release(&a);
}

static void
write_event(struct buf *b, const struct journal *j, const struct sched_event *ev)
{
    const struct line_shape *shape = &shapes[ev->kind];
    const struct team *t = j->team;

    open_line(b, shape->name);
    if (shape->has_phase) {
        assert(ev->phase < t->n_phases);
        json_key_str(b, "phase", t->phases[ev->phase].name);
        if (shape->has_attempt || ev->attempt)
            json_key_int(b, "attempt", ev->attempt);
    }
    if (ev->kind == EV_STARTED)
        json_key_str(b, "agent", ev->agent);
    if (shape->has_result) {
        json_key_str(b, "outcome", outcomes[ev->outcome]);
        if (ev->is_final)
            json_key_bool(b, "final", true);
        if (ev->verdict != VERDICT_NONE) {
            json_key(b, "verdict");
            json_open(b, '{');
            json_key_str(b, "outcome", verdicts[ev->verdict]);
            if (ev->verdict == VERDICT_ROUTE && ev->target < t->n_phases)
                json_key_str(b, "target", t->phases[ev->target].name);
            json_close(b, '}');
        }
        write_usage(b, ev->usage);
    }
    if (shape->has_text)
        write_text(b, "text", ev->text);
    if (ev->kind == EV_RERUN) {
        json_key_str(b, "workflow", j->workflow);
        json_key_str(b, "above", j->above);
        json_key_str(b, "below", ev->text);
        write_text(b, "agent", j->agent);
        if (ev->options)
            write_options(b, ev->options);
    }
}

/* The line that was built at the end of j->text waits to be written. */
static enum status
add_line(struct journal *j, struct err *e)
{
    json_close(&j->text, '}');
    if (j->n == j->cap) {
        size_t cap = j->cap ? 2 * j->cap : 16;
        struct log_text *lines = realloc(j->lines, cap * sizeof *lines);
        if (lines)
            j->lines = lines;
        size_t *ends = realloc(j->ends, cap * sizeof *ends);
        if (ends)
            j->ends = ends;
        if (!lines || !ends)
            return err_set(e, ST_IO, "write the journal: out of memory");
        j->cap = cap;
    }
    j->ends[j->n++] = j->text.len;
    return ST_OK;
}

/* What waits, in one write. */
static enum status
put(struct journal *j, struct err *e)
{
    enum status s = buf_status(&j->text, "the journal's lines", e);

    for (size_t i = 0, at = 0; !s && i < j->n; at = j->ends[i], i++)
        j->lines[i] = (struct log_text){ j->text.p + at, j->ends[i] - at };
    if (!s && j->n)
        s = log_append(&j->log, j->lines, j->n, e);
    buf_reset(&j->text);
    j->n = 0;
    return s;
}

enum status
journal_add(struct journal *j, const struct sched_event *evs, size_t n, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        if (evs[i].kind == EV_BEGIN)
            continue;
        if (j->n == LOG_BATCH_MAX)
            s = put(j, e);
        write_event(&j->text, j, &evs[i]);
        if (!s)
            s = add_line(j, e);
    }
    return s;
}

enum status
journal_write(struct journal *j, const struct sched_event *evs, size_t n, struct err *e)
{
    enum status s = journal_add(j, evs, n, e);

    return s ? s : put(j, e);
}

enum status
journal_make_room(struct journal *j, size_t n, const char *reason, struct err *e)
{
    size_t text = reason ? utf8_cut(reason, strlen(reason), JOURNAL_TEXT_MAX) : 0;
    size_t bytes = j->text.len + (n + 1) * LINE_BYTES + 2 * text;

    return log_has_room(&j->log, bytes)
               ? ST_OK
               : err_set(e, ST_IO,
                         "append to " JOURNAL_NAME ": no room for the end of the run "
                         "(disk full?)");
}

enum status
journal_end(struct journal *j, enum run_status status, const char *reason, struct err *e)
{
    open_line(&j->text, "end");
    json_key_str(&j->text, "status", run_status_name(status));
    write_text(&j->text, "reason", reason);
    enum status s = add_line(j, e);
    log_go_last(&j->log);
    return s ? s : put(j, e);
}

enum status
journal_note(struct journal *j, const char *text, struct err *e)
{
    open_line(&j->text, "note");
    write_text(&j->text, "text", text);
    enum status s = add_line(j, e);
    return s ? s : put(j, e);
}

static enum status
add_head(struct journal *j, const struct journal_head *h, struct err *e)
{
    open_line(&j->text, "begin");
    json_key_str(&j->text, "run", h->run_id);
    json_key_str(&j->text, "team", h->team);
    json_key_str(&j->text, "workflow", h->workflow);
    json_key_str(&j->text, "above", h->above);
    write_options(&j->text, &h->options);
    write_text(&j->text, "agent", h->agent);
    return add_line(j, e);
}

static enum status
open_failed(int dir, struct err *e)
{
    char told[PATH_MAX];

    return path_open_failed(dir, JOURNAL_NAME, path_told(dir, JOURNAL_NAME, told), e);
}

/* An old journal is emptied; none is created; *is_there tells which. */
static enum status
look(int dir, bool is_new, bool *is_there, struct err *e)
{
    int flags = (is_new ? O_WRONLY | O_TRUNC : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

    int fd = SYS_RETRY(sys->openat(dir, JOURNAL_NAME, flags, 0));
    *is_there = fd >= 0;
    if (fd < 0)
        return errno == ENOENT ? ST_OK : open_failed(dir, e);
    close(fd);
    return ST_OK;
}

enum status
journal_open(struct journal *j, int dir, const struct team *t, const struct journal_head *head,
             struct err *e)
{
    bool is_there = false;

    *j = (struct journal){ .log = { .fd = -1 }, .team = t };
    enum status s = look(dir, head != NULL, &is_there, e);
    if (!s && !head && !is_there)
        s = err_set(e, ST_NOT_FOUND, "there is no run/" JOURNAL_NAME ": nothing was run yet");
    struct log_options o = { .is_durable = true, .is_one_file = true };
    if (!s)
        s = log_open(&j->log, dir, JOURNAL_NAME, &o, e);
    if (!s && head)
        s = add_head(j, head, e);
    return s;
}

void
journal_meanwhile(struct journal *j, void (*fn)(void *ctx), void *ctx)
{
    j->log.o.meanwhile = fn;
    j->log.o.ctx = ctx;
}

void
journal_close(struct journal *j)
{
    log_close(&j->log);
    buf_release(&j->text);
    free(j->lines);
    free(j->ends);
    j->lines = NULL;
    j->ends = NULL;
    j->n = j->cap = 0;
}

/* ---- reading ---- */

struct replay_pass {
    const struct team *team;
    size_t *by_name;            /* phases, sorted */
    struct journal_taker taker; /* bad NULL: a line that cannot be used stops it */
    struct journal_head *head;
    struct arena texts; /* of one line */
    bool has_begun;
};

static int
compare_names(const void *a, const void *b, void *team)
{
    const struct phase *phases = ((const struct team *)team)->phases;

    return strcmp(phases[*(const size_t *)a].name, phases[*(const size_t *)b].name);
}

static enum status
sort_names(struct replay_pass *r, struct err *e)
{
    size_t n = r->team->n_phases;

    r->by_name = malloc((n + 1) * sizeof *r->by_name);
    if (!r->by_name)
        return err_set(e, ST_IO, "read the journal: out of memory");
    for (size_t i = 0; i < n; i++)
        r->by_name[i] = i;
    qsort_r(r->by_name, n, sizeof *r->by_name, compare_names, (void *)(uintptr_t)r->team);
    return ST_OK;
}

/* The phase with that name; SIZE_MAX: none. */
static size_t
find_phase(const struct replay_pass *r, const struct json *name)
{
    size_t from = 0, to = r->team->n_phases;

    if (!json_is(name, JSON_STRING))
        return SIZE_MAX;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        const char *its = r->team->phases[r->by_name[mid]].name;
        size_t len = strlen(its), common = len < name->text.len ? len : name->text.len;
        int order = memcmp(its, name->text.p, common);
        if (order == 0 && len == name->text.len)
            return r->by_name[mid];
        if (order == 0)
            order = len < name->text.len ? -1 : 1;
        if (order < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return SIZE_MAX;
}

/* The index of v in a list of names; -1: it is none of them. */
static int
find_name(const struct json *v, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (names[i][0] && json_eq(v, names[i]))
            return (int)i;
    return -1;
}

static bool
read_count(const struct json *v, unsigned *to)
{
    int64_t n;

    if (!json_int(v, &n) || n < 0 || n > INT32_MAX)
        return false;
    *to = (unsigned)n;
    return true;
}

/* "2026-04-03T11:19:34.222Z" as milliseconds since 1970; 0 when it is not that. */
static int64_t
read_time(const struct json *v)
{
    char text[CLOCK_ISO_SIZE];
    struct tm tm = { 0 };

    if (!json_is(v, JSON_STRING) || v->text.len >= sizeof text)
        return 0;
    memcpy(text, v->text.p, v->text.len);
    text[v->text.len] = '\0';
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return 0;
    return (int64_t)timegm(&tm) * 1000 + (*rest == '.' ? atoi(rest + 1) : 0);
}

/* What a line does not tell is as before. */
static struct sched_options
read_options(const struct json *line, const struct sched_options *before)
{
    struct sched_options o = *before;

    read_count(json_get(line, "jobs"), &o.jobs);
    json_bool(json_get(line, "fail_fast"), &o.is_fail_fast);
    return o;
}

static bool
read_head(struct replay_pass *r, const struct json *line)
{
    struct journal_head *h = r->head;

    h->run_id = json_dup_text(&h->arena, json_get(line, "run"));
    h->team = json_dup_text(&h->arena, json_get(line, "team"));
    h->workflow = json_dup_text(&h->arena, json_get(line, "workflow"));
    h->above = json_dup_text(&h->arena, json_get(line, "above"));
    h->agent = json_dup_text(&h->arena, json_get(line, "agent"));
    h->at_ms = read_time(json_get(line, "at"));
    h->options = read_options(line, &(struct sched_options){ 0 });
    return h->run_id && h->workflow;
}

static void
read_end(struct journal_head *h, const struct json *line)
{
    const struct json *status = json_get(line, "status");

    h->has_end = false;
    h->reason = json_dup_text(&h->arena, json_get(line, "reason"));
    h->end_ms = read_time(json_get(line, "at"));
    for (unsigned i = RUN_COMPLETED; i <= RUN_CANCELLED; i++)
        if (json_eq(status, run_status_name((enum run_status)i))) {
            h->has_end = true;
            h->end = (enum run_status)i;
        }
}

static void
keep_note(struct journal_head *h, const struct json *line)
{
    const char *text = json_dup_text(&h->arena, json_get(line, "text"));

    if (!text)
        return;
    if (h->n_notes >= JOURNAL_NOTES)
        memmove(h->notes, h->notes + 1, (JOURNAL_NOTES - 1) * sizeof *h->notes);
    h->notes[h->n_notes < JOURNAL_NOTES ? h->n_notes : JOURNAL_NOTES - 1] = text;
    h->n_notes++;
}

static bool
read_result(const struct replay_pass *r, const struct json *line, struct sched_event *ev)
{
    const struct json *verdict = json_get(line, "verdict");
    int outcome = find_name(json_get(line, "outcome"), outcomes, COUNT(outcomes));

    if (outcome < 0)
        return false;
    ev->outcome = (enum outcome)outcome;
    if (!json_bool(json_get(line, "final"), &ev->is_final))
        ev->is_final = false;
    if (!verdict)
        return true;
    int judged = find_name(json_get(verdict, "outcome"), verdicts, COUNT(verdicts));
    if (judged < 0)
        return false;
    ev->verdict = (enum verdict)judged;
    if (ev->verdict != VERDICT_ROUTE)
        return true;
    ev->target = find_phase(r, json_get(verdict, "target"));
    /* no target: the gate named a phase that never was */
    return ev->target != SIZE_MAX || !json_get(verdict, "target");
}

/* NULL: none, or it cannot be read: the state of the run does not depend on it. */
static const struct usage *
read_usage(struct replay_pass *r, const struct json *v)
{
    struct usage *u = json_is(v, JSON_OBJECT) ? arena_alloc(&r->texts, sizeof *u) : NULL;

    return u && (usage_read(&r->texts, v, u) || u->session_id) ? u : NULL;
}

/* NULL, or what is wrong with the line: a constant. */
static const char *
read_event(struct replay_pass *r, const struct json *line, struct sched_event *ev)
{
    const struct json *name = json_get(line, "ev"), *attempt = json_get(line, "attempt");
    size_t kind = 0;

    while (kind < EVENT_KINDS && !json_eq(name, shapes[kind].name))
        kind++;
    if (kind == EVENT_KINDS)
        return "it is of no known kind";
    const struct line_shape *shape = &shapes[kind];
    *ev = (struct sched_event){ .kind = (enum sched_event_kind)kind };
    if (shape->has_phase && (ev->phase = find_phase(r, json_get(line, "phase"))) == SIZE_MAX)
        return "the workflow has no such phase";
    if ((attempt || shape->has_attempt) && !read_count(attempt, &ev->attempt))
        return "its attempt is not a number";
    if (shape->has_result && !read_result(r, line, ev))
        return "its result cannot be read";
    if (shape->has_result)
        ev->usage = read_usage(r, json_get(line, "usage"));
    if (ev->kind == EV_STARTED)
        ev->agent = json_dup_text(&r->texts, json_get(line, "agent"));
    if (shape->has_text)
        ev->text = json_dup_text(&r->texts, json_get(line, "text"));
    if (ev->kind == EV_RERUN)
        ev->text = json_dup_text(&r->texts, json_get(line, "below"));
    return NULL;
}

static const char no_head[] = "a journal begins with the run and its workflow";

/* NULL, or what is wrong. */
static const char *
replay_line(struct replay_pass *r, const struct log_record *rec)
{
    const struct json *name = json_get(rec->json, "ev");
    struct sched_event ev;

    if (rec->verdict != LOG_GOOD)
        return rec->problem;
    if (json_eq(name, "note")) {
        keep_note(r->head, rec->json);
        return NULL;
    }
    if (json_eq(name, "end")) {
        read_end(r->head, rec->json);
        return NULL;
    }
    const char *problem = read_event(r, rec->json, &ev);
    if (problem)
        return problem;
    bool is_odd = !r->has_begun && (ev.kind != EV_BEGIN || !read_head(r, rec->json));
    if (is_odd && !r->taker.bad)
        return no_head;
    r->has_begun = true;
    struct sched_options options = read_options(rec->json, &r->head->options);
    if (ev.kind == EV_RERUN)
        ev.options = &options;
    if (!r->taker.event(r->taker.ctx, &ev, read_time(json_get(rec->json, "at"))))
        return "the workflow, as it is now, does not lead there";
    if (ev.kind == EV_RERUN) {
        const char *workflow = json_dup_text(&r->head->arena, json_get(rec->json, "workflow"));
        const char *agent = json_dup_text(&r->head->arena, json_get(rec->json, "agent"));
        const char *above = json_dup_text(&r->head->arena, json_get(rec->json, "above"));
        if (above)
            r->head->above = above;
        r->head->has_end = false;
        r->head->n_notes = 0;
        r->head->options = options;
        if (agent)
            r->head->agent = agent;
        if (workflow)
            r->head->workflow = workflow;
    }
    return NULL;
}

/* False: it ends here. */
static bool
pass_over(struct replay_pass *r, const struct log_record *rec, const char *problem, struct err *e)
{
    if (!r->head->bad_line) {
        r->head->bad_line = rec->line;
        r->head->problem = problem;
    }
    if (r->taker.bad) {
        r->taker.bad(r->taker.ctx, rec->line, problem);
        return true;
    }
    bool is_damaged = rec->verdict != LOG_GOOD || problem == no_head;
    err_say(e, "run/" JOURNAL_NAME ", line %ju: %s. %s", (uintmax_t)rec->line, problem,
            is_damaged ? "Without it a finished phase could run twice: mend or remove that line "
                         "if you know what it said, or start anew with cliq run --force"
                       : "The workflow has changed since this run began, or the journal is "
                         "damaged: undo that, or start anew with cliq run --force");
    return false;
}

static enum status
replay_all(struct replay_pass *r, int fd, struct err *e)
{
    struct log_reader reader;
    struct log_record rec;
    enum status s = ST_OK;

    log_reader_init(&reader, fd, 0);
    reader.wants_bad = true;
    while (!s && log_next(&reader, &rec)) {
        if (rec.verdict == LOG_FRAGMENT)
            continue; /* torn by a crash: never acted on */
        const char *problem = replay_line(r, &rec);
        arena_reset(&r->texts);
        if (problem && !pass_over(r, &rec, problem, e))
            s = ST_INVALID;
    }
    if (!s)
        s = log_reader_status(&reader, e);
    if (!s && !r->has_begun && r->head->bad_line)
        s = err_set(e, ST_INVALID, "no line of run/" JOURNAL_NAME " can be read");
    if (!s && !r->has_begun)
        s = err_set(e, ST_NOT_FOUND, "run/" JOURNAL_NAME " is empty: nothing was run yet");
    log_reader_release(&reader);
    return s;
}

static enum status
check_file(int fd, struct err *e)
{
    char told[PATH_MAX];
    struct stat st;

    if (sys->fstat(fd, &st) != 0)
        return err_sys(e, "look at run/" JOURNAL_NAME);
    return S_ISREG(st.st_mode) ? ST_OK : path_check_regular(&st, path_told(fd, NULL, told), e);
}

enum status
journal_look(int dir, const struct team *t, const struct journal_taker *taker,
             struct journal_head *head, struct err *e)
{
    struct replay_pass r = { .team = t, .taker = *taker, .head = head };
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

    int fd = SYS_RETRY(sys->openat(dir, JOURNAL_NAME, flags, 0));
    *head = (struct journal_head){ 0 };
    if (fd < 0) {
        if (errno == ENOENT)
            return err_set(e, ST_NOT_FOUND,
                           "there is no run/" JOURNAL_NAME ": nothing was run yet");
        return open_failed(dir, e);
    }
    enum status s = check_file(fd, e);
    if (!s)
        s = sort_names(&r, e);
    if (!s)
        s = replay_all(&r, fd, e);
    arena_release(&r.texts);
    free(r.by_name);
    close(fd);
    return s;
}

enum status
journal_replay(int dir, const struct team *t, journal_event_fn *fn, void *ctx,
               struct journal_head *head, struct err *e)
{
    return journal_look(dir, t, &(struct journal_taker){ .event = fn, .ctx = ctx }, head, e);
}

void
journal_head_release(struct journal_head *h)
{
    arena_release(&h->arena);
    *h = (struct journal_head){ 0 };
}
