#include "serve/runs.h"

#include "hub/model/scope.h"
#include "proc/child.h"
#include "run/phase_way.h"
#include "run/project_list.h"
#include "run/run_list.h"
#include "run/run_page.h"
#include "team/agent.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_DEFAULT = 50, LIST_MAX = 500, COMMAND_MS = 60000 };

/* ---- the list ---- */

/* A row with what the list is sorted by; its JSON is in the call's arena. */
struct listed_run {
    int64_t at_ms;
    const char *json;
    size_t len;
};

struct run_listing {
    struct listed_run *rows;
    size_t n, cap;
};

static bool
list_row(struct file_call *c, struct run_listing *l, const struct run_row *row,
         const struct project *p)
{
    struct buf json = { 0 };

    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct listed_run *more = arena_alloc(&c->arena, cap * sizeof *more);
        if (!more)
            return false;
        if (l->n)
            memcpy(more, l->rows, l->n * sizeof *more);
        l->rows = more;
        l->cap = cap;
    }
    run_list_json(row, p->id, p->path, &json);
    l->rows[l->n] =
        (struct listed_run){ row->at_ms, arena_dup(&c->arena, json.p ? json.p : "", json.len),
                             json.len };
    bool is_good = !buf_failed(&json) && l->rows[l->n].json;
    l->n += is_good;
    buf_release(&json);
    return is_good;
}

static int
newest_first(const void *a, const void *b)
{
    const struct listed_run *x = a, *y = b;

    return x->at_ms < y->at_ms ? 1 : x->at_ms > y->at_ms ? -1 : 0;
}

/* A project whose runs cannot be listed now is left out. */
static void
list_project(struct file_call *c, struct run_listing *l, const struct project *p,
             const char *status)
{
    struct state_dir f = { .dir = -1 };
    struct run_list runs = { 0 };
    struct err e;

    if (project_list_open(c->config, p->id, &f, &e) == ST_OK &&
        run_list_load(&runs, &f, &e) == ST_OK)
        for (size_t i = 0; i < runs.n; i++)
            if (!status || (runs.rows[i].state && strcmp(runs.rows[i].state, status) == 0))
                list_row(c, l, &runs.rows[i], p);
    run_list_release(&runs);
    state_dir_close(&f);
}

static enum status
list(struct file_call *c, struct err *e)
{
    struct project_list projects;
    struct run_listing l = { 0 };
    const char *project = NULL, *status = NULL;
    int64_t limit = LIST_DEFAULT;

    if (!arg_text(&c->in, "project", &project) || !arg_word(&c->in, "status", &status) ||
        !arg_int(&c->in, "limit", &limit))
        return ST_INVALID;
    enum status s = project_list_read(c->config, &projects, e);
    for (size_t i = 0; !s && i < projects.n; i++)
        if (!project || strcmp(projects.projects[i].id, project) == 0)
            list_project(c, &l, &projects.projects[i], status);
    project_list_release(&projects);
    if (l.n)
        qsort(l.rows, l.n, sizeof *l.rows, newest_first);
    json_open(&c->out, '[');
    for (size_t i = 0; i < l.n && (int64_t)i < limit; i++) {
        json_sep(&c->out);
        buf_add(&c->out, l.rows[i].json, l.rows[i].len);
    }
    json_close(&c->out, ']');
    return s;
}

/* ---- one run ---- */

struct one_run {
    struct state_dir project, f;
    bool is_present;
};

static void
close_run(struct one_run *r)
{
    state_dir_close(&r->f);
    state_dir_close(&r->project);
}

/* Opens the run of the argument id. */
static enum status
open_run(struct file_call *c, struct one_run *r, struct err *e)
{
    const char *id = NULL;

    *r = (struct one_run){ .project = { .dir = -1 }, .f = { .dir = -1 } };
    if (!arg_text(&c->in, "id", &id))
        return ST_INVALID;
    enum status s = project_list_open_run(c->config, id, &r->project, e);
    return s ? s : history_open(&r->project, id, &r->f, &r->is_present, e);
}

static enum status
show(struct file_call *c, struct err *e)
{
    struct one_run r;
    enum status s = open_run(c, &r, e);

    if (!s)
        s = run_page_show(&r.f, &c->out, e);
    close_run(&r);
    return s;
}

/* "build/test": the run becomes that of the team build. */
static enum status
enter(struct one_run *r, const char **phase, struct err *e)
{
    const char *same = *phase;
    enum status s = phase_way_enter(&r->f, phase, e);

    return s || same == *phase ? s : phase_way_enter(&r->project, &same, e);
}

static enum status
journal(struct file_call *c, struct err *e)
{
    struct one_run r;
    const char *name = NULL;
    struct buf way = { 0 };

    if (!arg_text(&c->in, "phase", &name))
        return ST_INVALID;
    enum status s = open_run(c, &r, e);
    if (!s && name) { /* the way to its team, not to itself */
        buf_addf(&way, "%s/", name);
        s = buf_status(&way, "the phase", e);
        name = way.p;
    }
    if (!s && name)
        s = phase_way_enter(&r.f, &name, e);
    buf_release(&way);
    if (!s)
        s = run_page_journal(&r.f, &c->out, e);
    close_run(&r);
    return s;
}

static enum status
phase(struct file_call *c, struct err *e)
{
    struct one_run r;
    const char *name = NULL;

    if (!arg_text(&c->in, "phase", &name))
        return ST_INVALID;
    enum status s = open_run(c, &r, e);
    if (!s)
        s = enter(&r, &name, e);
    if (!s)
        s = run_page_phase(&r.f, &r.project, name, &c->out, e);
    close_run(&r);
    return s;
}

static enum status
read_log(struct file_call *c, struct err *e)
{
    struct one_run r;
    struct buf text = { 0 };
    const char *name = NULL;
    int64_t attempt = 0, after = 0, next = 0;

    if (!arg_text(&c->in, "phase", &name) || !arg_int(&c->in, "attempt", &attempt) ||
        !arg_int(&c->in, "after", &after))
        return ST_INVALID;
    enum status s = open_run(c, &r, e);
    if (!s && name)
        s = enter(&r, &name, e);
    if (!s)
        s = run_page_log(&r.f, name, attempt, after, &text, &next, e);
    json_open(&c->out, '{');
    json_key_strn(&c->out, "text", text.p ? text.p : "", text.len);
    json_key_int(&c->out, "next", next);
    json_close(&c->out, '}');
    buf_release(&text);
    close_run(&r);
    return s;
}

/* ---- acting ---- */

/* Only the present run can be acted on. */
static enum status
open_present(struct file_call *c, struct one_run *r, struct err *e)
{
    enum status s = open_run(c, r, e);

    return !s && !r->is_present
               ? err_set(e, ST_CONFLICT,
                         "a later run has begun in this project: this one is history")
               : s;
}

/* The exit code that the shell below printed behind the command's own words. */
static int
take_exit_code(struct buf *said)
{
    char *mark = said->p ? strrchr(said->p, '\t') : NULL;
    int code = mark ? atoi(mark + 1) : -1;

    if (mark)
        buf_cut(said, (size_t)(mark - said->p));
    while (said->len && said->p[said->len - 1] == '\n')
        buf_cut(said, said->len - 1);
    return code;
}

/* Runs `cliq WORD...` in the project's directory. The server reaps every child of its own, so a
 * shell tells the exit code. */
static enum status
command(struct file_call *c, const struct one_run *r, const char *const *words, struct err *e)
{
    const char *argv[10] = { "/bin/sh", "-c", "\"$@\" 2>&1; printf '\\t%d' $?", "sh",
                             agent_self(&c->arena) };
    size_t n = 5;
    struct child child;

    while (*words)
        argv[n++] = *words++;
    struct child_spec spec = { .proc = { .argv = argv, .dir = r->project.project_dir },
                               .keep = 16 << 10,
                               .limit_ms = COMMAND_MS,
                               .grace_ms = 2000 };
    enum status s = child_run(&child, &spec, e);
    if (s)
        return s;
    int code = take_exit_code(&child.output);
    const char *said = child.output.len ? child.output.p : "it said nothing";
    if (strncmp(said, "cliq: ", 6) == 0)
        said += 6;
    if (code == 0) {
        json_open(&c->out, '{');
        json_key_str(&c->out, "said", said);
        json_close(&c->out, '}');
    } else {
        s = err_set(e,
                    child.is_timeout || code < 0 || code == 74 ? ST_IO
                    : code == 4                                ? ST_NOT_FOUND
                    : code == 2                                ? ST_INVALID
                                                               : ST_CONFLICT,
                    "%.400s", child.is_timeout ? "the command took too long" : said);
    }
    child_release(&child);
    return s;
}

static enum status
act(struct file_call *c, const char *const *words, struct err *e)
{
    struct one_run r;
    enum status s = open_present(c, &r, e);

    if (!s)
        s = command(c, &r, words, e);
    close_run(&r);
    return s;
}

static enum status
cancel(struct file_call *c, struct err *e)
{
    return act(c, (const char *const[]){ "cancel", NULL }, e);
}

static enum status
resume(struct file_call *c, struct err *e)
{
    return act(c, (const char *const[]){ "run", "--resume", "--detach", NULL }, e);
}

static enum status
retry(struct file_call *c, struct err *e)
{
    const char *name = NULL;

    if (!arg_text(&c->in, "phase", &name))
        return ST_INVALID;
    return act(c, (const char *const[]){ "retry", "--detach", "--", name, NULL }, e);
}

static enum status
edit(struct file_call *c, struct err *e)
{
    struct one_run r;
    struct buf text = { 0 };
    const struct json *envelope = NULL;
    const char *from = NULL, *to = NULL;

    if (!arg_text(&c->in, "from", &from) || !arg_text(&c->in, "to", &to) ||
        !arg_json(&c->in, "handoff", &envelope))
        return ST_INVALID;
    enum status s = open_present(c, &r, e);
    json_write_pretty(&text, envelope, 0);
    buf_addc(&text, '\n');
    if (!s)
        s = buf_status(&text, "the handoff", e);
    if (!s)
        s = run_page_edit(&r.f, from, to, text.p, text.len, e);
    json_open(&c->out, '{');
    json_key_str(&c->out, "said", "the next attempt reads it");
    json_close(&c->out, '}');
    buf_release(&text);
    close_run(&r);
    return s;
}

/* ---- the table ---- */

/* clang-format off */
#define ID    { "id", A_TEXT, .is_required = true, .brief = "of the run, as GET /runs has it" }
#define PHASE { "phase", A_TEXT, .is_required = true, .brief = "its name; of a team that is a phase, build/test" }
#define END   { .name = NULL }

static const struct hub_arg list_args[] = {
    { "project", A_TEXT, .brief = "only of this one: cliq-a1b2c3" },
    { "status", A_WORD("RUNNING ASLEEP INTERRUPTED COMPLETED ESCALATED FAILED CANCELLED"), .brief = "only these" },
    { "limit", A_INT(1, LIST_MAX), .brief = "the newest of them (50)" },
    END
};
static const struct hub_arg id_args[] = { ID, END };
static const struct hub_arg journal_args[] = {
    ID,
    { "phase", A_TEXT, .brief = "of this team phase's own run" },
    END
};
static const struct hub_arg phase_args[] = { ID, PHASE, END };
static const struct hub_arg log_args[] = {
    ID,
    { "phase", A_TEXT, .brief = "of this phase; else the orchestrator's" },
    { "attempt", A_INT(1, 1e6), .brief = "which one; else the latest" },
    { "after", A_INT(0, 1e15), .brief = "the byte to begin at: `next` of the answer before" },
    END
};
static const struct hub_arg edit_args[] = {
    ID,
    { "from", A_TEXT, .is_required = true, .brief = "the phase that wrote it" },
    { "to", A_TEXT, .is_required = true, .brief = "the phase that reads it" },
    { "handoff", A_OBJECT, .is_required = true, .brief = "the whole envelope" },
    END
};

#define RUN .noun = "RUN"
#define ACT RUN, .conflict = "RUN_CONFLICT", .answer = "Said"

const struct file_route runs_routes[] = {
    { "GET", "/runs", "the runs of all projects, newest first", SCOPE_AUDIT, list_args,
      .answer = "Run[]", RUN, .run = list },
    { "GET", "/runs/:id", "a run with its phases, as cliq status --json", SCOPE_AUDIT, id_args,
      .answer = "object", RUN, .run = show },
    { "GET", "/runs/:id/journal", "every event of the run", SCOPE_AUDIT, journal_args,
      .answer = "object[]", RUN, .run = journal },
    { "GET", "/runs/:id/phases/:phase", "role, prompt, handoffs and checks of a phase", SCOPE_AUDIT,
      phase_args, .answer = "object", RUN, .run = phase },
    { "GET", "/runs/:id/log", "a log, from a byte on", SCOPE_AUDIT, log_args, .answer = "LogPart",
      RUN, .run = read_log },
    { "POST", "/runs/:id/cancel", "end the run", SCOPE_ADMIN, id_args, ACT, .run = cancel },
    { "POST", "/runs/:id/resume", "go on with a run that was cut off", SCOPE_ADMIN, id_args, ACT,
      .run = resume },
    { "POST", "/runs/:id/retry/:phase", "run a phase again, and all behind it", SCOPE_ADMIN,
      phase_args, ACT, .run = retry },
    { "POST", "/runs/:id/handoff", "replace a handoff by a person's", SCOPE_ADMIN, edit_args, ACT,
      .run = edit },
    { .path = NULL },
};
