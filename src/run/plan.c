/* plan - everything a run knows before it begins. */
#include "base/crc32c.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "context/frames.h"
#include "run/assemble.h"
#include "run/journal.h"
#include "run/run.h"
#include "team/capability.h"
#include "team/input.h"
#include "team/phase_config.h"
#include "team/runner.h"
#include "team/team_subs.h"
#include "team/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PHASE_TIMEOUT_MS = 20 * 60 * 1000,
    GATE_TIMEOUT_MS = 15 * 60 * 1000,
    WORKFLOWS_MAX = 1 << 30, /* bytes of those of all teams */
};

/* A small JSON file of the frame, in the plan's arena; *out NULL when there is none. */
static enum status
load_json(struct plan *p, const char *path, const struct json **out, struct err *e)
{
    struct buf text = { 0 };
    struct json *v = NULL;
    enum status s = state_dir_read(&p->state, path, &text, e);

    *out = NULL;
    if (s == ST_NOT_FOUND) {
        s = ST_OK;
    } else if (!s) {
        char *kept = arena_dup(&p->arena, text.p ? text.p : "", text.len);
        s = kept ? json_parse_named(&p->arena, path, kept, text.len, &v, e) : err_nomem(e);
        if (!s && v->type != JSON_OBJECT)
            s = err_set(e, ST_INVALID, "%s:1:1: must be an object", path);
        *out = v;
    }
    buf_release(&text);
    return s;
}

/* The first line of a small text file, allocated; "" when there is none. */
static char *
first_line(const struct state_dir *f, const char *path)
{
    struct buf text = { 0 };

    state_dir_read(f, path, &text, NULL);
    char *line = strndup(text.p ? text.p : "", text.p ? strcspn(text.p, "\n") : 0);
    buf_release(&text);
    return line;
}

/* All that is told of a run has it in its name. */
static enum status
check_id(const struct plan *p, struct err *e)
{
    const char *hex = p->instance_id + strlen("cliq-");
    bool is_good = strncmp(p->instance_id, "cliq-", strlen("cliq-")) == 0 && strlen(hex) == 6 &&
                   strspn(hex, "0123456789abcdef") == 6;

    return is_good
               ? ST_OK
               : err_set(e, ST_FAILED,
                         "%s/cliq.id is missing or damaged (it has to be cliq- and 6 hex digits): "
                         "remove it, and cliq init makes a new one",
                         p->state.state_dir);
}

/* Before anything in it is trusted: is there anything? */
static enum status
check_assembled(const struct state_dir *f, struct err *e)
{
    return faccessat(f->dir, "workflow.yml", F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
               ? err_set(e, ST_NOT_FOUND, "nothing is assembled in %s: cliq assemble TEAM",
                         f->state_dir)
               : ST_OK;
}

/* "frames/build/workflow.yml": as people find it from .cliq/. */
static const char *
workflow_path(const struct plan *p, struct buf *to)
{
    const struct plan *top = p;

    while (top->above)
        top = top->above;
    if (top == p)
        return "workflow.yml";
    buf_addf(to, "%s/workflow.yml", p->state.state_dir + strlen(top->state.state_dir) + 1);
    return buf_failed(to) ? "workflow.yml" : to->p;
}

static enum status
load_team(struct plan *p, struct err *e)
{
    struct problems problems = { 0 };
    struct buf out = { 0 }, path = { 0 }, text = { 0 };
    const char *shown = workflow_path(p, &path);
    enum status s = p->above ? path_read_file(p->state.dir, "workflow.yml", &text, e) : ST_OK;

    if (!s && p->above)
        s = team_load(&p->team, shown, text.p ? text.p : "", text.len, &problems, e);
    else if (!s)
        s = team_load_file(&p->team, p->state.dir, "workflow.yml", &problems, e);

    if (!s || s == ST_INVALID)
        team_validate(&p->team, p->state.dir, p->state.state_dir, &problems);
    if (problems.errors) {
        problems_write(&out, &problems);
        fputs(out.p ? out.p : "", stderr);
        s = err_set(e, ST_FAILED, "the workflow has %zu error%s; nothing was run", problems.errors,
                    problems.errors == 1 ? "" : "s");
    }
    buf_release(&out);
    buf_release(&path);
    buf_release(&text);
    problems_release(&problems);
    return s;
}

static bool
needs_fallback(const struct phase *ph)
{
    return !ph->agent && ph->type != PHASE_TEAM;
}

/* Of a phase that needs no fallback. */
static const char *
own_agent(const struct phase *ph)
{
    return ph->agent ? ph->agent : "team";
}

/* --agent is for phases that name none. Where all name one, it changes nothing, and a note says so:
 * a script may give the same --agent to every team. */
static enum status
note_unneeded(struct plan *p, const char *agent, struct err *e)
{
    struct suggest near = { .word = agent };
    struct buf list = { 0 }, note = { 0 };

    for (size_t i = 0; i < p->team.n_phases; i++) {
        const struct phase *ph = &p->team.phases[i];
        const char *name = own_agent(ph);
        size_t k = 0;
        if (needs_fallback(ph)) {
            buf_release(&list);
            return ST_OK;
        }
        while (k < i && strcmp(own_agent(&p->team.phases[k]), name) != 0)
            k++;
        if (k < i)
            continue;
        buf_addf(&list, "%s%s", list.len ? ", " : "", name);
        suggest_try(&near, name);
    }
    bool is_other = near.best && strcmp(near.best, agent) != 0;
    buf_addf(&note,
             "--agent %.100s changes nothing%s%s%s: every phase names its own agent, and these "
             "are %s",
             agent, is_other ? " (did you mean " : "", is_other ? near.best : "",
             is_other ? "?)" : "", list.p ? list.p : "");
    enum status s = buf_status(&note, "the note", e);
    if (!s && !(p->note = arena_dup(&p->arena, note.p, note.len)))
        s = err_nomem(e);
    buf_release(&list);
    buf_release(&note);
    return s;
}

static bool
take_event(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    (void)ctx, (void)ev, (void)at_ms;
    return true;
}

static void
take_bad(void *ctx, uint64_t line, const char *problem)
{
    (void)ctx, (void)line, (void)problem;
}

/* What of a run is done by one agent is not gone on with by another, unless somebody says so and
 * names the phase. */
static enum status
check_is_same(const char *given, const char *began, struct err *e)
{
    if (began && strcmp(given, began) == 0)
        return ST_OK;
    return err_set(e, ST_INVALID,
                   "--agent %.100s: this run was begun %s%.100s, and --resume goes on as it began: "
                   "leave --agent away; or end it (cliq cancel), then cliq run --from PHASE "
                   "--agent %.100s",
                   given, began ? "with --agent " : "without --agent", began ? began : "", given);
}

/* --agent is part of a run: who goes on with it need not give it again. A journal that cannot
 * be read is reported by the replay (start.c). */
static enum status
recall_agent(struct plan *p, const struct run_options *o, struct err *e)
{
    struct journal_taker taker = { .event = take_event, .bad = take_bad };
    struct journal_head head = { 0 };
    int dir;
    enum status s = ST_OK;

    p->agent = o->agent;
    if ((!o->is_resume && !o->from) || state_dir_open_dir(&p->state, "run", false, &dir, NULL))
        return ST_OK;
    if (journal_look(dir, &p->team, &taker, &head, NULL) == ST_OK) {
        if (!o->agent && head.agent &&
            !(p->agent = arena_dup(&p->arena, head.agent, strlen(head.agent))))
            s = err_nomem(e);
        if (o->agent && o->is_resume)
            s = check_is_same(o->agent, head.agent, e);
    }
    journal_head_release(&head);
    close(dir);
    return s;
}

/* Of phases that a run keeps nobody needs the agent: which those are is known later. */
static enum status
resolve_agent(struct plan *p, const struct run_options *o, size_t i, const char *name,
              struct err *e)
{
    struct agent_scope scope = { p->state.state_dir, &p->settings, p->agents_json };
    static const char *const nothing[] = { NULL }; /* what is left of its attempts is looked for */
    struct err why;
    enum status s = agent_resolve(&p->arena, &scope, name, &p->agents[i], &why);

    if (!s)
        return ST_OK;
    const char *kept = arena_dup(&p->arena, why.text, strlen(why.text));
    if (s == ST_IO || !kept || (!o->is_resume && !o->from && !o->is_dry)) {
        err_say(e, "phase %s%s: %s", p->way, p->team.phases[i].name, why.text);
        return s;
    }
    p->agents[i] = (struct agent){ .name = name, .argv = nothing };
    p->lacks[i] = (struct plan_lack){ s, kept };
    p->is_lacking = true;
    return ST_OK;
}

static enum status
resolve_agents(struct plan *p, const struct run_options *o, struct err *e)
{
    const char *fallback = p->agent;
    size_t n = p->team.n_phases;
    enum status s = o->agent && !p->above ? note_unneeded(p, o->agent, e) : ST_OK;

    if (!fallback)
        fallback = settings_text(&p->settings, "default_agent");
    if (!fallback)
        fallback = "cursor";
    p->agents = arena_alloc(&p->arena, n * sizeof *p->agents + 1);
    p->lacks = arena_alloc(&p->arena, n * sizeof *p->lacks + 1);
    if (!s && (!p->agents || !p->lacks))
        return err_nomem(e);
    if (p->lacks)
        memset(p->lacks, 0, n * sizeof *p->lacks);
    for (size_t i = 0; !s && i < n; i++) {
        const struct phase *ph = &p->team.phases[i];
        const char *name = needs_fallback(ph) ? fallback : own_agent(ph);
        size_t k = 0;
        while (k < i && strcmp(p->agents[k].name, name) != 0)
            k++;
        if (k < i) {
            p->agents[i] = p->agents[k]; /* asked before */
            p->lacks[i] = p->lacks[k];
            continue;
        }
        s = resolve_agent(p, o, i, name, e);
    }
    return s;
}

/* Whether each phase's type and fields suit the agent that the run has. Validation knew it only
 * where the team names it, and no stand-in from the settings. */
static enum status
check_configs(struct plan *p, struct err *e)
{
    struct problems problems = { 0 };
    struct buf out = { 0 };
    enum status s = ST_OK;

    for (size_t i = 0; i < p->team.n_phases; i++) {
        const struct agent *agent = &p->agents[i];
        if (p->lacks[i].status)
            continue;
        capability_check(&p->team, &p->team.phases[i], agent->name, agent->manifest, &problems);
        phase_config_check(&p->team, &p->team.phases[i], agent->name,
                           agent_schema(&p->arena, agent->name, agent->manifest), &problems);
    }
    if (problems.errors)
        s = err_set(e, ST_FAILED, "the workflow has %zu error%s; nothing was run", problems.errors,
                    problems.errors == 1 ? "" : "s");
    problems_write(&out, &problems);
    if (out.p)
        fputs(out.p, stderr);
    buf_release(&out);
    problems_release(&problems);
    return s;
}

enum status
plan_check_tools(const struct plan *p, struct err *e)
{
    for (size_t i = 0; i < p->team.n_tools; i++)
        if (!runner_has(p->team.tools[i]))
            return err_set(e, ST_NOT_FOUND,
                           "the team needs the program %.80s (tools in its file), which is not on "
                           "PATH; nothing was run",
                           p->team.tools[i]);
    return ST_OK;
}

/* The inputs given for this run, over those of inputs.json. */
static enum status
give_inputs(struct plan *p, const struct run_options *o, struct err *e)
{
    struct json *inputs = json_new(&p->arena, JSON_OBJECT);
    struct buf text = { 0 };
    enum status s = inputs ? input_check(&p->team, o->inputs, o->n_inputs, e) : err_nomem(e);

    if (s || !o->n_inputs)
        return s;
    if (p->inputs)
        *inputs = *p->inputs;
    for (size_t i = 0; !s && i < p->team.n_inputs; i++) {
        const char *name = p->team.inputs[i].name;
        const char *value = input_given(o->inputs, o->n_inputs, name);
        if (value && !json_set(inputs, name, json_new_str(&p->arena, value, strlen(value))))
            s = err_nomem(e);
    }
    json_write(&text, inputs);
    buf_addc(&text, '\n');
    if (!s)
        s = buf_status(&text, "inputs.json", e);
    if (!s && !(p->new_inputs = arena_dup(&p->arena, text.p, text.len)))
        s = err_nomem(e);
    buf_release(&text);
    p->inputs = inputs;
    return s;
}

enum status
plan_write_inputs(const struct plan *p, struct err *e)
{
    return p->new_inputs ? state_dir_replace(&p->state, "inputs.json", p->new_inputs,
                                             strlen(p->new_inputs), e)
                         : ST_OK;
}

/* An input that was not given has its default, or is empty; without a default a required one must
 * be given. */
static enum status
fill_inputs(struct plan *p, struct err *e)
{
    struct json *inputs = json_new(&p->arena, JSON_OBJECT);

    if (!inputs)
        return err_nomem(e);
    if (p->inputs)
        *inputs = *p->inputs;
    for (size_t i = 0; i < p->team.n_inputs; i++) {
        const struct team_input *in = &p->team.inputs[i];
        if (json_get(inputs, in->name))
            continue;
        if (!in->fallback && in->is_required)
            return err_set(e, ST_INVALID,
                           "the input %s is missing: give it with cliq run --input %s=VALUE, or "
                           "cliq req --input",
                           in->name, in->name);
        const char *value = in->fallback ? in->fallback : "";
        if (!json_set(inputs, in->name, json_new_str(&p->arena, value, strlen(value))))
            return err_nomem(e);
    }
    p->inputs = inputs;
    return ST_OK;
}

/* The text of the workflow, then those of its teams. */
static enum status
add_workflow(const struct plan *p, struct buf *to, struct err *e)
{
    enum status s = state_dir_read(&p->state, "workflow.yml", to, e);

    for (size_t i = 0; !s && p->subs && i < p->team.n_phases; i++)
        if (p->subs[i])
            s = add_workflow(p->subs[i], to, e);
    return s ? s : buf_status(to, "the workflow", e);
}

static enum status
hash_workflow(struct plan *p, struct err *e)
{
    struct buf text = BUF_MAX(WORKFLOWS_MAX);
    enum status s = add_workflow(p, &text, e);

    if (!s)
        snprintf(p->workflow_hash, sizeof p->workflow_hash, "%08x-%zu",
                 crc32c(text.p ? text.p : "", text.len), text.len);
    buf_release(&text);
    return s;
}

/* ---- teams in it ---- */

struct plan *
plan_sub(const struct plan *p, size_t phase)
{
    return p->subs ? p->subs[phase] : NULL;
}

bool
plan_is_leaf(const struct plan *p, size_t phase)
{
    return p->above && !p->team.phases[phase].is_support &&
           p->dag->first[phase] == p->dag->first[phase + 1];
}

bool
plan_is_root(const struct plan *p, size_t phase)
{
    return p->above && !p->team.phases[phase].is_support && !p->team.phases[phase].n_depends_on;
}

void
plan_phase_path(const struct plan *p, size_t phase, struct buf *to)
{
    buf_addf(to, "%s%s", p->way ? p->way : "", p->team.phases[phase].name);
}

static enum status load_subs(struct plan *p, const struct run_options *o, struct err *e);

/* A team phase's own program may be called team, too, and is not ours. */
static bool
runs_team(const struct plan *p, size_t i)
{
    return p->team.phases[i].type == PHASE_TEAM && p->agents[i].kind == AGENT_SPECIAL &&
           !p->lacks[i].status;
}

static enum status
open_frame(struct plan *p, struct err *e)
{
    const struct plan *above = p->above;
    const char *name = above->team.phases[p->above_phase].name;
    struct buf way = { 0 };
    enum status s = frame_open(&p->state, &above->state, name, false, e);

    if (s == ST_NOT_FOUND)
        err_say(e, "phase %s%s: its team is not assembled: cliq assemble TEAM, once more",
                above->way, name);
    buf_addf(&way, "%s%s/", above->way, name);
    if (!s)
        s = buf_status(&way, "the way to a phase", e);
    if (!s && !(p->way = arena_dup(&p->arena, way.p, way.len)))
        s = err_nomem(e);
    buf_release(&way);
    return s;
}

/* What of a team phase's plan is as in that of the run itself. */
static enum status
load_sub(struct plan *p, const struct run_options *o, struct err *e)
{
    const struct plan *top = p->above;

    while (top->above)
        top = top->above;
    enum status s = open_frame(p, e);
    if (!s)
        s = load_team(p, e);
    if (!s && !(p->dag = dag_new(&p->team)))
        s = err_nomem(e);
    if (!s)
        s = settings_load(&p->settings, top->state.state_dir, e);
    if (!s)
        s = load_json(p, "agents.json", &p->agents_json, e);
    if (!s)
        s = load_json(p, "inputs.json", &p->inputs, e);
    p->agent = top->agent;
    if (!s)
        s = resolve_agents(p, o, e);
    if (!s)
        s = load_subs(p, o, e);
    if (!s)
        s = hash_workflow(p, e);
    if (!s)
        s = check_configs(p, e);
    if (!s && !o->is_dry)
        s = plan_check_tools(p, e);
    if (!s &&
        (!(p->instance_id = strdup(top->instance_id)) || !(p->req_key = strdup(top->req_key))))
        s = err_nomem(e);
    return s;
}

/* A team without one of its agents is a phase without its agent. */
static enum status
pass_on_lack(struct plan *p, size_t i, struct err *e)
{
    const struct plan *sub = p->subs[i];
    struct buf why = { 0 };
    size_t k = 0;

    if (!sub->is_lacking)
        return ST_OK;
    while (!sub->lacks[k].status)
        k++;
    buf_addf(&why, "its phase %s: %s", sub->team.phases[k].name, sub->lacks[k].why);
    enum status s = buf_status(&why, "what is missing", e);
    const char *kept = s ? NULL : arena_dup(&p->arena, why.p, why.len);
    buf_release(&why);
    if (!kept)
        return s ? s : err_nomem(e);
    p->lacks[i] = (struct plan_lack){ sub->lacks[k].status, kept };
    p->is_lacking = true;
    return ST_OK;
}

static enum status
load_subs(struct plan *p, const struct run_options *o, struct err *e)
{
    enum status s = ST_OK;
    size_t depth = 1;

    for (const struct plan *k = p; k->above; k = k->above)
        depth++;
    for (size_t i = 0; !s && i < p->team.n_phases; i++) {
        if (!runs_team(p, i))
            continue;
        if (depth > TEAM_DEPTH_MAX)
            return err_set(e, ST_FAILED, "phase %s%s: more than %d teams are in each other", p->way,
                           p->team.phases[i].name, TEAM_DEPTH_MAX);
        if (!p->subs && !(p->subs = calloc(p->team.n_phases, sizeof(struct plan *))))
            return err_nomem(e);
        if (!(p->subs[i] = calloc(1, sizeof(struct plan))))
            return err_nomem(e);
        *p->subs[i] = (struct plan){ .above = p, .above_phase = i, .way = "", .state.dir = -1 };
        s = load_sub(p->subs[i], o, e);
        if (!s)
            s = pass_on_lack(p, i, e);
    }
    return s;
}

static void
release_subs(struct plan *p)
{
    for (size_t i = 0; p->subs && i < p->team.n_phases; i++)
        if (p->subs[i]) {
            plan_release(p->subs[i]);
            free(p->subs[i]);
        }
    free(p->subs);
    p->subs = NULL;
}

enum status
plan_load(struct plan *p, const struct run_options *o, struct err *e)
{
    enum status s;

    *p = (struct plan){ .way = "", .state.dir = -1 };
    s = state_dir_find(&p->state, e);
    if (!s) /* it may have been moved since it was made */
        s = state_dir_check_path(p->state.state_dir, e);
    if (!s)
        s = check_assembled(&p->state, e);
    if (!s)
        s = trust_check(p->state.dir, p->state.state_dir, e);
    if (!s)
        s = load_team(p, e);
    if (!s && !(p->dag = dag_new(&p->team)))
        s = err_nomem(e);
    if (!s)
        s = settings_load(&p->settings, p->state.state_dir, e);
    if (!s)
        s = load_json(p, "agents.json", &p->agents_json, e);
    if (!s)
        s = load_json(p, "inputs.json", &p->inputs, e);
    if (!s)
        s = give_inputs(p, o, e);
    if (!s)
        s = fill_inputs(p, e);
    if (!s)
        s = recall_agent(p, o, e);
    if (!s)
        s = resolve_agents(p, o, e);
    if (!s)
        s = check_configs(p, e);
    if (!s && !o->is_dry)
        s = plan_check_tools(p, e);
    if (!s) {
        p->instance_id = first_line(&p->state, "cliq.id");
        p->req_key = first_line(&p->state, "req_key");
        s = p->instance_id && p->req_key ? check_id(p, e) : err_nomem(e);
    }
    if (!s)
        s = load_subs(p, o, e);
    if (!s)
        s = hash_workflow(p, e);
    if (s)
        plan_release(p);
    return s;
}

int64_t
plan_timeout_ms(const struct plan *p, size_t phase)
{
    const struct phase *ph = &p->team.phases[phase];

    if (ph->timeout_ms || p->agents[phase].is_patient || plan_sub(p, phase))
        return ph->timeout_ms;
    return ph->type == PHASE_GATE ? GATE_TIMEOUT_MS : PHASE_TIMEOUT_MS;
}

void
plan_release(struct plan *p)
{
    release_subs(p);
    dag_free(p->dag);
    team_release(&p->team);
    settings_release(&p->settings);
    arena_release(&p->arena);
    free(p->instance_id);
    free(p->req_key);
    if (p->state.dir >= 0)
        state_dir_close(&p->state);
    *p = (struct plan){ .state.dir = -1 };
}

/* ---- where it will run ---- */

/* Empties a directory below the frame of regular files. */
static void
empty_dir(const struct state_dir *f, const char *path)
{
    struct buf full = { 0 };

    state_dir_path(f, &full, path);
    DIR *d = buf_failed(&full) ? NULL : opendir(full.p);
    for (struct dirent *x; d && (x = readdir(d));)
        if (x->d_name[0] != '.')
            unlinkat(dirfd(d), x->d_name, 0);
    if (d)
        closedir(d);
    buf_release(&full);
}

/* In a new one there is nothing to remove. */
static enum status
make_channel(int all, const char *name, bool is_fresh, struct err *e)
{
    int dir;

    if (sys->mkdirat(all, name, 0700) == 0)
        return ST_OK;
    if (errno != EEXIST)
        return err_sys(e, "create directory channels/%s", name);
    enum status s = path_open_dir_at(all, name, false, &dir, e);
    if (s)
        return s;
    if (is_fresh && unlinkat(dir, "handoff.json", 0) != 0 && errno != ENOENT)
        s = err_sys(e, "remove channels/%s/handoff.json", name);
    close(dir);
    return s;
}

/* A directory an edge, and both directions between a gate and where it can route to. Those of
 * edges `assemble` made already: making one takes as long as all else for a phase here. */
static enum status
make_channels(const struct plan *p, bool is_fresh, struct err *e)
{
    const struct team *t = &p->team;
    int all;
    enum status s = state_dir_open_dir(&p->state, "channels", true, &all, e);

    if (s)
        return s;
    for (size_t to = 0; !s && to < t->n_phases; to++) {
        for (size_t from = 0; !s && from < t->n_phases; from++) {
            bool is_edge = false, is_route = false;
            if (from == to)
                continue;
            for (size_t k = 0; k < t->phases[to].n_depends_on && !is_edge; k++)
                is_edge = t->phases[to].deps[k] == from;
            is_route = (t->phases[to].type == PHASE_GATE && dag_may_route(p->dag, to, from)) ||
                       (t->phases[from].type == PHASE_GATE && dag_may_route(p->dag, from, to));
            if (!is_edge && !is_route)
                continue;
            char name[2 * TEAM_PHASE_NAME_MAX + 3];
            snprintf(name, sizeof name, "%s--%s", t->phases[from].name, t->phases[to].name);
            s = make_channel(all, name, is_fresh, e);
        }
        /* of a team that is a phase: from what is before it, and to what is behind it */
        char edge[TEAM_PHASE_NAME_MAX + 8];
        snprintf(edge, sizeof edge, PLAN_IN "--%s", t->phases[to].name);
        if (!s && plan_is_root(p, to))
            s = make_channel(all, edge, is_fresh, e);
        snprintf(edge, sizeof edge, "%s--" PLAN_OUT, t->phases[to].name);
        if (!s && plan_is_leaf(p, to))
            s = make_channel(all, edge, is_fresh, e);
    }
    close(all);
    return s;
}

/* Everything an earlier run left that could be taken for this one's. */
static enum status
clear_old(const struct plan *p, struct err *e)
{
    static const char *const dirs[] = { "signals",      "run/attempts", "run/logs",
                                        "run/messages", "run/prompts",  "run/checks" };
    struct buf board = { 0 };
    enum status s;

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        empty_dir(&p->state, dirs[i]);
    assemble_board(&p->team, &board);
    s = buf_status(&board, "the task board", e);
    if (!s)
        s = state_dir_replace(&p->state, "task_board.md", board.p, board.len, e);
    buf_release(&board);
    return s;
}

enum status
plan_make_room(const struct plan *p, bool is_fresh, struct err *e)
{
    static const char *const dirs[] = { "signals",      "files",       "run/attempts", "run/logs",
                                        "run/messages", "run/prompts", "run/checks" };
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < sizeof dirs / sizeof *dirs; i++)
        s = state_dir_mkdir(&p->state, dirs[i], e);
    if (!s && is_fresh)
        s = clear_old(p, e);
    return s ? s : make_channels(p, is_fresh, e);
}
